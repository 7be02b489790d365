//! Local search: improves a near-miss candidate one cell or row at a time.

use isobath_sql::{DataType, Value};

use super::operators::CandidateFactory;
use super::space::SearchSpace;
use crate::cells::avm::{self, AvmTarget};
use crate::cells::values::ValuePool;
use crate::query::archive::Archive;
use crate::query::candidate::Candidate;
use crate::query::construct::{complete, fresh, is_not_null};

/// The most rows of a table.
const MAX_ROWS: usize = 8;
/// What it counts that the database would refuse rows that cover the target.
const CONSTRAINT_PENALTY: f64 = 0.5;

/// Something that may change.
#[derive(Clone, Copy, Debug)]
pub(in crate::query) enum At {
    Cell {
        table: usize,
        row: usize,
        column: usize,
    },
    Parameter(usize),
}

/// One ascent after the other, until the target is covered or the budget is spent.
pub(in crate::query) struct LocalSearch<'c, 'a> {
    archive: &'c mut Archive<'a>,
    target: usize,
    space: &'c SearchSpace,
    candidate: Candidate,
    best: f64,
    left: u64,
    /// Whether values may become NULL, which can look near and lead nowhere.
    to_null: bool,
}

impl<'c, 'a> LocalSearch<'c, 'a> {
    pub(in crate::query) fn new(
        archive: &'c mut Archive<'a>,
        target: usize,
        space: &'c SearchSpace,
        budget: u64,
    ) -> Self {
        Self {
            archive,
            target,
            space,
            candidate: Candidate::default(),
            best: f64::INFINITY,
            left: budget,
            to_null: false,
        }
    }

    /// Climbs from each start, then from random candidates; what is left of the budget.
    pub(in crate::query) fn run(
        mut self,
        starts: Vec<Candidate>,
        factory: &mut CandidateFactory<'_, '_>,
    ) -> u64 {
        let mut profile = ValuePool::default();
        for constant in &self.space.constants {
            profile.add(constant);
        }
        // Each start with and without moves to NULL.
        let mut starts = starts.into_iter().flat_map(|start| [start.clone(), start]);
        while self.left > 0
            && self.archive.is_open(self.target)
            && !self.archive.context.stop.is_set()
        {
            let start = starts.next().unwrap_or_else(|| factory.sample());
            self.best = f64::INFINITY;
            self.to_null = !self.to_null;
            self.offer(start);
            while self.left > 0 && self.best > 0.0 {
                let before = self.best;
                self.cells(&profile, factory);
                if self.best == before {
                    self.rows(factory);
                }
                if self.best == before {
                    break;
                }
            }
        }
        self.left
    }

    /// Takes a candidate if it is better; whether it is.
    fn offer(&mut self, candidate: Candidate) -> bool {
        if self.left == 0 || self.best == 0.0 {
            return false;
        }
        let before = self.archive.spent();
        let mut score = self.archive.distance(self.target, &candidate) + 1.0;
        self.left = match self.archive.context.stop.is_set() {
            true => 0,
            false => self.left.saturating_sub(self.archive.spent() - before),
        };
        if score == 1.0 {
            score = CONSTRAINT_PENALTY;
            let lawful = if self.archive.context.constraints {
                complete(&self.archive.context, candidate.clone())
            } else {
                Some(candidate.clone())
            };
            if let Some(lawful) = lawful
                && self.archive.covers(self.target, &lawful)
            {
                self.archive.keep(self.target, lawful);
                score = 0.0;
            }
        }
        if score >= self.best {
            return false;
        }
        self.best = score;
        self.candidate = candidate;
        true
    }

    /// Every cell and parameter in turn.
    fn cells(&mut self, profile: &ValuePool, factory: &mut CandidateFactory<'_, '_>) {
        let mut places = Vec::new();
        for (table, columns) in &self.space.tables {
            for row in 0..self.candidate.rows.get(table).map_or(0, Vec::len) {
                places.extend(columns.iter().map(|column| At::Cell {
                    table: *table,
                    row,
                    column: *column,
                }));
            }
        }
        let parameters = self.space.parameters.iter();
        places.extend(parameters.map(|(number, _)| At::Parameter(*number)));
        for at in places {
            if self.best == 0.0 || self.left == 0 {
                return;
            }
            for seed in self.seeds(at, factory) {
                if self.to_null || !seed.is_null() {
                    self.try_value(at, seed);
                }
            }
            if !self.value_at(at).is_null() {
                avm::search(self, at, profile, &mut factory.rng);
            }
        }
    }

