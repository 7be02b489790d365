//! Turns tests of the job into the neutral suite that writers print.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use isobath_emit::http::{
    Answer, Auth, Body, Capture, Check, FaultMark, Hole, HttpStep, HttpSuite, HttpTest, JsonType,
    Login, Outcome, Piece, Place, Request, Secret, Sending, Source, Text, Token, User,
};
use serde_json::Value;

use crate::auth::{self, Take, TokenPlace, TokenSource};
use crate::caller::Service;
use crate::candidate::{Step, What};
use crate::compare::{differences, is_within};
use crate::exchange::{Exchange, LOCATION};
use crate::job::Test;
use crate::openapi::Api;

/// Facts checked about one body at most; more would hide what matters.
const MOST_CHECKS: usize = 25;
/// Items of a list whose parts are checked.
const MOST_ITEMS: usize = 3;

/// The suite of a run: name, where the service is and who calls are taken from the service and the users.
#[must_use]
pub fn suite(name: &str, service: &Service, users: &[auth::User], tests: &[Test]) -> HttpSuite {
    let mut suite = HttpSuite::new(name, &service.base);
    suite.users = users.iter().map(user).collect();
    if let Some(reset) = &service.reset {
        let path = reset
            .request
            .url
            .strip_prefix(&service.base)
            .unwrap_or("/")
            .to_owned();
        let request = Request::new(reset.request.method.as_str(), path);
        suite.service.reset = Some(isobath_emit::http::Reset::Call(Box::new(request)));
    }
    let mut names = BTreeSet::new();
    for test in tests {
        let mut printed = Printer {
            api: &service.api,
            service,
            users,
            test,
            variables: BTreeMap::new(),
        }
        .print();
        // Two tests may be about the same thing in different ways.
        let plain = printed.name.clone();
        let mut number = 1;
        while !names.insert(printed.name.clone()) {
            number += 1;
            printed.name = format!("{plain}, case {number}");
        }
        printed.id = slug(&printed.name);
        suite.tests.push(printed);
    }
    suite
}

fn user(user: &auth::User) -> User {
    let secret = |name: &str, value: &str| {
        let variable = format!("{}_{}", slug(&user.name), slug(name)).to_ascii_uppercase();
        Text(vec![Piece::Secret(Secret {
            variable,
            value: Some(value.to_owned()),
        })])
    };
    let auth = match &user.login {
        None => Auth::Headers(
            user.headers
                .iter()
                .map(|(name, value)| (name.clone(), secret(name, value)))
                .collect(),
        ),
        Some(login) => {
            let path = match &login.call.endpoint {
                url if url.contains("://") => url.clone(),
                path => format!("/{}", path.trim_start_matches('/')),
            };
            let mut request = Request::new(login.call.method.clone(), path);
            for (name, value) in &login.call.headers {
                request = request.header(name.clone(), value.clone());
            }
            if let Some(text) = &login.call.body {
                let content_type = login.call.content_type.clone().unwrap_or_default();
                request = request.body(body(text.as_bytes(), &content_type, &[]));
            }
            let (token, cookies) = match &login.take {
                Take::Cookies => (None, true),
                Take::Token { from, to, template } => {
                    let from = match from {
                        TokenSource::Body(pointer) => Source::Body(Place::from_pointer(pointer)),
                        TokenSource::Header(name) => Source::Header(name.clone()),
                    };
                    let send = match to {
                        TokenPlace::Header(name) => Sending::Header(name.clone()),
                        TokenPlace::Query(name) => Sending::Query(name.clone()),
                    };
                    (
                        Some(Token {
                            from,
                            send,
                            template: template.clone(),
                        }),
                        false,
                    )
                }
            };
            Auth::Login(Box::new(Login {
                request,
                token,
                cookies,
            }))
        }
    };
    User {
        name: user.name.clone(),
        auth,
    }
}

/// A name as an identifier: small letters, digits, underscores.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
                slug.push('_');
            }
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
        before = c;
    }
    slug.trim_end_matches('_').to_owned()
}

