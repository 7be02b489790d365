//! HTTP semantics: safe, idempotent and effective methods.

use std::collections::BTreeSet;
use std::time::Duration;

use isobath_exec::http::Method;
use isobath_genes::{Gene, GeneConfig, Value as GeneValue};
use serde_json::Value;

use crate::candidate::{Candidate, Step, StepKind};
use crate::compare::{differences, is_bookkeeping, is_within};
use crate::exchange::Exchange;
use crate::fault::FaultKind;
use crate::redact;
use crate::resource::Dependency;
use crate::sample::{copy_path, splice};

use super::{BaseCandidate, Prober, is_rejection};

/// Inputs that are tried for each operation.
const VARIANTS: usize = 8;
/// Looks before something is taken for lasting: what was written may take a moment to be seen everywhere.
const LOOKS: usize = 3;
/// Neighbors that a DELETE is tried beside, and how often each.
const NEIGHBORS: usize = 3;
const ATTEMPTS: usize = 6;
/// How long it takes until every value that carries a clock has changed.
const CLOCK_TICK: Duration = Duration::from_millis(1_100);
/// How many characters of a value are shown.
const SHOWN_VALUE: usize = 200;
/// Updates that are tried for each state in which one may be refused.
const MAX_REJECTIONS: usize = 16;

