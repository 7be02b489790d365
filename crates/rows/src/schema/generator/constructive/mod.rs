//! The default generator: builds rows instead of searching for them, and proves when there are none.
//!
//! # How it works
//!
//! 1. **Lower** (`lower`, `logic`, `form`). Every cell of the fresh rows and of the row under
//!    test is a variable. The predicate, and the rules of the fresh rows' tables, become goals: a
//!    tree of *all* and *any* over leaves. A match with rows becomes equalities and inequalities of
//!    cells. An expression with a wanted verdict is taken apart by three-valued logic: `p AND q` is
//!    not false when neither is; a comparison is unknown when a column in it is NULL; BETWEEN, CASE
//!    and the IS tests become what they stand for. What is left is classified: a bound
//!    (`2 * price - 1 > 10`), an order of two cells (`until >= since + 7`), membership, a length, a
//!    pattern, or *opaque*.
//! 2. **Propagate** (`state`, `relations`, `domain`, `axis`). A cell has a domain: NULL or not, an interval
//!    with open or closed ends on an exact number line, a finite choice, values excluded, a length.
//!    Leaves narrow domains, narrowed domains narrow others, until nothing changes. Each narrowing
//!    remembers its reasons as a set of bits.
//! 3. **Decide** (`solve`). Disjunctions are decided depth first; one whose alternatives are all
//!    but one refuted decides itself. Values are preferred to NULL. A conflict names the decisions
//!    that it rests on, so that those which do not matter are not tried again.
//! 4. **Pick** (`pick`, `words`, `pattern`). Values are taken from the domains, one cell at a
//!    time with propagation in between: readable, different from what is near, and on boundaries in
//!    the cells that the requirement is about. The same decisions give a few more rows at the other
//!    boundary, one step inside and far inside.
//! 5. **Repair** (`search`). Opaque tests that fail now are mended by a short guided search.
//! 6. **Verify**. Every answer is checked by the in-memory database and [`Predicate::holds`](crate::schema::predicate::Predicate::holds); only
//!    then is it returned.
//!
//! # What counts as a proof
//!
//! When step 2 and 3 end in a conflict, its reasons are facts that cannot hold together, and the
//! sentence of the proof lists them (`explain`). A reason may carry one of two warnings. `GUESS`
//! marks what we narrowed for convenience (years before 1000, text that merely compares equal,
//! failures while picking): no proof then. `SEED` marks what is a fact of the rows that happen to be
//! there: then the task is lowered a second time with unknown rows in their place, each obeying its
//! table's rules, and only a conflict that remains is a proof.

mod axis;
mod domain;
mod domain_constraint;
mod explain;
mod logic;
mod lower;
mod pattern;
mod problem;
mod relations;
mod sample_text;
mod search;
mod solve;
mod state;
#[cfg(test)]
mod tests;
mod type_violation;
mod value_selection;

use isobath_sql::eval::EvalError;
use isobath_sql::memory::{MemoryDatabase, Verdict};
use isobath_sql::{Cell, ConstraintKind, Row, Value};

use self::problem::{CellProblem, GUESS, SEED};
use self::solve::Completion;
use self::state::PropagationState;
use self::value_selection::{SelectedValues, SelectionError, SelectionStyle};
use super::{GenerationTask, Generator, GeneratorResult};
use crate::schema::predicate::Predicate;

/// Evaluations that one repair may spend, whatever the task allows.
const REPAIR: u64 = 4_000;

/// The default generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Constructive;

/// Whether rows exist for a task.
#[derive(Clone, Debug)]
pub enum Decision {
    /// They do: the fresh rows in order, then the row under test.
    Satisfiable(Vec<Row>),
    /// They do not.
    Unsatisfiable {
        /// Why, as a sentence.
        proof: String,
    },
    /// We found neither rows nor a proof.
    Unknown,
}

/// Decides a task, deterministically.
pub fn decide(task: &GenerationTask<'_>) -> Decision {
    let mut rng = fastrand::Rng::with_seed(1);
    match SolveAttempt::new(task, false).run(&mut rng) {
        GeneratorResult::Rows(mut answers) if !answers.is_empty() => {
            Decision::Satisfiable(answers.swap_remove(0))
        }
        GeneratorResult::Infeasible { proof } => Decision::Unsatisfiable { proof },
        GeneratorResult::Rows(_)
        | GeneratorResult::GaveUp { .. }
        | GeneratorResult::Unsupported { .. } => Decision::Unknown,
    }
}

impl Generator for Constructive {
    fn name(&self) -> &'static str {
        "default"
    }

    fn generate(&mut self, task: &GenerationTask<'_>, rng: &mut fastrand::Rng) -> GeneratorResult {
        SolveAttempt::new(task, true).run(rng)
    }
}