struct Printer<'a> {
    api: &'a Api,
    service: &'a Service,
    users: &'a [auth::User],
    test: &'a Test,
    /// What was captured: the step and place, and its name.
    variables: BTreeMap<(u32, String), String>,
}

impl Printer<'_> {
    fn print(mut self) -> HttpTest {
        let mut steps: Vec<HttpStep> = Vec::new();
        for (index, exchange) in self.test.exchanges.iter().enumerate() {
            let Some(step) = self
                .test
                .candidate
                .steps
                .iter()
                .find(|step| step.id == exchange.step)
            else {
                continue;
            };
            let request = self.request(step, exchange);
            let again = self.test.again.get(index);
            let expect = self.expect(exchange, again);
            let mut printed = HttpStep::new(request, expect);
            printed.captures = self.captures(exchange);
            steps.push(printed);
        }
        let last = self.test.exchanges.last();
        let group = last
            .and_then(|exchange| exchange.operation)
            .map(|operation| self.api.operations[operation].name())
            .unwrap_or_default();
        let faults: Vec<FaultMark> = self
            .test
            .faults
            .iter()
            .map(|fault| FaultMark {
                code: fault.kind.code().into(),
                message: fault.detail.clone(),
                root_cause: fault.cause.clone(),
            })
            .collect();
        HttpTest {
            id: String::new(),
            name: self.name(),
            group: self
                .test
                .faults
                .first()
                .map_or(group, |fault| fault.operation.clone()),
            scenario: self.scenario(),
            covers: self.test.covers.clone(),
            faults,
            rows: Vec::new(),
            steps,
        }
    }

    /// The intent as a sentence.
    fn name(&self) -> String {
        if let Some(fault) = self.test.faults.first() {
            return fault.detail.clone();
        }
        let Some(last) = self.test.exchanges.last() else {
            return "nothing is called".into();
        };
        let operation = last
            .operation
            .map(|operation| self.api.operations[operation].name())
            .unwrap_or_else(|| "the new Location".into());
        let mut name = match last.status() {
            Some(status) => format!("{operation} answers {status}"),
            None => format!("{operation} does not answer"),
        };
        let step = self
            .test
            .candidate
            .steps
            .iter()
            .find(|step| step.id == last.step);
        if let Some(Step {
            what:
                What::Call {
                    breach: Some(breach),
                    ..
                },
            ..
        }) = step
        {
            let place = breach.pointer.trim_start_matches('/').replace('/', ".");
            name.push_str(&format!(" when {place} breaks {}", breach.rule));
        }
        let asks = last
            .operation
            .is_some_and(|operation| !self.api.operations[operation].security.is_empty());
        match last.user.and_then(|user| self.users.get(user)) {
            Some(user) if self.users.len() > 1 => name.push_str(&format!(" to {}", user.name)),
            None if asks && !self.users.is_empty() => name.push_str(" without authentication"),
            _ => {}
        }
        let scenario = self.scenario();
        if !scenario.is_empty() {
            name.push_str(&format!(" after {scenario}"));
        }
        name
    }

    /// What came before the last call.
    fn scenario(&self) -> String {
        let Some((_, before)) = self.test.exchanges.split_last() else {
            return String::new();
        };
        let mut names: Vec<String> = Vec::new();
        for operation in before.iter().filter_map(|exchange| exchange.operation) {
            let name = self.api.operations[operation].name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > 3 {
            return format!("{} and {} others", names[0], names.len() - 1);
        }
        names.join(" and ")
    }

    /// The references of a step that lead to something captured: where in the input, and the variable.
    fn bound(&self, step: &Step) -> Vec<(String, String)> {
        let Some(input) = step.input() else {
            return Vec::new();
        };
        input
            .references()
            .into_iter()
            .filter_map(|(pointer, reference)| {
                Some((
                    pointer,
                    self.variables
                        .get(&(reference.source, reference.place.to_string()))?
                        .clone(),
                ))
            })
            .collect()
    }

    fn request(&self, step: &Step, exchange: &Exchange) -> Request {
        let sent = &exchange.request;
        let session = step.user.and_then(|user| self.service.sessions.get(user));
        let bound = self.bound(step);
        let target = sent
            .url
            .strip_prefix(&self.service.base)
            .unwrap_or(&sent.url);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = match &step.what {
            What::Follow(source) => match self.variables.get(&(*source, LOCATION.to_owned())) {
                Some(variable) => Text::captured(variable.clone()),
                None => Text::from(path),
            },
            What::Call { action, .. } => self.path(action.operation, path, &bound),
        };
        let mut request = Request::new(sent.method.as_str(), path);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if session.is_some_and(|session| session.query.iter().any(|(other, _)| *other == name))
            {
                continue;
            }
            let variable = bound
                .iter()
                .find(|(pointer, _)| pointer.strip_prefix("/query/") == Some(&name))
                .map(|(_, variable)| variable);
            let value = variable.map_or_else(
                || Text::from(value.into_owned()),
                |variable| Text::captured(variable.clone()),
            );
            request = request.query(name.into_owned(), value);
        }
        let mut content_type = String::new();
        for (name, value) in &sent.headers {
            if name.eq_ignore_ascii_case("content-type") {
                content_type.clone_from(value);
            } else if !session.is_some_and(|session| {
                session
                    .headers
                    .iter()
                    .any(|(other, _)| other.eq_ignore_ascii_case(name))
            }) {
                let variable = bound
                    .iter()
                    .find(|(pointer, _)| pointer.strip_prefix("/header/") == Some(name))
                    .map(|(_, variable)| variable);
                let value = variable.map_or_else(
                    || Text::from(value.as_str()),
                    |variable| Text::captured(variable.clone()),
                );
                request = request.header(name.clone(), value);
            }
        }
        if !sent.body.is_empty() {
            request = request.body(body(&sent.body, &content_type, &bound));
        }
        if let Some(user) = step.user.and_then(|user| self.users.get(user)) {
            request = request.by(user.name.clone());
        }
        request
    }

    /// The path as it was sent, with what was captured in place of what was seen.
    fn path(&self, operation: usize, sent: &str, bound: &[(String, String)]) -> Text {
        let template: Vec<&str> = self.api.operations[operation].path.split('/').collect();
        let segments: Vec<&str> = sent.split('/').collect();
        if bound.is_empty() || template.len() != segments.len() {
            return Text::from(sent);
        }
        let mut text = Text::default();
        let mut literal = String::new();
        for (index, (part, segment)) in template.iter().zip(&segments).enumerate() {
            if index > 0 {
                literal.push('/');
            }
            let name = part
                .strip_prefix('{')
                .and_then(|part| part.strip_suffix('}'));
            let variable = name.and_then(|name| {
                bound
                    .iter()
                    .find(|(pointer, _)| pointer.strip_prefix("/path/") == Some(name))
            });
            match variable {
                Some((_, variable)) => {
                    text = text
                        .then(Piece::literal(std::mem::take(&mut literal)))
                        .then(Piece::captured(variable.clone()));
                }
                None => literal.push_str(segment),
            }
        }
        if !literal.is_empty() {
            text = text.then(Piece::literal(literal));
        }
        text
    }

    /// What later steps need of this answer.
    fn captures(&mut self, exchange: &Exchange) -> Vec<Capture> {
        let mut wanted: Vec<String> = Vec::new();
        for step in &self.test.candidate.steps {
            let sources: Vec<(u32, String)> = match &step.what {
                What::Call { action, .. } => {
                    // Of a Location only the whole can be captured, and a path parameter is its last part.
                    action
                        .gene
                        .references()
                        .into_iter()
                        .map(|(_, reference)| (reference.source, reference.place.to_string()))
                        .filter(|(_, place)| place != LOCATION)
                        .collect()
                }
                What::Follow(source) => vec![(*source, LOCATION.to_owned())],
            };
            wanted.extend(
                sources
                    .into_iter()
                    .filter(|(source, _)| *source == exchange.step)
                    .map(|(_, place)| place),
            );
        }
        wanted.sort();
        wanted.dedup();
        let mut captures = Vec::new();
        for place in wanted {
            let (from, sample) = if place == LOCATION {
                let Some(location) = exchange.location() else {
                    continue;
                };
                (
                    Source::Header("Location".into()),
                    Value::String(location.to_owned()),
                )
            } else {
                let Some(sample) = exchange.value(&place) else {
                    continue;
                };
                (
                    Source::Body(Place::from_pointer(
                        place.strip_prefix("body").unwrap_or_default(),
                    )),
                    sample,
                )
            };
            let variable = self.variable(exchange, &place);
            self.variables
                .insert((exchange.step, place), variable.clone());
            captures.push(Capture {
                variable,
                from,
                sample: Some(sample),
            });
        }
        captures
    }

    /// A name for a captured value that is not taken: `boat_id`.
    fn variable(&self, exchange: &Exchange, place: &str) -> String {
        let name = slug(
            place
                .rsplit('/')
                .find(|part| part.parse::<usize>().is_err())
                .unwrap_or("value"),
        );
        let path = exchange
            .operation
            .map(|operation| self.api.operations[operation].path.clone());
        let word = path
            .as_deref()
            .and_then(|path| {
                path.split('/')
                    .rev()
                    .find(|part| !part.is_empty() && !part.contains('{'))
            })
            .unwrap_or_default();
        let entity = slug(word.strip_suffix('s').unwrap_or(word));
        let plain = if entity.is_empty() || name.starts_with(&entity) {
            name
        } else {
            format!("{entity}_{name}")
        };
        let plain = if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() {
            format!("value_{plain}")
        } else {
            plain
        };
        let taken = |name: &str| self.variables.values().any(|other| other == name);
        let mut variable = plain.clone();
        let mut number = 1;
        while taken(&variable) {
            number += 1;
            variable = format!("{plain}_{number}");
        }
        variable
    }

    fn expect(&self, exchange: &Exchange, again: Option<&Exchange>) -> Outcome {
        let Some(response) = exchange.response() else {
            return match exchange.failure() {
                Some(isobath_exec::http::Failure::TimedOut) => Outcome::TimedOut,
                _ => Outcome::Dropped,
            };
        };
        let mut answer = Answer::status(response.status);
        answer.content_type = response.media_type().filter(|_| !response.body.is_empty());
        let Some(other) = again.and_then(Exchange::response) else {
            return answer.into();
        };
        if response.body.is_empty() && other.body.is_empty() {
            // What HTTP forbids a body for need not be checked.
            if !matches!(response.status, 204 | 304) {
                answer.body.push(Check::Empty);
            }
        } else if let (Some(a), Some(b)) =
            (&exchange.body, again.and_then(|again| again.body.as_ref()))
        {
            let mut restless = differences(a, b);
            if response.status >= 400 {
                messages(a, &mut String::new(), &mut restless);
            }
            answer.body = facts(a, &restless);
        } else if response.body == other.body
            && response.body.len() <= 200
            && exchange.body.is_none()
        {
            answer.body.push(Check::TextEquals {
                text: response.text().into_owned(),
            });
        }
        answer.into()
    }
}

