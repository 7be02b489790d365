//! A connection to a PostgreSQL server.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::pin::pin;

use futures_util::TryStreamExt;
use futures_util::future::join_all;
use isobath_sql::DialectName;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls, SimpleQueryMessage};
use url::Url;

use super::refusal::classify;
use super::value::value;
use crate::database::batch::{self, BatchConnection, BatchResult, CaseFrame};
use crate::database::blocking::BlockingRuntime;
use crate::database::{
    Database, DatabaseError, Refusal, RefusalKind, ResultSet, StatementOutcome, mask_password,
};

/// Around cases that are transactions of their own.
const TRANSACTIONS: CaseFrame = CaseFrame {
    open: &["ROLLBACK", "BEGIN", "SET CONSTRAINTS ALL IMMEDIATE"],
    close: &["ROLLBACK"],
    fragile: true,
};

/// Around cases within a transaction of the caller.
const SAVEPOINTS: CaseFrame = CaseFrame {
    open: &[
        "ROLLBACK TO SAVEPOINT isolated",
        "SET CONSTRAINTS ALL IMMEDIATE",
    ],
    close: &["ROLLBACK TO SAVEPOINT isolated"],
    fragile: true,
};

/// How many cases are on their way at once.
const WINDOW: usize = 256;

/// A PostgreSQL database.
pub(crate) struct PostgresDatabase {
    // Before the runtime, so that it is dropped while its connection can still say goodbye.
    client: Client,
    blocking: BlockingRuntime,
    place: String,
    in_transaction: bool,
}

impl PostgresDatabase {
    /// Connects.
    pub(crate) fn connect(url: &Url) -> Result<Self, DatabaseError> {
        let place = mask_password(url.as_str());
        let mut config: Config =
            url.as_str()
                .parse()
                .map_err(|error: Error| DatabaseError::Address {
                    address: place.clone(),
                    why: error_text(&error),
                })?;
        config.application_name("isobath");
        let blocking = BlockingRuntime::new()?;
        let (client, connection) = blocking
            .wait_for_connection(&place, config.connect(NoTls))?
            .map_err(|error| connection_error(&place, &error))?;
        // Errors of the connection also reach whoever waits for an answer.
        blocking.spawn(async {
            let _ = connection.await;
        });
        Ok(Self {
            client,
            blocking,
            place,
            in_transaction: false,
        })
    }

    async fn message(client: &Client, text: &str) -> (Vec<u64>, Result<(), Error>) {
        let mut done = Vec::new();
        let result = async {
            let mut answers = pin!(client.simple_query_raw(text).await?);
            while let Some(answer) = answers.try_next().await? {
                if let SimpleQueryMessage::CommandComplete(rows) = answer {
                    done.push(rows);
                }
            }
            Ok(())
        }
        .await;
        (done, result)
    }

    /// Runs the cases, one message each, without waiting in between.
    ///
    /// Each message undoes the case before it, so that it does not matter how that one
    /// ended. Nearly always only the last statement of a case is refused; where another
    /// one is, the rest of its message was not run, and the case is run again with care.
    fn run_cases(
        &mut self,
        frame: &CaseFrame,
        cases: &[Vec<String>],
    ) -> Result<Vec<Vec<StatementOutcome>>, DatabaseError> {
        let mut answers = Vec::with_capacity(cases.len());
        for window in cases.chunks(WINDOW) {
            let texts: Vec<String> = window.iter().map(|case| message(frame, case)).collect();
            let messages = texts.iter().map(|text| Self::message(&self.client, text));
            let place = texts.first().map_or("", String::as_str);
            let results =
                self.blocking
                    .wait_for_response(&self.place, place, join_all(messages))?;
            for ((case, text), (done, result)) in window.iter().zip(&texts).zip(results) {
                let refusal = match result {
                    Ok(()) => None,
                    Err(error) => Some(self.classify_error(text, error)?),
                };
                answers.push(settled(frame, case, &done, refusal));
            }
        }
        let of_cases = cases.iter().zip(&answers);
        let unsettled = of_cases.filter(|(_, answers)| answers.is_none());
        let again: Vec<Vec<String>> = unsettled.map(|(case, _)| case.clone()).collect();
        let careful = batch::run(self, frame, &again)?;
        let unsettled = answers.iter_mut().filter(|answers| answers.is_none());
        for (answers, careful) in unsettled.zip(careful) {
            *answers = Some(careful);
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Sorts an error of a statement into data and what ends the run.
    fn classify_error(&self, sql: &str, error: Error) -> Result<Refusal, DatabaseError> {
        match error.as_db_error() {
            Some(db) if !ends_connection(db.code()) => Ok(classify(db)),
            _ => Err(DatabaseError::lost(&self.place, sql, error_text(&error))),
        }
    }

    /// The names of all primary keys with their tables.
    ///
    /// The server reports a duplicate key in the same way for all unique indexes.
    fn primary_keys(&mut self) -> Result<BTreeSet<(String, String)>, DatabaseError> {
        let sql = "SELECT t.relname::text, c.conname::text FROM pg_constraint c \
                   JOIN pg_class t ON t.oid = c.conrelid WHERE c.contype = 'p'";
        let answer =
            self.blocking
                .wait_for_response(&self.place, sql, self.client.simple_query(sql))?;
        Ok(match answer {
            Ok(messages) => messages
                .iter()
                .filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => {
                        Some((row.get(0)?.to_owned(), row.get(1)?.to_owned()))
                    }
                    _ => None,
                })
                .collect(),
            // In a transaction that a refusal has broken nothing can be asked.
            Err(error) => {
                self.classify_error(sql, error)?;
                BTreeSet::new()
            }
        })
    }
}

