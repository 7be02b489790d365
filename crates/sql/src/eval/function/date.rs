//! Functions over dates and times.

use jiff::civil::{DateTime, Weekday};
use rust_decimal::Decimal;

use crate::dialect::DialectName;
use crate::value::Value;

use super::super::error::{EvalError, RaisedError, raise, unsupported};
use super::super::parse::{self, TextError};
use super::super::static_type::StaticType;
use super::super::temporal;
use super::args::Args;

/// A call by name, `None` when this module has no such function in the dialect.
pub(super) fn call(name: &str, args: &Args<'_>) -> Result<Option<Value>, EvalError> {
    let count = args.values.len();
    match (args.eval.dialect, name, count) {
        (DialectName::Sqlite, "strftime", 2..) => strftime(args).map(Some),
        (DialectName::Sqlite, _, _) => Ok(None),
        (DialectName::MySql, "extract", 2) => {
            let Value::Text(field) = args.value(0) else {
                return unsupported("EXTRACT of no field");
            };
            match field.to_ascii_lowercase().as_str() {
                field @ ("year" | "month" | "day" | "hour" | "minute" | "second" | "quarter") => {
                    mysql_part(args, field, 1).map(Some)
                }
                other => unsupported(format!("EXTRACT({other})")),
            }
        }
        (
            DialectName::MySql,
            "year" | "month" | "day" | "dayofmonth" | "hour" | "minute" | "second" | "quarter"
            | "dayofyear" | "dayofweek" | "weekday",
            1,
        ) => mysql_part(args, name, 0).map(Some),
        (DialectName::MySql, "date", 1) => Ok(Some(match mysql_moment(args, 0)? {
            Some(at) => Value::Date(at.date()),
            None => Value::Null,
        })),
        (DialectName::MySql, "datediff", 2) => {
            let (Some(a), Some(b)) = (mysql_moment(args, 0)?, mysql_moment(args, 1)?) else {
                return Ok(Some(Value::Null));
            };
            match temporal::days_between(b.date(), a.date()) {
                Some(days) => Ok(Some(Value::Int(days.into()))),
                None => unsupported("a long span"),
            }
        }
        (DialectName::MySql, _, _) => Ok(None),
        (_, "extract" | "date_part", 2) => {
            let Value::Text(field) = args.value(0) else {
                return unsupported("EXTRACT of no field");
            };
            let field = field.to_ascii_lowercase();
            let Some(value) = postgres_part(args, &field)? else {
                return Ok(Some(Value::Null));
            };
            Ok(Some(if name == "extract" {
                Value::Decimal(value)
            } else {
                Value::Float(super::super::number::decimal_to_f64(value))
            }))
        }
        _ => Ok(None),
    }
}

fn postgres_part(args: &Args<'_>, field: &str) -> Result<Option<Decimal>, EvalError> {
    let kind = args.kind(1);
    if kind == StaticType::Unknown {
        return unsupported("EXTRACT from an untyped literal");
    }
    let value = args.value(1);
    if value.is_null() {
        return Ok(None);
    }
    let at = match value {
        Value::Time(time) if matches!(field, "hour" | "minute" | "second") => {
            jiff::civil::Date::ZERO.to_datetime(*time)
        }
        Value::Date(_) if matches!(field, "hour" | "minute" | "second") => {
            // Newer versions refuse this, older ones answer zero.
            return unsupported("the time of a date");
        }
        other => match temporal::datetime(other) {
            Some(at) => at,
            None => {
                return match other {
                    Value::Time(_) | Value::Interval(_) => unsupported("EXTRACT from this type"),
                    _ => raise(RaisedError::TypeMismatch),
                };
            }
        },
    };
    if field == "second" {
        let micros = i64::from(at.second()) * 1_000_000 + i64::from(at.subsec_nanosecond() / 1000);
        return Ok(Some(Decimal::new(micros, 6)));
    }
    match part(at, field) {
        Some(value) => Ok(Some(Decimal::from(value))),
        None => unsupported(format!("EXTRACT({field})")),
    }
}

