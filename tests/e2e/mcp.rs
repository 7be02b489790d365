//! `isobath mcp`: what clients can ask, what they are refused, and how calls end.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use isobath_emit::findings::{FaultView, RestReport};
use marina::Faults;
use serde_json::{Value as Json, json};

const SCHEMA: &str = "CREATE TABLE boats (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, meters INT CHECK (meters > 3));
CREATE TABLE trips (id INT PRIMARY KEY, boat INT REFERENCES boats (id), CHECK (id > 9 AND id < 3));\n";

/// A server in a folder, and a client that speaks the protocol line by line.
struct Session {
    server: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    n_sent: u64,
}

impl Session {
    fn start(folder: &Path) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .arg("mcp")
            .current_dir(folder)
            // Tests of users read their passwords from the environment.
            .env("ADA_PASSWORD", "sextant")
            .env("BEN_PASSWORD", "compass")
            .env("MASTER_PASSWORD", "anchor")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let stdin = server.stdin.take();
        let stdout = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut session = Self {
            server,
            stdin,
            stdout,
            n_sent: 0,
        };
        let client = json!({ "name": "test", "version": "1" });
        let hello = session.ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        );
        assert_eq!(hello["serverInfo"]["name"], "isobath", "{hello}");
        session.notify("notifications/initialized", json!({}));
        session
    }

    fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("not closed yet");
        writeln!(stdin, "{line}").expect("the server reads");
    }

    fn notify(&mut self, method: &str, params: Json) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request, and returns its number.
    fn send(&mut self, method: &str, params: Json) -> u64 {
        self.n_sent += 1;
        let id = self.n_sent;
        self.write(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        id
    }

    /// The response to a request. Whatever else comes must be a message of the protocol too.
    fn response(&mut self, id: u64) -> Json {
        loop {
            let mut line = String::new();
            let n_read = self.stdout.read_line(&mut line).expect("text");
            assert!(n_read > 0, "the server ended");
            let message: Json = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == id {
                return message;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let id = self.send(method, params);
        let response = self.response(id);
        assert!(response.get("result").is_some(), "{response}");
        response["result"].clone()
    }

    fn send_call(&mut self, tool: &str, arguments: Json) -> u64 {
        self.send(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// What a tool answers: as `Ok`, or as the error that the client is told.
    fn call(&mut self, tool: &str, arguments: Json) -> Result<String, String> {
        let id = self.send_call(tool, arguments);
        let result = self.response(id)["result"].clone();
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.chars().count() < 20_100, "answers are bounded");
        if result["isError"] == true {
            Err(text.to_owned())
        } else {
            Ok(text.to_owned())
        }
    }

    /// Closes standard input, and waits for the end.
    fn close(mut self) {
        drop(self.stdin.take());
        let status = self.server.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the folder is ours");
}

/// A marina with faults, and a folder with the settings for its tests.
fn harbor() -> (marina::Running, tempfile::TempDir) {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let auth = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/marina/auth.yaml"
    );
    let settings = format!(
        "[rest]\nspec = '{}/openapi.yaml'\nauth = '{auth}'\nreset = 'POST /reset'\nno-run = true\n",
        marina.url()
    );
    put(folder.path(), "isobath.toml", &settings);
    (marina, folder)
}

#[test]
fn a_client_runs_a_job_lists_and_explains_its_findings_and_replays_one() {
    let (_marina, folder) = harbor();
    let mut session = Session::start(folder.path());
    let empty = session.call("list_findings", json!({}));
    assert!(empty.is_err_and(|why| why.contains("run a job first")));
    let arguments = json!({ "job": "rest", "seconds": 10, "operations": ["GET /search"] });
    let ran = session.call("run", arguments);
    let ran = ran.expect("a service is there");
    assert!(ran.starts_with("exit code 1 (findings)"), "{ran}");
    let list = session.call(
        "list_findings",
        json!({ "search": "server-error", "limit": 1 }),
    );
    let list = list.expect("a report");
    let finding = list.lines().nth(1).expect("a finding");
    let finding: Json = serde_json::from_str(finding).expect("JSON");
    assert_eq!(finding["code"], "server-error");
    let id = finding["id"].as_str().expect("an id");
    let explained = session.call("explain", json!({ "finding": id }));
    let explained = explained.expect("it was found");
    assert!(explained.contains("curl"), "its calls: {explained}");
    assert!(explained.contains("server-error (WFC"), "{explained}");
    let replayed = session.call("replay", json!({ "finding": id }));
    let replayed = replayed.expect("the service is still there");
    assert!(replayed.contains("still there  server-error"), "{replayed}");
    session.close();
}

#[test]
fn a_client_gets_tests_for_a_schema_and_rows_for_a_query() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "schema.sql", SCHEMA);
    let mut session = Session::start(folder.path());
    let tools = session.ask("tools/list", json!({}));
    let tools = tools["tools"].as_array().expect("a list");
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let expected = [
        "list_findings",
        "explain",
        "replay",
        "run",
        "rows_for_query",
    ];
    assert_eq!(names, expected);
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert!(jsonschema::validator_for(schema).is_ok(), "{schema}");
    }
    let ran = session.call("run", json!({ "job": "schema", "schema": ["schema.sql"] }));
    ran.expect("a schema is there");
    let list = session.call("list_findings", json!({ "run": "isobath-out" }));
    assert!(list.is_ok_and(|list| list.contains("trips")));
    let query = "SELECT name FROM boats WHERE meters > 12";
    let arguments = json!({ "query": query, "schema": SCHEMA, "dialect": "sqlite" });
    let rows = session.call("rows_for_query", arguments).expect("rows");
    assert!(rows.starts_with("exit code 0"), "{rows}");
    assert!(rows.contains("6 of 6 targets covered"), "{rows}");
    assert!(rows.contains("INSERT INTO boats"), "{rows}");
    session.close();
}

