//! Sampling, mutation and crossover of rows: the operators of the paper.

use std::collections::BTreeMap;

use isobath_sql::schema::Table;
use isobath_sql::{Column, ConstraintKind, DataType, Value};
use jiff::Span;
use jiff::civil::{Date, DateTime, Time};
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

use super::space::{At, SearchSpace};
use crate::query::candidate::Candidate;
use crate::query::construct::{SolverContext, blank_row, fresh, is_not_null};

/// NULL where a column may be NULL.
const NULL: f64 = 0.1;
/// A seed instead of a random value.
const SEED: f64 = 0.5;
/// The most rows of a table, and the most at the start.
const MAX_ROWS: usize = 4;
const MAX_ROWS_FIRST: usize = 3;

/// Makes and changes candidates.
pub(in crate::query) struct CandidateFactory<'m, 's> {
    pub(in crate::query) context: SolverContext<'s>,
    pub(in crate::query) space: &'m SearchSpace,
    pub(in crate::query) rng: fastrand::Rng,
    /// Whether constants and join columns are drawn from.
    seeded: bool,
    /// A row per table in which everything that does not matter has a value.
    blanks: BTreeMap<usize, Vec<Value>>,
    /// Counts rows, so that keys that do not matter differ.
    made: usize,
}

impl<'m, 's> CandidateFactory<'m, 's> {
    pub(in crate::query) fn new(
        context: SolverContext<'s>,
        space: &'m SearchSpace,
        seeded: bool,
        seed: u64,
    ) -> Self {
        let blanks = space
            .tables
            .iter()
            .filter_map(|(table, _)| Some((*table, blank_row(&context, *table)?)));
        Self {
            context,
            space,
            rng: fastrand::Rng::with_seed(seed),
            seeded,
            blanks: blanks.collect(),
            made: 0,
        }
    }

    /// One to three random rows per table.
    pub(in crate::query) fn sample(&mut self) -> Candidate {
        let mut candidate = Candidate::default();
        for index in 0..self.space.tables.len() {
            let table = self.space.tables[index].0;
            for _ in 0..self.rng.usize(1..=MAX_ROWS_FIRST) {
                if let Some(row) = self.row(table, &candidate) {
                    candidate.push(table, row);
                }
            }
        }
        let space = self.space;
        for (number, at) in &space.parameters {
            let column = space.parameter_column(*at, &self.context);
            let value = self.parameter(column);
            candidate.bind(*number, value);
        }
        candidate
    }

    /// Tables of either parent, with a bias of its own.
    pub(in crate::query) fn cross(
        &mut self,
        a: &Candidate,
        b: &Candidate,
    ) -> (Candidate, Candidate) {
        let (mut a, mut b) = (a.clone(), b.clone());
        let bias = self.rng.f64();
        for (table, _) in &self.space.tables {
            if self.rng.f64() < bias {
                let (of_a, of_b) = (a.rows.remove(table), b.rows.remove(table));
                a.rows.extend(of_b.map(|rows| (*table, rows)));
                b.rows.extend(of_a.map(|rows| (*table, rows)));
            }
        }
        (a, b)
    }

    /// Deletes, duplicates, inserts and changes rows of about one table; whether anything changed.
    pub(in crate::query) fn mutate(&mut self, candidate: &mut Candidate) -> bool {
        let before = candidate.clone();
        let space = self.space;
        let chance = 1.0 / (space.tables.len().max(1) as f64);
        for (table, columns) in &space.tables {
            if self.rng.f64() < chance {
                self.mutate_table(*table, columns, candidate);
            }
        }
        let parameters = space.parameters.len().max(1) as f64;
        for (number, at) in &space.parameters {
            if self.rng.f64() < 1.0 / parameters {
                let column = space.parameter_column(*at, &self.context);
                let value = self.parameter(column);
                candidate.bind(*number, value);
            }
        }
        *candidate != before
    }

