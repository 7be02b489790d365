//! A writer of HTTP suites per test language, chosen by name from a closed registry.

use super::check::SuiteError;
use super::suite::HttpSuite;
use crate::writer::File;

mod chain;
mod go;
mod javascript;
mod jvm;
pub(crate) mod language;
mod pytest;
mod run;
mod runtime;
mod rust;
pub(crate) mod value;

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
pub const ALL: &[&dyn HttpWriter] = &[
    &rust::Rust,
    &pytest::Pytest,
    &jvm::Jvm::Java,
    &javascript::JavaScript::Node,
    &javascript::JavaScript::Vitest,
    &jvm::Jvm::Kotlin,
    &go::Go,
];

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

/// A run of a program on files, which leaves its results beside them.
fn run_on(program: &str, files: &[File]) -> Run {
    let program = program.split(' ').map(str::to_owned);
    let files = files.iter().map(|file| file.path.clone());
    Run {
        command: program.chain(files).collect(),
        results: RunResults::JunitXml {
            folder: String::new(),
            prefix: "results".into(),
        },
    }
}
