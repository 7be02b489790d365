//! The database oracle: which operation writes what, and the faults that follow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_exec::test_database::RowChange;
use isobath_rows::set::{NewCell, NewRow};
use isobath_sql::{ConstraintKind, Schema, Value};

use super::effect::CallEffect;
use super::matrix::ConstraintMatrix;
use super::names::{is_bookkeeping, is_log, table_of};
use super::rules;
use super::text_format::TextFormat;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::openapi::{Api, Operation};

/// Judges what calls do to the rows, by what calls usually do.
#[derive(Clone, Debug, Default)]
pub struct DatabaseOracle {
    pub(super) schema: Arc<Schema>,
    /// Per table, the operations that wrote to it when nothing should be written: reads, and calls that were refused.
    careless: BTreeMap<usize, BTreeSet<usize>>,
    /// Per operation, the tables that its successes wrote to.
    written: BTreeMap<usize, BTreeSet<usize>>,
    /// Per operation, the columns that its successes changed in the row that the path names.
    changed: BTreeMap<usize, BTreeSet<usize>>,
    /// Per table, what calls were seen to write there.
    written_rows: BTreeMap<usize, WrittenRows>,
    matrix: ConstraintMatrix,
}

/// The rows that calls wrote to a table: per column, whether it was NULL, and which values it had.
#[derive(Clone, Debug, Default)]
struct WrittenRows {
    n_rows: usize,
    columns: Vec<WrittenColumn>,
}

#[derive(Clone, Debug, Default)]
struct WrittenColumn {
    was_null: bool,
    /// Its texts, while they are few.
    texts: BTreeSet<String>,
    has_value: bool,
    /// The first text, and the format that it has in common with all others.
    example: Option<(String, Option<TextFormat>)>,
}

impl WrittenColumn {
    fn note_text(&mut self, text: &str) {
        self.has_value = true;
        if self.texts.len() <= MAX_KINDS {
            self.texts.insert(text.to_owned());
        }
        let format = TextFormat::of(text);
        match &mut self.example {
            None => self.example = Some((text.to_owned(), format)),
            Some((_, known)) if *known != format => *known = None,
            Some(_) => {}
        }
    }

    /// A hash that was written, if the column has hashes and this text is none of their format.
    fn hash_instead_of(&self, text: &str) -> Option<&str> {
        let (example, format) = self.example.as_ref()?;
        let is_other = format.is_some() && TextFormat::of(text) != *format;
        is_other.then_some(example.as_str())
    }
}

/// A text column with at most so many values in so many rows has no others.
const MAX_KINDS: usize = 6;
const MANY_ROWS: usize = 30;

impl WrittenRows {
    fn note(&mut self, row: &[Value]) {
        self.n_rows += 1;
        self.columns.resize_with(row.len(), WrittenColumn::default);
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match cell {
                Value::Null => column.was_null = true,
                Value::Text(text) => column.note_text(text),
                _ => column.has_value = true,
            }
        }
    }

    /// Whether a row is like those that were written.
    fn has_like(&self, row: &NewRow) -> bool {
        row.cells.iter().zip(&self.columns).all(|(cell, column)| {
            let has_few = self.n_rows >= MANY_ROWS && column.texts.len() <= MAX_KINDS;
            match cell {
                NewCell::Value(Value::Null) => column.was_null,
                NewCell::Value(Value::Text(text)) if column.hash_instead_of(text).is_some() => {
                    false
                }
                NewCell::Value(Value::Text(text)) if has_few && !column.texts.is_empty() => {
                    column.texts.contains(text)
                }
                NewCell::Value(_) => column.has_value,
                NewCell::Default | NewCell::Of { .. } => true,
            }
        })
    }
}

/// A call with all that is needed to judge it.
pub(super) struct JudgedCall<'a> {
    pub(super) api: &'a Api,
    pub(super) index: usize,
    pub(super) operation: &'a Operation,
    pub(super) exchange: &'a Exchange,
    /// The calls of the candidate before this one.
    pub(super) earlier: &'a [Exchange],
    pub(super) effect: &'a CallEffect,
    /// Changes that are not bookkeeping.
    pub(super) changes: Vec<&'a RowChange>,
    /// The body that was sent, where it is a JSON object.
    pub(super) sent: Option<serde_json::Map<String, serde_json::Value>>,
}

impl DatabaseOracle {
    /// A judge of the rows of a database.
    #[must_use]
    pub fn new(schema: Arc<Schema>) -> Self {
        Self {
            matrix: ConstraintMatrix::new(Arc::clone(&schema)),
            schema,
            ..Self::default()
        }
    }

