//! Drives white-box runs of JVM services from the command line: built by Maven, started with the
//! agent, searched, and measured by what the report says of their code.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use isobath_exec::driver::{Driver, Event, Listener};
use isobath_exec::http::{Client, ClientConfig, Request};
use isobath_exec::process::{Launch, ReadyCheck, Service};
use serde_json::Value;
use tempfile::TempDir;

#[path = "jvm/agents.rs"]
mod agents;
#[path = "jvm/awkward.rs"]
mod awkward;
#[path = "jvm/databases.rs"]
mod databases;
#[path = "jvm/layouts.rs"]
mod layouts;
#[path = "jvm/releases.rs"]
mod releases;
#[path = "jvm/starting.rs"]
mod starting;
#[path = "jvm/suites.rs"]
mod suites;
#[path = "jvm/traces.rs"]
mod traces;
#[path = "jvm/without_agent.rs"]
mod without_agent;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds agent and samples, once; false where there is nothing to build them with.
#[expect(clippy::print_stderr, reason = "what is left out should be seen")]
fn is_built() -> bool {
    static BUILT: OnceLock<bool> = OnceLock::new();
    *BUILT.get_or_init(|| {
        let tools = ["mvn", "javac"].iter().all(|tool| {
            let version = Command::new(tool).arg("-version").output();
            version.is_ok_and(|output| output.status.success())
        });
        if !tools {
            let required = std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_some();
            assert!(!required, "there is no JDK with Maven");
            eprintln!("left out: there is no JDK with Maven");
            return false;
        }
        let samples = [
            "papers", "older", "rows", "numbers", "texts", "outside", "kiosk",
        ];
        let samples = samples.map(|name| format!("tests/suts/jvm/{name}/target/{name}.jar"));
        let agent = "drivers/jvm/target/isobath-agent.jar".to_owned();
        for (project, jars) in [
            ("drivers/jvm", &[agent][..]),
            ("tests/suts/jvm", &samples[..]),
        ] {
            if is_fresh(&root().join(project), jars) {
                continue;
            }
            let package = |offline: bool| {
                let mut maven = Command::new("mvn");
                maven.args(["-q", "-B", "-DskipTests", "package", "-f"]);
                maven.arg(root().join(project).join("pom.xml"));
                if offline {
                    maven.arg("-o");
                }
                maven.output().expect("Maven runs")
            };
            let mut built = package(true);
            if !built.status.success() {
                built = package(false);
            }
            let said = String::from_utf8_lossy(&built.stdout);
            assert!(built.status.success(), "{project}: {said}");
        }
        true
    })
}

/// Whether all jars are newer than all sources of a project; Maven takes seconds to find that out.
fn is_fresh(project: &Path, jars: &[String]) -> bool {
    let written = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    let oldest = jars.iter().map(|jar| written(&root().join(jar))).min();
    let Some(Some(oldest)) = oldest else {
        return false;
    };
    let mut folders = vec![project.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if path.is_file() && written(&path).is_none_or(|time| time > oldest) {
                return false;
            }
        }
    }
    true
}

/// A port of one's own, and three behind it for further instances, so that tests that run at once do not meet.
fn port() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(8_760);
    NEXT.fetch_add(4, Ordering::Relaxed).to_string()
}

/// A service that runs for seconds starts sooner without the compiler that pays off after minutes.
const QUICK_START: [&str; 2] = [
    "--jvm-option=-XX:TieredStopAtLevel=1",
    "--jvm-option=-XX:+UseSerialGC",
];

/// Whether something comes about with at least two of three seeds; the third is only asked where it decides.
fn two_of_three_seeds(complete: impl FnMut(&&str) -> bool) -> bool {
    ["1", "2", "3"]
        .iter()
        .copied()
        .filter(complete)
        .take(2)
        .count()
        == 2
}

struct Run {
    folder: TempDir,
    output: Output,
}

