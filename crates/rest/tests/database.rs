//! Coverage of runs with a test database, on listed seeds.

mod support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isobath_emit::http::writer;
use isobath_emit::http::{ExpectedRow, HttpSuite};
use isobath_exec::http::{Client, ClientConfig as HttpConfig};
use isobath_rest::job::{Event, RunResult};
use isobath_rest::probe;
use isobath_rest::replay::{ReplayDatabase, ReplayVerdict, Replayer};
use isobath_rest::seeding::SeedingConfig;
use isobath_suts::{ALL, Running};

use support::{Plan, Prepared, may_have, results};

fn start(service: &str) -> Running {
    let sut = ALL.iter().find(|sut| sut.name == service);
    (sut.expect("a service of this name").start)()
}

fn address_of(running: &Running) -> String {
    let path = running.database.as_ref().expect("a database");
    format!("sqlite:{path}")
}

fn plan<'a>(running: &'a Running, document: &'a str, calls: u64, seed: u64) -> Plan<'a> {
    Plan {
        url: &running.url,
        document,
        users: &[],
        reset: None,
        calls,
        seed,
        probes: probe::ProbeConfig::default(),
    }
}

/// The outcome of a run, and the calls after which each target was covered.
fn run(
    service: &str,
    calls: u64,
    seed: u64,
    config: SeedingConfig,
) -> (RunResult, BTreeMap<String, u64>) {
    let running = start(service);
    let document = running.openapi.to_string();
    let plan = plan(&running, &document, calls, seed);
    let covered = Rc::new(RefCell::new(BTreeMap::new()));
    let seen = Rc::clone(&covered);
    let prepared = Prepared::new(&plan).with_database(&running, config);
    let outcome = prepared.run_telling(move |event| {
        if let Event::Covered { calls, target } = event {
            let target: &String = target;
            seen.borrow_mut().entry(target.clone()).or_insert(*calls);
        }
    });
    let covered = covered.borrow().clone();
    (outcome, covered)
}

/// Figure 1 of "SQL Data Generation to Enhance Search-Based System Testing": with POST, and with GET only.
#[test]
fn the_stored_pair_is_found_with_post_and_without() {
    for seed in 1..=10 {
        for service in ["stored_pair", "stored_pair_without_post"] {
            let (_, covered) = run(service, 300, seed, SeedingConfig::default());
            let calls = covered.get("GET /api/foo/{x}/{y} returns 200");
            assert!(
                calls.is_some_and(|calls| *calls <= 150),
                "{service}, seed {seed}: {calls:?}"
            );
        }
    }
}

/// The languages of suites, with what tells whether they can be run here.
const LANGUAGES: [(&str, &str, &[&str]); 4] = [
    ("pytest", "python3", &["-c", "import pytest, requests"]),
    ("js", "node", &["--test-reporter=junit", "--version"]),
    ("junit", "mvn", &["--version"]),
    ("rust", "cargo", &["--version"]),
];

/// The insert form of figure 3: the suite brings its rows, is green on the service, and red where nobody brings them.
#[test]
fn suites_bring_their_rows_in_every_language() {
    let running = start("stored_pair_without_post");
    let address = address_of(&running);
    let document = running.openapi.to_string();
    let plan = plan(&running, &document, 200, 1);
    let prepared = Prepared::new(&plan).with_database(&running, SeedingConfig::default());
    let (outcome, suite) = prepared.run_and_write("foo");
    assert!(outcome.faults.is_empty());
    let bringing = suite.tests.iter().filter(|test| !test.rows.is_empty());
    assert_eq!(bringing.count(), 1);
    let written = writer::by_name("pytest").expect("a language").write(&suite);
    let text = &written.expect("a sound suite").files[0].text;
    assert!(
        text.contains("insert_into(\"foo_entity\").d(\"x\", "),
        "{text}"
    );
    for (language, tool, probe) in LANGUAGES {
        if !may_have(tool, probe) || !may_have("sqlite3", &["--version"]) {
            continue;
        }
        for (id, (passed, said)) in results(language, &suite, &address) {
            assert!(passed, "{language}: {id}: {said}");
        }
        let mut without = suite.clone();
        without.tests.iter_mut().for_each(|test| test.rows.clear());
        let failed = results(language, &without, &address);
        let failed = failed.values().filter(|(passed, _)| !passed).count();
        assert_eq!(failed, 1, "{language}");
    }
}

