//! Runs against failing services end, and keep their results.

mod mortal;
mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use isobath_rest::fault::FaultKind;
use isobath_rest::job::{Event, RunResult};
use isobath_rest::probe::ProbeConfig;
use isobath_rest::supervisor::Restarted;
use isobath_suts::bad_day::{self, Manner};

use mortal::Mortal;
use support::{Plan, Prepared};

const DOCUMENT: &str = r#"
openapi: 3.0.3
info: {title: Things, version: '1'}
paths:
  /things:
    get:
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 50}}]
      responses: {default: {description: whatever}}
    post:
      requestBody:
        content:
          application/json:
            schema: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}
      responses: {default: {description: whatever}}
  /things/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {default: {description: whatever}}
    delete:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {default: {description: whatever}}
"#;

fn prepared(url: &str, calls: u64) -> Prepared {
    prepared_with(DOCUMENT, url, calls)
}

fn prepared_with(document: &str, url: &str, calls: u64) -> Prepared {
    let mut prepared = Prepared::new(&Plan {
        url,
        document,
        users: &[],
        reset: None,
        calls,
        seed: 1,
        probes: ProbeConfig::default(),
    });
    // These services look at nothing that they are sent.
    prepared.config.disabled = BTreeSet::from([
        FaultKind::InvalidInputAccepted,
        FaultKind::DeleteWithoutEffect,
    ]);
    prepared
}

fn run_on(manner: Manner, calls: u64) -> RunResult {
    prepared(&bad_day::start(manner).url, calls).run()
}

fn kinds(outcome: &RunResult) -> BTreeSet<FaultKind> {
    outcome.faults.iter().map(|(fault, _)| fault.kind).collect()
}

fn statuses(outcome: &RunResult) -> BTreeSet<u16> {
    let all = outcome
        .statuses
        .iter()
        .flat_map(|seen| seen.keys().copied());
    all.collect()
}

/// A run that came to its end, with the same answer throughout and no fault.
fn check_calm(manner: Manner, calls: u64, status: u16) {
    let outcome = run_on(manner, calls);
    assert!(outcome.lost.is_none(), "{manner:?}: {:?}", outcome.lost);
    assert_eq!(kinds(&outcome), BTreeSet::new(), "{manner:?}");
    assert_eq!(statuses(&outcome), BTreeSet::from([status]), "{manner:?}");
    assert!(outcome.calls >= calls / 2, "{manner:?}: {}", outcome.calls);
    assert!(!outcome.tests.is_empty(), "{manner:?}");
}

/// A run that stopped after the first pass, because every operation gives the same refusal.
fn check_stopped(manner: Manner, status: u16) {
    let outcome = run_on(manner, 200);
    assert!(outcome.lost.is_none(), "{manner:?}: {:?}", outcome.lost);
    assert_eq!(outcome.uniform_answer, Some(status), "{manner:?}");
    assert!(outcome.calls < 20, "{manner:?}: {}", outcome.calls);
    assert!(
        outcome.faults.is_empty() && outcome.tests.is_empty(),
        "{manner:?}"
    );
}

/// A run that came to its end, where every operation shows the same fault, with a test for each.
fn check_faulty(manner: Manner, kind: FaultKind) {
    let outcome = run_on(manner, 200);
    assert!(outcome.lost.is_none(), "{manner:?}: {:?}", outcome.lost);
    assert_eq!(kinds(&outcome), BTreeSet::from([kind]), "{manner:?}");
    assert_eq!(outcome.faults.len(), 4, "{manner:?}");
    assert!(outcome.faults.iter().all(|(_, test)| test.is_some()));
}

#[test]
fn closing_after_each_answer_is_no_fault() {
    check_calm(Manner::Fine, 200, 200);
    check_calm(Manner::CloseAfterAnswer, 200, 200);
}

#[test]
fn closing_every_connection_is_a_fault_of_each_operation() {
    check_faulty(Manner::CloseUnanswered, FaultKind::ConnectionDropped);
}

#[test]
fn half_an_answer_is_none() {
    check_faulty(Manner::DropInBody, FaultKind::ConnectionDropped);
}

#[test]
fn garbage_is_a_fault_of_each_operation() {
    check_faulty(Manner::Garbage, FaultKind::ConnectionDropped);
    check_faulty(Manner::EndlessHeaders, FaultKind::ConnectionDropped);
}

#[test]
fn connections_that_are_dropped_now_and_then_do_not_end_the_run() {
    let outcome = run_on(Manner::CloseEverySecond, 200);
    assert!(outcome.lost.is_none());
    assert_eq!(statuses(&outcome), BTreeSet::from([200]));
}

#[test]
fn a_service_that_stops_answering_ends_the_run_with_what_it_has() {
    for manner in [Manner::Hang, Manner::HangInBody] {
        let service = bad_day::start(manner);
        let mut prepared = prepared(&service.url, 1_000_000);
        prepared.timeout = Duration::from_millis(50);
        let outcome = prepared.run();
        let lost = outcome.lost.as_ref().expect("nothing is answered");
        assert!(lost.to_string().contains("stopped responding"), "{lost}");
        assert_eq!(kinds(&outcome), BTreeSet::from([FaultKind::TimedOut]));
        assert!(outcome.calls < 100, "{}", outcome.calls);
    }
}

