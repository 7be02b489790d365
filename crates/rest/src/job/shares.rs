//! How a run divides its budget: the search gets what probes and tests are not expected to need.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use isobath_search::{Archive, TargetId};

use super::{Config, JobPart};
use crate::candidate::Candidate;
use crate::problem::RestProblem;

/// The least and the greatest share of the search, and its share while operations are still to be called at all: all of the
/// budget, and what it may be exceeded by, where that is enough for them; else something is left for tests.
const MIN_SEARCH: f64 = 0.5;
const MAX_SEARCH: f64 = 0.6;
const FIRST_PASS: f64 = 1.04;
const PART_OF_FIRST_PASS: f64 = 0.95;
/// The usual number of calls of a test.
const CALLS_PER_TEST: f64 = 3.0;
/// How often each test is run after the search: twice to compare its responses, once by its own test runner.
const RUNS_PER_TEST: f64 = 3.0;
/// How long a test runner takes to start, in both runs together.
const RUNNER_START: Duration = Duration::from_millis(1_500);
/// The most of the budget that is kept for that: a run of a few seconds has tests, too.
const MAX_RUNNER_START: f64 = 0.05;
/// The usual number of probe calls per operation that succeeded, and the least and the most that probes may use.
const PROBES_PER_OPERATION: f64 = 6.0;
const MIN_PROBES: f64 = 0.1;
const MAX_PROBES: f64 = 0.2;
/// The most that is kept for the verification of tests.
const MAX_VERIFICATION: f64 = 0.35;

/// The share of the budget that is used after so many calls.
pub(super) fn used(config: &Config, calls: u64) -> f64 {
    let of_calls = config
        .calls
        .map_or(0.0, |most| calls as f64 / most.max(1) as f64);
    (config.elapsed)().max(of_calls)
}

/// Whether the budget allows more calls before this share of it is used.
pub(super) fn has_time(config: &Config, calls: u64, until: f64) -> bool {
    !config.interrupt.load(Ordering::Relaxed) && used(config, calls) < until
}

/// How many calls tell what the next ones take.
const WINDOW: u64 = 100;

/// The share of the budget that a call uses, by the last calls: the first ones of a service that warms up take many times
/// as long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// Calls and the share that was used by then, [`WINDOW`] or more calls apart.
    marks: [(u64, f64); 2],
}

impl Pace {
    /// Continues from another count of calls.
    pub(super) fn after(per_call: f64, calls: u64, used: f64) -> Self {
        let window = calls.min(WINDOW);
        let mark = (calls - window, used - window as f64 * per_call);
        Self {
            marks: [mark, mark],
        }
    }

    /// Takes note of what was used after so many calls.
    pub(super) fn note(&mut self, calls: u64, used: f64) {
        if calls >= self.marks[1].0 + WINDOW {
            self.marks = [self.marks[1], (calls, used)];
        }
    }

    /// The share that a call uses now.
    pub(super) fn per_call(&self, calls: u64, used: f64) -> f64 {
        let (calls_before, used_before) = self.marks[0];
        let calls = calls.saturating_sub(calls_before).max(1);
        (used - used_before).max(0.0) / calls as f64
    }
}

/// Estimated share of the budget for verification, when a call uses so much of it.
///
/// With a slow service that is much of it, and probes must not use what a suite needs.
pub(super) fn verification_share(
    problem: &RestProblem,
    archive: &Archive<Candidate>,
    config: &Config,
    per_call: f64,
) -> f64 {
    let targets = problem.targets();
    let deserves = |target: &TargetId| {
        let target = targets.get(*target);
        target.is_some_and(|target| target.needs_test(config.all_tests))
    };
    // Where the budget is time, the test runner needs its share, too, and is slower.
    let runs = if config.calls.is_some() { 2 } else { 4 };
    let suite = archive.suite().into_iter();
    let verifying: usize = suite
        .filter(|(_, targets)| targets.iter().any(deserves))
        .map(|(kept, _)| runs * kept.size)
        .sum();
    (verifying as f64 * per_call).min(MAX_VERIFICATION)
}

/// The share of the budget that a test runner takes to start, in all its runs.
pub(super) fn runner_start(budget: Option<Duration>) -> f64 {
    share_of(budget, RUNNER_START).min(MAX_RUNNER_START)
}

