//! The lines of two services of functions that written suites execute, with each technique in turn.
//!
//! They are counted by JaCoCo on the plain service. Budgets are calls, so that runs beside each other find
//! the same as runs one after the other; there is one for each core.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use isobath_exec::process::free_port;

use super::{Plan, start};
use crate::verdict::{BenchError, run, suite_passes};

/// Each adds a technique to the one before; the flag names what is still missing.
const STAGES: [(&str, Option<&str>); 4] = [
    ("black-box", None),
    ("base", Some("methods,tracking,expansion")),
    ("+ method replacement", Some("tracking,expansion")),
    ("+ input tracking", Some("")),
];

/// The services of functions, which a suite must cover.
pub(super) const SUBJECTS: [&str; 2] = ["numbers", "texts"];
/// The share of the lines that it must reach.
const WANTED: f64 = 0.9;
/// The version of JaCoCo that counts.
const JACOCO: &str = "0.8.13";
/// Ports of the first run, and how many are left to each.
const PORTS: (u16, u16) = (9_300, 200);

/// One search, and the run of its suite.
#[derive(Clone, Copy)]
struct Job {
    subject: &'static str,
    stage: usize,
    seed: u64,
}

/// What came of it.
#[derive(Clone, Copy)]
struct Counted {
    covered: u64,
    lines: u64,
    suite_passes: bool,
}

/// Measures and prints; whether the suites with all techniques are green and reach enough.
pub(super) fn measure(plan: &Plan<'_>, subjects: &[&'static str]) -> Result<bool, BenchError> {
    let tools = tempfile::tempdir()?;
    for artifact in ["agent", "cli"] {
        let kind = if artifact == "agent" {
            "runtime"
        } else {
            "nodeps"
        };
        run(Command::new("mvn")
            .args(["-q", "-B", "dependency:copy"])
            .arg(format!(
                "-Dartifact=org.jacoco:org.jacoco.{artifact}:{JACOCO}:jar:{kind}"
            ))
            .arg(format!("-DoutputDirectory={}", tools.path().display())))?;
    }
    println!(
        "lines executed by the suite, by JaCoCo; {} calls, {} seeds",
        plan.calls, plan.seeds
    );
    let jobs: Vec<Job> = subjects
        .iter()
        .flat_map(|&subject| {
            let stages = 0..STAGES.len();
            stages.flat_map(move |stage| {
                (1..=plan.seeds).map(move |seed| Job {
                    subject,
                    stage,
                    seed,
                })
            })
        })
        .collect();
    let counted = all(plan, tools.path(), &jobs)?;
    let mut good = true;
    let mut done = jobs.iter().zip(counted);
    while let Some((first, counted)) = done.next() {
        let others = done.by_ref().take(plan.seeds.saturating_sub(1) as usize);
        let mut group = vec![counted];
        group.extend(others.map(|(_, counted)| counted));
        good &= summary(first, &group);
    }
    Ok(good)
}

