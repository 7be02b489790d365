//! Our verdicts against those of real databases, on generated expressions, rows and values.
//!
//! A verdict that we give must be the database's; an error that we foresee must
//! happen; what we call unsupported is counted, and may not exceed a share per
//! construct, so that no test passes by giving no answers.
//!
//! `ISOBATH_AGREEMENT_SEEDS=20` tries more seeds than the few of every run.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, outside of functions marked as tests"
)]

mod evaluation;
mod functions;
mod generate;
mod lexicon;
mod predicates;
mod queries;
mod query_shapes;
mod query_text;
mod storage;

use std::io::Write;

use isobath_exec::engine::{Engine, ProvisionedDatabase, provision};
use isobath_exec::server::or_skip;

/// An empty database, or `None` after saying that the test was left out.
fn database(what: &str, engine: Engine) -> Option<ProvisionedDatabase> {
    or_skip(&format!("{what} on {engine}"), provision(engine))
}

/// Says what was compared, past the capture of the test runner: how much has no answer is part of the result.
fn summary(engine: Engine, what: &str, cases: usize, unsupported: usize) {
    let share = unsupported as f64 / cases.max(1) as f64 * 100.0;
    let line = format!(
        "agreement: {cases} {what} on {engine}, 0 disagreements, {unsupported} unsupported ({share:.2} %)"
    );
    // A closed terminal is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The seeds of this run.
fn seeds() -> std::ops::Range<u64> {
    let count = std::env::var("ISOBATH_AGREEMENT_SEEDS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(2);
    let first = std::env::var("ISOBATH_AGREEMENT_FIRST")
        .ok()
        .and_then(|first| first.parse().ok())
        .unwrap_or(0);
    first..first + count
}

#[test]
fn sqlite_gives_the_verdicts_that_we_give() {
    evaluation::agree(Engine::Sqlite);
}

#[test]
fn postgres_gives_the_verdicts_that_we_give() {
    evaluation::agree(Engine::Postgres);
}

#[test]
fn mariadb_gives_the_verdicts_that_we_give() {
    evaluation::agree(Engine::MariaDb);
}

#[test]
fn sqlite_stores_what_we_store() {
    storage::agree(Engine::Sqlite);
}

#[test]
fn postgres_stores_what_we_store() {
    storage::agree(Engine::Postgres);
}

#[test]
fn mariadb_stores_what_we_store() {
    storage::agree(Engine::MariaDb);
}

#[test]
fn sqlite_returns_the_rows_that_we_return() {
    queries::agree(Engine::Sqlite);
}

#[test]
fn postgres_returns_the_rows_that_we_return() {
    queries::agree(Engine::Postgres);
}

#[test]
fn mariadb_returns_the_rows_that_we_return() {
    queries::agree(Engine::MariaDb);
}
