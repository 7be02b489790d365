//! The budget of a search, and why a search stopped.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much may be used. Without any limit, a search continues until it is interrupted.
#[derive(Default)]
pub struct Budget {
    evaluations: Option<u64>,
    cost: Option<u64>,
    elapsed: Option<Box<dyn FnMut() -> f64 + Send>>,
    interrupt: Option<Arc<AtomicBool>>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The evaluations, the cost or the time are used up.
    Budget,
    /// The interrupt flag was set.
    Interrupted,
}

impl Budget {
    /// At most so many candidates.
    pub fn evaluations(mut self, limit: u64) -> Self {
        self.evaluations = Some(limit);
        self
    }

    /// No new candidate once so much was spent; see [`Evaluation::cost`](crate::Evaluation::cost).
    pub fn cost(mut self, limit: u64) -> Self {
        self.cost = Some(limit);
        self
    }

    /// Asks the caller's clock for the share of the time that is used; the search ends at 1.
    pub fn elapsed(mut self, share: impl FnMut() -> f64 + Send + 'static) -> Self {
        self.elapsed = Some(Box::new(share));
        self
    }

    /// Ends as soon as the flag is raised.
    pub fn interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// The share of the budget that is used, or why there is no more.
    pub(crate) fn progress(&mut self, asked: u64, spent: u64) -> Result<f64, StopReason> {
        let raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if self.interrupt.as_ref().is_some_and(raised) {
            return Err(StopReason::Interrupted);
        }
        let share = |used: u64, limit: Option<u64>| match limit {
            Some(limit) if used >= limit => 1.0,
            Some(limit) => used as f64 / limit as f64,
            None => 0.0,
        };
        let time = match &mut self.elapsed {
            Some(elapsed) => elapsed(),
            None => 0.0,
        };
        let used = share(asked, self.evaluations)
            .max(share(spent, self.cost))
            .max(time);
        if used >= 1.0 {
            Err(StopReason::Budget)
        } else {
            Ok(used)
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("evaluations", &self.evaluations)
            .field("cost", &self.cost)
            .field("elapsed", &self.elapsed.is_some())
            .field("interrupt", &self.interrupt)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcest_of_all_limits_counts() {
        let mut budget = Budget::default()
            .evaluations(100)
            .cost(1_000)
            .elapsed(|| 0.3);
        assert_eq!(budget.progress(10, 10), Ok(0.3));
        assert_eq!(budget.progress(50, 10), Ok(0.5));
        assert_eq!(budget.progress(50, 900), Ok(0.9));
        assert_eq!(budget.progress(50, 1_000), Err(StopReason::Budget));
    }

    #[test]
    fn nothing_is_handed_out_of_an_empty_budget() {
        assert_eq!(
            Budget::default().evaluations(0).progress(0, 0),
            Err(StopReason::Budget)
        );
    }

    #[test]
    fn a_raised_flag_ends_at_once() {
        let flag = Arc::new(AtomicBool::new(false));
        let mut budget = Budget::default().interrupt(Arc::clone(&flag));
        assert_eq!(budget.progress(5, 5), Ok(0.0));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(budget.progress(5, 5), Err(StopReason::Interrupted));
    }
}
