//! Users that must be created, tokens that expire, ids that are only in a Location header.

#[path = "../../emit/tests/http_runner/mod.rs"]
mod http_runner;
mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use isobath_emit::http::{ExpectedOutcome, ValueSource, curl};
use isobath_exec::http::{Client, ClientConfig as HttpConfig, Method};
use isobath_genes::{Gene, GeneConfig};
use isobath_rest::auth::{self, Format};
use isobath_rest::caller::Caller;
use isobath_rest::candidate::{Candidate, StepKind};
use isobath_rest::exchange::Exchange;
use isobath_rest::job::call_disruptive;
use isobath_rest::probe::ProbeConfig;
use isobath_rest::session::Session;
use isobath_search::Rng;
use isobath_suts::{accounts, password, renaming};

use support::{Plan, Prepared};

const AUTH: &str = r#"
authTemplate:
  createUsers:
    endpoint: /users
    verb: POST
    contentType: application/json
    payloadRaw: '{"name": "{name}", "password": "pass-{name}"}'
    generators: [{ placeHolder: "{name}", minLength: 4, prefix: "user-" }]
  loginEndpointAuth:
    endpoint: /login
    verb: POST
    contentType: application/json
    payloadRaw: '{"name": "{name}", "password": "pass-{name}"}'
    token: { extractFrom: body, extractSelector: /token, sendIn: header, sendName: Authorization, sendTemplate: "Bearer {token}" }
auth:
  - name: ada
  - name: grace
"#;

#[test]
fn who_logged_out_is_logged_in_again_and_that_is_told() {
    let service = accounts::start();
    let users = auth::read(AUTH, Format::Yaml).expect("a good file");
    let document = service.openapi.to_string();
    let prepared = Prepared::new(&Plan {
        url: &service.url,
        document: &document,
        users: &users,
        reset: None,
        calls: 1,
        seed: 1,
        probes: ProbeConfig::default(),
    });
    let service = Arc::new(prepared.service);
    let client = Client::new(HttpConfig::default()).expect("a client");
    let mut caller = Caller::new(Arc::clone(&service), client);
    let mut run = |operations: &[&str]| {
        let mut rng = Rng::with_seed(1);
        let mut candidate = Candidate::default();
        for id in operations {
            let mut all = service.api.operations.iter();
            let at = all.position(|operation| operation.name() == *id);
            let at = at.expect("an operation of the document");
            let (model, input) = (&service.api.model, service.api.operations[at].input);
            let gene = Gene::sample(model, input, &mut rng, &GeneConfig::default());
            candidate.push(StepKind::call(at, gene), Some(0));
        }
        let exchanges = caller.run(&candidate).expect("the service is up");
        let told = |exchange: &Exchange| (exchange.status(), exchange.reauthenticated);
        exchanges.iter().map(told).collect::<Vec<_>>()
    };
    let (made, gone) = (Some(201), Some(204));
    assert_eq!(
        run(&["POST /notes", "POST /logout", "POST /notes"]),
        [(made, false), (gone, false), (made, true)]
    );
    assert_eq!(
        run(&["POST /notes", "POST /notes"]),
        [(made, false), (made, false)]
    );
}

#[test]
fn a_password_is_proven_once_unless_cookies_change_what_is_allowed() {
    let service = password::start();
    let header = (
        "Authorization".to_owned(),
        password::AUTHORIZATION.to_owned(),
    );
    let users = [auth::User::with_headers("ada", vec![header])];
    let document = service.openapi.to_string();
    let prepared = Prepared::new(&Plan {
        url: &service.url,
        document: &document,
        users: &users,
        reset: None,
        calls: 1,
        seed: 1,
        probes: ProbeConfig::default(),
    });
    let service = Arc::new(prepared.service);
    let client = Client::new(HttpConfig::default()).expect("a client");
    let mut caller = Caller::new(Arc::clone(&service), client);
    let [read, update] = ["read", "update"].map(|id| {
        let mut all = service.api.operations.iter();
        all.position(|operation| operation.operation_id.as_deref() == Some(id))
            .expect("an operation of the document")
    });
    let mut rng = Rng::with_seed(1);
    let mut run = |operations: &[usize]| {
        let mut candidate = Candidate::default();
        for &at in operations {
            let (model, input) = (&service.api.model, service.api.operations[at].input);
            let gene = Gene::sample(model, input, &mut rng, &GeneConfig::default());
            candidate.push(StepKind::call(at, gene), Some(0));
        }
        let exchanges = caller.run(&candidate).expect("the service is up");
        let told = |exchange: &Exchange| {
            let response = exchange.response().expect("a response");
            let body: Option<serde_json::Value> = serde_json::from_slice(&response.body).ok();
            (
                response.status,
                body.and_then(|body| body["checks"].as_u64()),
            )
        };
        exchanges.iter().map(told).collect::<Vec<_>>()
    };
    // The session of the first call is good for the others.
    let checked = |times| (200, Some(times));
    assert_eq!(run(&[read, read, read]), [checked(1); 3]);
    // The update is refused within a session, so cookies are left out from then on.
    let updated = (204, None);
    assert_eq!(
        run(&[update, read, read]),
        [updated, checked(2), checked(3)]
    );
}

