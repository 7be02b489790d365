//! Samples and mutates candidates.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use isobath_genes::{DateTime, Domain, Gene, GeneConfig, Reference, Value as GeneValue};
use isobath_rows::set::NewCell;
use isobath_search::Rng;

use crate::action::Action;
use crate::candidate::{Candidate, Step, StepKind};
use crate::disruption::Recovery;
use crate::external::MockResponse;
use crate::first_pass::NegativeCall;
use crate::negative;
use crate::problem::{RestProblem, sample_input};
use crate::resource::{Dependency, Producer};
use crate::seeding::RowSeeder;
use crate::unique::with_new_names;

/// How deep needs are met: a thing, what it needs, what that needs, and so on.
const DEPTH: usize = 4;
/// The chance that what succeeded before is repeated with other names, and where it met its own leftovers.
const RENAMED: f64 = 0.15;
const RENAMED_AFTER_CONFLICT: f64 = 0.6;
/// The share of new candidates that make calls which the first pass put off.
const POSTPONED: f64 = 0.25;

/// A fresh candidate: every operation once, then any.
pub(crate) fn candidate(problem: &mut RestProblem, rng: &mut Rng) -> Candidate {
    if problem.api.operations.is_empty() {
        return Candidate::default();
    }
    if let Some(recovery) = problem.disruption.recovery() {
        return undo(problem, rng, recovery);
    }
    while let Some(operation) = problem.first_pass.next_anonymous() {
        if !problem.disruption.is_avoided(operation)
            && let Some(candidate) =
                negative::candidate(problem, rng, operation, &[NegativeCall::Anonymous])
        {
            return candidate;
        }
    }
    while let Some((operation, calls)) = problem.first_pass.next_negative() {
        if problem.disruption.is_avoided(operation) {
            continue;
        }
        // What is refused is mostly refused before the slow part.
        let may_succeed = calls.iter().any(|call| call.may_succeed());
        let is_slow = may_succeed && problem.latencies.is_slow(operation);
        let is_useless =
            calls.iter().any(|call| call.needs_resource()) && !is_found(problem, operation);
        if is_slow || is_useless {
            problem.first_pass.postpone((operation, calls));
            continue;
        }
        if let Some(candidate) = negative::candidate(problem, rng, operation, &calls) {
            return candidate;
        }
    }
    let next = {
        let (prefixes, resources) = (&problem.successful_prefixes, &problem.resources);
        let (hints, disruption) = (&problem.hints, &problem.disruption);
        let news = |operation: usize| {
            let is_wanted = prefixes[operation].is_empty() && !disruption.is_avoided(operation);
            is_wanted.then(|| {
                let dependencies = resources.dependencies(operation).iter();
                let producers = dependencies.flat_map(|dependency| &dependency.producers);
                let succeeded =
                    producers.filter(|producer| !prefixes[producer.operation].is_empty());
                hints.count(operation) + succeeded.count()
            })
        };
        problem.first_pass.next(&problem.api, resources, news)
    };
    if let Some(tour) = next {
        return tour_of(problem, rng, &tour);
    }
    if rng.f64() < POSTPONED
        && let Some((operation, calls)) = problem.first_pass.next_postponed()
        && !problem.disruption.is_avoided(operation)
        && let Some(candidate) = negative::candidate(problem, rng, operation, &calls)
    {
        return candidate;
    }
    let operation = pick_operation(problem, rng);
    let mut candidate = Candidate::default();
    let user = any_user(problem, rng);
    append_operation(problem, rng, &mut candidate, operation, user, DEPTH);
    if rng.f64() < 0.5 {
        append_follow_ups(problem, rng, &mut candidate, user);
    }
    apply_random_variation(problem, rng, &mut candidate);
    candidate
}

/// Calls a disruptive operation with other inputs, and then one that worked before it.
fn undo(problem: &RestProblem, rng: &mut Rng, recovery: Recovery) -> Candidate {
    let mut candidate = Candidate::default();
    let user = any_user(problem, rng);
    for operation in [recovery.culprit, recovery.witness] {
        let input = sample_input(problem, rng, operation);
        let user = pick_user(problem, rng, operation, user);
        candidate.push(StepKind::call(operation, input), user);
    }
    candidate
}

