//! Current time, and date arithmetic functions.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, tz::TimeZone};

use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::value::{Interval, Value};

use super::super::error::{EvalError, unsupported};
use super::super::parse;
use super::super::static_type::{StaticType, kind_of};
use super::super::temporal;
use super::args::Args;

/// A call by name, `None` when this module has no such function in the dialect.
pub(super) fn call(name: &str, args: &Args<'_>) -> Result<Option<Value>, EvalError> {
    let mysql = args.eval.dialect == DialectName::MySql;
    match (name, args.values.len()) {
        (
            "now" | "current_timestamp" | "localtimestamp" | "localtime" | "current_date"
            | "curdate" | "current_time" | "curtime",
            0,
        ) => now(name, args),
        ("date_add" | "adddate", 2) if mysql => moved(args, 1).map(Some),
        ("date_sub" | "subdate", 2) if mysql => moved(args, -1).map(Some),
        ("timestamp", 1) if mysql => Ok(Some(match moment(args.value(0))? {
            Some(at) => Value::DateTime(at),
            None => Value::Null,
        })),
        ("timestamp", 2) if mysql => timestamp(args).map(Some),
        _ => Ok(None),
    }
}

/// Functions whose value depends on when they are called.
pub(crate) fn is_clock(name: &str) -> bool {
    matches!(
        name,
        "now"
            | "current_timestamp"
            | "current_date"
            | "current_time"
            | "localtimestamp"
            | "localtime"
            | "statement_timestamp"
            | "clock_timestamp"
            | "transaction_timestamp"
            | "getdate"
            | "sysdate"
            | "curdate"
            | "curtime"
    )
}

/// The static type of a call, where it is one of these.
pub(super) fn kind<'a>(
    name: &str,
    args: &'a [Expr],
    dialect: DialectName,
) -> Option<StaticType<'a>> {
    let mysql = dialect == DialectName::MySql;
    Some(match (name, args) {
        (_, []) if dialect == DialectName::Sqlite => return None,
        ("now" | "current_timestamp", []) if !mysql => StaticType::Instant,
        ("now" | "current_timestamp" | "localtimestamp" | "localtime", []) => StaticType::DateTime,
        ("current_date" | "curdate", []) => StaticType::Date,
        ("curtime", []) => StaticType::Time,
        ("timestamp", [_] | [_, _]) if mysql => StaticType::DateTime,
        ("date_add" | "date_sub" | "adddate" | "subdate", [from, Expr::Literal(span)]) if mysql => {
            match (kind_of(from, dialect), span) {
                (StaticType::Date, Value::Interval(Interval { micros: 0, .. })) => StaticType::Date,
                _ => StaticType::DateTime,
            }
        }
        _ => return None,
    })
}

fn now(name: &str, args: &Args<'_>) -> Result<Option<Value>, EvalError> {
    let Some(at) = args.eval.env.now else {
        return unsupported(format!("{name} without a clock"));
    };
    let day = matches!(name, "current_date" | "curdate");
    let time = matches!(name, "current_time" | "curtime");
    Ok(Some(match args.eval.dialect {
        DialectName::Sqlite if day => Value::Text(at.date().to_string()),
        DialectName::Sqlite if time => Value::Text(at.time().to_string()),
        DialectName::Sqlite if name == "current_timestamp" => {
            Value::Text(format!("{} {}", at.date(), at.time()))
        }
        DialectName::Sqlite => return Ok(None),
        _ if day => Value::Date(at.date()),
        DialectName::MySql if time => Value::Time(at.time()),
        DialectName::MySql => Value::DateTime(at),
        _ if time => return unsupported("the time of day with its zone"),
        _ if name == "localtimestamp" => Value::DateTime(at),
        _ => match at.to_zoned(TimeZone::UTC) {
            Ok(zoned) => Value::Instant(zoned.timestamp()),
            Err(_) => return unsupported("a time far away"),
        },
    }))
}

/// DATE_ADD and DATE_SUB.
fn moved(args: &Args<'_>, sign: i64) -> Result<Value, EvalError> {
    let span = match args.value(1) {
        Value::Interval(span) => *span,
        // ADDDATE(d, 3)
        Value::Int(days) => match i32::try_from(*days) {
            Ok(days) => Interval {
                days,
                ..Interval::default()
            },
            Err(_) => return unsupported("a long span"),
        },
        Value::Null => return Ok(Value::Null),
        _ => return unsupported("this span"),
    };
    let Some(at) = moment(args.value(0))? else {
        return Ok(Value::Null);
    };
    let whole_days = match args.value(0) {
        Value::Date(_) => span.micros == 0,
        Value::Text(text) => span.micros == 0 && text.len() <= 10,
        _ => false,
    };
    // The values of an interval fit into a span; a sum that leaves the calendar is NULL.
    let by = Span::new()
        .try_months(sign * i64::from(span.months))
        .and_then(|by| by.try_days(sign * i64::from(span.days)))
        .and_then(|by| by.try_microseconds(sign * span.micros));
    Ok(match by.and_then(|by| at.checked_add(by)) {
        Ok(at) if at.year() < 1 => return unsupported("a date before the calendar"),
        Ok(at) if whole_days => Value::Date(at.date()),
        Ok(at) => Value::DateTime(at),
        Err(_) => Value::Null,
    })
}

/// `TIMESTAMP(day, time)`: their sum.
fn timestamp(args: &Args<'_>) -> Result<Value, EvalError> {
    let time = match args.value(1) {
        Value::Null => return Ok(Value::Null),
        Value::Time(time) => *time,
        Value::Text(text) => match parse::moment(text) {
            Ok(parse::IsoDateTime {
                date: None,
                time: Some(time),
                offset: None,
                ..
            }) => time,
            _ => return unsupported(format!("'{text}' as a time")),
        },
        _ => return unsupported("this value as a time"),
    };
    let Some(at) = moment(args.value(0))? else {
        return Ok(Value::Null);
    };
    let since = Time::midnight().until(time);
    Ok(match since.and_then(|since| at.checked_add(since)) {
        Ok(at) => Value::DateTime(at),
        Err(_) => Value::Null,
    })
}

/// A moment as MySQL reads it.
fn moment(value: &Value) -> Result<Option<DateTime>, EvalError> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => match parse::moment(text) {
            Ok(moment) if moment.offset.is_none() && moment.date.is_some() => Ok(moment.datetime()),
            _ => unsupported(format!("'{text}' as a date")),
        },
        other => match temporal::datetime(other) {
            Some(at) if at.date() > Date::MIN => Ok(Some(at)),
            _ => unsupported("this value as a date"),
        },
    }
}
