//! Decodes values of the MySQL text protocol.

use isobath_sql::Value;
use jiff::civil::{Date, DateTime, Time};
use mysql_async::Row;
use mysql_async::consts::ColumnType;
use rust_decimal::Decimal;

/// The character set number that means bytes.
const BINARY: u16 = 63;

/// One value of a row.
pub(super) fn value(row: &Row, index: usize) -> Value {
    match row.as_ref(index) {
        Some(mysql_async::Value::Bytes(bytes)) => match row.columns_ref().get(index) {
            Some(column) => decoded(column.column_type(), column.character_set(), bytes),
            None => Value::Null,
        },
        Some(mysql_async::Value::Int(value)) => Value::Int((*value).into()),
        Some(mysql_async::Value::UInt(value)) => Value::Int((*value).into()),
        Some(mysql_async::Value::Float(value)) => Value::Float((*value).into()),
        Some(mysql_async::Value::Double(value)) => Value::Float(*value),
        // Dates and times arrive as text in this protocol.
        Some(other @ (mysql_async::Value::Date(..) | mysql_async::Value::Time(..))) => {
            Value::Text(other.as_sql(true).trim_matches('\'').to_owned())
        }
        Some(mysql_async::Value::NULL) | None => Value::Null,
    }
}

/// What a column's type makes of the text; what does not parse (`0000-00-00`) stays text.
fn decoded(of: ColumnType, character_set: u16, bytes: &[u8]) -> Value {
    let text = || String::from_utf8_lossy(bytes).into_owned();
    let parsed = match of {
        ColumnType::MYSQL_TYPE_TINY
        | ColumnType::MYSQL_TYPE_SHORT
        | ColumnType::MYSQL_TYPE_INT24
        | ColumnType::MYSQL_TYPE_LONG
        | ColumnType::MYSQL_TYPE_LONGLONG
        | ColumnType::MYSQL_TYPE_YEAR => text().parse().ok().map(Value::Int),
        ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            Decimal::from_str_exact(&text()).ok().map(Value::Decimal)
        }
        ColumnType::MYSQL_TYPE_FLOAT | ColumnType::MYSQL_TYPE_DOUBLE => {
            text().parse().ok().map(Value::Float)
        }
        ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_NEWDATE => {
            text().parse::<Date>().ok().map(Value::Date)
        }
        // A duration in MariaDB, up to 838 hours; what is no time of day stays text.
        ColumnType::MYSQL_TYPE_TIME | ColumnType::MYSQL_TYPE_TIME2 => {
            text().parse::<Time>().ok().map(Value::Time)
        }
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_DATETIME2 => {
            text().parse::<DateTime>().ok().map(Value::DateTime)
        }
        // In the zone of the session, which is UTC.
        ColumnType::MYSQL_TYPE_TIMESTAMP | ColumnType::MYSQL_TYPE_TIMESTAMP2 => text()
            .parse::<DateTime>()
            .and_then(|time| time.to_zoned(jiff::tz::TimeZone::UTC))
            .ok()
            .map(|zoned| Value::Instant(zoned.timestamp())),
        ColumnType::MYSQL_TYPE_BIT => Some(Value::Int(
            bytes
                .iter()
                .take(8)
                .fold(0, |number, &byte| number << 8 | i128::from(byte)),
        )),
        ColumnType::MYSQL_TYPE_JSON => Some(Value::Json(text())),
        ColumnType::MYSQL_TYPE_GEOMETRY => Some(Value::Bytes(bytes.to_vec())),
        _ if character_set == BINARY => Some(Value::Bytes(bytes.to_vec())),
        _ => None,
    };
    parsed.unwrap_or_else(|| Value::Text(text()))
}
