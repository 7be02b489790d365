//! The example of the paper on each of the three databases, with a SQL tap or a statement log.

mod support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use isobath_emit::http::{HttpSuite, writer};
use isobath_exec::engine::Engine;
use isobath_exec::test_database::{Reference, TestDatabase};
use isobath_rest::job::Event;
use isobath_rest::probe;
use isobath_rest::seeding::SeedingConfig;
use isobath_rows::set::{ExistingRows, NewCell, NewRow};
use isobath_sql::{Cell, Row, Value};
use isobath_suts::papers::{pair_tables, stored_pair_at};
use isobath_suts::rows::{library_at, library_tables};

use support::{Place, Plan, Prepared, may_have, on_each, results};

/// The most calls within which everything must be reached.
const MOST: u64 = 150;

/// The calls after which each target of the pair was covered.
fn covered(mut place: Place, with_post: bool, seed: u64) -> BTreeMap<String, u64> {
    let service = stored_pair_at(&place.at, with_post);
    let document = service.openapi.to_string();
    let prepared = Prepared::new(&Plan {
        url: &service.url,
        document: &document,
        users: &[],
        reset: None,
        calls: MOST,
        seed,
        probes: probe::ProbeConfig::default(),
    });
    let ear = place.ear(&service);
    let prepared = prepared.with_seeder(&place.address, SeedingConfig::default(), Some(ear));
    let covered = Rc::new(RefCell::new(BTreeMap::new()));
    let seen = Rc::clone(&covered);
    prepared.run_telling(move |event| {
        if let Event::Covered { calls, target } = event {
            let target: &String = target;
            seen.borrow_mut().entry(target.clone()).or_insert(*calls);
        }
    });
    covered.take()
}

fn with_pair(place: Place) -> Place {
    let tables = pair_tables(&place.at);
    place.with(&tables)
}

/// Figure 1 of "SQL Data Generation to Enhance Search-Based System Testing": with POST, and with GET only.
#[test]
fn all_of_the_stored_pair_is_reached_on_each_database() {
    for seed in 1..=3 {
        for with_post in [true, false] {
            on_each("the stored pair", |place| {
                let engine = place.engine;
                let covered = covered(with_pair(place), with_post, seed);
                let mut wanted = vec![
                    "GET /api/foo/{x}/{y} returns 200",
                    "GET /api/foo/{x}/{y} returns 400",
                ];
                if with_post {
                    wanted.push("POST /api/foo returns 200");
                }
                for target in wanted {
                    assert!(
                        covered.contains_key(target),
                        "{engine}, seed {seed}, POST {with_post}: {target}"
                    );
                }
            });
        }
    }
}

/// The insert form of figure 3: the suite brings its rows, and is green on the service.
#[test]
fn suites_bring_their_rows_to_each_database() {
    on_each("suites with rows", |place| {
        let engine = place.engine;
        let mut place = with_pair(place);
        let service = stored_pair_at(&place.at, false);
        let document = service.openapi.to_string();
        let prepared = Prepared::new(&Plan {
            url: &service.url,
            document: &document,
            users: &[],
            reset: None,
            calls: MOST,
            seed: 1,
            probes: probe::ProbeConfig::default(),
        });
        // The feedback goes with the run; a tap that the service still needs stays as long as it does.
        let ear = place.ear(&service);
        let prepared = prepared.with_seeder(&place.address, SeedingConfig::default(), Some(ear));
        let (_, suite, _run) = prepared.run_and_keep("foo");
        let writer = writer::by_name("pytest").expect("a language");
        let text = writer.write(&suite).expect("a sound suite").files[0]
            .text
            .clone();
        assert!(
            text.contains("insert_into(\"foo_entity\").d(\"x\", "),
            "{engine}: {text}"
        );
        let client = match engine {
            Engine::Sqlite => "sqlite3",
            Engine::Postgres => "psql",
            Engine::MariaDb => "mariadb",
        };
        if may_have("python3", &["-c", "import pytest, requests"])
            && may_have(client, &["--version"])
        {
            for (id, (passed, said)) in results("pytest", &suite, &place.address) {
                assert!(passed, "{engine}: {id}: {said}");
            }
        }
    });
}

