//! Verifies the generated suites by running them with their own test runners.
//!
//! Every run starts on a fresh service where it was started here, and the order of the tests changes from run to run.
//! A failing test is reduced to assertions on the status, because other parts of a response may not
//! be stable. A test that still fails, or that fails when the budget is used up, is removed and listed in the report.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use isobath_emit::findings::{ExcludedTest, SuiteView};
use isobath_emit::http::writer::{self, RunResults};
use isobath_emit::http::{ExpectedOutcome, HttpSuite, WrittenSuite};
use isobath_exec::files::{self, XmlReports};
use isobath_exec::tool::{Tool, ToolOutput};

/// How long the tests of one language may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long they may take where all that they need is first compiled.
const PATIENCE_WITH_CARGO: Duration = Duration::from_secs(1200);

/// Runs that all tests must pass one after the other: in their order, and in the reverse order.
const PASSES: usize = 2;
/// Runs of a suite at most.
const MAX_ROUNDS: usize = 6;

/// A verified suite in one language.
pub struct VerifiedSuite {
    /// Its section of the report.
    pub view: SuiteView,
    /// Its files, as they are in the folder now.
    pub written: WrittenSuite,
    /// Result and message of each test by id; empty if the suite was not run.
    pub results: BTreeMap<String, (bool, String)>,
}

/// Writes and runs suites, one language after the other.
pub struct SuiteVerifier<'a> {
    /// The folder of the report.
    pub folder: &'a Path,
    /// Removes secrets from what is written.
    pub redact: &'a dyn Fn(&str) -> String,
    /// Where the service is.
    pub base: &'a str,
    /// Environment variables of the suites.
    pub secrets: &'a BTreeMap<String, String>,
    /// Environment variables of their test runners.
    pub variables: &'a [(String, String)],
    /// Set when the run is interrupted.
    pub interrupt: &'a Arc<AtomicBool>,
    /// Starts the service anew, where it was started here, so that a suite is proven on a fresh one.
    pub restart: &'a dyn Fn() -> Result<(), String>,
    /// The time since the run began.
    pub clock: &'a dyn Fn() -> Duration,
    /// Whether the budget allows another run of a suite that takes so long.
    pub has_time: &'a dyn Fn(Duration) -> bool,
    /// Why nothing is run at all, if so.
    pub not_run: Option<String>,
    /// The first language; the others need not find out again what depends on the order.
    pub first_language: &'a str,
}

