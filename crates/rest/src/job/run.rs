//! A run, from the first call to its result.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isobath_exec::http::Client;
use isobath_search::{
    Budget, Observer, Search, SearchEvent, StopReason, run as run_alone, run_with_workers,
};

use super::event::{Event, EventReporter, Stage, unexplained};
use super::finish::Finish;
use super::shares::BudgetShares;
use super::{Config, DatabaseFindings, RunResult};
use crate::caller::{Caller, Service, ServiceLost};
use crate::candidate::Candidate;
use crate::db_oracle::{DatabaseOracle, drift};
use crate::external::{MockCatalog, OutboundRequest, OutboundTally};
use crate::feedback::CodeTargets;
use crate::oracle::Oracle;
use crate::problem::RestProblem;
use crate::seeding::{LiveDatabase, RowSeeder};

/// The most of the budget that a run which is resumed counts as used: tests are verified anew.
pub const SEARCH_ENDS: f64 = 0.6;

/// How many candidates should be on their way at once for so many workers to be busy.
///
/// Twice as many as there are workers keep them busy also when some candidates take longer than others.
#[must_use]
pub fn in_flight(workers: usize) -> usize {
    if workers > 1 { workers * 2 } else { 1 }
}

/// Makes a client whose calls end when the flag is raised.
pub type ClientMaker<'a> = dyn Fn(&Arc<AtomicBool>) -> io::Result<Client> + 'a;

