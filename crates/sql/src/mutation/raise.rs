//! Whether a condition can raise an error, for some rows.

use std::ops::ControlFlow;

use isobath_walk::{Tree, TreeVisitor};
use sqlparser::ast::{BinaryOperator, Expr, GroupByExpr, Query, SetExpr, UnaryOperator, Value};

use super::mutate::is_grouped;
use crate::dialect::DialectName;

/// Functions that have a value for every argument of their type.
const TOTAL: [&str; 21] = [
    "coalesce",
    "ifnull",
    "nullif",
    "greatest",
    "least",
    "upper",
    "lower",
    "length",
    "char_length",
    "trim",
    "ltrim",
    "rtrim",
    "concat",
    "replace",
    "left",
    "right",
    "count",
    "sum",
    "min",
    "max",
    "avg",
];

/// Whether some row may make an engine raise an error: by a division, an overflow, a cast, a function that we do not
/// know to be total, or a scalar subquery with more than one row.
pub(super) fn can_raise(condition: &Expr, dialect: DialectName) -> bool {
    struct Raises;
    impl TreeVisitor for Raises {
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            if raises(expr) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }
    }
    // SQLite has NULL, a float or the first row instead.
    dialect != DialectName::Sqlite && condition.walk(&mut Raises).is_break()
}

fn raises(expr: &Expr) -> bool {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, MyIntegerDivide, PGExp, Plus};
    match expr {
        Expr::BinaryOp { left, op, right } => match op {
            Plus | Minus | Multiply => !is_constant(left) || !is_constant(right),
            Divide | Modulo | MyIntegerDivide => {
                !is_constant(right)
                    || matches!(**right, Expr::Value(ref value)
                    if matches!(&value.value, Value::Number(digits, _) if digits.parse() == Ok(0.0)))
            }
            PGExp => true,
            _ => false,
        },
        Expr::UnaryOp { op, expr } => *op == UnaryOperator::Minus && !is_constant(expr),
        Expr::Cast { .. } => true,
        Expr::Function(call) => {
            let name = call.name.to_string().to_ascii_lowercase();
            !TOTAL.contains(&name.as_str())
        }
        Expr::Subquery(query) => !has_one_row(query),
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => !matches!(value.value, Value::Placeholder(_)),
        Expr::Interval(_) | Expr::TypedString(_) => true,
        Expr::Nested(inner) => is_constant(inner),
        Expr::BinaryOp { left, right, .. } => is_constant(left) && is_constant(right),
        _ => false,
    }
}

/// Whether a query is an aggregate over all rows.
fn has_one_row(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else {
        return false;
    };
    let keys =
        |by: &GroupByExpr| !matches!(by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    is_grouped(select) && !keys(&select.group_by) && select.having.is_none()
}
