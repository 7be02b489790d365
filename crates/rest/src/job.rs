//! The REST job: search, probe, minimize, and hand over tests.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use isobath_exec::http::Client;
use isobath_search::{
    Archive, Event, Limits, Minimized, Observer, Search, TargetId, minimize, run_with_workers,
};

use crate::caller::{Caller, Lost, Service};
use crate::candidate::Candidate;
use crate::exchange::Exchange;
use crate::fault::{Fault, FaultKind};
use crate::feedback::{Code, CodeCoverage};
use crate::goal::Goal;
use crate::oracle::Oracle;
use crate::probe::{Choice, Finding, probe};
use crate::problem::{Habits, RestProblem};

/// What a run may do and use.
pub struct Config {
    /// The algorithm, its parameters, and the seed.
    pub search: isobath_search::Config,
    /// The most calls in all.
    pub calls: Option<u64>,
    /// The share of the time that is used, from 0; asked whenever a candidate is to be made.
    pub elapsed: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// Raised to end the run at once, with what there is.
    pub interrupt: Arc<AtomicBool>,
    /// How many candidates are run at once.
    pub workers: usize,
    /// How candidates are made.
    pub habits: Habits,
    /// Kinds of faults that are not looked for.
    pub off: BTreeSet<FaultKind>,
    /// Which probes are made.
    pub probes: Choice,
}

/// The shares of the budget at which the search and the probes end.
const SEARCH_ENDS: f64 = 0.6;
const PROBES_END: f64 = 0.9;

/// A test to hand over.
#[derive(Clone, Debug)]
pub struct Test {
    /// The calls.
    pub candidate: Candidate,
    /// What came of them.
    pub exchanges: Vec<Exchange>,
    /// What came of them the second time; what differs is not asserted.
    pub again: Vec<Exchange>,
    /// What it covers, in sentences.
    pub covers: Vec<String>,
    /// The faults that it shows.
    pub faults: Vec<Fault>,
}

/// What a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// The tests, those that show faults first.
    pub tests: Vec<Test>,
    /// All faults, each with the index of a test that shows it; `None` when it did not show again.
    pub faults: Vec<(Fault, Option<usize>)>,
    /// Calls made in all.
    pub calls: u64,
    /// Candidates evaluated in the search.
    pub evaluations: u64,
    /// Targets met.
    pub targets: usize,
    /// Targets covered.
    pub covered: usize,
    /// Per operation, the statuses seen, with how often.
    pub statuses: Vec<BTreeMap<u16, u64>>,
    /// Targets covered after so many calls.
    pub timeline: Vec<(u64, usize)>,
    /// Targets that were met and not covered, with the score of the nearest miss.
    pub uncovered: Vec<(String, f64)>,
    /// Why the service could not be reached any more.
    pub lost: Option<Lost>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// What of the service's code is covered, where that is known.
    pub code: Option<CodeCoverage>,
}

/// Runs the job; `client` makes the client of each worker.
///
/// # Errors
///
/// When no client can be made. A service that goes away ends the run, not the result.
pub fn run(
    service: &Arc<Service>,
    client: &dyn Fn() -> io::Result<Client>,
    config: &Config,
    observer: impl Observer + 'static,
) -> io::Result<Outcome> {
    let oracle = Oracle::new(&service.api, config.off.clone());
    let problem = RestProblem::new(
        Arc::clone(&service.api),
        service.sessions.len(),
        oracle,
        config.habits.clone(),
    );
    let problem = match service.inside(|feedback| Code::new(feedback.targets())) {
        Some(code) => problem.with_code(code),
        None => problem,
    };
    let mut limits = Limits::default().interrupt(Arc::clone(&config.interrupt));
    if let Some(calls) = config.calls {
        limits = limits.cost((calls as f64 * SEARCH_ENDS) as u64);
    }
    let elapsed = Arc::clone(&config.elapsed);
    let mut search = Search::new(
        problem,
        &config.search,
        limits.elapsed(move || elapsed() / SEARCH_ENDS),
    );
    search.observe(observer);
    let timeline = Arc::new(Mutex::new(Timeline::default()));
    let recorder = Arc::clone(&timeline);
    search.observe(move |event: &Event| {
        recorder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .on(event)
    });
    let workers = (0..config.workers.max(1))
        .map(|_| Ok(Caller::new(Arc::clone(service), client()?)))
        .collect::<io::Result<Vec<_>>>()?;
    let workers = workers
        .into_iter()
        .map(|mut caller| move |candidate: &Candidate| caller.run(candidate))
        .collect();
    let ended = run_with_workers(&mut search, workers);
    let found = search.finish();
    let mut finish = Finish {
        problem: found.problem,
        archive: found.archive,
        caller: Caller::new(Arc::clone(service), client()?),
        config,
        calls: found.cost,
        lost: ended.err(),
    };
    let findings = finish.probe();
    let tests = finish.tests(findings);
    let timeline = std::mem::take(
        &mut timeline
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .points,
    );
    Ok(Outcome {
        faults: finish.faults(&tests),
        calls: finish.calls,
        evaluations: found.evaluations,
        targets: finish.archive.n_targets(),
        covered: finish.archive.n_covered(),
        statuses: finish.problem.statuses().to_vec(),
        timeline,
        uncovered: finish.uncovered(),
        interrupted: config.interrupt.load(Ordering::Relaxed),
        code: service
            .feedback
            .is_some()
            .then(|| finish.problem.code().coverage()),
        lost: finish.lost,
        tests,
    })
}

