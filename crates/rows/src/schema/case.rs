//! Test cases of a schema, before they are printed.

use isobath_sql::memory::{MemoryDatabase, Violation, reads_clock};
use isobath_sql::row::Statement;
use isobath_sql::{DataType, DialectName, Value};

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
    pub setup_rows: Vec<Statement>,
    /// The statement under test.
    pub statement: Statement,
    /// What must become of it.
    pub expected: ExpectedOutcome,
    /// Rows of tables afterwards, where the test asserts them (defaults, actions of foreign keys).
    pub after: Vec<ExpectedRows>,
}

/// What must become of the statement under test.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedOutcome {
    /// It is carried out.
    Accepted,
    /// It is refused, for this reason and no other.
    Rejected(Violation),
}

/// The content of some columns of a table after the test's statement.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedRows {
    /// The table.
    pub table: usize,
    /// What is asserted of each row.
    pub columns: Vec<ObservedColumn>,
    /// All rows of the table, restricted to that.
    pub rows: Vec<Vec<Value>>,
}

/// What a test sees of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedColumn {
    /// Its value.
    Value(usize),
    /// Whether it has one: a value that the clock gives is another one in each run.
    Presence(usize),
}

impl ObservedColumn {
    /// What stands for a value of which only the presence is asserted.
    pub const PRESENT: &'static str = "present";
}

impl ExpectedRows {
    /// What is in columns of a table now.
    pub fn now(table: usize, columns: &[usize], memory: &MemoryDatabase<'_>) -> Self {
        let definition = &memory.schema().tables[table];
        let columns: Vec<ObservedColumn> = columns
            .iter()
            .map(|column| {
                let of = &definition.columns[*column];
                let by_default = of.default.as_ref().is_some_and(reads_clock);
                // MySQL's TIMESTAMP also takes the time in place of NULL, and is printed in the session's zone.
                let stamp = memory.dialect().name() == DialectName::MySql
                    && matches!(of.data_type, DataType::Timestamp { zoned: true, .. });
                if by_default || stamp {
                    ObservedColumn::Presence(*column)
                } else {
                    ObservedColumn::Value(*column)
                }
            })
            .collect();
        let mut after = Self {
            table,
            columns,
            rows: Vec::new(),
        };
        after.rows = after.read(memory);
        after
    }

    /// What a memory holds where this test looks.
    pub fn read(&self, memory: &MemoryDatabase<'_>) -> Vec<Vec<Value>> {
        let seen = |row: &Vec<Value>| {
            let values = self.columns.iter().map(|seen| match *seen {
                ObservedColumn::Value(column) => row[column].clone(),
                ObservedColumn::Presence(column) if row[column].is_null() => Value::Null,
                ObservedColumn::Presence(_) => Value::text(ObservedColumn::PRESENT),
            });
            values.collect()
        };
        memory.rows(self.table).iter().map(seen).collect()
    }
}

impl TestCase {
    /// All statements in order, the one under test last.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.setup_rows
            .iter()
            .chain(std::iter::once(&self.statement))
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
