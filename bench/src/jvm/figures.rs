//! Whether the examples of the papers are covered in time, on all seeds.

use std::process::{Command, Stdio};

use isobath_exec::process::free_port;
use serde_json::Value;

use super::Plan;
use crate::verdict::BenchError;

/// The examples of the papers: the service, its document, the files to cover with all of their branches, and calls.
const FIGURES: [(&str, &str, &[&str], u64); 4] = [
    (
        "papers",
        "openapi.json",
        &["Figure1", "Figure7", "Figure9"],
        12_000,
    ),
    (
        "older",
        "openapi.json",
        &["Figure1", "Figure7", "Figure9"],
        12_000,
    ),
    ("rows", "openapi.json", &["FooRest"], 600),
    ("rows", "openapi-read.json", &["FooRest"], 600),
];

/// The seconds in which an example of a paper must be covered.
const IN_TIME: f64 = 60.0;

/// Whether the examples of the papers are covered in time, on all seeds.
pub(super) fn measure(plan: &Plan<'_>) -> Result<bool, BenchError> {
    let mut good = true;
    for (sample, document, files, calls) in FIGURES {
        let mut seconds = Vec::new();
        for seed in 1..=plan.seeds {
            let folder = tempfile::tempdir()?;
            let port = free_port(9_300)?;
            let mut search = Command::new(plan.program);
            search
                .arg("rest")
                .arg(plan.samples.join(sample).join(document))
                .args(["--jvm", &plan.jar(sample)?])
                .args(["--port", &port.to_string(), "--seed", &seed.to_string()])
                .args(["--budget", &format!("{calls}calls"), "--quiet", "--no-run"])
                .args(["--start-timeout", "120", "--out"])
                .arg(folder.path())
                .stdout(Stdio::null());
            // Findings are what the examples are for.
            search.status()?;
            let report = std::fs::read_to_string(folder.path().join("report.json"))?;
            let events = std::fs::read_to_string(folder.path().join("events.ndjson"))?;
            let missed = missed(&serde_json::from_str(&report)?, files);
            let time = time_of(&events, files)?;
            println!(
                "  {sample}/{document}, seed {seed}: {missed} branches missed, the last came after {time:.1} s"
            );
            good &= missed == 0 && time <= IN_TIME;
            seconds.push(time);
        }
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.get(seconds.len().saturating_sub(1) / 2);
        let most = seconds.last().copied().unwrap_or_default();
        println!(
            "{sample}/{document}: median {:.1} s, most {most:.1} s{}",
            middle.copied().unwrap_or_default(),
            if good { "" } else { "  NOT REACHED" }
        );
    }
    Ok(good)
}

/// How many branches of some files are not covered; without a file, one.
fn missed(report: &Value, files: &[&str]) -> u64 {
    let of = |name: &str| {
        let entries = report["code"]["files"].as_array().into_iter().flatten();
        let mut entries = entries.filter(|entry| {
            let file = entry["file"].as_str().unwrap_or_default();
            file.ends_with(&format!("/{name}.java"))
        });
        entries.next().map_or(1, |entry| {
            let number = |which: &str| entry["branches"][which].as_u64().unwrap_or_default();
            number("total").saturating_sub(number("covered"))
        })
    };
    files.iter().map(|name| of(name)).sum()
}

/// When the last branch or line of some files was covered, as far as the log of events tells times.
fn time_of(events: &str, files: &[&str]) -> Result<f64, BenchError> {
    let mut last = 0;
    let mut times = Vec::new();
    for line in events.lines() {
        let event: Value = serde_json::from_str(line)?;
        let calls = event["calls"].as_u64().unwrap_or_default();
        match event["event"].as_str() {
            Some("covered") => {
                let target = event["target"].as_str().unwrap_or_default();
                let names = |file: &&str| target.contains(&format!("/{file}.java:"));
                if files.iter().any(names) {
                    last = last.max(calls);
                }
            }
            Some("progress" | "ended") => {
                times.push((calls, event["seconds"].as_f64().unwrap_or_default()));
            }
            _ => {}
        }
    }
    let time = times.iter().find(|(calls, _)| *calls >= last);
    Ok(time.map_or(f64::INFINITY, |(_, seconds)| *seconds))
}