/// A time, as a share of the budget, where that is time.
pub(super) fn share_of(budget: Option<Duration>, time: Duration) -> f64 {
    budget.map_or(0.0, |budget| time.as_secs_f64() / budget.as_secs_f64())
}

/// The share of the budget for probes, when one call uses so much of it.
pub(super) fn probe_share(per_call: f64, succeeded: u64) -> f64 {
    (per_call * succeeded as f64 * PROBES_PER_OPERATION).clamp(MIN_PROBES, MAX_PROBES)
}

/// What was seen so far that tells how much the rest of the run needs.
#[derive(Debug, Default)]
pub(super) struct BudgetShares {
    calls: AtomicU64,
    /// Pairs of an operation and a status: about as many tests will be written.
    pairs: AtomicU64,
    succeeded: AtomicU64,
    /// Operations that were not called yet.
    uncalled: AtomicU64,
    /// Whether an interrupted run had come to the end of its search.
    is_searched: AtomicBool,
    is_first_pass: AtomicBool,
    is_past_first_pass: AtomicBool,
    /// The share at which the search ends that follows the probes, in millionths; 0 before them.
    end_after_probes: AtomicU64,
    /// The one status that every operation answered in the first pass; 0 if there is none.
    uniform_answer: AtomicU16,
    /// The share of the budget that was used when it was last asked for, in millionths.
    used: AtomicU64,
    pace: Mutex<Pace>,
    /// How many calls of the search share the time that one takes; the others are made one after the other.
    parallel_calls: usize,
    /// Whether only the search is done.
    is_all_search: bool,
}

