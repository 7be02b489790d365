//! Reads and resets sequences and AUTO_INCREMENT counters.
//!
//! A counter also moves when the row it counted for is taken back, so that rows alone do not tell.

use std::collections::BTreeMap;

use isobath_sql::render::{literal, table_name};
use isobath_sql::{DialectName, Schema, Value};

use super::Tables;
use super::snapshot::Counter;
use crate::database::{Database, DatabaseError};

/// The next number of each table of MariaDB or MySQL that has one.
const NEXT_NUMBERS: &str = "SELECT TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES \
     WHERE TABLE_SCHEMA = DATABASE() AND AUTO_INCREMENT IS NOT NULL";

/// What counts the keys that the database makes.
#[derive(Debug, Default)]
pub(super) struct Counters {
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

impl Counters {
    pub(super) fn read(
        database: &mut dyn Database,
        schema: &Schema,
    ) -> Result<Self, DatabaseError> {
        let mut counters = Self::default();
        match database.dialect() {
            DialectName::Sqlite => {
                let exists = database
                    .query_required("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'")?;
                counters.is_there = !exists.rows.is_empty();
                if counters.is_there {
                    let rows =
                        database.query_required("SELECT name, seq FROM main.sqlite_sequence")?;
                    counters.number(schema, rows.rows);
                }
            }
            DialectName::Postgres => counters.sequences = sequences(database, schema)?,
            DialectName::MySql | DialectName::Ansi => {
                counters.number(schema, database.query_required(NEXT_NUMBERS)?.rows);
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

    pub(super) fn of_sqlite(&self, schema: &Schema, tables: &Tables) -> Vec<String> {
        if !self.is_there {
            return Vec::new();
        }
        let mut statements = Vec::new();
        for &table in tables {
            let name = Value::from(schema.table(table).name.as_str());
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

    pub(super) fn of_postgres<'a>(&'a self, tables: &'a Tables) -> impl Iterator<Item = String> {
        let sequences = self.sequences.iter();
        sequences
            .filter(|one| one.table.is_none_or(|table| tables.contains(&table)))
            .map(Sequence::set)
    }

    /// Statements that put back the counters which stand elsewhere now; asked for in one query.
    pub(super) fn moved(
        &self,
        database: &mut dyn Database,
        schema: &Schema,
    ) -> Result<Vec<String>, DatabaseError> {
        match database.dialect() {
            // What is rolled back there counts for nothing.
            DialectName::Sqlite | DialectName::Ansi => Ok(Vec::new()),
            DialectName::Postgres => {
                if self.sequences.is_empty() {
                    return Ok(Vec::new());
                }
                // A sequence that never gave a number has none here.
                let now = database.query_required(
                    "SELECT quote_ident(schemaname) || '.' || quote_ident(sequencename), last_value FROM pg_sequences",
                )?;
                let stands = |one: &&Sequence| {
                    let first = match one.is_called {
                        true => Value::Int(one.last),
                        false => Value::Null,
                    };
                    let is_it = |row: &&Vec<Value>| matches!(row.first(), Some(Value::Text(name)) if *name == one.name);
                    let row = now.rows.iter().find(is_it);
                    row.is_some_and(|row| row.get(1) != Some(&first))
                };
                let moved: Vec<String> = self
                    .sequences
                    .iter()
                    .filter(stands)
                    .map(Sequence::set)
                    .collect();
                Ok(if moved.is_empty() {
                    moved
                } else {
                    vec![moved.join("; ")]
                })
            }
            DialectName::MySql => {
                let mut now = Self::default();
                now.number(schema, database.query_required(NEXT_NUMBERS)?.rows);
                let is_moved = |table: &usize| self.numbers.get(table) != now.numbers.get(table);
                let moved = self.numbers.keys().copied().filter(is_moved).collect();
                Ok(self.of_mysql(schema, &moved))
            }
        }
    }

    /// Where the counters stood, by the names of tables or, in PostgreSQL, of sequences.
    pub(super) fn told(&self, schema: &Schema, dialect: DialectName) -> Vec<Counter> {
        let numbers = self.numbers.iter().filter_map(|(&table, number)| {
            let Value::Int(last) = number else {
                return None;
            };
            Some(Counter {
                name: table_name(schema.tables.get(table)?, dialect),
                last: *last,
                is_called: true,
            })
        });
        let sequences = self.sequences.iter().map(|one| Counter {
            name: one.name.clone(),
            last: one.last,
            is_called: one.is_called,
        });
        numbers.chain(sequences).collect()
    }

    /// Takes other places of the counters for the first ones.
    pub(super) fn set(&mut self, schema: &Schema, dialect: DialectName, first: &[Counter]) {
        let mut numbers = BTreeMap::new();
        for counter in first {
            let mut names = schema.tables.iter().map(|table| table_name(table, dialect));
            if let Some(table) = names.position(|name| name == counter.name) {
                numbers.insert(table, Value::Int(counter.last));
            }
            let sequences = &mut self.sequences;
            if let Some(one) = sequences.iter_mut().find(|one| one.name == counter.name) {
                (one.last, one.is_called) = (counter.last, counter.is_called);
            }
        }
        if dialect != DialectName::Postgres {
            self.numbers = numbers;
        }
    }

    pub(super) fn of_mysql(&self, schema: &Schema, tables: &Tables) -> Vec<String> {
        let counted = tables
            .iter()
            .filter_map(|table| Some((table, self.numbers.get(table)?)));
        counted
            .map(|(&table, number)| {
                let name = table_name(schema.table(table), DialectName::MySql);
                format!("ALTER TABLE {name} AUTO_INCREMENT = {number}")
            })
            .collect()
    }
}

/// All sequences and where they stand now.
fn sequences(database: &mut dyn Database, schema: &Schema) -> Result<Vec<Sequence>, DatabaseError> {
    let found = database.query_required(
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
        let now = database.query_required(&format!("SELECT last_value, is_called FROM {name}"))?;
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
