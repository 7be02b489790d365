//! DOMINO: draw everything, then repair what fails by copying, redrawing and setting NULLs.
//!
//! As implemented by its authors it is one walk over the predicate per round,
//! in the order of the constraints, on the violations of the last check. An OR
//! repairs one part chosen at random even when it holds already; that is why
//! NULLs get into nullable keys and CHECKs, and it is kept for that reason.

use isobath_sql::{Expr, Schema, Value};

use super::avm::AvmSearch;
use super::problem::{At, ComparedRow, PredicateNode, SearchProblem};
use super::random::randomize;
use super::{GenerationTask, Generator, GeneratorResult, fresh_predicates};
use crate::cells::values::{ValuePool, default};
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};

/// The paper's DOMINO, solving CHECKs by random draws or (DOMINO-AVM) by the AVM.
#[derive(Debug)]
pub struct Domino {
    profile: ValuePool,
    climbs: bool,
    evaluations: u64,
}

impl Domino {
    /// DOMINO: CHECKs by random draws.
    pub fn new(schema: &Schema) -> Self {
        Self {
            profile: ValuePool::mine(schema),
            climbs: false,
            evaluations: 0,
        }
    }

    /// DOMINO-AVM: CHECKs by the alternating variable method.
    pub fn with_avm(schema: &Schema) -> Self {
        Self {
            climbs: true,
            ..Self::new(schema)
        }
    }
}

