//! Mutation operators for queries, after Tuya, Suárez-Cabal and de la Riva (2007).

use std::fmt;

/// What kind of change a mutant makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MutationOperator {
    /// Another comparison operator.
    Relational,
    /// AND for OR and the reverse, or only one of the two conditions.
    Logical,
    /// Another arithmetic operator.
    Arithmetic,
    /// A negated IN, LIKE, EXISTS, BETWEEN or IS NULL.
    Negation,
    /// A bound moved by one, or left out of a range.
    Boundary,
    /// NULL let in, or not replaced.
    Null,
    /// A pattern without its wildcards.
    Pattern,
    /// Another type of join.
    Join,
    /// Another aggregate function, or DISTINCT in one.
    Aggregate,
    /// DISTINCT added or removed.
    Distinct,
    /// ALL added to a set operation or removed.
    SetOperation,
    /// Another order.
    Order,
    /// A branch of CASE removed.
    Case,
}

impl fmt::Display for MutationOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Relational => "relational operator",
            Self::Logical => "logical operator",
            Self::Arithmetic => "arithmetic operator",
            Self::Negation => "negation",
            Self::Boundary => "boundary",
            Self::Null => "NULL handling",
            Self::Pattern => "pattern",
            Self::Join => "join type",
            Self::Aggregate => "aggregate",
            Self::Distinct => "DISTINCT",
            Self::SetOperation => "set operation",
            Self::Order => "ORDER BY",
            Self::Case => "CASE",
        })
    }
}
