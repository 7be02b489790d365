//! Rows that tests bring: the model, and what all writers print of them.
//!
//! A suite inserts rows through a small language of its own, `insert_into(table).d(column, data).r(column,
//! key)`, because the number of a row that the database gives out is only known when the test
//! runs. It talks to the database by the client program that comes with it, so that suites need no
//! driver in any language.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::Known;
use super::request::Text;
use super::suite::{Database, HttpTest};
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
        let statement = |row: &TestRow| {
            if row.cells.is_empty() {
                return format!("INSERT INTO {} DEFAULT VALUES", row.table);
            }
            let columns: Vec<&str> = row
                .cells
                .iter()
                .map(|(column, _)| column.as_str())
                .collect();
            let values: Vec<String> = row
                .cells
                .iter()
                .map(|(_, value)| match value.as_captured() {
                    Some(variable) => key_of(variable),
                    None => value.literal().unwrap_or_default(),
                })
                .collect();
            format!(
                "INSERT INTO {} ({}) VALUES ({})",
                row.table,
                columns.join(", "),
                values.join(", ")
            )
        };
        self.rows.iter().map(statement).collect()
    }
}

/// How a language writes a row.
#[derive(Clone, Copy)]
pub(crate) struct Spelling {
    /// What the function that begins a row is called.
    pub(crate) into: &'static str,
    /// How a text is written.
    pub(crate) literal: fn(&str) -> String,
    /// What stands before a variable that is handed over.
    pub(crate) borrow: &'static str,
}

/// The row as a chain of calls: `insert_into("foo")`, `.d("x", "1")`, …, `.key("id")` or `.run()`.
pub(crate) fn links(row: &TestRow, known: &Known, spelling: Spelling) -> Vec<String> {
    let Spelling {
        into,
        literal,
        borrow,
    } = spelling;
    let mut links = vec![format!("{into}({})", literal(&row.table))];
    for (column, value) in &row.cells {
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
    links.push(match &row.key {
        Some(key) => format!(".key({})", literal(&key.column)),
        None => ".run()".to_owned(),
    });
    links
}

/// The parts of the helpers that differ by database: between what marks its branch they stay, all others go.
pub(crate) fn for_dialect(template: &str, dialect: SuiteDialect) -> String {
    let wanted = match dialect {
        SuiteDialect::Sqlite => "sqlite",
        SuiteDialect::Postgres => "postgres",
        SuiteDialect::Mysql => "mysql",
    };
    let mut out = String::new();
    let mut branch: Option<&str> = None;
    for line in template.lines() {
        match line.trim().strip_prefix("@@") {
            Some("end") => branch = None,
            Some(name) => branch = Some(name),
            None if branch.is_none_or(|name| name.split(' ').any(|name| name == wanted)) => {
                out.push_str(line);
                out.push('\n');
            }
            None => {}
        }
    }
    out
}

/// The lines that say what a suite needs to bring rows.
pub(crate) fn environment(database: &Database) -> String {
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
