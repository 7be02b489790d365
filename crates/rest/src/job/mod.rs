//! The REST job: search, probe, minimize, verify.
//!
//! [`run`](run()) is the entry point; [`Event`] reports its progress.

mod event;
mod finish;
mod first_calls;
mod last_calls;
mod leftovers;
mod probing;
mod readable;
mod run;
mod shares;
mod shrink;
mod split;
mod uncovered;
mod unique;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use isobath_exec::test_database::StateCost;
use isobath_sql::Limitation;

pub use event::{Event, Stage, TimelinePoint};
pub use last_calls::call_disruptive;
pub use run::{ClientMaker, SEARCH_ENDS, in_flight, run};
pub use uncovered::UncoveredTarget;

use crate::caller::{Service, ServiceLost};
use crate::candidate::Candidate;
use crate::db_oracle::{ConstraintUse, Drift};
use crate::exchange::Exchange;
use crate::external::{OutboundRequest, OutboundTally};
use crate::fault::{Fault, FaultKind};
use crate::feedback::CodeCoverage;
use crate::latency::SlowOperation;
use crate::probe::ProbeConfig;
use crate::problem::SamplingConfig;
use crate::seeding::DatabaseReport;
use crate::supervisor::Crash;
use crate::target::Target;

/// Configuration of a run.
pub struct Config {
    /// The algorithm, its parameters, and the seed.
    pub search: isobath_search::SearchConfig,
    /// The most calls in all.
    pub calls: Option<u64>,
    /// The time budget, if there is one.
    pub time: Option<Duration>,
    /// The used share of the time budget, from 0.
    pub elapsed: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// Set to end search and probes and to write the results so far.
    pub interrupt: Arc<AtomicBool>,
    /// Raised to end also the calls that handing over takes.
    pub stop: Arc<AtomicBool>,
    /// How many candidates are run at once on the one service, where there are no copies of it.
    pub workers: usize,
    /// Copies of the service that take part in the search: each has its own address, sessions, driver, database and mocks.
    /// All that is not the search is done on the service itself.
    pub copies: Vec<Arc<Service>>,
    /// How candidates are made.
    pub sampling: SamplingConfig,
    /// Also keep a test for each kind of value and part of a response.
    pub all_tests: bool,
    /// Kinds of faults that are not looked for.
    pub disabled: BTreeSet<FaultKind>,
    /// Which probes are made.
    pub probes: ProbeConfig,
    /// State of the interrupted run to resume.
    pub previous: Option<PreviousRun>,
    /// What of the job is done.
    pub part: JobPart,
    /// Returns candidates of other searches on the same service that came since the last time.
    pub imports: Option<Arc<dyn Fn() -> Vec<Candidate>>>,
}

/// What of a job is done: all of it, or a part that belongs to a search on several machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobPart {
    /// Search, probes, and tests.
    #[default]
    Whole,
    /// Only the search, with the whole budget: one of several that exchange what they find.
    Search,
    /// Probes and tests of what several searches found, which are the candidates of [`Config::previous`].
    Merge,
}

/// State of an interrupted run.
#[derive(Clone, Debug, Default)]
pub struct PreviousRun {
    /// The candidates that were the first to cover something, in their order.
    pub candidates: Vec<Candidate>,
    /// What it had found after so many calls, in order; the last one is where it was stopped.
    pub timeline: Vec<TimelinePoint>,
    /// Whether its search had come to its end, so that probes are next.
    pub searched: bool,
}

impl PreviousRun {
    /// Calls that it made.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.timeline.last().map_or(0, |last| last.calls)
    }

    /// How many of its calls count: not those that came after the search, which is done anew.
    fn spent(&self, calls: Option<u64>) -> u64 {
        let most = calls.map_or(u64::MAX, |calls| (calls as f64 * SEARCH_ENDS) as u64);
        self.calls().min(most)
    }
}

impl Config {
    /// How many calls the search makes at once.
    fn parallel_calls(&self) -> usize {
        match self.copies.len() {
            0 => self.workers.max(1),
            copies => copies + 1,
        }
    }