#[test]
fn suites_create_their_users_and_read_ids_from_locations() {
    let service = accounts::start();
    let users = auth::read(AUTH, Format::Yaml).expect("a good file");
    let document = service.openapi.to_string();
    let plan = Plan {
        url: &service.url,
        document: &document,
        users: &users,
        reset: None,
        calls: 2_000,
        seed: 1,
        probes: ProbeConfig::default(),
    };
    let (outcome, suite) = support::search_and_write(&plan, "accounts");
    let seen = |operation: usize, status: u16| {
        let statuses = &outcome.statuses[operation];
        statuses.get(&status).copied().unwrap_or_default()
    };
    // A token is good for 15 calls only.
    assert!(seen(2, 201) > 50, "{:?}", outcome.statuses);
    assert!(seen(3, 200) > 20, "{:?}", outcome.statuses);
    // The search does not log out; that is done once, after everything else.
    assert_eq!(outcome.statuses[4].len(), 0, "{:?}", outcome.statuses);
    let client = |_: &Arc<AtomicBool>| Client::new(HttpConfig::default());
    let prepared = Arc::new(Prepared::new(&plan).service);
    let last = call_disruptive(&prepared, &client, 1).expect("a client");
    assert_eq!(last, [(4, 204)]);
    assert_eq!(outcome.faults.len(), 0, "{:?}", outcome.faults);

    let read: Vec<_> = suite
        .tests
        .iter()
        .filter(|test| {
            let last = test.steps.last().expect("a test has steps");
            last.request.method == "GET"
                && matches!(&last.expect, ExpectedOutcome::Response(answer) if answer.status == 200)
        })
        .collect();
    assert!(!read.is_empty(), "no test reads a note");
    for test in &read {
        let sources: BTreeSet<String> = test
            .steps
            .iter()
            .flat_map(|step| &step.captures)
            .map(|capture| format!("{:?}", capture.from))
            .collect();
        let expected = format!(
            "{:?}",
            ValueSource::LastSegment(Box::new(ValueSource::Header("Location".into())))
        );
        assert!(sources.contains(&expected), "{sources:?}");
        let script = curl(&suite, test);
        assert!(
            script.contains("/users") && !script.contains("user-u"),
            "{script}"
        );
    }
    for (language, tool, probe) in [
        ("pytest", "python3", ["-c", "import pytest, requests"]),
        ("js", "node", ["--test-reporter=junit", "--version"]),
    ] {
        if !support::may_have(tool, &probe) {
            continue;
        }
        for (id, result) in http_runner::run(language, &suite) {
            assert!(result.passed, "{language}: {id} fails: {}", result.message);
        }
    }
}

#[test]
fn what_a_user_logs_in_with_is_put_back_and_no_test_changes_it() {
    let service = renaming::start();
    let file = r#"
auth:
  - name: ada
    loginEndpointAuth:
      endpoint: /login
      verb: POST
      contentType: application/json
      payloadRaw: '{"username": "ada@example.org", "password": "engine"}'
      token: { extractFrom: body, extractSelector: /token, sendIn: header, sendName: Authorization, sendTemplate: "Bearer {token}" }
"#;
    let users = auth::read(file, Format::Yaml).expect("a good file");
    let document = service.openapi.to_string();
    let plan = Plan {
        url: &service.url,
        document: &document,
        users: &users,
        reset: None,
        calls: 400,
        seed: 1,
        probes: ProbeConfig::default(),
    };
    let (outcome, _) = support::search_and_write(&plan, "renaming");
    assert_eq!(outcome.login_changes, [2], "{:?}", outcome.statuses);
    let mut client = Client::new(HttpConfig::default()).expect("a client");
    Session::open(&mut client, &service.url, &users[0], 0).expect("the user can log in");
    let renames = |exchange: &&Exchange| {
        let body = exchange.sent.as_ref().and_then(|sent| sent.get("body"));
        let has = |name: &str| body.and_then(|body| body.get(name)?.as_str()).is_some();
        let is_update = exchange.request.method == Method::PATCH && exchange.succeeded();
        is_update && (has("email") || has("new_password"))
    };
    let tests = outcome.tests.iter();
    let renaming: Vec<_> = tests
        .flat_map(|test| test.exchanges.iter().filter(renames))
        .collect();
    assert!(renaming.is_empty(), "{renaming:?}");
}
