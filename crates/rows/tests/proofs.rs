//! What is reported infeasible is tried by brute force: no set of few rows over a small domain
//! that the constraints allow makes the target return a row.

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::candidate::Candidate;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{TargetStatus, run};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::ddl::{Source, load};
use isobath_sql::memory::MemoryDatabase;
use isobath_sql::query::distance;
use isobath_sql::{DialectName, Schema, Value};
use proptest::prelude::*;

/// `t` has a key, `u` refers to it and has a CHECK, `v` has neither.
const TABLES: &str = "
    CREATE TABLE t (a INT, b INT NOT NULL PRIMARY KEY);
    CREATE TABLE u (c INT REFERENCES t (b), d INT NOT NULL CHECK (d < 2));
    CREATE TABLE v (x INT, y INT NOT NULL);";

/// Values of every column; the queries' constants are among them.
const DOMAIN: [Option<i128>; 4] = [None, Some(0), Some(1), Some(2)];

fn schema() -> Schema {
    let source = Source {
        name: "tables.sql".to_owned(),
        text: TABLES.to_owned(),
    };
    load("tables", &[source], Some(DialectName::Postgres)).schema
}

fn constant() -> impl Strategy<Value = String> {
    (0..3i32).prop_map(|number| number.to_string())
}

fn column(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(of).prop_map(str::to_owned)
}

fn comparison() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="])
}

fn condition(of: &'static [&'static str]) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        4 => (column(of), comparison(), constant()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        3 => (column(of), comparison(), column(of)).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        2 => (column(of), any::<bool>()).prop_map(|(a, not)| {
            format!("{a} IS {}NULL", if not { "NOT " } else { "" })
        }),
        1 => (column(of), constant(), constant(), any::<bool>()).prop_map(|(a, b, c, not)| {
            format!("{a} {}IN ({b}, {c})", if not { "NOT " } else { "" })
        }),
        1 => (column(of), constant(), constant()).prop_map(|(a, b, c)| {
            format!("{a} BETWEEN {b} AND {c}")
        }),
        1 => (constant(), column(of), column(of)).prop_map(|(a, b, c)| {
            format!("{a} NOT BETWEEN {b} AND {c}")
        }),
        2 => (column(of), comparison(), column(of)).prop_map(|(a, op, b)| {
            format!("{a} {op} {b} - 1")
        }),
        1 => (column(of), comparison(), constant()).prop_map(|(a, op, b)| {
            format!("{a} * 2 - 1 {op} {b}")
        }),
        1 => (column(of), comparison(), constant()).prop_map(|(a, op, b)| {
            format!("({a} + 1) % 2 {op} {b}")
        }),
        1 => (column(of), constant()).prop_map(|(a, b)| format!("{a} + 1 = {b}")),
        1 => (column(of), constant(), constant()).prop_map(|(a, b, c)| {
            format!("COALESCE({a}, {b}) = {c}")
        }),
        1 => column(of).prop_map(|a| format!("{a} = NULL")),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} AND {b})")),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} OR {b})")),
            1 => inner.prop_map(|a| format!("NOT ({a})")),
        ]
    })
    .boxed()
}

fn having(of: &'static [&'static str]) -> BoxedStrategy<String> {
    let aggregate = (
        prop::sample::select(vec![
            "COUNT(#)",
            "COUNT(DISTINCT #)",
            "SUM(#)",
            "MIN(#)",
            "MAX(#)",
        ]),
        column(of),
    )
        .prop_map(|(call, column)| call.replace('#', &column));
    let aggregate = prop_oneof![1 => Just("COUNT(*)".to_owned()), 2 => aggregate].boxed();
    let leaf = prop_oneof![
        3 => (aggregate.clone(), comparison(), constant()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        1 => (aggregate.clone(), comparison(), aggregate).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        1 => column(of).prop_map(|a| format!("COUNT({a}) > COUNT(DISTINCT {a})")),
    ]
    .boxed();
    prop_oneof![
        2 => leaf.clone(),
        2 => (leaf.clone(), leaf).prop_map(|(a, b)| format!("{a} AND {b}")),
    ]
    .boxed()
}

const T: &[&str] = &["t.a", "t.b"];
const U: &[&str] = &["u.c", "u.d"];
const V: &[&str] = &["v.x", "v.y"];
const TU: &[&str] = &["t.a", "t.b", "u.c", "u.d"];
const TV: &[&str] = &["t.a", "t.b", "v.x", "v.y"];
const TWICE: &[&str] = &["p.a", "p.b", "q.a", "q.b"];
const INNER: &[&str] = &["k.m", "k.n"];

fn join() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
}