    fn mutate_table(&mut self, table: usize, columns: &[usize], candidate: &mut Candidate) {
        let third = |rng: &mut fastrand::Rng| rng.f64() < 1.0 / 3.0;
        let count = candidate.rows.get(&table).map_or(0, Vec::len);
        if third(&mut self.rng) && count > 1 {
            let at = self.rng.usize(..count);
            candidate.rows.entry(table).or_default().remove(at);
        }
        let count = candidate.rows.get(&table).map_or(0, Vec::len);
        if third(&mut self.rng) && (1..MAX_ROWS).contains(&count) {
            let at = self.rng.usize(..count);
            let row = candidate.rows.entry(table).or_default()[at].clone();
            candidate.push(table, row);
        }
        for row in 0..candidate.rows.get(&table).map_or(0, Vec::len) {
            for column in columns {
                if self.rng.f64() < 1.0 / (columns.len() as f64) {
                    let old = candidate.rows.entry(table).or_default()[row][*column].clone();
                    let new = self.changed(table, *column, &old, candidate);
                    candidate.rows.entry(table).or_default()[row][*column] = new;
                }
            }
        }
        let count = candidate.rows.get(&table).map_or(0, Vec::len);
        if third(&mut self.rng)
            && count < MAX_ROWS
            && let Some(row) = self.row(table, candidate)
        {
            candidate.push(table, row);
        }
    }

    /// A random row.
    pub(in crate::query) fn row(&mut self, table: usize, there: &Candidate) -> Option<Vec<Value>> {
        let space = self.space;
        let mut row = self.blanks.get(&table)?.clone();
        let definition = &self.context.schema.tables[table];
        self.made += 1;
        for (index, column) in definition.columns.iter().enumerate() {
            if !space.columns(table).contains(&index) && in_key(definition, index) {
                row[index] = fresh(&column.data_type, self.made + 25);
            }
        }
        for column in space.columns(table) {
            row[*column] = self.fresh_cell(table, *column, there);
        }
        Some(row)
    }

    /// A row like another, with keys of its own.
    pub(in crate::query) fn copied(&mut self, table: usize, row: &[Value]) -> Option<Vec<Value>> {
        let definition = &self.context.schema.tables[table];
        let mut copy = row.to_vec();
        self.made += 1;
        for (index, column) in definition.columns.iter().enumerate() {
            if in_key(definition, index)
                && !copy[index].is_null()
                && !definition
                    .foreign_keys()
                    .any(|key| key.columns.contains(&index))
            {
                let other = fresh(&column.data_type, self.made + 60);
                copy[index] = self.as_stored(table, index, &other)?;
            }
        }
        Some(copy)
    }

    /// A random value of a column.
    pub(in crate::query) fn fresh_cell(
        &mut self,
        table: usize,
        column: usize,
        there: &Candidate,
    ) -> Value {
        let context = self.context;
        let definition = &context.schema.tables[table];
        if !is_not_null(&context, definition, column) && self.rng.f64() < NULL {
            return Value::Null;
        }
        if let Some(seed) = self.seed((table, column), there) {
            return seed;
        }
        let random = random(&definition.columns[column].data_type, &mut self.rng);
        self.stored(table, column, random)
    }

    /// Another value of a column.
    pub(in crate::query) fn changed(
        &mut self,
        table: usize,
        column: usize,
        old: &Value,
        there: &Candidate,
    ) -> Value {
        let context = self.context;
        let definition = &context.schema.tables[table];
        if old.is_null() {
            return self.fresh_cell(table, column, there);
        }
        if !is_not_null(&context, definition, column) && self.rng.f64() < NULL {
            return Value::Null;
        }
        if let Some(seed) = self.seed((table, column), there) {
            return seed;
        }
        let new = mutated(old, &mut self.rng);
        self.stored(table, column, new)
    }

    /// A constant of the column's class, or a value of a column that it is compared with.
    fn seed(&mut self, at: At, there: &Candidate) -> Option<Value> {
        if !self.seeded || self.rng.f64() >= SEED {
            return None;
        }
        let (table, column) = at;
        let definition = &self.context.schema.tables[table];
        let class = class(&definition.columns[column].data_type);
        let mut seeds: Vec<Value> = Vec::new();
        for constant in &self.space.constants {
            if class_of(constant) == class {
                seeds.push(constant.clone());
            } else if class == TypeClass::Moment
                && let Value::Text(_) = constant
                && let Some(stored) = self.as_stored(table, column, constant)
            {
                seeds.push(stored);
            }
        }
        for (table, column) in self.space.partners(at) {
            let rows = there.rows.get(&table).into_iter().flatten();
            seeds.extend(
                rows.map(|row| row[column].clone())
                    .filter(|value| !value.is_null()),
            );
        }
        if seeds.is_empty() {
            return None;
        }
        let seed = seeds.swap_remove(self.rng.usize(..seeds.len()));
        Some(self.stored(table, column, seed))
    }

