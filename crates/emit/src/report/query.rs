//! The report of one run over queries. Everything a page shows is in here.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::query::GivenRows;
use crate::suite::ReadError;

/// The report of one run over queries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueryReport {
    /// The name of the queries: their file's.
    pub name: String,
    /// The engine that every target was confirmed on; `none` when in memory only.
    pub engine: String,
    /// The dialect that schema and queries were read in.
    pub dialect: String,
    /// Why that dialect.
    pub dialect_evidence: String,
    /// The coverage criterion.
    pub criterion: String,
    /// Who found the rows.
    pub algorithm: String,
    /// The seed.
    pub seed: u64,
    /// The version of Isobath.
    pub version: String,
    /// The command line that reproduces the run.
    pub command: Option<String>,
    /// How long it took.
    pub millis: f64,
    /// The queries.
    pub queries: Vec<QueryView>,
    /// Queries that could not be read.
    pub unreadable: Vec<UnreadableQuery>,
    /// Where our evaluator and the engine disagree, which is a fault of ours.
    pub disagreements: Vec<String>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// One query and its outcomes targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueryView {
    /// Its name.
    pub id: String,
    /// Where it stands: `queries.sql:12`.
    pub location: String,
    /// Its text.
    pub sql: String,
    /// Its parts that targets are about, in order of appearance.
    pub clauses: Vec<ClauseView>,
    /// What was found for its targets.
    pub fixtures: Vec<FixtureView>,
    /// How often a query was run over rows.
    pub evaluations: u64,
    /// How long it took.
    pub millis: f64,
}

/// A part of a query, and the targets about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClauseView {
    /// Which clause: `WHERE`.
    pub kind: String,
    /// The condition, join or expression.
    pub text: String,
    /// Where it stands in the query's text: first byte, and the one after the last.
    pub range: Option<(usize, usize)>,
    /// The targets.
    pub targets: Vec<TargetView>,
}

/// One target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetView {
    /// The SELECT that must return a row.
    pub sql: String,
    /// The rule that made it.
    pub rule: String,
    /// What it asks for.
    pub description: String,
    /// Its status.
    pub verdict: StatusView,
    /// The rows of its fixture that cover it, by table; none when all of them do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<GivenRows>,
}

/// The status of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusView {
    /// A fixture covers it.
    Covered {
        /// The fixture's index.
        fixture: usize,
    },
    /// No rows can.
    Infeasible {
        /// Why.
        proof: String,
    },
    /// Neither rows nor a proof were found.
    Uncovered {
        /// What stands in the way, and the nearest miss where it is known.
        why: String,
    },
}

impl Default for StatusView {
    fn default() -> Self {
        Self::Uncovered { why: String::new() }
    }
}

/// Rows, and what the query makes of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FixtureView {
    /// The rows, by table.
    pub given: Vec<GivenRows>,
    /// The parameters as written, with their values.
    pub parameters: Vec<(String, Value)>,
    /// The columns of the result.
    pub columns: Vec<String>,
    /// The rows of the result; `None` when there is no test.
    pub result: Option<Vec<Vec<Option<String>>>>,
}

/// A query that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnreadableQuery {
    /// Its name.
    pub id: String,
    /// Where: `queries.sql:12:3`.
    pub location: String,
    /// What is wrong.
    pub why: String,
}

/// Counts of targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetCounts {
    /// All of them.
    pub targets: usize,
    /// Covered.
    pub covered: usize,
    /// Proven infeasible.
    pub infeasible: usize,
}

impl TargetCounts {
    /// Neither covered nor proven infeasible.
    pub fn open(self) -> usize {
        self.targets - self.covered - self.infeasible
    }

    fn of<'a>(targets: impl Iterator<Item = &'a TargetView>) -> Self {
        let mut counts = Self::default();
        for target in targets {
            counts.targets += 1;
            match target.verdict {
                StatusView::Covered { .. } => counts.covered += 1,
                StatusView::Infeasible { .. } => counts.infeasible += 1,
                StatusView::Uncovered { .. } => {}
            }
        }
        counts
    }
}

impl ClauseView {
    /// The counts of its targets.
    pub fn counts(&self) -> TargetCounts {
        TargetCounts::of(self.targets.iter())
    }
}

impl QueryView {
    /// The counts of its targets.
    pub fn counts(&self) -> TargetCounts {
        TargetCounts::of(self.clauses.iter().flat_map(|clause| &clause.targets))
    }

    /// How many rows all fixtures have.
    pub fn rows(&self) -> usize {
        let given = self.fixtures.iter().flat_map(|fixture| &fixture.given);
        given.map(|given| given.rows.len()).sum()
    }
}

impl QueryReport {
    /// The counts of all targets.
    pub fn counts(&self) -> TargetCounts {
        let clauses = self.queries.iter().flat_map(|query| &query.clauses);
        TargetCounts::of(clauses.flat_map(|clause| &clause.targets))
    }

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
}
