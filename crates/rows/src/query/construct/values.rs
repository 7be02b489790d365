//! Trial values: fresh values by type, neighbors of constants, and values that conditions suggest.

use isobath_sql::{DataType, Expr, Value, opaque_literals};
use jiff::civil::{DateTime, Time, date};
use jiff::{SignedDuration, Span};
use rust_decimal::Decimal;

/// A readable value of a type; different numbers give different values where the type has enough.
pub(crate) fn fresh(data_type: &DataType, number: usize) -> Value {
    let int = i128::try_from(number).unwrap_or(1);
    match data_type {
        DataType::Boolean => Value::Bool(number % 2 == 1),
        DataType::Integer { .. } => match data_type.integer_range() {
            Some(range) if !range.contains(&int) => Value::Int(int % range.end().max(&1)),
            _ => Value::Int(int),
        },
        DataType::Year => Value::Int(2000 + int % 100),
        DataType::Decimal { precision, scale } => {
            let digits = precision.unwrap_or(9).saturating_sub(scale.unwrap_or(0));
            let limit = 10i64.checked_pow(digits.min(9)).unwrap_or(i64::MAX);
            Value::Decimal(Decimal::from(
                i64::try_from(int).unwrap_or(1) % limit.max(1),
            ))
        }
        DataType::Float { .. } => Value::Float(number as f64),
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => {
            Value::Text(word(number))
        }
        DataType::Other(name) => {
            // Types that we do not understand have a few literals that we know.
            let known = u32::try_from(number).ok().and_then(|number| {
                opaque_literals::literal(name, number).or_else(|| opaque_literals::literal(name, 0))
            });
            Value::Text(known.unwrap_or_else(|| word(number)))
        }
        DataType::Bytes { .. } => Value::Bytes(word(number).into_bytes()),
        DataType::Date => Value::Date(day(number).date()),
        DataType::Time { .. } => {
            let minute = i8::try_from(number % 60).unwrap_or(0);
            Value::Time(Time::constant(9, 0, 0, 0).saturating_add(Span::new().minutes(minute)))
        }
        DataType::Timestamp { zoned: false, .. } => Value::DateTime(day(number)),
        DataType::Timestamp { zoned: true, .. } => day(number)
            .to_zoned(jiff::tz::TimeZone::UTC)
            .map_or(Value::Null, |zoned| Value::Instant(zoned.timestamp())),
        DataType::Interval => Value::Interval(isobath_sql::value::Interval {
            days: i32::try_from(number).unwrap_or(1),
            ..Default::default()
        }),
        DataType::Uuid => Value::Uuid((number as u128).to_be_bytes()),
        DataType::Json { .. } => Value::Json(number.to_string()),
        DataType::Enum { labels, .. } => match labels.get(number % labels.len().max(1)) {
            Some(label) => Value::Text(label.clone()),
            None => Value::Null,
        },
    }
}

/// `a`, `b`, …, `z`, `ba`, …
fn word(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'a' + u8::try_from(number % 26).unwrap_or(0));
        number /= 26;
        if number == 0 {
            break;
        }
    }
    letters.reverse();
    letters.into_iter().map(char::from).collect()
}

fn day(number: usize) -> DateTime {
    let days = i64::try_from(number % 3000).unwrap_or(0);
    date(2024, 1, 1)
        .at(9, 0, 0, 0)
        .saturating_add(Span::new().days(days))
}

/// The values just below and just above, as finely as the type goes, and one step away.
pub(crate) fn neighbors(value: &Value, data_type: Option<&DataType>) -> Vec<Value> {
    match value {
        Value::Int(number) => vec![Value::Int(number - 1), Value::Int(number + 1)],
        Value::Bool(value) => vec![Value::Bool(!value)],
        Value::Decimal(number) => {
            let scale = match data_type {
                Some(DataType::Decimal { scale, .. }) => scale.unwrap_or(0),
                _ => number.scale(),
            };
            let mut steps = vec![Decimal::ONE];
            if scale > 0 {
                steps.push(Decimal::new(1, scale.min(20)));
            }
            let both = steps.into_iter().flat_map(|step| [-step, step]);
            both.filter_map(|step| number.checked_add(step).map(Value::Decimal))
                .collect()
        }
        Value::Float(number) => [-1.0, 1.0, -0.5, 0.5]
            .into_iter()
            .map(|step| Value::Float(number + step))
            .collect(),
        Value::Date(date) => [-1, 1]
            .into_iter()
            .filter_map(|step| date.checked_add(Span::new().days(step)).ok())
            .map(Value::Date)
            .collect(),
        Value::DateTime(at) => moments(data_type)
            .into_iter()
            .filter_map(|step| at.checked_add(step).ok())
            .map(Value::DateTime)
            .collect(),
        Value::Time(at) => moments(data_type)
            .into_iter()
            .filter_map(|step| at.checked_add(step).ok())
            .map(Value::Time)
            .collect(),
        Value::Instant(at) => moments(data_type)
            .into_iter()
            .filter_map(|step| at.checked_add(step).ok())
            .map(Value::Instant)
            .collect(),
        Value::Text(text) => {
            let mut near = vec![Value::Text(format!("{text}a"))];
            let mut shorter = text.clone();
            if let Some(last) = shorter.pop() {
                near.push(Value::Text(shorter.clone()));
                for step in [-1i32, 1] {
                    let code = (last as u32).saturating_add_signed(step);
                    if let Some(other) = char::from_u32(code).filter(|c| matches!(c, ' '..='~')) {
                        near.push(Value::Text(format!("{shorter}{other}")));
                    }
                }
            }
            near
        }
        Value::Uuid(bytes) => {
            let number = u128::from_be_bytes(*bytes);
            vec![Value::Uuid(number.wrapping_add(1).to_be_bytes())]
        }
        Value::Null | Value::Bytes(_) | Value::Interval(_) | Value::Json(_) => Vec::new(),
    }
}

