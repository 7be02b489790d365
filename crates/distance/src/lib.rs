//! How far a comparison is from being true, and how far from being false.
//!
//! Every heuristic in the product is built from one type, [`Truth`]. It is the
//! contract between whoever *observes* a comparison (a driver inside the system
//! under test, the SQL evaluator) and whoever *steers by it* (the search).
//!
//! This crate compares values. It does not know what SQL, HTTP or a gene is;
//! predicates over rows live in `sql`, and scores per target live in `search`.
//!
//! # Reading order
//!
//! [`Truth`] first, then [`order`] for what all comparisons share, [`number`] for
//! the simplest of them, and [`text`], [`date`], [`member`] and [`pattern`].
//!
//! # Example
//!
//! ```
//! use isobath_distance::{Truth, number};
//!
//! // `x = 7` with x at 4 is false, and three steps from being true.
//! let eq = number::equal(4.0, 7.0);
//! assert_eq!(eq.verdict(), Some(false));
//! assert_eq!(eq.to_true(), 3.0);
//!
//! // A comparison with NULL is neither true nor false.
//! assert_eq!(Truth::UNKNOWN.verdict(), None);
//! ```

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]
#![deny(clippy::indexing_slicing)]

mod truth;
pub mod order;
pub mod number;
pub mod text;
pub mod date;
pub mod member;
pub mod pattern;

pub use order::Relation;
pub use truth::{STEP, Truth, normalize};
