//! Kills workers, the command and the NATS server of a campaign at random moments, and checks the results.
//!
//! A short form runs with the tests, the long one is `isobath-bench campaign faults`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use isobath_suts::nats::NatsServer;
use serde_json::Value;

/// What to do.
pub(crate) struct FaultPlan<'a> {
    /// The program.
    pub(crate) binary: &'a Path,
    /// The document of a service that runs.
    pub(crate) document: &'a str,
    /// How many times something is killed.
    pub(crate) kills: usize,
    /// Jobs of the campaign, half of them on the service.
    pub(crate) jobs: usize,
    /// Calls of a job on the service.
    pub(crate) calls: usize,
    /// Workers.
    pub(crate) workers: usize,
    /// Random seed.
    pub(crate) seed: u64,
}

/// Its result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FaultCounts {
    /// Processes killed, by what they were.
    pub(crate) killed: BTreeMap<&'static str, usize>,
    /// Jobs that ended with results.
    pub(crate) ended: usize,
    /// Jobs that ended without, after all their deliveries.
    pub(crate) given_up: usize,
    /// The exit code of the last command.
    pub(crate) code: i32,
}

/// Runs a campaign on a server while its processes are killed.
///
/// # Panics
///
/// When a job has no result, or several, or is missing in the merged report.
pub(crate) fn run(plan: &FaultPlan<'_>, server: &mut NatsServer) -> FaultCounts {
    let folder = tempfile::tempdir().expect("a folder");
    let file = campaign(plan, folder.path());
    let mut random = Random(plan.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let url = server.url();
    let mut workers: Vec<Child> = (0..plan.workers).map(|_| worker(plan, &url)).collect();
    let mut command = submit(plan, &file, &url);
    let mut counts = FaultCounts::default();
    let mut status = None;
    for _ in 0..plan.kills {
        thread::sleep(Duration::from_millis(50 + random.below(700)));
        status = command.try_wait().expect("a child");
        if status.is_some() {
            break;
        }
        let what = match random.below(4) {
            0 => {
                end(&mut command);
                command = submit(plan, &file, &url);
                "command"
            }
            1 => {
                server.kill();
                thread::sleep(Duration::from_millis(random.below(400)));
                server.restart();
                "server"
            }
            _ => {
                let one = random.below(workers.len() as u64) as usize;
                end(&mut workers[one]);
                workers[one] = worker(plan, &url);
                "worker"
            }
        };
        *counts.killed.entry(what).or_default() += 1;
        // One that found the server away has ended by itself.
        for one in &mut workers {
            if one.try_wait().expect("a child").is_some() {
                *one = worker(plan, &url);
            }
        }
        if command
            .try_wait()
            .expect("a child")
            .is_some_and(|status| status.code() == Some(3))
        {
            command = submit(plan, &file, &url);
        }
    }
    let status = match status {
        Some(status) => status,
        None => command.wait().expect("a child"),
    };
    for one in &mut workers {
        end(one);
    }
    counts.code = status.code().unwrap_or(-1);
    check(plan, folder.path(), &mut counts);
    counts
}

/// Every job is in the merged report, has one result, and what it wrote is there.
fn check(plan: &FaultPlan<'_>, folder: &Path, counts: &mut FaultCounts) {
    let out = folder.join("out");
    let text = std::fs::read_to_string(out.join("campaign.json"));
    let text = text.unwrap_or_else(|error| panic!("no merged report: {error}"));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let jobs = report["jobs"].as_array().expect("a list");
    assert_eq!(jobs.len(), plan.jobs, "{text}");
    assert!(!out.join(".campaign").exists(), "the campaign has ended");
    for job in jobs {
        let name = job["name"].as_str().expect("a name");
        match job["verdict"].as_str() {
            Some("clean" | "findings") => {
                counts.ended += 1;
                let report = find(&out.join(name), "report.json");
                assert!(report.is_some(), "{name} has no report: {text}");
                assert!(job["targets"].as_u64() > Some(0), "{text}");
            }
            Some("failed") => {
                counts.given_up += 1;
                // After three deliveries, not before; and with its log.
                assert!(job["attempts"].as_u64() >= Some(3), "{job}");
            }
            _ => panic!("{name} has no result: {text}"),
        }
    }
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        if path.is_dir() {
            return find(&path, name);
        }
        path.ends_with(name).then_some(path)
    })
}

/// Writes a campaign with jobs of two kinds.
fn campaign(plan: &FaultPlan<'_>, folder: &Path) -> PathBuf {
    let schema = "CREATE TABLE boats (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, meters INT CHECK (meters > 3));\n";
    std::fs::write(folder.join("schema.sql"), schema).expect("a file");
    let mut text = "redeliver-after = '2s'\n".to_owned();
    for number in 0..plan.jobs {
        text.push_str(&format!("[[job]]\nname = 'job-{number}'\n"));
        if number % 2 == 0 {
            let (document, calls) = (plan.document, plan.calls);
            text.push_str(&format!(
                "[job.rest]\nspec = '{document}'\nbudget = '{calls}calls'\nseed = {number}\nno-run = true\n"
            ));
        } else {
            text.push_str(&format!(
                "[job.schema]\npaths = ['schema.sql']\nseed = {number}\n"
            ));
        }
    }
    let file = folder.join("campaign.toml");
    std::fs::write(&file, text).expect("a file");
    file
}

fn worker(plan: &FaultPlan<'_>, url: &str) -> Child {
    silent(Command::new(plan.binary).args(["worker", "--nats", url]))
}

fn submit(plan: &FaultPlan<'_>, file: &Path, url: &str) -> Child {
    let out = file.with_file_name("out");
    let mut command = Command::new(plan.binary);
    silent(
        command
            .arg("campaign")
            .arg(file)
            .args(["--nats", url, "--out"])
            .arg(out),
    )
}

fn silent(command: &mut Command) -> Child {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.spawn().expect("the binary runs")
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Numbers that follow from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
