//! The columns and constants that expressions are made of, per database.

use fastrand::Rng;
use isobath_sql::expr::{ColumnRef, Expr};
use isobath_sql::schema::Filled;
use isobath_sql::{Column, DataType, DialectName, Value};
use jiff::civil::date;
use rust_decimal::Decimal;

/// What an expression is about, so that typed databases get typed expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Int,
    Decimal,
    Float,
    Text,
    Date,
    Stamp,
    Time,
    Bool,
}

impl Sort {
    pub(crate) const ALL: [Self; 8] = [
        Self::Int,
        Self::Decimal,
        Self::Float,
        Self::Text,
        Self::Date,
        Self::Stamp,
        Self::Time,
        Self::Bool,
    ];
}

/// A column with the type as the database is told it.
pub(crate) struct Known {
    pub(crate) sort: Sort,
    pub(crate) column: Column,
}

fn known(
    name: &str,
    sort: Sort,
    data_type: DataType,
    declared: &str,
    collation: Option<&str>,
) -> Known {
    Known {
        sort,
        column: Column {
            name: name.to_owned(),
            data_type,
            declared: declared.to_owned(),
            default: None,
            filled: Filled::No,
            collation: collation.map(str::to_owned),
        },
    }
}

fn integer(bits: u8) -> DataType {
    DataType::Integer {
        bits,
        unsigned: false,
    }
}

/// The columns of the table that expressions are evaluated on; the first is its key.
pub(crate) fn columns(dialect: DialectName) -> Vec<Known> {
    let money = DataType::Decimal {
        precision: Some(8),
        scale: Some(2),
    };
    let varchar = DataType::Varchar { length: Some(12) };
    let stamp = |zoned| DataType::Timestamp {
        precision: if dialect == DialectName::MySql { 0 } else { 6 },
        zoned,
    };
    let time = DataType::Time {
        precision: if dialect == DialectName::MySql { 0 } else { 6 },
        zoned: false,
    };
    let mut columns = vec![
        known("i", Sort::Int, DataType::INT, "INTEGER", None),
        known("j", Sort::Int, integer(16), "SMALLINT", None),
        known("k", Sort::Int, integer(64), "BIGINT", None),
        known("n", Sort::Decimal, money, "DECIMAL(8,2)", None),
        known(
            "f",
            Sort::Float,
            DataType::Float { bits: 64 },
            "DOUBLE PRECISION",
            None,
        ),
        known("s", Sort::Text, varchar.clone(), "VARCHAR(12)", None),
        known(
            "c",
            Sort::Text,
            DataType::Char { length: 5 },
            "CHAR(5)",
            None,
        ),
        known("t", Sort::Text, DataType::Text, "TEXT", None),
        known("d", Sort::Date, DataType::Date, "DATE", None),
        known("o", Sort::Bool, DataType::Boolean, "BOOLEAN", None),
    ];
    match dialect {
        DialectName::Sqlite => {
            columns.push(known(
                "u",
                Sort::Text,
                DataType::Text,
                "TEXT COLLATE NOCASE",
                Some("nocase"),
            ));
            columns.push(known(
                "v",
                Sort::Text,
                DataType::Text,
                "TEXT COLLATE RTRIM",
                Some("rtrim"),
            ));
            columns.push(known(
                "z",
                Sort::Text,
                DataType::Bytes {
                    length: None,
                    fixed: false,
                },
                "BLOB",
                None,
            ));
        }
        DialectName::MySql => {
            columns.push(known(
                "b",
                Sort::Text,
                varchar,
                "VARCHAR(12) COLLATE utf8mb4_bin",
                Some("utf8mb4_bin"),
            ));
            columns.push(known(
                "w",
                Sort::Int,
                DataType::Integer {
                    bits: 32,
                    unsigned: true,
                },
                "INT UNSIGNED",
                None,
            ));
            columns.push(known("ts", Sort::Stamp, stamp(false), "DATETIME", None));
            columns.push(known("tm", Sort::Time, time, "TIME", None));
        }
        DialectName::Ansi | DialectName::Postgres => {
            columns.push(known(
                "g",
                Sort::Float,
                DataType::Float { bits: 32 },
                "REAL",
                None,
            ));
            columns.push(known("ts", Sort::Stamp, stamp(false), "TIMESTAMP", None));
            columns.push(known("tz", Sort::Stamp, stamp(true), "TIMESTAMPTZ", None));
            columns.push(known("tm", Sort::Time, time, "TIME", None));
            columns.push(known(
                "e",
                Sort::Text,
                DataType::Text,
                "TEXT COLLATE \"C\"",
                Some("C"),
            ));
        }
    }
    columns
}

