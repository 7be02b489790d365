//! The queries under test: text, parameters, rows and coverage targets.
//!
//! Statements are enough to run a test. dbt mocks tables instead of filling them, and a check of a
//! changed query runs stored rows against another text; both need the parts that statements hide.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A query under test. Its tests are those of the group of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// Its name.
    pub id: String,
    /// Where it comes from: `queries.sql:12`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub location: String,
    /// Its text, cut at tables and parameters; together they are the text as written.
    pub parts: Vec<QueryPart>,
    /// The parameters as written, in order; one that is mentioned twice is listed once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// The statement by which all tests look at the result, when it is the same for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    /// What each test brings.
    pub cases: Vec<QueryCase>,
    /// The targets that no test covers, proven infeasible or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncovered: Vec<CaseTarget>,
}

/// A piece of a query's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryPart {
    /// Text.
    Text(String),
    /// The name of a table, as written.
    Table {
        /// The table's own name.
        name: String,
        /// As the query writes it.
        written: String,
    },
    /// A parameter.
    Parameter {
        /// Its index in the query's parameters.
        index: usize,
        /// As the query writes it.
        written: String,
    },
}

/// What one test brings, and what it covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryCase {
    /// The test's id.
    pub test: String,
    /// The rows, by table.
    pub given: Vec<GivenRows>,
    /// One value per parameter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Value>,
    /// The targets that it covers.
    pub targets: Vec<CaseTarget>,
    /// The columns of the result.
    pub columns: Vec<String>,
    /// Whether the order of the result's rows matters.
    #[serde(default)]
    pub ordered: bool,
}

/// Rows of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenRows {
    /// The table.
    pub table: String,
    /// The columns that the rows fill.
    pub columns: Vec<String>,
    /// The rows: numbers, texts, truth values and nulls.
    pub rows: Vec<Vec<Value>>,
}

/// A target as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseTarget {
    /// The SELECT that returns a row, parameters as written.
    pub sql: String,
    /// The rule that made it.
    pub rule: String,
    /// What it asks for, as a sentence.
    pub description: String,
}

impl Query {
    /// The text as written.
    pub fn sql(&self) -> String {
        self.parts.iter().map(QueryPart::written).collect()
    }
}

impl QueryPart {
    /// The piece as the query writes it.
    pub fn written(&self) -> &str {
        match self {
            QueryPart::Text(text) => text,
            QueryPart::Table { written, .. } | QueryPart::Parameter { written, .. } => written,
        }
    }
}
