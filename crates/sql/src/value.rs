//! Values as databases hold them, independent of any dialect.

use std::fmt;

use jiff::{Timestamp, civil};
use rust_decimal::Decimal;

/// One value of one cell.
///
/// Enum labels, and values of types that we carry without understanding
/// ([`DataType::Other`](crate::DataType::Other)), are `Text`. Equality here is
/// structural; what a database calls equal is for [`eval`](crate::eval).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// TRUE or FALSE.
    Bool(bool),
    /// Any integer, wide enough for BIGINT UNSIGNED.
    Int(i128),
    /// An exact number with a scale of its own: `1.0` and `1.00` are distinct here.
    Decimal(Decimal),
    /// A binary floating-point number.
    Float(f64),
    /// Characters.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A day.
    Date(civil::Date),
    /// A time of day.
    Time(civil::Time),
    /// A day and a time of day, without zone.
    DateTime(civil::DateTime),
    /// An instant (TIMESTAMP WITH TIME ZONE).
    Instant(Timestamp),
    /// A span of time in the parts that SQL keeps apart.
    Interval(Interval),
    /// A UUID.
    Uuid([u8; 16]),
    /// A JSON document, as text.
    Json(String),
}

/// A span of time; months and days have no fixed length, so they stay separate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Calendar months, years folded in.
    pub months: i32,
    /// Calendar days.
    pub days: i32,
    /// Everything below a day.
    pub micros: i64,
}

impl Value {
    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Text, for literals in code and tests.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl fmt::Display for Value {
    /// For people; SQL literals are written by [`render`](crate::render).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Decimal(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) | Self::Json(value) => f.write_str(value),
            Self::Bytes(value) => value.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Self::Date(value) => write!(f, "{value}"),
            Self::Time(value) => write!(f, "{value}"),
            Self::DateTime(value) => write!(f, "{} {}", value.date(), value.time()),
            Self::Instant(value) => write!(f, "{value}"),
            Self::Interval(Interval {
                months,
                days,
                micros,
            }) => {
                write!(f, "{months} months {days} days {micros} microseconds")
            }
            Self::Uuid(bytes) => {
                for (index, byte) in bytes.iter().enumerate() {
                    if matches!(index, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}
