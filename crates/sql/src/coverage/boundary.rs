//! Values on, just below and just above the boundary of a comparison.

use jiff::Span;
use jiff::civil::{Date, DateTime};
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

use super::condition::{brief, strip};
use super::expr_parts::ExprParts;
use super::scope::Scope;
use super::value_class::{self, ValueClass};

/// An equality that puts a comparison at a point near its boundary.
#[derive(Debug)]
pub(super) struct BoundaryPoint {
    /// The equality.
    pub(super) expr: Expr,
    /// Where the point is, for people: `just above 5`.
    pub(super) description: String,
}

/// The three points of a comparison of numbers, as SQLFpc has them; `wide` knows more functions.
pub(super) fn numeric(expr: &Expr, scope: &Scope<'_>, wide: bool) -> Option<Vec<BoundaryPoint>> {
    let (left, right) = comparison(expr)?;
    let sides = [
        value_class::class(left, scope, wide),
        value_class::class(right, scope, wide),
    ];
    let number = |class: &ValueClass| matches!(class, ValueClass::Number | ValueClass::Parameter);
    if !sides.iter().all(number) || !sides.contains(&ValueClass::Number) || has_subquery(expr) {
        return None;
    }
    // Two columns that must be equal are a link, and a link has no neighbours worth a target.
    let equality = matches!(
        expr,
        Expr::BinaryOp {
            op: BinaryOperator::Eq | BinaryOperator::NotEq,
            ..
        }
    );
    if wide && equality && !is_literal(left) && !is_literal(right) {
        return None;
    }
    let shift_left = is_literal(left) && !is_literal(right);
    let point = |offset: i8| {
        let (left, right) = if shift_left {
            (shifted(left, offset), right.clone())
        } else {
            (left.clone(), shifted(right, offset))
        };
        let bound = if shift_left { &left } else { &right };
        BoundaryPoint {
            description: location(offset, if shift_left { &right } else { &left }, bound, expr),
            expr: equal(left.clone(), right.clone()),
        }
    };
    Some([1, 0, -1].into_iter().map(point).collect())
}

/// The points of an ordered comparison of a moment with a literal.
pub(super) fn temporal(expr: &Expr, scope: &Scope<'_>) -> Option<Vec<BoundaryPoint>> {
    let (left, right) = comparison(expr)?;
    if matches!(
        expr,
        Expr::BinaryOp {
            op: BinaryOperator::Eq | BinaryOperator::NotEq,
            ..
        }
    ) {
        return None;
    }
    let (moment, literal) = if text(right).is_some() {
        (left, right)
    } else {
        (right, left)
    };
    let class = value_class::class(moment, scope, true);
    let points = [1, 0, -1].into_iter().filter_map(|offset| {
        let bound = moved(literal, class, offset)?;
        Some(BoundaryPoint {
            description: location(offset, moment, &bound, expr),
            expr: equal(moment.clone(), bound),
        })
    });
    let points: Vec<BoundaryPoint> = points.collect();
    (!points.is_empty()).then_some(points)
}

/// The points of BETWEEN: outside, on and at both bounds.
pub(super) fn between(expr: &Expr, scope: &Scope<'_>) -> Option<Vec<BoundaryPoint>> {
    let Expr::Between {
        expr: value,
        low,
        high,
        ..
    } = expr
    else {
        return None;
    };
    if has_subquery(expr) {
        return None;
    }
    let class = value_class::class(value, scope, true);
    let bound = |bound: &Expr, offset: i8| match class {
        ValueClass::Number => {
            let of = value_class::class(bound, scope, true);
            matches!(of, ValueClass::Number | ValueClass::Parameter).then(|| shifted(bound, offset))
        }
        _ => moved(bound, class, offset),
    };
    let points = [(low, -1), (low, 0), (high, 0), (high, 1)];
    let points: Vec<BoundaryPoint> = points
        .into_iter()
        .filter_map(|(of, offset)| {
            let bound = bound(of, offset)?;
            Some(BoundaryPoint {
                description: location(offset, value, &bound, expr),
                expr: equal(strip(value).clone(), bound),
            })
        })
        .collect();
    (!points.is_empty()).then_some(points)
}

