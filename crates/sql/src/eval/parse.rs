//! Text as numbers, dates and the like, in the forms that databases agree on.
//!
//! Databases also accept many odd spellings; those are [`TextError::Unsure`], so that
//! neither acceptance nor refusal is ever guessed.

use jiff::civil::{Date, DateTime, Time};
use rust_decimal::Decimal;

use crate::value::{Interval, Value};

use super::error::{EvalError, RaisedError};
use super::number::{Number, decimal, power_of_ten};

/// Why text is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextError {
    /// The database refuses it.
    Invalid,
    /// The database refuses it because it is outside the type's range.
    Range,
    /// The database may or may not take it.
    Unsure,
}

impl TextError {
    /// As an evaluation sees it.
    pub(crate) fn stop(self, text: &str) -> EvalError {
        match self {
            Self::Invalid => EvalError::Raised(RaisedError::InvalidText),
            Self::Range => EvalError::Raised(RaisedError::OutOfRange),
            Self::Unsure => EvalError::unsupported(format!("the literal '{text}'")),
        }
    }
}

/// A number at the start of a text.
pub(crate) struct NumericPrefix {
    /// The number, zero where there is none.
    pub number: Number,
    /// Whether there is one.
    pub found: bool,
    /// What comes after it.
    pub rest: usize,
    /// Whether it has neither point nor exponent.
    pub integral: bool,
}

impl NumericPrefix {
    /// What comes after it in its text.
    pub(crate) fn after<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.rest..).unwrap_or_default()
    }
}

/// Reads `[+-]digits[.digits][e[+-]digits]` after leading white space.
pub(crate) fn prefix(text: &str) -> NumericPrefix {
    let bytes = text.as_bytes();
    let start = bytes
        .iter()
        .take_while(|b| b.is_ascii_whitespace() || **b == 0x0b)
        .count();
    let mut at = start;
    let digits_from = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    if matches!(bytes.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    let whole = digits_from(at);
    let mut end = whole;
    let mut count = whole - at;
    let mut integral = true;
    if bytes.get(whole) == Some(&b'.') {
        let fraction = digits_from(whole + 1);
        count += fraction - whole - 1;
        if count > 0 {
            end = fraction;
            integral = false;
        }
    }
    if count == 0 {
        return NumericPrefix {
            number: Number::Int(0),
            found: false,
            rest: 0,
            integral: true,
        };
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits_from(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
            integral = false;
        }
    }
    NumericPrefix {
        number: number(text.get(start..end).unwrap_or_default()),
        found: true,
        rest: end,
        integral,
    }
}

/// A well-formed numeral as integer or decimal where we can hold it, else as a float.
fn number(text: &str) -> Number {
    let exact = exact(text);
    match exact {
        Some(value) if value.scale() == 0 && !text.contains(['.', 'e', 'E']) => {
            Number::Int(value.mantissa())
        }
        Some(value) => Number::Decimal(value),
        None => match text.parse::<i128>() {
            Ok(value) => Number::Int(value),
            Err(_) => Number::Float(text.parse().unwrap_or(0.0)),
        },
    }
}

/// A well-formed numeral as an exact number, keeping its scale.
fn exact(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: i128 = 0;
    let negative = whole.starts_with('-');
    for digit in whole
        .trim_start_matches(['+', '-'])
        .bytes()
        .chain(fraction.bytes())
    {
        digits = digits
            .checked_mul(10)?
            .checked_add(i128::from(digit - b'0'))?;
    }
    if negative {
        digits = -digits;
    }
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    match u32::try_from(scale) {
        Ok(scale) => decimal(digits, scale),
        Err(_) => decimal(digits.checked_mul(power_of_ten(scale.unsigned_abs())?)?, 0),
    }
}

/// The number that a whole text is, blanks around it allowed.
pub(crate) fn whole(text: &str) -> Option<NumericPrefix> {
    let prefix = prefix(text);
    let is_blank = |b: u8| b.is_ascii_whitespace() || b == 0x0b;
    (prefix.found && prefix.after(text).bytes().all(is_blank)).then_some(prefix)
}

/// An integer as PostgreSQL reads one.
pub(crate) fn int(text: &str) -> Result<i128, TextError> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return trimmed.parse().map_err(|_| TextError::Range);
    }
    // Newer versions read hexadecimal and underscores.
    if digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.contains(['_', 'x', 'o', 'b', 'X', 'O', 'B'])
    {
        return Err(TextError::Unsure);
    }
    Err(TextError::Invalid)
}

/// An exact number as PostgreSQL reads one.
pub(crate) fn exact_number(text: &str) -> Result<Decimal, TextError> {
    match whole(text) {
        Some(found) => found.number.to_decimal().ok_or(TextError::Unsure),
        None => Err(not_a_number(text)),
    }
}

