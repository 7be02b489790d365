//! The neutral suite of HTTP tests: requests with expected responses, independent of the test language.
//!
//! A suite carries everything a writer needs, so it can be stored as JSON and printed later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::external::{ExternalService, MockedResponse};
use super::request::{Request, Text};
use super::rows::{ExpectedRow, TestRow};
use super::{ExpectedResponse, JsonPath};
use crate::suite::{ReadError, SuiteDialect};

/// A finished suite for one service.
///
/// Tests run one after another, each after the reset hook. They do not rely on each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HttpSuite {
    /// The heading, e.g. `Regression tests of Marina`.
    pub title: String,
    /// The service, as the stem of file names: `marina`.
    pub name: String,
    /// What it was made from, e.g. `openapi.yaml`.
    #[serde(default)]
    pub source: String,
    /// The seed that reproduces the suite.
    pub seed: u64,
    /// The version of Isobath that made it.
    pub version: String,
    /// The command line that reproduces it, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Where the service is, and how it is started and reset.
    pub service: ServiceUnderTest,
    /// Those on whose behalf calls are made. A call without user is anonymous.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<User>,
    /// The service's database, when tests bring rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<SuiteDatabase>,
    /// The services that the tests stand for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_services: Vec<ExternalService>,
    /// The tests, in the order in which they are printed.
    pub tests: Vec<HttpTest>,
}

/// The service under test, as the tests reach it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceUnderTest {
    /// The environment variable that names the base URL.
    #[serde(default = "base_url_variable")]
    pub base_url_variable: String,
    /// The base URL without that variable, including the base path of the API, if it has one.
    pub base_url: String,
    /// The shell command that starts the service, when the tests are to do so. They do it unless
    /// the variable of the base URL is set, wait until the base URL answers, and stop it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The same command with `{port}` in place of the port of the base URL, and `{agent_port}` in place of the
    /// port and the token of the agent: the tests choose them and start the service there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_on_free_ports: Option<String>,
    /// What is done before every test to reset the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<ResetHook>,
    /// How long a call may take, in milliseconds.
    #[serde(default = "timeout_millis")]
    pub timeout_millis: u64,
}

/// What stands for the port of the service in a command.
pub(crate) const PORT: &str = "{port}";
/// Placeholder for the row endpoint of the agent in a command: its port, `/`, and the token that its callers need.
pub const AGENT_PORT: &str = "{agent_port}";

/// The port of a URL, between what comes before and after it.
pub(crate) fn split_at_port(url: &str) -> Option<(&str, &str, &str)> {
    let (_, authority) = url.split_once("://")?;
    let path = authority.find('/').unwrap_or(authority.len());
    let (authority, path) = authority.split_at_checked(path)?;
    let (_, port) = authority.rsplit_once(':')?;
    let before = url.strip_suffix(path)?.strip_suffix(port)?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port.then_some((before, port, path))
}

/// How a service is reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetHook {
    /// A call, which must be answered with a status below 400.
    Call(Box<Request>),
    /// A shell command, which must succeed.
    Command(String),
}

/// Somebody on whose behalf calls are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct User {
    /// The name, as requests refer to it.
    pub name: String,
    /// Texts that are made up anew each time the user logs in. The calls below use them by their
    /// variables, as if they had been captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique_values: Vec<UniqueValue>,
    /// A call that creates the user first, before each log-in. It must be answered with a status
    /// below 400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<Box<Request>>,
    /// How the user proves it.
    pub auth: Auth,
}

/// A text that no other run has used: a fixed beginning and end around hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniqueValue {
    /// The name, e.g. `user_name`.
    pub variable: String,
    /// How it begins.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// How it ends.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suffix: String,
    /// How many digits stand between, at most 32.
    pub digits: usize,
}

/// How a user proves to be one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// Headers that every call carries.
    Headers(Vec<(String, Text)>),
    /// A call that logs in, made once and before the first test that needs it.
    Login(Box<Login>),
}

