//! `--rust`: builds a Rust service instrumented, and lets the run look into it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use isobath_exec::driver::Listener;
use isobath_exec::process::free_port;
use isobath_rest::feedback::{DriverFeedback, Feedback};
use isobath_rest::taint::Techniques;
use isobath_rewrite::build::{Build, BuildError, Built, build};

use super::args::RestArgs;
use super::run::SetupError;
use crate::terminal::{Terminal, Tone};

/// Where looking for a free port begins, so that the same service mostly has the same address.
pub(super) const FIRST_PORT: u16 = 8640;

/// The flags of white-box runs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RustArgs {
    /// The source of the service, a folder with a Cargo.toml: it is built instrumented, started, and searched white-box.
    #[arg(long, value_name = "FOLDER", group = "white_box", conflicts_with_all = ["start", "url"])]
    pub rust: Option<PathBuf>,

    /// The package of the service, when its workspace has several.
    #[arg(long, value_name = "NAME", requires = "rust")]
    pub package: Option<String>,

    /// The binary of the service, when there are several.
    #[arg(long, value_name = "NAME", requires = "rust")]
    pub bin: Option<String>,

    /// More arguments for cargo build, such as --features=x.
    #[arg(
        long,
        value_name = "ARGUMENT",
        requires = "rust",
        allow_hyphen_values = true
    )]
    pub cargo: Vec<String>,

    /// Crates and files, or classes and packages, to instrument, with * for any characters; all of the workspace or service when not given.
    #[arg(
        long,
        value_name = "PATTERN",
        value_delimiter = ',',
        requires = "white_box"
    )]
    pub include: Vec<String>,

    /// Crates and files, or classes and packages, to leave as they are.
    #[arg(
        long,
        value_name = "PATTERN",
        value_delimiter = ',',
        requires = "white_box"
    )]
    pub exclude: Vec<String>,

    /// The port of the service; a free one when not given.
    #[arg(long, requires = "white_box")]
    pub port: Option<u16>,

    /// Build in a target directory of its own, and not in that of the project.
    #[arg(long, requires = "rust")]
    pub own_target: bool,

    /// Techniques to do without, to see what they are worth.
    #[arg(
        long,
        value_name = "TECHNIQUE",
        value_delimiter = ',',
        requires = "white_box"
    )]
    pub without: Vec<Technique>,

    /// Arguments of the service; {port} stands for its port, which it also finds in the variable PORT.
    #[arg(last = true, value_name = "ARGUMENTS", requires = "white_box")]
    pub service: Vec<String>,
}

/// What a white-box run does beyond a black-box one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Technique {
    /// Targets of the code steer the search.
    Steering,
    /// Comparisons of texts and replaced methods have distances.
    Methods,
    /// Inputs are followed into comparisons and parsers.
    Tracking,
    /// Inputs that the document does not name are tried.
    Expansion,
}

impl RustArgs {
    /// The techniques of the search.
    pub(super) fn techniques(&self) -> Techniques {
        let has = |technique| !self.without.contains(&technique);
        Techniques {
            steering: has(Technique::Steering),
            tracking: has(Technique::Tracking),
            expansion: has(Technique::Expansion),
        }
    }
}

/// A service that was built instrumented and is to be started.
pub(super) struct Instrumented {
    built: Built,
    listener: Listener,
    port: u16,
    /// What starts the plain service, for suites.
    plain: String,
    start: String,
}

