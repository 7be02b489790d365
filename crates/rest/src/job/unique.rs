//! Learns which texts a service accepts only once, where nothing resets it.

use std::collections::{BTreeMap, BTreeSet};

use isobath_exec::http::Method;
use isobath_search::{Archive, TargetId};
use serde_json::Value;

use super::leftovers::is_identifier;
use crate::caller::{Caller, ServiceLost};
use crate::candidate::{Candidate, Step};
use crate::exchange::Exchange;
use crate::problem::RestProblem;
use crate::target::Target;
use crate::unique::possible_places;

/// Places of an operation that are tried alone, and repairs of one candidate.
const ALONE: usize = 5;
const REPAIRS: usize = 3;
const CREATED: u16 = 201;

/// Runs what created something once more. What is refused now, and accepted with other texts, names things that the
/// service still has: these texts are different in every run from now on.
///
/// `left` says whether there is time after so many calls. Returns the number of calls.
///
/// # Errors
///
/// When the service is unreachable.
pub(super) fn learn_unique_texts(
    problem: &RestProblem,
    archive: &Archive<Candidate>,
    caller: &mut Caller,
    left: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, ServiceLost> {
    let mut learner = Learner { caller, calls: 0 };
    if learner.caller.service().is_reset() {
        return Ok(0);
    }
    let mut successes: Vec<(usize, u16, TargetId)> = problem
        .targets()
        .iter()
        .filter_map(|(id, target)| match *target {
            Target::Status(operation, status @ 200..300) => Some((operation, status, id)),
            _ => None,
        })
        .collect();
    // A service that has a thing already may say so by a 200 in place of a 201.
    successes.sort_by_key(|(_, status, _)| *status != CREATED);
    let mut creators: Vec<Creator> = Vec::new();
    for (operation, status, id) in successes {
        let method = problem
            .api
            .operations
            .get(operation)
            .map(|one| &*one.method);
        let kept = archive.covering(id);
        let Some(kept) = kept.filter(|_| matches!(method, Some("POST" | "PUT"))) else {
            continue;
        };
        if !learner.caller.unique_texts().begin(operation) {
            continue;
        }
        let shows = |step: &Step| step.operation() == Some(operation);
        if let Some(at) = kept.candidate.steps.iter().rposition(shows) {
            let candidate = kept.candidate.slice(at);
            creators.push(Creator { candidate, status });
        }
    }
    // What others need first.
    creators.sort_by_key(|creator| creator.candidate.steps.len());
    for creator in creators {
        for _ in 0..REPAIRS {
            if !left(learner.calls) {
                return Ok(learner.calls);
            }
            if !learner.learn_from(&creator)? {
                break;
            }
        }
    }
    Ok(learner.calls)
}

/// What created something, and the status that its last step had.
struct Creator {
    candidate: Candidate,
    status: u16,
}

impl Creator {
    /// Whether a step was answered as when it created something.
    fn is_created(&self, exchange: &Exchange) -> bool {
        let is_last = self.candidate.steps.last().map(|step| step.id) == Some(exchange.step);
        let is_other = is_last && self.status == CREATED && exchange.status() != Some(CREATED);
        exchange.succeeded() && !is_other
    }
}

struct Learner<'a> {
    caller: &'a mut Caller,
    calls: u64,
}

impl Learner<'_> {
    fn run(&mut self, candidate: &Candidate) -> Result<Vec<Exchange>, ServiceLost> {
        let exchanges = self.caller.run(candidate)?;
        self.calls += exchanges.len() as u64;
        Ok(exchanges)
    }

    /// Whether the candidate had a step that was refused and is accepted with texts of its own.
    fn learn_from(&mut self, creator: &Creator) -> Result<bool, ServiceLost> {
        let exchanges = self.run(&creator.candidate)?;
        let mut all = exchanges.iter();
        let Some(refused) = all.find(|exchange| !creator.is_created(exchange)) else {
            self.learn_found(creator, &exchanges)?;
            return Ok(false);
        };
        let (step, operation) = (refused.step, refused.operation);
        let Some(operation) = operation.filter(|one| !self.caller.unique_texts().knows(*one))
        else {
            return Ok(false);
        };
        let places = possible_places(&creator.candidate, step);
        let all: BTreeSet<String> = places.iter().cloned().collect();
        if all.is_empty() || !self.succeeds_with(creator, step, operation, all.clone())? {
            self.caller.unique_texts().set(operation, BTreeSet::new());
            return Ok(false);
        }
        for place in places.into_iter().take(ALONE) {
            if self.succeeds_with(creator, step, operation, BTreeSet::from([place]))? {
                return Ok(true);
            }
        }
        self.caller.unique_texts().set(operation, all);
        Ok(true)
    }

    /// Looks at a POST that was accepted again: one that finds what is there under the name that it was sent would find
    /// what other tests did to it.
    fn learn_found(
        &mut self,
        creator: &Creator,
        exchanges: &[Exchange],
    ) -> Result<(), ServiceLost> {
        let Some((last, operation)) = exchanges
            .last()
            .filter(|last| last.request.method == Method::POST)
            .and_then(|last| Some((last, last.operation?)))
        else {
            return Ok(());
        };
        let returned = last.body.as_ref().map(identifiers).unwrap_or_default();
        let is_returned = |place: &String| {
            let sent = last.sent.as_ref().and_then(|sent| sent.pointer(place));
            sent.is_some_and(|sent| returned.values().any(|value| value == sent))
        };
        let places = possible_places(&creator.candidate, last.step).into_iter();
        let places: BTreeSet<String> = places.filter(is_returned).collect();
        if places.is_empty() || self.caller.unique_texts().knows(operation) {
            return Ok(());
        }
        let again = self.run(&creator.candidate)?;
        let again = again.last().and_then(|again| again.body.as_ref());
        // Something new has an identifier of its own.
        if again.map(identifiers).unwrap_or_default() == returned
            && !self.succeeds_with(creator, last.step, operation, places)?
        {
            self.caller.unique_texts().set(operation, BTreeSet::new());
        }
        Ok(())
    }

    fn succeeds_with(
        &mut self,
        creator: &Creator,
        step: u32,
        operation: usize,
        places: BTreeSet<String>,
    ) -> Result<bool, ServiceLost> {
        self.caller.unique_texts().set(operation, places);
        let exchanges = self.run(&creator.candidate)?;
        let mut exchanges = exchanges.iter();
        Ok(exchanges
            .find(|exchange| exchange.step == step)
            .is_some_and(|exchange| creator.is_created(exchange)))
    }
}

/// What identifies things in a response, by place.
fn identifiers(body: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut left = vec![(String::new(), body)];
    while let Some((place, value)) = left.pop() {
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                left.extend(items.map(|(at, item)| (format!("{place}/{at}"), item)));
            }
            Value::Object(members) => {
                let members = members.iter();
                left.extend(members.map(|(name, value)| (format!("{place}/{name}"), value)));
            }
            Value::String(_) | Value::Number(_) if is_identifier(&place) => {
                found.insert(place, value.clone());
            }
            _ => {}
        }
    }
    found
}
