//! Queries put together at random: whatever comes of them, the query job comes back, and its
//! fixtures are rows that the tables take.
//!
//! `ISOBATH_ROBUST_CASES=100000` tries more than the few of every run; `ISOBATH_ROBUST_SEED` others.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;

use fastrand::Rng;
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{CoverageOutcome, run};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema};

const TABLES: &str = "
    CREATE TABLE a (id INT PRIMARY KEY, n INT CHECK (n > 0), s VARCHAR(20) UNIQUE, d DATE);
    CREATE TABLE b (id INT NOT NULL REFERENCES a (id), n INT NOT NULL, s VARCHAR(20), d DATE, PRIMARY KEY (id, n));
    CREATE TABLE c (id INT, n NUMERIC(8, 2), s TEXT NOT NULL, d TIMESTAMP, b BOOLEAN, FOREIGN KEY (id) REFERENCES a (id));";

/// What queries are put together from; each uses the aliases `x`, `y` and `z`.
const FROMS: &[&str] = &[
    "a x",
    "a x JOIN b y ON y.id = x.id",
    "a x LEFT JOIN b y ON y.id = x.id LEFT JOIN c z ON z.id = x.id AND z.n > y.n",
    "b x RIGHT JOIN c y ON x.n = y.n",
    "a x FULL JOIN b y ON x.n = y.n",
    "a x, b y, c z",
    "(SELECT id, MAX(n) AS n, s, d FROM b GROUP BY id, s, d) x JOIN a y ON y.id = x.id",
    "a x NATURAL JOIN c y",
    "c x CROSS JOIN c y CROSS JOIN c z CROSS JOIN a w CROSS JOIN a v CROSS JOIN b u",
    "a x JOIN LATERAL (SELECT * FROM b WHERE b.id = x.id) y ON TRUE",
];
const VALUES: &[&str] = &[
    "x.id",
    "x.n",
    "x.s",
    "x.d",
    "y.id",
    "y.n",
    "y.s",
    "z.d",
    "z.b",
    "1",
    "0",
    "-1",
    "2.5",
    "'a'",
    "''",
    "'2024-02-30'",
    "NULL",
    "TRUE",
    "?",
    ":p",
    "$1",
    "99999999999999999999",
    "x.n + 1",
    "x.n * y.n",
    "x.n / 0",
    "x.n % 3",
    "-x.n",
    "LENGTH(x.s)",
    "UPPER(y.s)",
    "COALESCE(x.n, 0)",
    "CASE WHEN x.n > 1 THEN x.s ELSE 'b' END",
    "CAST(x.s AS INT)",
    "x.s || 'z'",
    "CURRENT_DATE",
    "(SELECT MAX(n) FROM b)",
    "(SELECT s FROM a WHERE a.id = x.id)",
    "SUBSTRING(x.s, 2, 1)",
    "COUNT(*)",
    "COUNT(DISTINCT x.n)",
    "SUM(x.n)",
    "AVG(y.n)",
    "MIN(x.d)",
    "MAX(x.s)",
    "ROW_NUMBER() OVER (PARTITION BY x.n ORDER BY x.id)",
    "REVERSE(x.s)",
    "ABS(x.n)",
];
const OPERATORS: &[&str] = &["=", "<>", "<", "<=", ">", ">=", "LIKE", "IS DISTINCT FROM"];

fn schema() -> Schema {
    let source = Source {
        name: "robust.sql".to_owned(),
        text: TABLES.to_owned(),
    };
    load("robust", &[source], Some(DialectName::Postgres)).schema
}

/// A number of the environment.
fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn queries_put_together_at_random_come_back() {
    let schema = schema();
    let seed = asked("ISOBATH_ROBUST_SEED", 1);
    let mut made = 0;
    for case in 0..asked("ISOBATH_ROBUST_CASES", 60) {
        let mut rng = Rng::with_seed(seed.wrapping_mul(1_000_003) + case);
        let sql = select(&mut rng, 2);
        let dialect = DialectName::ALL[rng.usize(..DialectName::ALL.len())];
        let outcome = std::panic::catch_unwind(|| attempt(&sql, &schema, dialect));
        let outcome = outcome.unwrap_or_else(|_| panic!("case {case}, {dialect:?}: {sql}"));
        made += outcome.statuses.len();
        for fixture in &outcome.fixtures {
            assert!(
                !fixture.covers.is_empty(),
                "case {case}, {dialect:?}: {sql}"
            );
        }
    }
    assert!(made > 0, "some of them have targets");
}