    /// Which operations ran into which constraints so far.
    #[must_use]
    pub fn matrix(&self) -> &ConstraintMatrix {
        &self.matrix
    }

    /// Learns from what a call did.
    pub fn learn(&mut self, api: &Api, exchange: &Exchange) {
        self.matrix.learn(exchange);
        let (Some(index), Some(effect)) = (exchange.operation, &exchange.trace.effect) else {
            return;
        };
        let reads = matches!(&*api.operation(index).method, "GET" | "HEAD" | "OPTIONS");
        let tables = effect.changes.iter().map(|change| change.table);
        if reads || exchange.was_refused() {
            let describe = effect
                .changes
                .iter()
                .filter(|change| !self.is_count(change));
            let tables: BTreeSet<usize> = describe.map(|change| change.table).collect();
            for table in tables {
                self.careless.entry(table).or_default().insert(index);
            }
        } else if exchange.succeeded() {
            self.written.entry(index).or_default().extend(tables);
            for change in &effect.changes {
                if let Some(row) = &change.after {
                    self.written_rows.entry(change.table).or_default().note(row);
                }
            }
            if let Some(target) = &effect.target {
                let own = effect.changes.iter().filter(|change| {
                    change.table == target.table && change.before.as_ref() == Some(&target.row)
                });
                let columns = own.flat_map(RowChange::columns);
                self.changed.entry(index).or_default().extend(columns);
            }
        }
    }

    /// The faults that a call of a candidate shows, given all its calls.
    #[must_use]
    pub fn judge(&self, api: &Api, exchanges: &[Exchange], at: usize) -> Vec<Fault> {
        let Some((earlier, [exchange, ..])) = exchanges.split_at_checked(at) else {
            return Vec::new();
        };
        let (Some(index), Some(effect)) = (exchange.operation, &exchange.trace.effect) else {
            return Vec::new();
        };
        // What a service did that died, or did not answer, is not its last word.
        if exchange.fatal.is_some() || exchange.response().is_none() {
            return Vec::new();
        }
        let operation = api.operation(index);
        let about = table_of(&self.schema, operation);
        let changes = effect.changes.iter();
        let case = JudgedCall {
            api,
            index,
            operation,
            exchange,
            earlier,
            effect,
            changes: changes
                .filter(|change| !self.is_bookkeeping_change(change, about))
                .collect(),
            sent: serde_json::from_slice(&exchange.request.body).ok(),
        };
        rules::all(self, &case)
    }

    /// Whether a change is one that any call may make: to a log, a session, a count.
    fn is_bookkeeping_change(&self, change: &RowChange, about: Option<usize>) -> bool {
        let Some(table) = self.schema.tables.get(change.table) else {
            return true;
        };
        if self.is_count(change) {
            return true;
        }
        // What an operation is about is no log to it, whoever else writes there.
        let by_many = self
            .careless
            .get(&change.table)
            .is_some_and(|operations| operations.len() >= 2);
        about != Some(change.table) && (by_many || is_log(&table.name))
    }

    /// Whether a row changed in nothing but columns that change with use: times, versions, counts.
    fn is_count(&self, change: &RowChange) -> bool {
        let is_bookkeeping = |column: usize| {
            let table = self.schema.tables.get(change.table);
            let column = table.and_then(|table| table.columns.get(column));
            column.is_none_or(|column| is_bookkeeping(&column.name))
        };
        change.before.is_some()
            && change.after.is_some()
            && change.columns().into_iter().all(is_bookkeeping)
    }

    /// The tables of those rows that are like none that a call was seen to write.
    pub(crate) fn tables_of_foreign_rows(&self, rows: &[NewRow]) -> BTreeSet<&str> {
        let is_like_written = |row: &&NewRow| {
            let written = self.written_rows.get(&row.table);
            written.is_some_and(|written| written.has_like(row))
        };
        let foreign = rows.iter().filter(|row| !is_like_written(row));
        foreign
            .filter_map(|row| Some(self.schema.tables.get(row.table)?.name.as_str()))
            .collect()
    }

    /// Gives new rows hashes as the service writes them, where any other text would be refused when it is read.
    pub(crate) fn put_hashes(&self, rows: &mut [NewRow]) {
        for row in rows {
            let (Some(written), Some(table)) = (
                self.written_rows.get(&row.table),
                self.schema.tables.get(row.table),
            ) else {
                continue;
            };
            let is_key = |at: usize| {
                table.constraints.iter().any(|one| match &one.kind {
                    ConstraintKind::PrimaryKey { columns }
                    | ConstraintKind::Unique { columns, .. } => columns.contains(&at),
                    _ => false,
                })
            };
            let cells = row.cells.iter_mut().zip(&written.columns).enumerate();
            for (at, (cell, column)) in cells {
                if is_key(at) {
                    continue;
                }
                if let NewCell::Value(Value::Text(text)) = cell
                    && let Some(hash) = column.hash_instead_of(text)
                {
                    *text = hash.to_owned();
                }
            }
        }
    }

