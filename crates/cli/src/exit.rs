//! Exit codes of the command.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing to complain about.
    Clean,
    /// The system under test does not do what it should.
    Findings,
    /// The flags, the configuration or the input are wrong.
    Usage,
    /// A database or service cannot be reached, or refuses us.
    Unreachable,
    /// We are at fault.
    Internal,
    /// Somebody ended the run early.
    Interrupted,
}

impl Exit {
    /// The number that the system sees.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::Internal => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(u8::try_from(exit.code()).unwrap_or(u8::MAX))
    }
}