/// Runs the jobs, as many at a time as there are cores; what came of each, in their order.
fn all(plan: &Plan<'_>, tools: &Path, jobs: &[Job]) -> Result<Vec<Counted>, BenchError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let counted: Mutex<Vec<Option<Counted>>> = Mutex::new(vec![None; jobs.len()]);
    let work = |worker: usize| -> Result<(), String> {
        let offset = u16::try_from(worker).unwrap_or_default() * PORTS.1;
        while !is_over.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { break };
            let stage = STAGES[job.stage].0;
            let name = format!("{} {stage}, seed {}", job.subject, job.seed);
            let result = one(plan, tools, job, PORTS.0 + offset).map_err(|error| {
                is_over.store(true, Ordering::Relaxed);
                format!("{name}: {error}")
            })?;
            println!(
                "  {name}: {} of {}{}",
                result.covered,
                result.lines,
                if result.suite_passes { "" } else { ", RED" }
            );
            if let Ok(mut counted) = counted.lock() {
                counted[at] = Some(result);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| -> Result<(), BenchError> {
        let work = &work;
        let threads: Vec<_> = (0..workers.min(jobs.len()))
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        for thread in threads {
            thread.join().map_err(|_| "a run panicked")??;
        }
        Ok(())
    })?;
    let counted = counted.into_inner().map_err(|_| "a run panicked")?;
    let all: Option<Vec<Counted>> = counted.into_iter().collect();
    all.ok_or_else(|| "not every run ended".into())
}

/// Prints what came of the seeds of a stage; whether that is enough, where much is wanted.
fn summary(job: &Job, counted: &[Counted]) -> bool {
    let (stage, without) = STAGES[job.stage];
    let mut covered: Vec<u64> = counted.iter().map(|counted| counted.covered).collect();
    covered.sort_unstable();
    let least = covered.first().copied().unwrap_or_default();
    let median = covered[(covered.len() - 1) / 2];
    let total = counted.first().map_or(0, |counted| counted.lines);
    let red = counted
        .iter()
        .filter(|counted| !counted.suite_passes)
        .count();
    let is_enough = without != Some("") || least as f64 > WANTED * total as f64;
    let reached = is_enough && red == 0;
    println!(
        "{:<10} {stage:<22} median {median} least {least} of {total} ({:.1} %), {red} of {} suites red{}",
        job.subject,
        100.0 * median as f64 / total.max(1) as f64,
        counted.len(),
        if reached { "" } else { "  NOT REACHED" }
    );
    reached
}

/// Searches a service and runs the written suite on the plain one.
fn one(plan: &Plan<'_>, tools: &Path, job: &Job, ports: u16) -> Result<Counted, BenchError> {
    let folder = tempfile::tempdir()?;
    let jar = plan.jar(job.subject)?;
    search(plan, job, &jar, free_port(ports)?, folder.path())?;
    let counts = folder.path().join("jacoco.exec");
    let flag = format!(
        "-javaagent:'{}'=destfile='{}',includes='{}.*'",
        tools
            .join(format!("org.jacoco.agent-{JACOCO}-runtime.jar"))
            .display(),
        counts.display(),
        job.subject
    );
    let (service, port) = start(&jar, ports + PORTS.1 / 2, &flag, Vec::new())?;
    let suite_passes = suite_passes(folder.path(), port)?;
    // Counts are written when the service ends.
    drop(service);
    let table = folder.path().join("lines.csv");
    run(Command::new("java")
        .arg("-jar")
        .arg(tools.join(format!("org.jacoco.cli-{JACOCO}-nodeps.jar")))
        .arg("report")
        .arg(&counts)
        .arg("--classfiles")
        .arg(plan.samples.join(job.subject).join("target/classes"))
        .arg("--csv")
        .arg(&table))?;
    let (covered, lines) = lines(&std::fs::read_to_string(table)?)?;
    Ok(Counted {
        covered,
        lines,
        suite_passes,
    })
}

fn search(
    plan: &Plan<'_>,
    job: &Job,
    jar: &str,
    port: u16,
    folder: &Path,
) -> Result<(), BenchError> {
    let mut search = Command::new(plan.program);
    search
        .arg("rest")
        .arg(plan.samples.join(job.subject).join("openapi.json"))
        .args(["--seed", &job.seed.to_string()])
        .args(["--budget", &format!("{}calls", plan.calls)])
        .args(["--quiet", "--no-run", "--start-timeout", "120", "--out"])
        .arg(folder)
        .stdout(Stdio::null());
    match STAGES[job.stage].1 {
        None => {
            search.args(["--url", &format!("http://127.0.0.1:{port}")]);
            search.arg("--start");
            search.arg(format!("exec java -jar '{jar}' --server.port={port}"));
        }
        Some(without) => {
            search.args(["--jvm", jar, "--port", &port.to_string()]);
            if !without.is_empty() {
                search.args(["--without", without]);
            }
        }
    }
    // Findings are no failure here; that there is no suite shows when it is run.
    search.status()?;
    Ok(())
}

/// Covered and all lines of a table that JaCoCo wrote.
fn lines(table: &str) -> Result<(u64, u64), BenchError> {
    let mut rows = table.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let head = rows.next().ok_or("an empty table")?;
    let column = |name: &str| head.iter().position(|word| *word == name);
    let missed = column("LINE_MISSED").ok_or("no column LINE_MISSED")?;
    let covered = column("LINE_COVERED").ok_or("no column LINE_COVERED")?;
    let mut sums = (0, 0);
    for row in rows {
        let number = |at: usize| row.get(at).and_then(|word| word.parse::<u64>().ok());
        let (covered, missed) = (number(covered).unwrap_or(0), number(missed).unwrap_or(0));
        sums = (sums.0 + covered, sums.1 + covered + missed);
    }
    Ok(sums)
}
