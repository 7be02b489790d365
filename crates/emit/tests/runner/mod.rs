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

    /// Checks that the sample suite passes, and that each wrong expectation makes it fail.
    pub(crate) fn check_one_by_one(
        &self,
        writer: &str,
        dialect: SuiteDialect,
        run: impl Fn(&Path, &str) -> Outcome,
    ) {
        let Outcome { success, output } = self.run(writer, &samples::shop(dialect), &run);
        assert!(success, "{output}");
        for (what, suite) in samples::wrong(dialect) {
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
        let Outcome { success, output } = self.run(writer, &samples::shop(dialect), &run);
        assert!(success, "{output}");
        let (n_wrong, suite) = samples::all_wrong(dialect);
        let Outcome { success, output } = self.run(writer, &suite, &run);
        assert!(!success, "{output}");
        assert_eq!(n_failed(&output), n_wrong, "{output}");
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
        self.check_in_two_runs("junit5", dialect, run, |output| {
            // "Tests run: 11, Failures: 10, Errors: 1, Skipped: 0"
            let summary = output.lines().rfind(|line| line.contains("Tests run:"));
            let counts = summary.unwrap_or_default().split([':', ',']);
            let counts: Vec<usize> = counts.filter_map(|n| n.trim().parse().ok()).collect();
            counts.iter().skip(1).take(2).sum()
        });
    }

    pub(crate) fn check_rust(&self, dialect: SuiteDialect) {
        let run = |folder: &Path, _: &str| self.cargo_test(folder);
        self.check_in_two_runs("rust", dialect, run, |output| {
            // "test result: FAILED. 0 passed; 11 failed; …"
            let summary = output.lines().rfind(|line| line.starts_with("test result"));
            let failed = summary.and_then(|line| line.split("; ").nth(1));
            let count = failed.and_then(|part| part.split(' ').next());
            count.and_then(|count| count.parse().ok()).unwrap_or(0)
        });
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
