//! How databases differ, as one trait whose defaults are standard SQL.

#![deny(clippy::indexing_slicing)]

mod ansi;
mod assign;
mod json;
mod mysql;
mod postgres;
mod sqlite;

use std::fmt;
use std::str::FromStr;

use crate::schema::{Column, Table};
use crate::types::DataType;
use crate::value::Value;

pub use ansi::Ansi;
pub use mysql::MySql;
pub use postgres::Postgres;
pub use sqlite::{Affinity, Sqlite};

pub(crate) use json::is_json;
pub(crate) use mysql::mysql_assign;
pub(crate) use postgres::postgres_assign;
pub(crate) use sqlite::sqlite_assign;

/// The dialects we know, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DialectName {
    /// Standard SQL.
    Ansi,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
    /// SQLite.
    Sqlite,
}

/// What differs between databases.
///
/// A method has a default when standard SQL has an answer; a dialect overrides
/// what it does in its own way. Nothing else in the product asks which
/// database it is talking about.
pub trait Dialect: fmt::Debug + Sync {
    /// Which dialect this is.
    fn name(&self) -> DialectName;

    /// Whether a primary key's columns may hold NULL (SQLite, outside STRICT-like tables).
    fn key_admits_null(&self, table: &Table) -> bool {
        let _ = table;
        false
    }

    /// The column that is another name of the row id, so that NULL becomes a fresh number (SQLite).
    fn rowid_alias(&self, table: &Table) -> Option<usize> {
        let _ = table;
        None
    }

    /// Whether columns of a table take values of any type, so that types only convert (SQLite, unless STRICT).
    fn holds_any_type(&self, table: &Table) -> bool {
        let _ = table;
        false
    }

    /// Whether a scalar subquery with several rows yields the first one instead of an error (SQLite).
    fn takes_first_of_many(&self) -> bool {
        false
    }

    /// Whether an explicit NULL in a counting column becomes the next number (MySQL).
    fn counts_on_null(&self) -> bool {
        false
    }

    /// Whether NO ACTION is judged row by row instead of when the statement ends, and rows that a
    /// cascade started from still refer to others (MySQL).
    fn judges_actions_at_once(&self) -> bool {
        false
    }

    /// Whether the foreign keys of rows that are inserted together are judged after the last of
    /// them; MySQL can only switch them off.
    fn judges_rows_together(&self) -> bool {
        true
    }

    /// Whether NULL in a column becomes the time of day instead of being refused (MySQL's TIMESTAMP NOT NULL).
    fn null_is_now(&self, table: &Table, column: usize) -> bool {
        let _ = (table, column);
        false
    }

    /// What a column without DEFAULT is filled with when it is left out; NULL unless something is given here.
    fn implicit_default(&self, table: &Table, column: usize) -> Option<Value> {
        let _ = (table, column);
        None
    }

    /// Converts a value for storage in a column, as an INSERT does.
    ///
    /// # Errors
    ///
    /// When the database would refuse the value for its type, length or range.
    fn store(&self, value: &Value, column: &Column, strict: bool) -> Result<Value, StoreError> {
        let _ = strict;
        postgres_assign(value, &column.data_type, false)
    }

    /// Converts a value for storage in a table's column, knowing the whole table.
    ///
    /// # Errors
    ///
    /// As for [`store`](Self::store), and when the column is a row id and the
    /// value is no integer (SQLite).
    fn store_in(&self, value: &Value, table: &Table, column: usize) -> Result<Value, StoreError> {
        self.store(value, table.column(column), table.strict)
    }

    /// Whether two stored, non-NULL values of a column are duplicates to a unique index.
    fn duplicates(&self, a: &Value, b: &Value, column: &Column) -> bool {
        postgres::same(a, b, column)
    }
}

/// Why a value does not go into a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StoreError {
    /// More characters or bytes than the type holds.
    #[error("value too long, the limit is {limit}")]
    TooLong {
        /// The greatest length.
        limit: u32,
    },
    /// A number outside the type's range or precision.
    #[error("number out of range")]
    OutOfRange,
    /// A value that is not of the type at all.
    #[error("not a value of the type")]
    WrongType,
    /// We do not know what the database does.
    #[error("unknown conversion to {0:?}")]
    Unknown(DataType),
}

impl DialectName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ansi, Self::Postgres, Self::MySql, Self::Sqlite];

    /// The behaviour behind the name.
    pub fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Ansi => &Ansi,
            Self::Postgres => &Postgres,
            Self::MySql => &MySql,
            Self::Sqlite => &Sqlite,
        }
    }

    /// As flags and reports spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ansi => "ansi",
            Self::Postgres => "postgres",
            Self::MySql => "mysql",
            Self::Sqlite => "sqlite",
        }
    }
}

impl fmt::Display for DialectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DialectName {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "ansi" | "generic" | "sql" => Ok(Self::Ansi),
            "postgres" | "postgresql" | "pg" => Ok(Self::Postgres),
            "mysql" | "mariadb" => Ok(Self::MySql),
            "sqlite" | "sqlite3" => Ok(Self::Sqlite),
            _ => Err(UnknownDialect(text.to_owned())),
        }
    }
}

/// An unknown dialect name.
#[derive(Debug, thiserror::Error)]
#[error("unknown dialect `{0}` (expected one of: ansi, postgres, mysql, sqlite)")]
pub struct UnknownDialect(String);
