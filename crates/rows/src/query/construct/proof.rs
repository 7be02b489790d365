//! Proofs of infeasibility: why no rows can cover a target.

use std::fmt;

/// What kind of reason there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Conditions contradict each other.
    Contradiction,
    /// A column that cannot be NULL is asked to be.
    NotNull,
    /// A comparison with NULL is asked to be true or false.
    ComparedWithNull,
    /// Two rows would need the same key.
    Key,
    /// A foreign key asks for a row that must not be there.
    ForeignKey,
    /// A CHECK, a length, or the range of a type leaves no value.
    Domain,
    /// No group has so few or so many rows.
    Group,
    /// A condition asks for a value of a row that an outer join has not found.
    Join,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Contradiction,
        Self::NotNull,
        Self::ComparedWithNull,
        Self::Key,
        Self::ForeignKey,
        Self::Domain,
        Self::Group,
        Self::Join,
    ];

    /// In a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::NotNull => "NOT NULL column asked to be NULL",
            Self::ComparedWithNull => "comparison with NULL",
            Self::Key => "key conflict",
            Self::ForeignKey => "foreign key",
            Self::Domain => "CHECK, length or type",
            Self::Group => "size of a group",
            Self::Join => "outer join without partner",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A reason found on the way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proof {
    pub(super) cause: Cause,
    pub(super) description: String,
}

impl Proof {
    pub(super) fn new(cause: Cause, description: impl Into<String>) -> Self {
        Self {
            cause,
            description: description.into(),
        }
    }
}
