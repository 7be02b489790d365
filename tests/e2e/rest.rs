//! `isobath rest` from the command line, against the example service.

use std::path::Path;
use std::process::{Command, Output};

use marina::Faults;
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
    assert!(faults.len() >= 5, "{faults:?}");
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
    check(&[document], 2, "give --url");
    check(&[document, "--url", "http://example.com"], 2, "--remote");
    check(
        &[document, "--url", "http://127.0.0.1:1"],
        3,
        "is the service up?",
    );
    check(&[document, "--budget", "soon"], 2, "60s");
    check(&[document, "--skip", "no-such-kind"], 2, "server-error");
    let broken = folder.path().join("broken.yaml");
    std::fs::write(&broken, "openapi: [3.0").expect("a file");
    check(&[broken.to_str().expect("a plain path")], 2, "broken.yaml");
}
