//! The first rows outside of the connection, for a run that goes on after one that was killed.
//!
//! What is kept in temporary tables is lost with its connection, and the rows of the candidate that ran last stay.

use std::collections::BTreeMap;

use isobath_sql::Value;
use isobath_sql::render::table_name;

use super::{Content, State, Tables};
use crate::database::DatabaseError;

/// The rows and counters that a database had at first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct First {
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

impl State {
    /// The first rows; tables with more than [`MOST_READ`](super::MOST_READ) are left out.
    pub fn first(&self) -> First {
        let dialect = self.dialect();
        let complete = |(index, content): (usize, &Content)| {
            let table = self.schema.tables.get(index)?;
            let rows = content.is_complete.then(|| content.rows.clone())?;
            Some((table_name(table, dialect), rows))
        };
        First {
            rows: self.baseline.iter().filter_map(complete).collect(),
            counters: self.kept.counters.told(&self.schema, dialect),
        }
    }

    /// Brings the database to first rows that were told earlier, and takes them for the first ones. Returns the names of
    /// the tables whose rows differed, and of those of which nothing was told.
    ///
    /// Tables that are not there any more, or have other columns now, count among the latter.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or the database refuses a row.
    pub fn bring_back(
        &mut self,
        first: &First,
    ) -> Result<(Vec<String>, Vec<String>), DatabaseError> {
        let dialect = self.dialect();
        let (mut changed, mut unknown) = (Tables::new(), Vec::new());
        for index in 0..self.schema.tables.len() {
            let table = &self.schema.tables[index];
            let (name, n_columns) = (table_name(table, dialect), table.columns.len());
            let rows = first.rows.get(&name);
            let fits = |rows: &&Vec<Vec<Value>>| rows.iter().all(|row| row.len() == n_columns);
            let Some(rows) = rows.filter(fits) else {
                unknown.push(name);
                continue;
            };
            let wanted = Content {
                rows: rows.clone(),
                is_complete: true,
            };
            let now = self.baseline.get(index);
            if now.is_none_or(|now| !now.is_complete || !now.holds_same(&wanted)) {
                self.kept
                    .replace(self.database.as_mut(), &self.schema, index, rows)?;
                self.baseline.put(index, wanted);
                changed.insert(index);
            }
        }
        self.kept
            .counters
            .set(&self.schema, dialect, &first.counters);
        // Counters may have moved on in tables whose rows are as they were.
        let all = self.all();
        self.reset(&all)?;
        let names = changed.iter();
        let names = names.map(|&index| table_name(&self.schema.tables[index], dialect));
        Ok((names.collect(), unknown))
    }
}
