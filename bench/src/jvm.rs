//! The agent for the JVM: what its probes cost, and what its techniques are worth.
//!
//! The lines that a written suite executes are counted by JaCoCo, from outside, on the plain service. Needs Maven,
//! which brings JaCoCo, and pytest with requests; agent and samples must be built.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use isobath_exec::driver::Listener;
use isobath_exec::http::{Client, Config, Request};
use isobath_exec::process::{Launch, Ready, Service, free_port};
use serde_json::Value;

type Problem = Box<dyn std::error::Error>;

/// Each adds a technique to the one before; the flag names what is still missing.
const STAGES: [(&str, Option<&str>); 4] = [
    ("black-box", None),
    ("base", Some("methods,tracking,expansion")),
    ("+ method replacement", Some("tracking,expansion")),
    ("+ input tracking", Some("")),
];

/// The services of functions, which a suite must cover.
const SUBJECTS: [&str; 2] = ["numbers", "texts"];
/// The share of the lines that it must reach.
const WANTED: f64 = 0.9;
/// What a probe may cost, in nanoseconds.
const LIMITS: [(&str, f64); 3] = [("line", 2.0), ("branch", 5.0), ("long branch", 5.0)];
/// The share of calls per second that must be left with the agent.
const LEFT: f64 = 0.7;

/// What is measured.
pub(crate) struct Plan<'a> {
    /// The folder of the samples, `tests/suts/jvm`.
    pub(crate) samples: &'a Path,
    /// The binary of the product.
    pub(crate) program: &'a Path,
    /// How many seeds, from 1 on.
    pub(crate) seeds: u64,
    /// How many calls each search may make.
    pub(crate) calls: u64,
    /// The only part to measure, if not all: `probes`, `throughput`, `figures`, or a service of functions.
    pub(crate) only: Option<&'a str>,
}

/// Measures, prints, and says whether every number is reached.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    let measured = || -> Result<bool, Problem> {
        let mut good = true;
        if plan.wants("probes") {
            good &= probes(plan)?;
        }
        if plan.wants("throughput") {
            good &= throughput(plan)?;
        }
        if plan.wants("figures") {
            good &= figures(plan)?;
        }
        if SUBJECTS.into_iter().any(|subject| plan.wants(subject)) {
            good &= coverage(plan)?;
        }
        Ok(good)
    };
    match measured() {
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

impl Plan<'_> {
    fn wants(&self, part: &str) -> bool {
        self.only.is_none_or(|only| only == part)
    }

    fn driver(&self) -> Result<PathBuf, Problem> {
        Ok(self.samples.join("../../../drivers/jvm").canonicalize()?)
    }

    fn jar(&self, sample: &str) -> Result<String, Problem> {
        let jar = self.samples.join(format!("{sample}/target/{sample}.jar"));
        let jar = jar.canonicalize().map_err(|error| {
            format!(
                "{}: {error}; build the samples by `mvn package`",
                jar.display()
            )
        })?;
        Ok(jar.display().to_string())
    }
}

fn probes(plan: &Plan<'_>) -> Result<bool, Problem> {
    let target = plan.driver()?.join("target");
    let path = format!(
        "{}:{}",
        target.join("classes").display(),
        target.join("test-classes").display()
    );
    let printed = run(Command::new("java").args(["-cp", &path, "isobath.agent.Speed"]))?;
    print!("{printed}");
    let mut good = true;
    for (name, limit) in LIMITS {
        let cost = printed.lines().find_map(|line| {
            let rest = line.strip_prefix(name)?.trim().strip_suffix("ns")?;
            rest.trim().parse::<f64>().ok()
        });
        let cost = cost.ok_or_else(|| format!("the cost of a {name} is missing"))?;
        if cost >= limit {
            println!("  NOT REACHED: a {name} probe may cost {limit} ns");
            good = false;
        }
    }
    Ok(good)
}

/// Calls per second of one client, with and without the agent, in turns; the best of each counts.
fn throughput(plan: &Plan<'_>) -> Result<bool, Problem> {
    let listener = Listener::open_loopback()?;
    let agent = plan.driver()?.join("target/isobath-agent.jar");
    let flag = format!("-javaagent:'{}'", agent.display());
    let jar = plan.jar("numbers")?;
    let plain = start(&jar, "", Vec::new())?;
    let watched = start(&jar, &flag, listener.variables(None))?;
    let driver = listener.accept(Duration::from_secs(20))?;
    let mut best = [0.0_f64; 2];
    for _ in 0..6 {
        for (which, (_, port)) in [&plain, &watched].into_iter().enumerate() {
            driver.begin_candidate();
            best[which] = best[which].max(rate(*port)?);
        }
    }
    let share = best[1] / best[0];
    println!(
        "calls per second: {:.0} without, {:.0} with the agent ({:.0} %)",
        best[0],
        best[1],
        100.0 * share
    );
    Ok(share >= LEFT)
}

fn rate(port: u16) -> Result<f64, Problem> {
    let mut client = Client::new(Config::default())?;
    let calls = 3_000;
    let started = Instant::now();
    for number in 0..calls {
        let url = format!("http://127.0.0.1:{port}/remainder/{number}/7");
        if client.call(&Request::get(url)).status() != Some(200) {
            return Err("the service does not answer".into());
        }
    }
    Ok(f64::from(calls) / started.elapsed().as_secs_f64())
}

