//! The effect of one call on the database rows.

use isobath_exec::test_database::RowChange;
use isobath_sql::Value;

/// What one call did to the rows of the database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallEffect {
    /// Rows that are new, gone or changed.
    pub changes: Vec<RowChange>,
    /// Whether the effect is completely known; large tables are not observed.
    pub is_complete: bool,
    /// The row that the path names, as it was before the call.
    pub target: Option<AddressedRow>,
    /// Whether the response refers to an existing row, or repeats an idempotent request.
    pub mentions_existing_row: bool,
    /// Rows whose reference has no target since the call.
    pub orphans: Vec<Orphan>,
    /// Constraints that what was sent would violate if it were stored as it is, as indices of table and constraint.
    pub attempts: Vec<(usize, usize)>,
}

/// The row that a path names.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressedRow {
    /// Its table.
    pub table: usize,
    /// The column that the path gives the value of.
    pub column: usize,
    /// The row.
    pub row: Vec<Value>,
}

/// A row whose reference has no target, in a table where all others lead somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Orphan {
    /// Its table.
    pub table: usize,
    /// The column that refers.
    pub column: usize,
    /// The table that it refers to.
    pub parent: usize,
    /// The row.
    pub row: Vec<Value>,
}
