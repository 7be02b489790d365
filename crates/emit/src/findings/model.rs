//! What a REST run found out. Everything a report shows is in here; `report.json` is this, and
//! `docs/report.schema.json` describes it.

use serde::{Deserialize, Serialize};

use super::database::DatabaseView;
use super::outbound::OutboundView;
use crate::suite::ReadError;

/// The version of the schema of `report.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// The report of one REST run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RestReport {
    /// The version of this format, [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The service's title.
    pub title: String,
    /// The OpenAPI document, as it was given.
    pub source: String,
    /// The base URL.
    pub url: String,
    /// The version of Isobath.
    pub version: String,
    /// The command line that reproduces the run.
    pub command: Option<String>,
    /// When the run began, in RFC 3339; the caller's clock.
    pub started: Option<String>,
    /// The algorithm.
    pub algorithm: String,
    /// The seed.
    pub seed: u64,
    /// The budget, e.g. `60s` or `20000calls`.
    pub budget: String,
    /// HTTP calls made.
    pub calls: u64,
    /// How long it took.
    pub seconds: f64,
    /// Targets known.
    pub targets: u64,
    /// Targets covered.
    pub covered: u64,
    /// Tests in the suite.
    pub tests: u64,
    /// HTTP calls in the suite.
    pub suite_calls: u64,
    /// Why the run ended before its budget, if it did.
    pub ended_early: Option<String>,
    /// What of the service's code was covered, in a white-box run.
    pub code: Option<CodeView>,
    /// The outcome of the rows of the test database, where there is one.
    pub database: Option<DatabaseView>,
    /// What the service asked of external services, where that was seen.
    pub outbound: Vec<OutboundView>,
    /// The operations of the document.
    pub operations: Vec<OperationView>,
    /// The faults, one per root cause.
    pub faults: Vec<FaultView>,
    /// What of the document we do not support, once per kind.
    pub limitations: Vec<RestLimitation>,
    /// Targets covered over time, in order of calls.
    pub progress: Vec<Progress>,
    /// Targets that were seen but not covered, the nearest first.
    pub uncovered: Vec<UncoveredTarget>,
    /// The tests of the suite.
    pub test_cases: Vec<TestCase>,
    /// The suites as they were written and run, one for each language.
    pub suites: Vec<SuiteView>,
}

/// What of the code of a service was covered, and what of it could be watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeView {
    /// Lines with a statement on them.
    pub lines: Share,
    /// Outcomes of conditions, arms, and operations that may fail.
    pub branches: Share,
    /// Places that may panic; the covered ones did.
    pub faults: Share,
    /// The same by file, in order of their names.
    pub files: Vec<FileView>,
    /// Branch sites that are watched.
    pub instrumented: u64,
    /// Branch sites that did not compile when rewritten, and were left as they are: file, line and kind.
    pub dropped: Vec<String>,
    /// Branch sites in macros and constants, which are not watched.
    pub not_instrumentable: u64,
    /// Files and crates that were left as they are, with the reason.
    pub not_instrumented: Vec<String>,
    /// Events inside the service that its driver had to leave out: there were too many between two calls.
    pub lost_events: u64,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Share {
    /// How many are covered.
    pub covered: u64,
    /// The number of entries.
    pub total: u64,
}

/// What of a source file was covered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileView {
    /// The file, relative to the root of the project.
    pub file: String,
    /// Its lines.
    pub lines: Share,
    /// Its branches.
    pub branches: Share,
    /// The lines that were covered.
    pub covered_lines: Vec<u32>,
    /// The lines that were not.
    pub missed_lines: Vec<u32>,
    /// The branches that were not, in order of their lines.
    pub missed_branches: Vec<MissedBranch>,
    /// Its text, for the page; not in `report.json`.
    #[serde(skip)]
    pub source: Option<String>,
}

/// An outcome that no call brought about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissedBranch {
    /// The line.
    pub line: u32,
    /// What did not happen.
    pub what: String,
    /// How near the nearest call came, in 0..1; 0 when the place was never come to.
    pub score: f64,
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.covered, self.total)
    }
}

/// One operation of the document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationView {
    /// `GET /boats/{boatId}`, as everywhere in the report.
    pub id: String,
    /// The method.
    pub method: String,
    /// The path template.
    pub path: String,
    /// The document's own id of it.
    pub operation_id: Option<String>,
    /// Calls made.
    pub calls: u64,
    /// The statuses seen, in order, each with its number of calls. A dropped connection and a
    /// time-out are no statuses; see `no_response`.
    pub statuses: Vec<StatusCount>,
    /// Calls without any answer.
    pub no_response: u64,
    /// The statuses the document tells of, e.g. `200`, `4XX`, `default`.
    pub documented: Vec<String>,
}

/// How often a status was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusCount {
    /// The status.
    pub status: u16,
    /// How often.
    pub calls: u64,
    /// Whether the document tells of it.
    pub documented: bool,
    /// A test of the suite that shows it.
    pub test: Option<String>,
}