impl Run {
    /// `isobath rest` on a sample; another document than its first is named before all flags.
    fn of(sample: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the results");
        let sample_folder = root().join("tests/suts/jvm").join(sample);
        let document = more.first().filter(|name| name.ends_with(".json"));
        let more = &more[usize::from(document.is_some())..];
        let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .arg("rest")
            .arg(sample_folder.join(document.unwrap_or(&"openapi.json")))
            .arg("--jvm")
            .arg(sample_folder.join(format!("target/{sample}.jar")))
            .args(["--port", &port(), "--no-run", "--start-timeout", "120"])
            .args(QUICK_START)
            .arg("--out")
            .arg(folder.path())
            .args(more)
            .output()
            .expect("the binary runs");
        Self { folder, output }
    }

    fn said(&self) -> String {
        let [out, err] =
            [&self.output.stdout, &self.output.stderr].map(|b| String::from_utf8_lossy(b));
        format!("{out}{err}")
    }

    fn report(&self) -> Value {
        let text = std::fs::read_to_string(self.folder.path().join("report.json"));
        let text = text.unwrap_or_else(|error| panic!("{error}: {}", self.said()));
        serde_json::from_str(&text).expect("a report is JSON")
    }

    /// The lines of a file that were not covered.
    fn missed_lines(&self, file: &str) -> Vec<u64> {
        let report = self.report();
        let files = report["code"]["files"].as_array().expect("a list of files");
        let found = files.iter().find(|entry| entry["file"] == file);
        let found = found.unwrap_or_else(|| panic!("{file} is not among {files:?}"));
        let missed = found["missed_lines"].as_array().expect("a list of lines");
        missed
            .iter()
            .filter_map(serde_json::Value::as_u64)
            .collect()
    }

    /// Fails unless the agent saw lines of a file run.
    fn sees(&self, file: &str) {
        let report = self.report();
        let files = report["code"]["files"].as_array().expect("a list of files");
        let found = files.iter().find(|entry| entry["file"] == file);
        let covered = found.and_then(|found| found["lines"]["covered"].as_u64());
        // One line is that of the constructor, which runs when the service starts.
        assert!(covered > Some(1), "{file}: {found:?}\n{}", self.said());
    }

    /// Fails unless all lines and branches of a file are covered.
    fn covers(&self, file: &str) {
        let report = self.report();
        let files = report["code"]["files"].as_array().expect("a list of files");
        let found = files.iter().find(|entry| entry["file"] == file);
        let found = found.unwrap_or_else(|| panic!("{file} is not among {files:?}"));
        for what in ["lines", "branches"] {
            let number = |which: &str| found[what][which].as_u64().unwrap_or_default();
            let uncovered: Vec<&str> = report["uncovered"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|entry| entry["target"].as_str())
                .filter(|target| target.contains(file))
                .collect();
            assert_eq!(
                number("covered"),
                number("total"),
                "{what} of {file}: {uncovered:?}\n{}",
                self.said()
            );
        }
    }
}

#[test]
fn the_examples_of_the_papers_are_covered_on_spring_boot_3() {
    if !is_built() {
        return;
    }
    let run = Run::of("papers", &["--budget", "12000calls"]);
    for file in ["Figure1", "Figure7", "Figure9", "Checked"] {
        run.covers(&format!("papers/{file}.java"));
    }
    assert_eq!(
        run.report()["code"]["not_instrumented"],
        serde_json::json!([])
    );
    assert!(
        run.said().contains("exception at papers/Figure1.java:19"),
        "the place of an uncaught exception names the fault: {}",
        run.said()
    );
}

#[test]
fn the_examples_of_the_papers_are_covered_on_spring_boot_2() {
    if !is_built() {
        return;
    }
    let run = Run::of("older", &["--budget", "6000calls"]);
    for file in ["Figure1", "Figure7", "Figure9"] {
        run.covers(&format!("older/{file}.java"));
    }
}

