//! Every operation is called and succeeds, also where the document says little.

mod support;

use isobath_exec::http::{Client, ClientConfig as HttpConfig};
use isobath_rest::auth::User;
use isobath_rest::candidate::StepKind;
use isobath_rest::job::{RunResult, call_disruptive};
use isobath_rest::probe::ProbeConfig;
use isobath_suts::Running;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use support::{Plan, Prepared};

fn prepared(service: &Running, seed: u64, calls: u64) -> Prepared {
    prepared_at(&service.url, service, seed, calls)
}

fn prepared_at(url: &str, service: &Running, seed: u64, calls: u64) -> Prepared {
    let headers = vec![("Authorization".into(), "Bearer token-ada".into())];
    let document = service.openapi.to_string();
    Prepared::new(&Plan {
        url,
        document: &document,
        users: &[User::with_headers("ada", headers)],
        reset: None,
        calls,
        seed,
        probes: ProbeConfig::default(),
    })
}

/// The names of the operations for whose statuses something holds.
fn operations(
    service: &Running,
    result: &RunResult,
    holds: impl Fn(&[u16]) -> bool,
) -> Vec<String> {
    let document = service.openapi.to_string();
    let api =
        isobath_rest::openapi::read(&document, "openapi.json", &isobath_rest::openapi::NoLoader)
            .expect("a document");
    let statuses = result.statuses.iter().zip(&api.operations);
    statuses
        .filter(|(statuses, _)| holds(&statuses.keys().copied().collect::<Vec<_>>()))
        .map(|(_, operation)| operation.name())
        .collect()
}

fn has_success(statuses: &[u16]) -> bool {
    statuses.iter().any(|status| (200..300).contains(status))
}

#[test]
fn a_terse_document_is_made_up_for_by_users_names_and_error_responses() {
    let mut complete = 0;
    let mut missing = Vec::new();
    for seed in 1..=5 {
        let service = isobath_suts::terse::terse();
        let result = prepared(&service, seed, 1_500).run();
        let failed = operations(&service, &result, |statuses| !has_success(statuses));
        // What ends the session is kept for last, by whoever runs the job.
        complete += u32::from(failed == ["POST /session/logout"]);
        missing.push(failed);
        // Whoever is refused at the door is refused with a 401.
        let refused = operations(&service, &result, |statuses| statuses.contains(&401));
        assert!(refused.len() >= 5, "seed {seed}: {refused:?}");
        let disruptive = &result.disruptive;
        assert!(
            disruptive.iter().all(|(_, status)| *status == 503),
            "{disruptive:?}"
        );
    }
    assert!(complete >= 4, "{missing:?}");
}

#[test]
fn identifiers_are_taken_from_links_in_responses() {
    let mut with_link = 0;
    for seed in 1..=5 {
        let service = isobath_suts::terse::pastes();
        let result = prepared(&service, seed, 200).run();
        let failed = operations(&service, &result, |statuses| !has_success(statuses));
        assert!(failed.is_empty(), "seed {seed}: {failed:?}");
        let steps = result.tests.iter().flat_map(|test| &test.candidate.steps);
        let mut references = steps.flat_map(|step| match &step.kind {
            StepKind::Call { action, .. } => action.gene.references(),
            StepKind::Follow(_) => Vec::new(),
        });
        with_link +=
            u32::from(references.any(|(pointer, reference)| {
                pointer == "/path/file" && &*reference.place == "link"
            }));
    }
    assert!(
        with_link >= 4,
        "tests with the link on {with_link} of 5 seeds"
    );
}

#[test]
fn calls_that_are_mostly_refused_or_tripped_over_follow_the_first_pass() {
    for seed in 1..=5 {
        let service = isobath_suts::terse::pages();
        let result = prepared(&service, seed, 60).run();
        let statuses: Vec<u16> = result.statuses[0].keys().copied().collect();
        // A version that is refused, a content type, a malformed body, a wrong value, a limit of zero.
        for status in [400, 415, 418, 422, 500] {
            assert!(statuses.contains(&status), "seed {seed}: {statuses:?}");
        }
        // Nobody has to document that a malformed body or one of another type is refused.
        let causes: Vec<&str> = result
            .faults
            .iter()
            .map(|(fault, _)| &*fault.cause)
            .collect();
        assert!(
            !causes.iter().any(|cause| cause.contains("41")),
            "seed {seed}: {causes:?}"
        );
    }
}

#[test]
fn a_wrong_base_url_ends_the_run_after_the_first_pass_without_faults() {
    let service = isobath_suts::terse::terse();
    let url = format!("{}/elsewhere", service.url);
    let result = prepared_at(&url, &service, 1, 600).run();
    assert_eq!(result.uniform_answer, Some(404));
    assert!(result.calls < 30, "{} calls", result.calls);
    assert!(result.faults.is_empty() && result.tests.is_empty());
}

#[test]
fn every_operation_is_called_before_anything_is_tried_twice() {
    let service = isobath_suts::terse::terse();
    // One call for each operation but the one that is kept for last.
    let result = prepared(&service, 1, 6).run();
    let called = operations(&service, &result, |statuses| !statuses.is_empty());
    assert_eq!(called.len(), 6, "{called:?}");
}

#[test]
fn a_slow_service_with_many_operations_is_called_everywhere_before_the_budget_ends() {
    let (service, calls) = isobath_suts::wide::wide();
    let mut prepared = prepared(&service, 1, 0);
    // 300 ms a call for 60 s, by a clock that the service moves.
    let clock = Arc::clone(&calls);
    prepared.config.calls = None;
    prepared.config.elapsed = Arc::new(move || clock.load(Ordering::Relaxed) as f64 * 0.3 / 60.0);
    let result = prepared.run();
    let called = operations(&service, &result, |statuses| !statuses.is_empty());
    assert_eq!(called.len(), 200);
    let calls = calls.load(Ordering::Relaxed);
    assert!(calls <= 210, "{calls} calls exceed the budget");
}

#[test]
fn disruptive_operations_are_called_last_of_all() {
    let service = isobath_suts::terse::terse();
    let prepared = prepared(&service, 1, 6);
    let client = |flag: &Arc<std::sync::atomic::AtomicBool>| {
        Client::new(HttpConfig {
            interrupt: Some(Arc::clone(flag)),
            ..HttpConfig::default()
        })
    };
    let statuses = call_disruptive(&Arc::new(prepared.service), &client, 1).expect("a client");
    let statuses: Vec<u16> = statuses.into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [204]);
}
