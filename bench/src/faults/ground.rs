//! The place of one run, and what it left there.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Outcome, Plan};
use crate::verdict::BenchError;

/// Longer than any run takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(240);
/// How often something is looked for.
pub(super) const PULSE: Duration = Duration::from_millis(5);
/// How long what belongs to a run may take to end after it.
const AFTERWARDS: Duration = Duration::from_secs(10);
/// Where drivers share memory with the core.
const SHARED_MEMORY: &str = "/dev/shm";

/// A folder for one run, with a folder for temporary files that only the run uses.
pub(super) struct Ground {
    folder: tempfile::TempDir,
    started: Instant,
    shared_memory: BTreeSet<PathBuf>,
}

impl Ground {
    pub(super) fn new() -> Result<Self, BenchError> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("tmp"))?;
        Ok(Self {
            folder,
            started: Instant::now(),
            shared_memory: shared_memory(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// A command whose output is kept, and whose temporary files are in this place.
    pub(super) fn command(&self, binary: &Path) -> Result<Command, BenchError> {
        let said = File::options()
            .create(true)
            .append(true)
            .open(self.path().join("said"))?;
        let mut command = Command::new(binary);
        command
            .current_dir(self.path())
            .env("TMPDIR", self.temporary())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said);
        Ok(command)
    }

    /// All that was printed.
    pub(super) fn said(&self) -> String {
        let said = fs::read(self.path().join("said")).unwrap_or_default();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// The processes of this place, by its temporary folder in their environment.
    fn processes(&self) -> Vec<String> {
        let mark = format!("TMPDIR={}\0", self.temporary().display()).into_bytes();
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().into_string().ok());
        let belongs = |number: &String| {
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment.windows(mark.len()).any(|part| part == mark)
        };
        numbers.filter(belongs).collect()
    }

    /// Temporary files and shared memory that are left.
    pub(super) fn left(&self) -> Vec<String> {
        let files = entries(&self.temporary());
        let mut left: Vec<String> = files.iter().map(|file| shown("file", file)).collect();
        let unused = unused_memory(&self.shared_memory);
        left.extend(unused.iter().map(|path| shown("shared memory", path)));
        left
    }

    /// What still runs or listens, a while after the core has ended.
    pub(super) fn running(&self, port: u16) -> Vec<String> {
        let ended = Instant::now();
        loop {
            let processes = self.processes();
            let mut left: Vec<String> = processes
                .iter()
                .map(|number| format!("process {number}"))
                .collect();
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                left.push(format!("port {port}"));
            }
            if left.is_empty() || ended.elapsed() > AFTERWARDS {
                return left;
            }
            std::thread::sleep(PULSE);
        }
    }

    /// The events that were written, without a line that is not whole.
    pub(super) fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.out().join("events.ndjson")).unwrap_or_default();
        let lines = text.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The targets that the events call covered.
    pub(super) fn covered(&self) -> BTreeSet<String> {
        let events = self.events();
        let covered = events.iter().filter(|event| event["event"] == "covered");
        covered
            .filter_map(|event| Some(event["target"].as_str()?.to_owned()))
            .collect()
    }

    /// Whether there is something to resume.
    pub(super) fn is_begun(&self) -> bool {
        let events = self.events();
        events.iter().any(|event| event["event"] == "started")
    }

    /// The report, if it is whole.
    fn report(&self) -> Option<Value> {
        let text = fs::read_to_string(self.out().join("report.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Judges a run that ended: one of these exit codes, no panic, and a report.
    pub(super) fn judge(&self, code: Option<i32>, wanted: &[i32]) -> Vec<String> {
        let mut problems = self.judge_end(code, wanted);
        if problems.is_empty() && self.report().is_none() {
            problems.push("no report".to_owned());
        }
        problems
    }

    /// Judges a run that may have no report.
    pub(super) fn judge_end(&self, code: Option<i32>, wanted: &[i32]) -> Vec<String> {
        let mut problems = Vec::new();
        let said = self.said();
        if said.contains("panicked at") {
            problems.push("a panic".to_owned());
        }
        if !code.is_some_and(|code| wanted.contains(&code)) {
            let last = said.lines().rev().find(|line| !line.trim().is_empty());
            let last = last.unwrap_or_default();
            problems.push(format!("exit code {code:?} after `{last}`"));
        }
        problems
    }

    /// Resumes the run, which then has to end as runs do and to have lost no target.
    pub(super) fn resume(&self, binary: &Path, more: &[&str]) -> Result<Vec<String>, BenchError> {
        let before = self.covered();
        let mut resumed = self.command(binary)?;
        let code = wait(&mut resumed.args(["resume", "out"]).args(more).spawn()?)?;
        let mut problems = self.judge(code, &[0, 1]);
        let lost = before.difference(&self.covered()).count();
        if lost > 0 {
            problems.push(format!("{lost} targets lost"));
        }
        Ok(problems)
    }

    pub(super) fn outcome(
        &self,
        faults: usize,
        problems: Vec<String>,
        left: Vec<String>,
    ) -> Outcome {
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

fn shown(what: &str, path: &Path) -> String {
    format!("{what} {}", path.display())
}

fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Shared memory that is there.
pub(super) fn shared_memory() -> BTreeSet<PathBuf> {
    entries(Path::new(SHARED_MEMORY))
}

/// Shared memory that is new and that nobody uses for a while: others may run something here, too.
pub(super) fn unused_memory(before: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let started = Instant::now();
    let mut unused = shared_memory();
    loop {
        let now = shared_memory();
        unused.retain(|path| now.contains(path) && !before.contains(path) && !is_mapped(path));
        if unused.is_empty() || started.elapsed() > AFTERWARDS {
            return unused;
        }
        std::thread::sleep(PULSE * 20);
    }
}

/// Whether a process has mapped a file, or something of a folder.
fn is_mapped(folder: &Path) -> bool {
    let folder = folder.display().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut maps = processes.map(|process| fs::read_to_string(process.path().join("maps")));
    maps.any(|maps| maps.is_ok_and(|maps| maps.contains(&folder)))
}

/// A run that starts its service on a free port.
pub(super) struct Started {
    pub(super) ground: Ground,
    pub(super) core: Child,
    pub(super) port: u16,
}

/// A port that is free a moment later, too: nobody else starts services here.
pub(super) fn free_port() -> Result<u16, BenchError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// The moment of a fault: so many events are written before it, of those that a run writes at least.
pub(super) fn moment(seed: u64, n_events: usize) -> usize {
    fastrand::Rng::with_seed(seed).usize(2..n_events)
}

/// Events of a run on the example service.
pub(super) const MARINA: usize = 120;

impl Started {
    /// A run on the example service, with the command as `adapt` changes it.
    pub(super) fn on_marina(
        plan: &Plan<'_>,
        calls: usize,
        seed: u64,
        ground: Ground,
        adapt: impl FnOnce(&mut Command),
    ) -> Result<Self, BenchError> {
        let marina = plan.binary.with_file_name("marina").canonicalize()?;
        let port = free_port()?;
        fs::write(ground.path().join("openapi.yaml"), marina::OPENAPI)?;
        let mut run = ground.command(plan.binary)?;
        run.args(["rest", "openapi.yaml"])
            .args(["--url", &format!("http://127.0.0.1:{port}")])
            .args(["--reset", "POST /reset"])
            .args(["--start", &format!("{} --port {port}", marina.display())])
            .args(["--budget", &format!("{calls}calls"), "--no-run"])
            .args(["--seed", &seed.to_string(), "--out", "out"]);
        adapt(&mut run);
        Ok(Self {
            core: run.spawn()?,
            ground,
            port,
        })
    }

    /// Waits until so many events are written; whether the run still continues then.
    pub(super) fn until(&mut self, n_events: usize) -> Result<bool, BenchError> {
        let started = Instant::now();
        while self.ground.events().len() < n_events {
            if self.core.try_wait()?.is_some() {
                return Ok(false);
            }
            if started.elapsed() > PATIENCE {
                return Err("the run writes no events".into());
            }
            std::thread::sleep(PULSE);
        }
        Ok(self.core.try_wait()?.is_none())
    }

    /// What the run left behind: processes, ports, files.
    pub(super) fn left(&self) -> Vec<String> {
        let mut left = self.ground.running(self.port);
        left.extend(self.ground.left());
        left
    }
}

/// Sends a signal; whether there was a process to send it to.
pub(super) fn signal(name: &str, process: u32) -> Result<bool, BenchError> {
    let mut kill = Command::new("kill");
    let kill = kill.args([&format!("-{name}"), &process.to_string()]);
    Ok(kill.stderr(Stdio::null()).status()?.success())
}

/// The exit code of a process that ends in time; one that does not is ended, and has none.
pub(super) fn wait(process: &mut Child) -> Result<Option<i32>, BenchError> {
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
