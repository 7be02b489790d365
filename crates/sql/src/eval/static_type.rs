//! The static type of an expression, which decides coercions before any value is seen.

use crate::dialect::DialectName;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::types::DataType;
use crate::value::Value;

use super::function;

/// A type without the limits that only storage enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StaticType<'a> {
    /// An untyped literal, NULL or parameter: it takes the type that its surroundings want.
    Unknown,
    Bool,
    Int {
        bits: u8,
        unsigned: bool,
    },
    Decimal,
    Float {
        bits: u8,
    },
    /// TEXT, and strings that functions make.
    Text,
    /// VARCHAR, which PostgreSQL compares with CHAR as CHAR.
    Varchar,
    /// CHAR(n), whose trailing blanks do not count.
    Char,
    Bytes,
    Date,
    Time,
    ZonedTime,
    DateTime,
    Instant,
    Interval,
    Uuid,
    Json {
        binary: bool,
    },
    Enum(&'a [String]),
    Year,
    /// A type that we carry without understanding it.
    Other,
}

impl<'a> StaticType<'a> {
    pub(crate) const INT4: Self = Self::Int {
        bits: 32,
        unsigned: false,
    };
    pub(crate) const INT8: Self = Self::Int {
        bits: 64,
        unsigned: false,
    };
    pub(crate) const DOUBLE: Self = Self::Float { bits: 64 };

