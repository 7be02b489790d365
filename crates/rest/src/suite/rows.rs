//! Rows that a test inserts.

use std::sync::Arc;

use isobath_emit::SuiteDialect;
use isobath_emit::http::{RowKey, SuiteDatabase, TestRow, Text};
use isobath_emit::writer::name::snake_case;
use isobath_exec::driver::Event;
use isobath_exec::test_database::{RowImage, Tables};
use isobath_rows::set::{NewCell, NewRow};
use isobath_sql::render::{identifier, literal, table_name};
use isobath_sql::{DialectName, Schema};

use super::TestBuilder;
use super::row_checks::bookkeeping;
use crate::caller::Service;
use crate::job::Test;
use crate::seeding::{self, SeededRows};

/// The variable that names the database of a suite.
pub const DATABASE_VARIABLE: &str = "ISOBATH_DATABASE";

/// Database context for printing tests.
#[derive(Clone, Debug)]
pub(super) struct SuiteDatabaseContext {
    pub(super) schema: Arc<Schema>,
    pub(super) dialect: DialectName,
    /// The rows at the start.
    pub(super) baseline: RowImage,
    /// Bookkeeping tables, not asserted.
    pub(super) bookkeeping: Tables,
}

impl SuiteDatabaseContext {
    pub(super) fn of(service: &Service, tests: &[Test]) -> Option<Self> {
        service.with_database(|database| Self {
            schema: Arc::clone(database.schema()),
            dialect: database.state.dialect(),
            baseline: database.state.initial_image().clone(),
            bookkeeping: bookkeeping(tests),
        })
    }
}

/// The database of a suite, with what puts the rows of its tests back.
pub(super) fn database(service: &Service, tests: &[Test]) -> Option<SuiteDatabase> {
    service.with_database(|database| {
        let exchanges = || tests.iter().flat_map(|test| &test.exchanges);
        let events = exchanges().flat_map(|exchange| &exchange.trace.events);
        let texts = events.filter_map(|event| match event {
            Event::Statement { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let mut tables: Tables = database.state.tables_written_by(texts);
        let rows = tests.iter().flat_map(|test| &test.candidate.rows);
        tables.extend(rows.map(|row| row.table));
        let effects = exchanges().filter_map(|exchange| exchange.trace.effect.as_ref());
        let changes = effects.flat_map(|effect| &effect.changes);
        tables.extend(changes.map(|change| change.table));
        // Where nothing is written, a suite does not need the agent inside the service.
        let is_needed = database.row_endpoint().is_none() || !tables.is_empty();
        is_needed.then(|| SuiteDatabase {
            variable: DATABASE_VARIABLE.to_owned(),
            dialect: match database.state.dialect() {
                DialectName::Sqlite => SuiteDialect::Sqlite,
                DialectName::MySql => SuiteDialect::Mysql,
                DialectName::Postgres | DialectName::Ansi => SuiteDialect::Postgres,
            },
            agent_url: database.row_endpoint().map(str::to_owned),
            setup: database.snapshot_statements(&tables),
            secret_variables: Vec::new(),
        })
    })?
}

/// The inserted rows of a run.
pub(super) fn seeded(exchanges: &[crate::exchange::Exchange]) -> Option<&SeededRows> {
    exchanges.first()?.trace.seeded.as_deref()
}

impl TestBuilder<'_> {
    /// The rows that the test inserted. What the database gave out and the test uses is a variable from now on.
    pub(super) fn rows(&mut self) -> Vec<TestRow> {
        let (Some(database), Some(seeded)) = (
            self.database.cloned(),
            seeded(&self.test.exchanges).cloned(),
        ) else {
            return Vec::new();
        };
        let rows = &self.test.candidate.rows;
        let inserted = rows.iter().filter(|row| seeded.rows.contains_key(&row.id));
        let inserted: Vec<&NewRow> = inserted.collect();
        let mut printed = Vec::new();
        for row in inserted {
            let table = database.schema.table(row.table);
            let mut cells = Vec::new();
            let mut key = None;
            for (column, cell) in row.cells.iter().enumerate() {
                let name = &table.column(column).name;
                let place = seeding::place(column);
                match cell {
                    NewCell::Default => {
                        if key.is_none() && self.uses(row.id, column) {
                            let variable = self.free(&self.name_of(&table.name, name));
                            self.variables
                                .insert((row.id, place.clone()), variable.clone());
                            key = Some(RowKey {
                                column: identifier(name, database.dialect),
                                variable,
                                sample: seeded.value(row.id, &place),
                            });
                        }
                        continue;
                    }
                    NewCell::Value(value) => {
                        let text = literal(value, database.dialect);
                        cells.push((identifier(name, database.dialect), Text::from(text)));
                    }
                    NewCell::Of { row, column } => {
                        let known = self.variables.get(&(*row, seeding::place(*column)));
                        let text = match known {
                            Some(variable) => Text::captured(variable.clone()),
                            None => {
                                let values = seeded.rows.get(row);
                                let value = values.and_then(|values| values.get(*column)?.as_ref());
                                let value = value.cloned().unwrap_or(isobath_sql::Value::Null);
                                Text::from(literal(&value, database.dialect))
                            }
                        };
                        cells.push((identifier(name, database.dialect), text));
                    }
                }
            }
            printed.push(TestRow {
                table: table_name(table, database.dialect),
                cells,
                key,
            });
        }
        printed
    }

    /// Whether a later row or a call takes a cell of a row.
    fn uses(&self, row: u32, column: usize) -> bool {
        let candidate = &self.test.candidate;
        let place = seeding::place(column);
        let by_rows = candidate.rows.iter().flat_map(|row| &row.cells);
        let is_meant = NewCell::Of { row, column };
        by_rows.into_iter().any(|cell| *cell == is_meant)
            || candidate
                .steps
                .iter()
                .filter_map(|step| step.input())
                .any(|input| {
                    input
                        .references()
                        .iter()
                        .any(|(_, reference)| reference.source == row && *reference.place == *place)
                })
    }

    /// `site_id`, of a column `id` of a table `site`.
    fn name_of(&self, table: &str, column: &str) -> String {
        let (table, column) = (snake_case(table), snake_case(column));
        if column.starts_with(&table) {
            column
        } else {
            format!("{table}_{column}")
        }
    }

    /// The tables into which the test inserts rows, as text.
    pub(super) fn tables(&self) -> Option<String> {
        let database = self.database?;
        let seeded = seeded(&self.test.exchanges)?;
        let mut names: Vec<&str> = Vec::new();
        for row in &self.test.candidate.rows {
            let name = database.schema.table(row.table).name.as_str();
            if seeded.rows.contains_key(&row.id) && !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| names.join(" and "))
    }
}