impl BatchConnection for PostgresDatabase {
    fn send(&mut self, text: &str) -> Result<BatchResult, DatabaseError> {
        let (done, result) = self.blocking.wait_for_response(
            &self.place,
            text,
            Self::message(&self.client, text),
        )?;
        let refusal = match result {
            Ok(()) => None,
            Err(error) => Some(self.classify_error(text, error)?),
        };
        Ok(BatchResult { done, refusal })
    }
}

impl Database for PostgresDatabase {
    fn dialect(&self) -> DialectName {
        DialectName::Postgres
    }

    fn display_address(&self) -> &str {
        &self.place
    }

    fn execute(&mut self, sql: &str) -> Result<StatementOutcome, DatabaseError> {
        let sent = self.send(sql)?;
        let Some(mut refusal) = sent.refusal else {
            let rows = sent.done.last().copied().unwrap_or_default();
            return Ok(StatementOutcome::Done { rows });
        };
        if refusal.kind == RefusalKind::Unique {
            let primary = self.primary_keys()?;
            mark_primary_keys(&mut refusal, &primary);
        }
        Ok(StatementOutcome::Refused(refusal))
    }

    fn query(&mut self, sql: &str) -> Result<Result<ResultSet, Refusal>, DatabaseError> {
        let work = self.client.query_typed(sql, &[]);
        let rows = match self.blocking.wait_for_response(&self.place, sql, work)? {
            Ok(rows) => rows,
            Err(error) => return self.classify_error(sql, error).map(Err),
        };
        let columns = rows
            .first()
            .map(|row| {
                row.columns()
                    .iter()
                    .map(|column| column.name().to_owned())
                    .collect()
            })
            .unwrap_or_default();
        let mut understood = Vec::with_capacity(rows.len());
        for row in &rows {
            let values: Option<Vec<_>> = (0..row.len()).map(|index| value(row, index)).collect();
            match values {
                Some(values) => understood.push(values),
                // A type whose binary form we do not know: the server's text does.
                None => return self.query_as_text(sql, &rows, columns),
            }
        }
        Ok(Ok(ResultSet {
            columns,
            rows: understood,
        }))
    }

    fn run_isolated(
        &mut self,
        cases: &[Vec<String>],
    ) -> Result<Vec<Vec<StatementOutcome>>, DatabaseError> {
        let primary = self.primary_keys()?;
        let mut answers = if self.in_transaction {
            self.execute_required("SAVEPOINT isolated")?;
            let answers = self.run_cases(&SAVEPOINTS, cases)?;
            self.execute_required("RELEASE SAVEPOINT isolated")?;
            answers
        } else {
            self.run_cases(&TRANSACTIONS, cases)?
        };
        for answer in answers.iter_mut().flatten() {
            if let StatementOutcome::Refused(refusal) = answer {
                mark_primary_keys(refusal, &primary);
            }
        }
        Ok(answers)
    }