/// Keys that the database gives out are variables of the tests.
#[test]
fn suites_refer_to_keys_that_the_database_gives_out() {
    let running = start("depot");
    let document = running.openapi.to_string();
    let plan = plan(&running, &document, 1_500, 1);
    let prepared = Prepared::new(&plan).with_database(&running, SeedingConfig::default());
    let (_, suite) = prepared.run_and_write("depot");
    let keys = suite.tests.iter().flat_map(|test| &test.rows);
    assert!(keys.filter(|row| row.key.is_some()).count() > 3);
    if may_have("python3", &["-c", "import pytest, requests"]) {
        for (id, (passed, said)) in results("pytest", &suite, &address_of(&running)) {
            assert!(passed, "{id}: {said}");
        }
    }
}

#[test]
fn what_needs_rows_is_answered_when_the_test_brings_them() {
    for seed in 1..=2 {
        let (_, covered) = run("depot", 3_000, seed, SeedingConfig::default());
        for wanted in [
            "GET /sites/{code} returns 200",
            "GET /sites/{code} returns 410",
            "GET /sites/{code}/stock returns 200",
            "GET /sites/{code}/stock returns 204",
            "GET /items/{id} returns 200",
            "GET /items/{id} returns 409",
            "POST /reservations returns 201",
            "POST /reservations returns 409",
            "DELETE /reservations/{id} returns 204",
            "DELETE /reservations/{id} returns 409",
        ] {
            assert!(covered.contains_key(wanted), "seed {seed}: {wanted}");
        }
    }
}

/// A run of the depot whose statements' rules are targets, or are not.
fn rows_for_rule(rules: bool, seed: u64) -> (RunResult, BTreeMap<String, u64>) {
    let config = SeedingConfig {
        rules,
        ..SeedingConfig::default()
    };
    run("depot", 2_000, seed, config)
}

#[test]
fn rules_of_statements_are_targets_when_that_is_asked_for() {
    let (outcome, covered) = rows_for_rule(true, 1);
    let data = outcome.database.expect("there is a database");
    let stock = data
        .seen
        .iter()
        .find(|statement| statement.shape.contains("JOIN site"))
        .expect("the stock was asked for");
    assert!(stock.found > 0 && stock.found < stock.times, "{stock:?}");
    let rule_distance = stock
        .rules
        .iter()
        .filter(|rule| rule.nearest == 0.0)
        .count();
    // A price that is NULL, a quantity on its boundary, an item of another site: rows are built for what calls never make.
    assert!(rule_distance >= 6, "{:?}", stock.rules);
    let price = stock
        .rules
        .iter()
        .find(|rule| rule.description.contains("price"));
    assert_eq!(
        price.map(|rule| rule.nearest),
        Some(0.0),
        "{:?}",
        stock.rules
    );
    let rules = covered
        .keys()
        .filter(|target| target.contains(" query coverage rule "));
    assert!(rules.count() >= 15);
    let (outcome, covered) = rows_for_rule(false, 1);
    let data = outcome.database.expect("there is a database");
    assert!(data.seen.iter().all(|statement| statement.rules.is_empty()));
    assert!(data.seen.iter().any(|statement| statement.found > 0));
    assert!(
        !covered
            .keys()
            .any(|target| target.contains(" query coverage rule "))
    );
}

/// What calls wrote is asked for after them, in every language; a service that writes something else fails.
#[test]
fn suites_look_at_the_rows_that_calls_leave() {
    let running = start("depot");
    let document = running.openapi.to_string();
    let plan = plan(&running, &document, 1_500, 1);
    let prepared = Prepared::new(&plan).with_database(&running, SeedingConfig::default());
    let (_, suite) = prepared.run_and_write("depot");
    let states: Vec<_> = suite
        .tests
        .iter()
        .flat_map(|test| &test.expected_rows)
        .collect();
    let has = |table: &str, column: &str| {
        let mut mentioned_in = states.iter().filter(|state| state.table == table);
        mentioned_in.any(|state| state.cells.iter().any(|(name, _)| name == column))
    };
    assert!(
        has("reservation", "quantity") && has("item", "quantity"),
        "{states:?}"
    );
    // A number that the database gives out is never asked for as such.
    let is_number = |state: &&&ExpectedRow| {
        let mut ids = state.cells.iter().filter(|(name, _)| name == "id");
        state.table == "reservation" && ids.any(|(_, value)| value.as_captured().is_none())
    };
    assert_eq!(states.iter().filter(is_number).count(), 0, "{states:?}");
    let mut wrong = suite.clone();
    for state in wrong
        .tests
        .iter_mut()
        .flat_map(|test| &mut test.expected_rows)
    {
        state.exists = !state.exists;
    }
    let n_looking = suite
        .tests
        .iter()
        .filter(|test| !test.expected_rows.is_empty());
    let n_looking = n_looking.count();
    for (language, tool, probe) in LANGUAGES {
        if !may_have(tool, probe) || !may_have("sqlite3", &["--version"]) {
            continue;
        }
        for (id, (passed, said)) in results(language, &suite, &address_of(&running)) {
            assert!(passed, "{language}: {id}: {said}");
        }
        let failed = results(language, &wrong, &address_of(&running));
        let failed = failed.values().filter(|(passed, _)| !passed).count();
        assert_eq!(failed, n_looking, "{language}");
    }
}

