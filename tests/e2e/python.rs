//! Drives white-box runs of Python services from the command line: started with the driver, searched, and measured by
//! what the report says of their code.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use serde_json::Value;
use tempfile::TempDir;

#[path = "python/database.rs"]
mod database;
#[path = "python/starting.rs"]
mod starting;

fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().expect("the repository")
}

/// The virtual environment of the samples, which `scripts/test` makes; nothing where there is none.
#[expect(clippy::print_stderr, reason = "what is left out should be seen")]
fn environment() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let folder = root().join("target/test-tools/services");
        let script =
            "import django, fastapi, flask, gunicorn, hypercorn, pytest, requests, uvicorn";
        let imports = Command::new(folder.join("bin/python"))
            .args(["-c", script])
            .output();
        if imports.is_ok_and(|output| output.status.success()) {
            return Some(folder);
        }
        let required = std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_some();
        assert!(!required, "{} is not complete", folder.display());
        eprintln!("left out: scripts/test has not made {}", folder.display());
        None
    });
    found.as_deref()
}

/// A port of one's own, and three behind it for further instances, so that tests that run at once do not meet.
fn port() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(8_400);
    NEXT.fetch_add(4, Ordering::Relaxed).to_string()
}

struct Run {
    folder: TempDir,
    output: Output,
}

impl Run {
    /// `isobath rest` in the folder of a sample. `{port}` in an argument is the port of the service.
    fn of(sample: &str, document: &str, arguments: &[&str]) -> Option<Self> {
        Self::with(sample, document, arguments, &[])
    }

