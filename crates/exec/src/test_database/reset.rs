//! Saves the snapshot in temporary tables of our connection, and resets tables from it.
//!
//! Copies live in temporary tables, which only our connection sees and which
//! vanish with it: values come back exactly, whatever their type, and large
//! tables need no room here.

use std::time::Duration;

use isobath_sql::render::{identifier, literal, table_name, table_order};
use isobath_sql::schema::Filled;
use isobath_sql::{DialectName, Schema, Table, Value};

use super::counters::Counters;
use super::{MAX_SNAPSHOT_ROWS, Tables};
use crate::database::{Database, DatabaseError};

/// Rows that are told to the database in one statement.
const ROWS_AT_ONCE: usize = 100;

/// What a reset did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResetResult {
    /// The tables that were reset.
    pub tables: Tables,
    /// Tables that were written and are too large to reset.
    pub left: Tables,
    /// The time it took.
    pub took: Duration,
}

/// The snapshot: rows and counters.
#[derive(Debug, Default)]
pub(super) struct SavedTables {
    /// Tables that had rows, each of which has a copy.
    copies: Tables,
    /// Tables with too many rows.
    pub(super) too_large: Tables,
    /// Whether foreign keys and triggers can be switched off for our connection.
    is_master: bool,
    /// Whether the database keeps its snapshot rows itself.
    is_in_service: bool,
    pub(super) counters: Counters,
}

/// Adds all tables that refer to one of them: their rows would follow or stand in the way.
pub fn with_referring_tables(
    schema: &Schema,
    mut tables: Tables,
    may_add: impl Fn(usize) -> bool,
) -> Tables {
    loop {
        let others = schema.tables.iter().enumerate();
        let more: Tables = others
            .filter(|(index, _)| !tables.contains(index) && may_add(*index))
            .filter(|(_, table)| {
                let mut keys = table.foreign_keys();
                keys.any(|key| tables.contains(&key.parent))
            })
            .map(|(index, _)| index)
            .collect();
        if more.is_empty() {
            return tables;
        }
        tables.extend(more);
    }
}

/// Makes a connection fit for keeping and putting back.
pub(super) fn prepare(database: &mut dyn Database) -> Result<(), DatabaseError> {
    match database.dialect() {
        // What is put back thousands of times need not survive a power cut each time.
        DialectName::Sqlite => {
            database.execute_required("PRAGMA temp_store = MEMORY; PRAGMA synchronous = OFF")
        }
        // A service that keeps a transaction open must not keep us waiting for ever.
        DialectName::Postgres => database.execute_required("SET lock_timeout = '5s'"),
        DialectName::Ansi => Ok(()),
        DialectName::MySql => {
            database.execute_required("SET innodb_lock_wait_timeout = 5, lock_wait_timeout = 5")
        }
    }
}

