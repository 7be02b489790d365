//! The reports of a REST run: every format says what was found, and nothing else gets through.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod http_samples;
mod runner;
mod samples;

use std::process::Command;

use isobath_emit::findings::{
    ConstraintView, DatabaseView, DriftView, FaultView, OperationView, Progress, RestLimitation,
    RestReport, RuleView, RunEvent, SCHEMA_VERSION, Severity, SourceLocation, StatementView,
    StatusCount, TestCall, TestCase, UncoveredTarget, ViolationView, html, junit, markdown, sarif,
    wfc,
};
use isobath_emit::http::curl;
use serde_json::{Value, json};

/// A small run over the marina.
fn marina() -> RestReport {
    let suite = http_samples::marina("http://localhost:8080");
    let shows = |id: &str| suite.tests.iter().find(|test| test.id == id).unwrap();
    let operation = |method: &str, path: &str, statuses: &[(u16, u64, bool)]| OperationView {
        id: format!("{method} {path}"),
        method: method.into(),
        path: path.into(),
        calls: statuses.iter().map(|(_, calls, _)| calls).sum(),
        statuses: statuses
            .iter()
            .map(|&(status, calls, documented)| StatusCount {
                status,
                calls,
                documented,
                test: None,
            })
            .collect(),
        documented: vec!["200".into(), "400".into()],
        ..OperationView::default()
    };
    let mut pay = operation(
        "POST",
        "/invoices/{invoiceId}/payments",
        &[(200, 8, true), (404, 120, true)],
    );
    pay.no_response = 3;
    RestReport {
        schema_version: SCHEMA_VERSION,
        title: "Marina".into(),
        source: "openapi.yaml".into(),
        url: "http://localhost:8080".into(),
        version: "0.0.0".into(),
        command: Some("isobath rest openapi.yaml --seed 7".into()),
        started: Some("2026-11-16T03:00:00Z".into()),
        algorithm: "mio".into(),
        seed: 7,
        budget: "60s".into(),
        calls: 5831,
        seconds: 60.2,
        targets: 420,
        covered: 311,
        tests: 7,
        suite_calls: 14,
        operations: vec![
            operation("GET", "/berths", &[(200, 1500, true), (400, 31, true)]),
            operation(
                "GET",
                "/search",
                &[(200, 90, true), (400, 12, true), (500, 4, false)],
            ),
            pay,
        ],
        faults: vec![
            FaultView {
                code: "server-error".into(),
                wfc_code: Some(100),
                root_cause: "server-error GET /search 500".into(),
                operation: "GET /search".into(),
                message: "a quote in `q` is answered with 500".into(),
                details: vec!["database error: unrecognized token <b>".into()],
                seen: 4,
                test: Some("search_fails_on_a_quote".into()),
                curl: curl(&suite, shows("search_fails_on_a_quote")),
                location: Some(SourceLocation {
                    file: "openapi.yaml".into(),
                    line: 401,
                    pointer: "/paths/~1search/get".into(),
                }),
                ..FaultView::default()
            },
            FaultView {
                code: "dropped-connection".into(),
                root_cause: "dropped-connection POST /invoices/{invoiceId}/payments".into(),
                operation: "POST /invoices/{invoiceId}/payments".into(),
                message: "the connection is closed without an answer".into(),
                severity: Severity::Error,
                seen: 3,
                test: Some("paying_more_than_is_due_drops_the_connection".into()),
                curl: curl(
                    &suite,
                    shows("paying_more_than_is_due_drops_the_connection"),
                ),
                rows: vec!["INSERT INTO invoices (booking_id, due) VALUES (1, 300)".into()],
                ..FaultView::default()
            },
        ],
        database: Some(DatabaseView {
            address: "sqlite:marina.db".into(),
            resets: 20,
            reset_seconds: 0.01,
            checks: 5831,
            check_seconds: 0.5,
            not_reset: vec!["logs".into()],
            limitations: vec!["TRIGGER guard: a trigger may change or refuse rows".into()],
            constraints: vec![
                ConstraintView {
                    table: "berths".into(),
                    constraint: "UNIQUE (pier, number)".into(),
                    name: Some("one_berth_per_number".into()),
                    operations: vec![ViolationView {
                        operation: "POST /berths".into(),
                        refused: 2,
                        failed: 3,
                        accepted: 0,
                    }],
                },
                ConstraintView {
                    table: "berths".into(),
                    constraint: "CHECK (length > 0)".into(),
                    ..ConstraintView::default()
                },
            ],
            drift: vec![DriftView {
                operation: "POST /boats".into(),
                property: "name".into(),
                column: "boats.name".into(),
                document: "maxLength 255".into(),
                database: "varchar(100)".into(),
            }],
            statements: vec![StatementView {
                shape: "SELECT id FROM boats WHERE draft < ?".into(),
                example: "SELECT id FROM boats WHERE draft < 3".into(),
                times: 9,
                found: 4,
                rules: vec![
                    RuleView {
                        label: "WT".into(),
                        description: "`draft < 3` is true".into(),
                        covered: true,
                        distance: None,
                    },
                    RuleView {
                        label: "WN".into(),
                        description: "draft is NULL".into(),
                        covered: false,
                        distance: Some(1.0),
                    },
                ],
            }],
        }),
        limitations: vec![RestLimitation {
            what: "a pattern with look-behind is taken for any text".into(),
            quote: "(?<=a)b".into(),
            location: "/components/schemas/Code/pattern".into(),
            count: 2,
        }],
        progress: (0..40)
            .map(|n| Progress {
                calls: n * 149,
                seconds: n as f64 * 1.5,
                covered: 311 * (n + 1) / 40,
                faults: n / 18,
            })
            .collect(),
        uncovered: vec![UncoveredTarget {
            target: "409 of DELETE /boats/{boatId}".into(),
            operation: "DELETE /boats/{boatId}".into(),
            score: 0.5,
            nearest_miss: Some("204 when the boat has no booking".into()),
            reason: None,
        }],
        test_cases: vec![TestCase {
            id: "search_fails_on_a_quote".into(),
            name: "search fails on a quote".into(),
            operation: "GET /search".into(),
            file: "test_marina_faults.py".into(),
            start_line: 90,
            end_line: 99,
            passed: Some(true),
            message: String::new(),
            steps: vec![TestCall {
                operation: "GET /search".into(),
                status: 500,
            }],
        }],
        ..RestReport::default()
    }
}

