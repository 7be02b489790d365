//! Ladders: tables that come nearer to a query step by step, whose distance must fall with every step.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use isobath_sql::ddl::{Source, load};
use isobath_sql::query::{self, QueryEvaluation};
use isobath_sql::{DialectName, Schema, Value};
use proptest::prelude::*;

const DDL: &str = "
    CREATE TABLE a (id INT, n INT, s VARCHAR(40), d DATE);
    CREATE TABLE b (id INT, n INT, s VARCHAR(40), d DATE);
";

type Tables = Vec<Vec<Vec<Value>>>;

fn schema(dialect: DialectName) -> Schema {
    let source = Source {
        name: "ladder.sql".to_owned(),
        text: DDL.to_owned(),
    };
    load("ladder", &[source], Some(dialect)).schema
}

/// Rows as text: `id,n,s,d` with `-` for NULL, one per `;`.
fn rows(text: &str) -> Vec<Vec<Value>> {
    let int = |part: &str| match part {
        "-" => Value::Null,
        number => Value::from(number.parse::<i64>().unwrap()),
    };
    text.split(';')
        .filter(|row| !row.trim().is_empty())
        .map(|row| {
            let parts: Vec<&str> = row.trim().split(',').collect();
            let text = |part: &str| match part {
                "-" => Value::Null,
                other => Value::from(other),
            };
            let date = parts.get(3).map_or(Value::Null, |day| match *day {
                "-" => Value::Null,
                day => Value::Date(day.parse().unwrap()),
            });
            vec![
                int(parts[0]),
                int(parts.get(1).unwrap_or(&"-")),
                text(parts.get(2).unwrap_or(&"-")),
                date,
            ]
        })
        .collect()
}

fn run(sql: &str, a: &str, b: &str, dialect: DialectName) -> QueryEvaluation {
    let query = query::parse(sql, &schema(dialect), dialect).unwrap();
    let tables: Tables = vec![rows(a), rows(b)];
    let evaluated = query::evaluate(&query, &tables, &[], dialect.dialect()).unwrap();
    let alone = query::distance(&query, &tables, &[], None, dialect.dialect()).unwrap();
    for distance in [evaluated.distance, evaluated.stepwise, alone] {
        assert_eq!(distance == 0.0, !evaluated.rows.is_empty(), "{sql}");
    }
    evaluated
}

/// The distance falls from each pair of tables to the next, down to zero.
fn falls(sql: &str, steps: &[(&str, &str)]) {
    for dialect in [
        DialectName::MySql,
        DialectName::Postgres,
        DialectName::Sqlite,
    ] {
        let distances: Vec<f64> = steps
            .iter()
            .map(|(a, b)| run(sql, a, b, dialect).distance)
            .collect();
        assert!(
            distances.windows(2).all(|pair| pair[1] < pair[0]),
            "{sql} on {dialect:?}: {distances:?}"
        );
        assert_eq!(distances.last(), Some(&0.0), "{sql} on {dialect:?}");
    }
}

#[test]
fn a_number_comes_nearer_and_null_is_farther_than_any() {
    falls(
        "SELECT 1 FROM a WHERE n = 1000000",
        &[
            ("", ""),
            ("1,-", ""),
            ("1,0", ""),
            ("1,999998", ""),
            ("1,1000000", ""),
        ],
    );
}

#[test]
fn a_text_comes_nearer_letter_by_letter() {
    falls(
        "SELECT 1 FROM a WHERE s = 'harbour'",
        &[
            ("1,1,-", ""),
            ("1,1,x", ""),
            ("1,1,haxxxxx", ""),
            ("1,1,harbous", ""),
            ("1,1,harbour", ""),
        ],
    );
}

#[test]
fn a_large_number_does_not_drown_the_rest_of_a_conjunction_inside_a_disjunction() {
    falls(
        "SELECT 1 FROM a WHERE id = 7 OR (n = 1000000000 AND s = 'abc')",
        &[
            ("-,0,zzz", ""),
            ("-,0,abz", ""),
            ("-,0,abc", ""),
            ("-,999999999,abc", ""),
            ("-,1000000000,abc", ""),
        ],
    );
}

#[test]
fn not_over_a_compound_with_null_has_no_plateau() {
    falls(
        "SELECT 1 FROM a WHERE NOT (n > 5 OR s = 'x')",
        &[
            ("1,-,-", ""),
            ("1,-,y", ""),
            ("1,9,y", ""),
            ("1,6,y", ""),
            ("1,5,y", ""),
        ],
    );
}

