//! From rules to requirements: the criteria of the schema job.
//!
//! [`name`] lists them, [`predicates`] says when a rule is satisfied or violated,
//! and [`requirements`] makes the list that generators attempt.

mod clause;
mod column;
mod constraint;
mod list;
pub mod name;
pub mod predicates;
mod subject;

#[cfg(test)]
mod tests;

pub use list::{RequirementCounts, Requirements, requirements};
pub use name::{Criterion, CriterionName, UnknownCriterion};
