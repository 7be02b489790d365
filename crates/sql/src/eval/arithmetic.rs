//! Unary and binary operators that compute a value.

use std::borrow::Cow;

use crate::dialect::DialectName;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::types::DataType;
use crate::value::Value;

use super::error::{EvalError, RaisedError, raise, unsupported};
use super::evaluator::Evaluator;
use super::number::{self, Number};
use super::operators::{in_kind, mysql, postgres, sqlite};
use super::static_type::StaticType;
use super::storage_class::{StorageClass, sqlite_number};
use super::temporal_arithmetic::moments;
use super::{convert, parse};

/// `-x`, `+x`, `~x`.
pub(crate) fn unary<'a>(
    eval: Evaluator<'a>,
    op: UnaryOp,
    expr: &'a Expr,
) -> Result<Value, EvalError> {
    let value = eval.value(expr)?;
    if op == UnaryOp::Plus && eval.dialect == DialectName::Sqlite {
        return Ok(value.into_owned());
    }
    let kind = eval.kind(expr);
    if eval.typed() && kind == StaticType::Unknown {
        // Several types have this operator, and nothing chooses among them.
        return raise(RaisedError::TypeMismatch);
    }
    if value.is_null() {
        return Ok(Value::Null);
    }
    if let (Value::Interval(span), UnaryOp::Minus) = (&*value, op) {
        return match (
            span.months.checked_neg(),
            span.days.checked_neg(),
            span.micros.checked_neg(),
        ) {
            (Some(months), Some(days), Some(micros)) => {
                Ok(Value::Interval(crate::value::Interval {
                    months,
                    days,
                    micros,
                }))
            }
            _ => raise(RaisedError::OutOfRange),
        };
    }
    let number = operand(eval, &value)?;
    let zero = Number::Int(0);
    match op {
        UnaryOp::Plus => Ok(number.into_value()),
        UnaryOp::BitNot => bits(eval, BinaryOp::BitXor, number, Number::Int(-1), kind),
        UnaryOp::Minus => match number {
            Number::Float(value) => Ok(Value::Float(-value)),
            Number::Decimal(value) => Ok(Value::Decimal(-value)),
            Number::Int(0) => Ok(Value::Int(0)),
            Number::Int(value) => match eval.dialect {
                DialectName::Sqlite => Ok(sqlite(BinaryOp::Subtract, zero, number)),
                DialectName::MySql if i64::try_from(-value).is_err() => {
                    // A literal of more digits becomes a decimal; a column overflows.
                    unsupported("the negation of a long number")
                }
                DialectName::MySql => Ok(Value::Int(-value)),
                _ => match (expr, StaticType::of_literal(&Value::Int(-value))) {
                    (Expr::Literal(_), own) => in_kind(-value, own),
                    _ => in_kind(-value, kind),
                },
            },
        },
    }
}

/// Refuses text that MariaDB would make numbers of before choosing among it.
pub(crate) fn as_number(eval: Evaluator<'_>, expr: &Expr) -> Result<(), EvalError> {
    match expr {
        Expr::Function { name, .. }
            if eval.dialect == DialectName::MySql
                && matches!(name.as_str(), "greatest" | "least")
                && !eval.kind(expr).is_number() =>
        {
            unsupported(format!("{name} of text as a number"))
        }
        _ => Ok(()),
    }
}

/// An operand with all the digits that it is computed with.
pub(super) fn raw<'a>(eval: Evaluator<'a>, expr: &'a Expr) -> Result<Cow<'a, Value>, EvalError> {
    match (expr, eval.dialect) {
        (
            Expr::Unary {
                op: UnaryOp::Minus,
                expr: inner,
            },
            DialectName::MySql,
        ) if matches!(**inner, Expr::Binary { .. }) => match raw(eval, inner)?.into_owned() {
            Value::Decimal(value) => Ok(Cow::Owned(Value::Decimal(-value))),
            _ => eval.value(expr),
        },
        (Expr::Binary { op, left, right }, DialectName::MySql) => {
            binary(eval, *op, left, right).map(Cow::Owned)
        }
        _ => eval.value(expr),
    }
}

/// A result as it leaves arithmetic: MariaDB rounds quotients to four digits more
/// than the dividend has, but only where they are used outside of arithmetic.
pub(crate) fn settled(eval: Evaluator<'_>, expr: &Expr, value: Value) -> Result<Value, EvalError> {
    let Value::Decimal(decimal) = value else {
        return Ok(value);
    };
    if eval.dialect != DialectName::MySql {
        return Ok(value);
    }
    match scale(expr) {
        Some(scale) if decimal.scale() <= scale => Ok(value),
        Some(scale) => match number::rescale(decimal, scale) {
            Some(rounded) => Ok(Value::Decimal(rounded)),
            None => unsupported("a decimal of many digits"),
        },
        None if decimal.scale() < 9 => Ok(value),
        None => unsupported("the digits of this quotient"),
    }
}

