//! Errors that come early, or never: what a typed database reads and computes before it runs.
//!
//! PostgreSQL reads untyped literals and computes constant parts first. So an
//! error there comes even when the part is not reached, and an error elsewhere
//! never comes when a constant has decided already.

use std::borrow::Cow;

use crate::expr::{BinaryOp, Expr};
use crate::value::Value;

use super::convert;
use super::error::{EvalError, RaisedError, raise, unsupported};
use super::evaluator::Evaluator;
use super::static_type::{StaticType, unify};

impl<'a> Evaluator<'a> {
    /// An error of the database, if it is certain to happen.
    pub(super) fn certain(self, expr: &'a Expr, stop: EvalError) -> EvalError {
        match stop {
            EvalError::Raised(raised)
                if self.typed() && raised != RaisedError::TypeMismatch && may_fold(self, expr) =>
            {
                EvalError::unsupported("an error in a part that may not be reached")
            }
            stop => stop,
        }
    }

    /// Refuses expressions whose constant parts raise errors even when they are not reached.
    ///
    /// PostgreSQL computes constant parts before anything runs.
    pub(super) fn quiet(self, expr: &'a Expr) -> Result<(), EvalError> {
        if !self.typed() {
            return Ok(());
        }
        let mut misfit = None;
        expr.walk(&mut |part| {
            if misfit.is_none() {
                misfit = self.literals_fit(part).err();
            }
        });
        if let Some(stop) = misfit {
            return Err(stop);
        }
        if holds_constant(expr).1 {
            let mut raises = false;
            expr.walk(&mut |part| {
                let constant = is_computed(part) && holds_constant(part).0;
                raises |= constant && self.value(part).is_err();
            });
            if raises {
                return unsupported("an error in a part that may not be reached");
            }
        }
        Ok(())
    }

    /// Refuses lists in which an untyped literal would take another type than that of `x`.
    pub(super) fn one_type(self, x: &'a Expr, list: &'a [Expr]) -> Result<(), EvalError> {
        let untyped = |part: &Expr| matches!(part, Expr::Literal(Value::Text(_)));
        if !self.typed() || list.len() < 2 || !(untyped(x) || list.iter().any(untyped)) {
            return Ok(());
        }
        let kind = self.kind(x);
        for element in list {
            let other = self.kind(element);
            if other != StaticType::Unknown && other != kind {
                return unsupported("untyped literals among several types");
            }
        }
        Ok(())
    }

    /// Reads the untyped literals directly inside an expression, as a typed database does at once.
    fn literals_fit(self, expr: &'a Expr) -> Result<(), EvalError> {
        let group: Vec<&'a Expr> = match expr {
            Expr::Binary {
                op: BinaryOp::Add,
                left,
                right,
            } if self.kind(left).is_number() || self.kind(right).is_number() => vec![left, right],
            Expr::Compare { left, right, .. }
            | Expr::IsDistinct { left, right, .. }
            | Expr::Binary {
                op:
                    BinaryOp::BitAnd
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
                    | BinaryOp::Subtract
                    | BinaryOp::Multiply
                    | BinaryOp::Divide
                    | BinaryOp::Modulo,
                left,
                right,
            } => {
                vec![left, right]
            }
            Expr::Between {
                expr, low, high, ..
            } => {
                self.group_fits(vec![expr, low])?;
                vec![expr, high]
            }
            // Members with columns are compared one by one.
            Expr::InList { expr, list, .. } => std::iter::once(expr.as_ref())
                .chain(list.iter().filter(|element| element.columns().is_empty()))
                .collect(),
            Expr::Function { name, args }
                if matches!(name.as_str(), "coalesce" | "nullif" | "greatest" | "least") =>
            {
                args.iter().collect()
            }
            Expr::Case {
                branches,
                otherwise,
                ..
            } => otherwise
                .as_deref()
                .into_iter()
                .chain(branches.iter().map(|(_, then)| then))
                .collect(),
            _ => return Ok(()),
        };
        self.group_fits(group)
    }

    /// Reads the untyped literals of a group as its common type.
    fn group_fits(self, group: Vec<&'a Expr>) -> Result<(), EvalError> {
        let untyped = |part: &&Expr| matches!(part, Expr::Literal(Value::Text(_)));
        if group.iter().any(untyped) {
            let common = unify(group.iter().copied(), self.dialect);
            for part in group {
                if let Expr::Literal(value @ Value::Text(_)) = part {
                    convert::untyped(Cow::Borrowed(value), common)?;
                }
            }
        }
        Ok(())
    }

    /// Whether an error in a part that is not reached really stays silent.
    pub(super) fn never_reached(
        self,
        part: &'a Expr,
        raised: RaisedError,
    ) -> Result<(), EvalError> {
        if !self.typed() {
            return Ok(());
        }
        // Types and literals are checked before anything runs, and constant
        // parts are computed then, so those errors come all the same.
        if raised == RaisedError::TypeMismatch {
            return raise(raised);
        }
        let mut eager = raised == RaisedError::InvalidText;
        part.walk(&mut |expr| {
            let composite = matches!(
                expr,
                Expr::Binary { .. }
                    | Expr::Unary { .. }
                    | Expr::Cast { .. }
                    | Expr::Function { .. }
            );
            let literal = matches!(expr, Expr::Literal(Value::Text(_)));
            eager |= literal && raised == RaisedError::OutOfRange;
            if composite && expr.columns().is_empty() && self.value(expr).is_err() {
                eager = true;
            }
        });
        if eager {
            return unsupported("an error in a part that may not be reached");
        }
        Ok(())
    }
}

/// Whether PostgreSQL may simplify an expression so that an error in it never happens.
///
/// It computes constant parts first, and drops what they decide.
fn may_fold<'a>(eval: Evaluator<'a>, expr: &'a Expr) -> bool {
    let mut folds = false;
    expr.walk(&mut |part| {
        folds |= match part {
            Expr::Literal(value) => matches!(value, Value::Null | Value::Bool(_)),
            Expr::Column(_) | Expr::Parameter(_) | Expr::Opaque { .. } => false,
            // One constant bound can decide alone.
            Expr::Between {
                expr, low, high, ..
            } if holds_constant(expr).0 => holds_constant(low).0 || holds_constant(high).0,
            Expr::InList { expr, list, .. } if holds_constant(expr).0 => {
                list.iter().any(|element| holds_constant(element).0)
            }
            _ if !holds_constant(part).0 => false,
            Expr::Cast { expr, .. } | Expr::Unary { expr, .. }
                if matches!(expr.as_ref(), Expr::Literal(_)) =>
            {
                !eval.value(part).is_ok_and(|value| !value.is_null())
            }
            _ => true,
        };
    });
    folds
}

/// Whether an expression computes a value in a way that can raise an error.
fn is_computed(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Binary { .. } | Expr::Unary { .. } | Expr::Cast { .. } | Expr::Function { .. }
    )
}

/// Whether an expression is constant, and whether something in it is both constant and computed.
pub(super) fn holds_constant(expr: &Expr) -> (bool, bool) {
    match expr {
        Expr::Literal(_) => (true, false),
        Expr::Column(_) | Expr::Parameter(_) | Expr::Opaque { .. } => (false, false),
        _ => {
            let mut all = true;
            let mut any = false;
            expr.each_child(&mut |child| {
                let (constant, inside) = holds_constant(child);
                all &= constant;
                any |= inside;
            });
            (all, any || (all && is_computed(expr)))
        }
    }
}
