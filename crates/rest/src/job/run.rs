//! A run, from the first call to its result.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isobath_exec::http::Client;
use isobath_exec::mock::MockEndpoint;
use isobath_exec::test_database::StateCost;
use isobath_search::{
    Budget, Observer, Search, SearchEvent, StopReason, TargetId, run as run_alone, run_with_workers,
};

use super::event::{Event, EventReporter, Stage, unexplained};
use super::finish::Finish;
use super::first_calls::look_first;
use super::probing::run_probes;
use super::shares::{BudgetShares, Pace, runner_start, used, verification_share};
use super::{Config, DatabaseFindings, JobPart, RunResult};
use crate::caller::{Caller, Service, ServiceLost};
use crate::candidate::Candidate;
use crate::db_oracle::{DatabaseOracle, drift};
use crate::external::{MockCatalog, Mocks, OutboundRequest, OutboundTally};
use crate::feedback::CodeTargets;
use crate::oracle::Oracle;
use crate::probe::ProbeReport;
use crate::problem::RestProblem;
use crate::seeding::{DatabaseReport, RowSeeder};

/// The most of the budget that a run which is resumed counts as used: tests are verified anew.
pub const SEARCH_ENDS: f64 = 0.6;

/// What comes after the search takes so many times the share that verification takes: faults are shortened, tests are
/// made readable, and the suites are run by their own test runners.
const RUNS_AFTER_SEARCH: f64 = 4.0;

/// So many calls are always kept for what comes after the search, up to this share of the budget.
const FEW_CALLS: f64 = 20.0;
const MAX_FEW_CALLS: f64 = 0.25;

/// How many candidates should be on their way at once for so many workers to be busy.
///
/// Four times as many as there are workers keep them busy also when some candidates take longer than others.
#[must_use]
pub fn in_flight(workers: usize) -> usize {
    if workers > 1 { workers * 4 } else { 1 }
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
    let shares = Arc::new(BudgetShares::new(config));
    let mut search = search(service, config, &shares);
    search.observe(SearchListener {
        shares: Arc::clone(&shares),
        reporter: Rc::clone(&reporter),
        services: services(service, config).cloned().collect(),
    });
    if let Some(imports) = config.imports.clone() {
        search.import_from(Box::new(move || imports()));
    }
    let (mut spent, mut calls) = (0, 0);
    if let Some(earlier) = &config.previous {
        reporter.borrow_mut().stage(Stage::Resume);
        (spent, calls) = (earlier.spent(config.calls), earlier.calls());
        search.resume(earlier.candidates.iter().cloned(), spent);
        if earlier.searched {
            shares.skip_search();
        }
    }
    let mut caller = Caller::new(Arc::clone(service), client(&config.interrupt)?);
    let looked = look_first(service, &mut caller, config);
    (spent, calls) = (spent + looked, calls + looked);
    let mut ended = evaluate(&mut search, service, client, config)?;
    let mut caller =
        Caller::new(Arc::clone(service), client(&config.stop)?).with_seed(config.search.seed);
    let mut probed = ProbeReport::default();
    let uniform_answer = shares.uniform_answer();
    if ended.is_ok() && uniform_answer.is_none() && config.part != JobPart::Search {
        // Probes and tests are few enough to look at the rows around each of their calls.
        service.with_database(|database| database.watch_every_call(true));
        probed = run_probes(
            &search,
            &mut caller,
            config,
            &reporter,
            spent + search.cost(),
            shares.per_single_call(shares.used()),
        );
        if probed.lost.is_none() && config.part == JobPart::Whole {
            // What the probes did not need goes back to the search.
            let (problem, archive) = (search.problem(), search.archive());
            let per_call = shares.per_single_call(shares.used());
            let reserve = verification_share(problem, archive, config, per_call);
            let few = FEW_CALLS * per_call;
            let reserve = (RUNS_AFTER_SEARCH * reserve).max(few.min(MAX_FEW_CALLS));
            shares.end_probes(probed.calls, reserve + runner_start(config.time));
            service.with_database(|database| database.watch_every_call(false));
            search.extend(|problem| problem.disruption.forget_last_write());
            ended = evaluate(&mut search, service, client, config)?;
            service.with_database(|database| database.watch_every_call(true));
        }
    }
    let found = search.finish();
    let calls_so_far = spent + found.cost - found.resumed_cost + probed.calls;
    let used_so_far = used(config, calls_so_far);
    let mut finish = Finish {
        searched: found.problem.statuses().clone(),
        problem: found.problem,
        archive: found.archive,
        caller,
        config,
        reporter: &reporter,
        calls: calls_so_far,
        pace: Pace::after(
            shares.per_single_call(used_so_far),
            calls_so_far,
            used_so_far,
        ),
        reserved_calls: 0,
        kept_calls: 0,
        kept_logins: Duration::ZERO,
        unverified: 0,
        unstable: 0,
        state_dependent: 0,
        not_shown_again: BTreeSet::new(),
        needs_state: BTreeSet::new(),
        dependent: Vec::new(),
        lost: probed.lost.or(ended.err()),
    };
    finish.note(services(service, config).flat_map(|service| unexplained(service)));
    let findings = probed.findings;
    finish.note(findings.iter().map(|finding| finding.fault.clone()));
    // What is not the service shows no faults of it, and nothing worth keeping.
    let tests = match uniform_answer {
        Some(_) => Vec::new(),
        None if config.part == JobPart::Search => Vec::new(),
        None => {
            finish.learn_unique_texts();
            finish.tests(findings)
        }
    };
    finish.note(unexplained(service));
    // The database is left as it was found; one that is gone was told of before.
    let is_lost = finish.lost.is_some();
    service.with_database(|database| {
        let restored = database.begin(&Candidate::default());
        if let (Err(error), false) = (restored, is_lost) {
            database.note_reset_failure(&error);
        }
    });
    let timeline = reporter.borrow_mut().finish();
    let needs_rows = finish.needs_rows(&tests);
    let covered = finish.archive.n_covered();
    let uncovered = finish.uncovered();
    Ok(RunResult {
        faults: match uniform_answer {
            Some(_) => Vec::new(),
            // They are those of the merge, which verifies them.
            None if config.part == JobPart::Search => Vec::new(),
            None => finish.faults(&tests),
        },
        uniform_answer,
        // Also those that do not count, because they were made for the second time.
        calls: finish.calls - spent + calls + found.resumed_cost,
        evaluations: found.evaluations,
        targets: covered + uncovered.len(),
        covered,
        statuses: finish.statuses().into_vec(),
        timeline,
        uncovered,
        disruptive: finish.problem.disruption.observed(),
        login_changes: finish.problem.disruption.login_changes(),
        slow: finish.problem.latencies.slow_operations(),
        crashes: services(service, config)
            .flat_map(|service| service.supervisor.crashes(0))
            .collect(),
        unverified: finish.unverified,
        unstable: finish.unstable,
        state_dependent: finish.state_dependent,
        not_shown_again: std::mem::take(&mut finish.not_shown_again),
        needs_state: std::mem::take(&mut finish.needs_state),
        dependent: std::mem::take(&mut finish.dependent),
        needs_rows,
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
        rows: rows(service, config, &finish.problem),
        database: services(service, config)
            .filter_map(|service| service.with_database(|database| database.report()))
            .reduce(DatabaseReport::merge),
        outgoing: outgoing(service, config, &finish.problem),
        lost: finish.lost,
        tests,
    })
}

