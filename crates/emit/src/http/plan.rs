//! Decisions shared by all writers: files, groups, and names of tests and variables.

use std::collections::BTreeMap;

use serde_json::Value;

use super::external;
use super::request::{Request, Text};
use super::rows::{self, TestRow};
use super::suite::{
    Auth, Capture, ExpectedOutcome, HttpStep, HttpSuite, HttpTest, ResetHook, UniqueValue,
};
use super::{Secret, TextPiece, User, ValueSource};
use crate::writer::name::{Names, capitalized, readable, slug};
use crate::writer::text::{one_line, sentence};

/// How a language spells names of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Casing {
    /// `boat_id`
    Snake,
    /// `boatId`
    Camel,
}

impl Casing {
    /// `name`, which is in snake case, as the language spells it.
    pub(crate) fn spell(self, name: &str) -> String {
        match self {
            Casing::Snake => name.into(),
            Casing::Camel => camel(name),
        }
    }
}

/// The tests of one file, with all names given out.
pub(crate) struct SuiteFile<'a> {
    /// Whether these are the tests that show faults.
    pub(crate) faults: bool,
    /// By operation, in order of first appearance.
    pub(crate) groups: Vec<Group<'a>>,
}

/// The tests about one operation.
pub(crate) struct Group<'a> {
    /// The operation.
    pub(crate) title: &'a str,
    /// By scenario, in order of first appearance.
    pub(crate) tests: Vec<PlannedTest<'a>>,
}

/// A test with its names.
pub(crate) struct PlannedTest<'a> {
    /// The test.
    pub(crate) test: &'a HttpTest,
    /// A slug that no other test of the suite has.
    pub(crate) name: String,
    /// The rows, each with the variable that its key goes to.
    pub(crate) rows: Vec<(&'a TestRow, Option<String>)>,
    /// The texts that are made up anew, each with its variable.
    pub(crate) unique_values: Vec<(String, &'a UniqueValue)>,
    /// The variables of the rows.
    pub(crate) known: Variables,
    /// The calls.
    pub(crate) steps: Vec<PlannedStep<'a>>,
    /// The variables of rows and calls, for what is asked of the database in the end.
    pub(crate) all_known: Variables,
}

impl PlannedTest<'_> {
    /// Whether anything is done before the first call.
    pub(crate) fn has_preparation(&self) -> bool {
        !self.unique_values.is_empty() || !self.rows.is_empty() || !self.test.mocks.is_empty()
    }
}

/// A call with its names.
pub(crate) struct PlannedStep<'a> {
    /// The call.
    pub(crate) step: &'a HttpStep,
    /// The variable that holds the response.
    pub(crate) answer: String,
    /// The variables it can use.
    pub(crate) known: Variables,
    /// The same and what it keeps itself, for its checks.
    pub(crate) after: Variables,
    /// What it keeps, with the variable each goes to.
    pub(crate) captures: Vec<(String, &'a Capture)>,
}

/// The captured variables by their names in the suite.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, Variable>);

impl Variables {
    /// None.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A variable, if it is known.
    pub(crate) fn get(&self, variable: &str) -> Option<&Variable> {
        self.0.get(variable)
    }

    fn insert(&mut self, variable: String, known: Variable) {
        self.0.insert(variable, known);
    }

    /// The identifier of a variable. A suite that was checked has no others than those that are known.
    pub(crate) fn name(&self, variable: &str) -> String {
        let known = self.get(variable);
        known.map_or_else(|| slug(variable), |variable| variable.name.clone())
    }

    /// Whether what a variable holds may stand in a path as it is.
    pub(crate) fn is_plain(&self, variable: &str) -> bool {
        self.get(variable).is_some_and(|variable| variable.plain)
    }
}

/// A captured value in a test.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// The identifier.
    pub(crate) name: String,
    /// Whether its values look as if they could stand in a path as they are.
    pub(crate) plain: bool,
}

impl PlannedStep<'_> {
    /// How often the JSON of the body is read.
    pub(crate) fn json_uses(&self) -> usize {
        let captures = self.captures.iter();
        let captures = captures
            .filter(|(_, capture)| is_from_body(capture))
            .count();
        match &self.step.expect {
            ExpectedOutcome::Response(answer) => {
                captures
                    + answer
                        .body
                        .iter()
                        .filter(|check| check.reads_json())
                        .count()
            }
            ExpectedOutcome::Dropped | ExpectedOutcome::TimedOut => 0,
        }
    }
}

