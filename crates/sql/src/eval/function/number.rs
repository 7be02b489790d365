//! Functions over numbers.

use rust_decimal::Decimal;

use crate::dialect::DialectName;
use crate::value::Value;

use super::super::error::{EvalError, RaisedError, raise, unsupported};
use super::super::number::{self, Number};
use super::super::static_type::StaticType;
use super::args::Args;

/// A call by name, `None` when this module has no such function in the dialect.
pub(super) fn call(name: &str, args: &Args<'_>) -> Result<Option<Value>, EvalError> {
    let count = args.values.len();
    if !known(name, count, args.eval.dialect) {
        return Ok(None);
    }
    if args.any_null() {
        return Ok(Some(Value::Null));
    }
    let x = args.number(0)?;
    let value = match name {
        "abs" => abs(args, x)?,
        "sign" => sign(args, x),
        "floor" => toward(args, x, Decimal::floor, f64::floor)?,
        "ceil" | "ceiling" => toward(args, x, Decimal::ceil, f64::ceil)?,
        "round" => round(args, x)?,
        "trunc" | "truncate" => {
            let digits = if count == 2 { args.int(1)? } else { 0 };
            match (x, u32::try_from(digits)) {
                (Number::Int(int), Ok(_)) if !args.eval.typed() => Value::Int(int),
                (Number::Decimal(x), Ok(digits)) => {
                    let cut = x.trunc_with_scale(digits.min(x.scale()));
                    Value::Decimal(cut)
                }
                _ => return unsupported("trunc of this"),
            }
        }
        "power" | "pow" => {
            let y = args.number(1)?;
            let exact = matches!(x, Number::Decimal(_)) || matches!(y, Number::Decimal(_));
            if exact && args.eval.typed() {
                return unsupported("a power of decimals");
            }
            let (x, y) = (x.to_f64(), y.to_f64());
            if x == 0.0 && y < 0.0 || x < 0.0 && y.fract() != 0.0 {
                return if args.eval.typed() {
                    raise(RaisedError::InvalidArgument)
                } else {
                    unsupported("such a power")
                };
            }
            finite(x.powf(y))?
        }
        "sqrt" => {
            if matches!(x, Number::Decimal(_)) && args.eval.typed() {
                return unsupported("a root of decimals");
            }
            let x = x.to_f64();
            if x < 0.0 {
                return if args.eval.typed() {
                    raise(RaisedError::InvalidArgument)
                } else {
                    Ok(Some(Value::Null))
                };
            }
            Value::Float(x.sqrt())
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// Which functions a dialect has; SQLite's mathematics are not built in everywhere.
fn known(name: &str, count: usize, dialect: DialectName) -> bool {
    let sqlite = dialect == DialectName::Sqlite;
    let mysql = dialect == DialectName::MySql;
    match name {
        "abs" | "sign" => count == 1,
        "floor" | "ceil" | "ceiling" | "sqrt" => count == 1 && !sqlite,
        "round" => count == 1 || count == 2,
        "trunc" => !sqlite && !mysql && (count == 1 || count == 2),
        "truncate" => mysql && count == 2,
        "power" | "pow" => count == 2 && !sqlite,
        _ => false,
    }
}

fn finite(value: f64) -> Result<Value, EvalError> {
    if value.is_finite() {
        Ok(Value::Float(value))
    } else {
        raise(RaisedError::OutOfRange)
    }
}

fn abs(args: &Args<'_>, x: Number) -> Result<Value, EvalError> {
    Ok(match x {
        Number::Float(x) => Value::Float(x.abs()),
        Number::Decimal(x) => Value::Decimal(x.abs()),
        Number::Int(x) => {
            let bits = match (args.eval.dialect, args.kind(0)) {
                (DialectName::Sqlite | DialectName::MySql, _) => 64,
                (_, StaticType::Int { bits, .. }) => bits,
                _ => 64,
            };
            if -x == 1i128 << (bits - 1) {
                return raise(RaisedError::OutOfRange);
            }
            Value::Int(x.abs())
        }
    })
}

fn sign(args: &Args<'_>, x: Number) -> Value {
    let sign = match x {
        Number::Int(x) => x.signum(),
        Number::Decimal(x) => x.mantissa().signum(),
        Number::Float(0.0) => 0,
        Number::Float(x) if x < 0.0 => -1,
        Number::Float(_) => 1,
    };
    match (args.eval.typed(), x) {
        (true, Number::Decimal(_)) => Value::Decimal(Decimal::from(sign as i64)),
        (true, _) => Value::Float(sign as f64),
        (false, _) => Value::Int(sign),
    }
}

fn toward(
    args: &Args<'_>,
    x: Number,
    exact: fn(&Decimal) -> Decimal,
    float: fn(f64) -> f64,
) -> Result<Value, EvalError> {
    Ok(match x {
        Number::Int(int) if args.eval.typed() => Value::Float(int as f64),
        Number::Int(int) => Value::Int(int),
        Number::Decimal(x) if args.eval.typed() => {
            let mut whole = exact(&x);
            if whole.is_zero() {
                whole.set_sign_positive(true);
            }
            Value::Decimal(whole)
        }
        Number::Decimal(x) => match number::round_to_int(exact(&x)) {
            Some(int) => Value::Int(int),
            None => return unsupported("a long number"),
        },
        Number::Float(x) => Value::Float(float(x)),
    })
}

fn round(args: &Args<'_>, x: Number) -> Result<Value, EvalError> {
    let digits = if args.values.len() == 2 {
        Some(args.int(1)?)
    } else {
        None
    };
    match (x, args.eval.dialect) {
        (Number::Int(int), DialectName::Sqlite) => Ok(Value::Float(int as f64)),
        (Number::Float(x), DialectName::Sqlite) => {
            if digits.unwrap_or(0) > 0 && x.fract() != 0.0 || x.abs() >= 4.5e15 {
                return unsupported("rounding to a fraction");
            }
            // Half away from zero, by way of adding a half, as SQLite does.
            Ok(Value::Float(if x < 0.0 {
                -((-x + 0.5).trunc())
            } else {
                (x + 0.5).trunc()
            }))
        }
        (Number::Int(int), DialectName::MySql) if digits.unwrap_or(0) >= 0 => Ok(Value::Int(int)),
        (Number::Decimal(x), _) if digits.unwrap_or(0) >= 0 => {
            let digits = digits.unwrap_or(0).min(28) as u32;
            let to = match args.eval.dialect {
                DialectName::MySql => digits.min(x.scale()),
                _ => digits,
            };
            match number::rescale(x, to) {
                Some(x) => Ok(Value::Decimal(x)),
                None => unsupported("a decimal of many digits"),
            }
        }
        (Number::Int(int), DialectName::Ansi | DialectName::Postgres) => match digits {
            None => Ok(Value::Float(int as f64)),
            Some(digits @ 0..=20) => {
                match number::decimal(int, 0).and_then(|x| number::rescale(x, digits as u32)) {
                    Some(x) => Ok(Value::Decimal(x)),
                    None => unsupported("a decimal of many digits"),
                }
            }
            Some(_) => unsupported("rounding to tens"),
        },
        (Number::Float(x), DialectName::Ansi | DialectName::Postgres) => match digits {
            None => Ok(Value::Float(x.round_ties_even())),
            Some(_) => raise(RaisedError::TypeMismatch),
        },
        _ => unsupported("rounding this"),
    }
}
