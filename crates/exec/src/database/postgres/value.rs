//! Decodes binary values of the PostgreSQL protocol.

use isobath_sql::Value;
use isobath_sql::value::Interval;
use jiff::civil::{Date, Time};
use jiff::{SignedDuration, Span};
use rust_decimal::Decimal;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Kind, Type};

/// One value of a row; `None` for a type, or a value, that only the server can spell.
pub(super) fn value(row: &Row, index: usize) -> Option<Value> {
    let Raw(bytes) = row.try_get(index).ok()?;
    let Some(bytes) = bytes else {
        return Some(Value::Null);
    };
    decoded(row.columns().get(index)?.type_(), bytes)
}

/// The bytes of any value.
struct Raw<'a>(Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A value of a type in its binary form; `None` where only the server can spell it.
pub(crate) fn decoded(of: &Type, bytes: &[u8]) -> Option<Value> {
    if let Kind::Domain(inner) = of.kind() {
        return decoded(inner, bytes);
    }
    Some(match *of {
        Type::BOOL => Value::Bool(bytes.first()? != &0),
        Type::INT2 => Value::Int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::INT4 => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::INT8 => Value::Int(i64::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::OID => Value::Int(u32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::FLOAT4 => Value::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::FLOAT8 => Value::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
        Type::NUMERIC => Value::Decimal(numeric(bytes)?),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::CHAR => {
            Value::Text(str::from_utf8(bytes).ok()?.to_owned())
        }
        Type::BYTEA => Value::Bytes(bytes.to_vec()),
        Type::DATE => Value::Date(date(i32::from_be_bytes(bytes.try_into().ok()?).into())?),
        Type::TIME => Value::Time(time(i64::from_be_bytes(bytes.try_into().ok()?))?),
        Type::TIMESTAMP => {
            let (date, time) = date_time(i64::from_be_bytes(bytes.try_into().ok()?))?;
            Value::DateTime(date.to_datetime(time))
        }
        Type::TIMESTAMPTZ => {
            let (date, time) = date_time(i64::from_be_bytes(bytes.try_into().ok()?))?;
            let zoned = date
                .to_datetime(time)
                .to_zoned(jiff::tz::TimeZone::UTC)
                .ok()?;
            Value::Instant(zoned.timestamp())
        }
        Type::INTERVAL => Value::Interval(Interval {
            micros: i64::from_be_bytes(bytes.get(0..8)?.try_into().ok()?),
            days: i32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?),
            months: i32::from_be_bytes(bytes.get(12..16)?.try_into().ok()?),
        }),
        Type::UUID => Value::Uuid(bytes.try_into().ok()?),
        Type::JSON => Value::Json(str::from_utf8(bytes).ok()?.to_owned()),
        // The first byte is the version of the format.
        Type::JSONB => Value::Json(str::from_utf8(bytes.get(1..)?).ok()?.to_owned()),
        _ if matches!(of.kind(), Kind::Enum(_)) => {
            Value::Text(str::from_utf8(bytes).ok()?.to_owned())
        }
        _ => return None,
    })
}

/// NUMERIC: four 16-bit headers (digits, weight, sign, scale), then digits in base 10,000.
fn numeric(bytes: &[u8]) -> Option<Decimal> {
    let (pairs, _) = bytes.as_chunks();
    let mut words = pairs.iter().map(|pair| i16::from_be_bytes(*pair));
    let (count, weight, sign, scale) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let negative = match sign {
        0 => false,
        0x4000 => true,
        // NaN and the infinities.
        _ => return None,
    };
    let digits: Vec<i16> = words.take(count.try_into().ok()?).collect();
    let digit = |position: i32| {
        usize::try_from(position)
            .ok()
            .and_then(|position| digits.get(position))
            .copied()
            .unwrap_or(0)
    };
    let weight = i32::from(weight);
    let scale = usize::try_from(scale).ok()?;
    let mut text = String::new();
    if negative {
        text.push('-');
    }
    if weight < 0 {
        text.push('0');
    }
    for position in 0..=weight {
        text.push_str(&format!("{:04}", digit(position)));
    }
    if scale > 0 {
        let mut fraction = String::new();
        let mut position = weight + 1;
        while fraction.len() < scale {
            fraction.push_str(&format!(
                "{:04}",
                if position < 0 { 0 } else { digit(position) }
            ));
            position += 1;
        }
        // A number below 0.0001 has leading groups of zeros that are not stored.
        if weight < -1 {
            let zeros = "0000".repeat(usize::try_from(-1 - weight).ok()?);
            let stored: String = digits.iter().map(|digit| format!("{digit:04}")).collect();
            fraction = format!("{zeros}{stored}{}", "0".repeat(scale));
        }
        text.push('.');
        text.extend(fraction.chars().take(scale));
    }
    Decimal::from_str_exact(&text).ok()
}

/// Days since 2000-01-01; the extremes are the infinities.
fn date(days: i64) -> Option<Date> {
    let span = Span::new().try_days(days).ok()?;
    Date::constant(2000, 1, 1).checked_add(span).ok()
}

/// Microseconds since midnight; 24:00 is a time to PostgreSQL only.
fn time(micros: i64) -> Option<Time> {
    Time::midnight()
        .checked_add(SignedDuration::from_micros(micros))
        .ok()
}

/// Microseconds since 2000-01-01 00:00.
fn date_time(micros: i64) -> Option<(Date, Time)> {
    const DAY: i64 = 86_400_000_000;
    Some((date(micros.div_euclid(DAY))?, time(micros.rem_euclid(DAY))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[i16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_keep_their_scale() {
        for (encoded, text) in [
            (words(&[0, 0, 0, 0]), "0"),
            (words(&[0, 0, 0, 2]), "0.00"),
            (words(&[2, 1, 0, 0, 1, 2345]), "12345"),
            (words(&[1, 1, 0, 0, 7]), "70000"),
            (words(&[2, 0, 0x4000, 2, 12, 3400]), "-12.34"),
            (words(&[1, -1, 0, 3, 1250]), "0.125"),
            (words(&[1, -2, 0, 6, 500]), "0.000005"),
            (words(&[1, -3, 0, 10, 1200]), "0.0000000012"),
        ] {
            assert_eq!(numeric(&encoded).unwrap().to_string(), text);
        }
        assert_eq!(numeric(&words(&[0, 0, -0x4000, 0])), None, "NaN");
    }

    #[test]
    fn dates_count_from_the_year_2000_in_both_directions() {
        assert_eq!(date(0).unwrap().to_string(), "2000-01-01");
        assert_eq!(date(-1).unwrap().to_string(), "1999-12-31");
        assert_eq!(date(i64::from(i32::MAX)), None, "infinity");
        let (day, hour) = date_time(-1).unwrap();
        assert_eq!(format!("{day} {hour}"), "1999-12-31 23:59:59.999999");
    }
}