    /// A run by one worker that only calls bound, so that it is the same whenever it is repeated.
    #[must_use]
    pub fn single_worker(seed: u64, calls: u64) -> Self {
        Self {
            search: isobath_search::SearchConfig {
                seed,
                ..isobath_search::SearchConfig::default()
            },
            calls: Some(calls),
            time: None,
            elapsed: Arc::new(|| 0.0),
            interrupt: Arc::default(),
            stop: Arc::default(),
            workers: 1,
            copies: Vec::new(),
            sampling: SamplingConfig::default(),
            all_tests: false,
            disabled: BTreeSet::new(),
            probes: ProbeConfig::default(),
            previous: None,
            part: JobPart::Whole,
            imports: None,
        }
    }
}

/// A generated test.
#[derive(Clone, Debug)]
pub struct Test {
    /// The calls.
    pub candidate: Candidate,
    /// Their results.
    pub exchanges: Vec<Exchange>,
    /// Their results the second time; what differs is not asserted.
    pub again: Vec<Exchange>,
    /// What it covers.
    pub covers: Vec<Target>,
    /// The faults that it shows.
    pub faults: Vec<Fault>,
}

/// Findings about the database.
#[derive(Clone, Debug)]
pub struct DatabaseFindings {
    /// The database, without a password.
    pub place: String,
    /// Its constraints, and how calls that violate them were answered.
    pub constraints: Vec<ConstraintUse>,
    /// Where the document allows what a column refuses.
    pub drift: Vec<Drift>,
    /// What resetting and looking cost.
    pub cost: StateCost,
    /// Tables with too many rows to reset.
    pub not_kept: Vec<String>,
    /// What decides about rows and is not understood, triggers above all.
    pub limitations: Vec<Limitation>,
}

/// Result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// The tests, those that show faults first.
    pub tests: Vec<Test>,
    /// All faults, each with the index of a test that shows it; `None` when it did not show again.
    pub faults: Vec<(Fault, Option<usize>)>,
    /// Calls made in all.
    pub calls: u64,
    /// Candidates evaluated in the search.
    pub evaluations: u64,
    /// Targets met, and the documented statuses that were not.
    pub targets: usize,
    /// Targets covered.
    pub covered: usize,
    /// Per operation, the statuses seen, with how often.
    pub statuses: Vec<BTreeMap<u16, u64>>,
    /// What was found after so many calls, to the end of the run.
    pub timeline: Vec<TimelinePoint>,
    /// Targets that were not covered.
    pub uncovered: Vec<UncoveredTarget>,
    /// The one status that every operation answered in the first pass, after which the run stopped: the base URL or the
    /// users are wrong.
    pub uniform_answer: Option<u16>,
    /// Operations after which everything answered 401 or 503, with that status.
    pub disruptive: Vec<(usize, u16)>,
    /// Operations after which a user could not log in any more; no test calls them.
    pub login_changes: Vec<usize>,
    /// Operations whose calls used much of the time.
    pub slow: Vec<SlowOperation>,
    /// How of the service.
    pub crashes: Vec<Crash>,
    /// Tests left out because the budget ended before verification.
    pub unverified: usize,
    /// Tests left out because their responses differed between two runs.
    pub unstable: usize,
    /// Tests left out because they need what earlier calls left behind.
    pub state_dependent: usize,
    /// The identities of faults that did not show again when their calls were repeated.
    pub not_shown_again: BTreeSet<(FaultKind, String)>,
    /// The identities of faults that show only after other calls than those of their tests.
    pub needs_state: BTreeSet<(FaultKind, String)>,
    /// What showed those of them that were repeated: no tests, because a fresh service may answer in another way.
    pub dependent: Vec<Test>,
    /// The identities of faults that need rows like none that a call was seen to write, with the tables of these.
    pub needs_rows: BTreeMap<(FaultKind, String), String>,
    /// Why the service could not be reached any more.
    pub lost: Option<ServiceLost>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// What of the service's code is covered, where that is known.
    pub code: Option<CodeCoverage>,
    /// Findings about the database, if there is one.
    pub rows: Option<DatabaseFindings>,
    /// Statements that the service was seen to look for rows with, one of each shape.
    pub statements: Vec<String>,
    /// What the database was used for, where there is one.
    pub database: Option<DatabaseReport>,
    /// Observed outbound requests.
    pub outgoing: Vec<(OutboundRequest, OutboundTally)>,
}
