//! When values to try are all that matter: constants divide a type into regions, and conditions
//! that only compare with constants cannot tell two values of a region apart.
//!
//! Where several columns are compared with each other, as many values of each region are needed
//! as there are columns.

use isobath_sql::expr::{CompareOp, PatternKind};
use isobath_sql::{DataType, Expr, Value, eval};
use jiff::{SignedDuration, Span};
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

use super::super::state::{AtomicCondition, CellOwner, ConstructionState, TruthRequirement};
use super::super::values::{add, fresh};
use super::CellSolver;

/// The most values that are taken of a region.
const MAX_PER_REGION: usize = 4;
/// The most digits behind the point of constants beside a number of any scale.
const MAX_FREE_SCALE: u32 = 6;

impl CellSolver<'_, '_> {
    /// A value from every region that the constants of its part divide a class's type into; `None`
    /// when we cannot tell the regions.
    ///
    /// Conditions may repeat themselves after `period` values.
    pub(super) fn representatives(
        &self,
        index: usize,
        constants: &[Value],
        period: usize,
    ) -> Option<Vec<Value>> {
        let data_type = self.data_type(index)?;
        let alone = self
            .columns(index)
            .all(|column| is_alike(data_type, &column.data_type));
        if !alone {
            return None;
        }
        // Cells that are compared with each other need a value each in every region, and of every
        // remainder where conditions repeat themselves.
        let cells = self.part_sizes[index];
        if cells > MAX_PER_REGION {
            return None;
        }
        let each = cells.checked_mul(period)?;
        let ordered = self.text_regions(index, constants).unwrap_or_default();
        self.classes[index].orders_texts.set(!ordered.is_empty());
        let mut values = representatives(data_type, constants, each, &|value| {
            self.stored(index, value)?.into_iter().next()
        })?;
        values.extend(ordered);
        Some(values)
    }

    /// Whether the representatives of its classes decide a leaf over several of them.
    pub(super) fn is_decided(&self, leaf: usize) -> bool {
        let leaf = &self.state.leaves[leaf];
        let mut classes = leaf.cells.iter().map(|cell| self.class_of[*cell]);
        classes.all(|class| self.is_pinned(class)) || self.is_plain(&leaf.expr)
    }

    /// Whether a class has its only possible value from a comparison with a constant.
    pub(super) fn is_pinned(&self, index: usize) -> bool {
        let Some(data_type) = self.data_type(index) else {
            return false;
        };
        let by_value = match data_type {
            DataType::Integer { .. }
            | DataType::Boolean
            | DataType::Decimal { .. }
            | DataType::Date
            | DataType::Time { .. }
            | DataType::Timestamp { .. } => true,
            DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => {
                self.tells_all_apart(index)
            }
            _ => false,
        };
        by_value
            && self.classes[index].own.iter().any(|leaf| {
                let leaf = &self.state.leaves[*leaf];
                self.pins(leaf, data_type)
            })
    }

    fn pins(&self, leaf: &AtomicCondition, data_type: &DataType) -> bool {
        let (
            TruthRequirement::True,
            Expr::Compare {
                op: CompareOp::Equal,
                left,
                right,
            },
        ) = (leaf.want, &leaf.expr)
        else {
            return false;
        };
        [(left, right), (right, left)].iter().any(|(side, other)| {
            matches!(***side, Expr::Column(_))
                && self
                    .folded(other)
                    .is_some_and(|value| speaks_of(&value, data_type))
        })
    }

    /// Whether texts that differ at all are different to the column's collation.
    fn tells_all_apart(&self, index: usize) -> bool {
        let Some(member) = self.classes[index].members.first() else {
            return false;
        };
        let CellOwner::Column { table, column } = self.state.cells[*member] else {
            return false;
        };
        let definition = &self.state.context.schema.tables[table].columns[column];
        if matches!(definition.data_type, DataType::Char { .. }) {
            return false;
        }
        let expr = Expr::Compare {
            op: CompareOp::Equal,
            left: Box::new(Expr::Column(isobath_sql::expr::ColumnRef {
                slot: 0,
                name: definition.name.clone(),
                data_type: definition.data_type.clone(),
                collation: definition.collation.clone(),
            })),
            right: Box::new(Expr::Literal(Value::text("a"))),
        };
        ["A", "a "].iter().all(|other| {
            let row = [Value::text(*other)];
            let env = eval::Env::queried(&row, &[]);
            eval::truth_in(&expr, env, self.state.context.dialect)
                .is_ok_and(|truth| truth.verdict() == Some(false))
        })
    }