fn start(
    jar: &str,
    flags: &str,
    variables: Vec<(String, String)>,
) -> Result<(Service, u16), Problem> {
    let port = free_port(9_200)?;
    let launch = Launch {
        variables,
        patience: Duration::from_secs(120),
        grace: Duration::from_secs(20),
        ..Launch::new(
            format!("exec java {flags} -jar '{jar}' --server.port={port}"),
            Ready::Url(format!("http://127.0.0.1:{port}/")),
        )
    };
    Ok((Service::start(launch)?, port))
}

fn coverage(plan: &Plan<'_>) -> Result<bool, Problem> {
    let tools = tempfile::tempdir()?;
    for artifact in ["agent:0.8.13:jar:runtime", "cli:0.8.13:jar:nodeps"] {
        run(Command::new("mvn")
            .args(["-q", "-B", "dependency:copy"])
            .arg(format!("-Dartifact=org.jacoco:org.jacoco.{artifact}"))
            .arg(format!("-DoutputDirectory={}", tools.path().display())))?;
    }
    println!(
        "lines executed by the suite, by JaCoCo; {} calls, {} seeds",
        plan.calls, plan.seeds
    );
    let mut good = true;
    let subjects = SUBJECTS.into_iter().filter(|subject| plan.wants(subject));
    for subject in subjects {
        for (stage, without) in STAGES {
            let mut shares = Vec::new();
            let mut total = 0;
            for seed in 1..=plan.seeds {
                let (covered, lines) = measure(plan, tools.path(), subject, without, seed)?;
                println!("  {subject} {stage}, seed {seed}: {covered} of {lines}");
                shares.push(covered);
                total = lines;
            }
            shares.sort_unstable();
            let least = shares.first().copied().unwrap_or_default();
            let reached = without != Some("") || least as f64 > WANTED * total as f64;
            good &= reached;
            println!(
                "{subject:<10} {stage:<22} median {} least {least} of {total} ({:.1} %){}",
                median(&shares),
                100.0 * median(&shares) as f64 / total as f64,
                if reached { "" } else { "  NOT REACHED" }
            );
        }
    }
    Ok(good)
}

/// The lower middle of sorted numbers.
fn median(sorted: &[u64]) -> u64 {
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or_default()
}

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
fn figures(plan: &Plan<'_>) -> Result<bool, Problem> {
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
fn time_of(events: &str, files: &[&str]) -> Result<f64, Problem> {
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

/// Searches a service and runs the written suite on the plain one; lines covered, of how many.
fn measure(
    plan: &Plan<'_>,
    tools: &Path,
    subject: &str,
    without: Option<&str>,
    seed: u64,
) -> Result<(u64, u64), Problem> {
    let folder = tempfile::tempdir()?;
    let jar = plan.jar(subject)?;
    let port = free_port(9_300)?;
    let mut search = Command::new(plan.program);
    search
        .arg("rest")
        .arg(plan.samples.join(subject).join("openapi.json"))
        .args(["--seed", &seed.to_string()])
        .args(["--budget", &format!("{}calls", plan.calls)])
        .args(["--quiet", "--no-run", "--start-timeout", "120", "--out"])
        .arg(folder.path())
        .stdout(Stdio::null());
    match without {
        None => {
            search.args(["--url", &format!("http://127.0.0.1:{port}")]);
            search.arg("--start");
            search.arg(format!("exec java -jar '{jar}' --server.port={port}"));
        }
        Some(without) => {
            search.args(["--jvm", &jar, "--port", &port.to_string()]);
            if !without.is_empty() {
                search.args(["--without", without]);
            }
        }
    }
    search.status()?;
    let counted = folder.path().join("jacoco.exec");
    let flag = format!(
        "-javaagent:'{}'=destfile='{}',includes='{subject}.*'",
        tools.join("org.jacoco.agent-0.8.13-runtime.jar").display(),
        counted.display()
    );
    let (service, port) = start(&jar, &flag, Vec::new())?;
    let tests = Command::new("python3")
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(folder.path().join("pytest"))
        .env("ISOBATH_BASE_URL", format!("http://127.0.0.1:{port}"))
        .output()?;
    if !tests.status.success() {
        let said = String::from_utf8_lossy(&tests.stdout).into_owned();
        println!("  the suite: {}", said.lines().last().unwrap_or_default());
    }
    // Counts are written when the service ends.
    drop(service);
    let table = folder.path().join("lines.csv");
    run(Command::new("java")
        .arg("-jar")
        .arg(tools.join("org.jacoco.cli-0.8.13-nodeps.jar"))
        .arg("report")
        .arg(&counted)
        .arg("--classfiles")
        .arg(plan.samples.join(subject).join("target/classes"))
        .arg("--csv")
        .arg(&table))?;
    lines(&std::fs::read_to_string(table)?)
}

/// Covered and all lines of a table that JaCoCo wrote.
fn lines(table: &str) -> Result<(u64, u64), Problem> {
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

fn run(command: &mut Command) -> Result<String, Problem> {
    let output = command.output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = [output.stdout, output.stderr].concat();
        Err(String::from_utf8_lossy(&said).into_owned().into())
    }
}