fn body(bytes: &[u8], content_type: &str, bound: &[(String, String)]) -> Body {
    let base = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if base.ends_with("json")
        && let Ok(value) = serde_json::from_slice::<Value>(bytes)
    {
        let holes = bound
            .iter()
            .filter_map(|(pointer, variable)| {
                let at = pointer.strip_prefix("/body")?;
                value.pointer(at)?;
                Some(Hole {
                    at: Place::from_pointer(at),
                    value: Text::captured(variable.clone()),
                })
            })
            .collect();
        return Body::Json {
            value,
            holes,
            content_type: content_type.to_owned(),
        };
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if base == "application/x-www-form-urlencoded" => Body::Form(
            form_urlencoded::parse(text.as_bytes())
                .map(|(name, value)| (name.into_owned(), Text::from(value.into_owned())))
                .collect(),
        ),
        // The boundary is part of the type, so a multipart body is kept as it was sent.
        Ok(text) if !base.starts_with("multipart/") => Body::Text {
            content_type: content_type.to_owned(),
            text: Text::from(text),
        },
        _ => Body::Binary {
            content_type: content_type.to_owned(),
            base64: BASE64_STANDARD.encode(bytes),
        },
    }
}

/// Adds the messages for people in a refusal: they tell of lines and columns and change with every version.
fn messages(value: &Value, at: &mut String, restless: &mut BTreeSet<String>) {
    let end = at.len();
    let mut below = |segment: &str, value: &Value, restless: &mut BTreeSet<String>| {
        isobath_genes::push_segment(at, segment);
        messages(value, at, restless);
        at.truncate(end);
    };
    match value {
        Value::Object(object) => object
            .iter()
            .for_each(|(name, value)| below(name, value, restless)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| below(&index.to_string(), item, restless)),
        Value::String(text)
            if text.contains(' ') && text.contains(|c: char| c.is_ascii_digit()) =>
        {
            restless.insert(at.clone());
        }
        _ => {}
    }
}