#[test]
fn headers_and_bodies_that_no_document_names_are_found_in_both_servlet_interfaces() {
    if !is_built() {
        return;
    }
    for sample in ["papers", "older"] {
        let run = Run::of(sample, &["openapi-hidden.json", "--budget", "3000calls"]);
        run.covers(&format!("{sample}/Hidden.java"));
    }
}

#[test]
fn texts_that_are_parsed_meet_numbers_dates_and_identifiers_far_away() {
    if !is_built() {
        return;
    }
    let is_complete = two_of_three_seeds(|seed| {
        let flags = [
            "openapi-parsed.json",
            "--budget",
            "3000calls",
            "--seed",
            seed,
        ];
        let run = Run::of("papers", &flags);
        run.missed_lines("papers/Parsed.java").is_empty()
    });
    assert!(is_complete, "at least 2 of 3 seeds");
}

#[test]
fn documented_bodies_are_what_their_classes_say() {
    if !is_built() {
        return;
    }
    let is_complete = two_of_three_seeds(|seed| {
        let flags = ["openapi-bound.json", "--budget", "600calls", "--seed", seed];
        let run = Run::of("papers", &flags);
        run.missed_lines("papers/Bound.java").is_empty()
    });
    assert!(is_complete, "at least 2 of 3 seeds");
}

#[test]
fn the_agent_also_comes_by_a_start_command() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the results");
    let sample = root().join("tests/suts/jvm/papers");
    let port = port();
    let jar = sample.join("target/papers.jar");
    let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .arg("rest")
        .arg(sample.join("openapi.json"))
        .arg("--jvm-agent")
        .args(["--url", &format!("http://127.0.0.1:{port}")])
        .arg("--start")
        .arg(format!(
            "exec java -jar '{}' --server.port={port}",
            jar.display()
        ))
        .args(["--start-timeout", "120", "--exclude", "papers.Figure9"])
        .args(["--budget", "50calls", "--no-run", "--out"])
        .arg(folder.path())
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let report = std::fs::read_to_string(folder.path().join("report.json"));
    let report = report.unwrap_or_else(|error| panic!("{error}: {said}"));
    assert!(report.contains("papers/Figure7.java"), "{said}");
    assert!(!report.contains("papers/Figure9.java"), "it is left out");
}

#[test]
fn answers_that_depend_on_rows_in_memory_are_covered_with_a_post_that_makes_them() {
    if !is_built() {
        return;
    }
    let run = Run::of("rows", &["--budget", "300calls"]);
    run.covers("rows/FooRest.java");
    assert!(
        run.said().contains("h2 inside the service"),
        "{}",
        run.said()
    );
}

