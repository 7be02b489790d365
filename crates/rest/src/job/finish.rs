//! After the search: probe, minimize, and verify every test.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use isobath_search::{Archive, MinimizedSuite, TargetId, minimize};

use super::event::{EventReporter, Stage};
use super::readable::{ObservedRequirement, Requirement};
use super::shares::probe_share;
use super::{Config, Test};
use crate::caller::{Caller, ServiceLost};
use crate::candidate::{Candidate, Step};
use crate::exchange::Exchange;
use crate::fault::{Fault, FaultKind};
use crate::probe::{Finding, probe};
use crate::problem::RestProblem;
use crate::target::Target;

/// The shares of the budget at which the probes and the minimizing end at the latest, and the most that all may use.
const PROBES_END: f64 = 0.9;
const MINIMIZING_ENDS: f64 = 0.97;
pub(super) const ALL_ENDS: f64 = 1.0;
/// Maximum share of the budget reserved for verification.
const RESERVE: f64 = 0.25;

/// What comes after the search.
pub(super) struct Finish<'a> {
    pub(super) problem: RestProblem,
    pub(super) archive: Archive<Candidate>,
    /// Per operation, the statuses seen in the search.
    pub(super) searched: Vec<BTreeMap<u16, u64>>,
    pub(super) caller: Caller,
    pub(super) config: &'a Config,
    pub(super) reporter: &'a RefCell<EventReporter>,
    pub(super) calls: u64,
    /// Calls that are still needed to verify the tests at hand.
    pub(super) reserved_calls: usize,
    /// Tests that were not run again for want of time.
    pub(super) unverified: usize,
    /// Tests that were not answered alike twice.
    pub(super) unstable: usize,
    pub(super) lost: Option<ServiceLost>,
}

/// Whether a user had to log in once more in the middle of a candidate.
fn reauthenticated(exchanges: &[Exchange]) -> bool {
    exchanges.iter().any(|exchange| exchange.reauthenticated)
}

/// The calls that it takes to verify a test.
fn verifying(candidate: &Candidate) -> usize {
    2 * candidate.steps.len()
}

