//! A short local search for what propagation does not decide.
//!
//! Cells of tests that fail are changed one at a time (the alternating
//! variable method: probe, then steps that double while they help), guided by
//! the distances of evaluation. Constants of the tests are tried as they are.

use isobath_sql::{DataType, Dialect, Expr, Value, eval};
use rust_decimal::Decimal;

use super::problem::{CellProblem, ExprConstraint};
use super::state::PropagationState;
use super::value_selection::{SelectedValues, constants};
use crate::schema::predicate::RequiredTruth;

/// How far an expression is from a verdict on a row; errors are far away.
pub(super) fn distance(
    expr: &Expr,
    row: &[Value],
    wanted: RequiredTruth,
    dialect: &dyn Dialect,
) -> f64 {
    let Ok(truth) = eval::truth(expr, row, dialect) else {
        return 2.0;
    };
    if wanted.is(truth.verdict()) {
        return 0.0;
    }
    match wanted {
        RequiredTruth::True | RequiredTruth::NotFalse => normalize(truth.to_true()),
        RequiredTruth::False => normalize(truth.to_false()),
        RequiredTruth::Unknown => 1.0,
    }
}

/// Squeezes a distance into `0..1`, so that no test outweighs the others, and keeps it above zero.
fn normalize(distance: f64) -> f64 {
    (distance / (distance + 1.0)).max(f64::MIN_POSITIVE)
}

/// Whether all tests have their verdicts.
pub(super) fn passes(state: &PropagationState<'_, '_>, selected: &SelectedValues) -> bool {
    state
        .tests
        .iter()
        .all(|test| test_distance(state.problem, test, selected) == 0.0)
}

fn test_distance(
    problem: &CellProblem<'_>,
    test: &ExprConstraint<'_>,
    selected: &SelectedValues,
) -> f64 {
    match &test.expr {
        Some(expr) => distance(
            expr,
            &selected.stored[test.row],
            test.wanted,
            problem.dialect,
        ),
        None => 0.0,
    }
}

/// Changes cells until all tests pass; says how many evaluations it took.
pub(super) fn repair(
    state: &PropagationState<'_, '_>,
    selected: &mut SelectedValues,
    budget: u64,
    rng: &mut fastrand::Rng,
) -> u64 {
    let mut search = LocalSearch {
        state,
        spent: 0,
        budget,
        cells: Vec::new(),
        tests: Vec::new(),
    };
    search.collect(selected);
    let start = selected.clone();
    for round in 0..4 {
        if search.descend(selected) == 0.0 || search.spent >= budget {
            break;
        }
        // From another place, then.
        *selected = start.clone();
        for cell in search.cells.clone() {
            let step = Decimal::from(rng.i64(-40..40) * (round + 1));
            if let Some(value) = search.moved(selected, cell, step) {
                search.set(selected, cell, value);
            }
        }
    }
    search.spent
}

struct LocalSearch<'s, 'p, 'a> {
    state: &'s PropagationState<'p, 'a>,
    spent: u64,
    budget: u64,
    cells: Vec<usize>,
    tests: Vec<&'p ExprConstraint<'a>>,
}

