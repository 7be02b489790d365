//! Whole, decimal and floating-point numbers with bounds.

use fastrand::Rng;
use serde_json::{Number, Value as Json};

use crate::config::GeneConfig;
use crate::rule::Rule;

/// The least whole number that JSON readers agree on.
pub const LEAST: i128 = i64::MIN as i128;
/// The greatest whole number that JSON readers agree on.
pub const GREATEST: i128 = u64::MAX as i128;
/// Unscaled decimals stay within what a double keeps exactly.
const EXACT: i128 = 1 << 53;

/// No number meets all the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no number is within the bounds")]
pub struct EmptyRange;

/// Whole numbers in a range, or decimals with a fixed number of digits after the point.
///
/// Invariant: `min <= max`, both multiples of `step`. A decimal is kept as its digits without the
/// point, so that it is compared and changed exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerDomain {
    min: i128,
    max: i128,
    step: i128,
    scale: u8,
    bounded_below: bool,
    bounded_above: bool,
}

impl IntegerDomain {
    /// Whole numbers from `min` to `max`, both allowed; `None` is as far as JSON goes.
    ///
    /// # Errors
    /// When nothing is left between the bounds.
    pub fn new(min: Option<i128>, max: Option<i128>) -> Result<Self, EmptyRange> {
        Self::with_step(min, max, 1)
    }

    /// Multiples of `step` from `min` to `max`.
    ///
    /// # Errors
    /// When nothing is left between the bounds.
    pub fn with_step(min: Option<i128>, max: Option<i128>, step: i128) -> Result<Self, EmptyRange> {
        let default_max = i128::from(i64::MAX).max(min.unwrap_or(0));
        Self::build(
            (min, LEAST, GREATEST),
            (max, default_max, GREATEST),
            step,
            0,
        )
    }

    /// Decimals `n / 10^scale` with `n` a multiple of `step` from `min` to `max`.
    ///
    /// # Errors
    /// When nothing is left between the bounds, or the scale is beyond a double's digits.
    pub fn decimal(
        min: Option<i128>,
        max: Option<i128>,
        step: i128,
        scale: u8,
    ) -> Result<Self, EmptyRange> {
        if scale > 12 {
            return Err(EmptyRange);
        }
        Self::build((min, -EXACT, EXACT), (max, EXACT, EXACT), step, scale)
    }

    fn build(
        (min, least, _): (Option<i128>, i128, i128),
        (max, default_max, greatest): (Option<i128>, i128, i128),
        step: i128,
        scale: u8,
    ) -> Result<Self, EmptyRange> {
        if step < 1 || step > greatest {
            return Err(EmptyRange);
        }
        let low = min.unwrap_or(least).max(least);
        let high = max.unwrap_or(default_max).min(greatest);
        let low = low.div_euclid(step) * step + if low.rem_euclid(step) == 0 { 0 } else { step };
        let high = high.div_euclid(step) * step;
        if low > high {
            return Err(EmptyRange);
        }
        Ok(Self {
            min: low,
            max: high,
            step,
            scale,
            bounded_below: min.is_some(),
            bounded_above: max.is_some(),
        })
    }

    /// The least number, without its point.
    #[must_use]
    pub fn min(&self) -> i128 {
        self.min
    }

    /// The greatest number, without its point.
    #[must_use]
    pub fn max(&self) -> i128 {
        self.max
    }

    /// Whether the lower bound was asked for.
    #[must_use]
    pub fn bounded_below(&self) -> bool {
        self.bounded_below
    }

    /// Whether the upper bound was asked for.
    #[must_use]
    pub fn bounded_above(&self) -> bool {
        self.bounded_above
    }

    /// How many digits stand after the point.
    #[must_use]
    pub fn scale(&self) -> u8 {
        self.scale
    }

    pub(crate) fn step(&self) -> i128 {
        self.step
    }

    /// How many different numbers there are.
    pub(crate) fn count(&self) -> u64 {
        u64::try_from((self.max - self.min) / self.step + 1).unwrap_or(u64::MAX)
    }

    fn within(&self, n: i128) -> i128 {
        let n = n.clamp(self.min, self.max);
        let down = n.div_euclid(self.step) * self.step;
        if down < self.min {
            down + self.step
        } else {
            down
        }
    }

    fn between(&self, rng: &mut Rng, low: i128, high: i128) -> i128 {
        self.within(rng.i128(low.min(high)..=low.max(high)))
    }

