//! A candidate: rows per table, and parameter values.

use std::collections::BTreeMap;

use isobath_sql::Value;
use isobath_sql::query::Relations;

/// Rows per table, and the values of the query's parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    /// The rows, as stored, by the index of their table; tables without rows are left out.
    pub rows: BTreeMap<usize, Vec<Vec<Value>>>,
    /// Values of the query's parameters, in the order of their numbers.
    pub parameters: Vec<Value>,
}

impl Candidate {
    /// How many rows it has in all.
    pub fn row_count(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    /// Adds a row.
    pub fn push(&mut self, table: usize, row: Vec<Value>) {
        self.rows.entry(table).or_default().push(row);
    }

    /// Gives a parameter a value.
    pub fn bind(&mut self, number: usize, value: Value) {
        if self.parameters.len() <= number {
            self.parameters.resize(number + 1, Value::Null);
        }
        self.parameters[number] = value;
    }
}

impl Relations for Candidate {
    fn rows(&self, table: usize) -> &[Vec<Value>] {
        self.rows.get(&table).map_or(&[], Vec::as_slice)
    }

    /// A search runs queries over thousands of candidates.
    fn max_combinations(&self) -> u64 {
        200_000
    }
}
