//! Dates and times as parts, as instants, and moved by intervals.
//!
//! Zone-less times become instants in UTC: test servers run in UTC.

use isobath_distance::date::DateParts;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use crate::value::{Interval, Value};

/// A zone-less day and time as an instant.
pub(crate) fn instant(at: DateTime) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(at).ok()
}

/// An instant as a day and time of UTC.
pub(crate) fn utc(at: Timestamp) -> DateTime {
    Offset::UTC.to_datetime(at)
}

/// The day and time that a value names, midnight for a day.
pub(crate) fn datetime(value: &Value) -> Option<DateTime> {
    match value {
        Value::Date(date) => Some(date.to_datetime(Time::midnight())),
        Value::DateTime(at) => Some(*at),
        Value::Instant(at) => Some(utc(*at)),
        _ => None,
    }
}

/// The calendar parts of a moment.
pub(crate) fn parts(at: DateTime) -> DateParts {
    DateParts {
        year: at.year().into(),
        month: at.month().unsigned_abs(),
        day: at.day().unsigned_abs(),
        hour: at.hour().unsigned_abs(),
        minute: at.minute().unsigned_abs(),
        second: at.second().unsigned_abs(),
        nano: at.subsec_nanosecond().unsigned_abs(),
    }
}

/// The calendar parts of a time of day.
pub(crate) fn time_parts(at: Time) -> DateParts {
    parts(Date::ZERO.to_datetime(at))
}

/// A span as microseconds, for comparison: a month counts thirty days, a day 24 hours.
pub(crate) fn micros(span: Interval) -> i128 {
    let days = i128::from(span.months) * 30 + i128::from(span.days);
    days * 86_400_000_000 + i128::from(span.micros)
}

/// A moment moved by a span; days beyond the month's end become its last day.
pub(crate) fn shifted(at: DateTime, span: Interval, sign: i32) -> Option<DateTime> {
    let months =
        i32::from(at.year()) * 12 + i32::from(at.month()) - 1 + span.months.checked_mul(sign)?;
    let year = i16::try_from(months.div_euclid(12)).ok()?;
    let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
    let first = Date::new(year, month, 1).ok()?;
    let day = at.day().min(first.days_in_month());
    let date = Date::new(year, month, day).ok()?;
    let days = i64::from(span.days.checked_mul(sign)?);
    let date = date
        .checked_add(jiff::Span::new().try_days(days).ok()?)
        .ok()?;
    let micros = span.micros.checked_mul(i64::from(sign))?;
    date.to_datetime(at.time())
        .checked_add(SignedDuration::from_micros(micros))
        .ok()
}

/// Whole days from `from` to `to`.
pub(crate) fn days_between(from: Date, to: Date) -> Option<i64> {
    let span = from.until((jiff::Unit::Day, to)).ok()?;
    Some(i64::from(span.get_days()))
}

/// The span between two moments as PostgreSQL gives it: days and a rest.
pub(crate) fn span_between(from: DateTime, to: DateTime) -> Option<Interval> {
    let nanos = to.duration_since(from).as_nanos();
    let micros = i64::try_from(nanos / 1000).ok()?;
    Some(Interval {
        months: 0,
        days: i32::try_from(micros / 86_400_000_000).ok()?,
        micros: micros % 86_400_000_000,
    })
}
