//! Values for cells: classes of equal cells, values to try, and a short search over what couples them.

use isobath_sql::dialect::StoreError;
use isobath_sql::eval::{self, Env, Stop};
use isobath_sql::expr::CompareOp;
use isobath_sql::{DataType, Expr, Value, render};

use super::fill::is_not_null;
use super::proof::{Cause, Proof};
use super::state::{Leaf, Origin, Place, State, Want};
use super::values::{add, fresh, neighbours, padded, suggest};

/// How many conditions over several classes are evaluated before giving up.
const MOST_CHECKS: u32 = 4_000;

/// What became of the cells.
pub(super) enum Picked {
    /// A value per cell.
    Values(Vec<Value>),
    /// No values exist, and why.
    Conflict(Proof),
    /// No values were found.
    Nothing,
}

/// A conflict that is there already, whatever else is decided.
pub(super) fn conflict(state: &State<'_>) -> Option<Proof> {
    match Picker::new(state).narrow() {
        Err(Picked::Conflict(why)) => Some(why),
        _ => None,
    }
}

/// Values that meet all leaves.
pub(super) fn pick(state: &State<'_>) -> Picked {
    let mut picker = Picker::new(state);
    if let Err(picked) = picker.narrow() {
        return picked;
    }
    picker.assign()
}

/// A set of cells with one value, and what it can be.
#[derive(Default)]
struct Class {
    members: Vec<usize>,
    not_null: bool,
    /// Leaves over this class alone, and leaves over others too.
    own: Vec<usize>,
    coupled: Vec<usize>,
    /// Values that pass its own leaves: one per member.
    options: Vec<Vec<Value>>,
}

struct Picker<'p, 'a> {
    state: &'p State<'a>,
    class_of: Vec<usize>,
    classes: Vec<Class>,
    values: Vec<Value>,
    parameters: Vec<Value>,
    assigned: Vec<bool>,
    checks: u32,
}

impl<'p, 'a> Picker<'p, 'a> {
    fn new(state: &'p State<'a>) -> Self {
        let mut parent: Vec<usize> = (0..state.cells.len()).collect();
        for (a, b) in &state.merged {
            union(&mut parent, *a, *b);
        }
        let mut not_null = vec![false; state.cells.len()];
        for leaf in &state.leaves {
            let Some((a, b)) = equality(state, leaf) else {
                continue;
            };
            not_null[a] = true;
            not_null[b] = true;
            if alike(state, a, b) {
                union(&mut parent, a, b);
            }
        }
        let mut class_of = vec![usize::MAX; state.cells.len()];
        let mut classes: Vec<Class> = Vec::new();
        for cell in 0..state.cells.len() {
            let root = find(&mut parent, cell);
            if class_of[root] == usize::MAX {
                class_of[root] = classes.len();
                classes.push(Class::default());
            }
            class_of[cell] = class_of[root];
            let class = &mut classes[class_of[cell]];
            class.members.push(cell);
            class.not_null |= not_null[cell];
            if let Place::Column { table, column } = state.cells[cell] {
                let table = &state.setting.schema.tables[table];
                class.not_null |= is_not_null(&state.setting, table, column);
            }
        }
        for (index, leaf) in state.leaves.iter().enumerate() {
            let mut over: Vec<usize> = leaf.cells.iter().map(|cell| class_of[*cell]).collect();
            over.sort_unstable();
            over.dedup();
            match over.as_slice() {
                [] => {}
                [only] => classes[*only].own.push(index),
                several => {
                    for class in several {
                        classes[*class].coupled.push(index);
                    }
                }
            }
        }
        let parameters = state.parameters.keys().max().map_or(0, |most| most + 1);
        Self {
            state,
            class_of,
            classes,
            values: vec![Value::Null; state.cells.len()],
            parameters: vec![Value::Null; parameters],
            assigned: vec![false; state.cells.len()],
            checks: 0,
        }
    }

