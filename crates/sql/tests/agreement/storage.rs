//! Values put into typed columns, by us and by a database.

use std::fmt::Write as _;

use fastrand::Rng;
use isobath_exec::Database;
use isobath_exec::engine::Engine;
use isobath_sql::dialect::StoreError;
use isobath_sql::schema::{Filled, Table};
use isobath_sql::{Column, DataType, DialectName, Value};
use rust_decimal::Decimal;

use super::evaluation::same;
use super::lexicon::{self, Sort};

/// Values per column type and seed.
const VALUES: usize = 60;
/// No type may be unknown more often than this.
const UNKNOWN: f64 = 0.7;

pub(crate) fn agree(engine: Engine) {
    let Some(mut provisioned) = super::database("agreement of stored values", engine) else {
        return;
    };
    let database = provisioned.database();
    let dialect = engine.dialect();
    let mut disagreements = Vec::new();
    for (data_type, declared) in types(dialect) {
        let strict = declared.ends_with("STRICT");
        let declared = declared.trim_end_matches(" STRICT");
        let column = Column {
            name: "v".to_owned(),
            data_type,
            declared: declared.to_owned(),
            default: None,
            filled: Filled::No,
            collation: None,
        };
        let (mut seen, mut unknown) = (0, 0);
        for seed in super::seeds() {
            database.drop_all_objects().unwrap();
            let suffix = if strict { " STRICT" } else { "" };
            let create = format!("CREATE TABLE s (id INTEGER PRIMARY KEY, v {declared}){suffix}");
            assert!(database.execute(&create).unwrap().is_done(), "{create}");
            let mut rng = Rng::with_seed(seed);
            let mut stored: Vec<(Value, Value)> = Vec::new();
            for id in 0..VALUES {
                let given = given(&mut rng, dialect);
                let ours = dialect.dialect().store(&given, &column, strict);
                let theirs = put(database, id, &given, dialect, declared == "FLOAT");
                seen += 1;
                let agree = match (&ours, &theirs) {
                    (Err(StoreError::Unknown(_)), _) => {
                        unknown += 1;
                        true
                    }
                    (Ok(ours), Ok(theirs)) => {
                        stored.push((ours.clone(), theirs.clone()));
                        same(ours, theirs)
                    }
                    (Err(_), Err(_)) => true,
                    _ => false,
                };
                if !agree {
                    disagreements.push(format!(
                        "{} into {declared}{suffix}\n  we say {ours:?}\n  it says {theirs:?}",
                        lexicon::literal(&given, dialect)
                    ));
                }
            }
            duplicates(
                database,
                dialect,
                &column,
                declared,
                suffix,
                &stored,
                &mut disagreements,
            );
        }
        assert!(
            f64::from(unknown) < f64::from(seen) * UNKNOWN,
            "{unknown} of {seen} values are unknown to {declared}"
        );
    }
    let mut report = String::new();
    for line in disagreements.iter().take(25) {
        let _ = writeln!(report, "{line}\n");
    }
    assert!(
        disagreements.is_empty(),
        "{} disagreements on {engine}:\n{report}",
        disagreements.len()
    );
}

fn put(
    database: &mut dyn Database,
    id: usize,
    given: &Value,
    dialect: DialectName,
    exact_float: bool,
) -> Result<Value, String> {
    let insert = format!(
        "INSERT INTO s VALUES ({id}, {})",
        lexicon::literal(given, dialect)
    );
    if let Some(refusal) = database.execute(&insert).unwrap().refusal() {
        return Err(format!("{refusal:?}"));
    }
    // MariaDB shows six digits of a FLOAT unless it is computed with.
    let shown = if exact_float { "v + 0e0" } else { "v" };
    let rows = database
        .query(&format!("SELECT {shown} FROM s WHERE id = {id}"))
        .unwrap()
        .unwrap();
    Ok(rows.rows[0][0].clone())
}

