//! What a criterion asks for.

use super::predicate::Predicate;

/// One thing that a suite must show.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The table it is about.
    pub table: usize,
    /// What it asks of a new row of that table.
    pub predicate: Predicate,
    /// Why it exists, one sentence per criterion that asked for it.
    pub says: Vec<String>,
    /// Whether the row must be accepted; `None` where the criterion does not say.
    pub accepted: Option<bool>,
    /// Whether a row of the same table must be there to compare with.
    pub needs_comparison: bool,
    /// The constraint (index in the table) whose violation is asked for.
    pub violates: Option<usize>,
}
