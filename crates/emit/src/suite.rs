//! The neutral suite: tests as statements with expected outcomes, independent of the test language.
//!
//! A suite carries everything a writer needs, so it can be stored as JSON and printed later.

use serde::{Deserialize, Serialize};

use crate::query::Query;

/// A finished suite for one schema on one engine.
///
/// Every test starts from the empty tables that `setup` created and leaves nothing behind; how a
/// test language brings that about (a transaction, a fresh database) is the writer's matter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// The heading, e.g. `Integrity constraints of shop`.
    pub title: String,
    /// The schema under test.
    pub schema: String,
    /// The SQL the statements are written in.
    pub dialect: SuiteDialect,
    /// The seed that reproduces the suite.
    pub seed: u64,
    /// The generator that made it.
    pub generator: String,
    /// The coverage criterion it was made for.
    pub criterion: String,
    /// The version of Isobath that made it.
    pub version: String,
    /// The command line that reproduces it, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Statements that every connection runs first, e.g. `PRAGMA foreign_keys = ON`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session: Vec<String>,
    /// The DDL, one statement each, as it was run on the engine.
    pub setup: Vec<String>,
    /// The tests, in the order in which they are printed.
    pub tests: Vec<Test>,
    /// The queries under test, when the suite is about queries; each is a group of tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<Query>,
}

/// The dialect of a suite's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuiteDialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MariaDB and MySQL.
    #[serde(alias = "mariadb")]
    Mysql,
}

/// One test: lead-up rows, then the statement it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// A stable slug. It should be unique and a valid identifier; writers repair it where it is
    /// not.
    pub id: String,
    /// The intent as a sentence: `orders rejects a second row with the same order_id`.
    pub name: String,
    /// The table the test is about.
    pub group: String,
    /// The requirements it covers, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// What is run, in order.
    pub steps: Vec<Step>,
}

/// One statement (or several that stand and fall together) and its expected outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Why the step is there.
    pub role: StepRole,
    /// The statements, without closing semicolon.
    ///
    /// More than one means *together*: they are run with foreign keys deferred, which are checked
    /// after the last one. That is how rows of a foreign-key cycle come in. None means that only
    /// the query of [`Expectation::Rows`] is run.
    pub sql: Vec<String>,
    /// What must happen.
    #[serde(flatten)]
    pub expect: Expectation,
}

/// Why a step is in its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepRole {
    /// Brings the database into the state the test needs.
    Setup,
    /// Is what the test is about.
    Act,
}

/// The expected outcome of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "expect", rename_all = "snake_case")]
pub enum Expectation {
    /// The engine accepts it.
    Accepted {
        /// The number of rows the last statement must report as affected, when it matters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u64>,
    },
    /// The engine refuses it, for this reason and no other.
    Rejected(Rejection),
    /// The engine accepts it, and a query then returns exactly these rows in this order.
    Rows {
        /// The query. Every column of it is text or NULL (cast by its author), so that all test
        /// languages read the same thing; and it says its ORDER BY.
        query: String,
        /// The rows; `None` is NULL.
        rows: Vec<Vec<Option<String>>>,
    },
}

/// The reason for which a statement must be refused. Everything that is given is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    /// The kind of constraint, for the reader.
    pub kind: RejectionKind,
    /// The SQLSTATE (PostgreSQL, MariaDB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlstate: Option<String>,
    /// The engine's number: SQLite's extended result code, MariaDB's errno.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The constraint as the engine names it when it refuses. PostgreSQL has a field for it; on
    /// the others it must occur in the message, so it is left out where the engine tells no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// Pieces of text that the message must contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message_contains: Vec<String>,
}

/// What refuses a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionKind {
    /// A PRIMARY KEY.
    PrimaryKey,
    /// A UNIQUE constraint or index.
    Unique,
    /// A FOREIGN KEY.
    ForeignKey,
    /// A NOT NULL.
    NotNull,
    /// A CHECK, also one of a domain.
    Check,
    /// The column's type: wrong type, too long, out of range.
    Value,
    /// Something else, e.g. a value for a generated column.
    Other,
}

/// Why a text is not a suite or report.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {what}: {cause}")]
pub struct ReadError {
    /// What was being read.
    pub(crate) what: &'static str,
    /// What the JSON reader found.
    #[source]
    pub(crate) cause: serde_json::Error,
}

