//! Choosing values from what propagation left.
//!
//! Cells with few choices come first; after each choice its consequences are
//! propagated, so that later cells only see what still fits. Values prefer to
//! be readable and to differ from everything nearby, except where the
//! requirement is about the cell: there they sit on the boundary.

use isobath_sql::memory::MemoryDatabase;
use isobath_sql::{DataType, Expr, Value, eval};
use rust_decimal::Decimal;

use super::axis::Axis;
use super::domain::{Bound, Domain};
use super::pattern;
use super::problem::{DomainConstraint, ExprConstraint, GUESS};
use super::sample_text::{self, TextTopic};
use super::state::PropagationState;

/// Where in their domains the cells in focus are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectionStyle {
    /// On a boundary.
    Edge,
    /// On the boundary at the other end.
    OtherEdge,
    /// One step inside.
    Off,
    /// Far from any boundary.
    Far,
}

/// Values for all cells: as given, and as stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SelectedValues {
    pub(super) given: Vec<Option<Value>>,
    /// One vector per row.
    pub(super) stored: Vec<Vec<Value>>,
}

/// Why there are no values.
pub(super) enum SelectionError {
    /// No sample of this type is known, and the cell must not be NULL.
    Type(String),
    /// Nothing fitted.
    Stuck,
}

struct ValueSelector<'s, 'p, 'a> {
    state: &'s mut PropagationState<'p, 'a>,
    existing: &'s MemoryDatabase<'a>,
    style: SelectionStyle,
    base: u32,
    selected: SelectedValues,
}

/// Picks a value for every cell. The state is left narrowed; the caller undoes it.
pub(super) fn pick<'a>(
    state: &mut PropagationState<'_, 'a>,
    existing: &MemoryDatabase<'a>,
    style: SelectionStyle,
    base: u32,
) -> Result<SelectedValues, SelectionError> {
    let problem = state.problem;
    let stored = problem
        .rows
        .iter()
        .map(|row| vec![Value::Null; row.definition.columns.len()])
        .collect();
    let mut picker = ValueSelector {
        selected: SelectedValues {
            given: vec![None; problem.cells.len()],
            stored,
        },
        state,
        existing,
        style,
        base,
    };
    // Few choices first, then cells under comparison, so that free cells can keep their distance.
    let mut order: Vec<usize> = (0..problem.cells.len()).collect();
    order.sort_by_key(|cell| picker.freedom(*cell));
    for cell in order {
        picker.fill(cell)?;
    }
    Ok(picker.selected)
}

impl<'a> ValueSelector<'_, '_, 'a> {
    fn freedom(&self, cell: usize) -> usize {
        let domain = &self.state.domains[cell];
        match (&domain.choice, domain.null) {
            (_, Some(true)) => 0,
            (Some(choice), _) => 1 + choice.values.len(),
            _ if self.has_bound(cell) => 10_000,
            _ => 20_000,
        }
    }

    fn has_bound(&self, cell: usize) -> bool {
        let domain = &self.state.domains[cell];
        self.matters(cell, domain.low) || self.matters(cell, domain.high)
    }

    /// Whether a bound was asked for, rather than being the type's.
    fn matters(&self, cell: usize, bound: Option<Bound>) -> bool {
        let type_why = self.state.problem.cells[cell].type_why | GUESS;
        bound.is_some_and(|bound| bound.why & !type_why != 0)
    }

