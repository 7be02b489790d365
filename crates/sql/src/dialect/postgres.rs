//! PostgreSQL.

use super::{Dialect, DialectName, StoreError, assign, json};
use crate::eval::number::{self, Number};
use crate::eval::parse::{self, TextError};
use crate::eval::{convert, format, temporal};
use crate::opaque_literals;
use crate::schema::Column;
use crate::types::DataType;
use crate::value::Value;

/// PostgreSQL.
#[derive(Clone, Copy, Debug)]
pub struct Postgres;

impl Dialect for Postgres {
    fn name(&self) -> DialectName {
        DialectName::Postgres
    }

    fn store(&self, value: &Value, column: &Column, _strict: bool) -> Result<Value, StoreError> {
        postgres_assign(value, &column.data_type, false)
    }
}

/// Converts a value for a type, as an assignment or, with `explicit`, as a cast does.
pub(crate) fn postgres_assign(
    value: &Value,
    data_type: &DataType,
    explicit: bool,
) -> Result<Value, StoreError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let unknown = || StoreError::Unknown(data_type.clone());
    let wrong = Err(StoreError::WrongType);
    let read = |bad: TextError| match bad {
        TextError::Invalid => StoreError::WrongType,
        TextError::Range => StoreError::OutOfRange,
        TextError::Unsure => StoreError::Unknown(data_type.clone()),
    };
    match data_type {
        DataType::Boolean => match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::Text(text) => parse::boolean(text).map(Value::Bool).map_err(read),
            Value::Int(int) if explicit => Ok(Value::Bool(*int != 0)),
            _ => wrong,
        },
        DataType::Integer { .. } => {
            let int = match value {
                Value::Int(int) => *int,
                Value::Text(text) => parse::int(text).map_err(read)?,
                Value::Decimal(decimal) => number::round_to_int(*decimal).ok_or_else(unknown)?,
                Value::Float(float) if float.abs() < 1e30 => float.round_ties_even() as i128,
                Value::Float(_) => return Err(StoreError::OutOfRange),
                Value::Bool(bool) if explicit && *data_type == DataType::INT => (*bool).into(),
                _ => return wrong,
            };
            match data_type.integer_range() {
                Some(range) if !range.contains(&int) => Err(StoreError::OutOfRange),
                _ => Ok(Value::Int(int)),
            }
        }
        DataType::Decimal { precision, scale } => {
            let decimal = match value {
                Value::Text(text) => parse::exact_number(text).map_err(read)?,
                Value::Bool(_) => return wrong,
                other => match Number::of(other) {
                    Some(number) => assign::exact(number).ok_or_else(unknown)?,
                    None => return wrong,
                },
            };
            match precision {
                Some(precision) => {
                    assign::scaled(decimal, *precision, scale.unwrap_or(0)).map(Value::Decimal)
                }
                None => Ok(Value::Decimal(decimal)),
            }
        }
        DataType::Float { bits } => {
            let float = match value {
                Value::Text(text) => parse::float(text).map_err(read)?,
                Value::Bool(_) => return wrong,
                other => match Number::of(other) {
                    Some(number) => number.to_f64(),
                    None => return wrong,
                },
            };
            if *bits == 32 {
                let short = float as f32;
                if short.is_infinite() || (short == 0.0 && float != 0.0) {
                    return Err(StoreError::OutOfRange);
                }
                return Ok(Value::Float(f64::from(short)));
            }
            Ok(Value::Float(float))
        }
        DataType::Char { length } => {
            let text = characters(value, data_type, Some(*length), explicit)?;
            let padding = (*length as usize).saturating_sub(text.chars().count());
            Ok(Value::Text(text + &" ".repeat(padding)))
        }
        DataType::Varchar { length } => {
            characters(value, data_type, *length, explicit).map(Value::Text)
        }
        DataType::Text => characters(value, data_type, None, explicit).map(Value::Text),
        DataType::Bytes { .. } => match value {
            Value::Bytes(_) => Ok(value.clone()),
            Value::Text(text) if !text.contains('\\') => {
                Ok(Value::Bytes(text.clone().into_bytes()))
            }
            Value::Text(_) => Err(unknown()),
            _ => wrong,
        },
        DataType::Date => match value {
            Value::Date(_) => Ok(value.clone()),
            Value::Text(text) => parse::moment(text)
                .map_err(read)?
                .date
                .map(Value::Date)
                .ok_or_else(unknown),
            other => match temporal::datetime(other) {
                Some(at) => Ok(Value::Date(at.date())),
                None => wrong,
            },
        },
        DataType::Time {
            precision,
            zoned: false,
        } => {
            let time = match value {
                Value::Time(time) => *time,
                Value::DateTime(at) => at.time(),
                Value::Text(text) => match parse::moment(text).map_err(read)? {
                    parse::IsoDateTime {
                        date: None,
                        time: Some(time),
                        offset: None,
                    } => time,
                    _ => return Err(unknown()),
                },
                Value::Instant(_) | Value::Interval(_) => return Err(unknown()),
                _ => return wrong,
            };
            let day = jiff::civil::date(2000, 1, 1);
            match assign::time_digits(day.to_datetime(time), *precision, true) {
                Some(at) if at.date() == day => Ok(Value::Time(at.time())),
                _ => Err(unknown()),
            }
        }
        DataType::Timestamp { precision, zoned } => {
            let at = match value {
                Value::Text(text) => {
                    let moment = parse::moment(text).map_err(read)?;
                    if *zoned {
                        temporal::utc(convert::instant(moment).ok_or_else(unknown)?)
                    } else {
                        moment.datetime().ok_or_else(unknown)?
                    }
                }
                other => match temporal::datetime(other) {
                    Some(at) => at,
                    None => return wrong,
                },
            };
            let at = assign::time_digits(at, *precision, true).ok_or_else(unknown)?;
            if *zoned {
                temporal::instant(at)
                    .map(Value::Instant)
                    .ok_or_else(unknown)
            } else {
                Ok(Value::DateTime(at))
            }
        }
        DataType::Interval => match value {
            Value::Interval(_) => Ok(value.clone()),
            Value::Text(text) => parse::interval(text).map(Value::Interval).map_err(read),
            Value::Time(_) => Err(unknown()),
            _ => wrong,
        },
        DataType::Uuid => match value {
            Value::Uuid(_) => Ok(value.clone()),
            Value::Text(text) => parse::uuid(text).map(Value::Uuid).map_err(read),
            _ => wrong,
        },
        DataType::Json { binary } => match value {
            Value::Json(text) | Value::Text(text) => {
                if !json::is_json(text) {
                    wrong
                } else if *binary && text.contains("\\u0000") {
                    Err(unknown())
                } else {
                    Ok(Value::Json(text.clone()))
                }
            }
            _ => wrong,
        },
        DataType::Enum { labels, .. } => match value {
            Value::Text(label) if labels.contains(label) => Ok(value.clone()),
            _ => wrong,
        },
        DataType::Other(name) => match value {
            Value::Text(text) if opaque_literals::is_literal(name, text) => Ok(value.clone()),
            _ => Err(unknown()),
        },
        DataType::Time { zoned: true, .. } | DataType::Year => Err(unknown()),
    }
}

/// The characters of a value within a length.
fn characters(
    value: &Value,
    data_type: &DataType,
    length: Option<u32>,
    explicit: bool,
) -> Result<String, StoreError> {
    let Some(text) = format::text(value, DialectName::Postgres) else {
        return Err(StoreError::Unknown(data_type.clone()));
    };
    if text.contains('\0') {
        return Err(StoreError::WrongType);
    }
    if explicit {
        return Ok(match length {
            Some(limit) => text.chars().take(limit as usize).collect(),
            None => text,
        });
    }
    assign::fit(&text, length).map(str::to_owned)
}

/// Whether two stored values are the same to a unique index.
pub(super) fn same(a: &Value, b: &Value, column: &Column) -> bool {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => match column.data_type {
            DataType::Char { .. } => a.trim_end_matches(' ') == b.trim_end_matches(' '),
            _ => a == b,
        },
        (Value::Interval(a), Value::Interval(b)) => temporal::micros(*a) == temporal::micros(*b),
        _ => match (Number::of(a), Number::of(b)) {
            (Some(a), Some(b)) => a.order(b).is_eq(),
            _ => a == b,
        },
    }
}
