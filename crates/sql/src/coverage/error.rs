//! Why a query has no targets.

/// Why a query has no targets. Lines and columns count from one, 0 where unknown.
///
/// The message does not contain the location: see [`TargetError::location`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The text is not SQL of the dialect.
    #[error("{message}")]
    Syntax {
        /// What the parser expected and found.
        message: String,
        /// Line.
        line: u64,
        /// Column.
        column: u64,
    },
    /// Nothing to read: no statement in the text.
    #[error("expected a SQL statement, found none")]
    Empty,
    /// More than one statement where one was expected.
    #[error("expected one SQL statement, found {statements}")]
    Several {
        /// How many.
        statements: usize,
    },
    /// A statement that reads no rows.
    #[error("{statement} reads no rows")]
    ReadsNothing {
        /// The statement's first words.
        statement: String,
    },
    /// A table that the schema does not have.
    #[error("unknown table `{name}`")]
    UnknownTable {
        /// Its name.
        name: String,
        /// Line.
        line: u64,
        /// Column.
        column: u64,
    },
    /// A column that no table in scope has.
    #[error("unknown column `{name}`")]
    UnknownColumn {
        /// Its name as written.
        name: String,
        /// Line.
        line: u64,
        /// Column.
        column: u64,
    },
    /// A column that several tables in scope have.
    #[error("column `{name}` is ambiguous between {}", between.join(" and "))]
    AmbiguousColumn {
        /// Its name.
        name: String,
        /// The tables or aliases.
        between: Vec<String>,
        /// Line.
        line: u64,
        /// Column.
        column: u64,
    },
    /// More operators than targets could reasonably be made of.
    #[error("the query has {operators} operators; the limit is {limit}")]
    TooLarge {
        /// How many there are.
        operators: usize,
        /// How many there may be.
        limit: usize,
    },
}

impl TargetError {
    /// The place in the query, line and column from one, when there is one.
    pub fn location(&self) -> Option<(u64, u64)> {
        match *self {
            Self::Syntax { line, column, .. }
            | Self::UnknownTable { line, column, .. }
            | Self::UnknownColumn { line, column, .. }
            | Self::AmbiguousColumn { line, column, .. } => (line > 0).then_some((line, column)),
            Self::Empty
            | Self::Several { .. }
            | Self::ReadsNothing { .. }
            | Self::TooLarge { .. } => None,
        }
    }
}
