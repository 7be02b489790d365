//! Queries of our own, over schemas with keys, foreign keys, CHECKs and enumerations: what the
//! published data lack. Every target is covered and confirmed on the engine, or proven infeasible,
//! or listed here with what stands in the way.

use std::fmt::Write as _;

use isobath_exec::{Engine, provision};
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::confirm::{self, EngineVerdict};
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{TargetStatus, run};
use isobath_rows::query::parameter::bound;
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema};

const LIBRARY: &str = include_str!("queries/library.sql");
const LIBRARY_QUERIES: &str = include_str!("queries/library.queries.sql");
const HOTEL: &str = include_str!("queries/hotel.sql");
const HOTEL_QUERIES: &str = include_str!("queries/hotel.queries.sql");

struct Given<'t> {
    name: &'t str,
    engines: &'t str,
    sql: &'t str,
}

fn given(text: &str) -> Vec<Given<'_>> {
    text.split("-- name: ")
        .skip(1)
        .map(|entry| {
            let (name, rest) = entry
                .split_once('\n')
                .expect("a name has a line of its own");
            let (engines, sql) = match rest.strip_prefix("-- engines: ") {
                Some(rest) => rest.split_once('\n').expect("engines have a line too"),
                None => ("sqlite postgres mariadb", rest),
            };
            let sql = sql.trim().trim_end_matches(';');
            Given { name, engines, sql }
        })
        .collect()
}

fn schema(text: &str) -> Schema {
    let source = Source {
        name: "schema.sql".to_owned(),
        text: text.to_owned(),
    };
    let loaded = load("schema", &[source], Some(DialectName::Postgres));
    assert!(loaded.limitations.is_empty(), "{:?}", loaded.limitations);
    loaded.schema
}

/// What is neither covered nor proven, a line each; nothing when the engine is not installed.
fn open(ddl: &str, queries: &str, engine: Engine) -> Option<String> {
    let schema = schema(ddl);
    let Ok(mut provisioned) = provision(engine) else {
        return None;
    };
    let database = provisioned.database();
    let stored = confirm::fixture_schema(&schema, true);
    let refused = confirm::prepare(&stored, database).expect("the engine answers");
    assert!(refused.is_empty(), "{refused:?}");
    let dialect = engine.dialect();
    let setting = SolverContext::new(&schema, dialect.dialect());
    let mut report = String::new();
    let (mut all, mut covered, mut proven) = (0, 0, 0);
    for given in given(queries) {
        if !given.engines.contains(engine.as_str()) {
            continue;
        }
        let made = targets(
            given.sql,
            &schema,
            dialect,
            QueryCriterion::Extended,
            CoverageOptions::default(),
        );
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                writeln!(report, "{}: {error}", given.name).expect("text takes everything");
                continue;
            }
        };
        let targets: Vec<QueryTarget> = made
            .iter()
            .map(|target| QueryTarget::of(target, &schema, dialect))
            .collect();
        let outcome = run(&targets, setting, &Config::default());
        all += targets.len();
        proven += outcome.infeasible();
        for (number, fixture) in outcome.fixtures.iter().enumerate() {
            let sql: Vec<String> = fixture
                .covers
                .iter()
                .map(|target| {
                    let target = &targets[*target];
                    bound(
                        &target.sql,
                        &target.parameters,
                        fixture.parameters(),
                        dialect,
                    )
                })
                .collect();
            let verdicts = confirm::confirm(fixture, &sql, &stored, database).expect("it answers");
            for (target, verdict) in fixture.covers.iter().zip(verdicts) {
                assert_eq!(outcome.statuses[*target], TargetStatus::Covered(number));
                match verdict {
                    EngineVerdict::Agrees => covered += 1,
                    EngineVerdict::Disagrees { actual } => {
                        let target = &targets[*target];
                        writeln!(
                            report,
                            "{}: {} {}: DISAGREES {actual}",
                            given.name, target.rule, target.sql
                        )
                        .expect("text takes everything");
                    }
                }
            }
        }
        for (fate, target) in outcome.statuses.iter().zip(&targets) {
            if let TargetStatus::Uncovered { reason } = fate {
                writeln!(
                    report,
                    "{}: {} {}: {reason}",
                    given.name, target.rule, target.sql
                )
                .expect("text takes everything");
            }
        }
    }
    let open = report.lines().count();
    assert_eq!(covered + proven + open, all, "{report}");
    Some(report)
}

#[test]
fn the_library_is_covered_on_sqlite() {
    let report = open(LIBRARY, LIBRARY_QUERIES, Engine::Sqlite).expect("SQLite is built in");
    assert_eq!(report, "");
}

#[test]
fn the_hotel_is_covered_on_sqlite() {
    let report = open(HOTEL, HOTEL_QUERIES, Engine::Sqlite).expect("SQLite is built in");
    assert_eq!(report, "");
}

#[test]
fn both_are_covered_on_postgres() {
    for (ddl, queries) in [(LIBRARY, LIBRARY_QUERIES), (HOTEL, HOTEL_QUERIES)] {
        assert_eq!(open(ddl, queries, Engine::Postgres).unwrap_or_default(), "");
    }
}

#[test]
fn both_are_covered_on_mariadb() {
    for (ddl, queries) in [(LIBRARY, LIBRARY_QUERIES), (HOTEL, HOTEL_QUERIES)] {
        assert_eq!(open(ddl, queries, Engine::MariaDb).unwrap_or_default(), "");
    }
}
