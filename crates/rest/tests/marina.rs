//! The job on the example service: it finds the planted faults, and none where there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use isobath_exec::http::{Client, Config as HttpConfig, Method, Request};
use isobath_rest::auth::{self, Format, User};
use isobath_rest::caller::{ResetCall, Service};
use isobath_rest::fault::FaultKind;
use isobath_rest::job::{Config, Outcome, run};
use isobath_rest::openapi::{self, NoLoader};
use isobath_rest::probe::Choice;
use isobath_rest::problem::Habits;
use isobath_rest::session::Session;
use marina::Faults;

const AUTH: &str = include_str!("../../../examples/marina/auth.yaml");

fn client() -> std::io::Result<Client> {
    Client::new(HttpConfig::default())
}

/// Runs the job on a marina with these faults for so many calls.
fn search(
    faults: Faults,
    calls: u64,
    seed: u64,
    probes: Choice,
) -> (Arc<Service>, Vec<User>, Outcome) {
    let running = marina::start(faults).expect("a free port");
    let api = Arc::new(
        openapi::read(marina::OPENAPI, "openapi.yaml", &NoLoader).expect("a good document"),
    );
    let users = auth::read(AUTH, Format::Yaml).expect("a good file");
    let mut first = client().expect("a client");
    let base = running.url();
    let sessions = users
        .iter()
        .map(|user| Session::open(&mut first, &base, user, 1).expect("a log-in"))
        .collect();
    let reset = Some(ResetCall {
        request: Request::new(Method::POST, format!("{base}/reset")),
    });
    let service = Arc::new(Service {
        api,
        base,
        sessions,
        reset,
    });
    let config = Config {
        search: isobath_search::Config {
            seed,
            ..isobath_search::Config::default()
        },
        calls: Some(calls),
        elapsed: Arc::new(|| 0.0),
        interrupt: Arc::new(AtomicBool::new(false)),
        workers: 1,
        habits: Habits::default(),
        off: BTreeSet::new(),
        probes,
    };
    let outcome =
        run(&service, &client, &config, |_: &isobath_search::Event| {}).expect("a client");
    (service, users, outcome)
}

/// The kinds of faults per operation.
fn found(outcome: &Outcome) -> BTreeMap<FaultKind, BTreeSet<&str>> {
    let mut found: BTreeMap<FaultKind, BTreeSet<&str>> = BTreeMap::new();
    for (fault, _) in &outcome.faults {
        found
            .entry(fault.kind)
            .or_default()
            .insert(&fault.operation);
    }
    found
}

#[test]
fn all_planted_faults_are_found() {
    let (_, _, outcome) = search(
        Faults::all(),
        20_000,
        1,
        Choice {
            sql_injection: true,
        },
    );
    let found = found(&outcome);
    for (kind, operation) in [
        (FaultKind::ServerError, "GET /reports/occupancy"),
        (FaultKind::ServerError, "GET /search"),
        (FaultKind::SqlInjectionByError, "GET /search"),
        (FaultKind::ResponseMismatch, "GET /boats/{boatId}"),
        (FaultKind::UndocumentedStatus, "POST /bookings"),
        (FaultKind::InvalidInputAccepted, "POST /boats"),
        (FaultKind::DeleteWithoutEffect, "DELETE /berths/{berthId}"),
        (FaultKind::PutNotIdempotent, "PUT /boats/{boatId}"),
        (
            FaultKind::FailedUpdateChangedState,
            "PATCH /bookings/{bookingId}",
        ),
        (
            FaultKind::LocationLeadsNowhere,
            "POST /bookings/{bookingId}/invoice",
        ),
        (FaultKind::GetChangesState, "GET /notices/{noticeId}"),
        (FaultKind::AnonymousWrite, "POST /notices"),
        (FaultKind::OtherUsersResource, "GET /bookings/{bookingId}"),
        (FaultKind::ExistenceLeak, "GET /invoices/{invoiceId}"),
        (FaultKind::StackTrace, "POST /berths"),
        (
            FaultKind::ConnectionDropped,
            "POST /invoices/{invoiceId}/payments",
        ),
    ] {
        let operations = found.get(&kind);
        assert!(
            operations.is_some_and(|operations| operations.contains(operation)),
            "{kind:?} of {operation} was not found, only {found:?}"
        );
    }
    let without_test: Vec<_> = outcome
        .faults
        .iter()
        .filter(|(_, test)| test.is_none())
        .collect();
    assert!(without_test.is_empty(), "no test shows {without_test:?}");
}

#[test]
fn the_same_seed_finds_the_same() {
    let summary = || {
        let (_, _, outcome) = search(Faults::all(), 1_500, 3, Choice::default());
        let faults: Vec<String> = outcome
            .faults
            .iter()
            .map(|(fault, _)| format!("{fault:?}"))
            .collect();
        (outcome.calls, outcome.covered, outcome.statuses, faults)
    };
    assert_eq!(summary(), summary());
}

#[test]
fn a_service_that_does_what_its_document_says_is_not_accused() {
    let (_, _, outcome) = search(
        Faults::none(),
        20_000,
        2,
        Choice {
            sql_injection: true,
        },
    );
    assert_eq!(
        outcome
            .faults
            .iter()
            .map(|(fault, _)| format!("{:?} {}", fault.kind, fault.detail))
            .collect::<Vec<_>>(),
        [] as [String; 0]
    );
    assert!(
        outcome.covered > 300,
        "{} of {} targets",
        outcome.covered,
        outcome.targets
    );
}
