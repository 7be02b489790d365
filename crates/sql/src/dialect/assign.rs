//! Parts of assignment that dialects share: lengths, scales, fractions of a second.

use jiff::civil::{DateTime, Time};
use rust_decimal::Decimal;

use super::StoreError;
use crate::eval::number::{self, Number};
use crate::types::DataType;

/// Text cut to a length where only blanks are lost.
pub(super) fn fit(text: &str, length: Option<u32>) -> Result<&str, StoreError> {
    let Some(limit) = length else {
        return Ok(text);
    };
    let end = text.char_indices().nth(limit as usize);
    match end.and_then(|(at, _)| text.split_at_checked(at)) {
        None => Ok(text),
        Some((kept, rest)) if rest.bytes().all(|b| b == b' ') => Ok(kept),
        Some(_) => Err(StoreError::TooLong { limit }),
    }
}

/// A number rounded to a scale, refused when it has too many digits before the point.
pub(super) fn scaled(value: Decimal, precision: u32, scale: u32) -> Result<Decimal, StoreError> {
    let Some(rounded) = number::rescale(value, scale) else {
        // We hold fewer digits than the type does. Zeros after the point may be left out, but
        // nothing may be rounded, and digits before the point are counted exactly.
        let whole = precision.checked_sub(scale).and_then(number::power_of_ten);
        return match whole {
            Some(limit) if value.trunc().mantissa().abs() >= limit => Err(StoreError::OutOfRange),
            _ if precision < scale || value.scale() > scale => {
                Err(StoreError::Unknown(DataType::Decimal {
                    precision: Some(precision),
                    scale: Some(scale),
                }))
            }
            _ => Ok(value),
        };
    };
    match number::power_of_ten(precision) {
        Some(limit) if rounded.mantissa().abs() >= limit => Err(StoreError::OutOfRange),
        _ => Ok(rounded),
    }
}

/// A number as a decimal; a float by its shortest digits.
pub(super) fn exact(value: Number) -> Option<Decimal> {
    match value {
        Number::Float(float) => {
            let text = float.to_string();
            match crate::eval::parse::exact_number(&text) {
                Ok(decimal) if text.len() <= 16 => Some(decimal),
                _ => None,
            }
        }
        other => other.to_decimal(),
    }
}

/// A time of day with some digits of its second, rounded or cut off.
pub(super) fn time_digits(at: DateTime, precision: u8, round: bool) -> Option<DateTime> {
    let unit = 10i32.pow(9 - u32::from(precision.min(9)));
    let nanos = at.subsec_nanosecond();
    let rest = nanos % unit;
    let time = Time::new(at.hour(), at.minute(), at.second(), nanos - rest).ok()?;
    let cut = at.date().to_datetime(time);
    if round && rest * 2 >= unit {
        return cut
            .checked_add(jiff::SignedDuration::from_nanos(unit.into()))
            .ok();
    }
    Some(cut)
}
