//! Runs generated suites again and again, each time in another order, and counts the tests that fail.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use isobath_suts::ALL;

use crate::verdict::{self, BenchError, Thresholds};

/// Where `scripts/test` installs pytest and what suites need.
const PYTHON: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../target/test-tools/python/bin"
);

/// How much is done.
pub(crate) struct Plan<'a> {
    /// The program.
    pub program: &'a Path,
    /// How often each suite is run.
    pub runs: u64,
    /// Calls of a run that makes a suite.
    pub calls: u64,
    /// Only samples with this in their names.
    pub only: Option<&'a str>,
}

/// Makes a suite for each sample, runs it again, and prints what failed.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    verdict::exit(measure(plan))
}

fn measure(plan: &Plan<'_>) -> Result<bool, BenchError> {
    let plan = &Plan {
        program: &plan.program.canonicalize()?,
        ..*plan
    };
    let is_wanted = |name: &str| plan.only.is_none_or(|only| name.contains(only));
    let mut all = Tally::default();
    println!("sample | tests | runs | failed | flaky tests");
    for sample in ALL.iter().filter(|sample| is_wanted(sample.name)) {
        let service = (sample.start)();
        let document = format!("{}/openapi.json", service.url);
        all.add(of_service(plan, sample.name, &service.url, &document, &[])?);
    }
    if is_wanted("marina") {
        let service = marina::start(marina::Faults::all())?;
        let document = format!("{}/openapi.yaml", service.url());
        let reset = ["--reset", "POST /reset"];
        all.add(of_service(
            plan,
            "marina",
            &service.url(),
            &document,
            &reset,
        )?);
    }
    let rate = 100.0 * all.failed as f64 / all.executed.max(1) as f64;
    println!(
        "{} tests in {} executions, {} failed: a flake rate of {rate:.2} %",
        all.tests, all.executed, all.failed
    );
    let mut thresholds = Thresholds::default();
    thresholds.check(all.executed > 0, "tests were run");
    thresholds.check(all.failed == 0, "no test fails");
    Ok(thresholds.print())
}

/// Tests and how they did.
#[derive(Default)]
struct Tally {
    tests: usize,
    executed: usize,
    failed: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.tests += other.tests;
        self.executed += other.executed;
        self.failed += other.failed;
    }
}

/// Makes the suite of a service and runs it.
fn of_service(
    plan: &Plan<'_>,
    name: &str,
    url: &str,
    document: &str,
    more: &[&str],
) -> Result<Tally, BenchError> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let made = Command::new(plan.program)
        .args(["rest", document, "--url", url])
        .args(["--budget", &format!("{}calls", plan.calls), "--seed", "1"])
        .args(more)
        .arg("--out")
        .arg(&out)
        .env("PATH", path()?)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()?;
    // A service whose operations never succeed ends with 3, and has a suite nevertheless.
    if !matches!(made.status.code(), Some(0 | 1 | 3)) {
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        return Err(format!("{name}: {:?}: {said}", made.status).into());
    }
    let suite = out.join("pytest");
    let mut tests = tests(&suite, url)?;
    let mut tally = Tally {
        tests: tests.len(),
        ..Tally::default()
    };
    let mut flaky = std::collections::BTreeSet::new();
    let mut rng = fastrand::Rng::with_seed(plan.runs);
    for _ in 0..plan.runs {
        if tests.is_empty() {
            break;
        }
        rng.shuffle(&mut tests);
        let run = pytest(&suite, url)?
            .args(["-rfE", "--tb=no"])
            .args(&tests)
            .output()?;
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        let failed = |line: &str| {
            let rest = line
                .strip_prefix("FAILED ")
                .or(line.strip_prefix("ERROR "))?;
            Some(rest.split(" - ").next()?.to_owned())
        };
        let failed: Vec<String> = said.lines().filter_map(failed).collect();
        if !run.status.success() && failed.is_empty() {
            return Err(format!("{name}: pytest failed:\n{said}").into());
        }
        tally.executed += tests.len();
        tally.failed += failed.len();
        flaky.extend(failed);
    }
    println!(
        "{name} | {} | {} | {} | {}",
        tally.tests,
        plan.runs,
        tally.failed,
        flaky.len()
    );
    for test in flaky {
        println!("  {test}");
    }
    Ok(tally)
}

/// The tests of a suite.
fn tests(suite: &Path, url: &str) -> Result<Vec<String>, BenchError> {
    if !suite.exists() {
        return Ok(Vec::new());
    }
    let listed = pytest(suite, url)?.args(["--collect-only"]).output()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let tests = listed.lines().filter(|line| line.contains("::"));
    Ok(tests.map(str::to_owned).collect())
}

fn pytest(suite: &Path, url: &str) -> Result<Command, BenchError> {
    let mut command = Command::new("python3");
    command
        .current_dir(suite)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .env("PATH", path()?)
        .env("ISOBATH_BASE_URL", url)
        .stdin(Stdio::null());
    Ok(command)
}

/// The programs of the environment that has pytest, before all others.
fn path() -> Result<std::ffi::OsString, BenchError> {
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(PathBuf::from(PYTHON)).chain(std::env::split_paths(&usual));
    Ok(std::env::join_paths(folders)?)
}
