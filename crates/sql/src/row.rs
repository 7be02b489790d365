//! Rows on their way into a table.

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
        match &self.cells[column] {
            Cell::Value(value) => Some(value),
            Cell::Default => None,
        }
    }
}
