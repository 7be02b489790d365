//! Writes suites to temporary folders and runs them with the tools they are made for.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "only tests use it"
)]

use std::io::Write;
use std::path::Path;
use std::process::Command;

use isobath_emit::{Suite, SuiteDialect, writer};

use crate::samples;

/// Runs emitted suites with one tool.
pub(crate) struct Workshop {
    environment: Vec<(String, String)>,
}

/// What a run of a suite came to.
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) output: String,
}

impl Workshop {
    /// A workshop with `tool`, or nothing (and a word about it) where it is not installed; that
    /// is a failure when everything is required.
    pub(crate) fn needing(tool: &str, probe: &[&str]) -> Option<Self> {
        let shop = Self::wishing(tool, probe);
        let required = std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_some();
        assert!(
            shop.is_some() || !required,
            "`{tool} {}` does not work",
            probe.join(" ")
        );
        shop
    }

    /// The same for what may always be missing.
    pub(crate) fn wishing(tool: &str, probe: &[&str]) -> Option<Self> {
        let found = Command::new(tool).args(probe).output();
        if found.is_ok_and(|output| output.status.success()) {
            return Some(Workshop {
                environment: Vec::new(),
            });
        }
        left_out(&format!("`{tool} {}` does not work", probe.join(" ")));
        None
    }

    /// A workshop that may fetch and build sqlx, which takes minutes, so it has to be asked for.
    pub(crate) fn with_sqlx() -> Option<Self> {
        if std::env::var_os("ISOBATH_BUILD_SQLX").is_some() {
            return Self::needing("cargo", &["--version"]);
        }
        left_out("suites over sqlx are built only when ISOBATH_BUILD_SQLX is set");
        None
    }

    /// Sets a variable for everything that is run.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Checks that the sample suites pass, and that each wrong expectation makes them fail.
    pub(crate) fn check_one_by_one(
        &self,
        writer: &str,
        dialect: SuiteDialect,
        run: impl Fn(&Path, &str) -> Outcome,
    ) {
        for suite in [samples::shop(dialect), samples::queries::shop(dialect)] {
            let Outcome { success, output } = self.run(writer, &suite, &run);
            assert!(success, "{output}");
        }
        let mut wrong = samples::wrong(dialect);
        wrong.extend(samples::queries::wrong(dialect));
        for (what, suite) in wrong {
            let Outcome { success, output } = self.run(writer, &suite, &run);
            assert!(!success, "not noticed: {what}\n{output}");
        }
    }

    /// The same for tools that are slow to start: all wrong expectations are tests of one run,
    /// and all of them must fail. `n_failed` reads their number from the output.
    fn check_in_two_runs(
        &self,
        writer: &str,
        dialect: SuiteDialect,
        run: impl Fn(&Path, &str) -> Outcome,
        n_failed: impl Fn(&str) -> usize,
    ) {
        let (schema, queries) = (
            samples::all_wrong(dialect),
            samples::queries::all_wrong(dialect),
        );
        self.check_both(writer, &samples::shop(dialect), schema, &run, &n_failed);
        let right = samples::queries::shop(dialect);
        self.check_both(writer, &right, queries, &run, &n_failed);
    }

    /// A right suite passes, and all tests of a wrong one fail.
    pub(crate) fn check_both(
        &self,
        writer: &str,
        right: &Suite,
        (n_wrong, wrong): (usize, Suite),
        run: &impl Fn(&Path, &str) -> Outcome,
        n_failed: &impl Fn(&str) -> usize,
    ) {
        let Outcome { success, output } = self.run(writer, right, run);
        assert!(success, "{output}");
        let Outcome { success, output } = self.run(writer, &wrong, run);
        assert!(!success, "{output}");
        assert_eq!(n_failed(&output), n_wrong, "{output}");
    }

    /// The suite about queries as `#[sqlx::test]`.
    pub(crate) fn check_sqlx(&self, dialect: SuiteDialect) {
        let run = |folder: &Path, _: &str| self.cargo_test(folder);
        let right = samples::queries::shop(dialect);
        let wrong = samples::queries::all_wrong(dialect);
        self.check_both("sqlx", &right, wrong, &run, &n_failed_of_cargo);
    }

