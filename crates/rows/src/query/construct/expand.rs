//! Depth-first search over all choices, from a query that must return a row to cell values.

use std::rc::Rc;

use isobath_sql::query::Query;

use super::cell_solver::{self, SolveResult};
use super::chase::chase;
use super::global_constraints::pending_keys;
use super::proof::{Cause, Proof};
use super::state::{ConstructionState, Obligation};
use super::step::{StepResult, step};
use super::{Construction, SolverContext, fill, parent};
use crate::query::candidate::Candidate;

/// How many ends of choices are looked at.
const MAX_ENDS: u32 = 400;
/// States after which no more are looked at: dead ends can be as many as there are ways to put groups and joins together.
const MAX_STATES: u32 = 2_000;
/// How many of them for one plan of a group.
const MAX_ENDS_OF_PLAN: u32 = 12;

/// From so many rows of a table on, relations share them where they can.
const MANY_ROWS: usize = 4;

/// How many choices follow each other.
const MAX_DEPTH: u32 = 120;

/// The search through all choices.
pub(super) struct Expansion<'s, 'f> {
    context: SolverContext<'s>,
    accept: &'f mut dyn FnMut(&Candidate) -> bool,
    ends: u32,
    limit: u32,
    /// States looked at, those that led nowhere included.
    states: u32,
    depth: u32,
    made: usize,
    proof: Option<Proof>,
}

/// The outcome of a state.
enum BranchEnd {
    Found(Candidate),
    /// Nothing can come of it.
    Refuted,
    /// Nothing came of it.
    Failed,
}

impl<'s, 'f> Expansion<'s, 'f> {
    pub(super) fn new(
        context: SolverContext<'s>,
        made: usize,
        accept: &'f mut dyn FnMut(&Candidate) -> bool,
    ) -> Self {
        Self {
            context,
            accept,
            ends: 0,
            limit: MAX_ENDS,
            states: 0,
            depth: 0,
            made,
            proof: None,
        }
    }

    pub(super) fn run(self, query: &Query) -> Construction {
        let mut state = ConstructionState::new(self.context, self.made);
        state.read = query.tables();
        state.pending.push(Obligation::Returns {
            query,
            env: Rc::default(),
            with: None,
        });
        self.finish(state)
    }

    /// Continues from a state, until something is accepted or nothing is left.
    pub(super) fn finish(mut self, state: ConstructionState<'_>) -> Construction {
        match self.go(state) {
            BranchEnd::Found(candidate) => Construction::Candidate(candidate),
            BranchEnd::Refuted => {
                let proof = self.proof.unwrap_or_else(|| {
                    Proof::new(Cause::Contradiction, "the target can return no row")
                });
                Construction::Infeasible {
                    cause: proof.cause,
                    proof: proof.description,
                }
            }
            BranchEnd::Failed => Construction::Unknown,
        }
    }

    fn go(&mut self, state: ConstructionState<'_>) -> BranchEnd {
        // Nothing follows from what was not looked at, so this is never a proof.
        if self.depth == MAX_DEPTH || self.states == MAX_STATES || self.context.stop.is_set() {
            return BranchEnd::Failed;
        }
        self.states += 1;
        self.depth += 1;
        let end = self.decide(state);
        self.depth -= 1;
        end
    }

