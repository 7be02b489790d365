//! A campaign of faults against the REST job: responses that are disturbed, a core that is killed and resumed, a service
//! that is killed, and interruptions. After each run: the exit code, what was written, and what was left behind.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use isobath_suts::disturbed::{self, Disturbance};
use serde_json::Value;

use crate::verdict::{self, BenchError, Thresholds};

/// Longer than any run takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(240);
/// How often something is looked for.
const PULSE: Duration = Duration::from_millis(5);
/// One of so many responses is disturbed.
const EVERY: usize = 4;

/// How much is done.
pub(crate) struct Plan<'a> {
    /// The program.
    pub binary: &'a Path,
    /// Calls of a run whose responses are disturbed.
    pub calls: usize,
    /// Runs in which a process is killed, of each kind.
    pub kills: usize,
}

/// Runs the campaign and prints its counts.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    verdict::exit(campaign(plan))
}

fn campaign(plan: &Plan<'_>) -> Result<bool, BenchError> {
    // Runs have folders of their own.
    let plan = &Plan {
        binary: &plan.binary.canonicalize()?,
        ..*plan
    };
    let mut thresholds = Thresholds::default();
    let mut total = 0;
    println!("fault | faults | runs | ended as wanted | left behind | seconds");
    for kind in Disturbance::ALL {
        let outcome = disturbed(plan, kind)?;
        total += outcome.print(&format!("response: {kind:?}"), &mut thresholds);
    }
    type Trial = fn(&Plan<'_>, u64) -> Result<Outcome, BenchError>;
    let trials: [(&str, Trial); 3] = [
        ("core killed, run resumed", core_killed),
        ("service killed", service_killed),
        ("core interrupted", core_interrupted),
    ];
    for (name, trial) in trials {
        let mut outcome = Outcome::default();
        for seed in 0..plan.kills as u64 {
            outcome.add(trial(plan, seed)?);
        }
        total += outcome.print(name, &mut thresholds);
    }
    println!("{total} faults");
    thresholds.check(total >= 500 || plan.kills < 10, "at least 500 faults");
    Ok(thresholds.print())
}

/// What came of runs with faults of one kind.
#[derive(Default)]
struct Outcome {
    faults: usize,
    runs: usize,
    problems: Vec<String>,
    left: Vec<String>,
    seconds: f64,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.faults += other.faults;
        self.runs += other.runs;
        self.problems.extend(other.problems);
        self.left.extend(other.left);
        self.seconds += other.seconds;
    }

    /// Prints a line and returns the number of faults.
    fn print(self, name: &str, thresholds: &mut Thresholds) -> usize {
        let wanted = self.runs - self.problems.len().min(self.runs);
        println!(
            "{name} | {} | {} | {wanted} | {} | {:.0}",
            self.faults,
            self.runs,
            self.left.len(),
            self.seconds
        );
        for problem in self.problems.iter().chain(&self.left) {
            thresholds.check(false, format!("{name}: {problem}"));
        }
        thresholds.check(self.faults > 0, format!("{name}: no fault took place"));
        self.faults
    }
}

/// A folder for one run, with a folder for temporary files that only the run uses.
struct Ground {
    folder: tempfile::TempDir,
    started: Instant,
}

