//! Type conversion: untyped literals, casts, and the common type of alternatives.

use std::borrow::Cow;

use crate::dialect::{Affinity, DialectName, StoreError};
use crate::expr::Expr;
use crate::types::DataType;
use crate::value::Value;

use super::arithmetic::{text_as_number, to_i64};
use super::error::{EvalError, RaisedError, raise, unsupported};
use super::evaluator::Evaluator;
use super::number::{self, Number};
use super::static_type::{StaticType, kind_of};
use super::storage_class::{StorageClass, sqlite_number};
use super::{format, parse, temporal};

/// The text of a value; MariaDB shows decimals with the digits of their static type.
pub(crate) fn shown(dialect: DialectName, value: &Value, expr: &Expr) -> Result<String, EvalError> {
    let plain = matches!(expr, Expr::Column(_) | Expr::Literal(_));
    if dialect == DialectName::MySql
        && !plain
        && (matches!(value, Value::Decimal(_)) || kind_of(expr, dialect) == StaticType::Decimal)
    {
        return unsupported("the digits of a computed decimal");
    }
    let text = match (value, dialect) {
        (Value::Time(_) | Value::DateTime(_), DialectName::MySql) => {
            clock_digits(expr).and_then(|digits| format::clock(value, digits))
        }
        _ => format::text(value, dialect),
    };
    text.ok_or_else(|| EvalError::unsupported("the text of this value"))
}

/// How many digits of the second MariaDB shows, where that is certain.
fn clock_digits(expr: &Expr) -> Option<u8> {
    match expr {
        Expr::Column(column) => match column.data_type {
            DataType::Time { precision, .. } | DataType::Timestamp { precision, .. } => {
                Some(precision)
            }
            _ => None,
        },
        Expr::Literal(Value::Time(at)) if at.subsec_nanosecond() == 0 => Some(0),
        Expr::Literal(Value::DateTime(at)) if at.subsec_nanosecond() == 0 => Some(0),
        Expr::Function { args, .. } if args.is_empty() => Some(0),
        _ => None,
    }
}

/// Whether a value is of a type as storage would leave it.
pub(crate) fn conforms(value: &Value, data_type: &DataType) -> bool {
    matches!(
        (value, data_type),
        (Value::Null, _)
            | (Value::Bool(_) | Value::Int(_), DataType::Boolean)
            | (Value::Int(_), DataType::Integer { .. } | DataType::Year)
            | (Value::Decimal(_), DataType::Decimal { .. })
            | (Value::Float(_), DataType::Float { .. })
            | (
                Value::Text(_),
                DataType::Char { .. }
                    | DataType::Varchar { .. }
                    | DataType::Text
                    | DataType::Enum { .. }
                    | DataType::Other(_)
            )
            | (Value::Bytes(_), DataType::Bytes { .. })
            | (Value::Date(_), DataType::Date)
            | (Value::Time(_), DataType::Time { .. })
            | (Value::DateTime(_), DataType::Timestamp { zoned: false, .. })
            | (Value::Instant(_), DataType::Timestamp { zoned: true, .. })
            | (Value::Interval(_), DataType::Interval)
            | (Value::Uuid(_), DataType::Uuid)
            | (Value::Json(_), DataType::Json { .. })
    )
}

/// Converts a value as an assignment to a column of the type does.
pub(crate) fn assign(
    value: &Value,
    data_type: &DataType,
    dialect: DialectName,
) -> Result<Value, StoreError> {
    match dialect {
        DialectName::Ansi | DialectName::Postgres => {
            crate::dialect::postgres_assign(value, data_type, false)
        }
        DialectName::MySql => crate::dialect::mysql_assign(value, data_type),
        DialectName::Sqlite => crate::dialect::sqlite_assign(value, data_type, false),
    }
}

