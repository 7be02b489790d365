//! The exit codes of the command, in one place.

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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            Exit::Internal => 4,
        })
    }
}
