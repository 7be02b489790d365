//! Queries over rows in memory: what they return, and how far they are from returning something.
//!
//! [`model`] is the resolved query, `resolve` makes it from text, [`evaluate`] runs it;
//! [`outline()`] says what a statement touches without resolving it, and [`target_rows()`] which rows
//! a statement that was seen looks for.

pub mod model;

mod aggregate;
mod call;
mod column_comparisons;
mod compare;
mod evaluate;
mod from;
mod group;
mod grouping;
mod join;
mod order;
mod outline;
mod output;
mod pushdown;
mod read_slots;
mod recursive;
mod resolve;
mod row_pool;
mod scope;
mod select;
mod set;
mod subquery;
mod target_rows;
mod visit;
mod window;

pub use column_comparisons::{ColumnComparison, ComparisonKind};
pub use evaluate::{QueryEvaluation, Relations, distance, evaluate, evaluate_at, measure};
pub use model::Query;
pub use outline::{Outline, TableMention, outline};
pub use resolve::{ResolveError, parse, parse_as, resolve};
pub use target_rows::{StatementShape, TargetRows, shape, target_rows};
