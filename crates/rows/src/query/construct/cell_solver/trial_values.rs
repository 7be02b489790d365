//! Values to try: constants, their neighbours, what lies between them, fresh ones, NULL; and steps
//! from there where none of them passes.

use isobath_sql::expr::CompareOp;
use isobath_sql::{DataType, Expr, Value, eval};

use super::super::state::TruthRequirement;
use super::super::values::{add, fresh, neighbors, padded, suggest};
use super::CellSolver;
use super::regions::fold;

/// The longest period of which every value is tried.
const MAX_PERIOD: usize = 60;

/// How many steps from the best value are tried.
const MAX_STEPS: i32 = 1_500;

impl CellSolver<'_, '_> {
    /// Values to try for a class, the likeliest first, and whether they are all that matter to its own leaves.
    pub(super) fn trial_values(&self, index: usize) -> (Vec<Value>, bool) {
        let class = &self.classes[index];
        let data_type = self.data_type(index).or_else(|| self.compared_type(index));
        let mut constants = Vec::new();
        let mut by_equality = true;
        for leaf in class.own.iter().chain(&class.coupled) {
            let expr = &self.state.leaves[*leaf].expr;
            suggest(expr, &|expr| fold(self.state, expr), &mut constants);
            expr.walk(&mut |part| by_equality &= only_equal(part));
        }
        let literal = constants.clone();
        padded(&mut constants);
        let mut trial_values = self.joined_patterns(index);
        // Constants as the column stores them, so that neighbours are of its type.
        let mut typed: Vec<Value> = Vec::new();
        for constant in &constants {
            if let Some(stored) = self.stored(index, constant)
                && let Some(first) = stored.into_iter().next()
            {
                add(&mut typed, first);
            }
            add(&mut trial_values, constant.clone());
        }
        let number = index + 1 + 20 * self.state.made;
        if let Some(data_type) = data_type {
            for number in [number, number + 1, number + 2, number + 53] {
                add(&mut trial_values, fresh(data_type, number));
            }
        } else {
            for number in [1i64, 2, 0] {
                add(&mut trial_values, Value::from(number));
            }
            add(&mut trial_values, Value::text("a"));
        }
        if !(by_equality && data_type.is_some_and(DataType::is_text)) {
            for value in &typed {
                for near in neighbors(value, data_type) {
                    add(&mut trial_values, near);
                }
            }
        }
        let mut literal = literal;
        let mut period = 1;
        for leaf in &class.own {
            if let Some(turns) = self.breakpoint(index, &self.state.leaves[*leaf].expr) {
                // Of several, the product repeats all.
                period *= if period % turns.period == 0 {
                    1
                } else {
                    turns.period
                };
            }
        }
        // Where one of the cells that are compared with each other turns, all of them need a value.
        for other in 0..self.classes.len() {
            if self.part_of[other] != self.part_of[index] {
                continue;
            }
            for leaf in &self.classes[other].own {
                if let Some(turns) = self.breakpoint(other, &self.state.leaves[*leaf].expr) {
                    add(&mut literal, Value::Decimal(turns.at));
                }
            }
        }
        let repeats = period <= MAX_PERIOD;
        let period = period.min(MAX_PERIOD);
        let constants = self.constants_of_part(index, literal);
        let exact = match self.representatives(index, &constants, period) {
            Some(representatives) => {
                representatives
                    .into_iter()
                    .for_each(|value| add(&mut trial_values, value));
                self.is_pinned(index)
                    || class.own.iter().all(|leaf| {
                        let expr = &self.state.leaves[*leaf].expr;
                        self.is_plain(expr) || repeats && self.breakpoint(index, expr).is_some()
                    })
            }
            None => false,
        };
        if !class.not_null {
            trial_values.push(Value::Null);
        }
        (trial_values, exact)
    }