/// Runs the job; `client` makes the client of each worker, and `sink` hears what happens.
///
/// # Errors
///
/// When no client can be made. A service that goes away ends the run, not the result.
pub fn run(
    service: &Arc<Service>,
    client: &ClientMaker<'_>,
    config: &Config,
    sink: impl FnMut(&Event<'_>) + 'static,
) -> io::Result<RunResult> {
    let reporter = EventReporter::new(Box::new(sink), config.previous.as_ref());
    let reporter = Rc::new(RefCell::new(reporter));
    let shares = Arc::new(BudgetShares::default());
    let mut search = search(service, config, &shares);
    search.observe(SearchListener {
        shares,
        reporter: Rc::clone(&reporter),
        service: Arc::clone(service),
    });
    let (mut spent, mut calls) = (0, 0);
    if let Some(earlier) = &config.previous {
        reporter.borrow_mut().stage(Stage::Resume);
        (spent, calls) = (earlier.spent(config.calls), earlier.calls());
        search.resume(earlier.candidates.iter().cloned(), spent);
    }
    let ended = evaluate(&mut search, service, client, config)?;
    let found = search.finish();
    let caller = Caller::new(Arc::clone(service), client(&config.stop)?);
    let mut finish = Finish {
        searched: found.problem.statuses().to_vec(),
        problem: found.problem,
        archive: found.archive,
        caller,
        config,
        reporter: &reporter,
        calls: spent + found.cost - found.resumed_cost,
        reserved_calls: 0,
        unverified: 0,
        unstable: 0,
        lost: ended.err(),
    };
    finish.note(unexplained(service));
    // Probes and tests are few enough to look at the rows around each of their calls.
    service.with_database(LiveDatabase::enable);
    let findings = finish.probe();
    let tests = finish.tests(findings);
    finish.note(unexplained(service));
    // The database is left as it was found; one that is gone was told of before.
    let _ = service.with_database(|database| database.begin(&Candidate::default()));
    let timeline = reporter.borrow_mut().finish();
    let covered = finish.archive.n_covered();
    let uncovered = finish.uncovered();
    Ok(RunResult {
        faults: finish.faults(&tests),
        // Also those that do not count, because they were made for the second time.
        calls: finish.calls - spent + calls + found.resumed_cost,
        evaluations: found.evaluations,
        targets: covered + uncovered.len(),
        covered,
        statuses: finish.statuses(),
        timeline,
        uncovered,
        disruptive: finish.problem.disruption.observed(),
        crashes: service.supervisor.crashes(0),
        unverified: finish.unverified,
        unstable: finish.unstable,
        interrupted: config.interrupt.load(Ordering::Relaxed),
        code: Some(finish.problem.code())
            .filter(|code| !code.is_empty())
            .map(CodeTargets::coverage),
        statements: finish
            .problem
            .code()
            .statements()
            .map(str::to_owned)
            .collect(),
        rows: rows(service, &finish.problem),
        database: service.with_database(|database| database.report()),
        outgoing: outgoing(service, &finish.problem),
        lost: finish.lost,
        tests,
    })
}

/// Passes on what happens in the search.
struct SearchListener {
    shares: Arc<BudgetShares>,
    reporter: Rc<RefCell<EventReporter>>,
    service: Arc<Service>,
}

impl Observer<RestProblem> for SearchListener {
    fn on(&mut self, event: &SearchEvent, problem: &RestProblem) {
        let mut reporter = self.reporter.borrow_mut();
        if let SearchEvent::Evaluated { cost, .. } = event {
            self.shares.note(problem, *cost);
        }
        reporter.on(event, problem, &self.service, self.shares.used());
    }

    fn keep(&mut self, candidate: &Candidate, _problem: &RestProblem) {
        self.reporter.borrow_mut().keep(candidate);
    }
}

/// Outbound requests: mocked ones, and others that the driver observed.
fn outgoing(service: &Service, problem: &RestProblem) -> Vec<(OutboundRequest, OutboundTally)> {
    let answered = service.with_mocks(|mocks| (mocks.tallies(), mocks.endpoints().to_vec()));
    let (mut all, endpoints) = answered.unwrap_or_default();
    all.extend(problem.unmocked().unanswered(&endpoints));
    all
}

/// What was learned about the rows.
fn rows(service: &Service, problem: &RestProblem) -> Option<DatabaseFindings> {
    let judge = problem.db_oracle()?;
    service.with_database(|database| {
        let state = &database.state;
        let tables = state.not_snapshotted().iter();
        DatabaseFindings {
            place: state.display_address().to_owned(),
            constraints: judge.matrix().rows(state.dialect()),
            drift: drift(&service.api, state.schema(), state.dialect()),
            cost: state.cost(),
            not_kept: tables
                .filter_map(|&table| Some(state.schema().tables.get(table)?.name.clone()))
                .collect(),
            limitations: state.limitations().to_vec(),
        }
    })
}

fn search(
    service: &Arc<Service>,
    config: &Config,
    shares: &Arc<BudgetShares>,
) -> Search<RestProblem> {
    let oracle = Oracle::new(&service.api, config.disabled.clone());
    let problem = RestProblem::new(
        Arc::clone(&service.api),
        service.sessions.len(),
        oracle,
        config.sampling.clone(),
    );
    let problem = match service
        .with_driver(|feedback| CodeTargets::new(feedback.targets(), feedback.covered_at_start()))
    {
        Some(code) => problem.with_code(code),
        None => problem,
    };
    let seeder =
        service.with_database(|database| RowSeeder::new(database.ground(), database.config()));
    let problem = match seeder {
        Some(seeder) => problem.with_seeder(seeder),
        None => problem,
    };
    let described = service.with_mocks(|mocks| mocks.documented().to_vec());
    let problem = match described {
        Some(described) => problem.with_mock_catalog(MockCatalog::new(described)),
        None => problem,
    };
    let judge = service
        .with_database(|database| DatabaseOracle::new(database.state.schema().clone().into()));
    let problem = match judge {
        Some(judge) => problem.with_db_oracle(judge),
        None => problem,
    };
    let mut limits = Budget::default().interrupt(Arc::clone(&config.interrupt));
    if let Some(calls) = config.calls {
        limits = limits.cost(calls);
    }
    let elapsed = Arc::clone(&config.elapsed);
    let (shares, most) = (Arc::clone(shares), config.calls);
    let spent = config
        .previous
        .as_ref()
        .map_or(0, |earlier| earlier.spent(most));
    let limits = limits.elapsed(move || {
        let calls = spent + shares.calls();
        let of_calls = most.map_or(0.0, |most| calls as f64 / most.max(1) as f64);
        let used = elapsed().max(of_calls);
        shares.share_of_search(used)
    });
    Search::new(problem, &config.search, limits)
}

/// Evaluates candidates until the search ends or the service is lost.
fn evaluate(
    search: &mut Search<RestProblem>,
    service: &Arc<Service>,
    client: &ClientMaker<'_>,
    config: &Config,
) -> io::Result<Result<StopReason, ServiceLost>> {
    let caller = || Ok(Caller::new(Arc::clone(service), client(&config.interrupt)?));
    if config.workers <= 1 {
        // Without a thread of its own for the calls, nobody has to be woken for each of them.
        let mut caller = caller()?;
        return Ok(run_alone(search, |candidate| caller.run(candidate)));
    }
    let callers = (0..config.workers)
        .map(|_| caller())
        .collect::<io::Result<Vec<_>>>()?;
    let workers = callers
        .into_iter()
        .map(|mut caller| move |candidate: &Candidate| caller.run(candidate))
        .collect();
    Ok(run_with_workers(search, workers))
}
