//! A plain script for the engine's own client. It checks itself: the client's exit status is zero
//! exactly when every expectation was met.

use super::{File, WriteError, Writer, name, text};
use crate::suite::{Suite, SuiteDialect};

mod mysql;
mod postgres;
mod sqlite;

/// Writes a script for sqlite3, psql or mariadb.
#[derive(Debug)]
pub(crate) struct Sql;

impl Writer for Sql {
    fn name(&self) -> &'static str {
        "sql"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        let mut out = String::with_capacity(4096 + 512 * suite.tests.len());
        for line in text::header(suite) {
            out.push_str(format!("-- {line}").trim_end());
            out.push('\n');
        }
        match suite.dialect {
            SuiteDialect::Sqlite => sqlite::script(&mut out, suite),
            SuiteDialect::Postgres => postgres::script(&mut out, suite),
            SuiteDialect::Mysql => mysql::script(&mut out, suite),
        }
        Ok(vec![File {
            path: format!("{}.sql", name::slug(&suite.schema)),
            text: out,
        }])
    }
}

/// A heading between the tables.
fn heading(out: &mut String, group: &str) {
    out.push_str("\n\n-- ");
    out.push_str(&text::one_line(group));
    out.push_str("\n-- ");
    out.extend(std::iter::repeat_n(
        '=',
        text::one_line(group).chars().count(),
    ));
    out.push('\n');
}

/// A statement on lines of its own, closed by a semicolon.
fn statement(out: &mut String, sql: &str) {
    out.push_str(text::bare(sql));
    out.push_str(";\n");
}
