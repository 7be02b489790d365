//! `isobath rest --db`: a service that is started with its database address leading to the tap.

use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use isobath_exec::connect_writable;
use isobath_exec::engine::Engine;
use isobath_exec::server::{Server, or_skip, shared};
use isobath_suts::wired::{LEDGER, ledger};
use serde_json::Value;

/// Says to `the_service_itself` where to listen.
const PORT: &str = "ISOBATH_TEST_PORT_TO_SERVE";

/// What a run printed and how it ended.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n{}\n{}", self.code, self.out, self.err)
    }
}

fn isobath(args: &[&str]) -> Run {
    let done = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(args)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts");
    Run {
        code: done.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        err: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

/// Not a test of its own: this program as the service, in the process that `--start` makes.
#[test]
fn the_service_itself() {
    let Ok(port) = std::env::var(PORT) else {
        return;
    };
    let database = std::env::var("LEDGER_DB").expect("the variable that --db-env names");
    assert_eq!(Ok(&database), std::env::var("DATABASE_URL").as_ref());
    let _service = ledger(&database, port.parse().expect("a port"));
    loop {
        std::thread::park();
    }
}

/// The command that makes this program the service.
fn start(port: u16) -> String {
    let program = std::env::current_exe().expect("this program");
    format!(
        "{PORT}={port} exec {} --exact the_service_itself --nocapture",
        program.display()
    )
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener.local_addr().expect("it is bound").port()
}

fn database(server: &Server) -> String {
    let address = server.create_database().expect("a database");
    let mut database =
        connect_writable(&address, std::slice::from_ref(&address)).expect("a connection");
    database.execute_required(LEDGER).expect("a table");
    address
}

fn on_each_server(what: &str, test: impl Fn(&Server)) {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        if let Some(server) = or_skip(&format!("{what} on {engine}"), shared(engine)) {
            test(server);
        }
    }
}

#[test]
fn findings_show_the_statements_of_a_service_that_was_pointed_at_the_tap() {
    on_each_server("statements in findings", |server| {
        let address = database(server);
        let port = free_port();
        let url = format!("http://127.0.0.1:{port}");
        let out = tempfile::tempdir().expect("a folder");
        let run = isobath(&[
            "rest",
            &format!("{url}/openapi.json"),
            "--url",
            &url,
            "--start",
            &start(port),
            "--db",
            &address,
            "--db-env",
            "LEDGER_DB",
            "--budget",
            "1000calls",
            "--no-run",
            "--out",
            out.path().to_str().expect("a plain path"),
        ]);
        assert_eq!(run.code, 1, "{run}");
        assert!(run.out.contains("listens at 127.0.0.1:"), "{run}");
        assert!(!run.out.contains("warning: "), "{run}");
        // Passwords are nowhere.
        let password = address.split([':', '@']).nth(2).expect("a password");
        assert!(!run.to_string().contains(password), "{run}");
        let report = std::fs::read_to_string(out.path().join("report.json")).expect("a report");
        assert!(!report.contains(password));
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let faults = report["faults"].to_string();
        let state = match server.engine() {
            Engine::Postgres => "(23505: duplicate key",
            _ => "(23000: ",
        };
        for shown in [
            "INSERT INTO account (id, email, age) VALUES (",
            state,
            "KEY: constraint ",
        ] {
            // PostgreSQL says UNIQUE of a primary key, too.
            let also = shown.replace("KEY:", "UNIQUE:");
            assert!(
                faults.contains(shown) || faults.contains(&also),
                "{shown} in {faults}"
            );
        }
        let queries = std::fs::read_to_string(out.path().join("queries.jsonl")).expect("queries");
        assert!(queries.contains("FROM account WHERE id = "), "{queries}");
    });
}

#[test]
fn a_database_that_cannot_be_used_is_said_before_anything_is_started() {
    let check = |flags: &[&str], code: i32, said: &str| {
        let mut all = vec![
            "rest",
            "openapi.json",
            "--url",
            "http://127.0.0.1:1",
            "--start",
            "false",
        ];
        all.extend(flags);
        let run = isobath(&all);
        assert_eq!(run.code, code, "{run}");
        assert!(run.err.contains(said), "{said} in {run}");
        assert!(!run.to_string().contains("s3cret"), "{run}");
    };
    let gone = format!("postgres://me:s3cret@127.0.0.1:{}/shop", free_port());
    check(&["--db", &gone], 3, "cannot connect to");
    check(
        &["--db", "oracle://me:s3cret@localhost/shop"],
        2,
        "invalid database address",
    );
    check(
        &["--db", "postgres://me:s3cret@db.example.org/shop"],
        2,
        "add --remote-db",
    );
    check(
        &["--db", "sqlite::memory:", "--tap", "127.0.0.1:0"],
        2,
        "SQLite has no connection",
    );
    check(
        &["--db", "sqlite::memory:", "--workers", "2"],
        2,
        "--db requires --workers 1",
    );
    on_each_server("a wrong password of --db", |server| {
        let mut wrong = url::Url::parse(&database(server)).expect("an address");
        wrong.set_password(Some("s3cret")).expect("it has a host");
        check(&["--db", wrong.as_str()], 3, "login to");
    });
}

#[test]
fn a_service_that_never_connects_is_warned_about() {
    on_each_server("a service beside the tap", |server| {
        let address = database(server);
        // It runs already, and nobody pointed it at the tap.
        let service = ledger(&address, 0);
        let out = tempfile::tempdir().expect("a folder");
        let run = isobath(&[
            "rest",
            &format!("{}/openapi.json", service.url),
            "--db",
            &address,
            "--tap",
            "127.0.0.1:0",
            "--budget",
            "50calls",
            "--no-run",
            "--out",
            out.path().to_str().expect("a plain path"),
        ]);
        assert!(run.out.contains("never connected to the SQL tap"), "{run}");
    });
}

/// A test of a stored suite that brings rows and shows no fault.
fn with_rows(suite: &Value) -> Option<&str> {
    let mut tests = suite["tests"].as_array()?.iter();
    let found = tests.find(|test| test["rows"].is_array() && test["faults"].is_null())?;
    found["id"].as_str()
}

#[test]
fn rules_of_statements_are_in_the_report_and_a_replay_brings_its_rows() {
    on_each_server("rules of statements", |server| {
        let address = database(server);
        let port = free_port();
        let url = format!("http://127.0.0.1:{port}");
        let out = tempfile::tempdir().expect("a folder");
        let folder = out.path().to_str().expect("a plain path");
        let run = isobath(&[
            "rest",
            &format!("{url}/openapi.json"),
            "--url",
            &url,
            "--start",
            &start(port),
            "--db",
            &address,
            "--db-env",
            "LEDGER_DB",
            "--query-coverage",
            "--budget",
            "1000calls",
            "--no-run",
            "--out",
            folder,
        ]);
        let read = |name: &str| -> Value {
            let text = std::fs::read_to_string(out.path().join(name)).expect("a file");
            serde_json::from_str(&text).expect("JSON")
        };
        let report = read("report.json");
        let statements = report["database"]["statements"].as_array();
        let statements = statements.unwrap_or_else(|| panic!("no statements: {run}"));
        let shown = statements.iter().find(|statement| {
            let shape = statement["shape"].as_str().unwrap_or_default();
            shape.starts_with("SELECT email, age FROM account WHERE id = ")
        });
        let rules = shown.and_then(|statement| statement["rules"].as_array());
        let rules = rules.unwrap_or_else(|| panic!("no rules: {statements:?}"));
        let is_covered = |label: &str| {
            let rule = rules.iter().find(|rule| rule["label"] == label);
            rule.is_some_and(|rule| rule["covered"] == true)
        };
        // The account of this number, and one of another.
        assert!(is_covered("WT") && is_covered("WF"), "{rules:?}");
        let page = std::fs::read_to_string(out.path().join("report.html")).expect("a page");
        assert!(page.contains("SQL statements"));

        let suite = read("suite.json");
        let id = with_rows(&suite).unwrap_or_else(|| panic!("no rows: {run}"));
        let served = format!(
            "LEDGER_DB='{address}' DATABASE_URL='{address}' {}",
            start(port)
        );
        let words = [
            "replay", id, "--out", folder, "--url", &url, "--start", &served,
        ];
        let again = isobath(&[&words[..], &["--db", &address]].concat());
        assert_eq!(again.code, 0, "{again}");
        assert!(again.out.contains("holds "), "{again}");
        // Without the database nothing can be said.
        let blind = isobath(&words);
        assert_eq!(blind.code, 1, "{blind}");
        assert!(blind.to_string().contains("pass --db"), "{blind}");
    });
}