impl SuiteVerifier<'_> {
    /// Writes the suite in a language and runs it. `suite` loses what does not pass: the next language need not find out again.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn check(&self, language: &str, suite: &mut HttpSuite) -> io::Result<VerifiedSuite> {
        let mut written = self.write(language, suite, None)?;
        let (mut is_reversed, wanted_passes) =
            (false, if self.is_first(language) { PASSES } else { 1 });
        let mut view = SuiteView {
            language: language.to_owned(),
            folder: language.to_owned(),
            command: written.run.command.join(" "),
            ..SuiteView::default()
        };
        let mut results = BTreeMap::new();
        let mut passes = 0;
        for round in 0..MAX_ROUNDS {
            let started = (self.clock)();
            match self.run(language, &written) {
                Err(why) => {
                    // A later run that does not come about leaves what the earlier ones showed.
                    view.not_run = Some(why);
                    break;
                }
                Ok(seen) => results = seen,
            }
            let failed = failed_tests(&written, &mut results);
            let has_time = (self.has_time)((self.clock)().saturating_sub(started));
            if failed.is_empty() {
                passes += 1;
                if passes == wanted_passes || suite.tests.is_empty() || !has_time {
                    break;
                }
            } else {
                passes = 0;
            }
            let is_late = round + 2 >= MAX_ROUNDS || !has_time;
            let (known, new): (Vec<String>, Vec<String>) = failed
                .into_iter()
                .partition(|id| is_late || view.weakened.contains(id));
            new.iter().for_each(|id| loosen(suite, id));
            view.weakened.extend(new);
            suite.tests.retain(|test| !known.contains(&test.id));
            view.weakened.retain(|id| !known.contains(id));
            view.excluded.extend(known.iter().map(|id| ExcludedTest {
                id: id.clone(),
                reason: first_line(results.get(id).map_or("", |(_, message)| message)),
            }));
            results.retain(|id, _| !known.contains(id));
            if !has_time {
                // All that is left has passed once.
                written = self.write(language, suite, Some(&written))?;
                break;
            }
            // Tests that rely on each other show it in another order.
            suite.tests.reverse();
            is_reversed = !is_reversed;
            written = self.write(language, suite, Some(&written))?;
        }
        if is_reversed {
            suite.tests.reverse();
            written = self.write(language, suite, Some(&written))?;
        }
        view.excluded
            .extend(written.excluded.iter().map(|left| ExcludedTest {
                id: left.id.clone(),
                reason: left.reason.clone(),
            }));
        view.tests = written.tests.len() as u64;
        if view.not_run.is_none() {
            view.passed = Some(results.values().filter(|(passed, _)| *passed).count() as u64);
        }
        Ok(VerifiedSuite {
            view,
            written,
            results,
        })
    }

    fn is_first(&self, language: &str) -> bool {
        language == self.first_language
    }

    /// Writes the files, and removes those of `before` that are not among them.
    fn write(
        &self,
        language: &str,
        suite: &HttpSuite,
        before: Option<&WrittenSuite>,
    ) -> io::Result<WrittenSuite> {
        let written = writer::by_name(language)
            .and_then(|writer| writer.write(suite))
            .map_err(io::Error::other)?;
        let folder = self.folder.join(language);
        for old in before.iter().flat_map(|before| &before.files) {
            if !written.files.iter().any(|file| file.path == old.path) {
                files::remove(&folder.join(&old.path))?;
            }
        }
        for file in &written.files {
            let text = (self.redact)(&file.text);
            files::write(&folder.join(&file.path), &text).map_err(io::Error::other)?;
        }
        Ok(written)
    }

    /// Runs the tests; returns result and message by id.
    fn run(
        &self,
        language: &str,
        written: &WrittenSuite,
    ) -> Result<BTreeMap<String, (bool, String)>, String> {
        if let Some(why) = &self.not_run {
            return Err(why.clone());
        }
        if written.tests.is_empty() {
            return Ok(BTreeMap::new());
        }
        (self.restart)().map_err(|why| format!("the service did not restart: {why}"))?;
        let folder = self.folder.join(language);
        let reports = match &written.run.results {
            RunResults::Libtest => None,
            RunResults::JunitXml {
                folder: inner,
                prefix,
            } => Some(XmlReports {
                folder: folder.join(inner),
                prefix: prefix.clone(),
            }),
        };
        // Results of an earlier run must not pass for those of this one.
        reports.as_ref().map_or(Ok(()), XmlReports::remove)?;
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut variables = vec![
            set("ISOBATH_BASE_URL", self.base),
            set("PYTHONDONTWRITEBYTECODE", "1"),
        ];
        let secrets = self.secrets.iter();
        variables.extend(secrets.map(|(name, value)| set(name, value)));
        variables.extend_from_slice(self.variables);
        let tool = Tool {
            command: written.run.command.clone(),
            directory: folder,
            variables,
            timeout: match language {
                "rust" => PATIENCE_WITH_CARGO,
                _ => PATIENCE,
            },
            interrupt: Some(Arc::clone(self.interrupt)),
        };
        let ran = tool.run().map_err(|error| error.to_string())?;
        let texts = match &reports {
            None => vec![ran.stdout.clone()],
            Some(reports) => reports.read(),
        };
        let mut results = BTreeMap::new();
        for text in &texts {
            let read = written.run.results.read(text);
            for result in read.map_err(|error| error.to_string())? {
                let test = written.tests.iter().find(|test| test.name == result.name);
                if let Some(test) = test {
                    results.insert(test.id.clone(), (result.passed, result.message));
                }
            }
        }
        if matches!(&written.run.results, RunResults::JunitXml { folder, .. } if folder.is_empty())
        {
            // They are in the report; next to the tests they would only be in the way.
            reports.as_ref().map_or(Ok(()), XmlReports::remove)?;
        }
        if results.is_empty() {
            return Err(format!(
                "`{}` did not run any test: {}",
                written.run.command.join(" "),
                last_words(&ran)
            ));
        }
        Ok(results)
    }
}

