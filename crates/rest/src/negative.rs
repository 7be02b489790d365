//! Calls that should be refused, or that careless code trips over: each operation is called so once after the first pass.

use isobath_genes::{Domain, Gene, GeneConfig, Rule, RuleViolation, Value as GeneValue};
use isobath_search::Rng;

use crate::action::broken_body;
use crate::candidate::{Candidate, StepKind};
use crate::first_pass::NegativeCall;
use crate::openapi::PathPiece;
use crate::problem::RestProblem;
use crate::sample::{
    any_user, append_operation, append_successful_prefix, edge_case_values, violate, with_value,
};

/// A candidate whose last call is such a call of an operation; `None` where that cannot be, or where it was seen already.
pub(crate) fn candidate(
    problem: &RestProblem,
    rng: &mut Rng,
    operation: usize,
    call: NegativeCall,
) -> Option<Candidate> {
    let mut candidate = Candidate::default();
    // One thing at a time: all but that is as in a call that succeeded. Who is refused at the door needs nothing to be there.
    let needs_prefix = !matches!(call, NegativeCall::Anonymous | NegativeCall::Missing);
    if !needs_prefix || append_successful_prefix(problem, rng, &mut candidate, operation).is_none()
    {
        let user = any_user(problem, rng);
        append_operation(problem, rng, &mut candidate, operation, user, 0);
    }
    let is_body = |at: &str| at.starts_with("/body");
    let tuning = &problem.sampling.tuning;
    let is_changed = match call {
        NegativeCall::Anonymous => {
            candidate.steps.last_mut()?.user = None;
            problem.n_users > 0
        }
        NegativeCall::InvalidParameter => {
            let is_parameter = |at: &str| !is_body(at);
            violate(problem, rng, &mut candidate, Some(operation), is_parameter)
                || add_parameter(rng, last_input(&mut candidate)?, tuning)
        }
        NegativeCall::InvalidBody => {
            let input = last_input(&mut candidate)?;
            if is_absent(input, "/body") {
                // What is there can be wrong.
                let tuning = GeneConfig {
                    optional: 1.0,
                    null: 0.0,
                    ..tuning.clone()
                };
                input.resample("/body", rng, &tuning);
            }
            violate(problem, rng, &mut candidate, Some(operation), is_body)
        }
        NegativeCall::MalformedBody => {
            break_request(problem, &mut candidate, operation, Rule::Syntax)
        }
        NegativeCall::UndocumentedContent => {
            break_request(problem, &mut candidate, operation, Rule::ContentType)
        }
        NegativeCall::Least => make_least(rng, last_input(&mut candidate)?, tuning),
        NegativeCall::Missing => {
            let mut pieces = problem.api.operations[operation].segments.iter();
            !problem.statuses()[operation].contains_key(&404)
                && pieces.any(|piece| matches!(piece, PathPiece::Parameter(_)))
        }
        NegativeCall::OddText => set_odd_text(last_input(&mut candidate)?),
    };
    is_changed.then_some(candidate)
}

fn last_input(candidate: &mut Candidate) -> Option<&mut Gene> {
    match &mut candidate.steps.last_mut()?.kind {
        StepKind::Call { action, .. } => Some(&mut action.gene),
        StepKind::Follow(_) => None,
    }
}

fn is_absent(input: &Gene, pointer: &str) -> bool {
    let mut is_absent = false;
    input.walk(|place| {
        is_absent |= place.pointer == pointer && matches!(place.value, GeneValue::Absent);
    });
    is_absent
}

/// Marks the last call as one whose request as a whole is broken.
fn break_request(
    problem: &RestProblem,
    candidate: &mut Candidate,
    operation: usize,
    rule: Rule,
) -> bool {
    let can_break = broken_body(rule, &problem.api.operations[operation]).is_some();
    match candidate.steps.last_mut().map(|step| &mut step.kind) {
        Some(StepKind::Call {
            breach: breach @ None,
            ..
        }) if can_break => {
            *breach = Some(RuleViolation {
                pointer: "/body".to_owned(),
                rule,
            });
            true
        }
        _ => false,
    }
}

/// Adds an optional parameter that is left out: any value may be a wrong one, also where the document has no rule for it.
fn add_parameter(rng: &mut Rng, input: &mut Gene, tuning: &GeneConfig) -> bool {
    let mut absent = Vec::new();
    input.walk(|place| {
        let is_parameter = ["/header/", "/query/", "/cookie/"]
            .iter()
            .any(|group| place.pointer.starts_with(group));
        if is_parameter && matches!(place.value, GeneValue::Absent) {
            absent.push(place.pointer.to_owned());
        }
    });
    let chosen = (!absent.is_empty()).then(|| absent.swap_remove(rng.usize(..absent.len())));
    chosen.is_some_and(|pointer| input.resample(&pointer, rng, tuning))
}

/// Gives query and body of an input all that is optional, null where it may be, and otherwise the least value: the first
/// one of a range, zero, the shortest text. What refers to other calls stays.
fn make_least(rng: &mut Rng, input: &mut Gene, tuning: &GeneConfig) -> bool {
    let tuning = GeneConfig {
        optional: 1.0,
        null: 1.0,
        example: 0.0,
        max_items: 0,
        ..tuning.clone()
    };
    let mut least = Gene::sample(input.model(), input.root(), rng, &tuning);
    let mut values = Vec::new();
    least.walk(|place| {
        let value = match &place.model.node(place.node).domain {
            _ if matches!(place.value, GeneValue::Absent | GeneValue::Null) => return,
            Domain::Integer(domain) if domain.bounded_below() => GeneValue::Integer(domain.min()),
            Domain::Integer(_) => GeneValue::Integer(0),
            Domain::Text(domain) => GeneValue::Text("0".repeat(domain.min() as usize).into()),
            _ => return,
        };
        values.push((place.pointer.to_owned(), value));
    });
    for (pointer, value) in &values {
        least.set(pointer, value.clone());
    }
    let mut kept = Vec::new();
    input.walk(|place| {
        if matches!(place.pointer, "/path" | "/header" | "/cookie") {
            kept.push((place.pointer.to_owned(), place.value.clone()));
        }
    });
    for (pointer, value) in kept {
        least.set(&pointer, value);
    }
    for (pointer, reference) in input.references() {
        least.bind(&pointer, reference);
    }
    *input = least;
    !values.is_empty() && input.check().is_ok()
}

/// Puts the text that databases refuse most often into the first field that may have it.
fn set_odd_text(input: &mut Gene) -> bool {
    let is_odd = |(_, value): &(String, GeneValue)| matches!(value, GeneValue::Text(text) if text.contains('\0'));
    let mut values = edge_case_values(input).into_iter().filter(is_odd);
    let changed = values.find_map(|value| with_value(input, value));
    changed.map(|changed| *input = changed).is_some()
}