fn moments(data_type: Option<&DataType>) -> Vec<SignedDuration> {
    let precision = match data_type {
        Some(DataType::Time { precision, .. } | DataType::Timestamp { precision, .. }) => {
            *precision
        }
        _ => 0,
    };
    let mut steps = vec![SignedDuration::from_secs(-1), SignedDuration::from_secs(1)];
    if precision > 0 {
        let nanos = 10i64.pow(9 - u32::from(precision.min(6)));
        steps.push(SignedDuration::from_nanos(-nanos));
        steps.push(SignedDuration::from_nanos(nanos));
    }
    steps
}

/// Adds the constants of an expression, and what its patterns and functions suggest; `fold` gives
/// the value of an expression without columns.
pub(super) fn suggest(expr: &Expr, fold: &dyn Fn(&Expr) -> Option<Value>, found: &mut Vec<Value>) {
    let mut constants = Vec::new();
    gather(expr, fold, &mut constants);
    // What a pattern stands for reads better than the pattern, which also matches itself.
    expr.walk(&mut |part| {
        if let Expr::Like { pattern, .. } = part
            && let Expr::Literal(Value::Text(pattern)) = &**pattern
        {
            let plain: String = pattern
                .chars()
                .filter(|c| *c != '%' && *c != '\\')
                .map(|c| if c == '_' { 'a' } else { c })
                .collect();
            add(found, Value::Text(plain));
        }
    });
    for constant in &constants {
        add(found, constant.clone());
    }
    let mut has_length = false;
    expr.walk(&mut |part| match part {
        Expr::Function { name, .. } if name == "reverse" => {
            for constant in &constants {
                if let Value::Text(text) = constant {
                    add(found, Value::Text(text.chars().rev().collect()));
                }
            }
        }
        Expr::Function { name, .. } => has_length |= name.contains("length") || name == "len",
        _ => {}
    });
    if has_length {
        for constant in &constants {
            let Value::Int(length @ 0..=200) = constant else {
                continue;
            };
            let length = usize::try_from(*length).unwrap_or(0);
            for length in length.saturating_sub(1)..=length + 1 {
                add(found, Value::Text("a".repeat(length)));
            }
        }
    }
}

/// The moments ten days after and before.
fn days_off(value: &Value) -> Vec<Value> {
    let days = |days: i64| Span::new().days(days);
    let moved = |by: i64| match value {
        Value::Date(date) => date.checked_add(days(by)).ok().map(Value::Date),
        Value::DateTime(at) => at.checked_add(days(by)).ok().map(Value::DateTime),
        Value::Instant(at) => {
            let by = SignedDuration::from_hours(24 * by);
            at.checked_add(by).ok().map(Value::Instant)
        }
        Value::Text(text) => {
            let at: DateTime = text.replace(' ', "T").parse().ok()?;
            let at = at.checked_add(days(by)).ok()?;
            Some(Value::Text(at.strftime("%Y-%m-%d %H:%M:%S").to_string()))
        }
        _ => None,
    };
    [10, -10].into_iter().filter_map(moved).collect()
}

fn gather(expr: &Expr, fold: &dyn Fn(&Expr) -> Option<Value>, constants: &mut Vec<Value>) {
    match fold(expr) {
        Some(Value::Null) => {}
        Some(value) => {
            // What is calculated may depend on the clock, which continues until an engine is asked.
            if !matches!(expr, Expr::Literal(_)) {
                days_off(&value)
                    .into_iter()
                    .for_each(|other| add(constants, other));
            }
            add(constants, value);
        }
        None => expr
            .children()
            .into_iter()
            .for_each(|child| gather(child, fold, constants)),
    }
}

/// Texts of wanted lengths that begin or end like other texts.
pub(super) fn padded(found: &mut Vec<Value>) {
    let texts: Vec<String> = found
        .iter()
        .filter_map(|value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        })
        .collect();
    let lengths: Vec<usize> = texts
        .iter()
        .filter(|text| !text.is_empty() && text.chars().all(|c| c == 'a'))
        .map(String::len)
        .collect();
    for text in &texts {
        for length in &lengths {
            let missing = length.saturating_sub(text.chars().count());
            if missing > 0 && found.len() < 200 {
                let pad = "a".repeat(missing);
                add(found, Value::Text(format!("{text}{pad}")));
                add(found, Value::Text(format!("{pad}{text}")));
            }
        }
    }
}

pub(super) fn add(found: &mut Vec<Value>, value: Value) {
    if !found.contains(&value) {
        found.push(value);
    }
}
