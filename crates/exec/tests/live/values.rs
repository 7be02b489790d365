//! What a query returns is what was stored, as values of ours.

use crate::engines::on_each;
use isobath_exec::engine::Engine;
use isobath_sql::Value;

/// One value per line, kind and content.
fn told(values: &[Value]) -> String {
    let lines: Vec<String> = values
        .iter()
        .map(|value| {
            let debug = format!("{value:?}");
            let kind = debug.split('(').next().unwrap().to_owned();
            format!("{kind} {value}")
        })
        .collect();
    lines.join("\n")
}

fn check(engine: Engine, sql: &str, expected: &str) {
    on_each(sql, |this, database| {
        if this == engine {
            let rows = database.query_required(sql).unwrap();
            assert_eq!(told(&rows.rows[0]), expected, "{engine}");
        }
    });
}

#[test]
fn sqlite_values_keep_their_storage_class() {
    check(
        Engine::Sqlite,
        "SELECT 1, 1.5, 'x', x'00ff', NULL, 1 = 1, date('2024-02-29')",
        "Int 1\nFloat 1.5\nText x\nBytes 00ff\nNull NULL\nInt 1\nText 2024-02-29",
    );
}

#[test]
fn postgres_values_keep_their_type() {
    check(
        Engine::Postgres,
        "SELECT 1::smallint, 2, 3::bigint, 1.50, -0.0001::numeric, 1e20::float8, true, 'x'::varchar, NULL::int, \
         '\\x00ff'::bytea, date '2024-02-29', time '12:34:56.5', timestamp '2024-02-29 12:00', \
         timestamptz '2024-02-29 12:00+02', interval '1 year 2 days 3 seconds', \
         '00000000-0000-0000-0000-0000000000ff'::uuid, '{\"a\": 1}'::json, '[1]'::jsonb",
        "Int 1\nInt 2\nInt 3\nDecimal 1.50\nDecimal -0.0001\nFloat 100000000000000000000\nBool true\nText x\nNull NULL\n\
         Bytes 00ff\nDate 2024-02-29\nTime 12:34:56.5\nDateTime 2024-02-29 12:00:00\n\
         Instant 2024-02-29T10:00:00Z\nInterval 12 months 2 days 3000000 microseconds\n\
         Uuid 00000000-0000-0000-0000-0000000000ff\nJson {\"a\": 1}\nJson [1]",
    );
}

#[test]
fn postgres_values_that_only_the_server_can_spell_are_text() {
    check(
        Engine::Postgres,
        "SELECT 7, inet '10.0.0.1', ARRAY[1, 2], 'NaN'::numeric, date 'infinity', NULL::inet",
        "Int 7\nText 10.0.0.1\nText {1,2}\nText NaN\nText infinity\nNull NULL",
    );
}

#[test]
fn mariadb_values_keep_their_type() {
    check(
        Engine::MariaDb,
        "SELECT 1, 18446744073709551615, 1.50, 1e0, 'x', NULL, x'00ff', DATE '2024-02-29', TIME '12:34:56', \
         TIMESTAMP '2024-02-29 12:00:00', TIME '120:00:00', 1 = 1",
        "Int 1\nInt 18446744073709551615\nDecimal 1.50\nFloat 1\nText x\nNull NULL\nBytes 00ff\nDate 2024-02-29\n\
         Time 12:34:56\nDateTime 2024-02-29 12:00:00\nText 120:00:00\nInt 1",
    );
}

#[test]
fn a_refused_query_is_data() {
    on_each("refused queries", |engine, database| {
        assert!(
            database.query("SELECT * FROM nowhere").unwrap().is_err(),
            "{engine}"
        );
        assert_eq!(
            database.query_required("SELECT 1").unwrap().rows,
            [[Value::Int(1)]],
            "{engine}"
        );
    });
}
