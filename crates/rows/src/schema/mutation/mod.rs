//! Mutation analysis: would the suite notice if the schema were slightly wrong?
//!
//! [`operator`]s make [`mutant`]s; [`mod@sift`] sets aside those that no test can
//! be blamed for; [`judge`] holds the tests against the rest, and [`analysis`]
//! is the result.

pub mod analysis;
mod buildable;
mod check;
mod column;
pub mod confirm;
pub(crate) mod difference;
mod foreign_key;
pub mod judge;
mod key;
pub mod mutant;
mod normal;
pub mod operator;
#[cfg(test)]
pub(crate) mod sample;
pub mod sift;
pub mod strengthen;
#[cfg(test)]
mod tests;

pub use analysis::{Analysis, MutantStatus, analyse};
pub use confirm::{Confirmed, confirm};
pub use judge::Judge;
pub use mutant::{Change, Mutant, mutants};
pub use operator::{Operator, OperatorSet};
pub use sift::{Ineffective, Pipeline, sift};
pub use strengthen::{Strengthened, strengthen};