    fn decide(&mut self, mut state: ConstructionState<'_>) -> BranchEnd {
        loop {
            let Some(obligation) = state.pending.pop() else {
                if let Some(obligation) = state.next_later() {
                    // What would make us guess must not hide a conflict that is there already.
                    if let (Obligation::Unmatched { stricter: true, .. }, false) =
                        (&obligation, state.guess)
                        && let Some(why) = cell_solver::conflict(&mut state)
                    {
                        self.proof.get_or_insert(why);
                        return BranchEnd::Refuted;
                    }
                    state.pending.push(obligation);
                    continue;
                }
                if let Err(why) = chase(&mut state) {
                    return self.dead_end(&state, why);
                }
                if let Some(obligation) = parent::pending_foreign_key(&mut state) {
                    state.pending.push(obligation);
                    continue;
                }
                if let Some(apart) = pending_keys(&mut state) {
                    state.pending.extend(apart);
                    continue;
                }
                return self.end(&state);
            };
            let alternatives = match step(&mut state, obligation) {
                StepResult::Done => continue,
                StepResult::Never(why) => return self.dead_end(&state, why),
                StepResult::Choice(alternatives) => alternatives,
                StepResult::Needs(needs, alternatives) => {
                    for need in needs {
                        let mut branch = state.clone();
                        branch.pending.push(need);
                        // A need is there to be refuted, which one end that is not suffices to rule out.
                        let limit = self.limit;
                        self.limit = limit.min(self.ends + 1);
                        let end = self.go(branch);
                        self.limit = limit;
                        match end {
                            BranchEnd::Found(candidate) => return BranchEnd::Found(candidate),
                            BranchEnd::Refuted => return BranchEnd::Refuted,
                            BranchEnd::Failed => {}
                        }
                    }
                    state.guess = true;
                    alternatives
                }
            };
            // A conflict that is there already need not be found once per alternative.
            if alternatives.len() > 1
                && let Some(why) = cell_solver::conflict(&mut state)
            {
                return self.dead_end(&state, why);
            }
            let mut refuted = true;
            for alternative in alternatives {
                let limit = self.limit;
                if let Obligation::Grouped { .. } = alternative {
                    // One plan without success must not use up what the others need.
                    self.limit = limit.min(self.ends + MAX_ENDS_OF_PLAN);
                }
                let mut branch = state.clone();
                branch.pending.push(alternative);
                let end = self.go(branch);
                self.limit = limit;
                match end {
                    BranchEnd::Found(candidate) => return BranchEnd::Found(candidate),
                    BranchEnd::Refuted => {}
                    BranchEnd::Failed => refuted = false,
                }
                let enough = self.ends >= if refuted { MAX_ENDS } else { self.limit };
                if enough || self.states == MAX_STATES || self.context.stop.is_set() {
                    return BranchEnd::Failed;
                }
            }
            return if refuted && !state.guess {
                BranchEnd::Refuted
            } else {
                BranchEnd::Failed
            };
        }
    }

    /// What a conflict means: a proof, unless something was left out or asked for in excess.
    fn dead_end(&mut self, state: &ConstructionState<'_>, why: Proof) -> BranchEnd {
        if state.guess {
            return BranchEnd::Failed;
        }
        self.proof.get_or_insert(why);
        BranchEnd::Refuted
    }

    /// Values for a state in which all is decided.
    fn end(&mut self, state: &ConstructionState<'_>) -> BranchEnd {
        self.ends += 1;
        if let Some(state) = with_fewer_rows(state)
            && let BranchEnd::Found(candidate) = self.solve_cells(&state)
        {
            return BranchEnd::Found(candidate);
        }
        self.solve_cells(state)
    }

    fn solve_cells(&mut self, state: &ConstructionState<'_>) -> BranchEnd {
        match cell_solver::solve(state) {
            SolveResult::Values(values) => match fill::fill(state, &values) {
                Some(candidate) if (self.accept)(&candidate) => BranchEnd::Found(candidate),
                _ => BranchEnd::Failed,
            },
            SolveResult::Conflict(why) => self.dead_end(state, why),
            SolveResult::Nothing => BranchEnd::Failed,
        }
    }
}

/// The same with one row for several relations of a table where that is possible: a product of many
/// relations with a row each is large.
fn with_fewer_rows<'a>(state: &ConstructionState<'a>) -> Option<ConstructionState<'a>> {
    let mut fewer = state.clone();
    // What is tried here proves nothing.
    fewer.guess = true;
    let mut united = false;
    for row in state.rows_of_all() {
        let table = state.rows[row].table;
        if state.rows_of(table).len() < MANY_ROWS {
            continue;
        }
        for other in fewer.rows_of(table) {
            if other >= row || fewer.must_differ(other, row) {
                continue;
            }
            let mut one = fewer.clone();
            one.unite(other, row);
            if let SolveResult::Values(_) = cell_solver::solve(&one) {
                fewer = one;
                united = true;
                break;
            }
        }
    }
    united.then_some(fewer)
}
