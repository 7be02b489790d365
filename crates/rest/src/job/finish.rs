//! After the search: probe, minimize, and verify every test.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use isobath_search::{Archive, MinimizedSuite, Problem, TargetId, minimize};

use super::event::{EventReporter, Stage};
use super::readable::{ObservedRequirement, Requirement, statuses};
use super::shares::{Pace, has_time, runner_start, share_of, used, verification_share};
use super::unique::learn_unique_texts;
use super::{Config, Test};
use crate::caller::{Caller, ServiceLost};
use crate::candidate::{Candidate, Step};
use crate::exchange::Exchange;
use crate::fault::{Fault, FaultKind};
use crate::per_operation::PerOperation;
use crate::probe::Finding;
use crate::problem::RestProblem;
use crate::session::Session;
use crate::target::Target;

/// The share of the budget at which the minimizing ends at the latest, and the most that all may use.
const MINIMIZING_ENDS: f64 = 0.97;
pub(super) const ALL_ENDS: f64 = 1.0;
/// How much longer a call takes in the test runner, which runs the suite twice, than here; and the number of its runs.
const RUNNER_FACTOR: f64 = 2.5;
const RUNNER_RUNS: u32 = 2;
/// What a test takes to put the rows of the database back, in calls.
const CALLS_PER_RESTORE: usize = 2;
/// How much of what is left after the search is kept for tests that show no fault, at most.
const SHARE_OF_OTHER_TESTS: f64 = 0.6;
/// The most of the budget that is used to learn which texts must be unique, after the search.
const LEARNING: f64 = 0.03;

/// What comes after the search.
pub(super) struct Finish<'a> {
    pub(super) problem: RestProblem,
    pub(super) archive: Archive<Candidate>,
    /// Per operation, the statuses seen in the search.
    pub(super) searched: PerOperation<BTreeMap<u16, u64>>,
    pub(super) caller: Caller,
    pub(super) config: &'a Config,
    pub(super) reporter: &'a RefCell<EventReporter>,
    pub(super) calls: u64,
    pub(super) pace: Pace,
    /// Calls that are still needed to verify the tests at hand.
    pub(super) reserved_calls: usize,
    /// Calls of the tests that are kept, and how long their users take to log in.
    pub(super) kept_calls: usize,
    pub(super) kept_logins: Duration,
    /// Tests that were not run again for want of time.
    pub(super) unverified: usize,
    /// Tests that were not answered alike twice.
    pub(super) unstable: usize,
    /// Tests that need what earlier calls left behind.
    pub(super) state_dependent: usize,
    /// The identities of faults that did not show again.
    pub(super) not_shown_again: BTreeSet<(FaultKind, String)>,
    /// The identities of faults that show only after other calls than those of their tests.
    pub(super) needs_state: BTreeSet<(FaultKind, String)>,
    /// What showed those of them that were repeated.
    pub(super) dependent: Vec<Test>,
    pub(super) lost: Option<ServiceLost>,
}

/// Whether a user had to log in once more in the middle of a candidate.
fn reauthenticated(exchanges: &[Exchange]) -> bool {
    exchanges.iter().any(|exchange| exchange.reauthenticated)
}

