//! Literals of every value in every dialect.

use std::fmt::Write as _;

use jiff::{civil, tz::TimeZone};

use crate::dialect::DialectName;
use crate::value::{Interval, Value};

/// A value as an SQL literal that reads back as the same value.
///
/// SQLite has neither booleans nor types of time: it gets 1, 0 and text.
/// Numbers that have no literal (infinities outside PostgreSQL) become NULL.
pub fn literal(value: &Value, dialect: DialectName) -> String {
    let sqlite = dialect == DialectName::Sqlite;
    let typed = |name: &str, text: String| {
        if sqlite {
            format!("'{text}'")
        } else {
            format!("{name} '{text}'")
        }
    };
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(value) if sqlite => u8::from(*value).to_string(),
        Value::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Decimal(value) => value.to_string(),
        Value::Float(value) => float(*value, dialect),
        Value::Text(text) | Value::Json(text) => quoted(text, dialect),
        Value::Bytes(bytes) => {
            let digits = hex(bytes);
            match dialect {
                DialectName::Postgres => format!("'\\x{digits}'::bytea"),
                DialectName::Ansi | DialectName::MySql | DialectName::Sqlite => {
                    format!("X'{digits}'")
                }
            }
        }
        Value::Date(date) => typed("DATE", date.to_string()),
        Value::Time(time) => typed("TIME", clock(*time)),
        Value::DateTime(at) => typed("TIMESTAMP", moment(*at)),
        Value::Instant(at) => {
            let text = moment(at.to_zoned(TimeZone::UTC).datetime());
            match dialect {
                DialectName::Postgres => format!("TIMESTAMP WITH TIME ZONE '{text}+00'"),
                DialectName::Ansi => format!("TIMESTAMP WITH TIME ZONE '{text}+00:00'"),
                // A session in UTC is assumed: MySQL has no literal with a zone.
                DialectName::MySql => format!("TIMESTAMP '{text}'"),
                DialectName::Sqlite => format!("'{text}'"),
            }
        }
        Value::Interval(interval) => match dialect {
            DialectName::Ansi | DialectName::Postgres => format!("INTERVAL '{}'", span(interval)),
            DialectName::MySql | DialectName::Sqlite => format!("'{}'", span(interval)),
        },
        Value::Uuid(_) => format!("'{value}'"),
    }
}

/// An array of one value, in the form that PostgreSQL reads as an array of whatever type is wanted; NULL is no array.
pub fn array_literal(value: &Value, dialect: DialectName) -> String {
    let element = match value {
        Value::Null => return literal(value, dialect),
        Value::Bytes(bytes) => format!("\\x{}", hex(bytes)),
        value => value.to_string(),
    };
    let element = element.replace('\\', "\\\\").replace('"', "\\\"");
    quoted(&format!("{{\"{element}\"}}"), dialect)
}

/// With an exponent, so that no reader takes it for an exact number; SQLite has none of these, and
/// a point is enough.
fn float(value: f64, dialect: DialectName) -> String {
    if value.is_finite() {
        return match dialect {
            DialectName::Sqlite => format!("{value:?}"),
            DialectName::Ansi | DialectName::Postgres | DialectName::MySql => format!("{value:e}"),
        };
    }
    match dialect {
        DialectName::Postgres if value.is_nan() => "'NaN'::float8".to_owned(),
        DialectName::Postgres if value > 0.0 => "'Infinity'::float8".to_owned(),
        DialectName::Postgres => "'-Infinity'::float8".to_owned(),
        DialectName::Sqlite if value.is_nan() => "NULL".to_owned(),
        DialectName::Sqlite if value > 0.0 => "9e999".to_owned(),
        DialectName::Sqlite => "-9e999".to_owned(),
        DialectName::Ansi | DialectName::MySql => "NULL".to_owned(),
    }
}

fn quoted(text: &str, dialect: DialectName) -> String {
    if dialect == DialectName::Sqlite && text.contains('\0') {
        return format!("CAST(X'{}' AS TEXT)", hex(text.as_bytes()));
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("''"),
            '\\' if dialect == DialectName::MySql => out.push_str("\\\\"),
            '\0' if dialect == DialectName::MySql => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// `HH:MM:SS` with as many fractional digits as there are.
fn clock(time: civil::Time) -> String {
    let mut text = format!(
        "{:02}:{:02}:{:02}",
        time.hour(),
        time.minute(),
        time.second()
    );
    let nanos = time.subsec_nanosecond();
    if nanos != 0 {
        let digits = format!("{nanos:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    text
}

fn moment(at: civil::DateTime) -> String {
    format!("{} {}", at.date(), clock(at.time()))
}

/// The parts that are not zero, as PostgreSQL reads them.
fn span(interval: &Interval) -> String {
    let mut parts = Vec::new();
    if interval.months != 0 {
        parts.push(format!("{} mons", interval.months));
    }
    if interval.days != 0 {
        parts.push(format!("{} days", interval.days));
    }
    if interval.micros != 0 || parts.is_empty() {
        let sign = if interval.micros < 0 { "-" } else { "" };
        let micros = interval.micros.unsigned_abs();
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        let mut text = format!(
            "{sign}{:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        if fraction != 0 {
            let digits = format!("{fraction:06}");
            text.push('.');
            text.push_str(digits.trim_end_matches('0'));
        }
        parts.push(text);
    }
    parts.join(" ")
}