/// The service and its copies.
fn services<'a>(
    service: &'a Arc<Service>,
    config: &'a Config,
) -> impl Iterator<Item = &'a Arc<Service>> + Clone {
    std::iter::once(service).chain(&config.copies)
}

/// Passes on what happens in the search.
struct SearchListener {
    shares: Arc<BudgetShares>,
    reporter: Rc<RefCell<EventReporter>>,
    services: Vec<Arc<Service>>,
}

impl Observer<RestProblem> for SearchListener {
    fn on(&mut self, event: &SearchEvent, problem: &RestProblem) {
        let mut reporter = self.reporter.borrow_mut();
        if let SearchEvent::Evaluated { cost, .. } = event {
            self.shares.note(problem, *cost);
        }
        reporter.on(event, problem, &self.services, self.shares.used());
    }

    fn keep(&mut self, candidate: &Candidate, covered: &[TargetId], problem: &RestProblem) {
        self.reporter.borrow_mut().keep(candidate, covered, problem);
    }
}

/// Outbound requests: mocked ones, and others that the driver observed.
fn outgoing(
    service: &Arc<Service>,
    config: &Config,
    problem: &RestProblem,
) -> Vec<(OutboundRequest, OutboundTally)> {
    let mut answered: BTreeMap<OutboundRequest, OutboundTally> = BTreeMap::new();
    for service in services(service, config) {
        for (request, tally) in service.with_mocks(Mocks::tallies).unwrap_or_default() {
            answered.entry(request).or_default().add(tally);
        }
    }
    let endpoints: Vec<MockEndpoint> = services(service, config)
        .filter_map(|service| service.with_mocks(|mocks| mocks.endpoints().to_vec()))
        .flatten()
        .collect();
    let mut all: Vec<_> = answered.into_iter().collect();
    all.extend(problem.unmocked().unanswered(&endpoints));
    all
}

/// What was learned about the rows.
fn rows(service: &Service, config: &Config, problem: &RestProblem) -> Option<DatabaseFindings> {
    let judge = problem.db_oracle()?;
    service.with_database(|database| {
        let state = &database.state;
        let tables = state.not_snapshotted().iter();
        let costs = config
            .copies
            .iter()
            .filter_map(|copy| copy.with_database(|database| database.state.cost()));
        DatabaseFindings {
            place: state.display_address().to_owned(),
            constraints: judge.matrix().rows(state.dialect()),
            drift: drift(&service.api, state.schema(), state.dialect()),
            cost: costs.fold(state.cost(), StateCost::plus),
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
    // Where the budget is calls, nothing may depend on time.
    let problem = match config.calls {
        Some(_) => problem,
        None => problem.with_latencies(),
    };
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
    let caller = |service: &Arc<Service>| -> io::Result<Caller> {
        Ok(Caller::new(Arc::clone(service), client(&config.interrupt)?))
    };
    let n_callers = config.parallel_calls();
    if n_callers <= 1 {
        // Without a thread of its own for the calls, nobody has to be woken for each of them.
        let mut caller = caller(service)?;
        return Ok(run_alone(search, |candidate| caller.run(candidate)));
    }
    // An instance each, or all on the one service.
    let instances = services(service, config).cycle().take(n_callers);
    let callers = instances.map(caller).collect::<io::Result<Vec<_>>>()?;
    let workers = callers
        .into_iter()
        .map(|mut caller| move |candidate: &Candidate| caller.run(candidate))
        .collect();
    Ok(run_with_workers(search, workers))
}
