//! The snapshot as a value, for resuming an interrupted run.
//!
//! What is kept in temporary tables is lost with its connection, and the rows of the candidate that ran last stay.

use std::collections::BTreeMap;

use isobath_sql::Value;
use isobath_sql::render::table_name;

use super::{TableImage, Tables, TestDatabase};
use crate::database::DatabaseError;

/// The rows and counters that a database had at first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The rows of tables, by the names of these; those with too many rows are not among them.
    pub rows: BTreeMap<String, Vec<Vec<Value>>>,
    /// Where counters stood.
    pub counters: Vec<Counter>,
}

/// Where a counter stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The table that it belongs to; in PostgreSQL the sequence.
    pub name: String,
    /// Its last number; in MySQL its next.
    pub last: i128,
    /// Whether that number was given to a row.
    pub is_called: bool,
}

impl TestDatabase {
    /// The snapshot; tables with more than [`MAX_READ_ROWS`](super::MAX_READ_ROWS) are left out.
    pub fn snapshot(&self) -> Snapshot {
        let dialect = self.dialect();
        let complete = |(index, content): (usize, &TableImage)| {
            let table = self.schema.tables.get(index)?;
            let rows = content.is_complete.then(|| content.rows.clone())?;
            Some((table_name(table, dialect), rows))
        };
        Snapshot {
            rows: self.initial_image.iter().filter_map(complete).collect(),
            counters: self.saved.counters.told(&self.schema, dialect),
        }
    }

    /// Restores an earlier snapshot and makes it the current one. Returns the names of
    /// the tables whose rows differed, and of those that the snapshot lacks.
    ///
    /// Tables that are not there any more, or have other columns now, count among the latter.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or the database refuses a row.
    pub fn restore_snapshot(
        &mut self,
        first: &Snapshot,
    ) -> Result<(Vec<String>, Vec<String>), DatabaseError> {
        let dialect = self.dialect();
        let (mut changed, mut unknown) = (Tables::new(), Vec::new());
        for index in 0..self.schema.tables.len() {
            let table = self.schema.table(index);
            let (name, n_columns) = (table_name(table, dialect), table.columns.len());
            let rows = first.rows.get(&name);
            let fits = |rows: &&Vec<Vec<Value>>| rows.iter().all(|row| row.len() == n_columns);
            let Some(rows) = rows.filter(fits) else {
                unknown.push(name);
                continue;
            };
            let wanted = TableImage {
                rows: rows.clone(),
                is_complete: true,
            };
            let now = self.initial_image.get(index);
            if now.is_none_or(|now| !now.is_complete || !now.holds_same(&wanted)) {
                self.saved
                    .replace(self.database.as_mut(), &self.schema, index, rows)?;
                self.initial_image.put(index, wanted);
                changed.insert(index);
            }
        }
        self.saved
            .counters
            .set(&self.schema, dialect, &first.counters);
        // Counters may have moved on in tables whose rows are as they were.
        let all = self.all_tables();
        self.reset(&all)?;
        let names = changed.iter();
        let names = names.map(|&index| table_name(self.schema.table(index), dialect));
        Ok((names.collect(), unknown))
    }
}
