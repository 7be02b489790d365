//! `isobath rest` when the service, its document or the user has a bad day.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use isobath_suts::disturbed::{self, Disturbance};
use marina::Faults;
use serde_json::Value;

const DOCUMENT: &str = r#"
openapi: 3.0.3
info: {title: Things, version: '1'}
paths:
  /things:
    get: {responses: {'200': {description: all}}}
  /crash:
    post: {responses: {'200': {description: never}}}
"#;

/// A service in a process of its own, which a call can end: made of what every system with these tests has.
const CRASHING: &str = r#"
import http.server, os, sys
class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        if self.path == "/crash":
            print("out of memory at things.c:42", flush=True)
            os._exit(7)
        body = b"[]"
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = answer
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn put(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a plain path").to_owned()
    }

    fn out(&self) -> String {
        let path = self.0.path().join("out");
        path.to_str().expect("a plain path").to_owned()
    }

    fn report(&self) -> Value {
        read(&self.0.path().join("out/report.json"))
    }

    fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.0.path().join("out/events.ndjson"))
            .expect("a file of events");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobath"));
    command.arg("rest").args(arguments);
    command
}

fn isobath(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary runs")
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener.local_addr().expect("it is bound").port()
}

fn codes(report: &Value) -> Vec<&str> {
    let faults = report["faults"].as_array().expect("a list");
    faults
        .iter()
        .map(|fault| fault["code"].as_str().expect("a code"))
        .collect()
}

#[test]
fn a_service_that_dies_is_started_again_and_its_death_reported() {
    let folder = Folder::new();
    let document = folder.put("openapi.yaml", DOCUMENT);
    let script = folder.put("service.py", CRASHING);
    let url = format!("http://127.0.0.1:{}", free_port());
    let port = url.rsplit(':').next().expect("a port");
    let start = format!("exec python3 {script} {port}");
    let run = isobath(&[
        &document,
        "--url",
        &url,
        "--start",
        &start,
        "--budget",
        "120calls",
        "--out",
        &folder.out(),
    ]);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    let report = folder.report();
    assert_eq!(codes(&report), ["service-died"], "{}", said(&run));
    let fault = &report["faults"][0];
    assert_eq!(fault["operation"], "POST /crash");
    let message = fault["message"].as_str().expect("a message");
    assert!(
        message.contains("code 7") && message.contains("things.c:42"),
        "{message}"
    );
    assert!(
        fault["curl"]
            .as_str()
            .is_some_and(|curl| curl.contains("/crash"))
    );
    assert!(report["calls"].as_u64().is_some_and(|calls| calls >= 60));
    // A test that ends the service would take the others with it.
    let suite = folder.0.path().join("out/pytest/test_things.py");
    let suite = std::fs::read_to_string(suite).expect("a suite");
    assert!(
        suite.contains("/things") && !suite.contains("/crash"),
        "{suite}"
    );
    let is_return = |event: &&Value| event["event"] == "service" && event["up"] == true;
    assert!(folder.events().iter().filter(is_return).count() >= 1);
}

#[test]
fn a_service_that_dies_and_is_not_ours_ends_the_run_with_what_it_has() {
    let folder = Folder::new();
    let document = folder.put("openapi.yaml", DOCUMENT);
    let script = folder.put("service.py", CRASHING);
    let port = free_port().to_string();
    let mut service = Command::new("python3")
        .args([&script, &port])
        .stdout(Stdio::null())
        .spawn()
        .expect("python3 runs");
    let url = format!("http://127.0.0.1:{port}");
    // It is up late, too: nothing waits for it here.
    let run = isobath(&[
        &document,
        "--url",
        &url,
        "--budget",
        "1000000calls",
        "--wait",
        "60",
        "--out",
        &folder.out(),
    ]);
    let ended = service.wait().expect("it ended");
    assert_eq!(ended.code(), Some(7));
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    let report = folder.report();
    assert_eq!(codes(&report), ["service-died"]);
    assert!(
        report["ended_early"]
            .as_str()
            .is_some_and(|why| why.contains("unreachable"))
    );
    assert!(folder.0.path().join("out/report.html").exists());
}