    /// Whether a condition only compares columns with constants and with columns of their own type.
    pub(super) fn is_plain(&self, expr: &Expr) -> bool {
        match expr {
            Expr::And(parts) | Expr::Or(parts) => parts.iter().all(|part| self.is_plain(part)),
            Expr::Not(inner) => self.is_plain(inner),
            Expr::Compare { op, left, right } => {
                let by_equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
                self.is_plain_pair(left, right, by_equality)
            }
            Expr::IsDistinct { left, right, .. } => self.is_plain_pair(left, right, true),
            Expr::InList { expr, list, .. } => {
                list.iter().all(|item| self.is_plain_pair(expr, item, true))
            }
            Expr::Between {
                expr, low, high, ..
            } => self.is_plain_pair(expr, low, false) && self.is_plain_pair(expr, high, false),
            Expr::IsNull { expr, .. } => self.column_like(expr).is_some(),
            Expr::IsTruth { expr, .. } => self.is_plain(expr),
            // Every text is like `%`.
            Expr::Like {
                expr,
                pattern,
                escape: None,
                kind: PatternKind::Like,
                ..
            } => {
                let all = |text: &str| !text.is_empty() && text.chars().all(|c| c == '%');
                matches!(&**expr, Expr::Column(column) if column.data_type.is_text())
                    && matches!(self.folded(pattern), Some(Value::Text(text)) if all(&text))
            }
            Expr::Column(column) => column.data_type == DataType::Boolean,
            Expr::Literal(_) => true,
            _ => false,
        }
    }

    fn is_plain_pair(&self, left: &Expr, right: &Expr, by_equality: bool) -> bool {
        let null = |expr: &Expr| self.folded(expr) == Some(Value::Null);
        if null(left) || null(right) {
            return true;
        }
        let orders_texts = |expr: &Expr| {
            matches!(expr, Expr::Column(column)
                if self.classes[self.class_of[column.slot]].orders_texts.get())
        };
        let by_order = orders_texts(left) || orders_texts(right);
        let fits = |data_type: &DataType| by_equality || by_order || is_ordered(data_type);
        match (self.column_like(left), self.column_like(right)) {
            (Some(a), Some(b)) => fits(a) && is_alike(a, b),
            (Some(data_type), None) => self
                .folded(right)
                .is_some_and(|value| fits(data_type) && speaks_of(&value, data_type)),
            (None, Some(data_type)) => self
                .folded(left)
                .is_some_and(|value| fits(data_type) && speaks_of(&value, data_type)),
            (None, None) => self.folded(left).is_some() && self.folded(right).is_some(),
        }
    }

    /// The type of a column, or of IFNULL of a column and constants, which is the column or one of them.
    fn column_like<'e>(&self, expr: &'e Expr) -> Option<&'e DataType> {
        match expr {
            Expr::Column(column) => Some(&column.data_type),
            Expr::Function { name, args } if matches!(name.as_str(), "ifnull" | "coalesce") => {
                let (Expr::Column(column), rest) = args.split_first()? else {
                    return None;
                };
                rest.iter()
                    .all(|expr| {
                        self.folded(expr)
                            .is_some_and(|value| speaks_of(&value, &column.data_type))
                    })
                    .then_some(&column.data_type)
            }
            _ => None,
        }
    }

    /// The value of an expression without columns and parameters.
    pub(super) fn folded(&self, expr: &Expr) -> Option<Value> {
        fold(self.state, expr)
    }
}

/// The value of an expression without columns and parameters.
pub(super) fn fold(state: &ConstructionState<'_>, expr: &Expr) -> Option<Value> {
    if let Expr::Literal(value) = expr {
        return Some(value.clone());
    }
    let mut constant = true;
    expr.walk(&mut |part| {
        constant &= !matches!(
            part,
            Expr::Column(_) | Expr::Parameter(_) | Expr::Subquery(_) | Expr::Opaque { .. }
        );
    });
    if !constant {
        return None;
    }
    let mut env = eval::Env::queried(&[], &[]);
    env.now = Some(state.context.now);
    eval::value_in(expr, env, state.context.dialect).ok()
}

