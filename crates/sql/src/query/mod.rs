//! Queries over rows in memory: what they return, and how far they are from returning something.
//!
//! [`model`] is the resolved query, `resolve` makes it from text, [`evaluate`] runs it;
//! [`outline()`] says what a statement touches without resolving it, and [`sought()`] which rows
//! a statement that was seen looks for.

pub mod model;

mod aggregate;
mod call;
mod compare;
mod compared;
mod evaluate;
mod from;
mod group;
mod grouping;
mod join;
mod order;
mod outline;
mod output;
mod pool;
mod reads;
mod recursive;
mod resolve;
mod scope;
mod select;
mod set;
mod sought;
mod subquery;
mod visit;
mod window;

pub use compared::{Compared, Comparison};
pub use evaluate::{Evaluated, Relations, distance, evaluate, evaluate_at};
pub use model::Query;
pub use outline::{Mention, Outline, outline};
pub use resolve::{ResolveError, parse, parse_as, resolve};
pub use sought::{Shape, Sought, shape, sought};