impl Instrumented {
    /// Builds the service that the flags name.
    pub(super) fn build(
        args: &RustArgs,
        folder: &Path,
        terminal: &Terminal,
    ) -> Result<Self, SetupError> {
        let folder = folder.canonicalize().map_err(|error| {
            SetupError::usage(format!(
                "--rust {}: {error}; name the folder of the service's Cargo.toml",
                folder.display()
            ))
        })?;
        let wrapper = std::env::current_exe()
            .map_err(|error| SetupError::usage(format!("this program cannot be found: {error}")))?;
        terminal.say(
            Tone::Faint,
            &format!("building {} instrumented", folder.display()),
        );
        let plan = Build {
            folder: folder.clone(),
            package: args.package.clone(),
            binary: args.bin.clone(),
            arguments: args.cargo.clone(),
            wrapper,
            include: args.include.clone(),
            exclude: args.exclude.clone(),
            own_target: args.own_target,
        };
        let built = build(&plan, &mut |line| {
            terminal.say(Tone::Faint, &format!("  {}", line.trim()));
        })
        .map_err(|error| match &error {
            BuildError::Cargo(_) | BuildError::Binary(_) => SetupError::usage(error.to_string()),
            BuildError::Io(..) | BuildError::Table(_) => SetupError::unreachable(error.to_string()),
        })?;
        let system = |error: std::io::Error| SetupError::unreachable(error.to_string());
        let port = match args.port {
            Some(port) => port,
            None => free_port(FIRST_PORT).map_err(system)?,
        };
        let listener = Listener::open().map_err(system)?;
        let service: String = args
            .service
            .iter()
            .map(|argument| {
                let argument = argument.replace("{port}", &port.to_string());
                format!(" {}", quoted(&argument))
            })
            .collect();
        let start = format!(
            "exec {}{service}",
            quoted(&built.executable.to_string_lossy())
        );
        let manifest = folder.join("Cargo.toml");
        let mut plain = format!(
            "PORT={port} cargo run --quiet --manifest-path {}",
            quoted(&manifest.to_string_lossy())
        );
        for (flag, value) in [("--package", &args.package), ("--bin", &args.bin)] {
            if let Some(value) = value {
                plain.push_str(&format!(" {flag} {}", quoted(value)));
            }
        }
        for argument in &args.cargo {
            plain.push_str(&format!(" {}", quoted(argument)));
        }
        plain.push_str(&format!(" --{service}"));
        Ok(Self {
            built,
            listener,
            port,
            plain,
            start,
        })
    }

    /// The flags of a run that starts this service.
    pub(super) fn flags(&self, args: &RestArgs) -> RestArgs {
        RestArgs {
            url: Some(format!("http://127.0.0.1:{}", self.port)),
            start: Some(self.start.clone()),
            suite_start: Some(self.plain.clone()),
            variables: self.variables(&args.white),
            ..args.clone()
        }
    }

    /// What the service finds in its environment.
    fn variables(&self, args: &RustArgs) -> Vec<(String, String)> {
        let mut variables = self.listener.variables(Some(&self.built.targets));
        variables.push(("PORT".into(), self.port.to_string()));
        // The driver takes the stack of a panic by itself; last words should be words.
        variables.push(("RUST_BACKTRACE".into(), "0".into()));
        if args.without.contains(&Technique::Methods) {
            variables.push(("ISOBATH_METHODS".into(), "off".into()));
        }
        variables
    }

    /// Says what of the service is watched.
    pub(super) fn describe(&self, terminal: &Terminal) {
        let counts = self.built.counts();
        terminal.say(
            Tone::Faint,
            &format!(
                "  {} targets; {} of {} branch sites watched",
                self.built.table.targets().len(),
                counts.told,
                counts.told + counts.dropped + counts.in_macros + counts.in_constants,
            ),
        );
        for (name, outcome) in &self.built.crates {
            if let Some(reason) = &outcome.plain {
                terminal.say(Tone::Warning, &format!("  {name} is not watched: {reason}"));
            }
            for (file, reason) in &outcome.plain_files {
                terminal.say(Tone::Warning, &format!("  {file} is not watched: {reason}"));
            }
        }
    }

    /// What looks into the service, once it is up.
    pub(super) fn feedback(
        self,
        patience: Duration,
    ) -> Result<(Box<dyn Feedback>, Built), SetupError> {
        let feedback = DriverFeedback::new(self.listener, patience)
            .map_err(|error| SetupError::unreachable(error.to_string()))?;
        Ok((Box::new(feedback), self.built))
    }
}

/// A word of a shell command.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted("--port=1"), "--port=1");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