    /// As `of`, with more variables in the environment.
    fn with(
        sample: &str,
        document: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Option<Self> {
        let environment = environment()?;
        let folder = tempfile::tempdir().expect("a folder for the results");
        let port = port();
        let samples = root().join("tests/suts");
        let document = match document.contains("://") {
            true => document.replace("{port}", &port),
            false => samples.join(document).display().to_string(),
        };
        let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .current_dir(samples.join("python").join(sample))
            .env("VIRTUAL_ENV", environment)
            .env_remove("PYTHONPATH")
            .envs(variables.iter().copied())
            .args(["rest", &document, "--port", &port, "--out"])
            .arg(folder.path())
            .args(arguments)
            .output()
            .expect("the binary runs");
        Some(Self { folder, output })
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

    /// Covered and all branches of a file.
    fn branches(&self, file: &str) -> (u64, u64) {
        let report = self.report();
        let files = report["code"]["files"].as_array().expect("a list of files");
        let found = files.iter().find(|entry| entry["file"] == file);
        let found = found.unwrap_or_else(|| panic!("{file} is not among {files:?}"));
        let number = |which: &str| found["branches"][which].as_u64().unwrap_or_default();
        (number("covered"), number("total"))
    }
}

const PAPERS: &str = "jvm/papers/openapi.json";
/// The three frameworks, each with another way to name the application.
const FRAMEWORKS: [&str; 3] = [
    "fastapi_app:app",
    "flask_app:create_app()",
    "django_app:application",
];

#[test]
fn the_examples_of_the_papers_are_covered_on_all_frameworks() {
    for application in FRAMEWORKS {
        let mut covered = 0;
        for seed in ["1", "2", "3"] {
            // The third is only asked where it decides.
            if covered == 2 {
                break;
            }
            let arguments = ["--python", application, "--seed", seed, "--no-run"];
            let arguments = [&arguments[..], &["--budget", "5000calls"]].concat();
            let Some(run) = Run::of("papers", PAPERS, &arguments) else {
                return;
            };
            let (reached, all) = run.branches("figures.py");
            covered += usize::from(reached == all);
            let suite = text_of(&run.folder.path().join("pytest"));
            assert!(
                reached < all || suite.contains("/api/testability/2019-"),
                "what is covered is in the suite: {suite}"
            );
            assert!(
                run.said().contains("exception at figures.py:9"),
                "the place of an uncaught exception names the fault: {}",
                run.said()
            );
        }
        assert!(covered >= 2, "{application}: {covered} of 3 seeds");
    }
}

#[test]
fn black_box_runs_do_not_open_what_white_box_runs_do() {
    let start = "python -m uvicorn fastapi_app:app --port {port} --no-access-log";
    // With the driver, which counts, but without anything that it teaches.
    let blind = "steering,methods,tracking,expansion";
    let arguments = ["--python-start", start, "--without", blind];
    let arguments = [&arguments[..], &["--no-run", "--budget", "5000calls"]].concat();
    let Some(run) = Run::of("papers", PAPERS, &arguments) else {
        return;
    };
    let (reached, all) = run.branches("figures.py");
    assert!(reached < all, "{}", run.said());
    assert!(!run.said().contains("KeyError"), "{}", run.said());
}

#[test]
fn headers_and_bodies_that_no_document_names_are_found_on_all_frameworks() {
    for application in FRAMEWORKS {
        let arguments = ["--python", application, "--no-run"];
        let arguments = [&arguments[..], &["--budget", "4000calls"]].concat();
        let document = "jvm/papers/openapi-hidden.json";
        let Some(run) = Run::of("papers", document, &arguments) else {
            return;
        };
        let (reached, all) = run.branches("hidden.py");
        assert_eq!(reached, all, "{application}: {}", run.said());
    }
}

#[test]
fn eight_kinds_of_conditions_are_met() {
    let mut open = 0;
    for seed in ["1", "2", "3"] {
        let arguments = ["--python", "service:app", "--seed", seed, "--no-run"];
        let arguments = [&arguments[..], &["--budget", "6000calls"]].concat();
        let document = "http://127.0.0.1:{port}/openapi.json";
        let Some(run) = Run::of("locks", document, &arguments) else {
            return;
        };
        let (covered, total) = run.branches("service.py");
        open += usize::from(covered == total);
    }
    assert!(open >= 2, "{open} of 3 seeds");
}

#[test]
fn rows_in_memory_are_inserted_where_nothing_makes_them_and_the_suite_brings_them_too() {
    let arguments = ["--python", "fastapi_app:app", "--budget", "600calls"];
    let Some(run) = Run::of("rows", "jvm/rows/openapi-read.json", &arguments) else {
        return;
    };
    let (covered, total) = run.branches("foo.py");
    assert_eq!(covered, total, "{}", run.said());
    assert!(run.said().contains("sqlite inside the service"));
    assert!(run.said().contains("pytest: all "), "{}", run.said());
    let suite = run.folder.path().join("pytest");
    assert!(text_of(&suite).contains("insert_into(\"foo\")"));
    let said = pytest(&suite);
    assert!(
        said.contains(" passed") && !said.contains("failed"),
        "{said}"
    );
}

#[test]
fn rows_in_memory_are_inserted_on_the_other_frameworks() {
    for application in ["flask_app:app", "django_app:application"] {
        let arguments = ["--python", application, "--no-run", "--budget", "100calls"];
        let Some(run) = Run::of("rows", "jvm/rows/openapi-read.json", &arguments) else {
            return;
        };
        let (covered, total) = run.branches("foo.py");
        assert_eq!(covered, total, "{application}: {}", run.said());
    }
}

#[test]
fn suites_start_the_plain_service_on_a_free_port() {
    let start = "python -m uvicorn fastapi_app:app --port {port} --no-access-log";
    let arguments = ["--python-start", start, "--budget", "500calls"];
    let Some(run) = Run::of("papers", PAPERS, &arguments) else {
        return;
    };
    assert!(run.said().contains("pytest: all "), "{}", run.said());
    let suite = run.folder.path().join("pytest");
    let text = text_of(&suite);
    assert!(!text.contains("isobath/python-") && !text.contains("ISOBATH_ADDRESS"));
    let said = pytest(&suite);
    assert!(
        said.contains(" passed") && !said.contains("failed"),
        "{said}"
    );
}

/// All files of a suite.
fn text_of(suite: &Path) -> String {
    let files = std::fs::read_dir(suite).expect("a suite").flatten();
    files
        .filter_map(|file| std::fs::read_to_string(file.path()).ok())
        .collect()
}

/// What pytest says of a suite that starts its service itself.
fn pytest(suite: &Path) -> String {
    let python = environment().expect("an environment").join("bin/python");
    let ran = Command::new(python)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .current_dir(suite)
        .env_remove("ISOBATH_BASE_URL")
        .env_remove("ISOBATH_DATABASE")
        .output()
        .expect("pytest runs");
    String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into()
}
