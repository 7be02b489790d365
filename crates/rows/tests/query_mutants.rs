//! Mutants of queries: what kills them, and what ends a job early.

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{CoverageOutcome, TargetStatus, UncoveredReason, run};
use isobath_rows::query::mutation::{MutationAnalysis, QueryMutantStatus, analyze};
use isobath_rows::query::stop::{StopReason, StopSignal};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema};

const SHOP: &str = "
    CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, region INT NOT NULL);
    CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL REFERENCES customer (id), price INT NOT NULL);
    CREATE TABLE item (orders INT NOT NULL REFERENCES orders (id), line INT, amount INT NOT NULL,
        PRIMARY KEY (orders, line));
    CREATE TABLE copy (id INT NOT NULL REFERENCES orders (id));";

fn schema() -> Schema {
    let source = Source {
        name: "shop.sql".to_owned(),
        text: SHOP.to_owned(),
    };
    load("shop", &[source], Some(DialectName::Postgres)).schema
}

fn covered(
    sql: &str,
    context: SolverContext<'_>,
    seed: u64,
) -> (CoverageOutcome, MutationAnalysis) {
    let (schema, dialect) = (context.schema, DialectName::Postgres);
    let criterion = QueryCriterion::Extended;
    let made = targets(sql, schema, dialect, criterion, CoverageOptions::default());
    let made = made.expect("targets");
    let read = made.iter().map(|of| QueryTarget::of(of, schema, dialect));
    let mut targets: Vec<QueryTarget> = read.collect();
    let config = Config {
        seed,
        ..Config::default()
    };
    let mut outcome = run(&targets, context, &config);
    let analysis = analyze(
        sql,
        dialect,
        context,
        &config,
        true,
        &mut targets,
        &mut outcome,
    );
    assert_eq!(targets.len(), outcome.statuses.len());
    (outcome, analysis.expect("mutants"))
}

#[test]
fn orders_and_aggregates_are_told_from_their_mutants() {
    let schema = schema();
    let context = SolverContext::new(&schema, DialectName::Postgres.dialect());
    let sql = "SELECT name, SUM(price) AS total, AVG(amount) FROM customer, orders, item \
               WHERE customer.id = orders.customer AND orders.id = item.orders AND region = 3 \
               GROUP BY name ORDER BY total DESC, name";
    let complete = (1..=3).filter(|seed| {
        let (outcome, analysis) = covered(sql, context, *seed);
        for (target, status) in outcome.statuses.iter().enumerate() {
            if let TargetStatus::Covered(fixture) = status {
                assert!(outcome.fixtures[*fixture].covers.contains(&target));
            }
        }
        let counts = analysis.counts();
        let of = counts.killed + counts.alive + counts.unsupported;
        of > 20 && counts.killed + 1 >= of
    });
    assert!(complete.count() >= 2);
}

#[test]
fn a_job_that_has_to_end_says_why_each_target_is_open() {
    let schema = schema();
    let stop = || Some(StopReason::TimeLimit);
    let context = SolverContext {
        stop: StopSignal::new(&stop),
        ..SolverContext::new(&schema, DialectName::Postgres.dialect())
    };
    let sql = "SELECT name FROM customer WHERE region = 3 AND name LIKE 'a%'";
    let (outcome, _) = covered(sql, context, 1);
    let reason = UncoveredReason::Stopped(StopReason::TimeLimit);
    let open = TargetStatus::Uncovered { reason };
    assert!(!outcome.statuses.is_empty());
    assert!(outcome.statuses.iter().all(|status| *status == open));
}

/// The mutants of a query that are called equivalent, without fixtures that could kill them.
fn equivalent(sql: &str) -> Vec<String> {
    let (schema, dialect) = (schema(), DialectName::Postgres);
    let context = SolverContext::new(&schema, dialect.dialect());
    let (config, mut targets) = (Config::default(), Vec::new());
    let mut outcome = CoverageOutcome::default();
    let analysis = analyze(
        sql,
        dialect,
        context,
        &config,
        false,
        &mut targets,
        &mut outcome,
    )
    .expect("mutants");
    let all = analysis.mutants.into_iter().zip(analysis.statuses);
    all.filter(|(_, status)| matches!(status, QueryMutantStatus::Equivalent { .. }))
        .map(|(mutant, _)| mutant.sql)
        .collect()
}

#[test]
fn a_mutant_that_may_raise_an_error_is_not_called_equivalent() {
    // Without the first condition, the greatest price is an overflow; without the second, nothing is calculated.
    let called = equivalent("SELECT id FROM orders WHERE price < 10 AND price + 1 < 11");
    assert_eq!(called, ["SELECT id FROM orders WHERE price < 10"]);
}

#[test]
fn joins_by_shared_names_are_not_called_the_same() {
    let using = "SELECT price FROM orders JOIN copy USING (id)";
    let on = "SELECT price FROM orders JOIN copy ON copy.id = orders.id";
    let joins = |sql: &str| equivalent(sql).iter().any(|sql| sql.contains("RIGHT JOIN"));
    assert!(!joins(using));
    assert!(joins(on));
}
