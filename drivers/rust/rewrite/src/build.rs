//! Builds a cargo project with the wrapper, and collects what the build left.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isobath_protocol::TargetTable;
use serde_json::Value;

use crate::rewrite::SiteCounts;
use crate::wrapper::{CrateReport, EXCLUDE, INCLUDE, STATE, key};

/// What to build.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// The folder of the project; its `Cargo.toml` is used.
    pub folder: PathBuf,
    /// The package, when the workspace has several.
    pub package: Option<String>,
    /// The binary, when there are several.
    pub binary: Option<String>,
    /// More arguments for `cargo build`, such as features or a profile.
    pub arguments: Vec<String>,
    /// The program that cargo calls in place of the compiler: `isobath-rustc`, or whatever
    /// calls [`crate::wrapper::run`].
    pub wrapper: PathBuf,
    /// Patterns of crates and files to instrument; all members when empty.
    pub include: Vec<String>,
    /// Patterns of crates and files to leave as they are.
    pub exclude: Vec<String>,
    /// Build in a target directory of its own. Otherwise the project's is used, with the
    /// dependencies that are built there already; the next plain build puts the plain program back.
    pub own_target: bool,
}

/// A service that was built instrumented.
#[derive(Clone, Debug)]
pub struct InstrumentedBuild {
    /// The program to start.
    pub executable: PathBuf,
    /// The file that the program finds by `ISOBATH_TARGETS`.
    pub targets: PathBuf,
    /// What is in it.
    pub table: TargetTable,
    /// The outcome of each crate, by name.
    pub crates: Vec<(String, CrateReport)>,
}

impl InstrumentedBuild {
    /// The branch sites of all crates together.
    pub fn counts(&self) -> SiteCounts {
        let mut counts = SiteCounts::default();
        for (_, outcome) in &self.crates {
            counts.add(outcome.counts);
        }
        counts
    }
}

/// Why there is nothing to start.
#[derive(Debug)]
pub enum BuildError {
    /// Cargo cannot be run, or its results cannot be read.
    Io(PathBuf, io::Error),
    /// Cargo failed; this is what it said.
    Cargo(String),
    /// Not exactly one binary fits; these were built.
    Binary(Vec<String>),
    /// The tables of targets cannot be read.
    Table(String),
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Cargo(said) => write!(f, "failed to build the service; cargo printed:\n{said}"),
            Self::Binary(built) if built.is_empty() => {
                f.write_str("the project has no binary; name a package that has one")
            }
            Self::Binary(built) => write!(
                f,
                "which binary is the service? Name one with --bin: {}",
                built.join(", ")
            ),
            Self::Table(why) => write!(
                f,
                "the targets of the build cannot be read ({why}); remove the folder `isobath` in the target directory and build again"
            ),
        }
    }
}

impl std::error::Error for BuildError {}

/// Builds a project; `progress` gets each line that cargo says.
///
/// # Errors
///
/// When it does not build without us either, or has no binary to start.
pub fn build(
    build: &Build,
    progress: &mut dyn FnMut(&str),
) -> Result<InstrumentedBuild, BuildError> {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let state = state(&cargo, &build.folder)?;
    let mut command = Command::new(&cargo);
    command
        .current_dir(&build.folder)
        .args(["build", "--message-format=json-render-diagnostics"])
        .args(&build.arguments)
        .env("RUSTC_WORKSPACE_WRAPPER", &build.wrapper)
        .env(STATE, &state)
        .env(INCLUDE, build.include.join(","))
        .env(EXCLUDE, build.exclude.join(","));
    if let Some(package) = &build.package {
        command.args(["--package", package]);
    }
    if let Some(binary) = &build.binary {
        command.args(["--bin", binary]);
    }
    if build.own_target {
        command.arg("--target-dir").arg(state.join("build"));
    }
    let said = run(&cargo, &mut command, progress)?;
    let artifacts = artifacts(&said);
    let mut programs: Vec<&Artifact> = artifacts
        .iter()
        .filter(|artifact| artifact.executable.is_some())
        .collect();
    if let Some(binary) = &build.binary {
        programs.retain(|artifact| artifact.name == *binary);
    }
    let [program] = programs.as_slice() else {
        let names = programs.iter().map(|program| program.name.clone());
        return Err(BuildError::Binary(names.collect()));
    };
    let executable = program.executable.clone().unwrap_or_default();
    let executable = keep(&state, executable)?;
    collect(&state, &artifacts, executable)
}

