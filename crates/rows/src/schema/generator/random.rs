//! Random+: all cells are drawn anew until everything holds.

use isobath_sql::Schema;

use super::problem::SearchProblem;
use super::{GenerationTask, Generator, GeneratorResult, fresh_predicates};
use crate::cells::values::ValuePool;

/// The paper's random search, with constants mined from the schema.
#[derive(Debug)]
pub struct Random {
    profile: ValuePool,
    evaluations: u64,
}

impl Random {
    /// Random search that knows the constants of a schema.
    pub fn new(schema: &Schema) -> Self {
        Self {
            profile: ValuePool::mine(schema),
            evaluations: 0,
        }
    }
}

impl Generator for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn generate(&mut self, task: &GenerationTask<'_>, rng: &mut fastrand::Rng) -> GeneratorResult {
        let fresh = fresh_predicates(task);
        let mut problem = SearchProblem::new(task, &fresh);
        for spent in 1..=task.budget {
            randomize(&mut problem, &self.profile, rng);
            self.evaluations += 1;
            if problem.distance() == 0.0 {
                return problem.found();
            }
            if let Some(what) = problem.unsupported.take() {
                return GeneratorResult::Unsupported { what };
            }
            debug_assert!(spent <= task.budget);
        }
        GeneratorResult::GaveUp {
            evaluations: task.budget,
        }
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// Draws every cell.
pub(super) fn randomize(
    problem: &mut SearchProblem<'_>,
    profile: &ValuePool,
    rng: &mut fastrand::Rng,
) {
    for at in problem.cells() {
        let column = &problem.rows[at.0].definition.columns[at.1];
        let value = profile.draw(column, rng);
        problem.set(at, value);
    }
}
