//! The model of HTTP suites: it survives JSON, and what cannot be printed is refused with a reason.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod http_samples;
mod runner;
mod samples;

use isobath_emit::SuiteDialect;
use isobath_emit::http::{
    Body, BodyCheck, ExpectedOutcome, ExpectedResponse, HttpStep, HttpSuite, HttpTest, JsonPath,
    Request, ResetHook, Text, TextPiece, ValueSource, writer,
};
use serde_json::json;

#[test]
fn a_suite_is_the_same_after_a_round_trip_through_json() {
    for suite in [
        http_samples::marina("http://x"),
        http_samples::echo("http://x"),
    ] {
        assert_eq!(HttpSuite::from_json(&suite.to_json()).unwrap(), suite);
    }
    let error = HttpSuite::from_json("{\n  \"title\": 1\n}").unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn every_writer_prints_the_same_suite_the_same_and_tells_where_its_tests_are() {
    let suite = http_samples::marina("http://localhost:8080");
    for writer in writer::ALL {
        let written = writer.write(&suite).unwrap();
        assert_eq!(written, writer.write(&suite).unwrap());
        assert_eq!(written.tests.len(), suite.tests.len());
        for test in &written.tests {
            let file = written
                .files
                .iter()
                .find(|file| file.path == test.path)
                .unwrap();
            let lines: Vec<&str> = file.text.lines().collect();
            let text = lines[test.start_line - 1..test.end_line].join("\n");
            assert!(text.contains(&test.name), "{} is not in\n{text}", test.name);
        }
        let faults = &written.files[1];
        assert!(
            faults.path.to_lowercase().contains("faults"),
            "{}",
            faults.path
        );
        assert!(
            faults.text.contains("FAULT server-error: a quote in `q`"),
            "{}",
            faults.text
        );
    }
}

#[test]
fn every_statement_is_printed_in_every_language() {
    let suite = http_samples::everything::everything(SuiteDialect::Sqlite, false);
    let ids = ["puts_a_boat_into_a_berth", "checks", "gives_up"];
    for writer in writer::ALL {
        let written = writer.write(&suite).unwrap();
        let mut text = String::new();
        for test in &written.tests {
            if ids.contains(&test.id.as_str()) {
                let file = written.files.iter().find(|file| file.path == test.path);
                let lines: Vec<&str> = file.unwrap().text.lines().collect();
                text += &lines[test.start_line - 1..test.end_line].join("\n");
                text += "\n\n";
            }
        }
        insta::assert_snapshot!(format!("statements_{}", writer.name()), text);
    }
}

#[test]
fn every_writer_starts_a_service_that_takes_any_port_where_one_is_free() {
    let mut suite = http_samples::marina("http://127.0.0.1:8640/api");
    suite
        .service
        .start_on_free_ports("env PORT={port} SERVER_PORT={port} run", None);
    for writer in writer::ALL {
        let written = writer.write(&suite).unwrap();
        for file in &written.files[..2] {
            assert!(file.text.contains("env PORT={port}"), "{}", file.text);
            assert!(!file.text.contains("8640"), "{}", file.text);
        }
    }
}

#[test]
fn what_cannot_be_printed_is_refused_with_a_reason() {
    let step = || HttpStep::new(Request::new("GET", "/a"), ExpectedResponse::status(200));
    let with = |change: &dyn Fn(&mut HttpStep)| {
        let mut step = step();
        change(&mut step);
        let mut suite = HttpSuite::new("x", "http://x");
        suite.tests.push(HttpTest {
            id: "t".into(),
            steps: vec![step],
            ..HttpTest::default()
        });
        match suite.check() {
            Ok(()) => "fine".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let refusals = [
        with(&|_| {}),
        with(&|step| step.request.user = Some("eve".into())),
        with(&|step| step.request.path = Text::from("/a/").then(TextPiece::captured("id"))),
        with(&|step| step.request.path = "a".into()),
        with(&|step| step.request.method = "GET /".into()),
        with(&|step| {
            step.request.body = Some(Body::Binary {
                content_type: "x/y".into(),
                base64: "?".into(),
            });
        }),
        with(&|step| {
            step.expect = ExpectedOutcome::Dropped;
            *step = step
                .clone()
                .capture("id", ValueSource::Body(JsonPath::root()));
        }),
        with(&|step| {
            step.expect = ExpectedResponse::status(200)
                .check(BodyCheck::Present {
                    at: JsonPath::root(),
                })
                .into();
        }),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r"
    fine
    test `t`: unknown user `eve`
    test `t`: `id` is not captured by an earlier step
    test `t`: path `a` starts with neither `/` nor a captured value
    test `t`: `GET /` is not an HTTP method
    test `t`: invalid base64 (Invalid symbol 63, offset 0.)
    test `t`: `id` is captured from a call without a response
    test `t`: a presence check needs a path inside the body; check its type instead
    ");
    let error = writer::by_name("cobol").err().unwrap().to_string();
    assert!(
        error.contains("rust, pytest, junit, js, ts, kotlin, go"),
        "{error}"
    );
}

#[test]
fn what_a_language_cannot_send_is_left_out_and_said() {
    let mut suite = HttpSuite::new("x", "http://x");
    suite.tests.push(HttpTest {
        id: "reads_with_a_body".into(),
        steps: vec![HttpStep::new(
            Request::new("GET", "/a").json(json!({})),
            ExpectedResponse::status(200),
        )],
        ..HttpTest::default()
    });
    let written = writer::by_name("js").unwrap().write(&suite).unwrap();
    assert!(written.tests.is_empty());
    assert_eq!(written.excluded[0].id, "reads_with_a_body");
    assert_eq!(written.excluded[0].reason, "fetch sends no body with GET");
}

#[test]
fn hostile_names_stay_names() {
    let mut suite = http_samples::marina("http://x");
    let hostile = "*/ \"\"\" ' \" \\u000a ` ${x} {y} \n\r\u{202e}#! --> end";
    suite.title = hostile.into();
    suite.name = "../../etc/passwd".into();
    suite.command = Some(hostile.into());
    suite.service.reset = Some(ResetHook::Command(hostile.into()));
    for test in &mut suite.tests {
        test.name = hostile.into();
        test.group = hostile.into();
        test.scenario = hostile.into();
        test.covers = vec![hostile.into()];
    }
    for writer in writer::ALL {
        for file in writer.write(&suite).unwrap().files {
            assert!(!file.path.contains(".."), "{}", file.path);
            assert!(!file.text.contains('\u{202e}'), "{}", writer.name());
        }
    }
    // Those that can be checked without building are.
    if let Some(shop) = runner::Workshop::wishing("python3", &["--version"]) {
        parses(&shop, &suite, "pytest", "python3 -m py_compile \"$1\"");
    }
    if let Some(shop) = runner::Workshop::wishing("node", &["--version"]) {
        parses(&shop, &suite, "js", "node --check \"$1\"");
    }
    if let Some(shop) = runner::Workshop::wishing("gofmt", &["-h"]) {
        parses(&shop, &suite, "go", "test -z \"$(gofmt -l \"$1\")\"");
    }
    if let Some(shop) = runner::Workshop::wishing("rustfmt", &["--version"]) {
        parses(
            &shop,
            &suite,
            "rust",
            "rustfmt --edition 2024 --emit stdout \"$1\"",
        );
    }
}

fn parses(shop: &runner::Workshop, suite: &HttpSuite, language: &str, command: &str) {
    let folder = tempfile::tempdir().unwrap();
    let written = writer::by_name(language).unwrap().write(suite).unwrap();
    for file in &written.files[..2] {
        let name = file.path.replace('/', "_");
        std::fs::write(folder.path().join(&name), &file.text).unwrap();
        let outcome = shop.script(folder.path(), command, &name);
        assert!(outcome.success, "{language}: {}", outcome.output);
    }
}
