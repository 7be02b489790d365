//! What a run reaches that sees the database and may bring rows, on listed seeds.

mod support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isobath_rest::data::Choice;
use isobath_rest::job::{Event, Outcome};
use isobath_rest::probe;
use isobath_suts::{ALL, Running};

use support::{Plan, Prepared};

fn start(service: &str) -> Running {
    let sut = ALL.iter().find(|sut| sut.name == service);
    (sut.expect("a service of this name").start)()
}

/// The outcome of a run, and the calls after which each target was covered.
fn run(service: &str, calls: u64, seed: u64, choice: Choice) -> (Outcome, BTreeMap<String, u64>) {
    let running = start(service);
    let document = running.openapi.to_string();
    let plan = Plan {
        url: &running.url,
        document: &document,
        users: &[],
        reset: None,
        calls,
        seed,
        probes: probe::Choice::default(),
    };
    let covered = Rc::new(RefCell::new(BTreeMap::new()));
    let seen = Rc::clone(&covered);
    let prepared = Prepared::new(&plan).with_database(&running, choice);
    let outcome = prepared.run_telling(move |event| {
        if let Event::Covered { calls, target } = event {
            let target: &String = target;
            seen.borrow_mut().entry(target.clone()).or_insert(*calls);
        }
    });
    let covered = covered.borrow().clone();
    (outcome, covered)
}

/// Figure 1 of "SQL Data Generation to Enhance Search-Based System Testing": with POST, and with GET only.
#[test]
fn the_stored_pair_is_found_with_post_and_without() {
    for seed in 1..=10 {
        for service in ["stored_pair", "stored_pair_without_post"] {
            let (_, covered) = run(service, 300, seed, Choice::default());
            let calls = covered.get("GET /api/foo/{x}/{y} answers 200");
            assert!(
                calls.is_some_and(|calls| *calls <= 150),
                "{service}, seed {seed}: {calls:?}"
            );
        }
    }
}

#[test]
fn what_needs_rows_is_answered_when_the_test_brings_them() {
    for seed in 1..=2 {
        let (_, covered) = run("depot", 3_000, seed, Choice::default());
        for wanted in [
            "GET /sites/{code} answers 200",
            "GET /sites/{code} answers 410",
            "GET /sites/{code}/stock answers 200",
            "GET /sites/{code}/stock answers 204",
            "GET /items/{id} answers 200",
            "GET /items/{id} answers 409",
            "POST /reservations answers 201",
            "POST /reservations answers 409",
            "DELETE /reservations/{id} answers 204",
            "DELETE /reservations/{id} answers 409",
        ] {
            assert!(covered.contains_key(wanted), "seed {seed}: {wanted}");
        }
    }
}
