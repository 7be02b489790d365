//! The query job: the smallest rows that exercise every part of a query.
//!
//! A coverage [`target`] is a query that must return a row. A [`candidate`] brings rows and
//! parameter values. [`construct`] builds one from the target's conditions or proves that there
//! is none; [`job`] does all targets of a query; [`confirm`] asks a real engine.

pub mod candidate;
pub mod confirm;
pub mod construct;
pub mod job;
pub mod target;

#[cfg(test)]
mod tests;
