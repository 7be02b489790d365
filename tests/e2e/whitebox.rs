//! Drives white-box runs from the command line: services are built instrumented, searched, and
//! measured by what the report says of their code.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use isobath_rewrite::wrapper::{CrateReport, key};
use serde_json::Value;
use tempfile::TempDir;

/// The workspace of the services.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suts/rust")
}

/// A port of one's own, and three behind it for further instances, so that tests that run at once do not meet.
fn port() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(8_700);
    NEXT.fetch_add(4, Ordering::Relaxed).to_string()
}

struct Run {
    folder: TempDir,
    output: Output,
}

impl Run {
    /// `isobath rest` on a sample; `document` is relative to the folder of the sample.
    fn of(sample: &str, document: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the results");
        // Few files, so that whoever leaks them is soon out of them.
        let output = Command::new("sh")
            .args(["-c", "ulimit -n 512; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_isobath"))
            .arg("rest")
            .arg(samples().join("samples").join(sample).join(document))
            .arg("--rust")
            .arg(samples())
            .args(["--package", &format!("sample-{sample}")])
            .args(["--port", &port(), "--no-run", "--out"])
            .arg(folder.path())
            .args(more)
            .output()
            .expect("the binary runs");
        Self { folder, output }
    }

    fn said(&self) -> String {
        format!(
            "{}{}",
            String::from_utf8_lossy(&self.output.stdout),
            String::from_utf8_lossy(&self.output.stderr)
        )
    }

    fn report(&self) -> Value {
        let text = std::fs::read_to_string(self.folder.path().join("report.json"));
        let text = text.unwrap_or_else(|error| panic!("{error}: {}", self.said()));
        serde_json::from_str(&text).expect("a report is JSON")
    }

    /// Lines and branches of a file: covered, of how many.
    fn coverage(&self, file: &str) -> [(u64, u64); 2] {
        let report = self.report();
        let files = report["code"]["files"].as_array().expect("a list of files");
        let found = files
            .iter()
            .find(|entry| {
                entry["file"]
                    .as_str()
                    .is_some_and(|name| name.ends_with(file))
            })
            .unwrap_or_else(|| panic!("{file} is not among {files:?}"));
        ["lines", "branches"].map(|what| {
            let number = |which: &str| found[what][which].as_u64().unwrap_or_default();
            (number("covered"), number("total"))
        })
    }

    fn is_complete(&self, file: &str) -> bool {
        let [lines, branches] = self.coverage(file);
        lines.0 == lines.1 && branches.0 == branches.1
    }

    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }
}

/// Searches of so many calls on listed seeds; each must cover all but so many branches of a file.
fn covers(sample: &str, document: &str, file: &str, calls: u32, but: u64) {
    for seed in ["1", "2"] {
        let budget = format!("{calls}calls");
        let run = Run::of(sample, document, &["--seed", seed, "--budget", &budget]);
        let [lines, branches] = run.coverage(file);
        assert!(
            lines.0 == lines.1 && branches.0 + but >= branches.1,
            "seed {seed}: {lines:?} lines, {branches:?} branches of {file}\n{}",
            uncovered(&run.report())
        );
    }
}

