//! Each fault kind is found in its sample service, and not in the correct twin.

mod support;

use std::time::Duration;

use isobath_rest::auth::User;
use isobath_rest::fault::FaultKind;
use isobath_rest::job::RunResult;
use isobath_rest::probe::ProbeConfig;
use isobath_suts::{ALL, Running, Sut, UNUSUAL};

use support::{Plan, Prepared};

fn search(service: &Running, seed: u64) -> RunResult {
    prepared(service, seed, 3_000).run()
}

/// A search of a service with a fault, of which one may be that nothing ever comes.
fn search_faulty(sut: &Sut, calls: u64, disabled: Option<FaultKind>) -> RunResult {
    let service = (sut.start)();
    let mut search = prepared(&service, 1, calls);
    if seeded(sut.name) == FaultKind::TimedOut {
        search.timeout = Duration::from_millis(100);
        search.config.calls = Some(300);
    }
    search.config.disabled.extend(disabled);
    search.run()
}

fn prepared(service: &Running, seed: u64, calls: u64) -> Prepared {
    let bearer = |name: &str| {
        User::with_headers(
            name,
            vec![("Authorization".into(), format!("Bearer token-{name}"))],
        )
    };
    let users = [bearer("ada"), bearer("grace"), bearer("barbara")];
    let document = service.openapi.to_string();
    let plan = Plan {
        url: &service.url,
        document: &document,
        users: &users,
        reset: None,
        calls,
        seed,
        probes: ProbeConfig {
            sql_injection: true,
        },
    };
    Prepared::new(&plan)
}

/// The kind that a service was made to show.
fn seeded(name: &str) -> FaultKind {
    match name {
        "delete_keeps" => FaultKind::DeleteWithoutEffect,
        "put_appends" => FaultKind::PutNotIdempotent,
        "failed_put_writes" | "sealed_put_writes" => FaultKind::FailedUpdateChangedState,
        "unsafe_get" => FaultKind::GetChangesState,
        "lost_creation" => FaultKind::LocationLeadsNowhere,
        "edge_crash" => FaultKind::ServerError,
        "stack_trace" => FaultKind::StackTrace,
        "wrong_type" => FaultKind::ResponseMismatch,
        "undocumented_status" => FaultKind::UndocumentedStatus,
        "accepts_invalid" => FaultKind::InvalidInputAccepted,
        "anonymous_write" => FaultKind::AnonymousWrite,
        "foreign_resource" => FaultKind::OtherUsersResource,
        "existence_leak" => FaultKind::ExistenceLeak,
        "dropped" => FaultKind::ConnectionDropped,
        "hanging" => FaultKind::TimedOut,
        "anonymous_read" => FaultKind::AnonymousRead,
        "injected_error" => FaultKind::SqlInjectionByError,
        "injected_pause" => FaultKind::SqlInjectionByTime,
        other => panic!("{other} has a twin, and no kind of fault here"),
    }
}

fn faulty() -> impl Iterator<Item = (&'static Sut, fn() -> Running)> {
    ALL.iter().filter_map(|sut| Some((sut, sut.start_correct?)))
}

#[test]
fn every_kind_of_fault_is_found_where_it_was_planted() {
    let missed: Vec<String> = faulty()
        .filter_map(|(sut, _)| {
            let outcome = search_faulty(sut, 6_000, None);
            let kind = seeded(sut.name);
            let found: Vec<FaultKind> =
                outcome.faults.iter().map(|(fault, _)| fault.kind).collect();
            (!found.contains(&kind)).then(|| format!("{}: {kind:?} not among {found:?}", sut.name))
        })
        .collect();
    assert_eq!(missed, [] as [String; 0]);
}

#[test]
fn every_kind_can_be_switched_off() {
    for (sut, _) in faulty() {
        let kind = seeded(sut.name);
        let outcome = search_faulty(sut, 500, Some(kind));
        let found: Vec<FaultKind> = outcome.faults.iter().map(|(fault, _)| fault.kind).collect();
        assert!(!found.contains(&kind), "{}: {found:?}", sut.name);
    }
}

#[test]
fn correct_services_are_not_accused() {
    let accused: Vec<String> = faulty()
        .flat_map(|(sut, start_correct)| {
            let outcome = search(&start_correct(), 2);
            outcome
                .faults
                .into_iter()
                .map(|(fault, _)| format!("{}: {:?} {}", sut.name, fault.kind, fault.detail))
        })
        .collect();
    assert_eq!(accused, [] as [String; 0]);
}

#[test]
fn unusual_ways_of_being_correct_are_not_accused() {
    let mut accused = Vec::new();
    for sut in &UNUSUAL {
        for seed in 1..3 {
            let outcome = search(&(sut.start)(), seed);
            assert!(outcome.covered > 10, "{}: {}", sut.name, outcome.covered);
            accused.extend(outcome.faults.into_iter().map(|(fault, _)| {
                format!("{} ({seed}): {:?} {}", sut.name, fault.kind, fault.detail)
            }));
        }
    }
    assert_eq!(accused, [] as [String; 0]);
}
