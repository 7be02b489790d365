//! Runs the job on a service that is up.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use isobath_exec::http::{Client, Config as HttpConfig, Method, Request};
use isobath_rest::auth::User;
use isobath_rest::caller::{ResetCall, Service};
use isobath_rest::job::{Config, Outcome, run};
use isobath_rest::openapi::{self, NoLoader};
use isobath_rest::probe::Choice;
use isobath_rest::problem::Habits;
use isobath_rest::session::Session;

fn client() -> std::io::Result<Client> {
    Client::new(HttpConfig::default())
}

/// What is searched, and for how long.
pub(crate) struct Plan<'a> {
    /// Where the service is.
    pub(crate) url: &'a str,
    /// Its document.
    pub(crate) document: &'a str,
    /// Its users.
    pub(crate) users: &'a [User],
    /// The path that brings the first state back.
    pub(crate) reset: Option<&'a str>,
    /// The most calls.
    pub(crate) calls: u64,
    /// Where chance begins.
    pub(crate) seed: u64,
    /// Which probes are made.
    pub(crate) probes: Choice,
}

/// Runs the job with one worker and no clock.
pub(crate) fn search(plan: &Plan<'_>) -> Outcome {
    let api = openapi::read(plan.document, "openapi.yaml", &NoLoader).expect("a good document");
    let mut first = client().expect("a client");
    let open = |user| Session::open(&mut first, plan.url, user, 1).expect("a log-in");
    let sessions = plan.users.iter().map(open).collect();
    let reset = plan.reset.map(|path| ResetCall {
        request: Request::new(Method::POST, format!("{}{path}", plan.url)),
    });
    let service = Arc::new(Service {
        api: Arc::new(api),
        base: plan.url.to_owned(),
        sessions,
        reset,
        feedback: None,
    });
    let config = Config {
        search: isobath_search::Config {
            seed: plan.seed,
            ..isobath_search::Config::default()
        },
        calls: Some(plan.calls),
        elapsed: Arc::new(|| 0.0),
        interrupt: Arc::new(AtomicBool::new(false)),
        workers: 1,
        habits: Habits::default(),
        off: BTreeSet::new(),
        probes: plan.probes,
    };
    run(&service, &client, &config, |_: &isobath_search::Event| {}).expect("a client")
}