impl Ground {
    fn new() -> Result<Self, BenchError> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("tmp"))?;
        Ok(Self {
            folder,
            started: Instant::now(),
        })
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn command(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command
            .current_dir(self.folder.path())
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Temporary files that are left.
    fn left(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path().join("tmp"));
        let files = files.into_iter().flatten().flatten();
        files
            .map(|file| format!("file {}", file.file_name().to_string_lossy()))
            .collect()
    }

    /// The events that were written, without a line that is not whole.
    fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.out().join("events.ndjson")).unwrap_or_default();
        let lines = text.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The report, if it is whole.
    fn report(&self) -> Option<Value> {
        let text = std::fs::read_to_string(self.out().join("report.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Judges a run that ended: one of these exit codes, and a report.
    fn judge(&self, code: Option<i32>, wanted: &[i32]) -> Vec<String> {
        let mut problems = Vec::new();
        if !code.is_some_and(|code| wanted.contains(&code)) {
            problems.push(format!("exit code {code:?}"));
        } else if self.report().is_none() {
            problems.push("no report".to_owned());
        }
        problems
    }

    fn outcome(&self, faults: usize, problems: Vec<String>, left: Vec<String>) -> Outcome {
        Outcome {
            faults,
            runs: 1,
            // One run, one problem.
            problems: match problems.is_empty() {
                true => Vec::new(),
                false => vec![problems.join(", ")],
            },
            left,
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }
}

/// A run against a proxy that disturbs responses.
fn disturbed(plan: &Plan<'_>, kind: Disturbance) -> Result<Outcome, BenchError> {
    let marina = marina::start(marina::Faults::none())?;
    let address: SocketAddr = marina.url().trim_start_matches("http://").parse()?;
    let proxy = disturbed::start(address, kind, EVERY);
    let ground = Ground::new()?;
    let mut run = ground.command(plan.binary);
    run.args(["rest", &format!("{}/openapi.yaml", proxy.url)])
        .args(["--url", &proxy.url, "--reset", "POST /reset", "--no-run"])
        .args(["--budget", &format!("{}calls", plan.calls)])
        .args(["--timeout", "1", "--out", "out"]);
    let code = wait(&mut run.spawn()?)?;
    // Responses that do not come may be too many to go on (3).
    let problems = ground.judge(code, &[0, 1, 3]);
    Ok(ground.outcome(proxy.count(), problems, ground.left()))
}

/// A run that starts its service on a free port.
struct Started {
    ground: Ground,
    core: Child,
    port: u16,
}

fn start(plan: &Plan<'_>, calls: usize, seed: u64) -> Result<Started, BenchError> {
    let ground = Ground::new()?;
    // It is free a moment later, too: nobody else starts services here.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port();
    let marina = plan.binary.with_file_name("marina").canonicalize()?;
    let url = format!("http://127.0.0.1:{port}");
    let document = ground.folder.path().join("openapi.yaml");
    std::fs::write(&document, marina::OPENAPI)?;
    let mut run = ground.command(plan.binary);
    run.args([
        "rest",
        "openapi.yaml",
        "--url",
        &url,
        "--reset",
        "POST /reset",
    ])
    .args(["--start", &format!("{} --port {port}", marina.display())])
    .args(["--budget", &format!("{calls}calls"), "--no-run"])
    .args(["--seed", &seed.to_string(), "--out", "out"]);
    Ok(Started {
        core: run.spawn()?,
        ground,
        port,
    })
}

impl Started {
    /// Waits until so many events are written.
    fn until(&mut self, n_events: usize) -> Result<(), BenchError> {
        let started = Instant::now();
        while self.ground.events().len() < n_events && self.core.try_wait()?.is_none() {
            if started.elapsed() > PATIENCE {
                return Err("the run writes no events".into());
            }
            std::thread::sleep(PULSE);
        }
        Ok(())
    }

    /// The process that serves, by its arguments.
    fn service(&self) -> Option<String> {
        let wanted = format!("--port\0{}\0", self.port);
        let processes = std::fs::read_dir("/proc").ok()?.flatten();
        let mut numbers = processes.filter_map(|entry| entry.file_name().into_string().ok());
        numbers.find(|number| {
            let line = std::fs::read_to_string(format!("/proc/{number}/cmdline"));
            line.is_ok_and(|line| line.ends_with(&wanted) && line.starts_with('/'))
        })
    }

    /// What still runs or listens, a while after the core has ended.
    fn left(&self) -> Vec<String> {
        let started = Instant::now();
        let mut left;
        loop {
            left = Vec::new();
            left.extend(self.service().map(|number| format!("process {number}")));
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                left.push(format!("port {}", self.port));
            }
            if left.is_empty() || started.elapsed() > Duration::from_secs(10) {
                return left;
            }
            std::thread::sleep(PULSE);
        }
    }
}

/// Kills the core at some moment, and resumes its run.
fn core_killed(plan: &Plan<'_>, seed: u64) -> Result<Outcome, BenchError> {
    let mut run = start(plan, 600, seed)?;
    run.until(fastrand::Rng::with_seed(seed).usize(2..150))?;
    run.core.kill()?;
    run.core.wait()?;
    let mut left = run.left();
    let targets = |events: &[Value]| -> std::collections::BTreeSet<String> {
        let covered = events.iter().filter(|event| event["event"] == "covered");
        covered
            .filter_map(|event| Some(event["target"].as_str()?.to_owned()))
            .collect()
    };
    let before = run.ground.events();
    let is_begun = before.iter().any(|event| event["event"] == "started");
    if !is_begun {
        // Killed before there was anything to resume.
        return Ok(run.ground.outcome(1, Vec::new(), left));
    }
    let mut resumed = run.ground.command(plan.binary);
    resumed.args(["resume", "out"]);
    let code = wait(&mut resumed.spawn()?)?;
    let mut problems = run.ground.judge(code, &[0, 1]);
    let after = run.ground.events();
    let lost = targets(&before).difference(&targets(&after)).count();
    if lost > 0 || after.len() < before.len() {
        problems.push(format!("{lost} targets lost"));
    }
    left.extend(run.left());
    Ok(run.ground.outcome(1, problems, left))
}

/// Kills the service at some moment; the run goes on.
fn service_killed(plan: &Plan<'_>, seed: u64) -> Result<Outcome, BenchError> {
    let mut run = start(plan, 600, seed)?;
    run.until(fastrand::Rng::with_seed(seed).usize(2..100))?;
    let mut faults = 0;
    if let Some(number) = run.service() {
        let killed = Command::new("kill").args(["-9", &number]).status()?;
        faults += usize::from(killed.success());
    }
    let code = wait(&mut run.core)?;
    let problems = run.ground.judge(code, &[0, 1]);
    let mut left = run.left();
    left.extend(run.ground.left());
    Ok(run.ground.outcome(faults, problems, left))
}

/// Interrupts the core at some moment; it writes what it has.
fn core_interrupted(plan: &Plan<'_>, seed: u64) -> Result<Outcome, BenchError> {
    let mut run = start(plan, 100_000, seed)?;
    run.until(fastrand::Rng::with_seed(seed).usize(2..150))?;
    let number = run.core.id().to_string();
    Command::new("kill").args(["-INT", &number]).status()?;
    let code = wait(&mut run.core)?;
    let problems = run.ground.judge(code, &[130]);
    let mut left = run.left();
    left.extend(run.ground.left());
    Ok(run.ground.outcome(1, problems, left))
}

/// The exit code of a process that ends in time; one that does not is ended, and has none.
fn wait(process: &mut Child) -> Result<Option<i32>, BenchError> {
    let started = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status.code());
        }
        if started.elapsed() > PATIENCE {
            process.kill()?;
            process.wait()?;
            return Ok(None);
        }
        std::thread::sleep(PULSE);
    }
}
