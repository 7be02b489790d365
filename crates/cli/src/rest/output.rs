//! Results of a run: the suite, the report and the summary.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use isobath_emit::findings::{
    self, CodeView, ConstraintView, DatabaseView, DriftView, FaultView, FileView, MissedBranch,
    OperationView, OutboundView, Progress, RestLimitation, RestReport, RuleView, Severity, Share,
    SourceLocation, StatementView, StatusCount, SuiteView, TestCall, TestCase, UncoveredTarget,
    ViolationView,
};
use isobath_emit::http::{HttpSuite, HttpTest, WrittenTest, curl};
use isobath_rest::auth::User;
use isobath_rest::caller::Service;
use isobath_rest::fault::{Fault, FaultKind};
use isobath_rest::feedback;
use isobath_rest::job::{self, ClientMaker, RunResult, Test};
use isobath_rest::openapi::{Api, Operation};
use isobath_rest::redact;
use isobath_rest::suite;
use isobath_rewrite::build::InstrumentedBuild;

use super::args::RestArgs;
use super::baseline::{Baseline, BaselineStatus};
use super::check::VerifiedSuite;
use super::describe;
use super::folder::command_line;
use super::interrupt::Interruption;
use super::launch::LaunchPlan;
use crate::output;
use crate::terminal::{Terminal, Tone, plural};

/// Longer files are not shown in the report.
const SHOWN_SOURCE: usize = 400_000;

/// A run that is over.
pub(super) struct FinishedRun<'a> {
    pub(super) args: &'a RestArgs,
    pub(super) service: &'a Arc<Service>,
    pub(super) outcome: &'a RunResult,
    pub(super) suite: HttpSuite,
    /// What showed faults again and is not part of the suite.
    dependent: HttpSuite,
    pub(super) seconds: f64,
    /// What the suites find in their environment and not in themselves, by variable.
    pub(super) secrets: BTreeMap<String, String>,
    /// Statuses of operations that were called after everything else.
    late_statuses: RefCell<Vec<(usize, u16)>>,
    interruption: &'a Interruption,
    built: Option<&'a InstrumentedBuild>,
    baseline: Option<&'a Baseline>,
}

impl<'a> FinishedRun<'a> {
    /// A run, with its tests as a suite.
    pub(super) fn new(
        args: &'a RestArgs,
        launch: &LaunchPlan,
        service: &'a Arc<Service>,
        users: &[User],
        outcome: &'a RunResult,
        seconds: f64,
        interruption: &'a Interruption,
    ) -> Self {
        let now = jiff::Timestamp::now();
        let mut suite = suite::suite(&name(&service.api), service, users, &outcome.tests, now);
        suite.source.clone_from(&args.spec);
        suite.seed = args.seed;
        let is_inside = suite
            .database
            .as_ref()
            .is_some_and(|of| of.agent_url.is_some());
        let with_rows = launch.suite_start_with_rows.as_ref().filter(|_| is_inside);
        let plain = launch.suite_start.as_ref().or(launch.start.as_ref());
        let start = with_rows.or(plain);
        match start {
            // A service that we know how to start takes any port.
            Some(start) if launch.suite_start.is_some() || with_rows.is_some() => {
                let agent_url = suite
                    .database
                    .as_ref()
                    .and_then(|of| of.agent_url.as_deref());
                suite.service.start_on_free_ports(start, agent_url);
            }
            start => suite.service.start = start.cloned(),
        }
        if args.database.no_state_assertions {
            suite
                .tests
                .iter_mut()
                .for_each(|test| test.expected_rows.clear());
        }
        for (outside, settings) in suite
            .external_services
            .iter_mut()
            .zip(&launch.mock_settings)
        {
            outside.settings.clone_from(settings);
        }
        let name = name(&service.api);
        let mut dependent = suite::suite(&name, service, users, &outcome.dependent, now);
        let secrets = if args.inline_secrets {
            BTreeMap::new()
        } else {
            dependent.take_secrets();
            suite.take_secrets()
        };
        Self {
            secrets,
            args,
            service,
            outcome,
            suite,
            dependent,
            seconds,
            late_statuses: RefCell::default(),
            interruption,
            built: None,
            baseline: None,
        }
    }

