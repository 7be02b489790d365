//! A connection to an SQLite database in memory or in a file.

use std::path::Path;
use std::time::Duration;

use isobath_sql::{DialectName, Value};
use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, ErrorCode, OpenFlags};

use super::refusal::classify;
use crate::database::error::shorten;
use crate::database::{Database, DatabaseError, Refusal, ResultSet, StatementOutcome};

/// How long to wait for another process that holds the file.
const BUSY: Duration = Duration::from_secs(10);

/// An SQLite database, with foreign keys on.
#[derive(Debug)]
pub(crate) struct SqliteDatabase {
    connection: Connection,
    place: String,
}

impl SqliteDatabase {
    /// An empty database in memory.
    pub(crate) fn in_memory() -> Result<Self, DatabaseError> {
        Self::prepared(Connection::open_in_memory(), "sqlite::memory:".to_owned())
    }

    /// A file, created when there is none.
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseError> {
        Self::prepared(Connection::open(path), format!("sqlite:{}", path.display()))
    }

    /// A file that must exist, and that is not written to.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, DatabaseError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::prepared(
            Connection::open_with_flags(path, flags),
            format!("sqlite:{}", path.display()),
        )
    }

    fn prepared(
        opened: rusqlite::Result<Connection>,
        place: String,
    ) -> Result<Self, DatabaseError> {
        let prepared = opened.and_then(|connection| {
            connection.busy_timeout(BUSY)?;
            connection.execute_batch("PRAGMA foreign_keys = ON")?;
            // The first read tells whether the file is a database at all.
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        });
        match prepared {
            Ok(connection) => Ok(Self { connection, place }),
            Err(error) => Err(DatabaseError::NoDatabase {
                place,
                why: error.to_string(),
            }),
        }
    }

    /// Runs every statement of a text and counts the rows of the last one.
    fn run(&self, sql: &str) -> rusqlite::Result<u64> {
        let mut rows = 0;
        let mut batch = Batch::new(&self.connection, sql);
        while let Some(mut statement) = batch.next()? {
            let before = self.connection.total_changes();
            let mut returned = 0;
            let mut cursor = statement.raw_query();
            while cursor.next()?.is_some() {
                returned += 1;
            }
            drop(cursor);
            rows = if returned > 0 || self.connection.total_changes() == before {
                returned
            } else {
                self.connection.changes()
            };
        }
        Ok(rows)
    }

    fn select(&self, sql: &str) -> rusqlite::Result<ResultSet> {
        let mut statement = self.connection.prepare(sql)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let width = columns.len();
        let mut rows = Vec::new();
        let mut cursor = statement.raw_query();
        while let Some(row) = cursor.next()? {
            let values = (0..width).map(|index| row.get_ref(index).map(value));
            rows.push(values.collect::<rusqlite::Result<_>>()?);
        }
        Ok(ResultSet { columns, rows })
    }

    /// Sorts what a statement gave into data and what ends the run.
    fn classify_error<T>(
        &self,
        sql: &str,
        result: rusqlite::Result<T>,
    ) -> Result<Result<T, Refusal>, DatabaseError> {
        let error = match result {
            Ok(value) => return Ok(Ok(value)),
            Err(error) => error,
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Err(DatabaseError::Silent {
                    place: self.place.clone(),
                    statement: shorten(sql),
                    seconds: BUSY.as_secs(),
                })
            }
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::OutOfMemory,
            ) => Err(DatabaseError::File {
                place: self.place.clone(),
                statement: shorten(sql),
                why: error.to_string(),
            }),
            _ => Ok(Err(classify(&error))),
        }
    }

    /// Whether a foreign key waits for the end of the transaction.
    fn defers(&self) -> rusqlite::Result<bool> {
        self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE upper(sql) LIKE '%DEFERRED%')",
            [],
            |row| row.get(0),
        )
    }

    /// Empties all tables, for cases whose statements had to be committed.
    fn empty(&self) -> rusqlite::Result<()> {
        self.connection
            .execute_batch("PRAGMA foreign_keys = OFF; BEGIN")?;
        for table in self.names("name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type = 'table'")? {
            self.connection
                .execute(&format!("DELETE FROM {table}"), [])?;
        }
        // Exists only where some table has AUTOINCREMENT.
        if !self.names("name = 'sqlite_sequence'")?.is_empty() {
            self.connection.execute("DELETE FROM sqlite_sequence", [])?;
        }
        self.connection
            .execute_batch("COMMIT; PRAGMA foreign_keys = ON")
    }

    /// Quoted names from the catalog.
    fn names(&self, condition: &str) -> rusqlite::Result<Vec<String>> {
        let sql = format!("SELECT name FROM sqlite_schema WHERE {condition}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?;
        names
            .map(|name| Ok(format!("\"{}\"", name?.replace('"', "\"\""))))
            .collect()
    }

    /// Runs one statement of a case, or a few of them as one.
    fn step(&self, sql: &str) -> Result<StatementOutcome, DatabaseError> {
        // A savepoint makes several statements one; where there is only one, with a
        // semicolon in its text, it does no harm.
        let several = sql.trim_end().trim_end_matches(';').contains(';');
        let result = if several {
            self.connection
                .execute_batch("SAVEPOINT step")
                .and_then(|()| self.run(sql))
                .and_then(|rows| self.connection.execute_batch("RELEASE step").map(|()| rows))
                .inspect_err(|_| {
                    // Fails only where ON CONFLICT ROLLBACK has already ended everything.
                    let _ = self
                        .connection
                        .execute_batch("ROLLBACK TO step; RELEASE step");
                })
        } else {
            self.run(sql)
        };
        Ok(match self.classify_error(sql, result)? {
            Ok(rows) => StatementOutcome::Done { rows },
            Err(refusal) => StatementOutcome::Refused(refusal),
        })
    }

    fn case(
        &self,
        case: &[String],
        committed: bool,
    ) -> Result<Vec<StatementOutcome>, DatabaseError> {
        let begin = || {
            if committed {
                Ok(())
            } else {
                self.must("SAVEPOINT isolated")
            }
        };
        begin()?;
        let mut answers: Vec<StatementOutcome> = Vec::with_capacity(case.len());
        for sql in case {
            let answer = self.step(sql)?;
            if !committed && self.connection.is_autocommit() {
                // ON CONFLICT ROLLBACK undid the whole case where a statement committed
                // by itself would have lost nothing, so what had been done is done again.
                begin()?;
                for (sql, _) in case
                    .iter()
                    .zip(&answers)
                    .filter(|(_, answer)| answer.is_done())
                {
                    self.step(sql)?;
                }
            }
            answers.push(answer);
        }
        if committed {
            let emptied = self.empty();
            self.classify_error("DELETE FROM all tables", emptied)?
                .map_err(|refusal| {
                    DatabaseError::refused(&self.place, "DELETE FROM all tables", refusal)
                })?;
        } else {
            self.must("ROLLBACK TO isolated; RELEASE isolated")?;
        }
        Ok(answers)
    }

    fn must(&self, sql: &str) -> Result<(), DatabaseError> {
        let result = self.connection.execute_batch(sql);
        self.classify_error(sql, result)?
            .map_err(|refusal| DatabaseError::refused(&self.place, sql, refusal))
    }
}

