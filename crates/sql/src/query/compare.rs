//! Comparing values that queries produce, by the rules of the expressions that produced them.

use std::cmp::Ordering;

use isobath_distance::Truth;

use crate::eval::{self, EvalError};
use crate::expr::{CompareOp, Expr};
use crate::value::Value;

use super::evaluate::QueryEvaluator;
use super::model::{Query, QueryBody};

/// The expressions that two values come from: they decide types, collations and coercions.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedExprs<'q> {
    left: &'q Expr,
    right: &'q Expr,
}

/// Stands for an expression of no known type.
static ANY: Expr = Expr::Literal(Value::Null);

impl<'q> ComparedExprs<'q> {
    /// An operand against a column of a subquery.
    pub(super) fn of(left: &'q Expr, query: &'q Query, column: usize) -> Self {
        Self {
            left,
            right: shape(query, column),
        }
    }

    /// Two values of the same origin.
    pub(super) fn same(expr: &'q Expr) -> Self {
        Self {
            left: expr,
            right: expr,
        }
    }

    /// Two values of an expression, or of nothing in particular.
    pub(super) fn perhaps(expr: Option<&'q Expr>) -> Self {
        Self::same(expr.unwrap_or(&ANY))
    }

    /// Two values of a column of a query's result.
    pub(super) fn output(query: &'q Query, column: usize) -> Self {
        Self::same(shape(query, column))
    }

    pub(super) fn truth(
        self,
        op: CompareOp,
        a: &Value,
        b: &Value,
        run: &QueryEvaluator<'_>,
    ) -> Result<Truth, EvalError> {
        eval::compare_values(op, (a, self.left), (b, self.right), run.dialect)
    }

    /// Whether two values are the same to DISTINCT, GROUP BY and set operations: NULL equals NULL.
    pub(super) fn is_same(
        self,
        a: &Value,
        b: &Value,
        run: &QueryEvaluator<'_>,
    ) -> Result<bool, EvalError> {
        if a == b {
            return Ok(true);
        }
        if a.is_null() || b.is_null() {
            return Ok(false);
        }
        Ok(self.truth(CompareOp::Equal, a, b, run)?.verdict() == Some(true))
    }

    /// How far two values are from being the same to GROUP BY; those that cannot be compared are as far as can be.
    pub(super) fn value_distance(self, a: &Value, b: &Value, run: &QueryEvaluator<'_>) -> f64 {
        match (a.is_null(), b.is_null()) {
            (true, true) => 0.0,
            (true, false) | (false, true) => 1.0,
            (false, false) => self
                .truth(CompareOp::Equal, a, b, run)
                .map_or(1.0, |truth| eval::normalized(truth.to_true())),
        }
    }

    /// The order of two values that are not NULL.
    pub(super) fn order(
        self,
        a: &Value,
        b: &Value,
        run: &QueryEvaluator<'_>,
    ) -> Result<Ordering, EvalError> {
        if a == b {
            Ok(Ordering::Equal)
        } else if self.truth(CompareOp::Less, a, b, run)?.verdict() == Some(true) {
            Ok(Ordering::Less)
        } else if self.truth(CompareOp::Equal, a, b, run)?.verdict() == Some(true) {
            Ok(Ordering::Equal)
        } else {
            Ok(Ordering::Greater)
        }
    }
}

/// The expression behind a column of a query's result.
pub(super) fn shape(query: &Query, column: usize) -> &Expr {
    match &query.body {
        QueryBody::Select(select) => select.items.get(column).map_or(&ANY, |item| &item.expr),
        QueryBody::Set { left, .. } => shape(left, column),
        QueryBody::Values(rows) => rows.first().and_then(|row| row.get(column)).unwrap_or(&ANY),
    }
}
