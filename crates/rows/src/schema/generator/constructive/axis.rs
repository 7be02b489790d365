//! Ordered types on one line of exact numbers, so that bounds of all of them are handled alike.
//!
//! Numbers stand for themselves, days and instants for seconds since 1970. A
//! type's values are the multiples of a *unit* on that line; where values in
//! between exist too (floats, unbounded decimals, SQLite's flexible columns)
//! the axis is *dense* and only order, never counting, may prove anything.

use isobath_sql::schema::Column;
use isobath_sql::value::Interval;
use isobath_sql::{DataType, Value};
use jiff::{SignedDuration, Timestamp, civil};
use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};

/// Which values share a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisKind {
    Number,
    /// Days and times of day together, without zone.
    Moment,
    Instant,
    Time,
}

/// Where the values of one column lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) line: AxisKind,
    pub(super) unit: Decimal,
    pub(super) dense: bool,
    pub(super) least: Option<Decimal>,
    pub(super) greatest: Option<Decimal>,
    /// Whether no value of the type is beyond `least` and `greatest`; otherwise they only keep values sane.
    pub(super) limited: bool,
}

const DAY: i64 = 86_400;

impl Axis {
    /// The axis of a column; `flexible` says that its type is only advice (SQLite).
    pub(super) fn of(column: &Column, flexible: bool) -> Option<Self> {
        let whole = Decimal::ONE;
        let axis = |line, unit, dense, least, greatest, limited| {
            Some(Self {
                line,
                unit,
                dense: dense || flexible,
                least,
                greatest,
                limited: limited && !flexible,
            })
        };
        let day = |year, month, day| moment(civil::date(year, month, day).at(0, 0, 0, 0));
        match &column.data_type {
            DataType::Integer { .. } => {
                let range = column.data_type.integer_range()?;
                let least = Decimal::try_from_i128_with_scale(*range.start(), 0).ok();
                let greatest = Decimal::try_from_i128_with_scale(*range.end(), 0).ok();
                axis(AxisKind::Number, whole, false, least, greatest, true)
            }
            DataType::Decimal { precision, scale } => match precision {
                Some(precision) if *precision <= 28 => {
                    let scale = scale.unwrap_or(0).min(*precision);
                    let most = Decimal::try_from_i128_with_scale(
                        10i128.checked_pow(*precision)?.checked_sub(1)?,
                        scale,
                    )
                    .ok()?;
                    let unit = Decimal::new(1, scale);
                    axis(AxisKind::Number, unit, false, Some(-most), Some(most), true)
                }
                // More digits than we can count with: the line is as good as dense, and it ends
                // where the digits before the point do.
                Some(precision) => {
                    let scale = scale.unwrap_or(0);
                    let unit = Decimal::new(1, scale.min(6));
                    let end = precision
                        .checked_sub(scale)
                        .and_then(|digits| 10i128.checked_pow(digits))
                        .and_then(|end| Decimal::try_from_i128_with_scale(end, 0).ok());
                    let least = end.map(|end| -end);
                    axis(AxisKind::Number, unit, true, least, end, end.is_some())
                }
                None => {
                    let unit = Decimal::new(1, scale.unwrap_or(2).min(6));
                    axis(AxisKind::Number, unit, true, None, None, false)
                }
            },
            DataType::Float { .. } => {
                let most = Decimal::new(1_000_000, 0);
                let unit = Decimal::new(5, 1);
                axis(AxisKind::Number, unit, true, Some(-most), Some(most), false)
            }
            DataType::Year => {
                let (least, most) = (Decimal::new(1901, 0), Decimal::new(2155, 0));
                axis(
                    AxisKind::Number,
                    whole,
                    false,
                    Some(least),
                    Some(most),
                    false,
                )
            }
            DataType::Date => {
                let unit = Decimal::new(DAY, 0);
                let (least, most) = (day(1000, 1, 1), day(9999, 12, 31));
                axis(
                    AxisKind::Moment,
                    unit,
                    false,
                    Some(least),
                    Some(most),
                    false,
                )
            }
            DataType::Timestamp { zoned, .. } => {
                // MySQL's TIMESTAMP ends in 2038; values outside are never worth a test by accident.
                let (least, most) = if *zoned {
                    (day(1970, 1, 2), day(2038, 1, 18))
                } else {
                    (day(1000, 1, 1), day(9999, 12, 30))
                };
                let line = if *zoned {
                    AxisKind::Instant
                } else {
                    AxisKind::Moment
                };
                // Fractions of a second exist, so whole seconds prove nothing.
                axis(line, whole, true, Some(least), Some(most), false)
            }
            DataType::Time { zoned: false, .. } => {
                let most = Decimal::new(DAY - 1, 0);
                axis(
                    AxisKind::Time,
                    whole,
                    true,
                    Some(Decimal::ZERO),
                    Some(most),
                    false,
                )
            }
            _ => None,
        }
    }

    /// Where a constant lies, when it is of this line.
    pub(super) fn point(&self, value: &Value) -> Option<Decimal> {
        match (self.line, value) {
            (AxisKind::Number, Value::Int(number)) => {
                Decimal::try_from_i128_with_scale(*number, 0).ok()
            }
            (AxisKind::Number, Value::Decimal(number)) => Some(*number),
            (AxisKind::Number, Value::Float(number)) => Decimal::from_f64_retain(*number),
            (AxisKind::Moment, Value::Date(date)) => Some(moment(date.at(0, 0, 0, 0))),
            (AxisKind::Moment, Value::DateTime(at)) => Some(moment(*at)),
            (AxisKind::Moment, Value::Text(text)) => text_moment(text),
            (AxisKind::Instant, Value::Instant(at)) => {
                Decimal::try_from_i128_with_scale(at.as_microsecond().into(), 6).ok()
            }
            (AxisKind::Time, Value::Time(at)) => {
                let nanos = at.duration_since(civil::Time::midnight()).as_nanos();
                Decimal::try_from_i128_with_scale(nanos, 9).ok()
            }
            _ => None,
        }
    }