impl SavedTables {
    /// Copies all tables that are not too large.
    pub(super) fn save(
        database: &mut dyn Database,
        schema: &Schema,
    ) -> Result<Self, DatabaseError> {
        if database.snapshot_or_reset()? {
            return Ok(Self {
                is_in_service: true,
                ..Self::default()
            });
        }
        let dialect = database.dialect();
        let mut saved = Self {
            is_master: may_switch_off(database)?,
            ..Self::default()
        };
        for (index, table) in schema.tables.iter().enumerate() {
            let name = table_name(table, dialect);
            let count = database.query_required(&format!(
                "SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {}) counted",
                MAX_SNAPSHOT_ROWS + 1
            ))?;
            let count = match count.rows.first().and_then(|row| row.first()) {
                Some(Value::Int(count)) => usize::try_from(*count).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            if count > MAX_SNAPSHOT_ROWS {
                saved.too_large.insert(index);
            } else if count > 0 {
                let columns = stored(table, dialect);
                database.execute_required(&format!(
                    "CREATE TEMPORARY TABLE isobath_first_{index} AS SELECT {columns} FROM {name}"
                ))?;
                saved.copies.insert(index);
            }
        }
        saved.counters = Counters::read(database, schema)?;
        Ok(saved)
    }

    /// Resets tables to the snapshot.
    pub(super) fn restore(
        &self,
        database: &mut dyn Database,
        schema: &Schema,
        written: &Tables,
    ) -> Result<ResetResult, DatabaseError> {
        if self.is_in_service {
            database.snapshot_or_reset()?;
            return Ok(ResetResult {
                tables: (0..schema.tables.len()).collect(),
                ..ResetResult::default()
            });
        }
        let written: Tables = written
            .iter()
            .copied()
            .filter(|&table| table < schema.tables.len())
            .collect();
        let left: Tables = written.intersection(&self.too_large).copied().collect();
        let mut tables: Tables = written.difference(&self.too_large).copied().collect();
        if !self.is_master {
            tables =
                with_referring_tables(schema, tables, |table| !self.too_large.contains(&table));
        }
        if !tables.is_empty() {
            let sql = self.statements(database.dialect(), schema, &tables);
            database.fire_triggers(false)?;
            let done = run(database, &sql);
            database.fire_triggers(true)?;
            done?;
        }
        Ok(ResetResult {
            tables,
            left,
            took: Duration::ZERO,
        })
    }

    /// Puts counters back that moved though no row tells: those of rows that were taken back.
    pub(super) fn restore_counters(
        &self,
        database: &mut dyn Database,
        schema: &Schema,
    ) -> Result<(), DatabaseError> {
        if self.is_in_service {
            return Ok(());
        }
        let moved = self.counters.moved(database, schema)?;
        if moved.is_empty() {
            return Ok(());
        }
        run(database, &moved)
    }

    /// Takes other rows of a table for the first ones.
    pub(super) fn replace(
        &mut self,
        database: &mut dyn Database,
        schema: &Schema,
        index: usize,
        rows: &[Vec<Value>],
    ) -> Result<(), DatabaseError> {
        let (table, dialect) = (schema.table(index), database.dialect());
        let (columns, copied) = (stored(table, dialect), copy(index, dialect));
        if self.copies.insert(index) {
            database.execute_required(&format!(
                "CREATE TEMPORARY TABLE isobath_first_{index} AS SELECT {columns} FROM {} LIMIT 0",
                table_name(table, dialect)
            ))?;
        } else {
            database.execute_required(&format!("DELETE FROM {copied}"))?;
        }
        for some in rows.chunks(ROWS_AT_ONCE) {
            let rows: Vec<String> = some
                .iter()
                .map(|row| {
                    let cells = row.iter().zip(&table.columns);
                    let cells: Vec<String> = cells
                        .filter(|(_, column)| !matches!(column.filled, Filled::Generated(_)))
                        .map(|(value, _)| literal(value, dialect))
                        .collect();
                    format!("({})", cells.join(", "))
                })
                .collect();
            let rows = rows.join(", ");
            database
                .execute_required(&format!("INSERT INTO {copied} ({columns}) VALUES {rows}"))?;
        }
        Ok(())
    }

    /// Statements in groups; what is in a group goes to the database at once.
    fn statements(&self, dialect: DialectName, schema: &Schema, tables: &Tables) -> Vec<String> {
        let order: Vec<usize> = table_order(schema)
            .into_iter()
            .filter(|table| tables.contains(table))
            .collect();
        let mut rows = Vec::new();
        // Children first, and parents come back first.
        for &table in order.iter().rev() {
            let name = table_name(schema.table(table), dialect);
            rows.push(format!("DELETE FROM {name}"));
        }
        for &index in order.iter().filter(|table| self.copies.contains(table)) {
            let table = schema.table(index);
            let columns = stored(table, dialect);
            let overriding = if dialect == DialectName::Postgres
                && table
                    .columns
                    .iter()
                    .any(|column| column.filled == Filled::CounterAlways)
            {
                " OVERRIDING SYSTEM VALUE"
            } else {
                ""
            };
            rows.push(format!(
                "INSERT INTO {} ({columns}){overriding} SELECT {columns} FROM {}",
                table_name(table, dialect),
                copy(index, dialect)
            ));
        }
        match dialect {
            DialectName::Sqlite => {
                rows.extend(self.counters.of_sqlite(schema, tables));
                vec![
                    "PRAGMA foreign_keys = OFF".to_owned(),
                    format!("BEGIN IMMEDIATE; {}; COMMIT", rows.join("; ")),
                    "PRAGMA foreign_keys = ON".to_owned(),
                ]
            }
            DialectName::Postgres => {
                let off = if self.is_master {
                    "SET LOCAL session_replication_role = replica"
                } else {
                    "SET CONSTRAINTS ALL DEFERRED"
                };
                rows.extend(self.counters.of_postgres(tables));
                vec![format!("BEGIN; {off}; {}; COMMIT", rows.join("; "))]
            }
            DialectName::MySql | DialectName::Ansi => {
                let mut groups = vec![
                    "SET foreign_key_checks = 0, unique_checks = 0".to_owned(),
                    format!("START TRANSACTION; {}; COMMIT", rows.join("; ")),
                ];
                // These commit by themselves.
                groups.extend(self.counters.of_mysql(schema, tables));
                groups.push("SET foreign_key_checks = 1, unique_checks = 1".to_owned());
                groups
            }
        }
    }
}

/// Runs groups of statements, also the last one, which switches foreign keys on again, when one before is refused.
fn run(database: &mut dyn Database, groups: &[String]) -> Result<(), DatabaseError> {
    for (at, group) in groups.iter().enumerate() {
        if let Err(error) = database.execute_required(group) {
            // The error is what matters; a connection that is lost has nothing to undo.
            let _ = database.rollback();
            if let Some(last) = groups.last().filter(|_| at + 1 < groups.len()) {
                let _ = database.execute_required(last);
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Whether this login may switch foreign keys and triggers off for itself.
fn may_switch_off(database: &mut dyn Database) -> Result<bool, DatabaseError> {
    if database.dialect() != DialectName::Postgres {
        return Ok(true);
    }
    let answer = database.execute("SET session_replication_role = replica")?;
    if answer.is_done() {
        database.execute_required("RESET session_replication_role")?;
    }
    Ok(answer.is_done())
}

/// The columns that rows are made of, without those that the database computes.
fn stored(table: &Table, dialect: DialectName) -> String {
    let columns = table.columns.iter();
    columns
        .filter(|column| !matches!(column.filled, Filled::Generated(_)))
        .map(|column| identifier(&column.name, dialect))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The copy of a table.
fn copy(table: usize, dialect: DialectName) -> String {
    match dialect {
        DialectName::Sqlite => format!("temp.isobath_first_{table}"),
        DialectName::Postgres => format!("pg_temp.isobath_first_{table}"),
        DialectName::MySql | DialectName::Ansi => format!("isobath_first_{table}"),
    }
}
