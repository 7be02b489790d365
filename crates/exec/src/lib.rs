//! The only input and output of the product: databases, HTTP, test servers, processes.
//!
//! Stands between the jobs, which know what they want to try, and the systems
//! that answer. It runs statements and says what a database did with them, it
//! starts servers to try them on, and it reads the schema of a live database.
//!
//! This crate does not know what a requirement, a test or a mutant is, and it
//! prints nothing. A statement that a database refuses is data here
//! ([`Refusal`]); an `Err` means that the run cannot continue.
//!
//! # Reading order
//!
//! [`database`] for connections and outcomes, [`server`] for the servers that
//! tests run on, [`engine`] for an empty database to work in, [`catalog`] for
//! the schema of a live database, [`test_database`] for the rows of a test database. For services: [`http`] to call one,
//! [`process`] to start one, [`driver`] for what happens inside, [`tap`] for what it
//! asks of its database, [`mock`] for whom it calls, [`pages`] to show results in a browser, [`document`] to read what it says about itself, [`tool`] to
//! run the tests of another language, [`files`] to write results, [`cpu`] for what the work costs.
//!
//! # Example
//!
//! ```
//! use isobath_exec::{StatementOutcome, RefusalKind, connect};
//!
//! # fn main() -> Result<(), isobath_exec::DatabaseError> {
//! let mut database = connect("sqlite::memory:")?;
//! database.execute("CREATE TABLE t (a INT NOT NULL)")?;
//! let StatementOutcome::Refused(refusal) = database.execute("INSERT INTO t VALUES (NULL)")? else {
//!     unreachable!("NULL was accepted");
//! };
//! assert_eq!(refusal.kind, RefusalKind::NotNull);
//! # Ok(())
//! # }
//! ```

#![deny(clippy::indexing_slicing)]

pub mod database;
pub mod server;
pub mod engine;
pub mod catalog;
pub mod test_database;
pub mod http;
pub mod process;
pub mod driver;
pub mod tap;
pub mod mock;
pub mod pages;
pub mod document;
pub mod tool;
pub mod files;
pub mod cpu;

pub mod statement;

pub use database::{
    Database, DatabaseError, Refusal, RefusalKind, ResultSet, StatementOutcome, connect,
    connect_writable,
};
pub use engine::{Engine, ProvisionedDatabase, provision};
