//! Runs the job on a service that is up.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test file uses a part of this"
)]

mod place;
mod results;

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use isobath_emit::http::HttpSuite;
use isobath_exec::driver::Event as Statement;
use isobath_exec::http::{Client, ClientConfig as HttpConfig, Method, Request};
use isobath_exec::test_database::TestDatabase;
use isobath_rest::auth::User;
use isobath_rest::caller::{ResetCall, Service};
use isobath_rest::feedback::{Feedback, JournalFeedback};
use isobath_rest::job::{Config, Event, RunResult, run};
use isobath_rest::openapi::{self, NoLoader};
use isobath_rest::probe::ProbeConfig;
use isobath_rest::seeding::{self, LiveDatabase};
use isobath_rest::session::Session;
use isobath_rest::suite;
use isobath_rest::supervisor::{Restart, Supervisor};
use isobath_suts::Running;

pub(crate) use place::{Place, on_each};
pub(crate) use results::results;

/// What is searched, and for how long.
pub(crate) struct Plan<'a> {
    /// Where the service is.
    pub(crate) url: &'a str,
    /// Its document.
    pub(crate) document: &'a str,
    /// Its users.
    pub(crate) users: &'a [User],
    /// The path of the reset request.
    pub(crate) reset: Option<&'a str>,
    /// The most calls.
    pub(crate) calls: u64,
    /// Random seed.
    pub(crate) seed: u64,
    /// Which probes are made.
    pub(crate) probes: ProbeConfig,
}

/// A run that is about to begin; its parts may be changed before.
pub(crate) struct Prepared {
    /// What is called.
    pub(crate) service: Service,
    /// What the run may do.
    pub(crate) config: Config,
    /// How long a call may take.
    pub(crate) timeout: Duration,
}

impl Prepared {
    /// A run with one worker and no clock.
    pub(crate) fn new(plan: &Plan<'_>) -> Self {
        let api = openapi::read(plan.document, "openapi.yaml", &NoLoader).expect("a good document");
        let mut first = Client::new(HttpConfig::default()).expect("a client");
        let open = |(number, user): (usize, &User)| {
            Session::open(&mut first, plan.url, user, number as u64).expect("a log-in")
        };
        let sessions: Vec<Session> = plan.users.iter().enumerate().map(open).collect();
        let reset = plan.reset.map(|path| ResetCall {
            request: Request::new(Method::POST, format!("{}{path}", plan.url)),
        });
        let mut config = Config::single_worker(plan.seed, plan.calls);
        config.probes = plan.probes;
        Self {
            service: Service {
                api: Arc::new(api),
                base: plan.url.to_owned(),
                supervisor: Supervisor::new(sessions.clone()),
                sessions,
                reset,
                feedback: None,
                database: None,
                mocks: None,
                first_looks: Default::default(),
            },
            config,
            timeout: Duration::from_secs(10),
        }
    }

    /// The same run with somebody who brings the service back.
    pub(crate) fn with_restart(mut self, restart: Box<Restart>) -> Self {
        self.service.supervisor =
            Supervisor::new(self.service.sessions.clone()).with_restart(restart);
        self
    }

    /// The same run with the database of a service, and with the statements that it writes down.
    pub(crate) fn with_database(self, running: &Running, choice: seeding::SeedingConfig) -> Self {
        let path = running.database.as_ref().expect("a database");
        let told = told(running);
        self.with_seeder(&format!("sqlite:{path}"), choice, Some(told))
    }

    /// The same run with a database whose statements are not seen.
    pub(crate) fn with_rows(self, address: &str) -> Self {
        self.with_seeder(address, seeding::SeedingConfig::default(), None)
    }

    /// The same run with a database, and with whoever tells the statements of the service.
    pub(crate) fn with_seeder(
        mut self,
        address: &str,
        choice: seeding::SeedingConfig,
        ear: Option<Box<dyn Feedback>>,
    ) -> Self {
        let state = TestDatabase::open(address, &[address.to_owned()]).expect("a database");
        let now = jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0);
        self.service.database = Some(Mutex::new(LiveDatabase::new(
            state,
            now,
            choice,
            ear.is_some(),
        )));
        self.service.feedback = ear.map(Mutex::new);
        self
    }

    /// The same run with several workers.
    pub(crate) fn workers(mut self, workers: usize) -> Self {
        self.config.workers = workers;
        self.config.search.in_flight = workers * 2;
        self
    }

    /// Runs it.
    pub(crate) fn run(self) -> RunResult {
        self.run_telling(|_| {})
    }

    /// Runs it, and tells what happens.
    pub(crate) fn run_telling(self, tell: impl FnMut(&Event<'_>) + 'static) -> RunResult {
        self.run_for(tell).0
    }

    /// Runs it, and makes a suite of what it found.
    pub(crate) fn run_and_write(self, name: &str) -> (RunResult, HttpSuite) {
        let (outcome, suite, _) = self.run_and_keep(name);
        (outcome, suite)
    }

    /// The same; whoever told statements continues as long as what is given back.
    pub(crate) fn run_and_keep(self, name: &str) -> (RunResult, HttpSuite, Arc<Service>) {
        let (outcome, service) = self.run_for(|_| {});
        let suite = suite::suite(name, &service, &[], &outcome.tests, jiff::Timestamp::now());
        (outcome, suite, service)
    }

    /// Runs it, tells what happens, and gives back what was called.
    fn run_for(self, tell: impl FnMut(&Event<'_>) + 'static) -> (RunResult, Arc<Service>) {
        let timeout = self.timeout;
        let client = move |flag: &Arc<AtomicBool>| {
            Client::new(HttpConfig {
                timeout,
                interrupt: Some(Arc::clone(flag)),
                ..HttpConfig::default()
            })
        };
        let service = Arc::new(self.service);
        let outcome = run(&service, &client, &self.config, tell).expect("a client");
        (outcome, service)
    }
}

/// Who tells the statements of a service that writes them down.
fn told(running: &Running) -> Box<dyn Feedback> {
    let journal = running.journal.clone();
    Box::new(JournalFeedback::new(move |action| {
        let ran = journal.take().into_iter();
        let told = ran.map(|ran| Statement::Statement {
            action,
            database: "sqlite".into(),
            text: ran.text,
            rows: ran.rows,
            failure: ran.failure,
        });
        told.collect()
    }))
}

/// Runs the job with one worker and no clock.
pub(crate) fn search(plan: &Plan<'_>) -> RunResult {
    Prepared::new(plan).run()
}

/// The same, with the suite of what it found.
pub(crate) fn search_and_write(plan: &Plan<'_>, name: &str) -> (RunResult, HttpSuite) {
    let (outcome, service) = Prepared::new(plan).run_for(|_| {});
    let suite = suite::suite(
        name,
        &service,
        plan.users,
        &outcome.tests,
        jiff::Timestamp::now(),
    );
    (outcome, suite)
}

/// Whether a tool is there; it has to be where everything is required.
pub(crate) fn has(tool: &str, probe: &[&str]) -> bool {
    let works = may_have(tool, probe);
    let required = std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_some();
    assert!(
        works || !required,
        "`{tool} {}` does not work",
        probe.join(" ")
    );
    works
}

/// Whether a tool is there that may always be missing.
pub(crate) fn may_have(tool: &str, probe: &[&str]) -> bool {
    let found = Command::new(tool).args(probe).output();
    found.is_ok_and(|output| output.status.success())
}