#[test]
fn two_instances_have_databases_in_memory_of_their_own_and_write_the_same_suite_twice() {
    if !is_built() {
        return;
    }
    let suites = [(), ()].map(|()| {
        let more = ["--instances", "2", "--budget", "400calls"];
        let run = Run::of("rows", &[&["openapi-read.json"], &more[..]].concat());
        let code = run.report()["code"]["branches"].clone();
        assert_eq!(code["covered"], code["total"], "{}", run.said());
        assert!(!run.said().contains("warning"), "{}", run.said());
        let folder = std::fs::read_dir(run.folder.path().join("pytest")).expect("a suite");
        let files = folder.map(|file| std::fs::read_to_string(file.expect("a file").path()));
        let mut files: Vec<String> = files.map(|text| text.expect("a text")).collect();
        files.sort();
        assert!(
            files.concat().contains("insert_into(\"FOO_ENTITY\")"),
            "{files:?}"
        );
        // Ports are those of the test.
        let text = files.concat();
        let lines = text.lines().filter(|line| !line.contains("127.0.0.1"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(suites[0], suites[1]);
}

#[test]
fn answers_that_depend_on_rows_in_memory_are_covered_where_nothing_makes_them() {
    if !is_built() {
        return;
    }
    let run = Run::of("rows", &["openapi-read.json", "--budget", "300calls"]);
    let report = run.report();
    let code = report["code"]["branches"].clone();
    assert_eq!(code["covered"], code["total"], "{}", run.said());
    let suite = run.folder.path().join("pytest");
    let mut files = std::fs::read_dir(suite).expect("a suite").flatten();
    let tests = files.find(|file| file.file_name().to_string_lossy().starts_with("test_"));
    let tests = std::fs::read_to_string(tests.expect("tests").path()).expect("tests");
    assert!(tests.contains("insert_into(\"FOO_ENTITY\")"), "{tests}");
    let nothing = Run::of(
        "rows",
        &["openapi-read.json", "--budget", "300calls", "--no-rows"],
    );
    let report = nothing.report();
    let code = report["code"]["branches"].clone();
    assert_ne!(code["covered"], code["total"], "rows are what makes it");
}

/// A service on H2 in memory, started with the agent, and the driver in it.
struct Rows {
    driver: Driver,
    url: String,
    _process: Service,
    _listener: Listener,
}

impl Rows {
    fn start() -> Self {
        let listener = Listener::open_loopback().expect("a place to listen");
        let port = port();
        let url = format!("http://127.0.0.1:{port}");
        let command = format!(
            "exec java -javaagent:'{}' -jar '{}' --server.port={port}",
            root()
                .join("drivers/jvm/target/isobath-agent.jar")
                .display(),
            root().join("tests/suts/jvm/rows/target/rows.jar").display(),
        );
        let launch = Launch {
            variables: listener.variables(None),
            timeout: Duration::from_secs(120),
            ..Launch::new(command, ReadyCheck::Url(url.clone()))
        };
        let process = Service::start(launch).expect("the service starts");
        let driver = listener.accept(Duration::from_secs(10)).expect("a driver");
        Self {
            driver,
            url,
            _process: process,
            _listener: listener,
        }
    }

    fn call(&mut self, method: &str, path: &str) -> u16 {
        let mut client = Client::new(ClientConfig::default()).expect("a client");
        let request = Request {
            method: method.parse().expect("a method"),
            ..Request::get(format!("{}{path}", self.url))
        };
        client.call(&request).status().expect("an answer")
    }

    fn statements(&mut self) -> Vec<(String, u64, Option<String>)> {
        let events = self.driver.events().expect("the service lives");
        let statements = events.into_iter().filter_map(|event| match event {
            Event::Statement {
                database,
                text,
                rows,
                failure,
                ..
            } => {
                assert_eq!(database, "h2");
                Some((text, rows, failure))
            }
            _ => None,
        });
        statements.collect()
    }
}

#[test]
fn tomcat_keeps_connections_open_after_errors_and_after_many_requests() {
    if !is_built() {
        return;
    }
    let rows = Rows::start();
    let address = rows.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("a connection");
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).expect("a socket");
    let mut answers = BufReader::new(stream.try_clone().expect("a socket"));
    // By itself it closes after a hundred, and after any answer that tells the caller off.
    for at in 0..150 {
        let request = format!("GET /api/foo/{at}/1 HTTP/1.1\r\nHost: rows\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a connection");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = answers.read_line(&mut head).expect("an answer");
            assert!(read > 0, "closed before answer {at}: {head}");
        }
        let head = head.to_lowercase();
        assert!(head.starts_with("http/1.1 400"), "{head}");
        assert!(head.contains("content-length: 0"), "{head}");
        assert!(!head.contains("connection: close"), "answer {at}: {head}");
    }
}

#[test]
fn statements_behind_hibernate_are_told_and_the_database_is_within_reach() {
    if !is_built() {
        return;
    }
    let mut rows = Rows::start();
    let count = "SELECT COUNT(*) FROM FOO_ENTITY";
    let counted = |rows: &mut Rows| {
        let found = rows.driver.run_sql(count).expect("rows");
        found[0][0].clone().expect("a number")
    };
    // What is there at first is what resets bring back.
    rows.driver.reset().expect("the database is known");
    rows.driver.begin_candidate();
    assert_eq!(rows.call("GET", "/api/foo/42/77"), 400);
    assert_eq!(rows.call("POST", "/api/foo"), 200);
    assert_eq!(rows.call("GET", "/api/foo/42/77"), 200);
    let told = rows.statements();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].0.contains("x=42") && told[0].0.contains("y=77"),
        "{told:?}"
    );
    assert!(told[1].0.starts_with("insert into foo_entity"), "{told:?}");
    let read: Vec<u64> = told.iter().map(|(_, rows, _)| *rows).collect();
    assert_eq!(read, [0, 1, 1]);
    assert_eq!(counted(&mut rows), "1");
    rows.driver.reset().expect("the database is known");
    assert_eq!(counted(&mut rows), "0");
    rows.driver
        .run_sql("INSERT INTO foo_entity (x, y) VALUES (2, 3); INSERT INTO foo_entity (x, y) VALUES (2, 4)")
        .expect("rows can be inserted");
    assert_eq!(rows.call("GET", "/api/foo/2/3"), 200);
    let refused = rows.driver.run_sql("SELECT * FROM nowhere");
    assert!(refused.is_err_and(|error| error.to_string().to_lowercase().contains("nowhere")));
    // What we do ourselves is not what the service does.
    assert_eq!(rows.statements().len(), 1);
}

