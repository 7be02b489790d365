//! How a written suite is run, and how its results are read.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// How to run a written suite, in the folder of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where the results are.
    pub results: RunResults,
}

/// Where the results of a run are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunResults {
    /// In JUnit XML: all files of a folder whose names begin with `prefix` and end in `.xml`.
    JunitXml {
        /// The folder, relative to that of the suite; empty for the same.
        folder: String,
        /// How the names begin.
        prefix: String,
    },
    /// On standard output, as Rust's test harness or Go's prints it.
    Libtest,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// Its name, as in [`WrittenTest::name`](super::WrittenTest::name).
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// What it said when it did not, as far as the results tell.
    pub message: String,
}

/// Why results cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("failed to read test results at byte {at}: {cause}")]
pub struct ResultsError {
    at: u64,
    #[source]
    cause: quick_xml::Error,
}

impl RunResults {
    /// Reads the results from the text of one file, or of standard output.
    ///
    /// # Errors
    ///
    /// When the XML is broken.
    pub fn read(&self, text: &str) -> Result<Vec<TestResult>, ResultsError> {
        match self {
            RunResults::JunitXml { .. } => junit(text),
            RunResults::Libtest => Ok(libtest(text)),
        }
    }
}

/// Reads JUnit XML leniently: test cases at any depth, whatever else is there.
fn junit(text: &str) -> Result<Vec<TestResult>, ResultsError> {
    let mut reader = Reader::from_str(text);
    let mut results: Vec<TestResult> = Vec::new();
    let mut in_failure = false;
    let mut is_vitest = false;
    loop {
        let event = reader.read_event().map_err(|cause| ResultsError {
            at: reader.error_position(),
            cause,
        })?;
        match event {
            Event::Start(tag) if tag.name().as_ref() == b"testsuites" => {
                is_vitest = attribute(&tag, "name") == "vitest tests";
            }
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == b"testcase" => {
                // Node escapes quotes twice.
                let name = attribute(&tag, "name").replace("&quot;", "\"");
                // Vitest says `group > name`.
                let name = match name.split_once(" > ") {
                    Some((_, name)) if is_vitest => name.to_owned(),
                    _ => name,
                };
                // Surefire may say `name()` or `name(Type)`.
                let name = match name.split_once('(') {
                    Some((method, rest)) if rest.ends_with(')') && !method.contains(' ') => {
                        method.to_owned()
                    }
                    _ => name,
                };
                results.push(TestResult {
                    name,
                    passed: true,
                    message: String::new(),
                });
            }
            Event::Start(tag) | Event::Empty(tag)
                if matches!(tag.name().as_ref(), b"failure" | b"error") =>
            {
                in_failure = true;
                if let Some(last) = results.last_mut() {
                    last.passed = false;
                    last.message = attribute(&tag, "message");
                }
            }
            Event::End(tag) if matches!(tag.name().as_ref(), b"failure" | b"error") => {
                in_failure = false;
            }
            Event::Text(part) if in_failure => {
                if let Some(last) = results.last_mut()
                    && last.message.is_empty()
                    && let Ok(text) = part.decode()
                {
                    last.message = text.trim().to_owned();
                }
            }
            Event::Eof => return Ok(results),
            _ => {}
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let found = tag.try_get_attribute(name).ok().flatten();
    let value = found.and_then(|attribute| {
        let raw = String::from_utf8(attribute.value.into_owned()).ok()?;
        quick_xml::escape::unescape(&raw)
            .map(|text| text.into_owned())
            .ok()
    });
    value.unwrap_or_default()
}

/// Reads lines like `test boats::a_boat_is_created ... ok`; the name is the last segment.
fn libtest(text: &str) -> Vec<TestResult> {
    let mut results = go_test(text);
    for line in text.lines() {
        let Some((name, verdict)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.rsplit_once(" ... "))
        else {
            continue;
        };
        let verdict = verdict.split_whitespace().next().unwrap_or_default();
        let passed = match verdict {
            "ok" => true,
            "FAILED" => false,
            _ => continue,
        };
        let name = name.rsplit("::").next().unwrap_or(name).to_owned();
        let message = if passed {
            String::new()
        } else {
            panic_message(text, &name)
        };
        results.push(TestResult {
            name,
            passed,
            message,
        });
    }
    results
}

/// Reads lines like `--- FAIL: TestBoatIsCreated (0.01s)`, and what was said since `=== RUN`.
fn go_test(text: &str) -> Vec<TestResult> {
    let mut results = Vec::new();
    let mut said: Vec<&str> = Vec::new();
    for line in text.lines() {
        let verdicts = [("--- PASS: ", true), ("--- FAIL: ", false)];
        let verdict = verdicts.iter().find_map(|(verdict, passed)| {
            let name = line.strip_prefix(verdict)?.split(' ').next()?;
            Some((name.to_owned(), *passed))
        });
        if let Some((name, passed)) = verdict {
            let message = if passed {
                String::new()
            } else {
                said.join("\n")
            };
            results.push(TestResult {
                name,
                passed,
                message,
            });
        } else if line.starts_with("=== RUN") {
            said.clear();
        } else {
            said.push(line.trim());
        }
    }
    results
}

/// What stands below `---- name stdout ----`.
fn panic_message(text: &str, name: &str) -> String {
    let mut lines = text.lines();
    let head = format!("{name} stdout ----");
    if !lines.any(|line| line.starts_with("---- ") && line.ends_with(&head)) {
        return String::new();
    }
    let lines: Vec<&str> = lines
        .take_while(|line| !line.starts_with("---- ") && *line != "failures:")
        .filter(|line| !line.starts_with("note: run with"))
        .collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(results: &[TestResult]) -> String {
        let lines = results.iter().map(|result| {
            let verdict = if result.passed { "ok" } else { "failed" };
            format!(
                "{}: {verdict} {}",
                result.name,
                result.message.replace('\n', " / ")
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn junit_xml_is_read_at_any_depth() {
        let results = RunResults::JunitXml {
            folder: String::new(),
            prefix: "x".into(),
        };
        let text = r#"<?xml version="1.0"?>
            <testsuites><testcase name="a &amp; &amp;quot;b&amp;quot;" classname="test"/>
              <testsuite name="s"><testsuite name="t">
                <testcase name="c()"><failure message="1 != 2" type="x">trace</failure></testcase>
                <testcase name="d"><error type="x">
                  broke
                </error><system-out>noise</system-out></testcase>
              </testsuite></testsuite></testsuites>"#;
        insta::assert_snapshot!(shown(&results.read(text).unwrap()), @r#"
        a & "b": ok 
        c: failed 1 != 2
        d: failed broke
        "#);
        let error = results.read("<a></b>").unwrap_err().to_string();
        assert!(
            error.starts_with("failed to read test results at byte "),
            "{error}"
        );
    }

    #[test]
    fn the_output_of_rusts_harness_is_read() {
        let text = "running 2 tests\ntest boats::good ... ok\ntest boats::bad ... FAILED\n\n\
                    failures:\n\n---- boats::bad stdout ----\n\nthread 'x' panicked at y:1:1:\n\
                    assertion failed\nnote: run with `RUST_BACKTRACE=1`\n\n\nfailures:\n    boats::bad\n\n\
                    test result: FAILED. 1 passed; 1 failed\n";
        insta::assert_snapshot!(shown(&RunResults::Libtest.read(text).unwrap()), @r"
        good: ok 
        bad: failed thread 'x' panicked at y:1:1: / assertion failed
        ");
    }

    #[test]
    fn the_output_of_gos_harness_is_read() {
        let text = "=== RUN   TestGood\n--- PASS: TestGood (0.00s)\n=== RUN   TestBad\n    \
                    x_test.go:7: expected 1, got 2\n--- FAIL: TestBad (0.01s)\nFAIL\nexit status 1\n";
        insta::assert_snapshot!(shown(&RunResults::Libtest.read(text).unwrap()), @r"
        TestGood: ok 
        TestBad: failed x_test.go:7: expected 1, got 2
        ");
    }

    #[test]
    fn vitest_says_the_group_before_the_name() {
        let text = r#"<testsuites name="vitest tests"><testsuite name="a.test.ts">
            <testcase name="GET /a &gt; x > 1"/></testsuite></testsuites>"#;
        let results = RunResults::JunitXml {
            folder: String::new(),
            prefix: "x".into(),
        };
        assert_eq!(results.read(text).unwrap()[0].name, "x > 1");
    }
}