#[test]
fn a_report_is_the_same_after_a_round_trip_through_json() {
    let report = marina();
    assert_eq!(RestReport::from_json(&report.to_json()).unwrap(), report);
    let error = RestReport::from_json("{\n  \"seed\": -1\n}").unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn the_documented_schema_describes_exactly_what_is_written() {
    let schema = include_str!("../../../docs/report.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let report: Value = serde_json::from_str(&marina().to_json()).unwrap();
    fits(&schema, &schema, &report, "");
    let empty: Value = serde_json::from_str(
        &RestReport {
            schema_version: SCHEMA_VERSION,
            ..RestReport::default()
        }
        .to_json(),
    )
    .unwrap();
    fits(&schema, &schema, &empty, "");
}

/// Checks a value against the part of JSON Schema that our schema uses.
fn fits(root: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = root.pointer(&reference[1..]).unwrap();
        return fits(root, schema, value, place);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let schema = if value.is_null() { &any[1] } else { &any[0] };
        return fits(root, schema, value, place);
    }
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{place}: {value}");
        return;
    }
    if let Some(only) = schema.get("const") {
        assert_eq!(only, value, "{place}");
        return;
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let actual = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let number = actual == "integer" && types.contains(&json!("number"));
    assert!(
        number || types.contains(&json!(actual)),
        "{place}: {actual}"
    );
    if let Some(items) = value.as_array() {
        for (idx, item) in items.iter().enumerate() {
            fits(root, &schema["items"], item, &format!("{place}/{idx}"));
        }
    }
    if let Some(members) = value.as_object() {
        let properties = schema["properties"].as_object().unwrap();
        let written: Vec<&String> = members.keys().collect();
        let described: Vec<&String> = properties.keys().collect();
        assert_eq!(written, described, "{place}");
        for (name, member) in members {
            fits(root, &properties[name], member, &format!("{place}/{name}"));
        }
    }
}

#[test]
fn sarif_names_rules_places_and_root_causes() {
    let log: Value = serde_json::from_str(&sarif(&marina())).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let rule = result["ruleIndex"].as_u64().unwrap();
        assert_eq!(
            rules[usize::try_from(rule).unwrap()]["id"],
            result["ruleId"]
        );
        assert!(result["partialFingerprints"]["rootCause/v1"].is_string());
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(uri, "openapi.yaml");
    }
    let region = run
        .pointer("/results/0/locations/0/physicalLocation/region")
        .unwrap();
    assert_eq!(region, &json!({"startLine": 401}));
}

