//! A finished suite as neutral data, and a writer for every test language and report format.
//!
//! This crate stands between the jobs, which build a [`Suite`] and a [`RunReport`], and the people
//! who run and read them. Both models are plain records that cross process boundaries as JSON.
//!
//! It deliberately knows no running system: everything here is a function of the model it is
//! given, so a suite read from a file prints exactly as one that was just generated. It opens no
//! file and no connection; a writer returns [`File`]s and the caller decides where they go.
//!
//! # Reading order
//!
//! [`suite`] and [`query`] first, then [`writer`] (one module per test language), then [`report`].
//! The same for HTTP: [`http`] has the suite of a REST run and its writers, [`findings`] its report.
//!
//! # Example
//!
//! ```
//! use isobath_emit::{Expectation, Rejection, RejectionKind, Step, Suite, SuiteDialect, Test, writer};
//!
//! let mut suite = Suite::new("shop", SuiteDialect::Sqlite);
//! suite.session.push("PRAGMA foreign_keys = ON".into());
//! suite.setup.push("CREATE TABLE orders (order_id INTEGER PRIMARY KEY)".into());
//! suite.tests.push(Test {
//!     id: "orders_rejects_a_second_row_with_the_same_order_id".into(),
//!     name: "orders rejects a second row with the same order_id".into(),
//!     group: "orders".into(),
//!     covers: vec!["PRIMARY KEY (order_id) is violated".into()],
//!     steps: vec![
//!         Step::setup("INSERT INTO orders VALUES (1)"),
//!         Step::act(
//!             "INSERT INTO orders VALUES (1)",
//!             Expectation::Rejected(Rejection {
//!                 code: Some(1555),
//!                 ..Rejection::new(RejectionKind::PrimaryKey)
//!             }),
//!         ),
//!     ],
//! });
//!
//! let files = writer::by_name("pytest").unwrap().write(&suite).unwrap();
//! assert!(files[0].text.contains("def test_orders_rejects_a_second_row_with_the_same_order_id("));
//! ```

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]
#![deny(clippy::indexing_slicing)]

pub mod suite;
pub mod query;
pub mod writer;
pub mod report;
pub mod http;
pub mod findings;
pub mod campaign;

pub mod shell;

pub use report::RunReport;
pub use suite::{
    Expectation, ReadError, Rejection, RejectionKind, Step, StepRole, Suite, SuiteDialect, Test,
};
pub use writer::{File, WriteError, Writer};