    /// Why it ended before it was done, if it did: also suites that were not run to their end may be why.
    pub(super) fn ended_early(&self) -> Option<String> {
        match (&self.outcome.lost, self.is_interrupted()) {
            (Some(lost), _) => Some(lost.to_string()),
            (None, true) => Some("interrupted".into()),
            (None, false) => None,
        }
    }

    /// Whether the run was interrupted.
    pub(super) fn is_interrupted(&self) -> bool {
        self.outcome.interrupted || self.interruption.interrupt.load(Ordering::Relaxed)
    }

    /// The database section of the report.
    fn database(&self) -> Option<DatabaseView> {
        let rows = self.outcome.rows.as_ref()?;
        let name = |operation: usize| {
            let operation = self.service.api.operations.get(operation);
            operation.map(Operation::name).unwrap_or_default()
        };
        let constraints = rows.constraints.iter().map(|constraint| ConstraintView {
            table: constraint.table.clone(),
            constraint: constraint.constraint.clone(),
            name: constraint.name.clone(),
            operations: constraint
                .by
                .iter()
                .map(|(operation, tally)| ViolationView {
                    operation: name(*operation),
                    refused: tally.refused,
                    failed: tally.failed,
                    accepted: tally.accepted,
                })
                .collect(),
        });
        let drift = rows.drift.iter().map(|drift| DriftView {
            operation: drift.operation.clone(),
            property: drift.property.clone(),
            column: drift.column.clone(),
            document: drift.document.clone(),
            database: drift.database.clone(),
        });
        let limitations = rows.limitations.iter();
        Some(DatabaseView {
            address: rows.place.clone(),
            resets: rows.cost.resets,
            reset_seconds: rows.cost.resetting.as_secs_f64(),
            checks: rows.cost.checks,
            check_seconds: rows.cost.checking.as_secs_f64(),
            not_reset: rows.not_kept.clone(),
            limitations: limitations
                .map(|limitation| format!("{}: {}", limitation.input, limitation.why))
                .collect(),
            constraints: constraints.collect(),
            drift: drift.collect(),
            statements: self.statements(),
        })
    }

    /// The statements that the service looked for rows with.
    fn statements(&self) -> Vec<StatementView> {
        let seen = self.outcome.database.iter().flat_map(|data| &data.seen);
        seen.map(|statement| StatementView {
            shape: statement.shape.clone(),
            example: statement.example.clone(),
            times: statement.times,
            found: statement.found,
            rules: statement
                .rules
                .iter()
                .map(|rule| RuleView {
                    label: rule.label.clone(),
                    description: rule.description.clone(),
                    covered: rule.nearest == 0.0,
                    distance: (rule.nearest > 0.0 && rule.nearest.is_finite())
                        .then_some(rule.nearest),
                })
                .collect(),
        })
        .collect()
    }

    /// The same run, of a service that was built instrumented.
    pub(super) fn built(mut self, built: Option<&'a InstrumentedBuild>) -> Self {
        self.built = built;
        self
    }

    /// The same run, with faults that are known.
    pub(super) fn judged(mut self, baseline: &'a Baseline) -> Self {
        self.baseline = Some(baseline);
        self
    }

    /// The tables of the rows that a fault needs and that no call was seen to write, if it needs any.
    pub(super) fn foreign_rows(&self, fault: &Fault) -> Option<&str> {
        let identity = (fault.kind, fault.cause.clone());
        self.outcome.needs_rows.get(&identity).map(String::as_str)
    }

    fn standing(&self, fault: &Fault) -> BaselineStatus {
        self.baseline
            .map_or(BaselineStatus::New, |baseline| baseline.standing(fault))
    }