/// A candidate that calls the operations of a tour, each on what the ones before it created.
fn tour_of(problem: &RestProblem, rng: &mut Rng, tour: &[usize]) -> Candidate {
    // Values that the document itself shows are the likeliest to be accepted.
    let tuning = GeneConfig {
        example: 0.8,
        optional: 0.3,
        null: 0.02,
        loose_example: 0.0,
        invalid_time: 0.0,
        boundary: 0.0,
        ..problem.sampling.tuning.clone()
    };
    let mut candidate = Candidate::default();
    let user = any_user(problem, rng);
    for &operation in tour {
        if reuse_successful_prefix(problem, rng, &mut candidate, operation).is_some() {
            continue;
        }
        let node = problem.api.operation(operation).input;
        let mut input = Gene::sample(&problem.api.model, node, rng, &tuning);
        align_dates(rng, &mut input);
        problem.hints.apply(rng, &tuning, operation, &mut input);
        for dependency in problem.resources.dependencies(operation) {
            let created = dependency.producers.iter().find_map(|producer| {
                let mut steps = candidate.steps.iter().rev();
                let step = steps.find(|step| step.operation() == Some(producer.operation))?;
                Some((step.id, producer.place.clone()))
            });
            if let Some((source, place)) = created
                && (dependency.required || rng.bool())
            {
                input.bind(&dependency.pointer, Reference { source, place });
            }
        }
        let user = creator_of(&candidate, &input).unwrap_or(user);
        let user = pick_user(problem, rng, operation, user);
        candidate.push(StepKind::call(operation, input), user);
    }
    candidate
}

pub(crate) fn any_user(problem: &RestProblem, rng: &mut Rng) -> usize {
    if problem.n_users == 0 {
        0
    } else {
        rng.usize(..problem.n_users)
    }
}

/// Shorter candidates are mutated as they are: a step that nothing refers to may still have made the state.
const MAX_STATE: usize = 6;
/// The chance that a mutant keeps steps that its operation does not refer to.
const KEEPS_STATE: f64 = 0.3;

/// The parent without the steps that the operation does not refer to, where these are the larger part.
pub(crate) fn only_needed<'a>(
    rng: &mut Rng,
    parent: &'a Candidate,
    operation: Option<usize>,
) -> Cow<'a, Candidate> {
    let mut steps = parent.steps.iter();
    let at =
        operation.and_then(|operation| steps.rposition(|step| step.operation() == Some(operation)));
    let Some(at) = at.filter(|_| parent.steps.len() > MAX_STATE) else {
        return Cow::Borrowed(parent);
    };
    let slice = parent.slice(at);
    if 2 * slice.steps.len() <= parent.steps.len() && rng.f64() >= KEEPS_STATE {
        Cow::Owned(slice)
    } else {
        Cow::Borrowed(parent)
    }
}

/// The most choices of an operation before a slow one is taken after all.
const MAX_PICKS: usize = 8;

/// Any operation, slow ones less often.
fn pick_operation(problem: &RestProblem, rng: &mut Rng) -> usize {
    let mut picked = pick_any_operation(problem, rng);
    for _ in 1..MAX_PICKS {
        if problem.latencies.allows(rng, picked) {
            break;
        }
        picked = pick_any_operation(problem, rng);
    }
    picked
}

/// Any operation; half of the time one that never succeeded, if there is one.
fn pick_any_operation(problem: &RestProblem, rng: &mut Rng) -> usize {
    let n = problem.api.operations.len();
    let start = rng.usize(..n);
    if rng.bool()
        && let Some(failing) = (0..n)
            .map(|offset| (start + offset) % n)
            .find(|&operation| {
                problem.successful_prefixes[operation].is_empty()
                    && !problem.disruption.is_avoided(operation)
            })
    {
        return failing;
    }
    if problem.disruption.is_avoided(start) {
        let others = (0..n).map(|offset| (start + offset) % n);
        let mut allowed = others.filter(|&operation| !problem.disruption.is_avoided(operation));
        return allowed.next().unwrap_or(start);
    }
    start
}

/// Whether calls of an operation got past the check of the user and of what the path names.
fn is_found(problem: &RestProblem, operation: usize) -> bool {
    let is_past = |status: &u16| !matches!(status, 401 | 403 | 404 | 410);
    problem.statuses()[operation].keys().any(is_past)
}

