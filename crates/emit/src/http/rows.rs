//! Rows that tests insert and rows that they expect: the model, and what all writers print of them.
//!
//! A suite inserts rows through a small language of its own, `insert_into(table).d(column, data).r(column,
//! key)`, because the number of a row that the database gives out is only known when the test
//! runs. It talks to the database by the client program that comes with it, so that suites need no
//! driver in any language. What calls leave in the database is asked for in the same language,
//! `row_in(table).d(column, data).exists()`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::Variables;
use super::request::Text;
use super::suite::{HttpTest, SuiteDatabase};
use super::writer::language::Notation;
use crate::suite::SuiteDialect;

/// A row that a test inserts before its calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestRow {
    /// The table, as SQL writes it.
    pub table: String,
    /// Columns as SQL writes them, each with a literal of SQL, or with the captured key of an earlier row.
    pub cells: Vec<(String, Text)>,
    /// The number that the database gives the row, where the test uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<RowKey>,
}

/// The number that the database gives a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowKey {
    /// The column, as SQL writes it.
    pub column: String,
    /// The name by which later rows and calls use it, as if it had been captured.
    pub variable: String,
    /// The number that was seen; it is not expected again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Value>,
}

/// A row that the calls of a test leave in the database, or take from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpectedRow {
    /// The table, as SQL writes it.
    pub table: String,
    /// What the row is told by: columns as SQL writes them, each with a literal of SQL, or with a captured key.
    pub cells: Vec<(String, Text)>,
    /// Whether there must be such a row; there must be none otherwise.
    pub exists: bool,
}

impl TestRow {
    /// The INSERT; `key` says what is written in place of a captured key, NULL where it does not know.
    pub fn insert(&self, key: impl Fn(&str) -> Option<String>) -> String {
        if self.cells.is_empty() {
            return format!("INSERT INTO {} DEFAULT VALUES", self.table);
        }
        let columns = self.cells.iter().map(|(column, _)| column.as_str());
        let columns: Vec<&str> = columns.collect();
        let values = self
            .cells
            .iter()
            .map(|(_, value)| match value.as_captured() {
                Some(variable) => key(variable).unwrap_or_else(|| "NULL".to_owned()),
                None => value.literal().unwrap_or_default(),
            });
        let values: Vec<String> = values.collect();
        format!(
            "INSERT INTO {} ({}) VALUES ({})",
            self.table,
            columns.join(", "),
            values.join(", ")
        )
    }
}

impl HttpTest {
    /// The rows as statements for people, who insert them one after the other: what refers to a key takes the greatest.
    pub fn row_statements(&self) -> Vec<String> {
        let key_of = |variable: &str| {
            let keys = self
                .rows
                .iter()
                .filter_map(|row| Some((row, row.key.as_ref()?)));
            let mut named = keys.filter(|(_, key)| key.variable == variable);
            match named.next() {
                Some((row, key)) => format!("(SELECT MAX({}) FROM {})", key.column, row.table),
                None => "NULL".to_owned(),
            }
        };
        self.rows
            .iter()
            .map(|row| row.insert(|variable| Some(key_of(variable))))
            .collect()
    }
}

/// The row as a chain of calls: `insert_into("foo")`, `.d("x", "1")`, …, `.key("id")` or `.run()`.
pub(crate) fn links(row: &TestRow, known: &Variables, notation: &Notation) -> Vec<String> {
    let mut links = cells("insert_into", &row.table, &row.cells, known, notation);
    links.push(match &row.key {
        Some(key) => format!(".key({})", (notation.literal)(&key.column)),
        None => ".run()".to_owned(),
    });
    links
}

/// What must be in the database, as a chain of calls: `row_in("foo")`, `.d("x", "1")`, …, `.is_there()`.
pub(crate) fn state_links(
    row: &ExpectedRow,
    known: &Variables,
    notation: &Notation,
) -> Vec<String> {
    let mut links = cells("row_in", &row.table, &row.cells, known, notation);
    let end = if row.exists { "is_there" } else { "is_gone" };
    links.push(format!(".{}()", notation.casing.spell(end)));
    links
}

/// The beginning of a chain: a table and cells.
fn cells(
    begin: &str,
    table: &str,
    cells: &[(String, Text)],
    known: &Variables,
    notation: &Notation,
) -> Vec<String> {
    let Notation {
        literal, borrow, ..
    } = notation;
    let begin = notation.casing.spell(begin);
    let mut links = vec![format!("{begin}({})", literal(table))];
    for (column, value) in cells {
        let column = literal(column);
        let captured = value.as_captured().and_then(|name| known.get(name));
        links.push(match captured {
            Some(variable) => format!(".r({column}, {borrow}{})", variable.name),
            None => format!(
                ".d({column}, {})",
                literal(&value.literal().unwrap_or_default())
            ),
        });
    }
    links
}

/// The lines that say what a suite needs to bring rows.
pub(crate) fn environment(database: &SuiteDatabase, is_port_free: bool) -> String {
    if let Some(agent_url) = &database.agent_url {
        let agent_url = if is_port_free {
            "a free port"
        } else {
            agent_url
        };
        return format!(
            "{}: where the agent inside the service takes rows for its database in memory, {agent_url} when not set; written to by curl",
            database.variable
        );
    }
    let (client, example) = match database.dialect {
        SuiteDialect::Sqlite => ("sqlite3", "sqlite:PATH"),
        SuiteDialect::Postgres => ("psql", "postgres://user@localhost/test"),
        SuiteDialect::Mysql => ("mariadb", "mysql://user@localhost/test"),
    };
    format!(
        "{}: the test database of the service, as {example}; must be set, and is written to by {client}",
        database.variable
    )
}
