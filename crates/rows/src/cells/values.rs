//! Sampling of random values, and constants mined from the schema.

use isobath_sql::expr::Expr;
use isobath_sql::value::Interval;
use isobath_sql::{Column, ConstraintKind, DataType, Schema, Value};
use jiff::civil::{Date, DateTime, Time};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

/// Numbers are drawn between minus this and this.
const GREATEST: i128 = 1000;
/// Strings have at most this many letters.
const LONGEST: usize = 9;

/// What random values are drawn from.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValuePool {
    numbers: Vec<Decimal>,
    texts: Vec<String>,
    dates: Vec<Date>,
    date_times: Vec<DateTime>,
}

impl ValuePool {
    /// Mines the constants of all CHECKs of a schema, one pool per kind for the whole schema.
    pub(crate) fn mine(schema: &Schema) -> Self {
        let mut profile = Self::default();
        for table in &schema.tables {
            for constraint in &table.constraints {
                if let ConstraintKind::Check { expr } = &constraint.kind {
                    expr.walk(&mut |inner| {
                        if let Expr::Literal(value) = inner {
                            profile.add(value);
                        }
                    });
                }
            }
        }
        profile
    }

    /// Adds a constant to draw from.
    pub(crate) fn add(&mut self, value: &Value) {
        match value {
            Value::Int(number) => {
                if let Ok(number) = i64::try_from(*number) {
                    add_once(&mut self.numbers, Decimal::from(number));
                }
            }
            Value::Decimal(number) => add_once(&mut self.numbers, *number),
            Value::Float(number) => {
                if let Ok(number) = Decimal::try_from(*number) {
                    add_once(&mut self.numbers, number);
                }
            }
            Value::Text(text) => {
                if let Ok(date) = text.parse::<Date>() {
                    add_once(&mut self.dates, date);
                }
                if let Ok(date_time) = text.replace(' ', "T").parse::<DateTime>() {
                    add_once(&mut self.date_times, date_time);
                }
                add_once(&mut self.texts, text.clone());
            }
            Value::Date(date) => add_once(&mut self.dates, *date),
            Value::DateTime(date_time) => add_once(&mut self.date_times, *date_time),
            _ => {}
        }
    }

    /// A value or NULL: one time in ten NULL, else one time in four a mined constant.
    pub(crate) fn draw(&self, column: &Column, rng: &mut fastrand::Rng) -> Value {
        if rng.f64() < 0.1 {
            return Value::Null;
        }
        self.draw_value(&column.data_type, rng)
    }

    /// As [`ValuePool::draw`], never NULL.
    pub(crate) fn draw_value(&self, data_type: &DataType, rng: &mut fastrand::Rng) -> Value {
        if rng.f64() < 0.25
            && let Some(constant) = self.constant(data_type, rng)
        {
            return constant;
        }
        random(data_type, rng)
    }

    fn constant(&self, data_type: &DataType, rng: &mut fastrand::Rng) -> Option<Value> {
        match data_type {
            DataType::Integer { .. }
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Year => pick(&self.numbers, rng).map(|number| numeric(data_type, *number)),
            DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => {
                pick(&self.texts, rng).map(|text| Value::Text(cut(text, data_type)))
            }
            DataType::Date => pick(&self.dates, rng).map(|date| Value::Date(*date)),
            DataType::Timestamp { zoned: false, .. } => {
                pick(&self.date_times, rng).map(|date_time| Value::DateTime(*date_time))
            }
            _ => None,
        }
    }
}

fn add_once<T: PartialEq>(pool: &mut Vec<T>, value: T) {
    if !pool.contains(&value) {
        pool.push(value);
    }
}

fn pick<'a, T>(pool: &'a [T], rng: &mut fastrand::Rng) -> Option<&'a T> {
    (!pool.is_empty()).then(|| &pool[rng.usize(..pool.len())])
}

/// The value that default-value search starts from.
pub(crate) fn default(data_type: &DataType) -> Value {
    match data_type {
        DataType::Boolean => Value::Bool(false),
        DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } => {
            numeric(data_type, Decimal::ZERO)
        }
        DataType::Year => Value::Int(2000),
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => {
            Value::Text(String::new())
        }
        DataType::Bytes { .. } => Value::Bytes(Vec::new()),
        DataType::Date => Value::Date(jiff::civil::date(2000, 1, 1)),
        DataType::Time { .. } => Value::Time(Time::midnight()),
        DataType::Timestamp { zoned: false, .. } => {
            Value::DateTime(jiff::civil::date(2000, 1, 1).at(0, 0, 0, 0))
        }
        DataType::Timestamp { zoned: true, .. } => instant(946_684_800),
        DataType::Interval => Value::Interval(Interval::default()),
        DataType::Uuid => Value::Uuid([0; 16]),
        DataType::Json { .. } => Value::Json("{}".to_owned()),
        DataType::Enum { labels, .. } => Value::Text(labels.first().cloned().unwrap_or_default()),
        DataType::Other(name) => carried(name, 0),
    }
}