#[test]
fn a_jar_that_is_not_there_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args([
            "rest",
            "openapi.json",
            "--jvm",
            "nowhere/app.jar",
            "--agent",
        ])
        // Any file will do, since nothing is started.
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--jvm nowhere/app.jar"), "{said}");
}

#[test]
fn answers_of_outside_services_are_searched_for_by_property_and_by_proxy() {
    if !is_built() {
        return;
    }
    let mail = root().join("tests/suts/jvm/outside/mail.json");
    let mail = format!("http://mail.invalid,{}", mail.display());
    let rates = "rates.url=https://rates.example/v1";
    let mut more = vec!["--mock", rates, "--mock", &mail, "--mock-port", "9060"];
    more.extend(["--budget", "3000calls"]);
    let run = Run::of("outside", &more);
    let report = run.report();
    let files = report["code"]["files"].as_array().expect("a list of files");
    for name in ["outside/Prices.java", "outside/Mails.java"] {
        let file = files.iter().find(|entry| entry["file"] == name);
        let file = file.unwrap_or_else(|| panic!("{name} is not among {files:?}"));
        let [lines, branches] = ["lines", "branches"].map(|what| {
            let number = |which: &str| file[what][which].as_u64().unwrap_or_default();
            number("total") - number("covered")
        });
        // A number is always part of a good URI, and an answer with a body is not null.
        assert!(lines == 0 && branches <= 1, "{file:#}\n{}", run.said());
    }
    let called = report["outbound"].as_array().cloned().unwrap_or_default();
    let called: Vec<String> = called
        .iter()
        .map(|one| format!("{} {} {}", one["service"], one["path"], one["mocked"]))
        .collect();
    assert_eq!(
        called,
        [
            r#""mail.invalid" "/send/*" true"#,
            r#""rates.url" "/v1/latest/*" true"#
        ]
    );
}

#[test]
fn without_anybody_to_answer_calls_to_outside_services_are_listed() {
    if !is_built() {
        return;
    }
    // Nobody is there, so that nothing leaves this machine.
    let more = [
        "--budget",
        "200calls",
        "--jvm-option=-Drates.url=http://127.0.0.1:1/v1",
        "--jvm-option=-Djdk.net.hosts.file=/dev/null",
    ];
    let run = Run::of("outside", &more);
    let report = run.report();
    let called = report["outbound"].as_array().cloned().unwrap_or_default();
    let rates = called
        .iter()
        .find(|one| one["service"] == "http://127.0.0.1:1")
        .unwrap_or_else(|| panic!("{called:?}"));
    assert_eq!(rates["path"], "/v1/latest/*");
    assert_eq!(rates["operations"][0], "GET /prices/{item}");
    assert_eq!(rates["mocked"], false);
}
