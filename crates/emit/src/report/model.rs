//! The report of one run over one schema. Everything a page shows is in here.

use serde::{Deserialize, Serialize};

use crate::suite::{ReadError, Test};

/// The report of one run over one schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunReport {
    /// The schema's name.
    pub schema: String,
    /// The engine the tests were confirmed on, e.g. `SQLite 3.50.4`; `none` when in memory only.
    pub engine: String,
    /// The dialect the source was read in.
    pub dialect: String,
    /// Why that dialect: `given`, or what in the source gave it away.
    pub dialect_evidence: String,
    /// The seed.
    pub seed: u64,
    /// The generator.
    pub generator: String,
    /// The coverage criterion.
    pub criterion: String,
    /// The version of Isobath.
    pub version: String,
    /// The command line that reproduces the run.
    pub command: Option<String>,
    /// The counts.
    pub totals: Totals,
    /// Mutation analysis, when it was asked for.
    pub mutation: Option<Mutation>,
    /// Requirements proven infeasible.
    pub infeasible: Vec<Infeasible>,
    /// Feasible requirements, as far as known, that no test covers.
    pub uncovered: Vec<Uncovered>,
    /// Input we do not support, once per kind.
    pub limitations: Vec<LimitationView>,
    /// What is odd in the design.
    pub findings: Vec<DesignFinding>,
    /// Where engines disagree.
    pub disagreements: Vec<Disagreement>,
    /// The specification by example, table by table.
    pub tables: Vec<TableView>,
    /// The tests.
    pub tests: Vec<Test>,
}

/// The counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Tables.
    pub tables: usize,
    /// Columns of all tables.
    pub columns: usize,
    /// Constraints by kind, e.g. `("FOREIGN KEY", 12)`, in the order to be shown.
    pub constraints: Vec<(String, usize)>,
    /// Requirements of the criterion.
    pub requirements: usize,
    /// Requirements that a test covers.
    pub covered: usize,
    /// Requirements proven infeasible.
    pub infeasible: usize,
    /// Tests.
    pub tests: usize,
    /// INSERT statements in all tests.
    pub inserts: usize,
    /// How long the run took, when it was measured.
    pub millis: Option<u64>,
}

/// The outcome of mutation analysis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mutation {
    /// Mutants that count, equivalent ones left out.
    pub mutants: usize,
    /// Those that a test notices.
    pub killed: usize,
    /// Mutants proven to behave like the original.
    pub equivalent: usize,
    /// Mutants left out for other reasons, e.g. `("still-born", 3)`.
    pub excluded: Vec<(String, usize)>,
    /// Every mutant, table by table, with its status.
    pub all: Vec<MutantView>,
}

/// One mutant and its status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MutantView {
    /// The operator that made it.
    pub operator: String,
    /// The table it changes.
    pub table: String,
    /// What it changes, as a sentence.
    pub description: String,
    /// Its status.
    pub status: MutantResult,
    /// The name of the first test that notices it.
    pub killed_by: Option<String>,
    /// Why it does not count, or could not be judged.
    pub why: Option<String>,
}

/// The status of a mutant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutantResult {
    /// A test notices it.
    Killed,
    /// No test does.
    #[default]
    Alive,
    /// No test that can be judged does, and one that cannot might.
    Unjudged,
    /// It behaves like the original.
    Equivalent,
    /// The engine refuses its definition.
    StillBorn,
    /// It refuses every row.
    Impaired,
    /// It behaves like an earlier mutant.
    Redundant,
}

impl MutantResult {
    /// All, in the order to be shown: what asks for attention first.
    pub const ALL: [Self; 7] = [
        Self::Alive,
        Self::Unjudged,
        Self::Killed,
        Self::Equivalent,
        Self::Redundant,
        Self::StillBorn,
        Self::Impaired,
    ];

    /// As reports spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Alive => "alive",
            Self::Unjudged => "unjudged",
            Self::Equivalent => "equivalent",
            Self::StillBorn => "still-born",
            Self::Impaired => "impaired",
            Self::Redundant => "redundant",
        }
    }
}

impl Mutation {
    /// The mutants that count and that no test is known to notice.
    pub fn alive(&self) -> impl Iterator<Item = &MutantView> {
        let is_alive = |mutant: &&MutantView| {
            matches!(mutant.status, MutantResult::Alive | MutantResult::Unjudged)
        };
        self.all.iter().filter(is_alive)
    }
}

/// A requirement that no row can meet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Infeasible {
    /// The table.
    pub table: String,
    /// The requirement as a sentence.
    pub requirement: String,
    /// Why it cannot be met.
    pub proof: String,
}

/// A requirement that the run left open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uncovered {
    /// The table.
    pub table: String,
    /// The requirement as a sentence.
    pub requirement: String,
    /// What stood in the way, when it is known.
    pub reason: Option<String>,
}

/// One kind of input that is not supported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitationView {
    /// What is not supported.
    pub what: String,
    /// The input, quoted.
    pub quote: String,
    /// Where it stands: `shop.sql:12:3`.
    pub location: Option<String>,
    /// How many times it was met.
    pub count: usize,
}

/// Something odd in the design of the schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DesignFinding {
    /// What kind: `redundant CHECK`, `subsumed UNIQUE`, `contradiction`, `cycle`, ….
    pub kind: String,
    /// The table.
    pub table: String,
    /// What it is, in a sentence or two.
    pub explanation: String,
}

/// A statement that engines judge differently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disagreement {
    /// The name of the test.
    pub test: String,
    /// The statement.
    pub sql: String,
    /// What each engine did: `("MariaDB", "accepted")`.
    pub outcomes: Vec<(String, String)>,
}

/// One table, specified by example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableView {
    /// The table.
    pub name: String,
    /// Its columns.
    pub columns: Vec<ColumnView>,
    /// Its constraints.
    pub constraints: Vec<ConstraintView>,
}

/// One column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnView {
    /// Its name.
    pub name: String,
    /// Its type as SQL.
    pub data_type: String,
    /// Further facts: `NOT NULL`, `DEFAULT 0`, ….
    pub notes: Vec<String>,
}

/// One constraint, with the rows that show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConstraintView {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its kind: `CHECK`, `FOREIGN KEY`, ….
    pub kind: String,
    /// Its definition as SQL.
    pub definition: String,
    /// Statements of which the last one is accepted though the constraint was put to the test.
    pub accepting: Vec<String>,
    /// Statements of which the last one is refused by this constraint.
    pub rejecting: Vec<String>,
    /// Why there is no example, or what else is to be said.
    pub note: Option<String>,
}

impl RunReport {
    /// Reads a report that was stored as JSON.
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
        let mut text = serde_json::to_string_pretty(self)
            .expect("a report has string keys and no value that JSON lacks");
        text.push('\n');
        text
    }

    /// Requirements that are neither covered nor proven infeasible.
    pub fn open_requirements(&self) -> usize {
        let totals = &self.totals;
        totals
            .requirements
            .saturating_sub(totals.covered)
            .saturating_sub(totals.infeasible)
    }
}