/// A replay puts the rows of its tests back, makes their calls, and looks at what these leave.
#[test]
fn a_replay_brings_the_rows_and_looks_at_what_is_left() {
    let running = start("depot");
    let document = running.openapi.to_string();
    let plan = plan(&running, &document, 1_500, 1);
    let prepared = Prepared::new(&plan).with_database(&running, SeedingConfig::default());
    let (_, suite) = prepared.run_and_write("depot");
    let address = format!("sqlite:{}", running.database.as_ref().expect("a database"));
    let play = |suite: &HttpSuite, with_rows: bool| -> Vec<ReplayVerdict> {
        let of = suite.database.as_ref().expect("it names its database");
        let database = with_rows.then(|| ReplayDatabase::open(&address, of).expect("it is there"));
        let client = Client::new(HttpConfig::default()).expect("a client");
        let mut replayer = Replayer::new(suite, running.url.as_str(), client, 1, database);
        suite
            .tests
            .iter()
            .map(|test| replayer.replay(test))
            .collect()
    };
    let held = play(&suite, true);
    assert!(
        held.iter().all(|verdict| *verdict == ReplayVerdict::Held),
        "{held:?}"
    );
    let blind = play(&suite, false);
    for (test, verdict) in suite.tests.iter().zip(blind) {
        let cannot_tell = matches!(verdict, ReplayVerdict::NotReached(_));
        assert!(
            cannot_tell || test.rows.is_empty(),
            "{}: {verdict:?}",
            test.id
        );
    }
    let mut wrong = suite.clone();
    for state in wrong
        .tests
        .iter_mut()
        .flat_map(|test| &mut test.expected_rows)
    {
        state.exists = !state.exists;
    }
    for (test, verdict) in wrong.tests.iter().zip(play(&wrong, true)) {
        let differs = matches!(verdict, ReplayVerdict::Differs(_));
        assert_eq!(
            differs,
            !test.expected_rows.is_empty(),
            "{}: {verdict:?}",
            test.id
        );
    }
}

/// No call of the parcels names what its statements ask for: only how far they are from finding something tells.
#[test]
fn calls_that_fill_tables_are_led_by_what_statements_lack() {
    let found = |distance: bool| {
        let config = SeedingConfig {
            rows: false,
            distance,
            ..SeedingConfig::default()
        };
        let seeds = (1..=3).map(|seed| run("parcels", 3_000, seed, config).1);
        let is_found = |target: &&String| target.starts_with("GET") && target.ends_with(" 200");
        let found = seeds.map(|covered| covered.keys().filter(is_found).count());
        found.sum::<usize>()
    };
    assert_eq!(found(false), 0);
    let led = found(true);
    assert!(led >= 3, "{led}");
}

/// The pair that the POST stores is in no response and in no document: only the row tells, to whoever looks at it.
#[test]
fn inputs_are_led_to_rows_that_calls_stored() {
    let wanted = "GET /api/foo/{x}/{y} returns 200";
    for seed in 1..=3 {
        let reached = |distance: bool| {
            let config = SeedingConfig {
                rows: false,
                distance,
                ..SeedingConfig::default()
            };
            let (_, covered) = run("stored_pair", 1_000, seed, config);
            covered.contains_key(wanted)
        };
        assert!(reached(true), "seed {seed}");
        assert!(!reached(false), "seed {seed}");
    }
}