    fn drop_all_objects(&mut self) -> Result<(), DatabaseError> {
        let schemas = self.query_required(
            "SELECT quote_ident(nspname) FROM pg_namespace \
             WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%' ORDER BY 1",
        )?;
        let mut sql = String::new();
        for schema in schemas.texts(0) {
            sql.push_str(&format!("DROP SCHEMA {schema} CASCADE; "));
        }
        sql.push_str("CREATE SCHEMA public");
        self.execute_required(&sql)
    }

    fn begin(&mut self) -> Result<(), DatabaseError> {
        self.execute_required("BEGIN")?;
        self.in_transaction = true;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), DatabaseError> {
        self.in_transaction = false;
        self.execute_required("ROLLBACK")
    }
}

impl PostgresDatabase {
    /// Takes from the server's text what the binary form did not tell.
    fn query_as_text(
        &mut self,
        sql: &str,
        rows: &[tokio_postgres::Row],
        columns: Vec<String>,
    ) -> Result<Result<ResultSet, Refusal>, DatabaseError> {
        let work = self.client.simple_query(sql);
        let messages = match self.blocking.wait_for_response(&self.place, sql, work)? {
            Ok(messages) => messages,
            Err(error) => return self.classify_error(sql, error).map(Err),
        };
        let texts = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let text =
            |text: Option<&str>| text.map_or(isobath_sql::Value::Null, isobath_sql::Value::from);
        let rows = rows
            .iter()
            .zip(texts)
            .map(|(row, texts)| {
                (0..row.len())
                    .map(|index| value(row, index).unwrap_or_else(|| text(texts.get(index))))
                    .collect()
            })
            .collect();
        Ok(Ok(ResultSet { columns, rows }))
    }
}

/// A case as one message.
fn message(frame: &CaseFrame, case: &[String]) -> String {
    let statements = frame
        .open
        .iter()
        .copied()
        .chain(case.iter().map(String::as_str));
    statements.collect::<Vec<_>>().join("\n;\n")
}

/// The answers of a case, if its message tells all of them.
fn settled(
    frame: &CaseFrame,
    case: &[String],
    done: &[u64],
    refusal: Option<Refusal>,
) -> Option<Vec<StatementOutcome>> {
    // A semicolon may make two statements of one, so that answers cannot be told apart.
    if case.iter().any(|sql| sql.contains(';')) {
        return None;
    }
    let done = done.get(frame.open.len()..)?;
    let answered = done.len() + usize::from(refusal.is_some());
    (answered == case.len()).then(|| {
        let done = done.iter().map(|&rows| StatementOutcome::Done { rows });
        done.chain(refusal.map(StatementOutcome::Refused)).collect()
    })
}

fn mark_primary_keys(refusal: &mut Refusal, primary: &BTreeSet<(String, String)>) {
    if let (RefusalKind::Unique, Some(table), Some(constraint)) =
        (refusal.kind, &refusal.table, &refusal.constraint)
        && primary.contains(&(table.clone(), constraint.clone()))
    {
        refusal.kind = RefusalKind::PrimaryKey;
    }
}

/// Why the server did not let us in.
fn connection_error(place: &str, error: &Error) -> DatabaseError {
    let place = place.to_owned();
    let why = error_text(error);
    match error.code() {
        Some(&SqlState::INVALID_CATALOG_NAME) => DatabaseError::NoDatabase { place, why },
        Some(
            &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | &SqlState::INSUFFICIENT_PRIVILEGE,
        ) => DatabaseError::Login { place, why },
        Some(_) => DatabaseError::Unreachable { place, why },
        // The driver's own complaint when the server asks for a password and the address has none.
        None if why.contains("password missing") => DatabaseError::Login { place, why },
        None => DatabaseError::Unreachable { place, why },
    }
}

/// Whether the server ends the connection with this error.
fn ends_connection(code: &SqlState) -> bool {
    code.code().starts_with("08")
        || matches!(
            *code,
            SqlState::ADMIN_SHUTDOWN
                | SqlState::CRASH_SHUTDOWN
                | SqlState::CANNOT_CONNECT_NOW
                | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        )
}

/// The driver's message with its cause, which says more.
fn error_text(error: &Error) -> String {
    if let Some(db) = error.as_db_error() {
        return db.message().to_owned();
    }
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