impl LocalSearch<'_, '_, '_> {
    /// The cells of failing tests, and all tests over those cells.
    fn collect(&mut self, selected: &SelectedValues) {
        let problem = self.state.problem;
        for test in &self.state.tests {
            if test_distance(problem, test, selected) > 0.0 {
                for cell in &test.cells {
                    let plan = &problem.cells[*cell];
                    let fixed =
                        plan.automatic || selected.given[*cell].as_ref().is_none_or(Value::is_null);
                    if !fixed && !self.cells.contains(cell) {
                        self.cells.push(*cell);
                    }
                }
            }
        }
        for test in &self.state.tests {
            if test.cells.iter().any(|cell| self.cells.contains(cell)) {
                self.tests.push(test);
            }
        }
    }

    fn total(&mut self, selected: &SelectedValues) -> f64 {
        self.spent += 1;
        let problem = self.state.problem;
        let tests: f64 = self
            .tests
            .iter()
            .map(|test| test_distance(problem, test, selected))
            .sum();
        let cells = self
            .cells
            .iter()
            .filter(|cell| !self.admitted(selected, **cell));
        tests + cells.count() as f64
    }

    /// Whether a cell still respects what was decided about it apart from tests.
    fn admitted(&self, selected: &SelectedValues, cell: usize) -> bool {
        let problem = self.state.problem;
        let plan = &problem.cells[cell];
        let value = &selected.stored[plan.row][plan.column];
        let domain = &self.state.domains[cell];
        let chosen = domain.choice.as_ref().is_none_or(|choice| {
            choice
                .values
                .iter()
                .any(|one| problem.same(cell, one, value))
        });
        let free = !domain
            .not
            .iter()
            .any(|(not, _)| problem.same(cell, not, value));
        let apart = self.state.unequal.iter().all(|pair| {
            pair.other(cell).is_none_or(|other| {
                let plan = &problem.cells[other];
                !problem.same(cell, value, &selected.stored[plan.row][plan.column])
            })
        });
        chosen && free && apart
    }

    fn set(&self, selected: &mut SelectedValues, cell: usize, value: Value) -> bool {
        let plan = &self.state.problem.cells[cell];
        match self.state.problem.stored(cell, &value) {
            Some(stored) => {
                selected.stored[plan.row][plan.column] = stored;
                selected.given[cell] = Some(value);
                true
            }
            None => false,
        }
    }

    fn descend(&mut self, selected: &mut SelectedValues) -> f64 {
        let mut best = self.total(selected);
        loop {
            let before = best;
            for cell in self.cells.clone() {
                best = self.improve(selected, cell, best);
                if best == 0.0 || self.spent >= self.budget {
                    return best;
                }
            }
            if best >= before {
                return best;
            }
        }
    }

    /// Tries a value and keeps it when it helps.
    fn attempt(
        &mut self,
        selected: &mut SelectedValues,
        cell: usize,
        value: Value,
        best: f64,
    ) -> f64 {
        let plan = &self.state.problem.cells[cell];
        let stored = selected.stored[plan.row][plan.column].clone();
        let given = selected.given[cell].clone();
        if self.spent < self.budget && self.set(selected, cell, value) {
            let total = self.total(selected);
            if total < best {
                return total;
            }
        }
        selected.stored[plan.row][plan.column] = stored;
        selected.given[cell] = given;
        best
    }

    fn improve(&mut self, selected: &mut SelectedValues, cell: usize, mut best: f64) -> f64 {
        let plan = &self.state.problem.cells[cell];
        let data_type = &plan.definition.data_type;
        let mut literals: Vec<Value> = Vec::new();
        for test in &self.tests {
            if test.cells.contains(&cell) {
                let found = test.expr.iter().flat_map(|expr| constants(expr));
                literals.extend(found.filter(|value| !value.is_null()).cloned());
            }
        }
        for literal in literals {
            best = self.attempt(selected, cell, literal, best);
        }
        if data_type.is_text() {
            best = self.improve_text(selected, cell, best);
        } else {
            for direction in [1, -1] {
                let mut step = Decimal::from(direction);
                while let Some(value) = self.moved(selected, cell, step) {
                    let total = self.attempt(selected, cell, value, best);
                    if total >= best {
                        if step.abs() <= Decimal::ONE {
                            break;
                        }
                        // Overshot: begin again with small steps.
                        step = Decimal::from(direction);
                        continue;
                    }
                    best = total;
                    if best == 0.0 || self.spent >= self.budget {
                        return best;
                    }
                    step = step.checked_mul(Decimal::TWO).unwrap_or(step);
                }
            }
        }
        best
    }

    /// The cell's value, moved by so many units.
    fn moved(&self, selected: &SelectedValues, cell: usize, step: Decimal) -> Option<Value> {
        let plan = &self.state.problem.cells[cell];
        let value = &selected.stored[plan.row][plan.column];
        match (value, &plan.definition.data_type) {
            (Value::Bool(value), _) => Some(Value::Bool(!value)),
            (_, DataType::Enum { labels, .. }) => {
                let Value::Text(text) = value else {
                    return None;
                };
                let at = labels.iter().position(|label| label == text)?;
                let count = i64::try_from(labels.len()).ok()?;
                let next = (i64::try_from(at).ok()?
                    + step.trunc().to_string().parse::<i64>().ok()?)
                .rem_euclid(count);
                labels
                    .get(usize::try_from(next).ok()?)
                    .map(|label| Value::text(label.as_str()))
            }
            (Value::Interval(span), _) => {
                let mut span = *span;
                span.days = span
                    .days
                    .checked_add(step.trunc().to_string().parse().ok()?)?;
                Some(Value::Interval(span))
            }
            _ => {
                let axis = plan.axis?;
                let point = axis.point(value)?;
                let point = point.checked_add(axis.unit.checked_mul(step)?)?;
                axis.value(point, &plan.definition.data_type)
            }
        }
    }

    fn improve_text(&mut self, selected: &mut SelectedValues, cell: usize, mut best: f64) -> f64 {
        let plan = &self.state.problem.cells[cell];
        let (row, column) = (plan.row, plan.column);
        let current = |selected: &SelectedValues| match &selected.stored[row][column] {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        // Whole-text changes first: they settle case, blanks and length at once.
        for change in [
            str::to_lowercase as fn(&str) -> String,
            |text: &str| text.to_uppercase(),
            |text: &str| text.trim().to_owned(),
            |text: &str| text.replace(' ', ""),
            |text: &str| text.chars().filter(char::is_ascii_digit).collect(),
            |text: &str| text.chars().filter(char::is_ascii_alphabetic).collect(),
        ] {
            if let Some(text) = current(selected) {
                best = self.attempt(selected, cell, Value::Text(change(&text)), best);
            }
        }
        loop {
            let before = best;
            for ending in ["a", "1", "@", ".", " ", "-"] {
                let Some(text) = current(selected) else {
                    return best;
                };
                best = self.attempt(selected, cell, Value::Text(text + ending), best);
            }
            if let Some(mut text) = current(selected)
                && text.pop().is_some()
            {
                best = self.attempt(selected, cell, Value::Text(text), best);
            }
            if best == 0.0 || best >= before || self.spent >= self.budget {
                break;
            }
        }
        // Then character by character, as numbers.
        let length = current(selected).map_or(0, |text| text.chars().count());
        for position in 0..length.min(40) {
            for direction in [1i32, -1] {
                let mut step = direction;
                loop {
                    let Some(text) = current(selected) else {
                        return best;
                    };
                    let mut chars: Vec<char> = text.chars().collect();
                    let Some(old) = chars.get(position).copied() else {
                        break;
                    };
                    let code = i32::try_from(u32::from(old)).unwrap_or(97) + step;
                    let Some(new) = u32::try_from(code)
                        .ok()
                        .filter(|code| (32..127).contains(code))
                        .and_then(char::from_u32)
                    else {
                        break;
                    };
                    chars[position] = new;
                    let total =
                        self.attempt(selected, cell, Value::Text(chars.iter().collect()), best);
                    if total >= best {
                        if step == direction {
                            break;
                        }
                        step = direction;
                        continue;
                    }
                    best = total;
                    if best == 0.0 || self.spent >= self.budget {
                        return best;
                    }
                    step *= 2;
                }
            }
        }
        best
    }
}