impl Prober<'_> {
    pub(super) fn state(&mut self, base: &BaseCandidate) {
        match &*self.api.operation(base.operation).method {
            "GET" => self.get_twice(base),
            "DELETE" => self.delete_then_get(base),
            "PUT" => {
                self.put_twice(base);
                self.rejected_updates(base);
            }
            "PATCH" => self.rejected_updates(base),
            "POST" => {
                self.location(base);
                self.retry(base);
            }
            _ => {}
        }
    }

    /// The same request again, as a client does that did not hear the response; rows tell whether it was done twice.
    fn retry(&mut self, base: &BaseCandidate) {
        if !self.checks(FaultKind::DuplicateOnRetry) || self.caller.service().database.is_none() {
            return;
        }
        let mut candidate = base.candidate.clone();
        candidate.push(base.last().kind.clone(), base.last().user);
        self.run(&candidate);
    }

    /// A call that writes, with other inputs: only rows tell which of them it writes well, and the search does not look
    /// at the rows around each call.
    pub(super) fn update_variants(&mut self, base: &BaseCandidate) {
        if !matches!(
            &*self.api.operation(base.operation).method,
            "POST" | "PUT" | "PATCH"
        ) {
            return;
        }
        for _ in 0..VARIANTS {
            let candidate = self.vary(base, true);
            if self.run(&candidate).is_none() {
                return;
            }
        }
    }

    /// A DELETE beside other things of the same kind, with what belongs to them: rows tell whether it took those along.
    pub(super) fn delete_beside_siblings(
        &mut self,
        base: &BaseCandidate,
        base_candidates: &[BaseCandidate],
    ) {
        let operation = self.api.operation(base.operation);
        if &*operation.method != "DELETE" || !self.checks(FaultKind::DeleteTookOthers) {
            return;
        }
        let collection = operation.path.trim_end_matches('/').rsplit_once('/');
        let Some((collection, _)) = collection else {
            return;
        };
        // What is made below the path of what is deleted first: it belongs to others of the kind.
        let mut others: Vec<&BaseCandidate> = base_candidates
            .iter()
            .filter(|other| {
                let other = self.api.operation(other.operation);
                &*other.method == "POST" && other.path.starts_with(collection)
            })
            .collect();
        others
            .sort_by_key(|other| std::cmp::Reverse(self.api.operation(other.operation).path.len()));
        for other in others.into_iter().take(NEIGHBORS) {
            for attempt in 0..ATTEMPTS {
                // Two of a kind may stand in each other's way; other inputs may not.
                let (first, second) = match attempt {
                    0 => (other.candidate.clone(), base.candidate.clone()),
                    // What takes its time at one place may take it later at the same place.
                    1 => (other.candidate.clone(), later(&base.candidate, 60)),
                    2 => (other.candidate.clone(), self.vary(base, false)),
                    _ => (self.vary(other, false), self.vary(base, false)),
                };
                let length = first.steps.len();
                let both = splice(&first, length, &second, 0, usize::MAX);
                let Some(exchanges) = self.run(&both) else {
                    return;
                };
                if exchanges.iter().all(Exchange::succeeded) {
                    break;
                }
            }
        }
    }

    /// A DELETE of what something else was just made to belong to: rows tell what it leaves behind.
    pub(super) fn delete_parent(
        &mut self,
        base: &BaseCandidate,
        base_candidates: &[BaseCandidate],
    ) {
        if &*self.api.operation(base.operation).method != "DELETE" {
            return;
        }
        let references = base.last().input().map(Gene::references);
        let mut references = references.into_iter().flatten();
        let Some((_, delete_then_get)) =
            references.find(|(pointer, _)| pointer.starts_with("/path/"))
        else {
            return;
        };
        let mut steps = base.candidate.steps.iter();
        let maker = steps.find(|step| step.id == delete_then_get.source);
        let Some(maker) = maker.and_then(Step::operation) else {
            return;
        };
        let mut tried = 0;
        for other in base_candidates {
            let dependencies = self.resources.dependencies(other.operation).iter();
            let belongs = |dependency: &&Dependency| {
                dependency
                    .producers
                    .iter()
                    .any(|from| from.operation == maker)
            };
            let Some(dependency) = dependencies
                .filter(|dependency| !dependency.pointer.starts_with("/path/"))
                .find(belongs)
            else {
                continue;
            };
            if tried == NEIGHBORS || &*self.api.operation(other.operation).method != "POST" {
                continue;
            }
            tried += 1;
            let mut part = other.last().kind.clone();
            if let StepKind::Call { action, .. } = &mut part {
                action.gene.unbind(|_| false);
                action
                    .gene
                    .bind(&dependency.pointer, delete_then_get.clone());
            }
            let mut candidate = base.before();
            candidate.push(part, other.last().user);
            candidate.push(base.last().kind.clone(), base.last().user);
            if self.run(&candidate).is_none() {
                return;
            }
        }
    }

    /// The same GET twice in a row: what was there must still be there.
    fn get_twice(&mut self, base: &BaseCandidate) {
        if !self.checks(FaultKind::GetChangesState) {
            return;
        }
        for attempt in 0..VARIANTS {
            // What is looked at may matter: later attempts make other things to look at.
            let mut candidate = if attempt == 0 {
                base.candidate.clone()
            } else {
                self.vary(base, false)
            };
            candidate.push(base.last().kind.clone(), base.last().user);
            let Some(exchanges) = self.run(&candidate) else {
                return;
            };
            let [earlier @ .., first, second] = exchanges.as_slice() else {
                return;
            };
            if !first.succeeded() {
                continue;
            }
            let changed = rewritten(earlier, first, second);
            // What an earlier candidate did may just have become visible; it will not do so again.
            if !changed.is_empty() && self.rewrites_again(&candidate) {
                let name = self.api.operation(base.operation).name();
                let detail = format!("{name} changes {}, which a client has set", list(&changed));
                let values = values(&changed, first, second);
                self.find_with(
                    FaultKind::GetChangesState,
                    base.operation,
                    detail,
                    values,
                    candidate,
                );
                return;
            }
            // A deletion before may take until now to be seen.
            let was_deleted = earlier
                .iter()
                .any(|exchange| exchange.request.method == Method::DELETE);
            if matches!(second.status(), Some(404 | 410)) && !was_deleted {
                let name = self.api.operation(base.operation).name();
                let detail = format!(
                    "{name} returned {} and, immediately repeated, {}",
                    code(first),
                    code(second)
                );
                self.find(
                    FaultKind::GetChangesState,
                    base.operation,
                    detail,
                    candidate,
                );
                return;
            }
            if base.candidate.steps.len() == 1 {
                return;
            }
        }
    }

    fn rewrites_again(&mut self, candidate: &Candidate) -> bool {
        let Some(exchanges) = self.run(candidate) else {
            return false;
        };
        match exchanges.as_slice() {
            [earlier @ .., first, second] if first.succeeded() => {
                !rewritten(earlier, first, second).is_empty()
            }
            _ => false,
        }
    }

    /// GET, DELETE, GET: what is deleted is gone.
    fn delete_then_get(&mut self, base: &BaseCandidate) {
        let Some(get) = self.resources.sibling(&self.api, base.operation, "GET") else {
            return;
        };
        // What has no identifier of its own, such as the cart of a user or the rules of a group, may be emptied by DELETE
        // and made anew by GET.
        let path = self
            .api
            .operation(base.operation)
            .path
            .trim_end_matches('/');
        let is_identified = path
            .rsplit('/')
            .next()
            .is_some_and(|last| last.contains('{'));
        if !is_identified || !self.checks(FaultKind::DeleteWithoutEffect) {
            return;
        }
        let (delete, user) = (base.last().clone(), base.last().user);
        let look = self.on_same_path(get, &delete);
        let mut candidate = base.before();
        candidate.push(look.clone(), user);
        candidate.push(delete.kind, user);
        candidate.push(look.clone(), user);
        let mut patient = candidate.clone();
        (1..LOOKS).for_each(|_| {
            patient.push(look.clone(), user);
        });
        let Some(three) = self.run_last::<{ 2 + LOOKS }>(&patient) else {
            return;
        };
        let was_deleted = three[0].succeeded() && matches!(three[1].status(), Some(200 | 204));
        // A resource that says it is deleted now has changed; only one that is just as before was left alone.
        let is_there = |look: &Exchange| look.succeeded() && three[0].body == look.body;
        if was_deleted && three[2..].iter().all(is_there) {
            let name = self.api.operation(base.operation).name();
            let detail = format!(
                "{name} returned {}, but the resource still exists",
                code(&three[1])
            );
            self.find(
                FaultKind::DeleteWithoutEffect,
                base.operation,
                detail,
                candidate,
            );
        }
    }

    /// PUT, GET, GET, PUT, GET: the second PUT changes nothing more.
    fn put_twice(&mut self, base: &BaseCandidate) {
        let Some(get) = self.resources.sibling(&self.api, base.operation, "GET") else {
            return;
        };
        if !self.checks(FaultKind::PutNotIdempotent) {
            return;
        }
        for attempt in 0..VARIANTS {
            let mut candidate = if attempt == 0 {
                base.candidate.clone()
            } else {
                self.vary(base, true)
            };
            let user = base.last().user;
            let Some(put) = candidate.steps.last().map(|step| step.kind.clone()) else {
                return;
            };
            let look = self.on_same_path(get, base.last());
            candidate.push(look.clone(), user);
            candidate.push(look.clone(), user);
            let mut control = candidate.clone();
            candidate.push(put, user);
            candidate.push(look.clone(), user);
            let Some(five) = self.run_last::<5>(&candidate) else {
                return;
            };
            if !five.iter().all(Exchange::succeeded) {
                continue;
            }
            let changed = changed(&five[1], &five[2], &five[4]);
            control.push(look.clone(), user);
            control.push(look, user);
            if !changed.is_empty() && !self.changes_anyway(&control, &changed) {
                let name = self.api.operation(base.operation).name();
                let detail = format!(
                    "repeating {name} leads to a different state: {} differs",
                    list(&changed)
                );
                let values = values(&changed, &five[1], &five[4]);
                self.find_with(
                    FaultKind::PutNotIdempotent,
                    base.operation,
                    detail,
                    values,
                    candidate,
                );
                return;
            }
        }
    }

    /// GET, GET, an update that is refused, GET: nothing has changed.
    fn rejected_updates(&mut self, base: &BaseCandidate) {
        let Some(get) = self.resources.sibling(&self.api, base.operation, "GET") else {
            return;
        };
        if !self.checks(FaultKind::FailedUpdateChangedState) {
            return;
        }
        // Where the search was refused, the state may be what the service objects to, and any update would do.
        let known = self
            .rejections
            .get(&base.operation)
            .cloned()
            .unwrap_or_default();
        for start in known.iter().chain([base]) {
            for attempt in 0..MAX_REJECTIONS {
                let update = match attempt {
                    0 => start.last().kind.clone(),
                    _ => self.attempt(start, attempt),
                };
                if self.rejects_and_changes(start, get, update) {
                    return;
                }
            }
        }
    }

    /// Whether the update, in place of the last step, is refused and changes something all the same; says so if it does.
    fn rejects_and_changes(&mut self, start: &BaseCandidate, get: usize, update: StepKind) -> bool {
        let user = start.last().user;
        let look = self.on_same_path(get, start.last());
        let mut candidate = start.before();
        candidate.push(look.clone(), user);
        candidate.push(look.clone(), user);
        let mut control = candidate.clone();
        candidate.push(update, user);
        candidate.push(look.clone(), user);
        let Some(four) = self.run_last::<4>(&candidate) else {
            return false;
        };
        let rejected_updates = four[2].status().is_some_and(is_rejection);
        if !(rejected_updates && four[0].succeeded() && four[1].succeeded() && four[3].succeeded())
        {
            return false;
        }
        let changed = changed(&four[0], &four[1], &four[3]);
        control.push(look.clone(), user);
        control.push(look, user);
        if changed.is_empty() || self.changes_anyway(&control, &changed) {
            return false;
        }
        let name = self.api.operation(start.operation).name();
        let detail = format!(
            "{name} was rejected with {}, but changed {}",
            code(&four[2]),
            list(&changed)
        );
        let values = values(&changed, &four[0], &four[3]);
        self.find_with(
            FaultKind::FailedUpdateChangedState,
            start.operation,
            detail,
            values,
            candidate,
        );
        true
    }

    /// Whether one of the places changes in four looks in a row, too, with nothing done between them.
    fn changes_anyway(&mut self, control: &Candidate, places: &BTreeSet<String>) -> bool {
        // What carries a clock, as a token does, changes with the second.
        let third = control.steps.len().checked_sub(2);
        let third = third.and_then(|at| Some(control.steps.get(at)?.id));
        self.caller.pause_before(third, CLOCK_TICK);
        let four = self.run_last::<4>(control);
        self.caller.pause_before(None, Duration::ZERO);
        let Some(four) = four else {
            return true;
        };
        let anyway = changed(&four[0], &four[1], &four[3]);
        places
            .iter()
            .any(|place| is_within(place, &anyway) || anyway.contains(place))
    }

    /// An update of the same resource: valid as far as the document knows, or with one rule broken.
    fn attempt(&mut self, base: &BaseCandidate, attempt: usize) -> StepKind {
        // With many parts at once, one that is refused comes together with others that are not.
        let tuning = GeneConfig {
            optional: 0.9,
            ..self.problem.sampling.tuning.clone()
        };
        let mut what = self.on_same_path(base.operation, base.last());
        let StepKind::Call { action, breach } = &mut what else {
            return what;
        };
        let mut full = Gene::sample(
            action.gene.model(),
            action.gene.root(),
            &mut self.rng,
            &tuning,
        );
        copy_path(&action.gene, &mut full);
        action.gene = full;
        // Every fourth breaks a rule of the document; rules of the service itself are met by chance.
        if attempt % 4 == 3 {
            let breaches: Vec<_> = action
                .breaches(&self.api)
                .into_iter()
                .filter(|breach| breach.pointer.starts_with("/body/"))
                .collect();
            if let Some(chosen) = breaches.get(self.rng.usize(..breaches.len().max(1)))
                && let Some(broken) = action.breach(chosen, &mut self.rng, &tuning)
            {
                *action = broken;
                *breach = Some(chosen.clone());
            }
        }
        what
    }

    /// A 201 names its resource: the Location leads to it.
    fn location(&mut self, base: &BaseCandidate) {
        if !self.checks(FaultKind::LocationLeadsNowhere) {
            return;
        }
        let mut candidate = base.candidate.clone();
        candidate.push(StepKind::Follow(base.last().id), base.last().user);
        let mut patient = candidate.clone();
        (1..LOOKS).for_each(|_| {
            patient.push(StepKind::Follow(base.last().id), base.last().user);
        });
        let Some(pair) = self.run_last::<{ 1 + LOOKS }>(&patient) else {
            return;
        };
        let is_nowhere = |look: &Exchange| matches!(look.status(), Some(404 | 410));
        if pair[0].status() == Some(201) && pair[1..].iter().all(is_nowhere) {
            let name = self.api.operation(base.operation).name();
            let location = pair[0].location().unwrap_or_default();
            let shape: String = location
                .split('/')
                .map(|part| {
                    if part.parse::<u64>().is_ok() {
                        "…"
                    } else {
                        part
                    }
                })
                .collect::<Vec<_>>()
                .join("/");
            let detail = format!(
                "{name} returned 201 with the Location {shape}, but a GET of it returns {}",
                code(&pair[1])
            );
            self.find(
                FaultKind::LocationLeadsNowhere,
                base.operation,
                detail,
                candidate,
            );
        }
    }
}