impl Finish<'_> {
    /// The share of the budget that is used.
    pub(super) fn used(config: &Config, calls: u64) -> f64 {
        let of_calls = config
            .calls
            .map_or(0.0, |most| calls as f64 / most.max(1) as f64);
        (config.elapsed)().max(of_calls)
    }

    /// Per operation, the statuses seen in the whole run, with how often.
    pub(super) fn statuses(&self) -> Vec<BTreeMap<u16, u64>> {
        let mut statuses = self.searched.clone();
        for (&(operation, status), count) in self.caller.answered() {
            *statuses[operation].entry(status).or_default() += count;
        }
        statuses
    }

    /// Whether the budget allows more calls before this share of it is used.
    pub(super) fn has_time(config: &Config, calls: u64, until: f64) -> bool {
        !config.interrupt.load(Ordering::Relaxed) && Self::used(config, calls) < until
    }

    /// Estimated share of the budget for verification.
    ///
    /// With a slow service that is much of it, and probes must not use what a suite needs.
    fn reserve(&self) -> f64 {
        let targets = self.problem.targets();
        let deserves = |target: &TargetId| {
            let target = targets.get(*target);
            target.is_some_and(|target| target.needs_test(self.config.all_tests))
        };
        let suite = self.archive.suite().into_iter();
        let calls: usize = suite
            .filter(|(_, targets)| targets.iter().any(deserves))
            .map(|(kept, _)| 2 * kept.size)
            .sum();
        let each = Self::used(self.config, self.calls) / self.calls.max(1) as f64;
        (calls as f64 * each).min(RESERVE)
    }

    /// Whether a test may be improved without taking the time in which the others are verified.
    pub(super) fn has_time_to_improve(&self) -> bool {
        let each = Self::used(self.config, self.calls) / self.calls.max(1) as f64;
        let end = ALL_ENDS - self.reserved_calls as f64 * each;
        self.lost.is_none() && Self::has_time(self.config, self.calls, end)
    }

    /// Whether there is time left to verify a test; after an interruption there is a short grace period.
    fn can_verify(&self) -> bool {
        self.lost.is_none()
            && !self.config.stop.load(Ordering::Relaxed)
            && Self::used(self.config, self.calls) < ALL_ENDS
    }

    /// Records faults.
    pub(super) fn note(&mut self, faults: impl Iterator<Item = Fault>) {
        for fault in faults {
            if self.problem.oracle().checks(fault.kind) {
                self.problem.record_fault(fault);
            }
        }
        self.report_new_faults();
    }

    fn report_new_faults(&self) {
        let service = self.caller.service();
        let mut reporter = self.reporter.borrow_mut();
        reporter.report_new_faults(&self.problem, service);
        reporter.mark();
    }

    /// Runs a candidate and counts its calls.
    pub(super) fn run(&mut self, candidate: &Candidate) -> Option<Vec<Exchange>> {
        match self.caller.run(candidate) {
            Ok(exchanges) => {
                self.calls += exchanges.len() as u64;
                let used = Self::used(self.config, self.calls);
                let mut reporter = self.reporter.borrow_mut();
                reporter.add_calls(exchanges.len() as u64, used);
                Some(exchanges)
            }
            Err(lost) => {
                self.lost = Some(lost);
                None
            }
        }
    }

    pub(super) fn probe(&mut self) -> Vec<Finding> {
        let used = Self::used(self.config, self.calls);
        let succeeded = self.searched.iter().filter(|statuses| {
            let mut seen = statuses.keys();
            seen.any(|status| (200..300).contains(status))
        });
        let per_call = used / self.calls.max(1) as f64;
        let planned = used + probe_share(per_call, succeeded.count() as u64);
        let end = PROBES_END.min((1.0 - self.reserve()).max(planned));
        if self.lost.is_some() || !Self::has_time(self.config, self.calls, end) {
            return Vec::new();
        }
        self.reporter.borrow_mut().stage(Stage::Probe);
        let (config, calls, reporter) = (self.config, self.calls, self.reporter);
        let mut left = |add_calls: u64| {
            let calls = calls + add_calls;
            reporter
                .borrow_mut()
                .add_calls(0, Self::used(config, calls));
            Self::has_time(config, calls, end)
        };
        let report = probe(
            &self.problem,
            &self.archive,
            &mut self.caller,
            config.search.seed,
            config.probes,
            &mut left,
        );
        self.calls += report.calls;
        self.lost = report.lost;
        let used = Self::used(config, self.calls);
        self.reporter.borrow_mut().add_calls(report.calls, used);
        self.note(report.findings.iter().map(|finding| finding.fault.clone()));
        report.findings
    }

    /// The tests: what the probes found, then what the search covered, in few and short candidates.
    pub(super) fn tests(&mut self, findings: Vec<Finding>) -> Vec<Test> {
        let mut tests: Vec<Test> = Vec::new();
        self.reporter.borrow_mut().stage(Stage::Verify);
        for finding in findings {
            let shown = vec![finding.fault];
            let candidate = match shown.as_slice() {
                [fault] if fault.kind.is_about_rows() => {
                    self.readable(finding.candidate, &Requirement::Fault(fault))
                }
                _ => self.readable(finding.candidate, &Requirement::Statuses),
            };
            let test = self.run_twice(candidate, Vec::new(), shown);
            tests.extend(test.filter(|test| self.is_confirmed(test)));
        }
        for (fault, candidate) in self.shown_by_search(&tests) {
            let (fault, candidate) = self.find_culprit(fault, candidate);
            let candidate = self.shorten(&candidate, &fault);
            let candidate = self.readable(candidate, &Requirement::Fault(&fault));
            let candidate = self.shrink(
                candidate,
                &ObservedRequirement::Fault(&fault),
                MINIMIZING_ENDS,
            );
            let test = self.run_twice(candidate, Vec::new(), vec![fault]);
            tests.extend(test.filter(|test| self.is_confirmed(test)));
        }
        self.reporter.borrow_mut().stage(Stage::Minimize);
        let end = MINIMIZING_ENDS.min(1.0 - 0.8 * self.reserve());
        let minimized = self.minimize(end);
        self.reporter.borrow_mut().stage(Stage::Verify);
        let suite = minimized.suite.iter();
        self.reserved_calls = suite.map(|test| verifying(&test.candidate)).sum();
        let split = self.split(minimized.suite);
        self.reserved_calls = split.iter().map(|(test, _)| verifying(test)).sum();
        for (candidate, targets) in split {
            self.reserved_calls -= verifying(&candidate);
            let candidate = self.readable(candidate, &Requirement::Targets(&targets));
            let candidate = self.shrink(
                candidate,
                &ObservedRequirement::Targets(targets.clone()),
                end,
            );
            let known = self.problem.targets();
            let covers = targets.iter().filter_map(|target| known.get(*target));
            let covers = covers.cloned().collect();
            let Some(mut test) = self.run_twice(candidate, covers, Vec::new()) else {
                continue;
            };
            test.faults = self.faults_held_by(&test);
            // What a test would hold fast must be right; faults have tests of their own.
            let is_known = |fault: &Fault| {
                let mut shown = tests.iter().flat_map(|test| &test.faults);
                shown.any(|shown| shown.identity() == fault.identity())
            };
            if test.faults.is_empty() || !test.faults.iter().all(is_known) {
                tests.push(test);
            }
        }
        // As the document has it: by operation, what succeeds first.
        tests.sort_by_key(|test| {
            let last = test.exchanges.last();
            (
                test.faults.is_empty(),
                last.and_then(|last| last.operation),
                last.and_then(Exchange::status),
                test.exchanges.len(),
            )
        });
        tests
    }

    /// Whether database faults were reproduced in both runs.
    fn is_confirmed(&self, test: &Test) -> bool {
        let shows = |exchanges: &[Exchange], fault: &Fault| {
            let again = self.problem.judge_rows(exchanges);
            again
                .iter()
                .any(|shown| shown.identity() == fault.identity())
        };
        let mut about_rows = test
            .faults
            .iter()
            .filter(|fault| fault.kind.is_about_rows());
        about_rows.all(|fault| shows(&test.exchanges, fault) && shows(&test.again, fault))
    }

    /// The faults that a test would hold fast: those of statuses, and of what it is about. That a part of a response
    /// does not fit its schema is none; it is left out of the checks.
    fn faults_held_by(&self, test: &Test) -> Vec<Fault> {
        let last = test.exchanges.len().saturating_sub(1);
        let mut held = Vec::new();
        for (at, exchange) in test.exchanges.iter().enumerate() {
            let faults = self
                .problem
                .judge(&test.candidate, std::slice::from_ref(exchange));
            held.extend(faults.into_iter().filter(|fault| match fault.kind {
                FaultKind::ServerError
                | FaultKind::ConnectionDropped
                | FaultKind::TimedOut
                | FaultKind::UndocumentedStatus => true,
                FaultKind::ResponseMismatch => false,
                kind if kind.is_about_rows() => false,
                _ => at == last,
            }));
        }
        held
    }

    /// The faults that have no test yet, with the candidates that showed them in the search.
    fn shown_by_search(&self, tests: &[Test]) -> Vec<(Fault, Candidate)> {
        let targets = self.problem.targets();
        let untested = self.problem.faults().iter().filter(|fault| {
            let shown = |test: &Test| {
                test.faults
                    .iter()
                    .any(|shown| shown.identity() == fault.identity())
            };
            !tests.iter().any(shown)
        });
        untested
            .filter_map(|fault| {
                let target =
                    targets.find(&Target::Fault(fault.kind, fault.cause.as_str().into()))?;
                let kept = self.archive.covering(target)?;
                Some((fault.clone(), (*kept.candidate).clone()))
            })
            .collect()
    }

    /// The candidate that crashes the service, and the fault as it shows it.
    ///
    /// With several workers, a crash also ends the calls of the others, and any of them may have been blamed.
    fn find_culprit(&mut self, fault: Fault, candidate: Candidate) -> (Fault, Candidate) {
        if fault.kind != FaultKind::ServiceDied || self.config.workers < 2 {
            return (fault, candidate);
        }
        let mut suspects = vec![candidate.clone()];
        suspects.extend(self.problem.crash_suspects(&fault.cause));
        for suspect in suspects {
            if self.lost.is_some() || !Self::has_time(self.config, self.calls, MINIMIZING_ENDS) {
                break;
            }
            let Some(exchanges) = self.run(&suspect) else {
                break;
            };
            let shown = self.problem.judge(&suspect, &exchanges);
            let mut shown = shown.into_iter();
            if let Some(shown) = shown.find(|shown| shown.identity() == fault.identity()) {
                self.problem.correct_fault(&shown);
                return (shown, suspect);
            }
        }
        (fault, candidate)
    }

    /// The candidate without the steps that the fault does not need.
    fn shorten(&mut self, candidate: &Candidate, fault: &Fault) -> Candidate {
        let mut shortest = candidate.clone();
        // Often the call that shows the fault needs no others than those that it refers to.
        let api = Arc::clone(&self.problem.api);
        let is_shown_by = |step: &Step| {
            let operation = step.operation();
            operation.is_some_and(|at| api.operations[at].name() == fault.operation)
        };
        if let Some(at) = candidate.steps.iter().rposition(is_shown_by) {
            let slice = candidate.slice(at);
            if slice.steps.len() + 1 < candidate.steps.len() && self.shows(&slice, fault) {
                shortest = slice;
            }
        }
        for part in (0..shortest.size()).rev() {
            if let Some(shorter) = shortest.without_part(part)
                && self.shows(&shorter, fault)
            {
                shortest = shorter;
            }
        }
        shortest
    }

    /// Whether a candidate shows a fault; not so when there is no time to see.
    fn shows(&mut self, candidate: &Candidate, fault: &Fault) -> bool {
        if self.lost.is_some() || !Self::has_time(self.config, self.calls, MINIMIZING_ENDS) {
            return false;
        }
        let Some(exchanges) = self.run(candidate) else {
            return false;
        };
        let shown = self.problem.judge(candidate, &exchanges);
        shown
            .iter()
            .any(|shown| shown.identity() == fault.identity())
    }

    fn minimize(&mut self, end: f64) -> MinimizedSuite<Candidate> {
        let (config, caller, reporter, lost, calls) = (
            self.config,
            &mut self.caller,
            self.reporter,
            &mut self.lost,
            &mut self.calls,
        );
        let wanted: BTreeSet<TargetId> = self
            .problem
            .targets()
            .iter()
            .filter(|(_, target)| target.needs_test(config.all_tests))
            .map(|(target, _)| target)
            .collect();
        minimize(
            &mut self.problem,
            &self.archive,
            &|target| wanted.contains(&target),
            |candidate| {
                if lost.is_some() || !Self::has_time(config, *calls, end) {
                    return None;
                }
                match caller.run(candidate) {
                    Ok(exchanges) => {
                        *calls += exchanges.len() as u64;
                        let used = Self::used(config, *calls);
                        reporter
                            .borrow_mut()
                            .add_calls(exchanges.len() as u64, used);
                        Some(exchanges)
                    }
                    Err(gone) => {
                        *lost = Some(gone);
                        None
                    }
                }
            },
        )
    }

    /// Runs a test twice. One that is not answered in the same way both times is not worth keeping; one whose
    /// faults do not show again keeps those that do.
    fn run_twice(
        &mut self,
        mut candidate: Candidate,
        covers: Vec<Target>,
        faults: Vec<Fault>,
    ) -> Option<Test> {
        let mut runs = Vec::with_capacity(2);
        for round in 0..2 {
            // What belongs to one user of many must not pass for what is always so.
            if round > 0 && self.caller.replace_users().is_err() {
                return None;
            }
            if !self.can_verify() {
                self.unverified += 1;
                return None;
            }
            let mut exchanges = self.run(&candidate)?;
            // A login that wore out meanwhile is fresh now; one that the test itself ended is not.
            if reauthenticated(&exchanges) {
                exchanges = self.run(&candidate)?;
            }
            runs.push(exchanges);
        }
        // What the end of the run broke off shows nothing.
        if self.config.stop.load(Ordering::Relaxed) {
            self.unverified += 1;
            return None;
        }
        let again = runs.pop()?;
        let exchanges = runs.pop()?;
        let same = exchanges.len() == again.len()
            && exchanges
                .iter()
                .zip(&again)
                .all(|(a, b)| a.status() == b.status());
        // In a suite, who logged out stays so until the test is over.
        let goes_on = !reauthenticated(&exchanges) && !reauthenticated(&again);
        if !same || !goes_on || exchanges.is_empty() {
            self.unstable += 1;
            return None;
        }
        candidate.retain_used_mock_responses(exchanges.iter().chain(&again));
        Some(Test {
            candidate,
            exchanges,
            again,
            covers,
            faults,
        })
    }

    /// All faults, with a test for each that has one.
    pub(super) fn faults(&self, tests: &[Test]) -> Vec<(Fault, Option<usize>)> {
        let mut faults: Vec<(Fault, Option<usize>)> = self
            .problem
            .faults()
            .iter()
            .map(|fault| {
                let shows = |test: &Test| {
                    test.faults
                        .iter()
                        .any(|shown| shown.identity() == fault.identity())
                };
                (fault.clone(), tests.iter().position(shows))
            })
            .filter(|(fault, test)| test.is_some() || !fault.kind.is_about_rows())
            .collect();
        let faults_from_outside: Vec<Fault> =
            faults.iter().map(|(fault, _)| fault.clone()).collect();
        // What can also be seen from outside is told once, with the rows.
        faults.retain(|(fault, _)| {
            let is_black_box_view = |other: &Fault| {
                Some(other.kind) == fault.kind.black_box_kind()
                    && other.operation == fault.operation
            };
            !faults_from_outside.iter().any(is_black_box_view)
        });
        for (fault, _) in &mut faults {
            let black_box_faults = faults_from_outside.iter().filter(|other| {
                other.kind.black_box_kind() == Some(fault.kind)
                    && other.operation == fault.operation
            });
            fault.evidence.extend(
                black_box_faults.flat_map(|black_box_fault| black_box_fault.evidence.clone()),
            );
        }
        faults.sort_by_key(|(fault, _)| FaultKind::ALL.iter().position(|kind| *kind == fault.kind));
        faults
    }
}