    pub(crate) fn sample(&self, rng: &mut Rng, config: &GeneConfig) -> i128 {
        if rng.f64() < config.boundary {
            return match rng.u8(0..4) {
                0 => self.min,
                1 => self.max,
                2 => self.within(0),
                _ => self.within(if self.min < 0 { -1 } else { self.step }),
            };
        }
        if config.spread > 0.0 && rng.f64() < config.spread {
            return self.between(rng, self.min, self.max);
        }
        // People use small numbers; machines break on large ones. Most samples are small ones.
        let unit = self.step.saturating_mul(10i128.pow(u32::from(self.scale)));
        let near = self.within(0);
        if rng.u8(0..10) < 7 {
            let reach = unit.saturating_mul(if rng.bool() { 10 } else { 1000 });
            let low = if self.min < 0 && rng.u8(0..4) == 0 {
                near - reach
            } else {
                near
            };
            return self.between(rng, low.max(self.min), (near + reach).min(self.max));
        }
        let bits = rng.u32(1..=63);
        let magnitude = rng.i128(0..=(1i128 << bits));
        let n = if self.min < 0 && rng.bool() {
            near - magnitude
        } else {
            near + magnitude
        };
        if n < self.min || n > self.max {
            self.between(rng, self.min, self.max)
        } else {
            self.within(n)
        }
    }

    /// A different number, near by (`large` false) or anywhere; `None` when there is only one.
    pub(crate) fn mutate(
        &self,
        rng: &mut Rng,
        config: &GeneConfig,
        n: i128,
        large: bool,
    ) -> Option<i128> {
        if self.min == self.max {
            return None;
        }
        for _ in 0..8 {
            let next = if large {
                match rng.u8(0..5) {
                    0 => self.within(-n),
                    1 => self.within(n / 2),
                    2 => self.within(n.saturating_mul(2)),
                    _ => self.sample(rng, config),
                }
            } else {
                let shift = if rng.bool() { 0 } else { rng.u32(0..10) };
                let delta = self.step << shift;
                self.within(if rng.bool() { n + delta } else { n - delta })
            };
            if next != n {
                return Some(next);
            }
        }
        Some(if n < self.max {
            self.within(n + self.step)
        } else {
            self.within(n - self.step)
        })
    }

    pub(crate) fn check(&self, n: i128) -> Result<i128, Rule> {
        // The bounds were moved to multiples, so the step has to be asked about first.
        if n.rem_euclid(self.step) != 0 {
            Err(Rule::MultipleOf)
        } else if n < self.min {
            Err(Rule::Minimum)
        } else if n > self.max {
            Err(Rule::Maximum)
        } else {
            Ok(n)
        }
    }

    pub(crate) fn read(&self, number: &Number) -> Result<i128, Rule> {
        let n = if let Some(n) = number.as_i64() {
            scaled(i128::from(n), self.scale)
        } else if let Some(n) = number.as_u64() {
            scaled(i128::from(n), self.scale)
        } else {
            unscaled(&number.to_string(), self.scale)
        };
        match n {
            Ok(n) => self.check(n),
            Err(DecimalError::TooManyDigits) if self.scale == 0 => Err(Rule::Type),
            Err(DecimalError::TooManyDigits) => Err(Rule::MultipleOf),
            Err(DecimalError::TooLarge { negative: true }) => Err(Rule::Minimum),
            Err(DecimalError::TooLarge { negative: false }) => Err(Rule::Maximum),
        }
    }

    pub(crate) fn to_json(self, n: i128) -> Json {
        integer_json(n, self.scale)
    }
}

/// The JSON number for `n / 10^scale`.
pub(crate) fn integer_json(n: i128, scale: u8) -> Json {
    if scale == 0 {
        if let Ok(n) = i64::try_from(n) {
            return Json::from(n);
        }
        if let Ok(n) = u64::try_from(n) {
            return Json::from(n);
        }
    }
    decimal_text(n, scale)
        .parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map_or(Json::Null, Json::Number)
}

fn decimal_text(n: i128, scale: u8) -> String {
    let unit = 10u128.pow(u32::from(scale));
    let sign = if n < 0 { "-" } else { "" };
    let magnitude = n.unsigned_abs();
    let width = usize::from(scale);
    format!(
        "{sign}{}.{:0width$}",
        magnitude / unit,
        magnitude % unit,
        width = width
    )
}

/// Why a number text is not a decimal of the scale asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecimalError {
    TooManyDigits,
    TooLarge { negative: bool },
}

fn scaled(n: i128, scale: u8) -> Result<i128, DecimalError> {
    n.checked_mul(10i128.pow(u32::from(scale)))
        .ok_or(DecimalError::TooLarge { negative: n < 0 })
}

/// The digits of a JSON number with its point moved by `scale` places; `None` if some are left
/// behind the point, or there are too many.
#[must_use]
pub fn digits(number: &Number, scale: u8) -> Option<i128> {
    unscaled(&number.to_string(), scale).ok()
}

