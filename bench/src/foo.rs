//! The example of "SQL Data Generation to Enhance Search-Based System Testing" in front of each database: how soon all
//! of it is reached, with POST and with GET only.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use isobath_exec::database::Address;
use isobath_exec::driver::Event as Statement;
use isobath_exec::engine::Engine;
use isobath_exec::http::{Client, ClientConfig as HttpConfig};
use isobath_exec::tap::{Tap, environment};
use isobath_exec::test_database::TestDatabase;
use isobath_exec::{connect_writable, server};
use isobath_rest::caller::Service;
use isobath_rest::feedback::{Feedback, JournalFeedback, TapFeedback};
use isobath_rest::job::{self, Config, Event};
use isobath_rest::openapi::{self, NoLoader};
use isobath_rest::seeding::{self, LiveDatabase};
use isobath_rest::supervisor::Supervisor;
use isobath_suts::papers::{pair_tables, stored_pair_at};
use isobath_suts::{Journal, Running};

/// The most calls of a run.
const CALLS: u64 = 2_000;
/// The most seconds until all is reached.
const SECONDS: f64 = 10.0;

/// When the last target was reached: after so many calls, and so many seconds.
type Reached = Option<(u64, f64)>;

/// Prints calls and seconds; fails when a seed does not reach everything in time.
pub(crate) fn table(seeds: u64) -> ExitCode {
    println!("all of Foo reached, {seeds} seeds: calls and seconds, median and most");
    println!(
        "{:<11} {:<9} {:>8} {:>7} {:>7} {:>9} {:>9}",
        "database", "form", "reached", "calls", "most", "seconds", "most"
    );
    let mut is_reached = true;
    for engine in Engine::ALL {
        for (with_post, form) in [(true, "POST+GET"), (false, "GET only")] {
            let runs: Result<Vec<Reached>, _> = (1..=seeds)
                .map(|seed| run(engine, with_post, seed))
                .collect();
            let runs = match runs {
                Ok(runs) => runs,
                Err(error) => {
                    eprintln!("isobath-bench: {engine}: {error}");
                    return ExitCode::FAILURE;
                }
            };
            let mut calls: Vec<u64> = runs.iter().flatten().map(|run| run.0).collect();
            let mut seconds: Vec<f64> = runs.iter().flatten().map(|run| run.1).collect();
            calls.sort_unstable();
            seconds.sort_by(f64::total_cmp);
            let n = calls.len();
            let most = seconds.last().copied().unwrap_or(f64::INFINITY);
            println!(
                "{:<11} {form:<9} {n:>5}/{seeds} {:>7} {:>7} {:>9.2} {most:>9.2}",
                engine.to_string(),
                calls.get(n / 2).copied().unwrap_or_default(),
                calls.last().copied().unwrap_or_default(),
                seconds.get(n / 2).copied().unwrap_or_default(),
            );
            is_reached &= n as u64 == seeds && most < SECONDS;
        }
    }
    if !is_reached {
        println!("MISSED: all on each seed in under {SECONDS} s is wanted");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(engine: Engine, with_post: bool, seed: u64) -> Result<Reached, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let address = match engine {
        Engine::Sqlite => format!("sqlite:{}", folder.path().join("foo.db").display()),
        _ => server::shared(engine)?.create_database()?,
    };
    connect_writable(&address, std::slice::from_ref(&address))?
        .execute_required(&pair_tables(&address))?;
    let running: Running;
    let feedback: Box<dyn Feedback> = if engine == Engine::Sqlite {
        running = stored_pair_at(&address, with_post);
        let journal = running.journal.clone();
        Box::new(JournalFeedback::new(move |action| told(&journal, action)))
    } else {
        let database = Address::parse(&address)?;
        let tap = Tap::open(&database, None)?;
        let tapped = environment::url(&database, tap.at()).ok_or("no address at the tap")?;
        running = stored_pair_at(&tapped, with_post);
        Box::new(TapFeedback::new(tap))
    };
    let document = running.openapi.to_string();
    let state = TestDatabase::open(&address, std::slice::from_ref(&address))?;
    let now = jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0);
    let data = LiveDatabase::new(state, now, seeding::SeedingConfig::default(), true);
    let service = Arc::new(Service {
        api: Arc::new(openapi::read(&document, "openapi.json", &NoLoader)?),
        base: running.url.clone(),
        supervisor: Supervisor::new(Vec::new()),
        sessions: Vec::new(),
        reset: None,
        feedback: Some(Mutex::new(feedback)),
        database: Some(Mutex::new(data)),
        mocks: None,
        first_looks: Default::default(),
    });
    let config = Config::single_worker(seed, CALLS);
    let mut wanted: BTreeSet<&str> = BTreeSet::from([
        "GET /api/foo/{x}/{y} returns 200",
        "GET /api/foo/{x}/{y} returns 400",
    ]);
    if with_post {
        wanted.insert("POST /api/foo returns 200");
    }
    let started = Instant::now();
    let interrupt = Arc::clone(&config.interrupt);
    let reached = Rc::new(RefCell::new(None));
    let told = Rc::clone(&reached);
    let tell = move |event: &Event<'_>| {
        if let Event::Covered { calls, target } = event
            && wanted.remove(target.as_str())
            && wanted.is_empty()
        {
            *told.borrow_mut() = Some((*calls, started.elapsed().as_secs_f64()));
            interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let client = |flag: &Arc<AtomicBool>| {
        Client::new(HttpConfig {
            interrupt: Some(Arc::clone(flag)),
            ..HttpConfig::default()
        })
    };
    job::run(&service, &client, &config, tell)?;
    let reached = reached.borrow_mut().take();
    Ok(reached)
}

/// Statements that the service wrote down itself, of which no wire tells.
fn told(journal: &Journal, action: u16) -> Vec<Statement> {
    let ran = journal.take().into_iter();
    ran.map(|ran| Statement::Statement {
        action,
        database: "sqlite".into(),
        text: ran.text,
        rows: ran.rows,
        failure: ran.failure,
    })
    .collect()
}