/// One fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FaultView {
    /// The stable code of its kind, e.g. `server-error`.
    pub code: String,
    /// What it is called in baselines; the same in every run that meets the same cause.
    pub fingerprint: String,
    /// Why it does not fail the run, when the baseline has it.
    pub known: Option<String>,
    /// The code of the Web Fuzzing Commons, where there is one.
    pub wfc_code: Option<u32>,
    /// The identity of the root cause; the same in the suite.
    pub root_cause: String,
    /// The operation, as [`OperationView::id`].
    pub operation: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// More of it: what was expected, what came.
    pub details: Vec<String>,
    /// How bad it is.
    pub severity: Severity,
    /// How often it was met during the run.
    pub seen: u64,
    /// The id of the test of the suite that shows it.
    pub test: Option<String>,
    /// Why no test shows it, where none does.
    pub no_test: Option<String>,
    /// A shell script of cURL calls that shows it.
    pub curl: String,
    /// SQL statements that bring the rows it needs.
    pub rows: Vec<String>,
    /// Where the document speaks of the operation: file and line, as far as known.
    pub location: Option<SourceLocation>,
}

/// A place in the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceLocation {
    /// The file or URL.
    pub file: String,
    /// The line, counted from one; 0 when not known.
    pub line: u32,
    /// The JSON Pointer.
    pub pointer: String,
}

/// How bad a fault is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Crashes and broken access control.
    #[default]
    Error,
    /// The service does something else than its document says.
    Warning,
    /// Worth knowing.
    Note,
}

/// Something of the document that we do not support.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RestLimitation {
    /// What is not supported.
    pub what: String,
    /// The input, quoted.
    pub quote: String,
    /// Where it stands, e.g. a JSON Pointer or `openapi.yaml:12`.
    pub location: String,
    /// How many times it was met.
    pub count: u64,
}

/// A point in time of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Calls so far.
    pub calls: u64,
    /// Seconds so far.
    pub seconds: f64,
    /// Targets covered so far.
    pub covered: u64,
    /// Root causes found so far.
    pub faults: u64,
}

/// A target that is not covered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UncoveredTarget {
    /// The target as a sentence.
    pub target: String,
    /// The operation it belongs to.
    pub operation: String,
    /// The best score, in 0..1.
    pub score: f64,
    /// What came nearest, e.g. `409 when the berth is taken`.
    pub nearest_miss: Option<String>,
    /// Why it could not be covered, when that is known.
    pub reason: Option<String>,
}

/// A test of the suite, where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestCase {
    /// Its id.
    pub id: String,
    /// Its sentence.
    pub name: String,
    /// The operation it is about.
    pub operation: String,
    /// The file it stands in.
    pub file: String,
    /// Its first line there.
    pub start_line: usize,
    /// Its last line there.
    pub end_line: usize,
    /// Whether it passed when the suite was run before it was handed over; nothing when it was
    /// not run.
    pub passed: Option<bool>,
    /// How it failed.
    pub message: String,
    /// The operations and statuses it goes through.
    pub steps: Vec<TestCall>,
}

/// A suite in one language, and its status when it was run before it was handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SuiteView {
    /// The language, as `--lang` names it.
    pub language: String,
    /// The folder, relative to that of the report.
    pub folder: String,
    /// The command that runs it there.
    pub command: String,
    /// Tests in it.
    pub tests: u64,
    /// Tests that passed when it was run; nothing when it was not.
    pub passed: Option<u64>,
    /// Why it was not run.
    pub not_run: Option<String>,
    /// Tests that keep only their statuses, because more of the answers did not come again.
    pub weakened: Vec<String>,
    /// Tests that were left out, and why.
    pub excluded: Vec<ExcludedTest>,
}

/// A test that is not in a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExcludedTest {
    /// Its id.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// One call of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestCall {
    /// The operation, as [`OperationView::id`].
    pub operation: String,
    /// The status expected; 0 for none.
    pub status: u16,
}

impl RestReport {
    /// Reads a `report.json`.
    ///
    /// # Errors
    ///
    /// When the text is not JSON or not a report; the message says line and column.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        serde_json::from_str(text).map_err(|cause| ReadError {
            what: "report",
            cause,
        })
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        pretty(self)
    }

    /// The faults by kind and root cause, in order of first appearance: one cause may show in several ways, and an
    /// operation may have several kinds of faults.
    pub fn by_root_cause(&self) -> Vec<(&str, Vec<&FaultView>)> {
        let mut groups: Vec<(&str, Vec<&FaultView>)> = Vec::new();
        for fault in &self.faults {
            let same = |(cause, faults): &&mut (&str, Vec<&FaultView>)| {
                *cause == fault.root_cause && faults.iter().all(|other| other.code == fault.code)
            };
            match groups.iter_mut().find(same) {
                Some((_, faults)) => faults.push(fault),
                None => groups.push((&fault.root_cause, vec![fault])),
            }
        }
        groups
    }

    /// The statuses seen anywhere, in order.
    pub fn statuses(&self) -> Vec<u16> {
        let all = self
            .operations
            .iter()
            .flat_map(|operation| &operation.statuses);
        let mut statuses: Vec<u16> = all.map(|count| count.status).collect();
        statuses.sort_unstable();
        statuses.dedup();
        statuses
    }
}

impl Severity {
    /// The word for it, which is also SARIF's level.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A record as indented JSON with a newline at its end.
pub(super) fn pretty(record: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(record)
        .expect("a report has string keys and no value that JSON lacks");
    text.push('\n');
    text
}
