//! The first rows, kept within the database's own connection, and how they come back.
//!
//! Copies live in temporary tables, which only our connection sees and which
//! vanish with it: values come back exactly, whatever their type, and large
//! tables need no room here.

use std::collections::BTreeMap;
use std::time::Duration;

use isobath_sql::render::{identifier, literal, table_name, table_order};
use isobath_sql::schema::Filled;
use isobath_sql::{DialectName, Schema, Table, Value};

use super::first::Counter;
use super::{MOST_KEPT, Tables};
use crate::database::{Database, DatabaseError};

/// Rows that are told to the database in one statement.
const ROWS_AT_ONCE: usize = 100;

/// What a reset did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reset {
    /// The tables whose first rows are back.
    pub tables: Tables,
    /// Tables that were written and are too large to be put back.
    pub left: Tables,
    /// The time it took.
    pub took: Duration,
}

/// The first rows and counters.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Tables that had rows, each of which has a copy.
    copies: Tables,
    /// Tables with too many rows.
    pub(super) too_big: Tables,
    /// Whether foreign keys and triggers can be switched off for our connection.
    is_master: bool,
    /// Whether the database keeps its first rows itself.
    is_inside: bool,
    counters: Counters,
}

/// What counts the keys that the database makes.
#[derive(Debug, Default)]
struct Counters {
    /// PostgreSQL: where sequences stand.
    sequences: Vec<Sequence>,
    /// SQLite and MariaDB: the last or next number of tables that have one.
    numbers: BTreeMap<usize, Value>,
    /// SQLite: whether any table has ever counted.
    is_there: bool,
}

/// A sequence of PostgreSQL and where it stands.
#[derive(Debug)]
struct Sequence {
    /// The table that it belongs to, if any.
    table: Option<usize>,
    /// Its name, quoted.
    name: String,
    last: i128,
    is_called: bool,
}

impl Sequence {
    /// The statement that sets it.
    fn set(&self) -> String {
        let name = literal(&Value::from(self.name.as_str()), DialectName::Postgres);
        format!("SELECT setval({name}, {}, {})", self.last, self.is_called)
    }
}

/// Makes a connection fit for keeping and putting back.
pub(super) fn prepare(database: &mut dyn Database) -> Result<(), DatabaseError> {
    match database.dialect() {
        // What is put back thousands of times need not survive a power cut each time.
        DialectName::Sqlite => {
            database.command("PRAGMA temp_store = MEMORY; PRAGMA synchronous = OFF")
        }
        // A service that keeps a transaction open must not keep us waiting for ever.
        DialectName::Postgres => database.command("SET lock_timeout = '5s'"),
        DialectName::Ansi => Ok(()),
        DialectName::MySql => {
            database.command("SET innodb_lock_wait_timeout = 5, lock_wait_timeout = 5")
        }
    }
}

