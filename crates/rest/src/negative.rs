//! Calls that should be refused, or that careless code trips over: each operation is called so once after the first pass.

use isobath_genes::{Domain, Gene, GeneConfig, Rule, RuleViolation, Value as GeneValue};
use isobath_search::Rng;
use serde_json::{Map, Value as Json};

use crate::action::broken_body;
use crate::candidate::{Candidate, StepKind};
use crate::first_pass::NegativeCall;
use crate::openapi::{Api, PathPiece};
use crate::problem::RestProblem;
use crate::sample::{
    any_user, append_operation, append_successful_prefix, edge_case_values, violate, with_value,
};

/// A candidate that ends with such calls of an operation; `None` where none of them can be, or all were seen already.
pub(crate) fn candidate(
    problem: &RestProblem,
    rng: &mut Rng,
    operation: usize,
    calls: &[NegativeCall],
) -> Option<Candidate> {
    let mut candidate = Candidate::default();
    let needs_prefix = calls.iter().any(|call| call.is_prepared());
    if !needs_prefix || append_successful_prefix(problem, rng, &mut candidate, operation).is_none()
    {
        let user = any_user(problem, rng);
        append_operation(problem, rng, &mut candidate, operation, user, 0);
    }
    let mut changed = Vec::new();
    for call in calls {
        let mut copy = candidate.clone();
        if change_last(problem, rng, &mut copy, operation, *call) == Some(true) {
            changed.extend(copy.steps.pop());
        }
    }
    candidate.steps.pop();
    let is_changed = !changed.is_empty();
    for step in changed {
        candidate.push(step.kind, step.user);
    }
    is_changed.then_some(candidate)
}

