//! Events of a search, for observers.

use crate::budget::StopReason;
use crate::problem::Problem;
use crate::target::TargetId;

/// The two phases of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Fresh candidates and large populations.
    Explore,
    /// The best candidate of each target, mutated again and again.
    Focus,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchEvent {
    /// A target was touched for the first time.
    Discovered {
        /// Which.
        target: TargetId,
        /// The number of the candidate that touched it.
        trial: u64,
    },
    /// A target was covered for the first time.
    Covered {
        /// Which.
        target: TargetId,
        /// The number of the candidate that covered it.
        trial: u64,
    },
    /// A phase began.
    Phase(Phase),
    /// A candidate was evaluated.
    Evaluated {
        /// Its number.
        trial: u64,
        /// What it cost.
        cost: u64,
        /// How much of the budget is used, from 0 to 1.
        progress: f64,
        /// Targets touched so far.
        targets: usize,
        /// Targets covered so far.
        covered: usize,
    },
    /// No more candidates will be handed out.
    Ended(StopReason),
}

/// Receives the events of a search.
pub trait Observer<P: Problem> {
    /// Called for each event, in order.
    fn on(&mut self, event: &SearchEvent, problem: &P);

    /// Called with each candidate that is the first to cover something, and with what, before the events about that.
    fn keep(&mut self, _candidate: &P::Candidate, _covered: &[TargetId], _problem: &P) {}
}

impl<P: Problem, F: FnMut(&SearchEvent, &P)> Observer<P> for F {
    fn on(&mut self, event: &SearchEvent, problem: &P) {
        self(event, problem);
    }
}
