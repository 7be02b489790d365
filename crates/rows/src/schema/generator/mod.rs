//! What every generator of rows is asked and may answer, and the generators.
//!
//! The paper's generators search over a `problem`: `random` redraws, `avm`
//! climbs, `domino` repairs. Ours, [`constructive`], builds and proves.

mod avm;
pub mod constructive;
mod domino;
mod name;
mod problem;
mod random;
#[cfg(test)]
mod tests;

use isobath_sql::memory::MemoryDatabase;
use isobath_sql::{Dialect, Row, Schema};

use super::predicate::Predicate;
use super::setup_rows::seed_predicate;

pub use avm::Avm;
pub use constructive::Constructive;
pub use domino::Domino;
pub use name::{GeneratorName, UnknownGenerator};
pub use random::Random;

/// Finds rows for one requirement.
///
/// Implementors: the paper's (`random`, `avm`, `domino`, `domino_avm`) and ours (`constructive`).
pub trait Generator {
    /// As flags spell it.
    fn name(&self) -> &'static str;

    /// Rows for a task, using no other randomness than `rng`.
    fn generate(&mut self, task: &GenerationTask<'_>, rng: &mut fastrand::Rng) -> GeneratorResult;

    /// How many evaluations it has spent so far, over all tasks; zero where it does not search.
    fn evaluations(&self) -> u64 {
        0
    }
}

/// One requirement in its place.
#[derive(Clone, Copy, Debug)]
pub struct GenerationTask<'a> {
    /// The schema as the engine holds it.
    pub schema: &'a Schema,
    /// The engine's dialect.
    pub dialect: &'static dyn Dialect,
    /// The table of the row under test.
    pub table: usize,
    /// What is asked of that row.
    pub predicate: &'a Predicate,
    /// Rows already there: seed rows of the tables referred to and, when the requirement compares, of the table itself.
    pub existing: &'a MemoryDatabase<'a>,
    /// Tables that get one fresh row each, inserted in this order before the row under test; all their
    /// rules must hold and all their columns must have a value.
    pub fresh: &'a [usize],
    /// How many evaluations a search may spend.
    pub budget: u64,
}

/// What a generator found.
#[derive(Clone, Debug)]
pub enum GeneratorResult {
    /// One or more answers; each is the fresh rows in order, then the row under test. The first one
    /// covers the requirement; more are variants worth testing too (boundary values).
    Rows(Vec<Vec<Row>>),
    /// There is no such row; the proof is a sentence a person can follow.
    Infeasible {
        /// Why.
        proof: String,
    },
    /// The budget is spent.
    GaveUp {
        /// Evaluations spent.
        evaluations: u64,
    },
    /// The requirement contains something that we cannot evaluate.
    Unsupported {
        /// What, quoted.
        what: String,
    },
}

/// What is asked of each fresh row of a task: all rules hold and every column has a value.
fn fresh_predicates(task: &GenerationTask<'_>) -> Vec<Predicate> {
    task.fresh
        .iter()
        .map(|table| seed_predicate(task.schema, *table, task.dialect, |_| false))
        .collect()
}
