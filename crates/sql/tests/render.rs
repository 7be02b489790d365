//! From the model back to SQL, in every dialect.

mod common;

use std::str::FromStr;

use common::{describe, limitations, load_as};
use isobath_exec::engine::{Engine, provision};
use isobath_exec::server::or_skip;
use isobath_sql::DialectName::{self, Ansi, MySql, Postgres, Sqlite};
use isobath_sql::row::Statement;
use isobath_sql::value::Interval;
use isobath_sql::{Cell, Row, Value, render};
use jiff::{Timestamp, civil};
use rust_decimal::Decimal;

/// What a literal is in ANSI, PostgreSQL, MySQL and SQLite.
fn literals(value: &Value) -> [String; 4] {
    [Ansi, Postgres, MySql, Sqlite].map(|dialect| render::literal(value, dialect))
}

#[test]
fn booleans_are_numbers_in_sqlite() {
    assert_eq!(literals(&Value::Bool(true)), ["TRUE", "TRUE", "TRUE", "1"]);
    assert_eq!(literals(&Value::Null), ["NULL"; 4]);
}

#[test]
fn text_escapes_what_the_dialect_reads_as_more() {
    assert_eq!(
        literals(&Value::text("it's \\ ok")),
        [
            "'it''s \\ ok'",
            "'it''s \\ ok'",
            "'it''s \\\\ ok'",
            "'it''s \\ ok'"
        ]
    );
}

#[test]
fn bytes_are_hexadecimal() {
    assert_eq!(
        literals(&Value::Bytes(vec![0, 255])),
        ["X'00ff'", "'\\x00ff'::bytea", "X'00ff'", "X'00ff'"]
    );
}

#[test]
fn numbers_read_back_as_they_were() {
    assert_eq!(
        literals(&Value::Int(i128::from(u64::MAX)))[0],
        "18446744073709551615"
    );
    assert_eq!(
        literals(&Value::Decimal(Decimal::from_str("1.50").unwrap()))[1],
        "1.50"
    );
    for value in [0.1, -1.0, 1e300, f64::MIN_POSITIVE, 123456.789] {
        let [ansi, postgres, mysql, sqlite] = literals(&Value::Float(value));
        for text in [&ansi, &postgres, &mysql] {
            assert_eq!(text.parse::<f64>().unwrap(), value);
            assert!(text.contains('e'), "an exact number in MySQL: {text}");
        }
        assert_eq!(sqlite.parse::<f64>().unwrap(), value);
        assert!(sqlite.contains(['.', 'e']), "an integer: {sqlite}");
    }
}

#[test]
fn times_are_typed_except_in_sqlite() {
    let at = civil::datetime(2024, 2, 29, 23, 59, 58, 120_000_000);
    assert_eq!(
        literals(&Value::DateTime(at))[1..],
        [
            "TIMESTAMP '2024-02-29 23:59:58.12'",
            "TIMESTAMP '2024-02-29 23:59:58.12'",
            "'2024-02-29 23:59:58.12'"
        ]
    );
    assert_eq!(literals(&Value::Date(at.date()))[3], "'2024-02-29'");
    assert_eq!(literals(&Value::Time(at.time()))[2], "TIME '23:59:58.12'");
    let instant = Timestamp::from_second(0).unwrap();
    assert_eq!(
        literals(&Value::Instant(instant))[1],
        "TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00'"
    );
    let interval = Interval {
        months: 14,
        days: -3,
        micros: -1_500_000,
    };
    assert_eq!(
        literals(&Value::Interval(interval))[1],
        "INTERVAL '14 mons -3 days -00:00:01.5'"
    );
}

fn schema() -> isobath_sql::Schema {
    load_as(
        Ansi,
        "CREATE TABLE \"Order\" (id INT PRIMARY KEY, Note TEXT DEFAULT 'x')",
    )
    .schema
}

#[test]
fn an_insert_leaves_out_what_is_left_to_its_default() {
    let schema = schema();
    let row = Row {
        table: 0,
        cells: vec![Cell::Value(Value::Int(1)), Cell::Default],
    };
    assert_eq!(
        render::insert(&schema, &row, MySql),
        "INSERT INTO `Order` (id) VALUES (1)"
    );
    assert_eq!(
        render::insert(&schema, &row, Postgres),
        "INSERT INTO \"Order\" (id) VALUES (1)"
    );
    let nothing = Row {
        table: 0,
        cells: vec![Cell::Default, Cell::Default],
    };
    assert_eq!(
        render::insert(&schema, &nothing, MySql),
        "INSERT INTO `Order` () VALUES ()"
    );
    assert_eq!(
        render::insert(&schema, &nothing, Sqlite),
        "INSERT INTO \"Order\" DEFAULT VALUES"
    );
}

