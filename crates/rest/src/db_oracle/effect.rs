//! What one call did to the rows.

use isobath_exec::test_database::RowChange;
use isobath_sql::Value;

/// What one call did to the rows of the database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallEffect {
    /// Rows that are new, gone or changed.
    pub changes: Vec<RowChange>,
    /// Whether all of it is known; nothing can be said of tables that are too large.
    pub is_complete: bool,
    /// The row that the path names, as it was before the call.
    pub target: Option<AddressedRow>,
    /// Whether the answer speaks of a row that was there before, or answers a request that the database knows.
    pub mentions_existing_row: bool,
    /// Rows whose reference leads nowhere since the call.
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

/// A row whose reference leads nowhere, in a table where all others lead somewhere.
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
