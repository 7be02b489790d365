//! Every operation is called and succeeds, also where the document says little.

mod support;

use isobath_exec::http::{Client, ClientConfig as HttpConfig};
use isobath_rest::auth::User;
use isobath_rest::job::{RunResult, call_disruptive};
use isobath_rest::probe::ProbeConfig;
use isobath_suts::Running;
use std::sync::Arc;
use support::{Plan, Prepared};

fn prepared(service: &Running, seed: u64, calls: u64) -> Prepared {
    let headers = vec![("Authorization".into(), "Bearer token-ada".into())];
    let document = service.openapi.to_string();
    Prepared::new(&Plan {
        url: &service.url,
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
        let result = prepared(&service, seed, 600).run();
        let failed = operations(&service, &result, |statuses| !has_success(statuses));
        // What ends the session is kept for last, by whoever runs the job.
        complete += u32::from(failed == ["POST /session/logout"]);
        missing.push(failed);
        // Whoever is refused at the door is refused with a 401.
        let refused = operations(&service, &result, |statuses| statuses.contains(&401));
        assert!(refused.len() >= 6, "seed {seed}: {refused:?}");
        let disruptive = &result.disruptive;
        assert!(
            disruptive.iter().all(|(_, status)| *status == 503),
            "{disruptive:?}"
        );
    }
    assert!(complete >= 4, "{missing:?}");
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
