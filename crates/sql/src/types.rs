//! Column types, with the limits that a database enforces.

use std::ops::RangeInclusive;

/// A column type, reduced to what decides which values fit.
///
/// How a type is spelled belongs to the dialect; the spelling of the source is
/// kept in [`Column::declared`](crate::Column::declared).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    /// TRUE or FALSE.
    Boolean,
    /// An integer of 8, 16, 24, 32 or 64 bits.
    Integer {
        /// Width in bits.
        bits: u8,
        /// Whether it has no negative half.
        unsigned: bool,
    },
    /// DECIMAL or NUMERIC; without precision it is unbounded (PostgreSQL) or the dialect's default.
    Decimal {
        /// Total digits.
        precision: Option<u32>,
        /// Digits after the point.
        scale: Option<u32>,
    },
    /// REAL (32) or DOUBLE PRECISION (64).
    Float {
        /// Width in bits.
        bits: u8,
    },
    /// CHAR(n), blank-padded where the dialect pads.
    Char {
        /// Length in characters.
        length: u32,
    },
    /// VARCHAR(n), or without a limit.
    Varchar {
        /// Greatest length in characters.
        length: Option<u32>,
    },
    /// TEXT and similar types.
    Text,
    /// BINARY(n) (fixed) or VARBINARY(n), BYTEA, BLOB.
    Bytes {
        /// Greatest length in bytes.
        length: Option<u32>,
        /// Whether shorter values are padded.
        fixed: bool,
    },
    /// DATE.
    Date,
    /// TIME, with fractional digits.
    Time {
        /// Fractional digits kept.
        precision: u8,
        /// WITH TIME ZONE.
        zoned: bool,
    },
    /// TIMESTAMP or DATETIME, with fractional digits.
    Timestamp {
        /// Fractional digits kept.
        precision: u8,
        /// WITH TIME ZONE (MySQL: TIMESTAMP).
        zoned: bool,
    },
    /// MySQL's YEAR.
    Year,
    /// INTERVAL.
    Interval,
    /// UUID.
    Uuid,
    /// JSON or JSONB.
    Json {
        /// JSONB, which has equality.
        binary: bool,
    },
    /// One of a list of labels.
    Enum {
        /// The name of the type where it has one.
        name: Option<String>,
        /// Its labels, in order.
        labels: Vec<String>,
    },
    /// A type that we carry as text without understanding it, by its lower-case name.
    Other(String),
}

impl DataType {
    /// INTEGER as all dialects have it.
    pub const INT: Self = Self::Integer {
        bits: 32,
        unsigned: false,
    };

    /// The range of an integer type, `None` for anything else.
    pub fn integer_range(&self) -> Option<RangeInclusive<i128>> {
        match *self {
            Self::Integer {
                bits,
                unsigned: true,
            } => Some(0..=(1i128 << bits) - 1),
            Self::Integer {
                bits,
                unsigned: false,
            } => {
                let half = 1i128 << (bits - 1);
                Some(-half..=half - 1)
            }
            _ => None,
        }
    }

    /// Whether values are numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            Self::Integer { .. } | Self::Decimal { .. } | Self::Float { .. } | Self::Year
        )
    }

    /// Whether values are strings of characters.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Char { .. } | Self::Varchar { .. } | Self::Text)
    }

    /// The greatest number of characters, where there is one.
    pub fn max_chars(&self) -> Option<u32> {
        match *self {
            Self::Char { length } => Some(length),
            Self::Varchar { length } => length,
            _ => None,
        }
    }
}