#[test]
fn rows_join_when_their_keys_meet() {
    falls(
        "SELECT 1 FROM a JOIN b ON a.n = b.n WHERE b.s = 'ok'",
        &[
            ("", ""),
            ("1,1", "1,-,-"),
            ("1,1", "1,9,-"),
            ("1,1", "1,9,oz"),
            ("1,1", "1,2,oz"),
            ("1,1", "1,1,oz"),
            ("1,1", "1,1,ok"),
        ],
    );
}

#[test]
fn an_outer_join_pads_when_its_partners_leave() {
    falls(
        "SELECT 1 FROM a LEFT JOIN b ON a.n <= b.n WHERE b.n IS NULL AND a.n IS NOT NULL",
        &[
            ("1,1", "1,1; 2,3"),
            ("1,1", "1,1; 2,2"),
            ("1,1", "1,1; 2,0"),
            ("1,1", "1,0"),
        ],
    );
}

#[test]
fn a_group_that_lacks_rows_comes_nearer_with_each() {
    falls(
        "SELECT n FROM a GROUP BY n HAVING COUNT(*) > 2",
        &[
            ("", ""),
            ("1,5", ""),
            ("1,5; 2,50", ""),
            ("1,5; 2,6", ""),
            ("1,5; 2,5", ""),
            ("1,5; 2,5; 3,50", ""),
            ("1,5; 2,5; 3,5", ""),
        ],
    );
}

#[test]
fn rows_that_where_keeps_out_count_towards_a_group() {
    falls(
        "SELECT n FROM a WHERE id = 1 GROUP BY n HAVING COUNT(*) = 2",
        &[
            ("9,5", ""),
            ("2,5", ""),
            ("1,5", ""),
            ("1,5; 9,5", ""),
            ("1,5; 2,5", ""),
            ("1,5; 1,5", ""),
        ],
    );
}

#[test]
fn values_that_must_be_equal_come_nearer() {
    falls(
        "SELECT COUNT(n) FROM a HAVING COUNT(n) > COUNT(DISTINCT n) AND COUNT(DISTINCT n) > 1",
        &[
            ("", ""),
            ("1,1", ""),
            ("1,1; 2,80", ""),
            ("1,1; 2,80; 3,60", ""),
            ("1,1; 2,80; 3,79", ""),
            ("1,1; 2,80; 3,80", ""),
        ],
    );
}

#[test]
fn a_sum_comes_nearer() {
    falls(
        "SELECT s FROM a GROUP BY s HAVING SUM(n) >= 100 AND MAX(n) < 60",
        &[
            ("1,-,x", ""),
            ("1,10,x", ""),
            ("1,55,x", ""),
            ("1,55,x; 2,40,x", ""),
            ("1,55,x; 2,45,x", ""),
        ],
    );
}

#[test]
fn exists_comes_nearer_through_what_is_inside() {
    falls(
        "SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.n = a.n AND b.s = 'in')",
        &[
            ("1,1", ""),
            ("1,1", "1,-,-"),
            ("1,1", "1,5,-"),
            ("1,1", "1,1,-"),
            ("1,1", "1,1,im"),
            ("1,1", "1,1,in"),
        ],
    );
}

#[test]
fn not_exists_comes_nearer_as_rows_leave() {
    falls(
        "SELECT 1 FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.n >= a.n)",
        &[
            ("1,1", "1,1; 2,60"),
            ("1,1", "1,1; 2,2"),
            ("1,1", "1,2"),
            ("1,1", "1,1"),
            ("1,1", "1,0"),
        ],
    );
}

#[test]
fn a_member_of_a_subquery_comes_nearer() {
    falls(
        "SELECT 1 FROM a WHERE n IN (SELECT n FROM b WHERE s = 'yes')",
        &[
            ("1,1", ""),
            ("1,1", "1,9,no"),
            ("1,1", "1,2,no"),
            ("1,1", "1,2,yes"),
            ("1,1", "1,1,yes"),
        ],
    );
}

#[test]
fn a_correlated_scalar_comes_nearer_before_it_has_a_row() {
    falls(
        "SELECT 1 FROM a WHERE n < (SELECT MAX(b.n) FROM b WHERE b.id = a.id)",
        &[
            ("1,5", ""),
            ("1,5", "90,-"),
            ("1,5", "3,-"),
            ("1,5", "1,1"),
            ("1,5", "1,5"),
            ("1,5", "1,6"),
        ],
    );
}

