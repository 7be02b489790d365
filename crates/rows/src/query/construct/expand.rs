//! The search through all choices: from a query that must return a row to values of cells.

use std::rc::Rc;

use isobath_sql::query::Query;

use super::apart::keys_in_question;
use super::chase::chase;
use super::pick::{self, Picked};
use super::proof::{Cause, Proof};
use super::state::{Goal, State};
use super::step::{Step, step};
use super::{Construction, Setting, fill, parent};
use crate::query::candidate::Candidate;

/// How many ends of choices are looked at.
const MOST_ENDS: u32 = 400;
/// States after which no more are looked at: dead ends can be as many as there are ways to put groups and joins together.
const MOST_STATES: u32 = 5_000;
/// How many of them for one plan of a group.
const MOST_ENDS_OF_PLAN: u32 = 12;

/// From so many rows of a table on, relations share them where they can.
const MANY_ROWS: usize = 4;

/// How many choices follow each other.
const MOST_DEPTH: u32 = 120;

/// The search through all choices.
pub(super) struct Expansion<'s, 'f> {
    setting: Setting<'s>,
    accept: &'f mut dyn FnMut(&Candidate) -> bool,
    ends: u32,
    limit: u32,
    /// States looked at, those that led nowhere included.
    states: u32,
    depth: u32,
    made: usize,
    proof: Option<Proof>,
}

/// What became of a state.
enum End {
    Found(Candidate),
    /// Nothing can come of it.
    Refuted,
    /// Nothing came of it.
    Failed,
}

impl<'s, 'f> Expansion<'s, 'f> {
    pub(super) fn new(
        setting: Setting<'s>,
        made: usize,
        accept: &'f mut dyn FnMut(&Candidate) -> bool,
    ) -> Self {
        Self {
            setting,
            accept,
            ends: 0,
            limit: MOST_ENDS,
            states: 0,
            depth: 0,
            made,
            proof: None,
        }
    }

    pub(super) fn run(mut self, query: &Query) -> Construction {
        let mut state = State::new(self.setting, self.made);
        state.read = query.tables();
        state.pending.push(Goal::Returns {
            query,
            env: Rc::default(),
            with: None,
        });
        match self.go(state) {
            End::Found(candidate) => Construction::Candidate(candidate),
            End::Refuted => {
                let proof = self
                    .proof
                    .unwrap_or_else(|| Proof::new(Cause::Contradiction, "no row can be returned"));
                Construction::Infeasible {
                    cause: proof.cause,
                    proof: proof.says,
                }
            }
            End::Failed => Construction::Unknown,
        }
    }

    /// Goes on from a state, until something is accepted or nothing is left.
    pub(super) fn finish(mut self, state: State<'_>) {
        self.go(state);
    }

    fn go(&mut self, state: State<'_>) -> End {
        // Nothing follows from what was not looked at, so this is never a proof.
        if self.depth == MOST_DEPTH || self.states == MOST_STATES {
            return End::Failed;
        }
        self.states += 1;
        self.depth += 1;
        let end = self.decide(state);
        self.depth -= 1;
        end
    }

    fn decide(&mut self, mut state: State<'_>) -> End {
        loop {
            let Some(goal) = state.pending.pop() else {
                if let Some(goal) = state.next_later() {
                    // What would make us guess must not hide a conflict that is there already.
                    if let (Goal::Unmatched { stricter: true, .. }, false) = (&goal, state.guess)
                        && let Some(why) = pick::conflict(&state)
                    {
                        self.proof.get_or_insert(why);
                        return End::Refuted;
                    }
                    state.pending.push(goal);
                    continue;
                }
                if let Err(why) = chase(&mut state) {
                    return self.dead_end(&state, why);
                }
                if let Some(goal) = parent::in_question(&mut state) {
                    state.pending.push(goal);
                    continue;
                }
                if let Some(apart) = keys_in_question(&mut state) {
                    state.pending.extend(apart);
                    continue;
                }
                return self.end(&state);
            };
            let alternatives = match step(&mut state, goal) {
                Step::Done => continue,
                Step::Never(why) => return self.dead_end(&state, why),
                Step::Choice(alternatives) => alternatives,
                Step::Needs(needs, alternatives) => {
                    for need in needs {
                        let mut branch = state.clone();
                        branch.pending.push(need);
                        // A need is there to be refuted, which one end that is not suffices to rule out.
                        let limit = self.limit;
                        self.limit = limit.min(self.ends + 1);
                        let end = self.go(branch);
                        self.limit = limit;
                        match end {
                            End::Found(candidate) => return End::Found(candidate),
                            End::Refuted => return End::Refuted,
                            End::Failed => {}
                        }
                    }
                    state.guess = true;
                    alternatives
                }
            };
            // A conflict that is there already need not be found once per alternative.
            if alternatives.len() > 1
                && let Some(why) = pick::conflict(&state)
            {
                return self.dead_end(&state, why);
            }
            let mut refuted = true;
            for alternative in alternatives {
                let limit = self.limit;
                if let Goal::Grouped { .. } = alternative {
                    // One plan that leads nowhere must not use up what the others need.
                    self.limit = limit.min(self.ends + MOST_ENDS_OF_PLAN);
                }
                let mut branch = state.clone();
                branch.pending.push(alternative);
                let end = self.go(branch);
                self.limit = limit;
                match end {
                    End::Found(candidate) => return End::Found(candidate),
                    End::Refuted => {}
                    End::Failed => refuted = false,
                }
                let enough = self.ends >= if refuted { MOST_ENDS } else { self.limit };
                if enough || self.states == MOST_STATES {
                    return End::Failed;
                }
            }
            return if refuted && !state.guess {
                End::Refuted
            } else {
                End::Failed
            };
        }
    }

    /// What a conflict means: a proof, unless something was left out or asked for in excess.
    fn dead_end(&mut self, state: &State<'_>, why: Proof) -> End {
        if state.guess {
            return End::Failed;
        }
        self.proof.get_or_insert(why);
        End::Refuted
    }

    /// Values for a state in which all is decided.
    fn end(&mut self, state: &State<'_>) -> End {
        self.ends += 1;
        if let Some(state) = with_fewer_rows(state)
            && let End::Found(candidate) = self.picked(&state)
        {
            return End::Found(candidate);
        }
        self.picked(state)
    }

    fn picked(&mut self, state: &State<'_>) -> End {
        match pick::pick(state) {
            Picked::Values(values) => match fill::fill(state, &values) {
                Some(candidate) if (self.accept)(&candidate) => End::Found(candidate),
                _ => End::Failed,
            },
            Picked::Conflict(why) => self.dead_end(state, why),
            Picked::Nothing => End::Failed,
        }
    }
}

/// The same with one row for several relations of a table where that is possible: a product of many
/// relations with a row each is large.
fn with_fewer_rows<'a>(state: &State<'a>) -> Option<State<'a>> {
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
            if let Picked::Values(_) = pick::pick(&one) {
                fewer = one;
                united = true;
                break;
            }
        }
    }
    united.then_some(fewer)
}
