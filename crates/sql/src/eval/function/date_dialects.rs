//! Date functions that only some databases have.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use crate::dialect::DialectName;
use crate::value::Value;

use super::super::error::{EvalError, RaisedError, raise, unsupported};
use super::super::temporal;
use super::args::Args;
use super::date::{mysql_moment, sqlite_moment};

/// A call by name, `None` when this module has no such function in the dialect.
pub(super) fn call(name: &str, args: &Args<'_>) -> Result<Option<Value>, EvalError> {
    match (args.eval.dialect, name, args.values.len()) {
        (
            DialectName::MySql,
            "last_day" | "dayname" | "monthname" | "to_days" | "weekofyear",
            1,
        ) => Ok(Some(match mysql_moment(args, 0)? {
            Some(at) => of_day(name, at.date()),
            None => Value::Null,
        })),
        (DialectName::MySql, "date_format", 2) => {
            let (Some(at), false) = (mysql_moment(args, 0)?, args.value(1).is_null()) else {
                return Ok(Some(Value::Null));
            };
            formatted(at, &args.text(1)?).map(|text| Some(Value::Text(text)))
        }
        (DialectName::MySql, "timestampdiff", 3) => {
            let (Some(from), Some(to)) = (mysql_moment(args, 1)?, mysql_moment(args, 2)?) else {
                return Ok(Some(Value::Null));
            };
            units_between(&args.text(0)?, from, to).map(Some)
        }
        (DialectName::Postgres | DialectName::Ansi, "make_date", 3) => {
            if args.any_null() {
                return Ok(Some(Value::Null));
            }
            let part = |index: usize| args.int(index);
            let (year, month, day) = (part(0)?, part(1)?, part(2)?);
            let date = i16::try_from(year)
                .ok()
                .zip(i8::try_from(month).ok().zip(i8::try_from(day).ok()))
                .and_then(|(year, (month, day))| Date::new(year, month, day).ok());
            match date {
                Some(date) if year > 0 => Ok(Some(Value::Date(date))),
                _ => raise(RaisedError::OutOfRange),
            }
        }
        (DialectName::Postgres | DialectName::Ansi, "date_trunc", 2) => {
            if args.any_null() {
                return Ok(Some(Value::Null));
            }
            let value = args.value(1);
            let Some(at) = temporal::datetime(value) else {
                return unsupported("date_trunc of this type");
            };
            let at = truncated(&args.text(0)?.to_ascii_lowercase(), at)?;
            // A date is a moment with a zone here.
            Ok(Some(match value {
                Value::DateTime(_) => Value::DateTime(at),
                _ => match at.to_zoned(TimeZone::UTC) {
                    Ok(zoned) => Value::Instant(zoned.timestamp()),
                    Err(_) => return unsupported("a date outside the calendar"),
                },
            }))
        }
        (DialectName::Sqlite, "date" | "time" | "datetime" | "julianday" | "unixepoch", 1..) => {
            Ok(Some(match modified(args, 0)? {
                None => Value::Null,
                Some(at) => match name {
                    "date" => Value::Text(at.date().to_string()),
                    "time" => Value::Text(clock(at)),
                    "datetime" => Value::Text(format!("{} {}", at.date(), clock(at))),
                    "unixepoch" => Value::Int(seconds(at).into()),
                    _ => Value::Float(seconds(at) as f64 / 86_400.0 + 2_440_587.5),
                },
            }))
        }
        _ => Ok(None),
    }
}

fn clock(at: DateTime) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

fn seconds(at: DateTime) -> i64 {
    at.duration_since(Date::constant(1970, 1, 1).at(0, 0, 0, 0))
        .as_secs()
}

fn of_day(name: &str, date: Date) -> Value {
    match name {
        "last_day" => Value::Date(date.last_of_month()),
        "dayname" => Value::text(date.strftime("%A").to_string()),
        "monthname" => Value::text(date.strftime("%B").to_string()),
        "weekofyear" => Value::Int(date.iso_week_date().week().into()),
        // Days since the year 0, as MySQL counts them.
        _ => {
            let days = temporal::days_between(Date::constant(1970, 1, 1), date);
            days.map_or(Value::Null, |days| Value::Int(i128::from(days) + 719_528))
        }
    }
}

/// DATE_FORMAT.
fn formatted(at: DateTime, format: &str) -> Result<String, EvalError> {
    let mut out = String::new();
    let mut chars = format.chars();
    let twelve = match at.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(letter) = chars.next() else {
            return unsupported("a format that ends with %");
        };
        out.push_str(&match letter {
            'Y' => format!("{:04}", at.year()),
            'y' => format!("{:02}", at.year() % 100),
            'm' => format!("{:02}", at.month()),
            'c' => at.month().to_string(),
            'd' => format!("{:02}", at.day()),
            'e' => at.day().to_string(),
            'H' => format!("{:02}", at.hour()),
            'k' => at.hour().to_string(),
            'h' | 'I' => format!("{twelve:02}"),
            'l' => twelve.to_string(),
            'i' => format!("{:02}", at.minute()),
            's' | 'S' => format!("{:02}", at.second()),
            'f' => format!("{:06}", at.subsec_nanosecond() / 1000),
            'T' => clock(at),
            'j' => format!("{:03}", at.date().day_of_year()),
            'p' => if at.hour() < 12 { "AM" } else { "PM" }.to_owned(),
            'W' => at.strftime("%A").to_string(),
            'a' => at.strftime("%a").to_string(),
            'M' => at.strftime("%B").to_string(),
            'b' => at.strftime("%b").to_string(),
            'w' => at.weekday().to_sunday_zero_offset().to_string(),
            '%' => "%".to_owned(),
            _ => return unsupported(format!("the format '{format}'")),
        });
    }
    Ok(out)
}

