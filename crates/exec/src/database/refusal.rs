//! Why a database rejected a statement, in the same terms for every database.

use std::fmt;

/// Why a database refused a statement.
///
/// How much a database tells differs: SQLite names the columns of a key but not
/// the constraint, MariaDB the constraint but not always the table. What it does
/// not tell is left empty, never guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// What was wrong.
    pub kind: RefusalKind,
    /// The standard's code, where the database has one.
    pub sqlstate: Option<String>,
    /// The database's own code, where it has one.
    pub code: Option<i64>,
    /// The constraint or index that refused; in SQLite the text of an unnamed CHECK.
    pub constraint: Option<String>,
    /// The table.
    pub table: Option<String>,
    /// The columns.
    pub columns: Vec<String>,
    /// The database's own words.
    pub message: String,
}

/// What was wrong with a refused statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefusalKind {
    /// NULL where there must be a value, or no value and no default.
    NotNull,
    /// A second row with the same primary key.
    PrimaryKey,
    /// A second row with the same key; MariaDB and PostgreSQL tell primary keys by name only.
    Unique,
    /// A reference to nothing, or the last row referred to is taken away.
    ForeignKey,
    /// A condition that is false.
    Check,
    /// More characters or bytes than fit.
    TooLong,
    /// A number or date outside the range of its type.
    OutOfRange,
    /// A value that is not of the type.
    WrongType,
    /// A value for a column that the database computes.
    GeneratedColumn,
    /// A division by zero.
    DivisionByZero,
    /// Anything else: unknown names, syntax, rights.
    #[default]
    Other,
}

impl RefusalKind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::NotNull,
        Self::PrimaryKey,
        Self::Unique,
        Self::ForeignKey,
        Self::Check,
        Self::TooLong,
        Self::OutOfRange,
        Self::WrongType,
        Self::GeneratedColumn,
        Self::DivisionByZero,
        Self::Other,
    ];

    /// The kind that reports spell like this.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// As reports spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotNull => "NOT NULL",
            Self::PrimaryKey => "PRIMARY KEY",
            Self::Unique => "UNIQUE",
            Self::ForeignKey => "FOREIGN KEY",
            Self::Check => "CHECK",
            Self::TooLong => "too long",
            Self::OutOfRange => "out of range",
            Self::WrongType => "wrong type",
            Self::GeneratedColumn => "generated column",
            Self::DivisionByZero => "division by zero",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (&self.sqlstate, self.code) {
            (Some(sqlstate), _) => write!(f, " (SQLSTATE {sqlstate})"),
            (None, Some(code)) => write!(f, " (code {code})"),
            (None, None) => Ok(()),
        }
    }
}
