//! `isobath rest` from the command line, against the example service.

use std::path::Path;
use std::process::{Command, Output};

use marina::{Fault, Faults};
use serde_json::Value;

fn isobath(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isobath"))
        .arg("rest")
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn report(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

const AUTH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/marina/auth.yaml"
);

#[test]
fn the_test_database_is_looked_at_and_in_the_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("marina.db");
    let faults = [
        Fault::OccupancyCutsPower,
        Fault::LengthCutsPower,
        Fault::DeepDraftForgotten,
    ];
    let faults = faults.into_iter().collect();
    let marina = marina::start_on(faults, Some(file.clone())).expect("a free port");
    let out = folder.path().join("out");
    let run = isobath(&[
        &format!("{}/openapi.yaml", marina.url()),
        "--auth",
        AUTH,
        "--db",
        &format!("sqlite:{}", file.display()),
        "--budget",
        "3000calls",
        "--seed",
        "1",
        "--no-run",
        "--out",
        out.to_str().expect("a plain path"),
    ]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let report = report(&out);
    let faults = report["faults"].as_array().expect("a list");
    let is_planted = |fault: &Value| {
        let planted = ["get-wrote", "update-changed-others", "lost-update"];
        fault["code"]
            .as_str()
            .is_some_and(|code| planted.contains(&code))
    };
    assert!(
        !faults.is_empty() && faults.iter().all(is_planted),
        "{faults:?}"
    );
    let details = report["faults"].to_string();
    assert!(
        details.contains(" became "),
        "the rows are shown: {details}"
    );
    let database = &report["database"];
    assert!(
        database["resets"]
            .as_u64()
            .is_some_and(|resets| resets > 10)
    );
    let constraints = database["constraints"].as_array().expect("a list");
    assert!(constraints.len() > 15, "{constraints:?}");
    let markdown = std::fs::read_to_string(out.join("report.md")).expect("a report");
    assert!(markdown.contains("## Database"), "{markdown}");
}

#[test]
fn faults_are_reported_with_tests_and_reproducers() {
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let document = format!("{}/openapi.yaml", marina.url());
    let out = folder.path().to_str().expect("a plain path");
    let run = isobath(&[
        &document,
        "--auth",
        AUTH,
        "--reset",
        "POST /reset",
        "--budget",
        "4000calls",
        "--seed",
        "7",
        "--out",
        out,
    ]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let said = text(&run.stdout);
    assert!(said.contains("curl -sS "), "{said}");
    assert!(!said.contains("Bearer pass-"), "a token is shown: {said}");
    let report = report(folder.path());
    for field in [
        "calls",
        "seconds",
        "targets",
        "covered",
        "operations",
        "faults",
        "limitations",
    ] {
        assert!(!report[field].is_null(), "no {field}");
    }
    assert!(
        report["calls"].as_u64().is_some_and(|calls| calls <= 5_000),
        "{}",
        report["calls"]
    );
    let faults = report["faults"].as_array().expect("a list");
    assert!(faults.len() >= 4, "{faults:?}");
    assert!(faults.iter().all(|fault| fault["code"].is_string()
        && fault["root_cause"].is_string()
        && fault["operation"].is_string()));
    let suite =
        std::fs::read_to_string(folder.path().join("pytest/test_marina.py")).expect("a suite");
    assert!(suite.contains("def test_"), "{suite}");
}

#[test]
fn a_dry_run_sends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = folder.path().join("openapi.yaml");
    std::fs::write(&document, marina::OPENAPI).expect("a file");
    let run = isobath(&[document.to_str().expect("a plain path"), "--dry-run"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(text(&run.stdout).contains("POST /bookings/{bookingId}/invoice"));
    let small = "{openapi: 3.0.0, info: {title: Small, version: '1'}, paths: {/a: {get: {responses: {'200': {description: ok}}}}}}";
    std::fs::write(&document, small).expect("a file");
    let run = isobath(&[document.to_str().expect("a plain path"), "--dry-run"]);
    let said = text(&run.stdout);
    assert!(said.starts_with("Small: 1 operation, "), "{said}");
}

#[test]
fn bad_input_says_what_to_do_and_has_its_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = folder.path().join("openapi.yaml");
    std::fs::write(&document, marina::OPENAPI).expect("a file");
    let document = document.to_str().expect("a plain path");
    let check = |arguments: &[&str], code: i32, message: &str| {
        let run = isobath(arguments);
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    };
    check(&["no-such-file.yaml"], 2, "no-such-file.yaml");
    check(&[document], 2, "pass --url");
    check(&[document, "--url", "http://example.com"], 2, "--remote");
    check(
        &[document, "--url", "http://127.0.0.1:1"],
        3,
        "cannot reach",
    );
    check(&[document, "--budget", "soon"], 2, "60s");
    check(&[document, "--skip", "no-such-kind"], 2, "server-error");
    let broken = folder.path().join("broken.yaml");
    std::fs::write(&broken, "openapi: [3.0").expect("a file");
    check(&[broken.to_str().expect("a plain path")], 2, "broken.yaml");
}

/// Whether a tool of a test language works here; CI requires those that `scripts/test` installs.
fn works(tool: &str, arguments: &[&str]) -> bool {
    let found = Command::new(tool).args(arguments).output();
    let works = found.is_ok_and(|output| output.status.success());
    let required = std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_some();
    assert!(works || !required, "`{tool}` does not work");
    works
}

#[test]
fn written_suites_are_run_before_they_are_handed_over() {
    if !works("python3", &["-c", "import pytest, requests"]) {
        return;
    }
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let document = format!("{}/openapi.yaml", marina.url());
    let out = folder.path().to_str().expect("a plain path");
    let run = isobath(&[
        &document,
        "--auth",
        AUTH,
        "--reset",
        "POST /reset",
        "--budget",
        "1500calls",
        "--out",
        out,
    ]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let report = report(folder.path());
    let suite = &report["suites"][0];
    assert_eq!(suite["language"], "pytest");
    assert_eq!(suite["not_run"], Value::Null, "{suite}");
    assert_eq!(suite["passed"], suite["tests"], "{suite}");
    assert!(suite["tests"].as_u64().is_some_and(|tests| tests > 10));
    let cases = report["test_cases"].as_array().expect("a list");
    assert!(cases.iter().all(|case| case["passed"] == true), "{cases:?}");
    assert!(
        text(&run.stdout).contains("tests passed"),
        "{}",
        text(&run.stdout)
    );
    assert!(!folder.path().join("pytest/results.xml").exists());
}

#[test]
fn suites_in_every_language_are_run_before_they_are_handed_over() {
    // Distributions may have a Node that is too old for this.
    let node = ["--test-concurrency=1", "--test-reporter=junit", "--version"];
    let node = Command::new("node").args(node).output();
    let languages: Vec<&str> = [
        ("js", node.is_ok_and(|output| output.status.success())),
        ("rust", works("cargo", &["--version"])),
        ("junit", works("mvn", &["--version"])),
    ]
    .into_iter()
    .filter_map(|(language, works)| works.then_some(language))
    .collect();
    let marina = marina::start(Faults::all()).expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let run = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .arg("rest")
        .arg(format!("{}/openapi.yaml", marina.url()))
        .args(["--auth", AUTH, "--reset", "POST /reset"])
        .args(["--budget", "600calls", "--lang", &languages.join(",")])
        .arg("--out")
        .arg(folder.path())
        // What cargo builds for suites goes to the temporary folder: one for all tests of this workspace.
        .env("TMPDIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("the binary runs");
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let report = report(folder.path());
    let suites = report["suites"].as_array().expect("a list");
    assert_eq!(suites.len(), languages.len());
    for (suite, language) in suites.iter().zip(&languages) {
        assert_eq!(suite["language"], **language);
        assert_eq!(suite["not_run"], Value::Null, "{suite}");
        assert_eq!(suite["passed"], suite["tests"], "{suite}");
        assert_eq!(suite["excluded"], Value::Array(Vec::new()), "{suite}");
        assert!(
            suite["tests"].as_u64().is_some_and(|tests| tests > 10),
            "{suite}"
        );
    }
}

/// A service whose answers differ from process to process: what was seen twice does not come a third time.
const MOODY: &str = r#"
import http.server, itertools, sys
numbers = itertools.count()
class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        by_us = "isobath" in self.headers.get("User-Agent", "")
        status, body = 200, b'{"mood": "good"}'
        if self.path == "/mood" and not by_us:
            body = b'{"mood": "bad"}'
        if self.path == "/temper" and not by_us:
            status = 404
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
"#;

#[test]
fn tests_that_fail_in_their_language_are_loosened_or_left_out() {
    if !works("python3", &["-c", "import pytest, requests"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a plain path").to_owned()
    };
    let script = put("moody.py", MOODY);
    let answers = "{responses: {'200': {description: it}, '404': {description: not}}}";
    let document = put(
        "openapi.yaml",
        &format!(
            "openapi: 3.0.3\ninfo: {{title: Moods, version: '1'}}\npaths:\n  /mood: {{get: {answers}}}\n  /temper: {{get: {answers}}}\n"
        ),
    );
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        free.local_addr().expect("it is bound").port()
    };
    let out = folder.path().join("out");
    let run = isobath(&[
        &document,
        "--url",
        &format!("http://127.0.0.1:{port}"),
        "--start",
        &format!("exec python3 {script} {port}"),
        "--budget",
        "60calls",
        "--out",
        out.to_str().expect("a plain path"),
    ]);
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}{}",
        text(&run.stdout),
        text(&run.stderr)
    );
    let suite = report(&out)["suites"][0].clone();
    let loosened = suite["weakened"].as_array().expect("a list");
    assert!(
        loosened
            .iter()
            .any(|id| id.as_str().is_some_and(|id| id.contains("mood"))),
        "{suite}"
    );
    let reason = suite["excluded"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("404 == 200"), "{suite}");
    assert_eq!(suite["passed"], suite["tests"], "{suite}");
    let tests = std::fs::read_to_string(out.join("pytest/test_moods.py")).expect("a suite");
    assert!(tests.contains("/mood"), "{tests}");
    assert!(
        !tests.contains("/temper") && !tests.contains("good"),
        "{tests}"
    );
    assert!(
        text(&run.stdout).contains("left out"),
        "{}",
        text(&run.stdout)
    );
}

#[test]
fn a_language_that_does_not_exist_is_said_before_any_call() {
    let run = isobath(&["no-such-file.yaml", "--lang", "cobol"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(
        text(&run.stderr).contains("pytest"),
        "{}",
        text(&run.stderr)
    );
}
