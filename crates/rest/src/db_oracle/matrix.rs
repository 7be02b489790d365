//! Constraint matrix: which operations violated which constraint, and how the service responded.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_exec::test_database::RowImage;
use isobath_sql::eval::verdict;
use isobath_sql::render::{constraint_name, expression};
use isobath_sql::schema::Filled;
use isobath_sql::{ConstraintKind, DialectName, Schema, Value};
use serde_json::{Map, Value as Json};

use super::constraint::{resolve, violated};
use super::display::holds;
use super::names::column_of;
use crate::exchange::Exchange;

/// How often calls that would violate a constraint were answered in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstraintTally {
    /// 4xx, as it should be.
    pub refused: u64,
    /// 5xx: the violation reached the client.
    pub failed: u64,
    /// 2xx: the value was changed or dropped on its way to the database.
    pub accepted: u64,
}

/// A constraint, and how operations responded to violations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintUse {
    /// Its table.
    pub table: String,
    /// What it is, such as `UNIQUE (pier, number)`.
    pub constraint: String,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Per operation, by index, how calls that violate it were answered.
    pub by: BTreeMap<usize, ConstraintTally>,
}

/// The constraints of a database, and which operations ran into them.
#[derive(Clone, Debug, Default)]
pub struct ConstraintMatrix {
    schema: Arc<Schema>,
    cells: BTreeMap<(usize, usize), BTreeMap<usize, ConstraintTally>>,
}

impl ConstraintMatrix {
    /// No violation seen yet.
    #[must_use]
    pub fn new(schema: Arc<Schema>) -> Self {
        Self {
            schema,
            cells: BTreeMap::new(),
        }
    }

    /// Records the constraints that a call violated, from database errors or from its input.
    pub fn learn(&mut self, exchange: &Exchange) {
        let (Some(operation), Some(status)) = (exchange.operation, exchange.status()) else {
            return;
        };
        let describe = violated(exchange).and_then(|refusal| resolve(&self.schema, &refusal));
        let attempts = exchange
            .trace
            .effect
            .iter()
            .flat_map(|effect| effect.attempts.iter().copied());
        // One call that breaks several rules is refused for one of them, and nobody knows which.
        let mut met: Vec<(usize, usize)> = match describe {
            Some(constraint) => vec![constraint],
            None => attempts.collect(),
        };
        met.dedup();
        if let [constraint] = met.as_slice() {
            let tally = self
                .cells
                .entry(*constraint)
                .or_default()
                .entry(operation)
                .or_default();
            match status {
                400..500 => tally.refused += 1,
                500.. => tally.failed += 1,
                200..300 => tally.accepted += 1,
                _ => {}
            }
        }
    }

    /// All constraints, including those never violated.
    #[must_use]
    pub fn rows(&self, dialect: DialectName) -> Vec<ConstraintUse> {
        let mut rows = Vec::new();
        for (index, table) in self.schema.tables.iter().enumerate() {
            for number in 0..table.constraints.len() {
                rows.push(ConstraintUse {
                    table: table.name.clone(),
                    constraint: describe(&self.schema, index, number, dialect),
                    name: constraint_name(&self.schema, index, number, dialect),
                    by: self
                        .cells
                        .get(&(index, number))
                        .cloned()
                        .unwrap_or_default(),
                });
            }
        }
        rows
    }
}

/// A constraint in words of SQL.
fn describe(schema: &Schema, table: usize, number: usize, dialect: DialectName) -> String {
    let table = schema.table(table);
    let Some(constraint) = table.constraints.get(number) else {
        return String::new();
    };
    let columns: Vec<&str> = constraint
        .columns()
        .into_iter()
        .map(|column| table.column(column).name.as_str())
        .collect();
    let columns = columns.join(", ");
    match &constraint.kind {
        ConstraintKind::PrimaryKey { .. } => format!("PRIMARY KEY ({columns})"),
        ConstraintKind::NotNull { .. } => format!("NOT NULL ({columns})"),
        ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => {
            format!("UNIQUE ({columns})")
        }
        ConstraintKind::Check { expr } => format!("CHECK ({})", expression(expr, dialect)),
        ConstraintKind::ForeignKey(key) => {
            let parent = schema
                .tables
                .get(key.parent)
                .map_or("?", |parent| parent.name.as_str());
            format!("FOREIGN KEY ({columns}) REFERENCES {parent}")
        }
    }
}