/// A call that logs a user in, and what it yields. It must be answered with a status below 400.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Login {
    /// The call. A path that starts with `http://` or `https://` leaves the service.
    pub request: Request,
    /// The token to read from the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// Whether the cookies of the response are sent with every call of the user.
    #[serde(default)]
    pub cookies: bool,
}

/// A token: where it is found, and where it goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Token {
    /// Where the answer to the log-in has it.
    pub from: ValueSource,
    /// The header or query parameter it is sent in.
    pub send: TokenPlacement,
    /// The value sent, with `{token}` where the token goes, e.g. `Bearer {token}`.
    pub template: String,
}

/// Where a token is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenPlacement {
    /// In this header.
    Header(String),
    /// In this query parameter.
    Query(String),
}

/// The database behind the service, for tests that bring rows of their own or look at those that calls leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteDatabase {
    /// The environment variable that names the connection.
    pub variable: String,
    /// The SQL the statements are written in.
    pub dialect: SuiteDialect,
    /// For a database in the memory of the service, where the agent inside takes statements by HTTP; the variable may name
    /// another such place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_url: Option<String>,
    /// Statements that reset the database, run before every test, after the reset hook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// The environment variables whose values the statements have in place of `${VARIABLE}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_variables: Vec<String>,
}

/// One test: the calls that lead up, then the one it is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HttpTest {
    /// A stable slug. It should be unique and a valid identifier; writers repair it where it is
    /// not.
    pub id: String,
    /// The intent as a sentence: `a boat can be fetched after it was created`.
    pub name: String,
    /// The operation the test is about: `GET /boats/{boatId}`.
    pub group: String,
    /// The scenario within the operation, e.g. `created, then fetched`. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// What it covers, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// The faults it shows. A test with any goes to the file of faults: what it expects is what
    /// was observed, not what is right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultMark>,
    /// Texts that are made up anew in each run, so that what the test creates is not there yet. Its calls use them by
    /// their variables, as if they had been captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique_values: Vec<UniqueValue>,
    /// The rows that the test brings, in the order in which they are inserted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<TestRow>,
    /// What external services answer, each kind of call in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mocks: Vec<MockedResponse>,
    /// What is called, in order.
    pub steps: Vec<HttpStep>,
    /// What must be in the database after the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_rows: Vec<ExpectedRow>,
}

/// A fault that a test shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultMark {
    /// The code of the kind of fault.
    pub code: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// The identity of its root cause, the same in the report.
    pub root_cause: String,
}

/// One call and what must come of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HttpStep {
    /// What the answer is called in the test: `created`. Writers find a name where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A remark to print above the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The call.
    pub request: Request,
    /// What must happen.
    pub expect: ExpectedOutcome,
    /// What later steps use of the response, and its own checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<Capture>,
}

/// What must come of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedOutcome {
    /// An answer like this.
    Response(ExpectedResponse),
    /// The connection ends without a whole answer.
    Dropped,
    /// No answer within the time of the service.
    TimedOut,
}

/// A value of a response that later steps use by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// The name, e.g. `boat_id`.
    pub variable: String,
    /// Where the response has it.
    pub from: ValueSource,
    /// The value that was seen; it tells writers what may occur in one (and whether a path needs
    /// percent-encoding), and is not expected again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<serde_json::Value>,
}

/// A place in a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueSource {
    /// In the JSON of the body.
    Body(JsonPath),
    /// The value of this header, e.g. `Location`.
    Header(String),
    /// The whole body, as text without the white space around it.
    Text,
    /// The last segment of the path in another value, decoded: the id that a `Location` or a link ends with.
    LastSegment(Box<ValueSource>),
    /// The value of this cookie.
    Cookie(String),
}

fn base_url_variable() -> String {
    "ISOBATH_BASE_URL".into()
}

fn timeout_millis() -> u64 {
    10_000
}