/// The digits after the point that MariaDB gives a number, where we know.
fn scale(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Column(column) => match column.data_type {
            DataType::Integer { .. } | DataType::Boolean => Some(0),
            DataType::Decimal { scale, .. } => Some(scale.unwrap_or(0)),
            _ => None,
        },
        Expr::Literal(Value::Int(_)) => Some(0),
        Expr::Literal(Value::Decimal(decimal)) => Some(decimal.scale()),
        Expr::Binary { op, left, right } => match op {
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Modulo => {
                Some(scale(left)?.max(scale(right)?))
            }
            BinaryOp::Multiply => Some(scale(left)? + scale(right)?),
            BinaryOp::Divide => Some(scale(left)? + 4),
            _ => None,
        },
        _ => None,
    }
}

/// Any binary operator.
pub(crate) fn binary<'a>(
    eval: Evaluator<'a>,
    op: BinaryOp,
    left: &'a Expr,
    right: &'a Expr,
) -> Result<Value, EvalError> {
    as_number(eval, left)?;
    as_number(eval, right)?;
    let mut a = raw(eval, left)?;
    let mut b = match raw(eval, right) {
        Err(EvalError::Raised(_)) if a.is_null() && eval.dialect == DialectName::MySql => {
            return unsupported("an error in a part that may not be reached");
        }
        other => other?,
    };
    let (left_kind, right_kind) = (eval.kind(left), eval.kind(right));
    if op == BinaryOp::Concat {
        return concat(eval, (&a, left), (&b, right));
    }
    if eval.typed() {
        match (left_kind, right_kind) {
            (StaticType::Unknown, StaticType::Unknown) => return raise(RaisedError::TypeMismatch),
            (StaticType::Unknown, kind) => a = convert::untyped(a, arithmetic_partner(op, kind))?,
            (kind, StaticType::Unknown) => b = convert::untyped(b, arithmetic_partner(op, kind))?,
            _ => {}
        }
    }
    if eval.typed() && !exists(op, left_kind, right_kind) {
        return raise(RaisedError::TypeMismatch);
    }
    if a.is_null() || b.is_null() {
        // MariaDB reads text as a number even beside NULL.
        for value in [&a, &b] {
            if let (Value::Text(text), DialectName::MySql) = (&**value, eval.dialect)
                && text_as_number(eval, text).is_err()
            {
                return unsupported("text that is no number beside NULL");
            }
        }
        return Ok(Value::Null);
    }
    if let Some(moved) = moments(eval, op, &a, &b)? {
        return Ok(moved);
    }
    if eval.typed() && (matches!(*a, Value::Bool(_)) || matches!(*b, Value::Bool(_))) {
        return raise(RaisedError::TypeMismatch);
    }
    let (x, y) = (operand(eval, &a)?, operand(eval, &b)?);
    if matches!(
        op,
        BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight
    ) {
        if eval.dialect == DialectName::Sqlite && op == BinaryOp::BitXor {
            return unsupported("^ in SQLite");
        }
        let kind = match op {
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => left_kind,
            _ => left_kind.promoted(right_kind).unwrap_or(StaticType::Other),
        };
        return bits(eval, op, x, y, kind);
    }
    match eval.dialect {
        DialectName::Sqlite => Ok(sqlite(op, x, y)),
        DialectName::MySql => {
            let either = op != BinaryOp::Modulo && unsigned(right_kind);
            mysql(eval, op, x, y, unsigned(left_kind) || either)
        }
        DialectName::Ansi | DialectName::Postgres => {
            let Some(kind) = left_kind.promoted(right_kind) else {
                return raise(RaisedError::TypeMismatch);
            };
            postgres(op, x, y, kind)
        }
    }
}

/// Whether PostgreSQL has an operator between two numbers.
pub(crate) fn exists(op: BinaryOp, left: StaticType<'_>, right: StaticType<'_>) -> bool {
    let float = |kind| matches!(kind, StaticType::Float { .. });
    let int = |kind| matches!(kind, StaticType::Int { .. } | StaticType::Unknown);
    if !left.is_number() && !right.is_number() {
        return true;
    }
    let other = |kind| {
        matches!(
            kind,
            StaticType::Text
                | StaticType::Varchar
                | StaticType::Char
                | StaticType::Bool
                | StaticType::Enum(_)
                | StaticType::Uuid
        )
    };
    if other(left) || other(right) {
        return false;
    }
    match op {
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => int(left) && int(right),
        BinaryOp::Modulo => !float(left) && !float(right),
        _ => true,
    }
}

fn unsigned(kind: StaticType<'_>) -> bool {
    matches!(kind, StaticType::Int { unsigned: true, .. })
}

