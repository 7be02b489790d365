//! Runs with a SQL tap, also with failures.

mod support;

use std::sync::Mutex;
use std::time::Duration;

use isobath_exec::database::Address;
use isobath_exec::driver::{Event, Target};
use isobath_exec::engine::Engine;
use isobath_exec::server::{Server, or_skip, shared, start};
use isobath_exec::tap::{Tap, environment};
use isobath_exec::{Database, connect_writable};
use isobath_rest::feedback::{CandidateTrace, Feedback, TapFeedback};
use isobath_rest::job::RunResult;
use isobath_rest::probe::ProbeConfig;
use isobath_suts::Running;
use isobath_suts::wired::{LEDGER, ledger};

use support::{Plan, Prepared};

/// A service on a database of its own, with a tap between them.
struct SolverContext {
    address: String,
    service: Running,
    feedback: TapFeedback,
}

impl SolverContext {
    fn new(server: &Server) -> Self {
        let address = server.create_database().expect("a database");
        open(&address).execute_required(LEDGER).expect("a table");
        let database = Address::parse(&address).expect("an address");
        let tap = Tap::open(&database, None).expect("a tap");
        let url = environment::url(&database, tap.at()).expect("an address at the tap");
        Self {
            address,
            service: ledger(&url, 0),
            feedback: TapFeedback::new(tap),
        }
    }

    /// Runs the job.
    fn run(self, calls: u64) -> RunResult {
        self.run_meddling(calls, Duration::from_secs(10), |_| {})
    }

    /// Runs the job with calls of so much time at most, doing something before each candidate.
    fn run_meddling(
        self,
        calls: u64,
        timeout: Duration,
        meddle: impl FnMut(u64) + Send + 'static,
    ) -> RunResult {
        let document = self.service.openapi.to_string();
        let plan = Plan {
            url: &self.service.url,
            document: &document,
            users: &[],
            reset: None,
            calls,
            seed: 1,
            probes: ProbeConfig::default(),
        };
        let mut prepared = Prepared::new(&plan);
        prepared.timeout = timeout;
        prepared.service.feedback = Some(Mutex::new(Box::new(Meddled {
            feedback: self.feedback,
            candidates: 0,
            meddle: Box::new(meddle),
        })));
        prepared.run()
    }
}

/// Does something before each candidate.
struct Meddled {
    feedback: TapFeedback,
    candidates: u64,
    meddle: Box<dyn FnMut(u64) + Send>,
}

impl std::fmt::Debug for Meddled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.feedback.fmt(f)
    }
}

impl Feedback for Meddled {
    fn targets(&self) -> &[Target] {
        self.feedback.targets()
    }

    fn begin(&mut self, inputs: Vec<String>) {
        self.candidates += 1;
        (self.meddle)(self.candidates);
        self.feedback.begin(inputs);
    }

    fn call(&mut self, number: u16) {
        self.feedback.call(number);
    }

    fn end(&mut self) -> CandidateTrace {
        self.feedback.end()
    }
}

fn open(address: &str) -> Box<dyn Database> {
    connect_writable(address, &[address.to_owned()]).expect("a connection")
}

fn on_each_server(what: &str, test: impl Fn(&Server)) {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        if let Some(server) = or_skip(&format!("{what} on {engine}"), shared(engine)) {
            test(server);
        }
    }
}

