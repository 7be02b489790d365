//! What each white-box technique is worth on the sample services: medians and effect sizes.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

type Problem = Box<dyn std::error::Error>;

/// Each adds a technique to the one before; the flag names what is still missing.
const STAGES: [(&str, &str); 4] = [
    ("black-box", "steering,methods,tracking,expansion"),
    ("+ branch distance", "methods,tracking,expansion"),
    ("+ method replacement", "tracking"),
    ("+ input tracking", ""),
];

/// Sample, document, and the file whose branches count.
const SUBJECTS: [(&str, &str, &str); 4] = [
    ("axum", "papers.yaml", "axum/src/papers.rs"),
    ("axum", "texts.yaml", "axum/src/texts.rs"),
    ("axum", "numbers.yaml", "axum/src/numbers.rs"),
    ("actix", "papers.yaml", "actix/src/main.rs"),
];

/// Runs the program on all samples, with as many seeds and calls.
///
/// The method replacement of the paper includes genotype expansion, so this stage does, too.
pub(crate) fn table(samples: &Path, program: &Path, seeds: u64, calls: u64) -> ExitCode {
    match measure(samples, program, seeds, calls) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("isobath-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(samples: &Path, program: &Path, seeds: u64, calls: u64) -> Result<(), Problem> {
    println!("branches covered, {calls} calls, {seeds} seeds");
    println!(
        "{:<22} {:<22} {:>7} {:>7} {:>6} {:>9} {:>11}",
        "subject", "techniques", "median", "of", "A12", "A12 step", "all covered"
    );
    for (sample, document, file) in SUBJECTS {
        let mut before: Vec<Vec<u64>> = Vec::new();
        for (name, without) in STAGES {
            let mut covered = Vec::new();
            let mut total = 0;
            for seed in 1..=seeds {
                let run = Run {
                    samples,
                    program,
                    sample,
                    document,
                    without,
                    seed,
                    calls,
                };
                let (branches, of) = run.branches(file)?;
                covered.push(branches);
                total = of;
            }
            let first = before.first().unwrap_or(&covered);
            let last = before.last().unwrap_or(&covered);
            let best = covered.iter().max().copied().unwrap_or_default();
            let complete = covered.iter().filter(|covered| **covered == best).count();
            println!(
                "{:<22} {name:<22} {:>7} {total:>7} {:>6.2} {:>9.2} {complete:>5} at {best}",
                format!("{sample}/{document}"),
                median(&covered),
                a12(&covered, first),
                a12(&covered, last),
            );
            before.push(covered);
        }
    }
    Ok(())
}

struct Run<'a> {
    samples: &'a Path,
    program: &'a Path,
    sample: &'a str,
    document: &'a str,
    without: &'a str,
    seed: u64,
    calls: u64,
}

impl Run<'_> {
    /// Branches of a file: covered, of how many.
    fn branches(&self, file: &str) -> Result<(u64, u64), Problem> {
        let folder = tempfile::tempdir()?;
        let document = self
            .samples
            .join("samples")
            .join(self.sample)
            .join(self.document);
        let mut command = Command::new(self.program);
        command
            .arg("rest")
            .arg(document)
            .arg("--rust")
            .arg(self.samples)
            .args(["--package", &format!("sample-{}", self.sample)])
            .args(["--budget", &format!("{}calls", self.calls)])
            .args([
                "--seed",
                &self.seed.to_string(),
                "--quiet",
                "--no-run",
                "--out",
            ])
            .arg(folder.path())
            .stdout(Stdio::null());
        if !self.without.is_empty() {
            command.args(["--without", self.without]);
        }
        command.status()?;
        let report = std::fs::read_to_string(folder.path().join("report.json"))?;
        let report: Value = serde_json::from_str(&report)?;
        let files = report["code"]["files"].as_array().ok_or("no code")?;
        let named = |entry: &&Value| {
            let name = entry["file"].as_str().unwrap_or_default();
            name.ends_with(file)
        };
        let found = files.iter().find(named).ok_or("no such file")?;
        let number = |which: &str| found["branches"][which].as_u64().unwrap_or_default();
        Ok((number("covered"), number("total")))
    }
}

fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The chance that a value of the first is greater than one of the second, ties counting half.
fn a12(first: &[u64], second: &[u64]) -> f64 {
    let wins: f64 = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, b)))
        .map(|(a, b)| match a.cmp(b) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
        .sum();
    wins / (first.len() * second.len()).max(1) as f64
}
