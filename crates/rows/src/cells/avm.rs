//! Moves of the alternating variable method (AVM), by type of value.

use isobath_sql::{DataType, Value};
use jiff::civil::{Date, DateTime, Time};
use rust_decimal::Decimal;

use super::values::{ValuePool, cut, numeric};

/// Characters that search may use.
const CHARACTERS: std::ops::RangeInclusive<i128> = 32..=126;

/// A search that changes one cell at a time and keeps what is better.
///
/// Implementors: the schema job's AVM and the query job's local search.
pub(crate) trait AvmTarget<'s> {
    /// Names a cell.
    type At: Copy;

    /// The type of a cell.
    fn data_type(&self, at: Self::At) -> &'s DataType;

    /// The value of a cell.
    fn value_at(&self, at: Self::At) -> &Value;

    /// Keeps a value if it is better than what was there; whether it is.
    fn try_value(&mut self, at: Self::At, value: Value) -> bool;
}

/// Searches the value of one cell; whether anything improved.
pub(crate) fn search<'s, A: AvmTarget<'s>>(
    climb: &mut A,
    at: A::At,
    profile: &ValuePool,
    rng: &mut fastrand::Rng,
) -> bool {
    let data_type = climb.data_type(at);
    match climb.value_at(at).clone() {
        Value::Null => false,
        Value::Bool(value) => climb.try_value(at, Value::Bool(!value)),
        Value::Int(_) => steps(climb, at, |value, by| match value {
            Value::Int(number) => Some(Value::Int(match data_type.integer_range() {
                Some(range) => (number + by).clamp(*range.start(), *range.end()),
                None => number + by,
            })),
            _ => None,
        }),
        Value::Decimal(_) => steps(climb, at, |value, by| match value {
            Value::Decimal(number) => {
                let unit = Decimal::try_from_i128_with_scale(by, number.scale()).ok()?;
                Some(numeric(data_type, number.checked_add(unit)?))
            }
            _ => None,
        }),
        Value::Float(_) => steps(climb, at, |value, by| match value {
            Value::Float(number) => Some(Value::Float(number + by as f64)),
            _ => None,
        }),
        Value::Text(text) => match data_type {
            DataType::Enum { labels, .. } => labels
                .iter()
                .any(|label| climb.try_value(at, Value::text(label))),
            // Of types that we carry as text we know whole values only.
            DataType::Other(_) => {
                let value = profile.draw_value(data_type, rng);
                climb.try_value(at, value)
            }
            _ => search_text(climb, at, text, data_type),
        },
        Value::Date(_) => any_helps(0..3, |part| {
            steps(climb, at, |value, by| match value {
                Value::Date(date) => move_date(*date, part, by).map(Value::Date),
                _ => None,
            })
        }),
        Value::Time(_) => any_helps(0..3, |part| {
            steps(climb, at, |value, by| match value {
                Value::Time(time) => move_time(*time, part, by).map(Value::Time),
                _ => None,
            })
        }),
        Value::DateTime(_) => any_helps(0..6, |part| {
            steps(climb, at, |value, by| match value {
                Value::DateTime(moment) => move_date_time(*moment, part, by).map(Value::DateTime),
                _ => None,
            })
        }),
        Value::Instant(_) => any_helps([86_400i128, 3_600, 1], |unit| {
            steps(climb, at, |value, by| match value {
                Value::Instant(instant) => {
                    let second = i128::from(instant.as_second()) + by.checked_mul(unit)?;
                    let second = i64::try_from(second).ok()?;
                    jiff::Timestamp::from_second(second)
                        .ok()
                        .map(Value::Instant)
                }
                _ => None,
            })
        }),
        // Nothing is near to anything in these; another draw is the only move.
        Value::Bytes(_) | Value::Interval(_) | Value::Uuid(_) | Value::Json(_) => {
            let value = profile.draw_value(data_type, rng);
            climb.try_value(at, value)
        }
    }
}

