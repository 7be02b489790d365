//! The arithmetic of numbers, by each database's rules of type, overflow and rounding.

use crate::expr::BinaryOp;
use crate::value::Value;

use super::arithmetic::to_i64;
use super::error::{EvalError, RaisedError, raise, unsupported};
use super::evaluator::Evaluator;
use super::number::{self, Number};
use super::static_type::StaticType;

/// An integer that must fit its type.
pub(super) fn in_kind(value: i128, kind: StaticType<'_>) -> Result<Value, EvalError> {
    let bits = match kind {
        StaticType::Int { bits, .. } => bits,
        _ => 64,
    };
    let half = 1i128 << (bits - 1);
    if (-half..half).contains(&value) {
        Ok(Value::Int(value))
    } else {
        raise(RaisedError::OutOfRange)
    }
}

pub(super) fn postgres(
    op: BinaryOp,
    x: Number,
    y: Number,
    kind: StaticType<'_>,
) -> Result<Value, EvalError> {
    let divides = matches!(
        op,
        BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::IntegerDivide
    );
    if op == BinaryOp::IntegerDivide {
        return raise(RaisedError::TypeMismatch);
    }
    if divides
        && y.is_zero()
        && !(matches!(kind, StaticType::Float { .. }) && op == BinaryOp::Modulo)
    {
        return raise(RaisedError::DivisionByZero);
    }
    match kind {
        StaticType::Int { .. } => {
            let (Number::Int(a), Number::Int(b)) = (x, y) else {
                return unsupported("arithmetic on this type");
            };
            let value = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Subtract => a - b,
                BinaryOp::Multiply => a * b,
                BinaryOp::Divide => a / b,
                _ => a % b,
            };
            in_kind(value, kind)
        }
        StaticType::Decimal => {
            let (Some(a), Some(b)) = (x.to_decimal(), y.to_decimal()) else {
                return unsupported("a decimal of many digits");
            };
            let value = match op {
                BinaryOp::Add => number::add(a, b, 1),
                BinaryOp::Subtract => number::add(a, b, -1),
                BinaryOp::Multiply => number::multiply(a, b),
                BinaryOp::Divide => {
                    number::divide(a, b, number::postgres_quotient_scale(a, b), true)
                }
                _ => number::remainder(a, b),
            };
            match value {
                Some(value) => Ok(Value::Decimal(value)),
                None => unsupported("a decimal of many digits"),
            }
        }
        StaticType::Float { bits } => {
            let (a, b) = (x.to_f64(), y.to_f64());
            let value = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Subtract => a - b,
                BinaryOp::Multiply => a * b,
                BinaryOp::Divide => a / b,
                _ => return raise(RaisedError::TypeMismatch),
            };
            let value = if bits == 32 {
                f64::from(value as f32)
            } else {
                value
            };
            let vanished = value == 0.0
                && a != 0.0
                && (op == BinaryOp::Divide || (op == BinaryOp::Multiply && b != 0.0));
            if !value.is_finite() || vanished {
                return raise(RaisedError::OutOfRange);
            }
            Ok(Value::Float(value))
        }
        _ => raise(RaisedError::TypeMismatch),
    }
}

pub(super) fn mysql(
    eval: Evaluator<'_>,
    op: BinaryOp,
    x: Number,
    y: Number,
    unsigned: bool,
) -> Result<Value, EvalError> {
    let divides = matches!(
        op,
        BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::IntegerDivide
    );
    if divides && y.is_zero() {
        return if eval.env.writes {
            raise(RaisedError::DivisionByZero)
        } else {
            Ok(Value::Null)
        };
    }
    let float = matches!(x, Number::Float(_)) || matches!(y, Number::Float(_));
    if float {
        let (a, b) = (x.to_f64(), y.to_f64());
        let value = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            BinaryOp::Divide => a / b,
            BinaryOp::Modulo => a % b,
            _ => return unsupported("DIV on floats"),
        };
        return if value.is_finite() {
            Ok(Value::Float(value))
        } else {
            raise(RaisedError::OutOfRange)
        };
    }
    if let (Number::Int(a), Number::Int(b), false) = (x, y, op == BinaryOp::Divide) {
        let value = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Modulo => Some(a % b),
            _ => Some(a / b),
        };
        // Integers beyond 64 bits are decimals there.
        let wide = |n: i128| n > i128::from(u64::MAX) || n < i128::from(i64::MIN);
        if wide(a) || wide(b) {
            return unsupported("integers beyond 64 bits");
        }
        let big = |n: i128| n > i128::from(i64::MAX);
        let unsigned = unsigned || big(a) || big(b);
        let fits = value.is_some_and(|value| {
            if unsigned {
                u64::try_from(value).is_ok()
            } else {
                i64::try_from(value).is_ok()
            }
        });
        return match value {
            Some(value) if fits => Ok(Value::Int(value)),
            _ if op == BinaryOp::Modulo => unsupported("signs of unsigned remainders"),
            _ => raise(RaisedError::OutOfRange),
        };
    }
    let (Some(a), Some(b)) = (x.to_decimal(), y.to_decimal()) else {
        return unsupported("a decimal of many digits");
    };
    let value = match op {
        BinaryOp::Add => number::add(a, b, 1),
        BinaryOp::Subtract => number::add(a, b, -1),
        BinaryOp::Multiply => number::multiply(a, b),
        BinaryOp::Modulo => number::remainder(a, b),
        BinaryOp::Divide => {
            // Digits are computed in groups of nine, four more than the dividend has.
            let groups = |scale: u32| scale.div_ceil(9) * 9;
            let (fa, fb) = (groups(a.scale()), groups(b.scale()));
            let more = 4u32.saturating_sub(fa - a.scale() + fb - b.scale());
            number::divide(a, b, fa + fb + groups(more), false)
        }
        _ => return unsupported("DIV on decimals"),
    };
    match value {
        Some(value) => Ok(Value::Decimal(value)),
        None => unsupported("a decimal of many digits"),
    }
}

pub(super) fn sqlite(op: BinaryOp, x: Number, y: Number) -> Value {
    let real = |value: f64| {
        if value.is_nan() {
            Value::Null
        } else {
            Value::Float(value)
        }
    };
    if op == BinaryOp::Modulo {
        let float = matches!(x, Number::Float(_)) || matches!(y, Number::Float(_));
        let (a, b) = (to_i64(x), to_i64(y));
        if b == 0 {
            return Value::Null;
        }
        let rest = a.checked_rem(b).unwrap_or(0);
        return if float {
            Value::Float(rest as f64)
        } else {
            Value::Int(rest.into())
        };
    }
    if matches!(op, BinaryOp::Divide | BinaryOp::IntegerDivide) && y.is_zero() {
        return Value::Null;
    }
    if let (Number::Int(a), Number::Int(b)) = (x, y) {
        let value = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            _ => a / b,
        };
        if i64::try_from(value).is_ok() {
            return Value::Int(value);
        }
    }
    let (a, b) = (x.to_f64(), y.to_f64());
    real(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        _ => a / b,
    })
}