impl Finish<'_> {
    /// Per operation, the statuses seen in the whole run, with how often.
    pub(super) fn statuses(&self) -> PerOperation<BTreeMap<u16, u64>> {
        let mut statuses = self.searched.clone();
        for (&(operation, status), count) in self.caller.answered() {
            *statuses[operation].entry(status).or_default() += count;
        }
        statuses
    }

    /// The share of the budget that a call uses now.
    fn per_call(&self) -> f64 {
        self.pace
            .per_call(self.calls, used(self.config, self.calls))
    }

    fn reserve(&self) -> f64 {
        verification_share(&self.problem, &self.archive, self.config, self.per_call())
    }

    /// Whether a test may be improved without taking the time in which the others are verified.
    pub(super) fn has_time_to_improve(&self) -> bool {
        let reserved = self.reserved_calls as f64 * self.per_call();
        let end = ALL_ENDS - self.check_share() - reserved;
        self.lost.is_none() && has_time(self.config, self.calls, end)
    }

    /// Whether there is time left to verify a test; after an interruption there is a short grace period.
    fn can_verify(&self) -> bool {
        self.lost.is_none()
            && !self.config.stop.load(Ordering::Relaxed)
            && used(self.config, self.calls) + self.check_share() < ALL_ENDS
    }

    /// The share of the time that the test runner is expected to need for the tests that are kept.
    fn check_share(&self) -> f64 {
        if self.config.time.is_none() {
            return 0.0;
        }
        let calls = RUNNER_FACTOR * self.kept_calls as f64 * self.per_call();
        let logins = share_of(self.config.time, self.kept_logins * RUNNER_RUNS);
        calls + runner_start(self.config.time) + logins
    }

    /// What it takes to keep a test, in calls: two runs to compare, one with other names where nothing resets the
    /// service, and those of the test runner.
    fn calls_to_keep(&self, candidate: &Candidate) -> usize {
        let calls = candidate.steps.len();
        let runs = match self.caller.service().is_reset() {
            true => 2,
            false => 3,
        };
        let users = candidate.steps.iter().filter_map(|step| step.user);
        let logins = share_of(self.config.time, self.login_time(users) * RUNNER_RUNS);
        let logins = logins / self.per_call().max(f64::MIN_POSITIVE);
        let in_runner = match self.config.time {
            Some(_) => RUNNER_FACTOR * (calls + self.calls_around()) as f64 + logins,
            None => 0.0,
        };
        runs * calls + in_runner as usize
    }

    /// How long users take to log in: in the test runner each test has log-ins of its own, and they may take longer
    /// than all else.
    fn login_time(&self, users: impl Iterator<Item = usize>) -> Duration {
        let users: BTreeSet<usize> = users.collect();
        let sessions = &self.caller.service().sessions;
        let sessions = users.into_iter().filter_map(|user| sessions.get(user));
        sessions.map(Session::login_time).sum()
    }

    /// What the runner takes for a test itself and to put the rows of the database back, in calls.
    fn calls_around(&self) -> usize {
        match self.caller.service().database {
            Some(_) => 1 + CALLS_PER_RESTORE,
            None => 1,
        }
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
        reporter.report_new_faults(&self.problem, std::slice::from_ref(service));
        reporter.mark();
    }

    /// Runs a candidate and counts its calls.
    pub(super) fn run(&mut self, candidate: &Candidate) -> Option<Vec<Exchange>> {
        match self.caller.run(candidate) {
            Ok(exchanges) => {
                self.calls += exchanges.len() as u64;
                let used = used(self.config, self.calls);
                self.pace.note(self.calls, used);
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

    /// Learns which texts must be unique, also of what the search covered after the probes.
    pub(super) fn learn_unique_texts(&mut self) {
        let (config, before) = (self.config, self.calls);
        if self.lost.is_some() {
            return;
        }
        let end = MINIMIZING_ENDS.min(used(config, before) + LEARNING);
        let mut left = |calls: u64| has_time(config, before + calls, end);
        match learn_unique_texts(&self.problem, &self.archive, &mut self.caller, &mut left) {
            Ok(calls) => self.calls += calls,
            Err(lost) => self.lost = Some(lost),
        }
    }

    /// The tests: what the probes found, then what the search covered, in few and short candidates.
    pub(super) fn tests(&mut self, findings: Vec<Finding>) -> Vec<Test> {
        let mut tests: Vec<Test> = Vec::new();
        self.reporter.borrow_mut().stage(Stage::Verify);
        // Faults are not shortened at the cost of all other tests.
        let each = self.per_call();
        let left = (ALL_ENDS - used(self.config, self.calls)).max(0.0);
        let for_others = self.reserve().min(left * SHARE_OF_OTHER_TESTS);
        self.reserved_calls = (for_others / each.max(f64::MIN_POSITIVE)) as usize;
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
            let Some(fault) = self.problem.faults().get(fault).cloned() else {
                continue;
            };
            let (fault, candidate) = self.find_culprit(fault, (*candidate).clone());
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
        self.reserved_calls = suite.map(|test| self.calls_to_keep(&test.candidate)).sum();
        let mut split = self.split(minimized.suite);
        // Should time run out, what an operation is for is worth more than what it refuses.
        split.sort_by_key(|(_, targets)| !self.covers_success(targets));
        self.reserved_calls = split.iter().map(|(test, _)| self.calls_to_keep(test)).sum();
        let faults = tests.iter().flat_map(|test| &test.faults);
        let mut tested: BTreeSet<(FaultKind, String)> = faults
            .map(|fault| (fault.kind, fault.cause.clone()))
            .collect();
        for (candidate, targets) in split {
            self.reserved_calls -= self.calls_to_keep(&candidate);
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
            self.retain_shown(&mut test, &targets);
            if test.covers.is_empty() {
                self.unstable += 1;
                continue;
            }
            test.faults = self.faults_held_by(&test);
            // What a test would hold fast must be right; faults have tests of their own.
            let identity = |fault: &Fault| (fault.kind, fault.cause.clone());
            let is_known = |fault: &Fault| tested.contains(&identity(fault));
            if test.faults.is_empty() || !test.faults.iter().all(is_known) {
                tested.extend(test.faults.iter().map(identity));
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

    /// Whether an operation succeeds among these targets.
    fn covers_success(&self, targets: &[TargetId]) -> bool {
        let known = self.problem.targets();
        let mut targets = targets.iter().filter_map(|target| known.get(*target));
        targets.any(|target| matches!(target, Target::Status(_, 200..=299)))
    }

    /// Leaves of what a test covers only what its verified run covers, too.
    fn retain_shown(&mut self, test: &mut Test, targets: &[TargetId]) {
        let seen = self.problem.score(&test.candidate, test.exchanges.clone());
        let known = self.problem.targets();
        let shown = targets.iter().filter(|target| seen.covers(**target));
        test.covers = shown
            .filter_map(|target| known.get(*target))
            .cloned()
            .collect();
    }

    /// Whether the faults of a test were reproduced in both runs; takes note of those that were not.
    fn is_confirmed(&mut self, test: &Test) -> bool {
        let mut is_confirmed = true;
        for fault in &test.faults {
            let shown = [&test.exchanges, &test.again]
                .into_iter()
                .all(|exchanges| self.shows_again(fault, &test.candidate, exchanges));
            if !shown {
                is_confirmed = false;
                let identity = (fault.kind, fault.cause.clone());
                self.not_shown_again.insert(identity);
            }
        }
        is_confirmed
    }

    /// Whether exchanges show a fault: what a single response or the rows tell is judged again, and what takes several
    /// calls must be answered as the probe was.
    fn shows_again(&self, fault: &Fault, candidate: &Candidate, exchanges: &[Exchange]) -> bool {
        let from_end = |n: usize| exchanges.get(exchanges.len().checked_sub(n)?);
        let succeeded = |n: usize| from_end(n).is_some_and(Exchange::succeeded);
        let is_gone =
            |n: usize| from_end(n).is_some_and(|last| matches!(last.status(), Some(404 | 410)));
        let status = |n: usize| from_end(n).and_then(Exchange::status);
        match fault.kind {
            FaultKind::DeleteWithoutEffect => {
                succeeded(1) && succeeded(3) && matches!(status(2), Some(200 | 204))
            }
            FaultKind::PutNotIdempotent => (1..=5).all(succeeded),
            FaultKind::FailedUpdateChangedState => {
                let refused = from_end(2).is_some_and(Exchange::was_refused);
                succeeded(1) && succeeded(3) && refused
            }
            FaultKind::LocationLeadsNowhere => status(2) == Some(201) && is_gone(1),
            FaultKind::GetChangesState => succeeded(2) && (succeeded(1) || is_gone(1)),
            FaultKind::AnonymousRead
            | FaultKind::AnonymousWrite
            | FaultKind::OtherUsersResource => succeeded(1),
            FaultKind::ExistenceLeak
            | FaultKind::SqlInjectionByError
            | FaultKind::SqlInjectionByTime => !exchanges.is_empty(),
            kind if kind.is_about_rows() => {
                let again = self.problem.judge_rows(exchanges);
                let mut again = again.iter();
                again.any(|shown| shown.identity() == fault.identity())
            }
            _ => {
                let again = self.problem.judge(candidate, exchanges);
                let mut again = again.iter();
                again.any(|shown| shown.identity() == fault.identity())
            }
        }
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

    /// The faults that have no test yet, as places in the list of faults, with the candidates that showed them in the
    /// search.
    fn shown_by_search(&self, tests: &[Test]) -> Vec<(usize, Arc<Candidate>)> {
        let targets = self.problem.targets();
        let faults = tests.iter().flat_map(|test| &test.faults);
        let tested: BTreeSet<(FaultKind, &str)> = faults.map(Fault::identity).collect();
        let faults = self.problem.faults().iter().enumerate();
        let untested = faults.filter(|(_, fault)| !tested.contains(&fault.identity()));
        untested
            .filter_map(|(at, fault)| {
                let target =
                    targets.find(&Target::Fault(fault.kind, fault.cause.as_str().into()))?;
                let kept = self.archive.covering(target)?;
                Some((at, Arc::clone(&kept.candidate)))
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
            if !self.has_time_to_improve() {
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
            operation.is_some_and(|at| api.operation(at).name() == fault.operation)
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
        if !self.has_time_to_improve() {
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
                if lost.is_some() || !has_time(config, *calls, end) {
                    return None;
                }
                match caller.run(candidate) {
                    Ok(exchanges) => {
                        *calls += exchanges.len() as u64;
                        let used = used(config, *calls);
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
            if round == 0
                && let Some(other) = self.naming_nothing(&candidate, &exchanges)
            {
                let with_others = self.run(&other)?;
                // What is not found under one name, and found under another, is somebody else's.
                if statuses(&with_others) != statuses(&exchanges) {
                    self.state_dependent += 1;
                    let identities = faults.into_iter().map(|fault| (fault.kind, fault.cause));
                    self.needs_state.extend(identities);
                    return None;
                }
                (candidate, exchanges) = (other, with_others);
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
        // How many calls a service takes in a while says nothing about the next run.
        let is_limited = exchanges
            .iter()
            .any(|exchange| exchange.status() == Some(429));
        // In a suite nobody puts back what a user logs in with.
        let changes_login = exchanges
            .iter()
            .chain(&again)
            .any(|exchange| exchange.login_change.is_some());
        if changes_login {
            let identities = faults.into_iter().map(|fault| (fault.kind, fault.cause));
            self.needs_state.extend(identities);
            return None;
        }
        if !same || !goes_on || exchanges.is_empty() || is_limited {
            self.unstable += 1;
            self.not_shown_again
                .extend(faults.into_iter().map(|fault| (fault.kind, fault.cause)));
            return None;
        }
        if self.needs_leftovers(&candidate, &exchanges)
            || self.fails_by_now(&exchanges)
            || self.names_leftovers(&candidate, &exchanges)
        {
            self.state_dependent += 1;
            let identities = faults.iter().map(|fault| (fault.kind, fault.cause.clone()));
            self.needs_state.extend(identities);
            if !faults.is_empty() {
                self.dependent.push(Test {
                    candidate,
                    exchanges,
                    again,
                    covers,
                    faults,
                });
            }
            return None;
        }
        candidate.retain_used_mock_responses(exchanges.iter().chain(&again));
        let users = exchanges.iter().filter_map(|exchange| exchange.user);
        self.kept_logins += self.login_time(users);
        self.kept_calls += exchanges.len() + self.calls_around();
        Some(Test {
            candidate,
            exchanges,
            again,
            covers,
            faults,
        })
    }

    /// The faults whose tests need rows like none that a call was seen to write, with the tables of these rows.
    pub(super) fn needs_rows(&self, tests: &[Test]) -> BTreeMap<(FaultKind, String), String> {
        let Some(judge) = self.problem.db_oracle() else {
            return BTreeMap::new();
        };
        let tested = tests.iter();
        let tested = tested.flat_map(|test| {
            let faults = test.faults.iter();
            faults.map(|fault| (fault.clone(), test.candidate.rows.clone()))
        });
        // Nobody knows of a fault without a test whether it needs the rows of its candidate.
        let untested = self.shown_by_search(tests).into_iter();
        let faults = self.problem.faults();
        let untested = untested
            .filter_map(|(at, candidate)| Some((faults.get(at)?.clone(), candidate.rows.clone())));
        let mut needs_rows = BTreeMap::new();
        for (fault, rows) in tested.chain(untested) {
            let tables = judge.tables_of_foreign_rows(&rows);
            if !tables.is_empty() {
                let tables = tables.into_iter().collect::<Vec<_>>().join(", ");
                needs_rows.insert((fault.kind, fault.cause), tables);
            }
        }
        needs_rows
    }

    /// All faults, with a test for each that has one.
    pub(super) fn faults(&self, tests: &[Test]) -> Vec<(Fault, Option<usize>)> {
        let mut tested: BTreeMap<(FaultKind, &str), usize> = BTreeMap::new();
        for (at, test) in tests.iter().enumerate() {
            for fault in &test.faults {
                tested.entry(fault.identity()).or_insert(at);
            }
        }
        let faults = self.problem.faults().iter();
        let faults: Vec<(Fault, Option<usize>)> = faults
            .map(|fault| {
                let (mut fault, test) = (fault.clone(), tested.get(&fault.identity()).copied());
                if let Some(test) = test.and_then(|at| tests.get(at)) {
                    let shown = self.problem.judge(&test.candidate, &test.exchanges);
                    let mut shown = shown.into_iter();
                    let same = shown.find(|shown| shown.identity() == fault.identity());
                    same.into_iter().for_each(|shown| fault.retell(shown));
                    fault.note_calls(&test.exchanges);
                }
                (fault, test)
            })
            .filter(|(fault, test)| test.is_some() || !fault.kind.is_about_rows())
            .collect();
        // What can also be seen from outside is told once, with the rows.
        let seen: BTreeSet<(FaultKind, String)> = faults
            .iter()
            .map(|(fault, _)| (fault.kind, fault.operation.clone()))
            .collect();
        let is_seen_from_outside = |fault: &Fault| {
            let kind = fault.kind.black_box_kind();
            kind.is_some_and(|kind| seen.contains(&(kind, fault.operation.clone())))
        };
        let (from_inside, mut faults): (Vec<_>, Vec<_>) = faults
            .into_iter()
            .partition(|(fault, _)| is_seen_from_outside(fault));
        for (inside, _) in from_inside {
            for (fault, _) in &mut faults {
                if inside.kind.black_box_kind() == Some(fault.kind)
                    && inside.operation == fault.operation
                {
                    fault.evidence.extend(inside.evidence.iter().cloned());
                }
            }
        }
        merge_unprotected(&mut faults, &self.secured_operations());
        drop_statuses_of_idle_deletes(&mut faults);
        faults.sort_by_key(|(fault, _)| FaultKind::ALL.iter().position(|kind| *kind == fault.kind));
        faults
    }

    /// The names of the operations that succeeded and that the document asks a user for.
    fn secured_operations(&self) -> BTreeSet<String> {
        let statuses = self.statuses();
        let operations = self.problem.api.operations.iter().zip(&statuses);
        operations
            .filter(|(operation, statuses)| {
                let is_success = |status: &u16| (200..300).contains(status);
                !operation.security.is_empty() && statuses.keys().any(is_success)
            })
            .map(|(operation, _)| operation.name())
            .collect()
    }
}

/// Leaves out that the success of a DELETE is not documented, where it deletes nothing: that is the finding.
fn drop_statuses_of_idle_deletes(faults: &mut Vec<(Fault, Option<usize>)>) {
    let idle: BTreeSet<String> = faults
        .iter()
        .filter(|(fault, _)| {
            matches!(
                fault.kind,
                FaultKind::DeleteWithoutEffect | FaultKind::DeleteLeftRow
            )
        })
        .map(|(fault, _)| fault.operation.clone())
        .collect();
    faults.retain(|(fault, _)| {
        let status = fault.cause.strip_prefix(&fault.operation).map(str::trim);
        let is_success = status.is_some_and(|status| status.starts_with('2'));
        fault.kind != FaultKind::UndocumentedStatus
            || !is_success
            || !idle.contains(&fault.operation)
    });
}

/// The least number of operations without protection that are one finding.
const UNPROTECTED: usize = 4;

/// Takes anonymous access together where most operations that ask for a user do not enforce it: the service runs
/// without authentication, or the document is wrong about it. Either has one cause.
fn merge_unprotected(faults: &mut Vec<(Fault, Option<usize>)>, secured: &BTreeSet<String>) {
    let is_anonymous = |fault: &Fault| {
        matches!(
            fault.kind,
            FaultKind::AnonymousRead | FaultKind::AnonymousWrite
        )
    };
    let open: BTreeSet<String> = faults
        .iter()
        .filter(|(fault, _)| is_anonymous(fault))
        .map(|(fault, _)| fault.operation.clone())
        .collect();
    if open.len() < UNPROTECTED || open.len() * 2 < secured.len() {
        return;
    }
    let position = |kind: FaultKind| {
        let is_shown =
            |(fault, test): &(Fault, Option<usize>)| fault.kind == kind && test.is_some();
        let with_test = faults.iter().position(is_shown);
        with_test.or_else(|| faults.iter().position(|(fault, _)| fault.kind == kind))
    };
    // A write says more than a read.
    let kept = position(FaultKind::AnonymousWrite).or_else(|| position(FaultKind::AnonymousRead));
    let Some(kept) = kept else { return };
    let (mut fault, test) = faults.swap_remove(kept);
    fault.cause = "authentication is not enforced".to_owned();
    fault.detail = format!(
        "{} of {} operations for which the OpenAPI document requires authentication succeed without it, {} among them",
        open.len(),
        secured.len().max(open.len()),
        fault.operation
    );
    fault.others = open;
    fault.others.remove(&fault.operation);
    faults.retain(|(fault, _)| !is_anonymous(fault));
    faults.push((fault, test));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anonymous(kind: FaultKind, operation: &str) -> (Fault, Option<usize>) {
        let fault = Fault {
            kind,
            cause: operation.to_owned(),
            operation: operation.to_owned(),
            others: BTreeSet::new(),
            detail: String::new(),
            evidence: Vec::new(),
            calls: Vec::new(),
        };
        (fault, None)
    }

    #[test]
    fn a_service_without_authentication_is_one_finding() {
        let names = ["GET /a", "GET /b", "GET /c", "POST /d"];
        let mut faults: Vec<_> = names
            .iter()
            .map(|name| match name.starts_with("GET") {
                true => anonymous(FaultKind::AnonymousRead, name),
                false => anonymous(FaultKind::AnonymousWrite, name),
            })
            .collect();
        let secured = names.iter().map(|name| (*name).to_owned()).collect();
        merge_unprotected(&mut faults, &secured);
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].0.kind, FaultKind::AnonymousWrite);
        assert_eq!(faults[0].0.others.len(), 3);
    }

    #[test]
    fn a_delete_without_effect_is_not_an_undocumented_status_too() {
        let fault = |kind, operation: &str, cause: &str| {
            let (mut fault, test) = anonymous(kind, operation);
            fault.cause = cause.to_owned();
            (fault, test)
        };
        let mut faults = vec![
            fault(FaultKind::DeleteWithoutEffect, "DELETE /a", "DELETE /a"),
            fault(FaultKind::UndocumentedStatus, "DELETE /a", "DELETE /a 200"),
            fault(FaultKind::UndocumentedStatus, "DELETE /a", "DELETE /a 418"),
            fault(FaultKind::UndocumentedStatus, "DELETE /b", "DELETE /b 200"),
        ];
        drop_statuses_of_idle_deletes(&mut faults);
        let causes: Vec<&str> = faults.iter().map(|(fault, _)| &*fault.cause).collect();
        assert_eq!(causes, ["DELETE /a", "DELETE /a 418", "DELETE /b 200"]);
    }

    #[test]
    fn single_operations_without_authentication_stay_findings_of_their_own() {
        let mut faults: Vec<_> = ["GET /a", "GET /b", "GET /c", "GET /d"]
            .iter()
            .map(|name| anonymous(FaultKind::AnonymousRead, name))
            .collect();
        let secured = (0..20).map(|n| format!("GET /{n}")).collect();
        merge_unprotected(&mut faults, &secured);
        assert_eq!(faults.len(), 4);
    }
}
