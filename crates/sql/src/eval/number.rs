//! Numbers of the three families that SQL mixes, compared and computed exactly.

use std::cmp::Ordering;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::value::Value;

/// A number of any family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    /// An integer.
    Int(i128),
    /// An exact number.
    Decimal(Decimal),
    /// A floating-point number.
    Float(f64),
}

impl Number {
    /// The number a value is; TRUE and FALSE count as 1 and 0.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Int((*value).into())),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::Decimal(value) => Some(Self::Decimal(*value)),
            Value::Float(value) => Some(Self::Float(*value)),
            _ => None,
        }
    }

    /// As a value.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Int(value) => Value::Int(value),
            Self::Decimal(value) => Value::Decimal(value),
            Self::Float(value) => Value::Float(value),
        }
    }

    /// The nearest floating-point number.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Decimal(value) => decimal_to_f64(value),
            Self::Float(value) => value,
        }
    }

    /// As an exact number, unless it is a float or too long.
    pub(crate) fn to_decimal(self) -> Option<Decimal> {
        match self {
            Self::Int(value) => Decimal::try_from_i128_with_scale(value, 0).ok(),
            Self::Decimal(value) => Some(value),
            Self::Float(_) => None,
        }
    }

    /// Whether it is zero.
    pub(crate) fn is_zero(self) -> bool {
        match self {
            Self::Int(value) => value == 0,
            Self::Decimal(value) => value.is_zero(),
            Self::Float(value) => value == 0.0,
        }
    }

    /// The order of two numbers; against a float, both are floats, as most databases do.
    pub(crate) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(&b),
            (Self::Float(_), _) | (_, Self::Float(_)) => {
                isobath_distance::number::order(self.to_f64(), other.to_f64())
            }
            _ => match (self.to_decimal(), other.to_decimal()) {
                (Some(a), Some(b)) => a.cmp(&b),
                // An integer beyond 96 bits lies outside every decimal that we hold.
                _ => isobath_distance::number::order(self.to_f64(), other.to_f64()),
            },
        }
    }

    /// The order of two numbers without rounding integers to floats (SQLite).
    pub(crate) fn order_exactly(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Float(b)) => int_and_float(a, b),
            (Self::Float(a), Self::Int(b)) => int_and_float(b, a).reverse(),
            _ => self.order(other),
        }
    }

    /// How far two numbers are apart.
    pub(crate) fn gap(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.abs_diff(b) as f64,
            _ => (self.to_f64() - other.to_f64()).abs(),
        }
    }
}

fn int_and_float(a: i128, b: f64) -> Ordering {
    // Beyond 2^100 every float is far outside 64-bit integers.
    if b.is_nan() || b >= 1.3e30 {
        return Ordering::Less;
    }
    if b <= -1.3e30 {
        return Ordering::Greater;
    }
    let whole = b.trunc();
    a.cmp(&(whole as i128))
        .then_with(|| isobath_distance::number::order(0.0, b - whole))
}

/// The float nearest to a decimal; exact division where both parts are exact.
pub(crate) fn decimal_to_f64(value: Decimal) -> f64 {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let mantissa = value.mantissa();
    match POWERS.get(value.scale() as usize) {
        Some(power) if mantissa.unsigned_abs() < 1 << 53 => mantissa as f64 / power,
        _ => value
            .to_string()
            .parse()
            .ok()
            .or_else(|| value.to_f64())
            .unwrap_or(0.0),
    }
}

/// Ten to a power, when it fits.
pub(crate) fn power_of_ten(exponent: u32) -> Option<i128> {
    10i128.checked_pow(exponent)
}

/// A decimal from digits and scale, when we can hold it.
pub(crate) fn decimal(mantissa: i128, scale: u32) -> Option<Decimal> {
    Decimal::try_from_i128_with_scale(mantissa, scale).ok()
}