#[test]
fn updates_and_deletes_select_null_by_is_null() {
    let schema = schema();
    let update = Statement::Update {
        table: 0,
        set: vec![(0, Cell::Value(Value::Null)), (1, Cell::Default)],
        only: vec![(0, Value::Int(1)), (1, Value::Null)],
    };
    assert_eq!(
        render::statement(&schema, &update, Postgres),
        ["UPDATE \"Order\" SET id = NULL, \"Note\" = DEFAULT WHERE id = 1 AND \"Note\" IS NULL"]
    );
    assert_eq!(
        render::statement(&schema, &update, Sqlite),
        ["UPDATE \"Order\" SET id = NULL, Note = 'x' WHERE id = 1 AND Note IS NULL"]
    );
    let delete = Statement::Delete {
        table: 0,
        only: Vec::new(),
    };
    assert_eq!(
        render::statement(&schema, &delete, MySql),
        ["DELETE FROM `Order`"]
    );
}

#[test]
fn constraints_get_the_names_that_the_database_would_give() {
    let text = "CREATE TABLE t (a INT UNIQUE, b INT CHECK (b > 0) CHECK (b < 9), UNIQUE (a, b),
        CHECK (a > b), PRIMARY KEY (a), FOREIGN KEY (b, a) REFERENCES t (a, b), c INT NOT NULL, UNIQUE (a))";
    let schema = load_as(Ansi, text).schema;
    let names = |dialect| -> Vec<String> {
        (0..schema.tables[0].constraints.len())
            .map(|index| {
                render::constraint_name(&schema, 0, index, dialect)
                    .unwrap_or_else(|| "-".to_owned())
            })
            .collect()
    };
    assert_eq!(
        names(Postgres),
        [
            "t_a_key",
            "t_b_check",
            "t_b_check1",
            "t_a_b_key",
            "t_check",
            "t_pkey",
            "t_b_a_fkey",
            "-",
            "t_a_key1"
        ]
    );
    assert_eq!(
        names(MySql),
        [
            "a",
            "CONSTRAINT_1",
            "CONSTRAINT_2",
            "a_2",
            "CONSTRAINT_3",
            "PRIMARY",
            "t_ibfk_1",
            "-",
            "a_3"
        ]
    );
    assert_eq!(names(Sqlite)[..3], ["-", "t_b_check", "t_b_check1"]);
}

#[test]
fn postgres_cuts_long_names_to_63_bytes() {
    let table = "a_table_with_a_very_long_name_for_its_kind";
    let text =
        format!("CREATE TABLE {table} (a_column_with_a_long_name_of_its_own_too INT UNIQUE)");
    let schema = load_as(Postgres, &text).schema;
    let name = render::constraint_name(&schema, 0, 0, Postgres).unwrap();
    assert_eq!(name.len(), 63);
    assert_eq!(
        name,
        "a_table_with_a_very_long_name_a_column_with_a_long_name_of__key"
    );
}

#[test]
fn circles_of_foreign_keys_are_closed_afterwards() {
    let text = "CREATE TABLE a (id INT PRIMARY KEY, b INT REFERENCES b (id));
        CREATE TABLE b (id INT PRIMARY KEY, a INT REFERENCES a (id), me INT REFERENCES b (id))";
    let schema = load_as(Ansi, text).schema;
    let statements = render::create_statements(&schema, Postgres);
    assert_eq!(statements.len(), 3);
    assert_eq!(
        statements[2],
        "ALTER TABLE a ADD CONSTRAINT a_b_fkey FOREIGN KEY (b) REFERENCES b (id)"
    );
    assert_eq!(render::create_statements(&schema, Sqlite).len(), 2);
}

