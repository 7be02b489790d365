//! What every generator of rows is asked and may answer.

use isobath_sql::memory::Memory;
use isobath_sql::{Dialect, Row, Schema};

use super::predicate::Predicate;

/// Finds rows for one requirement.
///
/// Implementors: the paper's (`random`, `avm`, `domino`, `domino_avm`) and ours (`constructive`).
pub trait Generator {
    /// As flags spell it.
    fn name(&self) -> &'static str;

    /// Rows for a task, using no other randomness than `rng`.
    fn generate(&mut self, task: &Task<'_>, rng: &mut fastrand::Rng) -> Found;
}

/// One requirement in its place.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The schema as the engine holds it.
    pub schema: &'a Schema,
    /// The engine's dialect.
    pub dialect: &'static dyn Dialect,
    /// The table of the row under test.
    pub table: usize,
    /// What is asked of that row.
    pub predicate: &'a Predicate,
    /// Rows already there: seed rows of the tables referred to and, when the requirement compares, of the table itself.
    pub there: &'a Memory<'a>,
    /// Tables that get one fresh row each, inserted in this order before the row under test; all their
    /// rules must hold and all their columns must have a value.
    pub fresh: &'a [usize],
    /// How many evaluations a search may spend.
    pub budget: u64,
}

/// What a generator found.
#[derive(Clone, Debug)]
pub enum Found {
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
