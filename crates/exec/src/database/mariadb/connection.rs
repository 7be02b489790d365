//! A connection to a MariaDB or MySQL server.

use isobath_sql::DialectName;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, Row};
use url::Url;

use super::refusal::classify;
use super::value::value;
use crate::database::batch::{self, BatchConnection, BatchResult, CaseFrame};
use crate::database::blocking::BlockingRuntime;
use crate::database::{
    Database, DatabaseError, Refusal, ResultSet, StatementOutcome, mask_password,
};

/// Around cases. A refused statement undoes itself only, so no savepoints are needed.
const TRANSACTIONS: CaseFrame = CaseFrame {
    open: &["ROLLBACK", "START TRANSACTION"],
    close: &["ROLLBACK"],
    fragile: false,
};

/// A MariaDB or MySQL database.
pub(crate) struct MariaDbDatabase {
    conn: Conn,
    blocking: BlockingRuntime,
    place: String,
}

impl MariaDbDatabase {
    /// Connects.
    pub(crate) fn connect(url: &Url) -> Result<Self, DatabaseError> {
        let place = mask_password(url.as_str());
        let wrong = |why: String| DatabaseError::Address {
            address: place.clone(),
            why,
        };
        // The driver knows one of the two schemes only.
        let text = url.as_str();
        let rest = text.split_once(':').map_or(text, |(_, rest)| rest);
        let opts =
            Opts::from_url(&format!("mysql:{rest}")).map_err(|error| wrong(error.to_string()))?;
        let opts = OptsBuilder::from_opts(opts)
            // Rows that an UPDATE leaves equal count, as they do elsewhere.
            .client_found_rows(true)
            // A socket in the server's file system is a different address than the one given.
            .prefer_socket(false)
            .tcp_nodelay(true);
        let blocking = BlockingRuntime::new()?;
        let conn = blocking
            .wait_for_connection(&place, Conn::new(opts))?
            .map_err(|error| connection_error(&place, &error))?;
        let mut database = Self {
            conn,
            blocking,
            place,
        };
        // Instants are compared as instants, wherever the server stands.
        database.execute_required("SET time_zone = '+00:00'")?;
        Ok(database)
    }

    /// Sorts an error of a statement into data and what ends the run.
    fn classify_error(&self, sql: &str, error: Error) -> Result<Refusal, DatabaseError> {
        /// Shutdown in progress; killed; closed by the server for lack of traffic.
        const ENDS_CONNECTION: [u16; 4] = [1053, 1927, 1158, 4031];
        match &error {
            Error::Server(server) if !ENDS_CONNECTION.contains(&server.code) => {
                Ok(classify(server))
            }
            _ => Err(DatabaseError::lost(&self.place, sql, error_text(&error))),
        }
    }
}

impl BatchConnection for MariaDbDatabase {
    fn send(&mut self, text: &str) -> Result<BatchResult, DatabaseError> {
        let mut done = Vec::new();
        let conn = &mut self.conn;
        let work = async {
            let mut results = conn.query_iter(text).await?;
            loop {
                let mut returned = 0;
                let is_query = !results.columns_ref().is_empty();
                let changed = results.affected_rows();
                while let Some(_row) = results.next().await? {
                    returned += 1;
                }
                done.push(if is_query { returned } else { changed });
                // No further result, or a refusal, which the driver keeps for the next read.
                if results.columns().is_none() {
                    results.next().await?;
                    return Ok(());
                }
            }
        };
        let result: Result<(), Error> = self.blocking.wait_for_response(&self.place, text, work)?;
        let refusal = match result {
            Ok(()) => None,
            Err(error) => Some(self.classify_error(text, error)?),
        };
        Ok(BatchResult { done, refusal })
    }
}

impl Database for MariaDbDatabase {
    fn dialect(&self) -> DialectName {
        DialectName::MySql
    }

    fn foreign_key_switch(&self) -> Option<[&'static str; 2]> {
        Some(["SET FOREIGN_KEY_CHECKS = 0", "SET FOREIGN_KEY_CHECKS = 1"])
    }

    fn display_address(&self) -> &str {
        &self.place
    }

    fn execute(&mut self, sql: &str) -> Result<StatementOutcome, DatabaseError> {
        let sent = self.send(sql)?;
        Ok(match sent.refusal {
            None => StatementOutcome::Done {
                rows: sent.done.last().copied().unwrap_or_default(),
            },
            Some(refusal) => StatementOutcome::Refused(refusal),
        })
    }

    fn query(&mut self, sql: &str) -> Result<Result<ResultSet, Refusal>, DatabaseError> {
        let conn = &mut self.conn;
        let work = async {
            let mut result = conn.query_iter(sql).await?;
            let columns = result
                .columns_ref()
                .iter()
                .map(|column| column.name_str().into_owned())
                .collect();
            let rows: Vec<Row> = result.collect().await?;
            result.drop_result().await?;
            Ok((columns, rows))
        };
        let answer: Result<(Vec<String>, Vec<Row>), Error> =
            self.blocking.wait_for_response(&self.place, sql, work)?;
        let (columns, rows) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.classify_error(sql, error).map(Err),
        };
        let rows = rows
            .iter()
            .map(|row| (0..row.len()).map(|index| value(row, index)).collect())
            .collect();
        Ok(Ok(ResultSet { columns, rows }))
    }

    fn run_isolated(
        &mut self,
        cases: &[Vec<String>],
    ) -> Result<Vec<Vec<StatementOutcome>>, DatabaseError> {
        batch::run(self, &TRANSACTIONS, cases)
    }

    fn drop_all_objects(&mut self) -> Result<(), DatabaseError> {
        let tables = self.query_required(
            "SELECT TABLE_NAME, IF(TABLE_TYPE = 'VIEW', 'VIEW', 'TABLE') FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME",
        )?;
        let mut sql = "SET foreign_key_checks = 0".to_owned();
        for (name, kind) in tables.texts(0).zip(tables.texts(1)) {
            sql.push_str(&format!("; DROP {kind} `{}`", name.replace('`', "``")));
        }
        sql.push_str("; SET foreign_key_checks = 1");
        self.execute_required(&sql)
    }
}

/// Why the server did not let us in.
fn connection_error(place: &str, error: &Error) -> DatabaseError {
    let place = place.to_owned();
    let why = error_text(error);
    match error {
        Error::Server(server) => match server.code {
            1049 => DatabaseError::NoDatabase { place, why },
            // Access denied: to the database, with this password, by this way of login.
            1044 | 1045 | 1130 | 1227 | 1698 => DatabaseError::Login { place, why },
            _ => DatabaseError::Unreachable { place, why },
        },
        Error::Driver(DriverError::UnknownAuthPlugin { .. }) => DatabaseError::Login { place, why },
        _ => DatabaseError::Unreachable { place, why },
    }
}

/// The innermost message, without the driver's wrapping.
fn error_text(error: &Error) -> String {
    match error {
        Error::Server(server) => server.message.clone(),
        Error::Io(mysql_async::IoError::Io(cause)) => cause.to_string(),
        other => other.to_string(),
    }
}