    /// Asks every class's own leaves of every value to try.
    fn narrow(&mut self) -> Result<(), Picked> {
        for leaf in self
            .state
            .leaves
            .iter()
            .filter(|leaf| leaf.cells.is_empty())
        {
            if self.met(leaf) == Some(false) {
                return Err(if leaf.guess {
                    Picked::Nothing
                } else {
                    let cause = if compares_with_null(&leaf.expr) {
                        Cause::ComparedWithNull
                    } else {
                        Cause::Join
                    };
                    let says = format!("{} cannot be", self.says(leaf));
                    Picked::Conflict(Proof::new(cause, says))
                });
            }
        }
        for index in 0..self.classes.len() {
            let tries = self.tries(index);
            let mut exact = self.is_exact(index);
            let mut options = Vec::new();
            for value in &tries {
                let Some(stored) = self.stored(index, value) else {
                    continue;
                };
                self.put(index, &stored);
                let leaves = self.state.leaves.as_slice();
                let own = std::mem::take(&mut self.classes[index].own);
                let passes = own.iter().all(|leaf| {
                    let met = self.met(&leaves[*leaf]);
                    exact &= met.is_some();
                    met != Some(false)
                });
                self.classes[index].own = own;
                if passes && !options.contains(&stored) {
                    options.push(stored);
                }
                if options.len() >= 48 {
                    break;
                }
            }
            if options.is_empty() {
                if exact {
                    return Err(Picked::Conflict(self.explain(index)));
                }
                match self.climb(index, &tries) {
                    Some(stored) => options.push(stored),
                    None => return Err(Picked::Nothing),
                }
            }
            self.classes[index].options = options;
        }
        Ok(())
    }

    /// Depth-first search over the classes that leaves couple; all others take their first value.
    fn assign(&mut self) -> Picked {
        for index in 0..self.classes.len() {
            if self.classes[index].coupled.is_empty() {
                let stored = self.classes[index].options[0].clone();
                self.put(index, &stored);
                self.mark(index, true);
            }
        }
        let mut order: Vec<usize> = (0..self.classes.len())
            .filter(|index| !self.classes[*index].coupled.is_empty())
            .collect();
        order.sort_by_key(|index| self.classes[*index].options.len());
        if self.descend(&order) {
            Picked::Values(std::mem::take(&mut self.values))
        } else {
            Picked::Nothing
        }
    }

