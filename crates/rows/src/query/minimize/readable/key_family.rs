//! Columns that share values: keys and the foreign keys that reference them.

use std::collections::BTreeMap;

use isobath_sql::schema::Filled;
use isobath_sql::{ConstraintKind, DataType, Schema, Value};

use super::super::checker::ValueSlot;
use super::{SMALL, is_filler, is_made_up};
use crate::query::candidate::Candidate;

/// Columns that hold the same things.
pub(super) struct KeyFamily {
    /// The table and the column that the things are named after.
    pub(super) name: (usize, usize),
    /// All of them, by table and column.
    pub(super) columns: Vec<(usize, usize)>,
}

impl KeyFamily {
    /// The numbers and texts in the columns with their places, the smaller before the greater.
    pub(super) fn values(&self, candidate: &Candidate) -> Vec<(Value, Vec<ValueSlot>)> {
        let mut numbers: BTreeMap<i128, Vec<ValueSlot>> = BTreeMap::new();
        let mut texts: BTreeMap<String, Vec<ValueSlot>> = BTreeMap::new();
        for (table, column) in &self.columns {
            for (row, values) in candidate.rows[table].iter().enumerate() {
                let place = ValueSlot::Cell(*table, row, *column);
                match &values[*column] {
                    Value::Int(number) => numbers.entry(*number).or_default().push(place),
                    Value::Text(text) => texts.entry(text.clone()).or_default().push(place),
                    _ => {}
                }
            }
        }
        let numbers = numbers.into_iter();
        let texts = texts.into_iter();
        numbers
            .map(|(number, places)| (Value::Int(number), places))
            .chain(texts.map(|(text, places)| (Value::Text(text), places)))
            .collect()
    }

    /// How many characters fit into all columns.
    pub(super) fn limit(&self, schema: &Schema) -> usize {
        let lengths = self.columns.iter().filter_map(|(table, column)| {
            match schema.tables[*table].columns[*column].data_type {
                DataType::Char { length } => Some(length),
                DataType::Varchar { length } => length,
                _ => None,
            }
        });
        lengths
            .min()
            .and_then(|length| usize::try_from(length).ok())
            .unwrap_or(usize::MAX)
    }
}

/// The columns of numbers and texts that have rows, those together that a foreign key ties or that
/// share a made-up value.
pub(super) fn families(schema: &Schema, candidate: &Candidate) -> Vec<KeyFamily> {
    let columns = columns(schema, candidate);
    let mut ties = UnionFind((0..columns.len()).collect());
    let mut referred = Vec::new();
    for (at, (table, column)) in columns.iter().enumerate() {
        for key in schema.tables[*table].foreign_keys() {
            let pairs = key.columns.iter().zip(&key.parent_columns);
            for (_, theirs) in pairs.filter(|(own, _)| *own == column) {
                let parent = (key.parent, *theirs);
                if let Some(parent_at) = columns.iter().position(|of| *of == parent) {
                    ties.union(at, parent_at);
                    referred.push(parent_at);
                }
            }
        }
    }
    // A column that is no key may hold keys of others all the same, but only of one kind.
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let is_key = |at: usize| is_in_key(schema, columns[at].0, columns[at].1);
    let (keys, others): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(|at| is_key(*at));
    for at in keys.into_iter().chain(others) {
        let (table, column) = columns[at];
        let mut tied = is_key(at);
        for row in &candidate.rows[&table] {
            let shared = match &row[column] {
                Value::Int(number) if *number > SMALL => number.to_string(),
                Value::Text(text) if is_made_up(text, &[]) && !is_filler(text) => {
                    format!("'{text}")
                }
                _ => continue,
            };
            let other = *first.entry(shared).or_insert(at);
            if !tied && other != at {
                ties.union(other, at);
                tied = true;
            }
        }
    }
    let mut families: BTreeMap<usize, KeyFamily> = BTreeMap::new();
    for (at, column) in columns.iter().enumerate() {
        let family = families.entry(ties.0[at]).or_insert_with(|| KeyFamily {
            name: *column,
            columns: Vec::new(),
        });
        family.columns.push(*column);
    }
    for at in referred {
        // What others refer to, and refers to nothing itself, is what a thing is named after.
        let refers = |(table, column): (usize, usize)| {
            let mut keys = schema.tables[table].foreign_keys();
            keys.any(|key| key.columns.contains(&column))
        };
        if let Some(family) = families.get_mut(&ties.0[at])
            && !refers(columns[at])
        {
            family.name = columns[at];
        }
    }
    families.into_values().collect()
}

/// The family of each column, by the place of its eldest.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn union(&mut self, a: usize, b: usize) {
        let (old, new) = (self.0[a].max(self.0[b]), self.0[a].min(self.0[b]));
        for member in self.0.iter_mut().filter(|member| **member == old) {
            *member = new;
        }
    }
}

fn columns(schema: &Schema, candidate: &Candidate) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for table in candidate.rows.keys() {
        for (index, column) in schema.tables[*table].columns.iter().enumerate() {
            let given = !matches!(column.filled, Filled::CounterAlways | Filled::Generated(_));
            let kind = matches!(
                column.data_type,
                DataType::Integer { .. }
                    | DataType::Char { .. }
                    | DataType::Varchar { .. }
                    | DataType::Text
            );
            if given && kind {
                found.push((*table, index));
            }
        }
    }
    found
}

/// Whether a column belongs to a key of its table, or refers to one.
pub(super) fn is_in_key(schema: &Schema, table: usize, column: usize) -> bool {
    let mut constraints = schema.tables[table].constraints.iter();
    constraints.any(|constraint| match &constraint.kind {
        ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
            columns.contains(&column)
        }
        ConstraintKind::ForeignKey(key) => key.columns.contains(&column),
        _ => false,
    })
}