fn is_from_body(capture: &Capture) -> bool {
    matches!(capture.from, ValueSource::Body(_))
}

/// The chapters of a suite: the tests, and then those that show faults, each if there are any
/// (the first one always, so that there is a file).
pub(crate) fn chapters<'a>(
    suite: &'a HttpSuite,
    casing: Casing,
    reserved: &[&str],
    taken_tests: &[&str],
) -> Vec<SuiteFile<'a>> {
    let mut names = Names::default();
    for taken in taken_tests {
        names.unique((*taken).into());
    }
    let mut chapters = Vec::new();
    for faults in [false, true] {
        let tests = suite.tests.iter();
        let tests: Vec<&HttpTest> = tests
            .filter(|test| test.faults.is_empty() != faults)
            .collect();
        if faults && tests.is_empty() {
            continue;
        }
        let mut groups: Vec<Group<'a>> = Vec::new();
        for (title, tests) in grouped(&tests) {
            let tests = tests.into_iter().map(|test| {
                let name = names.unique(readable(&test.id, &test.name));
                planned(test, name, casing, reserved)
            });
            let tests = tests.collect();
            groups.push(Group { title, tests });
        }
        chapters.push(SuiteFile { faults, groups });
    }
    chapters
}

fn grouped<'a>(tests: &[&'a HttpTest]) -> Vec<(&'a str, Vec<&'a HttpTest>)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut scenarios: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut order: Vec<(usize, usize, &HttpTest)> = Vec::new();
    for test in tests {
        let n = places.len();
        let place = *places.entry(&test.group).or_insert(n);
        let n = scenarios.len();
        let scenario = *scenarios.entry((&test.group, &test.scenario)).or_insert(n);
        order.push((place, scenario, test));
    }
    // What needs no lead-up comes first, without a heading.
    order.sort_by_key(|(place, scenario, test)| (*place, !test.scenario.is_empty(), *scenario));
    let mut groups: Vec<(&str, Vec<&HttpTest>)> = Vec::new();
    for (_, _, test) in order {
        match groups.last_mut() {
            Some((group, tests)) if *group == test.group => tests.push(test),
            _ => groups.push((&test.group, vec![test])),
        }
    }
    groups
}

/// A test with its names given out.
pub(crate) fn planned<'a>(
    test: &'a HttpTest,
    name: String,
    casing: Casing,
    reserved: &[&str],
) -> PlannedTest<'a> {
    let mut names = Names::default();
    for taken in reserved {
        names.unique((*taken).into());
    }
    let mut spelled = |wanted: &str| casing.spell(&names.unique(slug(wanted)));
    // Captures first: they are what a reader looks for under their own names.
    let captured: Vec<Vec<String>> = test
        .steps
        .iter()
        .map(|step| {
            let captures = step.captures.iter();
            captures.map(|capture| spelled(&capture.variable)).collect()
        })
        .collect();
    let mut known = Variables::new();
    let mut rows = Vec::new();
    for row in &test.rows {
        let name = row.key.as_ref().map(|key| {
            let name = spelled(&key.variable);
            let variable = Variable {
                name: name.clone(),
                plain: true,
            };
            known.insert(key.variable.clone(), variable);
            name
        });
        rows.push((row, name));
    }
    let mut unique_values = Vec::new();
    for unique in &test.unique_values {
        let name = spelled(&unique.variable);
        known.insert(unique.variable.clone(), unique_variable(&name, unique));
        unique_values.push((name, unique));
    }
    let of_rows = known.clone();
    let mut steps = Vec::new();
    for (step, captured) in test.steps.iter().zip(captured) {
        let answer = spelled(step.name.as_deref().unwrap_or_else(|| usual_name(step)));
        let before = known.clone();
        let captures: Vec<(String, &Capture)> = captured.into_iter().zip(&step.captures).collect();
        for (name, capture) in &captures {
            let variable = Variable {
                name: name.clone(),
                plain: capture.sample.as_ref().is_some_and(stands_in_paths),
            };
            known.insert(capture.variable.clone(), variable);
        }
        steps.push(PlannedStep {
            step,
            answer,
            known: before,
            after: known.clone(),
            captures,
        });
    }
    PlannedTest {
        test,
        name,
        rows,
        unique_values,
        known: of_rows,
        steps,
        all_known: known,
    }
}

