//! `--rust`: builds an instrumented Rust service for white-box testing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use isobath_emit::shell::quote_if_needed;
use isobath_exec::driver::Listener;
use isobath_exec::process::free_port;
use isobath_rest::feedback::{DriverFeedback, Feedback};
use isobath_rest::taint::Techniques;
use isobath_rewrite::build::{Build, BuildError, InstrumentedBuild, build};

use super::address::{at_port, port_of};
use super::args::RestArgs;
use super::instrumentation;
use super::launch::LaunchPlan;
use super::run::SetupError;
use crate::terminal::{Terminal, Tone};

/// Where looking for a free port begins, so that the same service mostly has the same address.
const FIRST_PORT: u16 = 8640;
/// Ports between those of islands, and how many islands are told apart.
const ISLAND_PORTS: u16 = 16;
const ISLANDS: u64 = 64;

impl RestArgs {
    /// Where looking for a free port begins; islands on one machine, which start at the same time, look at different places.
    pub(super) fn first_port(&self) -> u16 {
        let island = self.exchange.as_ref().map_or(0, |_| self.seed % ISLANDS);
        FIRST_PORT + ISLAND_PORTS * u16::try_from(island).unwrap_or_default()
    }
}

/// Flags for white-box testing of Rust services.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "White-box")]
pub(crate) struct RustArgs {
    /// Rust service to test white-box: the folder of its Cargo.toml. Builds it with instrumentation and starts it.
    #[arg(
        long,
        value_name = "FOLDER",
        group = "white_box",
        conflicts_with = "start"
    )]
    pub rust: Option<PathBuf>,

    /// Cargo package of the service, if the workspace has several.
    #[arg(long, value_name = "NAME", requires = "rust")]
    pub package: Option<String>,

    /// Cargo binary of the service, if there are several.
    #[arg(long, value_name = "NAME", requires = "rust")]
    pub bin: Option<String>,

    /// Extra argument for cargo build, for example --features=x. Repeatable.
    #[arg(
        long,
        value_name = "ARGUMENT",
        requires = "rust",
        allow_hyphen_values = true
    )]
    pub cargo: Vec<String>,

    /// Crates and files (Rust), packages and classes (JVM) or modules (Python) to instrument; * matches any characters [default: all].
    #[arg(
        long,
        value_name = "PATTERN",
        value_delimiter = ',',
        requires = "white_box"
    )]
    pub include: Vec<String>,

    /// Crates and files (Rust), packages and classes (JVM) or modules (Python) not to instrument.
    #[arg(
        long,
        value_name = "PATTERN",
        value_delimiter = ',',
        requires = "white_box"
    )]
    pub exclude: Vec<String>,

    /// Port of the service [default: a free port].
    #[arg(long, requires = "white_box")]
    pub port: Option<u16>,

    /// Build in a separate target directory.
    #[arg(long, requires = "rust")]
    pub own_target: bool,

    /// White-box techniques to disable, for ablation studies.
    #[arg(
        long,
        value_name = "TECHNIQUE",
        value_delimiter = ',',
        requires = "white_box"
    )]
    pub without: Vec<Technique>,

    /// Arguments of the service; {port} is replaced by its port, which is also in the environment variable PORT, and {db} by the
    /// URL of --db (SQLite: by the path of the file).
    #[arg(last = true, value_name = "ARGUMENTS", requires = "white_box")]
    pub service: Vec<String>,
}

/// A white-box technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Technique {
    /// Branch distances of code targets.
    Steering,
    /// Method replacement: distances for string comparisons and library calls.
    Methods,
    /// Taint tracking of inputs into comparisons and parsers.
    Tracking,
    /// Genotype expansion: inputs that the code reads and the OpenAPI document does not name.
    Expansion,
}

impl RustArgs {
    /// The arguments of the service at a port, as words of a shell command.
    fn service_words(&self, port: u16) -> String {
        let arguments = self.service.iter();
        arguments
            .map(|argument| {
                let argument = argument.replace("{port}", &port.to_string());
                format!(" {}", quote_if_needed(&argument))
            })
            .collect()
    }