/// Covered targets over calls, as points where the number rises.
#[derive(Debug, Default)]
struct Timeline {
    points: Vec<(u64, usize)>,
    calls: u64,
}

impl Timeline {
    fn on(&mut self, event: &Event) {
        if let Event::Evaluated { cost, covered, .. } = event {
            self.calls += cost;
            if self.points.last().is_none_or(|(_, last)| last < covered) {
                self.points.push((self.calls, *covered));
            }
        }
    }
}

/// What comes after the search.
struct Finish<'a> {
    problem: RestProblem,
    archive: Archive<Candidate>,
    caller: Caller,
    config: &'a Config,
    calls: u64,
    lost: Option<Lost>,
}

impl Finish<'_> {
    /// Whether the budget allows more calls before this share of it is used.
    fn has_time(config: &Config, calls: u64, until: f64) -> bool {
        !config.interrupt.load(Ordering::Relaxed)
            && (config.elapsed)() < until
            && config
                .calls
                .is_none_or(|most| (calls as f64) < most as f64 * until)
    }

    fn probe(&mut self) -> Vec<Finding> {
        if self.lost.is_some() {
            return Vec::new();
        }
        let (config, calls) = (self.config, self.calls);
        // Each question costs a few calls; how many is only known afterwards.
        let mut asked = 0;
        let mut left = || {
            asked += 1;
            Self::has_time(config, calls + asked * 4, PROBES_END)
        };
        let report = probe(
            &self.problem,
            &self.archive,
            &mut self.caller,
            config.search.seed,
            config.probes,
            &mut left,
        );
        self.calls += report.calls;
        self.lost = report.lost;
        for finding in &report.findings {
            self.problem.note(finding.fault.clone());
        }
        report.findings
    }

    /// The tests: what the probes found, then what the search covered, in few and short candidates.
    fn tests(&mut self, findings: Vec<Finding>) -> Vec<Test> {
        let mut tests: Vec<Test> = Vec::new();
        for finding in findings {
            let what = format!("{}: {}", finding.fault.kind.title(), finding.fault.cause);
            if let Some(test) = self.run_twice(finding.candidate, vec![what], vec![finding.fault]) {
                tests.push(test);
            }
        }
        for (fault, candidate) in self.shown_by_search(&tests) {
            let candidate = self.shorten(&candidate, &fault);
            let what = format!("{}: {}", fault.kind.title(), fault.cause);
            if let Some(test) = self.run_twice(candidate, vec![what], vec![fault]) {
                tests.push(test);
            }
        }
        for minimal in self.minimize().suite {
            let goals = self.problem.goals();
            let covers = minimal
                .targets
                .iter()
                .filter_map(|target| goals.get(*target));
            let covers = covers.map(|goal| goal.says(&self.problem.api)).collect();
            if let Some(test) = self.run_twice((*minimal.candidate).clone(), covers, Vec::new()) {
                tests.push(test);
            }
        }
        tests.sort_by_key(|test| test.faults.is_empty());
        tests
    }

    /// The faults that have no test yet, with the candidates that showed them in the search.
    fn shown_by_search(&self, tests: &[Test]) -> Vec<(Fault, Candidate)> {
        let goals = self.problem.goals();
        let untested = self.problem.faults().iter().filter(|fault| {
            let shown = |test: &Test| {
                test.faults
                    .iter()
                    .any(|shown| shown.identity() == fault.identity())
            };
            !tests.iter().any(shown)
        });
        untested
            .filter_map(|fault| {
                let goal = goals.find(&Goal::Fault(fault.kind, fault.cause.as_str().into()))?;
                let kept = self.archive.covering(goal)?;
                Some((fault.clone(), (*kept.candidate).clone()))
            })
            .collect()
    }

    /// The candidate without the steps that the fault does not need.
    fn shorten(&mut self, candidate: &Candidate, fault: &Fault) -> Candidate {
        let mut shortest = candidate.clone();
        for at in (0..candidate.steps.len()).rev() {
            let Some(shorter) = shortest.without(at) else {
                continue;
            };
            if self.lost.is_some() || self.config.interrupt.load(Ordering::Relaxed) {
                break;
            }
            match self.caller.run(&shorter) {
                Ok(exchanges) => {
                    self.calls += exchanges.len() as u64;
                    let faults = self.problem.judge(&shorter, &exchanges);
                    if faults
                        .iter()
                        .any(|shown| shown.identity() == fault.identity())
                    {
                        shortest = shorter;
                    }
                }
                Err(lost) => self.lost = Some(lost),
            }
        }
        shortest
    }

    fn minimize(&mut self) -> Minimized<Candidate> {
        let (config, caller, lost, calls) = (
            self.config,
            &mut self.caller,
            &mut self.lost,
            &mut self.calls,
        );
        let wanted: BTreeSet<TargetId> = self
            .problem
            .goals()
            .iter()
            .filter(|(_, goal)| goal.deserves_a_test())
            .map(|(target, _)| target)
            .collect();
        minimize(
            &mut self.problem,
            &self.archive,
            &|target| wanted.contains(&target),
            |candidate| {
                if lost.is_some() || !Self::has_time(config, *calls, 1.0) {
                    return None;
                }
                match caller.run(candidate) {
                    Ok(exchanges) => {
                        *calls += exchanges.len() as u64;
                        Some(exchanges)
                    }
                    Err(gone) => {
                        *lost = Some(gone);
                        None
                    }
                }
            },
        )
    }

    /// Runs a test twice. One that is not answered in the same way both times is not worth keeping; one whose
    /// faults do not show again keeps those that do.
    fn run_twice(
        &mut self,
        candidate: Candidate,
        covers: Vec<String>,
        faults: Vec<Fault>,
    ) -> Option<Test> {
        if self.lost.is_some() {
            return None;
        }
        let mut runs = Vec::with_capacity(2);
        for _ in 0..2 {
            match self.caller.run(&candidate) {
                Ok(exchanges) => {
                    self.calls += exchanges.len() as u64;
                    runs.push(exchanges);
                }
                Err(lost) => {
                    self.lost = Some(lost);
                    return None;
                }
            }
        }
        let again = runs.pop()?;
        let exchanges = runs.pop()?;
        let same = exchanges.len() == again.len()
            && exchanges
                .iter()
                .zip(&again)
                .all(|(a, b)| a.status() == b.status());
        if !same || exchanges.is_empty() {
            return None;
        }
        Some(Test {
            candidate,
            exchanges,
            again,
            covers,
            faults,
        })
    }

    /// All faults, with a test for each that has one.
    fn faults(&self, tests: &[Test]) -> Vec<(Fault, Option<usize>)> {
        let mut faults: Vec<(Fault, Option<usize>)> = self
            .problem
            .faults()
            .iter()
            .map(|fault| {
                let shows = |test: &Test| {
                    test.faults
                        .iter()
                        .any(|shown| shown.identity() == fault.identity())
                };
                (fault.clone(), tests.iter().position(shows))
            })
            .collect();
        faults.sort_by_key(|(fault, _)| FaultKind::ALL.iter().position(|kind| *kind == fault.kind));
        faults
    }

    fn uncovered(&self) -> Vec<(String, f64)> {
        let mut misses: Vec<(String, f64)> = self
            .problem
            .goals()
            .iter()
            .filter(|(target, _)| !self.archive.is_covered(*target))
            .map(|(target, goal)| {
                let nearest = self
                    .archive
                    .best(target)
                    .map_or(0.0, |member| member.score.value());
                (goal.says(&self.problem.api), nearest)
            })
            .collect();
        misses.sort_by(|a, b| b.1.total_cmp(&a.1));
        misses
    }
}