/// Appends an operation and, before it, its dependencies; returns the id of its step.
pub(crate) fn append_operation(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    operation: usize,
    user: usize,
    depth: usize,
) -> u32 {
    let mut input = sample_input(problem, rng, operation);
    align_dates(rng, &mut input);
    reuse_observed_values(problem, rng, &mut input);
    apply_hints(problem, rng, operation, &mut input);
    for dependency in problem.resources.dependencies(operation) {
        if rng.f64() < if dependency.required { 0.9 } else { 0.6 } {
            add_dependency(problem, rng, candidate, &mut input, dependency, user, depth);
        }
    }
    let user = pick_user(
        problem,
        rng,
        operation,
        creator_of(candidate, &input).unwrap_or(user),
    );
    candidate.push(StepKind::call(operation, input), user)
}

/// Applies what error responses said about the fields of an operation.
fn apply_hints(problem: &RestProblem, rng: &mut Rng, operation: usize, input: &mut Gene) {
    let tuning = &problem.sampling.tuning;
    problem.hints.apply(rng, tuning, operation, input);
}

/// The user who created the resource that an input refers to.
fn creator_of(candidate: &Candidate, input: &Gene) -> Option<usize> {
    let references = input.references();
    references.iter().rev().find_map(|(_, reference)| {
        candidate
            .steps
            .iter()
            .find(|step| step.id == reference.source)?
            .user
    })
}

/// The user of a call: anonymous for public operations, else a user with access.
fn pick_user(
    problem: &RestProblem,
    rng: &mut Rng,
    operation: usize,
    preferred: usize,
) -> Option<usize> {
    // Most documents do not say who may call what, so users call everything.
    if problem.n_users == 0 {
        return None;
    }
    Some(problem.access.user(rng, operation, preferred))
}

/// Takes a value from an earlier response, or from a call that is added for it.
fn add_dependency(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    input: &mut Gene,
    dependency: &Dependency,
    user: usize,
    depth: usize,
) {
    let earlier: Vec<(u32, &Producer)> = candidate
        .steps
        .iter()
        .filter_map(|step| {
            Some((
                step.id,
                dependency
                    .producers
                    .iter()
                    .find(|producer| Some(producer.operation) == step.operation())?,
            ))
        })
        .collect();
    let earlier = (!earlier.is_empty() && rng.f64() < 0.8).then(|| rng.choice(earlier));
    let (source, place) = if let Some((id, producer)) = earlier.flatten() {
        (id, producer.place.clone())
    } else {
        // The call itself needs room, too.
        if depth == 0 || candidate.steps.len() + 2 > problem.sampling.steps {
            return;
        }
        let Some(producer) = pick_weighted(rng, &dependency.producers) else {
            return;
        };
        let confidence = confidence(problem, producer.operation, &producer.place);
        if confidence < 1.0 && rng.f64() >= confidence {
            return;
        }
        let id = match reuse_successful_prefix(problem, rng, candidate, producer.operation) {
            Some(id) => id,
            None => append_operation(problem, rng, candidate, producer.operation, user, depth - 1),
        };
        (id, producer.place.clone())
    };
    input.bind(&dependency.pointer, Reference { source, place });
}

/// Mostly appends the steps with which an operation succeeded before, and sometimes changes the last one; returns its id.
fn reuse_successful_prefix(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    operation: usize,
) -> Option<u32> {
    if problem.successful_prefixes[operation].is_empty() || rng.f64() < 0.25 {
        return None;
    }
    let id = append_successful_prefix(problem, rng, candidate, operation)?;
    let step = candidate.steps.last_mut()?;
    if let StepKind::Call { action, .. } = &mut step.kind
        && rng.f64() < 0.2
    {
        action.mutate(rng, &problem.sampling.tuning);
    }
    Some(id)
}

/// Appends steps with which an operation succeeded before, where there are some and there is room; returns the id of the
/// last one.
pub(crate) fn append_successful_prefix(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    operation: usize,
) -> Option<u32> {
    let prefixes = &problem.successful_prefixes[operation];
    let prefix = rng.choice(prefixes)?;
    let most = problem.sampling.steps;
    if candidate.steps.len() + prefix.steps.len() + 1 > most {
        return None;
    }
    let before = candidate.steps.len();
    *candidate = splice(candidate, before, prefix, 0, most);
    let creators = creators(
        problem,
        rng,
        candidate.steps.get(before..).unwrap_or_default(),
    );
    if !creators.is_empty()
        && let Some(renamed) = with_new_names(candidate, &creators, rng.u64(..))
    {
        *candidate = renamed;
    }
    candidate.steps.last().map(|step| step.id)
}

