//! From a schema to a suite: every requirement gets a test, a proof that there is none, or a reason.
//!
//! `config` says what is wanted and what is returned, `attempt` finds and
//! verifies one test, `naming` gives it a name.

mod attempt;
mod config;
mod naming;
mod run;
#[cfg(test)]
mod tests;

pub use config::{Config, Finding, RequirementStatus, SchemaOutcome};
pub use run::{generate, rng_for, verify};