/// The variables that the calls of a user can use before the user is logged in, and what each is
/// made of.
pub(crate) fn unique_values<'a>(
    user: &'a User,
    casing: Casing,
    reserved: &[&str],
) -> (Variables, Vec<(String, &'a UniqueValue)>) {
    let mut names = Names::default();
    for taken in reserved
        .iter()
        .chain(&["answer", "token", "created", "caller", "proof", "user"])
    {
        names.unique((*taken).into());
    }
    let mut known = Variables::new();
    let mut all = Vec::new();
    for unique_values in &user.unique_values {
        let name = casing.spell(&names.unique(slug(&unique_values.variable)));
        known.insert(
            unique_values.variable.clone(),
            unique_variable(&name, unique_values),
        );
        all.push((name, unique_values));
    }
    (known, all)
}

fn unique_variable(name: &str, unique: &UniqueValue) -> Variable {
    let fixed = Value::from(format!("{}0{}", unique.prefix, unique.suffix));
    Variable {
        name: name.to_owned(),
        plain: stands_in_paths(&fixed),
    }
}

fn usual_name(step: &HttpStep) -> &'static str {
    let status = match &step.expect {
        ExpectedOutcome::Response(answer) => answer.status,
        ExpectedOutcome::Dropped | ExpectedOutcome::TimedOut => 0,
    };
    match (step.request.method.as_str(), status) {
        (_, 400..) => "refused",
        ("GET", _) => "fetched",
        ("POST", 201) => "created",
        ("PUT", 200..300) => "replaced",
        ("PATCH", 200..300) => "changed",
        ("DELETE", 200..300) => "deleted",
        _ => "answer",
    }
}

fn stands_in_paths(sample: &Value) -> bool {
    match sample {
        Value::Number(number) => !number.is_f64(),
        Value::String(text) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
            !text.is_empty() && text.chars().all(plain)
        }
        _ => false,
    }
}

/// `boat_id` as `boatId`.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (idx, part) in name.split('_').filter(|part| !part.is_empty()).enumerate() {
        if idx == 0 {
            out.push_str(part);
        } else {
            out.push_str(&capitalized(part));
        }
    }
    out
}

/// The lines that say where a suite comes from, for every language's header.
pub(crate) fn header(suite: &HttpSuite, faults: bool) -> Vec<String> {
    let mut lines = vec![one_line(&suite.title), String::new()];
    if faults {
        lines
            .push("These tests show faults: they expect what the service does, not what it".into());
        lines
            .push("should do. When a fault is repaired, its test fails and can be removed.".into());
        lines.push(String::new());
    }
    let mut origin = format!("Generated by Isobath {}", one_line(&suite.version));
    if !suite.source.is_empty() {
        origin.push_str(" from ");
        origin.push_str(&one_line(&suite.source));
    }
    lines.push(format!("{origin}, seed {}.", suite.seed));
    if let Some(command) = &suite.command {
        lines.push(format!("Command: {}", one_line(command)));
    }
    lines
}

/// The lines that say which environment variables a suite reads, that may find free ports by itself.
pub(crate) fn environment(suite: &HttpSuite) -> Vec<String> {
    let anywhere = suite.service.start_on_free_ports.as_ref();
    let mut lines = vec![format!(
        "{}: the base URL of the service; without it {}",
        one_line(&suite.service.base_url_variable),
        suite.free_url().map_or_else(
            || one_line(&suite.service.base_url),
            |_| "a free port".into()
        )
    )];
    if let Some(start) = anywhere.or(suite.service.start.as_ref()) {
        lines.push(format!(
            "  and the service is started by: {}",
            one_line(start)
        ));
    }
    let database = suite.database.as_ref();
    lines.extend(
        database.map(|database| rows::environment(database, suite.free_agent_port().is_some())),
    );
    let hidden = database.iter().flat_map(|one| &one.secret_variables);
    lines.extend(hidden.map(|name| format!("{name}: a secret in the database; must be set")));
    lines.extend(external::environment(suite));
    for secret in secrets(suite) {
        lines.push(match &secret.value {
            Some(_) => format!("{}: overrides a secret of the suite", secret.variable),
            None => format!("{}: a secret; must be set", secret.variable),
        });
    }
    lines
}