/// Searches every part of a value, also after one of them helped.
fn any_helps<T>(parts: impl IntoIterator<Item = T>, mut search: impl FnMut(T) -> bool) -> bool {
    let mut improved = false;
    for part in parts {
        improved |= search(part);
    }
    improved
}

/// One unit down or up, then ever doubled steps while they help, until neither direction helps.
fn steps<'s, A: AvmTarget<'s>>(
    climb: &mut A,
    at: A::At,
    moved: impl Fn(&Value, i128) -> Option<Value>,
) -> bool {
    let mut improved = false;
    loop {
        let mut helped = false;
        for direction in [-1i128, 1] {
            let mut step = direction;
            while let Some(value) = moved(climb.value_at(at), step) {
                if !climb.try_value(at, value) {
                    break;
                }
                helped = true;
                let Some(doubled) = step.checked_mul(2).filter(|step| step.abs() < 1 << 62) else {
                    break;
                };
                step = doubled;
            }
        }
        if !helped {
            return improved;
        }
        improved = true;
    }
}

/// Shorter while it helps, longer while it helps, then character by character.
fn search_text<'s, A: AvmTarget<'s>>(
    climb: &mut A,
    at: A::At,
    text: String,
    data_type: &DataType,
) -> bool {
    let mut improved = false;
    let mut text = text;
    while !text.is_empty() {
        let mut shorter = text.clone();
        shorter.pop();
        if !climb.try_value(at, Value::Text(shorter.clone())) {
            break;
        }
        text = shorter;
        improved = true;
    }
    loop {
        let longer = cut(&format!("{text}a"), data_type);
        if longer == text || !climb.try_value(at, Value::Text(longer.clone())) {
            break;
        }
        text = longer;
        improved = true;
    }
    for position in 0..text.chars().count() {
        improved |= steps(climb, at, |value, by| match value {
            Value::Text(text) => move_character(text, position, by).map(Value::Text),
            _ => None,
        });
    }
    improved
}

fn move_character(text: &str, position: usize, by: i128) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    let code = i128::from(*characters.get(position)? as u32);
    let code = (code + by).clamp(*CHARACTERS.start(), *CHARACTERS.end());
    characters[position] = u8::try_from(code).ok().map(char::from)?;
    Some(characters.into_iter().collect())
}

fn move_date(date: Date, part: usize, by: i128) -> Option<Date> {
    let by = i64::try_from(by).ok()?;
    let clamp = |value: i64, low: i64, high: i64| (value + by).clamp(low, high);
    let (year, month, day) = (
        i64::from(date.year()),
        i64::from(date.month()),
        i64::from(date.day()),
    );
    let (year, month, day) = match part {
        0 => (clamp(year, 1, 9999), month, day),
        1 => (year, clamp(month, 1, 12), day),
        _ => (year, month, clamp(day, 1, 31)),
    };
    // A day past the end of its month becomes the last one.
    let first = Date::new(year.try_into().ok()?, month.try_into().ok()?, 1).ok()?;
    let last = i64::from(first.days_in_month());
    Date::new(first.year(), first.month(), day.min(last).try_into().ok()?).ok()
}

fn move_time(time: Time, part: usize, by: i128) -> Option<Time> {
    let by = i64::try_from(by).ok()?;
    let moved = |value: i8, high: i64| i8::try_from((i64::from(value) + by).clamp(0, high)).ok();
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    match part {
        0 => Time::new(moved(hour, 23)?, minute, second, 0).ok(),
        1 => Time::new(hour, moved(minute, 59)?, second, 0).ok(),
        _ => Time::new(hour, minute, moved(second, 59)?, 0).ok(),
    }
}

fn move_date_time(moment: DateTime, part: usize, by: i128) -> Option<DateTime> {
    Some(if part < 3 {
        DateTime::from_parts(move_date(moment.date(), part, by)?, moment.time())
    } else {
        DateTime::from_parts(moment.date(), move_time(moment.time(), part - 3, by)?)
    })
}
