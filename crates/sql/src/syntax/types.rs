//! From type names to data types.

use sqlparser::ast::{
    ArrayElemTypeDef, BinaryLength, CharacterLength, DataType as Ast, EnumMember, ExactNumberInfo,
    ObjectName, TimezoneInfo,
};

use super::last_part;
use crate::dialect::DialectName;
use crate::types::DataType;

/// The type that a spelling means in a dialect; `named` resolves the user's own types.
pub(crate) fn data_type(
    ast: &Ast,
    dialect: DialectName,
    named: &dyn Fn(&ObjectName) -> Option<DataType>,
) -> DataType {
    let mysql = dialect == DialectName::MySql;
    match ast {
        Ast::Boolean | Ast::Bool if mysql => integer(8),
        Ast::Boolean | Ast::Bool => DataType::Boolean,
        Ast::TinyInt(_) => integer(8),
        Ast::TinyIntUnsigned(_) | Ast::UTinyInt => unsigned(8),
        Ast::SmallInt(_) | Ast::Int2(_) => integer(16),
        Ast::SmallIntUnsigned(_) | Ast::USmallInt | Ast::Int2Unsigned(_) => unsigned(16),
        Ast::MediumInt(_) => integer(24),
        Ast::MediumIntUnsigned(_) => unsigned(24),
        Ast::Int(_) | Ast::Integer(_) | Ast::Int4(_) => integer(32),
        Ast::IntUnsigned(_) | Ast::IntegerUnsigned(_) | Ast::Int4Unsigned(_) => unsigned(32),
        Ast::BigInt(_) | Ast::Int8(_) | Ast::Signed | Ast::SignedInteger => integer(64),
        Ast::BigIntUnsigned(_)
        | Ast::UBigInt
        | Ast::Int8Unsigned(_)
        | Ast::Unsigned
        | Ast::UnsignedInteger => unsigned(64),
        Ast::Numeric(info) | Ast::Decimal(info) | Ast::Dec(info) => decimal(info, dialect),
        Ast::DecimalUnsigned(info) | Ast::DecUnsigned(info) => decimal(info, dialect),
        Ast::Float(info) | Ast::FloatUnsigned(info) => DataType::Float {
            bits: float_bits(info, dialect),
        },
        Ast::Float4 => DataType::Float { bits: 32 },
        Ast::Real | Ast::RealUnsigned => DataType::Float {
            bits: match dialect {
                DialectName::MySql | DialectName::Sqlite => 64,
                DialectName::Ansi | DialectName::Postgres => 32,
            },
        },
        Ast::Float8
        | Ast::Double(_)
        | Ast::DoubleUnsigned(_)
        | Ast::DoublePrecision
        | Ast::DoublePrecisionUnsigned => DataType::Float { bits: 64 },
        Ast::Char(length) | Ast::Character(length) => DataType::Char {
            length: characters(length).unwrap_or(1),
        },
        Ast::Varchar(length)
        | Ast::Nvarchar(length)
        | Ast::CharVarying(length)
        | Ast::CharacterVarying(length) => DataType::Varchar {
            length: characters(length),
        },
        Ast::Text
        | Ast::TinyText
        | Ast::MediumText
        | Ast::LongText
        | Ast::Clob(_)
        | Ast::CharLargeObject(_)
        | Ast::CharacterLargeObject(_) => DataType::Text,
        Ast::Binary(length) => DataType::Bytes {
            length: Some(narrow(length.unwrap_or(1))),
            fixed: true,
        },
        Ast::Varbinary(length) => DataType::Bytes {
            length: match length {
                Some(BinaryLength::IntegerLength { length }) => Some(narrow(*length)),
                _ => None,
            },
            fixed: false,
        },
        Ast::Blob(_) | Ast::TinyBlob | Ast::MediumBlob | Ast::LongBlob | Ast::Bytea => {
            DataType::Bytes {
                length: None,
                fixed: false,
            }
        }
        Ast::Date => DataType::Date,
        Ast::Time(precision, zone) => DataType::Time {
            precision: fraction(
                *precision,
                if dialect == DialectName::Postgres {
                    6
                } else {
                    0
                },
            ),
            zoned: zoned(zone),
        },
        // MySQL stores a TIMESTAMP as an instant and shows it in the session's zone.
        Ast::Timestamp(precision, zone) => DataType::Timestamp {
            precision: fraction(*precision, if mysql { 0 } else { 6 }),
            zoned: mysql || zoned(zone),
        },
        Ast::Datetime(precision) => DataType::Timestamp {
            precision: fraction(*precision, if mysql { 0 } else { 6 }),
            zoned: false,
        },
        Ast::Interval { .. } => DataType::Interval,
        Ast::Uuid => DataType::Uuid,
        Ast::JSON => DataType::Json { binary: false },
        Ast::JSONB => DataType::Json { binary: true },
        Ast::Enum(members, _) => DataType::Enum {
            name: None,
            labels: members
                .iter()
                .map(|member| match member {
                    EnumMember::Name(label) | EnumMember::NamedValue(label, _) => label.clone(),
                })
                .collect(),
        },
        Ast::Array(ArrayElemTypeDef::SquareBracket(element, _)) => {
            DataType::Other(format!("{}[]", element.to_string().to_lowercase()))
        }
        Ast::Custom(name, arguments) => custom(name, arguments, dialect, named),
        Ast::Unspecified => DataType::Other(String::new()),
        other => DataType::Other(other.to_string().to_lowercase()),
    }
}