    /// What starts the instrumented service at a port.
    fn start_command(&self, built: &InstrumentedBuild, port: u16) -> String {
        let program = quote_if_needed(&built.executable.to_string_lossy());
        format!("exec {program}{}", self.service_words(port))
    }

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

/// Crates that compute hashes of passwords, which take a second and more when they are not optimized.
const HASHING: [&str; 6] = [
    "argon2",
    "bcrypt",
    "djangohashers",
    "pbkdf2",
    "rust-argon2",
    "scrypt",
];

impl RestArgs {
    /// What to set when the debug build of a hashing crate makes calls of a Rust service slow; empty if there is none.
    pub(super) fn slow_build_hint(&self) -> String {
        let Some(folder) = &self.white.rust else {
            return String::new();
        };
        let is_release =
            |argument: &String| argument == "--release" || argument.contains("profile");
        if self.white.cargo.iter().any(is_release) {
            return String::new();
        }
        // The lock file is with the workspace.
        let folder = folder.canonicalize().unwrap_or_default();
        let mut folders = folder.ancestors();
        let lock = folders.find_map(|folder| fs::read_to_string(folder.join("Cargo.lock")).ok());
        let lock = lock.unwrap_or_default();
        let is_used = |name: &&&str| lock.contains(&format!("name = \"{name}\"\n"));
        match HASHING.iter().find(is_used) {
            Some(name) => format!(
                "; a debug build of `{name}` is slow: set `[profile.dev.package.\"*\"] opt-level = 3` in the Cargo.toml of the workspace"
            ),
            None => String::new(),
        }
    }
}

/// A service that was built instrumented and is to be started.
pub(super) struct Instrumented {
    built: InstrumentedBuild,
    listener: Listener,
    port: u16,
    /// What starts the plain service, for suites.
    plain: String,
    start: String,
}

impl Instrumented {
    /// Builds the service that the flags name.
    pub(super) fn build(
        args: &RestArgs,
        folder: &Path,
        terminal: &Terminal,
    ) -> Result<Self, SetupError> {
        let first_port = args.first_port();
        let (args, url) = (&args.white, args.url.as_deref());
        let folder = folder.canonicalize().map_err(|error| {
            SetupError::usage(format!(
                "--rust {}: {error}; pass the folder of the service's Cargo.toml",
                folder.display()
            ))
        })?;
        let wrapper = std::env::current_exe().map_err(|error| {
            SetupError::usage(format!(
                "cannot find the path of the isobath binary: {error}"
            ))
        })?;
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
        let port = match args.port.or_else(|| port_of(url)) {
            Some(port) => port,
            None => free_port(first_port).map_err(system)?,
        };
        let listener = Listener::open().map_err(system)?;
        let (service, start) = (args.service_words(port), args.start_command(&built, port));
        let manifest = folder.join("Cargo.toml");
        let mut plain = format!(
            "PORT={port} cargo run --quiet --manifest-path {}",
            quote_if_needed(&manifest.to_string_lossy())
        );
        for (flag, value) in [("--package", &args.package), ("--bin", &args.bin)] {
            if let Some(value) = value {
                plain.push_str(&format!(" {flag} {}", quote_if_needed(value)));
            }
        }
        for argument in &args.cargo {
            plain.push_str(&format!(" {}", quote_if_needed(argument)));
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

    /// Another instance of the same build, at another port.
    pub(super) fn another(&self, args: &RestArgs, port: u16) -> Result<Self, SetupError> {
        let listener = Listener::open();
        Ok(Self {
            built: self.built.clone(),
            listener: listener.map_err(|error| SetupError::unreachable(error.to_string()))?,
            port,
            plain: self.plain.clone(),
            start: args.white.start_command(&self.built, port),
        })
    }

    /// Adds what starts this service.
    pub(super) fn add_to(&self, args: &RestArgs, launch: &mut LaunchPlan) {
        launch.url = Some(at_port(launch.url.as_deref(), self.port));
        launch.start = Some(self.start.clone());
        launch.suite_start = Some(self.plain.clone());
        launch.variables = self.variables(args);
    }

    /// What the service finds in its environment.
    fn variables(&self, args: &RestArgs) -> Vec<(String, String)> {
        let targets = Some(self.built.targets.as_path());
        let mut variables = instrumentation::variables(&self.listener, targets, args);
        variables.push(("PORT".into(), self.port.to_string()));
        // The driver takes the stack of a panic by itself; last words should be words.
        variables.push(("RUST_BACKTRACE".into(), "0".into()));
        variables
    }

    /// Prints what is instrumented.
    pub(super) fn describe(&self, terminal: &Terminal) {
        let counts = self.built.counts();
        terminal.say(
            Tone::Faint,
            &format!(
                "  {} targets; {} of {} branches instrumented",
                self.built.table.targets().len(),
                counts.instrumented,
                counts.instrumented + counts.dropped + counts.in_macros + counts.in_constants,
            ),
        );
        for (name, outcome) in &self.built.crates {
            if let Some(reason) = &outcome.plain {
                terminal.say(
                    Tone::Warning,
                    &format!("  {name} is not instrumented: {reason}"),
                );
            }
            for (file, reason) in &outcome.plain_files {
                terminal.say(
                    Tone::Warning,
                    &format!("  {file} is not instrumented: {reason}"),
                );
            }
        }
    }

    /// The driver feedback of a service whose driver connects within `timeout`.
    pub(super) fn feedback(
        self,
        timeout: Duration,
    ) -> Result<(Box<dyn Feedback>, InstrumentedBuild), SetupError> {
        let feedback = DriverFeedback::new(self.listener, timeout)
            .map_err(|error| SetupError::unreachable(error.to_string()))?;
        Ok((Box::new(feedback), self.built))
    }
}
