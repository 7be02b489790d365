//! Varies fixtures until they kill more mutants.
//!
//! A query that asks for a difference finds rows that a condition tells apart. Whether the order of rows, an aggregate or
//! DISTINCT shows needs several rows that are alike but for a value: a fixture with a row twice, under another key
//! and with what refers to it, and with a value changed, has them more often than not.

use isobath_sql::Value;

use crate::query::candidate::Candidate;
use crate::query::construct::{SolverContext, complete, neighbors};
use crate::query::search::operators::CandidateFactory;

/// The most rows of a fixture that is varied.
const MAX_ROWS: usize = 40;
/// The most rows that are copied with one.
const MAX_COPIES: usize = 12;

/// A row to copy: its table, itself, and the columns whose values follow another copy.
type Follower = (usize, Vec<Value>, Vec<(usize, Value)>);

/// Makes candidates from those of fixtures.
pub(super) struct FixtureVariation<'m, 's> {
    factory: CandidateFactory<'m, 's>,
}

impl<'m, 's> FixtureVariation<'m, 's> {
    pub(super) fn new(factory: CandidateFactory<'m, 's>) -> Self {
        Self { factory }
    }

    fn context(&self) -> SolverContext<'s> {
        self.factory.context
    }

    /// A candidate near one of the given; `None` when the database would refuse it.
    pub(super) fn next(&mut self, from: &[Candidate]) -> Option<Candidate> {
        let at = self.factory.rng.usize(..from.len());
        let mut candidate = from[at].clone();
        for _ in 0..self.factory.rng.usize(1..=4) {
            match self.factory.rng.usize(..10) {
                0..4 => self.copy(&mut candidate),
                4..8 => self.change(&mut candidate),
                8 => {
                    let other = self.factory.rng.usize(..from.len());
                    add_rows(&mut candidate, &from[other]);
                }
                _ => self.remove(&mut candidate),
            }
        }
        if candidate.row_count() > MAX_ROWS {
            return None;
        }
        if self.context().constraints {
            candidate = complete(&self.context(), candidate)?;
        }
        (candidate != from[at]).then_some(candidate)
    }

    /// Any row of the tables that the query reads.
    fn any_row(&mut self, candidate: &Candidate) -> Option<(usize, usize)> {
        let tables = self.factory.space.tables.iter();
        let mut rows: Vec<(usize, usize)> = Vec::new();
        for (table, _) in tables {
            let count = candidate.rows.get(table).map_or(0, Vec::len);
            rows.extend((0..count).map(|row| (*table, row)));
        }
        (!rows.is_empty()).then(|| rows[self.factory.rng.usize(..rows.len())])
    }

    /// A row once more under another key, and the rows that refer to it.
    fn copy(&mut self, candidate: &mut Candidate) {
        let Some((table, row)) = self.any_row(candidate) else {
            return;
        };
        let mut waiting = vec![(table, candidate.rows[&table][row].clone(), Vec::new())];
        let mut copies = 0;
        while let Some((table, original, moved)) = waiting.pop() {
            let Some(mut copy) = self.factory.copied(table, &original) else {
                continue;
            };
            for (column, value) in moved {
                copy[column] = value;
            }
            copies += 1;
            if copies < MAX_COPIES {
                let followers = self.followers(candidate, table, &original, &copy);
                waiting.extend(followers);
            }
            candidate.push(table, copy);
        }
    }

    /// The rows that refer to a row by a value that its copy has otherwise, and their columns' values to follow it.
    fn followers(
        &self,
        candidate: &Candidate,
        table: usize,
        original: &[Value],
        copy: &[Value],
    ) -> Vec<Follower> {
        let schema = self.context().schema;
        let mut links: Vec<(usize, usize, usize)> = Vec::new();
        for column in (0..original.len()).filter(|column| original[*column] != copy[*column]) {
            let partners = self.factory.space.partners((table, column));
            links.extend(partners.map(|(other, of)| (column, other, of)));
            for (other, definition) in schema.tables.iter().enumerate() {
                for key in definition.foreign_keys().filter(|key| key.parent == table) {
                    let pairs = key.parent_columns.iter().zip(&key.columns);
                    let these = pairs.filter(|(parent, _)| **parent == column);
                    links.extend(these.map(|(_, child)| (column, other, *child)));
                }
            }
        }
        let mut found: Vec<Follower> = Vec::new();
        for (column, other, of) in links {
            for row in candidate.rows.get(&other).into_iter().flatten() {
                if other == table && row == original || row[of] != original[column] {
                    continue;
                }
                let moved = (of, copy[column].clone());
                match found
                    .iter_mut()
                    .find(|known| known.0 == other && known.1 == *row)
                {
                    Some(known) if known.2.contains(&moved) => {}
                    Some(known) => known.2.push(moved),
                    None => found.push((other, row.clone(), vec![moved])),
                }
            }
        }
        found
    }

    /// Another value in one of the columns that are read.
    fn change(&mut self, candidate: &mut Candidate) {
        let Some((table, row)) = self.any_row(candidate) else {
            return;
        };
        let definition = &self.context().schema.tables[table];
        let read = self.factory.space.columns(table);
        let column = match read.is_empty() || self.factory.rng.usize(..4) == 0 {
            true => self.factory.rng.usize(..definition.columns.len()),
            false => read[self.factory.rng.usize(..read.len())],
        };
        let old = candidate.rows[&table][row][column].clone();
        let data_type = &definition.columns[column].data_type;
        let near = neighbors(&old, Some(data_type));
        let value = match self.factory.rng.usize(..2) {
            0 if !near.is_empty() => near[self.factory.rng.usize(..near.len())].clone(),
            _ => self.factory.changed(table, column, &old, candidate),
        };
        if let Some(stored) = self.factory.as_stored(table, column, &value)
            && let Some(rows) = candidate.rows.get_mut(&table)
        {
            rows[row][column] = stored;
        }
    }

    fn remove(&mut self, candidate: &mut Candidate) {
        if let Some((table, row)) = self.any_row(candidate)
            && let Some(rows) = candidate.rows.get_mut(&table)
        {
            rows.remove(row);
        }
    }
}

/// Adds the rows of another candidate that are not there.
fn add_rows(candidate: &mut Candidate, other: &Candidate) {
    for (table, rows) in &other.rows {
        for row in rows {
            let there = candidate.rows.entry(*table).or_default();
            if !there.contains(row) {
                there.push(row.clone());
            }
        }
    }
}

/// A candidate without the rows that it does not need.
pub(super) fn reduced(
    context: &SolverContext<'_>,
    mut candidate: Candidate,
    is_enough: &dyn Fn(&Candidate) -> bool,
) -> Candidate {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (table, rows) in &candidate.rows {
        places.extend((0..rows.len()).rev().map(|row| (*table, row)));
    }
    for (table, row) in places {
        if context.stop.is_set() {
            break;
        }
        let mut fewer = candidate.clone();
        if let Some(rows) = fewer.rows.get_mut(&table) {
            rows.remove(row);
        }
        fewer.rows.retain(|_, rows| !rows.is_empty());
        let count = fewer.row_count();
        let lawful = match context.constraints {
            true => complete(context, fewer).filter(|of| of.row_count() == count),
            false => Some(fewer),
        };
        // A place that is left out moves those behind it, which were looked at before.
        if let Some(fewer) = lawful.filter(|of| is_enough(of)) {
            candidate = fewer;
        }
    }
    candidate
}