    /// Texts that several patterns may accept: what each of them asks for, one after the other.
    fn joined_patterns(&self, index: usize) -> Vec<Value> {
        let mut parts: Vec<(bool, bool, String)> = Vec::new();
        for leaf in &self.classes[index].own {
            let leaf = &self.state.leaves[*leaf];
            let Expr::Like {
                pattern, negated, ..
            } = &leaf.expr
            else {
                continue;
            };
            let is_wanted = matches!(
                (leaf.want, negated),
                (TruthRequirement::True, false) | (TruthRequirement::False, true)
            );
            if let (true, Some(Value::Text(pattern))) = (is_wanted, self.folded(pattern)) {
                let text = pattern.replace('%', "").replace('_', "a");
                parts.push((pattern.ends_with('%'), !pattern.starts_with('%'), text));
            }
        }
        if parts.len() < 2 {
            return Vec::new();
        }
        // What begins a text comes first, what ends it last.
        parts.sort_by_key(|(is_open, begins, _)| (!is_open, !begins));
        let joined = |between: &str| {
            let texts: Vec<&str> = parts.iter().map(|(_, _, text)| text.as_str()).collect();
            Value::Text(texts.join(between))
        };
        vec![joined(""), joined(" ")]
    }

    /// Adds what comparisons of something calculated with a constant lead to.
    pub(super) fn calculated(&mut self, index: usize, trial_values: &mut Vec<Value>) {
        let leaves = self.state.leaves.as_slice();
        let mut found = Vec::new();
        for number in self.classes[index].own.clone() {
            let pairs: Vec<(&Expr, &Expr)> = match &leaves[number].expr {
                Expr::Compare { left, right, .. } => vec![(left, right), (right, left)],
                Expr::Between {
                    expr, low, high, ..
                } => vec![(expr, low), (expr, high)],
                Expr::InList { expr, list, .. } => {
                    list.iter().take(8).map(|item| (&**expr, item)).collect()
                }
                Expr::Like { expr, pattern, .. } => vec![(expr, pattern)],
                _ => continue,
            };
            for (side, other) in pairs {
                if matches!(side, Expr::Column(_) | Expr::Parameter(_)) {
                    continue;
                }
                if let Some(value) = self.folded(other) {
                    self.invert_towards(side, index, &value, &mut found);
                }
            }
        }
        // What leads there comes before what is merely near.
        found.retain(|value| !trial_values.contains(value));
        trial_values.splice(0..0, found);
    }

    /// The constants of all leaves that a class is connected with.
    fn constants_of_part(&self, index: usize, own: Vec<Value>) -> Vec<Value> {
        if self.classes[index].coupled.is_empty() {
            return own;
        }
        let mut constants = own;
        for (number, leaf) in self.state.leaves.iter().enumerate() {
            let here = leaf
                .cells
                .first()
                .is_some_and(|cell| self.part_of[self.class_of[*cell]] == self.part_of[index]);
            if here {
                let expr = &self.state.leaves[number].expr;
                suggest_constants(self, expr, &mut constants);
            }
        }
        constants
    }

    /// How far the class's own leaves are from being met.
    fn distance(&self, index: usize) -> f64 {
        let mut sum = 0.0;
        for leaf in &self.classes[index].own {
            let leaf = &self.state.leaves[*leaf];
            let Ok(truth) = eval::truth_in(&leaf.expr, self.env(), self.state.context.dialect)
            else {
                return f64::INFINITY;
            };
            if !leaf.want.met_by(truth.verdict()) {
                let distance = match leaf.want {
                    TruthRequirement::True | TruthRequirement::NotFalse => truth.to_true(),
                    TruthRequirement::False | TruthRequirement::NotTrue => truth.to_false(),
                };
                sum += isobath_distance::normalize(distance).max(f64::MIN_POSITIVE);
            }
        }
        sum
    }