/// One task on its way to an answer.
struct SolveAttempt<'t, 'a> {
    task: &'t GenerationTask<'a>,
    variants: bool,
    evaluations: u64,
    /// What we met and cannot evaluate, or have no value of.
    unsupported: Option<String>,
    failures: u32,
}

impl<'t, 'a> SolveAttempt<'t, 'a> {
    fn new(task: &'t GenerationTask<'a>, variants: bool) -> Self {
        Self {
            task,
            variants,
            evaluations: 0,
            unsupported: None,
            failures: 0,
        }
    }

    fn run(mut self, rng: &mut fastrand::Rng) -> GeneratorResult {
        let problem = lower::concrete(self.task, self.task.fresh);
        let turn = rng.u32(..);
        let outcome = solve::solve(&problem, turn, &mut |state| self.complete(state, rng));
        let why = match outcome {
            Ok(answers) => return GeneratorResult::Rows(answers),
            Err(why) => why,
        };
        if why & (GUESS | SEED) == 0 {
            let proof = explain::sentence(&problem, self.task.schema, why);
            return GeneratorResult::Infeasible { proof };
        }
        if let Some(proof) = self.prove() {
            return GeneratorResult::Infeasible { proof };
        }
        for fresh in self.other_fresh() {
            let problem = lower::concrete(self.task, &fresh);
            let outcome = solve::solve(&problem, turn, &mut |state| self.complete(state, rng));
            if let Ok(answers) = outcome {
                return GeneratorResult::Rows(answers);
            }
        }
        match self.unsupported {
            Some(what) => GeneratorResult::Unsupported { what },
            None => GeneratorResult::GaveUp {
                evaluations: self.evaluations,
            },
        }
    }

    /// Other rows to bring along. A fresh row may itself be impossible: its key may need yet another
    /// row of the table under test, when the tables refer to each other.
    fn other_fresh(&self) -> Vec<Vec<usize>> {
        let GenerationTask {
            schema,
            table,
            fresh,
            ..
        } = *self.task;
        if fresh.is_empty() {
            return Vec::new();
        }
        let refers = |of: &usize| {
            schema.tables[*of]
                .foreign_keys()
                .any(|key| key.parent == table)
        };
        let mut others = vec![Vec::new()];
        if fresh.iter().any(refers) && !fresh.contains(&table) {
            others.push(
                std::iter::once(table)
                    .chain(fresh.iter().copied())
                    .collect(),
            );
        }
        others
    }

    /// Tries to refute the task whatever rows are there.
    fn prove(&self) -> Option<String> {
        let problem = lower::symbolic(self.task);
        // Reaching a consistent state means that there is nothing to prove.
        let outcome = solve::solve(&problem, 0, &mut |_| Completion::Done(()));
        let why = outcome.err()?;
        (why & (GUESS | SEED) == 0).then(|| explain::sentence(&problem, self.task.schema, why))
    }

