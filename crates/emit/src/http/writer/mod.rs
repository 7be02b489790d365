//! A writer of HTTP suites per test language, chosen by name from a closed registry.

use super::check::SuiteError;
use super::plan::PlannedTest;
use super::suite::{HttpSuite, HttpTest};
use crate::writer::File;

mod junit;
mod node;
mod pytest;
mod run;
mod rust;
mod value;

pub use run::{ResultsError, Run, RunResults, TestResult};

/// A suite as files of one test language, and what it takes to run them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSuite {
    /// The files. The first one holds the tests, the second one those that show faults, if there
    /// are any; the rest is what it takes to run them.
    pub files: Vec<File>,
    /// The tests, in the order in which they stand in the files.
    pub tests: Vec<WrittenTest>,
    /// The tests that this language cannot express, and why.
    pub excluded: Vec<UnsupportedTest>,
    /// How to run them, in the folder of the files.
    pub run: Run,
}

/// A test that a language cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedTest {
    /// Its id in the suite.
    pub id: String,
    /// What stands in the way.
    pub reason: String,
}

/// Where a test of the suite is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTest {
    /// Its id in the suite.
    pub id: String,
    /// Its name as results tell it. No other test of the suite has it.
    pub name: String,
    /// The file.
    pub path: String,
    /// The first line, counted from one.
    pub start_line: usize,
    /// The last line.
    pub end_line: usize,
}

/// Prints an HTTP suite in one test language.
pub trait HttpWriter: Sync {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// Prints `suite`. The same suite gives the same files, byte for byte.
    ///
    /// # Errors
    ///
    /// When the suite is not sound, see [`HttpSuite::check`].
    fn write(&self, suite: &HttpSuite) -> Result<WrittenSuite, SuiteError>;
}

/// All writers, in the order in which they are offered.
pub const ALL: &[&dyn HttpWriter] = &[&rust::Rust, &pytest::Pytest, &junit::Junit, &node::Node];

/// The names of all writers.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|writer| writer.name()).collect()
}

/// The writer called `name`.
///
/// # Errors
///
/// When there is none; the message lists those that exist.
pub fn by_name(name: &str) -> Result<&'static dyn HttpWriter, SuiteError> {
    let found = ALL.iter().copied().find(|writer| writer.name() == name);
    found.ok_or_else(|| SuiteError::UnknownWriter {
        name: name.into(),
        known: names().join(", "),
    })
}

/// The suite without the tests for which `refused` has a reason.
fn without(
    suite: &HttpSuite,
    refused: impl Fn(&HttpTest) -> Option<UnsupportedTest>,
) -> (HttpSuite, Vec<UnsupportedTest>) {
    let excluded: Vec<UnsupportedTest> = suite.tests.iter().filter_map(&refused).collect();
    let mut suite = suite.clone();
    suite.tests.retain(|test| refused(test).is_none());
    (suite, excluded)
}

/// Counts lines while a file grows.
#[derive(Default)]
struct Lines {
    seen: usize,
    line: usize,
}

impl Lines {
    /// The number of the line that `out` is at.
    fn at(&mut self, out: &str) -> usize {
        self.line += out[self.seen..].matches('\n').count();
        self.seen = out.len();
        self.line + 1
    }

    /// Where a test stands that began at a line and ends before the one that `out` is at.
    fn written(
        &mut self,
        out: &str,
        test: &PlannedTest<'_>,
        name: String,
        path: &str,
        start_line: usize,
    ) -> WrittenTest {
        WrittenTest {
            id: test.test.id.clone(),
            name,
            path: path.into(),
            start_line,
            end_line: self.at(out) - 1,
        }
    }
}

/// A run of a program on files, which leaves its results beside them.
fn run_on(program: &[&str], files: &[File]) -> Run {
    let program = program.iter().map(|word| (*word).to_owned());
    let files = files.iter().map(|file| file.path.clone());
    Run {
        command: program.chain(files).collect(),
        results: RunResults::JunitXml {
            folder: String::new(),
            prefix: "results".into(),
        },
    }
}