    pub(crate) fn of_type(data_type: &'a DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Bool,
            DataType::Integer { bits, unsigned } => Self::Int {
                bits: *bits,
                unsigned: *unsigned,
            },
            DataType::Decimal { .. } => Self::Decimal,
            DataType::Float { bits } => Self::Float { bits: *bits },
            DataType::Char { .. } => Self::Char,
            DataType::Varchar { .. } => Self::Varchar,
            DataType::Text => Self::Text,
            DataType::Bytes { .. } => Self::Bytes,
            DataType::Date => Self::Date,
            DataType::Time { zoned: false, .. } => Self::Time,
            DataType::Time { zoned: true, .. } => Self::ZonedTime,
            DataType::Timestamp { zoned: false, .. } => Self::DateTime,
            DataType::Timestamp { zoned: true, .. } => Self::Instant,
            DataType::Year => Self::Year,
            DataType::Interval => Self::Interval,
            DataType::Uuid => Self::Uuid,
            DataType::Json { binary } => Self::Json { binary: *binary },
            DataType::Enum { labels, .. } => Self::Enum(labels),
            DataType::Other(_) => Self::Other,
        }
    }

    /// A type that is of this kind, where there is one for sure.
    pub(crate) fn data_type(self) -> Option<DataType> {
        Some(match self {
            Self::Unknown | Self::Other => return None,
            Self::Bool => DataType::Boolean,
            Self::Int { bits, unsigned } => DataType::Integer { bits, unsigned },
            Self::Decimal => DataType::Decimal {
                precision: None,
                scale: None,
            },
            Self::Float { bits } => DataType::Float { bits },
            Self::Text | Self::Char => DataType::Text,
            Self::Varchar => DataType::Varchar { length: None },
            Self::Bytes => DataType::Bytes {
                length: None,
                fixed: false,
            },
            Self::Date => DataType::Date,
            Self::Time | Self::ZonedTime => DataType::Time {
                precision: 6,
                zoned: self == Self::ZonedTime,
            },
            Self::DateTime | Self::Instant => DataType::Timestamp {
                precision: 6,
                zoned: self == Self::Instant,
            },
            Self::Interval => DataType::Interval,
            Self::Uuid => DataType::Uuid,
            Self::Json { binary } => DataType::Json { binary },
            Self::Enum(labels) => DataType::Enum {
                name: None,
                labels: labels.to_vec(),
            },
            Self::Year => DataType::Year,
        })
    }

    /// The type of a literal.
    pub(crate) fn of_literal(value: &Value) -> Self {
        match value {
            Value::Null | Value::Text(_) => Self::Unknown,
            Value::Bool(_) => Self::Bool,
            Value::Int(value) => {
                if i32::try_from(*value).is_ok() {
                    Self::INT4
                } else if i64::try_from(*value).is_ok() {
                    Self::INT8
                } else {
                    Self::Decimal
                }
            }
            Value::Decimal(_) => Self::Decimal,
            Value::Float(_) => Self::DOUBLE,
            Value::Bytes(_) => Self::Bytes,
            Value::Date(_) => Self::Date,
            Value::Time(_) => Self::Time,
            Value::DateTime(_) => Self::DateTime,
            Value::Instant(_) => Self::Instant,
            Value::Interval(_) => Self::Interval,
            Value::Uuid(_) => Self::Uuid,
            Value::Json(_) => Self::Json { binary: false },
        }
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Int { .. } | Self::Decimal | Self::Float { .. } | Self::Year
        )
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(
            self,
            Self::Text | Self::Varchar | Self::Char | Self::Unknown
        )
    }

    pub(crate) fn is_moment(self) -> bool {
        matches!(self, Self::Date | Self::Time | Self::DateTime)
    }

    /// The type in which MySQL computes with values of this one: text is a number there.
    pub(crate) fn computed(self) -> Self {
        match self {
            Self::Text | Self::Varchar | Self::Char => Self::DOUBLE,
            kind => kind,
        }
    }

    /// Whether MySQL makes strings of alternatives of these two types.
    fn is_texts_with(self, other: Self) -> bool {
        let strings = |kind: Self| kind.is_text() || matches!(kind, Self::Enum(_));
        let spelled = |kind: Self| {
            strings(kind) || kind.is_moment() || (kind.is_number() && kind != Self::Year)
        };
        let apart = strings(self) || strings(other) || self.is_moment() != other.is_moment();
        spelled(self) && spelled(other) && apart
    }

    /// The type of arithmetic between two numbers, as PostgreSQL promotes them.
    pub(crate) fn promoted(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Unknown, other) | (other, Self::Unknown) => other,
            (
                Self::Int {
                    bits: a,
                    unsigned: x,
                },
                Self::Int {
                    bits: b,
                    unsigned: y,
                },
            ) => Self::Int {
                bits: a.max(b),
                unsigned: x || y,
            },
            (Self::Float { bits: 32 }, Self::Float { bits: 32 }) => Self::Float { bits: 32 },
            (Self::Float { .. }, b) if b.is_number() => Self::DOUBLE,
            (a, Self::Float { .. }) if a.is_number() => Self::DOUBLE,
            (Self::Decimal, b) if b.is_number() => Self::Decimal,
            (a, Self::Decimal) if a.is_number() => Self::Decimal,
            _ => return None,
        })
    }

    /// The common type of alternatives (CASE, COALESCE), `None` where there is none.
    pub(crate) fn unified(self, other: Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Self::Unknown, other) | (other, Self::Unknown) => Some(other),
            // Strings convert both ways, so the first type stays.
            (Self::Text | Self::Varchar | Self::Char, Self::Text | Self::Varchar | Self::Char) => {
                Some(self)
            }
            (Self::Date, Self::DateTime) | (Self::DateTime, Self::Date) => Some(Self::DateTime),
            (Self::Date | Self::DateTime, Self::Instant)
            | (Self::Instant, Self::Date | Self::DateTime) => Some(Self::Instant),
            // MariaDB makes decimals of these.
            (Self::Int { unsigned: a, .. }, Self::Int { unsigned: b, .. }) if a != b => None,
            // Other numbers become REAL without a detour over DOUBLE PRECISION.
            (Self::Float { bits: 32 }, Self::Int { .. } | Self::Decimal)
            | (Self::Int { .. } | Self::Decimal, Self::Float { bits: 32 }) => {
                Some(Self::Float { bits: 32 })
            }
            (a, b) if a.is_number() && b.is_number() => a.promoted(b),
            _ => None,
        }
    }
}

/// The static type of an expression; `Other` where we do not know.
pub(crate) fn kind_of<'a>(expr: &'a Expr, dialect: DialectName) -> StaticType<'a> {
    match (standard_kind(expr, dialect), dialect) {
        // There, booleans are numbers, and every text literal is text.
        (StaticType::Bool, DialectName::MySql) => StaticType::INT4,
        (StaticType::Unknown, DialectName::MySql)
            if matches!(expr, Expr::Literal(Value::Text(_))) =>
        {
            StaticType::Text
        }
        (kind, _) => kind,
    }
}

