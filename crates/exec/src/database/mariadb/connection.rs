//! A connection to a MariaDB or MySQL server.

use isobath_sql::DialectName;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, Row};
use url::Url;

use super::refusal::classify;
use super::value::value;
use crate::database::stream::{self, Frame, Sent, Wire};
use crate::database::waiting::Waiting;
use crate::database::{Answer, Database, DatabaseError, Refusal, Rows, masked};

/// Around cases. A refused statement undoes itself only, so no savepoints are needed.
const TRANSACTIONS: Frame = Frame {
    open: &["ROLLBACK", "START TRANSACTION"],
    close: &["ROLLBACK"],
    fragile: false,
};

/// A MariaDB or MySQL database.
pub(crate) struct MariaDbDatabase {
    conn: Conn,
    waiting: Waiting,
    place: String,
}

impl MariaDbDatabase {
    /// Connects.
    pub(crate) fn connect(url: &Url) -> Result<Self, DatabaseError> {
        let place = masked(url.as_str());
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
        let waiting = Waiting::new()?;
        let conn = waiting
            .for_connection(&place, Conn::new(opts))?
            .map_err(|error| refused_entry(&place, &error))?;
        let mut database = Self {
            conn,
            waiting,
            place,
        };
        // Instants are compared as instants, wherever the server stands.
        database.command("SET time_zone = '+00:00'")?;
        Ok(database)
    }

    /// Sorts an error of a statement into data and what ends the run.
    fn sorted(&self, sql: &str, error: Error) -> Result<Refusal, DatabaseError> {
        /// Shutdown in progress; killed; closed by the server for lack of traffic.
        const ENDS_CONNECTION: [u16; 4] = [1053, 1927, 1158, 4031];
        match &error {
            Error::Server(server) if !ENDS_CONNECTION.contains(&server.code) => {
                Ok(classify(server))
            }
            _ => Err(DatabaseError::lost(&self.place, sql, explained(&error))),
        }
    }
}

impl Wire for MariaDbDatabase {
    fn send(&mut self, text: &str) -> Result<Sent, DatabaseError> {
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
        let result: Result<(), Error> = self.waiting.for_answer(&self.place, text, work)?;
        let refusal = match result {
            Ok(()) => None,
            Err(error) => Some(self.sorted(text, error)?),
        };
        Ok(Sent { done, refusal })
    }
}

impl Database for MariaDbDatabase {
    fn dialect(&self) -> DialectName {
        DialectName::MySql
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn execute(&mut self, sql: &str) -> Result<Answer, DatabaseError> {
        let sent = self.send(sql)?;
        Ok(match sent.refusal {
            None => Answer::Done {
                rows: sent.done.last().copied().unwrap_or_default(),
            },
            Some(refusal) => Answer::Refused(refusal),
        })
    }

    fn query(&mut self, sql: &str) -> Result<Result<Rows, Refusal>, DatabaseError> {
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
            self.waiting.for_answer(&self.place, sql, work)?;
        let (columns, rows) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.sorted(sql, error).map(Err),
        };
        let rows = rows
            .iter()
            .map(|row| (0..row.len()).map(|index| value(row, index)).collect())
            .collect();
        Ok(Ok(Rows { columns, rows }))
    }

    fn isolated(&mut self, cases: &[Vec<String>]) -> Result<Vec<Vec<Answer>>, DatabaseError> {
        stream::run(self, &TRANSACTIONS, cases)
    }

    fn clear(&mut self) -> Result<(), DatabaseError> {
        let tables = self.rows(
            "SELECT TABLE_NAME, IF(TABLE_TYPE = 'VIEW', 'VIEW', 'TABLE') FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME",
        )?;
        let mut sql = "SET foreign_key_checks = 0".to_owned();
        for (name, kind) in tables.texts(0).zip(tables.texts(1)) {
            sql.push_str(&format!("; DROP {kind} `{}`", name.replace('`', "``")));
        }
        sql.push_str("; SET foreign_key_checks = 1");
        self.command(&sql)
    }
}

/// Why the server did not let us in.
fn refused_entry(place: &str, error: &Error) -> DatabaseError {
    let place = place.to_owned();
    let why = explained(error);
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
fn explained(error: &Error) -> String {
    match error {
        Error::Server(server) => server.message.clone(),
        Error::Io(mysql_async::IoError::Io(cause)) => cause.to_string(),
        other => other.to_string(),
    }
}
