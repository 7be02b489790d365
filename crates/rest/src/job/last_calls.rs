//! Calls of disruptive operations, after everything else.

use std::io;
use std::sync::Arc;

use isobath_genes::GeneConfig;
use isobath_search::Rng;

use super::ClientMaker;
use crate::action::Action;
use crate::caller::{Caller, Service};
use crate::candidate::{Candidate, StepKind};
use crate::disruption::may_end_session;

/// Calls each operation that sounds as if it ended the session or the service for everybody, once; says which
/// operation answered what.
///
/// # Errors
///
/// When no client can be made.
pub fn call_disruptive(
    service: &Arc<Service>,
    client: &ClientMaker<'_>,
    seed: u64,
) -> io::Result<Vec<(usize, u16)>> {
    let api = Arc::clone(&service.api);
    let disruptive: Vec<usize> = (0..api.operations.len())
        .filter(|&operation| may_end_session(&api, operation))
        .collect();
    if disruptive.is_empty() {
        return Ok(Vec::new());
    }
    let mut caller = Caller::new(Arc::clone(service), client(&Arc::default())?);
    let mut rng = Rng::with_seed(seed);
    let mut statuses = Vec::new();
    for operation in disruptive {
        let action = Action::sample(&api, operation, &mut rng, &GeneConfig::default());
        let Some(action) = action else { continue };
        let mut candidate = Candidate::default();
        let user = (!service.sessions.is_empty()).then_some(0);
        let breach = None;
        candidate.push(StepKind::Call { action, breach }, user);
        // A service that is gone after such a call did what it was asked for.
        let Ok(exchanges) = caller.run(&candidate) else {
            break;
        };
        let answered = exchanges.iter().filter_map(|exchange| exchange.status());
        statuses.extend(answered.map(|status| (operation, status)));
    }
    Ok(statuses)
}