/// The tables of the example in section 6.1, whose key is also a reference; given out by the database, or not.
fn foo_and_bar(engine: Engine, counted: bool) -> String {
    let key = match (counted, engine) {
        (false, _) => "INT PRIMARY KEY",
        (true, Engine::Sqlite) => "INTEGER PRIMARY KEY AUTOINCREMENT",
        (true, Engine::Postgres) => "SERIAL PRIMARY KEY",
        (true, Engine::MariaDb) => "INT AUTO_INCREMENT PRIMARY KEY",
    };
    format!(
        "CREATE TABLE foo (id {key}, x INT NOT NULL);
         CREATE TABLE bar (id INT PRIMARY KEY, y INT, FOREIGN KEY (id) REFERENCES foo (id))"
    )
}

fn row(id: u32, table: usize, cells: [Option<i64>; 2]) -> NewRow {
    let cell = |value: Option<i64>| match value {
        Some(value) => NewCell::Value(Value::from(value)),
        None => NewCell::Default,
    };
    NewRow {
        id,
        table,
        cells: cells.map(cell).into(),
    }
}

/// Rows as they are inserted: references apart from the rest.
fn plain(rows: &[NewRow]) -> (Vec<Row>, Vec<Reference>) {
    let mut references = Vec::new();
    let mut plain = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let mut cells = Vec::new();
        for (column, cell) in row.cells.iter().enumerate() {
            cells.push(match cell {
                NewCell::Default => Cell::Default,
                NewCell::Value(value) => Cell::Value(value.clone()),
                NewCell::Of { row, column: of } => {
                    let of_row = rows.iter().position(|other| other.id == *row);
                    references.push(Reference {
                        row: at,
                        column,
                        of_row: of_row.expect("an earlier row"),
                        of_column: *of,
                    });
                    Cell::Value(Value::Null)
                }
            });
        }
        plain.push(Row {
            table: row.table,
            cells,
        });
    }
    (plain, references)
}

/// Two rows of `bar` want the only row of `foo` as their key: one of them gets a parent of its own, and the database agrees.
#[test]
fn a_key_that_is_a_reference_is_repaired_on_each_database() {
    for counted in [false, true] {
        on_each("a key that is a reference", |place| {
            let engine = place.engine;
            let place = place.with(&foo_and_bar(engine, counted));
            let named = [place.address.clone()];
            let mut state = TestDatabase::open(&place.address, &named).expect("a database");
            let schema = Arc::new(state.schema().clone());
            let index = |name: &str| schema.table_index(name).expect("a table");
            let (foo, bar) = (index("foo"), index("bar"));
            let now = jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0);
            let none = vec![Vec::new(); schema.tables.len()];
            let ground = ExistingRows::new(Arc::clone(&schema), state.dialect(), now, none);
            for seed in 0..10 {
                let mut rng = fastrand::Rng::with_seed(seed);
                let key = (!counted).then_some(1);
                let mut rows = vec![
                    row(0, foo, [key, Some(5)]),
                    row(1, bar, [Some(1), Some(11)]),
                    row(2, bar, [Some(1), Some(12)]),
                ];
                assert!(ground.repair(&mut rows, 3, &mut rng), "{engine}, {seed}");
                let (plain, references) = plain(&rows);
                let stored = state.insert(&plain, &references).expect("a connection");
                let stored = stored.unwrap_or_else(|unfit| panic!("{engine}, {seed}: {unfit}"));
                let keys = |table: usize| -> Vec<&Value> {
                    let rows = rows.iter().zip(&stored);
                    let of = rows.filter(|(row, _)| row.table == table);
                    of.map(|(_, values)| &values[0]).collect()
                };
                let (parents, children) = (keys(foo), keys(bar));
                assert_eq!((parents.len(), children.len()), (2, 2), "{engine}, {seed}");
                assert!(children.iter().all(|key| parents.contains(key)));
                assert_ne!(children[0], children[1]);
                state.reset(&state.all_tables()).expect("a reset");
            }
        });
    }
}

