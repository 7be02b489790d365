//! Function calls: the table of names, and those that choose among their arguments.

mod args;
mod clock;
mod date;
mod date_dialects;
mod number;
mod text;
mod text_dialects;

use std::borrow::Cow;

use isobath_distance::Relation;

use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::value::Value;

pub(crate) use clock::is_clock;

use super::compare::Operand;
use super::convert;
use super::error::{EvalError, unsupported};
use super::evaluator::Evaluator;
use super::static_type::{StaticType, kind_of, unify};

impl<'a> Evaluator<'a> {
    /// The value of a function call.
    pub(super) fn call(self, name: &'a str, args: &'a [Expr]) -> Result<Cow<'a, Value>, EvalError> {
        match (name, args) {
            ("coalesce", [_, ..]) => self.first_not_null(args),
            ("ifnull", [_, _]) if !self.typed() => self.first_not_null(args),
            ("nvl", [_, _]) if self.dialect == DialectName::MySql => self.first_not_null(args),
            ("nullif", [left, right]) => {
                let left = self.operand(left)?;
                let right = match self.operand(right) {
                    Err(EvalError::Raised(_))
                        if left.value.is_null() && self.dialect == DialectName::MySql =>
                    {
                        return unsupported("an error in a part that may not be reached");
                    }
                    other => other?,
                };
                if self.same(&left, &right)?.verdict() == Some(true) {
                    return Ok(Cow::Owned(Value::Null));
                }
                let kind = kind(name, args, self.dialect);
                self.alternative(left.value, left.expr, kind)
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
            _ => {
                let args = args::Args::new(self, args)?;
                for family in [
                    text::call,
                    number::call,
                    date::call,
                    clock::call,
                    text_dialects::call,
                    date_dialects::call,
                ] {
                    if let Some(value) = family(name, &args)? {
                        return Ok(Cow::Owned(value));
                    }
                }
                Err(EvalError::unsupported_function(name))
            }
        }
    }

    fn first_not_null(self, args: &'a [Expr]) -> Result<Cow<'a, Value>, EvalError> {
        let common = unify(args.iter(), self.dialect);
        for (index, arg) in args.iter().enumerate() {
            let value = self.value(arg)?;
            if !value.is_null() {
                for unreached in args.iter().skip(index + 1) {
                    self.quiet(unreached)?;
                    if let (Expr::Literal(literal), true) = (unreached, self.typed()) {
                        convert::untyped(Cow::Borrowed(literal), common)?;
                    }
                }
                return self.alternative(value, arg, common);
            }
        }
        self.alternative(Cow::Owned(Value::Null), &Expr::Literal(Value::Null), common)
    }

    fn choose(
        self,
        condition: &'a Expr,
        then: &'a Expr,
        otherwise: &'a Expr,
    ) -> Result<Cow<'a, Value>, EvalError> {
        let common = unify([then, otherwise].into_iter(), self.dialect);
        let chosen = if self.truth(condition)?.verdict() == Some(true) {
            then
        } else {
            otherwise
        };
        self.alternative(self.value(chosen)?, chosen, common)
    }

    fn extreme(self, args: &'a [Expr], better: Relation) -> Result<Cow<'a, Value>, EvalError> {
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
            if self.typed()
                && common == StaticType::Char
                && matches!(self.kind(arg), StaticType::Text | StaticType::Varchar)
            {
                return unsupported("CHAR among strings of other types");
            }
            if self.dialect == DialectName::MySql
                && self.kind(arg).is_number() != common.is_number()
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
            Some(best) => self.alternative(best.value, best.expr, common),
            None => Ok(Cow::Owned(Value::Null)),
        }
    }
}

