//! Probes between the two parts of the search, in their share of the budget.

use std::cell::RefCell;

use isobath_search::Search;

use super::Config;
use super::event::{EventReporter, Stage};
use super::shares::{has_time, probe_share, used, verification_share};
use super::unique::learn_unique_texts;
use crate::caller::Caller;
use crate::probe::{ProbeReport, probe};
use crate::problem::RestProblem;

/// The share of the budget at which the probes end at the latest.
const PROBES_END: f64 = 0.9;

/// Probes what the search covered, after so many calls, when one uses such a share of the budget.
pub(super) fn run_probes(
    search: &Search<RestProblem>,
    caller: &mut Caller,
    config: &Config,
    reporter: &RefCell<EventReporter>,
    calls: u64,
    per_call: f64,
) -> ProbeReport {
    let (problem, archive) = (search.problem(), search.archive());
    let used_before = used(config, calls);
    let is_success = |status: &u16| (200..300).contains(status);
    let statuses = problem.statuses().iter();
    let succeeded = statuses.filter(|statuses| statuses.keys().any(is_success));
    let planned = used_before + probe_share(per_call, succeeded.count() as u64);
    // Probes that look at rows find more with every input; all others are soon done, and the rest is for the search.
    let reserve = verification_share(problem, archive, config, per_call);
    let end = match caller.service().database {
        Some(_) => PROBES_END.min((1.0 - reserve).max(planned)),
        None => PROBES_END.min(planned),
    };
    if !has_time(config, calls, end) {
        return ProbeReport::default();
    }
    reporter.borrow_mut().stage(Stage::Probe);
    let mut told = 0;
    let mut left = |add_calls: u64| {
        let calls = calls + add_calls;
        let new = add_calls - told.min(add_calls);
        told = told.max(add_calls);
        reporter.borrow_mut().add_calls(new, used(config, calls));
        has_time(config, calls, end)
    };
    // What is created under a name that the service has already is refused, and could not be probed.
    let learned = match learn_unique_texts(problem, archive, caller, &mut left) {
        Ok(learned) => learned,
        Err(lost) => {
            return ProbeReport {
                lost: Some(lost),
                ..ProbeReport::default()
            };
        }
    };
    let mut left_for_probes = |add_calls: u64| left(learned + add_calls);
    let seed = config.search.seed;
    let mut report = probe(
        problem,
        archive,
        caller,
        seed,
        config.probes,
        &mut left_for_probes,
    );
    report.calls += learned;
    left(report.calls);
    report
}
