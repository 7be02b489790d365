//! The report of a run and its suite, as values: files and terminals are the caller's.

mod accepted;
mod views;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isobath_emit::findings::{
    self, FaultView, OperationView, Progress, RestReport, Severity, SourceLocation, StatusCount,
    TestCall, TestCase, UncoveredTarget,
};
use isobath_emit::http::{HttpSuite, HttpTest, WrittenTest, curl};

pub use self::accepted::{AcceptedFault, AcceptedFaults, BaselineStatus};
pub use self::views::{InstrumentedCode, limitations, status};
use crate::auth::User;
use crate::caller::Service;
use crate::fault::{Fault, FaultKind};
use crate::job::{self, ClientMaker, RunResult, Test};
use crate::openapi::Api;
use crate::suite;
use crate::verify::VerifiedSuite;

/// What a report says about the run itself.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The document, as the user named it.
    pub spec: String,
    /// The search algorithm.
    pub algorithm: String,
    /// The random seed.
    pub seed: u64,
    /// The budget, as flags spell it.
    pub budget: String,
    /// How long it took.
    pub seconds: f64,
    /// The version of the program.
    pub version: String,
    /// The command line.
    pub command: String,
    /// The time of the run: values in responses that are close to it are not asserted.
    pub now: jiff::Timestamp,
    /// The faults that fail no run.
    pub accepted: AcceptedFaults,
}

/// How a suite is made of the tests of a run.
#[derive(Clone, Debug, Default)]
pub struct SuiteSettings {
    /// The command that starts the service.
    pub start: Option<String>,
    /// The command that starts it for suites, on any port, if it differs.
    pub suite_start: Option<String>,
    /// The command that starts it for suites that insert rows into its in-memory database.
    pub suite_start_with_rows: Option<String>,
    /// Leaves out assertions on the rows of the database.
    pub no_state_assertions: bool,
    /// Leaves secrets in the suite.
    pub inline_secrets: bool,
    /// Settings that redirect the service to each mock server.
    pub mock_settings: Vec<Vec<String>>,
}

/// A run that is over.
pub struct FinishedRun<'a> {
    /// About the run.
    pub facts: RunFacts,
    /// The service.
    pub service: &'a Arc<Service>,
    /// What the job returned.
    pub outcome: &'a RunResult,
    /// All tests.
    pub suite: HttpSuite,
    /// What showed faults again and is not part of the suite.
    dependent: HttpSuite,
    /// What the suites find in their environment and not in themselves, by variable.
    pub secrets: BTreeMap<String, String>,
    /// What the build of an instrumented service says about its code.
    pub instrumented: Option<InstrumentedCode>,
    /// Returns the text of a file of the service.
    pub sources: &'a dyn Fn(&str) -> Option<String>,
    /// Set when the run is interrupted.
    pub interrupt: &'a AtomicBool,
    /// Statuses of operations that were called after everything else.
    late_statuses: RefCell<Vec<(usize, u16)>>,
}

impl<'a> FinishedRun<'a> {
    /// A run, with its tests as a suite.
    pub fn new(
        facts: RunFacts,
        service: &'a Arc<Service>,
        users: &[User],
        outcome: &'a RunResult,
        settings: &SuiteSettings,
        interrupt: &'a AtomicBool,
    ) -> Self {
        let name = name(&service.api);
        let mut suite = suite::suite(&name, service, users, &outcome.tests, facts.now);
        suite.source.clone_from(&facts.spec);
        suite.seed = facts.seed;
        settings.apply(&mut suite);
        let mut dependent = suite::suite(&name, service, users, &outcome.dependent, facts.now);
        let secrets = if settings.inline_secrets {
            BTreeMap::new()
        } else {
            dependent.take_secrets();
            suite.take_secrets()
        };
        Self {
            facts,
            service,
            outcome,
            suite,
            dependent,
            secrets,
            instrumented: None,
            sources: &|_| None,
            interrupt,
            late_statuses: RefCell::default(),
        }
    }

    /// Why it ended before it was done, if it did: also suites that were not run to their end may be why.
    pub fn ended_early(&self) -> Option<String> {
        match (&self.outcome.lost, self.is_interrupted()) {
            (Some(lost), _) => Some(lost.to_string()),
            (None, true) => Some("interrupted".into()),
            (None, false) => None,
        }
    }

