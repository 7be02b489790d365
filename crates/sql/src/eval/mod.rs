//! Three-valued evaluation of expressions over a row, with distances.
//!
//! The verdict is the database's own wherever one is given. What is not known
//! precisely is [`Unsupported`]; what the database answers with an error is
//! [`Raised`].
//!
//! Reading order: `walk` for the shape of evaluation, `kind` for static types,
//! `compare`, `arithmetic` and `operators` for operators, `choice` for alternatives, `folding` for errors that never happen, `convert` and `parse` for values
//! changing type, `pattern` for LIKE and its kin, `function` for calls.

pub(crate) mod arithmetic;
mod choice;
pub(crate) mod collate;
mod compare;
pub(crate) mod convert;
mod folding;
pub(crate) mod format;
mod function;
pub(crate) mod kind;
mod moments;
pub(crate) mod number;
mod operators;
pub(crate) mod parse;
mod pattern;
mod row;
mod stop;
mod storage;
pub(crate) mod temporal;
mod walk;

use isobath_distance::Truth;

use crate::dialect::Dialect;
use crate::expr::{CompareOp, Expr};
use crate::value::Value;

pub(crate) use function::is_clock;
pub use row::{Part, Row};
pub use stop::{Raised, Stop, Unsupported};
pub(crate) use storage::Storage;
pub(crate) use walk::squeezed;

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
    pub answers: &'a [Answer<'a>],
    /// What time it is; without it, NOW and its kin have no value.
    pub now: Option<jiff::civil::DateTime>,
}

/// What a subquery says about a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<'a> {
    /// EXISTS, IN, ANY, ALL: a verdict with its distances.
    Truth(Truth),
    /// A scalar subquery.
    Value {
        /// Its value, NULL when it has no row.
        value: Value,
        /// The expression of its select list, which decides its type.
        origin: &'a Expr,
        /// Where it is NULL for want of a row: how far the subquery is from having one.
        lacking: f64,
    },
}

impl<'a> Env<'a> {
    /// A row that is being written, as CHECKs see it.
    pub fn written(row: &'a [Value]) -> Self {
        Self {
            row: row.into(),
            parameters: &[],
            writes: true,
            answers: &[],
            now: None,
        }
    }

    /// A row that a query reads.
    pub fn queried(row: &'a [Value], parameters: &'a [Value]) -> Self {
        Self {
            row: row.into(),
            parameters,
            writes: false,
            answers: &[],
            now: None,
        }
    }

    /// The same setting with subqueries answered.
    #[must_use]
    pub fn answered(self, answers: &'a [Answer<'a>]) -> Self {
        Self { answers, ..self }
    }
}

/// The value of an expression on a row that is being written.
///
/// # Errors
///
/// When we do not know the answer, or when the database itself raises an error.
pub fn value(expr: &Expr, row: &[Value], dialect: &dyn Dialect) -> Result<Value, Stop> {
    value_in(expr, Env::written(row), dialect)
}

/// The verdict of a condition on a row that is being written, with its distances.
///
/// # Errors
///
/// As for [`value`].
pub fn truth(expr: &Expr, row: &[Value], dialect: &dyn Dialect) -> Result<Truth, Stop> {
    truth_in(expr, Env::written(row), dialect)
}

/// The verdict of a condition on a row that is being written, without distances: `None` is unknown.
///
/// # Errors
///
/// As for [`value`].
pub fn verdict(expr: &Expr, row: &[Value], dialect: &dyn Dialect) -> Result<Option<bool>, Stop> {
    let env = Env::written(row);
    let evaluator = walk::Evaluator::new(&env, dialect).ungraded();
    match evaluator.truth(expr) {
        Ok(truth) => Ok(truth.verdict()),
        Err(stop) => Err(evaluator.certain(expr, stop)),
    }
}

/// The value of an expression in any setting.
///
/// # Errors
///
/// As for [`value`].
pub fn value_in(expr: &Expr, env: Env<'_>, dialect: &dyn Dialect) -> Result<Value, Stop> {
    let eval = walk::Evaluator::new(&env, dialect);
    match eval.value(expr) {
        Ok(value) => Ok(value.into_owned()),
        Err(stop) => Err(eval.certain(expr, stop)),
    }
}

/// The verdict of a condition in any setting, with its distances.
///
/// # Errors
///
/// As for [`value`].
pub fn truth_in(expr: &Expr, env: Env<'_>, dialect: &dyn Dialect) -> Result<Truth, Stop> {
    let eval = walk::Evaluator::new(&env, dialect);
    eval.truth(expr).map_err(|stop| eval.certain(expr, stop))
}

/// The verdict of a condition of a query: every part of it counts alike, and NULL is far from either verdict.
pub(crate) fn weigh(expr: &Expr, env: &Env<'_>, dialect: &dyn Dialect) -> Result<Truth, Stop> {
    let eval = walk::Evaluator::new(env, dialect).squeezing();
    eval.truth(expr).map_err(|stop| eval.certain(expr, stop))
}

/// The outcome of comparing two values that two expressions gave; the expressions decide types and collations.
pub(crate) fn compare_values(
    op: CompareOp,
    (left, left_expr): (&Value, &Expr),
    (right, right_expr): (&Value, &Expr),
    dialect: &dyn Dialect,
) -> Result<Truth, Stop> {
    let operand = |value, expr| compare::Operand {
        value: std::borrow::Cow::Borrowed(value),
        expr,
    };
    let env = Env::queried(&[], &[]);
    walk::Evaluator::new(&env, dialect).compare(
        walk::relation(op),
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
