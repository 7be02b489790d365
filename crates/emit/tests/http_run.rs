//! Emitted HTTP suites are run for real against a live service, and fail when an expectation is
//! wrong.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod http_runner;
mod http_samples;
mod runner;
mod samples;

use isobath_emit::http::writer;
use isobath_emit::http::{ExpectedResponse, HttpStep, HttpSuite, HttpTest, Request, ResetHook};
use marina::Faults;

use http_runner::run;
use runner::Workshop;

#[test]
fn the_pytest_files_pass_and_notice_every_wrong_expectation() {
    let tools = ["-c", "import pytest, requests"];
    if Workshop::needing("python3", &tools).is_some() {
        check("pytest");
    }
}

#[test]
fn the_node_files_pass_and_notice_every_wrong_expectation() {
    // Distributions may have a Node that is too old for this.
    let probe = ["--test-concurrency=1", "--test-reporter=junit", "--version"];
    if Workshop::wishing("node", &probe).is_some() {
        check("js");
    }
}

#[test]
fn the_rest_assured_classes_pass_and_notice_every_wrong_expectation() {
    if Workshop::needing("mvn", &["--version"]).is_some() {
        check("junit");
    }
}

#[test]
fn the_rust_files_pass_and_notice_every_wrong_expectation() {
    if Workshop::needing("cargo", &["--version"]).is_some() {
        check("rust");
    }
}

#[test]
fn the_vitest_files_pass_and_notice_every_wrong_expectation() {
    if http_runner::vitest().is_some() {
        check("ts");
    }
}

#[test]
fn the_kotlin_classes_pass_and_notice_every_wrong_expectation() {
    if Workshop::wishing("mvn", &["--version"]).is_some() {
        check("kotlin");
    }
}

#[test]
fn the_go_files_pass_and_notice_every_wrong_expectation() {
    if Workshop::wishing("go", &["version"]).is_some() {
        check("go");
    }
}

#[test]
fn the_rust_files_are_formatted_as_rustfmt_formats_them() {
    let Some(shop) = Workshop::needing("rustfmt", &["--version"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for suite in [
        http_samples::marina("http://x"),
        http_samples::echo("http://x"),
    ] {
        let written = writer::by_name("rust").unwrap().write(&suite).unwrap();
        for file in written
            .files
            .iter()
            .filter(|file| file.path.starts_with("tests/"))
        {
            let name = file.path.replace('/', "_");
            std::fs::write(folder.path().join(&name), &file.text).unwrap();
            let check = "rustfmt --edition 2024 --check \"$1\"";
            let outcome = shop.script(folder.path(), check, &name);
            assert!(outcome.success, "{}", outcome.output);
        }
    }
}

#[test]
fn a_suite_starts_its_service_resets_it_by_command_and_stops_it() {
    if Workshop::needing("python3", &["-c", "import pytest, requests"]).is_none() {
        return;
    }
    for (language, tool) in [
        ("pytest", "python3"),
        ("js", "node"),
        ("junit", "mvn"),
        ("rust", "cargo"),
        ("go", "go"),
    ] {
        let probe = if tool == "go" { "version" } else { "--version" };
        if Workshop::wishing(tool, &[probe]).is_none() {
            continue;
        }
        // Taken from the system, and given back for the service to take.
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let marks = tempfile::tempdir().unwrap();
        let mark = marks.path().join("resets");
        let mut suite = HttpSuite::new("files", format!("http://127.0.0.1:{port}"));
        suite.service.start = Some(format!("python3 -m http.server {port} --bind 127.0.0.1"));
        suite.service.reset = Some(ResetHook::Command(format!(
            "echo reset >> '{}'",
            mark.display()
        )));
        for id in ["lists", "lists_again"] {
            suite.tests.push(HttpTest {
                id: id.into(),
                name: id.into(),
                group: "GET /".into(),
                steps: vec![HttpStep::new(
                    Request::new("GET", "/"),
                    ExpectedResponse::status(200),
                )],
                ..HttpTest::default()
            });
        }
        for (id, result) in run(language, &suite) {
            assert!(result.passed, "{language}: {id} fails: {}", result.message);
        }
        assert_eq!(
            std::fs::read_to_string(&mark).unwrap(),
            "reset\nreset\n",
            "{language}"
        );
        // The service was told to end; a moment later it has.
        let gone = (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            std::net::TcpStream::connect(("127.0.0.1", port)).is_err()
        });
        assert!(gone, "{language} leaves its service running");
    }
}

/// The samples pass; and with each expectation wrong in a test of its own, every test fails.
fn check(language: &str) {
    let service = marina::start(Faults::all()).unwrap();
    let echo = http_samples::echo::start().unwrap();
    for right in [
        http_samples::marina(&service.url()),
        http_samples::echo(&echo),
    ] {
        for (id, result) in run(language, &right) {
            assert!(result.passed, "{id} fails: {}", result.message);
        }
        for (id, result) in run(language, &http_samples::all_wrong(&right)) {
            assert!(!result.passed, "{id} passes");
            assert!(!result.message.is_empty(), "{id} fails without a word");
        }
    }
}
