//! What we call covered, held against LLVM's source-based coverage of the plain service.
//!
//! The service is searched white-box. The written suite is then run twice: against the plain
//! service, built with `-C instrument-coverage`, and against the instrumented one with a core that
//! listens. So the same requests are counted by both. Needs the rustup component `llvm-tools`,
//! pytest and requests.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod subjects;

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use isobath_exec::driver::{Listener, TargetKind};
use isobath_exec::process::free_port;
use isobath_rewrite::build::{Build, InstrumentedBuild, build};
use serde_json::Value;

use self::subjects::{SUBJECTS, Subject, explanation};
use crate::verdict::{self, BenchError, run, suite_passes};

/// Lines by file and number, and how often each was executed, or whether.
type Lines = BTreeMap<(String, u32), u64>;

/// The share of the lines that a suite must reach on the services of functions.
const WANTED: f64 = 0.9;
/// So many differences of a service are shown.
const SHOWN: usize = 12;

/// Compares on the services of these names, or on all, with a budget as for `isobath rest`.
pub(crate) fn compare(samples: &Path, program: &Path, budget: &str, names: &[&str]) -> ExitCode {
    let measured = samples
        .canonicalize()
        .map_err(BenchError::from)
        .and_then(|samples| {
            let program = program.canonicalize()?;
            println!(
                "{:<11} {:>16} {:>16} {:>24} {:>10} {:>10}",
                "subject", "ours, search", "ours, suite", "LLVM, suite", "ours only", "LLVM only"
            );
            let mut good = true;
            for subject in SUBJECTS {
                if names.is_empty() || names.contains(&subject.name) {
                    good &= measure(&samples, &program, budget, &subject)
                        .map_err(|error| format!("{}: {error}", subject.name))?;
                }
            }
            Ok(good)
        });
    verdict::conclude(measured)
}

fn measure(
    samples: &Path,
    program: &Path,
    budget: &str,
    subject: &Subject,
) -> Result<bool, BenchError> {
    let folder = tempfile::tempdir()?;
    let found = search(samples, program, budget, subject, folder.path())?;
    let built = build(
        &Build {
            folder: samples.to_path_buf(),
            package: Some(subject.package.to_owned()),
            wrapper: program.to_path_buf(),
            ..Build::default()
        },
        &mut |_| {},
    )?;
    let (ours, suite_passes) = ours(&built, subject, folder.path())?;
    let (theirs, is_green_too) = theirs(&plain(samples, subject)?, subject, folder.path())?;
    let executed = |lines: &Lines| lines.values().filter(|count| **count > 0).count();
    let share = executed(&theirs) as f64 / theirs.len().max(1) as f64;
    let differ = |ours_counts: bool| -> Vec<&(String, u32)> {
        let both = ours.iter().filter_map(|(line, count)| {
            let theirs = theirs.get(line)?;
            Some((line, *count > 0, *theirs > 0))
        });
        both.filter(|(_, ours, theirs)| *ours == ours_counts && *theirs != ours_counts)
            .map(|(line, ..)| line)
            .collect()
    };
    let (only_ours, only_theirs) = (differ(true), differ(false));
    let text_of = |file: &str, line: u32| {
        let source = std::fs::read_to_string(samples.join(file)).unwrap_or_default();
        let text = source.lines().nth(line as usize - 1).unwrap_or_default();
        text.trim().to_owned()
    };
    let why = |file: &str, line: u32| {
        let first = (file.to_owned(), 0);
        let mut before = theirs.range(first..(file.to_owned(), line));
        let count = before.next_back().map(|(_, count)| *count);
        explanation(file, &text_of(file, line), count)
    };
    let is_agreed = only_ours
        .iter()
        .all(|(file, line)| why(file, *line).is_some());
    let is_enough = !subject.demanding || share > WANTED;
    let good = suite_passes && is_green_too && is_agreed && is_enough;
    println!(
        "{:<11} {:>16} {:>16} {:>24} {:>10} {:>10}{}",
        subject.name,
        format!("{} of {}", executed(&found), found.len()),
        format!("{} of {}", executed(&ours), ours.len()),
        format!(
            "{} of {} ({:.1} %)",
            executed(&theirs),
            theirs.len(),
            100.0 * share
        ),
        only_ours.len(),
        only_theirs.len(),
        if good { "" } else { "  NOT REACHED" }
    );
    for (who, lines) in [("ours", &only_ours), ("LLVM", &only_theirs)] {
        for (file, line) in lines.iter().take(SHOWN) {
            let why = why(file, *line).map(|why| format!(" ({why})"));
            let text = text_of(file, *line);
            println!(
                "  only {who}: {file}:{line}: {text}{}",
                why.unwrap_or_default()
            );
        }
    }
    Ok(good)
}

