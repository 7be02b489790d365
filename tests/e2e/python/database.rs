//! White-box runs of Python services whose database is outside the process: `--db`.

use isobath_exec::connect_writable;
use isobath_exec::engine::Engine;
use isobath_exec::server::{or_skip, shared};

use super::*;

const READ: &str = "jvm/rows/openapi-read.json";
const TABLE: &str =
    "CREATE TABLE foo (id INTEGER PRIMARY KEY, x INTEGER NOT NULL, y INTEGER NOT NULL)";

/// Rows that nothing makes are inserted into the database: both branches are covered, and the suite passes.
fn assert_rows_are_inserted(run: &Run) {
    let (covered, total) = run.branches("foo.py");
    assert_eq!(covered, total, "{}", run.said());
    assert!(run.said().contains("pytest: all "), "{}", run.said());
    let suite = text_of(&run.folder.path().join("pytest"));
    assert!(suite.contains("insert_into(\"foo\")"), "{suite}");
}

#[test]
fn rows_are_inserted_into_a_sqlite_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rows.db");
    let database = rusqlite::Connection::open(&file).expect("a database");
    database.execute(TABLE, []).expect("a table");
    drop(database);
    let start = format!(
        "ROWS_FILE={} python -m uvicorn fastapi_app:app --port {{port}} --no-access-log",
        file.display()
    );
    let database = format!("sqlite:{}", file.display());
    let arguments = ["--python-start", &start, "--db", &database];
    let arguments = [&arguments[..], &["--budget", "400calls"]].concat();
    if let Some(run) = Run::of("rows", READ, &arguments) {
        assert_rows_are_inserted(&run);
    }
}

#[test]
fn instances_have_files_of_their_own_and_their_suite_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rows.db");
    let database = rusqlite::Connection::open(&file).expect("a database");
    database.execute(TABLE, []).expect("a table");
    drop(database);
    let start = "ROWS_FILE={db} python -m uvicorn fastapi_app:app --port {port} --no-access-log";
    let database = format!("sqlite:{}", file.display());
    let arguments = ["--python-start", start, "--db", &database];
    let arguments = [
        &arguments[..],
        &["--instances", "2", "--budget", "400calls"],
    ]
    .concat();
    if let Some(run) = Run::of("rows", READ, &arguments) {
        assert_rows_are_inserted(&run);
        assert!(!run.said().contains("warning"), "{}", run.said());
    }
}

#[test]
fn rows_are_inserted_into_postgresql() {
    let Some(server) = or_skip("Python with --db", shared(Engine::Postgres)) else {
        return;
    };
    let address = server.create_database().expect("a database");
    let mut database =
        connect_writable(&address, std::slice::from_ref(&address)).expect("a connection");
    let table = TABLE.replace("INTEGER PRIMARY", "SERIAL PRIMARY");
    database.execute_required(&table).expect("a table");
    drop(database);
    let arguments = ["--python", "fastapi_app:app", "--db", &address];
    let arguments = [&arguments[..], &["--budget", "400calls"]].concat();
    let variables = [("DATABASE_URL", address.as_str())];
    if let Some(run) = Run::with("rows", READ, &arguments, &variables) {
        assert_rows_are_inserted(&run);
    }
}
