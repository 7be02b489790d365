//! `isobath resume`: a run that was killed at any moment is gone on with, and loses nothing that it covered.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use marina::Faults;
use serde_json::Value;

const AUTH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/marina/auth.yaml"
);

struct Run {
    folder: tempfile::TempDir,
    marina: marina::Running,
}

/// Starts a run that nobody listens to.
fn started(command: &mut Command) -> Child {
    let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
    silent.spawn().expect("the binary runs")
}

impl Run {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            marina: marina::start(Faults::all()).expect("a free port"),
        }
    }

    /// With the rows of the service in a file.
    fn on_file() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("marina.db");
        let marina = marina::start_on(Faults::all(), Some(file)).expect("a free port");
        // It makes its tables before it answers for the first time.
        let address = marina.url().replace("http://", "");
        let mut line = std::net::TcpStream::connect(&address).expect("it listens");
        let call = format!("GET /openapi.yaml HTTP/1.0\r\nHost: {address}\r\n\r\n");
        line.write_all(call.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        line.read_to_end(&mut answer).expect("it answers");
        Self { folder, marina }
    }

    /// All rows of the service, as text.
    fn rows(&self) -> Vec<String> {
        let file = rusqlite::Connection::open(self.folder.path().join("marina.db"));
        let file = file.expect("a database");
        let list = |sql: &str| -> Vec<Vec<String>> {
            let mut statement = file.prepare(sql).expect("a query");
            let n = statement.column_count();
            let rows = statement.query_map([], |row| {
                let cell = |at| row.get::<_, rusqlite::types::Value>(at);
                (0..n).map(|at| Ok(format!("{:?}", cell(at)?))).collect()
            });
            rows.expect("rows").map(|row| row.expect("a row")).collect()
        };
        let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
        let mut all = Vec::new();
        for name in list(names) {
            let name = name[0]
                .trim_start_matches("Text(\"")
                .trim_end_matches("\")");
            let rows = list(&format!("SELECT * FROM {name} ORDER BY 1, 2"));
            all.extend(rows.iter().map(|row| format!("{name}: {}", row.join("|"))));
        }
        all
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Starts a run, in the folder and with names relative to it, and kills it as soon as its events say so.
    fn killed(&self, budget: &str, is_enough: impl Fn(&str) -> bool) {
        let document = format!("{}/openapi.yaml", self.marina.url());
        let mut command = Command::new(env!("CARGO_BIN_EXE_isobath"));
        let command = command
            .args(["rest", &document, "--auth", AUTH, "--reset", "POST /reset"])
            .args(["--budget", budget, "--seed", "3", "--out", "out"])
            .current_dir(self.folder.path());
        self.kill_when(&mut started(command), is_enough);
    }

    fn kill_when(&self, child: &mut Child, is_enough: impl Fn(&str) -> bool) {
        kill_when(&self.out(), child, is_enough);
    }

    /// Continues from another folder than the one where the run was started.
    fn resume(&self, more: &[&str]) -> Output {
        resume(&self.out(), more).output().expect("the binary runs")
    }

    fn events(&self) -> Vec<Value> {
        events(&self.out())
    }

    /// The targets that were covered, of the events from the last beginning on.
    fn covered(&self) -> BTreeSet<String> {
        covered(&self.out())
    }

    fn report(&self) -> Value {
        let text = std::fs::read_to_string(self.out().join("report.json")).expect("a report");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Kills a run as soon as the events in its folder say so.
fn kill_when(out: &Path, child: &mut Child, is_enough: impl Fn(&str) -> bool) {
    let path = out.join("events.ndjson");
    while !std::fs::read_to_string(&path).is_ok_and(|text| is_enough(&text)) {
        let ended = child.try_wait().expect("our child");
        assert!(ended.is_none(), "it ended before: {ended:?}");
        std::thread::yield_now();
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

fn events(out: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(out.join("events.ndjson")).expect("events");
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn covered(out: &Path) -> BTreeSet<String> {
    let events = events(out);
    let is_beginning = |event: &Value| event["event"] == "resumed";
    let from = events.iter().rposition(is_beginning).unwrap_or(0);
    events[from..]
        .iter()
        .filter(|event| event["event"] == "covered")
        .filter_map(|event| Some(event["target"].as_str()?.to_owned()))
        .collect()
}

fn resume(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobath"));
    command.arg("resume").arg(folder).args(more);
    command
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Kills a run, continues with it, and holds what must be so then.
fn check(budget: &str, is_enough: impl Fn(&str) -> bool) {
    let run = Run::new();
    run.killed(budget, is_enough);
    let (before, first) = (run.covered(), run.events().len());
    let plan = std::fs::read(run.out().join("plan.json")).expect("a plan");
    let calls = |event: &Value| event["calls"].as_u64();
    let made = run.events().iter().filter_map(calls).max().unwrap_or(0);

    let resumed = run.resume(&[]);
    assert_eq!(resumed.status.code(), Some(1), "{}", said(&resumed));
    let after = run.covered();
    let lost: Vec<&String> = before.difference(&after).collect();
    assert!(lost.is_empty(), "{lost:?}\n{}", said(&resumed));
    let events = run.events();
    assert!(events.len() > first, "the events go on");
    assert_eq!(events[0]["event"], "started");
    assert_eq!(events.last().expect("events")["event"], "ended");
    let report = run.report();
    assert!(report["ended_early"].is_null(), "{report}");
    assert!(report["calls"].as_u64().is_some_and(|calls| calls > made));
    assert!(
        report["faults"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
    let again = std::fs::read(run.out().join("plan.json")).expect("a plan");
    assert_eq!(again, plan, "the plan is still that of the run");

    let ended = run.resume(&[]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(said(&ended).contains("is complete"), "{}", said(&ended));
}

#[test]
fn a_run_that_was_killed_in_the_search_loses_nothing() {
    for lines in [2, 300] {
        check("1500calls", |text| text.lines().count() >= lines);
    }
}

#[test]
fn a_run_that_was_killed_after_the_search_loses_nothing() {
    for stage in ["probe", "verify"] {
        let mark = format!(r#""stage":"{stage}""#);
        check("1500calls", |text| text.contains(&mark));
    }
}

#[test]
fn a_run_that_was_killed_while_it_hands_over_loses_nothing() {
    // The first forms of suite and report are there by then, and the suite is being run.
    check("800calls", |text| text.contains(r#""stage":"check""#));
}

#[test]
fn a_run_that_was_killed_twice_loses_nothing() {
    let run = Run::new();
    run.killed("10m", |text| text.lines().count() >= 400);
    let first = run.covered();
    let mut child = started(&mut resume(&run.out(), &[]));
    // While what was covered is covered again.
    run.kill_when(&mut child, |text| {
        let again = text.split(r#""event":"resumed""#).nth(1);
        again.is_some_and(|again| again.lines().count() >= 50)
    });
    assert!(run.covered().len() < first.len());
    let mut child = started(&mut resume(&run.out(), &[]));
    run.kill_when(&mut child, |text| {
        let last = text.rsplit(r#""event":"resumed""#).next();
        last.is_some_and(|last| last.contains(r#""stage":"explore""#))
    });
    let lost: Vec<_> = first.difference(&run.covered()).cloned().collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn the_time_that_a_run_had_used_stays_used() {
    let run = Run::new();
    run.killed("6s", |text| text.contains(r#""stage":"probe""#));
    let resumed = run.resume(&[]);
    assert_eq!(resumed.status.code(), Some(1), "{}", said(&resumed));
    let events = run.events();
    let from = events.iter().rposition(|event| event["event"] == "resumed");
    let stages: Vec<&str> = events[from.expect("it was resumed")..]
        .iter()
        .filter_map(|event| event["stage"].as_str())
        .collect();
    assert_eq!(stages.first(), Some(&"resume"), "{stages:?}");
    assert!(
        !stages.contains(&"explore"),
        "there was nothing left to search with: {stages:?}"
    );
    assert!(stages.contains(&"probe"), "{stages:?}");
}

#[test]
fn folders_without_a_run_and_runs_that_go_on_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |folder: &Path, why: &str| {
        let output = resume(folder, &[]).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(why), "{}", said(&output));
    };
    refused(folder.path(), "plan.json");
    std::fs::write(folder.path().join("plan.json"), "{").expect("a file");
    refused(folder.path(), "invalid plan");
    std::fs::write(folder.path().join("plan.json"), "{}").expect("a file");
    refused(folder.path(), "no command line");

    let run = Run::new();
    run.killed("10m", |text| text.lines().count() >= 50);
    let mut child = started(&mut resume(&run.out(), &[]));
    let is_up = || run.events().iter().any(|event| event["event"] == "resumed");
    while !is_up() {
        std::thread::yield_now();
    }
    refused(&run.out(), "another run is writing");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn a_run_on_a_database_finds_the_first_rows_again() {
    let run = Run::on_file();
    let write = |sql: &str| {
        let file = rusqlite::Connection::open(run.folder.path().join("marina.db"));
        file.expect("a database").execute_batch(sql).expect(sql);
    };
    write("INSERT INTO berths (pier, number, length) VALUES ('A', 7, 12), ('B', 7, 9)");
    let before = run.rows();
    assert!(before.len() >= 2, "{before:?}");
    let document = format!("{}/openapi.yaml", run.marina.url());
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobath"));
    let command = command
        .args([
            "rest",
            &document,
            "--auth",
            AUTH,
            "--db",
            "sqlite:marina.db",
        ])
        .args(["--budget", "1500calls", "--seed", "3", "--no-run"])
        .args(["--out", "out"])
        .current_dir(run.folder.path());
    run.kill_when(&mut started(command), |text| text.lines().count() >= 200);
    let first = run.covered();
    let kept = run.out().join("snapshot.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(&kept)
            .expect("rows are kept")
            .permissions(),
    );
    assert_eq!(mode & 0o077, 0, "nobody else reads rows");
    // Whatever the candidate of that moment left, this is there besides.
    write(
        "DELETE FROM berths WHERE number = 7; INSERT INTO berths (pier, number, length) VALUES ('C', 1, 1)",
    );
    assert_ne!(run.rows(), before);

    let resumed = run.resume(&[]);
    assert_eq!(resumed.status.code(), Some(1), "{}", said(&resumed));
    assert!(
        said(&resumed).contains("restored the database snapshot"),
        "{}",
        said(&resumed)
    );
    let after = run.covered();
    let lost: Vec<&String> = first.difference(&after).collect();
    assert!(lost.is_empty(), "{lost:?}\n{}", said(&resumed));
    assert_eq!(run.rows(), before, "the database is left as it was found");
    assert!(!kept.exists(), "a run that ended keeps no rows");
}

#[test]
fn a_run_that_looks_into_a_service_builds_it_again_and_loses_nothing() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suts/rust");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobath"));
    let command = command
        .arg("rest")
        .arg(samples.join("samples/axum/papers.yaml"))
        .arg("--rust")
        .arg(&samples)
        .args(["--package", "sample-axum", "--port", "8931", "--seed", "3"])
        .args(["--budget", "1500calls", "--no-run", "--out"])
        .arg(&out);
    // Enough of them for some to be in the code, which takes methods and tracking.
    kill_when(&out, &mut started(command), |text| {
        text.matches("papers.rs:").count() >= 20
    });
    let first = covered(&out);
    let is_code = |target: &&String| target.contains("papers.rs:");
    assert!(first.iter().filter(is_code).count() >= 20, "{first:?}");
    // The service of the run that was killed may still be at the port.
    let resumed = resume(&out, &[]).output().expect("the binary runs");
    assert!(
        matches!(resumed.status.code(), Some(0 | 1)),
        "{}",
        said(&resumed)
    );
    let after = covered(&out);
    let lost: Vec<&String> = first.difference(&after).collect();
    assert!(lost.is_empty(), "{lost:?}\n{}", said(&resumed));
    assert!(after.len() > first.len(), "the search goes on");
    assert!(!said(&resumed).contains("warning: "), "{}", said(&resumed));
}

#[test]
fn the_log_has_what_was_said_and_no_secrets() {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let document = format!("{}/openapi.yaml", marina.url());
    let run = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(["rest", &document, "--quiet", "--no-run", "--out", "out"])
        .args(["--header", "X-Key: planted-token-4711"])
        .args(["--budget", "300calls", "--reset", "POST /reset"])
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    assert!(matches!(run.status.code(), Some(0 | 1)), "{}", said(&run));
    let read =
        |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).expect("a file");
    let log = read("isobath.log");
    for part in [
        "operations of",
        "stage: explore",
        "stage: verify",
        "targets covered",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    for name in [
        "isobath.log",
        "plan.json",
        "candidates.ndjson",
        "events.ndjson",
    ] {
        assert!(!read(name).contains("planted-token"), "{name}");
    }
    // What is not in the plan has to be given again; that it ended is found out afterwards.
    let out = folder.path().join("out");
    let without = resume(&out, &[]).output().expect("the binary runs");
    assert!(
        said(&without).contains("pass --header again"),
        "{}",
        said(&without)
    );
    let with = resume(&out, &["--header", "X-Key: planted-token-4711"]);
    let with = { with }.output().expect("the binary runs");
    assert!(said(&with).contains("is complete"), "{}", said(&with));
}