/// Reads the text of a JSON number, exponent included, as `n` with `n / 10^scale` its value.
pub(crate) fn unscaled(text: &str, scale: u8) -> Result<i128, DecimalError> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().unwrap_or(9999)),
        None => (text, 0),
    };
    let negative = mantissa.starts_with('-');
    let digits = mantissa.trim_start_matches(['-', '+']);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let too_large = DecimalError::TooLarge { negative };
    let mut n: i128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        n = n
            .checked_mul(10)
            .and_then(|n| n.checked_add(i128::from(digit.wrapping_sub(b'0').min(9))))
            .ok_or(too_large)?;
    }
    let mut shift = exponent - i32::try_from(fraction.len()).unwrap_or(i32::MAX) + i32::from(scale);
    while shift > 0 && n != 0 {
        n = n.checked_mul(10).ok_or(too_large)?;
        shift -= 1;
    }
    while shift < 0 && n != 0 {
        if n % 10 != 0 {
            return Err(DecimalError::TooManyDigits);
        }
        n /= 10;
        shift += 1;
    }
    Ok(if negative { -n } else { n })
}

/// Floating-point numbers in a range.
///
/// Invariant: both bounds are finite and `min <= max`; exclusive bounds have been moved inward to
/// the next number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatDomain {
    min: f64,
    max: f64,
    bounded_below: bool,
    bounded_above: bool,
}

impl FloatDomain {
    /// Numbers from `min` to `max`, both allowed; see [`next_up`](f64::next_up) for exclusive ones.
    ///
    /// # Errors
    /// When nothing is left between the bounds, or one of them is not a number.
    pub fn new(min: Option<f64>, max: Option<f64>) -> Result<Self, EmptyRange> {
        let low = min.unwrap_or(f64::MIN).max(f64::MIN);
        let high = max.unwrap_or(f64::MAX).min(f64::MAX);
        let ordered = low <= high;
        if !ordered || min.is_some_and(f64::is_nan) || max.is_some_and(f64::is_nan) {
            return Err(EmptyRange);
        }
        Ok(Self {
            min: low,
            max: high,
            bounded_below: min.is_some(),
            bounded_above: max.is_some(),
        })
    }

    /// The least number.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.min
    }

    /// The greatest number.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Whether the lower bound was asked for.
    #[must_use]
    pub fn bounded_below(&self) -> bool {
        self.bounded_below
    }

    /// Whether the upper bound was asked for.
    #[must_use]
    pub fn bounded_above(&self) -> bool {
        self.bounded_above
    }

    /// Short decimals are preferred where they fit, because they read well and survive any parser.
    fn tidy(&self, x: f64, digits: i32) -> f64 {
        let unit = 10f64.powi(digits);
        let rounded = (x * unit).round() / unit;
        if rounded.is_finite() && self.min <= rounded && rounded <= self.max {
            rounded + 0.0
        } else {
            x.clamp(self.min, self.max)
        }
    }

    pub(crate) fn sample(&self, rng: &mut Rng, config: &GeneConfig) -> f64 {
        if rng.f64() < config.boundary {
            return match rng.u8(0..4) {
                0 if self.bounded_below => self.min,
                1 if self.bounded_above => self.max,
                2 => 0.0f64.clamp(self.min, self.max),
                _ => self.tidy(-1.0, 0),
            };
        }
        let near = 0.0f64.clamp(self.min, self.max);
        let reach = match rng.u8(0..10) {
            0..5 => 10.0,
            5..9 => 1000.0,
            _ => 1e9,
        };
        let low = if self.min < near && rng.u8(0..4) == 0 {
            (near - reach).max(self.min)
        } else {
            near
        };
        let high = (near + reach).min(self.max);
        let low = if high <= near {
            (near - reach).max(self.min)
        } else {
            low
        };
        let digits = i32::from(rng.u8(0..4));
        self.tidy(low + rng.f64() * (high - low), digits)
    }

    /// A different number, near by or anywhere; `None` when there is only one.
    pub(crate) fn mutate(
        &self,
        rng: &mut Rng,
        config: &GeneConfig,
        x: f64,
        large: bool,
    ) -> Option<f64> {
        if self.min == self.max {
            return None;
        }
        for _ in 0..8 {
            let next = if large {
                match rng.u8(0..4) {
                    0 => self.tidy(-x, 6),
                    1 => self.tidy(x / 2.0, 3),
                    _ => self.sample(rng, config),
                }
            } else {
                let digits = i32::from(rng.u8(0..4));
                let delta = 10f64.powi(-digits);
                self.tidy(if rng.bool() { x + delta } else { x - delta }, digits + 2)
            };
            if next != x {
                return Some(next);
            }
        }
        Some(if x < self.max {
            x.next_up()
        } else {
            x.next_down()
        })
    }

    pub(crate) fn check(&self, x: f64) -> Result<f64, Rule> {
        if x < self.min {
            Err(Rule::Minimum)
        } else if x > self.max {
            Err(Rule::Maximum)
        } else {
            Ok(x)
        }
    }
}
