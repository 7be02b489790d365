//! What of a query is worth covering: each part of it, as a SELECT of its own.
//!
//! A *target* is a query that returns a row exactly when the rows in the
//! database exercise one part of the query under test: a condition that decides
//! alone, a row without a partner, a group of more than one row. Rows for which
//! every target returns something cover the query.
//!
//! Two criteria: [`QueryCriterion::Fpc`] is SQL full predicate coverage as the
//! reference tool SQLFpc produces it, target by target; [`QueryCriterion::Extended`]
//! repairs its gaps and is the default. `docs/query-coverage.md` explains every
//! rule of both with an example.
//!
//! Text and schema in, targets out: nothing here reads rows or evaluates.
//!
//! # Reading order
//!
//! [`targets`], then `select_block` (one SELECT taken apart), `condition` and `mcdc`
//! (conditions that decide alone), and one module per remaining clause.
//!
//! # Example
//!
//! ```
//! use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
//! use isobath_sql::DialectName;
//! # use isobath_sql::{Column, DataType, Schema, SourceLocation, Table, schema::Filled};
//! # let column = |name: &str| Column { name: name.into(), data_type: DataType::Text,
//! #     declared: "text".into(), default: None, filled: Filled::No, collation: None };
//! # let table = Table { name: "users".into(), namespace: None, columns: vec![column("name")],
//! #     constraints: vec![], strict: false, without_rowid: false, location: SourceLocation::default() };
//! # let schema = Schema { name: "s".into(), tables: vec![table.into()] };
//! let query = "SELECT name FROM users WHERE name = 'Ada'";
//! let targets = targets(
//!     query, &schema, DialectName::Postgres, QueryCriterion::Fpc, CoverageOptions::default(),
//! ).unwrap();
//! let sql: Vec<_> = targets.iter().map(|target| target.sql.as_str()).collect();
//! assert_eq!(sql, [
//!     "SELECT name FROM users WHERE NOT (name = 'Ada')",
//!     "SELECT name FROM users WHERE name = 'Ada'",
//!     "SELECT name FROM users WHERE name IS NULL",
//! ]);
//! ```

#![deny(clippy::indexing_slicing)]

mod select_block;
mod condition;
mod mcdc;

mod boundary;
mod conditional;
mod error;
pub(crate) mod expr_parts;
mod from;
mod generate;
mod grouping;
mod joins;
mod order;
pub(crate) mod parameter;
pub(crate) mod parse;
mod relation;
mod scope;
mod setop;
mod subquery;
mod target;
mod value_class;

#[cfg(test)]
mod tests;

pub use error::TargetError;
pub use generate::targets;
pub use parameter::{ParameterMention, is_before_operand};
pub use target::{
    Clause, ClauseKind, CoverageOptions, CoverageRule, CoverageTarget, Description, Nesting,
    QueryCriterion, Span,
};