/// The evidence of all faults.
fn evidence(outcome: &RunResult) -> String {
    let faults = outcome.faults.iter();
    let lines = faults.map(|(fault, _)| format!("{fault:?}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn statements_belong_to_the_calls_that_sent_them() {
    on_each_server("statements of calls", |server| {
        let outcome = SolverContext::new(server).run(300);
        let mut inserts = 0;
        let mut selects = 0;
        for test in &outcome.tests {
            for exchange in &test.exchanges {
                for event in &exchange.trace.events {
                    let Event::Statement { text, database, .. } = event else {
                        continue;
                    };
                    assert!(["postgres", "mysql"].contains(&database.as_str()));
                    let is_post = exchange.request.method.as_str() == "POST";
                    if text.starts_with("INSERT") {
                        assert!(is_post, "{text}");
                        inserts += 1;
                    } else if text.contains("FROM account") {
                        assert!(!is_post, "{text}");
                        let id = text.rsplit("= ").next().expect("a value");
                        let id = id.trim_matches(['(', ')']);
                        assert!(exchange.request.url.ends_with(&format!("/{id}")), "{text}");
                        selects += 1;
                    }
                }
            }
        }
        assert!(inserts > 0 && selects > 0, "{inserts} {selects}");
        let faults = evidence(&outcome);
        for named in ["INSERT INTO account", "account_age", "CHECK"] {
            assert!(faults.contains(named), "{named} in {faults}");
        }
        assert!(
            outcome
                .statements
                .iter()
                .any(|text| text.contains("FROM account"))
        );
    });
}

/// Ends all connections to a database but our own.
fn cut(address: &str) {
    let name = address.rsplit('/').next().expect("a name");
    let mut database = open(address);
    if address.starts_with("postgres") {
        let text = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        );
        database
            .query_required(&text)
            .expect("our connection stays");
        return;
    }
    let text = format!(
        "SELECT id FROM information_schema.processlist WHERE db = '{name}' AND id <> CONNECTION_ID()"
    );
    for row in database
        .query_required(&text)
        .expect("our connection stays")
        .rows
    {
        // It may have ended by itself.
        let _ = database.execute(&format!("KILL {}", row[0]));
    }
}

#[test]
fn connections_that_are_cut_lose_calls_and_not_the_run() {
    on_each_server("cut connections", |server| {
        let setting = SolverContext::new(server);
        let address = setting.address.clone();
        let outcome = setting.run_meddling(150, Duration::from_secs(10), move |candidate| {
            if candidate % 7 == 0 {
                cut(&address);
            }
        });
        assert!(outcome.lost.is_none());
        let statuses = |wanted: u16| {
            outcome
                .statuses
                .iter()
                .any(|seen| seen.contains_key(&wanted))
        };
        assert!(statuses(201) && statuses(500));
    });
}

#[test]
fn a_locked_table_makes_calls_time_out_and_shows_what_they_waited_for() {
    on_each_server("a locked table", |server| {
        let setting = SolverContext::new(server);
        let mut holder = open(&setting.address);
        let lock = match server.engine() {
            Engine::Postgres => "BEGIN; LOCK TABLE account",
            _ => "LOCK TABLES account WRITE",
        };
        holder.execute_required(lock).expect("nobody else holds it");
        // A service that answers nothing ten times is given up, with what was found.
        let outcome = setting.run_meddling(60, Duration::from_millis(200), |_| {});
        let faults = evidence(&outcome);
        assert!(faults.contains("TimedOut"), "{faults}");
        assert!(faults.contains("no answer yet"), "{faults}");
    });
}

#[test]
fn a_database_that_is_killed_ends_neither_the_run_nor_its_results() {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let what = format!("a killed database on {engine}");
        let Some(server) = or_skip(&what, start(engine)) else {
            continue;
        };
        let setting = SolverContext::new(&server);
        let mut server = Some(server);
        let outcome = setting.run_meddling(200, Duration::from_secs(10), move |candidate| {
            if candidate == 20 {
                drop(server.take());
            }
        });
        assert!(outcome.lost.is_none(), "{engine}");
        let statuses = |wanted: u16| {
            outcome
                .statuses
                .iter()
                .any(|seen| seen.contains_key(&wanted))
        };
        assert!(statuses(201) && statuses(500), "{engine}");
        let faults = evidence(&outcome);
        assert!(faults.contains("cannot be reached"), "{engine}: {faults}");
    }
}