fn query() -> BoxedStrategy<String> {
    let not = || any::<bool>().prop_map(|not| if not { "NOT " } else { "" });
    prop_oneof![
        condition(T).prop_map(|w| format!("SELECT * FROM t WHERE {w}")),
        condition(U).prop_map(|w| format!("SELECT * FROM u WHERE {w}")),
        (join(), condition(TU), condition(TU))
            .prop_map(|(join, on, w)| format!("SELECT * FROM t {join} u ON {on} WHERE {w}")),
        (join(), condition(TU))
            .prop_map(|(join, w)| format!("SELECT * FROM t {join} u ON t.b = u.c WHERE {w}")),
        (join(), condition(TV), condition(TV))
            .prop_map(|(join, on, w)| format!("SELECT * FROM t {join} v ON {on} WHERE {w}")),
        (join(), condition(TWICE), condition(TWICE))
            .prop_map(|(join, on, w)| format!("SELECT * FROM t p {join} t q ON {on} WHERE {w}")),
        (not(), condition(TU), condition(T)).prop_map(|(not, inner, w)| {
            format!("SELECT * FROM t WHERE {not}EXISTS (SELECT 1 FROM u WHERE {inner}) AND {w}")
        }),
        (not(), condition(TV), condition(T)).prop_map(|(not, inner, w)| {
            format!("SELECT * FROM t WHERE t.a {not}IN (SELECT v.x FROM v WHERE {inner}) AND {w}")
        }),
        (condition(T), column(T), having(T)).prop_map(|(w, key, h)| {
            format!("SELECT {key} FROM t WHERE {w} GROUP BY {key} HAVING {h}")
        }),
        (condition(V), having(V))
            .prop_map(|(w, h)| { format!("SELECT COUNT(*) FROM v WHERE {w} HAVING {h}") }),
        (join(), column(TU), having(TU)).prop_map(|(join, key, h)| {
            format!("SELECT {key} FROM t {join} u ON t.b = u.c GROUP BY {key} HAVING {h}")
        }),
        (
            prop::sample::select(vec!["INTERSECT", "EXCEPT", "UNION"]),
            condition(T),
            condition(V)
        )
            .prop_map(|(op, a, b)| {
                format!("SELECT t.a FROM t WHERE {a} {op} SELECT v.x FROM v WHERE {b}")
            }),
        (condition(V), condition(INNER)).prop_map(|(inner, w)| {
            format!("SELECT * FROM (SELECT v.x AS m, v.y AS n FROM v WHERE {inner}) k WHERE {w}")
        }),
        (comparison(), condition(V)).prop_map(|(op, inner)| {
            format!("SELECT * FROM t WHERE t.b {op} (SELECT MAX(v.y) FROM v WHERE {inner})")
        }),
    ]
    .boxed()
}

/// All lists of up to two rows of a table.
fn lists() -> Vec<Vec<Vec<Value>>> {
    let value = |of: Option<i128>| of.map_or(Value::Null, Value::Int);
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for a in DOMAIN {
        rows.extend(DOMAIN.iter().map(|b| vec![value(a), value(*b)]));
    }
    // The second column of every table is NOT NULL.
    rows.retain(|row| !row[1].is_null());
    let mut lists = vec![Vec::new()];
    for (index, row) in rows.iter().enumerate() {
        lists.push(vec![row.clone()]);
        lists.extend(
            rows[index..]
                .iter()
                .map(|other| vec![row.clone(), other.clone()]),
        );
    }
    lists
}

/// Rows that cover a target although it was proven that there are none.
fn counterexample(target: &QueryTarget, setting: SolverContext<'_>) -> Option<Candidate> {
    let query = target.query.as_ref().ok()?;
    let tables = query.tables();
    let lists = lists();
    let mut numbers = vec![0usize; tables.len()];
    loop {
        let mut candidate = Candidate::default();
        for (table, number) in tables.iter().zip(&numbers) {
            for row in &lists[*number] {
                candidate.push(*table, row.clone());
            }
        }
        let there = distance(query, &candidate, &[], Some(setting.now), setting.dialect);
        if matches!(there, Ok(0.0)) && is_lawful(&candidate, setting) {
            return Some(candidate);
        }
        let mut at = 0;
        loop {
            let number = numbers.get_mut(at)?;
            *number += 1;
            if *number < lists.len() {
                break;
            }
            *number = 0;
            at += 1;
        }
    }
}

fn is_lawful(candidate: &Candidate, setting: SolverContext<'_>) -> bool {
    let mut memory = MemoryDatabase::new(setting.schema, setting.dialect);
    // Parents have smaller numbers here. A foreign key to a table that the query does not read is
    // met by a row that does not matter.
    if !candidate.rows.contains_key(&0) {
        for key in 0..3 {
            memory.put_stored(0, vec![Value::Null, Value::Int(key)]);
        }
    }
    candidate.rows.iter().all(|(table, rows)| {
        rows.iter().all(|row| {
            matches!(memory.insert_stored(*table, row.clone()), Ok(verdict) if verdict.is_accepted())
        })
    })
}

fn cases() -> u32 {
    let given = std::env::var("PROPTEST_CASES").ok();
    given.and_then(|cases| cases.parse().ok()).unwrap_or(40)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        rng_seed: prop::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_reported_infeasible_has_covering_rows(sql in query()) {
        let schema = schema();
        let setting = SolverContext::new(&schema, DialectName::Postgres.dialect());
        let target = QueryTarget::read(&sql, "", "", &schema, DialectName::Postgres);
        prop_assert!(target.query.is_ok(), "{}: {:?}", sql, target.query);
        let outcome = run(std::slice::from_ref(&target), setting, &Config { budget: 50, ..Config::default() });
        match &outcome.statuses[0] {
            TargetStatus::Infeasible { proof, .. } => {
                let counter = counterexample(&target, setting);
                prop_assert!(counter.is_none(), "{}: {}: {:?}", sql, proof, counter);
            }
            TargetStatus::Covered(number) => {
                let fixture = &outcome.fixtures[*number];
                prop_assert!(is_lawful(&fixture.candidate, setting), "{}: {:?}", sql, fixture);
            }
            TargetStatus::Uncovered { .. } => {}
        }
    }
}