/// Compares what a unique index calls a duplicate.
fn duplicates(
    database: &mut dyn Database,
    dialect: DialectName,
    column: &Column,
    declared: &str,
    suffix: &str,
    stored: &[(Value, Value)],
    disagreements: &mut Vec<String>,
) {
    if declared.contains("JSON")
        || declared == "TEXT" && dialect == DialectName::MySql
        || declared == "BLOB" && dialect == DialectName::MySql
    {
        // No unique index without a prefix, or none at all.
        return;
    }
    let create = format!("CREATE TABLE q (v {declared} UNIQUE){suffix}");
    assert!(database.execute(&create).unwrap().is_done(), "{create}");
    let mut held: Vec<&Value> = Vec::new();
    for (ours, _) in stored {
        if ours.is_null() {
            continue;
        }
        let duplicate = held
            .iter()
            .any(|other| dialect.dialect().duplicates(ours, other, column));
        let insert = format!("INSERT INTO q VALUES ({})", lexicon::literal(ours, dialect));
        let refused = !database.execute(&insert).unwrap().is_done();
        if refused != duplicate {
            disagreements.push(format!(
                "{insert} into {declared} UNIQUE after {held:?}: refused {refused}, duplicate {duplicate}"
            ));
        }
        if !refused {
            held.push(ours);
        }
    }
}

/// A value of any kind, at the edges of types more often than not.
fn given(rng: &mut Rng, dialect: DialectName) -> Value {
    const TEXTS: [&str; 40] = [
        "",
        " ",
        "a",
        "A",
        "abc",
        "ABC",
        "abcde",
        "abcdef",
        "abcde ",
        "ab   ",
        "abcdefghijkl",
        "abcdefghijklm",
        "abcdefghijkl   ",
        "5",
        "-5",
        "5.5",
        "5.4",
        "-0.5",
        " 5",
        "5 ",
        "5x",
        "1e2",
        "127",
        "128",
        "255",
        "256",
        "99999",
        "999999.994",
        "999999.995",
        "2020-02-29",
        "2021-02-29",
        "2020-01-01 10:11:12",
        "10:11:12",
        "25:00:00",
        "true",
        "yes",
        "red",
        "RED",
        "{\"a\": 1}",
        "01234567-89ab-cdef-0123-456789abcdef",
    ];
    let sorts = [
        Sort::Int,
        Sort::Decimal,
        Sort::Date,
        Sort::Bool,
        Sort::Float,
    ];
    match rng.u8(..20) {
        0 => Value::Null,
        1..=3 => {
            let edges = [
                127,
                128,
                -128,
                -129,
                255,
                256,
                32767,
                32768,
                -32769,
                65535,
                65536,
                2_147_483_647,
                2_147_483_648,
                9_223_372_036_854_775_807,
                9_223_372_036_854_775_808,
                0,
                1,
                -1,
                1970,
                2155,
            ];
            Value::Int(edges[rng.usize(..edges.len())])
        }
        4 | 5 => {
            let edges = [
                (5, 1),
                (15, 1),
                (25, 1),
                (-25, 1),
                (99_999_999, 2),
                (999_999_995, 3),
                (999_999_994, 3),
                (1, 3),
                (12345, 3),
            ];
            let (mantissa, scale) = edges[rng.usize(..edges.len())];
            Value::Decimal(Decimal::new(mantissa, scale))
        }
        6..=8 => {
            let sort = sorts[rng.usize(..sorts.len())];
            if dialect == DialectName::Postgres && sort == Sort::Float {
                return lexicon::value(rng, Sort::Decimal, dialect);
            }
            lexicon::value(rng, sort, dialect)
        }
        _ => Value::text(TEXTS[rng.usize(..TEXTS.len())]),
    }
}

