//! Literals: numbers, typed strings and spans of time.

use std::str::FromStr;

use jiff::{Timestamp, civil};
use rust_decimal::Decimal;
use sqlparser::ast::DateTimeField;

use crate::types::DataType;
use crate::value::{Interval, Value};

/// A number as SQL writes it: an integer, an exact decimal, or with an exponent a float.
pub(super) fn number(text: &str) -> Option<Value> {
    if text.contains(['e', 'E']) {
        return text.parse().ok().map(Value::Float);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Value::Int);
    }
    let padded;
    let text = if text.starts_with('.') {
        padded = format!("0{text}");
        &padded
    } else {
        text.trim_end_matches('.')
    };
    Decimal::from_str_exact(text).ok().map(Value::Decimal)
}

/// The value of a string that was given a type, when the type is one of time or text.
pub(super) fn typed(text: &str, data_type: &DataType) -> Option<Value> {
    match data_type {
        DataType::Text | DataType::Varchar { length: None } | DataType::Enum { .. } => {
            Some(Value::Text(text.to_owned()))
        }
        DataType::Date => civil::Date::from_str(text).ok().map(Value::Date),
        DataType::Time { zoned: false, .. } => civil::Time::from_str(text).ok().map(Value::Time),
        DataType::Timestamp { zoned: false, .. } => date_time(text).map(Value::DateTime),
        DataType::Timestamp { zoned: true, .. } => instant(text).map(Value::Instant),
        DataType::Interval => interval(text).map(Value::Interval),
        DataType::Uuid => uuid(text).map(Value::Uuid),
        DataType::Json { .. } => Some(Value::Json(text.to_owned())),
        _ => None,
    }
}

fn date_time(text: &str) -> Option<civil::DateTime> {
    // A zone after the time is ignored by TIMESTAMP WITHOUT TIME ZONE; refuse rather than guess.
    if text.get(10..)?.contains(['+', 'Z', 'z']) {
        return None;
    }
    civil::DateTime::from_str(text).ok()
}

/// Only a text with its own offset is an instant by itself.
fn instant(text: &str) -> Option<Timestamp> {
    Timestamp::from_str(text).ok().or_else(|| {
        let at = text.rfind(['+', '-']).filter(|&at| at > 10)?;
        let (head, offset) = text.split_at(at);
        let offset = if offset.len() == 3 {
            format!("{offset}:00")
        } else {
            offset.to_owned()
        };
        Timestamp::from_str(&format!("{}{offset}", head.trim_end())).ok()
    })
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'-' | b'{' | b'}'))
        .collect();
    if digits.len() != 32 {
        return None;
    }
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// Hexadecimal digits as bytes.
pub(super) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// `1 year 2 days 03:04:05`, as PostgreSQL reads and writes spans.
pub(super) fn interval(text: &str) -> Option<Interval> {
    let mut sum = Interval::default();
    let mut words = text.split_whitespace();
    let mut any = false;
    while let Some(word) = words.next() {
        any = true;
        if word.contains(':') {
            sum.micros = sum.micros.checked_add(clock(word)?)?;
            continue;
        }
        let amount: i64 = word.parse().ok()?;
        add(&mut sum, amount, words.next()?)?;
    }
    any.then_some(sum)
}

/// An amount of one unit.
pub(super) fn interval_of(amount: i64, field: &DateTimeField) -> Option<Interval> {
    let mut sum = Interval::default();
    add(&mut sum, amount, &field.to_string())?;
    Some(sum)
}

fn add(sum: &mut Interval, amount: i64, unit: &str) -> Option<()> {
    let lower = unit.to_ascii_lowercase();
    let unit = lower.strip_suffix('s').unwrap_or(&lower);
    let (months, days, micros) = match unit {
        "year" | "yr" | "y" => (12, 0, 0),
        "month" | "mon" => (1, 0, 0),
        "week" => (0, 7, 0),
        "day" | "d" => (0, 1, 0),
        "hour" | "hr" | "h" => (0, 0, 3_600_000_000),
        "minute" | "min" => (0, 0, 60_000_000),
        "second" | "sec" => (0, 0, 1_000_000),
        "millisecond" => (0, 0, 1_000),
        "microsecond" => (0, 0, 1),
        _ => return None,
    };
    let small = |factor: i64| i32::try_from(amount.checked_mul(factor)?).ok();
    sum.months = sum.months.checked_add(small(months)?)?;
    sum.days = sum.days.checked_add(small(days)?)?;
    sum.micros = sum.micros.checked_add(amount.checked_mul(micros)?)?;
    Some(())
}

fn clock(word: &str) -> Option<i64> {
    let (sign, word) = match word.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, word.strip_prefix('+').unwrap_or(word)),
    };
    let mut micros = 0i64;
    let scales = [3_600_000_000i64, 60_000_000, 1_000_000];
    for (part, scale) in word.splitn(3, ':').zip(scales) {
        let (whole, fraction) = part.split_once('.').unwrap_or((part, ""));
        micros = micros.checked_add(
            whole
                .parse::<u32>()
                .map(i64::from)
                .ok()?
                .checked_mul(scale)?,
        )?;
        if !fraction.is_empty() {
            let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
            micros = micros.checked_add(digits.parse().ok()?)?;
        }
    }
    Some(sign * micros)
}