    /// What of the code was covered.
    fn code(&self) -> Option<CodeView> {
        let covered = self.outcome.code.as_ref()?;
        let share = |share: &feedback::CoverageCount| Share {
            covered: share.covered as u64,
            total: share.total as u64,
        };
        let files = covered.files.iter().map(|(name, file)| {
            let lines = |wanted: bool| {
                let lines = file.lines.iter();
                lines
                    .filter(move |(_, covered)| **covered == wanted)
                    .map(|(line, _)| *line)
                    .collect()
            };
            FileView {
                file: name.clone(),
                lines: share(&file.share()),
                branches: share(&file.branches),
                covered_lines: lines(true),
                missed_lines: lines(false),
                missed_branches: missed(&file.missed),
                source: self.source(name),
            }
        });
        let mut view = CodeView {
            lines: share(&covered.lines),
            branches: share(&covered.branches),
            faults: share(&covered.faults),
            files: files.collect(),
            lost_events: self
                .service
                .with_driver(|feedback| feedback.lost_events())
                .unwrap_or_default(),
            ..CodeView::default()
        };
        if let Some(feedback) = &self.service.feedback {
            let feedback = feedback.lock().unwrap_or_else(PoisonError::into_inner);
            view.not_instrumented
                .extend_from_slice(feedback.uninstrumented());
        }
        if let Some(built) = self.built {
            let counts = built.counts();
            view.instrumented = counts.instrumented as u64;
            view.not_instrumentable = (counts.in_macros + counts.in_constants) as u64;
            for (name, outcome) in &built.crates {
                let dropped = outcome.dropped.iter();
                view.dropped.extend(
                    dropped.map(|site| format!("{}:{} {}", site.file, site.line, site.shape)),
                );
                let plain = outcome.plain.iter();
                view.not_instrumented
                    .extend(plain.map(|reason| format!("{name}: {reason}")));
                let files = outcome.plain_files.iter();
                view.not_instrumented
                    .extend(files.map(|(file, reason)| format!("{file}: {reason}")));
            }
        }
        Some(view)
    }

