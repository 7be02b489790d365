//! The agent for the JVM: what its probes cost, and what its techniques are worth.
//!
//! The lines that a written suite executes are counted by JaCoCo, from outside, on the plain service. Needs Maven,
//! which brings JaCoCo, and pytest with requests; agent and samples must be built.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod coverage;
mod figures;
mod wfd;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use isobath_exec::driver::Listener;
use isobath_exec::http::{Client, ClientConfig, Request};
use isobath_exec::process::{Launch, ReadyCheck, Service, free_port};

use crate::stages::Extent;
use crate::verdict::{self, BenchError, run};

pub(crate) use wfd::{Comparison, compare};

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
    /// The only part to measure, if not all: `probes`, `throughput`, `figures`, `functions`, or one service of these.
    pub(crate) only: Option<&'a str>,
}

/// Measures, prints, and says whether every number is reached.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    let measured = || -> Result<bool, BenchError> {
        let mut good = true;
        if plan.wants("probes") {
            good &= probes(plan)?;
        }
        if plan.wants("throughput") {
            good &= throughput(plan)?;
        }
        if plan.wants("figures") {
            good &= figures::measure(plan)?;
        }
        let subjects = coverage::SUBJECTS.into_iter();
        let subjects: Vec<_> = subjects
            .filter(|name| plan.wants(name) || plan.wants("functions"))
            .collect();
        if !subjects.is_empty() {
            good &= coverage::measure(plan, &subjects)?;
        }
        Ok(good)
    };
    verdict::conclude(measured())
}

impl Plan<'_> {
    fn wants(&self, part: &str) -> bool {
        self.only.is_none_or(|only| only == part)
    }

    fn extent(&self) -> Extent<'_> {
        Extent {
            program: self.program,
            seeds: self.seeds,
            calls: self.calls,
        }
    }

    fn driver(&self) -> Result<PathBuf, BenchError> {
        Ok(self.samples.join("../../../drivers/jvm").canonicalize()?)
    }

    fn jar(&self, sample: &str) -> Result<String, BenchError> {
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

fn probes(plan: &Plan<'_>) -> Result<bool, BenchError> {
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
            println!("  MISSED: a {name} probe may cost {limit} ns");
            good = false;
        }
    }
    Ok(good)
}

/// Calls per second of one client, with and without the agent, in turns; the best of each counts.
fn throughput(plan: &Plan<'_>) -> Result<bool, BenchError> {
    let listener = Listener::open_loopback()?;
    let agent = plan.driver()?.join("target/isobath-agent.jar");
    let flag = format!("-javaagent:'{}'", agent.display());
    let jar = plan.jar("numbers")?;
    let plain = start(&jar, 9_200, "", Vec::new())?;
    let watched = start(&jar, 9_200, &flag, listener.variables(None))?;
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

fn rate(port: u16) -> Result<f64, BenchError> {
    let mut client = Client::new(ClientConfig::default())?;
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

/// Starts a service at the first free port from `from` on.
fn start(
    jar: &str,
    from: u16,
    flags: &str,
    variables: Vec<(String, String)>,
) -> Result<(Service, u16), BenchError> {
    let port = free_port(from)?;
    let launch = Launch {
        variables,
        timeout: Duration::from_secs(120),
        grace: Duration::from_secs(20),
        ..Launch::new(
            format!("exec java {flags} -jar '{jar}' --server.port={port}"),
            ReadyCheck::Url(format!("http://127.0.0.1:{port}/")),
        )
    };
    Ok((Service::start(launch)?, port))
}
