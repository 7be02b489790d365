//! The test database of a stored suite: reset, rows of a test, and expected rows.

use std::fmt;

use isobath_emit::SuiteDialect;
use isobath_emit::http::{ExpectedRow, HttpTest, SuiteDatabase, Text};
use isobath_exec::{Database, connect_writable};
use isobath_sql::{DialectName, Value as Cell};
use serde_json::Value;

use super::Captured;
use super::fill::plain;
use crate::seeding;

/// The test database of a suite, to be written to.
pub struct ReplayDatabase {
    database: Box<dyn Database>,
    setup: Vec<String>,
}

impl fmt::Debug for ReplayDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestDatabase")
            .field("place", &self.database.display_address())
            .finish_non_exhaustive()
    }
}

impl ReplayDatabase {
    /// Opens the test database of a suite at an address, which is the permission to write to it.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or is of another kind than that of the suite.
    pub fn open(address: &str, suite: &SuiteDatabase) -> Result<Self, String> {
        let database =
            connect_writable(address, &[address.to_owned()]).map_err(|error| error.to_string())?;
        let wanted = match suite.dialect {
            SuiteDialect::Sqlite => DialectName::Sqlite,
            SuiteDialect::Postgres => DialectName::Postgres,
            SuiteDialect::Mysql => DialectName::MySql,
        };
        if database.dialect() != wanted {
            return Err(format!(
                "the tests require {wanted}, but {} is another database",
                database.display_address()
            ));
        }
        Ok(Self {
            database,
            setup: suite
                .setup
                .iter()
                .map(|statement| filled(statement, &suite.secret_variables))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Resets the database and inserts the rows of a test; returns the keys that the test uses, by name.
    pub(super) fn insert_rows(&mut self, test: &HttpTest) -> Result<Captured, String> {
        for statement in self.setup.clone() {
            self.run(&statement)?;
        }
        let mut captured = Captured::new();
        for row in &test.rows {
            let sql = row.insert(|variable| captured.get(variable).map(plain));
            let Some(key) = &row.key else {
                self.run(&sql)?;
                continue;
            };
            let value = match self.database.dialect() {
                DialectName::MySql => {
                    self.run(&sql)?;
                    self.ask("SELECT LAST_INSERT_ID()")?
                }
                DialectName::Sqlite | DialectName::Postgres | DialectName::Ansi => {
                    self.ask(&format!("{sql} RETURNING {}", key.column))?
                }
            };
            let value = seeding::json(&value)
                .ok_or_else(|| format!("the database returned no key for `{}`", key.variable))?;
            captured.insert(key.variable.clone(), value);
        }
        Ok(captured)
    }

    /// Whether the database holds what the calls of a test must leave.
    pub(super) fn check(&mut self, test: &HttpTest, captured: &Captured) -> Result<(), String> {
        for row in &test.expected_rows {
            let query = query(row, captured)?;
            let count = self.ask(&query)?;
            let is_there = !matches!(count, Cell::Int(0));
            if is_there != row.exists {
                let found = if is_there {
                    "there is still a row"
                } else {
                    "there is no row"
                };
                return Err(format!("{found} for {query}"));
            }
        }
        Ok(())
    }

    fn run(&mut self, sql: &str) -> Result<(), String> {
        let answer = self
            .database
            .execute(sql)
            .map_err(|error| error.to_string())?;
        match answer.refusal() {
            None => Ok(()),
            Some(refusal) => Err(format!("`{sql}` failed: {refusal}")),
        }
    }

    fn ask(&mut self, sql: &str) -> Result<Cell, String> {
        let rows = self
            .database
            .query(sql)
            .map_err(|error| error.to_string())?;
        let rows = rows.map_err(|refusal| format!("`{sql}` failed: {refusal}"))?;
        let first = rows.rows.into_iter().next();
        let first = first.and_then(|row| row.into_iter().next());
        first.ok_or_else(|| format!("`{sql}` returned no row"))
    }
}

/// Counts the rows that are like this.
fn query(row: &ExpectedRow, captured: &Captured) -> Result<String, String> {
    let condition = |(column, value): &(String, Text)| {
        let value = match value.as_captured() {
            Some(variable) => {
                let value: Option<&Value> = captured.get(variable);
                let value = value.ok_or_else(|| format!("unknown variable `{variable}`"))?;
                plain(value)
            }
            None => value.literal().unwrap_or_default(),
        };
        Ok(match value.as_str() {
            "NULL" => format!("{column} IS NULL"),
            value => format!("{column} = {value}"),
        })
    };
    let known: Vec<String> = row
        .cells
        .iter()
        .map(condition)
        .collect::<Result<_, String>>()?;
    Ok(format!(
        "SELECT COUNT(*) FROM {} WHERE {}",
        row.table,
        known.join(" AND ")
    ))
}

/// A statement with the secrets that the environment holds.
fn filled(statement: &str, variables: &[String]) -> Result<String, String> {
    let mut statement = statement.to_owned();
    for variable in variables {
        let place = format!("${{{variable}}}");
        if statement.contains(&place) {
            let value = std::env::var(variable)
                .map_err(|_| format!("environment variable {variable} is not set"))?;
            statement = statement.replace(&place, &value);
        }
    }
    Ok(statement)
}
