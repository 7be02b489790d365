//! Services in this process, which write their statements down.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use isobath_exec::driver::Event as Statement;
use isobath_exec::http::{Client, ClientConfig as HttpConfig};
use isobath_exec::test_database::TestDatabase;
use isobath_rest::caller::Service;
use isobath_rest::feedback::JournalFeedback;
use isobath_rest::job::{self, Config, Event};
use isobath_rest::openapi::{self, NoLoader};
use isobath_rest::seeding::{LiveDatabase, SeedingConfig};
use isobath_rest::supervisor::Supervisor;

use super::{BenchError, Covered};

/// The services: figure 1 of "SQL Data Generation to Enhance Search-Based System Testing" with POST and with GET only, one
/// that can hardly be filled by calls, and one that only calls with the right values fill.
pub(super) const SERVICES: [&str; 4] = [
    "stored_pair",
    "stored_pair_without_post",
    "depot",
    "parcels",
];

/// The targets that every arm has and a run covers.
pub(super) fn covered(
    name: &str,
    choice: SeedingConfig,
    calls: u64,
    seed: u64,
) -> Result<Covered, BenchError> {
    let sut = isobath_suts::ALL.iter().find(|sut| sut.name == name);
    let running = (sut.ok_or("there is no such service")?.start)();
    let document = running.openapi.to_string();
    let api = openapi::read(&document, "openapi.json", &NoLoader)?;
    let path = running.database.as_ref().ok_or("it has no database")?;
    let address = format!("sqlite:{path}");
    let state = TestDatabase::open(&address, std::slice::from_ref(&address))?;
    let now = jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0);
    let journal = running.journal.clone();
    let feedback = JournalFeedback::new(move |action| {
        let ran = journal.take().into_iter();
        let told = ran.map(|ran| Statement::Statement {
            action,
            database: "sqlite".into(),
            text: ran.text,
            rows: ran.rows,
            failure: ran.failure,
        });
        told.collect()
    });
    let service = Arc::new(Service {
        api: Arc::new(api),
        base: running.url.clone(),
        supervisor: Supervisor::new(Vec::new()),
        sessions: Vec::new(),
        reset: None,
        feedback: Some(Mutex::new(Box::new(feedback))),
        database: Some(Mutex::new(LiveDatabase::new(state, now, choice, true))),
        mocks: None,
        first_looks: Default::default(),
    });
    let client = |flag: &Arc<AtomicBool>| {
        Client::new(HttpConfig {
            interrupt: Some(Arc::clone(flag)),
            ..HttpConfig::default()
        })
    };
    let targets = Rc::new(RefCell::new(BTreeSet::new()));
    let seen = Rc::clone(&targets);
    let tell = move |event: &Event<'_>| {
        if let Event::Covered { target, .. } = event
            && target.contains(" returns ")
            && !target.starts_with('`')
        {
            let target: &String = target;
            seen.borrow_mut().insert(target.clone());
        }
    };
    job::run(&service, &client, &Config::single_worker(seed, calls), tell)?;
    let targets = targets.take();
    Ok(targets)
}
