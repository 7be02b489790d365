//! Reads what a service that is not reset returns before anything is written to it.

use std::sync::Arc;

use isobath_genes::GeneConfig;
use isobath_search::Rng;

use super::Config;
use crate::action::Action;
use crate::caller::{Caller, Service};
use crate::candidate::{Candidate, StepKind};
use crate::disruption::may_end_session;
use crate::exchange::Exchange;

/// The most of the budget that is used for it.
const SHARE: f64 = 0.03;

/// Calls each GET without path parameters once; [`Service::first_looks`] keeps the responses. Returns the number of
/// calls. Where the service is reset before each candidate, every look is a first one.
pub(super) fn look_first(service: &Arc<Service>, caller: &mut Caller, config: &Config) -> u64 {
    if service.is_reset() {
        return 0;
    }
    let mut rng = Rng::with_seed(config.search.seed);
    let tuning = GeneConfig {
        optional: 0.0,
        ..config.sampling.tuning.clone()
    };
    let mut calls = 0;
    for (operation, one) in service.api.operations.iter().enumerate() {
        let of_calls = config
            .calls
            .map_or(0.0, |most| calls as f64 / most.max(1) as f64);
        if (config.elapsed)().max(of_calls) >= SHARE {
            break;
        }
        if &*one.method != "GET"
            || one.path.contains('{')
            || may_end_session(&service.api, operation)
        {
            continue;
        }
        let Some(action) = Action::sample(&service.api, operation, &mut rng, &tuning) else {
            continue;
        };
        let mut candidate = Candidate::default();
        let user = (!service.sessions.is_empty()).then_some(0);
        let (breach, input) = (None, action.gene.clone());
        candidate.push(StepKind::Call { action, breach }, user);
        match caller.run(&candidate) {
            Ok(exchanges) => {
                calls += exchanges.len() as u64;
                if exchanges.iter().all(Exchange::succeeded) {
                    let body = exchanges.first().and_then(|one| one.body.as_ref());
                    service.first_looks.note_input(operation, input, body);
                }
            }
            // The search will meet it, too, and tells it.
            Err(_) => break,
        }
    }
    calls
}