/// The type that an untyped literal takes beside `kind`.
fn arithmetic_partner(op: BinaryOp, kind: StaticType<'_>) -> StaticType<'_> {
    match (op, kind) {
        (BinaryOp::Add, StaticType::Date | StaticType::DateTime | StaticType::Instant) => {
            StaticType::Interval
        }
        (_, kind) => kind,
    }
}

/// A number from a value, coercing text where the dialect does.
fn operand(eval: Evaluator<'_>, value: &Value) -> Result<Number, EvalError> {
    match eval.dialect {
        DialectName::Sqlite => match StorageClass::of(value) {
            Some(StorageClass::Number(number)) => Ok(number),
            Some(StorageClass::Text(text)) => Ok(sqlite_number(&parse::prefix(&text), &text)),
            _ => unsupported("arithmetic on a blob"),
        },
        DialectName::MySql => match value {
            Value::Text(text) => text_as_number(eval, text).map(|n| Number::Float(n.to_f64())),
            other => {
                Number::of(other).ok_or_else(|| EvalError::unsupported("arithmetic on this type"))
            }
        },
        DialectName::Ansi | DialectName::Postgres => match Number::of(value) {
            Some(number) => Ok(number),
            None => raise(RaisedError::TypeMismatch),
        },
    }
}

/// Text as MariaDB makes a number of it; in a statement that writes, a wrong tail is an error.
pub(crate) fn text_as_number(eval: Evaluator<'_>, text: &str) -> Result<Number, EvalError> {
    let found = parse::prefix(text);
    let clean = found.found && found.after(text).bytes().all(|b| b == b' ');
    if !clean && eval.env.writes {
        return raise(RaisedError::InvalidText);
    }
    Ok(found.number)
}

/// A number as a 64-bit integer, cut off towards zero and at the ends.
pub(crate) fn to_i64(number: Number) -> i64 {
    match number {
        Number::Int(value) => {
            i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
        }
        other => other.to_f64() as i64,
    }
}

fn bits(
    eval: Evaluator<'_>,
    op: BinaryOp,
    x: Number,
    y: Number,
    kind: StaticType<'_>,
) -> Result<Value, EvalError> {
    if eval.dialect == DialectName::Sqlite {
        let (a, b) = (to_i64(x), to_i64(y));
        return Ok(Value::Int(i128::from(match op {
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            _ => {
                let left = (op == BinaryOp::ShiftLeft) == (b >= 0);
                match (u32::try_from(b.unsigned_abs()), left) {
                    (Ok(by), true) => a.checked_shl(by).unwrap_or(0),
                    (Ok(by), false) if by < 64 => a >> by,
                    (_, true) => 0,
                    (_, false) => a >> 63,
                }
            }
        })));
    }
    // MariaDB takes whole numbers of any type.
    let whole = |number: Number| match number {
        Number::Float(float) if float.fract() == 0.0 && float.abs() < 9e15 => {
            Number::Int(float as i128)
        }
        Number::Decimal(decimal) if decimal.fract().is_zero() => {
            number::round_to_int(decimal).map_or(number, Number::Int)
        }
        other => other,
    };
    let (x, y) = if eval.typed() {
        (x, y)
    } else {
        (whole(x), whole(y))
    };
    let (Number::Int(a), Number::Int(b)) = (x, y) else {
        return if eval.typed() {
            raise(RaisedError::TypeMismatch)
        } else {
            unsupported("bits of a fraction")
        };
    };
    let shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
    if eval.dialect == DialectName::MySql {
        let (a, b) = (a as u64, b as u64);
        let by = u32::try_from(b).unwrap_or(64);
        return Ok(Value::Int(i128::from(match op {
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::ShiftLeft => a.checked_shl(by).unwrap_or(0),
            _ => a.checked_shr(by).unwrap_or(0),
        })));
    }
    let StaticType::Int { bits, .. } = kind else {
        return raise(RaisedError::TypeMismatch);
    };
    if shift && !(0..i128::from(bits)).contains(&b) {
        return unsupported("a shift by more than the width");
    }
    let value = match op {
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::ShiftLeft => {
            // Bits beyond the width fall off.
            let unused = 128 - u32::from(bits);
            (a << b) << unused >> unused
        }
        _ => a >> b,
    };
    Ok(Value::Int(value))
}

fn concat<'a>(
    eval: Evaluator<'a>,
    (a, left_expr): (&Value, &'a Expr),
    (b, right_expr): (&Value, &'a Expr),
) -> Result<Value, EvalError> {
    let (left, right) = (eval.kind(left_expr), eval.kind(right_expr));
    if eval.typed() && !left.is_text() && !right.is_text() {
        return raise(RaisedError::TypeMismatch);
    }
    if a.is_null() || b.is_null() {
        return Ok(Value::Null);
    }
    let text = |value: &Value, expr: &Expr, kind: StaticType<'_>| {
        let text = convert::shown(eval.dialect, value, expr)?;
        Ok::<_, EvalError>(if eval.typed() && kind == StaticType::Char {
            text.trim_end_matches(' ').to_owned()
        } else {
            text
        })
    };
    Ok(Value::Text(
        text(a, left_expr, left)? + &text(b, right_expr, right)?,
    ))
}
