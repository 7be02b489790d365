//! Ablation: the lines of services that written suites execute, with each technique in turn.
//!
//! Budgets are calls, so that runs beside each other find the same as runs one after the other; there is one for each core.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::effect::a12;
use crate::verdict::BenchError;

/// Each adds a technique to the one before; the flag names what is still missing.
pub(crate) const STAGES: [(&str, Option<&str>); 4] = [
    ("black-box", None),
    ("base", Some("methods,tracking,expansion")),
    ("+ method replacement", Some("tracking,expansion")),
    ("+ input tracking", Some("")),
];

/// The share of the lines that a suite must reach with everything.
const WANTED: f64 = 0.9;
/// Ports of the first run, and how many are left to each.
pub(crate) const PORTS: (u16, u16) = (9_300, 200);

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Extent<'a> {
    /// The binary of the product.
    pub(crate) program: &'a Path,
    /// How many seeds, from 1 on.
    pub(crate) seeds: u64,
    /// How many calls each search may make.
    pub(crate) calls: u64,
}

/// One search, and the run of its suite.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    /// The service.
    pub(crate) subject: &'static str,
    /// The number of the stage.
    pub(crate) stage: usize,
    /// The random seed.
    pub(crate) seed: u64,
}

/// Its result.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    /// Lines that were executed.
    pub(crate) covered: u64,
    /// All lines.
    pub(crate) lines: u64,
    /// Whether all tests passed.
    pub(crate) suite_passes: bool,
}

impl Job {
    /// The search, without what names the service; `instrumented` are the flags of one that is started with a driver,
    /// `plain` those of the same as a black box.
    pub(crate) fn search(
        &self,
        extent: &Extent<'_>,
        document: &Path,
        folder: &Path,
        instrumented: &[String],
        plain: &[String],
    ) -> Command {
        let mut search = Command::new(extent.program);
        search
            .arg("rest")
            .arg(document)
            .args(["--seed", &self.seed.to_string()])
            .args(["--budget", &format!("{}calls", extent.calls)])
            .args(["--quiet", "--no-run", "--start-timeout", "120", "--out"])
            .arg(folder)
            .stdout(Stdio::null());
        match STAGES[self.stage].1 {
            None => search.args(plain),
            Some("") => search.args(instrumented),
            Some(without) => search.args(instrumented).args(["--without", without]),
        };
        search
    }
}

/// Measures by a function that is also given ports, and prints; whether the suites with all techniques are green and
/// reach enough.
pub(crate) fn measure(
    extent: &Extent<'_>,
    subjects: &[&'static str],
    one: impl Fn(&Job, u16) -> Result<Counted, BenchError> + Sync,
) -> Result<bool, BenchError> {
    let jobs: Vec<Job> = subjects
        .iter()
        .flat_map(|&subject| {
            let stages = 0..STAGES.len();
            stages.flat_map(move |stage| {
                (1..=extent.seeds).map(move |seed| Job {
                    subject,
                    stage,
                    seed,
                })
            })
        })
        .collect();
    let counted = all(&jobs, one)?;
    let mut good = true;
    let mut done = jobs.iter().zip(counted);
    let mut before: Vec<u64> = Vec::new();
    while let Some((first, counted)) = done.next() {
        let others = done.by_ref().take(extent.seeds.saturating_sub(1) as usize);
        let mut group = vec![counted];
        group.extend(others.map(|(_, counted)| counted));
        let covered: Vec<u64> = group.iter().map(|counted| counted.covered).collect();
        let effect = (first.stage > 0).then(|| a12(&covered, &before));
        good &= summary(first, &group, effect);
        before = covered;
    }
    Ok(good)
}

/// Runs the jobs, as many at a time as there are cores; what came of each, in their order.
fn all(
    jobs: &[Job],
    one: impl Fn(&Job, u16) -> Result<Counted, BenchError> + Sync,
) -> Result<Vec<Counted>, BenchError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let counted: Mutex<Vec<Option<Counted>>> = Mutex::new(vec![None; jobs.len()]);
    let work = |worker: usize| -> Result<(), String> {
        let offset = u16::try_from(worker).unwrap_or_default() * PORTS.1;
        while !is_over.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { break };
            let stage = STAGES[job.stage].0;
            let name = format!("{} {stage}, seed {}", job.subject, job.seed);
            let result = one(job, PORTS.0 + offset).map_err(|error| {
                is_over.store(true, Ordering::Relaxed);
                format!("{name}: {error}")
            })?;
            println!(
                "  {name}: {} of {}{}",
                result.covered,
                result.lines,
                if result.suite_passes { "" } else { ", RED" }
            );
            if let Ok(mut counted) = counted.lock() {
                counted[at] = Some(result);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| -> Result<(), BenchError> {
        let work = &work;
        let threads: Vec<_> = (0..workers.min(jobs.len()))
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        for thread in threads {
            thread.join().map_err(|_| "a run panicked")??;
        }
        Ok(())
    })?;
    let counted = counted.into_inner().map_err(|_| "a run panicked")?;
    let all: Option<Vec<Counted>> = counted.into_iter().collect();
    all.ok_or_else(|| "not every run ended".into())
}

/// Prints what came of the seeds of a stage; whether that is enough, where much is wanted.
fn summary(job: &Job, counted: &[Counted], effect: Option<f64>) -> bool {
    let (stage, without) = STAGES[job.stage];
    let mut covered: Vec<u64> = counted.iter().map(|counted| counted.covered).collect();
    covered.sort_unstable();
    let least = covered.first().copied().unwrap_or_default();
    let median = covered[(covered.len() - 1) / 2];
    let total = counted.first().map_or(0, |counted| counted.lines);
    let red = counted
        .iter()
        .filter(|counted| !counted.suite_passes)
        .count();
    let is_enough = without != Some("") || least as f64 > WANTED * total as f64;
    let reached = is_enough && red == 0;
    println!(
        "{:<16} {stage:<22} median {median} least {least} of {total} ({:.1} %){}, {red} of {} suites red{}",
        job.subject,
        100.0 * median as f64 / total.max(1) as f64,
        effect.map_or(String::new(), |effect| format!(", A12 {effect:.2}")),
        counted.len(),
        if reached { "" } else { "  NOT REACHED" }
    );
    reached
}
