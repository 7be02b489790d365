//! The schema job: tests for integrity constraints.
//!
//! A criterion turns the constraints that an engine enforces into requirements, each a predicate
//! over one new row. A generator finds the rows, the result is a suite of test cases. Mutation
//! analysis shows which changes of the schema the suite detects.
//!
//! # Reading order
//!
//! [`enforced`], [`predicate`], [`requirement`] and [`criterion`] for what is to be tested;
//! [`setup_rows`], [`row_finder`], [`generator`] and [`case`] for the rows; [`job`], [`extra_tests`],
//! [`expectation`], [`mod@print`] and [`confirm`] for the suite; [`mutation`] and [`reduce`] for its
//! quality; [`diff`] and [`cross_engine`] for other versions and other engines. [`run`] is the whole.

pub mod enforced;
pub mod predicate;
pub mod requirement;
pub mod criterion;
pub mod setup_rows;
pub mod row_finder;
pub mod generator;
pub mod case;
pub mod job;
pub mod extra_tests;
pub mod expectation;
pub mod print;
pub mod confirm;
pub mod mutation;
pub mod reduce;
pub mod diff;
pub mod cross_engine;
pub mod run;

pub mod overview;
pub mod phrase;

#[cfg(test)]
pub(crate) mod samples;
