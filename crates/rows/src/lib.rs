//! Sets of database rows as candidates, and the jobs that search for them.
//!
//! Stands between the SQL engine (`sql`), which says what is true of rows, and
//! the command line, which says what is wanted. The **schema job** finds rows
//! that each integrity constraint must accept or refuse; the **query job** finds
//! rows over which each part of a query does its work.
//!
//! This crate does not print, and talks to databases only through `exec`.
//!
//! # Reading order
//!
//! [`schema`] and its modules in the order in which they are listed there; [`set`] for rows that a test
//! of something else brings along.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod schema;
pub mod set;

mod cells;
pub mod query;
