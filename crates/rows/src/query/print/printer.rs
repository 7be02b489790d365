//! What all tests of a query share, and the expected results by evaluator and database.

use isobath_emit::query::QueryPart;
use isobath_exec::{Database, DatabaseError};
use isobath_sql::eval::EvalError;
use isobath_sql::query::model::QueryBody;
use isobath_sql::query::{self as engine, evaluate_at};
use isobath_sql::{DataType, DialectName, Schema, Value};

use super::observe::{Observation, TextRows, observed_rows};
use super::{CoveredQuery, PrintContext, clock, spoken};
use crate::query::candidate::Candidate;
use crate::query::fixture::Fixture;
use crate::query::target::QueryTarget;
use crate::query::{confirm, placeholders};
use crate::schema::print::text;

/// What stays the same for all tests of a query.
pub(in crate::query) struct Printer<'a> {
    pub(super) covered: &'a CoveredQuery<'a>,
    pub(super) schema: &'a Schema,
    pub(super) dialect: DialectName,
    pub(super) parts: Vec<QueryPart>,
    /// The query as our evaluator reads it, when it reads it.
    pub(super) query: Option<engine::Query>,
    /// The table that the statement changes.
    pub(super) changes: Option<usize>,
    /// The columns that are compared, with their types where we know them.
    pub(super) columns: Vec<(String, Option<DataType>)>,
    /// Whether the order of the rows counts.
    pub(super) ordered: bool,
    pub(super) limited: bool,
}

impl<'a> Printer<'a> {
    pub(in crate::query) fn new(
        sql: &str,
        covered: &'a CoveredQuery<'a>,
        setting: PrintContext<'a>,
    ) -> Option<Self> {
        let dialect = spoken(setting.dialect);
        let (parts, outline) = placeholders::cut(sql, setting.written)?;
        let query = QueryTarget::read(sql, "", "", setting.schema, setting.written)
            .query
            .ok();
        let changes = match &outline.changes {
            Some(name) => Some(setting.schema.table_index(name)?),
            None => None,
        };
        let columns = match (changes, &query) {
            (Some(table), _) => setting.schema.tables[table]
                .columns
                .iter()
                .map(|column| (column.name.clone(), Some(column.data_type.clone())))
                .collect(),
            (None, Some(query)) => output(query),
            (None, None) => Vec::new(),
        };
        let mut printer = Self {
            covered,
            schema: setting.schema,
            dialect,
            parts,
            query,
            changes,
            columns: unique(columns),
            ordered: false,
            limited: outline.limited,
        };
        printer.ordered = outline.ordered && printer.order_is_total();
        Some(printer)
    }

    /// The values of the query's parameters, per fixture. One that does not matter takes a value
    /// that another fixture has for it, so that it is rarely NULL.
    pub(super) fn parameters(&self, n_parameters: usize) -> Vec<Vec<Value>> {
        let fixtures = &self.covered.outcome.fixtures;
        let value = |fixture: &Fixture, index: usize| {
            let value = fixture.parameters().get(index);
            value.filter(|value| !value.is_null()).cloned()
        };
        let matters = |fixture: &Fixture, index: usize| {
            let targets = fixture.covers.iter();
            let mut targets = targets.filter_map(|target| self.covered.targets.get(*target));
            targets.any(|target| target.parameters.contains(&index))
        };
        let usual: Vec<Value> = (0..n_parameters)
            .map(|index| {
                let mut values = fixtures.iter().filter_map(|fixture| value(fixture, index));
                values.next().unwrap_or(Value::Null)
            })
            .collect();
        fixtures
            .iter()
            .map(|fixture| {
                let of = |index: usize| match value(fixture, index) {
                    Some(value) => value,
                    None if matters(fixture, index) => Value::Null,
                    None => usual[index].clone(),
                };
                (0..n_parameters).map(of).collect()
            })
            .collect()
    }

