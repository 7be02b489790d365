//! Recognizes tests that need what earlier calls of the run left behind: a fresh service does not have it.

use std::collections::BTreeSet;
use std::sync::Arc;

use isobath_exec::RefusalKind;
use isobath_exec::http::Method;
use isobath_genes::{Domain, Rule};

use super::finish::Finish;
use super::readable::statuses;
use crate::candidate::{Candidate, StepKind};
use crate::db_oracle::violated;
use crate::exchange::{Exchange, Origin, is_about_own, texts_in};
use crate::first_look::is_of_one_list;
use crate::openapi::Api;
use crate::per_operation::PerOperation;
use crate::problem::stable_pointer;
use crate::unique::with_new_names;

/// A number that identifies nothing, and so do those below it.
const UNKNOWN_ID: i64 = 1_987_654_321;

/// Numbers below this may identify something sooner or later.
const FEW: i64 = 1_000_000;

impl Finish<'_> {
    /// The candidate with names that nothing was found under, or that were refused, replaced by others that will not
    /// identify anything on a fresh service, or after other tests, either; `None` if it has no such.
    pub(super) fn naming_nothing(
        &self,
        candidate: &Candidate,
        exchanges: &[Exchange],
    ) -> Option<Candidate> {
        if self.caller.service().is_reset() {
            return None;
        }
        let mut other = with_own_names(candidate, exchanges);
        let mut is_changed = false;
        for step in &mut other.steps {
            let exchange = exchanges.iter().find(|one| one.step == step.id);
            let status = exchange.and_then(Exchange::status);
            let StepKind::Call { action, breach } = &mut step.kind else {
                continue;
            };
            if status.is_none_or(|status| status < 400) || breach.is_some() {
                continue;
            }
            let is_missing = matches!(status, Some(404 | 410));
            let mut named = Vec::new();
            action.gene.walk(|place| {
                let is_listed = matches!(place.model.node(place.node).domain, Domain::Enum(_));
                let Some(text) = place.text_or_integer().filter(|_| !is_listed) else {
                    return;
                };
                let unknown = match text.parse::<i64>() {
                    Ok(number) if (1..FEW).contains(&number) => UNKNOWN_ID.into(),
                    Ok(_) => return,
                    Err(_) => unknown_text(&text).into(),
                };
                let may_be_found = match place.pointer.starts_with("/path/") {
                    true => is_missing,
                    false => self.may_identify(action.operation, place.pointer, &text),
                };
                if may_be_found {
                    named.push((place.pointer.to_owned(), unknown));
                }
            });
            for (pointer, unknown) in named {
                is_changed |= action.gene.set_json(&pointer, &unknown);
            }
        }
        is_changed.then_some(other)
    }

    /// Whether a number outside of the path identifies what another operation creates, and did not identify anything
    /// before the run: on a fresh service the next one may be given it.
    fn may_identify(&self, operation: usize, pointer: &str, text: &str) -> bool {
        let service = self.caller.service();
        let dependencies = self.problem.resources().dependencies(operation).iter();
        let mut producers = dependencies
            .filter(|dependency| stable_pointer(&dependency.pointer) == stable_pointer(pointer))
            .flat_map(|dependency| &dependency.producers)
            .peekable();
        text.parse::<i64>().is_ok()
            && producers.peek().is_some()
            && !producers.any(|producer| service.first_looks.returned(producer.operation, text))
    }

    /// Whether an input names something that was not there before the run and that the test does not make: with another
    /// name in its place the calls are answered otherwise.
    pub(super) fn names_leftovers(
        &mut self,
        candidate: &Candidate,
        exchanges: &[Exchange],
    ) -> bool {
        let service = Arc::clone(self.caller.service());
        if service.is_reset() {
            return false;
        }
        let is_success = |status: &u16| (200..300).contains(status);
        let seen = self.statuses();
        let creators = PerOperation::new(&service.api, |index| {
            let method = &*service.api.operation(index).method;
            matches!(method, "POST" | "PUT") && seen[index].keys().any(is_success)
        });
        let mut other = with_own_names(candidate, exchanges);
        let (mut changed, mut has_name) = (BTreeSet::new(), false);
        for step in &mut other.steps {
            let exchange = exchanges.iter().enumerate();
            let exchange = exchange.into_iter().find(|(_, one)| one.step == step.id);
            let StepKind::Call { action, breach } = &mut step.kind else {
                continue;
            };
            // What is not found, or not shown to this user, need not be there.
            let is_found =
                |one: &Exchange| !matches!(one.status(), None | Some(401 | 403 | 404 | 410));
            let Some((at, _)) = exchange.filter(|(_, one)| is_found(one)) else {
                continue;
            };
            let made: BTreeSet<String> = exchanges
                .iter()
                .take(at)
                .filter(|one| one.succeeded() && one.request.method != Method::GET)
                .filter_map(|one| one.sent.as_ref())
                .flat_map(names_in)
                .collect();
            let mut named = Vec::new();
            let path = &service.api.operation(action.operation).path;
            // What stands elsewhere is not in the collection above this path.
            let above = |pointer: &str| {
                if pointer.starts_with("/path/") {
                    path
                } else {
                    ""
                }
            };
            let is_near_creator = creators
                .iter()
                .zip(&service.api.operations)
                .any(|(&is_creator, operation)| is_creator && is_near(&operation.path, path));
            let dependencies = self.problem.resources().dependencies(action.operation);
            // What no call was seen to create, others may have created on the way.
            let is_creatable = |pointer: &str| {
                let stable = stable_pointer(pointer);
                let known = dependencies.iter();
                let mut own =
                    known.filter(|dependency| stable_pointer(&dependency.pointer) == stable);
                own.any(|dependency| {
                    let mut producers = dependency.producers.iter();
                    producers.any(|producer| creators[producer.operation])
                })
            };
            action.gene.walk(|place| {
                // A number that is too large still is with another one in its place.
                let is_broken = breach.as_ref().is_some_and(|breach| {
                    *breach.pointer == *place.pointer && breach.rule != Rule::Maximum
                });
                let is_listed = matches!(place.model.node(place.node).domain, Domain::Enum(_));
                let is_of_path = place.pointer.starts_with("/path/");
                let is_name = is_creatable(place.pointer)
                    || is_of_path && is_near_creator && place.text().is_some();
                let may_be_name = is_of_path && !is_listed && service.first_looks.is_written();
                if !is_broken
                    && (is_name || may_be_name)
                    && let Some(text) = place.text_or_integer()
                    && !made.contains(&text)
                    && !service
                        .first_looks
                        .had(&service.api, above(place.pointer), &text)
                {
                    has_name |= is_name;
                    named.push((place.pointer.to_owned(), text));
                }
            });
            for (pointer, text) in named {
                // Another one each time: an earlier run like this may have created what it named.
                let unknown = crate::fault::fingerprint("x", &format!("{text} {}", self.calls));
                let unknown_id = UNKNOWN_ID - self.calls as i64;
                // Where the text is a number, no other text may be read as one.
                let is_number = text.parse::<i64>().is_ok();
                let mut set = |value: serde_json::Value| action.gene.set_json(&pointer, &value);
                let is_changed = is_number
                    && (set(unknown_id.into()) || set(unknown_id.to_string().into()))
                    || set(unknown.into());
                if is_changed {
                    changed.insert(step.id);
                }
            }
        }
        if changed.is_empty() {
            return false;
        }
        let again = self.run(&other).unwrap_or_default();
        // What may also be a number to calculate with is a name if nothing is found under another one.
        let is_missing = |one: &Exchange| matches!(one.status(), Some(404 | 410));
        // A name that nobody knows is found by now, and others were not before: something else decides.
        let seen = self.statuses();
        let was_missing = |one: &Exchange| {
            let statuses = one.operation.map(|operation| &seen[operation]);
            statuses.is_some_and(|statuses| statuses.contains_key(&404))
        };
        let is_found = |one: &Exchange| {
            changed.contains(&one.step) && one.request.method == Method::GET && one.succeeded()
        };
        statuses(&again) != statuses(exchanges) && (has_name || again.iter().any(is_missing))
            || again.iter().any(|one| is_found(one) && was_missing(one))
    }

    /// Whether a test shows a call that fails for whatever it is asked, and did not when it first succeeded: what
    /// earlier calls left behind is the reason, and the test does not make it.
    pub(super) fn fails_by_now(&mut self, exchanges: &[Exchange]) -> bool {
        let service = Arc::clone(self.caller.service());
        let writes =
            |exchange: &Exchange| exchange.request.method != Method::GET && exchange.succeeded();
        if service.is_reset() {
            return false;
        }
        // What the test wrote before may be the reason.
        let unwritten = exchanges.iter().take_while(|exchange| !writes(exchange));
        let failed =
            unwritten.filter(|exchange| exchange.status().is_some_and(|status| status >= 500));
        for exchange in failed {
            let Some(operation) = exchange.operation else {
                continue;
            };
            let first = service.first_looks.first_input(exchange);
            let is_first = first.is_some();
            let plain = match first {
                Some(plain) => {
                    let mut candidate = Candidate::default();
                    candidate.push(StepKind::call(operation, plain), exchange.user);
                    Some(candidate)
                }
                None => self.repeatable(operation),
            };
            let again = plain.and_then(|plain| self.run(&plain)).unwrap_or_default();
            let fails_alike = |again: &Exchange| {
                again.status() == exchange.status() && (is_first || again.body == exchange.body)
            };
            if again.last().is_some_and(fails_alike) {
                return true;
            }
        }
        false
    }

    /// What an operation that creates nothing succeeded with, under other names: what is there already is not in its way.
    fn repeatable(&self, operation: usize) -> Option<Candidate> {
        let is_creator = self.statuses()[operation].contains_key(&201);
        let prefix = self.problem.successful_prefixes[operation].first();
        let prefix = prefix.filter(|_| !is_creator)?;
        let called = prefix.steps.iter();
        let called: Vec<(u32, usize)> = called
            .filter_map(|step| Some((step.id, step.operation()?)))
            .collect();
        let renamed = with_new_names(prefix, &called, self.calls);
        Some(renamed.unwrap_or_else(|| prefix.clone()))
    }

    /// Whether a candidate needs what earlier calls left behind: something that it is in conflict with, or an item of a
    /// list that was not there in the first look, and that it did not make.
    pub(super) fn needs_leftovers(&self, candidate: &Candidate, exchanges: &[Exchange]) -> bool {
        let service = self.caller.service();
        if service.is_reset() {
            return false;
        }
        if has_foreign_conflict(&service.api, exchanges)
            || self.meets_leftover(exchanges)
            || self.misses_unnamed(exchanges)
        {
            return true;
        }
        let steps = candidate.steps.iter();
        let references = steps.filter_map(|step| Some((step.id, step.input()?.references())));
        let mut references = references
            .flat_map(|(step, references)| references.into_iter().map(move |one| (step, one)));
        references.any(|(step, (pointer, reference))| {
            let mut sources = exchanges.iter();
            let source = sources.find(|exchange| exchange.step == reference.source);
            let Some(Origin::Body(place)) = Origin::read(&reference.place) else {
                return false;
            };
            let is_item = place.split('/').any(|part| part.parse::<usize>().is_ok());
            let Some(source) = source.filter(|_| is_item) else {
                return false;
            };
            if is_about_own(candidate, exchanges, source.step) || source.status() == Some(201) {
                return false;
            }
            if source.request.method == Method::GET {
                // What is not below an item of a list may be there after other tests, or below another item.
                let mut all = exchanges.iter();
                let is_missing = all.any(|exchange| {
                    exchange.step == step && matches!(exchange.status(), Some(404 | 410))
                });
                let first = service.first_looks.of(source);
                return is_missing && pointer.starts_with("/path/")
                    || service.first_looks.is_unknown(source)
                    || first.iter().any(|first| {
                        first.pointer(place).is_none() || is_of_one_list(first, place)
                    });
            }
            // A call that answers with a list of what it was sent.
            let value = source.value(&reference.place);
            let sent = source
                .sent
                .as_ref()
                .map(|sent| texts_in(sent, 1))
                .unwrap_or_default();
            !value.is_some_and(|value| value.as_str().is_some_and(|text| sent.contains(text)))
        })
    }

    /// Whether a GET does not find something that it does not name: what others create or delete may decide.
    fn misses_unnamed(&self, exchanges: &[Exchange]) -> bool {
        exchanges.iter().any(|exchange| {
            let Some(operation) = exchange.operation else {
                return false;
            };
            let path = &self.caller.service().api.operation(operation).path;
            let sent = exchange.sent.as_ref();
            matches!(exchange.status(), Some(404 | 410))
                && exchange.request.method == Method::GET
                && !path.contains('{')
                && sent.is_none_or(|sent| names_in(sent).is_empty())
        })
    }

    /// Whether a POST says by a 200 that it made nothing new, where it also answers 201, and no earlier call of the test
    /// made it.
    fn meets_leftover(&self, exchanges: &[Exchange]) -> bool {
        let statuses = self.statuses();
        let is_post = |exchange: &Exchange| exchange.request.method == Method::POST;
        exchanges.iter().enumerate().any(|(at, exchange)| {
            let Some(operation) = exchange.operation else {
                return false;
            };
            let makes_it = |earlier: &Exchange| {
                earlier.operation == Some(operation) && earlier.status() == Some(201)
            };
            is_post(exchange)
                && exchange.status() == Some(200)
                && statuses[operation].contains_key(&201)
                && !exchanges.iter().take(at).any(makes_it)
        })
    }
}