#[test]
fn a_service_that_is_not_there_is_said_to_be_so() {
    let folder = Folder::new();
    let document = folder.put("openapi.yaml", DOCUMENT);
    let url = format!("http://127.0.0.1:{}", free_port());
    let run = isobath(&[
        &document,
        "--url",
        &url,
        "--wait",
        "0",
        "--out",
        &folder.out(),
    ]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    assert!(said(&run).contains("--start"), "{}", said(&run));
    let run = isobath(&[&document, "--url", &url, "--start", "echo sorry; exit 4"]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    assert!(said(&run).contains("sorry"), "{}", said(&run));
}

/// Starts a run on the example and waits until what it wrote down is enough.
fn begun(folder: &Folder, url: &str, budget: &str, is_enough: impl Fn(&str) -> bool) -> Child {
    let document = format!("{url}/openapi.yaml");
    let child = command(&[
        &document,
        "--reset",
        "POST /reset",
        "--budget",
        budget,
        "--out",
        &folder.out(),
    ])
    .stdout(Stdio::null())
    .stderr(Stdio::piped())
    .spawn()
    .expect("the binary runs");
    let path = folder.0.path().join("out/events.ndjson");
    while !std::fs::read_to_string(&path).is_ok_and(|text| is_enough(&text)) {
        std::thread::yield_now();
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn a_signal_at_any_moment_leaves_suite_and_report() {
    for (name, lines) in [("INT", 1), ("INT", 40), ("TERM", 250)] {
        let marina = marina::start(Faults::all()).expect("a free port");
        let folder = Folder::new();
        let child = begun(&folder, &marina.url(), "10m", |text| {
            text.lines().count() >= lines
        });
        signal(&child, name);
        let run = child.wait_with_output().expect("it ends");
        assert_eq!(run.status.code(), Some(130), "{}", said(&run));
        let report = folder.report();
        assert_eq!(report["ended_early"], "interrupted");
        for file in ["report.html", "junit.xml", "suite.json", "report.sarif"] {
            assert!(folder.0.path().join("out").join(file).exists(), "{file}");
        }
        let last = folder.events().pop().expect("events");
        assert_eq!(last["event"], "ended");
        if lines > 100 {
            let suite = folder.0.path().join("out/pytest/test_marina.py");
            let suite = std::fs::read_to_string(suite).expect("a suite");
            assert!(suite.contains("def test_"), "{suite}");
        }
    }
}

#[test]
fn a_signal_after_the_search_leaves_suite_and_report_too() {
    for stage in ["probe", "minimize", "verify", "check"] {
        let marina = marina::start(Faults::all()).expect("a free port");
        let folder = Folder::new();
        let mark = format!(r#""stage":"{stage}""#);
        let child = begun(&folder, &marina.url(), "3000calls", |text| {
            text.contains(&mark)
        });
        signal(&child, "INT");
        let run = child.wait_with_output().expect("it ends");
        assert_eq!(run.status.code(), Some(130), "{stage}: {}", said(&run));
        assert!(said(&run).contains("interrupted"), "{}", said(&run));
        let report = folder.report();
        assert_eq!(report["ended_early"], "interrupted", "{stage}");
        let suite = &report["suites"][0];
        assert!(suite["not_run"].is_string(), "{stage}: {suite}");
        assert!(
            suite["tests"].as_u64().is_some_and(|tests| tests > 10),
            "{stage}: {suite}"
        );
        for file in ["report.html", "suite.json", "pytest/test_marina.py"] {
            let path = folder.0.path().join("out").join(file);
            assert!(path.exists(), "{stage}: {file}");
        }
        let last = folder.events().pop().expect("events");
        assert_eq!(last["event"], "ended", "{stage}");
    }
}

#[test]
fn what_happened_before_a_kill_is_in_the_events() {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = Folder::new();
    let child = begun(&folder, &marina.url(), "10m", |text| {
        text.lines().count() >= 100
    });
    signal(&child, "KILL");
    let run = child.wait_with_output().expect("it ends");
    assert_eq!(run.status.code(), None);
    let text = std::fs::read_to_string(folder.0.path().join("out/events.ndjson")).expect("events");
    let whole: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    assert!(whole.len() >= 99, "{}", whole.len());
    assert_eq!(whole[0]["event"], "started");
    assert!(whole.iter().any(|event| event["event"] == "covered"));
}

/// The quick part of `isobath-bench faults`.
#[test]
fn disturbed_responses_end_no_run() {
    for kind in Disturbance::ALL {
        let marina = marina::start(Faults::none()).expect("a free port");
        let address = marina.url().trim_start_matches("http://").parse();
        let proxy = disturbed::start(address.expect("an address"), kind, 4);
        let folder = Folder::new();
        let out = folder.0.path().join("out").display().to_string();
        let document = format!("{}/openapi.yaml", proxy.url);
        let reset = ["--url", &proxy.url, "--reset", "POST /reset", "--no-run"];
        let bounds = ["--budget", "40calls", "--timeout", "0.2", "--out", &out];
        let run = isobath(&[&[&*document], &reset[..], &bounds[..]].concat());
        let code = run.status.code();
        assert!(
            matches!(code, Some(0 | 1 | 3)),
            "{kind:?}: {code:?} {}",
            said(&run)
        );
        let report = std::fs::read_to_string(folder.0.path().join("out/report.json"));
        let report: Value = serde_json::from_str(&report.expect("a report")).expect("JSON");
        assert!(report["calls"].as_u64() > Some(0), "{kind:?}");
        assert!(proxy.count() > 3, "{kind:?}: {} faults", proxy.count());
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_said_before_any_call() {
    let marina = marina::start(Faults::none()).expect("a free port");
    let folder = Folder::new();
    let file = folder.put("file", "");
    let document = format!("{}/openapi.yaml", marina.url());
    let run = isobath(&[&document, "--out", &format!("{file}/out")]);
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    assert!(said(&run).contains("cannot write"), "{}", said(&run));
}