#[test]
fn huge_bodies_and_bombs_are_cut() {
    check_calm(Manner::HugeBody, 60, 200);
    check_calm(Manner::GzipBomb, 60, 200);
    check_calm(Manner::LyingEncoding, 200, 200);
}

#[test]
fn redirections_in_circles_are_not_followed() {
    check_stopped(Manner::RedirectCircle, 302);
}

#[test]
fn who_asks_to_wait_is_waited_for_and_who_asks_too_much_is_not() {
    let manner = |retry_after, times| Manner::TooManyRequests { retry_after, times };
    check_calm(manner(0, 3), 100, 200);
    check_stopped(manner(3_600, usize::MAX), 429);
}

#[test]
fn a_service_that_was_never_there_is_lost_at_once() {
    let url = bad_day::start(Manner::Fine).url.clone();
    let outcome = prepared(&url, 100).run();
    let lost = outcome.lost.expect("nobody listens");
    assert!(lost.to_string().contains("refused"), "{lost}");
    assert_eq!(outcome.calls, 0);
}

#[test]
fn without_anybody_to_bring_it_back_a_death_ends_the_run_and_is_a_finding() {
    let mortal = Mortal::dying_of("DELETE");
    let outcome = prepared(&mortal.url(), 5_000).run();
    assert!(outcome.lost.is_some());
    assert_eq!(kinds(&outcome), BTreeSet::from([FaultKind::ServiceDied]));
    let (fault, test) = &outcome.faults[0];
    assert_eq!(fault.operation, "DELETE /things/{id}");
    assert_eq!(*test, None, "nobody could run it again");
    assert!(outcome.covered > 0 && outcome.calls > 0);
}

#[test]
fn a_service_that_is_brought_back_is_searched_to_the_end() {
    for workers in [1, 4] {
        let mortal = Arc::new(Mortal::dying_of("DELETE"));
        let again = Arc::clone(&mortal);
        let restart = move || {
            again.rise();
            Ok(Restarted {
                sessions: Vec::new(),
                exit_reason: "thread 'main' panicked at src/things.rs:7:9:\nno such thing".into(),
            })
        };
        let outcome = prepared(&mortal.url(), 600)
            .with_restart(Box::new(restart))
            .workers(workers)
            .run();
        assert!(outcome.lost.is_none(), "{:?}", outcome.lost);
        assert_eq!(kinds(&outcome), BTreeSet::from([FaultKind::ServiceDied]));
        let (fault, test) = &outcome.faults[0];
        assert!(fault.cause.contains("src/things.rs"), "{}", fault.cause);
        let shown = &outcome.tests[test.expect("it can be shown again")];
        assert!(
            shown
                .exchanges
                .last()
                .is_some_and(|last| last.fatal.is_some())
        );
        assert!(outcome.crashes.iter().all(|crash| crash.is_restarted));
        assert!(outcome.crashes.len() >= 2, "{:?}", outcome.crashes);
        assert!(outcome.calls >= 300, "{}", outcome.calls);
    }
}

#[test]
fn a_death_that_no_call_explains_is_a_finding_too() {
    let mortal = Arc::new(Mortal::dying_after(40));
    let again = Arc::clone(&mortal);
    let restart = move || {
        again.rise();
        Ok(Restarted::default())
    };
    let outcome = prepared(&mortal.url(), 600)
        .with_restart(Box::new(restart))
        .run();
    assert!(outcome.lost.is_none());
    assert!(!outcome.crashes.is_empty());
    assert_eq!(kinds(&outcome), BTreeSet::from([FaultKind::ServiceDied]));
}

#[test]
fn a_service_that_cannot_be_brought_back_is_lost_with_the_reason() {
    let mortal = Mortal::dying_of("DELETE");
    let outcome = prepared(&mortal.url(), 5_000)
        .with_restart(Box::new(|| Err("the disk is full".into())))
        .run();
    let lost = outcome.lost.expect("it is gone").to_string();
    assert!(lost.contains("the disk is full"), "{lost}");
}

#[test]
fn an_interruption_at_any_moment_leaves_tests() {
    for moment in [1, 20, 150, 240] {
        let service = bad_day::start(Manner::Fine);
        let prepared = prepared(&service.url, 300);
        let interrupt = Arc::clone(&prepared.config.interrupt);
        let outcome = prepared.run_telling(move |event| {
            if matches!(event, Event::Progress { calls, .. } if *calls >= moment) {
                interrupt.store(true, Ordering::Relaxed);
            }
        });
        assert!(outcome.interrupted, "after {moment} calls");
        assert!(!outcome.tests.is_empty(), "after {moment} calls");
        let calls = outcome.tests.iter().flat_map(|test| &test.exchanges);
        assert!(calls.clone().count() > 0);
        assert!(calls.clone().all(|call| call.status() == Some(200)));
    }
}

