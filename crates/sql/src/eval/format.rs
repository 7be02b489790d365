//! Values as text, as databases print them.

use std::fmt::Write as _;

use jiff::civil::{DateTime, Time};

use crate::dialect::DialectName;
use crate::value::Value;

use super::temporal::utc;

/// The text of a value, `None` where the database's spelling is not certain.
pub(crate) fn text(value: &Value, dialect: DialectName) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => match dialect {
            DialectName::Ansi | DialectName::Postgres => value.to_string(),
            DialectName::MySql | DialectName::Sqlite => u8::from(*value).to_string(),
        },
        Value::Int(value) => value.to_string(),
        Value::Decimal(value) => match dialect {
            DialectName::Sqlite => float(super::number::decimal_to_f64(*value), dialect)?,
            // A quotient is shown with fewer digits than it is computed with.
            DialectName::MySql if value.scale() >= 9 => return None,
            _ => value.to_string(),
        },
        Value::Float(value) => float(*value, dialect)?,
        Value::Text(value) => value.clone(),
        Value::Date(value) => value.to_string(),
        Value::Time(at) => time(*at),
        Value::DateTime(at) => datetime(*at),
        Value::Instant(at) => match dialect {
            DialectName::Ansi | DialectName::Postgres => format!("{}+00", datetime(utc(*at))),
            _ => datetime(utc(*at)),
        },
        Value::Uuid(_) => value.to_string(),
        Value::Json(value) if dialect != DialectName::Postgres => value.clone(),
        Value::Json(_) | Value::Bytes(_) | Value::Interval(_) => return None,
    })
}

/// A float, where all databases print the same short digits.
fn float(value: f64, dialect: DialectName) -> Option<String> {
    let size = value.abs();
    if value == 0.0 {
        return (value.is_sign_positive()).then(|| {
            match dialect {
                DialectName::Sqlite => "0.0",
                _ => "0",
            }
            .to_owned()
        });
    }
    if !(1e-4..1e15).contains(&size) {
        return None;
    }
    let shortest = value.to_string();
    let digits = shortest.bytes().filter(u8::is_ascii_digit).count();
    // SQLite prints more digits than needed when there are many.
    if digits
        > if dialect == DialectName::Sqlite {
            12
        } else {
            15
        }
    {
        return None;
    }
    Some(match dialect {
        DialectName::Sqlite if !shortest.contains('.') => shortest + ".0",
        _ => shortest,
    })
}

/// The time of day, and its day where there is one, with exactly so many fractional digits.
pub(crate) fn clock(value: &Value, digits: u8) -> Option<String> {
    let at = match value {
        Value::Time(at) => *at,
        Value::DateTime(at) => at.time(),
        _ => return None,
    };
    let digits = usize::from(digits.min(6));
    let fraction = format!("{:06}", at.subsec_nanosecond() / 1000);
    let (kept, lost) = fraction.split_at(digits);
    if lost.bytes().any(|digit| digit != b'0') {
        return None;
    }
    let point = if digits > 0 { "." } else { "" };
    let clock = format!(
        "{:02}:{:02}:{:02}{point}{kept}",
        at.hour(),
        at.minute(),
        at.second()
    );
    Some(match value {
        Value::DateTime(at) => format!("{} {clock}", at.date()),
        _ => clock,
    })
}

/// `HH:MM:SS` with as many fractional digits as needed.
pub(crate) fn time(at: Time) -> String {
    let mut text = format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
    let micros = at.subsec_nanosecond() / 1000;
    if micros != 0 {
        let fraction = format!("{micros:06}");
        // Writing to a string cannot fail.
        let _ = write!(text, ".{}", fraction.trim_end_matches('0'));
    }
    text
}

/// `YYYY-MM-DD HH:MM:SS` with as many fractional digits as needed.
pub(crate) fn datetime(at: DateTime) -> String {
    format!("{} {}", at.date(), time(at.time()))
}