/// The static type of a call, `Other` where we do not know.
pub(crate) fn kind<'a>(name: &str, args: &'a [Expr], dialect: DialectName) -> StaticType<'a> {
    if let Some(kind) = clock::kind(name, args, dialect) {
        return kind;
    }
    match (name, args) {
        ("coalesce" | "ifnull" | "nvl" | "greatest" | "least" | "max" | "min", _) => {
            unify(args.iter(), dialect)
        }
        ("if" | "iif", [_, then, otherwise]) => unify([then, otherwise].into_iter(), dialect),
        ("nullif", [left, right]) => {
            match (kind_of(left, dialect), kind_of(right, dialect)) {
                // The operands meet in a type that has an equality of its own.
                (StaticType::Unknown, StaticType::Unknown) if dialect == DialectName::Postgres => {
                    StaticType::Text
                }
                (StaticType::Unknown, kind) => kind,
                (StaticType::Char, StaticType::Text) => StaticType::Text,
                (StaticType::Varchar, StaticType::Char) => StaticType::Char,
                (StaticType::Varchar, _) => StaticType::Text,
                (
                    a @ StaticType::Int { .. },
                    b @ (StaticType::Decimal | StaticType::Float { .. }),
                )
                | (a @ StaticType::Decimal, b @ StaticType::Float { .. })
                    if dialect != DialectName::MySql =>
                {
                    a.promoted(b).unwrap_or(a)
                }
                (a, b) if dialect == DialectName::Postgres && a.unified(b).is_none() => {
                    StaticType::Other
                }
                (kind, _) => kind,
            }
        }
        (
            "length" | "char_length" | "character_length" | "octet_length" | "position" | "strpos"
            | "instr" | "locate" | "year" | "month" | "day" | "dayofmonth" | "hour" | "minute"
            | "second" | "quarter" | "dayofyear" | "dayofweek" | "weekday" | "datediff",
            _,
        ) => StaticType::INT4,
        ("ascii" | "bit_length" | "weekofyear", _) => StaticType::INT4,
        ("to_days" | "timestampdiff", _) => StaticType::INT8,
        ("last_day", _) if dialect == DialectName::MySql => StaticType::Date,
        ("make_date", _) => StaticType::Date,
        ("date_trunc", [_, at]) => match kind_of(at, dialect) {
            StaticType::DateTime => StaticType::DateTime,
            StaticType::Date | StaticType::Instant => StaticType::Instant,
            _ => StaticType::Other,
        },
        ("starts_with", _) => StaticType::Bool,
        ("extract", _) if dialect == DialectName::MySql => StaticType::INT8,
        ("extract", _) => StaticType::Decimal,
        ("date_part" | "power" | "pow" | "sqrt", _) => StaticType::DOUBLE,
        ("date", _) if dialect == DialectName::MySql => StaticType::Date,
        ("abs", [x]) => match kind_of(x, dialect) {
            StaticType::Unknown => StaticType::DOUBLE,
            kind if dialect == DialectName::MySql => kind.computed(),
            kind => kind,
        },
        ("sign", _) if dialect == DialectName::MySql => StaticType::INT4,
        ("round" | "floor" | "ceil" | "ceiling", [x, ..]) if dialect == DialectName::MySql => {
            kind_of(x, dialect).computed()
        }
        ("round" | "trunc" | "floor" | "ceil" | "ceiling" | "sign", [x, rest @ ..]) => {
            match (kind_of(x, dialect), rest.is_empty()) {
                (StaticType::Decimal, _) | (StaticType::Int { .. }, false) => StaticType::Decimal,
                _ => StaticType::DOUBLE,
            }
        }
        (
            "lower" | "upper" | "lcase" | "ucase" | "trim" | "btrim" | "ltrim" | "rtrim" | "substr"
            | "substring" | "mid" | "left" | "right" | "replace" | "concat" | "concat_ws"
            | "reverse" | "repeat" | "lpad" | "rpad" | "chr" | "initcap" | "split_part"
            | "translate" | "overlay" | "substring_index" | "insert" | "space" | "dayname"
            | "monthname" | "date_format",
            _,
        ) => StaticType::Text,
        _ => StaticType::Other,
    }
}
