//! Proofs are attacked with random rows on real databases. `ISOBATH_FUZZ_RUNS`, `ISOBATH_FUZZ_QUERIES` and
//! `ISOBATH_FUZZ_SEED` make it longer or another one; `ISOBATH_FUZZ_ONLY` is `queries` or `schemas`.

#![expect(
    clippy::print_stderr,
    reason = "a false claim is shown with its reproduction"
)]

#[path = "../../../bench/src/proofs/fuzzer/mod.rs"]
mod fuzzer;

use fuzzer::{Plan, Tally};
use isobath_exec::{Engine, provision};

fn number(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

fn attack(engine: Engine) {
    let Ok(mut server) = provision(engine) else {
        eprintln!("{engine} is not installed: skipped");
        return;
    };
    let mut plan = Plan {
        seed: number("ISOBATH_FUZZ_SEED", 1),
        rounds: 1,
        queries: usize::try_from(number("ISOBATH_FUZZ_QUERIES", 6)).expect("a small number"),
        databases: 40,
        report: |refuted| {
            let script = refuted.script.join(";\n");
            let (engine, kind) = (&refuted.engine, refuted.kind);
            eprintln!(
                "refuted on {engine}: {kind}: {}\n{script};\n",
                refuted.proof
            );
        },
        progress: |_, _| {},
    };
    let mut tally = Tally::default();
    let only = std::env::var("ISOBATH_FUZZ_ONLY").unwrap_or_default();
    for _ in 0..number("ISOBATH_FUZZ_RUNS", 2) {
        if only != "schemas" {
            fuzzer::queries(&plan, server.database(), &mut tally).expect("a database that answers");
        }
        if only != "queries" {
            fuzzer::schemas(&plan, server.database(), &mut tally).expect("a database that answers");
        }
        plan.seed += 1;
        for (kind, counts) in &tally.counts {
            eprintln!("{engine}, {} rows: {kind}: {counts:?}", tally.rows);
        }
    }
    for change in &tally.undecided {
        eprintln!("undecided: {change}");
    }
    for (why, count) in &tally.unread {
        eprintln!("unread {count}: {why}");
    }
    for (why, count) in &tally.refused {
        eprintln!("refused {count}: {why}");
    }
    assert!(
        tally.refutations.is_empty(),
        "{} refuted",
        tally.refutations.len()
    );
}

#[test]
fn no_proof_is_refuted_on_sqlite() {
    attack(Engine::Sqlite);
}

#[test]
fn no_proof_is_refuted_on_postgres() {
    attack(Engine::Postgres);
}

#[test]
fn no_proof_is_refuted_on_mariadb() {
    attack(Engine::MariaDb);
}