/// A float as PostgreSQL reads one.
pub(crate) fn float(text: &str) -> Result<f64, TextError> {
    match whole(text) {
        Some(_) => {
            let value: f64 = text
                .trim_matches(|c: char| c.is_ascii_whitespace())
                .parse()
                .map_err(|_| TextError::Unsure)?;
            if value.is_infinite() {
                Err(TextError::Range)
            } else if value == 0.0 && text.contains(['1', '2', '3', '4', '5', '6', '7', '8', '9']) {
                Err(TextError::Unsure)
            } else {
                Ok(value)
            }
        }
        None => Err(not_a_number(text)),
    }
}

fn not_a_number(text: &str) -> TextError {
    let word = text
        .trim()
        .trim_start_matches(['+', '-'])
        .to_ascii_lowercase();
    if word.starts_with("nan")
        || word.starts_with("inf")
        || word.contains('_')
        || word.starts_with('0') && word.contains(['x', 'o', 'b'])
    {
        TextError::Unsure
    } else {
        TextError::Invalid
    }
}

/// A boolean as PostgreSQL reads one.
pub(crate) fn boolean(text: &str) -> Result<bool, TextError> {
    let word = text
        .trim_matches(|c: char| c.is_ascii_whitespace())
        .to_ascii_lowercase();
    let begins = |full: &str, least: usize| word.len() >= least && full.starts_with(&word);
    if begins("true", 1) || begins("yes", 1) || word == "on" || word == "1" {
        Ok(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0" {
        Ok(false)
    } else {
        Err(TextError::Invalid)
    }
}

/// A UUID in its usual form, or with braces or without hyphens.
pub(crate) fn uuid(text: &str) -> Result<[u8; 16], TextError> {
    let mut bytes = [0u8; 16];
    let usual = text.len() == 36
        && text
            .bytes()
            .enumerate()
            .all(|(i, b)| matches!(i, 8 | 13 | 18 | 23) == (b == b'-'));
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'-').collect();
    if digits.len() == 32 && digits.iter().all(u8::is_ascii_hexdigit) {
        if !usual && text.len() != 32 {
            return Err(TextError::Unsure);
        }
        let nibble = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
        let (pairs, _) = digits.as_chunks::<2>();
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = nibble(*high) << 4 | nibble(*low);
        }
        return Ok(bytes);
    }
    if text.starts_with('{') || text.trim().len() != text.len() {
        return Err(TextError::Unsure);
    }
    Err(TextError::Invalid)
}

/// What an ISO date and time says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IsoDateTime {
    /// The day.
    pub date: Option<Date>,
    /// The time of day.
    pub time: Option<Time>,
    /// Seconds east of UTC.
    pub offset: Option<i32>,
}

/// Reads `Y-M-D`, `H:M[:S[.F]]` or both, with an optional offset.
///
/// # Errors
///
/// `Range` for a well-formed text that names no day or time, `Invalid` for one
/// that cannot name any, `Unsure` for all other forms.
pub(crate) fn moment(text: &str) -> Result<IsoDateTime, TextError> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let mut moment = IsoDateTime::default();
    let mut rest = trimmed;
    if let Some((date, after)) = scan_date(rest) {
        let (year, month, day) = date;
        if month == 0 || day == 0 || year == 0 {
            // Zero parts mean different things to different databases.
            return Err(if month > 12 || day > 31 {
                TextError::Range
            } else {
                TextError::Unsure
            });
        }
        moment.date = Some(
            i8::try_from(month)
                .ok()
                .zip(i8::try_from(day).ok())
                .and_then(|(month, day)| Date::new(year, month, day).ok())
                .ok_or(TextError::Range)?,
        );
        if after.is_empty() {
            return Ok(moment);
        }
        rest = match after.strip_prefix([' ', 'T']) {
            Some(rest) => rest,
            None => return Err(TextError::Unsure),
        };
    }
    let Some((time, after)) = scan_time(rest)? else {
        return Err(words(trimmed));
    };
    moment.time = Some(time);
    moment.offset = match after.trim_start() {
        "" => None,
        "Z" | "z" => Some(0),
        zone => Some(scan_offset(zone).ok_or(TextError::Unsure)?),
    };
    Ok(moment)
}

/// Whether text without any digit could be a moment: only by a few words.
fn words(text: &str) -> TextError {
    let known = [
        "epoch",
        "infinity",
        "-infinity",
        "now",
        "today",
        "tomorrow",
        "yesterday",
        "allballs",
    ];
    if text.bytes().any(|b| b.is_ascii_digit())
        || known.iter().any(|word| text.eq_ignore_ascii_case(word))
    {
        TextError::Unsure
    } else {
        TextError::Invalid
    }
}

fn scan_date(text: &str) -> Option<((i16, u8, u8), &str)> {
    let (year, rest) = scan_digits(text, 4, 4)?;
    let (month, rest) = scan_digits(rest.strip_prefix('-')?, 1, 2)?;
    let (day, rest) = scan_digits(rest.strip_prefix('-')?, 1, 2)?;
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((
        (
            i16::try_from(year).ok()?,
            u8::try_from(month).ok()?,
            u8::try_from(day).ok()?,
        ),
        rest,
    ))
}