/// Leaves of a test only its calls and their statuses.
fn loosen(suite: &mut HttpSuite, id: &str) {
    let tests = suite.tests.iter_mut().filter(|test| test.id == id);
    for step in tests.flat_map(|test| &mut test.steps) {
        if let ExpectedOutcome::Response(answer) = &mut step.expect {
            answer.headers.clear();
            answer.body.clear();
        }
    }
}

fn first_line(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty());
    let line: String = line.unwrap_or("no message").chars().take(300).collect();
    format!("failed during verification: {line}")
}

/// The ids of the tests that failed. A test that the runner says nothing about did not pass.
fn failed_tests(
    written: &WrittenSuite,
    results: &mut BTreeMap<String, (bool, String)>,
) -> Vec<String> {
    for test in &written.tests {
        let unheard = || (false, "the test runner did not report it".to_owned());
        results.entry(test.id.clone()).or_insert_with(unheard);
    }
    let failed = results.iter().filter(|(_, (passed, _))| !passed);
    failed.map(|(id, _)| id.clone()).collect()
}

/// The last output of a tool, in one line.
fn last_words(ran: &ToolOutput) -> String {
    let said = [&ran.stderr, &ran.stdout];
    let said = said.iter().find(|text| !text.trim().is_empty());
    let lines: Vec<&str> = said
        .map(|text| text.lines().map(str::trim).filter(|line| !line.is_empty()))
        .map(Iterator::collect)
        .unwrap_or_default();
    let first = lines.len().saturating_sub(2);
    let end = lines.get(first..).unwrap_or_default().join(" / ");
    end.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use isobath_emit::http::{
        BodyCheck, ExpectedResponse, HttpStep, HttpTest, JsonPath, JsonType, Request,
    };

    use super::*;

    fn suite() -> HttpSuite {
        let mut suite = HttpSuite::new("things", "http://127.0.0.1:1");
        let answer = ExpectedResponse {
            status: 200,
            body: vec![BodyCheck::Type {
                at: JsonPath::default(),
                is: JsonType::Object,
            }],
            ..ExpectedResponse::default()
        };
        suite.tests = ["one", "two"]
            .map(|id| HttpTest {
                id: id.into(),
                name: id.into(),
                group: "GET /".into(),
                steps: vec![HttpStep::new(Request::new("GET", "/"), answer.clone())],
                ..HttpTest::default()
            })
            .into();
        suite
    }

    #[test]
    fn a_loosened_test_keeps_its_status() {
        let mut suite = suite();
        loosen(&mut suite, "two");
        let facts = |test: &HttpTest| match &test.steps[0].expect {
            ExpectedOutcome::Response(answer) => (answer.status, answer.body.len()),
            other => panic!("{other:?}"),
        };
        assert_eq!(facts(&suite.tests[0]), (200, 1));
        assert_eq!(facts(&suite.tests[1]), (200, 0));
    }

    #[test]
    fn a_suite_that_is_not_run_is_written_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let checker = SuiteVerifier {
            restart: &|| Ok(()),
            has_time: &|_| true,
            folder: folder.path(),
            base: "http://127.0.0.1:1",
            secrets: &BTreeMap::new(),
            redact: &str::to_owned,
            variables: &[],
            interrupt: &Arc::default(),
            clock: &|| Duration::ZERO,
            not_run: Some("the service is gone".into()),
            first_language: "pytest",
        };
        let mut suite = suite();
        let checked = checker.check("pytest", &mut suite).unwrap();
        assert_eq!(checked.view.not_run.as_deref(), Some("the service is gone"));
        assert_eq!((checked.view.tests, checked.view.passed), (2, None));
        assert!(folder.path().join("pytest/test_things.py").exists());
    }
}