impl Kept {
    /// Copies all tables that are not too large.
    pub(super) fn take(
        database: &mut dyn Database,
        schema: &Schema,
    ) -> Result<Self, DatabaseError> {
        if database.put_back()? {
            return Ok(Self {
                is_inside: true,
                ..Self::default()
            });
        }
        let dialect = database.dialect();
        let mut kept = Self {
            is_master: may_switch_off(database)?,
            ..Self::default()
        };
        for (index, table) in schema.tables.iter().enumerate() {
            let name = table_name(table, dialect);
            let count = database.rows(&format!(
                "SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {}) counted",
                MOST_KEPT + 1
            ))?;
            let count = match count.rows.first().and_then(|row| row.first()) {
                Some(Value::Int(count)) => usize::try_from(*count).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            if count > MOST_KEPT {
                kept.too_big.insert(index);
            } else if count > 0 {
                let columns = stored(table, dialect);
                database.command(&format!(
                    "CREATE TEMPORARY TABLE isobath_first_{index} AS SELECT {columns} FROM {name}"
                ))?;
                kept.copies.insert(index);
            }
        }
        kept.counters = Counters::read(database, schema)?;
        Ok(kept)
    }

    /// Puts the first rows of tables back.
    pub(super) fn put_back(
        &self,
        database: &mut dyn Database,
        schema: &Schema,
        written: &Tables,
    ) -> Result<Reset, DatabaseError> {
        if self.is_inside {
            database.put_back()?;
            return Ok(Reset {
                tables: (0..schema.tables.len()).collect(),
                ..Reset::default()
            });
        }
        let written: Tables = written
            .iter()
            .copied()
            .filter(|&table| table < schema.tables.len())
            .collect();
        let left: Tables = written.intersection(&self.too_big).copied().collect();
        let mut tables: Tables = written.difference(&self.too_big).copied().collect();
        if !self.is_master {
            tables = self.with_those_that_refer(schema, tables);
        }
        if !tables.is_empty() {
            let sql = self.statements(database.dialect(), schema, &tables);
            database.fire_triggers(false)?;
            let done = run(database, &sql);
            database.fire_triggers(true)?;
            done?;
        }
        Ok(Reset {
            tables,
            left,
            took: Duration::ZERO,
        })
    }

    /// Takes other rows of a table for the first ones.
    pub(super) fn replace(
        &mut self,
        database: &mut dyn Database,
        schema: &Schema,
        index: usize,
        rows: &[Vec<Value>],
    ) -> Result<(), DatabaseError> {
        let (table, dialect) = (&schema.tables[index], database.dialect());
        let (columns, copied) = (stored(table, dialect), copy(index, dialect));
        if self.copies.insert(index) {
            database.command(&format!(
                "CREATE TEMPORARY TABLE isobath_first_{index} AS SELECT {columns} FROM {} LIMIT 0",
                table_name(table, dialect)
            ))?;
        } else {
            database.command(&format!("DELETE FROM {copied}"))?;
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
            database.command(&format!("INSERT INTO {copied} ({columns}) VALUES {rows}"))?;
        }
        Ok(())
    }

    /// Where the counters stood, by the names of tables or, in PostgreSQL, of sequences.
    pub(super) fn counters(&self, schema: &Schema, dialect: DialectName) -> Vec<Counter> {
        let numbers = self.counters.numbers.iter().filter_map(|(&table, number)| {
            let Value::Int(last) = number else {
                return None;
            };
            Some(Counter {
                name: table_name(schema.tables.get(table)?, dialect),
                last: *last,
                is_called: true,
            })
        });
        let sequences = self.counters.sequences.iter().map(|one| Counter {
            name: one.name.clone(),
            last: one.last,
            is_called: one.is_called,
        });
        numbers.chain(sequences).collect()
    }

    /// Takes other places of the counters for the first ones.
    pub(super) fn set_counters(
        &mut self,
        schema: &Schema,
        dialect: DialectName,
        first: &[Counter],
    ) {
        let mut numbers = BTreeMap::new();
        for counter in first {
            let mut names = schema.tables.iter().map(|table| table_name(table, dialect));
            if let Some(table) = names.position(|name| name == counter.name) {
                numbers.insert(table, Value::Int(counter.last));
            }
            let sequences = &mut self.counters.sequences;
            if let Some(one) = sequences.iter_mut().find(|one| one.name == counter.name) {
                (one.last, one.is_called) = (counter.last, counter.is_called);
            }
        }
        if dialect != DialectName::Postgres {
            self.counters.numbers = numbers;
        }
    }

    /// Adds all tables that refer to one of them: their rows would follow or stand in the way.
    fn with_those_that_refer(&self, schema: &Schema, mut tables: Tables) -> Tables {
        loop {
            let more: Tables = (0..schema.tables.len())
                .filter(|index| !tables.contains(index) && !self.too_big.contains(index))
                .filter(|&index| {
                    let mut keys = schema.tables[index].foreign_keys();
                    keys.any(|key| tables.contains(&key.parent))
                })
                .collect();
            if more.is_empty() {
                return tables;
            }
            tables.extend(more);
        }
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
            let name = table_name(&schema.tables[table], dialect);
            rows.push(format!("DELETE FROM {name}"));
        }
        for &index in order.iter().filter(|table| self.copies.contains(table)) {
            let table = &schema.tables[index];
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
                let sequences = self.counters.sequences.iter();
                rows.extend(
                    sequences
                        .filter(|one| one.table.is_none_or(|table| tables.contains(&table)))
                        .map(Sequence::set),
                );
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
        if let Err(error) = database.command(group) {
            // The error is what matters; a connection that is lost has nothing to undo.
            let _ = database.rollback();
            if let Some(last) = groups.last().filter(|_| at + 1 < groups.len()) {
                let _ = database.command(last);
            }
            return Err(error);
        }
    }
    Ok(())
}

impl Counters {
    fn read(database: &mut dyn Database, schema: &Schema) -> Result<Self, DatabaseError> {
        let mut counters = Self::default();
        match database.dialect() {
            DialectName::Sqlite => {
                let exists =
                    database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'")?;
                counters.is_there = !exists.rows.is_empty();
                if counters.is_there {
                    let rows = database.rows("SELECT name, seq FROM main.sqlite_sequence")?;
                    counters.number(schema, rows.rows);
                }
            }
            DialectName::Postgres => counters.sequences = sequences(database, schema)?,
            DialectName::MySql | DialectName::Ansi => {
                let rows = database.rows(
                    "SELECT TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES \
                     WHERE TABLE_SCHEMA = DATABASE() AND AUTO_INCREMENT IS NOT NULL",
                )?;
                counters.number(schema, rows.rows);
            }
        }
        Ok(counters)
    }