/// Whether comparing a column of a type with a constant compares them as values of that type.
fn speaks_of(value: &Value, data_type: &DataType) -> bool {
    match data_type {
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => {
            matches!(value, Value::Text(_) | Value::Null)
        }
        DataType::Enum { .. } => matches!(value, Value::Text(_) | Value::Null),
        _ => true,
    }
}

/// Whether values of two types compare as values of one.
fn is_alike(a: &DataType, b: &DataType) -> bool {
    let whole = |of: &DataType| matches!(of, DataType::Integer { .. });
    a == b || (a.is_text() && b.is_text()) || (whole(a) && whole(b))
}

fn is_ordered(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Integer { .. }
            | DataType::Boolean
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Date
            | DataType::Time { .. }
            | DataType::Timestamp { .. }
    )
}

fn representatives(
    data_type: &DataType,
    constants: &[Value],
    each: usize,
    stored: &dyn Fn(&Value) -> Option<Value>,
) -> Option<Vec<Value>> {
    let known = constants.iter().filter(|value| !value.is_null());
    match data_type {
        DataType::Boolean => {
            for value in known {
                stored(value)?;
            }
            Some(vec![Value::Bool(false), Value::Bool(true)])
        }
        DataType::Integer { .. } => {
            let numbers: Option<Vec<Decimal>> = known.map(number).collect();
            let values = by_steps(numbers?, Decimal::ONE, each);
            let whole = values.into_iter().filter_map(|value| value.to_i128());
            Some(whole.map(Value::Int).collect())
        }
        DataType::Decimal { scale, .. } => {
            let numbers: Option<Vec<Decimal>> = known.map(number).collect();
            let numbers = numbers?;
            // Without a scale there is always room between two numbers, which must be wide enough for our steps.
            let too_close = |of: &Decimal| of.normalize().scale() > MAX_FREE_SCALE;
            if scale.is_none() && numbers.iter().any(too_close) {
                return None;
            }
            let step = Decimal::new(1, scale.unwrap_or(9).min(20));
            let values = by_steps(numbers, step, each);
            Some(values.into_iter().map(Value::Decimal).collect())
        }
        DataType::Float { .. } => {
            let numbers: Option<Vec<Decimal>> = known.map(number).collect();
            let mut numbers: Vec<f64> = numbers?.iter().filter_map(ToPrimitive::to_f64).collect();
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            float_regions(&numbers, each, stored)
        }
        DataType::Date | DataType::Time { .. } | DataType::Timestamp { .. } => {
            let mut moments = Vec::new();
            for value in known {
                let moment = stored(value)?;
                if is_near_end_of_time(&moment) {
                    return None;
                }
                add(&mut moments, moment);
            }
            Some(moment_regions(&moments, data_type, each))
        }
        DataType::Enum { labels, .. } => Some(
            labels
                .iter()
                .map(|label| Value::text(label.as_str()))
                .collect(),
        ),
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => {
            let mut values: Vec<Value> = known.cloned().collect();
            values.push(Value::text(""));
            let folded = |value: &Value| value.to_string().trim().to_lowercase();
            let taken: Vec<String> = values.iter().map(folded).collect();
            let mut others: Vec<Value> = Vec::new();
            for number in 0..each + 2 {
                // Words that hardly any query has for constants.
                for fresh in [
                    fresh(data_type, 26 * 26 * 17 + 7 * number),
                    fresh(data_type, 17 + number),
                ] {
                    if !taken.contains(&folded(&fresh)) {
                        add(&mut others, fresh);
                    }
                }
            }
            values.append(&mut others.clone());
            (others.len() >= each).then_some(values)
        }
        _ => None,
    }
}

pub(super) fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Int(number) => Decimal::from_i128(*number),
        Value::Decimal(number) => Some(*number),
        Value::Float(number) => Decimal::from_f64(*number),
        Value::Bool(value) => Some(Decimal::from(u8::from(*value))),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// The multiples of a step at numbers, and a few of those between, below and above.