#[test]
fn what_a_client_must_not_do_is_refused() {
    let outside = tempfile::tempdir().expect("a folder");
    put(outside.path(), "schema.sql", SCHEMA);
    let schema = outside.path().join("schema.sql").display().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "openapi.json", "{}");
    let mut session = Session::start(folder.path());
    for (tool, arguments, expected) in [
        (
            "run",
            json!({ "job": "schema", "schema": [schema] }),
            "--allow",
        ),
        (
            "run",
            json!({ "job": "schema", "schema": ["--db=x"] }),
            "cannot read",
        ),
        (
            "run",
            json!({ "job": "rest", "document": "openapi.json", "out": "../out" }),
            "--allow",
        ),
        (
            "run",
            json!({ "job": "rest", "document": "http://example.org/api" }),
            "this machine",
        ),
        (
            "run",
            json!({ "job": "rest", "document": "file:///etc/passwd" }),
            "this machine",
        ),
        (
            "run",
            json!({ "job": "rest", "url": "http://10.0.0.1/" }),
            "this machine",
        ),
        (
            "run",
            json!({ "job": "rest", "start": "touch here" }),
            "unknown field `start`",
        ),
        (
            "run",
            json!({ "job": "rest", "seconds": 0 }),
            "from 1 to 1800",
        ),
        (
            "run",
            json!({ "job": "rest", "seconds": "soon" }),
            "wrong arguments",
        ),
        (
            "run",
            json!({ "job": "rest", "queries": ["a.sql"] }),
            "for query",
        ),
        ("run", json!({ "job": "demo" }), "wrong arguments"),
        (
            "run",
            json!({ "job": "rest", "document": "openapi.json" }),
            "exit code 2",
        ),
        ("list_findings", json!({ "run": "/" }), "--allow"),
        (
            "explain",
            json!({ "finding": "server-eror" }),
            "did you mean `server-error`?",
        ),
        (
            "replay",
            json!({ "url": "http://example.org" }),
            "no report",
        ),
        (
            "rows_for_query",
            json!({ "query": "SELECT" }),
            "missing field `schema`",
        ),
        (
            "rows_for_query",
            json!({ "query": "SELECT FROM", "schema": "x" }),
            "exit code 2",
        ),
        ("remove_everything", json!({}), "unknown tool"),
    ] {
        let said = session.call(tool, arguments.clone());
        let said = said.expect_err(&arguments.to_string());
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    assert!(!folder.path().join("here").exists());
    session.close();
}

