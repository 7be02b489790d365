//! The job on the example service: it finds the planted faults, and none where there is none.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use isobath_rest::auth::{self, Format};
use isobath_rest::fault::FaultKind;
use isobath_rest::job::Outcome;
use isobath_rest::probe::Choice;
use marina::Faults;

use support::Plan;

const AUTH: &str = include_str!("../../../examples/marina/auth.yaml");

/// Runs the job on a marina with these faults for so many calls.
fn search(faults: Faults, calls: u64, seed: u64, probes: Choice) -> Outcome {
    let marina = marina::start(faults).expect("a free port");
    let users = auth::read(AUTH, Format::Yaml).expect("a good file");
    support::search(&Plan {
        url: &marina.url(),
        document: marina::OPENAPI,
        users: &users,
        reset: Some("/reset"),
        calls,
        seed,
        probes,
    })
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
    let outcome = search(
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
        let outcome = search(Faults::all(), 1_500, 3, Choice::default());
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
    let outcome = search(
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