/// Names that the parser leaves to us.
fn custom(
    name: &ObjectName,
    arguments: &[String],
    dialect: DialectName,
    named: &dyn Fn(&ObjectName) -> Option<DataType>,
) -> DataType {
    if let Some(found) = named(name) {
        return found;
    }
    let lower = last_part(name).to_lowercase();
    let first = arguments.first().and_then(|text| text.parse::<u32>().ok());
    match lower.as_str() {
        "serial" | "serial4" if dialect == DialectName::MySql => unsigned(64),
        "serial" | "serial4" => integer(32),
        "bigserial" | "serial8" => integer(64),
        "smallserial" | "serial2" => integer(16),
        "int24" | "middleint" => integer(24),
        "bpchar" => match first {
            Some(length) => DataType::Char { length },
            None => DataType::Text,
        },
        "nchar" => DataType::Char {
            length: first.unwrap_or(1),
        },
        "varchar2" | "nvarchar2" | "string" => DataType::Varchar { length: first },
        "number" => DataType::Decimal {
            precision: first,
            scale: arguments
                .get(1)
                .and_then(|text| text.parse().ok())
                .or(first.map(|_| 0)),
        },
        "timestamptz" => DataType::Timestamp {
            precision: fraction(first.map(u64::from), 6),
            zoned: true,
        },
        "timetz" => DataType::Time {
            precision: fraction(first.map(u64::from), 6),
            zoned: true,
        },
        "year" if dialect == DialectName::MySql => DataType::Year,
        _ if arguments.is_empty() => DataType::Other(lower),
        _ => DataType::Other(format!("{lower}({})", arguments.join(","))),
    }
}

fn integer(bits: u8) -> DataType {
    DataType::Integer {
        bits,
        unsigned: false,
    }
}

fn unsigned(bits: u8) -> DataType {
    DataType::Integer {
        bits,
        unsigned: true,
    }
}

fn decimal(info: &ExactNumberInfo, dialect: DialectName) -> DataType {
    let (precision, scale) = match *info {
        ExactNumberInfo::None if dialect == DialectName::MySql => (Some(10), Some(0)),
        ExactNumberInfo::None => (None, None),
        ExactNumberInfo::Precision(precision) => (Some(narrow(precision)), Some(0)),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (
            Some(narrow(precision)),
            Some(u32::try_from(scale).unwrap_or(0)),
        ),
    };
    DataType::Decimal { precision, scale }
}

/// FLOAT(p) counts bits; without p it is single in MySQL and double elsewhere.
fn float_bits(info: &ExactNumberInfo, dialect: DialectName) -> u8 {
    match (info, dialect) {
        (ExactNumberInfo::Precision(bits), _) if *bits > 24 => 64,
        (ExactNumberInfo::Precision(_), DialectName::Sqlite) => 64,
        (ExactNumberInfo::Precision(_), _) => 32,
        (_, DialectName::MySql) => 32,
        _ => 64,
    }
}

fn characters(length: &Option<CharacterLength>) -> Option<u32> {
    match length {
        Some(CharacterLength::IntegerLength { length, .. }) => Some(narrow(*length)),
        Some(CharacterLength::Max) | None => None,
    }
}

fn narrow(length: u64) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn fraction(precision: Option<u64>, default: u8) -> u8 {
    precision.map_or(default, |digits| u8::try_from(digits.min(9)).unwrap_or(9))
}

fn zoned(zone: &TimezoneInfo) -> bool {
    matches!(zone, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz)
}
