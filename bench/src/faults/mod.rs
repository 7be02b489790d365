//! A campaign of faults against the REST job: responses that are disturbed, processes and database servers that are
//! killed, disks that are full, files that cannot be written, clocks that move. After each run: the exit code, what was
//! written, whether it can be resumed, and what was left behind.
//!
//! [`ground`] is the place of a run, [`process`], [`database`], [`disk`] and [`clock`] have the faults.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod clock;
mod database;
mod disk;
mod ground;
mod process;

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use isobath_suts::disturbed::{self, Disturbance};

use crate::verdict::{self, BenchError, Thresholds};
use ground::{Ground, wait};

pub(crate) use database::serve_ledger;

/// One of so many responses is disturbed.
const EVERY: usize = 4;

/// How much is done.
pub(crate) struct Plan<'a> {
    /// The program.
    pub binary: &'a Path,
    /// Calls of a run whose responses are disturbed.
    pub calls: usize,
    /// Runs with a fault at a random moment, of each kind.
    pub kills: usize,
    /// Only faults with this in their names.
    pub only: Option<&'a str>,
}

/// Runs the campaign and prints its counts.
pub(crate) fn table(plan: &Plan<'_>) -> ExitCode {
    verdict::exit(campaign(plan))
}

/// What came of a run with a fault.
enum Trial {
    Done(Outcome),
    /// It cannot be done here, and why.
    LeftOut(String),
}

type Try = fn(&Plan<'_>, u64) -> Result<Trial, BenchError>;

/// Faults at a random moment of a run.
const TRIALS: [(&str, Try); 13] = [
    ("core killed, run resumed", process::core_killed),
    ("core interrupted", process::core_interrupted),
    ("service killed", process::service_killed),
    ("driver killed with its service", process::driver_killed),
    ("database server crashes and recovers", database::crashed),
    ("database server killed", database::killed),
    ("connection of the tap cut", database::tap_cut),
    ("SQLite file removed", database::file_removed),
    ("disk full", disk::full),
    ("output made unwritable", disk::unwritable),
    ("clock set a day ahead", clock::ahead),
    ("clock set a day back", clock::back),
    ("clock stopped", clock::stopped),
];

fn campaign(plan: &Plan<'_>) -> Result<bool, BenchError> {
    // Runs have folders of their own.
    let plan = &Plan {
        binary: &plan.binary.canonicalize()?,
        ..*plan
    };
    let is_wanted = |name: &str| plan.only.is_none_or(|only| name.contains(only));
    let mut thresholds = Thresholds::default();
    let mut total = 0;
    println!("fault | faults | runs | ended as wanted | left behind | seconds");
    for kind in Disturbance::ALL {
        let name = format!("response: {kind:?}");
        if is_wanted(&name) {
            total += disturbed(plan, kind)?.print(&name, &mut thresholds);
        }
    }
    for (name, trial) in TRIALS.into_iter().filter(|(name, _)| is_wanted(name)) {
        let mut outcome = Outcome::default();
        for seed in 0..plan.kills as u64 {
            match trial(plan, seed)? {
                Trial::Done(one) => outcome.add(one),
                Trial::LeftOut(why) => {
                    println!("{name} | left out: {why}");
                    break;
                }
            }
        }
        if outcome.runs > 0 {
            total += outcome.print(name, &mut thresholds);
        }
    }
    println!("{total} faults");
    let is_whole = plan.kills >= 10 && plan.only.is_none();
    thresholds.check(total >= 500 || !is_whole, "at least 500 faults");
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

/// A run against a proxy that disturbs responses.
fn disturbed(plan: &Plan<'_>, kind: Disturbance) -> Result<Outcome, BenchError> {
    let marina = marina::start(marina::Faults::none())?;
    let address: SocketAddr = marina.url().trim_start_matches("http://").parse()?;
    let proxy = disturbed::start(address, kind, EVERY);
    let ground = Ground::new()?;
    let mut run = ground.command(plan.binary)?;
    run.args(["rest", &format!("{}/openapi.yaml", proxy.url)])
        .args(["--url", &proxy.url, "--reset", "POST /reset", "--no-run"])
        .args(["--budget", &format!("{}calls", plan.calls)])
        .args(["--timeout", "1", "--out", "out"]);
    let code = wait(&mut run.spawn()?)?;
    // Responses that do not come may be too many to continue (3).
    let problems = ground.judge(code, &[0, 1, 3]);
    Ok(ground.outcome(proxy.count(), problems, ground.left()))
}
