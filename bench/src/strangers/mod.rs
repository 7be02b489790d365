//! Isobath and Schemathesis on services that nobody here wrote: same service, same users, same time.
//!
//! The services are installed in a folder by whoever runs this; `strangers.toml` there says how to start each in its
//! initial state. Both tools call through a recording proxy, so calls are counted by one witness. The generated
//! suite, kept in `results` with what its runs printed, is then run on a freshly started service.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod operations;
mod recorder;
mod setup;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use isobath_exec::http::{Client, ClientConfig, Request};
use regex::Regex;
use serde_json::Value;

use crate::verdict::{self, BenchError, Thresholds};
use operations::{Operations, Reach};
use recorder::Recorder;
use setup::{Setup, Stranger};

/// How often the coverage is asked for, once a second.
const ATTEMPTS: usize = 20;
/// The most that a run may use of its budget. Where Isobath builds and starts the service, that is not a part of it.
const MAX_USED: f64 = 1.05;
/// How often the suite is run on the fresh service.
const SUITE_RUNS: usize = 3;

/// What is measured.
pub(crate) struct Plan<'a> {
    /// The folder with `strangers.toml`.
    pub(crate) folder: &'a Path,
    /// The binary of the product.
    pub(crate) program: &'a Path,
    /// Seconds for each tool on each service.
    pub(crate) seconds: u64,
    /// The random seed of both tools.
    pub(crate) seed: u64,
    /// The names of the services to measure; all if empty.
    pub(crate) names: &'a [&'a str],
}

/// Runs the tools on each service, prints the table, and says whether Isobath is ahead.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    verdict::exit(measure(plan))
}

fn measure(plan: &Plan<'_>) -> Result<bool, BenchError> {
    let folder = plan.folder.canonicalize()?;
    let program = plan.program.canonicalize()?;
    let setup = Setup::read(&folder)?;
    let is_known = |name: &&&str| setup.services.iter().any(|known| known.name == **name);
    if let Some(unknown) = plan.names.iter().find(|name| !is_known(name)) {
        return Err(format!("strangers.toml has no service {unknown}").into());
    }
    let mut thresholds = Thresholds::default();
    println!(
        "service | tool | calls | operations called | with a 2xx | pairs | 5xx pairs | causes in the log | lines % | seconds | findings"
    );
    for stranger in &setup.services {
        if !plan.names.is_empty() && !plan.names.contains(&stranger.name.as_str()) {
            continue;
        }
        let bench = Bench {
            stranger,
            folder: &folder,
            seconds: plan.seconds,
            seed: plan.seed.to_string(),
        };
        let output = folder.join("results").join(&stranger.name);
        if output.exists() {
            fs::remove_dir_all(&output)?;
        }
        let own = bench.run_tool("Isobath", stranger.white_box, &mut |port| {
            bench.isobath(&program, port, &output)
        })?;
        if !stranger.white_box {
            thresholds.check(
                own.seconds <= MAX_USED * plan.seconds as f64,
                format!(
                    "{}: {:.1} s of {} s",
                    stranger.name, own.seconds, plan.seconds
                ),
            );
        }
        let suite = bench.suite(&output.join("pytest"))?;
        if let Some(schemathesis) = &setup.schemathesis {
            let command = folder.join(schemathesis);
            let peer = bench.run_tool("Schemathesis", false, &mut |port| {
                bench.schemathesis(&command, port)
            })?;
            own.compare(&peer, &stranger.name, &mut thresholds);
        }
        println!("{} | suite on a fresh service | {suite}", stranger.name);
        thresholds.check(suite.is_green(), format!("{}: {suite}", stranger.name));
    }
    Ok(thresholds.print())
}

/// One service.
struct Bench<'a> {
    stranger: &'a Stranger,
    folder: &'a Path,
    seconds: u64,
    seed: String,
}

/// What a tool did to a service.
struct Measured {
    reach: Reach,
    /// The distinct causes of server errors in the log of the service.
    causes: Option<BTreeSet<String>>,
    lines: Option<f64>,
    seconds: f64,
}

