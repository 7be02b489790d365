//! White-box instrumentation of the service, independent of its language.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use isobath_exec::driver::{Listener, SharedDriver};
use isobath_exec::process::free_port;
use isobath_rest::feedback::{DriverFeedback, Feedback};
use isobath_rewrite::build::InstrumentedBuild;

use super::args::RestArgs;
use super::jvm::InstrumentedJvm;
use super::launch::LaunchPlan;
use super::python::InstrumentedPython;
use super::run::SetupError;
use super::rust::{Instrumented, Technique};
use crate::terminal::{Terminal, Tone};

/// A service with a driver in it, before it is started.
pub(super) enum Instrumentation {
    /// Built from its source.
    Rust(Instrumented),
    /// Started with an agent.
    Jvm(InstrumentedJvm),
    /// Started with an import hook.
    Python(InstrumentedPython),
}

/// Instruments of a running service.
#[derive(Default)]
pub(super) struct Instruments {
    /// What tells of its code; nothing for a black box.
    pub(super) feedback: Option<Box<dyn Feedback>>,
    /// What its build left.
    pub(super) built: Option<InstrumentedBuild>,
    /// Access to its in-memory database.
    pub(super) rows: Option<InMemoryRows>,
}

/// Access to an in-memory database of a service.
pub(super) struct InMemoryRows {
    /// The driver in it.
    pub(super) driver: SharedDriver,
    /// Endpoint for inserting rows.
    pub(super) row_endpoint: String,
}

impl InMemoryRows {
    /// Access through the driver of some feedback.
    pub(super) fn new(feedback: &DriverFeedback, row_port: &RowPort) -> Self {
        Self {
            driver: feedback.driver(),
            row_endpoint: format!("http://127.0.0.1:{}", row_port.port),
        }
    }
}

/// Port at which a driver takes rows for an in-memory database of the service; whoever runs SQL there has to know a token.
pub(super) struct RowPort {
    port: u16,
    token: String,
}

/// Environment variable with the port for inserting rows.
pub(super) const ROW_PORT_VARIABLE: &str = "ISOBATH_DOOR";
/// How far from the port of the service the one for rows is looked for.
const ROW_PORT_OFFSET: u16 = 1000;

impl RowPort {
    /// A free port, with the token of a listener.
    pub(super) fn find(listener: &Listener, service: u16) -> Result<Self, SetupError> {
        let port = free_port(service.saturating_add(ROW_PORT_OFFSET));
        Ok(Self {
            port: port.map_err(|error| SetupError::unreachable(error.to_string()))?,
            token: listener.token().unwrap_or_default().to_owned(),
        })
    }

    /// Another port, with the token of another listener.
    pub(super) fn another(&self, listener: &Listener) -> Result<Self, SetupError> {
        // Behind this one, which need not be taken yet.
        Self::find(listener, self.port.saturating_add(1) - ROW_PORT_OFFSET)
    }

    /// What the driver finds in the environment of the service.
    pub(super) fn variable(&self) -> (String, String) {
        let place = format!("{}/{}", self.port, self.token);
        (ROW_PORT_VARIABLE.to_owned(), place)
    }
}

/// Where a suite that is checked brings rows to the service that runs, with the token of the run.
pub(super) fn row_endpoint(launch: &LaunchPlan) -> Option<String> {
    let mut variables = launch.variables.iter();
    let (_, place) = variables.find(|(name, _)| name == ROW_PORT_VARIABLE)?;
    Some(format!("http://127.0.0.1:{place}"))
}

impl Instrumentation {
    /// Prepares what the flags name; nothing for a black box.
    pub(super) fn prepare(
        args: &RestArgs,
        terminal: &Terminal,
    ) -> Result<Option<Self>, SetupError> {
        let is_watched =
            args.white.rust.is_some() || args.jvm.is_wanted() || args.python.is_wanted();
        if is_watched && args.workers > 1 {
            return Err(SetupError::usage(
                "white-box testing requires --workers 1: coverage cannot be attributed to one of several parallel calls; --instances runs several services",
            ));
        }
        if let Some(folder) = &args.white.rust {
            let built = Instrumented::build(args, folder, terminal)?;
            return Ok(Some(Self::Rust(built)));
        }
        if args.jvm.is_wanted() {
            return InstrumentedJvm::prepare(args, terminal)
                .map(|watched| Some(Self::Jvm(watched)));
        }
        if args.python.is_wanted() {
            return InstrumentedPython::prepare(args).map(|watched| Some(Self::Python(watched)));
        }
        Ok(None)
    }

    /// Another instance of the same service, at another port; to be asked of the instance before it.
    pub(super) fn another(&self, args: &RestArgs, port: u16) -> Result<Self, SetupError> {
        Ok(match self {
            Self::Rust(service) => Self::Rust(service.another(args, port)?),
            Self::Jvm(service) => Self::Jvm(service.another(args, port)?),
            Self::Python(service) => Self::Python(service.another(port)?),
        })
    }

    /// Adds what starts this service.
    pub(super) fn add_to(&self, args: &RestArgs, launch: &mut LaunchPlan) {
        match self {
            Self::Rust(service) => service.add_to(args, launch),
            Self::Jvm(service) => service.add_to(args, launch),
            Self::Python(service) => service.add_to(args, launch),
        }
    }

    /// The instruments of the service, whose driver connects within `timeout`; prints what is instrumented.
    pub(super) fn feedback(
        self,
        terminal: &Terminal,
        timeout: Duration,
    ) -> Result<Instruments, SetupError> {
        match self {
            Self::Rust(service) => {
                service.describe(terminal);
                let (feedback, built) = service.feedback(timeout)?;
                Ok(Instruments {
                    feedback: Some(feedback),
                    built: Some(built),
                    rows: None,
                })
            }
            Self::Jvm(service) => service.feedback(terminal, timeout),
            Self::Python(service) => service.feedback(terminal, timeout),
        }
    }
}

/// What any driver finds in the environment of the service; `targets` is the file that an instrumented build left.
pub(super) fn variables(
    listener: &Listener,
    targets: Option<&Path>,
    args: &RestArgs,
) -> Vec<(String, String)> {
    let mut variables = listener.variables(targets);
    if args.white.without.contains(&Technique::Methods) {
        variables.push(("ISOBATH_METHODS".into(), "off".into()));
    }
    variables
}

/// The feedback of a driver that connects within `timeout` and tells its targets; says how many there are.
pub(super) fn connect(
    listener: Listener,
    terminal: &Terminal,
    timeout: Duration,
    without_targets: &str,
) -> Result<DriverFeedback, SetupError> {
    let feedback = DriverFeedback::new(listener, timeout).map_err(|error| {
        SetupError::unreachable(format!(
            "{error} See the output of the service for the reason."
        ))
    })?;
    let targets = feedback.targets();
    let files: BTreeSet<&str> = targets.iter().map(|target| target.file.as_str()).collect();
    if targets.is_empty() {
        return Err(SetupError::usage(without_targets));
    }
    terminal.say(
        Tone::Faint,
        &format!(
            "  {} targets in {} source files",
            targets.len(),
            files.len()
        ),
    );
    Ok(feedback)
}