    fn number(&mut self, schema: &Schema, rows: Vec<Vec<Value>>) {
        for row in rows {
            if let [Value::Text(name), number] = row.as_slice()
                && let Some(table) = schema.table_index(name)
            {
                self.numbers.insert(table, number.clone());
            }
        }
    }

    fn of_sqlite(&self, schema: &Schema, tables: &Tables) -> Vec<String> {
        if !self.is_there {
            return Vec::new();
        }
        let mut statements = Vec::new();
        for &table in tables {
            let name = Value::from(schema.tables[table].name.as_str());
            let name = literal(&name, DialectName::Sqlite);
            statements.push(format!(
                "DELETE FROM main.sqlite_sequence WHERE name = {name}"
            ));
            if let Some(number) = self.numbers.get(&table) {
                let number = literal(number, DialectName::Sqlite);
                statements.push(format!(
                    "INSERT INTO main.sqlite_sequence (name, seq) VALUES ({name}, {number})"
                ));
            }
        }
        statements
    }

    fn of_mysql(&self, schema: &Schema, tables: &Tables) -> Vec<String> {
        let counted = tables
            .iter()
            .filter_map(|table| Some((table, self.numbers.get(table)?)));
        counted
            .map(|(&table, number)| {
                let name = table_name(&schema.tables[table], DialectName::MySql);
                format!("ALTER TABLE {name} AUTO_INCREMENT = {number}")
            })
            .collect()
    }
}

/// All sequences and where they stand now.
fn sequences(database: &mut dyn Database, schema: &Schema) -> Result<Vec<Sequence>, DatabaseError> {
    let found = database.rows(
        "SELECT quote_ident(n.nspname) || '.' || quote_ident(s.relname), t.relname::text, tn.nspname::text \
         FROM pg_class s JOIN pg_namespace n ON n.oid = s.relnamespace \
         LEFT JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass \
           AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0 \
         LEFT JOIN pg_class t ON t.oid = d.refobjid LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace \
         WHERE s.relkind = 'S' AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' \
         ORDER BY 1",
    )?;
    let mut set = Vec::new();
    for row in found.rows {
        let [Value::Text(name), table, namespace] = row.as_slice() else {
            continue;
        };
        let now = database.rows(&format!("SELECT last_value, is_called FROM {name}"))?;
        let Some([Value::Int(last), Value::Bool(called)]) = now.rows.first().map(Vec::as_slice)
        else {
            continue;
        };
        let owner = match table {
            Value::Text(table) => schema.tables.iter().position(|of| {
                let place = of.namespace.as_deref().unwrap_or("public");
                of.name == *table && matches!(namespace, Value::Text(name) if name == place)
            }),
            _ => None,
        };
        set.push(Sequence {
            table: owner,
            name: name.clone(),
            last: *last,
            is_called: *called,
        });
    }
    Ok(set)
}

/// Whether this login may switch foreign keys and triggers off for itself.
fn may_switch_off(database: &mut dyn Database) -> Result<bool, DatabaseError> {
    if database.dialect() != DialectName::Postgres {
        return Ok(true);
    }
    let answer = database.execute("SET session_replication_role = replica")?;
    if answer.is_done() {
        database.command("RESET session_replication_role")?;
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