impl Database for SqliteDatabase {
    fn dialect(&self) -> DialectName {
        DialectName::Sqlite
    }

    fn display_address(&self) -> &str {
        &self.place
    }

    fn execute(&mut self, sql: &str) -> Result<StatementOutcome, DatabaseError> {
        let result = self.run(sql);
        Ok(match self.classify_error(sql, result)? {
            Ok(rows) => StatementOutcome::Done { rows },
            Err(refusal) => StatementOutcome::Refused(refusal),
        })
    }

    fn query(&mut self, sql: &str) -> Result<Result<ResultSet, Refusal>, DatabaseError> {
        let result = self.select(sql);
        self.classify_error(sql, result)
    }

    fn run_isolated(
        &mut self,
        cases: &[Vec<String>],
    ) -> Result<Vec<Vec<StatementOutcome>>, DatabaseError> {
        // A deferred key speaks up at the end of a transaction only. Within a transaction
        // of the caller there is no such end, so there the cases are undone all the same.
        let defers = self.defers();
        let defers = self
            .classify_error("SELECT FROM sqlite_schema", defers)?
            .unwrap_or(false);
        let committed = defers && self.connection.is_autocommit();
        cases
            .iter()
            .map(|case| self.case(case, committed))
            .collect()
    }

    fn fire_triggers(&mut self, on: bool) -> Result<(), DatabaseError> {
        let switch = DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER;
        match self.connection.set_db_config(switch, on) {
            Ok(_) => Ok(()),
            Err(error) => Err(DatabaseError::lost(&self.place, "enable triggers", error)),
        }
    }

    fn drop_all_objects(&mut self) -> Result<(), DatabaseError> {
        let cleared = (|| {
            self.connection.execute_batch("PRAGMA foreign_keys = OFF")?;
            for kind in ["view", "table"] {
                let condition =
                    format!("type = '{kind}' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
                for name in self.names(&condition)? {
                    self.connection
                        .execute_batch(&format!("DROP {kind} IF EXISTS {name}"))?;
                }
            }
            self.connection.execute_batch("PRAGMA foreign_keys = ON")
        })();
        self.classify_error("DROP TABLE", cleared)?
            .map_err(|refusal| DatabaseError::refused(&self.place, "DROP TABLE", refusal))
    }
}

/// A value of ours for one of SQLite's.
fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value.into()),
        ValueRef::Real(value) => Value::Float(value),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}