    /// The suite about queries as unit tests of dbt, on DuckDB.
    pub(crate) fn check_dbt(&self) {
        let script = "python3 prepare.py \
            && dbt --no-use-colors test --select test_type:unit --profiles-dir .";
        let run = |folder: &Path, _: &str| {
            let profile = "isobath:\n  target: test\n  outputs:\n    \
                           test: {type: duckdb, path: test.duckdb, schema: main, threads: 1}\n";
            std::fs::write(folder.join("profiles.yml"), profile).unwrap();
            let setup = samples::queries::shop(SuiteDialect::Sqlite).setup;
            let prepare = format!(
                "import duckdb\nconnection = duckdb.connect('test.duckdb')\n\
                 for sql in {setup:?}:\n    connection.execute(sql)\n"
            );
            std::fs::write(folder.join("prepare.py"), prepare).unwrap();
            self.script(folder, script, "")
        };
        // A model does not change data, so the statement that does has no unit test.
        let without = |mut suite: Suite| {
            suite.tests.retain(|test| test.group != "Forgive");
            (suite.tests.len(), suite)
        };
        let (_, right) = without(samples::queries::shop(SuiteDialect::Sqlite));
        let wrong = without(samples::queries::all_wrong(SuiteDialect::Sqlite).1);
        // "Done. PASS=0 WARN=0 ERROR=3 SKIP=0 …"
        let n_failed = |output: &str| {
            let summary = output.lines().rfind(|line| line.contains("Done. PASS="));
            let errors = summary.and_then(|line| line.split("ERROR=").nth(1));
            let count = errors.and_then(|rest| rest.split_whitespace().next());
            count.and_then(|count| count.parse().ok()).unwrap_or(0)
        };
        self.check_both("dbt", &right, wrong, &run, &n_failed);
    }

    pub(crate) fn check_pytest(&self, dialect: SuiteDialect) {
        let command = "python3 -m pytest -q -p no:cacheprovider \"$1\"";
        let run = |folder: &Path, file: &str| self.script(folder, command, file);
        self.check_in_two_runs("pytest", dialect, run, |output| {
            // "11 failed in 0.05s"
            let summary = output.lines().rfind(|line| line.contains(" failed in "));
            let count = summary.and_then(|line| line.split_whitespace().next());
            count.and_then(|count| count.parse().ok()).unwrap_or(0)
        });
    }

    pub(crate) fn check_junit(&self, dialect: SuiteDialect) {
        let run = |folder: &Path, _: &str| self.script(folder, "mvn -q -B test", "");
        self.check_in_two_runs("junit", dialect, run, |output| {
            // "Tests run: 11, Failures: 10, Errors: 1, Skipped: 0"
            let summary = output.lines().rfind(|line| line.contains("Tests run:"));
            let counts = summary.unwrap_or_default().split([':', ',']);
            let counts: Vec<usize> = counts.filter_map(|n| n.trim().parse().ok()).collect();
            counts.iter().skip(1).take(2).sum()
        });
    }

    pub(crate) fn check_rust(&self, dialect: SuiteDialect) {
        let run = |folder: &Path, _: &str| self.cargo_test(folder);
        self.check_in_two_runs("rust", dialect, run, n_failed_of_cargo);
    }

    /// Writes one suite into a folder of its own and runs it there.
    pub(crate) fn run(
        &self,
        writer: &str,
        suite: &Suite,
        run: impl Fn(&Path, &str) -> Outcome,
    ) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let files = writer::by_name(writer).unwrap().write(suite).unwrap();
        for file in &files {
            let path = folder.path().join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        run(folder.path(), &files[0].path)
    }

    /// Runs a shell command in `folder` with `file` as `$1`.
    pub(crate) fn script(&self, folder: &Path, command: &str, file: &str) -> Outcome {
        let mut shell = Command::new("sh");
        shell.args(["-c", command, "sh", file]).current_dir(folder);
        shell.envs(self.environment.iter().cloned());
        outcome(&mut shell)
    }

    /// Runs `cargo test` with this workspace's lock file and builds, so that nothing is fetched
    /// and little is compiled.
    fn cargo_test(&self, folder: &Path) -> Outcome {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let _ = std::fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock"));
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emitted");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--test", "*"]).current_dir(folder);
        cargo.env("CARGO_TARGET_DIR", target);
        cargo.envs(self.environment.iter().cloned());
        outcome(&mut cargo)
    }
}

/// From "test result: FAILED. 0 passed; 11 failed; …".
fn n_failed_of_cargo(output: &str) -> usize {
    let summary = output.lines().rfind(|line| line.starts_with("test result"));
    let failed = summary.and_then(|line| line.split("; ").nth(1));
    let count = failed.and_then(|part| part.split(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// Says what was left out, past the test runner's capture.
pub(crate) fn left_out(why: &str) {
    let _ = writeln!(std::io::stderr(), "left out: {why}");
}

fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    Outcome {
        success: output.status.success(),
        output: String::from_utf8_lossy(&text).into_owned(),
    }
}