fn location(offset: i8, value: &Expr, bound: &Expr, whole: &Expr) -> String {
    let (value, whole) = (brief(value), brief(whole));
    match offset {
        0 => format!("`{value}` is exactly `{bound}`, on the boundary of `{whole}`"),
        1 => format!("`{value}` is `{bound}`, just above the boundary of `{whole}`"),
        _ => format!("`{value}` is `{bound}`, just below the boundary of `{whole}`"),
    }
}

/// The sides of a comparison of order or equality.
fn comparison(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::BinaryOp {
            left,
            op:
                BinaryOperator::Eq
                | BinaryOperator::NotEq
                | BinaryOperator::Lt
                | BinaryOperator::LtEq
                | BinaryOperator::Gt
                | BinaryOperator::GtEq,
            right,
        } => Some((left, right)),
        _ => None,
    }
}

fn has_subquery(expr: &Expr) -> bool {
    !ExprParts::of(expr).subqueries.is_empty()
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op: BinaryOperator::Eq,
        right: Box::new(right),
    }
}

fn is_literal(expr: &Expr) -> bool {
    match strip(expr) {
        Expr::Value(value) => matches!(value.value, Value::Number(..) | Value::Placeholder(_)),
        Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr,
        } => is_literal(expr),
        _ => false,
    }
}

/// A number moved by one: integers are folded, anything else is written as a sum.
fn shifted(expr: &Expr, offset: i8) -> Expr {
    if offset == 0 {
        return expr.clone();
    }
    if let Some(number) = integer(expr).and_then(|number| number.checked_add(i64::from(offset))) {
        return number_expr(number);
    }
    let op = if offset > 0 {
        BinaryOperator::Plus
    } else {
        BinaryOperator::Minus
    };
    Expr::BinaryOp {
        left: Box::new(summand(expr)),
        op,
        right: Box::new(number_expr(1)),
    }
}

/// Parentheses where `+ 1` would bind tighter than the expression.
fn summand(expr: &Expr) -> Expr {
    match expr {
        Expr::BinaryOp { op, .. } if !value_class::is_arithmetic(op) => {
            Expr::Nested(Box::new(expr.clone()))
        }
        _ => expr.clone(),
    }
}

fn integer(expr: &Expr) -> Option<i64> {
    match strip(expr) {
        Expr::Value(value) => match &value.value {
            Value::Number(text, false) => text.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => integer(expr)?.checked_neg(),
        _ => None,
    }
}

fn number_expr(number: i64) -> Expr {
    let digits = Expr::value(Value::Number(number.unsigned_abs().to_string(), false));
    if number < 0 {
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: Box::new(digits),
        }
    } else {
        digits
    }
}

/// The text of a plain string literal.
fn text(expr: &Expr) -> Option<&str> {
    match strip(expr) {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(text),
            _ => None,
        },
        Expr::TypedString(typed) => match &typed.value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// A literal moment moved by a day or a second.
fn moved(literal: &Expr, class: ValueClass, offset: i8) -> Option<Expr> {
    let text = text(literal)?;
    let moved = match class {
        ValueClass::Date => {
            let date: Date = text.parse().ok().filter(|_| text.len() == 10)?;
            date.checked_add(Span::new().days(i64::from(offset)))
                .ok()?
                .to_string()
        }
        ValueClass::Timestamp => {
            let moment: DateTime = text.replacen(' ', "T", 1).parse().ok()?;
            let moment = moment
                .checked_add(Span::new().seconds(i64::from(offset)))
                .ok()?;
            moment.strftime("%Y-%m-%d %H:%M:%S").to_string()
        }
        ValueClass::Number | ValueClass::Boolean | ValueClass::Parameter | ValueClass::Other => {
            return None;
        }
    };
    if offset == 0 {
        return Some(literal.clone());
    }
    let mut expr = strip(literal).clone();
    match &mut expr {
        Expr::Value(value) => value.value = Value::SingleQuotedString(moved),
        Expr::TypedString(typed) => typed.value.value = Value::SingleQuotedString(moved),
        _ => return None,
    }
    Some(expr)
}