#[test]
fn the_wfc_report_has_all_that_its_schema_requires() {
    let report: Value = serde_json::from_str(&wfc(&marina())).unwrap();
    for field in [
        "schemaVersion",
        "toolName",
        "toolVersion",
        "creationTime",
        "faults",
        "problemDetails",
        "totalTests",
        "testFilePaths",
        "testCases",
        "executionTimeInSeconds",
    ] {
        assert!(!report[field].is_null(), "{field}");
    }
    // The dropped connection has no code of theirs.
    assert_eq!(report["faults"]["totalNumber"], 1);
    insta::assert_snapshot!(report["faults"]["foundFaults"][0], @r#"{"operationId":"GET:/search","endpointId":"GET:/search","testCaseId":"search_fails_on_a_quote","faultCategories":[{"code":100,"context":"server-error GET /search 500"}]}"#);
    insta::assert_snapshot!(report["problemDetails"]["rest"]["coveredHttpStatus"], @r#"[{"endpointId":"GET:/search","testCaseId":"search_fails_on_a_quote","httpStatus":[500]}]"#);
}

#[test]
fn junit_xml_has_a_failed_case_per_fault() {
    let xml = junit(&marina());
    assert_eq!(xml.matches("<failure").count(), 2, "{xml}");
    assert!(xml.contains("tests=\"3\""), "{xml}");
    assert!(xml.contains("unrecognized token &lt;b&gt;"), "{xml}");
}

#[test]
fn markdown_shows_faults_operations_and_gaps() {
    let page = markdown(&marina());
    for part in [
        "# REST tests of Marina",
        "### server-error: a quote in \\`q\\` is answered with 500",
        "/search?q=it%27s",
        "| `GET /search` | 106 | 90 | 12 |  | 4\\* |",
        "nearest: 204 when the boat has no booking",
        "(2 times) at `/components/schemas/Code/pattern`",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
}

#[test]
fn an_event_is_one_line() {
    let event = RunEvent::Fault {
        calls: 9,
        fault: Box::new(marina().faults[1].clone()),
    };
    let line = event.to_line();
    assert_eq!(line.matches('\n').count(), 1);
    assert!(
        line.starts_with("{\"event\":\"fault\",\"calls\":9,"),
        "{line}"
    );
    assert_eq!(serde_json::from_str::<RunEvent>(&line).unwrap(), event);
}

#[test]
fn nothing_from_the_service_becomes_markup() {
    let mut report = marina();
    let hostile = "</code></script><script>alert('&')</script><img src=x onerror=\"y\">";
    report.title = hostile.into();
    report.operations[0].id = hostile.into();
    report.faults[0].message = hostile.into();
    report.faults[0].details = vec![hostile.into()];
    report.faults[0].curl = hostile.into();
    report.uncovered[0].target = hostile.into();
    report.limitations[0].quote = hostile.into();
    report.test_cases[0].name = hostile.into();
    let page = html(&report);
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("<img"), "{page}");
    for reference in ["src=", "<link", "@import", "url("] {
        let page = html(&marina());
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn a_report_without_anything_is_still_a_page() {
    let page = html(&RestReport::default());
    assert!(page.contains("No fault was found."), "{page}");
    assert!(!page.contains("<svg"), "{page}");
    assert!(markdown(&RestReport::default()).contains("None found."));
}

#[test]
fn the_page_filters_in_a_browser_without_errors() {
    let Some(_) = runner::Workshop::wishing("chromium", &["--version"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let probe = "<script>
        const seen = [];
        addEventListener('error', (event) => seen.push('error: ' + event.message));
        addEventListener('load', () => {
          const filter = document.getElementById('filter');
          const shown = () => [
            document.getElementById('shown').value,
            document.querySelectorAll('.finding:not([hidden])').length,
            document.querySelectorAll('[data-row]:not([hidden])').length,
          ].join(' ');
          seen.push(shown());
          filter.value = 'search';
          filter.dispatchEvent(new Event('input'));
          setTimeout(() => {
            seen.push(shown());
            document.title = 'probe ' + seen.join(' | ');
          }, 500);
        });
      </script></head>";
    let page = html(&marina()).replacen("</head>", probe, 1);
    std::fs::write(&path, page).unwrap();
    if let Some(keep) = std::env::var_os("ISOBATH_KEEP_SUITES") {
        std::fs::write(
            std::path::Path::new(&keep).join("report.html"),
            html(&marina()),
        )
        .unwrap();
    }
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=5000",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg("--dump-dom")
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom.split("<title>").nth(1).unwrap_or_default();
    let title = title.split("</title>").next().unwrap_or_default();
    assert_eq!(title, "probe 2 findings 2 8 | 1 finding 1 2", "{dom}");
}

#[test]
fn curl_calls_quote_for_the_shell_and_hold_no_secret() {
    let suite = http_samples::marina("http://localhost:8080");
    let script = |id: &str| {
        curl(
            &suite,
            suite.tests.iter().find(|test| test.id == id).unwrap(),
        )
    };
    insta::assert_snapshot!(script("search_fails_on_a_quote"), @r#"
    BASE_URL="${ISOBATH_BASE_URL:-http://localhost:8080}"
    curl -sS -i -X GET "${BASE_URL}/search?q=it%27s"  # 500
    "#);
    let chain = script("a_boat_can_be_fetched_after_it_was_created");
    assert!(chain.contains("\"${MARINA_ADA_PASSWORD:?}\""), "{chain}");
    assert!(!chain.contains("sextant"), "{chain}");
    assert!(chain.contains("'\\''Ålesund'\\''"), "{chain}");
}

#[test]
fn curl_calls_do_what_the_test_does() {
    let shop = runner::Workshop::wishing("sh", &["-c", "curl --version && jq --version"]);
    let Some(shop) = shop else {
        return;
    };
    let service = marina::start(marina::Faults::all()).unwrap();
    let suite = http_samples::marina(&service.url());
    let shop = shop
        .with("MARINA_ADA_PASSWORD", "sextant")
        .with("MARINA_BEN_PASSWORD", "compass");
    let folder = tempfile::tempdir().unwrap();
    let run = |id: &str| {
        let test = suite.tests.iter().find(|test| test.id == id).unwrap();
        std::fs::write(folder.path().join("calls.sh"), curl(&suite, test)).unwrap();
        shop.script(folder.path(), "sh -e \"$1\"", "calls.sh")
    };
    let fetched = run("a_boat_can_be_fetched_after_it_was_created");
    assert!(fetched.success, "{}", fetched.output);
    assert_eq!(
        fetched.output.matches("HTTP/1.1 200").count(),
        2,
        "{}",
        fetched.output
    );
    assert_eq!(
        fetched.output.matches("HTTP/1.1 404").count(),
        1,
        "{}",
        fetched.output
    );
    let dropped = run("paying_more_than_is_due_drops_the_connection");
    assert!(dropped.output.contains("curl: (52)"), "{}", dropped.output);
}

#[test]
fn kinds_of_faults_are_told_apart_even_where_their_cause_is_called_the_same() {
    let fault = |code: &str| FaultView {
        code: code.into(),
        root_cause: "POST /payments".into(),
        ..FaultView::default()
    };
    let report = RestReport {
        faults: vec![
            fault("connection-dropped"),
            fault("existence-leak"),
            fault("connection-dropped"),
        ],
        ..RestReport::default()
    };
    let sizes: Vec<usize> = report
        .by_root_cause()
        .iter()
        .map(|(_, faults)| faults.len())
        .collect();
    assert_eq!(sizes, [2, 1]);
    assert!(isobath_emit::findings::html(&report).contains("existence-leak"));
}

#[test]
fn the_page_shows_the_source_with_what_was_covered() {
    let report = RestReport {
        code: Some(isobath_emit::findings::CodeView {
            files: vec![isobath_emit::findings::FileView {
                file: "src/boats.rs".into(),
                covered_lines: vec![1, 2],
                missed_lines: vec![3],
                missed_branches: vec![isobath_emit::findings::MissedBranch {
                    line: 2,
                    what: "`n < 3` is true".into(),
                    score: 0.75,
                }],
                source: Some("fn f(n: u8) {\n    if n < 3 {\n        g();\n    }\n}\n".into()),
                ..Default::default()
            }],
            ..Default::default()
        }),
        ..RestReport::default()
    };
    let page = isobath_emit::findings::html(&report);
    assert!(
        page.contains("<span class=\"yes\" title=\"covered\"><i>    1 ✓</i> fn f(n: u8) {</span>")
    );
    assert!(page.contains("<span class=\"partly\" title=\"covered in part\"><i>    2 ◐</i>"));
    assert!(
        page.contains("never: `n &lt; 3` is true (nearest 0.750)"),
        "{page}"
    );
    assert!(page.contains("<span class=\"no\" title=\"not covered\"><i>    3 ✗</i>"));
    assert!(
        !report.to_json().contains("fn f("),
        "the source is for the page only"
    );
}

#[test]
fn the_database_is_in_the_readable_formats() {
    let report = marina();
    let text = markdown(&report);
    let start = text.find("## Database").unwrap();
    let end = start + text[start..].find("## Not covered").unwrap();
    insta::assert_snapshot!(text[start..end].trim_end(), @"
    ## Database

    `sqlite:marina.db`: The database was reset 20 times (0.50 ms each) and checked for changes 5831 times (0.09 ms each).

    - Table logs has too many rows and is not reset.
    - TRIGGER guard: a trigger may change or refuse rows

    ### Constraints and operations

    A request that would violate a constraint should be rejected with 4xx (good). With 5xx the violation surfaced as a server error (fault); with 2xx the value was changed or dropped on its way to the database (accepted).

    | Constraint | Operation | 4xx | 5xx | 2xx | Verdict |
    |---|---|---|---|---|---|
    | berths UNIQUE (pier, number) | POST /berths | 2 | 3 | 0 | fault |

    Not violated by any call: `berths CHECK (length > 0)`.

    ### Drift between document and database

    | Operation | Property | Document | Column | Database |
    |---|---|---|---|---|
    | POST /boats | name | maxLength 255 | boats.name | varchar(100) |

    ### SQL statements

    | Statement | Times | Found rows | Found none | Rules |
    |---|---|---|---|---|
    | SELECT id FROM boats WHERE draft &lt; ? | 9 | 4 | 5 | 1 of 2 |

    Not covered of `SELECT id FROM boats WHERE draft < ?`:

    - WN: draft is NULL (nearest rows 1.000 away)
    ");
    let page = html(&report);
    for part in [
        "UNIQUE (pier, number)",
        "maxLength 255",
        "varchar(100)",
        "<td>fault</td>",
        "SQL statements",
        "<li>not covered: WN: draft is NULL (nearest rows 1.000 away)</li>",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
