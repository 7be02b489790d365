//! Bound parameters as SQL literals.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_sql::render::literal;
use isobath_sql::{DialectName, Value};
use jiff::civil::{Date, Time};
use rust_decimal::Decimal;

use crate::tap::reader::Reader;

/// The type of a value: its number, and whether it has no sign.
pub(super) type Kind = (u8, bool);

/// The values of a command to execute.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// The types of the parameters.
    pub(super) kinds: Arc<[Kind]>,
    /// One bit per parameter: whether it is NULL.
    pub(super) nulls: Arc<[u8]>,
    /// The values that are not NULL and were not sent before.
    pub(super) bound: Arc<[u8]>,
    /// Values that were sent before, in pieces.
    pub(super) long: Arc<BTreeMap<u16, Vec<u8>>>,
}

impl Values {
    /// How much memory they hold.
    pub(crate) fn size(&self) -> usize {
        let long: usize = self.long.values().map(Vec::len).sum();
        self.bound.len() + long
    }

    /// The values as literals; `None` for those that cannot be read.
    pub(crate) fn literals(&self) -> Vec<Option<String>> {
        let mut reader = Some(Reader(&self.bound));
        let kinds = self.kinds.iter().zip(0_u16..);
        kinds
            .map(|(&kind, number)| {
                let at = usize::from(number);
                let is_null = self
                    .nulls
                    .get(at / 8)
                    .is_some_and(|byte| byte >> (at % 8) & 1 == 1);
                if let Some(long) = self.long.get(&number) {
                    return Some(sql(&bytes(kind.0, long)));
                }
                if is_null {
                    return Some("NULL".to_owned());
                }
                let read = reader.as_mut().and_then(|reader| value(kind, reader));
                if read.is_none() {
                    // Where this one ends is not known, so the others cannot be found.
                    reader = None;
                }
                read.map(|value| sql(&value))
            })
            .collect()
    }
}

fn sql(value: &Value) -> String {
    literal(value, DialectName::MySql)
}

/// Reads a value; `None` for a type that is not known, or too few bytes.
fn value((kind, is_unsigned): Kind, reader: &mut Reader<'_>) -> Option<Value> {
    let mut integer = |n: usize| {
        let number = reader.number(n)?;
        let unused = 64 - 8 * n as u32;
        Some(Value::Int(if is_unsigned {
            number.into()
        } else {
            ((number << unused).cast_signed() >> unused).into()
        }))
    };
    match kind {
        0x01 => integer(1),
        0x02 | 0x0d => integer(2),
        0x03 | 0x09 => integer(4),
        0x08 => integer(8),
        0x04 => Some(float(reader.take(4)?)),
        0x05 => {
            let bytes: [u8; 8] = reader.take(8)?.try_into().ok()?;
            Some(Value::Float(f64::from_le_bytes(bytes)))
        }
        0x06 => Some(Value::Null),
        0x07 | 0x0a | 0x0c => moment(kind, reader),
        0x0b => clock(reader),
        // Texts, bytes, exact numbers, labels, JSON: all are sent with their lengths.
        0x00 | 0x0f | 0x10 | 0xf5..=0xff => Some(bytes(kind, reader.bytes()?)),
        _ => None,
    }
}

/// The shortest number that is this one in four bytes, and not what it is in eight.
fn float(raw: &[u8]) -> Value {
    let raw: [u8; 4] = raw.try_into().unwrap_or_default();
    let number = f32::from_le_bytes(raw);
    Value::Float(number.to_string().parse().unwrap_or_else(|_| number.into()))
}

/// Bytes of a type that is sent as such.
fn bytes(kind: u8, bytes: &[u8]) -> Value {
    let Ok(text) = str::from_utf8(bytes) else {
        return Value::Bytes(bytes.to_vec());
    };
    // Exact numbers, of old and new servers.
    if let (0x00 | 0xf6, Ok(number)) = (kind, Decimal::from_str_exact(text)) {
        return Value::Decimal(number);
    }
    Value::Text(text.to_owned())
}