    /// Whether rows were made in tables that are no logs by their names.
    pub(super) fn makes_rows(&self, changes: &[RowChange]) -> bool {
        changes.iter().any(|change| {
            let table = self.schema.tables.get(change.table);
            change.before.is_none() && table.is_some_and(|table| !is_log(&table.name))
        })
    }

    /// Whether successes of an operation were seen to write to a table.
    pub(super) fn writes(&self, operation: usize, table: usize) -> bool {
        self.written
            .get(&operation)
            .is_some_and(|tables| tables.contains(&table))
    }

    /// Whether a success of an operation was seen to write anything.
    pub(super) fn writes_at_all(&self, operation: usize) -> bool {
        self.written
            .get(&operation)
            .is_some_and(|tables| !tables.is_empty())
    }

    /// Whether a success of an operation was seen to change a column of the row that its path names.
    pub(super) fn changes(&self, operation: usize, column: usize) -> bool {
        self.changed
            .get(&operation)
            .is_some_and(|columns| columns.contains(&column))
    }
}

#[cfg(test)]
mod tests {
    use isobath_sql::DialectName;
    use isobath_sql::ddl::{Source, load};

    use super::*;

    #[test]
    fn a_column_of_hashes_gets_hashes() {
        let source = Source {
            name: "users.sql".to_owned(),
            text: "CREATE TABLE users (name TEXT, password TEXT);".to_owned(),
        };
        let schema = load("users", &[source], Some(DialectName::Sqlite)).schema;
        let mut oracle = DatabaseOracle::new(Arc::new(schema));
        let text = |text: &str| Value::Text(text.to_owned());
        let written = oracle.written_rows.entry(0).or_default();
        written.note(&[text("ada"), text("$2b$12$one")]);
        written.note(&[text("bob"), text("$2b$12$two")]);
        let cells = [text("eve"), text("x")].map(NewCell::Value).into();
        let mut rows = [NewRow {
            id: 1,
            table: 0,
            cells,
        }];
        assert_eq!(oracle.tables_of_foreign_rows(&rows).len(), 1);
        oracle.put_hashes(&mut rows);
        let kept = [text("eve"), text("$2b$12$one")].map(NewCell::Value);
        assert_eq!(rows[0].cells, kept);
        assert_eq!(oracle.tables_of_foreign_rows(&rows).len(), 0);
    }

    #[test]
    fn rows_that_no_call_would_write_are_told_by_their_table() {
        let source = Source {
            name: "boats.sql".to_owned(),
            text: "CREATE TABLE boats (id INT PRIMARY KEY, kind TEXT, note TEXT, length INT);
                   CREATE TABLE prices (id INT PRIMARY KEY);"
                .to_owned(),
        };
        let schema = load("boats", &[source], Some(DialectName::Sqlite)).schema;
        let mut oracle = DatabaseOracle::new(Arc::new(schema));
        let text = |text: &str| Value::Text(text.to_owned());
        let number = Value::Int;
        let written = oracle.written_rows.entry(0).or_default();
        for n in (0..).take(MANY_ROWS) {
            let kind = if n % 2 == 0 { "sail" } else { "motor" };
            let note = text(&format!("note {n}"));
            written.note(&[number(n), text(kind), note, Value::Null]);
        }
        let foreign = |table: usize, cells: Vec<Value>| {
            let cells = cells.into_iter().map(NewCell::Value).collect();
            let row = NewRow {
                id: 1,
                table,
                cells,
            };
            let tables = oracle.tables_of_foreign_rows(&[row]);
            tables.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let boat = |kind: Value, note: &str, length: Value| {
            foreign(0, vec![number(99), kind, text(note), length])
        };
        let none: [&str; 0] = [];
        assert_eq!(boat(text("motor"), "any other", Value::Null), none);
        assert_eq!(
            boat(text("rowing"), "a kind of no call", Value::Null),
            ["boats"]
        );
        assert_eq!(boat(Value::Null, "never NULL", Value::Null), ["boats"]);
        assert_eq!(boat(text("sail"), "always NULL", number(3)), ["boats"]);
        assert_eq!(foreign(1, vec![number(1)]), ["prices"], "never written");
    }
}