fn uncovered(report: &Value) -> String {
    let list = report["uncovered"].as_array().cloned().unwrap_or_default();
    let lines = list.iter().filter_map(|entry| entry["target"].as_str());
    lines
        .filter(|line| line.contains(".rs:"))
        .take(40)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn three_instances_cover_what_one_does_and_the_same_in_every_run() {
    let covered = [(), ()].map(|()| {
        let more = ["--instances", "3", "--budget", "6000calls"];
        let run = Run::of("axum", "papers.yaml", &more);
        let [lines, branches] = run.coverage("axum/src/papers.rs");
        assert!(
            lines.0 == lines.1 && branches.0 + 1 >= branches.1,
            "{lines:?} lines, {branches:?} branches\n{}",
            uncovered(&run.report())
        );
        run.report()["code"].to_string()
    });
    assert_eq!(covered[0], covered[1]);
}

#[test]
fn the_examples_of_the_papers_are_covered_on_axum() {
    // The pattern of figure 1 is always well-formed.
    covers("axum", "papers.yaml", "axum/src/papers.rs", 6_000, 1);
}

#[test]
fn the_examples_of_the_papers_are_covered_on_actix() {
    covers("actix", "papers.yaml", "actix/src/main.rs", 6_000, 2);
}

#[test]
fn functions_of_texts_are_covered() {
    covers("axum", "texts.yaml", "axum/src/texts.rs", 12_000, 2);
}

#[test]
fn tests_that_are_handed_over_hold_words_and_no_markers() {
    let more = ["--seed", "3", "--budget", "3000calls"];
    let run = Run::of("axum", "texts.yaml", &more);
    let suite = std::fs::read_to_string(run.folder.path().join("suite.json")).expect("a suite");
    let marked: Vec<&str> = suite
        .lines()
        .filter(|line| line.contains("_isobath_"))
        .collect();
    assert!(marked.is_empty(), "{}", marked.join("\n"));
}

#[test]
fn a_service_on_plain_hyper_is_covered_with_a_header_that_nobody_documented() {
    covers("hyper", "openapi.yaml", "hyper/src/main.rs", 6_000, 4);
}

#[test]
fn a_service_on_rocket_is_covered() {
    covers("rocket", "openapi.yaml", "rocket/src/main.rs", 6_000, 2);
}

#[test]
fn ways_to_read_parse_and_compare_inputs_are_seen_through() {
    for seed in ["1", "2"] {
        let more = ["--seed", seed, "--budget", "12000calls"];
        let run = Run::of("methods", "openapi.yaml", &more);
        for file in ["moments", "words", "inputs"] {
            let is_complete = run.is_complete(&format!("methods/src/{file}.rs"));
            assert!(is_complete, "seed {seed}\n{}", uncovered(&run.report()));
        }
    }
}

#[test]
fn functions_of_numbers_are_covered_above_nine_tenths() {
    for seed in ["1", "2"] {
        let more = ["--seed", seed, "--budget", "12000calls"];
        let run = Run::of("axum", "numbers.yaml", &more);
        let [lines, _] = run.coverage("axum/src/numbers.rs");
        assert!(lines.0 * 10 > lines.1 * 9, "seed {seed}: {lines:?}");
    }
}

#[test]
fn without_looking_inside_the_examples_of_the_papers_are_not_covered() {
    let blind = "steering,methods,tracking,expansion";
    let more = ["--without", blind, "--budget", "6000calls"];
    let run = Run::of("axum", "papers.yaml", &more);
    assert!(!run.is_complete("axum/src/papers.rs"));
    let [lines, _] = run.coverage("axum/src/papers.rs");
    assert!(lines.0 < lines.1, "{lines:?}");
}

/// A run of the service that has bad days.
fn on_a_bad_day(day: &str, more: &[&str]) -> Run {
    on_a_longer_bad_day(day, "200calls", more)
}

fn on_a_longer_bad_day(day: &str, budget: &str, more: &[&str]) -> Run {
    let mut all = vec!["--budget", budget, "--timeout", "0.2"];
    all.extend(more);
    all.extend(["--", day]);
    Run::of("mortal", "openapi.yaml", &all)
}

fn faults(run: &Run) -> Vec<String> {
    let report = run.report();
    let faults = report["faults"].as_array().cloned().unwrap_or_default();
    let code = |fault: &Value| fault["code"].as_str().map(str::to_owned);
    faults.iter().filter_map(code).collect()
}

#[test]
fn a_panic_names_its_place_and_shows_its_stack() {
    let run = on_a_bad_day("overflows", &[]);
    assert_eq!(run.code(), Some(1), "{}", run.said());
    let report = run.report();
    let fault = &report["faults"][0];
    let cause = fault["root_cause"].as_str().unwrap_or_default();
    assert!(
        cause.starts_with("panicked at samples/mortal/src/main.rs:"),
        "{cause}"
    );
    assert!(
        fault.to_string().contains("multiply with overflow"),
        "{fault}"
    );
}

#[test]
fn what_the_service_said_is_shown_with_the_finding_and_without_secrets() {
    let run = on_a_longer_bad_day("grumbles", "600calls", &[]);
    assert_eq!(run.code(), Some(1), "{}", run.said());
    let fault = run.report()["faults"][0].to_string();
    for said in [fault, run.said()] {
        assert!(said.contains("service output:"), "{said}");
        assert!(said.contains("asked for "), "{said}");
        assert!(said.contains("cannot count so far; password=***"), "{said}");
        assert!(!said.contains("counting-sheep"), "{said}");
    }
}

#[test]
fn a_service_that_panics_at_its_start_is_told_with_its_last_words() {
    let run = on_a_bad_day("panics-at-start", &[]);
    assert_eq!(run.code(), Some(3), "{}", run.said());
    assert!(run.said().contains("no luck today"), "{}", run.said());
}

#[test]
fn a_service_that_is_never_ready_is_given_up() {
    let run = on_a_bad_day("never-ready", &["--start-timeout", "2"]);
    assert_eq!(run.code(), Some(3), "{}", run.said());
    assert!(
        run.said().contains("did not respond") && run.said().contains("within 2 s of starting"),
        "{}",
        run.said()
    );
}

#[test]
fn a_service_that_ends_in_the_middle_is_a_finding_and_is_started_again() {
    let run = on_a_bad_day("exits", &[]);
    assert_eq!(run.code(), Some(1), "{}", run.said());
    assert!(run.report()["calls"].as_u64() > Some(20));
    assert!(!faults(&run).is_empty());
}

#[test]
fn a_service_that_deadlocks_is_a_finding() {
    let run = on_a_bad_day("deadlocks", &[]);
    assert_eq!(run.code(), Some(1), "{}", run.said());
    assert!(
        faults(&run).contains(&"timed-out".to_owned()),
        "{:?}",
        faults(&run)
    );
}

#[test]
fn a_service_that_leaks_files_is_found_out_when_there_are_none_left() {
    // It takes three calls beyond a bound, and a number is seldom so large.
    let run = on_a_longer_bad_day("leaks", "1000calls", &[]);
    assert_eq!(run.code(), Some(1), "{}", run.said());
    let cause = run.report()["faults"][0]["root_cause"].to_string();
    assert!(cause.contains("panicked at"), "{cause}");
}

#[test]
fn what_does_not_compile_is_told_in_the_words_of_the_compiler() {
    let folder = tempfile::tempdir().expect("a folder for a project");
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        let parent = path.parent().expect("a file has a folder");
        std::fs::create_dir_all(parent).expect("the folder can be made");
        std::fs::write(path, text).expect("the file can be written");
    };
    put(
        "Cargo.toml",
        "[package]\nname = \"broken\"\nedition = \"2024\"\n",
    );
    put(
        "src/main.rs",
        "fn main() {\n    let day: u32 = \"Monday\";\n}\n",
    );
    put(
        "openapi.yaml",
        "openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths: {}\n",
    );
    let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .arg("rest")
        .arg(folder.path().join("openapi.yaml"))
        .arg("--rust")
        .arg(folder.path())
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("mismatched types"), "{said}");
    assert!(said.contains("src/main.rs:2"), "{said}");
}

