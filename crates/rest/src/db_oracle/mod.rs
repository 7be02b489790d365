//! What calls do to the rows of the database, and whether they may.
//!
//! [`RowObserver`] looks at the rows around each call and says what it did ([`CallEffect`]). [`DatabaseOracle`] learns from
//! the effects which table is written by which operation, and accuses: a success that wrote nothing, a failure that wrote, a
//! DELETE that left or took too much. It accuses only what is sure: tables and columns in which a service keeps books about
//! its calls are left out, and what it says is confirmed by repeating before it is reported.

mod constraint;
mod display;
mod drift;
mod effect;
mod matrix;
mod names;
mod observer;
mod oracle;
mod rules;
#[cfg(test)]
mod tests;
mod updates;

pub use drift::{Drift, drift};
pub use effect::{AddressedRow, CallEffect, Orphan};
pub use matrix::{ConstraintMatrix, ConstraintTally, ConstraintUse};
pub use observer::RowObserver;
pub use oracle::DatabaseOracle;

pub(crate) use constraint::{label, violated};