/// The steps that create something under names that the service may have by now, with their operations: mostly those
/// that met such names before.
fn creators(problem: &RestProblem, rng: &mut Rng, steps: &[Step]) -> Vec<(u32, usize)> {
    let called = steps
        .iter()
        .filter_map(|step| Some((step.id, step.operation()?)));
    called
        .filter(|&(_, operation)| {
            let chance = match problem.statuses()[operation].contains_key(&409) {
                true => RENAMED_AFTER_CONFLICT,
                false => RENAMED,
            };
            let method = &*problem.api.operation(operation).method;
            matches!(method, "POST" | "PUT") && rng.f64() < chance
        })
        .collect()
}

fn pick_weighted<'a>(rng: &mut Rng, producers: &'a [Producer]) -> Option<&'a Producer> {
    let total: u32 = producers.iter().map(|producer| producer.weight).sum();
    let mut at = rng.u32(..total.max(1));
    for producer in producers {
        if at < producer.weight {
            return Some(producer);
        }
        at -= producer.weight;
    }
    producers.first()
}

/// Appends follow-up calls: use, update, read or delete the created resource.
fn append_follow_ups(problem: &RestProblem, rng: &mut Rng, candidate: &mut Candidate, user: usize) {
    let Some(last) = candidate.steps.last().and_then(|step| step.operation()) else {
        return;
    };
    let created = candidate.steps.last().map(|step| step.id);
    let consumers: Vec<usize> = (0..problem.api.operations.len())
        .filter(|&operation| !problem.disruption.is_avoided(operation))
        .filter(|&operation| {
            problem
                .resources
                .dependencies(operation)
                .iter()
                .any(|dependency| {
                    dependency
                        .producers
                        .iter()
                        .any(|producer| producer.operation == last)
                })
        })
        .collect();
    if let (Some(created), false) = (created, consumers.is_empty()) {
        let method = |operation: usize| &*problem.api.operation(operation).method;
        let n = rng.usize(1..=3);
        let mut chosen: Vec<usize> = (0..n)
            .filter_map(|_| rng.choice(&consumers).copied())
            .collect();
        // What is removed can be looked at again, but hardly be used.
        chosen.sort_by_key(|&operation| method(operation) == "DELETE");
        if chosen
            .last()
            .is_some_and(|&operation| method(operation) == "DELETE")
            && let Some(look) = chosen
                .last()
                .and_then(|&operation| problem.resources.sibling(&problem.api, operation, "GET"))
        {
            chosen.push(look);
        }
        for operation in chosen {
            if candidate.steps.len() >= problem.sampling.steps {
                break;
            }
            call_on_created(problem, rng, candidate, operation, created, last, user);
        }
        return;
    }
    // Nothing is made here: look at the same thing in another way.
    let siblings = problem.resources.on_path(&problem.api, last);
    let Some(&operation) = rng.choice(siblings) else {
        return;
    };
    if candidate.steps.len() < problem.sampling.steps {
        call_on_same_path(problem, rng, candidate, operation, user);
    }
}

/// Calls an operation on what the step `created` made.
fn call_on_created(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    operation: usize,
    created: u32,
    creator: usize,
    user: usize,
) {
    let mut input = sample_input(problem, rng, operation);
    reuse_observed_values(problem, rng, &mut input);
    apply_hints(problem, rng, operation, &mut input);
    for dependency in problem.resources.dependencies(operation) {
        match dependency
            .producers
            .iter()
            .find(|producer| producer.operation == creator)
        {
            Some(producer) => {
                input.bind(
                    &dependency.pointer,
                    Reference {
                        source: created,
                        place: producer.place.clone(),
                    },
                );
            }
            None if dependency.required => {
                add_dependency(problem, rng, candidate, &mut input, dependency, user, 1)
            }
            None => {}
        }
    }
    let user = pick_user(
        problem,
        rng,
        operation,
        creator_of(candidate, &input).unwrap_or(user),
    );
    candidate.push(StepKind::call(operation, input), user);
}