#[test]
fn a_derived_table_passes_its_near_misses_on() {
    falls(
        "SELECT 1 FROM (SELECT n AS m, s FROM a WHERE s = 'on') x WHERE x.m = 3",
        &[
            ("1,9,ox", ""),
            ("1,4,ox", ""),
            ("1,3,ox", ""),
            ("1,3,on", ""),
        ],
    );
}

#[test]
fn a_row_of_both_sides_comes_nearer() {
    falls(
        "SELECT n FROM a WHERE s = 'l' INTERSECT SELECT n FROM b",
        &[
            ("1,1,m", "1,9"),
            ("1,1,l", "1,9"),
            ("1,1,l", "1,2"),
            ("1,1,l", "1,1"),
        ],
    );
}

#[test]
fn rows_before_an_offset_are_counted() {
    falls(
        "SELECT n FROM a WHERE n > 0 ORDER BY n LIMIT 5 OFFSET 2",
        &[
            ("", ""),
            ("1,1", ""),
            ("1,1; 2,2", ""),
            ("1,1; 2,2; 3,-9", ""),
            ("1,1; 2,2; 3,0", ""),
            ("1,1; 2,2; 3,1", ""),
        ],
    );
}

#[test]
fn dates_come_nearer_by_their_parts() {
    falls(
        "SELECT 1 FROM a WHERE d BETWEEN '2020-05-05' AND '2020-05-06'",
        &[
            ("1,1,x,-", ""),
            ("1,1,x,1999-01-01", ""),
            ("1,1,x,2020-01-01", ""),
            ("1,1,x,2020-05-04", ""),
            ("1,1,x,2020-05-06", ""),
        ],
    );
}

#[test]
fn the_steps_of_the_paper_are_counted() {
    let sql =
        "SELECT a.s FROM a JOIN b ON a.n = b.n WHERE b.id = 1 GROUP BY a.s HAVING COUNT(*) > 1";
    let at = |a, b| run(sql, a, b, DialectName::Postgres).stepwise;
    // Join, WHERE and HAVING: nothing, then each step reached but not passed.
    assert_eq!(at("", ""), 3.0);
    let (join, filter, having) = (at("1,1", "9,5"), at("1,1", "9,1"), at("1,1", "1,1"));
    assert!((2.0..3.0).contains(&join), "{join}");
    assert!((1.0..2.0).contains(&filter), "{filter}");
    assert!(having > 0.0 && having < 1.0, "{having}");
    assert_eq!(at("1,1; 2,1", "1,1"), 0.0);
}

fn table() -> impl Strategy<Value = String> {
    let number = prop_oneof![Just("-".to_owned()), (-2..4i32).prop_map(|n| n.to_string())];
    let text = prop_oneof![Just("-"), Just("x"), Just("ok"), Just("X")];
    let row = (number.clone(), number, text).prop_map(|(id, n, s)| format!("{id},{n},{s}"));
    prop::collection::vec(row, 0..4).prop_map(|rows| rows.join(";"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// `run` holds every distance against the rows.
    #[test]
    fn the_distance_is_zero_exactly_when_a_row_is_returned(a in table(), b in table()) {
        for sql in [
            "SELECT 1 FROM a WHERE n > 1 AND NOT (s = 'ok' OR id IS NULL)",
            "SELECT 1 FROM a LEFT JOIN b ON a.n = b.n AND b.s <> a.s WHERE b.id IS NULL",
            "SELECT a.n FROM a JOIN b ON a.id = b.id GROUP BY a.n HAVING SUM(b.n) > 1",
            "SELECT 1 FROM a WHERE n NOT IN (SELECT n FROM b WHERE s = 'ok')",
            "SELECT 1 FROM a WHERE n = (SELECT MIN(n) FROM b WHERE b.s = a.s)",
            "SELECT n FROM a EXCEPT SELECT n FROM b",
            "SELECT n FROM a INTERSECT SELECT id FROM b WHERE n > 0",
            "SELECT COUNT(*) FROM a HAVING COUNT(*) > 2",
            "SELECT x.c FROM (SELECT s, COUNT(*) AS c FROM a GROUP BY s) x WHERE x.c = 2",
            "SELECT DISTINCT s FROM a ORDER BY s LIMIT 2 OFFSET 1",
            "SELECT 1 FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.n = a.n OR b.s = a.s)",
        ] {
            for dialect in [DialectName::MySql, DialectName::Postgres, DialectName::Sqlite] {
                run(sql, &a, &b, dialect);
            }
        }
    }
}