    fn descend(&mut self, order: &[usize]) -> bool {
        let Some((&index, rest)) = order.split_first() else {
            return true;
        };
        let mut options = self.derived(index);
        for option in self.classes[index].options.clone() {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        for stored in options {
            self.put(index, &stored);
            self.mark(index, true);
            if self.coupled_met(index) && self.descend(rest) {
                return true;
            }
            if self.checks > MOST_CHECKS {
                return false;
            }
        }
        self.mark(index, false);
        false
    }

    fn coupled_met(&mut self, index: usize) -> bool {
        let coupled = std::mem::take(&mut self.classes[index].coupled);
        let leaves = self.state.leaves.as_slice();
        let met = coupled.iter().all(|leaf| {
            let leaf = &leaves[*leaf];
            if !leaf.cells.iter().all(|cell| self.assigned[*cell]) {
                return true;
            }
            self.checks += 1;
            self.met(leaf) != Some(false)
        });
        self.classes[index].coupled = coupled;
        met
    }

    /// Values that comparisons with what is assigned already suggest, as far as they pass the class's own leaves.
    fn derived(&mut self, index: usize) -> Vec<Vec<Value>> {
        let mut tries = Vec::new();
        for leaf in &self.classes[index].coupled {
            let leaf = &self.state.leaves[*leaf];
            let Expr::Compare { left, right, .. } = &leaf.expr else {
                continue;
            };
            for (side, other) in [(left, right), (right, left)] {
                let known = self.cells_of(other).iter().all(|cell| self.assigned[*cell]);
                let here = self
                    .cells_of(side)
                    .iter()
                    .any(|cell| self.class_of[*cell] == index);
                if !(known && here) {
                    continue;
                }
                let env = self.env();
                if let Ok(value) = eval::value_in(other, env, self.state.setting.dialect) {
                    let near = neighbours(&value, None);
                    add(&mut tries, value);
                    near.into_iter().for_each(|value| add(&mut tries, value));
                }
            }
        }
        let mut options = Vec::new();
        for value in tries {
            let Some(stored) = self.stored(index, &value) else {
                continue;
            };
            self.put(index, &stored);
            if self.own_met(index) {
                options.push(stored);
            }
        }
        options
    }

    fn own_met(&self, index: usize) -> bool {
        self.classes[index]
            .own
            .iter()
            .all(|leaf| self.met(&self.state.leaves[*leaf]) != Some(false))
    }

    fn cells_of(&self, expr: &Expr) -> Vec<usize> {
        let mut cells = expr.columns();
        expr.walk(&mut |part| {
            if let Expr::Parameter(number) = part {
                cells.extend(self.state.parameters.get(number));
            }
        });
        cells
    }

    /// Whether a leaf is as wanted on the values at hand; `None` when we cannot tell.
    fn met(&self, leaf: &Leaf) -> Option<bool> {
        let env = self.env();
        match eval::truth_in(&leaf.expr, env, self.state.setting.dialect) {
            Ok(truth) => Some(leaf.want.met_by(truth.verdict())),
            Err(Stop::Raises(_)) => Some(false),
            Err(Stop::Unsupported(_)) => None,
        }
    }

    /// How far the class's own leaves are from being met.
    fn distance(&self, index: usize) -> f64 {
        let env = self.env();
        let mut sum = 0.0;
        for leaf in &self.classes[index].own {
            let leaf = &self.state.leaves[*leaf];
            let Ok(truth) = eval::truth_in(&leaf.expr, env, self.state.setting.dialect) else {
                return f64::INFINITY;
            };
            if !leaf.want.met_by(truth.verdict()) {
                let distance = match leaf.want {
                    Want::True | Want::NotFalse => truth.to_true(),
                    Want::False | Want::NotTrue => truth.to_false(),
                };
                sum += isobath_distance::normalize(distance).max(f64::MIN_POSITIVE);
            }
        }
        sum
    }

    /// Improves one value step by step where no value to try passes.
    fn climb(&mut self, index: usize, tries: &[Value]) -> Option<Vec<Value>> {
        let data_type = self.data_type(index);
        let mut best: Option<(f64, Value)> = None;
        let mut budget = 1_500;
        for value in tries {
            if let Some(distance) = self.try_value(index, value)
                && best.as_ref().is_none_or(|(least, _)| distance < *least)
            {
                best = Some((distance, value.clone()));
            }
        }
        let (mut least, mut value) = best?;
        while least > 0.0 && budget > 0 {
            let mut next = None;
            for near in steps(&value, data_type.as_ref()) {
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
        self.put(index, &stored);
        Some(self.distance(index))
    }

    fn env(&self) -> Env<'_> {
        let mut env = Env::queried(&self.values, &self.parameters);
        env.now = Some(self.state.setting.now);
        env
    }

    fn put(&mut self, index: usize, stored: &[Value]) {
        for (member, value) in self.classes[index].members.iter().zip(stored) {
            self.values[*member] = value.clone();
            if let Place::Parameter(number) = self.state.cells[*member] {
                self.parameters[number] = value.clone();
            }
        }
    }

    fn mark(&mut self, index: usize, assigned: bool) {
        for member in &self.classes[index].members {
            self.assigned[*member] = assigned;
        }
    }

    /// A value as each member stores it.
    fn stored(&self, index: usize, value: &Value) -> Option<Vec<Value>> {
        let setting = &self.state.setting;
        self.classes[index]
            .members
            .iter()
            .map(|member| match self.state.cells[*member] {
                _ if value.is_null() => Some(Value::Null),
                Place::Parameter(_) => Some(value.clone()),
                Place::Column { table, column } => {
                    let definition = &setting.schema.tables[table];
                    match setting.dialect.store_in(value, definition, column) {
                        Ok(stored) => Some(stored),
                        Err(StoreError::TooLong { .. }) if !setting.constraints => {
                            Some(value.clone())
                        }
                        Err(_) => None,
                    }
                }
            })
            .collect()
    }

    fn data_type(&self, index: usize) -> Option<DataType> {
        self.classes[index]
            .members
            .iter()
            .find_map(|member| match self.state.cells[*member] {
                Place::Column { table, column } => {
                    let table = &self.state.setting.schema.tables[table];
                    Some(table.columns[column].data_type.clone())
                }
                Place::Parameter(_) => None,
            })
    }

    /// Values to try: constants, their neighbours, what lies between them, fresh ones, NULL.
    fn tries(&self, index: usize) -> Vec<Value> {
        let class = &self.classes[index];
        let data_type = self.data_type(index);
        let mut constants = Vec::new();
        for leaf in class.own.iter().chain(&class.coupled) {
            suggest(&self.state.leaves[*leaf].expr, &mut constants);
        }
        padded(&mut constants);
        let mut tries: Vec<Value> = Vec::new();
        // Constants as the column stores them, so that neighbours are of its type.
        let mut typed: Vec<Value> = Vec::new();
        for constant in &constants {
            if let Some(stored) = self.stored(index, constant)
                && let Some(first) = stored.into_iter().next()
            {
                add(&mut typed, first);
            }
            add(&mut tries, constant.clone());
        }
        // A fresh value first where nothing has to be equal to a constant.
        let number = index + 1 + 20 * self.state.made;
        if let Some(data_type) = &data_type {
            for number in [number, number + 1, number + 2, number + 53] {
                add(&mut tries, fresh(data_type, number));
            }
            if matches!(data_type, DataType::Boolean) {
                add(&mut tries, Value::Bool(false));
                add(&mut tries, Value::Bool(true));
            }
            if let DataType::Enum { labels, .. } = data_type {
                labels
                    .iter()
                    .for_each(|label| add(&mut tries, Value::Text(label.clone())));
            }
        } else {
            for number in [1i64, 2, 0] {
                add(&mut tries, Value::from(number));
            }
            add(&mut tries, Value::text("a"));
        }
        for value in &typed {
            for near in neighbours(value, data_type.as_ref()) {
                add(&mut tries, near);
            }
        }
        for between in between(&typed) {
            add(&mut tries, between);
        }
        if !class.not_null {
            tries.push(Value::Null);
        }
        tries
    }

    /// Whether a value from every region that constants divide the type into is among those to try.
    fn is_exact(&self, index: usize) -> bool {
        let class = &self.classes[index];
        let Some(data_type) = self.data_type(index) else {
            return false;
        };
        let ordered = match data_type {
            DataType::Integer { .. }
            | DataType::Boolean
            | DataType::Decimal { .. }
            | DataType::Date
            | DataType::Time { .. }
            | DataType::Timestamp { .. } => true,
            DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => false,
            _ => return false,
        };
        class.own.iter().all(|leaf| {
            let leaf = &self.state.leaves[*leaf];
            !leaf.guess && is_plain(&leaf.expr, ordered)
        })
    }

    fn explain(&self, index: usize) -> Proof {
        let class = &self.classes[index];
        let mut names: Vec<String> = Vec::new();
        for member in &class.members {
            if let Place::Column { table, column } = self.state.cells[*member] {
                let table = &self.state.setting.schema.tables[table];
                let name = format!("{}.{}", table.name, table.columns[column].name);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let mut asked: Vec<String> = Vec::new();
        for leaf in &class.own {
            let says = self.says(&self.state.leaves[*leaf]);
            if !asked.contains(&says) {
                asked.push(says);
            }
        }
        let rule = if class.not_null && asked.iter().any(|says| says.contains("NULL")) {
            ", which cannot be NULL"
        } else {
            ""
        };
        let says = format!(
            "no value of {}{rule} is such that {}",
            names.join(" = "),
            asked.join(" and ")
        );
        let leaves = || class.own.iter().map(|leaf| &self.state.leaves[*leaf]);
        let cause = if leaves().any(|leaf| compares_with_null(&leaf.expr)) {
            Cause::ComparedWithNull
        } else if leaves().any(|leaf| leaf.origin == Origin::Key) {
            Cause::Key
        } else if leaves().any(|leaf| leaf.origin == Origin::Check) {
            Cause::Domain
        } else if !rule.is_empty() {
            Cause::NotNull
        } else {
            Cause::Contradiction
        };
        Proof::new(cause, says)
    }

    fn says(&self, leaf: &Leaf) -> String {
        let text = render::expression(&leaf.expr, self.state.setting.dialect.name());
        match leaf.want {
            Want::True => text,
            Want::False => format!("NOT ({text})"),
            Want::NotTrue => format!("({text}) is not true"),
            Want::NotFalse => format!("({text}) is not false"),
        }
    }
}

/// The cells of `a = b` where it must be true.
fn equality(state: &State<'_>, leaf: &Leaf) -> Option<(usize, usize)> {
    let (
        Want::True,
        Expr::Compare {
            op: CompareOp::Equal,
            left,
            right,
        },
    ) = (leaf.want, &leaf.expr)
    else {
        return None;
    };
    let cell = |expr: &Expr| match expr {
        Expr::Column(column) => Some(column.slot),
        Expr::Parameter(number) => state.parameters.get(number).copied(),
        _ => None,
    };
    Some((cell(left)?, cell(right)?))
}

/// Whether equal cells can simply hold the same value.
fn alike(state: &State<'_>, a: usize, b: usize) -> bool {
    let data_type = |cell: usize| match state.cells[cell] {
        Place::Column { table, column } => {
            Some(&state.setting.schema.tables[table].columns[column].data_type)
        }
        Place::Parameter(_) => None,
    };
    match (data_type(a), data_type(b)) {
        (Some(a), Some(b)) => {
            (a.is_text() && b.is_text())
                || (a.is_numeric() && b.is_numeric())
                || std::mem::discriminant(a) == std::mem::discriminant(b)
        }
        _ => true,
    }
}

/// Whether a condition compares columns with constants only, by equality unless the type is ordered.
fn is_plain(expr: &Expr, ordered: bool) -> bool {
    let column = |expr: &Expr| is_column_like(expr);
    let constant = |expr: &Expr| is_constant(expr);
    match expr {
        Expr::And(parts) | Expr::Or(parts) => parts.iter().all(|part| is_plain(part, ordered)),
        Expr::Not(inner) => is_plain(inner, ordered),
        Expr::Compare { op, left, right } => {
            let by_equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
            let never = [left, right].iter().any(|side| is_null_literal(side));
            never
                || ((ordered || by_equality)
                    && ((column(left) && (constant(right) || column(right)))
                        || (constant(left) && column(right))))
        }
        Expr::InList { expr, list, .. } => column(expr) && list.iter().all(constant),
        Expr::Between {
            expr, low, high, ..
        } => {
            [low, high].iter().any(|side| is_null_literal(side))
                || (ordered && column(expr) && constant(low) && constant(high))
        }
        Expr::IsNull { expr, .. } => column(expr),
        _ => false,
    }
}

/// Whether a comparison has NULL itself on one side.
fn compares_with_null(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        if let Expr::Compare { left, right, .. } = part {
            found |= is_null_literal(left) || is_null_literal(right);
        }
    });
    found
}

fn is_null_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Null))
}

