//! Deciding alternatives: depth first, with propagation after every decision and backjumping.
//!
//! A conflict names the decisions that took part in it. A decision that did not
//! is no use revisiting, so its other alternatives are skipped; this is what
//! keeps proofs short, and what makes them name only what matters.

use super::problem::{CellConstraint, CellProblem, FIRST_DECISION, GUESS, Reasons};
use super::state::PropagationState;

/// The alternatives of a disjunction that is still open.
type OpenDisjunctions<'p, 'a> = Vec<(&'p [CellConstraint<'a>], Reasons)>;

/// All bits of decisions.
const DECISIONS: Reasons = ((1 << 30) - 1) << FIRST_DECISION;
/// Decisions deeper than this share the last bit, which is then never dropped.
const DEEPEST: u32 = 29;
/// Decisions after which the search gives up.
const NODES: u32 = 3_000;

/// What `complete` says of a state in which everything is decided.
pub(super) enum Completion<T> {
    /// This is it.
    Done(T),
    /// Not this one; another may do.
    Failed,
}

/// Finds a state in which all goals are decided and `complete` is content.
///
/// Among alternatives of one condition, `turn` decides which is tried first, so that different
/// requirements show different ones.
///
/// `Err` holds the reasons why there is none; with [`GUESS`] among them it is no proof.
pub(super) fn solve<'p, 'a, T>(
    problem: &'p CellProblem<'a>,
    turn: u32,
    complete: &mut dyn FnMut(&mut PropagationState<'p, 'a>) -> Completion<T>,
) -> Result<T, Reasons> {
    let mut solver = Solver {
        state: PropagationState::new(problem),
        complete,
        turn,
        nodes: 0,
    };
    let mut open = Vec::new();
    for (constraint, why) in &problem.constraints {
        solver.take(constraint, *why, &mut open)?;
    }
    solver.decide(open, 0)
}

struct Solver<'c, 'p, 'a, T> {
    state: PropagationState<'p, 'a>,
    complete: &'c mut dyn FnMut(&mut PropagationState<'p, 'a>) -> Completion<T>,
    turn: u32,
    nodes: u32,
}

impl<'p, 'a, T> Solver<'_, 'p, 'a, T> {
    /// Moves the alternative whose turn it is to the front, where all are parts of one condition.
    fn take_turns(&mut self, parts: &[CellConstraint<'a>], ways: &mut [usize]) {
        let tests: Option<Vec<u32>> = ways.iter().map(|way| parts[*way].tests()).collect();
        let Some(tests) = tests else { return };
        let total: u32 = tests.iter().sum();
        if total < 2 {
            return;
        }
        let mut at = self.turn % total;
        // Alternatives inside the chosen one take turns of their own.
        self.turn = self.turn.wrapping_mul(0x9E37_79B1).rotate_left(7) ^ total;
        let first = tests.iter().position(|tests| {
            let here = at < *tests;
            at = at.saturating_sub(*tests);
            here
        });
        if let Some(first) = first {
            ways[..=first].rotate_right(1);
        }
    }

    /// Takes a goal for granted, leaving its disjunctions open.
    fn take(
        &mut self,
        constraint: &'p CellConstraint<'a>,
        why: Reasons,
        open: &mut OpenDisjunctions<'p, 'a>,
    ) -> Result<(), Reasons> {
        match constraint {
            CellConstraint::All(parts) => {
                parts.iter().try_for_each(|part| self.take(part, why, open))
            }
            CellConstraint::Any(parts) => {
                open.push((parts, why));
                Ok(())
            }
            leaf => self.state.assert(leaf, why),
        }
    }

    fn decide(&mut self, mut open: OpenDisjunctions<'p, 'a>, depth: u32) -> Result<T, Reasons> {
        self.nodes += 1;
        if self.nodes > NODES {
            return Err(GUESS | DECISIONS);
        }
        let viable = self.settle(&mut open)?;
        // The disjunction with the fewest ways out decides most.
        let Some(next) = (0..open.len()).min_by_key(|index| viable[*index].0.len()) else {
            return match (self.complete)(&mut self.state) {
                Completion::Done(found) => Ok(found),
                Completion::Failed => Err(GUESS | DECISIONS),
            };
        };
        let (parts, why) = open.swap_remove(next);
        let (mut ways, mut reasons) = viable.into_iter().nth(next).unwrap_or_default();
        ways.sort_by_key(|index| parts[*index].cost());
        self.take_turns(parts, &mut ways);
        let bit: Reasons = 1 << (FIRST_DECISION + depth.min(DEEPEST));
        reasons |= why;
        for way in ways {
            let mark = self.state.mark();
            let mut rest = open.clone();
            let outcome = self
                .take(&parts[way], why | bit, &mut rest)
                .and_then(|()| self.decide(rest, depth + 1));
            match outcome {
                Ok(found) => return Ok(found),
                Err(conflict) => {
                    self.state.undo(mark);
                    if conflict & bit == 0 {
                        return Err(conflict);
                    }
                    reasons |= if depth < DEEPEST {
                        conflict & !bit
                    } else {
                        conflict
                    };
                }
            }
        }
        Err(reasons)
    }

    /// Propagates, drops disjunctions that hold, and takes what has no alternative, until nothing
    /// changes. Returns the ways left for each that stays open, with why the others are closed.
    fn settle(
        &mut self,
        open: &mut OpenDisjunctions<'p, 'a>,
    ) -> Result<Vec<(Vec<usize>, Reasons)>, Reasons> {
        'again: loop {
            self.state.propagate()?;
            let mut viable = Vec::with_capacity(open.len());
            let mut index = 0;
            while index < open.len() {
                let (parts, why) = open[index];
                if parts.iter().any(|part| self.holds(part)) {
                    open.swap_remove(index);
                    continue;
                }
                let mut ways = Vec::with_capacity(parts.len());
                let mut closed: Reasons = 0;
                for (way, part) in parts.iter().enumerate() {
                    let mark = self.state.mark();
                    match self.try_on(part) {
                        Ok(()) => ways.push(way),
                        Err(conflict) => closed |= conflict,
                    }
                    self.state.undo(mark);
                }
                match ways[..] {
                    [] => return Err(closed | why),
                    [only] => {
                        open.swap_remove(index);
                        self.take(&parts[only], why | closed, open)?;
                        continue 'again;
                    }
                    _ => viable.push((ways, closed)),
                }
                index += 1;
            }
            return Ok(viable);
        }
    }

    /// Whether a goal contradicts what is known, at first sight.
    fn try_on(&mut self, constraint: &'p CellConstraint<'a>) -> Result<(), Reasons> {
        match constraint {
            CellConstraint::All(parts) => parts.iter().try_for_each(|part| self.try_on(part)),
            CellConstraint::Any(_) => Ok(()),
            leaf => self.state.assert(leaf, 0),
        }
    }

    /// Whether a goal is known to hold already.
    fn holds(&self, constraint: &CellConstraint<'a>) -> bool {
        match constraint {
            CellConstraint::All(parts) => parts.iter().all(|part| self.holds(part)),
            CellConstraint::Any(parts) => parts.iter().any(|part| self.holds(part)),
            CellConstraint::Null { cell, is_null } => {
                self.state.domains[*cell].null == Some(*is_null)
            }
            CellConstraint::Same(..)
            | CellConstraint::Differ(..)
            | CellConstraint::Test(_)
            | CellConstraint::Misfit { .. } => false,
        }
    }
}