/// Turns the last call of a candidate into one that should be refused; says whether that could be done.
fn change_last(
    problem: &RestProblem,
    rng: &mut Rng,
    candidate: &mut Candidate,
    operation: usize,
    call: NegativeCall,
) -> Option<bool> {
    let is_body = |at: &str| at.starts_with("/body");
    let tuning = &problem.sampling.tuning;
    let is_changed = match call {
        NegativeCall::Anonymous => {
            candidate.steps.last_mut()?.user = None;
            problem.n_users > 0
        }
        NegativeCall::InvalidParameter => {
            let is_parameter = |at: &str| !is_body(at);
            violate(problem, rng, candidate, Some(operation), is_parameter) || {
                let input = last_input(candidate)?;
                let is_added =
                    add_parameter(rng, input, tuning) || release_parameter(rng, input, tuning);
                // What is there can be wrong, and is at least another one.
                violate(problem, rng, candidate, Some(operation), is_parameter) || is_added
            }
        }
        NegativeCall::InvalidBody => {
            let input = last_input(candidate)?;
            if is_absent(input, "/body") {
                // What is there can be wrong.
                let tuning = GeneConfig {
                    optional: 1.0,
                    null: 0.0,
                    ..tuning.clone()
                };
                input.resample("/body", rng, &tuning);
            }
            violate(problem, rng, candidate, Some(operation), is_body)
        }
        NegativeCall::NullBody => set_part(&problem.api, candidate, "/body", Json::Null),
        NegativeCall::EmptyBody => {
            set_part(&problem.api, candidate, "/body", Json::Object(Map::new()))
        }
        NegativeCall::ListBody => {
            set_part(&problem.api, candidate, "/body", Json::Array(Vec::new()))
        }
        NegativeCall::OddField(which) => {
            let (pointer, value) = odd_fields(last_input(candidate)?).into_iter().nth(which)?;
            set_part(&problem.api, candidate, &pointer, value)
        }
        NegativeCall::MalformedBody => break_request(problem, candidate, operation, Rule::Syntax),
        NegativeCall::UndocumentedContent => {
            break_request(problem, candidate, operation, Rule::ContentType)
        }
        NegativeCall::Least => make_least(rng, last_input(candidate)?, tuning),
        NegativeCall::Missing => {
            let mut pieces = problem.api.operation(operation).segments.iter();
            !problem.statuses()[operation].contains_key(&404)
                && pieces.any(|piece| matches!(piece, PathPiece::Parameter(_)))
        }
        NegativeCall::HugeId => set_huge_id(last_input(candidate)?),
        NegativeCall::Repeated => {
            let is_success = |status: &u16| (200..300).contains(status);
            &*problem.api.operation(operation).method == "POST"
                && problem.statuses()[operation].keys().any(is_success)
        }
        NegativeCall::OddText => set_odd_text(last_input(candidate)?),
        NegativeCall::Extreme(which) => {
            let input = last_input(candidate)?;
            let (pointer, extreme) = extremes(input).into_iter().nth(which)?;
            input.set_json(&pointer, &extreme)
        }
    };
    Some(is_changed)
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

/// Null in each field of a body, then a list of null in each that takes no list.
fn odd_fields(input: &Gene) -> Vec<(String, Json)> {
    let (mut nulls, mut lists) = (Vec::new(), Vec::new());
    input.walk(|place| {
        let is_field =
            place.pointer.starts_with("/body/") && place.pointer.matches('/').count() == 2;
        let is_seen =
            |odd: &[(String, Json)]| odd.last().is_some_and(|(at, _)| at == place.pointer);
        if !is_field || is_seen(&nulls) {
            return;
        }
        let takes_list = matches!(place.model.node(place.node).domain, Domain::Array(_));
        nulls.push((place.pointer.to_owned(), Json::Null));
        if !takes_list {
            lists.push((place.pointer.to_owned(), Json::Array(vec![Json::Null])));
        }
    });
    nulls.extend(lists);
    nulls
}

/// Gives the last call another body, or another value in a field of it, and says which rule that breaks; false if it has
/// none, or none of JSON.
fn set_part(api: &Api, candidate: &mut Candidate, pointer: &str, value: Json) -> bool {
    let kind = candidate.steps.last_mut().map(|step| &mut step.kind);
    let Some(StepKind::Call { action, breach }) = kind else {
        return false;
    };
    let operation = api.operations.get(action.operation);
    if !operation.is_some_and(|operation| action.sends_json(operation)) {
        return false;
    }
    let is_set = action.gene.set_json(pointer, &value);
    let mismatch = action.gene.check().err();
    let mismatch = mismatch.filter(|mismatch| mismatch.pointer.starts_with("/body"));
    *breach = mismatch.map(|mismatch| {
        // With several content types, null and a list are alternatives that fit none.
        let (pointer, rule) = match value {
            Json::Null => (pointer.to_owned(), Rule::NotNull),
            Json::Array(_) => (pointer.to_owned(), Rule::Type),
            _ => (mismatch.pointer, mismatch.rule),
        };
        RuleViolation { pointer, rule }
    });
    is_set
}

/// Marks the last call as one whose request as a whole is broken.
fn break_request(
    problem: &RestProblem,
    candidate: &mut Candidate,
    operation: usize,
    rule: Rule,
) -> bool {
    let can_break = broken_body(rule, problem.api.operation(operation)).is_some();
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

/// Gives a parameter that an earlier call fills a value of its own; false if there is none.
fn release_parameter(rng: &mut Rng, input: &mut Gene, tuning: &GeneConfig) -> bool {
    let filled = input.references().into_iter();
    let mut filled = filled.map(|(pointer, _)| pointer);
    let parameter = filled.find(|pointer| !pointer.starts_with("/body"));
    parameter.is_some_and(|pointer| input.resample(&pointer, rng, tuning))
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

/// More than any database or machine has for an integer.
const HUGE: &str = "100000000000000000000";

/// Gives the last number of the path a value that no database has, where the document allows that.
fn set_huge_id(input: &mut Gene) -> bool {
    let mut last = None;
    input.walk(|place| {
        if place.pointer.starts_with("/path/")
            && let Domain::Integer(domain) = &place.model.node(place.node).domain
            && !domain.bounded_above()
        {
            last = Some(place.pointer.to_owned());
        }
    });
    last.is_some_and(|pointer| input.set_json(&pointer, &HUGE.into()))
}

/// Valid and extreme values for single parameters of the query and fields of the body: null, minus one, a huge number, an
/// empty text; the first of each place, then the second of each.
fn extremes(input: &Gene) -> Vec<(String, Json)> {
    let mut extremes: Vec<(usize, String, Json)> = Vec::new();
    input.walk(|place| {
        let (is_query, is_body) = (
            place.pointer.starts_with("/query/"),
            place.pointer.starts_with("/body/"),
        );
        let is_top_level = place.pointer.matches('/').count() == 2;
        if !(is_query || is_body) || !is_top_level || matches!(place.value, GeneValue::Bound(_)) {
            return;
        }
        let node = place.model.node(place.node);
        let mut own = Vec::new();
        if is_body && node.nullable {
            own.push(Json::Null);
        }
        match &node.domain {
            Domain::Integer(domain) => {
                if domain.min() < 0 {
                    own.push((-1).into());
                }
                // In a query every number is a text.
                if !domain.bounded_above() {
                    own.push(if is_query {
                        HUGE.into()
                    } else {
                        u64::MAX.into()
                    });
                }
            }
            Domain::Text(domain) if domain.min() == 0 => own.push("".into()),
            _ => {}
        }
        let places = own.into_iter().enumerate();
        extremes.extend(places.map(|(at, value)| (at, place.pointer.to_owned(), value)));
    });
    extremes.sort_by_key(|(at, ..)| *at);
    let values = extremes.into_iter();
    values.map(|(_, pointer, value)| (pointer, value)).collect()
}

/// Puts the text that databases refuse most often into the first field that may have it.
fn set_odd_text(input: &mut Gene) -> bool {
    let is_odd = |(_, value): &(String, GeneValue)| matches!(value, GeneValue::Text(text) if text.contains('\0'));
    let mut values = edge_case_values(input).into_iter().filter(is_odd);
    let changed = values.find_map(|value| with_value(input, value));
    changed.map(|changed| *input = changed).is_some()
}

#[cfg(test)]
mod tests {
    use isobath_genes::Unresolved;
    use serde_json::json;

    use super::*;
    use crate::openapi::{NoLoader, read};

    /// The document of an operation with a limit in the query and a body of an optional text, a number and a list.
    fn api(content_type: &str) -> Api {
        let document = json!({ "openapi": "3.0.0", "paths": { "/boats": { "post": {
            "parameters": [
                { "name": "limit", "in": "query", "schema": { "type": "integer" } },
                { "name": "version", "in": "header", "schema": { "type": "integer" } } ],
            "requestBody": { "required": true, "content": { content_type: { "schema": {
                "type": "object", "properties": {
                    "name": { "type": "string", "nullable": true },
                    "length": { "type": "integer", "minimum": 3 },
                    "masts": { "type": "array", "items": { "type": "integer" } } } } } } },
            "responses": {} } } } });
        read(&document.to_string(), "api.json", &NoLoader).expect("a document")
    }

    /// An input of that operation.
    fn input() -> Gene {
        input_of(&api("application/json"))
    }

    fn input_of(api: &Api) -> Gene {
        let values = json!({ "query": {}, "header": {}, "body": {} });
        Gene::read(&api.model, api.operations[0].input, &values).expect("a valid input")
    }

    #[test]
    fn extreme_values_are_valid_and_take_turns() {
        let extremes = extremes(&input()).into_iter();
        let extremes: Vec<String> = extremes
            .map(|(at, value)| format!("{at} {value}"))
            .collect();
        assert_eq!(
            extremes,
            [
                "/query/limit -1",
                "/body/name null",
                "/body/length 18446744073709551615",
                "/query/limit \"100000000000000000000\"",
                "/body/name \"\""
            ]
        );
    }

    #[test]
    fn each_field_of_a_body_is_null_once_and_a_list_once() {
        let odd = odd_fields(&input()).into_iter();
        let odd: Vec<String> = odd.map(|(at, value)| format!("{at} {value}")).collect();
        assert_eq!(
            odd,
            [
                "/body/name null",
                "/body/length null",
                "/body/masts null",
                "/body/name [null]",
                "/body/length [null]"
            ]
        );
        let api = api("application/json");
        let mut candidate = Candidate::default();
        candidate.push(StepKind::call(0, input_of(&api)), None);
        let breach = |candidate: &Candidate| match &candidate.steps[0].kind {
            StepKind::Call { breach, .. } => breach.clone(),
            StepKind::Follow(_) => None,
        };
        // The document allows the first one.
        assert!(set_part(&api, &mut candidate, "/body/name", Json::Null));
        assert_eq!(breach(&candidate), None);
        assert!(set_part(&api, &mut candidate, "/body/length", Json::Null));
        let breach = breach(&candidate).expect("it breaks a rule");
        assert_eq!(breach.pointer, "/body/length");
    }

    #[test]
    fn the_least_input_has_all_that_is_optional_but_for_headers() {
        let mut least = input();
        let mut rng = Rng::with_seed(1);
        assert!(make_least(&mut rng, &mut least, &GeneConfig::default()));
        assert_eq!(
            least.to_json(&Unresolved),
            Some(json!({ "query": { "limit": 0 }, "header": {},
                "body": { "name": null, "length": 3, "masts": [] } }))
        );
    }

    #[test]
    fn an_empty_body_is_invalid_where_something_is_required() {
        let api = api("application/json");
        let mut candidate = Candidate::default();
        candidate.push(StepKind::call(0, input_of(&api)), None);
        let rule = |candidate: &Candidate| match &candidate.steps[0].kind {
            StepKind::Call { breach, .. } => breach.as_ref().map(|breach| breach.rule),
            StepKind::Follow(_) => None,
        };
        assert!(set_part(&api, &mut candidate, "/body", json!({})));
        assert_eq!(rule(&candidate), None);
        assert!(set_part(&api, &mut candidate, "/body", Json::Null));
        assert_eq!(rule(&candidate), Some(Rule::NotNull));
    }

    #[test]
    fn a_body_that_may_not_be_json_is_not_replaced_by_json() {
        let is_replaced = |api: &Api, gene: Gene| {
            let mut candidate = Candidate::default();
            candidate.push(StepKind::call(0, gene), None);
            set_part(api, &mut candidate, "/body", json!({}))
        };
        let yaml = api("application/x-yaml");
        assert!(!is_replaced(&yaml, input_of(&yaml)));
        let document = json!({ "openapi": "3.0.0", "paths": { "/files": { "post": {
            "requestBody": { "required": true, "content": { "*/*": { "schema": {
                "type": "string", "format": "binary" } } } },
            "responses": {} } } } });
        let file = read(&document.to_string(), "api.json", &NoLoader).expect("a document");
        let mut rng = Rng::with_seed(1);
        let config = GeneConfig::default();
        let gene = Gene::sample(&file.model, file.operations[0].input, &mut rng, &config);
        assert!(!is_replaced(&file, gene));
    }

    #[test]
    fn an_optional_parameter_that_was_left_out_is_added() {
        let mut changed = input();
        let mut rng = Rng::with_seed(1);
        assert!(add_parameter(
            &mut rng,
            &mut changed,
            &GeneConfig::default()
        ));
        let json = changed.to_json(&Unresolved).expect("an input");
        let n_parameters =
            ["query", "header"].map(|group| json[group].as_object().map_or(0, |own| own.len()));
        assert_eq!(n_parameters.iter().sum::<usize>(), 1, "{json}");
    }
}