/// The constraints of a table that an input would violate if it were stored as it is sent.
///
/// Only what is sure: constraints all of whose columns are given by name. `target` is the row that is updated, if it is one.
pub(super) fn attempts(
    schema: &Schema,
    dialect: DialectName,
    rows: &RowImage,
    table: usize,
    sent: &Map<String, Json>,
    target: Option<&[Value]>,
) -> Vec<(usize, usize)> {
    let Some(definition) = schema.tables.get(table) else {
        return Vec::new();
    };
    let mut given: BTreeMap<usize, &Json> = BTreeMap::new();
    for (name, value) in sent {
        if let Some(column) = column_of(schema, table, name) {
            given.insert(column, value);
        }
    }
    let value = |column: &usize| given.get(column).copied();
    let is_taken = |columns: &[usize]| {
        let values: Option<Vec<&Json>> = columns
            .iter()
            .map(|column| value(column).filter(|value| !value.is_null()))
            .collect();
        let (Some(values), Some(content)) = (values, rows.get(table)) else {
            return false;
        };
        content
            .rows
            .iter()
            .filter(|row| target != Some(row.as_slice()))
            .any(|row| {
                columns.iter().zip(&values).all(|(&column, value)| {
                    row.get(column).is_some_and(|cell| {
                        holds(cell, value) == Some(true) && is_exact(cell, value)
                    })
                })
            })
    };
    let mut attempts = Vec::new();
    for (number, constraint) in definition.constraints.iter().enumerate() {
        let violates = match &constraint.kind {
            ConstraintKind::NotNull { column } => {
                let of = definition.column(*column);
                let is_filled = of.default.is_some() || of.filled != Filled::No;
                match value(column) {
                    Some(value) => value.is_null() && !is_filled,
                    None => false,
                }
            }
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                is_taken(columns)
            }
            ConstraintKind::ForeignKey(key) => {
                let parent = rows.get(key.parent).filter(|parent| parent.is_complete);
                let values: Option<Vec<&Json>> = key
                    .columns
                    .iter()
                    .map(|column| value(column).filter(|value| !value.is_null()))
                    .collect();
                parent.zip(values).is_some_and(|(parent, values)| {
                    !parent.rows.iter().any(|row| {
                        key.parent_columns
                            .iter()
                            .zip(&values)
                            .all(|(&column, value)| {
                                row.get(column)
                                    .is_some_and(|cell| holds(cell, value) != Some(false))
                            })
                    })
                })
            }
            ConstraintKind::Check { expr } => {
                let mut row = vec![Value::Null; definition.columns.len()];
                let known = expr.columns().into_iter().all(|column| {
                    let value = value(&column).and_then(stored);
                    let cell = row.get_mut(column).zip(value);
                    cell.map(|(cell, value)| *cell = value).is_some()
                });
                known && verdict(expr, &row, dialect.dialect()).ok() == Some(Some(false))
            }
            ConstraintKind::UniqueIndex { .. } => false,
        };
        if violates {
            attempts.push((table, number));
        }
    }
    attempts
}

/// Whether a text is the same letter by letter; what is only nearly the same need not be a duplicate.
fn is_exact(cell: &Value, sent: &Json) -> bool {
    match (cell, sent) {
        (Value::Text(text), Json::String(sent)) => text == sent,
        _ => true,
    }
}

/// A value as it would be stored, where that is plain.
pub(super) fn stored(sent: &Json) -> Option<Value> {
    match sent {
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Bool(truth) => Some(Value::Bool(*truth)),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Some(Value::Int(number.into())),
            None => number.as_f64().map(Value::Float),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}