/// Calls an operation on the same path with the same path parameters as the last step.
fn call_on_same_path(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    operation: usize,
    user: usize,
) {
    let mut input = sample_input(problem, rng, operation);
    if let Some(before) = candidate
        .steps
        .last()
        .and_then(|step| step.input())
        .cloned()
    {
        copy_path(&before, &mut input);
    }
    let user = pick_user(problem, rng, operation, user);
    candidate.push(StepKind::call(operation, input), user);
}

/// Gives an input the path parameters of another one, references included.
pub(crate) fn copy_path(from: &Gene, to: &mut Gene) {
    let mut parameters: Vec<(String, GeneValue)> = Vec::new();
    from.walk(|place| {
        if place.pointer.starts_with("/path/") && place.pointer.matches('/').count() == 2 {
            parameters.push((place.pointer.to_owned(), place.value.clone()));
        }
    });
    for (pointer, value) in parameters {
        to.set(&pointer, value);
    }
}

/// The most days between two times that belong together.
const DAYS: u16 = 30;

/// Sometimes aligns the dates of an input: a range usually has a start and a later end.
fn align_dates(rng: &mut Rng, input: &mut Gene) {
    let mut moments: Vec<(String, DateTime)> = Vec::new();
    input.walk(|place| {
        if let GeneValue::DateTime(moment) = place.value {
            moments.push((place.pointer.to_owned(), *moment));
        }
    });
    let Some(((_, first), others)) = moments.split_first() else {
        return;
    };
    if others.is_empty() || rng.f64() < 0.5 {
        return;
    }
    for (pointer, _) in others {
        let later = GeneValue::DateTime(first.days_later(rng.u16(0..=DAYS)));
        let mut copy = input.clone();
        if copy.set(pointer, later) && copy.check().is_ok() {
            *input = copy;
        }
    }
}

/// Reuses values observed in responses where names match.
fn reuse_observed_values(problem: &RestProblem, rng: &mut Rng, input: &mut Gene) {
    let mut chosen: Vec<(String, serde_json::Value)> = Vec::new();
    input.walk(|place| {
        if matches!(
            place.value,
            GeneValue::Absent | GeneValue::Array(_) | GeneValue::Object(_) | GeneValue::Choice(_)
        ) {
            return;
        }
        let name = place.pointer.rsplit('/').next().unwrap_or_default();
        let values = problem.pool.values(name);
        if !values.is_empty()
            && rng.f64() < problem.sampling.reuse
            && let Some(value) = rng.choice(values)
        {
            chosen.push((place.pointer.to_owned(), value.clone()));
        }
    });
    for (pointer, value) in chosen {
        input.set_json(&pointer, &value);
    }
}

/// Violates a constraint in the last call of the target operation; false if there is none.
pub(crate) fn violate_constraint(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    aimed: Option<usize>,
) -> bool {
    violate(problem, rng, candidate, aimed, |_| true)
}

/// As [`violate_constraint`], at a place that fits.
pub(crate) fn violate(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    aimed: Option<usize>,
    fits: impl Fn(&str) -> bool,
) -> bool {
    let is_aimed = |step: &Step| aimed.is_none() || step.operation() == aimed;
    let Some(step) = candidate.steps.iter_mut().rev().find(|step| is_aimed(step)) else {
        return false;
    };
    let StepKind::Call {
        action,
        breach: breach @ None,
    } = &mut step.kind
    else {
        return false;
    };
    let mut breaches = action.breaches(&problem.api);
    breaches.retain(|breach| fits(&breach.pointer));
    let Some(chosen) = rng.choice(&breaches) else {
        return false;
    };
    let Some(broken) = action.breach(chosen, rng, &problem.sampling.tuning) else {
        return false;
    };
    *action = broken;
    *breach = Some(chosen.clone());
    true
}