/// A copy of the program, which the next plain build does not replace.
fn keep(state: &Path, program: PathBuf) -> Result<PathBuf, BuildError> {
    let folder = state.join("bin");
    let copy = folder.join(program.file_name().unwrap_or_default());
    let failed = |error: io::Error| BuildError::Io(copy.clone(), error);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    // A program that runs cannot be written to, but its name can be given to another.
    let fresh = folder.join(format!("new-{}", std::process::id()));
    std::fs::copy(&program, &fresh).map_err(failed)?;
    std::fs::rename(&fresh, &copy).map_err(failed)?;
    Ok(copy)
}

/// Puts the tables of all crates into one file beside them.
fn collect(
    state: &Path,
    artifacts: &[Artifact],
    executable: PathBuf,
) -> Result<InstrumentedBuild, BuildError> {
    let mut bytes = Vec::new();
    let mut crates = Vec::new();
    for artifact in artifacts {
        let name = artifact.name.replace('-', "_");
        let key = key(&name, &artifact.root);
        let Some(outcome) = CrateReport::read(state, &key) else {
            continue;
        };
        if let Ok(table) = std::fs::read(state.join(format!("{key}.targets"))) {
            bytes.extend(table);
        }
        crates.push((name, outcome));
    }
    let table = TargetTable::read(&mut bytes.as_slice())
        .map_err(|error| BuildError::Table(error.to_string()))?;
    let name = executable.file_name().unwrap_or_default();
    let targets = state.join(format!("{}.all.targets", name.to_string_lossy()));
    std::fs::write(&targets, bytes).map_err(|error| BuildError::Io(targets.clone(), error))?;
    Ok(InstrumentedBuild {
        executable,
        targets,
        table,
        crates,
    })
}

/// What cargo says that it built, or had built before.
struct Artifact {
    name: String,
    root: PathBuf,
    executable: Option<PathBuf>,
}

fn artifacts(messages: &str) -> Vec<Artifact> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact");
    messages
        .filter_map(|message| {
            let target = &message["target"];
            let kinds = target["kind"].as_array()?;
            if kinds
                .iter()
                .any(|kind| kind == "custom-build" || kind == "proc-macro")
            {
                return None;
            }
            Some(Artifact {
                name: target["name"].as_str()?.to_owned(),
                root: target["src_path"].as_str()?.into(),
                executable: message["executable"].as_str().map(PathBuf::from),
            })
        })
        .collect()
}

/// The folder for what is kept between builds, in the target directory of the project.
fn state(cargo: &Path, folder: &Path) -> Result<PathBuf, BuildError> {
    let mut command = Command::new(cargo);
    command
        .current_dir(folder)
        .args(["metadata", "--format-version", "1", "--no-deps"]);
    let said = run(cargo, &mut command, &mut |_| {})?;
    let metadata: Value = serde_json::from_str(&said).unwrap_or_default();
    let target = metadata["target_directory"].as_str();
    let target = target.ok_or_else(|| BuildError::Cargo("no target directory".into()))?;
    Ok(Path::new(target).join("isobath"))
}

/// What cargo says on its standard output; what it says to people goes to `progress` line by line.
fn run(
    cargo: &Path,
    command: &mut Command,
    progress: &mut dyn FnMut(&str),
) -> Result<String, BuildError> {
    let failed = |error: io::Error| BuildError::Io(cargo.to_path_buf(), error);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut stdout = child.stdout.take();
    // Both pipes are read at once, or cargo would wait for us while we wait for cargo.
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stdout) = &mut stdout {
            let _ = stdout.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let mut said = String::new();
    for line in child.stderr.take().into_iter().flat_map(lines) {
        progress(&line);
        said.push_str(&line);
        said.push('\n');
    }
    let status = child.wait().map_err(failed)?;
    let output = reading.join().unwrap_or_default();
    if status.success() {
        Ok(output)
    } else {
        Err(BuildError::Cargo(said))
    }
}

fn lines(stream: impl Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
    lines.map(|line| String::from_utf8_lossy(&line).into_owned())
}
