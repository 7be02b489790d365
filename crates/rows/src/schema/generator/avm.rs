//! The alternating variable method: one cell at a time, with steps that double while they improve.

use isobath_sql::{DataType, Schema, Value};

use super::problem::{At, SearchProblem};
use super::random::randomize;
use super::{GenerationTask, Generator, GeneratorResult, fresh_predicates};
use crate::cells::avm::{self, AvmTarget};
use crate::cells::values::{ValuePool, default};

/// The paper's AVM, from random values (AVM-R) or from default values (AVM-D).
#[derive(Debug)]
pub struct Avm {
    profile: ValuePool,
    from_defaults: bool,
    evaluations: u64,
}

impl Avm {
    /// AVM-R: starts and restarts from random values.
    pub fn from_random(schema: &Schema) -> Self {
        Self {
            profile: ValuePool::mine(schema),
            from_defaults: false,
            evaluations: 0,
        }
    }

    /// AVM-D: starts from default values, restarts from random ones.
    pub fn from_defaults(schema: &Schema) -> Self {
        Self {
            from_defaults: true,
            ..Self::from_random(schema)
        }
    }
}

impl Generator for Avm {
    fn name(&self) -> &'static str {
        if self.from_defaults { "avm-d" } else { "avm-r" }
    }

    fn generate(&mut self, task: &GenerationTask<'_>, rng: &mut fastrand::Rng) -> GeneratorResult {
        let fresh = fresh_predicates(task);
        let mut problem = SearchProblem::new(task, &fresh);
        let cells = problem.cells();
        let mut spent = 0;
        let mut first = true;
        while spent < task.budget {
            if first && self.from_defaults {
                for at in &cells {
                    let data_type = &problem.rows[at.0].definition.columns[at.1].data_type;
                    let value = default(data_type);
                    problem.set(*at, value);
                }
            } else {
                randomize(&mut problem, &self.profile, rng);
            }
            first = false;
            let mut climb = AvmSearch {
                problem: &mut problem,
                leaf: None,
                to_null: true,
                left: task.budget - spent,
                best: f64::INFINITY,
            };
            let reached = climb.run(&cells, &self.profile, rng);
            let used = task.budget - spent - climb.left;
            spent += used.max(1);
            self.evaluations += used;
            if reached {
                return problem.found();
            }
            if let Some(what) = problem.unsupported.take() {
                return GeneratorResult::Unsupported { what };
            }
        }
        GeneratorResult::GaveUp { evaluations: spent }
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// One ascent from where the cells are.
pub(super) struct AvmSearch<'c, 'p> {
    pub(super) problem: &'c mut SearchProblem<'p>,
    /// Only this leaf counts, instead of everything.
    pub(super) leaf: Option<usize>,
    /// Whether values may become NULL.
    pub(super) to_null: bool,
    /// Evaluations left.
    pub(super) left: u64,
    pub(super) best: f64,
}

impl AvmSearch<'_, '_> {
    /// Cycles through the cells until all is reached (true), nothing improves, or nothing is left.
    pub(super) fn run(
        &mut self,
        cells: &[At],
        profile: &ValuePool,
        rng: &mut fastrand::Rng,
    ) -> bool {
        self.best = self.evaluate();
        let mut since_improved = 0;
        let mut next = 0;
        while self.best > 0.0 && self.left > 0 && since_improved < cells.len() {
            if self.search_cell(cells[next], profile, rng) {
                since_improved = 0;
            } else {
                since_improved += 1;
            }
            next = (next + 1) % cells.len();
        }
        self.best == 0.0
    }

    fn evaluate(&mut self) -> f64 {
        self.left = self.left.saturating_sub(1);
        match self.leaf {
            None => self.problem.distance(),
            Some(leaf) => {
                self.problem.refresh();
                self.problem.leaf_distance(leaf)
            }
        }
    }

    fn search_cell(&mut self, at: At, profile: &ValuePool, rng: &mut fastrand::Rng) -> bool {
        let mut improved = false;
        let is_null = self.problem.given(at).is_null();
        // A NULL that the predicate forbids outright would only satisfy CHECKs on the way to nowhere.
        if is_null || (self.to_null && !self.problem.must_have_value(at)) {
            let flipped = if is_null {
                let data_type = &self.problem.rows[at.0].definition.columns[at.1].data_type;
                self.problem
                    .last(at)
                    .cloned()
                    .unwrap_or_else(|| default(data_type))
            } else {
                Value::Null
            };
            improved |= self.try_value(at, flipped);
        }
        if !self.problem.given(at).is_null() {
            improved |= avm::search(self, at, profile, rng);
        }
        improved
    }
}

impl<'p> AvmTarget<'p> for AvmSearch<'_, 'p> {
    type At = At;

    fn data_type(&self, at: At) -> &'p DataType {
        &self.problem.rows[at.0].definition.columns[at.1].data_type
    }

    fn value_at(&self, at: At) -> &Value {
        self.problem.given(at)
    }

    fn try_value(&mut self, at: At, value: Value) -> bool {
        if self.left == 0 || self.best == 0.0 || *self.problem.given(at) == value {
            return false;
        }
        let before = self.problem.given(at).clone();
        if !self.problem.set(at, value) {
            return false;
        }
        let distance = self.evaluate();
        if distance < self.best {
            self.best = distance;
            true
        } else {
            self.problem.set(at, before);
            false
        }
    }
}