#[test]
fn the_demo_ends_with_a_suite_that_was_run_and_queries_that_the_query_job_reads() {
    let example = samples().join("../../../examples/marina");
    let folder = tempfile::tempdir().expect("a folder for the results");
    let isobath = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_isobath"))
            .args(arguments)
            .current_dir(&example)
            .output()
            .expect("the binary runs")
    };
    let path = |name: &str| folder.path().join(name).display().to_string();
    let out = folder.path().display().to_string();
    let demo = isobath(&["demo", "--budget", "600calls", "--out", &out]);
    let said = String::from_utf8_lossy(&demo.stderr).into_owned();
    assert_eq!(demo.status.code(), Some(0), "{said}");
    let report = std::fs::read_to_string(path("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("a report is JSON");
    assert!(
        report["faults"]
            .as_array()
            .is_some_and(|faults| !faults.is_empty())
    );
    assert_eq!(report["suites"][0]["language"], "pytest", "{report}");

    let schema = example.join("schema.sql").display().to_string();
    let queries = path("queries.jsonl");
    let query = isobath(&[
        "query",
        "--schema",
        &schema,
        "--queries",
        &queries,
        "--json",
    ]);
    assert_eq!(
        query.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&query.stderr)
    );
    let lines = String::from_utf8_lossy(&query.stdout).into_owned();
    let sent = std::fs::read_to_string(queries).expect("the queries are text");
    assert!(sent.lines().count() > 10, "{sent}");
    assert_eq!(lines.lines().count(), sent.lines().count(), "{lines}");
}

/// Runs a command that must end by itself within so many seconds.
fn within(seconds: u64, mut command: Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let pid = child.id();
    let (ended, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait_with_output()));
    match wait.recv_timeout(Duration::from_secs(seconds)) {
        Ok(output) => output.expect("it can be waited for"),
        Err(_) => {
            let _ = Command::new("kill").arg(pid.to_string()).status();
            panic!("it does not end");
        }
    }
}

#[test]
fn a_larger_service_passes_its_own_tests_when_it_is_instrumented() {
    let state = samples().join("target/isobath");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["test", "--package", "pastebin"])
        .current_dir(samples())
        .env("RUSTC_WORKSPACE_WRAPPER", env!("CARGO_BIN_EXE_isobath"))
        .env("ISOBATH_STATE", &state);
    let output = within(1_200, command);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}{complaint}");
    let passed: u64 = said
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next())
        .filter_map(|count| count.parse::<u64>().ok())
        .sum();
    assert!(passed > 10, "{said}");
    let root = samples().join("pastebin/src/lib.rs");
    let root = root.canonicalize().expect("the service is there");
    let outcome = CrateReport::read(&state, &key("pastebin", &root)).expect("it was instrumented");
    assert!(outcome.plain.is_none() && outcome.plain_files.is_empty());
    assert!(outcome.counts.share() > 0.95, "{:?}", outcome.counts);
    assert!(outcome.dropped.len() < 5, "{:?}", outcome.dropped);
}
