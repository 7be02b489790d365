//! Finds the Python interpreter of a service, with its virtual environment.

use std::path::{Path, PathBuf};
use std::time::Duration;

use isobath_emit::shell::quote_if_needed;
use isobath_exec::server::find_program;
use isobath_exec::tool::Tool;

use super::run::SetupError;

/// Usual names of virtual environments inside of a project.
const FOLDERS: [&str; 3] = [".venv", "venv", "env"];
/// How long a tool may take to tell where an environment is.
const PATIENCE: Duration = Duration::from_secs(30);

/// A Python interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interpreter {
    /// Its executable.
    pub(super) python: PathBuf,
    /// The virtual environment that it belongs to.
    environment: Option<PathBuf>,
}

impl Interpreter {
    /// The interpreter that was given, or that of the service in a folder.
    pub(super) fn find(given: Option<&Path>, folder: &Path) -> Result<Self, SetupError> {
        if let Some(given) = given {
            // Not canonical: that of an environment is mostly a link to that of the system.
            let python = std::path::absolute(given).unwrap_or_else(|_| given.to_path_buf());
            if !python.is_file() {
                return Err(SetupError::usage(format!(
                    "--python-interpreter {}: no such file",
                    given.display()
                )));
            }
            return Ok(Self::at(python));
        }
        let variable = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(PathBuf::from(value))
        };
        for active in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
            if let Some(python) = variable(active).and_then(|folder| of(&folder)) {
                return Ok(Self::at(python));
            }
        }
        let in_project = variable("UV_PROJECT_ENVIRONMENT").map(|name| folder.join(name));
        let found = in_project.and_then(|folder| of(&folder));
        if let Some(python) = found.or_else(|| in_folder(folder)).or_else(|| told(folder)) {
            return Ok(Self::at(python));
        }
        match find_program(&["python3", "python"]) {
            Some(python) => Ok(Self {
                python,
                environment: None,
            }),
            None => Err(SetupError::usage(
                "found no Python interpreter; activate the virtual environment of the service, or pass --python-interpreter",
            )),
        }
    }

    fn at(python: PathBuf) -> Self {
        let environment = python.parent().and_then(Path::parent);
        let environment = environment.filter(|folder| folder.join("pyvenv.cfg").is_file());
        Self {
            environment: environment.map(Path::to_path_buf),
            python,
        }
    }

    /// A shell command that runs the interpreter with arguments.
    pub(super) fn command(&self, arguments: &[String]) -> String {
        let python = self.python.display().to_string();
        let words = std::iter::once(&python).chain(arguments);
        let words: Vec<String> = words.map(|word| quote_if_needed(word)).collect();
        format!("exec {}", words.join(" "))
    }

    /// Variables that activate the environment, so that its programs are found.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let Some(folder) = &self.environment else {
            return Vec::new();
        };
        let programs = folder.join("bin").display().to_string();
        let path = match std::env::var("PATH") {
            Ok(path) => format!("{programs}:{path}"),
            Err(_) => programs,
        };
        vec![
            ("VIRTUAL_ENV", folder.display().to_string()),
            ("PATH", path),
        ]
    }

    /// The same for `env`, where a shell reads it.
    pub(super) fn activation(&self) -> String {
        let Some(folder) = &self.environment else {
            return String::new();
        };
        let programs = folder.join("bin").display().to_string();
        format!(
            "VIRTUAL_ENV={} PATH={}:\"$PATH\" ",
            quote_if_needed(&folder.display().to_string()),
            quote_if_needed(&programs)
        )
    }
}

/// The interpreter of an environment.
fn of(environment: &Path) -> Option<PathBuf> {
    let python = environment.join("bin/python");
    python.is_file().then_some(python)
}

/// That of the nearest environment in a folder or above it, up to the root of the repository.
fn in_folder(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let names = FOLDERS.map(|name| folder.join(name));
        let environment = names
            .iter()
            .find(|place| place.join("pyvenv.cfg").is_file());
        if let Some(python) = environment.and_then(|place| of(place)) {
            return Some(python);
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    None
}

/// What the tool that manages the environments of a project tells.
fn told(folder: &Path) -> Option<PathBuf> {
    let tools = [
        (
            "poetry.lock",
            &["poetry", "env", "info", "--executable"][..],
        ),
        ("Pipfile", &["pipenv", "--py"][..]),
    ];
    let (_, command) = tools.iter().find(|(file, _)| folder.join(file).is_file())?;
    let tool = Tool {
        command: command.iter().map(|&word| word.to_owned()).collect(),
        directory: folder.to_path_buf(),
        variables: Vec::new(),
        timeout: PATIENCE,
        interrupt: None,
    };
    let ran = tool.run().ok().filter(|ran| ran.code == Some(0))?;
    let python = PathBuf::from(ran.stdout.lines().last()?.trim());
    python.is_file().then_some(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_environment_of_the_project_is_taken() {
        let project = tempfile::tempdir().expect("a folder");
        let inner = project.path().join("services/shop");
        let environment = project.path().join(".venv");
        std::fs::create_dir_all(&inner).expect("a folder");
        std::fs::create_dir_all(environment.join("bin")).expect("a folder");
        std::fs::write(environment.join("bin/python"), "").expect("a file");
        // A folder of that name need not be an environment.
        assert_eq!(in_folder(&inner), None);
        std::fs::write(environment.join("pyvenv.cfg"), "").expect("a file");
        let found = in_folder(&inner).expect("an interpreter");
        assert_eq!(found, environment.join("bin/python"));
        let activation = Interpreter::at(found).activation();
        assert!(activation.contains(".venv/bin:\"$PATH\""), "{activation}");
        std::fs::create_dir_all(inner.join(".git")).expect("a folder");
        assert_eq!(in_folder(&inner), None, "not beyond the repository");
    }

    #[test]
    fn an_interpreter_that_is_not_there_is_refused() {
        let refused = Interpreter::find(Some(Path::new("/nowhere/python")), Path::new("."));
        let why = refused.err().map(|error| error.why().to_owned());
        assert!(why.unwrap_or_default().contains("no such file"));
    }
}