impl Suite {
    /// A suite without statements and tests, to be filled in.
    pub fn new(schema: impl Into<String>, dialect: SuiteDialect) -> Self {
        let schema = schema.into();
        Suite {
            title: format!("Integrity constraints of {schema}"),
            schema,
            dialect,
            seed: 0,
            generator: "default".into(),
            criterion: String::new(),
            version: env!("CARGO_PKG_VERSION").into(),
            command: None,
            session: Vec::new(),
            setup: Vec::new(),
            tests: Vec::new(),
            queries: Vec::new(),
        }
    }

    /// The statement that all tests of a group look at the result by, with a name for it.
    pub(crate) fn assertion(&self, group: &str) -> Option<(&str, &str)> {
        let query = self.queries.iter().find(|query| query.id == group)?;
        Some((query.id.as_str(), query.assertion.as_deref()?))
    }

    /// Reads a suite that the `json` writer wrote.
    ///
    /// # Errors
    ///
    /// When the text is not JSON or not a suite; the message says line and column.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        serde_json::from_str(text).map_err(|cause| ReadError {
            what: "suite",
            cause,
        })
    }

    /// The tests by table: groups in order of first appearance, tests in suite order.
    pub fn by_group(&self) -> Vec<(&str, Vec<&Test>)> {
        let mut groups: Vec<(&str, Vec<&Test>)> = Vec::new();
        let mut place = std::collections::BTreeMap::new();
        for test in &self.tests {
            let at = *place.entry(test.group.as_str()).or_insert_with(|| {
                groups.push((&test.group, Vec::new()));
                groups.len() - 1
            });
            if let Some((_, tests)) = groups.get_mut(at) {
                tests.push(test);
            }
        }
        groups
    }
}

impl Test {
    /// The rows that its last look expects, when it looks at rows.
    pub fn expected_rows(&self) -> Option<&[Vec<Option<String>>]> {
        self.steps.iter().rev().find_map(|step| match &step.expect {
            Expectation::Rows { rows, .. } => Some(rows.as_slice()),
            Expectation::Accepted { .. } | Expectation::Rejected(_) => None,
        })
    }
}

impl Step {
    /// A lead-up statement, which must be accepted.
    pub fn setup(sql: impl Into<String>) -> Self {
        Step {
            role: StepRole::Setup,
            sql: vec![sql.into()],
            expect: Expectation::accepted(),
        }
    }

    /// The statement the test is about.
    pub fn act(sql: impl Into<String>, expect: Expectation) -> Self {
        Step {
            role: StepRole::Act,
            sql: vec![sql.into()],
            expect,
        }
    }

    /// Whether foreign keys are to be deferred until after the last statement.
    pub fn is_deferred(&self) -> bool {
        self.sql.len() > 1
    }
}

impl Expectation {
    /// Accepted, whatever the number of rows.
    pub fn accepted() -> Self {
        Expectation::Accepted { rows: None }
    }
}

impl Rejection {
    /// A rejection of which only the kind is known so far.
    pub fn new(kind: RejectionKind) -> Self {
        Rejection {
            kind,
            sqlstate: None,
            code: None,
            constraint: None,
            message_contains: Vec::new(),
        }
    }

    /// The pieces of text an engine that has no field for the constraint's name must mention.
    pub fn message_parts(&self) -> impl Iterator<Item = &str> {
        self.constraint
            .iter()
            .chain(&self.message_contains)
            .map(String::as_str)
    }
}

impl RejectionKind {
    /// The kind as SQL says it.
    pub fn words(self) -> &'static str {
        match self {
            RejectionKind::PrimaryKey => "PRIMARY KEY",
            RejectionKind::Unique => "UNIQUE",
            RejectionKind::ForeignKey => "FOREIGN KEY",
            RejectionKind::NotNull => "NOT NULL",
            RejectionKind::Check => "CHECK",
            RejectionKind::Value => "the column's type",
            RejectionKind::Other => "another rule",
        }
    }
}

impl SuiteDialect {
    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SuiteDialect::Sqlite => "sqlite",
            SuiteDialect::Postgres => "postgres",
            SuiteDialect::Mysql => "mysql",
        }
    }

    /// The product's name, for people.
    pub fn product(self) -> &'static str {
        match self {
            SuiteDialect::Sqlite => "SQLite",
            SuiteDialect::Postgres => "PostgreSQL",
            SuiteDialect::Mysql => "MariaDB",
        }
    }
}
