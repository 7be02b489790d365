//! When a job has to end before it is done.

use std::fmt;

/// Why a job ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// The query has used up its CPU time.
    #[error("the time limit of the query was reached")]
    TimeLimit,
    /// The user interrupted the run.
    #[error("the run was interrupted")]
    Interrupted,
}

/// Says whether a job has to end; by default, it never has to.
#[derive(Clone, Copy, Default)]
pub struct StopSignal<'a>(Option<&'a dyn Fn() -> Option<StopReason>>);

impl<'a> StopSignal<'a> {
    /// A job that ends when the function returns a reason.
    pub fn new(reason: &'a dyn Fn() -> Option<StopReason>) -> Self {
        Self(Some(reason))
    }

    /// Why the job has to end now, if it has to.
    pub fn reason(self) -> Option<StopReason> {
        self.0.and_then(|reason| reason())
    }

    /// Whether the job has to end now.
    pub fn is_set(self) -> bool {
        self.reason().is_some()
    }
}

impl fmt::Debug for StopSignal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StopSignal({})", self.0.is_some())
    }
}