    /// Values for a state in which all is decided.
    fn complete<'p>(
        &mut self,
        state: &mut PropagationState<'p, 'a>,
        rng: &mut fastrand::Rng,
    ) -> Completion<Vec<Vec<Row>>> {
        // A state that looks fine but yields no values is no reason to try thousands like it.
        if self.failures > 12 || self.evaluations > self.task.budget {
            return Completion::Failed;
        }
        let base = rng.u32(..4096);
        let Some((first, selected)) = self.answer(state, SelectionStyle::Edge, base, rng) else {
            self.failures += 1;
            return Completion::Failed;
        };
        let mut answers = vec![first];
        if self.variants {
            answers.extend(self.without_repeated_parents(state.problem, &selected));
        }
        if self.variants && !(state.problem.focus.is_empty() && state.type_violations.is_empty()) {
            let mut seen = vec![selected];
            for style in [
                SelectionStyle::OtherEdge,
                SelectionStyle::Off,
                SelectionStyle::Far,
            ] {
                if let Some((rows, selected)) = self.answer(state, style, base, rng)
                    && !seen.contains(&selected)
                {
                    answers.push(rows);
                    seen.push(selected);
                }
            }
        }
        Completion::Done(answers)
    }

    /// The same answer with NULL in references that repeat those of the row compared with.
    ///
    /// With one parent row at hand, a row that repeats a key often repeats the reference too, and then
    /// does not tell the key from one that the reference belongs to.
    fn without_repeated_parents(
        &mut self,
        problem: &CellProblem<'a>,
        selected: &SelectedValues,
    ) -> Option<Vec<Row>> {
        let GenerationTask {
            table, existing, ..
        } = *self.task;
        let definition = &self.task.schema.tables[table];
        let is_key = |columns: &[usize]| {
            definition
                .constraints
                .iter()
                .any(|constraint| match &constraint.kind {
                    ConstraintKind::PrimaryKey { columns: key }
                    | ConstraintKind::Unique { columns: key, .. } => key == columns,
                    _ => false,
                })
        };
        let repeats = |part: &Predicate| match part {
            Predicate::Match(wanted) if wanted.with == table && wanted.differ.is_empty() => {
                let own: Vec<usize> = wanted.equal.iter().map(|(own, _)| *own).collect();
                !wanted.crosses() && is_key(&own)
            }
            _ => false,
        };
        let asked = match self.task.predicate {
            Predicate::And(parts) => parts.iter().any(repeats),
            other => repeats(other),
        };
        let other = existing.rows(table).first().filter(|_| asked)?;
        let row = &problem.rows[problem.subject];
        let mut without = selected.clone();
        let columns: Vec<usize> = definition
            .foreign_keys()
            .flat_map(|key| key.columns.clone())
            .collect();
        for column in columns {
            if !definition.is_not_null(column)
                && without.stored[problem.subject][column] == other[column]
            {
                without.given[row.first + column] = Some(Value::Null);
                without.stored[problem.subject][column] = Value::Null;
            }
        }
        if without == *selected {
            None
        } else {
            self.verified(problem, &without)
        }
    }

    /// Rows in one style, verified.
    fn answer<'p>(
        &mut self,
        state: &mut PropagationState<'p, 'a>,
        style: SelectionStyle,
        base: u32,
        rng: &mut fastrand::Rng,
    ) -> Option<(Vec<Row>, SelectedValues)> {
        for again in 0..3 {
            let mark = state.mark();
            let selected =
                value_selection::pick(state, self.task.existing, style, base + again * 131);
            state.undo(mark);
            let mut selected = match selected {
                Ok(selected) => selected,
                Err(SelectionError::Type(what)) => {
                    self.unsupported = Some(format!("a value of type {what}"));
                    return None;
                }
                Err(SelectionError::Stuck) => continue,
            };
            self.evaluations += 1;
            if !search::passes(state, &selected) {
                let budget = REPAIR.min(self.task.budget.saturating_sub(self.evaluations));
                self.evaluations += search::repair(state, &mut selected, budget, rng);
            }
            if state.type_violations.is_empty() {
                if let Some(rows) = self.verified(state.problem, &selected) {
                    return Some((rows, selected));
                }
            } else {
                for selected in type_violation::fill(
                    state.problem,
                    self.task,
                    &state.type_violations,
                    &selected,
                    style,
                ) {
                    if let Some(rows) = self.verified(state.problem, &selected) {
                        return Some((rows, selected));
                    }
                }
            }
        }
        None
    }

    /// The rows, if they really are an answer.
    fn verified(
        &mut self,
        problem: &CellProblem<'a>,
        selected: &SelectedValues,
    ) -> Option<Vec<Row>> {
        let mut rows = Vec::with_capacity(problem.rows.len());
        for row in &problem.rows {
            let cells = (0..row.definition.columns.len()).map(|column| {
                match &selected.given[row.first + column] {
                    Some(value) => Cell::Value(value.clone()),
                    None => Cell::Default,
                }
            });
            rows.push(Row {
                table: row.table,
                cells: cells.collect(),
            });
        }
        let (subject, fresh) = rows.split_last()?;
        let holds = if fresh.is_empty() {
            self.holds(problem, selected, subject, self.task.existing)
        } else {
            let mut memory = self.task.existing.clone();
            for row in fresh {
                match memory.insert(row) {
                    Ok(Verdict::Accepted) => {}
                    Ok(Verdict::Rejected(_)) => return None,
                    Err(unsupported) => {
                        self.unsupported = Some(unsupported.what);
                        return None;
                    }
                }
            }
            self.holds(problem, selected, subject, &memory)
        };
        holds.then_some(rows)
    }

    fn holds(
        &mut self,
        problem: &CellProblem<'a>,
        selected: &SelectedValues,
        subject: &Row,
        memory: &MemoryDatabase<'_>,
    ) -> bool {
        let plan = &problem.rows[problem.subject];
        let cells = &problem.cells[plan.first..plan.first + plan.definition.columns.len()];
        let decided_elsewhere = cells.iter().any(|cell| cell.automatic);
        let values: Vec<Value> = if decided_elsewhere {
            match memory.stored(subject) {
                Ok(Ok(values)) => values,
                Ok(Err(_)) => return false,
                Err(unsupported) => {
                    self.unsupported = Some(unsupported.what);
                    return false;
                }
            }
        } else {
            selected.stored[problem.subject].clone()
        };
        let verdict =
            self.task
                .predicate
                .holds(self.task.table, &values, memory, self.task.dialect);
        match verdict {
            Ok(holds) => holds,
            Err(EvalError::Unsupported(unsupported)) => {
                self.unsupported = Some(unsupported.what);
                false
            }
            Err(EvalError::Raised(_)) => false,
        }
    }
}