/// A column, or IFNULL of a column and constants, which is the column or one of them.
fn is_column_like(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Function { name, args } if matches!(name.as_str(), "ifnull" | "coalesce") => {
            matches!(args.split_first(), Some((Expr::Column(_), rest)) if rest.iter().all(is_constant))
        }
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Unary { expr, .. } => is_constant(expr),
        _ => false,
    }
}

/// What lies between neighbouring numbers.
fn between(values: &[Value]) -> Vec<Value> {
    use rust_decimal::Decimal;
    let mut numbers: Vec<Decimal> = values
        .iter()
        .filter_map(|value| match value {
            Value::Int(number) => i64::try_from(*number).ok().map(Decimal::from),
            Value::Decimal(number) => Some(*number),
            _ => None,
        })
        .collect();
    numbers.sort_unstable();
    numbers
        .windows(2)
        .filter_map(|pair| pair[0].checked_add(pair[1]))
        .map(|sum| Value::Decimal(sum / Decimal::TWO))
        .collect()
}

/// Small and large steps from a value.
fn steps(value: &Value, data_type: Option<&DataType>) -> Vec<Value> {
    let mut steps = neighbours(value, data_type);
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
                        if let Some(letter) = char::from_u32(moved).filter(|c| !c.is_control()) {
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

fn find(parent: &mut [usize], of: usize) -> usize {
    let mut root = of;
    while parent[root] != root {
        root = parent[root];
    }
    parent[of] = root;
    root
}

fn union(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(parent, a), find(parent, b));
    // The smaller one stays the root, so that classes come in the order of their cells.
    parent[a.max(b)] = a.min(b);
}