/// Length, year, month, day, hour, minute, second, microseconds; zeros at the end are left out.
fn moment(kind: u8, reader: &mut Reader<'_>) -> Option<Value> {
    let length = reader.number(1)?;
    let mut reader = Reader(reader.take(usize::try_from(length).ok()?)?);
    let year = reader.number(2).unwrap_or(0);
    let mut next = |n| reader.number(n).unwrap_or(0);
    let (month, day) = (next(1), next(1));
    let (hour, minute, second, micros) = (next(1), next(1), next(1), next(4));
    let small = |number: u64| i8::try_from(number).ok();
    let date = Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?);
    let nanos = i32::try_from(micros * 1000).ok()?;
    let time = Time::new(small(hour)?, small(minute)?, small(second)?, nanos);
    Some(match (date, time) {
        (Ok(date), _) if kind == 0x0a => Value::Date(date),
        (Ok(date), Ok(time)) => Value::DateTime(date.to_datetime(time)),
        // Days that are none, such as 0000-00-00.
        _ => Value::Text(format!(
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
        )),
    })
}

/// Length, sign, days, hours, minutes, seconds, microseconds.
fn clock(reader: &mut Reader<'_>) -> Option<Value> {
    let length = reader.number(1)?;
    let mut reader = Reader(reader.take(usize::try_from(length).ok()?)?);
    let mut next = |n| reader.number(n).unwrap_or(0);
    let (is_negative, days) = (next(1) == 1, next(4));
    let (hours, minutes, seconds, micros) = (next(1), next(1), next(1), next(4));
    let hours = days * 24 + hours;
    let small = |number: u64| i8::try_from(number).ok();
    let nanos = i32::try_from(micros * 1000).ok()?;
    if !is_negative
        && let (Some(hours), Some(minutes), Some(seconds)) =
            (small(hours), small(minutes), small(seconds))
        && let Ok(time) = Time::new(hours, minutes, seconds, nanos)
    {
        return Some(Value::Time(time));
    }
    // A duration that is no time of day.
    let sign = if is_negative { "-" } else { "" };
    Some(Value::Text(format!(
        "{sign}{hours:02}:{minutes:02}:{seconds:02}.{micros:06}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: u8, is_unsigned: bool, bound: &[u8]) -> Option<String> {
        let values = Values {
            kinds: [(kind, is_unsigned)].into(),
            nulls: [0].into(),
            bound: bound.into(),
            long: Arc::default(),
        };
        values.literals().pop().flatten()
    }

    #[test]
    fn numbers_have_their_sign_and_their_width() {
        assert_eq!(read(0x01, false, &[0xff]).as_deref(), Some("-1"));
        assert_eq!(read(0x01, true, &[0xff]).as_deref(), Some("255"));
        assert_eq!(
            read(0x03, false, &[1, 0, 0, 0x80]).as_deref(),
            Some("-2147483647")
        );
        assert_eq!(
            read(0x08, true, &[0xff; 8]).as_deref(),
            Some("18446744073709551615")
        );
        assert_eq!(
            read(0x04, false, &0.1_f32.to_le_bytes()).as_deref(),
            Some("1e-1")
        );
        assert_eq!(
            read(0x05, false, &2.5_f64.to_le_bytes()).as_deref(),
            Some("2.5e0")
        );
        assert_eq!(read(0xf6, false, b"\x0512.50").as_deref(), Some("12.50"));
    }

    #[test]
    fn times_are_read_at_every_length() {
        assert_eq!(
            read(0x0a, false, &[4, 0xe8, 7, 2, 29]).as_deref(),
            Some("DATE '2024-02-29'")
        );
        assert_eq!(
            read(0x0c, false, &[7, 0xe8, 7, 2, 29, 13, 5, 9]).as_deref(),
            Some("TIMESTAMP '2024-02-29 13:05:09'")
        );
        assert_eq!(
            read(0x0c, false, &[0]).as_deref(),
            Some("'0000-00-00 00:00:00'")
        );
        assert_eq!(
            read(0x0b, false, &[8, 0, 0, 0, 0, 0, 1, 2, 3]).as_deref(),
            Some("TIME '01:02:03'")
        );
        assert_eq!(
            read(0x0b, false, &[8, 1, 2, 0, 0, 0, 1, 2, 3]).as_deref(),
            Some("'-49:02:03.000000'")
        );
    }

    #[test]
    fn texts_are_quoted_and_bytes_are_not_taken_for_texts() {
        assert_eq!(
            read(0xfd, false, b"\x04a'\\b").as_deref(),
            Some("'a''\\\\b'")
        );
        assert_eq!(
            read(0xfc, false, b"\x02\xff\x00").as_deref(),
            Some("X'ff00'")
        );
        assert_eq!(read(0xfd, false, b"\x09short"), None);
        assert_eq!(read(0x55, false, b"\x01a"), None);
    }
}