    /// The value at a point, for a column of this axis.
    pub(super) fn value(&self, point: Decimal, data_type: &DataType) -> Option<Value> {
        match data_type {
            DataType::Integer { .. } | DataType::Year if point.fract().is_zero() => Some(
                Value::Int(point.trunc().mantissa() / 10i128.pow(point.trunc().scale())),
            ),
            DataType::Integer { .. } | DataType::Year => Some(Value::Decimal(point.normalize())),
            DataType::Decimal { scale, precision } => {
                let mut point = point.normalize();
                let scale = match precision {
                    // A type that is only advice holds more digits than it says.
                    Some(precision) if self.limited || *precision > 28 => scale.unwrap_or(0),
                    Some(_) | None => scale.unwrap_or(0).max(point.scale()),
                };
                point.rescale(scale);
                Some(Value::Decimal(point))
            }
            DataType::Float { .. } => point.to_f64().map(Value::Float),
            DataType::Date => Some(Value::Date(at(point)?.date())),
            DataType::Timestamp { zoned: false, .. } => Some(Value::DateTime(at(point)?)),
            DataType::Timestamp { zoned: true, .. } => {
                let micros = point.checked_mul(Decimal::new(1_000_000, 0))?.to_i64()?;
                Some(Value::Instant(Timestamp::from_microsecond(micros).ok()?))
            }
            DataType::Time { .. } => {
                let seconds = seconds(point)?;
                let time = civil::Time::midnight().checked_add(seconds).ok()?;
                Some(Value::Time(time))
            }
            _ => None,
        }
    }

    /// How far an added constant moves a value of this column: days for a DATE, itself for a number.
    pub(super) fn step(&self, value: &Value, data_type: &DataType) -> Option<Decimal> {
        match (self.line, value) {
            (AxisKind::Number, Value::Int(_) | Value::Decimal(_)) => self.point(value),
            (AxisKind::Moment, Value::Int(days)) if *data_type == DataType::Date => {
                Decimal::try_from_i128_with_scale(days.checked_mul(DAY.into())?, 0).ok()
            }
            (
                AxisKind::Moment | AxisKind::Instant,
                Value::Interval(Interval {
                    months: 0,
                    days,
                    micros,
                }),
            ) => {
                let days = Decimal::new(i64::from(*days) * DAY, 0);
                days.checked_add(Decimal::new(*micros, 6))
            }
            _ => None,
        }
    }

    /// The least multiple of the unit that is not below `point` (or above it, when `beyond`).
    pub(super) fn at_or_above(&self, point: Decimal, beyond: bool) -> Option<Decimal> {
        let unit = self.unit_near(point);
        let up = ceil(point, unit)?;
        if beyond && up == point {
            up.checked_add(unit)
        } else {
            Some(up)
        }
    }

    /// The greatest multiple of the unit that is not above `point` (or below it, when `beyond`).
    pub(super) fn at_or_below(&self, point: Decimal, beyond: bool) -> Option<Decimal> {
        self.at_or_above(-point, beyond).map(|point| -point)
    }

    /// On a dense axis a bound with more digits than the unit deserves neighbours as close as its last digit.
    fn unit_near(&self, point: Decimal) -> Decimal {
        let digits = point.normalize().scale();
        if !self.dense {
            return self.unit;
        }
        if digits > self.unit.scale() && digits <= 12 {
            return Decimal::new(1, digits);
        }
        // Beside a number of many digits, a small step would be rounded away.
        let mut unit = self.unit;
        while point.checked_add(unit) == Some(point) {
            unit *= Decimal::TEN;
        }
        unit
    }
}

fn ceil(point: Decimal, unit: Decimal) -> Option<Decimal> {
    if unit.mantissa() == 1 {
        Some(point.round_dp_with_strategy(unit.scale(), RoundingStrategy::ToPositiveInfinity))
    } else {
        point.checked_div(unit)?.ceil().checked_mul(unit)
    }
}

fn moment(at: civil::DateTime) -> Decimal {
    let since = at.duration_since(civil::date(1970, 1, 1).at(0, 0, 0, 0));
    Decimal::try_from_i128_with_scale(since.as_micros(), 6)
        .unwrap_or_default()
        .normalize()
}

/// Dates as SQLite keeps them; only the plain ISO forms, whose order as text is their order in time.
fn text_moment(text: &str) -> Option<Decimal> {
    match text.len() {
        10 => Some(moment(text.parse::<civil::Date>().ok()?.at(0, 0, 0, 0))),
        19 => Some(moment(text.parse::<civil::DateTime>().ok()?)),
        _ => None,
    }
}

fn at(point: Decimal) -> Option<civil::DateTime> {
    civil::date(1970, 1, 1)
        .at(0, 0, 0, 0)
        .checked_add(seconds(point)?)
        .ok()
}

fn seconds(point: Decimal) -> Option<SignedDuration> {
    let micros = point.checked_mul(Decimal::new(1_000_000, 0))?.to_i64()?;
    Some(SignedDuration::from_micros(micros))
}