fn random(data_type: &DataType, rng: &mut fastrand::Rng) -> Value {
    match data_type {
        DataType::Boolean => Value::Bool(rng.bool()),
        DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } => {
            let number = rng.i64(-(GREATEST as i64)..=GREATEST as i64);
            numeric(data_type, Decimal::from(number))
        }
        DataType::Year => Value::Int(rng.i64(1990..=2020).into()),
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text => {
            let length = rng.usize(0..=LONGEST);
            Value::Text(cut(&word(length, rng), data_type))
        }
        DataType::Other(name) => carried(name, rng.u32(..1000)),
        DataType::Bytes { length, .. } => {
            let longest = length.map_or(LONGEST, |length| LONGEST.min(length as usize));
            Value::Bytes((0..rng.usize(0..=longest)).map(|_| rng.u8(..)).collect())
        }
        DataType::Date => Value::Date(random_date(rng)),
        DataType::Time { .. } => Value::Time(random_time(rng)),
        DataType::Timestamp { zoned: false, .. } => {
            Value::DateTime(DateTime::from_parts(random_date(rng), random_time(rng)))
        }
        DataType::Timestamp { zoned: true, .. } => instant(rng.i64(631_152_000..1_577_836_800)),
        DataType::Interval => Value::Interval(Interval {
            months: 0,
            days: rng.i32(0..=1000),
            micros: 0,
        }),
        DataType::Uuid => Value::Uuid(rng.u128(..).to_be_bytes()),
        DataType::Json { .. } => Value::Json(format!("{{\"n\": {}}}", rng.i64(-1000..=1000))),
        DataType::Enum { labels, .. } => {
            Value::Text(pick(labels, rng).cloned().unwrap_or_default())
        }
    }
}

fn word(length: usize, rng: &mut fastrand::Rng) -> String {
    (0..length)
        .map(|_| char::from(rng.u8(b'a'..=b'z')))
        .collect()
}

/// A value of a type that we carry as text, where we know any.
fn carried(name: &str, index: u32) -> Value {
    isobath_sql::opaque_literals::literal(name, index).map_or(Value::Null, Value::Text)
}

/// The days of the profile are 1 to 28, so that every month has them.
fn random_date(rng: &mut fastrand::Rng) -> Date {
    jiff::civil::date(rng.i16(1990..=2020), rng.i8(1..=12), rng.i8(1..=28))
}

fn random_time(rng: &mut fastrand::Rng) -> Time {
    jiff::civil::time(rng.i8(0..24), rng.i8(0..60), rng.i8(0..60), 0)
}

fn instant(second: i64) -> Value {
    jiff::Timestamp::from_second(second).map_or(Value::Null, Value::Instant)
}

/// A number as a value of the type, clamped to its range.
pub(crate) fn numeric(data_type: &DataType, number: Decimal) -> Value {
    match data_type {
        DataType::Float { .. } => Value::Float(number.to_f64().unwrap_or(0.0)),
        DataType::Decimal { precision, scale } => {
            let whole_digits = precision.map(|p| p.saturating_sub(scale.unwrap_or(0)));
            let number = number.round_dp(scale.unwrap_or(28).min(28));
            Value::Decimal(match whole_digits {
                Some(digits) if digits < 18 => {
                    let limit = Decimal::from(10i64.pow(digits) - 1);
                    number.clamp(-limit, limit)
                }
                _ => number,
            })
        }
        data_type => {
            let whole = number.trunc().to_i128().unwrap_or(0);
            Value::Int(match data_type.integer_range() {
                Some(range) => whole.clamp(*range.start(), *range.end()),
                None => whole,
            })
        }
    }
}

/// The text cut to what the type holds.
pub(crate) fn cut(text: &str, data_type: &DataType) -> String {
    match data_type.max_chars() {
        Some(length) => text.chars().take(length as usize).collect(),
        None => text.to_owned(),
    }
}