#[test]
fn a_second_interruption_leaves_at_least_the_numbers() {
    let service = bad_day::start(Manner::Fine);
    let prepared = prepared(&service.url, 300);
    let flags = [&prepared.config.interrupt, &prepared.config.stop].map(Arc::clone);
    let outcome = prepared.run_telling(move |event| {
        if matches!(event, Event::Progress { calls, .. } if *calls >= 50) {
            flags
                .iter()
                .for_each(|flag| flag.store(true, Ordering::Relaxed));
        }
    });
    assert!(outcome.interrupted && outcome.covered > 0);
    assert!(outcome.unverified > 0 && outcome.tests.is_empty());
}

/// Runs the job on a service that is fine, with a document that is not; says how many operations it has, too.
fn run_with(document: &str, calls: u64) -> (usize, RunResult) {
    let service = bad_day::start(Manner::Fine);
    let prepared = prepared_with(document, &service.url, calls);
    let n_operations = prepared.service.api.operations.len();
    (n_operations, prepared.run())
}

#[test]
fn documents_that_go_in_circles_are_called_all_the_same() {
    let document = r#"
openapi: 3.1.0
info: {title: Circles, version: '1'}
components:
  schemas:
    A: {$ref: '#/components/schemas/B'}
    B: {$ref: '#/components/schemas/A'}
    Tree: {type: object, required: [left], properties: {left: {$ref: '#/components/schemas/Tree'}, all: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
    Both: {allOf: [{$ref: '#/components/schemas/Both'}, {type: object}]}
paths:
  /a: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}, responses: {default: {description: it}}}}
  /tree: {post: {requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Tree'}}}}, responses: {default: {description: it}}}}
  /both: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Both'}}}}, responses: {default: {description: it}}}}
  /self: {$ref: '#/paths/~1self'}
"#;
    let (n_operations, outcome) = run_with(document, 200);
    assert_eq!(n_operations, 3);
    assert!(outcome.lost.is_none());
    assert!(outcome.statuses.iter().all(|seen| seen.contains_key(&200)));
}

#[test]
fn ten_thousand_operations_are_no_reason_to_stop() {
    let paths: Vec<String> = (0..5_000)
        .map(|n| format!(r#""/things{n}/{{id}}":{{"get":{{"parameters":[{{"name":"id","in":"path","required":true,"schema":{{"type":"integer"}}}}],"responses":{{"default":{{"description":"it"}}}}}},"put":{{"parameters":[{{"name":"id","in":"path","required":true,"schema":{{"type":"integer"}}}}],"requestBody":{{"content":{{"application/json":{{"schema":{{"type":"object","properties":{{"name":{{"type":"string"}}}}}}}}}}}},"responses":{{"default":{{"description":"it"}}}}}}}}"#))
        .collect();
    let document = format!(
        r#"{{"openapi":"3.0.3","info":{{"title":"Many","version":"1"}},"paths":{{{}}}}}"#,
        paths.join(",")
    );
    let (n_operations, outcome) = run_with(&document, 300);
    assert_eq!(n_operations, 10_000);
    assert!(outcome.lost.is_none());
    let called = outcome.statuses.iter().filter(|seen| !seen.is_empty());
    assert!(called.count() > 20);
    assert!(!outcome.tests.is_empty());
}

#[test]
fn what_is_wrong_in_a_document_does_not_take_the_rest_with_it() {
    let document = r#"
openapi: 3.0.3
info: {title: Wrong}
paths:
  /good: {get: {responses: {default: {description: it}}}}
  /odd:
    get:
      parameters: [nonsense, {name: 5, in: query}, {name: q, in: nowhere, schema: {type: string}}, {name: n, in: query, schema: {type: integer, minimum: high, maximum: [], enum: 7}}]
      responses: 200
    post:
      requestBody: {content: {application/json: {schema: {type: 7, properties: [], required: yes, pattern: '(', minLength: -3}}}}
      responses: {'2000': {description: it}, default: none}
    put: 3
  /none:
  7: {get: {responses: {default: {description: it}}}}
"#;
    let (n_operations, outcome) = run_with(document, 200);
    assert!(n_operations >= 3, "{n_operations}");
    assert!(outcome.lost.is_none());
    assert!(outcome.statuses[0].contains_key(&200));
}

#[test]
fn a_document_that_lies_is_found_out() {
    let document = r#"
openapi: 3.0.3
info: {title: Lies, version: '1'}
paths:
  /a: {get: {responses: {'200': {description: a number, content: {application/json: {schema: {type: integer}}}}}}}
  /b: {get: {responses: {'204': {description: nothing}}}}
"#;
    let (_, outcome) = run_with(document, 100);
    assert_eq!(
        kinds(&outcome),
        BTreeSet::from([FaultKind::ResponseMismatch, FaultKind::UndocumentedStatus])
    );
    assert!(outcome.faults.iter().all(|(_, test)| test.is_some()));
}
