//! Function calls: the table of names, and those that choose among their arguments.

mod args;
mod calendar;
mod clock;
mod date;
mod number;
mod text;
mod words;

use std::borrow::Cow;

use isobath_distance::Relation;

use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::value::Value;

pub(crate) use clock::is_clock;

use super::compare::Operand;
use super::convert;
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
                let left = self.operand(left)?;
                let right = match self.operand(right) {
                    Err(Stop::Raises(_))
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
                    words::call,
                    calendar::call,
                ] {
                    if let Some(value) = family(name, &args)? {
                        return Ok(Cow::Owned(value));
                    }
                }
                unsupported(format!("the function {name}"))
            }
        }
    }

    fn first_not_null(self, args: &'a [Expr]) -> Result<Cow<'a, Value>, Stop> {
        let common = unify(args.iter(), self.dialect);
        for (index, arg) in args.iter().enumerate() {
            let value = self.value(arg)?;
            if !value.is_null() {
                for unreached in &args[index + 1..] {
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
    ) -> Result<Cow<'a, Value>, Stop> {
        let common = unify([then, otherwise].into_iter(), self.dialect);
        let chosen = if self.truth(condition)?.verdict() == Some(true) {
            then
        } else {
            otherwise
        };
        self.alternative(self.value(chosen)?, chosen, common)
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
            if self.typed()
                && common == Kind::Char
                && matches!(self.kind(arg), Kind::Text | Kind::Varchar)
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
pub(crate) fn kind<'a>(name: &str, args: &'a [Expr], dialect: DialectName) -> Kind<'a> {
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
                (Kind::Unknown, Kind::Unknown) if dialect == DialectName::Postgres => Kind::Text,
                (Kind::Unknown, kind) => kind,
                (Kind::Char, Kind::Text) => Kind::Text,
                (Kind::Varchar, Kind::Char) => Kind::Char,
                (Kind::Varchar, _) => Kind::Text,
                (a @ Kind::Int { .. }, b @ (Kind::Decimal | Kind::Float { .. }))
                | (a @ Kind::Decimal, b @ Kind::Float { .. })
                    if dialect != DialectName::MySql =>
                {
                    a.promoted(b).unwrap_or(a)
                }
                (a, b) if dialect == DialectName::Postgres && a.unified(b).is_none() => Kind::Other,
                (kind, _) => kind,
            }
        }
        (
            "length" | "char_length" | "character_length" | "octet_length" | "position" | "strpos"
            | "instr" | "locate" | "year" | "month" | "day" | "dayofmonth" | "hour" | "minute"
            | "second" | "quarter" | "dayofyear" | "dayofweek" | "weekday" | "datediff",
            _,
        ) => Kind::INT4,
        ("ascii" | "bit_length" | "weekofyear", _) => Kind::INT4,
        ("to_days" | "timestampdiff", _) => Kind::INT8,
        ("last_day", _) if dialect == DialectName::MySql => Kind::Date,
        ("make_date", _) => Kind::Date,
        ("date_trunc", [_, at]) => match kind_of(at, dialect) {
            Kind::DateTime => Kind::DateTime,
            Kind::Date | Kind::Instant => Kind::Instant,
            _ => Kind::Other,
        },
        ("starts_with", _) => Kind::Bool,
        ("extract", _) if dialect == DialectName::MySql => Kind::INT8,
        ("extract", _) => Kind::Decimal,
        ("date_part" | "power" | "pow" | "sqrt", _) => Kind::DOUBLE,
        ("date", _) if dialect == DialectName::MySql => Kind::Date,
        ("abs", [x]) => match kind_of(x, dialect) {
            Kind::Unknown => Kind::DOUBLE,
            kind if dialect == DialectName::MySql => kind.computed(),
            kind => kind,
        },
        ("sign", _) if dialect == DialectName::MySql => Kind::INT4,
        ("round" | "floor" | "ceil" | "ceiling", [x, ..]) if dialect == DialectName::MySql => {
            kind_of(x, dialect).computed()
        }
        ("round" | "trunc" | "floor" | "ceil" | "ceiling" | "sign", [x, rest @ ..]) => {
            match (kind_of(x, dialect), rest.is_empty()) {
                (Kind::Decimal, _) | (Kind::Int { .. }, false) => Kind::Decimal,
                _ => Kind::DOUBLE,
            }
        }
        (
            "lower" | "upper" | "lcase" | "ucase" | "trim" | "btrim" | "ltrim" | "rtrim" | "substr"
            | "substring" | "mid" | "left" | "right" | "replace" | "concat" | "concat_ws"
            | "reverse" | "repeat" | "lpad" | "rpad" | "chr" | "initcap" | "split_part"
            | "translate" | "overlay" | "substring_index" | "insert" | "space" | "dayname"
            | "monthname" | "date_format",
            _,
        ) => Kind::Text,
        _ => Kind::Other,
    }
}