impl Measured {
    fn compare(&self, peer: &Self, name: &str, thresholds: &mut Thresholds) {
        let all = self.reach.n_operations;
        let mut check = |what: &str, own: usize, wanted: usize| {
            thresholds.check(
                own >= wanted,
                format!("{name}: {what} {own}, wanted {wanted}"),
            );
        };
        check("operations called", self.reach.called, all);
        check(
            "operations with a 2xx",
            self.reach.succeeded,
            peer.reach.succeeded,
        );
        check("pairs", self.reach.pairs, peer.reach.pairs);
        if let (Some(own), Some(peer)) = (&self.causes, &peer.causes) {
            check("server-error causes", own.len(), peer.len());
        }
        if let (Some(own), Some(peer)) = (self.lines, peer.lines) {
            thresholds.check(
                own >= peer,
                format!("{name}: lines {own} %, wanted {peer} %"),
            );
        }
    }
}

impl Bench<'_> {
    /// Starts the service afresh, unless the tool does, lets the tool work on it, and prints its result.
    fn run_tool(
        &self,
        tool: &str,
        is_started_by_tool: bool,
        work: &mut dyn FnMut(u16) -> Result<String, BenchError>,
    ) -> Result<Measured, BenchError> {
        let port = self.stranger.port()?;
        let mut service = Some(self.stranger.start(self.folder, port)?);
        let recorder = Recorder::start(port)?;
        let operations = Operations::read(self.stranger, self.folder, port)?;
        if is_started_by_tool {
            service = None;
            self.stranger.prepare(self.folder)?;
        }
        recorder.take();
        let started = Instant::now();
        let findings = work(recorder.port)?;
        let seconds = started.elapsed().as_secs_f64();
        let calls = recorder.take();
        drop(service);
        let measured = Measured {
            reach: operations.reach(&calls),
            causes: self.causes()?,
            lines: self.lines(),
            seconds,
        };
        let Reach {
            n_operations,
            called,
            succeeded,
            pairs,
            server_errors,
            ref listing,
        } = measured.reach;
        let results = self.folder.join("results");
        fs::create_dir_all(&results)?;
        let write = |what: &str, listing: &str| {
            let tool = tool.to_lowercase();
            let file = format!("{}-{tool}-{what}.txt", self.stranger.name);
            fs::write(results.join(file), listing)
        };
        write("pairs", listing)?;
        if let Some(causes) = &measured.causes {
            let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
            write("causes", &causes.join("\n"))?;
        }
        println!(
            "{} | {tool} | {} | {called} of {n_operations} | {succeeded} | {pairs} | {server_errors} | {} | {} | {seconds:.1} | {findings}",
            self.stranger.name,
            calls.len(),
            measured
                .causes
                .as_ref()
                .map_or("-".to_owned(), |causes| causes.len().to_string()),
            measured
                .lines
                .map_or("-".to_owned(), |lines| format!("{lines:.1}")),
        );
        Ok(measured)
    }

    fn isobath(&self, program: &Path, port: u16, output: &Path) -> Result<String, BenchError> {
        let mut command = Command::new(program);
        command
            .args(["rest", &self.stranger.document(self.folder, port)])
            .args([
                "--url",
                &format!("http://127.0.0.1:{port}{}", self.stranger.base_path),
            ])
            .args(["--budget", &format!("{}s", self.seconds)])
            .args([
                "--lang",
                "pytest",
                "--inline-secrets",
                "--seed",
                &self.seed,
                "--out",
            ])
            .arg(output)
            .args(&self.stranger.isobath_flags)
            .current_dir(self.folder);
        for header in &self.stranger.headers {
            command.args(["--header", header]);
        }
        if let Some(file) = self.stranger.auth_file(self.folder) {
            command.arg("--auth").arg(file);
        }
        for path in &self.stranger.exclude_paths {
            command.args(["--exclude-path", path]);
        }
        let printed = command.stdin(Stdio::null()).output()?;
        let report =
            fs::read_to_string(output.join("report.json")).map_err(|_| all_output(&printed))?;
        let report: Value = serde_json::from_str(&report)?;
        let findings = report["faults"].as_array().map_or(0, Vec::len);
        Ok(findings.to_string())
    }

    fn schemathesis(&self, program: &Path, port: u16) -> Result<String, BenchError> {
        let mut command = Command::new(program);
        command
            .args(["run", &self.stranger.document(self.folder, port)])
            .args([
                "--url",
                &format!("http://127.0.0.1:{port}{}", self.stranger.base_path),
            ])
            .args([
                "--max-time",
                &self.seconds.to_string(),
                "--seed",
                &self.seed,
            ])
            .args([
                "--continue-on-failure",
                "--suppress-health-check",
                "all",
                "--request-timeout",
                "10",
            ]);
        for header in &self.stranger.headers {
            command.args(["--header", header]);
        }
        if let Some(file) = self.stranger.auth_file(self.folder) {
            command.arg("--auth-wfc").arg(file);
        }
        for path in &self.stranger.exclude_paths {
            command.args(["--exclude-path", path]);
        }
        let scratch = tempfile::tempdir()?;
        let printed = all_output(
            &command
                .current_dir(scratch.path())
                .stdin(Stdio::null())
                .output()?,
        );
        let last = printed.lines().rev().find(|line| line.contains("failure"));
        Ok(last.unwrap_or("-").trim_matches(['=', ' ']).to_owned())
    }

    fn causes(&self) -> Result<Option<BTreeSet<String>>, BenchError> {
        let (Some(log), Some(pattern)) = (&self.stranger.log, &self.stranger.error_pattern) else {
            return Ok(None);
        };
        let pattern = Regex::new(pattern)?;
        let log = fs::read(self.folder.join(log))?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let causes = pattern.captures_iter(&log).filter_map(|found| found.get(1));
        Ok(Some(
            causes.map(|cause| without_values(cause.as_str())).collect(),
        ))
    }

    /// The covered lines in percent; none, with a message, when the command does not print a number.
    fn lines(&self) -> Option<f64> {
        let command = self.stranger.coverage.as_ref()?;
        let mut printed = String::new();
        // A service writes its data while it ends, which may take a while.
        for _ in 0..ATTEMPTS {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(self.folder);
            printed = verdict::run(&mut shell).unwrap_or_else(|error| error.to_string());
            if let Ok(percentage) = printed.trim().trim_end_matches('%').parse() {
                return Some(percentage);
            }
            thread::sleep(Duration::from_secs(1));
        }
        println!("{}: `{command}` printed {printed}", self.stranger.name);
        None
    }

    /// Runs the suite several times on one freshly started service.
    fn suite(&self, tests: &Path) -> Result<SuiteRuns, BenchError> {
        let port = self.stranger.port()?;
        let service = self.stranger.start(self.folder, port)?;
        let mut runs = Vec::new();
        for run in 1..=SUITE_RUNS {
            let printed = Command::new("python3")
                .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
                .arg(tests)
                .envs(&self.stranger.suite_environment)
                .env(
                    "ISOBATH_BASE_URL",
                    format!("http://127.0.0.1:{port}{}", self.stranger.base_path),
                )
                .output()?;
            let printed = all_output(&printed);
            let kept = format!("{}-suite-{run}.txt", self.stranger.name);
            fs::write(self.folder.join("results").join(kept), &printed)?;
            runs.push(printed.lines().last().unwrap_or_default().to_owned());
        }
        drop(service);
        Ok(SuiteRuns(runs))
    }
}

/// The closing line of pytest in each run.
struct SuiteRuns(Vec<String>);

impl SuiteRuns {
    fn is_green(&self) -> bool {
        let passed = |line: &String| {
            line.contains(" passed") && !line.contains("failed") && !line.contains("error")
        };
        self.0.iter().all(passed)
    }
}

impl std::fmt::Display for SuiteRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

fn all_output(output: &Output) -> String {
    let printed = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&printed).into_owned()
}

/// A cause without what differs from call to call: numbers and quoted values.
fn without_values(cause: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    for letter in cause.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if letter == '\'' || letter == '"' => quote = Some(letter),
            None if letter.is_ascii_digit() => {}
            None => text.push(letter),
        }
    }
    text
}

/// Gets a document from a service.
fn fetch(url: &str) -> Result<String, BenchError> {
    let mut client = Client::new(ClientConfig::default())?;
    let call = client.call(&Request::get(url.to_owned()));
    let response = call
        .response()
        .ok_or_else(|| format!("{url}: no response"))?;
    Ok(response.text().into_owned())
}

fn read_file(path: PathBuf) -> Result<String, BenchError> {
    Ok(fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?)
}