    /// Whether the run was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.outcome.interrupted || self.interrupt.load(Ordering::Relaxed)
    }

    /// The tables of the rows that a fault needs and that no call was seen to write, if it needs any.
    pub fn foreign_rows(&self, fault: &Fault) -> Option<&str> {
        let identity = (fault.kind, fault.cause.clone());
        self.outcome.needs_rows.get(&identity).map(String::as_str)
    }

    /// The report, with the suites as they were verified.
    #[must_use]
    pub fn report(&self, suites: &[VerifiedSuite]) -> RestReport {
        let mut report = self.base_report();
        report.suites = suites.iter().map(|suite| suite.view.clone()).collect();
        // Reports point at the first language.
        if let Some(suite) = suites.first() {
            let excluded = &suite.view.excluded;
            for fault in &mut report.faults {
                let test = excluded
                    .iter()
                    .find(|one| Some(&one.id) == fault.test.as_ref());
                if let Some(test) = test {
                    fault.test = None;
                    fault.no_test = Some(test.reason.clone());
                }
            }
            let cases = suite.written.tests.iter();
            report.test_cases = cases
                .filter_map(|test| self.test_case(test, suite))
                .collect();
        }
        report
    }

    /// The statements that the service was seen to look for rows with, as `isobath query` reads them.
    #[must_use]
    pub fn queries(&self) -> String {
        let numbered = (1..).zip(&self.outcome.statements);
        numbered
            .map(|(number, sql)| {
                let id = format!("statement {number}");
                format!("{}\n", serde_json::json!({ "id": id, "query": sql }))
            })
            .collect()
    }

    /// Whether a test ends the service, and would take those after it with it.
    fn is_fatal(&self, at: usize) -> bool {
        let test = self.outcome.tests.get(at);
        let mut exchanges = test.into_iter().flat_map(|test| &test.exchanges);
        exchanges.any(|exchange| exchange.fatal.is_some())
    }

    /// The tests that passed, as they passed, and those that end the service and were therefore not run.
    pub fn to_replay(&self, verified: &HttpSuite) -> HttpSuite {
        let mut suite = self.suite.clone();
        let mut at = 0..;
        suite.tests.retain_mut(|test| {
            let is_fatal = at.next().is_some_and(|at| self.is_fatal(at));
            let passed = verified.tests.iter().find(|passed| passed.id == test.id);
            if let Some(passed) = passed {
                test.clone_from(passed);
            }
            passed.is_some() || is_fatal
        });
        suite
    }

    /// The suite without the tests that end the service.
    pub fn harmless(&self) -> HttpSuite {
        let mut suite = self.suite.clone();
        let mut at = 0..;
        suite
            .tests
            .retain(|_| at.next().is_some_and(|at| !self.is_fatal(at)));
        suite
    }

    fn test_case(&self, written: &WrittenTest, suite: &VerifiedSuite) -> Option<TestCase> {
        let language = &suite.view.language;
        let result = suite.results.get(&written.id);
        let mut tests = self.suite.tests.iter().zip(&self.outcome.tests);
        let (test, seen) = tests.find(|(test, _)| test.id == written.id)?;
        let steps = seen.exchanges.iter().filter_map(|exchange| {
            let operation = self.service.api.operation(exchange.operation?).name();
            Some(TestCall {
                operation,
                status: exchange.status().unwrap_or_default(),
            })
        });
        Some(TestCase {
            id: written.id.clone(),
            name: test.name.clone(),
            operation: test.group.clone(),
            file: format!("{language}/{}", written.path),
            start_line: written.start_line,
            end_line: written.end_line,
            passed: result.map(|(passed, _)| *passed),
            message: result
                .map(|(_, message)| message.clone())
                .unwrap_or_default(),
            steps: steps.collect(),
        })
    }

    fn base_report(&self) -> RestReport {
        let (outcome, api) = (self.outcome, &self.service.api);
        let share = |calls: u64| {
            if outcome.calls == 0 {
                0.0
            } else {
                calls as f64 / outcome.calls as f64
            }
        };
        RestReport {
            schema_version: findings::SCHEMA_VERSION,
            title: if api.title.is_empty() {
                "REST API".into()
            } else {
                api.title.clone()
            },
            source: self.facts.spec.clone(),
            url: self.service.base.clone(),
            version: self.facts.version.clone(),
            command: Some(self.facts.command.clone()),
            algorithm: self.facts.algorithm.clone(),
            seed: self.facts.seed,
            budget: self.facts.budget.clone(),
            calls: outcome.calls,
            seconds: self.facts.seconds,
            targets: outcome.targets as u64,
            covered: outcome.covered as u64,
            tests: outcome.tests.len() as u64,
            suite_calls: outcome
                .tests
                .iter()
                .map(|test| test.exchanges.len() as u64)
                .sum(),
            ended_early: self.ended_early(),
            code: self.code(),
            database: self.database(),
            outbound: self.outgoing(),
            operations: self.operations(),
            faults: outcome
                .faults
                .iter()
                .map(|(fault, test)| self.fault(fault, *test))
                .collect(),
            limitations: self.limitations(),
            // Calls are counted, seconds are not: a point in time is as far along as its calls.
            progress: outcome
                .timeline
                .iter()
                .map(|point| Progress {
                    calls: point.calls,
                    seconds: self.facts.seconds * share(point.calls),
                    covered: point.covered as u64,
                    faults: point.faults as u64,
                })
                .collect(),
            uncovered: outcome
                .uncovered
                .iter()
                .map(|miss| UncoveredTarget {
                    target: miss.target.clone(),
                    operation: miss
                        .operation
                        .map(|operation| api.operation(operation).name())
                        .unwrap_or_default(),
                    score: miss.score,
                    nearest_miss: miss.nearest.clone(),
                    reason: miss.reason.clone(),
                })
                .collect(),
            ..RestReport::default()
        }
    }

    /// The operations, with their statuses.
    pub fn operations(&self) -> Vec<OperationView> {
        let shows = |operation: usize, status: u16| {
            let shows = |test: &Test| {
                test.exchanges.last().is_some_and(|last| {
                    last.operation == Some(operation) && last.status() == Some(status)
                })
            };
            self.outcome
                .tests
                .iter()
                .position(shows)
                .and_then(|at| Some(self.suite.tests.get(at)?.id.clone()))
        };
        let api = &self.service.api;
        let view = |(index, statuses): (usize, &BTreeMap<u16, u64>)| {
            let operation = api.operation(index);
            OperationView {
                id: operation.name(),
                method: operation.method.to_string(),
                path: operation.path.to_string(),
                operation_id: operation.operation_id.as_ref().map(ToString::to_string),
                calls: statuses.values().sum(),
                statuses: statuses
                    .iter()
                    .map(|(&status, &calls)| StatusCount {
                        status,
                        calls,
                        documented: operation.response(status).is_some(),
                        test: shows(index, status),
                    })
                    .collect(),
                no_response: 0,
                documented: operation
                    .responses
                    .iter()
                    .map(|response| status(response.status))
                    .collect(),
            }
        };
        let mut statuses = self.outcome.statuses.clone();
        for (operation, status) in self.late_statuses.borrow().iter() {
            if let Some(of_operation) = statuses.get_mut(*operation) {
                *of_operation.entry(*status).or_default() += 1;
            }
        }
        statuses.iter().enumerate().map(view).collect()
    }

    fn fault(&self, fault: &Fault, test: Option<usize>) -> FaultView {
        let shown = test.and_then(|at| self.suite.tests.get(at));
        let is_fatal = test.is_some_and(|at| self.is_fatal(at));
        let place = self
            .service
            .api
            .operations
            .iter()
            .find(|operation| operation.name() == fault.operation)
            .map(|operation| &operation.place);
        FaultView {
            code: fault.kind.code().into(),
            fingerprint: fault.fingerprint(),
            known: match self.facts.accepted.status(fault) {
                BaselineStatus::Known(reason) => Some(reason),
                BaselineStatus::New | BaselineStatus::Expired(_) => None,
            },
            wfc_code: fault.kind.wfc().map(u32::from),
            root_cause: fault.cause.clone(),
            operation: fault.operation.clone(),
            message: fault.detail.clone(),
            details: std::iter::once(fault.kind.explanation().to_owned())
                .chain(self.foreign_rows(fault).map(|tables| {
                    format!("needs a row that no call was seen to write, in {tables}: not counted as a fault")
                }))
                .chain(other_operations(fault))
                .chain(fault.evidence.iter().cloned())
                .chain(fault.calls.iter().map(|call| format!("call: {call}")))
                .chain(shown.map(HttpTest::answer_lines).unwrap_or_default())
                .collect(),
            severity: if fault.is_weak() || self.foreign_rows(fault).is_some() {
                Severity::Note
            } else {
                severity(fault.kind)
            },
            seen: 1,
            test: shown.filter(|_| !is_fatal).map(|test| test.id.clone()),
            no_test: match shown {
                None => Some(self.why_no_test(fault).to_owned()),
                Some(_) if is_fatal => {
                    Some("the test terminates the service, so it is not part of the suite".into())
                }
                Some(_) => None,
            },
            curl: match shown {
                Some(test) => curl(&self.suite, test),
                None => self.curl_of_dependent(fault).unwrap_or_default(),
            },
            rows: shown.map(|test| test.row_statements()).unwrap_or_default(),
            location: place.map(|place| SourceLocation {
                file: place.location.to_string(),
                line: place
                    .line_column
                    .map_or(0, |(line, _)| u32::try_from(line).unwrap_or(0)),
                pointer: place.pointer.to_string(),
            }),
        }
    }

    /// The calls that showed a fault again, where these are no test.
    fn curl_of_dependent(&self, fault: &Fault) -> Option<String> {
        let shows = |test: &Test| {
            let mut faults = test.faults.iter();
            faults.any(|shown| shown.identity() == fault.identity())
        };
        let at = self.outcome.dependent.iter().position(shows)?;
        let test = self.dependent.tests.get(at)?;
        Some(curl(&self.dependent, test))
    }

    /// Why a fault has no test.
    pub fn why_no_test(&self, fault: &Fault) -> &'static str {
        let identity = (fault.kind, fault.cause.clone());
        let api = &self.service.api;
        let mut changes = self.outcome.login_changes.iter();
        if changes.any(|operation| api.operation(*operation).name() == fault.operation) {
            "the operation changes what a user logs in with"
        } else if self.outcome.needs_state.contains(&identity) {
            "it may depend on what earlier calls left behind; add --reset or --db to find out"
        } else if self.outcome.not_shown_again.contains(&identity) {
            "seen once; it did not show again when its calls were repeated"
        } else {
            "not rechecked: the budget ended before its calls could be repeated"
        }
    }

    /// Calls the operations that may end the session or the service for everybody, which were kept for last.
    pub fn call_disruptive(&self, client: &ClientMaker<'_>) -> io::Result<()> {
        let statuses = job::call_disruptive(self.service, client, self.facts.seed)?;
        self.late_statuses.borrow_mut().extend(statuses);
        Ok(())
    }

    /// Whether too little was reached to say anything about the service: a fifth of the operations was never called,
    /// or none succeeded.
    pub fn is_hardly_tested(&self) -> bool {
        let operations = self.operations();
        let uncalled = operations.iter().filter(|operation| operation.calls == 0);
        let is_success = |count: &StatusCount| (200..400).contains(&count.status);
        let mut statuses = operations.iter().flat_map(|operation| &operation.statuses);
        uncalled.count() * 5 >= operations.len() || !statuses.any(is_success)
    }

    /// The variables whose values are in the files of a suite all the same.
    pub fn leaked_secrets(&self, suites: &[VerifiedSuite]) -> Vec<&str> {
        /// Shorter values are found in every other word.
        const SHORTEST: usize = 6;
        let files = || suites.iter().flat_map(|suite| &suite.written.files);
        let is_leaked =
            |value: &str| value.len() >= SHORTEST && files().any(|file| file.text.contains(value));
        let leaked = self.secrets.iter().filter(|(_, value)| is_leaked(value));
        leaked.map(|(variable, _)| variable.as_str()).collect()
    }
}

