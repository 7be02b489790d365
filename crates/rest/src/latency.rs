//! How long calls of each operation take: where the budget is time, slow operations are chosen less often.
//!
//! A call that hashes a password takes as long as a hundred others. Chosen as often as these it would use nearly all of the
//! time. So the choice is by time: the slower an operation is than the usual one, the rarer it is called.

use std::time::Duration;

use isobath_search::Rng;

use crate::candidate::{Candidate, Step};

/// An operation is slow when its calls take so many times as long as those of the usual operation.
const SLOW: f64 = 4.0;
/// Shorter calls are never slow: there, noise decides.
const MIN_SLOW: f64 = 0.02;

/// An operation that used much of the time is told of from this share on.
const MUCH: f64 = 0.25;
/// From so many seconds a call on.
const LONG: f64 = 0.1;

/// The mean latency of each operation. Where the budget is calls, it decides nothing, so that the same seed makes the same
/// choices.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    /// Per operation, the time of all calls in seconds, and how many there were.
    totals: Vec<(f64, u32)>,
    /// The median of the means.
    usual: f64,
    /// Whether slow operations are chosen less often.
    is_deciding: bool,
}

/// An operation whose calls used much of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowOperation {
    /// Which.
    pub operation: usize,
    /// The mean time of a call.
    pub mean: Duration,
    /// Its share of the time of all calls, up to 1.
    pub share: f64,
}

impl Latencies {
    /// Measures as many operations.
    pub(crate) fn of(n_operations: usize, is_deciding: bool) -> Self {
        Self {
            totals: vec![(0.0, 0); n_operations],
            usual: 0.0,
            is_deciding,
        }
    }

    /// The slow operations whose calls used much of the time.
    pub(crate) fn slow_operations(&self) -> Vec<SlowOperation> {
        let all: f64 = self.totals.iter().map(|(time, _)| time).sum();
        let operations = 0..self.totals.len();
        let slow = operations.filter_map(|operation| {
            let mean = self.mean(operation)?;
            let share = self.totals.get(operation)?.0 / all;
            let is_slow = mean >= LONG && mean >= SLOW * self.usual && share >= MUCH;
            is_slow.then(|| SlowOperation {
                operation,
                mean: Duration::from_secs_f64(mean),
                share,
            })
        });
        slow.collect()
    }

    /// Takes note of a call.
    pub(crate) fn note(&mut self, operation: usize, elapsed: Duration) {
        let Some((time, calls)) = self.totals.get_mut(operation) else {
            return;
        };
        *time += elapsed.as_secs_f64();
        *calls += 1;
        // The median hardly moves from call to call.
        if calls.is_power_of_two() {
            let mut means: Vec<f64> = (0..self.totals.len())
                .filter_map(|operation| self.mean(operation))
                .collect();
            means.sort_by(f64::total_cmp);
            self.usual = means.get(means.len() / 2).copied().unwrap_or_default();
        }
    }

    fn mean(&self, operation: usize) -> Option<f64> {
        let (time, calls) = self.totals.get(operation)?;
        (*calls > 0).then(|| time / f64::from(*calls))
    }

    /// How many times as long as is usual so many seconds for a call are; 1 unless that is slow.
    fn slowness(&self, seconds: f64) -> f64 {
        let usual = self.usual.max(MIN_SLOW / SLOW);
        if self.is_deciding && self.usual > 0.0 && seconds > SLOW * usual {
            seconds / usual
        } else {
            1.0
        }
    }

    /// Whether an operation is slow.
    pub(crate) fn is_slow(&self, operation: usize) -> bool {
        let mean = self.mean(operation);
        mean.is_some_and(|mean| self.slowness(mean) > 1.0)
    }

    /// Whether an operation is to be called now: always, unless it is slow.
    pub(crate) fn allows(&self, rng: &mut Rng, operation: usize) -> bool {
        let slowness = self.mean(operation).map_or(1.0, |mean| self.slowness(mean));
        slowness <= 1.0 || rng.f64() < 1.0 / slowness
    }

    /// How many times as long as is usual a call of a candidate takes on average; 1 unless that is slow.
    pub(crate) fn slowness_of(&self, candidate: &Candidate) -> f64 {
        let operations = candidate.steps.iter().filter_map(Step::operation);
        let time: f64 = operations
            .filter_map(|operation| self.mean(operation))
            .sum();
        self.slowness(time / candidate.steps.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Latencies {
        let mut latencies = Latencies::of(4, true);
        for (operation, milliseconds) in [(0, 5), (1, 8), (2, 10), (3, 800)] {
            for _ in 0..4 {
                latencies.note(operation, Duration::from_millis(milliseconds));
            }
        }
        latencies
    }

    #[test]
    fn a_slow_operation_gets_about_as_much_time_as_the_usual_one() {
        let latencies = measured();
        let mut rng = Rng::with_seed(1);
        let slow: Vec<bool> = (0..4)
            .map(|operation| latencies.is_slow(operation))
            .collect();
        assert_eq!(slow, [false, false, false, true]);
        // 800 ms are 80 times the usual 10 ms.
        let allowed = (0..8000).filter(|_| latencies.allows(&mut rng, 3)).count();
        assert!((60..140).contains(&allowed), "{allowed}");
    }

    #[test]
    fn where_the_budget_is_calls_nothing_is_decided_and_no_chance_used() {
        let latencies = Latencies {
            is_deciding: false,
            ..measured()
        };
        let (mut rng, mut untouched) = (Rng::with_seed(1), Rng::with_seed(1));
        assert!((0..9).all(|operation| latencies.allows(&mut rng, operation)));
        assert_eq!(rng.u64(..), untouched.u64(..));
        assert_eq!(latencies.slowness_of(&Candidate::default()), 1.0);
        let told = latencies.slow_operations();
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].operation, told[0].mean.as_millis()), (3, 800));
        assert!(told[0].share > 0.9, "{told:?}");
    }

    #[test]
    fn fast_services_have_no_slow_operations() {
        let mut latencies = Latencies::of(2, true);
        latencies.note(0, Duration::from_micros(300));
        latencies.note(1, Duration::from_millis(9));
        assert!(!latencies.is_slow(1));
    }
}
