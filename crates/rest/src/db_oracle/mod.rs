//! Database oracle: checks what each call changed in the database.
//!
//! [`RowObserver`] compares the rows before and after each call ([`CallEffect`]).
//! [`DatabaseOracle`] learns from the effects which operation writes which table, and reports
//! faults: a success that wrote nothing, a failure that wrote, a DELETE that removed too little or
//! too much. It avoids false positives: bookkeeping tables and columns (logs, sessions, counters)
//! are excluded, and every fault is confirmed by repetition before it is reported.

mod constraint;
mod display;
mod drift;
mod effect;
mod matrix;
mod names;
mod observer;
mod oracle;
mod rules;
mod text_format;
#[cfg(test)]
mod tests;
mod updates;

pub use drift::{Drift, drift};
pub use effect::{AddressedRow, CallEffect, Orphan};
pub use matrix::{ConstraintMatrix, ConstraintTally, ConstraintUse};
pub use observer::RowObserver;
pub use oracle::DatabaseOracle;

pub(crate) use constraint::{label, violated};
