//! Observes the database rows around each call.

use std::collections::BTreeMap;
use std::time::Duration;

use isobath_exec::DatabaseError;
use isobath_exec::test_database::{RowChange, RowImage, TableImage, Tables, TestDatabase};
use isobath_sql::{Schema, Value};

use super::display::names;
use super::effect::{AddressedRow, CallEffect, Orphan};
use super::matrix::attempts;
use super::names::{column_of, is_about_link, names_one, path_values, plain, stems, table_of};
use crate::exchange::Exchange;
use crate::openapi::{Api, Operation};

/// The most rows at the start for which every call of the search is looked at.
const FEW: usize = 2_000;

/// How long to wait before looking again for what a success promised, and how often for one operation: a service may write
/// after it has answered.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(5),
    Duration::from_millis(15),
    Duration::from_millis(40),
];
const WAITS: u8 = 6;

/// Looks at the rows around each call.
#[derive(Debug, Default)]
pub struct RowObserver {
    references: Vec<NamedReference>,
    /// Whether every call is looked at; with many rows only those after the search.
    is_enabled: bool,
    /// Whether there are so few rows that looking at them costs next to nothing.
    is_cheap: bool,
    waits: BTreeMap<usize, u8>,
}

/// A column that refers to another table by its name only.
#[derive(Clone, Debug)]
struct NamedReference {
    table: usize,
    column: usize,
    parent: usize,
    parent_column: usize,
    /// Whether a row was seen whose reference leads somewhere.
    is_proven: bool,
    /// Whether a row was there from the start whose reference has no target.
    had_dangling_rows: bool,
}

impl RowObserver {
    /// A watch over a database with the rows that it has now.
    #[must_use]
    pub fn new(state: &TestDatabase) -> Self {
        let rows = state
            .initial_image()
            .iter()
            .map(|(_, content)| content.rows.len());
        let is_cheap = rows.sum::<usize>() <= FEW;
        let mut watch = Self {
            references: references(state.schema()),
            is_enabled: is_cheap,
            is_cheap,
            waits: BTreeMap::new(),
        };
        for reference in &mut watch.references {
            reference.learn(state.initial_image());
            let had_dangling_rows = reference
                .dangling_rows(state.initial_image())
                .next()
                .is_some();
            reference.had_dangling_rows = had_dangling_rows;
        }
        watch
    }

    /// Looks at every call from now on, or only where that is cheap.
    pub fn watch_every_call(&mut self, every: bool) {
        self.is_enabled = every || self.is_cheap;
    }

    /// Takes whatever was written until now as given, so that no call is blamed for it.
    ///
    /// # Errors
    ///
    /// When the database is unreachable.
    pub fn begin(&mut self, state: &mut TestDatabase) -> Result<(), DatabaseError> {
        if self.is_enabled {
            state.detect_changes(&Tables::new())?;
        }
        Ok(())
    }

    /// What a call did to the rows; `None` while calls are not looked at.
    ///
    /// # Errors
    ///
    /// When the database is unreachable.
    pub fn look(
        &mut self,
        state: &mut TestDatabase,
        api: &Api,
        base: &str,
        exchange: &Exchange,
    ) -> Result<Option<CallEffect>, DatabaseError> {
        let Some(operation) = exchange.operation.filter(|_| self.is_enabled) else {
            self.begin(state)?;
            return Ok(None);
        };
        let of = api.operation(operation);
        let target = target(state.schema(), state.image(), of, base, exchange);
        let mentions_existing_row =
            mentions_existing_row(state.schema(), state.image(), of, exchange)
                || is_repeated(state.image(), exchange);
        let attempts = violations(state, of, target.as_ref(), exchange);
        let mut difference = state.detect_changes(&Tables::new())?;
        let promises = exchange.succeeded()
            && match &*of.method {
                "POST" => exchange.status() == Some(201),
                "PUT" | "PATCH" | "DELETE" => target.is_some(),
                _ => false,
            };
        if promises && difference.is_nothing() {
            let waits = self.waits.entry(operation).or_default();
            for pause in PAUSES.iter().filter(|_| *waits < WAITS) {
                difference = state.detect_changes_after(*pause)?;
                if !difference.is_nothing() {
                    break;
                }
            }
            *waits = waits.saturating_add(1);
        }
        let orphans = self.orphans(state.image(), &difference.changes);
        Ok(Some(CallEffect {
            changes: difference.changes,
            is_complete: difference.unknown.is_empty(),
            target,
            mentions_existing_row,
            orphans,
            attempts,
        }))
    }

    /// Rows that refer to nothing since these changes.
    fn orphans(&mut self, after: &RowImage, changes: &[RowChange]) -> Vec<Orphan> {
        let mut orphans = Vec::new();
        for reference in &mut self.references {
            let concerns = |change: &RowChange| {
                (change.table == reference.parent && change.after.is_none())
                    || (change.table == reference.table && change.after.is_some())
            };
            if !changes.iter().any(concerns) {
                continue;
            }
            reference.learn(after);
            if reference.had_dangling_rows || !reference.is_proven {
                continue;
            }
            let of = reference.clone();
            orphans.extend(of.dangling_rows(after).map(|row| Orphan {
                table: of.table,
                column: of.column,
                parent: of.parent,
                row: row.clone(),
            }));
        }
        orphans
    }
}

