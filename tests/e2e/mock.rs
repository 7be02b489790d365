//! Drives runs of services that call others, in place of which the run answers.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

const RATES: &str = "
openapi: 3.0.3
info: {title: Rates, version: '1'}
paths:
  /latest/{item}:
    get:
      parameters: [{name: item, in: path, required: true, schema: {type: integer}}]
      responses:
        '200':
          description: the rate
          content:
            application/json:
              schema:
                type: object
                required: [currency, value]
                properties:
                  currency: {type: string, enum: [EUR, USD]}
                  value: {type: integer, minimum: 0, maximum: 200}
        '404': {description: no rate}
";

const PRICES: &str = "
openapi: 3.0.3
info: {title: Prices, version: '1'}
paths:
  /prices/{item}:
    get:
      parameters: [{name: item, in: path, required: true, schema: {type: integer, minimum: 0, maximum: 99}}]
      responses:
        '200': {description: cheap, content: {text/plain: {schema: {type: string}}}}
        '203': {description: dear, content: {text/plain: {schema: {type: string}}}}
        '404': {description: no price}
        '502': {description: no rate}
";

/// A service that asks another one at each call, in a language that nobody looks into.
const SERVICE: &str = r#"
import json, os, sys, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Prices(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            item = int(self.path.removeprefix("/prices/"))
            assert 0 <= item < 100
        except (AssertionError, ValueError):
            return self.say(404, "no such item")
        try:
            answer = urllib.request.urlopen(os.environ["RATES_URL"] + f"/latest/{item}", timeout=5)
            rate = json.load(answer)
            dear = rate["currency"] == "EUR" and rate["value"] > 100
        except urllib.error.HTTPError as error:
            return self.say(404 if error.code == 404 else 502, "no rate")
        except Exception:
            return self.say(502, "no rate")
        self.say(203 if dear else 200, "dear" if dear else "cheap")

    def say(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Prices).serve_forever()
"#;

/// What a run printed and how it ended.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n{}\n{}", self.code, self.out, self.err)
    }
}

fn isobath(args: &[&str]) -> Run {
    let done = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(args)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run {
        code: done.status.code().unwrap_or(-1),
        out: text(&done.stdout),
        err: text(&done.stderr),
    }
}

fn works(tool: &str, arguments: &[&str]) -> bool {
    let done = Command::new(tool).args(arguments).output();
    done.is_ok_and(|done| done.status.success())
}

/// A folder with the service and both documents.
struct Desk {
    folder: TempDir,
    port: u16,
}

impl Desk {
    fn new(port: u16) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in [
            ("prices.yaml", PRICES),
            ("rates.yaml", RATES),
            ("service.py", SERVICE),
        ] {
            std::fs::write(folder.path().join(name), text).expect("the folder is ours");
        }
        Self { folder, port }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, more: &[&str]) -> Run {
        let (spec, out) = (self.path("prices.yaml"), self.path("out"));
        let start = format!("exec python3 '{}' {}", self.path("service.py"), self.port);
        let url = format!("http://127.0.0.1:{}", self.port);
        let mut args = vec!["rest", &spec, "--start", &start, "--url", &url];
        args.extend(["--out", &out, "--budget", "600calls"]);
        // Tests run at once, and suites take the place of a run for a while.
        let mock_port = (self.port + 200).to_string();
        args.extend(["--mock-port", &mock_port]);
        args.extend(more);
        isobath(&args)
    }

    fn report(&self) -> Value {
        let text = std::fs::read_to_string(self.path("out/report.json")).expect("a report");
        serde_json::from_str(&text).expect("a report is JSON")
    }

    /// The statuses that the service was seen to answer.
    fn statuses(&self) -> Vec<u64> {
        let report = self.report();
        let seen = report["operations"][0]["statuses"].as_array().cloned();
        let seen = seen.unwrap_or_default();
        seen.iter()
            .filter_map(|one| one["status"].as_u64())
            .collect()
    }
}

