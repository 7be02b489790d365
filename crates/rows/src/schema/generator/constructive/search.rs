//! A short local search for what propagation does not decide.
//!
//! Cells of tests that fail are changed one at a time (the alternating
//! variable method: probe, then steps that double while they help), guided by
//! the distances of evaluation. Constants of the tests are tried as they are.

use isobath_sql::{DataType, Dialect, Expr, Value, eval};
use rust_decimal::Decimal;

use super::pick::{Picked, constants};
use super::problem::{Problem, Test};
use super::state::State;
use crate::schema::predicate::Wanted;

/// How far an expression is from a verdict on a row; errors are far away.
pub(super) fn distance(expr: &Expr, row: &[Value], wanted: Wanted, dialect: &dyn Dialect) -> f64 {
    let Ok(truth) = eval::truth(expr, row, dialect) else {
        return 2.0;
    };
    if wanted.is(truth.verdict()) {
        return 0.0;
    }
    match wanted {
        Wanted::True | Wanted::NotFalse => normalize(truth.to_true()),
        Wanted::False => normalize(truth.to_false()),
        Wanted::Unknown => 1.0,
    }
}

/// Squeezes a distance into `0..1`, so that no test outweighs the others, and keeps it above zero.
fn normalize(distance: f64) -> f64 {
    (distance / (distance + 1.0)).max(f64::MIN_POSITIVE)
}

/// Whether all tests have their verdicts.
pub(super) fn passes(state: &State<'_, '_>, picked: &Picked) -> bool {
    state
        .tests
        .iter()
        .all(|test| test_distance(state.problem, test, picked) == 0.0)
}

fn test_distance(problem: &Problem<'_>, test: &Test<'_>, picked: &Picked) -> f64 {
    match &test.expr {
        Some(expr) => distance(expr, &picked.stored[test.row], test.wanted, problem.dialect),
        None => 0.0,
    }
}

/// Changes cells until all tests pass; says how many evaluations it took.
pub(super) fn repair(
    state: &State<'_, '_>,
    picked: &mut Picked,
    budget: u64,
    rng: &mut fastrand::Rng,
) -> u64 {
    let mut search = Search {
        state,
        spent: 0,
        budget,
        cells: Vec::new(),
        tests: Vec::new(),
    };
    search.collect(picked);
    let start = picked.clone();
    for round in 0..4 {
        if search.descend(picked) == 0.0 || search.spent >= budget {
            break;
        }
        // From another place, then.
        *picked = start.clone();
        for cell in search.cells.clone() {
            let step = Decimal::from(rng.i64(-40..40) * (round + 1));
            if let Some(value) = search.moved(picked, cell, step) {
                search.set(picked, cell, value);
            }
        }
    }
    search.spent
}

struct Search<'s, 'p, 'a> {
    state: &'s State<'p, 'a>,
    spent: u64,
    budget: u64,
    cells: Vec<usize>,
    tests: Vec<&'p Test<'a>>,
}

impl Search<'_, '_, '_> {
    /// The cells of failing tests, and all tests over those cells.
    fn collect(&mut self, picked: &Picked) {
        let problem = self.state.problem;
        for test in &self.state.tests {
            if test_distance(problem, test, picked) > 0.0 {
                for cell in &test.cells {
                    let plan = &problem.cells[*cell];
                    let fixed =
                        plan.automatic || picked.given[*cell].as_ref().is_none_or(Value::is_null);
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

    fn total(&mut self, picked: &Picked) -> f64 {
        self.spent += 1;
        let problem = self.state.problem;
        let tests: f64 = self
            .tests
            .iter()
            .map(|test| test_distance(problem, test, picked))
            .sum();
        let cells = self
            .cells
            .iter()
            .filter(|cell| !self.admitted(picked, **cell));
        tests + cells.count() as f64
    }

    /// Whether a cell still respects what was decided about it apart from tests.
    fn admitted(&self, picked: &Picked, cell: usize) -> bool {
        let problem = self.state.problem;
        let plan = &problem.cells[cell];
        let value = &picked.stored[plan.row][plan.column];
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
                !problem.same(cell, value, &picked.stored[plan.row][plan.column])
            })
        });
        chosen && free && apart
    }

    fn set(&self, picked: &mut Picked, cell: usize, value: Value) -> bool {
        let plan = &self.state.problem.cells[cell];
        match self.state.problem.stored(cell, &value) {
            Some(stored) => {
                picked.stored[plan.row][plan.column] = stored;
                picked.given[cell] = Some(value);
                true
            }
            None => false,
        }
    }

    fn descend(&mut self, picked: &mut Picked) -> f64 {
        let mut best = self.total(picked);
        loop {
            let before = best;
            for cell in self.cells.clone() {
                best = self.improve(picked, cell, best);
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
    fn attempt(&mut self, picked: &mut Picked, cell: usize, value: Value, best: f64) -> f64 {
        let plan = &self.state.problem.cells[cell];
        let stored = picked.stored[plan.row][plan.column].clone();
        let given = picked.given[cell].clone();
        if self.spent < self.budget && self.set(picked, cell, value) {
            let total = self.total(picked);
            if total < best {
                return total;
            }
        }
        picked.stored[plan.row][plan.column] = stored;
        picked.given[cell] = given;
        best
    }

    fn improve(&mut self, picked: &mut Picked, cell: usize, mut best: f64) -> f64 {
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
            best = self.attempt(picked, cell, literal, best);
        }
        if data_type.is_text() {
            best = self.improve_text(picked, cell, best);
        } else {
            for direction in [1, -1] {
                let mut step = Decimal::from(direction);
                while let Some(value) = self.moved(picked, cell, step) {
                    let total = self.attempt(picked, cell, value, best);
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
    fn moved(&self, picked: &Picked, cell: usize, step: Decimal) -> Option<Value> {
        let plan = &self.state.problem.cells[cell];
        let value = &picked.stored[plan.row][plan.column];
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

    fn improve_text(&mut self, picked: &mut Picked, cell: usize, mut best: f64) -> f64 {
        let plan = &self.state.problem.cells[cell];
        let (row, column) = (plan.row, plan.column);
        let current = |picked: &Picked| match &picked.stored[row][column] {
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
            if let Some(text) = current(picked) {
                best = self.attempt(picked, cell, Value::Text(change(&text)), best);
            }
        }
        loop {
            let before = best;
            for ending in ["a", "1", "@", ".", " ", "-"] {
                let Some(text) = current(picked) else {
                    return best;
                };
                best = self.attempt(picked, cell, Value::Text(text + ending), best);
            }
            if let Some(mut text) = current(picked)
                && text.pop().is_some()
            {
                best = self.attempt(picked, cell, Value::Text(text), best);
            }
            if best == 0.0 || best >= before || self.spent >= self.budget {
                break;
            }
        }
        // Then character by character, as numbers.
        let length = current(picked).map_or(0, |text| text.chars().count());
        for position in 0..length.min(40) {
            for direction in [1i32, -1] {
                let mut step = direction;
                loop {
                    let Some(text) = current(picked) else {
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
                        self.attempt(picked, cell, Value::Text(chars.iter().collect()), best);
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
