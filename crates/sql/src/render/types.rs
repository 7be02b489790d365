//! Types as each dialect spells them.

use super::literal::literal;
use crate::dialect::DialectName;
use crate::types::DataType;
use crate::value::Value;

/// A type as a dialect spells it.
///
/// Types that a dialect lacks are spelled as the nearest that it has;
/// [`translate`](super::translate) replaces them in the model before that, and
/// says so.
pub fn type_name(data_type: &DataType, dialect: DialectName) -> String {
    use DialectName::{MySql, Postgres, Sqlite};
    match (data_type, dialect) {
        (DataType::Boolean, _) => "BOOLEAN".to_owned(),
        (DataType::Integer { bits, unsigned }, _) => integer(*bits, *unsigned, dialect),
        (DataType::Decimal { precision, scale }, _) => {
            let name = if dialect == Postgres {
                "NUMERIC"
            } else {
                "DECIMAL"
            };
            match (precision, scale) {
                (Some(precision), Some(scale)) => format!("{name}({precision}, {scale})"),
                (Some(precision), None) => format!("{name}({precision})"),
                (None, _) => name.to_owned(),
            }
        }
        (DataType::Float { bits: 32 }, MySql) => "FLOAT".to_owned(),
        (DataType::Float { bits: 32 }, _) => "REAL".to_owned(),
        (DataType::Float { .. }, MySql) => "DOUBLE".to_owned(),
        (DataType::Float { .. }, _) => "DOUBLE PRECISION".to_owned(),
        (DataType::Char { length }, _) => format!("CHAR({length})"),
        (DataType::Varchar { length: Some(n) }, _) => format!("VARCHAR({n})"),
        (DataType::Varchar { length: None }, MySql) => "TEXT".to_owned(),
        (DataType::Varchar { length: None }, _) => "VARCHAR".to_owned(),
        (DataType::Text, _) => "TEXT".to_owned(),
        (DataType::Bytes { .. }, Postgres) => "BYTEA".to_owned(),
        (DataType::Bytes { .. }, Sqlite) => "BLOB".to_owned(),
        (
            DataType::Bytes {
                length: Some(n),
                fixed: true,
            },
            _,
        ) => format!("BINARY({n})"),
        (
            DataType::Bytes {
                length: Some(n),
                fixed: false,
            },
            _,
        ) => format!("VARBINARY({n})"),
        (DataType::Bytes { length: None, .. }, MySql) => "LONGBLOB".to_owned(),
        (DataType::Bytes { length: None, .. }, _) => "BLOB".to_owned(),
        (DataType::Date, _) => "DATE".to_owned(),
        (DataType::Time { precision, zoned }, _) => timed("TIME", *precision, *zoned, dialect),
        (
            DataType::Timestamp {
                precision,
                zoned: false,
            },
            MySql,
        ) => timed("DATETIME", *precision, false, dialect),
        (DataType::Timestamp { precision, zoned }, _) => {
            timed("TIMESTAMP", *precision, *zoned, dialect)
        }
        (DataType::Year, MySql) => "YEAR".to_owned(),
        (DataType::Year, _) => "SMALLINT".to_owned(),
        (DataType::Interval, MySql | Sqlite) => "TEXT".to_owned(),
        (DataType::Interval, _) => "INTERVAL".to_owned(),
        (DataType::Uuid, MySql) => "CHAR(36)".to_owned(),
        (DataType::Uuid, Sqlite) => "TEXT".to_owned(),
        (DataType::Uuid, _) => "UUID".to_owned(),
        (DataType::Json { .. }, Sqlite) => "TEXT".to_owned(),
        (DataType::Json { binary: true }, Postgres) => "JSONB".to_owned(),
        (DataType::Json { .. }, _) => "JSON".to_owned(),
        (DataType::Enum { labels, .. }, MySql) => {
            let labels: Vec<String> = labels
                .iter()
                .map(|label| literal(&Value::Text(label.clone()), MySql))
                .collect();
            format!("ENUM({})", labels.join(", "))
        }
        (
            DataType::Enum {
                name: Some(name), ..
            },
            Postgres,
        ) => super::ident::identifier(name, Postgres),
        (DataType::Enum { .. }, _) => "TEXT".to_owned(),
        (DataType::Other(name), _) => name.clone(),
    }
}

fn integer(bits: u8, unsigned: bool, dialect: DialectName) -> String {
    let name = match (bits, dialect) {
        (8, DialectName::MySql | DialectName::Sqlite) => "TINYINT",
        (8 | 16, _) => "SMALLINT",
        (24, DialectName::MySql | DialectName::Sqlite) => "MEDIUMINT",
        (24 | 32, DialectName::Postgres | DialectName::Ansi) => "INTEGER",
        // INTEGER would make a single primary key a row id in SQLite.
        (32, _) => "INT",
        _ => "BIGINT",
    };
    if unsigned && dialect == DialectName::MySql {
        format!("{name} UNSIGNED")
    } else {
        name.to_owned()
    }
}

fn timed(name: &str, precision: u8, zoned: bool, dialect: DialectName) -> String {
    let default = match (dialect, name) {
        (DialectName::MySql, _) => 0,
        (DialectName::Ansi | DialectName::Sqlite, "TIME") => 0,
        _ => 6,
    };
    let mut text = name.to_owned();
    if precision != default {
        text.push_str(&format!("({precision})"));
    }
    if zoned && dialect != DialectName::MySql {
        text.push_str(" WITH TIME ZONE");
    }
    text
}

/// MySQL casts to a few types only.
pub(super) fn cast_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Integer { unsigned: true, .. } => "UNSIGNED".to_owned(),
        DataType::Boolean | DataType::Integer { .. } | DataType::Year => "SIGNED".to_owned(),
        DataType::Decimal {
            precision: None, ..
        } => "DECIMAL(65, 30)".to_owned(),
        DataType::Float { bits: 32 } => "FLOAT".to_owned(),
        DataType::Float { .. } => "DOUBLE".to_owned(),
        DataType::Char { length } => format!("CHAR({length})"),
        DataType::Varchar { length: Some(n) } => format!("CHAR({n})"),
        DataType::Bytes {
            length: Some(n), ..
        } => format!("BINARY({n})"),
        DataType::Bytes { length: None, .. } => "BINARY".to_owned(),
        DataType::Timestamp { precision: 0, .. } => "DATETIME".to_owned(),
        DataType::Timestamp { precision, .. } => format!("DATETIME({precision})"),
        DataType::Decimal { .. } | DataType::Date | DataType::Time { .. } => {
            type_name(data_type, DialectName::MySql)
        }
        DataType::Varchar { length: None }
        | DataType::Text
        | DataType::Interval
        | DataType::Uuid
        | DataType::Json { .. }
        | DataType::Enum { .. }
        | DataType::Other(_) => "CHAR".to_owned(),
    }
}