    /// The text of a file of the service, whose name is relative to the root of its project.
    fn source(&self, name: &str) -> Option<String> {
        let folder = self.args.white.rust.as_ref()?.canonicalize().ok()?;
        let path = folder
            .ancestors()
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())?;
        let text = std::fs::read_to_string(path).ok()?;
        (text.len() <= SHOWN_SOURCE).then_some(text)
    }

    /// Writes suite and report; returns the written files. `verified` is the suite without the tests that did not pass.
    pub(super) fn write(
        &self,
        folder: &Path,
        suites: &[VerifiedSuite],
        verified: &HttpSuite,
    ) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let mut put = |path: PathBuf, text: &str| -> io::Result<()> {
            output::put(&path, text).map_err(io::Error::other)?;
            files.push(path);
            Ok(())
        };
        let mut report = self.report();
        report.suites = suites.iter().map(|suite| suite.view.clone()).collect();
        for suite in suites {
            let language = &suite.view.language;
            for file in &suite.written.files {
                put(folder.join(language).join(&file.path), &file.text)?;
            }
        }
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
        if !self.outcome.statements.is_empty() {
            put(folder.join("queries.jsonl"), &self.queries())?;
        }
        put(
            folder.join("suite.json"),
            &self.to_replay(verified).to_json(),
        )?;
        put(folder.join("report.json"), &report.to_json())?;
        put(folder.join("report.md"), &findings::markdown(&report))?;
        put(folder.join("junit.xml"), &findings::junit(&report))?;
        put(folder.join("report.sarif"), &findings::sarif(&report))?;
        put(folder.join("wfc-report.json"), &findings::wfc(&report))?;
        // Last, because it is the one to open.
        put(folder.join("report.html"), &findings::html(&report))?;
        Ok(files)
    }

    /// The statements that the service was seen to look for rows with, as `isobath query` reads them.
    fn queries(&self) -> String {
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
        let exchanges = &self.outcome.tests[at].exchanges;
        exchanges.iter().any(|exchange| exchange.fatal.is_some())
    }

    /// The tests that passed, as they passed, and those that end the service and were therefore not run.
    fn to_replay(&self, verified: &HttpSuite) -> HttpSuite {
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
    pub(super) fn harmless(&self) -> HttpSuite {
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
        let at = self
            .suite
            .tests
            .iter()
            .position(|test| test.id == written.id)?;
        let steps = self.outcome.tests[at]
            .exchanges
            .iter()
            .filter_map(|exchange| {
                let operation = self.service.api.operations[exchange.operation?].name();
                Some(TestCall {
                    operation,
                    status: exchange.status().unwrap_or_default(),
                })
            });
        Some(TestCase {
            id: written.id.clone(),
            name: self.suite.tests[at].name.clone(),
            operation: self.suite.tests[at].group.clone(),
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

    fn report(&self) -> RestReport {
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
            source: self.args.spec.clone(),
            url: self.service.base.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            command: Some(command_line(std::env::args())),
            algorithm: self.args.algorithm.to_string(),
            seed: self.args.seed,
            budget: self.args.budget.to_string(),
            calls: outcome.calls,
            seconds: self.seconds,
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
                    seconds: self.seconds * share(point.calls),
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
                        .map(|operation| api.operations[operation].name())
                        .unwrap_or_default(),
                    score: miss.score,
                    nearest_miss: miss.nearest.clone(),
                    reason: miss.reason.clone(),
                })
                .collect(),
            ..RestReport::default()
        }
    }

    fn operations(&self) -> Vec<OperationView> {
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
                .map(|at| self.suite.tests[at].id.clone())
        };
        let api = &self.service.api;
        let view = |(index, statuses): (usize, &BTreeMap<u16, u64>)| {
            let operation = &api.operations[index];
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
                    .map(|response| describe::status(response.status))
                    .collect(),
            }
        };
        let mut statuses = self.outcome.statuses.clone();
        for (operation, status) in self.late_statuses.borrow().iter() {
            *statuses[*operation].entry(*status).or_default() += 1;
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
            known: match self.standing(fault) {
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

    /// What of the document is not in the model, and which statements are not evaluated.
    fn limitations(&self) -> Vec<RestLimitation> {
        let mut all = describe::limitations(&self.service.api);
        let data = self.outcome.database.iter();
        all.extend(
            data.flat_map(|data| &data.unsupported)
                .map(|unable| RestLimitation {
                    what: format!("SQL statement not evaluated: {}", unable.why),
                    quote: unable.text.clone(),
                    location: "the database".into(),
                    count: unable.times,
                }),
        );
        all
    }

    /// Outbound requests of the service.
    fn outgoing(&self) -> Vec<OutboundView> {
        let seen = self.outcome.outgoing.iter();
        let views = seen.map(|(outbound_request, tally)| OutboundView {
            service: outbound_request.service.to_string(),
            method: outbound_request.method.to_string(),
            path: outbound_request.path.to_string(),
            calls: tally.calls,
            statuses: tally.statuses.iter().map(|(a, b)| (*a, *b)).collect(),
            operations: tally
                .operations
                .iter()
                .map(|operation| self.service.api.operations[*operation].name())
                .collect(),
            mocked: !tally.statuses.is_empty() && !tally.encrypted,
            example: tally.example.clone(),
            note: if tally.encrypted {
                Some("encrypted, connection refused; pass the variable with its base URL with --mock".into())
            } else if tally.statuses.is_empty() {
                Some("observed by the driver, not mocked; add --mock to mock it".into())
            } else {
                None
            },
        });
        views.collect()
    }

    /// Prints external services that were called, and mocks that were not.
    fn report_external(&self, terminal: &Terminal) {
        let seen = &self.outcome.outgoing;
        let endpoints = self
            .service
            .with_mocks(|mocks| mocks.endpoints().to_vec())
            .unwrap_or_default();
        let (seen, others): (Vec<_>, Vec<_>) = seen
            .iter()
            .partition(|(_, tally)| !tally.statuses.is_empty());
        if !others.is_empty() {
            let services: BTreeSet<&str> = others.iter().map(|(one, _)| &*one.service).collect();
            let services: Vec<&str> = services.into_iter().collect();
            terminal.say(
                Tone::Plain,
                &format!(
                    "external services called: {}; add --mock to mock them",
                    services.join(", ")
                ),
            );
        }
        if !seen.is_empty() {
            let calls: u64 = seen.iter().map(|(_, tally)| tally.calls).sum();
            let services: BTreeSet<&str> = seen.iter().map(|(one, _)| &*one.service).collect();
            let services: Vec<&str> = services.into_iter().collect();
            terminal.say(
                Tone::Plain,
                &format!(
                    "external services: mocks answered {calls} requests ({} distinct) to {}",
                    seen.len(),
                    services.join(", ")
                ),
            );
        }
        for endpoint in endpoints
            .iter()
            .filter(|endpoint| !endpoint.name.is_empty())
        {
            if !seen.iter().any(|(one, _)| *one.service == *endpoint.name) {
                terminal.insist(
                    Tone::Warning,
                    &format!(
                        "warning: the service never called {}, mocked at {}; check that it reads its base URL from that setting",
                        endpoint.name, endpoint.at
                    ),
                );
            }
        }
    }

    /// Prints database statistics.
    fn report_database(&self, terminal: &Terminal) {
        let Some(data) = &self.outcome.database else {
            return;
        };
        let mean = |spent: std::time::Duration, times: u64| {
            spent.as_secs_f64() * 1_000.0 / (times as f64).max(1.0)
        };
        terminal.say(
            Tone::Plain,
            &format!(
                "database: {} SQL statements, {} distinct ({} not evaluated; {:.3} ms each); {} rows inserted; {} resets ({:.2} ms on average), {} snapshots ({:.2} ms on average)",
                data.statements,
                data.shapes,
                data.unsupported.len(),
                mean(data.rows.judging, data.statements),
                data.rows.rows,
                data.cost.resets,
                mean(data.cost.resetting, data.cost.resets),
                data.cost.checks,
                mean(data.cost.checking, data.cost.checks),
            ),
        );
    }

    /// Why a fault has no test.
    fn why_no_test(&self, fault: &Fault) -> &'static str {
        let identity = (fault.kind, fault.cause.clone());
        let api = &self.service.api;
        let mut changes = self.outcome.login_changes.iter();
        if changes.any(|operation| api.operations[*operation].name() == fault.operation) {
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
    pub(super) fn call_disruptive(&self, client: &ClientMaker<'_>) -> io::Result<()> {
        let statuses = job::call_disruptive(self.service, client, self.args.seed)?;
        self.late_statuses.borrow_mut().extend(statuses);
        Ok(())
    }

    /// Whether too little was reached to say anything about the service: a fifth of the operations was never called,
    /// or none succeeded.
    pub(super) fn is_hardly_tested(&self) -> bool {
        let operations = self.operations();
        let uncalled = operations.iter().filter(|operation| operation.calls == 0);
        let is_success = |count: &StatusCount| (200..400).contains(&count.status);
        let mut statuses = operations.iter().flat_map(|operation| &operation.statuses);
        uncalled.count() * 5 >= operations.len() || !statuses.any(is_success)
    }

    /// Says what was not reached, and why.
    fn report_reach(&self, terminal: &Terminal) {
        self.report_troublesome(terminal);
        let operations = self.operations();
        let uncalled: Vec<&str> = operations
            .iter()
            .filter(|operation| operation.calls == 0)
            .map(|operation| operation.id.as_str())
            .collect();
        if !uncalled.is_empty() {
            let line = format!(
                "{} of {} operations were never called ({}); give a larger --budget",
                uncalled.len(),
                operations.len(),
                shortened_list(&uncalled)
            );
            terminal.say(Tone::Warning, &line);
        }
        if let Some(status) = self.outcome.uniform_answer {
            let next_step = match status {
                401 | 403 | 407 => "pass users who may call the service by --auth or --header",
                300..=399 => "the service redirects; pass its real address by --url",
                429 => "the service limits the rate of calls; raise its limit for the run",
                502..=504 => "wait until the service and what it depends on are up",
                _ => "pass the base URL by --url, with the path before the paths of the document",
            };
            let line = format!(
                "every operation answered {status} at the base URL {}: stopped after the first pass; {next_step}",
                self.service.base
            );
            terminal.insist(Tone::Warning, &line);
            return;
        }
        if self.is_hardly_tested() {
            let line = format!(
                "the service at {} was hardly tested: check the base URL (--url) and the users (--auth, --header)",
                self.service.base
            );
            terminal.insist(Tone::Warning, &line);
        }
        for (statuses, reason, next_step) in UNREACHED {
            let failed: Vec<&str> = operations
                .iter()
                .filter(|operation| operation.calls > 0 && is_stuck(operation, statuses))
                .map(|operation| operation.id.as_str())
                .collect();
            if !failed.is_empty() {
                let line = format!(
                    "{} never succeeded: {reason} ({}); {next_step}",
                    if failed.len() == 1 {
                        "1 operation".to_owned()
                    } else {
                        format!("{} operations", failed.len())
                    },
                    shortened_list(&failed)
                );
                terminal.say(Tone::Faint, &line);
            }
        }
    }

    /// Names operations that end the session, change a login or take most of the time.
    fn report_troublesome(&self, terminal: &Terminal) {
        let name = |at: usize| self.service.api.operations[at].name();
        for (operation, status) in &self.outcome.disruptive {
            terminal.say(
                Tone::Warning,
                &format!(
                    "after {} every operation answered {status}; it was not called again",
                    name(*operation)
                ),
            );
        }
        for operation in &self.outcome.login_changes {
            terminal.say(
                Tone::Warning,
                &format!(
                    "{} changes what a user logs in with, so no test calls it; add --reset or --db, or let the users be created (createUsers)",
                    name(*operation)
                ),
            );
        }
        for slow in &self.outcome.slow {
            let line = format!(
                "{} took {:.1} s per call and {:.0} % of the time of all calls{}",
                name(slow.operation),
                slow.mean.as_secs_f64(),
                slow.share * 100.0,
                self.args.slow_build_hint()
            );
            terminal.say(Tone::Warning, &line);
        }
    }

    /// Prints the summary of the run.
    pub(super) fn summarize(
        &self,
        terminal: &Terminal,
        files: &[PathBuf],
        suites: &[VerifiedSuite],
    ) {
        let outcome = self.outcome;
        if self.args.brief && outcome.lost.is_none() && !self.is_interrupted() {
            return;
        }
        let succeeded = outcome
            .statuses
            .iter()
            .filter(|statuses| statuses.keys().any(|status| (200..300).contains(status)))
            .count();
        self.report_faults(terminal);
        terminal.say(
            Tone::Plain,
            &format!(
                "{} calls in {:.1} s: {} of {} targets covered, {succeeded} of {} operations succeeded",
                outcome.calls,
                self.seconds,
                outcome.covered,
                outcome.targets,
                outcome.statuses.len()
            ),
        );
        self.report_reach(terminal);
        self.report_code(terminal);
        self.report_database(terminal);
        self.report_external(terminal);
        self.count_faults(terminal);
        if let Some(lost) = &outcome.lost {
            terminal.complain(&format!("error: {lost}; earlier results are kept"));
        }
        if self.is_interrupted() {
            terminal.complain("interrupted; results so far are kept");
        }
        self.report_left_out(terminal);
        for suite in suites {
            report_suite(terminal, &suite.view);
        }
        self.report_secrets(suites, terminal);
        let n_tests = suites.first().map_or(0, |suite| suite.written.tests.len());
        let line = format!("{} written to:", plural(n_tests, "test"));
        terminal.say(Tone::Plain, &line);
        for file in files {
            terminal.say(Tone::Faint, &format!("  {}", file.display()));
        }
        terminal.say(Tone::Faint, &format!("seed {}", self.args.seed));
    }

    /// Prints the faults; those that need rows which no call was seen to write stand apart.
    fn report_faults(&self, terminal: &Terminal) {
        let (apart, faults): (Vec<_>, Vec<_>) = self
            .outcome
            .faults
            .iter()
            .partition(|(fault, _)| self.foreign_rows(fault).is_some());
        for (fault, test) in faults {
            self.tell(terminal, fault, *test);
        }
        if !apart.is_empty() {
            let line =
                "seen only with rows that no call was seen to write, and not counted as faults:";
            terminal.say(Tone::Plain, line);
        }
        for (fault, test) in apart {
            self.tell(terminal, fault, *test);
        }
    }

    /// Prints the code coverage of a white-box run.
    fn report_code(&self, terminal: &Terminal) {
        if let Some(code) = &self.outcome.code {
            let percent = |share: &feedback::CoverageCount| {
                100.0 * share.covered as f64 / (share.total as f64).max(1.0)
            };
            terminal.say(
                Tone::Plain,
                &format!(
                    "code: {} of {} lines ({:.0} %), {} of {} branches ({:.0} %)",
                    code.lines.covered,
                    code.lines.total,
                    percent(&code.lines),
                    code.branches.covered,
                    code.branches.total,
                    percent(&code.branches)
                ),
            );
        }
    }

    /// Says which tests and assertions were left out, and why.
    fn report_left_out(&self, terminal: &Terminal) {
        let outcome = self.outcome;
        if outcome.unverified > 0 {
            let line = format!(
                "{} left out: the budget ended before verification",
                plural(outcome.unverified, "test")
            );
            terminal.say(Tone::Warning, &line);
        }
        if outcome.unstable > 0 {
            let line = format!(
                "{} left out: the responses differed between two runs{}",
                plural(outcome.unstable, "test"),
                if self.args.reset.is_some() {
                    ""
                } else {
                    "; add --reset \"METHOD PATH\" to reset the service before each test"
                }
            );
            terminal.say(Tone::Faint, &line);
        }
        if outcome.state_dependent > 0 {
            let line = format!(
                "{} left out: what they need was left behind by earlier calls, and a fresh service does not have it; add --reset or --db",
                plural(outcome.state_dependent, "test")
            );
            terminal.say(Tone::Faint, &line);
        }
        if !outcome.tests.is_empty() && !self.service.is_reset() {
            let line = "not asserted, because nothing resets the service: lists and counts that other tests change";
            terminal.say(Tone::Faint, line);
        }
    }

    /// Says which variables the suites need, and whether a secret is in them all the same.
    fn report_secrets(&self, suites: &[VerifiedSuite], terminal: &Terminal) {
        if !self.secrets.is_empty() {
            let variables: Vec<&str> = self.secrets.keys().map(String::as_str).collect();
            let leaked = leaked(&self.secrets, suites);
            let begins = if leaked.is_empty() {
                "the suites contain no secrets; set"
            } else {
                let line = format!(
                    "warning: the suites contain the value of {}, which responses or requests repeat",
                    leaked.join(", ")
                );
                terminal.insist(Tone::Warning, &line);
                "set"
            };
            let line = format!(
                "{begins} the environment variables {} (or use --inline-secrets)",
                variables.join(", ")
            );
            terminal.say(Tone::Faint, &line);
        }
    }

    /// Says how many faults there are, and how many of them are known.
    fn count_faults(&self, terminal: &Terminal) {
        let faults = || {
            let faults = self.outcome.faults.iter().map(|(fault, _)| fault);
            faults.filter(|fault| self.foreign_rows(fault).is_none())
        };
        let known = faults()
            .filter(|fault| matches!(self.standing(fault), BaselineStatus::Known(_)))
            .count();
        let all = match faults().count() {
            0 => "no faults".to_owned(),
            1 => "1 fault".to_owned(),
            n => format!("{n} faults"),
        };
        match (faults().count(), known) {
            (0, _) => terminal.say(Tone::Good, &all),
            (_, 0) => terminal.insist(Tone::Bad, &all),
            (n, known) if n == known => {
                terminal.say(Tone::Good, &format!("{all}, all in the baseline"));
            }
            (_, known) => terminal.insist(
                Tone::Bad,
                &format!("{all}, {known} of them in the baseline"),
            ),
        }
        // A run that ended early cannot tell that something is gone.
        if self.ended_early().is_none()
            && let Some(baseline) = self.baseline
        {
            for (print, reason) in baseline.not_met(faults()) {
                let line =
                    format!("  no longer found (remove it from the baseline): {print} ({reason})");
                terminal.say(Tone::Faint, &line);
            }
        }
    }

    fn tell(&self, terminal: &Terminal, fault: &Fault, test: Option<usize>) {
        let code = fault.kind.code();
        let expired = match self.standing(fault) {
            BaselineStatus::Known(reason) => {
                let line = format!("known: {code}: {} ({reason})", fault.detail);
                return terminal.say(Tone::Faint, &line);
            }
            BaselineStatus::Expired(day) => format!(" (baseline entry expired on {day})"),
            BaselineStatus::New => String::new(),
        };
        // What tells it from others of its kind, unless the sentence says so already.
        let cause = match &fault.cause {
            cause if fault.detail.contains(cause.as_str()) => String::new(),
            cause => match cause.strip_prefix(&fault.operation).map(str::trim) {
                Some("") => String::new(),
                Some(rest) => format!(" [{rest}]"),
                None => format!(" [{cause}]"),
            },
        };
        terminal.insist(
            Tone::Warning,
            &format!("{code}: {}{cause}{expired}", fault.detail),
        );
        if let Some(others) = other_operations(fault) {
            terminal.say(Tone::Faint, &format!("    {others}"));
        }
        // What the document lacks is folded to a line; the report has the calls.
        if matches!(
            fault.kind,
            FaultKind::UndocumentedStatus | FaultKind::ResponseMismatch
        ) {
            return;
        }
        for said in fault
            .evidence
            .iter()
            .filter_map(|piece| redact::output_in(piece))
        {
            terminal.say(Tone::Faint, "    service output:");
            for line in said.lines() {
                terminal.say(Tone::Faint, &format!("      {line}"));
            }
        }
        if let Some(call) = fault.calls.last().filter(|_| !self.args.brief) {
            terminal.say(Tone::Faint, &format!("    {call}"));
        }
        match test.and_then(|at| self.suite.tests.get(at)) {
            Some(test) => {
                for line in curl(&self.suite, test).lines() {
                    terminal.say(Tone::Faint, &format!("    {line}"));
                }
            }
            None => terminal.say(
                Tone::Faint,
                &format!("    no test: {}", self.why_no_test(fault)),
            ),
        }
    }
}

fn missed(branches: &[feedback::MissedBranch]) -> Vec<MissedBranch> {
    let mut missed: Vec<MissedBranch> = branches
        .iter()
        .map(|branch| MissedBranch {
            line: branch.line,
            what: branch.what.clone(),
            score: branch.score,
        })
        .collect();
    missed.sort_by_key(|branch| branch.line);
    missed
}

/// Says what became of a suite when it was run.
fn report_suite(terminal: &Terminal, suite: &SuiteView) {
    let SuiteView {
        language,
        folder,
        command,
        tests,
        ..
    } = suite;
    match (&suite.not_run, suite.passed) {
        _ if *tests == 0 => terminal.say(Tone::Warning, &format!("{language}: no tests")),
        (Some(why), _) => terminal.say(
            Tone::Warning,
            &format!(
                "{language}: {tests} tests, not run ({why}); run them with: cd {folder} && {command}"
            ),
        ),
        (None, Some(passed)) if passed == *tests => {
            let line = match tests {
                1 => format!("{language}: the test passed"),
                _ => format!("{language}: all {tests} tests passed"),
            };
            terminal.say(Tone::Good, &line);
        }
        (None, passed) => terminal.say(
            Tone::Warning,
            &format!(
                "{language}: {} of {tests} tests passed",
                passed.unwrap_or(0)
            ),
        ),
    }
    if !suite.weakened.is_empty() {
        let n = suite.weakened.len();
        terminal.say(
            Tone::Faint,
            &format!(
                "  only the status is asserted in {}, because other values changed between runs",
                plural(n, "test")
            ),
        );
    }
    for left in &suite.excluded {
        let line = format!("  left out: {} ({})", left.id, left.reason);
        terminal.say(Tone::Warning, &line);
    }
}

/// How bad a kind of fault is.
pub(super) fn severity(kind: FaultKind) -> Severity {
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

/// Statuses that keep operations from succeeding, with the reason and the next step.
const UNREACHED: [(&[u16], &str, &str); 3] = [
    (
        &[401, 403],
        "authentication failed",
        "check --auth or --header, and the rights of the users",
    ),
    (
        &[404, 410],
        "no call found the resource that they need",
        "create it with --db, or check the operations that create it",
    ),
    (
        &[400, 406, 409, 412, 415, 422],
        "their inputs were rejected",
        "see the responses in the report, and add examples to the document",
    ),
];

/// Whether an operation never succeeded, and one of these statuses was its most frequent answer.
fn is_stuck(operation: &OperationView, statuses: &[u16]) -> bool {
    let is_success = |count: &StatusCount| (200..400).contains(&count.status);
    let most = operation.statuses.iter().max_by_key(|count| count.calls);
    !operation.statuses.iter().any(is_success)
        && most.is_some_and(|count| statuses.contains(&count.status))
}

/// The other operations that showed a fault.
fn other_operations(fault: &Fault) -> Option<String> {
    let others: Vec<&str> = fault.others.iter().map(String::as_str).collect();
    (!others.is_empty()).then(|| format!("also: {}", shortened_list(&others)))
}

/// The variables whose values are in the files of a suite all the same.
fn leaked<'a>(secrets: &'a BTreeMap<String, String>, suites: &[VerifiedSuite]) -> Vec<&'a str> {
    /// Shorter values are found in every other word.
    const SHORTEST: usize = 6;
    let files = || suites.iter().flat_map(|suite| &suite.written.files);
    let is_leaked =
        |value: &str| value.len() >= SHORTEST && files().any(|file| file.text.contains(value));
    let leaked = secrets.iter().filter(|(_, value)| is_leaked(value));
    leaked.map(|(variable, _)| variable.as_str()).collect()
}

/// The first few of many names.
fn shortened_list(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
