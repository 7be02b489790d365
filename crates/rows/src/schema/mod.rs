//! The schema job: tests for integrity constraints.
//!
//! A schema's constraints become [`rule`]s as the engine enforces them; a
//! criterion turns rules into requirements, each a [`predicate`] over one new
//! row; a [`generator`] finds rows; the result is a suite of test [`case`]s.
//! [`mutation`] asks what the suite would miss, [`reduce`] makes it smaller,
//! and [`diff`] says what another version of the schema would change.

pub mod case;
pub mod confirm;
pub mod criterion;
pub mod cross_engine;
pub mod diff;
pub mod enforced;
pub mod expectation;
pub mod extra_tests;
pub mod generator;
pub mod job;
pub mod mutation;
pub mod overview;
pub mod phrase;
pub mod predicate;
pub mod print;
pub mod reduce;
pub mod requirement;
pub mod row_finder;
pub mod run;
pub mod setup_rows;

#[cfg(test)]
pub(crate) mod samples;