/// An untyped literal read as the type that its surroundings want (PostgreSQL).
pub(crate) fn untyped<'a>(
    value: Cow<'a, Value>,
    kind: StaticType<'_>,
) -> Result<Cow<'a, Value>, EvalError> {
    let Value::Text(text) = &*value else {
        return Ok(value);
    };
    let read = match kind {
        StaticType::Unknown
        | StaticType::Text
        | StaticType::Varchar
        | StaticType::Char
        | StaticType::Other => {
            return Ok(value);
        }
        StaticType::Bool => parse::boolean(text).map(Value::Bool),
        StaticType::Int { bits, unsigned } => parse::int(text).and_then(|int| {
            let range = DataType::Integer { bits, unsigned }.integer_range();
            if range.is_some_and(|range| range.contains(&int)) {
                Ok(Value::Int(int))
            } else {
                Err(parse::TextError::Range)
            }
        }),
        StaticType::Decimal => parse::exact_number(text).map(Value::Decimal),
        StaticType::Float { bits: 32 } => {
            parse::float(text).map(|value| Value::Float(f64::from(value as f32)))
        }
        StaticType::Float { .. } => parse::float(text).map(Value::Float),
        StaticType::Date => parse::moment(text)
            .and_then(|at| at.date.ok_or(parse::TextError::Unsure))
            .map(Value::Date),
        StaticType::Time => parse::moment(text)
            .and_then(|at| match at {
                parse::IsoDateTime {
                    date: None,
                    time: Some(time),
                    offset: None,
                } => Ok(time),
                _ => Err(parse::TextError::Unsure),
            })
            .map(Value::Time),
        StaticType::DateTime => parse::moment(text)
            .and_then(|at| at.datetime().ok_or(parse::TextError::Unsure))
            .map(Value::DateTime),
        StaticType::Instant => parse::moment(text)
            .and_then(|at| instant(at).ok_or(parse::TextError::Unsure))
            .map(Value::Instant),
        StaticType::Interval => parse::interval(text).map(Value::Interval),
        StaticType::Uuid => parse::uuid(text).map(Value::Uuid),
        StaticType::Enum(labels) => {
            return if labels.contains(text) {
                Ok(value)
            } else {
                raise(RaisedError::InvalidText)
            };
        }
        StaticType::Json { .. } => {
            if crate::dialect::is_json(text) {
                Ok(Value::Json(text.clone()))
            } else {
                Err(parse::TextError::Invalid)
            }
        }
        StaticType::Bytes | StaticType::ZonedTime | StaticType::Year => {
            Err(parse::TextError::Unsure)
        }
    };
    read.map(Cow::Owned).map_err(|bad| bad.stop(text))
}

/// The instant that a moment names; without an offset, in UTC.
pub(crate) fn instant(at: parse::IsoDateTime) -> Option<jiff::Timestamp> {
    let offset = jiff::tz::Offset::from_seconds(at.offset.unwrap_or(0)).ok()?;
    offset.to_timestamp(at.datetime()?).ok()
}

/// A value of one type as the common type of alternatives (PostgreSQL).
pub(crate) fn to_kind<'a>(
    eval: Evaluator<'a>,
    value: Cow<'a, Value>,
    own: StaticType<'_>,
    common: StaticType<'_>,
) -> Result<Cow<'a, Value>, EvalError> {
    if own == StaticType::Unknown {
        return untyped(value, common);
    }
    Ok(match (&*value, common) {
        (Value::Text(text), StaticType::Text | StaticType::Varchar)
            if own == StaticType::Char && eval.typed() =>
        {
            Cow::Owned(Value::Text(text.trim_end_matches(' ').to_owned()))
        }
        (Value::Int(_), StaticType::Decimal) => {
            match Number::of(&value).and_then(Number::to_decimal) {
                Some(decimal) => Cow::Owned(Value::Decimal(decimal)),
                None => return unsupported("a decimal of many digits"),
            }
        }
        (Value::Int(_) | Value::Decimal(_), StaticType::Float { bits: 32 }) => {
            match Number::of(&value) {
                Some(number) => Cow::Owned(Value::Float(f64::from(number.to_f64() as f32))),
                None => value,
            }
        }
        (Value::Int(_) | Value::Decimal(_), StaticType::Float { .. }) => match Number::of(&value) {
            Some(number) => Cow::Owned(Value::Float(number.to_f64())),
            None => value,
        },
        (Value::Date(_), StaticType::DateTime) => match temporal::datetime(&value) {
            Some(at) => Cow::Owned(Value::DateTime(at)),
            None => value,
        },
        (Value::Date(_) | Value::DateTime(_), StaticType::Instant) => {
            match temporal::datetime(&value).and_then(temporal::instant) {
                Some(at) => Cow::Owned(Value::Instant(at)),
                None => return unsupported("an instant outside the calendar"),
            }
        }
        _ => value,
    })
}

/// An explicit CAST.
pub(crate) fn cast<'a>(
    eval: Evaluator<'a>,
    value: Cow<'a, Value>,
    own: StaticType<'_>,
    data_type: &'a DataType,
) -> Result<Cow<'a, Value>, EvalError> {
    if value.is_null() {
        return Ok(value);
    }
    match eval.dialect {
        DialectName::Sqlite => cast_sqlite(&value, Affinity::of(data_type)).map(Cow::Owned),
        DialectName::MySql => cast_mysql(eval, &value, data_type).map(Cow::Owned),
        DialectName::Ansi | DialectName::Postgres => {
            let source = match (&*value, own) {
                // CHAR(n) loses its padding on the way to any other type.
                (Value::Text(text), StaticType::Char)
                    if !matches!(data_type, DataType::Char { .. }) =>
                {
                    Cow::Owned(Value::Text(text.trim_end_matches(' ').to_owned()))
                }
                (
                    Value::Text(_),
                    StaticType::Text | StaticType::Varchar | StaticType::Char | StaticType::Unknown,
                ) => value,
                // A label, or a type that we do not know, goes only to text.
                (Value::Text(_), _) if !data_type.is_text() => {
                    return unsupported("this cast");
                }
                _ => value,
            };
            match crate::dialect::postgres_assign(&source, data_type, true) {
                Ok(value) => Ok(Cow::Owned(value)),
                Err(StoreError::OutOfRange) => raise(RaisedError::OutOfRange),
                Err(StoreError::WrongType) if matches!(&*source, Value::Text(_)) => {
                    raise(RaisedError::InvalidText)
                }
                Err(StoreError::WrongType) => raise(RaisedError::TypeMismatch),
                Err(StoreError::TooLong { .. }) => raise(RaisedError::InvalidArgument),
                Err(StoreError::Unknown(_)) => unsupported("this cast"),
            }
        }
    }
}

