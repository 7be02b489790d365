//! White-box instrumentation of the service, independent of its language.

use std::time::Duration;

use isobath_exec::driver::SharedDriver;
use isobath_rest::feedback::Feedback;
use isobath_rewrite::build::InstrumentedBuild;

use super::args::RestArgs;
use super::jvm::InstrumentedJvm;
use super::run::SetupError;
use super::rust::Instrumented;
use crate::terminal::Terminal;

/// A service with a driver in it, before it is started.
pub(super) enum Instrumentation {
    /// Built from its source.
    Rust(Instrumented),
    /// Started with an agent.
    Jvm(InstrumentedJvm),
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

impl Instrumentation {
    /// Prepares what the flags name; nothing for a black box.
    pub(super) fn prepare(
        args: &RestArgs,
        terminal: &Terminal,
    ) -> Result<Option<Self>, SetupError> {
        let is_watched = args.white.rust.is_some() || args.jvm.is_wanted();
        if is_watched && args.workers > 1 {
            return Err(SetupError::usage(
                "white-box testing requires --workers 1: coverage cannot be attributed to one of several parallel calls",
            ));
        }
        if let Some(folder) = &args.white.rust {
            let built = Instrumented::build(&args.white, folder, terminal)?;
            return Ok(Some(Self::Rust(built)));
        }
        if args.jvm.is_wanted() {
            return InstrumentedJvm::prepare(args, terminal)
                .map(|watched| Some(Self::Jvm(watched)));
        }
        Ok(None)
    }

    /// The flags of a run that starts this service.
    pub(super) fn flags(&self, args: &RestArgs) -> RestArgs {
        match self {
            Self::Rust(service) => service.flags(args),
            Self::Jvm(service) => service.flags(args),
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
        }
    }
}