/// What a test says of itself: what it covers and which faults it shows.
pub(crate) fn test_comments(test: &HttpTest) -> Vec<String> {
    let covers = test.covers.iter();
    let mut lines: Vec<String> = covers
        .map(|covered| format!("Covers: {}", sentence(covered)))
        .collect();
    for fault in &test.faults {
        lines.push(format!(
            "FAULT {}: {}",
            one_line(&fault.code),
            sentence(&fault.message)
        ));
        if !fault.root_cause.is_empty() {
            lines.push(format!("Root cause: {}", one_line(&fault.root_cause)));
        }
    }
    lines
}

/// The stem of the file of a chapter: `marina`, `marina_faults`.
pub(crate) fn stem(suite: &HttpSuite, chapter: &SuiteFile<'_>) -> String {
    let name = slug(&suite.name);
    if chapter.faults {
        format!("{name}_faults")
    } else {
        name
    }
}

/// The users on whose behalf a chapter (or the reset hook) calls, in suite order.
pub(crate) fn users<'a>(suite: &'a HttpSuite, chapter: &SuiteFile<'_>) -> Vec<&'a super::User> {
    let requests: Vec<&Request> = requests(suite, chapter);
    suite
        .users
        .iter()
        .filter(|user| {
            requests
                .iter()
                .any(|request| request.user.as_deref() == Some(&user.name))
        })
        .collect()
}

/// The requests of a chapter, and the reset hook.
pub(crate) fn requests<'a>(suite: &'a HttpSuite, chapter: &SuiteFile<'a>) -> Vec<&'a Request> {
    let tests = chapter.groups.iter().flat_map(|group| &group.tests);
    let steps = tests.flat_map(|test| &test.steps);
    let mut requests: Vec<&Request> = steps.map(|step| &step.step.request).collect();
    if let Some(ResetHook::Call(request)) = &suite.service.reset {
        requests.push(request);
    }
    requests
}

/// The requests of a chapter, the reset hook, and what creates its users and logs them in.
pub(crate) fn all_requests<'a>(suite: &'a HttpSuite, chapter: &SuiteFile<'a>) -> Vec<&'a Request> {
    let mut all = requests(suite, chapter);
    all.extend(users(suite, chapter).into_iter().flat_map(requests_of));
    all
}

/// The calls that create a user and log it in.
fn requests_of(user: &User) -> Vec<&Request> {
    let mut all: Vec<&Request> = user.create.as_deref().into_iter().collect();
    if let Auth::Login(login) = &user.auth {
        all.push(&login.request);
    }
    all
}

/// The secrets of a suite, each variable once.
pub(crate) fn secrets(suite: &HttpSuite) -> Vec<&Secret> {
    let chapters = chapters(suite, Casing::Snake, &[], &[]);
    let mut all = Vec::new();
    for chapter in &chapters {
        collect(&mut all, secrets_of(suite, chapter));
    }
    all
}

/// The secrets that one chapter uses.
pub(crate) fn secrets_of<'a>(suite: &'a HttpSuite, chapter: &SuiteFile<'a>) -> Vec<&'a Secret> {
    let mut texts: Vec<&Text> = Vec::new();
    for user in users(suite, chapter) {
        if let Auth::Headers(headers) = &user.auth {
            texts.extend(headers.iter().map(|(_, text)| text));
        }
    }
    for request in all_requests(suite, chapter) {
        texts.extend(request.texts());
    }
    let pieces = texts.iter().flat_map(|text| &text.0);
    let mut all = Vec::new();
    collect(
        &mut all,
        pieces.filter_map(|piece| match piece {
            TextPiece::Secret(secret) => Some(secret),
            TextPiece::Literal(_) | TextPiece::Captured(_) => None,
        }),
    );
    all
}

fn collect<'a>(all: &mut Vec<&'a Secret>, more: impl IntoIterator<Item = &'a Secret>) {
    for secret in more {
        if !all.iter().any(|known| known.variable == secret.variable) {
            all.push(secret);
        }
    }
}

/// Whether a path is a reference to be resolved against the base URL.
pub(crate) fn is_reference(path: &Text) -> bool {
    matches!(path.0.first(), Some(TextPiece::Captured(_)))
}