    /// Whether ORDER BY leaves no choice on any fixture: rows that come in the other way round
    /// must not change the result.
    fn order_is_total(&self) -> bool {
        let Some(query) = &self.query else {
            return false;
        };
        let values = self.parameters(placeholders::names(&self.parts).len());
        let outcome = self.covered.outcome;
        outcome
            .fixtures
            .iter()
            .zip(&values)
            .all(|(fixture, values)| {
                let mut turned = fixture.candidate.clone();
                for rows in turned.rows.values_mut() {
                    rows.reverse();
                }
                let one = self.result(query, &fixture.candidate, values);
                let other = self.result(query, &turned, values);
                matches!((one, other), (Ok(one), Ok(other)) if one == other)
            })
    }

    pub(super) fn result(
        &self,
        query: &engine::Query,
        rows: &Candidate,
        values: &[Value],
    ) -> Result<Vec<Vec<Value>>, EvalError> {
        let rules = self.dialect.dialect();
        let now = self.covered.outcome.now;
        evaluate_at(query, rows, values, Some(now), rules).map(|found| found.rows)
    }

    /// What stops an engine's clock, where that can be done.
    pub(super) fn clock(&self) -> Option<String> {
        clock(self.schema, self.dialect)
    }

    /// The parameters as written.
    pub(in crate::query) fn parameter_names(&self) -> Vec<String> {
        placeholders::names(&self.parts)
    }

    /// The names of the columns that are compared.
    pub(in crate::query) fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// What the engine says, or why it says nothing.
    pub(super) fn theirs(
        &self,
        fixture: &Fixture,
        observe: &Observation,
        database: &mut dyn Database,
    ) -> Result<Result<TextRows, String>, DatabaseError> {
        let inserts = confirm::inserts(fixture, self.schema, self.dialect);
        observed_rows(&inserts, observe, database)
    }

    /// What our evaluator says, or why it says nothing.
    pub(super) fn ours(&self, fixture: &Fixture, values: &[Value]) -> Result<TextRows, String> {
        if self.changes.is_some() {
            return Err("what a statement changes is only known on an engine; add --engine".into());
        }
        let Some(query) = &self.query else {
            return Err("our evaluator does not read the query; add --engine".into());
        };
        let found = self
            .result(query, &fixture.candidate, values)
            .map_err(|stop| format!("our evaluator stops ({stop}); add --engine"))?;
        let mut rows: TextRows = found
            .iter()
            .map(|row| {
                let cells = row.iter().zip(&self.columns);
                cells
                    .map(|(value, (_, data_type))| {
                        let data_type = data_type.as_ref().unwrap_or(&DataType::Text);
                        text(value, data_type, self.dialect)
                    })
                    .collect()
            })
            .collect();
        if !self.ordered {
            // NULL comes last in PostgreSQL and first in the others.
            let nulls_last = self.dialect == DialectName::Postgres;
            rows.sort_by_key(|row| -> Vec<_> {
                let cells = row.iter();
                cells
                    .map(|cell| (cell.is_none() == nulls_last, cell.clone()))
                    .collect()
            });
        }
        Ok(rows)
    }
}

/// The columns of a query's result.
fn output(query: &engine::Query) -> Vec<(String, Option<DataType>)> {
    match &query.body {
        QueryBody::Select(select) => {
            let items = select.items.iter();
            items
                .map(|item| (item.name.clone(), item.data_type.clone()))
                .collect()
        }
        QueryBody::Set { left, .. } => output(left),
        QueryBody::Values(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            (1..=width).map(|n| (format!("column{n}"), None)).collect()
        }
    }
}

/// Names that are plain and different from each other.
fn unique(columns: Vec<(String, Option<DataType>)>) -> Vec<(String, Option<DataType>)> {
    let mut taken: Vec<String> = Vec::new();
    let columns = columns.into_iter().enumerate();
    columns
        .map(|(index, (name, data_type))| {
            let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ' ');
            let mut name = if plain {
                name
            } else {
                format!("column_{}", index + 1)
            };
            if taken.contains(&name.to_lowercase()) {
                name = format!("{name}_{}", index + 1);
            }
            taken.push(name.to_lowercase());
            (name, data_type)
        })
        .collect()
}
