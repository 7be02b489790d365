//! The end of every benchmark: which thresholds are met, and the exit code.

#![expect(clippy::print_stdout, reason = "a benchmark prints its verdict")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::path::Path;
use std::process::{Command, ExitCode};

/// Why something could not be measured.
pub(crate) type BenchError = Box<dyn std::error::Error>;

/// The exit code of a benchmark; prints why it could not run.
pub(crate) fn exit(measured: Result<bool, BenchError>) -> ExitCode {
    match measured {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("isobath-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// As [`exit`], after a line that says whether all thresholds are met.
pub(crate) fn conclude(measured: Result<bool, BenchError>) -> ExitCode {
    match measured {
        Ok(true) => println!("all thresholds met"),
        Ok(false) => println!("some thresholds missed (see above)"),
        Err(_) => {}
    }
    exit(measured)
}

/// The thresholds of a benchmark that checks many of them.
#[derive(Default)]
pub(crate) struct Thresholds {
    missed: Vec<String>,
    skipped: Vec<&'static str>,
}

impl Thresholds {
    /// Records a threshold that was or was not met.
    pub(crate) fn check(&mut self, is_met: bool, what: impl Into<String>) {
        if !is_met {
            self.missed.push(what.into());
        }
    }

    /// Records a threshold that was not measured.
    pub(crate) fn skip(&mut self, what: &'static str) {
        self.skipped.push(what);
    }

    /// Prints the missed thresholds; returns whether there is none.
    pub(crate) fn print(&self) -> bool {
        println!();
        for missed in &self.missed {
            println!("missed: {missed}");
        }
        let all = self.missed.is_empty();
        if all && self.skipped.is_empty() {
            println!("all thresholds met");
        } else if all {
            println!(
                "all measured thresholds met; not measured: {} (--all measures everything)",
                self.skipped.join(", ")
            );
        }
        all
    }
}

/// The standard output of a command.
///
/// # Errors
///
/// When the command fails, with all its output.
pub(crate) fn run(command: &mut Command) -> Result<String, BenchError> {
    let output = command.output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let printed = [output.stdout, output.stderr].concat();
        Err(String::from_utf8_lossy(&printed).into_owned().into())
    }
}

/// Whether all tests of the generated pytest suite pass on the service at a port; prints the failures.
pub(crate) fn suite_passes(folder: &Path, port: u16) -> Result<bool, BenchError> {
    let tests = Command::new("python3")
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(folder.join("pytest"))
        .env("ISOBATH_BASE_URL", format!("http://127.0.0.1:{port}"))
        .output()?;
    if !tests.status.success() {
        let printed = String::from_utf8_lossy(&tests.stdout).into_owned();
        for line in printed.lines().filter(|line| line.starts_with("FAILED ")) {
            println!("  {line}");
        }
        println!("  pytest: {}", printed.lines().last().unwrap_or_default());
    }
    Ok(tests.status.success())
}
