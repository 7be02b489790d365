//! Generated suites pass in every language, and fail when the service changes.

#[path = "../../emit/tests/http_runner/mod.rs"]
mod http_runner;
mod support;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use isobath_emit::http::writer::TestResult;
use isobath_emit::http::{ExpectedOutcome, HttpStep, HttpSuite};
use isobath_rest::auth::{self, Format};
use isobath_rest::fault::FaultKind;
use isobath_rest::probe::ProbeConfig;
use marina::Faults;

use support::Plan;

const AUTH: &str = include_str!("../../../examples/marina/auth.yaml");

/// The suite of one run, which all languages print.
fn found() -> &'static HttpSuite {
    static FOUND: OnceLock<HttpSuite> = OnceLock::new();
    FOUND.get_or_init(|| {
        let marina = marina::start(Faults::all()).expect("a free port");
        let users = auth::read(AUTH, Format::Yaml).expect("a good file");
        let plan = Plan {
            url: &marina.url(),
            document: marina::OPENAPI,
            users: &users,
            reset: Some("/reset"),
            calls: 8_000,
            seed: 1,
            probes: ProbeConfig {
                sql_injection: true,
            },
        };
        support::search_and_write(&plan, "marina").1
    })
}

/// Runs a suite on a marina of its own.
fn run_on(faults: Faults, language: &str, suite: &HttpSuite) -> BTreeMap<String, TestResult> {
    let marina = marina::start(faults).expect("a free port");
    let mut suite = suite.clone();
    suite.service.base_url = marina.url();
    http_runner::run(language, &suite)
}

fn check(language: &str) {
    let suite = found();
    let n_faults = suite
        .tests
        .iter()
        .filter(|test| !test.faults.is_empty())
        .count();
    assert!(
        n_faults >= 10 && suite.tests.len() >= n_faults + 40,
        "{n_faults} of {}",
        suite.tests.len()
    );
    for test in suite.tests.iter().filter(|test| test.faults.is_empty()) {
        let ends_in_fault = test.steps.iter().any(|step| match &step.expect {
            ExpectedOutcome::Response(answer) => answer.status >= 500,
            ExpectedOutcome::Dropped | ExpectedOutcome::TimedOut => true,
        });
        assert!(!ends_in_fault, "{} is not marked", test.name);
        let expected: Vec<_> = test.steps.iter().map(|step| &step.expect).collect();
        assert!(
            !format!("{expected:?}").contains("unknown"),
            "{} holds fast what does not fit the schema",
            test.name
        );
    }
    for (id, result) in run_on(Faults::all(), language, suite) {
        assert!(result.passed, "{language}: {id} fails: {}", result.message);
    }
    // Where the faults are repaired, the tests that hold them fail; a few are enough to see it.
    let mut faulty = suite.clone();
    faulty.name = "repaired".into();
    faulty.tests.retain(|test| {
        let shown = |code: &str| test.faults.iter().any(|fault| fault.code == code);
        shown("delete-without-effect")
            || shown("anonymous-write")
            || shown("connection-dropped")
            || shown("location-leads-nowhere")
            || shown("server-error")
    });
    assert!(faulty.tests.len() >= 3, "{}", faulty.tests.len());
    for (id, result) in run_on(Faults::none(), language, &faulty) {
        assert!(
            !result.passed,
            "{language}: {id} passes on the fixed service"
        );
    }
}

#[test]
fn the_suite_in_pytest_is_green_and_turns_red() {
    if support::has("python3", &["-c", "import pytest, requests"]) {
        check("pytest");
    }
}

#[test]
fn the_suite_for_node_is_green_and_turns_red() {
    // Distributions may have a Node that is too old for this.
    let probe = ["--test-concurrency=1", "--test-reporter=junit", "--version"];
    if support::may_have("node", &probe) {
        check("js");
    }
}

#[test]
fn the_suite_in_rust_is_green_and_turns_red() {
    if support::has("cargo", &["--version"]) {
        check("rust");
    }
}

#[test]
fn the_suite_in_java_is_green_and_turns_red() {
    if support::has("mvn", &["--version"]) {
        check("junit");
    }
}

#[test]
fn suites_of_a_service_that_is_never_reset_pass_on_a_fresh_one_again_and_again() {
    if !support::has("python3", &["-c", "import pytest, requests"]) {
        return;
    }
    let (mut n_boards, mut n_notes, mut n_views, mut n_dependent) = (0, 0, 0, 0);
    for seed in 1..=3 {
        let searched = isobath_suts::lasting::lasting();
        let plan = Plan {
            url: &searched.url,
            document: &searched.openapi.to_string(),
            users: &[],
            reset: None,
            calls: 3_000,
            seed,
            probes: ProbeConfig::default(),
        };
        let (outcome, mut suite) = support::search_and_write(&plan, "lasting");
        // What is emptied is not there any more, though its list is.
        let kinds = outcome.faults.iter().map(|(fault, _)| fault.kind);
        let accused: Vec<FaultKind> = kinds
            .filter(|kind| *kind == FaultKind::DeleteWithoutEffect)
            .collect();
        assert_eq!(accused, [], "seed {seed}");
        // What needs something left behind is no test, but the calls that showed it are kept.
        for shown in &outcome.dependent {
            n_dependent += 1;
            for fault in &shown.faults {
                let identity = (fault.kind, fault.cause.clone());
                assert!(outcome.needs_state.contains(&identity), "{identity:?}");
            }
            assert!(!shown.faults.is_empty() && !shown.exchanges.is_empty());
        }
        drop(searched);
        let creates = |path: &str| {
            let mut tests = suite.tests.iter();
            tests.any(|test| {
                let is_creation = |step: &HttpStep| {
                    let expect = format!("{:?}", step.expect);
                    step.request.method == "POST"
                        && step.request.path.literal().is_none_or(|at| at == path)
                        && expect.contains("status: 201")
                };
                !test.unique_values.is_empty() && test.steps.iter().any(is_creation)
            })
        };
        n_boards += usize::from(creates("/boards"));
        n_notes += usize::from(creates("/boards/{board}/notes"));
        let views = suite.tests.iter().flat_map(|test| &test.steps);
        let mut views =
            views.filter(|step| step.request.path.literal().is_some_and(|at| at == "/views"));
        n_views +=
            usize::from(views.any(|step| format!("{:?}", step.expect).contains("status: 200")));
        let fresh = isobath_suts::lasting::lasting();
        suite.service.base_url = fresh.url.clone();
        for round in 0..3 {
            for (id, result) in http_runner::run("pytest", &suite) {
                let message = result.message;
                assert!(result.passed, "seed {seed}, run {round}: {id}: {message}");
            }
            suite.tests.reverse();
        }
    }
    assert!(n_boards >= 2, "boards are created with {n_boards} seeds");
    assert!(n_views >= 2, "views are seen with {n_views} seeds");
    assert!(n_notes >= 1, "notes are created with {n_notes} seeds");
    assert!(n_dependent >= 1, "calls of faults without tests are kept");
}