impl HttpSuite {
    /// A suite without users and tests, to be filled in.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        let name = name.into();
        HttpSuite {
            title: format!("Regression tests of {name}"),
            name,
            source: String::new(),
            seed: 0,
            version: env!("CARGO_PKG_VERSION").into(),
            command: None,
            service: ServiceUnderTest::at(base_url),
            users: Vec::new(),
            database: None,
            external_services: Vec::new(),
            tests: Vec::new(),
        }
    }

    /// Reads a suite that was stored as JSON.
    ///
    /// # Errors
    ///
    /// When the text is not JSON or not a suite; the message says line and column.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        serde_json::from_str(text).map_err(|cause| ReadError {
            what: "HTTP suite",
            cause,
        })
    }

    /// The suite as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("a suite has string keys and no value that JSON lacks");
        text.push('\n');
        text
    }

    /// Takes the values of all secrets out, so that tests must find them in their variables; says which they were.
    pub fn take_secrets(&mut self) -> BTreeMap<String, String> {
        let mut secrets = BTreeMap::new();
        if let Some(database) = &mut self.database {
            for statement in &mut database.setup {
                *statement = super::setup_secrets::take(statement, &mut secrets);
            }
            database.secret_variables = secrets.keys().cloned().collect();
        }
        if let Some(ResetHook::Call(request)) = &mut self.service.reset {
            secrets.extend(request.take_secrets());
        }
        for user in &mut self.users {
            if let Some(create) = &mut user.create {
                secrets.extend(create.take_secrets());
            }
            match &mut user.auth {
                Auth::Headers(headers) => {
                    let texts = headers.iter_mut().map(|(_, text)| text);
                    secrets.extend(texts.flat_map(Text::take_secrets));
                }
                Auth::Login(login) => secrets.extend(login.request.take_secrets()),
            }
        }
        for step in self.tests.iter_mut().flat_map(|test| &mut test.steps) {
            secrets.extend(step.request.take_secrets());
        }
        secrets
    }

    /// The user called `name`.
    pub fn user(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| user.name == name)
    }
}

impl User {
    /// A user who exists already.
    pub fn new(name: impl Into<String>, auth: Auth) -> Self {
        User {
            name: name.into(),
            unique_values: Vec::new(),
            create: None,
            auth,
        }
    }
}

impl ServiceUnderTest {
    /// A service at `base_url` that is neither started nor reset by the tests.
    pub fn at(base_url: impl Into<String>) -> Self {
        ServiceUnderTest {
            base_url_variable: base_url_variable(),
            base_url: base_url.into(),
            start: None,
            start_on_free_ports: None,
            reset: None,
            timeout_millis: timeout_millis(),
        }
    }

    /// Lets the tests start the service by a command in which `{port}` and `{agent_port}` are chosen by the tests.
    /// Where there is nothing to choose, the ports of the base URL and of the agent are taken.
    pub fn start_on_free_ports(&mut self, command: &str, agent_url: Option<&str>) {
        let mut fixed = command.to_owned();
        let mut is_free = false;
        for (placeholder, url) in [
            (PORT, Some(self.base_url.as_str())),
            (AGENT_PORT, agent_url),
        ] {
            if let Some((_, port, _)) = url.and_then(split_at_port) {
                is_free |= command.contains(placeholder);
                fixed = fixed.replace(placeholder, port);
            }
        }
        self.start_on_free_ports = is_free.then(|| command.to_owned());
        self.start = Some(fixed);
    }
}

impl HttpSuite {
    /// What stands before and after the port in the base URL, where the tests choose that port.
    pub(crate) fn free_url(&self) -> Option<(&str, &str)> {
        let start = self.service.start_on_free_ports.as_ref()?;
        let (before, _, after) = split_at_port(&self.service.base_url)?;
        start.contains(PORT).then_some((before, after))
    }

    /// Whether the tests choose ports that are free.
    pub(crate) fn chooses_ports(&self) -> bool {
        self.free_url().is_some() || self.free_agent_port().is_some()
    }

