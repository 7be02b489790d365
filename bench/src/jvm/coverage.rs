//! The lines of two services of functions that written suites execute, with each technique in turn.
//!
//! They are counted by JaCoCo on the plain service. Budgets are calls, so that runs beside each other find
//! the same as runs one after the other; there is one for each core.

use std::path::Path;
use std::process::Command;

use isobath_exec::process::free_port;

use super::{Plan, start};
use crate::stages::{self, Counted, Job, PORTS};
use crate::verdict::{BenchError, run, suite_passes};

/// The services of functions, which a suite must cover.
pub(super) const SUBJECTS: [&str; 2] = ["numbers", "texts"];
/// The version of JaCoCo that counts.
const JACOCO: &str = "0.8.13";
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
    stages::measure(&plan.extent(), subjects, |job, ports| {
        one(plan, tools.path(), job, ports)
    })
}

/// Searches a service and runs the written suite on the plain one.
fn one(plan: &Plan<'_>, tools: &Path, job: &Job, ports: u16) -> Result<Counted, BenchError> {
    let folder = tempfile::tempdir()?;
    let jar = plan.jar(job.subject)?;
    let port = free_port(ports)?.to_string();
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
    };
    let instrumented = words(&["--jvm", &jar, "--port", &port]);
    let url = format!("http://127.0.0.1:{port}");
    let command = format!("exec java -jar '{jar}' --server.port={port}");
    let plain = words(&["--url", &url, "--start", &command]);
    let document = plan.samples.join(job.subject).join("openapi.json");
    let mut search = job.search(
        &plan.extent(),
        &document,
        folder.path(),
        &instrumented,
        &plain,
    );
    // Findings are no failure here; that there is no suite shows when it is run.
    search.status()?;
    let data = folder.path().join("jacoco.exec");
    let flag = format!(
        "-javaagent:'{}'=destfile='{}',includes='{}.*'",
        tools
            .join(format!("org.jacoco.agent-{JACOCO}-runtime.jar"))
            .display(),
        data.display(),
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
        .arg(&data)
        .arg("--classfiles")
        .arg(plan.samples.join(job.subject).join("target/classes"))
        .arg("--csv")
        .arg(&table))?;
    let (covered, lines) = counts(&std::fs::read_to_string(table)?)?.lines;
    Ok(Counted {
        covered,
        lines,
        suite_passes,
    })
}

/// What JaCoCo counted: covered and all.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) lines: (u64, u64),
    pub(super) branches: (u64, u64),
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ((line, lines), (branch, branches)) = (self.lines, self.branches);
        write!(
            f,
            "{line} of {lines} lines, {branch} of {branches} branches"
        )
    }
}

/// The sums of a table that JaCoCo wrote.
pub(super) fn counts(table: &str) -> Result<Counts, BenchError> {
    let mut rows = table.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let head = rows.next().ok_or("an empty table")?;
    let rows: Vec<_> = rows.collect();
    let sum = |name: &str| -> Result<u64, BenchError> {
        let column = head.iter().position(|word| *word == name);
        let column = column.ok_or_else(|| format!("no column {name}"))?;
        let numbers = rows
            .iter()
            .filter_map(|row| row.get(column)?.parse::<u64>().ok());
        Ok(numbers.sum())
    };
    let pair = |kind: &str| -> Result<(u64, u64), BenchError> {
        let covered = sum(&format!("{kind}_COVERED"))?;
        Ok((covered, covered + sum(&format!("{kind}_MISSED"))?))
    };
    Ok(Counts {
        lines: pair("LINE")?,
        branches: pair("BRANCH")?,
    })
}
