//! Measures how much of the time budget is used.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use isobath_rest::job::{self, Event, Stage};

use super::args::Budget;

/// How much of the time is used; stands still while what an earlier run covered is covered again.
pub(super) struct Clock {
    budget: Option<Duration>,
    before: Duration,
    started: Mutex<Option<Instant>>,
}

impl Clock {
    /// A clock that has not started, of a run that was stopped after so many seconds. What comes after the search is done
    /// anew, so the time for that is not used.
    pub(super) fn new(before: f64, budget: Budget) -> Self {
        let budget = match budget {
            Budget::Time(time) => Some(time),
            Budget::Calls(_) => None,
        };
        let before = Duration::try_from_secs_f64(before).unwrap_or_default();
        let most = budget.map_or(Duration::ZERO, |time| time.mul_f64(job::SEARCH_ENDS));
        Self {
            budget,
            before: before.min(most),
            started: Mutex::new(None),
        }
    }

    /// Starts it, unless it was started before.
    pub(super) fn start(&self, at: Instant) {
        self.started().get_or_insert(at);
    }

    /// Starts it when something is done for the first time.
    pub(super) fn on(&self, event: &Event<'_>) {
        if matches!(event, Event::Stage(stage) if *stage != Stage::Resume) {
            self.start(Instant::now());
        }
    }

    /// The share of the time that is used, from 0.
    pub(super) fn used(&self) -> f64 {
        self.used_after(Duration::ZERO)
    }

    /// The share that will be used after something that takes so long.
    pub(super) fn used_after(&self, more: Duration) -> f64 {
        let since = self
            .started()
            .map_or(Duration::ZERO, |started| started.elapsed());
        self.budget.map_or(0.0, |time| {
            (self.before + since + more).as_secs_f64() / time.as_secs_f64()
        })
    }

    fn started(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
