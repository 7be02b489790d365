//! MySQL and MariaDB, in their default strict mode; where the two differ, as MariaDB does.

use super::{Dialect, DialectName, StoreError, assign, json};
use crate::eval::collate::Collation;
use crate::eval::number::{self, Number};
use crate::eval::parse::{self, TextError};
use crate::eval::{format, temporal};
use crate::schema::{Column, Table};
use crate::types::DataType;
use crate::value::Value;

/// MySQL and MariaDB, in their default strict mode.
#[derive(Clone, Copy, Debug)]
pub struct MySql;

impl Dialect for MySql {
    fn name(&self) -> DialectName {
        DialectName::MySql
    }

    fn counts_on_null(&self) -> bool {
        true
    }

    fn null_is_now(&self, table: &Table, column: usize) -> bool {
        let data_type = &table.column(column).data_type;
        matches!(data_type, DataType::Timestamp { zoned: true, .. }) && table.is_not_null(column)
    }

    fn implicit_default(&self, table: &Table, column: usize) -> Option<Value> {
        match &table.column(column).data_type {
            DataType::Enum { labels, .. } if table.is_not_null(column) => {
                labels.first().map(|label| Value::text(label.as_str()))
            }
            _ => None,
        }
    }

    fn judges_actions_at_once(&self) -> bool {
        true
    }

    fn judges_rows_together(&self) -> bool {
        false
    }

    fn store(&self, value: &Value, column: &Column, _strict: bool) -> Result<Value, StoreError> {
        mysql_assign(value, &column.data_type)
    }

    fn duplicates(&self, a: &Value, b: &Value, column: &Column) -> bool {
        match (a, b) {
            (Value::Text(a), Value::Text(b)) => {
                let collation = Collation::of(column.collation.as_deref(), DialectName::MySql);
                match collation.order(a, b, true) {
                    Some(ordering) => ordering.is_eq(),
                    // Beyond ASCII, case is all that we fold.
                    None => {
                        a.trim_end_matches(' ').to_lowercase()
                            == b.trim_end_matches(' ').to_lowercase()
                    }
                }
            }
            _ => match (Number::of(a), Number::of(b)) {
                (Some(a), Some(b)) => a.order(b).is_eq(),
                _ => a == b,
            },
        }
    }
}

