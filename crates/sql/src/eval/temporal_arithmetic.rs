//! Arithmetic on dates, times and intervals.

use crate::dialect::DialectName;
use crate::expr::BinaryOp;
use crate::value::Value;

use super::error::{EvalError, unsupported};
use super::evaluator::Evaluator;
use super::temporal;

/// Dates and times moved by spans, and their differences; `None` when neither operand is one.
pub(super) fn moments(
    eval: Evaluator<'_>,
    op: BinaryOp,
    a: &Value,
    b: &Value,
) -> Result<Option<Value>, EvalError> {
    let sign = match op {
        BinaryOp::Add => 1,
        BinaryOp::Subtract => -1,
        _ => return Ok(None),
    };
    if eval.dialect == DialectName::Sqlite {
        return Ok(None);
    }
    let (a, b) = match (a, b) {
        (Value::Interval(_), Value::Date(_) | Value::DateTime(_) | Value::Instant(_))
            if sign == 1 =>
        {
            (b, a)
        }
        _ => (a, b),
    };
    let out = |value: Option<Value>| match value {
        Some(value) => Ok(Some(value)),
        None => unsupported("a date outside the calendar"),
    };
    match (a, b) {
        (Value::Date(date), Value::Interval(span)) if eval.dialect == DialectName::MySql => {
            let at =
                temporal::shifted(date.to_datetime(jiff::civil::Time::midnight()), *span, sign);
            out(at.map(|at| {
                if span.micros == 0 {
                    Value::Date(at.date())
                } else {
                    Value::DateTime(at)
                }
            }))
        }
        (Value::Date(_) | Value::DateTime(_), Value::Interval(span)) => out(temporal::datetime(a)
            .and_then(|at| temporal::shifted(at, *span, sign))
            .map(Value::DateTime)),
        (Value::Instant(_), Value::Interval(span)) => out(temporal::datetime(a)
            .and_then(|at| temporal::shifted(at, *span, sign))
            .and_then(temporal::instant)
            .map(Value::Instant)),
        (Value::Date(date), Value::Int(days)) if eval.typed() => {
            let span = crate::value::Interval {
                days: match i32::try_from(*days) {
                    Ok(days) => days,
                    Err(_) => return unsupported("a date outside the calendar"),
                },
                ..Default::default()
            };
            let at = date.to_datetime(jiff::civil::Time::midnight());
            out(temporal::shifted(at, span, sign).map(|at| Value::Date(at.date())))
        }
        (Value::Int(_), Value::Date(_)) if eval.typed() && sign == 1 => moments(eval, op, b, a),
        (Value::Date(x), Value::Date(y)) if eval.typed() && sign == -1 => {
            out(temporal::days_between(*y, *x).map(|days| Value::Int(days.into())))
        }
        (
            Value::Date(_) | Value::DateTime(_) | Value::Instant(_),
            Value::Date(_) | Value::DateTime(_) | Value::Instant(_),
        ) if eval.typed() && sign == -1 => out(temporal::datetime(a)
            .zip(temporal::datetime(b))
            .and_then(|(x, y)| temporal::span_between(y, x))
            .map(Value::Interval)),
        (Value::Interval(x), Value::Interval(y)) => out((|| {
            Some(Value::Interval(crate::value::Interval {
                months: x.months.checked_add(y.months.checked_mul(sign)?)?,
                days: x.days.checked_add(y.days.checked_mul(sign)?)?,
                micros: x
                    .micros
                    .checked_add(y.micros.checked_mul(i64::from(sign))?)?,
            }))
        })()),
        (Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Instant(_), _)
        | (_, Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Instant(_)) => {
            unsupported("arithmetic on dates and times")
        }
        _ => Ok(None),
    }
}