fn standard_kind<'a>(expr: &'a Expr, dialect: DialectName) -> StaticType<'a> {
    match expr {
        Expr::Literal(value) => StaticType::of_literal(value),
        Expr::Parameter(_) | Expr::Subquery(_) => StaticType::Unknown,
        Expr::Column(column) => StaticType::of_type(&column.data_type),
        Expr::Cast { data_type, .. } => StaticType::of_type(data_type),
        // A sign belongs to its literal.
        Expr::Unary {
            op: UnaryOp::Minus,
            expr,
        } if matches!(expr.as_ref(), Expr::Literal(Value::Int(_))) => match expr.as_ref() {
            Expr::Literal(Value::Int(value)) => StaticType::of_literal(&Value::Int(-value)),
            other => kind_of(other, dialect),
        },
        Expr::Unary { op, expr } => match (op, kind_of(expr, dialect)) {
            (UnaryOp::Minus, StaticType::Int { unsigned: true, .. }) => StaticType::INT8,
            (UnaryOp::Minus | UnaryOp::Plus, StaticType::Unknown) => StaticType::DOUBLE,
            (UnaryOp::Minus, kind) if dialect == DialectName::MySql => kind.computed(),
            (_, kind) => kind,
        },
        Expr::Binary { op, left, right } => {
            let typed = matches!(dialect, DialectName::Ansi | DialectName::Postgres);
            let (left, right) = (kind_of(left, dialect), kind_of(right, dialect));
            let bits = matches!(
                op,
                BinaryOp::BitAnd
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
                    | BinaryOp::ShiftLeft
                    | BinaryOp::ShiftRight
            );
            if bits && dialect == DialectName::MySql {
                return StaticType::Int {
                    bits: 64,
                    unsigned: true,
                };
            }
            if typed && !super::arithmetic::exists(*op, left, right) {
                return StaticType::Other;
            }
            if dialect == DialectName::MySql && !matches!(op, BinaryOp::Concat) {
                return match binary(*op, left.computed(), right.computed()) {
                    StaticType::Int { .. } if *op == BinaryOp::Divide => StaticType::Decimal,
                    // The sign of a remainder is that of the dividend.
                    StaticType::Int { bits, .. } if *op == BinaryOp::Modulo => StaticType::Int {
                        bits,
                        unsigned: matches!(left, StaticType::Int { unsigned: true, .. }),
                    },
                    kind => kind,
                };
            }
            binary(*op, left, right)
        }
        Expr::Case {
            branches,
            otherwise,
            ..
        } => unify(
            // The default counts first.
            otherwise
                .as_deref()
                .into_iter()
                .chain(branches.iter().map(|(_, then)| then)),
            dialect,
        ),
        Expr::Function { name, args } => function::kind(name, args, dialect),
        Expr::Opaque { .. } => StaticType::Other,
        Expr::Compare { .. }
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::IsDistinct { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Like { .. } => StaticType::Bool,
    }
}

/// The common static type of alternatives.
pub(crate) fn unify<'a>(
    parts: impl Iterator<Item = &'a Expr>,
    dialect: DialectName,
) -> StaticType<'a> {
    let mut common = StaticType::Unknown;
    for part in parts {
        let kind = kind_of(part, dialect);
        match common.unified(kind) {
            Some(kind) => common = kind,
            // Where types do not meet, MySQL takes the text of each.
            None if dialect == DialectName::MySql && common.is_texts_with(kind) => {
                common = StaticType::Text;
            }
            None => return StaticType::Other,
        }
    }
    match (common, dialect) {
        // Nothing but untyped literals: text.
        (StaticType::Unknown, DialectName::Ansi | DialectName::Postgres) => StaticType::Text,
        (common, _) => common,
    }
}

/// The static type of a binary operation, by PostgreSQL's operators.
fn binary<'a>(op: BinaryOp, left: StaticType<'a>, right: StaticType<'a>) -> StaticType<'a> {
    match op {
        BinaryOp::Concat => StaticType::Text,
        BinaryOp::Add | BinaryOp::Subtract => match (left, right) {
            (StaticType::Date, StaticType::Int { .. }) => StaticType::Date,
            (StaticType::Int { .. }, StaticType::Date) if op == BinaryOp::Add => StaticType::Date,
            (StaticType::Date, StaticType::Date | StaticType::Unknown)
                if op == BinaryOp::Subtract =>
            {
                StaticType::INT4
            }
            (StaticType::Date | StaticType::DateTime, StaticType::Interval) => StaticType::DateTime,
            (StaticType::Interval, StaticType::Date | StaticType::DateTime) => StaticType::DateTime,
            (StaticType::Instant, StaticType::Interval) => StaticType::Instant,
            (
                StaticType::DateTime | StaticType::Instant,
                StaticType::DateTime | StaticType::Instant,
            ) => StaticType::Interval,
            (a, b) => a.promoted(b).unwrap_or(StaticType::Other),
        },
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::IntegerDivide | BinaryOp::Modulo => {
            left.promoted(right).unwrap_or(StaticType::Other)
        }
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => left,
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            left.promoted(right).unwrap_or(StaticType::Other)
        }
    }
}