/// A decimal at another scale, rounded half away from zero.
pub(crate) fn rescale(value: Decimal, scale: u32) -> Option<Decimal> {
    let (mantissa, from) = (value.mantissa(), value.scale());
    if scale >= from {
        decimal(mantissa.checked_mul(power_of_ten(scale - from)?)?, scale)
    } else {
        decimal(
            divide_rounding(mantissa, power_of_ten(from - scale)?),
            scale,
        )
    }
}

/// Integer division rounded half away from zero; the divisor is positive.
pub(crate) fn divide_rounding(value: i128, by: i128) -> i128 {
    let (quotient, rest) = (value / by, value % by);
    if rest.unsigned_abs() * 2 >= by.unsigned_abs() {
        quotient + value.signum()
    } else {
        quotient
    }
}

/// A decimal rounded half away from zero to an integer.
pub(crate) fn round_to_int(value: Decimal) -> Option<i128> {
    Some(divide_rounding(
        value.mantissa(),
        power_of_ten(value.scale())?,
    ))
}

/// Adds (or, with `sign` -1, subtracts) exactly.
pub(crate) fn add(a: Decimal, b: Decimal, sign: i128) -> Option<Decimal> {
    let scale = a.scale().max(b.scale());
    let at = |value: Decimal| {
        value
            .mantissa()
            .checked_mul(power_of_ten(scale - value.scale())?)
    };
    decimal(at(a)?.checked_add(at(b)?.checked_mul(sign)?)?, scale)
}

/// Multiplies exactly.
pub(crate) fn multiply(a: Decimal, b: Decimal) -> Option<Decimal> {
    decimal(
        a.mantissa().checked_mul(b.mantissa())?,
        a.scale() + b.scale(),
    )
}

/// The remainder with the sign of the dividend, at the larger scale; `b` is not zero.
pub(crate) fn remainder(a: Decimal, b: Decimal) -> Option<Decimal> {
    let scale = a.scale().max(b.scale());
    let at = |value: Decimal| {
        value
            .mantissa()
            .checked_mul(power_of_ten(scale - value.scale())?)
    };
    decimal(at(a)?.checked_rem(at(b)?)?, scale)
}

/// Divides to `scale` digits, rounding half away from zero or cutting off; `b` is not zero.
pub(crate) fn divide(a: Decimal, b: Decimal, scale: u32, round: bool) -> Option<Decimal> {
    // a/b = (am / 10^as) / (bm / 10^bs), wanted as digits at `scale`.
    let up = i64::from(scale) + i64::from(b.scale()) - i64::from(a.scale());
    let (mut top, mut bottom) = (a.mantissa(), b.mantissa());
    if up >= 0 {
        top = top.checked_mul(power_of_ten(u32::try_from(up).ok()?)?)?;
    } else {
        bottom = bottom.checked_mul(power_of_ten(u32::try_from(-up).ok()?)?)?;
    }
    if bottom < 0 {
        (top, bottom) = (-top, -bottom);
    }
    let digits = if round {
        divide_rounding(top, bottom)
    } else {
        top / bottom
    };
    decimal(digits, scale)
}

/// The scale that PostgreSQL gives a quotient: sixteen significant digits or so.
pub(crate) fn postgres_quotient_scale(a: Decimal, b: Decimal) -> u32 {
    let (weight_a, first_a) = leading_group(a);
    let (weight_b, first_b) = leading_group(b);
    let mut weight = weight_a - weight_b;
    if first_a <= first_b {
        weight -= 1;
    }
    let scale = 16 - weight * 4;
    u32::try_from(scale)
        .unwrap_or(0)
        .max(a.scale())
        .max(b.scale())
}

/// The weight and value of the first non-zero group of four digits, aligned at the point.
fn leading_group(value: Decimal) -> (i32, i128) {
    let mut digits = value.mantissa().abs();
    if digits == 0 {
        return (0, 0);
    }
    // Pad the fraction to whole groups of four.
    let pad = (4 - value.scale() % 4) % 4;
    digits *= power_of_ten(pad).unwrap_or(1);
    let mut weight = -i32::try_from((value.scale() + pad) / 4).unwrap_or(0);
    while digits >= 10_000 {
        digits /= 10_000;
        weight += 1;
    }
    (weight, digits)
}
