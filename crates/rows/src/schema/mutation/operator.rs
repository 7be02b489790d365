//! Mutation operators for schemas.

use std::fmt;
use std::str::FromStr;

/// One kind of small change to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// A CHECK is forgotten.
    CheckRemoval,
    /// An element of an IN list is forgotten.
    CheckInElementRemoval,
    /// A comparison is another one.
    CheckRelationalExchange,
    /// A foreign key has a pair of columns more.
    ForeignKeyPairAdd,
    /// A foreign key has a pair of columns less, or is gone.
    ForeignKeyPairRemove,
    /// One column of a foreign key's pair is another one.
    ForeignKeyPairExchange,
    /// The primary key has a column more, or there is one.
    PrimaryKeyColumnAdd,
    /// The primary key has a column less, or is gone.
    PrimaryKeyColumnRemove,
    /// A column of the primary key is another one.
    PrimaryKeyColumnExchange,
    /// A column may no longer be NULL.
    NotNullAdd,
    /// A column may be NULL.
    NotNullRemove,
    /// A UNIQUE has a column more, or there is one.
    UniqueColumnAdd,
    /// A UNIQUE has a column less, or is gone.
    UniqueColumnRemove,
    /// A column of a UNIQUE is another one.
    UniqueColumnExchange,
    /// A constant of a CHECK is just off.
    CheckConstant,
    /// A bound of a BETWEEN is just off.
    CheckBound,
    /// AND is OR, or the reverse.
    CheckConnective,
    /// IS NULL, IN, LIKE or BETWEEN is negated.
    CheckNegation,
    /// A type is narrower or wider.
    ColumnType,
    /// A foreign key does something else on DELETE or UPDATE.
    ForeignKeyAction,
    /// A DEFAULT is forgotten.
    DefaultRemoval,
    /// A partial unique index holds all rows.
    IndexPredicateRemoval,
}

/// Which operators are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OperatorSet {
    /// The 14 of McMinn, Wright and Kapfhammer (seed 004 and its predecessors).
    Paper,
    /// Those, and ours.
    #[default]
    All,
}

impl Operator {
    /// The operators of the literature, in the order in which mutants are made.
    pub const PAPER: [Self; 14] = [
        Self::CheckRemoval,
        Self::CheckInElementRemoval,
        Self::CheckRelationalExchange,
        Self::ForeignKeyPairAdd,
        Self::ForeignKeyPairRemove,
        Self::ForeignKeyPairExchange,
        Self::PrimaryKeyColumnAdd,
        Self::PrimaryKeyColumnRemove,
        Self::PrimaryKeyColumnExchange,
        Self::NotNullAdd,
        Self::NotNullRemove,
        Self::UniqueColumnAdd,
        Self::UniqueColumnRemove,
        Self::UniqueColumnExchange,
    ];

    /// The operators that go beyond it.
    pub const OURS: [Self; 8] = [
        Self::CheckConstant,
        Self::CheckBound,
        Self::CheckConnective,
        Self::CheckNegation,
        Self::ColumnType,
        Self::ForeignKeyAction,
        Self::DefaultRemoval,
        Self::IndexPredicateRemoval,
    ];

    /// As reports spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CheckRemoval => "check-removal",
            Self::CheckInElementRemoval => "check-in-element-removal",
            Self::CheckRelationalExchange => "check-comparison-exchange",
            Self::ForeignKeyPairAdd => "foreign-key-pair-add",
            Self::ForeignKeyPairRemove => "foreign-key-pair-remove",
            Self::ForeignKeyPairExchange => "foreign-key-pair-exchange",
            Self::PrimaryKeyColumnAdd => "primary-key-column-add",
            Self::PrimaryKeyColumnRemove => "primary-key-column-remove",
            Self::PrimaryKeyColumnExchange => "primary-key-column-exchange",
            Self::NotNullAdd => "not-null-add",
            Self::NotNullRemove => "not-null-remove",
            Self::UniqueColumnAdd => "unique-column-add",
            Self::UniqueColumnRemove => "unique-column-remove",
            Self::UniqueColumnExchange => "unique-column-exchange",
            Self::CheckConstant => "check-constant",
            Self::CheckBound => "check-bound",
            Self::CheckConnective => "check-connective",
            Self::CheckNegation => "check-negation",
            Self::ColumnType => "column-type",
            Self::ForeignKeyAction => "foreign-key-action",
            Self::DefaultRemoval => "default-removal",
            Self::IndexPredicateRemoval => "index-predicate-removal",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl OperatorSet {
    /// Its operators, in the order in which mutants are made.
    pub fn operators(self) -> impl Iterator<Item = Operator> {
        let ours: &[Operator] = match self {
            Self::Paper => &[],
            Self::All => &Operator::OURS,
        };
        Operator::PAPER.iter().chain(ours).copied()
    }

    /// As flags spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::All => "all",
        }
    }
}

impl FromStr for OperatorSet {
    type Err = UnknownOperatorSet;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "paper" => Ok(Self::Paper),
            "all" => Ok(Self::All),
            _ => Err(UnknownOperatorSet(text.to_owned())),
        }
    }
}

/// An unknown name of a set of mutation operators.
#[derive(Debug, thiserror::Error)]
#[error("unknown set of mutation operators `{0}` (expected one of: paper, all)")]
pub struct UnknownOperatorSet(String);
