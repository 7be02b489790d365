//! Sums, products and remainders of a whole number, compared with a constant.
//!
//! `2 * a + 1 > 30` changes its mind at one place, and `a % 5 = 4` by the remainder of `a` and by the
//! side of zero: so a value of every remainder in every region is all that matters.

use isobath_sql::expr::{BinaryOp, UnaryOp};
use isobath_sql::{DataType, Expr, Value};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::CellSolver;
use super::regions::number;

/// The largest divisor whose remainders are all tried.
const MAX_REMAINDERS: usize = 40;

/// `factor * x + plus`, or its remainder.
struct LinearExpr {
    factor: Decimal,
    plus: Decimal,
    divisor: Option<usize>,
}

/// Where a condition may change its mind.
pub(super) struct Breakpoint {
    /// At which value of the column.
    pub(super) at: Decimal,
    /// After how many values it repeats itself; one when it does not.
    pub(super) period: usize,
}

impl CellSolver<'_, '_> {
    /// Where a comparison of something calculated from a class with a constant changes its mind;
    /// `None` when it is no such comparison.
    pub(super) fn breakpoint(&self, index: usize, expr: &Expr) -> Option<Breakpoint> {
        let Expr::Compare { left, right, .. } = expr else {
            return None;
        };
        let whole =
            |column: &isobath_sql::Column| matches!(column.data_type, DataType::Integer { .. });
        if self.data_type(index).is_none() || !self.columns(index).all(whole) {
            return None;
        }
        [(left, right), (right, left)]
            .iter()
            .find_map(|(side, other)| {
                let (Value::Int(_) | Value::Decimal(_)) = self.folded(other)? else {
                    return None;
                };
                let bound = number(&self.folded(other)?)?;
                let linear = self.linear(index, side)?;
                let (from, period) = match linear.divisor {
                    None => (bound, 1),
                    Some(divisor) => (Decimal::ZERO, divisor),
                };
                let at = from.checked_sub(linear.plus)?.checked_div(linear.factor)?;
                Some(Breakpoint { at, period })
            })
    }

    fn linear(&self, index: usize, expr: &Expr) -> Option<LinearExpr> {
        match expr {
            Expr::Column(column) if self.class_of[column.slot] == index => Some(LinearExpr {
                factor: Decimal::ONE,
                plus: Decimal::ZERO,
                divisor: None,
            }),
            Expr::Unary {
                op: UnaryOp::Minus,
                expr,
            } => self.scaled(index, expr, -Decimal::ONE),
            Expr::Binary { op, left, right } => {
                let known = |expr: &Expr| match self.folded(expr)? {
                    Value::Int(value) => number(&Value::Int(value)),
                    _ => None,
                };
                match (op, known(left), known(right)) {
                    (BinaryOp::Add, None, Some(plus)) => self.moved(index, left, plus),
                    (BinaryOp::Add, Some(plus), None) => self.moved(index, right, plus),
                    (BinaryOp::Subtract, None, Some(minus)) => self.moved(index, left, -minus),
                    (BinaryOp::Multiply, None, Some(factor)) => self.scaled(index, left, factor),
                    (BinaryOp::Multiply, Some(factor), None) => self.scaled(index, right, factor),
                    (BinaryOp::Modulo, None, Some(divisor)) => {
                        let inner = self.linear(index, left)?;
                        let divisor = divisor.abs().to_usize()?;
                        let few = (1..=MAX_REMAINDERS).contains(&divisor);
                        (few && inner.divisor.is_none()).then_some(LinearExpr {
                            divisor: Some(divisor),
                            ..inner
                        })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn moved(&self, index: usize, expr: &Expr, by: Decimal) -> Option<LinearExpr> {
        let inner = self.linear(index, expr)?;
        let plus = inner.plus.checked_add(by)?;
        inner
            .divisor
            .is_none()
            .then_some(LinearExpr { plus, ..inner })
    }

    fn scaled(&self, index: usize, expr: &Expr, by: Decimal) -> Option<LinearExpr> {
        let inner = self.linear(index, expr)?;
        if by.is_zero() || inner.divisor.is_some() {
            return None;
        }
        Some(LinearExpr {
            factor: inner.factor.checked_mul(by)?,
            plus: inner.plus.checked_mul(by)?,
            divisor: None,
        })
    }
}