/// Keys that the database gave out are given out again after a reset.
#[test]
fn rows_of_one_candidate_leave_no_trace_for_the_next_on_each_database() {
    on_each("counters", |place| {
        let engine = place.engine;
        let place = place.with(&foo_and_bar(engine, true));
        place
            .open()
            .execute_required("INSERT INTO foo (x) VALUES (7)")
            .expect("a row");
        let named = [place.address.clone()];
        let mut state = TestDatabase::open(&place.address, &named).expect("a database");
        let foo = state.schema().table_index("foo").expect("a table");
        let fresh = Row {
            table: foo,
            cells: vec![Cell::Default, Cell::Value(Value::from(1))],
        };
        let mut given = Vec::new();
        for _ in 0..3 {
            let rows = [fresh.clone(), fresh.clone()];
            let stored = state.insert(&rows, &[]).expect("a connection");
            given.push(stored.expect("rows that fit"));
            state.reset(&[foo].into()).expect("a reset");
            let left = place
                .open()
                .query_required("SELECT id, x FROM foo")
                .expect("rows");
            let first = vec![Value::from(1), Value::from(7)];
            assert_eq!(left.rows, [first], "{engine}");
        }
        assert_eq!(given[0][0][0], Value::from(2), "{engine}");
        assert!(
            given.iter().all(|rows| *rows == given[0]),
            "{engine}: {given:?}"
        );
    });
}

/// Suites ask for the rows that calls leave: green on the service, red where a row is not as they say.
#[test]
fn suites_look_at_the_rows_that_calls_leave_on_each_database() {
    on_each("suites that look at rows", |place| {
        let engine = place.engine;
        let tables = library_tables(&place.at);
        let mut place = place.with(&tables);
        let service = library_at(&place.at, None);
        let document = service.openapi.to_string();
        let prepared = Prepared::new(&Plan {
            url: &service.url,
            document: &document,
            users: &[],
            reset: None,
            calls: 1_500,
            seed: 1,
            probes: probe::ProbeConfig::default(),
        });
        let ear = place.ear(&service);
        let prepared = prepared.with_seeder(&place.address, SeedingConfig::default(), Some(ear));
        let (_, suite, _run) = prepared.run_and_keep("library");
        let looking = |suite: &HttpSuite| {
            let tests = suite
                .tests
                .iter()
                .filter(|test| !test.expected_rows.is_empty());
            tests.map(|test| test.id.clone()).collect::<Vec<_>>()
        };
        assert!(!looking(&suite).is_empty(), "{engine}");
        let client = match engine {
            Engine::Sqlite => "sqlite3",
            Engine::Postgres => "psql",
            Engine::MariaDb => "mariadb",
        };
        if !may_have("python3", &["-c", "import pytest, requests"])
            || !may_have(client, &["--version"])
        {
            return;
        }
        for (id, (passed, said)) in results("pytest", &suite, &place.address) {
            assert!(passed, "{engine}: {id}: {said}");
        }
        let mut wrong = suite.clone();
        for state in wrong
            .tests
            .iter_mut()
            .flat_map(|test| &mut test.expected_rows)
        {
            state.exists = !state.exists;
        }
        let results = results("pytest", &wrong, &place.address);
        let failed = results.iter().filter(|(_, (passed, _))| !passed);
        let mut failed: Vec<String> = failed.map(|(id, _)| id.clone()).collect();
        let mut expected = looking(&suite);
        failed.sort();
        expected.sort();
        assert_eq!(failed, expected, "{engine}");
    });
}
