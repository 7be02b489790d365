//! What calls do to the rows of the database, and whether they may.
//!
//! [`Watch`] looks at the rows around each call and says what it did ([`Effect`]). [`Judge`] learns from
//! the effects which table is written by which operation, and accuses: a success that wrote nothing, a failure that wrote, a
//! DELETE that left or took too much. It accuses only what is sure: tables and columns in which a service keeps books about
//! its calls are left out, and what it says is confirmed by repeating before it is reported.

mod constraint;
mod drift;
mod effect;
mod judge;
mod matrix;
mod names;
mod rules;
mod show;
#[cfg(test)]
mod tests;
mod updates;
mod watch;

pub use drift::{Drift, drift};
pub use effect::{Effect, Orphan, Target};
pub use judge::Judge;
pub use matrix::{Guarded, Matrix, Tally};
pub use watch::Watch;

pub(crate) use constraint::{label, violated};
