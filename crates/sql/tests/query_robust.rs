//! Queries cut, joined and mixed up at random: whatever comes out, nothing panics.
//!
//! `ISOBATH_ROBUST_CASES=100000` tries more than the few of every run; `ISOBATH_ROBUST_SEED` others.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use fastrand::Rng;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema, Value, query};

const DDL: &str = "
    CREATE TABLE a (id INT, n INT, s VARCHAR(20), d DATE);
    CREATE TABLE b (id INT, n INT, s VARCHAR(20), d DATE);
";

const SEEDS: &[&str] = &[
    "SELECT * FROM a WHERE n = 30 AND ( s = 'x' OR s LIKE 'A%' ) ORDER BY id LIMIT 3 OFFSET 1",
    "SELECT a.id FROM a LEFT JOIN b ON a.n = b.n AND b.s <> a.s WHERE b.id IS NULL OR a.d > '2020-01-01'",
    "SELECT n , COUNT ( * ) , SUM ( DISTINCT id ) FROM a GROUP BY n HAVING COUNT ( * ) > 1",
    "SELECT id FROM a WHERE n IN ( SELECT n FROM b WHERE b.id = a.id ) AND NOT EXISTS ( SELECT 1 FROM b )",
    "SELECT id FROM a UNION ALL SELECT n FROM b EXCEPT SELECT 3 ORDER BY 1",
    "WITH RECURSIVE r ( k ) AS ( SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < 5 ) SELECT k FROM r",
    "SELECT id , SUM ( n ) OVER ( PARTITION BY s ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW ) FROM a",
    "SELECT CASE WHEN n < 18 THEN 'x' ELSE s END , COALESCE ( s , 'y' ) , NULLIF ( n , 0 ) FROM a",
    "SELECT x.c FROM ( SELECT s , COUNT ( * ) AS c FROM a GROUP BY s ) x WHERE x.c BETWEEN 1 AND 2",
    "SELECT n , s , COUNT ( * ) FROM a GROUP BY ROLLUP ( n , s ) , GROUPING SETS ( ( d ) , ( ) )",
    "SELECT DISTINCT ON ( n ) n , id FROM a , LATERAL ( SELECT MAX ( id ) AS m FROM b WHERE b.n = a.n ) z",
    "SELECT * FROM a NATURAL FULL JOIN b WHERE ( id , n ) IN ( ( 1 , 2 ) , ( 3 , NULL ) )",
    "SELECT LENGTH ( s ) , SUBSTR ( s , - 1 , 99999999999 ) , n / 0 , - 9223372036854775808 % n FROM a",
    "SELECT LPAD ( s , 1000000000 , 'x' ) , REPEAT ( s , 999999999 ) , POWER ( n , 1e9 ) FROM a",
    "UPDATE a SET s = 'x' WHERE n = ? AND d + INTERVAL '1 day' > NOW ( )",
    "INSERT INTO a ( id ) SELECT id FROM b WHERE s = :name AND n <> $1",
];

fn schema() -> Schema {
    let source = Source {
        name: "robust.sql".to_owned(),
        text: DDL.to_owned(),
    };
    load("robust", &[source], Some(DialectName::Postgres)).schema
}

fn mixed(rng: &mut Rng) -> String {
    let words = |rng: &mut Rng| -> Vec<&'static str> {
        SEEDS[rng.usize(..SEEDS.len())].split(' ').collect()
    };
    let mut text = words(rng);
    for _ in 0..rng.usize(..6) {
        if text.is_empty() {
            break;
        }
        let at = rng.usize(..text.len());
        match rng.u8(..5) {
            0 => {
                text.remove(at);
            }
            1 => text.insert(at, text[rng.usize(..text.len())]),
            2 => {
                let other = words(rng);
                text[at] = other[rng.usize(..other.len())];
            }
            3 => {
                let other = words(rng);
                let start = rng.usize(..other.len());
                let end = rng.usize(start..other.len());
                text.splice(at..at, other[start..=end].iter().copied());
            }
            _ => {
                let end = rng.usize(at..text.len());
                text.drain(at..=end);
            }
        }
    }
    text.join(" ")
}

fn tables() -> Vec<Vec<Vec<Value>>> {
    let row = |id: i64, s: &str| {
        let day = Value::Date(jiff::civil::date(2020, 1, 2));
        vec![Value::from(id), Value::from(id % 2), Value::from(s), day]
    };
    vec![
        vec![row(1, "a"), row(2, ""), vec![Value::Null; 4]],
        vec![row(2, "b"), row(i64::MAX, "A")],
    ]
}

#[test]
fn no_text_makes_the_evaluator_panic() {
    let number = |name: &str, otherwise: u64| {
        let given = std::env::var(name).ok();
        given
            .and_then(|given| given.parse().ok())
            .unwrap_or(otherwise)
    };
    let mut rng = Rng::with_seed(number("ISOBATH_ROBUST_SEED", 1));
    let (schema, tables) = (schema(), tables());
    let parameters = [Value::from(1), Value::from("x")];
    let (mut resolved, mut answered) = (0, 0);
    for _ in 0..number("ISOBATH_ROBUST_CASES", 1500) {
        let text = mixed(&mut rng);
        let dialect = *rng.choice(&DialectName::ALL).unwrap();
        let mut run = |sql: &str| {
            if let Ok(query) = query::parse(sql, &schema, dialect) {
                resolved += 1;
                let outcome = query::evaluate(&query, &tables, &parameters, dialect.dialect());
                if let Ok(evaluated) = outcome {
                    answered += 1;
                    assert_eq!(
                        evaluated.distance == 0.0,
                        !evaluated.rows.is_empty(),
                        "{sql}"
                    );
                }
            }
        };
        run(&text);
        let options = CoverageOptions { boundaries: true };
        for criterion in [QueryCriterion::Fpc, QueryCriterion::Extended] {
            if let Ok(made) = targets(&text, &schema, dialect, criterion, options) {
                made.iter().take(10).for_each(|target| run(&target.sql));
            }
        }
    }
    // The seeds themselves are often left whole, so there is something to evaluate.
    assert!(resolved > 500 && answered > 300, "{resolved} {answered}");
}

#[test]
fn products_of_many_tables_end_before_memory_does() {
    let schema = schema();
    let many: Vec<Vec<Value>> = (0..400)
        .map(|id| {
            vec![
                Value::from(id),
                Value::from(1),
                Value::from("x"),
                Value::Null,
            ]
        })
        .collect();
    let tables = vec![many.clone(), many];
    for sql in [
        "SELECT 1 FROM a x, a y, b z, b w",
        "SELECT 1 FROM a x JOIN b y ON x.n = y.n JOIN a z ON z.n = y.n",
        "SELECT COUNT(*) FROM a x CROSS JOIN a y CROSS JOIN a z",
        "WITH RECURSIVE r(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r) SELECT k FROM r",
        "WITH RECURSIVE r(k) AS (SELECT 1 UNION ALL SELECT r.k FROM r, a) SELECT k FROM r",
    ] {
        let query = query::parse(sql, &schema, DialectName::Postgres).unwrap();
        let dialect = DialectName::Postgres.dialect();
        let error = query::evaluate(&query, &tables, &[], dialect).unwrap_err();
        assert!(error.to_string().contains("more than"), "{sql}: {error}");
    }
}