/// A column as an expression uses it.
pub(crate) fn column_use(known: &Known, slot: usize) -> Expr {
    Expr::Column(ColumnRef {
        slot,
        name: known.column.name.clone(),
        data_type: known.column.data_type.clone(),
        collation: known.column.collation.clone(),
    })
}

const WORDS: [&str; 26] = [
    "", "a", "A", "b", "ab", "Ab", "abc", "ABC", "abd", "a ", "ab  ", " a", "a_b", "a%", "Zz",
    "10", "5", " 7", "-3", "1.5", "0", "5x", "x5", "aaa", "foo bar", "~",
];

/// A value of a sort; `wild` also gives values at the edges.
pub(crate) fn value(rng: &mut Rng, sort: Sort, dialect: DialectName) -> Value {
    match sort {
        Sort::Int => Value::Int(match rng.u8(..20) {
            0 => i128::from(i32::MAX),
            1 => i128::from(i32::MIN),
            2 => i128::from(i64::MAX),
            3 => i128::from(i16::MAX),
            4 => i128::from(rng.i32(..)),
            _ => rng.i8(-5..=12).into(),
        }),
        Sort::Decimal => Value::Decimal(match rng.u8(..8) {
            0 => Decimal::new(rng.i64(-999_999..999_999), 2),
            1 => Decimal::new(rng.i64(-99..99), 1),
            2 => Decimal::new(rng.i64(-9999..9999), 3),
            _ => Decimal::new(i64::from(rng.i8(-8..=20)) * 25, 2),
        }),
        Sort::Float => Value::Float(match rng.u8(..6) {
            0 => rng.f64() * 100.0,
            1 => 0.1,
            2 => 1e10,
            _ => f64::from(rng.i8(-8..=20)) * 0.5,
        }),
        Sort::Text => Value::text(*rng.choice(&WORDS).unwrap()),
        Sort::Date => Value::Date(day(rng)),
        Sort::Stamp => Value::DateTime(day(rng).at(
            rng.i8(0..24),
            rng.i8(0..60),
            rng.i8(0..60),
            if dialect == DialectName::MySql || rng.bool() {
                0
            } else {
                rng.i32(0..1_000_000) * 1000
            },
        )),
        Sort::Time => Value::Time(jiff::civil::time(
            rng.i8(0..24),
            rng.i8(0..60),
            rng.i8(0..60),
            0,
        )),
        Sort::Bool => Value::Bool(rng.bool()),
    }
}

fn day(rng: &mut Rng) -> jiff::civil::Date {
    match rng.u8(..6) {
        0 => date(2020, 2, 29),
        1 => date(1999, 12, 31),
        2 => date(2000, 1, 1),
        _ => date(rng.i16(2018..2023), rng.i8(1..=12), rng.i8(1..=28)),
    }
}

/// A value as SQL writes it.
pub(crate) fn literal(value: &Value, dialect: DialectName) -> String {
    let quoted = |text: &str| {
        let text = text.replace('\'', "''");
        match dialect {
            DialectName::MySql => format!("'{}'", text.replace('\\', "\\\\")),
            _ => format!("'{text}'"),
        }
    };
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        Value::Int(value) if *value < 0 => format!("({value})"),
        Value::Int(value) => value.to_string(),
        Value::Decimal(value) if value.is_sign_negative() => format!("({value})"),
        Value::Decimal(value) => value.to_string(),
        Value::Float(value) => format!("({value:e})"),
        Value::Text(text) => quoted(text),
        Value::Bytes(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            match dialect {
                DialectName::Postgres => format!("'\\x{hex}'::bytea"),
                _ => format!("x'{hex}'"),
            }
        }
        Value::Date(date) => match dialect {
            DialectName::Sqlite => quoted(&date.to_string()),
            _ => format!("DATE {}", quoted(&date.to_string())),
        },
        Value::Time(time) => match dialect {
            DialectName::Sqlite => quoted(&time.to_string()),
            _ => format!("TIME {}", quoted(&time.to_string())),
        },
        Value::DateTime(at) => {
            let text = quoted(&format!("{} {}", at.date(), at.time()));
            match dialect {
                DialectName::Sqlite => text,
                _ => format!("TIMESTAMP {text}"),
            }
        }
        Value::Instant(at) => match dialect {
            DialectName::MySql => quoted(&at.to_string().replace('T', " ").replace('Z', "")),
            _ => quoted(&at.to_string()),
        },
        other => quoted(&other.to_string()),
    }
}