    /// Values to try outright: NULL, the constants, values of the columns that it is compared with.
    fn seeds(&self, at: At, factory: &mut CandidateFactory<'_, '_>) -> Vec<Value> {
        let At::Cell { table, column, .. } = at else {
            return self.space.constants.clone();
        };
        let context = self.archive.context;
        let definition = &context.schema.tables[table];
        let mut seeds = Vec::new();
        if !is_not_null(&context, definition, column) {
            seeds.push(Value::Null);
        }
        if self.value_at(at).is_null() {
            seeds.push(fresh(&definition.columns[column].data_type, 1));
        }
        for constant in &self.space.constants {
            seeds.extend(factory.as_stored(table, column, constant));
        }
        let mut partners: Vec<(usize, usize)> = self.space.partners((table, column)).collect();
        partners.push((table, column));
        for (table, column) in partners {
            let rows = self.candidate.rows.get(&table).into_iter().flatten();
            seeds.extend(rows.map(|row| row[column].clone()));
        }
        seeds
    }

    /// One row more or less.
    fn rows(&mut self, factory: &mut CandidateFactory<'_, '_>) {
        let tables: Vec<usize> = self.space.tables.iter().map(|(table, _)| *table).collect();
        for table in tables {
            let count = self.candidate.rows.get(&table).map_or(0, Vec::len);
            for row in (0..count).rev() {
                let mut fewer = self.candidate.clone();
                fewer.rows.entry(table).or_default().remove(row);
                if self.offer(fewer) {
                    return;
                }
            }
            if count >= MAX_ROWS {
                continue;
            }
            for row in 0..count {
                let mut more = self.candidate.clone();
                let Some(copy) = factory.copied(table, &more.rows[&table][row]) else {
                    continue;
                };
                more.push(table, copy);
                if self.offer(more) {
                    return;
                }
            }
            let mut more = self.candidate.clone();
            if let Some(row) = factory.row(table, &more) {
                more.push(table, row);
                if self.offer(more) {
                    return;
                }
            }
        }
    }
}

impl<'a> AvmTarget<'a> for LocalSearch<'_, 'a> {
    type At = At;

    fn data_type(&self, at: At) -> &'a DataType {
        const NUMBER: &DataType = &DataType::Integer {
            bits: 64,
            unsigned: false,
        };
        let column = match at {
            At::Cell { table, column, .. } => Some((table, column)),
            At::Parameter(number) => {
                let mut parameters = self.space.parameters.iter();
                parameters
                    .find(|(of, _)| *of == number)
                    .and_then(|(_, column)| *column)
            }
        };
        match (column, self.value_at(at)) {
            (Some((table, column)), _) => {
                &self.archive.context.schema.tables[table].columns[column].data_type
            }
            (None, Value::Text(_)) => &DataType::Text,
            (None, _) => NUMBER,
        }
    }

    fn value_at(&self, at: At) -> &Value {
        match at {
            At::Cell { table, row, column } => &self.candidate.rows[&table][row][column],
            At::Parameter(number) => self
                .candidate
                .parameters
                .get(number)
                .unwrap_or(&Value::Null),
        }
    }

    fn try_value(&mut self, at: At, value: Value) -> bool {
        if *self.value_at(at) == value {
            return false;
        }
        let mut changed = self.candidate.clone();
        match at {
            At::Cell { table, row, column } => {
                let definition = &self.archive.context.schema.tables[table];
                let stored = if value.is_null() {
                    Some(Value::Null)
                } else {
                    let dialect = self.archive.context.dialect;
                    dialect.store_in(&value, definition, column).ok()
                };
                let (Some(stored), Some(rows)) = (stored, changed.rows.get_mut(&table)) else {
                    return false;
                };
                rows[row][column] = stored;
            }
            At::Parameter(number) => changed.bind(number, value),
        }
        self.offer(changed)
    }
}