impl Generator for Domino {
    fn name(&self) -> &'static str {
        if self.climbs { "domino-avm" } else { "domino" }
    }

    fn generate(&mut self, task: &GenerationTask<'_>, rng: &mut fastrand::Rng) -> GeneratorResult {
        let fresh = fresh_predicates(task);
        let mut problem = SearchProblem::new(task, &fresh);
        randomize(&mut problem, &self.profile, rng);
        // The tree is walked while the problem changes, so it is taken out for the time of the search.
        let root = std::mem::replace(&mut problem.root, PredicateNode::And(Vec::new()));
        let mut violated = vec![false; problem.leaves.len()];
        for _ in 0..task.budget {
            self.evaluations += 1;
            problem.refresh();
            if let Some(what) = problem.unsupported.take() {
                return GeneratorResult::Unsupported { what };
            }
            for (index, flag) in violated.iter_mut().enumerate() {
                *flag = problem.leaf_distance(index) > 0.0;
            }
            if holds(&root, &violated) {
                return problem.found();
            }
            let mut repair = DominoRound {
                problem: &mut problem,
                profile: &self.profile,
                climbs: self.climbs,
                violated: &violated,
                rng,
            };
            repair.walk(&root);
        }
        GeneratorResult::GaveUp {
            evaluations: task.budget,
        }
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

fn holds(node: &PredicateNode, violated: &[bool]) -> bool {
    match node {
        PredicateNode::And(parts) => parts.iter().all(|part| holds(part, violated)),
        PredicateNode::Or(parts) => parts.iter().any(|part| holds(part, violated)),
        PredicateNode::Leaf(index) => !violated[*index],
    }
}

/// One round of repairs.
struct DominoRound<'r, 'p> {
    problem: &'r mut SearchProblem<'p>,
    profile: &'r ValuePool,
    climbs: bool,
    /// What the last check found, not what is true by now.
    violated: &'r [bool],
    rng: &'r mut fastrand::Rng,
}

impl DominoRound<'_, '_> {
    fn walk(&mut self, node: &PredicateNode) {
        match node {
            PredicateNode::And(parts) => parts.iter().for_each(|part| self.walk(part)),
            PredicateNode::Or(parts) if parts.is_empty() => {}
            PredicateNode::Or(parts) => {
                let chosen = self.rng.usize(..parts.len());
                self.walk(&parts[chosen]);
            }
            PredicateNode::Leaf(index) if self.violated[*index] => self.fix(*index),
            PredicateNode::Leaf(_) => {}
        }
    }

    fn fix(&mut self, index: usize) {
        let (row, what) = (
            self.problem.leaves[index].row,
            self.problem.leaves[index].what,
        );
        match what {
            Predicate::Null { column, is_null } => self.set_null((row, *column), *is_null),
            Predicate::Match(wanted) => self.fix_match(row, wanted),
            Predicate::Expr { expr, wanted } => {
                if self.climbs {
                    self.climb(index, row, expr);
                } else {
                    for column in self.guilty(row, expr, *wanted) {
                        self.redraw((row, column));
                    }
                }
            }
            Predicate::Duplicate {
                constraint,
                duplicate,
            } => {
                self.fix_duplicate(row, *constraint, *duplicate);
            }
            Predicate::Fits { column, .. } => self.redraw((row, *column)),
            Predicate::And(_) | Predicate::Or(_) => {}
        }
    }

    fn set_null(&mut self, at: At, is_null: bool) {
        let value = if is_null {
            Value::Null
        } else {
            let data_type = &self.problem.rows[at.0].definition.columns[at.1].data_type;
            self.problem
                .last(at)
                .cloned()
                .unwrap_or_else(|| default(data_type))
        };
        self.problem.set(at, value);
    }

    fn redraw(&mut self, at: At) {
        let column = &self.problem.rows[at.0].definition.columns[at.1];
        let value = self.profile.draw(column, self.rng);
        self.problem.set(at, value);
    }

    fn fix_match(&mut self, row: usize, wanted: &RowMatch) {
        let others: Vec<ComparedRow> = self.problem.others(row, wanted).collect();
        if others.is_empty() {
            return;
        }
        if !wanted.equal.is_empty() {
            let other = others[self.rng.usize(..others.len())];
            let unequal: Vec<At> = wanted
                .equal
                .iter()
                .copied()
                .filter(|pair| self.problem.same(row, wanted, other, *pair) == Some(false))
                .collect();
            if !unequal.is_empty() {
                let pairs = match wanted.mode {
                    MatchMode::All => wanted.equal.clone(),
                    MatchMode::Any => vec![unequal[self.rng.usize(..unequal.len())]],
                };
                self.copy(row, wanted, other, &pairs);
            }
        }
        for other in others {
            let same: Vec<At> = wanted
                .differ
                .iter()
                .copied()
                .filter(|pair| self.problem.same(row, wanted, other, *pair) == Some(true))
                .collect();
            let too_equal = match wanted.mode {
                MatchMode::All => !same.is_empty(),
                MatchMode::Any => same.len() == wanted.differ.len(),
            };
            if !too_equal {
                continue;
            }
            // Either side may change; rows that are there may not.
            let theirs = match other {
                ComparedRow::Draft(draft) if draft != row && self.rng.bool() => Some(draft),
                _ => None,
            };
            for (own, their) in same {
                match theirs {
                    Some(draft) => self.redraw((draft, their)),
                    None => self.redraw((row, own)),
                }
            }
        }
    }

    fn copy(&mut self, row: usize, wanted: &RowMatch, other: ComparedRow, pairs: &[At]) {
        let backward = match other {
            ComparedRow::Draft(draft) if self.rng.bool() => Some(draft),
            _ => None,
        };
        for (own, theirs) in pairs {
            match backward {
                Some(draft) => {
                    let value = self.problem.rows[row].given[*own].clone();
                    if !value.is_null() {
                        self.problem.set((draft, *theirs), value);
                    }
                }
                None => {
                    let value = match other {
                        ComparedRow::Draft(draft) => {
                            self.problem.rows[draft].given[*theirs].clone()
                        }
                        ComparedRow::There(_) => {
                            self.problem.values(wanted, other)[*theirs].clone()
                        }
                    };
                    self.problem.set((row, *own), value);
                }
            }
        }
    }

    /// The columns of the parts that make the expression fail.
    fn guilty(&self, row: usize, expr: &Expr, wanted: RequiredTruth) -> Vec<usize> {
        let stored = &self.problem.rows[row].stored;
        let mut columns = Vec::new();
        collect_guilty(
            expr,
            wanted,
            stored,
            self.problem.task.dialect,
            &mut columns,
        );
        columns
    }

    /// Hands one expression to the AVM, from the values that are there.
    fn climb(&mut self, leaf: usize, row: usize, expr: &Expr) {
        let cells: Vec<At> = expr
            .columns()
            .into_iter()
            .map(|column| (row, column))
            .filter(|at| self.problem.rows[at.0].free[at.1])
            .collect();
        if cells.is_empty() {
            return;
        }
        let mut left = self.problem.task.budget;
        loop {
            let mut climb = AvmSearch {
                problem: &mut *self.problem,
                leaf: Some(leaf),
                to_null: false,
                left,
                best: f64::INFINITY,
            };
            let reached = climb.run(&cells, self.profile, self.rng);
            left = climb.left;
            if reached || left == 0 || self.problem.unsupported.is_some() {
                return;
            }
            for at in &cells {
                self.redraw(*at);
            }
        }
    }

    fn fix_duplicate(&mut self, row: usize, constraint: usize, duplicate: bool) {
        let definition = self.problem.rows[row].definition;
        let columns = definition.constraints[constraint].columns();
        let existing = self
            .problem
            .task
            .existing
            .rows(self.problem.rows[row].table);
        if duplicate && !existing.is_empty() {
            let values = &existing[self.rng.usize(..existing.len())];
            for column in columns {
                self.problem.set((row, column), values[column].clone());
            }
        } else {
            for column in columns {
                self.redraw((row, column));
            }
        }
    }
}

fn collect_guilty(
    expr: &Expr,
    wanted: RequiredTruth,
    stored: &[Value],
    dialect: &dyn isobath_sql::Dialect,
    columns: &mut Vec<usize>,
) {
    let parts = match (expr, wanted) {
        (Expr::And(parts), RequiredTruth::True | RequiredTruth::NotFalse)
        | (Expr::Or(parts), RequiredTruth::False) => parts,
        _ => {
            for column in expr.columns() {
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
            return;
        }
    };
    for part in parts {
        let verdict = isobath_sql::eval::truth(part, stored, dialect);
        if !verdict.is_ok_and(|truth| wanted.is(truth.verdict())) {
            collect_guilty(part, wanted, stored, dialect, columns);
        }
    }
}