/// A calendar part as all databases count it.
fn part(at: DateTime, field: &str) -> Option<i64> {
    Some(match field {
        "year" => at.year().into(),
        "month" => at.month().into(),
        "day" | "dayofmonth" => at.day().into(),
        "hour" => at.hour().into(),
        "minute" => at.minute().into(),
        "second" => at.second().into(),
        "quarter" => i64::from((at.month() - 1) / 3 + 1),
        "doy" | "dayofyear" => at.date().day_of_year().into(),
        "dow" => at.weekday().to_sunday_zero_offset().into(),
        "dayofweek" => i64::from(at.weekday().to_sunday_one_offset()),
        "isodow" => at.weekday().to_monday_one_offset().into(),
        "week" => at.date().iso_week_date().week().into(),
        "isoyear" => at.date().iso_week_date().year().into(),
        "weekday" => at.weekday().since(Weekday::Monday).into(),
        _ => return None,
    })
}

fn mysql_part(args: &Args<'_>, field: &str, index: usize) -> Result<Value, EvalError> {
    if let Value::Time(time) = args.value(index) {
        return match field {
            "hour" | "minute" | "second" => {
                let at = jiff::civil::Date::ZERO.to_datetime(*time);
                Ok(part(at, field).map_or(Value::Null, |part| Value::Int(part.into())))
            }
            _ => unsupported("the date of a time"),
        };
    }
    if matches!(field, "hour" | "minute" | "second") && matches!(args.value(index), Value::Text(_))
    {
        return unsupported("the time of a text");
    }
    Ok(match mysql_moment(args, index)? {
        Some(at) => match part(at, field) {
            Some(part) => Value::Int(part.into()),
            None => return unsupported(format!("EXTRACT({field})")),
        },
        None => Value::Null,
    })
}

pub(super) fn mysql_moment(args: &Args<'_>, index: usize) -> Result<Option<DateTime>, EvalError> {
    let value = args.value(index);
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => match parse::moment(text) {
            Ok(moment) if moment.offset.is_none() && moment.date.is_some() => Ok(moment.datetime()),
            _ => unsupported(format!("'{text}' as a date")),
        },
        other => match temporal::datetime(other) {
            Some(at) => Ok(Some(at)),
            None => unsupported("this value as a date"),
        },
    }
}

/// A moment as SQLite reads it, `None` for NULL or for text that is none.
pub(super) fn sqlite_moment(args: &Args<'_>, index: usize) -> Result<Option<DateTime>, EvalError> {
    let value = args.value(index);
    match value {
        Value::Null => Ok(None),
        Value::Text(text) if text == "now" => match args.eval.env.now {
            Some(now) => Ok(Some(now)),
            None => unsupported("'now' without a clock"),
        },
        Value::Text(text) => match parse::moment(text) {
            Ok(moment)
                if moment.offset.is_none()
                    && matches!(text.len(), 10 | 16 | 19)
                    && moment.date.is_some()
                    && text.trim().len() == text.len() =>
            {
                Ok(moment.datetime())
            }
            Err(TextError::Invalid) => Ok(None),
            _ => unsupported(format!("'{text}' as a date")),
        },
        Value::Date(_) | Value::DateTime(_) => Ok(temporal::datetime(value)),
        _ => unsupported("this value as a date"),
    }
}

fn strftime(args: &Args<'_>) -> Result<Value, EvalError> {
    if args.value(0).is_null() {
        return Ok(Value::Null);
    }
    let format = args.text(0)?;
    let Some(at) = super::date_dialects::modified(args, 1)? else {
        return Ok(Value::Null);
    };
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        out.push_str(&match chars.next() {
            Some('Y') => format!("{:04}", at.year()),
            Some('m') => format!("{:02}", at.month()),
            Some('d') => format!("{:02}", at.day()),
            Some('H') => format!("{:02}", at.hour()),
            Some('M') => format!("{:02}", at.minute()),
            Some('S') => format!("{:02}", at.second()),
            Some('j') => format!("{:03}", at.date().day_of_year()),
            Some('w') => at.weekday().to_sunday_zero_offset().to_string(),
            Some('%') => "%".to_owned(),
            _ => return unsupported(format!("the format '{format}'")),
        });
    }
    Ok(Value::Text(out))
}