fn by_steps(numbers: Vec<Decimal>, step: Decimal, each: usize) -> Vec<Decimal> {
    let mut at: Vec<Decimal> = Vec::new();
    for number in numbers {
        let Some(steps) = number.checked_div(step) else {
            continue;
        };
        at.extend([steps.floor(), steps.ceil()]);
    }
    if at.is_empty() {
        at.push(Decimal::ZERO);
    }
    at.sort_unstable();
    at.dedup();
    let mut values = Vec::new();
    for (index, value) in at.iter().enumerate() {
        values.push(*value);
        for further in 1..=each {
            let further = Decimal::from(further);
            let next = *value + further;
            if at.get(index + 1).is_none_or(|end| next < *end) {
                values.push(next);
            }
            if index == 0 {
                values.push(*value - further);
            }
        }
    }
    values
        .iter()
        .map(|value| (*value * step).normalize())
        .collect()
}

fn float_regions(
    numbers: &[f64],
    each: usize,
    stored: &dyn Fn(&Value) -> Option<Value>,
) -> Option<Vec<Value>> {
    let mut values: Vec<f64> = numbers.to_vec();
    let (first, last) = match (numbers.first(), numbers.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => (0.0, 0.0),
    };
    for further in 0..=each {
        values.extend([first - 1.0 - further as f64, last + 1.0 + further as f64]);
    }
    for pair in numbers.windows(2) {
        for part in 1..=each {
            let between = pair[0] + (pair[1] - pair[0]) * (part as f64) / (each as f64 + 1.0);
            let inside = stored(&Value::Float(between));
            // Neighbours may leave no room between them, which we do not reason about.
            match inside {
                Some(Value::Float(value)) if pair[0] < value && value < pair[1] => {
                    values.push(value);
                }
                _ => return None,
            }
        }
    }
    Some(values.into_iter().map(Value::Float).collect())
}

/// Moments at constants, and a few between, below and above, as finely as the type goes.
fn moment_regions(moments: &[Value], data_type: &DataType, each: usize) -> Vec<Value> {
    let mut values = Vec::new();
    for moment in moments {
        add(&mut values, moment.clone());
        for step in 1..=each + 1 {
            let step = i64::try_from(step).unwrap_or(1);
            for step in [step, -step] {
                if let Some(other) = moved(moment, data_type, step) {
                    add(&mut values, other);
                }
            }
        }
    }
    for number in 0..=each {
        add(&mut values, fresh(data_type, number + 1));
    }
    values
}

/// Whether engines know later or earlier moments that we cannot calculate with.
fn is_near_end_of_time(moment: &Value) -> bool {
    let far = |year: i16| !(-4_000..9_990).contains(&year);
    match moment {
        Value::Date(date) => far(date.year()),
        Value::DateTime(at) => far(at.year()),
        Value::Instant(at) => far(at.to_zoned(jiff::tz::TimeZone::UTC).year()),
        Value::Text(text) => text
            .get(..10)
            .and_then(|date| date.parse::<jiff::civil::Date>().ok())
            .is_none_or(|date| far(date.year())),
        _ => false,
    }
}

fn moved(moment: &Value, data_type: &DataType, steps: i64) -> Option<Value> {
    let precision = match data_type {
        DataType::Time { precision, .. } | DataType::Timestamp { precision, .. } => {
            u32::from(*precision).min(9)
        }
        _ => 0,
    };
    let unit = SignedDuration::from_nanos(10i64.pow(9 - precision).checked_mul(steps)?);
    match moment {
        Value::Date(date) => date
            .checked_add(Span::new().days(steps))
            .ok()
            .map(Value::Date),
        Value::DateTime(at) => at.checked_add(unit).ok().map(Value::DateTime),
        Value::Time(at) => at.checked_add(unit).ok().map(Value::Time),
        Value::Instant(at) => at.checked_add(unit).ok().map(Value::Instant),
        // SQLite keeps moments as text, whose order is that of the moments.
        Value::Text(text) => {
            let date: jiff::civil::Date = text.parse().ok()?;
            let moved = date.checked_add(Span::new().days(steps)).ok()?;
            Some(Value::Text(moved.to_string()))
        }
        _ => None,
    }
}