    fn fill(&mut self, cell: usize) -> Result<(), SelectionError> {
        let problem = self.state.problem;
        let plan = &problem.cells[cell];
        if plan.automatic || self.state.domains[cell].null == Some(true) {
            if !plan.automatic {
                self.selected.given[cell] = Some(Value::Null);
            }
            return Ok(());
        }
        if self.state.type_violations.contains(&cell) {
            return Ok(());
        }
        let focused = problem.focus.contains(&cell);
        let mut fallback: Option<(Value, Value)> = None;
        let mut nearest: Option<(f64, Value, Value)> = None;
        let mut offered = false;
        for round in 0.. {
            let Some(values) = self.candidates(cell, focused, round) else {
                break;
            };
            for value in values {
                offered = true;
                let Some(stored) = problem.stored(cell, &value) else {
                    continue;
                };
                let distance = self.distance(cell, &stored);
                if distance > 0.0 {
                    let nearer = nearest.as_ref().is_none_or(|(best, ..)| distance < *best);
                    if nearer && self.fits(cell, &stored) {
                        nearest = Some((distance, value, stored));
                    }
                    continue;
                }
                let near = !focused && self.is_near(cell, &stored);
                if near && (fallback.is_some() || !self.fits(cell, &stored)) {
                    continue;
                }
                if near {
                    fallback = Some((value, stored));
                    continue;
                }
                let mark = self.state.mark();
                let assigned = self.state.assign(cell, &stored, GUESS);
                if assigned.and_then(|()| self.state.propagate()).is_ok() {
                    self.selected.given[cell] = Some(value);
                    self.selected.stored[plan.row][plan.column] = stored;
                    return Ok(());
                }
                self.state.undo(mark);
            }
        }
        let chosen = fallback.or(nearest.map(|(_, value, stored)| (value, stored)));
        match chosen {
            Some((value, stored)) => {
                let assigned = self.state.assign(cell, &stored, GUESS);
                if assigned.and_then(|()| self.state.propagate()).is_err() {
                    return Err(SelectionError::Stuck);
                }
                self.selected.given[cell] = Some(value);
                self.selected.stored[plan.row][plan.column] = stored;
                Ok(())
            }
            None if self.state.domains[cell].null.is_none() => {
                if self.state.set_null(cell, true, GUESS).is_err() {
                    return Err(SelectionError::Stuck);
                }
                self.selected.given[cell] = Some(Value::Null);
                Ok(())
            }
            None if !offered => Err(SelectionError::Type(plan.definition.declared.clone())),
            None => Err(SelectionError::Stuck),
        }
    }

    /// Whether a value contradicts nothing that is known.
    fn fits(&mut self, cell: usize, stored: &Value) -> bool {
        let mark = self.state.mark();
        let assigned = self.state.assign(cell, stored, GUESS);
        let fits = assigned.and_then(|()| self.state.propagate()).is_ok();
        self.state.undo(mark);
        fits
    }

    /// How far a value is from passing the tests that only it decides.
    fn distance(&self, cell: usize, stored: &Value) -> f64 {
        let problem = self.state.problem;
        let plan = &problem.cells[cell];
        let mut row: Option<Vec<Value>> = None;
        let mut total = 0.0;
        for test in &self.state.tests {
            let (Some(expr), [only]) = (&test.expr, &test.cells[..]) else {
                continue;
            };
            if *only != cell {
                continue;
            }
            let row = row.get_or_insert_with(|| {
                let width = problem.rows[plan.row].definition.columns.len();
                let mut row = vec![Value::Null; width];
                row[plan.column] = stored.clone();
                row
            });
            total += super::search::distance(expr, row, test.wanted, problem.dialect);
        }
        total
    }

    /// Whether the value occurs elsewhere in the row, or in the same table.
    fn is_near(&self, cell: usize, stored: &Value) -> bool {
        let problem = self.state.problem;
        let plan = &problem.cells[cell];
        // Of a handful of values, only the other row's is worth avoiding.
        let few = self.state.domains[cell].choice.is_some() || plan.all.is_some();
        let table = problem.rows[plan.row].table;
        let existing = self.existing.rows(table).iter().any(|row| {
            if few {
                alike(&row[plan.column], stored)
            } else {
                row.iter().any(|value| alike(value, stored))
            }
        });
        let own = self.selected.stored.iter().enumerate().any(|(index, row)| {
            if few {
                index != plan.row
                    && problem.rows[index].table == table
                    && alike(&row[plan.column], stored)
            } else {
                row.iter().any(|value| alike(value, stored))
            }
        });
        existing || own
    }

    /// Values to try, a few more with every round; `None` when there are no others.
    fn candidates(&self, cell: usize, focused: bool, round: u32) -> Option<Vec<Value>> {
        let problem = self.state.problem;
        let plan = &problem.cells[cell];
        let domain = &self.state.domains[cell];
        let index = self.base + 11 * u32::try_from(cell).unwrap_or(0);
        if let Some(choice) = &domain.choice {
            return self.of_choice(&choice.values, index, focused, round);
        }
        if let Some(axis) = plan.axis {
            return self.on_axis(cell, axis, domain, index, focused, round);
        }
        if plan.definition.data_type.is_text() {
            return self.as_text(cell, domain, index, focused, round);
        }
        (round < 24)
            .then(|| sample_text::natural(plan.definition, index + round))
            .map(|value| value.into_iter().collect())
    }