/// TIMESTAMPDIFF: whole units, cut off towards zero.
fn units_between(unit: &str, from: DateTime, to: DateTime) -> Result<Value, EvalError> {
    let span = to.duration_since(from);
    let count = match unit {
        "second" => span.as_secs(),
        "minute" => span.as_mins(),
        "hour" => span.as_hours(),
        "day" => span.as_hours() / 24,
        "week" => span.as_hours() / (24 * 7),
        "month" | "quarter" | "year" => {
            let (early, late, sign) = if from <= to {
                (from, to, 1)
            } else {
                (to, from, -1)
            };
            let months = (i64::from(late.year()) - i64::from(early.year())) * 12
                + i64::from(late.month())
                - i64::from(early.month());
            // A month is whole when its day and time have come, even if the month is too short for it.
            let whole = (late.day(), late.time()) >= (early.day(), early.time());
            let months = months - i64::from(!whole);
            let size = match unit {
                "month" => 1,
                "quarter" => 3,
                _ => 12,
            };
            sign * (months / size)
        }
        other => return unsupported(format!("TIMESTAMPDIFF in {other}")),
    };
    Ok(Value::Int(count.into()))
}

/// The start of the unit that a moment lies in.
fn truncated(unit: &str, at: DateTime) -> Result<DateTime, EvalError> {
    let (date, midnight) = (at.date(), at.date().at(0, 0, 0, 0));
    let first = |month: i8| Date::new(date.year(), month, 1).map(|day| day.at(0, 0, 0, 0));
    let started = match unit {
        "second" => Ok(date.at(at.hour(), at.minute(), at.second(), 0)),
        "minute" => Ok(date.at(at.hour(), at.minute(), 0, 0)),
        "hour" => Ok(date.at(at.hour(), 0, 0, 0)),
        "day" => Ok(midnight),
        "week" => {
            let since_monday = i64::from(at.weekday().to_monday_zero_offset());
            midnight.checked_sub(Span::new().days(since_monday))
        }
        "month" => first(date.month()),
        "quarter" => first((date.month() - 1) / 3 * 3 + 1),
        "year" => first(1),
        other => return unsupported(format!("date_trunc('{other}', …)")),
    };
    started.map_err(|_| EvalError::unsupported("a date outside the calendar"))
}

/// A moment of SQLite with the modifiers that follow it, `None` for NULL.
pub(super) fn modified(args: &Args<'_>, first: usize) -> Result<Option<DateTime>, EvalError> {
    if args.values.iter().skip(first).any(|value| value.is_null()) {
        return Ok(None);
    }
    let Some(mut at) = sqlite_moment(args, first)? else {
        return Ok(None);
    };
    for index in first + 1..args.values.len() {
        let modifier = args.text(index)?.trim().to_ascii_lowercase();
        let changed = match modifier.as_str() {
            "start of day" => Some(at.date().at(0, 0, 0, 0)),
            "start of month" => Some(at.date().first_of_month().at(0, 0, 0, 0)),
            "start of year" => Some(at.date().first_of_year().at(0, 0, 0, 0)),
            other => moved(at, other)?,
        };
        at = match changed {
            Some(at) if (0..=9999).contains(&at.year()) => at,
            _ => return unsupported("a date outside the calendar"),
        };
    }
    Ok(Some(at))
}

/// `+3 days` and similar modifiers; a day that the month does not have runs over into the next.
fn moved(at: DateTime, modifier: &str) -> Result<Option<DateTime>, EvalError> {
    let parts: Vec<&str> = modifier.split_ascii_whitespace().collect();
    let number = |text: &str| text.strip_prefix('+').unwrap_or(text).parse::<i64>().ok();
    let (Some(count), Some(unit)) = (
        parts.first().and_then(|count| number(count)),
        parts.get(1).filter(|_| parts.len() == 2),
    ) else {
        return unsupported(format!("the modifier '{modifier}'"));
    };
    if count.abs() > 1_000_000 {
        return unsupported("a long span");
    }
    Ok(match unit.strip_suffix('s').unwrap_or(unit) {
        "second" => at.checked_add(count.seconds()).ok(),
        "minute" => at.checked_add(count.minutes()).ok(),
        "hour" => at.checked_add(count.hours()).ok(),
        "day" => at.checked_add(count.days()).ok(),
        unit @ ("month" | "year") => {
            let months = count * if unit == "year" { 12 } else { 1 };
            let total = i64::from(at.year()) * 12 + i64::from(at.month()) - 1 + months;
            let year = i16::try_from(total.div_euclid(12)).ok();
            let month = i8::try_from(total.rem_euclid(12) + 1).ok();
            year.zip(month)
                .and_then(|(year, month)| Date::new(year, month, 1).ok())
                .and_then(|first| {
                    let days = i64::from(at.day()) - 1;
                    first.to_datetime(at.time()).checked_add(days.days()).ok()
                })
        }
        _ => return unsupported(format!("the modifier '{modifier}'")),
    })
}
