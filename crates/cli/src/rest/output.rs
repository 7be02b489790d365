//! Results of a run: files and the summary.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use isobath_emit::findings::{self, OperationView, StatusCount, SuiteView};
use isobath_emit::http::{HttpSuite, curl};
use isobath_rest::fault::{Fault, FaultKind};
use isobath_rest::feedback;
use isobath_rest::redact;
use isobath_rest::report::{
    BaselineStatus, FinishedRun, InstrumentedCode, other_operations, shortened_list,
};
use isobath_rest::verify::VerifiedSuite;
use isobath_rewrite::build::InstrumentedBuild;

use super::args::RestArgs;
use crate::output;
use crate::terminal::{Terminal, Tone, plural};

/// Longer files are not shown in the report.
const SHOWN_SOURCE: usize = 400_000;

/// What a build says about the instrumented code.
pub(super) fn instrumented_code(built: &InstrumentedBuild) -> InstrumentedCode {
    let counts = built.counts();
    let mut code = InstrumentedCode {
        instrumented: counts.instrumented as u64,
        not_instrumentable: (counts.in_macros + counts.in_constants) as u64,
        ..InstrumentedCode::default()
    };
    for (name, outcome) in &built.crates {
        let dropped = outcome.dropped.iter();
        code.dropped
            .extend(dropped.map(|site| format!("{}:{} {}", site.file, site.line, site.shape)));
        let plain = outcome.plain.iter();
        code.not_instrumented
            .extend(plain.map(|reason| format!("{name}: {reason}")));
        let files = outcome.plain_files.iter();
        code.not_instrumented
            .extend(files.map(|(file, reason)| format!("{file}: {reason}")));
    }
    code
}

/// The text of a file of the service, whose name is relative to the root of its project.
pub(super) fn source(args: &RestArgs, name: &str) -> Option<String> {
    let folder = args.white.rust.as_ref()?.canonicalize().ok()?;
    let path = folder
        .ancestors()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())?;
    let text = std::fs::read_to_string(path).ok()?;
    (text.len() <= SHOWN_SOURCE).then_some(text)
}

/// Writes suite and report; returns the written files. `verified` is the suite without the tests that did not pass.
pub(super) fn write(
    run: &FinishedRun<'_>,
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
    let report = run.report(suites);
    for suite in suites {
        let language = &suite.view.language;
        for file in &suite.written.files {
            put(folder.join(language).join(&file.path), &file.text)?;
        }
    }
    if !run.outcome.statements.is_empty() {
        put(folder.join("queries.jsonl"), &run.queries())?;
    }
    put(
        folder.join("suite.json"),
        &run.to_replay(verified).to_json(),
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

/// The end of a run, as the terminal shows it.
pub(super) struct Summary<'a> {
    pub(super) args: &'a RestArgs,
    pub(super) run: &'a FinishedRun<'a>,
}

impl Summary<'_> {
    /// Prints external services that were called, and mocks that were not.
    fn report_external(&self, terminal: &Terminal) {
        let seen = &self.run.outcome.outgoing;
        let endpoints = self
            .run
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
        let Some(data) = &self.run.outcome.database else {
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

    /// Says what was not reached, and why.
    fn report_reach(&self, terminal: &Terminal) {
        self.report_troublesome(terminal);
        let operations = self.run.operations();
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
        if let Some(status) = self.run.outcome.uniform_answer {
            let next_step = match status {
                401 | 403 | 407 => "pass users who may call the service by --auth or --header",
                300..=399 => "the service redirects; pass its real address by --url",
                429 => "the service limits the rate of calls; raise its limit for the run",
                502..=504 => "wait until the service and what it depends on are up",
                _ => "pass the base URL by --url, with the path before the paths of the document",
            };
            let line = format!(
                "every operation answered {status} at the base URL {}: stopped after the first pass; {next_step}",
                self.run.service.base
            );
            terminal.insist(Tone::Warning, &line);
            return;
        }
        if self.run.is_hardly_tested() {
            let line = format!(
                "the service at {} was hardly tested: check the base URL (--url) and the users (--auth, --header)",
                self.run.service.base
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
        let name = |at: usize| self.run.service.api.operations[at].name();
        for (operation, status) in &self.run.outcome.disruptive {
            terminal.say(
                Tone::Warning,
                &format!(
                    "after {} every operation answered {status}; it was not called again",
                    name(*operation)
                ),
            );
        }
        for operation in &self.run.outcome.login_changes {
            terminal.say(
                Tone::Warning,
                &format!(
                    "{} changes what a user logs in with, so no test calls it; add --reset or --db, or let the users be created (createUsers)",
                    name(*operation)
                ),
            );
        }
        for slow in &self.run.outcome.slow {
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
    pub(super) fn print(&self, terminal: &Terminal, files: &[PathBuf], suites: &[VerifiedSuite]) {
        let outcome = self.run.outcome;
        if self.args.brief && outcome.lost.is_none() && !self.run.is_interrupted() {
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
                self.run.facts.seconds,
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
        if self.run.is_interrupted() {
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
            .run
            .outcome
            .faults
            .iter()
            .partition(|(fault, _)| self.run.foreign_rows(fault).is_some());
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
        if let Some(code) = &self.run.outcome.code {
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
        let outcome = self.run.outcome;
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
        if !outcome.tests.is_empty() && !self.run.service.is_reset() {
            let line = "not asserted, because nothing resets the service: lists and counts that other tests change";
            terminal.say(Tone::Faint, line);
        }
    }

    /// Says which variables the suites need, and whether a secret is in them all the same.
    fn report_secrets(&self, suites: &[VerifiedSuite], terminal: &Terminal) {
        if !self.run.secrets.is_empty() {
            let variables: Vec<&str> = self.run.secrets.keys().map(String::as_str).collect();
            let leaked = self.run.leaked_secrets(suites);
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
            let faults = self.run.outcome.faults.iter().map(|(fault, _)| fault);
            faults.filter(|fault| self.run.foreign_rows(fault).is_none())
        };
        let known = faults()
            .filter(|fault| {
                matches!(
                    self.run.facts.accepted.status(fault),
                    BaselineStatus::Known(_)
                )
            })
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
        if self.run.ended_early().is_none() {
            for (print, reason) in self.run.facts.accepted.unmet(faults()) {
                let line =
                    format!("  no longer found (remove it from the baseline): {print} ({reason})");
                terminal.say(Tone::Faint, &line);
            }
        }
    }

    fn tell(&self, terminal: &Terminal, fault: &Fault, test: Option<usize>) {
        let code = fault.kind.code();
        let expired = match self.run.facts.accepted.status(fault) {
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
        match test.and_then(|at| self.run.suite.tests.get(at)) {
            Some(test) => {
                for line in curl(&self.run.suite, test).lines() {
                    terminal.say(Tone::Faint, &format!("    {line}"));
                }
            }
            None => terminal.say(
                Tone::Faint,
                &format!("    no test: {}", self.run.why_no_test(fault)),
            ),
        }
    }
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