fn types(dialect: DialectName) -> Vec<(DataType, &'static str)> {
    let integer = |bits, unsigned| DataType::Integer { bits, unsigned };
    let decimal = |precision, scale| DataType::Decimal {
        precision: Some(precision),
        scale: Some(scale),
    };
    let varchar = DataType::Varchar { length: Some(12) };
    let bytes = |length, fixed| DataType::Bytes { length, fixed };
    let labels = || DataType::Enum {
        name: None,
        labels: vec!["red".to_owned(), "Green".to_owned(), "x".to_owned()],
    };
    let digits = if dialect == DialectName::MySql { 0 } else { 6 };
    let time = DataType::Time {
        precision: digits,
        zoned: false,
    };
    let stamp = |zoned| DataType::Timestamp {
        precision: digits,
        zoned,
    };
    let mut types = vec![
        (integer(16, false), "SMALLINT"),
        (integer(32, false), "INTEGER"),
        (integer(64, false), "BIGINT"),
        (decimal(8, 2), "DECIMAL(8,2)"),
        (decimal(5, 0), "DECIMAL(5,0)"),
        (DataType::Float { bits: 64 }, "DOUBLE PRECISION"),
        (
            DataType::Float { bits: 32 },
            if dialect == DialectName::MySql {
                "FLOAT"
            } else {
                "REAL"
            },
        ),
        (DataType::Char { length: 5 }, "CHAR(5)"),
        (varchar, "VARCHAR(12)"),
        (DataType::Text, "TEXT"),
        (DataType::Boolean, "BOOLEAN"),
        (DataType::Date, "DATE"),
    ];
    match dialect {
        DialectName::Sqlite => {
            types.push((bytes(None, false), "BLOB"));
            types.push((DataType::INT, "INT STRICT"));
            types.push((DataType::Float { bits: 64 }, "REAL STRICT"));
            types.push((DataType::Text, "TEXT STRICT"));
            types.push((DataType::Other("any".to_owned()), "ANY STRICT"));
        }
        DialectName::MySql => {
            types.push((integer(8, false), "TINYINT"));
            types.push((integer(8, true), "TINYINT UNSIGNED"));
            types.push((integer(24, false), "MEDIUMINT"));
            types.push((integer(64, true), "BIGINT UNSIGNED"));
            types.push((labels(), "ENUM('red', 'Green', 'x')"));
            types.push((time, "TIME"));
            types.push((stamp(false), "DATETIME"));
            types.push((stamp(true), "TIMESTAMP NULL"));
            types.push((DataType::Year, "YEAR"));
            types.push((bytes(Some(4), true), "BINARY(4)"));
            types.push((bytes(Some(4), false), "VARBINARY(4)"));
            types.push((DataType::Json { binary: false }, "JSON"));
        }
        DialectName::Ansi | DialectName::Postgres => {
            types.push((time, "TIME"));
            types.push((stamp(false), "TIMESTAMP"));
            types.push((stamp(true), "TIMESTAMPTZ"));
            types.push((DataType::Uuid, "UUID"));
            types.push((DataType::Json { binary: false }, "JSON"));
            types.push((bytes(None, false), "BYTEA"));
        }
    }
    types
}

/// A row id takes integers only.
#[test]
fn a_row_id_refuses_what_is_no_integer() {
    use isobath_sql::schema::{Constraint, ConstraintKind};
    let table = Table {
        name: "t".to_owned(),
        namespace: None,
        columns: vec![Column {
            name: "id".to_owned(),
            data_type: DataType::INT,
            declared: "INTEGER".to_owned(),
            default: None,
            filled: Filled::No,
            collation: None,
        }],
        constraints: vec![Constraint::unnamed(ConstraintKind::PrimaryKey {
            columns: vec![0],
        })],
        strict: false,
        without_rowid: false,
        location: Default::default(),
    };
    let sqlite = DialectName::Sqlite.dialect();
    assert_eq!(
        sqlite.store_in(&Value::text("x"), &table, 0),
        Err(StoreError::WrongType)
    );
    assert_eq!(
        sqlite.store_in(&Value::text("7"), &table, 0),
        Ok(Value::Int(7))
    );
    assert!(!sqlite.key_admits_null(&table));
}
