//! The outcome of a statement, and the result set of a query.

use isobath_sql::Value;

use super::Refusal;

/// What a database did with one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementOutcome {
    /// It ran.
    Done {
        /// How many rows it changed, or returned; a row that an UPDATE leaves equal counts.
        rows: u64,
    },
    /// It was refused, and left nothing behind.
    Refused(Refusal),
}

impl StatementOutcome {
    /// Why the statement was refused, if it was.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Done { .. } => None,
            Self::Refused(refusal) => Some(refusal),
        }
    }

    /// Whether the statement ran.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. })
    }
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSet {
    /// The columns' names; PostgreSQL tells none when there are no rows.
    pub columns: Vec<String>,
    /// The rows, one value per column.
    pub rows: Vec<Vec<Value>>,
}

impl ResultSet {
    /// The text in the given column of every row; NULL and other kinds of values are left out.
    pub(crate) fn texts(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows
            .iter()
            .filter_map(move |row| match row.get(column) {
                Some(Value::Text(text)) => Some(text.as_str()),
                _ => None,
            })
    }
}
