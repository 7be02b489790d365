//! Database connections, statement outcomes and result sets.

mod address;
mod batch;
mod blocking;
mod copy;
mod driver_database;
mod error;
pub(crate) mod mariadb;
mod outcome;
pub(crate) mod postgres;
mod refusal;
pub(crate) mod sqlite;
mod write_access;

use isobath_sql::DialectName;

pub(crate) use address::open;
pub use address::{Address, connect, mask_password};
pub use copy::DatabaseCopy;
pub(crate) use driver_database::DriverDatabase;
pub use error::DatabaseError;
pub use outcome::{ResultSet, StatementOutcome};
pub use refusal::{Refusal, RefusalKind};
pub use write_access::connect_writable;

/// An open connection.
///
/// Implementors: SQLite, PostgreSQL, MariaDB (which also speaks to MySQL), and whatever is in the memory of a service
/// with a driver in it.
///
/// Every method blocks. An error means that the connection is of no more use;
/// a statement that the database refuses is an [`StatementOutcome`].
pub trait Database: Send {
    /// How this database differs from others.
    fn dialect(&self) -> DialectName;

    /// The address without its password, for messages.
    fn display_address(&self) -> &str;

    /// Runs one statement.
    ///
    /// # Errors
    ///
    /// When the connection is lost or the database does not answer in time.
    fn execute(&mut self, sql: &str) -> Result<StatementOutcome, DatabaseError>;

    /// Runs one query and returns its rows, or why it was refused.
    ///
    /// # Errors
    ///
    /// When the connection is lost or the database does not answer in time.
    fn query(&mut self, sql: &str) -> Result<Result<ResultSet, Refusal>, DatabaseError>;

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
    fn run_isolated(
        &mut self,
        cases: &[Vec<String>],
    ) -> Result<Vec<Vec<StatementOutcome>>, DatabaseError>;

    /// Drops every table, view and type, so that the database is as good as new.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or something cannot be dropped.
    fn drop_all_objects(&mut self) -> Result<(), DatabaseError>;

    /// Lets triggers act on what this connection writes, or not, where that can be said (SQLite).
    ///
    /// # Errors
    ///
    /// When the connection is lost.
    fn fire_triggers(&mut self, on: bool) -> Result<(), DatabaseError> {
        let _ = on;
        Ok(())
    }

    /// Statements that switch the checks of foreign keys off and on again, where there are such.
    fn foreign_key_switch(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// The definitions of its tables as SQL, where they were told when it was opened; else its catalog is asked.
    fn known_definitions(&self) -> Option<&[String]> {
        None
    }

    /// Remembers all rows the first time, and puts them back later; `false` where that is not its own business.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or rows cannot be put back.
    fn snapshot_or_reset(&mut self) -> Result<bool, DatabaseError> {
        Ok(false)
    }

    /// How much others have written so far, where that is counted instead of asked for by SQL.
    ///
    /// # Errors
    ///
    /// When the connection is lost.
    fn write_count(&mut self) -> Result<Option<u64>, DatabaseError> {
        Ok(None)
    }

    /// Begins a transaction.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or a transaction is open already.
    fn begin(&mut self) -> Result<(), DatabaseError> {
        self.execute_required("BEGIN")
    }

    /// Undoes the open transaction.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or no transaction is open.
    fn rollback(&mut self) -> Result<(), DatabaseError> {
        self.execute_required("ROLLBACK")
    }

    /// Runs a statement that must not be refused.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute), and [`DatabaseError::Refused`].
    fn execute_required(&mut self, sql: &str) -> Result<(), DatabaseError> {
        match self.execute(sql)? {
            StatementOutcome::Done { .. } => Ok(()),
            StatementOutcome::Refused(refusal) => {
                Err(DatabaseError::refused(self.display_address(), sql, refusal))
            }
        }
    }

    /// Runs a query that must not be refused.
    ///
    /// # Errors
    ///
    /// As [`query`](Self::query), and [`DatabaseError::Refused`].
    fn query_required(&mut self, sql: &str) -> Result<ResultSet, DatabaseError> {
        self.query(sql)?
            .map_err(|refusal| DatabaseError::refused(self.display_address(), sql, refusal))
    }
}