#[test]
fn products_of_many_tables_end_before_memory_does() {
    let schema = schema();
    let relations: Vec<String> = (0..12).map(|number| format!("c t{number}")).collect();
    let sql = format!(
        "SELECT COUNT(*) FROM {} WHERE t0.s = t11.s HAVING COUNT(*) > 2000",
        relations.join(" CROSS JOIN ")
    );
    let target = QueryTarget::read(&sql, "", "", &schema, DialectName::Postgres);
    let setting = SolverContext::new(&schema, DialectName::Postgres.dialect());
    let config = Config {
        budget: 3,
        ..Config::default()
    };
    assert_eq!(run(&[target], setting, &config).statuses.len(), 1);
}

/// What the job makes of the first targets of a query.
fn attempt(sql: &str, schema: &Schema, dialect: DialectName) -> CoverageOutcome {
    let options = CoverageOptions { boundaries: true };
    let made = targets(sql, schema, dialect, QueryCriterion::Extended, options).unwrap_or_default();
    let of = |target| QueryTarget::of(target, schema, dialect);
    let targets: Vec<QueryTarget> = made.iter().take(8).map(of).collect();
    let config = Config {
        budget: 30,
        ..Config::default()
    };
    run(
        &targets,
        SolverContext::new(schema, dialect.dialect()),
        &config,
    )
}

fn select(rng: &mut Rng, depth: u32) -> String {
    let items: Vec<String> = (0..rng.usize(1..3)).map(|_| value(rng)).collect();
    let from = FROMS[rng.usize(..FROMS.len())];
    let mut sql = format!("SELECT {} FROM {from}", items.join(", "));
    if rng.u8(..4) > 0 {
        write!(sql, " WHERE {}", condition(rng, depth)).unwrap();
    }
    if rng.u8(..3) == 0 {
        write!(sql, " GROUP BY {}", value(rng)).unwrap();
        if rng.bool() {
            write!(sql, " HAVING {}", condition(rng, depth)).unwrap();
        }
    }
    if depth > 0 && rng.u8(..6) == 0 {
        let operator = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT"][rng.usize(..4)];
        sql = format!("{sql} {operator} {}", select(rng, depth - 1));
    }
    match rng.u8(..8) {
        0 => write!(sql, " ORDER BY {}", value(rng)).unwrap(),
        1 => sql += " LIMIT 2 OFFSET 1",
        2 => sql = format!("WITH q AS ({sql}) SELECT * FROM q"),
        _ => {}
    }
    sql
}

fn value(rng: &mut Rng) -> String {
    VALUES[rng.usize(..VALUES.len())].to_owned()
}

fn condition(rng: &mut Rng, depth: u32) -> String {
    if depth > 0 && rng.u8(..2) == 0 {
        let (a, b) = (condition(rng, depth - 1), condition(rng, depth - 1));
        return match rng.u8(..5) {
            0 => format!("NOT ({a})"),
            1 | 2 => format!("({a} OR {b})"),
            _ => format!("{a} AND {b}"),
        };
    }
    let (a, b) = (value(rng), value(rng));
    match rng.u8(..10) {
        0 => format!("{a} IS NULL"),
        1 => format!("{a} IN ({b}, {})", value(rng)),
        2 => format!("{a} BETWEEN {b} AND {}", value(rng)),
        3 if depth > 0 => format!("EXISTS ({})", select(rng, depth - 1)),
        4 if depth > 0 => format!("{a} NOT IN ({})", select(rng, depth - 1)),
        5 if depth > 0 => format!("{a} >= ALL ({})", select(rng, depth - 1)),
        _ => format!("{a} {} {b}", OPERATORS[rng.usize(..OPERATORS.len())]),
    }
}