fn cast_sqlite(value: &Value, affinity: Affinity) -> Result<Value, EvalError> {
    let Some(storage) = StorageClass::of(value) else {
        return Ok(Value::Null);
    };
    if matches!(storage, StorageClass::Blob(_)) && affinity != Affinity::Blob {
        return unsupported("a cast from a blob");
    }
    let number = match &storage {
        StorageClass::Number(number) => *number,
        StorageClass::Text(text) => sqlite_number(&parse::prefix(text), text),
        StorageClass::Blob(_) => return Ok(value.clone()),
    };
    Ok(match affinity {
        Affinity::Text => match storage.text() {
            Some(text) => text.into_value(),
            None => return unsupported("the text of this number"),
        },
        Affinity::Integer => match (&storage, number) {
            // The digits before any point or exponent count.
            (StorageClass::Text(text), Number::Float(_)) => {
                let digits = parse::prefix(text.split(['.', 'e', 'E']).next().unwrap_or(""));
                Value::Int(to_i64(digits.number).into())
            }
            _ => Value::Int(to_i64(number).into()),
        },
        Affinity::Real => Value::Float(number.to_f64()),
        Affinity::Numeric => match (&storage, number) {
            (StorageClass::Text(_), Number::Float(value))
                if value.fract() == 0.0 && value.abs() < 9e15 =>
            {
                Value::Int(value as i128)
            }
            _ => number.into_value(),
        },
        Affinity::Blob => match storage {
            StorageClass::Blob(bytes) => Value::Bytes(bytes.to_vec()),
            StorageClass::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
            StorageClass::Number(_) => return unsupported("a cast from a number to a blob"),
        },
    })
}

fn cast_mysql(
    eval: Evaluator<'_>,
    value: &Value,
    data_type: &DataType,
) -> Result<Value, EvalError> {
    let number = || match value {
        Value::Text(text) => text_as_number(eval, text),
        other => Number::of(other).ok_or_else(|| EvalError::unsupported("this cast")),
    };
    match data_type {
        DataType::Integer { unsigned, .. } => {
            if let Value::Text(text) = value {
                // Only the digits count, and a tail is an error when writing.
                let found = parse::prefix(text);
                if !found.integral || !found.found {
                    return unsupported("this cast");
                }
            }
            let int = match number()? {
                Number::Int(int) => int,
                Number::Decimal(decimal) => match number::round_to_int(decimal) {
                    Some(int) => int,
                    None => return unsupported("this cast"),
                },
                Number::Float(_) => return unsupported("a cast from a float"),
            };
            let range = DataType::Integer {
                bits: 64,
                unsigned: *unsigned,
            }
            .integer_range();
            if range.is_some_and(|range| range.contains(&int)) {
                Ok(Value::Int(int))
            } else {
                unsupported("a cast out of range")
            }
        }
        DataType::Decimal { precision, scale } => {
            let (precision, scale) = (precision.unwrap_or(10), scale.unwrap_or(0));
            let decimal = number()?
                .to_decimal()
                .and_then(|decimal| number::rescale(decimal, scale));
            match decimal {
                Some(decimal)
                    if number::power_of_ten(precision)
                        .is_some_and(|limit| decimal.mantissa().abs() < limit) =>
                {
                    Ok(Value::Decimal(decimal))
                }
                _ => unsupported("a cast out of range"),
            }
        }
        DataType::Float { bits: 64 } => Ok(Value::Float(number()?.to_f64())),
        DataType::Char { length } => text_mysql(value, Some(*length)),
        DataType::Varchar { length } => text_mysql(value, *length),
        DataType::Text => text_mysql(value, None),
        DataType::Date => match value {
            Value::Date(_) => Ok(value.clone()),
            Value::DateTime(at) => Ok(Value::Date(at.date())),
            Value::Text(text) => match parse::moment(text) {
                Ok(parse::IsoDateTime {
                    date: Some(date),
                    time: None,
                    offset: None,
                }) => Ok(Value::Date(date)),
                _ => unsupported("this cast"),
            },
            _ => unsupported("this cast"),
        },
        DataType::Timestamp { zoned: false, .. } => match (value, temporal::datetime(value)) {
            (Value::Date(_), Some(at)) => Ok(Value::DateTime(at)),
            _ => unsupported("this cast"),
        },
        _ => unsupported("this cast"),
    }
}

fn text_mysql(value: &Value, length: Option<u32>) -> Result<Value, EvalError> {
    let Some(text) = format::text(value, DialectName::MySql) else {
        return unsupported("this cast");
    };
    match length {
        Some(length) if text.chars().count() > length as usize => {
            unsupported("a cast that cuts text off")
        }
        _ => Ok(Value::Text(text)),
    }
}