/// Sometimes makes the last call invalid, gives it an edge case, or changes its user.
fn apply_random_variation(problem: &RestProblem, rng: &mut Rng, candidate: &mut Candidate) {
    let dice = rng.f64();
    let Some(step) = candidate.steps.last_mut() else {
        return;
    };
    let StepKind::Call { action, breach } = &mut step.kind else {
        return;
    };
    let sampling = &problem.sampling;
    if dice < sampling.breach {
        let breaches = action.breaches(&problem.api);
        let Some(chosen) = rng.choice(&breaches) else {
            return;
        };
        if let Some(broken) = action.breach(chosen, rng, &sampling.tuning) {
            *action = broken;
            *breach = Some(chosen.clone());
        }
    } else if dice < sampling.breach + sampling.edge_case {
        apply_edge_case(rng, &mut action.gene);
    } else if dice < sampling.breach + sampling.edge_case + sampling.other_user
        && problem.n_users > 0
    {
        step.user = if rng.bool() {
            None
        } else {
            Some(rng.usize(..problem.n_users))
        };
    }
}

/// Texts that are valid and that careless code trips over.
const EDGE_CASE_TEXTS: [&str; 12] = [
    "o'clock",
    "\"quoted\"",
    "100%",
    "a_b",
    "<b>bold</b>",
    "naïve 日本 🚤",
    "null",
    " padded ",
    "-1",
    "a\\b; --",
    "nul\u{0}byte",
    "\u{feff}\u{202e}\u{fffd}",
];

/// How often a word is repeated in a text that is longer than any column or buffer expects.
const LONG_TEXT: usize = 200;

/// What would make two values of an input equal, or a text odd: where, and with what. Not all of it is valid.
pub(crate) fn edge_case_values(input: &Gene) -> Vec<(String, GeneValue)> {
    let mut texts: Vec<String> = Vec::new();
    let mut simple: Vec<(String, GeneValue)> = Vec::new();
    input.walk(|place| {
        match place.value {
            GeneValue::Text(_)
                if matches!(place.model.node(place.node).domain, Domain::Text(_)) =>
            {
                texts.push(place.pointer.to_owned())
            }
            GeneValue::Text(_)
            | GeneValue::Integer(_)
            | GeneValue::Float(_)
            | GeneValue::DateTime(_) => {}
            _ => return,
        }
        simple.push((place.pointer.to_owned(), place.value.clone()));
    });
    let mut edge_case = Vec::new();
    for (index, (_, value)) in simple.iter().enumerate() {
        for (pointer, other) in simple.iter().skip(index + 1) {
            if std::mem::discriminant(value) == std::mem::discriminant(other) && value != other {
                edge_case.push((pointer.clone(), value.clone()));
            }
        }
    }
    let long = "long ".repeat(LONG_TEXT);
    for text in EDGE_CASE_TEXTS.into_iter().chain([long.as_str()]) {
        for pointer in &texts {
            edge_case.push((pointer.clone(), GeneValue::Text(text.into())));
        }
    }
    edge_case
}

/// The input with one value changed, where that is valid.
pub(crate) fn with_value(input: &Gene, (pointer, value): (String, GeneValue)) -> Option<Gene> {
    let mut copy = input.clone();
    (copy.set(&pointer, value) && copy.check().is_ok()).then_some(copy)
}

/// Copies of an input in which two values are equal, or a text is odd, where that is valid.
pub(crate) fn edge_cases(input: &Gene) -> impl Iterator<Item = Gene> {
    let edge_case = edge_case_values(input).into_iter();
    edge_case.filter_map(move |value| with_value(input, value))
}

/// Makes two values equal, or a text odd, where that is valid.
fn apply_edge_case(rng: &mut Rng, input: &mut Gene) {
    let mut edge_case = edge_case_values(input);
    // Whether one is valid takes longer to see than to draw another one.
    while !edge_case.is_empty() {
        let drawn = edge_case.swap_remove(rng.usize(..edge_case.len()));
        if let Some(copy) = with_value(input, drawn) {
            *input = copy;
            return;
        }
    }
}

/// How many of the mutants may break a rule in their last call, or have another caller.
pub(crate) const MUTATE_WITH_VARIATION: f64 = 0.25;

