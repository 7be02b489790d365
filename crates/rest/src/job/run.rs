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

use super::event::{Event, Stage, Teller, unexplained};
use super::finish::Finish;
use super::{Config, Outcome, Rows};
use crate::caller::{Caller, Lost, Service};
use crate::candidate::Candidate;
use crate::data::{Data, Supply};
use crate::feedback::Code;
use crate::oracle::Oracle;
use crate::outside::{Errand, Repertoire, Tally};
use crate::problem::RestProblem;
use crate::state::{Judge, drift};

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
) -> io::Result<Outcome> {
    let teller = Teller::new(Box::new(tell), config.earlier.as_ref());
    let teller = Rc::new(RefCell::new(teller));
    let mut search = search(service, config);
    search.observe(Hearing {
        teller: Rc::clone(&teller),
        service: Arc::clone(service),
    });
    let (mut spent, mut calls) = (0, 0);
    if let Some(earlier) = &config.earlier {
        teller.borrow_mut().stage(Stage::Resume);
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
        teller: &teller,
        calls: spent + found.cost - found.resumed_cost,
        unverified: 0,
        unstable: 0,
        lost: ended.err(),
    };
    finish.note(unexplained(service));
    // Probes and tests are few enough to look at the rows around each of their calls.
    service.beneath(Data::wake);
    let findings = finish.probe();
    let tests = finish.tests(findings);
    finish.note(unexplained(service));
    // The database is left as it was found; one that is gone was told of before.
    let _ = service.beneath(|data| data.begin(&Candidate::default()));
    let timeline = teller.borrow_mut().finish();
    let covered = finish.archive.n_covered();
    let uncovered = finish.uncovered();
    Ok(Outcome {
        faults: finish.faults(&tests),
        // Also those that do not count, because they were made for the second time.
        calls: finish.calls - spent + calls + found.resumed_cost,
        evaluations: found.evaluations,
        targets: covered + uncovered.len(),
        covered,
        statuses: finish.statuses(),
        timeline,
        uncovered,
        deaths: service.keeper.deaths(0),
        unverified: finish.unverified,
        unstable: finish.unstable,
        interrupted: config.interrupt.load(Ordering::Relaxed),
        code: Some(finish.problem.code())
            .filter(|code| !code.is_empty())
            .map(Code::coverage),
        statements: finish
            .problem
            .code()
            .statements()
            .map(str::to_owned)
            .collect(),
        rows: rows(service, &finish.problem),
        data: service.beneath(|data| data.report()),
        outgoing: outgoing(service, &finish.problem),
        lost: finish.lost,
        tests,
    })
}

/// Passes on what happens in the search.
struct Hearing {
    teller: Rc<RefCell<Teller>>,
    service: Arc<Service>,
}

impl Observer<RestProblem> for Hearing {
    fn on(&mut self, event: &SearchEvent, problem: &RestProblem) {
        let mut teller = self.teller.borrow_mut();
        teller.on(event, problem, &self.service, SEARCH_ENDS);
    }

    fn keep(&mut self, candidate: &Candidate, _problem: &RestProblem) {
        self.teller.borrow_mut().keep(candidate);
    }
}

/// What the service asked of others: what we answered, and what a driver told of besides.
fn outgoing(service: &Service, problem: &RestProblem) -> Vec<(Errand, Tally)> {
    let answered = service.outwards(|outside| (outside.tallies(), outside.stations().to_vec()));
    let (mut all, stations) = answered.unwrap_or_default();
    all.extend(problem.called().unanswered(&stations));
    all
}

/// What was learned about the rows.
fn rows(service: &Service, problem: &RestProblem) -> Option<Rows> {
    let judge = problem.rows()?;
    service.beneath(|data| {
        let state = &data.state;
        let tables = state.not_snapshotted().iter();
        Rows {
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
        config.habits.clone(),
    );
    let problem =
        match service.inside(|feedback| Code::new(feedback.targets(), feedback.at_start())) {
            Some(code) => problem.with_code(code),
            None => problem,
        };
    let supply = service.beneath(|data| Supply::new(data.ground(), data.choice()));
    let problem = match supply {
        Some(supply) => problem.with_data(supply),
        None => problem,
    };
    let described = service.outwards(|outside| outside.described().to_vec());
    let problem = match described {
        Some(described) => problem.with_outside(Repertoire::new(described)),
        None => problem,
    };
    let judge = service.beneath(|data| Judge::new(data.state.schema().clone().into()));
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
) -> io::Result<Result<StopReason, Lost>> {
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
