//! Finished tests of one schema, before they are printed.

use isobath_sql::Value;
use isobath_sql::memory::Violation;
use isobath_sql::row::Statement;

/// A test: statements that must be accepted, then one whose outcome is asserted.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    /// The table under test.
    pub table: usize,
    /// A sentence that says the intent, unique in its suite.
    pub name: String,
    /// Indices of the requirements it covers.
    pub covers: Vec<usize>,
    /// Rows that must be there first, in order; all accepted.
    pub lead_up: Vec<Statement>,
    /// The statement under test.
    pub act: Statement,
    /// What must become of it.
    pub expected: Expected,
    /// Rows of tables afterwards, where the test asserts them (defaults, actions of foreign keys).
    pub after: Vec<After>,
}

/// What must become of the statement under test.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// It is carried out.
    Accepted,
    /// It is refused, for this reason and no other.
    Rejected(Violation),
}

/// The content of some columns of a table after the test's statement.
#[derive(Clone, Debug, PartialEq)]
pub struct After {
    /// The table.
    pub table: usize,
    /// The columns asserted.
    pub columns: Vec<usize>,
    /// All rows of the table, restricted to those columns.
    pub rows: Vec<Vec<Value>>,
}

impl TestCase {
    /// All statements in order, the one under test last.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.lead_up.iter().chain(std::iter::once(&self.act))
    }

    /// How many rows it inserts.
    pub fn inserts(&self) -> usize {
        self.statements()
            .map(|statement| match statement {
                Statement::Insert(_) => 1,
                Statement::InsertTogether(rows) => rows.len(),
                Statement::Update { .. } | Statement::Delete { .. } => 0,
            })
            .sum()
    }
}
