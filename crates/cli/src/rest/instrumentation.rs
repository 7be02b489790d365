//! A service that the run looks into, whatever it is written in.

use std::time::Duration;

use isobath_exec::driver::SharedDriver;
use isobath_rest::feedback::Feedback;
use isobath_rewrite::build::Built;

use super::args::RestArgs;
use super::jvm::Watched;
use super::run::SetupError;
use super::rust::Instrumented;
use crate::terminal::Terminal;

/// A service with a driver in it, before it is started.
pub(super) enum Instrumentation {
    /// Built from its source.
    Rust(Instrumented),
    /// Started with an agent.
    Jvm(Watched),
}

/// What looks into a service that is up.
#[derive(Default)]
pub(super) struct Instruments {
    /// What tells of its code; nothing for a black box.
    pub(super) feedback: Option<Box<dyn Feedback>>,
    /// What its build left.
    pub(super) built: Option<Built>,
    /// Who may reach a database in its memory.
    pub(super) rows: Option<InMemoryRows>,
}

/// Who may reach a database in the memory of a service.
pub(super) struct InMemoryRows {
    /// The driver in it.
    pub(super) driver: SharedDriver,
    /// Where suites bring rows.
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
                "white-box runs need --workers 1: what a call does inside the service cannot be told from what another one does",
            ));
        }
        if let Some(folder) = &args.white.rust {
            let built = Instrumented::build(&args.white, folder, terminal)?;
            return Ok(Some(Self::Rust(built)));
        }
        if args.jvm.is_wanted() {
            return Watched::prepare(args, terminal).map(|watched| Some(Self::Jvm(watched)));
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

    /// What looks into the service, whose driver connects within `patience`; says what of it is instrumented.
    pub(super) fn feedback(
        self,
        terminal: &Terminal,
        patience: Duration,
    ) -> Result<Instruments, SetupError> {
        match self {
            Self::Rust(service) => {
                service.describe(terminal);
                let (feedback, built) = service.feedback(patience)?;
                Ok(Instruments {
                    feedback: Some(feedback),
                    built: Some(built),
                    rows: None,
                })
            }
            Self::Jvm(service) => service.feedback(terminal, patience),
        }
    }
}
