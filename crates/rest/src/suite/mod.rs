//! Converts tests of the job to the neutral suite that writers print.

mod body;
mod external;
mod facts;
mod row_checks;
mod rows;
mod users;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_emit::http::{
    BodyCheck, Capture, ExpectedOutcome, ExpectedResponse, FaultMark, HttpStep, HttpSuite,
    HttpTest, JsonPath, Request, Text, TextPiece, UniqueValue, ValueSource,
};
use isobath_emit::writer::name::snake_case;
use isobath_exec::http::Method;
use isobath_genes::{Gene, Reference, push_segment};
use serde_json::Value;

use self::body::Placeholders;
use self::facts::{
    facts, is_list_of_texts, is_message, is_moment, is_random_id, places_of, shared_places,
};
pub use self::rows::DATABASE_VARIABLE;
use self::rows::SuiteDatabaseContext;
use crate::action::{self, ResponseChecker};
use crate::auth;
use crate::caller::Service;
use crate::candidate::{Step, StepKind};
use crate::compare::differences;
use crate::exchange::{Exchange, LOCATION, Origin, is_about_own};
use crate::job::Test;
use crate::openapi::Api;
use crate::seeding;
use crate::session::Session;

/// The suite of a run, with base URL and users of the service.
///
/// `now` is the time of the run: values in responses that are close to it are not asserted.
#[must_use]
pub fn suite(
    name: &str,
    service: &Service,
    users: &[auth::User],
    tests: &[Test],
    now: jiff::Timestamp,
) -> HttpSuite {
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
        suite.service.reset = Some(isobath_emit::http::ResetHook::Call(Box::new(request)));
    }
    let database = SuiteDatabaseContext::of(service, tests);
    suite.database = rows::database(service, tests);
    suite.external_services = external::services(service);
    let (mut names, mut ids) = (BTreeSet::new(), BTreeSet::new());
    let checker = ResponseChecker::new(&service.api);
    for test in tests {
        let mut printed = TestBuilder {
            api: &service.api,
            service,
            users,
            test,
            checker: &checker,
            database: database.as_ref(),
            now,
            variables: BTreeMap::new(),
            placeholders: Placeholders::default(),
        }
        .print();
        // Two tests may be about the same thing in different ways.
        let mut plain = printed.name.clone();
        let mut id = printed.id.clone();
        let value = |operation: usize, place: &str| value_at(test, operation, place);
        if names.contains(&plain)
            && let Some(difference) =
                wording::difference(&test.covers, last_operation(test), &value)
        {
            plain = format!("{plain} {difference}");
            id = format!("{id} {difference}");
            printed.name.clone_from(&plain);
        }
        let mut number = 1;
        while !names.insert(printed.name.clone()) {
            number += 1;
            printed.name = format!("{plain}, case {number}");
        }
        // Results of the test runner are told apart by it.
        let plain = snake_case(&id);
        printed.id.clone_from(&plain);
        let mut number = 1;
        while !ids.insert(printed.id.clone()) {
            number += 1;
            printed.id = format!("{plain}_{number}");
        }
        suite.tests.push(printed);
    }
    suite
}

/// The value at a place of the input with which an operation was called, where it is short.
fn value_at(test: &Test, operation: usize, place: &str) -> Option<String> {
    let mut steps = test.candidate.steps.iter();
    let input = steps
        .rfind(|step| step.operation() == Some(operation))?
        .input()?
        .to_json(&isobath_genes::Unresolved)?;
    let text = match input.pointer(&place.replace("/*", "/0"))? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => return None,
    };
    let reads_well = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    let fits = !text.is_empty() && text.chars().count() <= 20 && text.chars().all(reads_well);
    fits.then_some(text)
}

fn last_operation(test: &Test) -> Option<usize> {
    test.exchanges.last()?.operation
}

/// Longer identifiers do without what came before the call.
const LONGEST_ID: usize = 100;

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
enum CapturedPart {
    Value,
    Whole,
}

