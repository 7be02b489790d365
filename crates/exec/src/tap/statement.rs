//! A statement observed by the tap.

use isobath_protocol::Event;
use isobath_sql::DialectName;

use crate::statement::StatementFailure;

/// A statement that a service sent to its database, and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The number of the candidate during which it was sent.
    pub candidate: u64,
    /// The action of the candidate.
    pub action: u16,
    /// Whose words it is written in.
    pub dialect: DialectName,
    /// The text as it was sent, with placeholders.
    pub sent: String,
    /// The values of the placeholders as literals; `None` where a value could not be read.
    pub parameters: Vec<Option<String>>,
    /// The text with values in place of placeholders, as far as they could be read.
    pub text: String,
    /// The rows that it touched.
    pub touched: RowEffect,
    /// Why it failed.
    pub failure: Option<StatementFailure>,
}

/// Which rows a statement touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEffect {
    /// So many came back.
    Returned(u64),
    /// So many were inserted, updated or deleted.
    Changed(u64),
    /// It has nothing to do with rows, or it failed.
    Nothing,
}

impl RowEffect {
    /// How many rows.
    #[must_use]
    pub fn rows(self) -> u64 {
        match self {
            Self::Returned(rows) | Self::Changed(rows) => rows,
            Self::Nothing => 0,
        }
    }
}

/// The event by which a driver would tell of it; `rows` are those that came back, or else those that were changed.
impl From<Statement> for Event {
    fn from(statement: Statement) -> Self {
        Self::Statement {
            action: statement.action,
            database: statement.dialect.to_string(),
            rows: statement.touched.rows(),
            failure: statement.failure.map(|failure| failure.to_string()),
            text: statement.text,
        }
    }
}
