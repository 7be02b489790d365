//! The rows that must be there first: one seed row per table, in foreign-key order.
//!
//! `order` decides who comes first and where circles are broken; `seed`
//! makes the rows and picks those that a test needs.

mod order;
mod seed;

pub use order::InsertOrder;
pub use seed::{SeedRows, seed_predicate};