fn scan_time(text: &str) -> Result<Option<(Time, &str)>, TextError> {
    let Some((hour, rest)) = scan_digits(text, 1, 2) else {
        return Ok(None);
    };
    let Some((minute, mut rest)) = rest.strip_prefix(':').and_then(|r| scan_digits(r, 2, 2)) else {
        return Ok(None);
    };
    let (mut second, mut nanos) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        let Some((found, after)) = scan_digits(after, 2, 2) else {
            return Ok(None);
        };
        second = found;
        rest = after;
        if let Some(after) = rest.strip_prefix('.') {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            // Databases keep microseconds; more digits would be rounded.
            if digits > 6 {
                return Err(TextError::Unsure);
            }
            let (fraction, after) = after.split_at_checked(digits).unwrap_or((after, ""));
            if digits > 0 {
                let value: u32 = fraction.parse().map_err(|_| TextError::Unsure)?;
                nanos = value * 10u32.pow(9 - digits as u32);
            }
            rest = after;
        }
    }
    if hour == 24 || second == 60 {
        return Err(TextError::Unsure);
    }
    let part = |value: u32| i8::try_from(value).map_err(|_| TextError::Range);
    let nanos = i32::try_from(nanos).map_err(|_| TextError::Range)?;
    let time = Time::new(part(hour)?, part(minute)?, part(second)?, nanos)
        .map_err(|_| TextError::Range)?;
    Ok(Some((time, rest)))
}

fn scan_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, rest) = scan_digits(digits, 2, 2)?;
    let minutes = match rest.strip_prefix(':') {
        Some(rest) => {
            let (minutes, rest) = scan_digits(rest, 2, 2)?;
            rest.is_empty().then_some(minutes)?
        }
        None if rest.is_empty() => 0,
        None => return None,
    };
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60) as i32)
}

fn scan_digits(text: &str, least: usize, most: usize) -> Option<(u32, &str)> {
    let count = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    if count < least {
        return None;
    }
    let (digits, rest) = text.split_at_checked(count)?;
    Some((digits.parse().ok()?, rest))
}

impl IsoDateTime {
    /// The day and time, midnight where it has no time.
    pub(crate) fn datetime(self) -> Option<DateTime> {
        Some(
            self.date?
                .to_datetime(self.time.unwrap_or(Time::midnight())),
        )
    }

    /// A day, a time of day or both, as a value; the offset is not kept.
    pub(crate) fn into_value(self) -> Value {
        match (self.date, self.time) {
            (Some(date), None) => Value::Date(date),
            (Some(date), Some(time)) => Value::DateTime(date.to_datetime(time)),
            (None, Some(time)) => Value::Time(time),
            (None, None) => Value::Null,
        }
    }
}

/// A span of time in words, such as `1 year 2 days` or `1 day 02:03:04`.
pub(crate) fn interval(text: &str) -> Result<Interval, TextError> {
    let mut span = Interval::default();
    let mut words = text.split_ascii_whitespace();
    let mut any = false;
    while let Some(word) = words.next() {
        any = true;
        if word.contains(':') {
            let Ok(Some((time, ""))) = scan_time(word) else {
                return Err(TextError::Unsure);
            };
            let seconds = i64::from(time.hour()) * 3600
                + i64::from(time.minute()) * 60
                + i64::from(time.second());
            span.micros += seconds * 1_000_000 + i64::from(time.subsec_nanosecond() / 1000);
            continue;
        }
        let count: i32 = word.parse().map_err(|_| words_or(text))?;
        let unit = words.next().ok_or(TextError::Unsure)?.to_ascii_lowercase();
        let unit = unit.strip_suffix('s').unwrap_or(&unit);
        let grow = |slot: &mut i32, by: i32| {
            *slot = count
                .checked_mul(by)
                .and_then(|n| slot.checked_add(n))
                .ok_or(TextError::Unsure)?;
            Ok(())
        };
        let seconds = match unit {
            "year" => {
                grow(&mut span.months, 12)?;
                0
            }
            "month" | "mon" => {
                grow(&mut span.months, 1)?;
                0
            }
            "week" => {
                grow(&mut span.days, 7)?;
                0
            }
            "day" => {
                grow(&mut span.days, 1)?;
                0
            }
            "hour" => 3600,
            "minute" | "min" => 60,
            "second" | "sec" => 1,
            _ => return Err(TextError::Unsure),
        };
        span.micros += i64::from(count) * seconds * 1_000_000;
    }
    if any {
        Ok(span)
    } else {
        Err(TextError::Invalid)
    }
}

/// Text without any digit is no span.
fn words_or(text: &str) -> TextError {
    if text.bytes().any(|b| b.is_ascii_digit()) || text.contains("infinity") {
        TextError::Unsure
    } else {
        TextError::Invalid
    }
}
