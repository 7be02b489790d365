//! SQLite's storage classes, and the affinity that moves values between them.

use std::borrow::Cow;

use crate::dialect::{Affinity, DialectName};
use crate::expr::Expr;
use crate::value::Value;

use super::number::Number;
use super::{format, parse};

/// A value in one of SQLite's storage classes, NULL apart.
pub(crate) enum StorageClass<'a> {
    Number(Number),
    Text(Cow<'a, str>),
    Blob(&'a [u8]),
}

impl<'a> StorageClass<'a> {
    /// The storage class of a value; types that SQLite lacks are numbers or ISO text.
    pub(crate) fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(value) => Self::Number(Number::Int((*value).into())),
            Value::Int(value) => match i64::try_from(*value) {
                Ok(_) => Self::Number(Number::Int(*value)),
                Err(_) => Self::Number(Number::Float(*value as f64)),
            },
            Value::Decimal(value) => {
                Self::Number(Number::Float(super::number::decimal_to_f64(*value)))
            }
            Value::Float(value) => Self::Number(Number::Float(*value)),
            Value::Text(value) | Value::Json(value) => Self::Text(Cow::Borrowed(value)),
            Value::Bytes(value) => Self::Blob(value),
            other => Self::Text(Cow::Owned(
                format::text(other, DialectName::Sqlite).unwrap_or_else(|| other.to_string()),
            )),
        })
    }

    /// NUMERIC affinity: text that is a number becomes one.
    pub(crate) fn numeric(self) -> Self {
        let found = match &self {
            Self::Text(text) => parse::whole(text).map(|found| sqlite_number(&found, text)),
            _ => None,
        };
        match found {
            Some(number) => Self::Number(number),
            None => self,
        }
    }

    /// TEXT affinity: numbers become text; `None` where its spelling is not certain.
    pub(crate) fn text(self) -> Option<Self> {
        match self {
            Self::Number(number) => format::text(&number.into_value(), DialectName::Sqlite)
                .map(|text| Self::Text(Cow::Owned(text))),
            other => Some(other),
        }
    }

    /// As a value.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Number(number) => number.into_value(),
            Self::Text(text) => Value::Text(text.into_owned()),
            Self::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        }
    }

    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::Text(_) => 1,
            Self::Blob(_) => 2,
        }
    }
}

/// A numeral as SQLite reads it: a 64-bit integer or a float.
pub(crate) fn sqlite_number(found: &parse::NumericPrefix, text: &str) -> Number {
    match found.number {
        Number::Int(value) if found.integral && i64::try_from(value).is_ok() => Number::Int(value),
        other => Number::Float(
            text.get(..found.rest)
                .unwrap_or_default()
                .trim_start()
                .parse()
                .unwrap_or_else(|_| other.to_f64()),
        ),
    }
}

/// The affinity of an expression.
pub(crate) fn affinity(expr: &Expr) -> Affinity {
    match expr {
        Expr::Column(column) => Affinity::of(&column.data_type),
        Expr::Cast { data_type, .. } => Affinity::of(data_type),
        _ => Affinity::Blob,
    }
}