#[test]
fn a_service_in_any_language_is_tested_with_answers_that_its_suites_replay() {
    if !works("python3", &["-c", "import pytest, requests"]) {
        return;
    }
    let node = ["--test-concurrency=1", "--test-reporter=junit", "--version"];
    let languages: Vec<&str> = [
        ("pytest", true),
        ("js", works("node", &node)),
        ("rust", works("cargo", &["--version"])),
        ("junit", works("mvn", &["--version"])),
    ]
    .into_iter()
    .filter_map(|(language, there)| there.then_some(language))
    .collect();
    let desk = Desk::new(8_830);
    let mock = format!(
        "RATES_URL=https://rates.example/v1,{}",
        desk.path("rates.yaml")
    );
    let run = desk.run(&["--mock", &mock, "--lang", &languages.join(",")]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.out.contains("to RATES_URL"), "{run}");
    for status in [200, 203, 404, 502] {
        assert!(desk.statuses().contains(&status), "{status}\n{run}");
    }
    let report = desk.report();
    let outgoing = &report["outbound"][0];
    assert_eq!(outgoing["path"], "/v1/latest/*", "{outgoing}");
    assert_eq!(outgoing["operations"][0], "GET /prices/{item}");
    for suite in report["suites"].as_array().expect("a list of suites") {
        assert_eq!(suite["passed"], suite["tests"], "{suite}\n{run}");
        assert_eq!(suite["not_run"], Value::Null, "{suite}");
        assert_eq!(suite["excluded"], Value::Array(Vec::new()), "{suite}");
        assert_eq!(suite["weakened"], Value::Array(Vec::new()), "{suite}");
    }
    // The dear price is only had by an answer, so that whoever replays it must have given that.
    let suite = std::fs::read_to_string(desk.path("out/suite.json")).expect("a suite");
    let suite: Value = serde_json::from_str(&suite).expect("a suite is JSON");
    let tests = suite["tests"].as_array().expect("a list of tests");
    let dear = tests
        .iter()
        .find(|test| test["steps"][0]["expect"]["response"]["status"] == 203)
        .unwrap_or_else(|| panic!("no test of a dear price: {suite:#}"));
    assert_eq!(dear["mocks"].as_array().map(Vec::len), Some(1), "{dear:#}");
    let id = dear["id"].as_str().expect("an id");
    let replayed = isobath(&["replay", id, "--out", &desk.path("out")]);
    assert!(replayed.out.contains("holds"), "{replayed}");
}

#[test]
fn what_cannot_be_stood_for_is_said_before_anything_starts() {
    let desk = Desk::new(8_831);
    for (mock, says) in [
        ("https://rates.example", "pass the variable"),
        ("RATES_URL=http://x,nowhere.yaml", "nowhere.yaml"),
        ("NOT_SET_ANYWHERE", "is not set; pass its URL"),
    ] {
        let run = desk.run(&["--mock", mock]);
        assert_eq!(run.code, 2, "{run}");
        assert!(run.err.contains(says), "{run}");
    }
}

#[test]
fn a_variable_that_the_service_does_not_read_is_warned_about() {
    if !works("python3", &["--version"]) {
        return;
    }
    let desk = Desk::new(8_832);
    let run = desk.run(&["--mock", "OTHER_URL=http://other.example", "--no-run"]);
    assert!(run.out.contains("never called OTHER_URL"), "{run}");
    assert_eq!(desk.report()["outbound"], Value::Array(Vec::new()));
}

/// The workspace of Rust services.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suts/rust")
}

/// Covered and all lines and branches of the sample whose branches depend on answers.
fn coverage(port: &str, more: &[&str]) -> ([(u64, u64); 2], Value) {
    let folder = tempfile::tempdir().expect("a folder for the results");
    let done = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .arg("rest")
        .arg(samples().join("samples/outside/openapi.yaml"))
        .arg("--rust")
        .arg(samples())
        .args(["--package", "sample-outside", "--port", port, "--no-run"])
        .arg("--out")
        .arg(folder.path())
        .args(more)
        // Where nobody is, should anybody be asked.
        .env("RATES_URL", "http://127.0.0.1:1/v1")
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let text = std::fs::read_to_string(folder.path().join("report.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {said}"));
    let report: Value = serde_json::from_str(&text).expect("a report is JSON");
    let files = report["code"]["files"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let file = files.iter().find(|one| {
        let name = one["file"].as_str();
        name.is_some_and(|name| name.ends_with("outside/src/prices.rs"))
    });
    let file = file.expect("the file is watched");
    let numbers = ["lines", "branches"].map(|what| {
        let number = |which: &str| file[what][which].as_u64().unwrap_or_default();
        (number("covered"), number("total"))
    });
    (numbers, report)
}

#[test]
fn branches_that_depend_on_answers_are_covered_with_them_and_not_without() {
    let rates = samples().join("samples/outside/rates.yaml");
    let mock = format!("RATES_URL=https://rates.example/v1,{}", rates.display());
    for seed in ["1", "2"] {
        let mut more = vec!["--mock", &mock, "--mock-port", "9050", "--seed", seed];
        more.extend(["--budget", "8000calls"]);
        let ([lines, branches], report) = coverage("8833", &more);
        let uncovered = &report["uncovered"];
        assert_eq!(lines.0, lines.1, "seed {seed}: {uncovered:#}");
        assert_eq!(branches.0, branches.1, "seed {seed}: {uncovered:#}");
    }
    let ([lines, _], report) = coverage("8833", &["--budget", "1000calls"]);
    assert!(lines.0 + 8 < lines.1, "{lines:?}");
    assert_eq!(report["outbound"], Value::Array(Vec::new()));
}