impl NamedReference {
    fn content<'a>(&self, rows: &'a RowImage) -> Option<(&'a TableImage, &'a TableImage)> {
        let (own, parent) = (rows.get(self.table)?, rows.get(self.parent)?);
        (own.is_complete && parent.is_complete).then_some((own, parent))
    }

    fn has_parent(&self, parent: &TableImage, row: &[Value]) -> bool {
        let Some(value) = row.get(self.column) else {
            return true;
        };
        let is_it = |of: &Vec<Value>| of.get(self.parent_column).is_some_and(|key| key == value);
        value.is_null() || parent.rows.iter().any(is_it)
    }

    fn learn(&mut self, rows: &RowImage) {
        if let (false, Some((own, parent))) = (self.is_proven, self.content(rows)) {
            self.is_proven = own.rows.iter().any(|row| {
                row.get(self.column).is_some_and(|value| !value.is_null())
                    && self.has_parent(parent, row)
            });
        }
    }

    fn dangling_rows<'a>(&'a self, rows: &'a RowImage) -> impl Iterator<Item = &'a Vec<Value>> {
        let content = self.content(rows);
        content.into_iter().flat_map(move |(own, parent)| {
            own.rows
                .iter()
                .filter(move |row| !self.has_parent(parent, row))
        })
    }
}

/// Columns without a foreign key whose name is that of another table and its key.
fn references(schema: &Schema) -> Vec<NamedReference> {
    let mut references = Vec::new();
    for (table, of) in schema.tables.iter().enumerate() {
        for (column, definition) in of.columns.iter().enumerate() {
            let is_bound = of.foreign_keys().any(|key| key.columns.contains(&column));
            let is_key = of.primary_key().is_some_and(|key| key.contains(&column));
            if is_bound || is_key || super::names::is_log(&of.name) {
                continue;
            }
            let name = plain(&definition.name);
            let parent = schema
                .tables
                .iter()
                .enumerate()
                .find_map(|(parent, other)| {
                    let &[key] = other.primary_key()? else {
                        return None;
                    };
                    let key_name = plain(&other.column(key).name);
                    let fits = stems(&other.name).iter().any(|stem| {
                        name == format!("{stem}{key_name}") || name == format!("{stem}id")
                    });
                    let same_type = other.column(key).data_type == definition.data_type;
                    (parent != table && fits && same_type).then_some((parent, key))
                });
            if let Some((parent, parent_column)) = parent {
                references.push(NamedReference {
                    table,
                    column,
                    parent,
                    parent_column,
                    is_proven: false,
                    had_dangling_rows: false,
                });
            }
        }
    }
    references
}

/// The row that the path of a call names, before the call.
fn target(
    schema: &Schema,
    rows: &RowImage,
    operation: &Operation,
    base: &str,
    exchange: &Exchange,
) -> Option<AddressedRow> {
    if !names_one(operation) || is_about_link(schema, operation) {
        return None;
    }
    let table = table_of(schema, operation)?;
    let value = path_values(operation, base, &exchange.request).pop()?;
    let definition = schema.tables.get(table)?;
    let content = rows.get(table).filter(|content| content.is_complete)?;
    // By key, else by any column that is told apart by a constraint of its own.
    let keys = definition.primary_key().into_iter().map(<[usize]>::to_vec);
    let unique = definition
        .constraints
        .iter()
        .filter_map(|constraint| match &constraint.kind {
            isobath_sql::ConstraintKind::Unique { columns, .. } => Some(columns.clone()),
            _ => None,
        });
    keys.chain(unique).find_map(|columns| {
        let &[column] = columns.as_slice() else {
            return None;
        };
        let row = content
            .rows
            .iter()
            .find(|row| row.get(column).is_some_and(|cell| names(&value, cell)))?;
        Some(AddressedRow {
            table,
            column,
            row: row.clone(),
        })
    })
}

/// The constraints that what was sent would violate if it were stored as it is.
fn violations(
    state: &TestDatabase,
    operation: &Operation,
    target: Option<&AddressedRow>,
    exchange: &Exchange,
) -> Vec<(usize, usize)> {
    let stores = match &*operation.method {
        "POST" => !names_one(operation),
        "PUT" | "PATCH" => target.is_some(),
        _ => false,
    };
    let table = table_of(state.schema(), operation).filter(|_| stores);
    let sent = serde_json::from_slice(&exchange.request.body).ok();
    match table.zip(sent) {
        Some((table, sent)) => attempts(
            state.schema(),
            state.dialect(),
            state.image(),
            table,
            &sent,
            target.map(|target| target.row.as_slice()),
        ),
        None => Vec::new(),
    }
}

/// Whether the idempotency key of a request is one that the database knows.
fn is_repeated(rows: &RowImage, exchange: &Exchange) -> bool {
    let headers = exchange.request.headers.iter();
    let mut keys = headers.filter(|(name, _)| plain(name).contains("idempotency"));
    keys.any(|(_, key)| {
        let mut cells = rows
            .iter()
            .flat_map(|(_, content)| content.rows.iter().flatten());
        cells.any(|cell| names(key, cell))
    })
}

/// Whether the response gives the key of a row that is there already.
fn mentions_existing_row(
    schema: &Schema,
    rows: &RowImage,
    operation: &Operation,
    exchange: &Exchange,
) -> bool {
    let known = || {
        let table = table_of(schema, operation)?;
        let definition = schema.tables.get(table)?;
        let content = rows.get(table)?;
        let body = exchange.body.as_ref()?.as_object()?;
        let key = definition.primary_key()?;
        let given: Option<Vec<String>> = key
            .iter()
            .map(|&column| {
                let (_, value) = body
                    .iter()
                    .find(|(name, _)| column_of(schema, table, name) == Some(column))?;
                Some(
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned),
                )
            })
            .collect();
        let given = given?;
        Some(content.rows.iter().any(|row| {
            key.iter()
                .zip(&given)
                .all(|(&column, text)| row.get(column).is_some_and(|cell| names(text, cell)))
        }))
    };
    known().unwrap_or(false)
}