/// The stable facts of a body.
fn facts(body: &Value, restless: &BTreeSet<String>) -> Vec<Check> {
    if restless.is_empty() && leaves(body) <= 12 {
        return vec![Check::Equals {
            at: Place::root(),
            value: body.clone(),
        }];
    }
    let mut checks = Vec::new();
    collect(body, &mut String::new(), restless, &mut checks);
    if checks.is_empty() {
        checks.push(Check::Type {
            at: Place::root(),
            is: JsonType::of(body),
        });
    }
    checks.truncate(MOST_CHECKS);
    checks
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(leaves).sum::<usize>().max(1),
        Value::Object(object) => object.values().map(leaves).sum::<usize>().max(1),
        _ => 1,
    }
}

fn collect(value: &Value, at: &mut String, restless: &BTreeSet<String>, checks: &mut Vec<Check>) {
    if is_within(at, restless) || checks.len() >= MOST_CHECKS {
        return;
    }
    let end = at.len();
    match value {
        Value::Array(items) => {
            checks.push(Check::Length {
                at: Place::from_pointer(at),
                items: items.len(),
            });
            for (index, item) in items.iter().take(MOST_ITEMS).enumerate() {
                at.push_str(&format!("/{index}"));
                collect(item, at, restless, checks);
                at.truncate(end);
            }
        }
        Value::Object(object) if !object.is_empty() => {
            for (name, value) in object {
                isobath_genes::push_segment(at, name);
                collect(value, at, restless, checks);
                at.truncate(end);
            }
        }
        value => checks.push(Check::Equals {
            at: Place::from_pointer(at),
            value: value.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_become_identifiers_that_can_be_read() {
        assert_eq!(
            slug("POST /boats/{boatId} answers 201"),
            "post_boats_boat_id_answers_201"
        );
        assert_eq!(slug("  x  "), "x");
    }

    #[test]
    fn what_changes_and_what_is_for_people_is_not_asserted() {
        let body =
            json!({"id": 7, "code": "E42", "detail": "bad at line 1 column 9", "tags": ["a", "b"]});
        let mut restless = BTreeSet::from(["/id".to_owned()]);
        messages(&body, &mut String::new(), &mut restless);
        let places: Vec<String> = facts(&body, &restless)
            .into_iter()
            .map(|check| match check {
                Check::Equals { at, value } => format!("{:?} = {value}", at.0),
                Check::Length { items, .. } => format!("{items} items"),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(places.len(), 4, "{places:?}");
        assert!(
            !places
                .iter()
                .any(|place| place.contains("id") && place.contains('7'))
        );
    }
}