/// What differs between two looks in a row, of what a client has sent before: a service may count how often
/// something is read, but not rewrite what it was given.
fn rewritten(earlier: &[Exchange], first: &Exchange, second: &Exchange) -> BTreeSet<String> {
    let (Some(a), Some(b), true) = (&first.body, &second.body, second.succeeded()) else {
        return BTreeSet::new();
    };
    let sent: Vec<Value> = earlier
        .iter()
        .filter(|exchange| exchange.succeeded())
        .filter_map(|exchange| serde_json::from_slice(&exchange.request.body).ok())
        .collect();
    // What becomes as it was sent has only taken a moment.
    let is_sent = |place: &str| {
        let own = |sent: &Value| sent.pointer(place).cloned();
        let sent: Vec<Value> = sent.iter().filter_map(own).collect();
        a.pointer(place).is_some()
            && sent.iter().any(|own| own.is_string() || own.is_number())
            && !sent.iter().any(|own| Some(own) == b.pointer(place))
    };
    let restless = differences(a, b).into_iter();
    restless
        .filter(|place| !place.is_empty() && !is_bookkeeping(place) && is_sent(place))
        .collect()
}

/// What differs between the first and the last look, apart from what changes by itself.
fn changed(first: &Exchange, again: &Exchange, last: &Exchange) -> BTreeSet<String> {
    let (Some(a), Some(b), Some(c)) = (&first.body, &again.body, &last.body) else {
        return BTreeSet::new();
    };
    let restless = differences(a, b);
    differences(a, c)
        .into_iter()
        .filter(|place| !is_within(place, &restless) && !is_bookkeeping(place))
        .collect()
}

