//! Mutation analysis: would the suite notice if the schema were slightly wrong?
//!
//! [`operator`]s make [`mutant`]s; [`mod@ineffective`] sets aside those that no test can
//! be blamed for; [`runner`] holds the tests against the rest, and [`analysis`]
//! is the result.

pub mod analysis;
mod check;
mod column;
pub mod confirm;
pub(crate) mod difference;
mod foreign_key;
pub mod ineffective;
mod key;
pub mod mutant;
mod normal_form;
pub mod operator;
pub mod runner;
#[cfg(test)]
pub(crate) mod sample;
mod stillborn;
pub mod strengthen;
#[cfg(test)]
mod tests;

pub use analysis::{Analysis, MutantStatus, analyze};
pub use confirm::{KillConfirmation, confirm};
pub use ineffective::{FilterPipeline, Ineffective, find_ineffective};
pub use mutant::{Mutant, MutantChange, mutants};
pub use operator::{Operator, OperatorSet};
pub use runner::MutantRunner;
pub use strengthen::{Strengthened, strengthen};
