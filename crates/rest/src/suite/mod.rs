//! Turns tests of the job into the neutral suite that writers print.

mod body;
mod facts;
mod users;

use std::collections::{BTreeMap, BTreeSet};

use isobath_emit::http::{
    Answer, Capture, Check, FaultMark, HttpStep, HttpSuite, HttpTest, Outcome, Piece, Place,
    Request, Source, Text,
};
use isobath_genes::push_segment;

use self::body::Marks;
use self::facts::{facts, messages};
use crate::auth;
use crate::caller::Service;
use crate::candidate::{Step, What};
use crate::compare::differences;
use crate::exchange::{Exchange, LOCATION};
use crate::job::Test;
use crate::openapi::Api;
use crate::session::Session;

/// The suite of a run: name, where the service is and who calls are taken from the service and the users.
#[must_use]
pub fn suite(name: &str, service: &Service, users: &[auth::User], tests: &[Test]) -> HttpSuite {
    let mut suite = HttpSuite::new(name, &service.base);
    suite.users = users.iter().map(users::user).collect();
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

/// The place of a parameter in the input: `filter[name]` is a part of `filter`.
fn pointer(group: &str, name: &str) -> String {
    let mut pointer = format!("/{group}");
    for part in name.split('[') {
        push_segment(&mut pointer, part.strip_suffix(']').unwrap_or(part));
    }
    pointer
}

/// The pairs of a Cookie header.
fn cookies(header: &str) -> Vec<(&str, &str)> {
    let pairs = header.split(';').map(str::trim);
    pairs.filter_map(|pair| pair.split_once('=')).collect()
}

/// What of a place is captured: of a Location it is the id at its end, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Taken {
    Value,
    Whole,
}

impl Taken {
    fn place(self, place: &str) -> String {
        match self {
            Taken::Value => place.to_owned(),
            Taken::Whole => format!("whole {place}"),
        }
    }
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
                        .get(&(reference.source, Taken::Value.place(&reference.place)))?
                        .clone(),
                ))
            })
            .collect()
    }

    fn request(&self, step: &Step, exchange: &Exchange) -> Request {
        let sent = &exchange.request;
        let proof = step
            .user
            .and_then(|user| self.service.sessions.get(user))
            .map(Session::proof);
        let bound = self.bound(step);
        let target = sent
            .url
            .strip_prefix(&self.service.base)
            .unwrap_or(&sent.url);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = match &step.what {
            What::Follow(source) => {
                let place = (*source, Taken::Whole.place(LOCATION));
                match self.variables.get(&place) {
                    Some(variable) => Text::captured(variable.clone()),
                    None => Text::from(path),
                }
            }
            What::Call { action, .. } => self.path(action.operation, path, &bound),
        };
        let mut request = Request::new(sent.method.as_str(), path);
        let given = |group: &str, name: &str, value: &str| {
            let pointer = pointer(group, name);
            match bound.iter().find(|(place, _)| *place == pointer) {
                Some((_, variable)) => Text::captured(variable.clone()),
                None => Text::from(value),
            }
        };
        let mut met: BTreeMap<String, usize> = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if let Some(proof) = &proof
                && proof.query.iter().any(|(other, _)| *other == name)
            {
                continue;
            }
            // Of a list that is spread over several pairs, each item has its number.
            let number = met.entry(name.to_string()).or_default();
            let mut text = given("query", &format!("{name}[{number}]"), &value);
            *number += 1;
            if text.as_captured().is_none() {
                text = given("query", &name, &value);
            }
            request = request.query(name.into_owned(), text);
        }
        let mut content_type = String::new();
        for (name, value) in &sent.headers {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            let own = proof.as_ref().and_then(|proof| {
                let mut headers = proof.headers.iter();
                headers.find(|(other, _)| is(other))
            });
            if is("content-type") {
                content_type.clone_from(value);
            } else if is("cookie") {
                let own = cookies(own.map_or("", |(_, own)| own));
                for (name, value) in cookies(value) {
                    if !own.iter().any(|(other, _)| *other == name) {
                        let text = given("cookie", name, value);
                        request.cookies.push((name.to_owned(), text));
                    }
                }
            } else if own.is_none() && !(is("accept") && self.answers_alike(exchange)) {
                request = request.header(name.clone(), given("header", name, value));
            }
        }
        if !sent.body.is_empty() {
            let body = body::body(&sent.body, &content_type, &bound, &Marks::default());
            request = request.body(body);
        }
        if let Some(user) = step.user.and_then(|user| self.users.get(user)) {
            request = request.by(user.name.clone());
        }
        request
    }

    /// Whether the operation has one type of answer only, so that it need not be asked for.
    fn answers_alike(&self, exchange: &Exchange) -> bool {
        let Some(operation) = exchange.operation else {
            return true;
        };
        let responses = self.api.operations[operation].responses.iter();
        let mut types: Vec<&str> = responses
            .flat_map(|response| &response.media)
            .map(|media| &*media.content_type)
            // What a failure looks like is not asked for.
            .filter(|media| !media.contains("problem+"))
            .collect();
        types.sort_unstable();
        types.dedup();
        types.len() < 2
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
        let mut wanted: Vec<(String, Taken)> = Vec::new();
        for step in &self.test.candidate.steps {
            match &step.what {
                What::Call { action, .. } => {
                    let references = action.gene.references().into_iter();
                    let own = references.filter(|(_, reference)| reference.source == exchange.step);
                    wanted.extend(
                        own.map(|(_, reference)| (reference.place.to_string(), Taken::Value)),
                    );
                }
                What::Follow(source) if *source == exchange.step => {
                    wanted.push((LOCATION.to_owned(), Taken::Whole));
                }
                What::Follow(_) => {}
            }
        }
        wanted.sort();
        wanted.dedup();
        let mut captures = Vec::new();
        for (place, taken) in wanted {
            let found = match (place.strip_prefix("body"), taken) {
                (Some(pointer), _) => exchange
                    .value(&place)
                    .map(|sample| (Source::Body(Place::from_pointer(pointer)), sample)),
                (None, Taken::Whole) => exchange
                    .location()
                    .map(|whole| (Source::Header("Location".into()), whole.into())),
                (None, Taken::Value) => exchange
                    .value(&place)
                    .map(|sample| (Source::LastSegment("Location".into()), sample)),
            };
            let Some((from, sample)) = found else {
                continue;
            };
            let name = match (&from, taken) {
                (Source::LastSegment(_), _) => "id",
                _ => &place,
            };
            let variable = self.variable(exchange, name);
            self.variables
                .insert((exchange.step, taken.place(&place)), variable.clone());
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

#[cfg(test)]
mod tests {
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
    fn parameters_are_found_in_the_input() {
        assert_eq!(pointer("query", "limit"), "/query/limit");
        assert_eq!(pointer("query", "filter[name]"), "/query/filter/name");
        assert_eq!(pointer("query", "ids[0]"), "/query/ids/0");
    }
}