/// Searches the service; the lines with a statement, and whether the search covered them.
fn search(
    samples: &Path,
    program: &Path,
    budget: &str,
    subject: &Subject,
    folder: &Path,
) -> Result<Lines, BenchError> {
    let place = samples.join(subject.folder);
    let mut command = Command::new(program);
    command
        .arg("rest")
        .arg(place.join(subject.document))
        .arg("--rust")
        .arg(samples)
        .args(["--package", subject.package, "--budget", budget])
        .args(["--quiet", "--no-run", "--inline-secrets", "--out"])
        .arg(folder)
        .stdout(Stdio::null());
    if let Some(auth) = subject.auth {
        command.arg("--auth").arg(place.join(auth));
    }
    if subject.reset {
        command.args(["--reset", "POST /reset"]);
        command.env("ENABLE_RESET", "1");
    }
    command.status()?;
    let report = std::fs::read_to_string(folder.join("report.json"))?;
    let report: Value = serde_json::from_str(&report)?;
    let mut lines = Lines::new();
    for entry in report["code"]["files"].as_array().ok_or("no code")? {
        let file = entry["file"].as_str().unwrap_or_default();
        if !file.starts_with(subject.sources) {
            continue;
        }
        for (which, covered) in [("covered_lines", 1), ("missed_lines", 0)] {
            for line in entry[which].as_array().into_iter().flatten() {
                let line = u32::try_from(line.as_u64().unwrap_or_default())?;
                lines.insert((file.to_owned(), line), covered);
            }
        }
    }
    Ok(lines)
}

/// The lines with a statement, and whether the suite covers them by our own account; and whether it passes.
fn ours(
    built: &InstrumentedBuild,
    subject: &Subject,
    folder: &Path,
) -> Result<(Lines, bool), BenchError> {
    let listener = Listener::open()?;
    let variables = listener.variables(Some(&built.targets));
    let service = Service::start(&built.executable, subject, &variables)?;
    let driver = listener.accept(Duration::from_secs(20))?;
    let suite_passes = suite_passes(folder, service.port)?;
    let mut reached = Vec::new();
    driver.read(&mut reached);
    let mut lines = Lines::new();
    for target in driver.table().targets() {
        if target.kind == TargetKind::Statement && target.file.starts_with(subject.sources) {
            let covered = reached
                .binary_search_by_key(&target.id, |reached| reached.target)
                .is_ok_and(|at| reached[at].score >= 1.0);
            *lines.entry((target.file.clone(), target.line)).or_default() |= u64::from(covered);
        }
    }
    Ok((lines, suite_passes))
}

/// The plain service, built to be counted by LLVM.
fn plain(samples: &Path, subject: &Subject) -> Result<PathBuf, BenchError> {
    let target = samples.join("target").join("llvm");
    let status = Command::new("cargo")
        .current_dir(samples)
        .args(["build", "--quiet", "--package", subject.package])
        .arg("--target-dir")
        .arg(&target)
        // Counts go to the file at once, since not every service ends kindly.
        .env(
            "RUSTFLAGS",
            "-C instrument-coverage -C llvm-args=-runtime-counter-relocation",
        )
        // Build scripts are instrumented as well, and would leave their counts in the tree.
        .env("LLVM_PROFILE_FILE", "/dev/null")
        .status()?;
    if status.success() {
        Ok(target.join("debug").join(subject.package))
    } else {
        Err("it does not build".into())
    }
}

/// How often LLVM saw each line while the suite ran, and whether that passed.
fn theirs(program: &Path, subject: &Subject, folder: &Path) -> Result<(Lines, bool), BenchError> {
    let raw = folder.join("coverage.profraw");
    let variable = (
        "LLVM_PROFILE_FILE".to_owned(),
        format!("{}%c", raw.display()),
    );
    let service = Service::start(program, subject, &[variable])?;
    let suite_passes = suite_passes(folder, service.port)?;
    drop(service);
    let merged = folder.join("coverage.profdata");
    run(Command::new(tool("llvm-profdata")?)
        .args(["merge", "-sparse", "-o"])
        .args([&merged, &raw]))?;
    let exported = run(Command::new(tool("llvm-cov")?)
        .args(["export", "--format=lcov"])
        .arg(format!("--instr-profile={}", merged.display()))
        .arg(program))?;
    let mut lines = Lines::new();
    let mut here = None;
    for line in exported.lines() {
        if let Some(name) = line.strip_prefix("SF:") {
            here = name.find(subject.sources).map(|at| &name[at..]);
        } else if let (Some(file), Some(data)) = (here, line.strip_prefix("DA:"))
            && let Some((number, count)) = data.split_once(',')
        {
            lines.insert((file.to_owned(), number.parse()?), count.parse()?);
        }
    }
    Ok((lines, suite_passes))
}

/// A running service; dropping it ends it.
struct Service {
    child: Child,
    port: u16,
}

impl Service {
    fn start(
        program: &Path,
        subject: &Subject,
        variables: &[(String, String)],
    ) -> Result<Self, BenchError> {
        let port = free_port(9_000)?;
        let mut command = Command::new(program);
        command
            .env("PORT", port.to_string())
            .envs(variables.iter().cloned())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if subject.reset {
            command.env("ENABLE_RESET", "1");
        }
        let service = Self {
            child: command.spawn()?,
            port,
        };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if started.elapsed() > Duration::from_secs(20) {
                return Err("the service does not come up".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(service)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A tool of the toolchain's LLVM.
fn tool(name: &str) -> Result<PathBuf, BenchError> {
    let root = run(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let path = Path::new(root.trim()).join("../bin").join(name);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("there is no {name}; `rustup component add llvm-tools` brings it").into())
    }
}