/// Converts a value for a type, as an INSERT in strict mode does.
pub(crate) fn mysql_assign(value: &Value, data_type: &DataType) -> Result<Value, StoreError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let unknown = || StoreError::Unknown(data_type.clone());
    match data_type {
        DataType::Boolean => integer(
            value,
            data_type,
            &DataType::Integer {
                bits: 8,
                unsigned: false,
            },
        ),
        DataType::Integer { .. } => integer(value, data_type, data_type),
        DataType::Decimal { precision, scale } => {
            let decimal = numeral(value, data_type)?;
            let decimal = assign::exact(decimal).ok_or_else(unknown)?;
            assign::scaled(decimal, precision.unwrap_or(10), scale.unwrap_or(0)).map(Value::Decimal)
        }
        DataType::Float { bits } => {
            let float = numeral(value, data_type)?.to_f64();
            if *bits == 32 {
                let short = float as f32;
                if short.is_infinite() {
                    return Err(StoreError::OutOfRange);
                }
                return Ok(Value::Float(f64::from(short)));
            }
            if float.is_infinite() {
                return Err(StoreError::OutOfRange);
            }
            Ok(Value::Float(float))
        }
        DataType::Char { length } => characters(value, data_type, Some(*length))
            .map(|text| Value::Text(text.trim_end_matches(' ').to_owned())),
        DataType::Varchar { length } => characters(value, data_type, *length).map(Value::Text),
        DataType::Text => {
            let text = characters(value, data_type, None)?;
            // MEDIUMTEXT and LONGTEXT hold more, but the type does not say which it is.
            if text.len() > 65_535 {
                return Err(unknown());
            }
            Ok(Value::Text(text))
        }
        DataType::Bytes { length, fixed } => {
            let mut bytes = match value {
                Value::Bytes(bytes) => bytes.clone(),
                Value::Text(text) => text.clone().into_bytes(),
                _ => return Err(unknown()),
            };
            if let Some(limit) = *length {
                if bytes.len() > limit as usize {
                    return Err(StoreError::TooLong { limit });
                }
                if *fixed {
                    bytes.resize(limit as usize, 0);
                }
            }
            Ok(Value::Bytes(bytes))
        }
        DataType::Date => match value {
            Value::Date(_) => Ok(value.clone()),
            Value::DateTime(at) => Ok(Value::Date(at.date())),
            Value::Text(text) => match moment(text, data_type)? {
                parse::IsoDateTime {
                    date: Some(date), ..
                } => Ok(Value::Date(date)),
                _ => Err(unknown()),
            },
            Value::Float(_) | Value::Bytes(_) | Value::Uuid(_) | Value::Json(_) => Err(unknown()),
            _ => Err(unknown()),
        },
        DataType::Time { precision, .. } => {
            let time = match value {
                Value::Time(time) => *time,
                Value::Text(text) => match moment(text, data_type)? {
                    parse::IsoDateTime {
                        date: None,
                        time: Some(time),
                        ..
                    } => time,
                    parse::IsoDateTime { time: None, .. } => return Err(StoreError::WrongType),
                    _ => return Err(unknown()),
                },
                // A number is read as HHMMSS.
                Value::Int(number @ 0..=235_959) => {
                    let part = |by: i128| i8::try_from(number / by % 100).unwrap_or(0);
                    jiff::civil::Time::new(part(10_000), part(100), part(1), 0)
                        .map_err(|_| StoreError::WrongType)?
                }
                _ => return Err(unknown()),
            };
            let day = jiff::civil::date(2000, 1, 1).to_datetime(time);
            assign::time_digits(day, *precision, false)
                .map(|at| Value::Time(at.time()))
                .ok_or_else(unknown)
        }
        DataType::Timestamp { precision, zoned } => {
            let at = match value {
                Value::Text(text) => moment(text, data_type)?.datetime().ok_or_else(unknown)?,
                other => temporal::datetime(other).ok_or_else(unknown)?,
            };
            let at = assign::time_digits(at, *precision, false).ok_or_else(unknown)?;
            if !*zoned {
                return Ok(Value::DateTime(at));
            }
            // TIMESTAMP counts 32-bit seconds, of which zero is taken.
            let instant = temporal::instant(at).ok_or_else(unknown)?;
            if (1..=i64::from(i32::MAX)).contains(&instant.as_second()) {
                Ok(Value::Instant(instant))
            } else {
                Err(StoreError::OutOfRange)
            }
        }
        DataType::Year if matches!(value, Value::Float(_) | Value::Decimal(_)) => Err(unknown()),
        DataType::Year => {
            let Value::Int(year) = integer(value, data_type, &DataType::INT)? else {
                return Err(unknown());
            };
            match (year, value) {
                (0, Value::Int(_)) | (1901..=2155, _) => Ok(Value::Int(year)),
                (1..=69, _) => Ok(Value::Int(2000 + year)),
                (70..=99, _) => Ok(Value::Int(1900 + year)),
                (0, _) => Err(unknown()),
                _ => Err(StoreError::OutOfRange),
            }
        }
        DataType::Uuid => match value {
            Value::Uuid(_) => Ok(value.clone()),
            Value::Text(text) => match parse::uuid(text) {
                Ok(uuid) => Ok(Value::Uuid(uuid)),
                Err(TextError::Unsure) => Err(unknown()),
                Err(_) => Err(StoreError::WrongType),
            },
            _ => Err(unknown()),
        },
        DataType::Json { .. } => match value {
            Value::Json(text) | Value::Text(text) => {
                if json::is_json(text) {
                    Ok(Value::Json(text.clone()))
                } else {
                    Err(StoreError::WrongType)
                }
            }
            _ => Err(unknown()),
        },
        DataType::Enum { labels, .. } => label(value, labels, data_type),
        DataType::Interval | DataType::Other(_) => Err(unknown()),
    }
}