    fn of_choice(
        &self,
        values: &[Value],
        index: u32,
        focused: bool,
        round: u32,
    ) -> Option<Vec<Value>> {
        let count = values.len();
        let start = match (focused, self.style) {
            (false, _) => usize::try_from(index).unwrap_or(0) % count,
            (true, SelectionStyle::Edge) => 0,
            (true, SelectionStyle::OtherEdge) => count - 1,
            (true, SelectionStyle::Off | SelectionStyle::Far) => count / 2,
        };
        let round = usize::try_from(round).ok().filter(|round| *round < count)?;
        Some(vec![values[(start + round) % count].clone()])
    }

    fn on_axis(
        &self,
        cell: usize,
        axis: Axis,
        domain: &Domain,
        index: u32,
        focused: bool,
        round: u32,
    ) -> Option<Vec<Value>> {
        let plan = &self.state.problem.cells[cell];
        let mut points: Vec<Decimal> = Vec::new();
        let low = domain
            .low
            .and_then(|low| axis.at_or_above(low.point, low.open));
        let high = domain
            .high
            .and_then(|high| axis.at_or_below(high.point, high.open));
        let asked_low = low.filter(|_| self.matters(cell, domain.low));
        let asked_high = high.filter(|_| self.matters(cell, domain.high));
        let steps = |count: u32| axis.unit * Decimal::from(count);
        if focused && round == 0 {
            let excluded = domain.not.iter().filter_map(|(value, _)| axis.point(value));
            let beside: Vec<Decimal> = excluded
                .flat_map(|point| [point + axis.unit, point - axis.unit])
                .collect();
            match self.style {
                SelectionStyle::Edge => points.extend(asked_low.or(asked_high)),
                SelectionStyle::OtherEdge => points.extend(asked_high.or(asked_low)),
                SelectionStyle::Off => {
                    points.extend(asked_low.map(|low| low + axis.unit));
                    points.extend(asked_high.map(|high| high - axis.unit));
                }
                SelectionStyle::Far => match (asked_low, asked_high) {
                    (Some(low), Some(high)) => {
                        let middle = low + (high - low) / Decimal::TWO;
                        points.extend(axis.at_or_below(middle, false));
                    }
                    (Some(low), None) => points.push(low + steps(100)),
                    (None, Some(high)) => points.push(high - steps(100)),
                    (None, None) => {}
                },
            }
            match self.style {
                SelectionStyle::Edge => points.extend(beside),
                SelectionStyle::OtherEdge => points.extend(beside.into_iter().rev()),
                SelectionStyle::Off | SelectionStyle::Far => {}
            }
        }
        match round {
            // Readable values, as far as they fit.
            0..6 => {
                let natural = sample_text::natural(plan.definition, index + round);
                points.extend(natural.and_then(|value| axis.point(&value)));
            }
            // Then whatever fits.
            6 => {
                let spread = index % 40;
                for count in [1 + spread, 2 + spread, 3 + spread, 0, 1, 2, 3, 4, 5, 6, 7] {
                    points.extend(low.and_then(|low| low.checked_add(steps(count))));
                    points.extend(high.and_then(|high| high.checked_sub(steps(count))));
                }
                if let (Some(low), Some(high)) = (domain.low, domain.high) {
                    // A dense interval may hold no multiple of the unit.
                    points.push((low.point + high.point) / Decimal::TWO);
                }
            }
            _ => return None,
        }
        let admitted = points.into_iter().filter(|point| domain.admits(*point));
        let values = admitted.filter_map(|point| axis.value(point, &plan.definition.data_type));
        Some(values.collect())
    }

