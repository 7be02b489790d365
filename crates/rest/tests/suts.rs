//! Every fault that has a service of its own is found there, and its correct twin is not accused.

mod support;

use isobath_rest::auth::User;
use isobath_rest::fault::FaultKind;
use isobath_rest::job::Outcome;
use isobath_rest::probe::Choice;
use isobath_suts::{ALL, Running, Sut};

use support::Plan;

fn search(service: &Running, seed: u64) -> Outcome {
    let bearer = |name: &str| {
        User::with_headers(
            name,
            vec![("Authorization".into(), format!("Bearer token-{name}"))],
        )
    };
    let users = [bearer("ada"), bearer("grace")];
    let document = service.openapi.to_string();
    let plan = Plan {
        url: &service.url,
        document: &document,
        users: &users,
        reset: None,
        calls: 3_000,
        seed,
        probes: Choice::default(),
    };
    support::search(&plan)
}

/// The kind that a service was made to show.
fn planted(name: &str) -> FaultKind {
    match name {
        "delete_keeps" => FaultKind::DeleteWithoutEffect,
        "put_appends" => FaultKind::PutNotIdempotent,
        "failed_put_writes" => FaultKind::FailedUpdateChangedState,
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
            let outcome = search(&(sut.start)(), 1);
            let kind = planted(sut.name);
            let found: Vec<FaultKind> =
                outcome.faults.iter().map(|(fault, _)| fault.kind).collect();
            (!found.contains(&kind)).then(|| format!("{}: {kind:?} not among {found:?}", sut.name))
        })
        .collect();
    assert_eq!(missed, [] as [String; 0]);
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
