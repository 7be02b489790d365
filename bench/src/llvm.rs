//! What we call covered, held against LLVM's source-based coverage of the plain service.
//!
//! The service is searched white-box; the written suite is then run against the plain service,
//! built with `-C instrument-coverage`. Needs the rustup component `llvm-tools`, pytest and requests.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use isobath_exec::process::free_port;
use serde_json::Value;

type Problem = Box<dyn std::error::Error>;

const SAMPLE: &str = "sample-axum";
const DOCUMENTS: [(&str, &str); 3] = [
    ("papers", "axum/src/papers.rs"),
    ("texts", "axum/src/texts.rs"),
    ("numbers", "axum/src/numbers.rs"),
];

/// Compares on the samples, with a budget as for `isobath rest`.
pub(crate) fn compare(samples: &Path, program: &Path, budget: &str) -> ExitCode {
    match measure(samples, program, budget) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("isobath-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(samples: &Path, program: &Path, budget: &str) -> Result<(), Problem> {
    let samples = samples.canonicalize()?;
    let target = samples.join("target").join("llvm");
    let status = Command::new("cargo")
        .current_dir(&samples)
        .args(["build", "--quiet", "--package", SAMPLE, "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", "-C instrument-coverage")
        // Build scripts are instrumented as well, and would leave their counts in the tree.
        .env("LLVM_PROFILE_FILE", "/dev/null")
        .status()?;
    if !status.success() {
        return Err("the sample does not build".into());
    }
    let service = target.join("debug").join(SAMPLE);
    println!(
        "{:<10} {:>14} {:>20} {:>10}",
        "subject", "lines, ours", "lines, LLVM (suite)", "disagree"
    );
    for (document, file) in DOCUMENTS {
        let folder = tempfile::tempdir()?;
        let ours = ours(&samples, program, document, file, budget, folder.path())?;
        let theirs = theirs(&service, file, folder.path())?;
        let covered = ours.values().filter(|covered| **covered).count();
        let executed = theirs.values().filter(|count| **count > 0).count();
        // A line that we call covered must not be one that LLVM never saw executed.
        let wrong: Vec<u32> = ours
            .iter()
            .filter(|(line, covered)| **covered && theirs.get(*line) == Some(&0))
            .map(|(line, _)| *line)
            .collect();
        println!(
            "{document:<10} {:>14} {:>20} {:>10}",
            format!("{covered} of {}", ours.len()),
            format!(
                "{executed} of {} ({:.1} %)",
                theirs.len(),
                100.0 * executed as f64 / theirs.len().max(1) as f64
            ),
            wrong.len()
        );
        for line in wrong {
            println!("  {file}:{line} is covered in the search and not by the suite");
        }
    }
    Ok(())
}

/// The lines of a file that have a statement, and whether one of it is covered.
fn ours(
    samples: &Path,
    program: &Path,
    document: &str,
    file: &str,
    budget: &str,
    folder: &Path,
) -> Result<BTreeMap<u32, bool>, Problem> {
    let described = samples
        .join("samples/axum")
        .join(format!("{document}.yaml"));
    Command::new(program)
        .arg("rest")
        .arg(described)
        .arg("--rust")
        .arg(samples)
        .args([
            "--package",
            SAMPLE,
            "--budget",
            budget,
            "--quiet",
            "--no-run",
            "--out",
        ])
        .arg(folder)
        .stdout(Stdio::null())
        .status()?;
    let report = std::fs::read_to_string(folder.join("report.json"))?;
    let report: Value = serde_json::from_str(&report)?;
    let files = report["code"]["files"].as_array().ok_or("no code")?;
    let named = |entry: &&Value| {
        let name = entry["file"].as_str().unwrap_or_default();
        name.ends_with(file)
    };
    let found = files.iter().find(named).ok_or("no such file")?;
    let mut lines = BTreeMap::new();
    for (which, covered) in [("covered_lines", true), ("missed_lines", false)] {
        for line in found[which].as_array().into_iter().flatten() {
            let line = u32::try_from(line.as_u64().unwrap_or_default())?;
            lines.insert(line, covered);
        }
    }
    Ok(lines)
}

/// How often LLVM saw each line of a file while the suite ran.
fn theirs(service: &Path, file: &str, folder: &Path) -> Result<BTreeMap<u32, u64>, Problem> {
    let port = free_port(9_000)?;
    let raw = folder.join("coverage.profraw");
    let mut child = Command::new(service)
        .env("PORT", port.to_string())
        .env("LLVM_PROFILE_FILE", &raw)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if started.elapsed() > Duration::from_secs(20) {
            let _ = child.kill();
            return Err("the plain service does not come up".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let tests = Command::new("python3")
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(folder.join("pytest"))
        .env("ISOBATH_BASE_URL", format!("http://127.0.0.1:{port}"))
        .output();
    Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()?;
    child.wait()?;
    let tests = tests?;
    if !tests.status.success() {
        let said = String::from_utf8_lossy(&tests.stdout).into_owned();
        let last = said.lines().last().unwrap_or_default();
        println!("  the suite on the plain service: {last}");
    }
    let merged = folder.join("coverage.profdata");
    run(Command::new(tool("llvm-profdata")?)
        .args(["merge", "-sparse", "-o"])
        .args([&merged, &raw]))?;
    let exported = run(Command::new(tool("llvm-cov")?)
        .args(["export", "--format=lcov"])
        .arg(format!("--instr-profile={}", merged.display()))
        .arg(service))?;
    let mut lines = BTreeMap::new();
    let mut here = false;
    for line in exported.lines() {
        if let Some(name) = line.strip_prefix("SF:") {
            here = name.ends_with(file);
        } else if let (true, Some(data)) = (here, line.strip_prefix("DA:"))
            && let Some((number, count)) = data.split_once(',')
        {
            lines.insert(number.parse()?, count.parse()?);
        }
    }
    Ok(lines)
}

fn run(command: &mut Command) -> Result<String, Problem> {
    let output = command.output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
    }
}

/// A tool of the toolchain's LLVM.
fn tool(name: &str) -> Result<PathBuf, Problem> {
    let root = run(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let path = Path::new(root.trim()).join("../bin").join(name);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("there is no {name}; `rustup component add llvm-tools` brings it").into())
    }
}
