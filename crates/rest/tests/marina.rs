//! The job on the example service: finds the seeded faults, and no others.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use isobath_rest::auth::{self, Format};
use isobath_rest::fault::FaultKind;
use isobath_rest::job::RunResult;
use isobath_rest::probe::ProbeConfig;
use marina::{Fault, Faults};

use support::{Plan, Prepared};

const AUTH: &str = include_str!("../../../examples/marina/auth.yaml");

/// Runs the job on a marina with these faults for so many calls.
fn search(faults: Faults, calls: u64, seed: u64, probes: ProbeConfig) -> RunResult {
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

/// The same with the rows of the marina in sight.
fn search_with_rows(faults: Faults, calls: u64, seed: u64) -> RunResult {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("marina.db");
    let marina = marina::start_on(faults, Some(file.clone())).expect("a free port");
    let users = auth::read(AUTH, Format::Yaml).expect("a good file");
    let plan = Plan {
        url: &marina.url(),
        document: marina::OPENAPI,
        users: &users,
        reset: None,
        calls,
        seed,
        probes: ProbeConfig::default(),
    };
    Prepared::new(&plan)
        .with_rows(&format!("sqlite:{}", file.display()))
        .run()
}

/// The faults that show in rows only, with their operations.
fn in_rows(outcome: &RunResult) -> BTreeSet<(FaultKind, &str)> {
    let faults = outcome.faults.iter().map(|(fault, _)| fault);
    faults
        .filter(|fault| fault.kind.is_about_rows())
        .map(|fault| (fault.kind, fault.operation.as_str()))
        .collect()
}

#[test]
fn faults_that_show_in_rows_only_are_found_there() {
    let seeded = BTreeSet::from([
        (FaultKind::FailureWrote, "POST /bookings"),
        (FaultKind::DeleteTookOthers, "DELETE /bookings/{bookingId}"),
        (FaultKind::GetWrote, "GET /reports/occupancy"),
        (FaultKind::UpdateChangedOthers, "PATCH /berths/{berthId}"),
        (FaultKind::LostUpdate, "PUT /boats/{boatId}"),
    ]);
    let only: Faults = [
        Fault::RefusedBookingStays,
        Fault::CancellingTakesInvoices,
        Fault::OccupancyCutsPower,
        Fault::LengthCutsPower,
        Fault::DeepDraftForgotten,
    ]
    .into_iter()
    .collect();
    let mut found_on: BTreeMap<(FaultKind, String), u32> = BTreeMap::new();
    for seed in 1..=3 {
        let outcome = search_with_rows(only, 6_000, seed);
        let seen = in_rows(&outcome);
        assert!(seen.is_subset(&seeded), "seed {seed}: {seen:?}");
        assert_eq!(outcome.faults.len(), seen.len(), "{:?}", outcome.faults);
        for (kind, operation) in seen {
            *found_on.entry((kind, operation.to_owned())).or_default() += 1;
        }
    }
    assert_eq!(found_on.len(), seeded.len(), "{found_on:?}");
    assert!(found_on.values().sum::<u32>() >= 9, "{found_on:?}");
    // Without the rows nobody sees them.
    let outcome = search(only, 3_000, 1, ProbeConfig::default());
    assert_eq!(
        found(&outcome).keys().collect::<Vec<_>>(),
        [] as [&FaultKind; 0]
    );
}

#[test]
fn rows_of_a_marina_without_faults_are_in_order() {
    let outcome = search_with_rows(Faults::none(), 6_000, 3);
    assert_eq!(
        outcome
            .faults
            .iter()
            .map(|(fault, _)| format!("{:?} {}", fault.kind, fault.detail))
            .collect::<Vec<_>>(),
        [] as [String; 0]
    );
    let rows = outcome.rows.expect("rows were looked at");
    let key = rows
        .constraints
        .iter()
        .find(|constraint| constraint.constraint == "FOREIGN KEY (berth_id) REFERENCES berths")
        .expect("bookings have one");
    let refused: u64 = key.by.values().map(|tally| tally.refused).sum();
    let others: u64 = key
        .by
        .values()
        .map(|tally| tally.failed + tally.accepted)
        .sum();
    assert!(refused > 0 && others == 0, "{key:?}");
    assert_eq!(rows.drift, []);
}

/// The kinds of faults per operation.
fn found(outcome: &RunResult) -> BTreeMap<FaultKind, BTreeSet<&str>> {
    let mut found: BTreeMap<FaultKind, BTreeSet<&str>> = BTreeMap::new();
    for (fault, _) in &outcome.faults {
        let operations = found.entry(fault.kind).or_default();
        operations.insert(&fault.operation);
        operations.extend(fault.others.iter().map(String::as_str));
    }
    found
}

#[test]
fn all_planted_faults_are_found() {
    let planted = [
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
    ];
    let mut found_on: BTreeMap<(FaultKind, &str), u32> = BTreeMap::new();
    for seed in 1..=5 {
        let probes = ProbeConfig {
            sql_injection: true,
        };
        let outcome = search(Faults::all(), 20_000, seed, probes);
        let found = found(&outcome);
        for (kind, operation) in planted {
            let operations = found.get(&kind);
            let is_found = operations.is_some_and(|operations| operations.contains(operation));
            *found_on.entry((kind, operation)).or_default() += u32::from(is_found);
        }
        // Every fault that is reported is shown by a test, but for a few that did not show again.
        let without_test = outcome.faults.iter().filter(|(_, test)| test.is_none());
        assert!(
            without_test.count() <= 1,
            "seed {seed}: {:?}",
            outcome.faults
        );
    }
    let rarely: Vec<_> = found_on.iter().filter(|(_, times)| **times < 4).collect();
    assert!(
        rarely.is_empty(),
        "found on less than four of five seeds: {rarely:?}"
    );
}

#[test]
fn the_same_seed_finds_the_same() {
    let summary = || {
        let outcome = search(Faults::all(), 1_500, 3, ProbeConfig::default());
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
        ProbeConfig {
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