    fn as_text(
        &self,
        cell: usize,
        domain: &Domain,
        index: u32,
        focused: bool,
        round: u32,
    ) -> Option<Vec<Value>> {
        let problem = self.state.problem;
        let plan = &problem.cells[cell];
        let data_type = &plan.definition.data_type;
        let shortest = domain.shortest.0;
        let longest = domain.longest.map(|(most, _)| most);
        let asked_longest = longest.filter(|_| longest != data_type.max_chars());
        let wanted_length = match (focused, self.style) {
            (false, _) => None,
            (true, SelectionStyle::Edge) if shortest > 0 => Some(shortest),
            (true, SelectionStyle::Edge | SelectionStyle::OtherEdge) => asked_longest,
            (true, SelectionStyle::Off | SelectionStyle::Far) => None,
        };
        let tests = || {
            let mine = |test: &&ExprConstraint<'a>| test.cells.contains(&cell);
            self.state.tests.iter().copied().filter(mine)
        };
        let mut texts: Vec<String> = Vec::new();
        match round {
            0..8 => {
                let topic = TextTopic::of(&plan.definition.name);
                let index = match round {
                    0..5 => index + round,
                    _ => sample_text::numbered(index + round),
                };
                let fill = || sample_text::text(topic, index, Some(longest.unwrap_or(40)), false);
                for test in tests() {
                    match &test.form {
                        DomainConstraint::Prefix { text, .. } => {
                            texts.push(format!("{text}{}", fill()))
                        }
                        DomainConstraint::Pattern => {
                            texts.extend(proposals(test, &fill(), problem.dialect));
                        }
                        _ => {}
                    }
                }
                let full = matches!(data_type, DataType::Char { length } if *length <= 8);
                texts.push(sample_text::text(topic, index, longest, full));
            }
            // Text that a test compares with, and its neighbours in order.
            8 => {
                for test in tests().filter(|test| matches!(test.form, DomainConstraint::Opaque)) {
                    for constant in test.expr.iter().flat_map(|expr| constants(expr)) {
                        if let Value::Text(text) = constant {
                            let mut shorter = text.clone();
                            shorter.pop();
                            texts.extend([text.clone(), format!("{text}a"), shorter]);
                        }
                    }
                }
            }
            _ => return None,
        }
        let fit = |text: String| {
            let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            let target = match wanted_length {
                Some(wanted) => wanted.min(2000),
                None => length
                    .max(shortest.min(2000))
                    .min(longest.unwrap_or(u32::MAX)),
            };
            sized(text, target)
        };
        let texts = texts.into_iter().map(|text| Value::Text(fit(text)));
        Some(texts.collect())
    }
}

/// Text that should match the pattern of a test.
fn proposals(
    test: &ExprConstraint<'_>,
    fill: &str,
    dialect: &dyn isobath_sql::Dialect,
) -> Vec<String> {
    let Some(Expr::Like {
        pattern,
        kind,
        escape,
        ..
    }) = test.expr.as_deref()
    else {
        return Vec::new();
    };
    let Ok(Value::Text(pattern)) = eval::value(pattern, &[], dialect) else {
        return Vec::new();
    };
    let word: String = fill
        .chars()
        .filter(char::is_ascii_alphabetic)
        .take(5)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let short = &word[..word.len().min(1)];
    [(word.as_str(), 1), (word.as_str(), 3), (short, 1), ("", 0)]
        .into_iter()
        .filter_map(|(fill, repeats)| pattern::matching(&pattern, *kind, *escape, fill, repeats))
        .collect()
}

/// Cut or continued to a length; what is continued does not end in blanks.
fn sized(text: String, length: u32) -> String {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let count = text.chars().count();
    if count == length {
        return text;
    }
    if count > length {
        let cut: String = text.chars().take(length).collect();
        return if cut.ends_with(' ') {
            cut.replace(' ', "x")
        } else {
            cut
        };
    }
    let mut text = text;
    text.extend(('a'..='z').cycle().take(length - count));
    text
}

/// All constants of an expression, in reading order.
pub(super) fn constants(expr: &Expr) -> Vec<&Value> {
    let mut found = Vec::new();
    expr.walk(&mut |inner| {
        if let Expr::Literal(value) = inner {
            found.push(value);
        }
    });
    found
}

/// Whether two values could be taken for each other, in any type or collation.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Text(a), Value::Text(b)) => {
            // Every pick is held against all rows, and most texts differ at once.
            let first = |text: &str| text.bytes().next().filter(u8::is_ascii_graphic);
            match (first(a), first(b)) {
                (Some(a), Some(b)) if !a.eq_ignore_ascii_case(&b) => false,
                _ => a.trim_end().eq_ignore_ascii_case(b.trim_end()),
            }
        }
        (Value::Int(a), Value::Decimal(b)) | (Value::Decimal(b), Value::Int(a)) => {
            Decimal::try_from_i128_with_scale(*a, 0).is_ok_and(|a| a == *b)
        }
        (a, b) => a == b,
    }
}
