//! Rows to insert, and the statements that tests are made of.

use crate::value::Value;

/// One row to insert: a cell per column of the table, in the table's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Index of the table in its schema.
    pub table: usize,
    /// One cell per column.
    pub cells: Vec<Cell>,
}

/// What an INSERT says about one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// This value.
    Value(Value),
    /// Nothing: the column is left out, and its DEFAULT, identity or generation expression applies.
    Default,
}

/// A statement that changes rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `INSERT` of one row.
    Insert(Row),
    /// `INSERT`s that are judged together, after the last: rows that refer to each other in a circle.
    InsertTogether(Vec<Row>),
    /// `UPDATE … SET … WHERE`.
    Update {
        /// Index of the table.
        table: usize,
        /// What each named column becomes.
        set: Vec<(usize, Cell)>,
        /// Columns and the values that select the rows; NULL selects by IS NULL.
        only: Vec<(usize, Value)>,
    },
    /// `DELETE … WHERE`.
    Delete {
        /// Index of the table.
        table: usize,
        /// As for `Update`.
        only: Vec<(usize, Value)>,
    },
}

impl Row {
    /// A row that gives every column a value.
    pub fn of(table: usize, values: impl IntoIterator<Item = Value>) -> Self {
        Self {
            table,
            cells: values.into_iter().map(Cell::Value).collect(),
        }
    }

    /// The value given for a column, `None` where it is left to its default.
    pub fn value(&self, column: usize) -> Option<&Value> {
        match self.cells.get(column)? {
            Cell::Value(value) => Some(value),
            Cell::Default => None,
        }
    }
}

impl Statement {
    /// The table that it changes; for rows inserted together, that of the last one.
    ///
    /// # Panics
    ///
    /// On an empty `InsertTogether`, which nobody builds.
    pub fn table(&self) -> usize {
        match self {
            Self::Insert(row) => row.table,
            Self::InsertTogether(rows) => {
                rows.last()
                    .expect("rows inserted together are never none")
                    .table
            }
            Self::Update { table, .. } | Self::Delete { table, .. } => *table,
        }
    }
}
