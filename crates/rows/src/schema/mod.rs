//! The schema job: tests for integrity constraints.
//!
//! A schema's constraints become [`rule`]s as the engine enforces them; a
//! criterion turns rules into requirements, each a [`predicate`] over one new
//! row; a [`generator`] finds rows; the result is a suite of test [`case`]s.
//! [`mutation`] asks what the suite would miss, [`reduce`] makes it smaller,
//! and [`diff`] says what another version of the schema would change.

pub mod across;
pub mod case;
pub mod confirm;
pub mod criterion;
pub mod diff;
pub mod expectation;
pub mod extras;
pub mod generator;
pub mod ground;
pub mod job;
pub mod lead_up;
pub mod mutation;
pub mod overview;
pub mod phrase;
pub mod predicate;
pub mod print;
pub mod reduce;
pub mod requirement;
pub mod rule;
pub mod study;

#[cfg(test)]
pub(crate) mod samples;