    /// The same for the row endpoint of the agent.
    pub(crate) fn free_agent_port(&self) -> Option<(&str, &str)> {
        let start = self.service.start_on_free_ports.as_ref()?;
        let agent_url = self.database.as_ref()?.agent_url.as_deref()?;
        let (before, _, after) = split_at_port(agent_url)?;
        start.contains(AGENT_PORT).then_some((before, after))
    }
}

impl HttpStep {
    /// A call with its expected outcome.
    pub fn new(request: Request, expect: impl Into<ExpectedOutcome>) -> Self {
        HttpStep {
            name: None,
            comment: None,
            request,
            expect: expect.into(),
            captures: Vec::new(),
        }
    }

    /// The same step, which keeps a value of the response.
    #[must_use]
    pub fn capture(mut self, variable: impl Into<String>, from: ValueSource) -> Self {
        self.captures.push(Capture {
            variable: variable.into(),
            from,
            sample: None,
        });
        self
    }
}

impl From<ExpectedResponse> for ExpectedOutcome {
    fn from(answer: ExpectedResponse) -> Self {
        ExpectedOutcome::Response(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Body, Placeholder, Secret, TextPiece};

    #[test]
    fn secrets_are_taken_out_wherever_they_stand() {
        let secret = |variable: &str| {
            Text(vec![TextPiece::Secret(Secret {
                variable: variable.into(),
                value: Some(format!("planted in {variable}")),
            })])
        };
        let mut suite = HttpSuite::new("boats", "http://localhost");
        suite.service.reset = Some(ResetHook::Call(Box::new(
            Request::new("POST", "/reset").header("Key", secret("RESET_KEY")),
        )));
        let headers = vec![("Key".to_owned(), secret("ADA_KEY"))];
        suite.users.push(User::new("ada", Auth::Headers(headers)));
        let login = Login {
            request: Request::new("POST", "/login").query("password", secret("BEN_PASSWORD")),
            token: None,
            cookies: true,
        };
        let ben = User::new("ben", Auth::Login(Box::new(login)));
        let create = Request::new("POST", "/users").body(Body::Form(vec![(
            "password".to_owned(),
            secret("NEW_PASSWORD"),
        )]));
        suite.users.push(User {
            create: Some(Box::new(create)),
            ..ben
        });
        let step = Request::new("POST", "/boats").body(Body::Json {
            value: serde_json::json!({ "key": "planted in STEP_KEY" }),
            placeholders: vec![Placeholder {
                at: "/key".into(),
                value: secret("STEP_KEY"),
            }],
            content_type: "application/json".into(),
        });
        suite.tests.push(HttpTest {
            steps: vec![HttpStep::new(step, ExpectedOutcome::Dropped)],
            ..HttpTest::default()
        });
        let taken = suite.take_secrets();
        let variables: Vec<&str> = taken.keys().map(String::as_str).collect();
        assert_eq!(
            variables,
            [
                "ADA_KEY",
                "BEN_PASSWORD",
                "NEW_PASSWORD",
                "RESET_KEY",
                "STEP_KEY"
            ]
        );
        assert!(!suite.to_json().contains("planted"));
    }

    #[test]
    fn a_command_for_any_port_is_also_kept_with_those_of_the_run() {
        let mut service = ServiceUnderTest::at("http://127.0.0.1:8640/api");
        service.start_on_free_ports(
            "env PORT={port} DOOR={agent_port} run",
            Some("http://127.0.0.1:9640"),
        );
        assert_eq!(
            service.start.as_deref(),
            Some("env PORT=8640 DOOR=9640 run")
        );
        assert!(service.start_on_free_ports.is_some());
    }

    #[test]
    fn a_url_without_a_port_leaves_nothing_to_choose() {
        let mut service = ServiceUnderTest::at("http://[::1]/api:80");
        service.start_on_free_ports("run {port}", None);
        assert_eq!(service.start_on_free_ports, None);
        assert_eq!(
            split_at_port("http://[::1]:80"),
            Some(("http://[::1]:", "80", ""))
        );
    }
}
