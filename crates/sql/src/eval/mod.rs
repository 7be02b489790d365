//! Three-valued evaluation of expressions over a row, with distances.
//!
//! The verdict is the database's own wherever one is given. What is not known
//! precisely is [`Unsupported`]; what the database answers with an error is
//! [`RaisedError`].
//!
//! Reading order: `evaluator` for the shape of evaluation, `static_type` for static types,
//! `compare`, `arithmetic` and `operators` for operators, `conditional` for alternatives, `folding` for errors that never happen, `convert` and `parse` for values
//! changing type, `pattern` for LIKE and similar operators, `function` for calls.

#![deny(clippy::indexing_slicing)]

pub(crate) mod arithmetic;
pub(crate) mod collate;
mod compare;
mod conditional;
pub(crate) mod convert;
mod error;
mod evaluator;
mod folding;
pub(crate) mod format;
mod function;
pub(crate) mod number;
mod operators;
pub(crate) mod parse;
mod pattern;
mod row;
pub(crate) mod static_type;
mod storage_class;
pub(crate) mod temporal;
mod temporal_arithmetic;

use isobath_distance::Truth;

use crate::dialect::Dialect;
use crate::expr::{CompareOp, Expr};
use crate::value::Value;

pub use error::{EvalError, RaisedError, Unsupported};
pub(crate) use evaluator::normalized;
pub(crate) use function::is_clock;
pub use row::{Row, RowPart};
pub(crate) use storage_class::StorageClass;

/// Below this, SQLite turns floats that are whole numbers into integers for sure.
pub(crate) const WHOLE_FLOATS: f64 = 9.2e18;

/// What an expression is evaluated on.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// The row; for a query, the rows of all its relations one after another.
    pub row: Row<'a>,
    /// The statement's parameters.
    pub parameters: &'a [Value],
    /// Whether the statement writes, as it does when a CHECK or a DEFAULT is evaluated.
    ///
    /// MariaDB's strict mode turns what is NULL and a warning in a SELECT
    /// (division by zero, text that is no number) into an error.
    pub writes: bool,
    /// What the subqueries of the expression say about the row, by their number.
    pub subquery_results: &'a [SubqueryResult<'a>],
    /// What time it is; without it, NOW and similar functions have no value.
    pub now: Option<jiff::civil::DateTime>,
}

/// What a subquery says about a row.
#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryResult<'a> {
    /// EXISTS, IN, ANY, ALL: a verdict with its distances.
    Truth(Truth),
    /// A scalar subquery.
    Value {
        /// Its value, NULL when it has no row.
        value: Value,
        /// The expression of its select list, which decides its type.
        origin: &'a Expr,
        /// Where it is NULL for want of a row: how far the subquery is from having one.
        missing_row_cost: f64,
    },
}

impl<'a> Env<'a> {
    /// A row that is being written, as CHECKs see it.
    pub fn written(row: &'a [Value]) -> Self {
        Self {
            row: row.into(),
            parameters: &[],
            writes: true,
            subquery_results: &[],
            now: None,
        }
    }

    /// A row that a query reads.
    pub fn queried(row: &'a [Value], parameters: &'a [Value]) -> Self {
        Self {
            row: row.into(),
            parameters,
            writes: false,
            subquery_results: &[],
            now: None,
        }
    }

    /// The same setting with subqueries answered.
    #[must_use]
    pub fn with_subqueries(self, subquery_results: &'a [SubqueryResult<'a>]) -> Self {
        Self {
            subquery_results,
            ..self
        }
    }
}

/// The value of an expression on a row that is being written.
///
/// # Errors
///
/// When we do not know the answer, or when the database itself raises an error.
pub fn value(expr: &Expr, row: &[Value], dialect: &dyn Dialect) -> Result<Value, EvalError> {
    value_in(expr, Env::written(row), dialect)
}

/// The verdict of a condition on a row that is being written, with its distances.
///
/// # Errors
///
/// As for [`value`].
pub fn truth(expr: &Expr, row: &[Value], dialect: &dyn Dialect) -> Result<Truth, EvalError> {
    truth_in(expr, Env::written(row), dialect)
}

/// The verdict of a condition on a row that is being written, without distances: `None` is unknown.
///
/// # Errors
///
/// As for [`value`].
pub fn verdict(
    expr: &Expr,
    row: &[Value],
    dialect: &dyn Dialect,
) -> Result<Option<bool>, EvalError> {
    let env = Env::written(row);
    let evaluator = evaluator::Evaluator::new(&env, dialect).ungraded();
    match evaluator.truth(expr) {
        Ok(truth) => Ok(truth.verdict()),
        Err(error) => Err(evaluator.certain(expr, error)),
    }
}

/// The value of an expression in any setting.
///
/// # Errors
///
/// As for [`value`].
pub fn value_in(expr: &Expr, env: Env<'_>, dialect: &dyn Dialect) -> Result<Value, EvalError> {
    let eval = evaluator::Evaluator::new(&env, dialect);
    match eval.value(expr) {
        Ok(value) => Ok(value.into_owned()),
        Err(error) => Err(eval.certain(expr, error)),
    }
}

/// The verdict of a condition in any setting, with its distances.
///
/// # Errors
///
/// As for [`value`].
pub fn truth_in(expr: &Expr, env: Env<'_>, dialect: &dyn Dialect) -> Result<Truth, EvalError> {
    let eval = evaluator::Evaluator::new(&env, dialect);
    eval.truth(expr).map_err(|error| eval.certain(expr, error))
}

/// The verdict of a condition of a query: every part of it counts alike, and NULL is far from either verdict.
pub(crate) fn condition_truth(
    expr: &Expr,
    env: &Env<'_>,
    dialect: &dyn Dialect,
) -> Result<Truth, EvalError> {
    let eval = evaluator::Evaluator::new(env, dialect).normalizing();
    eval.truth(expr).map_err(|error| eval.certain(expr, error))
}

/// The outcome of comparing two values that two expressions gave; the expressions decide types and collations.
pub(crate) fn compare_values(
    op: CompareOp,
    (left, left_expr): (&Value, &Expr),
    (right, right_expr): (&Value, &Expr),
    dialect: &dyn Dialect,
) -> Result<Truth, EvalError> {
    let operand = |value, expr| compare::Operand {
        value: std::borrow::Cow::Borrowed(value),
        expr,
    };
    let env = Env::queried(&[], &[]);
    evaluator::Evaluator::new(&env, dialect).compare(
        evaluator::relation(op),
        &operand(left, left_expr),
        &operand(right, right_expr),
    )
}

/// Whether two index keys, computed from the same expressions, are the same to the database.
pub fn same_keys(a: &[Value], b: &[Value], keys: &[Expr], dialect: &dyn Dialect) -> bool {
    let _ = (keys, dialect);
    a == b
}

/// Whether an expression draws the next number of a sequence.
pub fn is_next_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Function { name, .. } if name == "nextval")
}