/// A text about as long that nothing is named by.
fn unknown_text(text: &str) -> String {
    let unlikely = crate::fault::fingerprint("x", text);
    let length = text.chars().count().clamp(6, 16);
    let from = unlikely.len().saturating_sub(length);
    unlikely.get(from..).unwrap_or(&unlikely).to_owned()
}

/// The candidate, in which what a response was to give and did not is named by the test itself.
fn with_own_names(candidate: &Candidate, exchanges: &[Exchange]) -> Candidate {
    candidate.bound_to(|reference| {
        let mut all = exchanges.iter();
        let source = all.find(|exchange| exchange.step == reference.source);
        let source = source.filter(|source| source.succeeded());
        source.is_some_and(|source| source.value(&reference.place).is_some())
    })
}

/// Whether two paths are of the same resources: what stands before the first parameter of one begins that of the other.
fn is_near(path: &str, other: &str) -> bool {
    fn fixed(path: &str) -> impl Iterator<Item = &str> {
        let parts = path.split('/').filter(|part| !part.is_empty());
        parts.take_while(|part| !part.contains('{'))
    }
    fixed(path).zip(fixed(other)).all(|(a, b)| a == b)
}

/// Whether the name at the end of a pointer is that of an identifier: `id`, `boat_id`, `boatId`, `boat_pk`.
pub(super) fn is_identifier(pointer: &str) -> bool {
    let name = pointer
        .rsplit('/')
        .find(|part| part.parse::<usize>().is_err());
    let name = name.unwrap_or_default();
    matches!(name, "id" | "ids" | "pk" | "uuid")
        || ["_id", "_ids", "Id", "Ids", "ID", "_pk", "_uuid"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Whether a call is refused for a conflict with something that no earlier call of the same test created: none that is of
/// the same resources was sent its texts.
fn has_foreign_conflict(api: &Api, exchanges: &[Exchange]) -> bool {
    let is_taken = |exchange: &Exchange| {
        exchange.status() == Some(409)
            || violated(exchange).is_some_and(|refusal| {
                matches!(refusal.kind, RefusalKind::Unique | RefusalKind::PrimaryKey)
            })
    };
    let mut numbered = exchanges.iter().enumerate();
    let Some((at, taken)) = numbered.find(|(_, exchange)| is_taken(exchange)) else {
        return false;
    };
    let refused = taken
        .sent
        .as_ref()
        .map(|sent| texts_in(sent, 1))
        .unwrap_or_default();
    let makes_it = |exchange: &Exchange| {
        let sent = exchange
            .sent
            .as_ref()
            .map(|sent| texts_in(sent, 1))
            .unwrap_or_default();
        let path = |exchange: &Exchange| Some(&*api.operation(exchange.operation?).path);
        let are_near = path(exchange).zip(path(taken));
        exchange.succeeded()
            && exchange.request.method != Method::GET
            && are_near.is_none_or(|(path, other)| is_near(path, other))
            && (exchange.sent == taken.sent || !sent.is_disjoint(&refused))
    };
    !exchanges.iter().take(at).any(makes_it)
}

/// The texts of a value, and the numbers that are identifiers.
fn names_in(value: &serde_json::Value) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = texts_in(value, 1).into_iter().map(str::to_owned).collect();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            serde_json::Value::Array(items) => left.extend(items),
            serde_json::Value::Object(members) => {
                let is_named = |(name, value): &(&String, &serde_json::Value)| {
                    value.is_number() && is_identifier(name)
                };
                let numbers = members.iter().filter(is_named);
                names.extend(numbers.map(|(_, value)| value.to_string()));
                left.extend(members.values());
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use isobath_exec::http::{BodyCompleteness, Call, CallOutcome, Method, Request, Response};
    use serde_json::json;

    use super::{has_foreign_conflict, is_near};
    use crate::exchange::Exchange;
    use crate::openapi::{self, NoLoader};

    #[test]
    fn an_operation_creates_what_stands_below_its_path() {
        assert!(is_near("/boats", "/boats/{name}"));
        assert!(is_near("/boats/", "/boats/by-name/{name}"));
        assert!(is_near("/boats/{name}", "/boats/{name}/crew"));
        assert!(is_near("/{harbor}/boats", "/boats/{name}"));
        assert!(!is_near("/api/orders", "/api/dates/{date}"));
    }

    #[test]
    fn a_conflict_is_with_what_a_call_of_the_same_resources_created() {
        let document = "
openapi: 3.0.0
info: {title: Boats, version: '1'}
paths:
  /boats: {post: {responses: {'201': {description: made}}}}
  /owners: {post: {responses: {'201': {description: made}}}}
";
        let api = openapi::read(document, "boats.yaml", &NoLoader).expect("a good document");
        let post = |path: &str, status: u16| {
            let operation = api.operations.iter().position(|one| *one.path == *path);
            let call = Call {
                outcome: CallOutcome::Answered(Response {
                    status,
                    headers: Default::default(),
                    body: "{}".into(),
                    completeness: BodyCompleteness::Complete,
                }),
                elapsed: Duration::ZERO,
                repeated: false,
                waited: Duration::ZERO,
                hops: Vec::new(),
            };
            let request = Request::new(Method::POST, format!("http://localhost{path}"));
            let mut exchange = Exchange::new(0, operation, None, request, call);
            exchange.sent = Some(json!({ "body": { "name": "ada" } }));
            exchange
        };
        let is_foreign =
            |first: &str| has_foreign_conflict(&api, &[post(first, 201), post("/boats", 409)]);
        assert!(!is_foreign("/boats"));
        assert!(is_foreign("/owners"), "the same text means something else");
    }
}
