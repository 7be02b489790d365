//! A test requirement of a coverage criterion.

use super::predicate::Predicate;

/// One thing that a suite must show.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The table it is about.
    pub table: usize,
    /// What it asks of a new row of that table.
    pub predicate: Predicate,
    /// Why it exists, one sentence per criterion that asked for it.
    pub description: Vec<String>,
    /// Whether the row must be accepted; `None` where the criterion does not say.
    pub accepted: Option<bool>,
    /// Whether a row of the same table must be there to compare with.
    pub needs_comparison: bool,
    /// The constraint (index in the table) whose violation is asked for.
    pub violates: Option<usize>,
}

impl Requirement {
    /// Takes over what another requirement with the same predicate says.
    ///
    /// A known outcome wins over an open one. Two that disagree cannot come
    /// from criteria that control all rules; then the outcome is left open.
    pub fn absorb(&mut self, other: Self) {
        self.accepted = match (self.accepted, other.accepted) {
            (Some(own), Some(theirs)) if own != theirs => None,
            (own, theirs) => own.or(theirs),
        };
        self.violates = match (self.violates, other.violates) {
            (Some(own), Some(theirs)) if own != theirs => None,
            (own, theirs) => own.or(theirs),
        };
        self.needs_comparison |= other.needs_comparison;
        for sentence in other.description {
            if !self.description.contains(&sentence) {
                self.description.push(sentence);
            }
        }
    }
}