/// A changed copy; the call of `aimed` is changed rather than others.
pub(crate) fn mutant(
    problem: &mut RestProblem,
    rng: &mut Rng,
    parent: &Candidate,
    aimed: Option<usize>,
) -> Candidate {
    let mut child = parent.clone();
    if child.steps.is_empty() {
        return candidate(problem, rng);
    }
    // What an operation lacks to succeed is mostly what others must have made before, not another value.
    if let Some(operation) = aimed
        && problem.successful_prefixes[operation].is_empty()
        && !problem.resources.dependencies(operation).is_empty()
        && (!is_guided(problem) || problem.resources.is_provided(operation))
        && rng.bool()
    {
        let mut directed = Candidate::default();
        let user = any_user(problem, rng);
        append_operation(problem, rng, &mut directed, operation, user, DEPTH);
        return directed;
    }
    if rng.f64() < problem.sampling.restructure && restructure(problem, rng, &mut child) {
        return child;
    }
    let numbered = child.steps.iter().enumerate();
    let aimed: Vec<usize> = numbered
        .filter(|(_, step)| aimed.is_some() && step.operation() == aimed)
        .map(|(at, _)| at)
        .collect();
    let aimed = (!aimed.is_empty() && rng.f64() < 0.8).then(|| rng.choice(aimed));
    let at = aimed.flatten();
    let at = at.unwrap_or_else(|| rng.usize(..child.steps.len()));
    let n_steps = child.steps.len();
    let Some(step) = child.steps.get_mut(at) else {
        return child;
    };
    let operation = step.operation();
    if let (Some(operation), true) = (operation, problem.n_users > 1 && rng.f64() < 0.05) {
        let preferred = rng.usize(..problem.n_users);
        step.user = pick_user(problem, rng, operation, preferred);
        return child;
    }
    if let StepKind::Call { action, breach } = &mut step.kind {
        // Once changed, an input that broke a rule may break another or none; a valid one is known to be valid.
        if breach.take().is_some() {
            let mut valid = sample_input(problem, rng, action.operation);
            copy_path(&action.gene, &mut valid);
            action.gene = valid;
        }
        if rng.f64() < problem.sampling.edge_case {
            apply_edge_case(rng, &mut action.gene);
        }
        let references = action.gene.references();
        if action.mutate(rng, &problem.sampling.tuning).is_some() {
            align_dates(rng, &mut action.gene);
            if problem.successful_prefixes[action.operation].is_empty() {
                apply_hints(problem, rng, action.operation, &mut action.gene);
            }
            // Which thing a call is about is worth more than any other value there.
            for (pointer, reference) in references
                .into_iter()
                .filter(|(pointer, _)| pointer.starts_with("/path/"))
            {
                if rng.f64() < 0.9 * prefix_confidence(problem, parent, &reference) {
                    action.gene.bind(&pointer, reference);
                }
            }
            // What refuses calls is found from those that are near a success, too.
            if at + 1 == n_steps && rng.f64() < MUTATE_WITH_VARIATION {
                apply_random_variation(problem, rng, &mut child);
            }
            return child;
        }
    }
    // Nothing in it can change: another step is the only difference to make.
    restructure(problem, rng, &mut child);
    child
}

/// How likely what a reference names comes; rows and what nobody knows are trusted.
fn prefix_confidence(problem: &RestProblem, candidate: &Candidate, reference: &Reference) -> f64 {
    let mut steps = candidate.steps.iter();
    let source = steps.find(|step| step.id == reference.source);
    let operation = source.and_then(Step::operation);
    operation.map_or(1.0, |operation| {
        confidence(problem, operation, &reference.place)
    })
}

/// Whether statements lead the search, so that a value of one's own can be led somewhere.
fn is_guided(problem: &RestProblem) -> bool {
    problem.seeder().is_some_and(RowSeeder::is_guided)
}

/// How likely a value comes with a response; where nothing else leads anywhere, it is waited for.
fn confidence(problem: &RestProblem, operation: usize, place: &Arc<str>) -> f64 {
    if is_guided(problem) {
        problem.resources.confidence(operation, place)
    } else {
        1.0
    }
}

/// Adds or removes a step; false when neither is possible.
fn restructure(problem: &RestProblem, rng: &mut Rng, candidate: &mut Candidate) -> bool {
    if candidate.steps.len() > 1
        && rng.bool()
        && let Some(shorter) = candidate.without(rng.usize(..candidate.steps.len()))
    {
        *candidate = shorter;
        return true;
    }
    if candidate.steps.len() >= problem.sampling.steps {
        return false;
    }
    let user = candidate
        .steps
        .iter()
        .rev()
        .find_map(|step| step.user)
        .unwrap_or(0);
    if rng.f64() < 0.7 {
        append_follow_ups(problem, rng, candidate, user);
    } else {
        let operation = pick_operation(problem, rng);
        append_operation(problem, rng, candidate, operation, user, 1);
    }
    true
}