impl SuiteSettings {
    /// Applies the settings to a suite.
    fn apply(&self, suite: &mut HttpSuite) {
        let is_inside = suite
            .database
            .as_ref()
            .is_some_and(|of| of.agent_url.is_some());
        let with_rows = self.suite_start_with_rows.as_ref().filter(|_| is_inside);
        let plain = self.suite_start.as_ref().or(self.start.as_ref());
        let start = with_rows.or(plain);
        match start {
            // A service that we know how to start takes any port.
            Some(start) if self.suite_start.is_some() || with_rows.is_some() => {
                let agent_url = suite
                    .database
                    .as_ref()
                    .and_then(|of| of.agent_url.as_deref());
                suite.service.start_on_free_ports(start, agent_url);
            }
            start => suite.service.start = start.cloned(),
        }
        if self.no_state_assertions {
            suite
                .tests
                .iter_mut()
                .for_each(|test| test.expected_rows.clear());
        }
        for (outside, settings) in suite.external_services.iter_mut().zip(&self.mock_settings) {
            outside.settings.clone_from(settings);
        }
    }
}

/// How bad a kind of fault is.
pub fn severity(kind: FaultKind) -> Severity {
    match kind {
        FaultKind::UndocumentedStatus
        | FaultKind::ResponseMismatch
        | FaultKind::InvalidInputAccepted
        | FaultKind::LocationLeadsNowhere => Severity::Warning,
        _ => Severity::Error,
    }
}

/// A name for files.
fn name(api: &Api) -> String {
    let name: String = api
        .title
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let name = name.trim_matches('_');
    if name.is_empty() {
        "api".to_owned()
    } else {
        name.to_owned()
    }
}

/// The other operations that showed a fault.
pub fn other_operations(fault: &Fault) -> Option<String> {
    let others: Vec<&str> = fault.others.iter().map(String::as_str).collect();
    (!others.is_empty()).then(|| format!("also: {}", shortened_list(&others)))
}

/// The first few of many names.
pub fn shortened_list(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = names.iter().take(SHOWN).copied().collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