    fn parameter(&mut self, column: Option<&Column>) -> Value {
        if self.seeded && self.rng.f64() < SEED && !self.space.constants.is_empty() {
            let at = self.rng.usize(..self.space.constants.len());
            return self.space.constants[at].clone();
        }
        match column {
            Some(column) => random(&column.data_type, &mut self.rng),
            None => Value::Int(self.rng.i64(-1000..=1000).into()),
        }
    }

    /// A value as a column stores it, cut to its length; a readable one where it does not fit at all.
    fn stored(&self, table: usize, column: usize, value: Value) -> Value {
        self.as_stored(table, column, &value).unwrap_or_else(|| {
            let data_type = &self.context.schema.tables[table].columns[column].data_type;
            fresh(data_type, 1)
        })
    }

    pub(in crate::query) fn as_stored(
        &self,
        table: usize,
        column: usize,
        value: &Value,
    ) -> Option<Value> {
        let definition = &self.context.schema.tables[table];
        if value.is_null() {
            return Some(Value::Null);
        }
        let cut = match value {
            Value::Text(text) if self.context.constraints => {
                let most = definition.columns[column].data_type.max_chars();
                most.map(|most| Value::Text(text.chars().take(most as usize).collect()))
            }
            _ => None,
        };
        let value = cut.as_ref().unwrap_or(value);
        let stored = self.context.dialect.store_in(value, definition, column);
        match stored {
            Ok(stored) => Some(stored),
            Err(isobath_sql::dialect::StoreError::TooLong { .. }) if !self.context.constraints => {
                Some(value.clone())
            }
            Err(_) => None,
        }
    }
}

fn in_key(table: &Table, column: usize) -> bool {
    table
        .constraints
        .iter()
        .any(|constraint| match &constraint.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                columns.contains(&column)
            }
            _ => false,
        })
}

/// Classes of values that share seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypeClass {
    Whole,
    Number,
    Text,
    Moment,
    Other,
}

fn class(data_type: &DataType) -> TypeClass {
    match data_type {
        DataType::Integer { .. } | DataType::Year | DataType::Boolean => TypeClass::Whole,
        DataType::Decimal { .. } | DataType::Float { .. } => TypeClass::Number,
        DataType::Char { .. }
        | DataType::Varchar { .. }
        | DataType::Text
        | DataType::Enum { .. } => TypeClass::Text,
        DataType::Date | DataType::Time { .. } | DataType::Timestamp { .. } => TypeClass::Moment,
        _ => TypeClass::Other,
    }
}

fn class_of(value: &Value) -> TypeClass {
    match value {
        Value::Int(_) | Value::Bool(_) => TypeClass::Whole,
        Value::Decimal(_) | Value::Float(_) => TypeClass::Number,
        Value::Text(_) => TypeClass::Text,
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Instant(_) => {
            TypeClass::Moment
        }
        _ => TypeClass::Other,
    }
}

/// A random value of a type.
fn random(data_type: &DataType, rng: &mut fastrand::Rng) -> Value {
    match data_type {
        DataType::Boolean => Value::Bool(rng.bool()),
        DataType::Integer { .. } => Value::Int(rng.i64(-1000..=1000).into()),
        DataType::Year => Value::Int(rng.i64(1970..=2060).into()),
        DataType::Decimal { .. } => Value::Decimal(decimal(rng.f64() * 1000.0 - 500.0)),
        DataType::Float { .. } => Value::Float(rng.f64() * 1000.0 - 500.0),
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text | DataType::Other(_) => {
            let length = rng.usize(5..50);
            Value::Text((0..length).map(|_| letter(rng)).collect())
        }
        DataType::Bytes { .. } => Value::Bytes((0..rng.usize(5..50)).map(|_| rng.u8(..)).collect()),
        DataType::Date => Value::Date(date(rng)),
        DataType::Time { .. } => Value::Time(time(rng)),
        DataType::Timestamp { zoned: false, .. } => {
            Value::DateTime(DateTime::from_parts(date(rng), time(rng)))
        }
        DataType::Timestamp { zoned: true, .. } => DateTime::from_parts(date(rng), time(rng))
            .to_zoned(jiff::tz::TimeZone::UTC)
            .map_or(Value::Null, |zoned| Value::Instant(zoned.timestamp())),
        DataType::Uuid => Value::Uuid(rng.u128(..).to_be_bytes()),
        DataType::Enum { labels, .. } if !labels.is_empty() => {
            Value::Text(labels[rng.usize(..labels.len())].clone())
        }
        DataType::Enum { .. } | DataType::Interval | DataType::Json { .. } => {
            fresh(data_type, rng.usize(1..1000))
        }
    }
}

