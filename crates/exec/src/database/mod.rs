//! Connections to databases, and what databases answer.

mod address;
mod answer;
mod error;
mod gate;
mod inside;
pub(crate) mod mariadb;
pub(crate) mod postgres;
mod refusal;
pub(crate) mod sqlite;
mod stream;
mod waiting;

use isobath_sql::DialectName;

pub(crate) use address::open;
pub use address::{Address, connect, masked};
pub use answer::{Answer, Rows};
pub use error::DatabaseError;
pub use gate::writable;
pub(crate) use inside::Inside;
pub use refusal::{Refusal, RefusalKind};

/// An open connection.
///
/// Implementors: SQLite, PostgreSQL, MariaDB (which also speaks to MySQL), and whatever is in the memory of a service
/// with a driver in it.
///
/// Every method blocks. An error means that the connection is of no more use;
/// a statement that the database refuses is an [`Answer`].
pub trait Database: Send {
    /// How this database differs from others.
    fn dialect(&self) -> DialectName;

    /// The address without its password, for messages.
    fn place(&self) -> &str;

    /// Runs one statement.
    ///
    /// # Errors
    ///
    /// When the connection is lost or the database does not answer in time.
    fn execute(&mut self, sql: &str) -> Result<Answer, DatabaseError>;

    /// Runs one query and returns its rows, or why it was refused.
    ///
    /// # Errors
    ///
    /// When the connection is lost or the database does not answer in time.
    fn query(&mut self, sql: &str) -> Result<Result<Rows, Refusal>, DatabaseError>;

    /// Runs independent cases, each a list of statements, and undoes each one afterwards.
    ///
    /// Every statement is run and answered, also after a refused one; a refused
    /// statement leaves nothing behind. Constraints are checked at the end of
    /// each statement, deferred ones too, as if each statement were committed by
    /// itself. Cases hold no DDL and do not end the transaction. This is the
    /// fast way of running thousands of small cases.
    ///
    /// # Errors
    ///
    /// When the connection is lost or the database does not answer in time.
    fn isolated(&mut self, cases: &[Vec<String>]) -> Result<Vec<Vec<Answer>>, DatabaseError>;

    /// Drops every table, view and type, so that the database is as good as new.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or something cannot be dropped.
    fn clear(&mut self) -> Result<(), DatabaseError>;

    /// Lets triggers act on what this connection writes, or not, where that can be said (SQLite).
    ///
    /// # Errors
    ///
    /// When the connection is lost.
    fn fire_triggers(&mut self, on: bool) -> Result<(), DatabaseError> {
        let _ = on;
        Ok(())
    }

    /// The definitions of its tables as SQL, where they were told when it was opened; else its catalogue is asked.
    fn told_definitions(&self) -> Option<&[String]> {
        None
    }

    /// Remembers all rows the first time, and puts them back later; `false` where that is not its own business.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or rows cannot be put back.
    fn put_back(&mut self) -> Result<bool, DatabaseError> {
        Ok(false)
    }

    /// How much others have written so far, where that is counted instead of asked for by SQL.
    ///
    /// # Errors
    ///
    /// When the connection is lost.
    fn writes(&mut self) -> Result<Option<u64>, DatabaseError> {
        Ok(None)
    }

    /// Begins a transaction.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or a transaction is open already.
    fn begin(&mut self) -> Result<(), DatabaseError> {
        self.command("BEGIN")
    }

    /// Undoes the open transaction.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or no transaction is open.
    fn rollback(&mut self) -> Result<(), DatabaseError> {
        self.command("ROLLBACK")
    }

    /// Runs a statement that must not be refused.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute), and [`DatabaseError::Refused`].
    fn command(&mut self, sql: &str) -> Result<(), DatabaseError> {
        match self.execute(sql)? {
            Answer::Done { .. } => Ok(()),
            Answer::Refused(refusal) => Err(DatabaseError::refused(self.place(), sql, refusal)),
        }
    }

    /// Runs a query that must not be refused.
    ///
    /// # Errors
    ///
    /// As [`query`](Self::query), and [`DatabaseError::Refused`].
    fn rows(&mut self, sql: &str) -> Result<Rows, DatabaseError> {
        self.query(sql)?
            .map_err(|refusal| DatabaseError::refused(self.place(), sql, refusal))
    }
}
