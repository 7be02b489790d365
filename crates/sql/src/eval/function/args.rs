//! Evaluated arguments, read as the types that a function wants.

use std::borrow::Cow;

use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::value::Value;

use super::super::arithmetic::to_i64;
use super::super::error::{EvalError, RaisedError, raise, unsupported};
use super::super::evaluator::Evaluator;
use super::super::number::Number;
use super::super::static_type::StaticType;
use super::super::storage_class::{StorageClass, sqlite_number};
use super::super::{convert, parse};

/// The arguments of a call, evaluated.
pub(super) struct Args<'a> {
    pub(super) eval: Evaluator<'a>,
    pub(super) exprs: &'a [Expr],
    pub(super) values: Vec<Cow<'a, Value>>,
}

impl<'a> Args<'a> {
    pub(super) fn new(eval: Evaluator<'a>, exprs: &'a [Expr]) -> Result<Self, EvalError> {
        let values = exprs
            .iter()
            .map(|arg| eval.value(arg))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            eval,
            exprs,
            values,
        })
    }

    pub(super) fn any_null(&self) -> bool {
        self.values.iter().any(|value| value.is_null())
    }

    /// An argument. Functions are told apart by their number of arguments, too, so that it is there.
    #[expect(
        clippy::indexing_slicing,
        reason = "callers checked the number of arguments"
    )]
    pub(super) fn value(&self, index: usize) -> &Value {
        &self.values[index]
    }

    /// An argument as it is written.
    #[expect(
        clippy::indexing_slicing,
        reason = "callers checked the number of arguments"
    )]
    pub(super) fn expr(&self, index: usize) -> &'a Expr {
        &self.exprs[index]
    }

    pub(super) fn kind(&self, index: usize) -> StaticType<'a> {
        self.eval.kind(self.expr(index))
    }

    /// An argument as text; a typed dialect takes nothing but text.
    pub(super) fn text(&self, index: usize) -> Result<Cow<'_, str>, EvalError> {
        let value = self.value(index);
        if self.eval.typed() {
            let kind = self.kind(index);
            return match (value, kind) {
                (Value::Text(text), StaticType::Char) => {
                    Ok(Cow::Borrowed(text.trim_end_matches(' ')))
                }
                (
                    Value::Text(text),
                    StaticType::Text | StaticType::Varchar | StaticType::Unknown,
                ) => Ok(Cow::Borrowed(text)),
                (_, StaticType::Other | StaticType::Bytes) => {
                    unsupported("a function over this type")
                }
                _ => raise(RaisedError::TypeMismatch),
            };
        }
        match value {
            Value::Text(text) => Ok(Cow::Borrowed(text)),
            other => convert::shown(self.eval.dialect, other, self.expr(index)).map(Cow::Owned),
        }
    }

    /// An argument that must be text of any kind, in a form that case can be folded in.
    pub(super) fn foldable(&self, index: usize) -> Result<Cow<'_, str>, EvalError> {
        let text = self.text(index)?;
        if self.eval.dialect != DialectName::Sqlite && !text.is_ascii() {
            return unsupported("case beyond ASCII");
        }
        Ok(text)
    }

    /// An argument as an integer.
    pub(super) fn int(&self, index: usize) -> Result<i64, EvalError> {
        let value = self.value(index);
        match self.eval.dialect {
            DialectName::Sqlite => match StorageClass::of(value) {
                Some(StorageClass::Number(number)) => Ok(to_i64(number)),
                Some(StorageClass::Text(text)) => {
                    Ok(to_i64(sqlite_number(&parse::prefix(&text), &text)))
                }
                _ => unsupported("a blob as a number"),
            },
            DialectName::MySql => match *value {
                Value::Int(int) => {
                    i64::try_from(int).map_err(|_| EvalError::unsupported("a long number"))
                }
                _ => unsupported("this value as an integer"),
            },
            DialectName::Ansi | DialectName::Postgres => {
                let value = match self.kind(index) {
                    StaticType::Unknown => {
                        convert::untyped(Cow::Borrowed(value), StaticType::INT4)?
                    }
                    _ => Cow::Borrowed(value),
                };
                match &*value {
                    Value::Int(int) => match i32::try_from(*int) {
                        Ok(int) => Ok(int.into()),
                        Err(_) => raise(RaisedError::TypeMismatch),
                    },
                    _ => raise(RaisedError::TypeMismatch),
                }
            }
        }
    }

    /// An argument as a number.
    pub(super) fn number(&self, index: usize) -> Result<Number, EvalError> {
        let value = self.value(index);
        match self.eval.dialect {
            DialectName::Ansi | DialectName::Postgres => match (value, self.kind(index)) {
                (Value::Int(_) | Value::Decimal(_) | Value::Float(_), _) => {
                    Number::of(value).ok_or(EvalError::Raised(RaisedError::TypeMismatch))
                }
                (Value::Text(_), StaticType::Unknown) => unsupported("an untyped number"),
                _ => raise(RaisedError::TypeMismatch),
            },
            _ => match value {
                Value::Int(_) | Value::Decimal(_) | Value::Float(_) | Value::Bool(_) => {
                    match StorageClass::of(value) {
                        Some(StorageClass::Number(number))
                            if self.eval.dialect == DialectName::Sqlite =>
                        {
                            Ok(number)
                        }
                        _ => Number::of(value).ok_or_else(|| EvalError::unsupported("this number")),
                    }
                }
                _ => unsupported("text as a number in this function"),
            },
        }
    }
}
