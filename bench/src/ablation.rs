//! What each white-box technique is worth on the sample services: medians and effect sizes.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use crate::effect::{a12, median};

use crate::verdict::{self, BenchError};

/// Each adds a technique to the one before; the flag names what is still missing.
const STAGES: [(&str, &str); 4] = [
    ("black-box", "steering,methods,tracking,expansion"),
    ("+ branch distance", "methods,tracking,expansion"),
    ("+ method replacement", "tracking"),
    ("+ input tracking", ""),
];

/// A sample, its document, and the file whose branches count.
struct Subject {
    name: &'static str,
    sample: &'static str,
    document: &'static str,
    file: &'static str,
    /// Branches that no request takes: a part of what the report says of them, and why.
    infeasible: &'static [(&'static str, &'static str)],
}

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "papers, axum",
        sample: "axum",
        document: "papers.yaml",
        file: "axum/src/papers.rs",
        infeasible: &[("Regex::new(", "the pattern is a constant and well-formed")],
    },
    Subject {
        name: "papers, actix",
        sample: "actix",
        document: "papers.yaml",
        file: "actix/src/main.rs",
        infeasible: &[
            (".bind((", "the port is free when the service starts"),
            (
                "port.parse()",
                "the port that the service is given is a number",
            ),
        ],
    },
    Subject {
        name: "texts, axum",
        sample: "axum",
        document: "texts.yaml",
        file: "axum/src/texts.rs",
        infeasible: &[],
    },
    Subject {
        name: "numbers, axum",
        sample: "axum",
        document: "numbers.yaml",
        file: "axum/src/numbers.rs",
        infeasible: &[],
    },
];

/// What is measured.
pub(crate) struct Plan<'a> {
    /// The workspace of the samples.
    pub(crate) samples: &'a Path,
    /// The binary of the product.
    pub(crate) program: &'a Path,
    /// How many seeds, from 1 on.
    pub(crate) seeds: u64,
    /// How many calls each run may make.
    pub(crate) calls: u64,
    /// Parts of the names of the subjects; all when there is none.
    pub(crate) names: &'a [&'a str],
}

/// Runs the program on the samples.
///
/// The method replacement of the paper includes genotype expansion, so this stage does, too.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    verdict::exit(measure(plan).map(|()| true))
}

fn measure(plan: &Plan<'_>) -> Result<(), BenchError> {
    let Plan { seeds, calls, .. } = plan;
    println!(
        "branches covered, {calls} calls, {seeds} seeds; A12 against black-box, and against the line before"
    );
    println!(
        "{:<15} {:<22} {:>7} {:>9} {:>6} {:>9} {:>9} {:>8}",
        "subject", "techniques", "median", "feasible", "A12", "A12 step", "complete", "seconds"
    );
    for subject in &SUBJECTS {
        if !plan.names.is_empty() && !plan.names.iter().any(|name| subject.name.contains(name)) {
            continue;
        }
        let mut before: Vec<Vec<u64>> = Vec::new();
        let mut missed: BTreeMap<String, u64> = BTreeMap::new();
        for (name, without) in STAGES {
            let (mut covered, mut feasible, mut seconds) = (Vec::new(), 0, Vec::new());
            missed.clear();
            for seed in 1..=*seeds {
                let ran = run(plan, subject, without, seed)?;
                covered.push(ran.covered);
                feasible = ran.total - ran.infeasible;
                seconds.push(ran.seconds as u64);
                for branch in ran.missed {
                    *missed.entry(branch).or_default() += 1;
                }
            }
            let first = before.first().unwrap_or(&covered);
            let last = before.last().unwrap_or(&covered);
            let complete = covered
                .iter()
                .filter(|covered| **covered == feasible)
                .count();
            println!(
                "{:<15} {name:<22} {:>7} {feasible:>9} {:>6.2} {:>9.2} {:>9} {:>8}",
                subject.name,
                median(&covered),
                a12(&covered, first),
                a12(&covered, last),
                format!("{complete} of {seeds}"),
                median(&seconds),
            );
            before.push(covered);
        }
        for (branch, why) in subject.infeasible {
            println!("  infeasible: {branch}…: {why}");
        }
        for (branch, seeds) in missed {
            println!("  missed with everything, on {seeds} seeds: {branch}");
        }
    }
    Ok(())
}

/// What came of one run.
struct Ran {
    covered: u64,
    total: u64,
    infeasible: u64,
    /// Branches that were come near to and not covered, and are feasible.
    missed: Vec<String>,
    seconds: f64,
}

fn run(plan: &Plan<'_>, subject: &Subject, without: &str, seed: u64) -> Result<Ran, BenchError> {
    let folder = tempfile::tempdir()?;
    let sample = plan.samples.join("samples").join(subject.sample);
    let mut command = Command::new(plan.program);
    command
        .arg("rest")
        .arg(sample.join(subject.document))
        .arg("--rust")
        .arg(plan.samples)
        .args(["--package", &format!("sample-{}", subject.sample)])
        .args(["--budget", &format!("{}calls", plan.calls)])
        .args(["--seed", &seed.to_string()])
        .args(["--quiet", "--no-run", "--out"])
        .arg(folder.path())
        .stdout(Stdio::null());
    if !without.is_empty() {
        command.args(["--without", without]);
    }
    command.status()?;
    let report = std::fs::read_to_string(folder.path().join("report.json"))?;
    let report: Value = serde_json::from_str(&report)?;
    let files = report["code"]["files"].as_array().ok_or("no code")?;
    let named = |entry: &&Value| {
        let name = entry["file"].as_str().unwrap_or_default();
        name.ends_with(subject.file)
    };
    let found = files.iter().find(named).ok_or("no such file")?;
    let number = |which: &str| found["branches"][which].as_u64().unwrap_or_default();
    let uncovered = report["uncovered"].as_array().into_iter().flatten();
    let missed = uncovered
        .filter_map(|entry| entry["target"].as_str())
        .filter(|target| target.contains(subject.file))
        .filter(|target| {
            !subject
                .infeasible
                .iter()
                .any(|(part, _)| target.contains(part))
        });
    Ok(Ran {
        covered: number("covered"),
        total: number("total"),
        infeasible: subject.infeasible.len() as u64,
        missed: missed.map(str::to_owned).collect(),
        seconds: report["seconds"].as_f64().unwrap_or_default(),
    })
}
