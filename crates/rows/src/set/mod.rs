//! Rows that a test brings along: built for a query, tied together, changed, and repaired.
//!
//! A [`NewRow`] has a cell per column; a cell may be left to the database or refer to a cell of an
//! earlier row, because a number that the database will give out is not known yet. [`ExistingRows`] is
//! what the rows are put on: the schema, and the rows that are there. [`ExistingRows::build`] makes
//! rows that a query returns, [`ExistingRows::link`] makes references of equal keys, [`ExistingRows::mutate`]
//! changes them, and [`ExistingRows::repair`] makes them acceptable again.

mod build;
mod existing_rows;
mod link;
mod mutate;
mod repair;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use isobath_sql::{Cell, Row, Value};

pub use existing_rows::ExistingRows;
pub use link::{LinkContext, LinkedConstant};

/// A row that a test inserts.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRow {
    /// What others call it by; no other row or step of the test has it.
    pub id: u32,
    /// Index of its table in the schema.
    pub table: usize,
    /// One per column of the table.
    pub cells: Vec<NewCell>,
}

/// What a row says about one column.
#[derive(Clone, Debug, PartialEq)]
pub enum NewCell {
    /// Nothing: what the database fills in.
    Default,
    /// This value.
    Value(Value),
    /// What an earlier row of the test has in a column.
    Of {
        /// The row, by its id.
        row: u32,
        /// The column of its table.
        column: usize,
    },
}

/// What rows became when they were inserted: by id, a value per column; `None` where it is not known.
pub type Inserted = BTreeMap<u32, Vec<Option<Value>>>;

impl NewRow {
    /// The row with its references looked up; `None` when one leads to nothing that is known.
    pub fn resolved(&self, inserted: &Inserted) -> Option<Row> {
        let cells = self.cells.iter().map(|cell| match cell {
            NewCell::Default => Some(Cell::Default),
            NewCell::Value(value) => Some(Cell::Value(value.clone())),
            NewCell::Of { row, column } => {
                let value = inserted.get(row)?.get(*column)?.clone()?;
                Some(Cell::Value(value))
            }
        });
        Some(Row {
            table: self.table,
            cells: cells.collect::<Option<_>>()?,
        })
    }

    /// The rows that it refers to.
    pub fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        self.cells.iter().filter_map(|cell| match cell {
            NewCell::Of { row, .. } => Some(*row),
            NewCell::Default | NewCell::Value(_) => None,
        })
    }
}

/// The rows without one of them and without those that refer to it; `None` when there is no such row.
pub fn without(rows: &[NewRow], id: u32) -> Option<Vec<NewRow>> {
    let mut gone = vec![id];
    let mut left = Vec::new();
    for row in rows {
        if row.id == id || row.sources().any(|source| gone.contains(&source)) {
            gone.push(row.id);
        } else {
            left.push(row.clone());
        }
    }
    (left.len() < rows.len()).then_some(left)
}