fn letter(rng: &mut fastrand::Rng) -> char {
    char::from(rng.u8(32..=126))
}

fn date(rng: &mut fastrand::Rng) -> Date {
    jiff::civil::date(rng.i16(1970..=2060), rng.i8(1..=12), rng.i8(1..=28))
}

fn time(rng: &mut fastrand::Rng) -> Time {
    jiff::civil::time(rng.i8(0..24), rng.i8(0..60), rng.i8(0..60), 0)
}

fn decimal(number: f64) -> Decimal {
    Decimal::from_f64(number).unwrap_or_default()
}

/// A value not far from another.
fn mutated(old: &Value, rng: &mut fastrand::Rng) -> Value {
    match old {
        Value::Bool(value) => Value::Bool(!value),
        Value::Int(number) => Value::Int(number + i128::from(rng.i64(-10..=10))),
        Value::Float(number) => Value::Float(polynomial(*number, rng)),
        Value::Decimal(number) => {
            Value::Decimal(decimal(polynomial(number.to_f64().unwrap_or(0.0), rng)))
        }
        Value::Text(text) => Value::Text(mutated_text(text, rng)),
        Value::Date(date) => {
            let span = shifted(rng, 3);
            Value::Date(date.saturating_add(span))
        }
        Value::DateTime(at) => {
            let span = shifted(rng, 6);
            Value::DateTime(at.saturating_add(span))
        }
        Value::Time(at) => {
            let part = |rng: &mut fastrand::Rng| {
                if rng.f64() < 0.2 {
                    rng.i64(-10..=10)
                } else {
                    0
                }
            };
            let span = Span::new()
                .hours(part(rng))
                .minutes(part(rng))
                .seconds(part(rng));
            Value::Time(at.wrapping_add(span))
        }
        Value::Instant(at) => {
            let seconds = rng.i64(-10 * 86_400..=10 * 86_400);
            Value::Instant(
                at.saturating_add(jiff::SignedDuration::from_secs(seconds))
                    .unwrap_or(*at),
            )
        }
        Value::Null | Value::Bytes(_) | Value::Interval(_) | Value::Uuid(_) | Value::Json(_) => {
            old.clone()
        }
    }
}

/// Each part of a date and time moves by up to ten, one time in five.
fn shifted(rng: &mut fastrand::Rng, parts: usize) -> Span {
    let mut part = |index: usize| {
        if index < parts && rng.f64() < 0.2 {
            rng.i64(-10..=10)
        } else {
            0
        }
    };
    Span::new()
        .years(part(0))
        .months(part(1))
        .days(part(2))
        .hours(part(3))
        .minutes(part(4))
        .seconds(part(5))
}

/// Deb's polynomial mutation with index 20 between -500 and 500, then cut to some decimals.
fn polynomial(number: f64, rng: &mut fastrand::Rng) -> f64 {
    const INDEX: f64 = 20.0;
    let (low, high) = (-500.0f64, 500.0f64);
    let range = high - low;
    let near = ((number - low) / range).clamp(0.0, 1.0);
    let far = ((high - number) / range).clamp(0.0, 1.0);
    let chance = rng.f64();
    let power = 1.0 / (INDEX + 1.0);
    let delta = if chance < 0.5 {
        let value = 2.0 * chance + (1.0 - 2.0 * chance) * (1.0 - near).powf(INDEX + 1.0);
        value.powf(power) - 1.0
    } else {
        let value = 2.0 * (1.0 - chance) + 2.0 * (chance - 0.5) * (1.0 - far).powf(INDEX + 1.0);
        1.0 - value.powf(power)
    };
    let moved = (number + delta * range).clamp(low, high);
    let scale = 10f64.powi(rng.i32(0..=15));
    (moved * scale).trunc() / scale
}

/// Each character is changed, followed by another or dropped with a chance of one in the length.
fn mutated_text(text: &str, rng: &mut fastrand::Rng) -> String {
    let length = text.chars().count();
    let mut new = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if rng.f64() >= 1.0 / (length as f64) {
            new.push(c);
            continue;
        }
        match rng.u8(0..3) {
            0 => {
                new.push(c);
                new.push(letter(rng));
            }
            1 => {}
            _ => {
                let code = (c as u32)
                    .saturating_add_signed(rng.i32(-10..=10))
                    .clamp(32, 126);
                new.push(char::from_u32(code).unwrap_or(c));
            }
        }
    }
    new
}