/// A sample with most of what a dialect has, to be written and read again.
fn sample(dialect: DialectName) -> &'static str {
    match dialect {
        Ansi => {
            "CREATE TABLE p (id INTEGER, d DATE DEFAULT DATE '2020-01-31', n NUMERIC(5, 2), PRIMARY KEY (id));
            CREATE TABLE c (p INTEGER NOT NULL, t VARCHAR(3) CHECK (t LIKE 'a!%_' ESCAPE '!' OR t IS NULL),
                x DOUBLE PRECISION DEFAULT 1.5e3, w SMALLINT,
                CHECK (NOT (w BETWEEN SYMMETRIC 9 AND -9 AND p <> 3)),
                CHECK (CASE w WHEN 1 THEN -x ELSE x * (w + 2) END > 0),
                FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE)"
        }
        Postgres => {
            "CREATE TYPE mood AS ENUM ('sad', 'it''s');
            CREATE TABLE p (id bigserial PRIMARY KEY, m mood DEFAULT 'sad', j jsonb, u uuid, i interval,
                b bytea, z timestamptz DEFAULT now(), nullable int DEFAULT nextval('s'), a text[],
                UNIQUE NULLS NOT DISTINCT (u) DEFERRABLE INITIALLY DEFERRED);
            CREATE TABLE \"C\" (x int GENERATED ALWAYS AS IDENTITY, p bigint, q bigint,
                s text COLLATE \"C\" CHECK (s ~* '^a' AND s !~ 'b' AND lower(s) ILIKE 'x%'),
                g int GENERATED ALWAYS AS (x * 2) STORED,
                FOREIGN KEY (p) REFERENCES p (id) MATCH FULL ON UPDATE SET NULL,
                CHECK (p IS DISTINCT FROM q), CHECK ((p > q) IS NOT TRUE), CHECK (extract(year from now()) > 2000));
            CREATE UNIQUE INDEX part ON \"C\" (lower(s), p) WHERE p > 3"
        }
        MySql => {
            "CREATE TABLE p (id int unsigned NOT NULL AUTO_INCREMENT, k enum('a','b') DEFAULT 'a',
                y year, t datetime(3), z timestamp NULL, f float, b varbinary(9), PRIMARY KEY (id));
            CREATE TABLE c (`key` varchar(20) COLLATE utf8mb4_bin NOT NULL, p int unsigned,
                j tinyint DEFAULT '0', UNIQUE KEY pre (`key`(5)), UNIQUE KEY two (p, j),
                CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id),
                CHECK (p <=> 3 OR j DIV 2 = 1), CHECK (`key` REGEXP '^a\\\\d'))"
        }
        Sqlite => {
            "CREATE TABLE p (id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT NOT NULL COLLATE NOCASE) STRICT;
            CREATE TABLE c (a, b INTEGER PRIMARY KEY, c BLOB DEFAULT X'00ff', d REAL,
                p INT REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED,
                CHECK (a GLOB 'x*' AND d IS NOT NULL));
            CREATE TABLE w (k TEXT, PRIMARY KEY (k)) WITHOUT ROWID;
            CREATE UNIQUE INDEX i ON c (lower(a)) WHERE b > 3"
        }
    }
}

#[test]
fn what_is_written_reads_back_as_the_same_model() {
    for dialect in DialectName::ALL {
        let first = load_as(dialect, sample(dialect));
        let mut schema = first.schema.clone();
        // Names that databases give are written down, so they are there when read again.
        for table in &mut schema.tables {
            let names = render::default_names(table, dialect);
            let table = std::sync::Arc::make_mut(table);
            for (constraint, name) in table.constraints.iter_mut().zip(names) {
                let primary = name.as_deref() == Some("PRIMARY");
                constraint.name = name.filter(|_| !primary);
            }
            table.constraints.sort_by_key(order);
        }
        let text = render::create_statements(&schema, dialect).join(";\n");
        let mut again = load_as(dialect, &text);
        for table in &mut again.schema.tables {
            std::sync::Arc::make_mut(table)
                .constraints
                .sort_by_key(order);
        }
        assert_eq!(describe(&again.schema), describe(&schema), "{text}");
        assert!(
            !limitations(&again).contains("Syntax"),
            "{}",
            limitations(&again)
        );
    }
}

/// CREATE TABLE writes NOT NULLs first and unique indexes last.
fn order(constraint: &isobath_sql::Constraint) -> (u8, String) {
    use isobath_sql::ConstraintKind as Kind;
    let rank = match constraint.kind {
        Kind::NotNull { .. } => 0,
        Kind::UniqueIndex { .. } => 2,
        _ => 1,
    };
    (
        rank,
        format!("{:?}", constraint.columns()) + constraint.name.as_deref().unwrap_or(""),
    )
}

#[test]
fn every_engine_takes_what_is_written_for_it_from_any_dialect() {
    for engine in Engine::ALL {
        for from in DialectName::ALL {
            let title = format!("tables written for {engine} from {from}");
            let Some(mut provisioned) = or_skip(&title, provision(engine)) else {
                continue;
            };
            let to = engine.dialect();
            let schema = load_as(from, sample(from)).schema;
            let translated = render::translate(&schema, from, to);
            for statement in render::create_statements(&translated.schema, to) {
                let answer = provisioned.database().execute(&statement).unwrap();
                assert!(answer.refusal().is_none(), "{answer:?}: {statement}");
            }
        }
    }
}
