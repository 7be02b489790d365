//! What benches of whole services share: suites that are run, and what is said at the end.

#![expect(clippy::print_stdout, reason = "a benchmark prints its verdict")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::path::Path;
use std::process::{Command, ExitCode};

/// Why something could not be measured.
pub(crate) type Problem = Box<dyn std::error::Error>;

/// Says whether every number is reached, or why that is not known.
pub(crate) fn say(measured: Result<bool, Problem>) -> ExitCode {
    match measured {
        Ok(true) => {
            println!("every number is reached");
            ExitCode::SUCCESS
        }
        Ok(false) => {
            println!("not every number is reached");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("isobath-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a command prints.
///
/// # Errors
/// When it fails, with all that it said.
pub(crate) fn run(command: &mut Command) -> Result<String, Problem> {
    let output = command.output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = [output.stdout, output.stderr].concat();
        Err(String::from_utf8_lossy(&said).into_owned().into())
    }
}

/// Whether all tests of the written pytest suite pass on the service at a port; what fails is printed.
pub(crate) fn is_green(folder: &Path, port: u16) -> Result<bool, Problem> {
    let tests = Command::new("python3")
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(folder.join("pytest"))
        .env("ISOBATH_BASE_URL", format!("http://127.0.0.1:{port}"))
        .output()?;
    if !tests.status.success() {
        let said = String::from_utf8_lossy(&tests.stdout).into_owned();
        for line in said.lines().filter(|line| line.starts_with("FAILED ")) {
            println!("  {line}");
        }
        println!("  the suite: {}", said.lines().last().unwrap_or_default());
    }
    Ok(tests.status.success())
}
