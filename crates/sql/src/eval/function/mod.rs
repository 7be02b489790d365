//! Function calls: the table of names, and those that choose among their arguments.

use std::borrow::Cow;

use isobath_distance::Relation;

use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::value::Value;

use super::compare::Operand;
use super::kind::{Kind, kind_of, unify};
use super::stop::{Stop, unsupported};
use super::walk::Evaluator;

impl<'a> Evaluator<'a> {
    /// The value of a function call.
    pub(super) fn call(self, name: &'a str, args: &'a [Expr]) -> Result<Cow<'a, Value>, Stop> {
        match (name, args) {
            ("coalesce", [_, ..]) => self.first_not_null(args),
            ("ifnull", [_, _]) if !self.typed() => self.first_not_null(args),
            ("nvl", [_, _]) if self.dialect == DialectName::MySql => self.first_not_null(args),
            ("nullif", [left, right]) => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let same = self.compare(Relation::Equal, &left, &right)?;
                Ok(if same.verdict() == Some(true) {
                    Cow::Owned(Value::Null)
                } else {
                    left.value
                })
            }
            ("if", [condition, then, otherwise]) if self.dialect == DialectName::MySql => {
                self.choose(condition, then, otherwise)
            }
            ("iif" | "if", [condition, then, otherwise]) if self.dialect == DialectName::Sqlite => {
                self.choose(condition, then, otherwise)
            }
            ("greatest", [_, _, ..]) if self.dialect != DialectName::Sqlite => {
                self.extreme(args, Relation::Greater)
            }
            ("least", [_, _, ..]) if self.dialect != DialectName::Sqlite => {
                self.extreme(args, Relation::Less)
            }
            ("max", [_, _, ..]) if self.dialect == DialectName::Sqlite => {
                self.extreme(args, Relation::Greater)
            }
            ("min", [_, _, ..]) if self.dialect == DialectName::Sqlite => {
                self.extreme(args, Relation::Less)
            }
            _ => unsupported(format!("the function {name}")),
        }
    }

    fn first_not_null(self, args: &'a [Expr]) -> Result<Cow<'a, Value>, Stop> {
        let common = unify(args.iter(), self.dialect);
        for arg in args {
            let value = self.value(arg)?;
            if !value.is_null() {
                return self.alternative(value, self.kind(arg), common);
            }
        }
        Ok(Cow::Owned(Value::Null))
    }

    fn choose(
        self,
        condition: &'a Expr,
        then: &'a Expr,
        otherwise: &'a Expr,
    ) -> Result<Cow<'a, Value>, Stop> {
        let common = unify([then, otherwise].into_iter(), self.dialect);
        let chosen = if self.truth(condition)?.verdict() == Some(true) {
            then
        } else {
            otherwise
        };
        self.alternative(self.value(chosen)?, self.kind(chosen), common)
    }

    fn extreme(self, args: &'a [Expr], better: Relation) -> Result<Cow<'a, Value>, Stop> {
        let common = unify(args.iter(), self.dialect);
        let mut best: Option<Operand<'a>> = None;
        for arg in args {
            let operand = self.operand(arg)?;
            if operand.value.is_null() {
                // PostgreSQL skips NULLs, the others give up.
                if self.typed() {
                    continue;
                }
                return Ok(Cow::Owned(Value::Null));
            }
            if self.dialect == DialectName::MySql
                && !(self.kind(arg).is_number() == common.is_number())
            {
                return unsupported("alternatives of different types");
            }
            best = match best {
                None => Some(operand),
                Some(held) => {
                    if self.compare(better, &operand, &held)?.verdict() == Some(true) {
                        Some(operand)
                    } else {
                        Some(held)
                    }
                }
            };
        }
        match best {
            Some(best) => {
                let kind = self.kind(best.expr);
                self.alternative(best.value, kind, common)
            }
            None => Ok(Cow::Owned(Value::Null)),
        }
    }
}

/// The static type of a call, `Other` where we do not know.
pub(crate) fn kind<'a>(name: &str, args: &'a [Expr], dialect: DialectName) -> Kind<'a> {
    match (name, args) {
        ("coalesce" | "ifnull" | "nvl" | "greatest" | "least" | "max" | "min", _) => {
            unify(args.iter(), dialect)
        }
        ("if" | "iif", [_, then, otherwise]) => unify([then, otherwise].into_iter(), dialect),
        ("nullif", [left, right]) => match kind_of(left, dialect) {
            Kind::Unknown => kind_of(right, dialect),
            kind => kind,
        },
        _ => Kind::Other,
    }
}