impl BudgetShares {
    /// The shares of a run.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            // Calls that are counted take no time.
            parallel_calls: match config.calls {
                Some(_) => 1,
                None => config.parallel_calls(),
            },
            is_all_search: config.part == JobPart::Search,
            ..Self::default()
        }
    }

    /// Takes note of a candidate that cost so many calls.
    pub(super) fn note(&self, problem: &RestProblem, cost: u64) {
        self.calls.fetch_add(cost, Ordering::Relaxed);
        let pairs: usize = problem
            .statuses()
            .iter()
            .map(|statuses| statuses.len())
            .sum();
        self.pairs.store(pairs as u64, Ordering::Relaxed);
        let is_success = |status: &u16| (200..300).contains(status);
        let statuses = problem.statuses().iter();
        let succeeded = statuses.filter(|statuses| statuses.keys().any(is_success));
        self.succeeded
            .store(succeeded.count() as u64, Ordering::Relaxed);
        let statuses = problem.statuses().iter();
        let uncalled = statuses.filter(|statuses| statuses.is_empty()).count();
        self.uncalled.store(uncalled as u64, Ordering::Relaxed);
        let is_first_pass = problem.is_first_pass();
        self.is_first_pass.store(is_first_pass, Ordering::Relaxed);
        if !is_first_pass && !self.is_past_first_pass.swap(true, Ordering::Relaxed) {
            let answer = problem.uniform_answer().unwrap_or_default();
            self.uniform_answer.store(answer, Ordering::Relaxed);
        }
    }

    /// Begins where the search of an interrupted run had ended.
    pub(super) fn skip_search(&self) {
        self.is_searched.store(true, Ordering::Relaxed);
    }

    /// The one status that every operation answered in the first pass: the search is then over.
    pub(super) fn uniform_answer(&self) -> Option<u16> {
        Some(self.uniform_answer.load(Ordering::Relaxed)).filter(|status| *status > 0)
    }

    /// Takes note of the calls of the probes: what they left of the budget goes back to the search, but for `reserve`,
    /// which the tests need.
    pub(super) fn end_probes(&self, calls: u64, reserve: f64) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
        let end = (1.0 - reserve).max(MIN_SEARCH);
        self.end_after_probes
            .store((end * 1e6) as u64, Ordering::Relaxed);
    }

    /// The calls of the search and of the probes so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The share of the budget that was used when a candidate was last chosen.
    pub(super) fn used(&self) -> f64 {
        self.used.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// How much of the search is over, when `used` of the budget is used.
    pub(super) fn share_of_search(&self, used: f64) -> f64 {
        self.used.store((used * 1e6) as u64, Ordering::Relaxed);
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.note(self.calls(), used);
        drop(pace);
        used / self.search_end(used)
    }

    /// The share of the budget that a call of the search uses now.
    fn per_call(&self, used: f64) -> f64 {
        let pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.per_call(self.calls(), used)
    }

    /// The share of the budget that a call of probes and tests uses, which are made one after the other.
    pub(super) fn per_single_call(&self, used: f64) -> f64 {
        self.per_call(used) * self.parallel_calls.max(1) as f64
    }

    /// The share of the budget at which the search ends.
    fn search_end(&self, used: f64) -> f64 {
        if self.uniform_answer().is_some() {
            return 0.0;
        }
        if self.is_all_search {
            return 1.0;
        }
        let end_after_probes = self.end_after_probes.load(Ordering::Relaxed);
        if end_after_probes > 0 {
            return end_after_probes as f64 / 1e6;
        }
        if self.is_searched.load(Ordering::Relaxed) {
            return 0.0;
        }
        if self.is_first_pass.load(Ordering::Relaxed) {
            let left = self.uncalled.load(Ordering::Relaxed) as f64 * self.per_call(used);
            return if used + left <= FIRST_PASS {
                FIRST_PASS
            } else {
                PART_OF_FIRST_PASS
            };
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let per_call = self.per_single_call(used);
        let tests = per_call * count(&self.pairs) * CALLS_PER_TEST * RUNS_PER_TEST;
        let probes = probe_share(per_call, self.succeeded.load(Ordering::Relaxed));
        (1.0 - tests - probes).clamp(MIN_SEARCH, MAX_SEARCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of the search after so many calls that used half of the budget.
    fn search_end(calls: u64, pairs: u64) -> f64 {
        let shares = BudgetShares::default();
        shares.calls.store(calls, Ordering::Relaxed);
        shares.pairs.store(pairs, Ordering::Relaxed);
        shares.search_end(0.5)
    }

    #[test]
    fn a_fast_service_leaves_more_for_the_search_than_a_slow_one() {
        assert_eq!(search_end(100_000, 100), MAX_SEARCH);
        assert_eq!(search_end(200, 100), MIN_SEARCH);
        let between = search_end(1_200, 100);
        assert!((0.45..0.55).contains(&between), "{between}");
    }

    #[test]
    fn calls_that_are_made_one_after_the_other_take_as_long_as_several_of_the_search() {
        let shares = BudgetShares {
            parallel_calls: 8,
            ..BudgetShares::default()
        };
        shares.calls.store(800, Ordering::Relaxed);
        assert_eq!(shares.per_single_call(0.5), 8.0 * shares.per_call(0.5));
        shares.pairs.store(100, Ordering::Relaxed);
        assert_eq!(shares.search_end(0.5), MIN_SEARCH);
    }

    #[test]
    fn a_test_runner_has_time_to_start_but_not_most_of_a_short_run() {
        assert_eq!(runner_start(Some(Duration::from_secs(60))), 0.025);
        let short = Some(Duration::from_secs(4));
        assert_eq!(runner_start(short), MAX_RUNNER_START);
        assert_eq!(runner_start(None), 0.0);
    }

    #[test]
    fn a_service_that_warmed_up_is_judged_by_its_last_calls() {
        let mut pace = Pace::default();
        for calls in 1..=1000_u64 {
            // Half of the budget for the first 300 calls, a tenth for the other 700.
            let used = 0.5 * calls.min(300) as f64 / 300.0
                + 0.1 * calls.saturating_sub(300) as f64 / 700.0;
            pace.note(calls, used);
        }
        let now = pace.per_call(1000, 0.6);
        assert!((now - 0.1 / 700.0).abs() < 1e-9, "{now}");
        let later = Pace::after(now, 1000, 0.6);
        assert!((later.per_call(1050, 0.6 + 50.0 * now) - now).abs() < 1e-9);
    }

    #[test]
    fn operations_are_called_before_anything_is_kept_for_tests() {
        let shares = BudgetShares::default();
        shares.is_first_pass.store(true, Ordering::Relaxed);
        assert_eq!(shares.search_end(0.9), FIRST_PASS);
        // Where the budget is by far too small for that, it is not used up for a part of them.
        shares.calls.store(90, Ordering::Relaxed);
        shares.uncalled.store(1_000, Ordering::Relaxed);
        assert_eq!(shares.search_end(0.9), PART_OF_FIRST_PASS);
    }
}
