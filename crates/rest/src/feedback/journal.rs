//! Feedback from a service that logs its SQL statements itself.

use std::fmt;

use isobath_exec::driver::{Event, Target as CodeTarget};

use super::{CandidateTrace, Feedback};

/// A service in this process, say, whose statements can be asked for.
pub struct JournalFeedback<F> {
    /// Returns the statements since the last call, as events of the action with this number.
    take: F,
    action: u16,
    events: Vec<Event>,
}

impl<F: FnMut(u16) -> Vec<Event> + Send> JournalFeedback<F> {
    /// Asks `take` for what was run since the last time, as events of the action whose number it is given.
    pub fn new(take: F) -> Self {
        Self {
            take,
            action: 0,
            events: Vec::new(),
        }
    }

    fn catch_up(&mut self) {
        self.events.extend((self.take)(self.action));
    }
}

impl<F> fmt::Debug for JournalFeedback<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalFeedback")
            .field("action", &self.action)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

impl<F: FnMut(u16) -> Vec<Event> + Send> Feedback for JournalFeedback<F> {
    fn targets(&self) -> &[CodeTarget] {
        &[]
    }

    fn begin(&mut self, _: Vec<String>) {
        self.catch_up();
        self.events.clear();
    }

    fn call(&mut self, number: u16) {
        self.catch_up();
        self.action = number;
    }

    fn end(&mut self) -> CandidateTrace {
        self.catch_up();
        CandidateTrace {
            events: std::mem::take(&mut self.events),
            ..CandidateTrace::default()
        }
    }
}