impl CapturedPart {
    fn place(self, place: &str) -> String {
        match self {
            CapturedPart::Value => place.to_owned(),
            CapturedPart::Whole => format!("whole {place}"),
        }
    }
}

struct TestBuilder<'a> {
    api: &'a Api,
    service: &'a Service,
    users: &'a [auth::User],
    test: &'a Test,
    checker: &'a ResponseChecker,
    database: Option<&'a SuiteDatabaseContext>,
    /// When the tests were run, about.
    now: jiff::Timestamp,
    /// What was captured: the step or row and place, and its name.
    variables: BTreeMap<(u32, String), String>,
    /// The unique texts as they were sent, with their variables.
    placeholders: Placeholders,
}

impl TestBuilder<'_> {
    /// Whether a response tells of resources that other tests create and delete, too.
    fn is_shared(&self, step: &Step, exchange: &Exchange) -> bool {
        let is_created = exchange.request.method == Method::POST && exchange.status() == Some(201);
        !self.service.is_reset()
            && exchange.succeeded()
            && !is_created
            && !is_about_own(&self.test.candidate, &self.test.exchanges, step.id)
    }

    /// The texts that are made up anew in each run, as far as the calls of the test use them.
    fn unique_values(&mut self) -> Vec<UniqueValue> {
        let first = self.test.exchanges.first();
        let texts = first.map(|first| Arc::clone(&first.unique_texts));
        let mut values = Vec::new();
        for text in texts.unwrap_or_default().iter() {
            let is_used = |exchange: &Exchange| {
                let request = &exchange.request;
                String::from_utf8_lossy(&request.body).contains(&text.sent)
                    || request.url.contains(&text.sent)
                    || request.url.contains(&text.sent.replace('@', "%40"))
            };
            if !self.test.exchanges.iter().any(is_used) {
                continue;
            }
            let variable = self.free(&format!("unique_{}", snake_case(&text.name)));
            let place = (u32::MAX, text.sent.clone());
            self.variables.insert(place, variable.clone());
            self.placeholders
                .generated
                .push((text.sent.clone(), variable.clone()));
            values.push(UniqueValue {
                variable,
                prefix: text.prefix.clone(),
                suffix: text.suffix.clone(),
                digits: text.digits,
            });
        }
        values
    }

    /// The variable of a unique text that stands at a place in both runs.
    fn unique_variable(&self, a: &Value, b: &Value) -> Option<String> {
        let texts = |exchanges: &[Exchange]| {
            let first = exchanges.first();
            first.map(|first| Arc::clone(&first.unique_texts))
        };
        let (first, again) = (texts(&self.test.exchanges)?, texts(&self.test.again)?);
        let text = first.iter().find(|text| a.as_str() == Some(&text.sent))?;
        let other = again.iter().find(|other| other.plain == text.plain)?;
        let variable = self.variables.get(&(u32::MAX, text.sent.clone()))?;
        (b.as_str() == Some(&other.sent)).then(|| variable.clone())
    }

    /// A path with its unique texts replaced by their variables.
    fn unique_path(&self, path: Text) -> Text {
        let mut text = Text::default();
        for piece in path.0 {
            match piece {
                TextPiece::Literal(literal) => {
                    let literal = literal.replace("%40", "@");
                    let pieces = self.placeholders.text(&literal).0;
                    if pieces.len() > 1 || self.placeholders.field("", &literal).literal().is_none()
                    {
                        text.0.extend(pieces);
                    } else {
                        text.0.push(TextPiece::Literal(literal));
                    }
                }
                other => text.0.push(other),
            }
        }
        text
    }

    fn print(mut self) -> HttpTest {
        let rows = self.rows();
        let unique_values = self.unique_values();
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
            let captures = self.captures(exchange);
            let expect = self.expect(index, step, again);
            let mut printed = HttpStep::new(request, expect);
            printed.captures = captures;
            steps.push(printed);
        }
        let state = self.state();
        let last = self.test.exchanges.last();
        let group = last
            .and_then(|exchange| exchange.operation)
            .map(|operation| self.api.operation(operation).name())
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
            id: self.id(),
            name: self.name(),
            group: self
                .test
                .faults
                .first()
                .map_or(group, |fault| fault.operation.clone()),
            scenario: self.scenario(),
            covers: wording::covers(
                &self.test.covers,
                self.api,
                &self.user_names(),
                self.subject(),
                &|operation, place| value_at(self.test, operation, place),
            ),
            faults,
            unique_values,
            rows,
            expected_rows: state,
            mocks: self.answers(),
            steps,
        }
    }

    fn user_names(&self) -> Vec<&str> {
        self.users.iter().map(|user| &*user.name).collect()
    }

    fn subject(&self) -> wording::Subject {
        let last = self.test.exchanges.last();
        wording::Subject {
            operation: last.and_then(|last| last.operation),
            user: last.and_then(|last| last.user),
            status: last.and_then(Exchange::status),
        }
    }

    /// The intent as a sentence: what comes of the call, then which call it is.
    fn name(&self) -> String {
        if let Some(fault) = self.test.faults.first() {
            return fault.detail.clone();
        }
        let mut name = format!("{} on {}", self.outcome(), self.operation());
        let scenario = self.scenario();
        if !scenario.is_empty() {
            name.push_str(&format!(" after {scenario}"));
        }
        name
    }

    /// What the test is called in its file: the outcome, the operation, and what came before it if that is short.
    fn id(&self) -> String {
        if let Some(fault) = self.test.faults.first() {
            return format!("{} {}", fault.kind.code(), fault.operation);
        }
        let plain = format!("{} {}", self.outcome(), self.operation());
        let scenario = self.scenario();
        let whole = format!("{plain} after {scenario}");
        if scenario.is_empty() || whole.len() > LONGEST_ID {
            plain
        } else {
            whole
        }
    }

    fn operation(&self) -> String {
        let last = self.test.exchanges.last();
        let operation = last.and_then(|last| last.operation);
        operation.map_or_else(
            || "the new Location".into(),
            |operation| self.api.operation(operation).name(),
        )
    }

    /// What comes of the last call, for whom and under which conditions.
    fn outcome(&self) -> String {
        let Some(last) = self.test.exchanges.last() else {
            return "no call".into();
        };
        let mut outcome = match last.status() {
            Some(status) => format!("returns {status}"),
            None => "does not respond".to_owned(),
        };
        let asks = last
            .operation
            .is_some_and(|operation| !self.api.operation(operation).security.is_empty());
        match last.user.and_then(|user| self.users.get(user)) {
            Some(user) if self.users.len() > 1 => outcome.push_str(&format!(" to {}", user.name)),
            None if asks && !self.users.is_empty() => outcome.push_str(" without authentication"),
            _ => {}
        }
        let step = self
            .test
            .candidate
            .steps
            .iter()
            .find(|step| step.id == last.step);
        if let Some(Step {
            kind:
                StepKind::Call {
                    breach: Some(breach),
                    ..
                },
            ..
        }) = step
        {
            outcome.push_str(&format!(" when {}", wording::wrong(breach)));
        }
        if let Some(tables) = self.tables() {
            outcome.push_str(&format!(" with rows in {tables}"));
        }
        if let Some(summary) = self.mock_summary() {
            outcome.push_str(&format!(" when {summary}"));
        }
        outcome
    }

    /// What came before the last call.
    fn scenario(&self) -> String {
        let Some((_, before)) = self.test.exchanges.split_last() else {
            return String::new();
        };
        let mut names: Vec<String> = Vec::new();
        for operation in before.iter().filter_map(|exchange| exchange.operation) {
            let name = self.api.operation(operation).name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if let [first, others @ ..] = names.as_slice()
            && others.len() > 1
        {
            return format!("{first} and {} others", others.len());
        }
        names.join(" and ")
    }

    /// The references of a step that lead to something captured: where in the input, and the variable.
    fn bound(&self, step: &Step) -> Vec<(String, String)> {
        let Some(input) = step.input() else {
            return Vec::new();
        };
        let references = input.references().into_iter();
        references
            .flat_map(|(pointer, reference)| {
                let captured = self.captured_by(&reference).into_iter();
                captured.map(move |(below, variable)| (format!("{pointer}{below}"), variable))
            })
            .collect()
    }

    /// The variables that a reference brings, each with where below the place that refers.
    ///
    /// What an earlier call was sent may itself have been captured before it, as a whole or in parts.
    fn captured_by(&self, reference: &Reference) -> Vec<(String, String)> {
        let Some(Origin::Input(at)) = Origin::read(&reference.place) else {
            let place = (
                reference.source,
                CapturedPart::Value.place(&reference.place),
            );
            let variable = self.variables.get(&place);
            return Vec::from_iter(variable.map(|variable| (String::new(), variable.clone())));
        };
        let mut steps = self.test.candidate.steps.iter();
        let source = steps.find(|step| step.id == reference.source);
        let bound = source.map(|source| self.bound(source)).unwrap_or_default();
        let below = |(pointer, variable): (String, String)| {
            let below = pointer.strip_prefix(at)?;
            (below.is_empty() || below.starts_with('/')).then(|| (below.to_owned(), variable))
        };
        bound.into_iter().filter_map(below).collect()
    }

    fn request(&self, step: &Step, exchange: &Exchange) -> Request {
        let sent = &exchange.request;
        let sessions = &self.service.sessions;
        let session = step.user.and_then(|user| sessions.get(user));
        let credentials = exchange.credentials.clone();
        let credentials = credentials.or_else(|| session.map(Session::credentials));
        let bound = self.bound(step);
        let target = sent
            .url
            .strip_prefix(&self.service.base)
            .unwrap_or(&sent.url);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = match &step.kind {
            StepKind::Follow(source) => {
                let place = (*source, CapturedPart::Whole.place(LOCATION));
                match self.variables.get(&place) {
                    Some(variable) => Text::captured(variable.clone()),
                    None => Text::from(path),
                }
            }
            StepKind::Call { action, .. } => self.path(action.operation, path, &bound),
        };
        let path = if self.placeholders.generated.is_empty() {
            path
        } else {
            self.unique_path(path)
        };
        let mut request = Request::new(sent.method.as_str(), path);
        let given = |group: &str, name: &str, value: &str| {
            let pointer = pointer(group, name);
            match bound.iter().find(|(place, _)| *place == pointer) {
                Some((_, variable)) => Text::captured(variable.clone()),
                None => self.placeholders.text(value),
            }
        };
        let mut met: BTreeMap<String, usize> = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if let Some(credentials) = &credentials
                && credentials.query.iter().any(|(other, _)| *other == name)
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
            let own = credentials.as_ref().and_then(|credentials| {
                let mut headers = credentials.headers.iter();
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
            } else if own.is_none() && !(is("accept") && self.has_one_content_type(exchange)) {
                request = request.header(name.clone(), given("header", name, value));
            }
        }
        if !sent.body.is_empty() {
            let body = body::body(&sent.body, &content_type, &bound, &self.placeholders);
            request = request.body(body);
        }
        if let Some(user) = step.user.and_then(|user| self.users.get(user)) {
            request = request.by(user.name.clone());
        }
        request
    }

    /// Whether the operation has a single response type, so that no Accept header is needed.
    fn has_one_content_type(&self, exchange: &Exchange) -> bool {
        let Some(operation) = exchange.operation else {
            return true;
        };
        let responses = self.api.operation(operation).responses.iter();
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
        let template: Vec<&str> = self.api.operation(operation).path.split('/').collect();
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
                        .then(TextPiece::literal(std::mem::take(&mut literal)))
                        .then(TextPiece::captured(variable.clone()));
                }
                None => literal.push_str(segment),
            }
        }
        if !literal.is_empty() {
            text = text.then(TextPiece::literal(literal));
        }
        text
    }

    /// What later steps need of this response.
    fn captures(&mut self, exchange: &Exchange) -> Vec<Capture> {
        let mut wanted: Vec<(String, CapturedPart)> = Vec::new();
        for step in &self.test.candidate.steps {
            match &step.kind {
                StepKind::Call { action, .. } => {
                    let references = action.gene.references().into_iter();
                    let own = references.filter(|(_, reference)| reference.source == exchange.step);
                    wanted.extend(
                        own.map(|(_, reference)| {
                            (reference.place.to_string(), CapturedPart::Value)
                        }),
                    );
                }
                StepKind::Follow(source) if *source == exchange.step => {
                    wanted.push((LOCATION.to_owned(), CapturedPart::Whole));
                }
                StepKind::Follow(_) => {}
            }
        }
        wanted.sort();
        wanted.dedup();
        let mut captures = Vec::new();
        for (place, taken) in wanted {
            let sample = match taken {
                CapturedPart::Whole => exchange.location().map(Value::from),
                CapturedPart::Value => exchange.value(&place),
            };
            let Some((sample, origin)) = sample.zip(Origin::read(&place)) else {
                continue;
            };
            let from = match (origin, taken) {
                (Origin::Body(pointer), _) => ValueSource::Body(JsonPath::from_pointer(pointer)),
                (Origin::Header(name), _) => ValueSource::Header(name.into()),
                (Origin::Location, CapturedPart::Whole) => ValueSource::Header("Location".into()),
                (Origin::Location, CapturedPart::Value) => {
                    ValueSource::LastSegment(Box::new(ValueSource::Header("Location".into())))
                }
                (Origin::Link(pointer), _) => {
                    let link = match &exchange.body {
                        Some(_) => ValueSource::Body(JsonPath::from_pointer(pointer)),
                        None => ValueSource::Text,
                    };
                    ValueSource::LastSegment(Box::new(link))
                }
                // The suite writes these itself.
                (Origin::Input(_) | Origin::Method | Origin::Status | Origin::Given(_), _) => {
                    continue;
                }
            };
            let name = match (&from, taken) {
                (ValueSource::LastSegment(_), _) => "id",
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
        let name = snake_case(
            place
                .rsplit('/')
                .find(|part| part.parse::<usize>().is_err())
                .unwrap_or("value"),
        );
        let path = exchange
            .operation
            .map(|operation| self.api.operation(operation).path.clone());
        let word = path
            .as_deref()
            .and_then(|path| {
                path.split('/')
                    .rev()
                    .find(|part| !part.is_empty() && !part.contains('{'))
            })
            .unwrap_or_default();
        let entity = snake_case(word.strip_suffix('s').unwrap_or(word));
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
        self.free(&plain)
    }

    /// A name that is not taken.
    fn free(&self, plain: &str) -> String {
        let taken = |name: &str| self.variables.values().any(|other| other == name);
        let mut variable = plain.to_owned();
        let mut number = 1;
        while taken(&variable) {
            number += 1;
            variable = format!("{plain}_{number}");
        }
        variable
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "the index is that of an exchange of this test, which `steps` goes through"
    )]
    fn expect(&self, index: usize, step: &Step, again: Option<&Exchange>) -> ExpectedOutcome {
        let exchange = &self.test.exchanges[index];
        let Some(response) = exchange.response() else {
            return match exchange.failure() {
                Some(isobath_exec::http::CallFailure::TimedOut) => ExpectedOutcome::TimedOut,
                _ => ExpectedOutcome::Dropped,
            };
        };
        let mut answer = ExpectedResponse::status(response.status);
        // What leads up to the call that the test is about only has to succeed; of a fault, the looks before and
        // after are what shows it.
        let is_last = index + 1 == self.test.exchanges.len();
        let shows_fault = !self.test.faults.is_empty() && exchange.request.method == Method::GET;
        if !is_last && !shows_fault {
            return answer.into();
        }
        answer.content_type = response.media_type().filter(|_| !response.body.is_empty());
        let Some(other) = again.and_then(Exchange::response) else {
            return answer.into();
        };
        if response.body.is_empty() && other.body.is_empty() {
            // What HTTP forbids a body for need not be checked.
            if !matches!(response.status, 204 | 304) {
                answer.body.push(BodyCheck::Empty);
            }
        } else if let (Some(a), Some(b)) =
            (&exchange.body, again.and_then(|again| again.body.as_ref()))
        {
            let mut changes_anyway = differences(a, b);
            let origin: Vec<&str> = self.service.base.splitn(4, '/').take(3).collect();
            let origin = origin.join("/");
            let looks = &self.service.first_looks;
            let is_restless = |value: &Value| {
                value.as_str().is_some_and(|text| exchange.is_secret(text))
                    // Another service has another address.
                    || value.as_str().is_some_and(|text| text.contains(&origin))
                    || (response.status >= 400 && is_message(value))
                    || (is_moment(value, self.now) && !self.was_sent(value))
                    // A fresh start makes another one.
                    || (!self.service.is_reset() && self.is_captured(value))
                    || (!self.service.is_reset()
                        && (is_random_id(value)
                            || is_list_of_texts(value)
                            || looks.may_be_written(value))
                        && !self.was_sent(value))
            };
            places_of(a, &is_restless, &mut String::new(), &mut changes_anyway);
            if self.test.faults.is_empty() {
                changes_anyway.extend(self.schema_violations(exchange));
            }
            if self.is_shared(step, exchange) {
                shared_places(a, &mut String::new(), &mut changes_anyway);
                for first in looks.of(exchange) {
                    changes_anyway.extend(differences(&first, a));
                }
                if self.is_about_existing(step, exchange) {
                    let may_change = |value: &Value| looks.may_have_changed(value);
                    places_of(a, &may_change, &mut String::new(), &mut changes_anyway);
                }
            }
            let mut same = BTreeMap::new();
            self.known_places(step, (a, b), &mut String::new(), &mut same);
            answer.body = facts(a, &changes_anyway, &same);
        } else if response.body == other.body
            && response.body.len() <= 200
            && exchange.body.is_none()
            && !exchange.is_secret(&response.text())
            && !self.differs_from_first(step, exchange, &response.text())
        {
            answer.body.push(BodyCheck::TextEquals {
                text: response.text().into_owned(),
            });
        }
        answer.into()
    }

    /// Whether a text that other tests may change was another one at first.
    fn differs_from_first(&self, step: &Step, exchange: &Exchange, text: &str) -> bool {
        let first = self.service.first_looks.of(exchange);
        self.is_shared(step, exchange) && first.iter().any(|first| first.as_str() != Some(text))
    }

    /// Whether a GET is about a resource that was there before anything was written: other tests may change it.
    fn is_about_existing(&self, step: &Step, exchange: &Exchange) -> bool {
        let (Some(input), Some(operation)) = (step.input(), exchange.operation) else {
            return false;
        };
        let is_listed = input.references().iter().any(|(pointer, reference)| {
            let mut sources = self.test.exchanges.iter();
            let source = sources.find(|source| source.step == reference.source);
            let is_get = source.is_some_and(|source| source.request.method == Method::GET);
            pointer.starts_with("/path/") && is_get
        });
        let path = &self.api.operation(operation).path;
        let mut is_named = false;
        input.walk(|place| {
            let text = place.text().filter(|_| place.pointer.starts_with("/path/"));
            is_named |=
                text.is_some_and(|text| self.service.first_looks.had(self.api, path, &text));
        });
        exchange.request.method == Method::GET && (is_listed || is_named)
    }

    /// Whether a value is a text that a response of the test brought and a later call sent.
    fn is_captured(&self, value: &Value) -> bool {
        let steps = self.test.candidate.steps.iter();
        let mut references = steps.filter_map(Step::input).flat_map(Gene::references);
        value.is_string()
            && references.any(|(_, reference)| {
                let mut sources = self.test.exchanges.iter();
                let source = sources.find(|source| source.step == reference.source);
                source
                    .and_then(|source| source.value(&reference.place))
                    .as_ref()
                    == Some(value)
            })
    }

    /// Whether a value came from the test itself.
    fn was_sent(&self, value: &Value) -> bool {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.test.exchanges.iter().any(|exchange| {
            let request = &exchange.request;
            String::from_utf8_lossy(&request.body).contains(&text) || request.url.contains(&text)
        })
    }

    /// The places of a body that do not fit its schema: what is wrong is not to be held fast.
    fn schema_violations(&self, exchange: &Exchange) -> Vec<String> {
        let (Some(operation), Some(response)) = (exchange.operation, exchange.response()) else {
            return Vec::new();
        };
        let operation = self.api.operation(operation);
        let headers: Vec<(&str, &str)> = response
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect();
        let answer = action::ReceivedResponse {
            status: response.status,
            headers: &headers,
            body: &response.body,
            json: exchange.body.as_ref(),
        };
        self.checker
            .check(self.api, operation, &answer)
            .into_iter()
            .map(|violation| violation.pointer.to_string())
            .filter(|pointer| !pointer.is_empty())
            .collect()
    }

    /// The places of a body at which captured values stand, in both runs: the id that the step itself captured or
    /// was called with, and what has the name of a variable.
    fn known_places(
        &self,
        step: &Step,
        (a, b): (&Value, &Value),
        at: &mut String,
        same: &mut BTreeMap<String, String>,
    ) {
        let end = at.len();
        let Value::Object(members) = a else {
            return;
        };
        for (name, value) in members {
            let Some(other) = b.get(name) else {
                continue;
            };
            push_segment(at, name);
            if value.is_object() {
                self.known_places(step, (value, other), at, same);
            } else if let Some(variable) = self.unique_variable(value, other) {
                same.insert(at.clone(), variable);
            } else if let Some(variable) = self.known(step, at, name)
                && self.captured(&variable) == Some((value.clone(), other.clone()))
            {
                same.insert(at.clone(), variable);
            }
            at.truncate(end);
        }
    }

    /// The variable that should stand at a place of the response to a step.
    fn known(&self, step: &Step, at: &str, name: &str) -> Option<String> {
        let own = self.variables.get(&(step.id, format!("body{at}")));
        if let Some(variable) = own {
            return Some(variable.clone());
        }
        if name == "id" && at.matches('/').count() == 1 {
            let bound = self.bound(step);
            let last = bound
                .iter()
                .rfind(|(pointer, _)| pointer.starts_with("/path/"));
            return last.map(|(_, variable)| variable.clone());
        }
        let name = snake_case(name);
        self.variables
            .values()
            .find(|variable| **variable == name)
            .cloned()
    }

    /// What a variable was in the two runs.
    fn captured(&self, variable: &str) -> Option<(Value, Value)> {
        let ((step, place), _) = self
            .variables
            .iter()
            .find(|(_, other)| *other == variable)?;
        let value = |exchanges: &[Exchange]| {
            if seeding::column(place).is_some() {
                let seeded = exchanges.first()?.trace.seeded.as_ref()?;
                return seeded.value(*step, place);
            }
            let exchange = exchanges.iter().find(|exchange| exchange.step == *step)?;
            exchange.value(place)
        };
        Some((value(&self.test.exchanges)?, value(&self.test.again)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_that_can_be_read() {
        assert_eq!(
            snake_case("POST /boats/{boatId} returns 201"),
            "post_boats_boat_id_returns_201"
        );
        assert_eq!(snake_case("  x  "), "x");
    }

    #[test]
    fn parameters_are_found_in_the_input() {
        assert_eq!(pointer("query", "limit"), "/query/limit");
        assert_eq!(pointer("query", "filter[name]"), "/query/filter/name");
        assert_eq!(pointer("query", "ids[0]"), "/query/ids/0");
    }
}