#[test]
fn answers_are_bounded_and_hold_nothing_that_looks_like_a_secret() {
    let fault = |fingerprint: &str, message: String| FaultView {
        code: "server-error".into(),
        fingerprint: fingerprint.into(),
        operation: "GET /boats".into(),
        curl: "curl -H 'Authorization: Bearer planted-0815' http://127.0.0.1/boats".into(),
        message,
        ..FaultView::default()
    };
    let secret = "postgres://harbor:planted-0815@127.0.0.1/db refused: password=planted-0815";
    let report = RestReport {
        title: "Marina".into(),
        faults: vec![
            fault("secret", secret.to_owned()),
            fault("long", "x".repeat(100_000)),
        ],
        ..RestReport::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("isobath-out/rest");
    std::fs::create_dir_all(&out).expect("a folder");
    put(&out, "report.json", &report.to_json());
    let mut session = Session::start(folder.path());
    // `call` checks the length of each answer.
    let listed = session.call("list_findings", json!({}));
    let explained = session.call("explain", json!({ "finding": "secret" }));
    for said in [listed, explained] {
        let said = said.expect("a report");
        assert!(said.contains("***") && !said.contains("planted"), "{said}");
    }
    session
        .call("explain", json!({ "finding": "long" }))
        .expect("a report");
    session.close();
}

/// Starts a job that would take long, and waits until it has begun.
fn begin_long_job(session: &mut Session, folder: &Path) -> u64 {
    let id = session.send_call("run", json!({ "job": "rest", "seconds": 300 }));
    until("the job begins", || {
        folder.join("isobath-out/rest/isobath.log").exists()
    });
    id
}

fn until(what: &str, mut has_happened: impl FnMut() -> bool) {
    let started = Instant::now();
    while !has_happened() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_cancelled_job_ends_and_makes_room_for_the_next() {
    let (_marina, folder) = harbor();
    put(folder.path(), "schema.sql", SCHEMA);
    let mut session = Session::start(folder.path());
    let id = begin_long_job(&mut session, folder.path());
    let next = json!({ "job": "schema", "schema": ["schema.sql"] });
    let refused = session.call("run", next.clone());
    assert!(refused.is_err_and(|why| why.contains("another job is running")));
    session.notify("notifications/cancelled", json!({ "requestId": id }));
    until("the next job runs", || {
        session.call("run", next.clone()).is_ok()
    });
    session.close();
}

#[test]
fn a_client_that_goes_away_ends_its_job() {
    let (_marina, folder) = harbor();
    let mut session = Session::start(folder.path());
    begin_long_job(&mut session, folder.path());
    session.close();
}

#[test]
fn lines_that_are_no_messages_do_not_end_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = Session::start(folder.path());
    for line in [
        "hello?",
        "{\"jsonrpc\": \"2.0\"",
        "[1, 2]",
        "{}",
        "\u{feff}",
    ] {
        session.write(line);
    }
    let said = session.call("explain", json!({ "finding": "server-error" }));
    assert!(said.is_ok(), "{said:?}");
    session.close();
}

/// The official client for Python, from `scripts/test`.
const PYTHON_CLIENT: &str = r#"
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main(program, folder, schema):
    server = StdioServerParameters(command=program, args=["mcp", folder])
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            tools = await session.list_tools()
            progress = []
            async def on_progress(done, total, message):
                progress.append(message)
            ran = await session.call_tool("run", {"job": "rest", "seconds": 10, "operations": ["GET /search"]}, progress_callback=on_progress)
            listed = await session.call_tool("list_findings", {})
            rows = await session.call_tool("rows_for_query", {"query": "SELECT name FROM boats", "schema": schema})
            wrong = await session.call_tool("explain", {"finding": "nothing"})
            answers = [result.content[0].text for result in (ran, listed, rows, wrong)]
            print(json.dumps({"tools": len(tools.tools), "progress": progress, "answers": answers}))

asyncio.run(main(*sys.argv[1:]))
"#;

#[test]
fn the_official_client_for_python_is_served() {
    let python = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/test-tools/mcp/bin/python"
    );
    if !Path::new(python).exists() {
        eprintln!("left out: the Python package `mcp` is not installed; scripts/test installs it");
        return;
    }
    let (_marina, folder) = harbor();
    let run = Command::new(python)
        .args(["-c", PYTHON_CLIENT, env!("CARGO_BIN_EXE_isobath")])
        .arg(folder.path())
        .arg(SCHEMA)
        .output()
        .expect("Python runs");
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{complaints}");
    let said: Json = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(said["tools"], 5);
    let progress = said["progress"].as_array().expect("a list");
    assert!(
        !progress.is_empty(),
        "a run of some seconds reports progress"
    );
    let answer = |index: usize| said["answers"][index].as_str().expect("a text");
    assert!(
        answer(0).starts_with("exit code 1 (findings)"),
        "{}",
        answer(0)
    );
    assert!(answer(1).contains("findings match"), "{}", answer(1));
    assert!(answer(2).starts_with("exit code 0"), "{}", answer(2));
    assert!(answer(3).contains("unknown fault code"), "{}", answer(3));
}
