//! The schema, query and value model of SQL, and what is true of rows.
//!
//! Stands between whoever reads SQL (files, a live catalogue, a wire tap) and
//! whoever reasons about rows (the three jobs). It loads definitions, evaluates
//! expressions with distances to true and to false, and says which rows a
//! database would accept and which constraint would refuse them.
//!
//! This crate opens no connection and has never heard of genes or search. Where
//! it cannot give the verdict that the real database would give, it says
//! [`Unsupported`](eval::Unsupported); it never guesses.
//!
//! # Reading order
//!
//! [`value`] and [`types`], then [`schema`] and [`expr`], then [`dialect`] for
//! how databases differ, [`lex`] for the one scanner of SQL text, [`ddl`] for how text becomes a schema, [`eval`] for
//! expressions and [`memory`] for whole rows. [`statement_text`] is for statements that somebody else wrote.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod value;
pub mod types;
pub mod schema;
pub mod expr;
pub mod dialect;
pub mod lex;
pub mod ddl;
pub mod eval;
pub mod memory;
pub mod statement_text;

pub mod coverage;
pub mod limitation;
pub mod mutation;
pub mod opaque_literals;
pub mod query;
pub mod referenced_tables;
pub mod render;
pub mod row;
mod syntax;

pub use dialect::{Dialect, DialectName};
pub use expr::Expr;
pub use limitation::{Limitation, SourceLocation};
pub use row::{Cell, Row};
pub use schema::{Column, Constraint, ConstraintKind, Schema, Table};
pub use types::DataType;
pub use value::Value;
