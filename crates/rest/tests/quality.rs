//! Calls needed to reach hard targets, on listed seeds.
//!
//! The bounds are about three times the worst measurement, in calls, so that a worse search fails
//! here.

mod support;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use isobath_emit::http::{ExpectedOutcome, HttpStep, ValueSource};
use isobath_rest::auth::{self, Format, User};
use isobath_rest::job::Event;
use isobath_rest::probe::ProbeConfig;
use isobath_suts::ALL;

use support::{Plan, Prepared};

const SEEDS: std::ops::Range<u64> = 1..6;

/// The one who can log in where there is a log-in.
fn users(service: &str) -> Vec<User> {
    let file = r#"{"auth": [{"name": "ada", "loginEndpointAuth": {"endpoint": "/login", "verb": "POST",
        "payloadUserPwd": {"username": "ada", "password": "lovelace", "usernameField": "user", "passwordField": "password"},
        "token": {"extractSelector": "/token", "sendName": "Authorization", "sendTemplate": "Bearer {token}"}}}]}"#;
    match service {
        "login_token" => auth::read(file, Format::Yaml).expect("a good file"),
        _ => Vec::new(),
    }
}

/// The calls that a search makes until it covers a target for the first time; `None` when it does not.
fn calls_until(service: &str, target: &str, budget: u64, seed: u64) -> Option<u64> {
    let sut = ALL.iter().find(|sut| sut.name == service);
    let running = (sut.expect("a service of this name").start)();
    let document = running.openapi.to_string();
    let plan = Plan {
        url: &running.url,
        document: &document,
        users: &users(service),
        reset: None,
        calls: budget,
        seed,
        probes: ProbeConfig::default(),
    };
    let found = Rc::new(Cell::new(None));
    let (first, wanted) = (Rc::clone(&found), target.to_owned());
    let prepared = Prepared::new(&plan);
    // What comes after is of no interest here.
    let ends = [&prepared.config.interrupt, &prepared.config.stop].map(Arc::clone);
    prepared.run_telling(move |event| {
        if let Event::Covered { calls, target } = event
            && *target == wanted
            && first.get().is_none()
        {
            first.set(Some(*calls));
            ends.iter()
                .for_each(|end| end.store(true, Ordering::Relaxed));
        }
    });
    found.get()
}

/// All seeds but one cover the target within so many calls.
fn check(service: &str, target: &str, within: u64) {
    // The search has a part of the budget only.
    let needed: Vec<Option<u64>> = SEEDS
        .map(|seed| calls_until(service, target, within * 2, seed))
        .collect();
    let late = |calls: &Option<u64>| calls.is_none_or(|calls| calls > within);
    assert!(
        needed.iter().filter(|calls| late(calls)).count() <= 1,
        "{service}: {target}: {needed:?}, and not within {within}"
    );
}

#[test]
fn a_note_is_read_by_the_id_that_its_creation_returned() {
    check("post_get_chain", "GET /notes/{id} returns 200", 30);
}

#[test]
fn the_secret_is_told_to_who_logs_in() {
    check("login_token", "GET /secret returns 200", 30);
}

#[test]
fn the_last_page_and_what_is_behind_it_are_found() {
    check("pagination", "GET /items returns 404", 40);
    check(
        "pagination",
        "GET /items returns 200, and /next is null",
        650,
    );
}

#[test]
fn shapes_are_answered_and_too_large_ones_refused() {
    check("enum_branch", "POST /area returns 200", 30);
    check("enum_branch", "POST /area returns 422", 150);
}

#[test]
fn the_one_age_at_the_boundary_is_congratulated() {
    check("numeric_boundary", "GET /welcome/{age} returns 202", 250);
    check("numeric_boundary", "GET /welcome/{age} returns 403", 30);
}

#[test]
fn codes_of_the_documented_pattern_are_found() {
    check("pattern", "GET /codes/{code} returns 200", 30);
    check("pattern", "GET /codes/{code} returns 400", 100);
}

#[test]
fn links_say_what_opens_the_door() {
    check("link_chain", "POST /doors/{a}/{b} returns 200", 300);
}

#[test]
fn a_booking_of_two_weeks_in_the_year_is_made() {
    // Chance alone has to meet the year.
    check("date_window", "POST /bookings returns 409", 7_800);
    check("date_window", "POST /bookings returns 201", 7_800);
    check("date_window", "POST /bookings returns 422", 30);
}

#[test]
fn the_value_that_crashes_is_found() {
    check("edge_crash", "GET /share/{n} returns 500", 180);
}

/// The examples of the papers. What only code or database can tell is not asked of a black box: there, the response
/// `OK`, the parameter that no document names, the body that none describes, and the stored pair stay out of reach.
#[test]
fn of_the_examples_of_the_papers_the_outside_is_reached() {
    let testability = "GET /api/testability/{date}/{number}/{setting}";
    check("testability", &format!("{testability} returns 404"), 30);
    check("hidden_parameter", "GET /api/param returns 500", 30);
    check("hidden_body", "POST /api/body returns 500", 30);
    check("stored_pair", "POST /api/foo returns 200", 30);
    check("stored_pair", "GET /api/foo/{x}/{y} returns 400", 30);
    check(
        "stored_pair_without_post",
        "GET /api/foo/{x}/{y} returns 400",
        30,
    );
    for seed in SEEDS {
        let out_of_reach = "GET /api/foo/{x}/{y} returns 200";
        let reached = calls_until("stored_pair_without_post", out_of_reach, 300, seed);
        assert_eq!(reached, None, "nobody can store the pair");
    }
}

#[test]
fn tests_that_follow_a_link_read_the_header_and_repeat_what_was_sent() {
    let running = isobath_suts::links::link_chain();
    let document = running.openapi.to_string();
    let plan = Plan {
        url: &running.url,
        document: &document,
        users: &[],
        reset: None,
        calls: 900,
        seed: 1,
        probes: ProbeConfig::default(),
    };
    let (_, suite) = support::search_and_write(&plan, "doors");
    let opened = suite.tests.iter().find_map(|test| {
        let (made, others) = test.steps.split_first()?;
        let is_open = |step: &&HttpStep| matches!(&step.expect, ExpectedOutcome::Response(answer) if answer.status == 200);
        let opened = others.iter().find(is_open)?;
        (test.group == "POST /doors/{a}/{b}").then_some((made, opened))
    });
    let (made, opened) = opened.expect("a test that opens a door");
    let [key] = &*made.captures else {
        panic!("{:?}", made.captures);
    };
    assert_eq!(key.from, ValueSource::Header("X-Room-Key".into()));
    let path = format!("{:?}", opened.request.path);
    assert!(path.contains(&key.variable), "{path}");
    assert_eq!(made.request.body, opened.request.body);
}