fn code(exchange: &Exchange) -> u16 {
    exchange.status().unwrap_or_default()
}

/// The places, in words.
fn list(places: &BTreeSet<String>) -> String {
    let names: Vec<&str> = places
        .iter()
        .take(3)
        .map(|place| {
            if place.is_empty() {
                "the whole body"
            } else {
                place.as_str()
            }
        })
        .collect();
    names.join(", ")
}

/// The values at the places before and after, redacted and shortened.
fn values(places: &BTreeSet<String>, before: &Exchange, after: &Exchange) -> Vec<String> {
    let shown = |place: &str, exchange: &Exchange| {
        let body = exchange.body.as_ref();
        match body.and_then(|body| body.pointer(place)) {
            None => "nothing".to_owned(),
            Some(_) if redact::is_secret(place) => redact::MASK.to_owned(),
            Some(value) => {
                let text = exchange.redacted(redact::redact_likely_secrets(&value.to_string()));
                text.chars().take(SHOWN_VALUE).collect()
            }
        }
    };
    let places = places.iter().take(3);
    let value = |place: &String| {
        let (before, after) = (shown(place, before), shown(place, after));
        let place = if place.is_empty() {
            "the whole body"
        } else {
            place
        };
        format!("{place} before: {before}; after: {after}")
    };
    places.map(value).collect()
}

/// The candidate with all its dates and times so many days later.
fn later(candidate: &Candidate, days: u16) -> Candidate {
    let mut candidate = candidate.clone();
    for step in &mut candidate.steps {
        let StepKind::Call { action, .. } = &mut step.kind else {
            continue;
        };
        let mut dates = Vec::new();
        action.gene.walk(|place| {
            if let GeneValue::DateTime(date) = place.value {
                dates.push((place.pointer.to_owned(), date.days_later(days)));
            }
        });
        for (pointer, date) in dates {
            action.gene.set(&pointer, GeneValue::DateTime(date));
        }
    }
    candidate
}