/// Text as a moment, where MariaDB's answer is certain.
fn moment(text: &str, data_type: &DataType) -> Result<parse::IsoDateTime, StoreError> {
    match parse::moment(text) {
        Ok(moment) if moment.offset.is_none() && text.trim().len() == text.len() => Ok(moment),
        // A time out of range can be read as a date, or as a span beyond a day.
        Err(TextError::Range) if !text.contains('-') => Err(StoreError::Unknown(data_type.clone())),
        Err(TextError::Invalid | TextError::Range) => Err(StoreError::WrongType),
        _ => Err(StoreError::Unknown(data_type.clone())),
    }
}

/// The number that a value is, text having to be one entirely.
fn numeral(value: &Value, data_type: &DataType) -> Result<Number, StoreError> {
    match value {
        Value::Text(text) => {
            let found = parse::prefix(text);
            if found.found && found.after(text).bytes().all(|b| b == b' ') {
                Ok(found.number)
            } else {
                Err(StoreError::WrongType)
            }
        }
        other => Number::of(other).ok_or_else(|| StoreError::Unknown(data_type.clone())),
    }
}

fn integer(value: &Value, data_type: &DataType, stored: &DataType) -> Result<Value, StoreError> {
    let unknown = || StoreError::Unknown(data_type.clone());
    let int = match numeral(value, data_type)? {
        Number::Int(int) => int,
        Number::Decimal(decimal) => number::round_to_int(decimal).ok_or_else(unknown)?,
        Number::Float(float) if float.fract().abs() == 0.5 => return Err(unknown()),
        Number::Float(float) if float.abs() < 1e30 => float.round() as i128,
        Number::Float(_) => return Err(StoreError::OutOfRange),
    };
    // Rounding to zero does not save a negative number from an unsigned column.
    let negative = match value {
        Value::Decimal(decimal) => decimal.is_sign_negative() && !decimal.is_zero(),
        Value::Float(_) | Value::Text(_) if int == 0 => {
            return if matches!(stored, DataType::Integer { unsigned: true, .. })
                && numeral(value, data_type)?.to_f64() < 0.0
            {
                Err(unknown())
            } else {
                Ok(Value::Int(0))
            };
        }
        _ => int < 0,
    };
    if negative && matches!(stored, DataType::Integer { unsigned: true, .. }) {
        return Err(StoreError::OutOfRange);
    }
    match stored.integer_range() {
        Some(range) if !range.contains(&int) => Err(StoreError::OutOfRange),
        _ => Ok(Value::Int(int)),
    }
}

fn characters(
    value: &Value,
    data_type: &DataType,
    length: Option<u32>,
) -> Result<String, StoreError> {
    let Some(text) = format::text(value, DialectName::MySql) else {
        return Err(StoreError::Unknown(data_type.clone()));
    };
    match assign::fit(&text, length) {
        // A float is printed with as many digits as there is room for.
        Err(_) if matches!(value, Value::Float(_)) => Err(StoreError::Unknown(data_type.clone())),
        fitted => fitted.map(str::to_owned),
    }
}

/// The label that a value names, in the spelling of the declaration.
fn label(value: &Value, labels: &[String], data_type: &DataType) -> Result<Value, StoreError> {
    match value {
        Value::Text(text) => {
            let same = |label: &&String| Collation::General.order(text, label, true);
            if let Some(found) = labels
                .iter()
                .find(|label| same(label).is_some_and(std::cmp::Ordering::is_eq))
            {
                return Ok(Value::Text(found.clone()));
            }
            // Digits are taken for the number of a label.
            if parse::prefix(text).found || labels.iter().any(|label| same(&label).is_none()) {
                return Err(StoreError::Unknown(data_type.clone()));
            }
            Err(StoreError::WrongType)
        }
        Value::Int(index) => usize::try_from(*index)
            .ok()
            .and_then(|index| index.checked_sub(1))
            .and_then(|index| labels.get(index))
            .map(|label| Value::Text(label.clone()))
            .ok_or(StoreError::WrongType),
        _ => Err(StoreError::Unknown(data_type.clone())),
    }
}
