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
}

/// Measures, prints, and says whether every number is reached.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    let measured = probes(plan).and_then(|cheap| {
        let fast = throughput(plan)?;
        Ok(coverage(plan)? && cheap && fast)
    });
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

impl Plan<'_> {
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
    for subject in SUBJECTS {
        for (stage, without) in STAGES {
            let mut shares = Vec::new();
            let mut total = 0;
            for seed in 1..=plan.seeds {
                let (covered, lines) = measure(plan, tools.path(), subject, without, seed)?;
                shares.push(covered);
                total = lines;
            }
            shares.sort_unstable();
            let least = shares.first().copied().unwrap_or_default();
            let reached = without != Some("") || least as f64 > WANTED * total as f64;
            good &= reached;
            println!(
                "{subject:<10} {stage:<22} median {} least {least} of {total} ({:.1} %){}",
                shares[shares.len() / 2],
                100.0 * least as f64 / total as f64,
                if reached { "" } else { "  NOT REACHED" }
            );
        }
    }
    Ok(good)
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