    /// Improves one value step by step where no value to try passes.
    pub(super) fn local_search(
        &mut self,
        index: usize,
        trial_values: &[Value],
    ) -> Option<Vec<Value>> {
        let data_type = self.data_type(index);
        let mut best: Option<(f64, Value)> = None;
        let mut budget = MAX_STEPS;
        // NULL may be near to true, but there is no step from it.
        for value in trial_values.iter().filter(|value| !value.is_null()) {
            if let Some(distance) = self.try_value(index, value)
                && best.as_ref().is_none_or(|(least, _)| distance < *least)
            {
                best = Some((distance, value.clone()));
            }
        }
        let (mut least, mut value) = best?;
        while least > 0.0 && budget > 0 {
            let mut next = None;
            for near in steps(&value, data_type) {
                budget -= 1;
                if let Some(distance) = self.try_value(index, &near)
                    && distance < least
                {
                    least = distance;
                    next = Some(near);
                }
            }
            value = next?;
        }
        if least > 0.0 {
            return None;
        }
        self.stored(index, &value)
    }

    fn try_value(&mut self, index: usize, value: &Value) -> Option<f64> {
        let stored = self.stored(index, value)?;
        self.assign_class(index, &stored);
        Some(self.distance(index))
    }
}

fn suggest_constants(picker: &CellSolver<'_, '_>, expr: &Expr, constants: &mut Vec<Value>) {
    if let Some(value) = picker.folded(expr) {
        if !value.is_null() {
            add(constants, value);
        }
        return;
    }
    for child in expr.children() {
        suggest_constants(picker, child, constants);
    }
}

/// Whether an expression neither orders nor transforms values.
fn only_equal(part: &Expr) -> bool {
    match part {
        Expr::Compare { op, .. } => matches!(op, CompareOp::Equal | CompareOp::NotEqual),
        Expr::Like { .. } | Expr::Between { .. } | Expr::Cast { .. } | Expr::Binary { .. } => false,
        Expr::Function { name, .. } => matches!(name.as_str(), "ifnull" | "coalesce"),
        _ => true,
    }
}

/// Small and large steps from a value.
fn steps(value: &Value, data_type: Option<&DataType>) -> Vec<Value> {
    let mut steps = neighbors(value, data_type);
    match value {
        Value::Int(number) => {
            steps.extend(
                [10, 100, 1000]
                    .iter()
                    .flat_map(|step| [Value::Int(number - step), Value::Int(number + step)]),
            );
        }
        Value::Text(text) => {
            let chars: Vec<char> = text.chars().collect();
            for at in 0..=chars.len().min(40) {
                for letter in [' ', 'a', '0', '%'] {
                    let mut longer = chars.clone();
                    longer.insert(at, letter);
                    steps.push(Value::Text(longer.iter().collect()));
                }
                if at < chars.len() {
                    let mut shorter = chars.clone();
                    shorter.remove(at);
                    steps.push(Value::Text(shorter.iter().collect()));
                    for code in [-16i32, -4, -1, 1, 4, 16] {
                        let moved = (chars[at] as u32).saturating_add_signed(code);
                        if let Some(letter) =
                            char::from_u32(moved).filter(|c| matches!(c, ' '..='~'))
                        {
                            let mut other = chars.clone();
                            other[at] = letter;
                            steps.push(Value::Text(other.iter().collect()));
                        }
                    }
                }
            }
        }
        Value::Date(date) => {
            for days in [-365, -31, -7, 7, 31, 365] {
                if let Ok(date) = date.checked_add(jiff::Span::new().days(days)) {
                    steps.push(Value::Date(date));
                }
            }
        }
        Value::DateTime(at) => {
            for hours in [-24 * 365, -24 * 31, -24, -1, 1, 24, 24 * 31, 24 * 365] {
                if let Ok(at) = at.checked_add(jiff::SignedDuration::from_hours(hours)) {
                    steps.push(Value::DateTime(at));
                }
            }
        }
        _ => {}
    }
    steps
}
