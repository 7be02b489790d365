//! A run from its first call to its outcome.

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
use super::{Config, DatabaseFindings, RunResult};
use crate::caller::{Caller, Service, ServiceLost};
use crate::candidate::Candidate;
use crate::db_oracle::{DatabaseOracle, drift};
use crate::external::{MockCatalog, OutboundRequest, OutboundTally};
use crate::feedback::CodeTargets;
use crate::oracle::Oracle;
use crate::problem::RestProblem;
use crate::seeding::{LiveDatabase, RowSeeder};

/// The share of the budget at which the search ends.
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

/// Runs the job; `client` makes the client of each worker, and `tell` hears what happens.
///
/// # Errors
///
/// When no client can be made. A service that goes away ends the run, not the result.
pub fn run(
    service: &Arc<Service>,
    client: &ClientMaker<'_>,
    config: &Config,
    tell: impl FnMut(&Event<'_>) + 'static,
) -> io::Result<RunResult> {
    let reporter = EventReporter::new(Box::new(tell), config.earlier.as_ref());
    let reporter = Rc::new(RefCell::new(reporter));
    let mut search = search(service, config);
    search.observe(SearchListener {
        reporter: Rc::clone(&reporter),
        service: Arc::clone(service),
    });
    let (mut spent, mut calls) = (0, 0);
    if let Some(earlier) = &config.earlier {
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
    reporter: Rc<RefCell<EventReporter>>,
    service: Arc<Service>,
}

impl Observer<RestProblem> for SearchListener {
    fn on(&mut self, event: &SearchEvent, problem: &RestProblem) {
        let mut reporter = self.reporter.borrow_mut();
        reporter.on(event, problem, &self.service, SEARCH_ENDS);
    }

    fn keep(&mut self, candidate: &Candidate, _problem: &RestProblem) {
        self.reporter.borrow_mut().keep(candidate);
    }
}

/// What the service asked of others: what we answered, and what a driver told of besides.
fn outgoing(service: &Service, problem: &RestProblem) -> Vec<(OutboundRequest, OutboundTally)> {
    let answered = service.with_mocks(|mocks| (mocks.tallies(), mocks.stations().to_vec()));
    let (mut all, stations) = answered.unwrap_or_default();
    all.extend(problem.called().unanswered(&stations));
    all
}

/// What was learned about the rows.
fn rows(service: &Service, problem: &RestProblem) -> Option<DatabaseFindings> {
    let judge = problem.rows()?;
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

fn search(service: &Arc<Service>, config: &Config) -> Search<RestProblem> {
    let oracle = Oracle::new(&service.api, config.off.clone());
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
    let described = service.with_mocks(|mocks| mocks.described().to_vec());
    let problem = match described {
        Some(described) => problem.with_mock_catalog(MockCatalog::new(described)),
        None => problem,
    };
    let judge = service
        .with_database(|database| DatabaseOracle::new(database.state.schema().clone().into()));
    let problem = match judge {
        Some(judge) => problem.with_rows(judge),
        None => problem,
    };
    let mut limits = Budget::default().interrupt(Arc::clone(&config.interrupt));
    if let Some(calls) = config.calls {
        limits = limits.cost((calls as f64 * SEARCH_ENDS) as u64);
    }
    let elapsed = Arc::clone(&config.elapsed);
    let limits = limits.elapsed(move || elapsed() / SEARCH_ENDS);
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