/// Exchanges the tails of two candidates.
pub(crate) fn cross(
    rng: &mut Rng,
    a: &Candidate,
    b: &Candidate,
    most: usize,
) -> (Candidate, Candidate) {
    if a.steps.is_empty() || b.steps.is_empty() {
        return (a.clone(), b.clone());
    }
    let (cut_a, cut_b) = (rng.usize(0..=a.steps.len()), rng.usize(0..=b.steps.len()));
    (
        splice(a, cut_a, b, cut_b, most),
        splice(b, cut_b, a, cut_a, most),
    )
}

/// Exchanges the calls of these operations between two candidates.
pub(crate) fn cross_linked(
    a: &Candidate,
    b: &Candidate,
    linked: &[u64],
    most: usize,
) -> (Candidate, Candidate) {
    let is_linked = |step: &Step| {
        let operation = step.operation();
        operation.is_some_and(|operation| linked.contains(&(operation as u64)))
    };
    let mixed = |own: &Candidate, other: &Candidate| {
        let head = only(own, |step| !is_linked(step));
        let child = splice(&head, head.steps.len(), &only(other, is_linked), 0, most);
        // A candidate without calls tests nothing.
        if child.steps.is_empty() {
            own.clone()
        } else {
            child
        }
    };
    (mixed(a, b), mixed(b, a))
}

/// The candidate with some of its steps; what referred to another one keeps its last value.
fn only(candidate: &Candidate, keep: impl Fn(&Step) -> bool) -> Candidate {
    let mut left = candidate.clone();
    left.steps.retain(keep);
    let rows = left.rows.iter().map(|row| row.id);
    let ids: BTreeSet<u32> = left.steps.iter().map(|step| step.id).chain(rows).collect();
    left.steps.retain_mut(|step| match &mut step.kind {
        StepKind::Call { action, .. } => {
            action
                .gene
                .rebind(|reference| ids.contains(&reference.source).then(|| reference.clone()));
            true
        }
        StepKind::Follow(source) => ids.contains(source),
    });
    left
}

/// The head of one candidate and the tail of another, with the tail's steps numbered anew.
pub(crate) fn splice(
    head: &Candidate,
    cut: usize,
    tail: &Candidate,
    from: usize,
    most: usize,
) -> Candidate {
    let mut child = head.prefix(cut);
    let mut renamed: Vec<(u32, u32)> = Vec::new();
    for row in &tail.rows {
        let mut row = row.clone();
        let id = child.next_id();
        renamed.push((row.id, id));
        row.id = id;
        for cell in &mut row.cells {
            if let NewCell::Of { row, .. } = cell
                && let Some((_, new)) = renamed.iter().find(|(old, _)| old == row)
            {
                *row = *new;
            }
        }
        child.rows.push(row);
    }
    for answer in &tail.mock_responses {
        let is_there = |own: &MockResponse| own.outbound_request == answer.outbound_request;
        if !head.mock_responses.iter().any(is_there) {
            child.mock_responses.push(answer.clone());
        }
    }
    for step in tail.steps.iter().skip(from) {
        if child.steps.len() >= most {
            break;
        }
        let new_id = |id: u32| {
            renamed
                .iter()
                .find(|(old, _)| *old == id)
                .map(|(_, new)| *new)
        };
        let what = match &step.kind {
            StepKind::Call { action, breach } => {
                let mut gene = action.gene.clone();
                gene.rebind(|reference| {
                    Some(Reference {
                        source: new_id(reference.source)?,
                        place: reference.place.clone(),
                    })
                });
                StepKind::Call {
                    action: Action {
                        operation: action.operation,
                        gene,
                        undocumented: action.undocumented.clone(),
                    },
                    breach: breach.clone(),
                }
            }
            StepKind::Follow(source) => match new_id(*source) {
                Some(source) => StepKind::Follow(source),
                None => continue,
            },
        };
        let id = child.push(what, step.user);
        renamed.push((step.id, id));
    }
    if child.steps.is_empty() {
        head.clone()
    } else {
        child
    }
}
