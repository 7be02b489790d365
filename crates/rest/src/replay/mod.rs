//! Replays tests of a stored suite without a test runner.
//!
//! [`Replayer`] does what a generated test does: it resets the service, inserts the rows of the
//! test, logs users in, makes the calls with captured values, and checks responses and rows. It
//! distinguishes a test whose last call behaves differently ([`ReplayVerdict::Differs`]) from one
//! that did not reach it ([`ReplayVerdict::NotReached`]).

mod compare;
mod fill;
mod rows;

use std::collections::BTreeMap;
use std::time::Duration;

use isobath_emit::http::{
    Auth, ExpectedOutcome, HttpStep, HttpSuite, HttpTest, Login, Request, ResetHook,
    TokenPlacement, UniqueValue, User, ValueSource,
};
use isobath_exec::http::{Call, CallFailure, Client, Response};
use isobath_exec::tool::Tool;
use serde_json::Value;

use crate::exchange::last_segment;
use crate::session::Credentials;
use compare::compare;
use fill::Filler;
pub use rows::ReplayDatabase;

/// How long a command that resets the service may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Verdict of a replayed test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// The test behaves as recorded.
    Held,
    /// The last call behaves differently.
    Differs(String),
    /// Something before the last call went otherwise, so that nothing is known about that call.
    NotReached(String),
    /// The service does not answer at all.
    ServiceLost(String),
}

/// Runs tests of a suite.
pub struct Replayer<'s> {
    suite: &'s HttpSuite,
    base: String,
    client: Client,
    database: Option<ReplayDatabase>,
    /// Makes texts that no other run has used.
    nonce: u64,
}

/// Values that the calls of a test use, by their names.
type Captured = BTreeMap<String, Value>;

/// Why a test did not come to its last call, or how that one went.
enum ReplayStop {
    ServiceLost(String),
    Otherwise(String),
}

impl From<String> for ReplayStop {
    fn from(why: String) -> Self {
        Self::Otherwise(why)
    }
}

impl<'s> Replayer<'s> {
    /// Runs tests of a suite against the service at `base` and its database, where that is known. `nonce` must differ
    /// from run to run.
    pub fn new(
        suite: &'s HttpSuite,
        base: impl Into<String>,
        client: Client,
        nonce: u64,
        database: Option<ReplayDatabase>,
    ) -> Self {
        Self {
            suite,
            base: base.into().trim_end_matches('/').to_owned(),
            client,
            database,
            nonce,
        }
    }

    /// Runs a test.
    pub fn replay(&mut self, test: &HttpTest) -> ReplayVerdict {
        let (proofs, mut captured) = match self.prepare(test) {
            Ok(prepared) => prepared,
            Err(ReplayStop::ServiceLost(why)) => return ReplayVerdict::ServiceLost(why),
            Err(ReplayStop::Otherwise(why)) => return ReplayVerdict::NotReached(why),
        };
        for (at, step) in test.steps.iter().enumerate() {
            let is_last = at + 1 == test.steps.len();
            match self.step(step, &proofs, &mut captured) {
                Ok(()) => {}
                Err(ReplayStop::ServiceLost(why)) => return ReplayVerdict::ServiceLost(why),
                Err(ReplayStop::Otherwise(why)) => {
                    let path = step.request.path.literal().unwrap_or_else(|| "…".into());
                    let why = format!("call {}, {} {path}: {why}", at + 1, step.request.method);
                    return if is_last {
                        ReplayVerdict::Differs(why)
                    } else {
                        ReplayVerdict::NotReached(why)
                    };
                }
            }
        }
        let Some(database) = self
            .database
            .as_mut()
            .filter(|_| !test.expected_rows.is_empty())
        else {
            return ReplayVerdict::Held;
        };
        match database.check(test, &captured) {
            Ok(()) => ReplayVerdict::Held,
            Err(why) => ReplayVerdict::Differs(format!("after the calls: {why}")),
        }
    }

    /// Resets the service, inserts the rows of the test, and logs its users in; returns credentials and row keys.
    fn prepare(
        &mut self,
        test: &HttpTest,
    ) -> Result<(BTreeMap<String, Credentials>, Captured), ReplayStop> {
        match &self.suite.service.reset {
            None => {}
            Some(ResetHook::Call(request)) => {
                let request = request.clone();
                self.must_succeed("the reset", &request, &Captured::new())?;
            }
            Some(ResetHook::Command(command)) => {
                let tool = Tool {
                    command: ["sh", "-c", command].map(str::to_owned).to_vec(),
                    directory: std::env::current_dir().unwrap_or_default(),
                    variables: Vec::new(),
                    timeout: PATIENCE,
                    interrupt: None,
                };
                let ran = tool.run().map_err(|error| error.to_string())?;
                if ran.code != Some(0) {
                    return Err(format!("the reset `{command}` failed: {}", ran.stderr).into());
                }
            }
        }
        let mut captured = match &mut self.database {
            Some(database) => database.insert_rows(test)?,
            None if test.rows.is_empty() => Captured::new(),
            None => {
                let why = "it requires rows in the test database; pass --db";
                return Err(why.to_owned().into());
            }
        };
        for unique in &test.unique_values {
            let text = self.fresh(unique);
            captured.insert(unique.variable.clone(), Value::String(text));
        }
        let mut proofs = BTreeMap::new();
        for step in &test.steps {
            let Some(name) = &step.request.user else {
                continue;
            };
            if !proofs.contains_key(name) {
                let user = self.suite.user(name);
                let user = user.ok_or_else(|| format!("unknown user `{name}`"))?;
                proofs.insert(name.clone(), self.log_in(user)?);
            }
        }
        Ok((proofs, captured))
    }

    fn log_in(&mut self, user: &User) -> Result<Credentials, ReplayStop> {
        let mut captured = Captured::new();
        for fresh in &user.unique_values {
            let text = self.fresh(fresh);
            captured.insert(fresh.variable.clone(), Value::String(text));
        }
        if let Some(create) = &user.create {
            let what = format!("the creation of {}", user.name);
            self.must_succeed(&what, create, &captured)?;
        }
        let mut credentials = Credentials::default();
        match &user.auth {
            Auth::Headers(headers) => {
                let filler = Filler::new(&self.base, &captured);
                for (name, value) in headers {
                    credentials
                        .headers
                        .push((name.clone(), filler.text(value)?));
                }
            }
            Auth::Login(login) => {
                let what = format!("the log-in of {}", user.name);
                let answer = self.must_succeed(&what, &login.request, &captured)?;
                take(&mut credentials, login, &answer).map_err(|why| format!("{what}: {why}"))?;
            }
        }
        Ok(credentials)
    }

    fn fresh(&mut self, fresh: &UniqueValue) -> String {
        self.nonce = self.nonce.wrapping_add(1);
        let mut rng = fastrand::Rng::with_seed(self.nonce);
        let digits: String = (0..fresh.digits).map(|_| rng.digit(16)).collect();
        format!("{}{digits}{}", fresh.prefix, fresh.suffix)
    }

    fn must_succeed(
        &mut self,
        what: &str,
        request: &Request,
        captured: &Captured,
    ) -> Result<Response, ReplayStop> {
        let sent = Filler::new(&self.base, captured).request(request)?;
        match self.call(&sent)?.response() {
            Some(response) if response.status < 400 => Ok(response.clone()),
            Some(response) => Err(format!("{what} returned {}", response.status).into()),
            None => Err(format!("{what} received no response").into()),
        }
    }

    fn call(&mut self, request: &isobath_exec::http::Request) -> Result<Call, ReplayStop> {
        let call = self.client.call(request);
        match call.failure() {
            Some(
                failure @ (CallFailure::Refused
                | CallFailure::Unreachable(_)
                | CallFailure::Tls(_)
                | CallFailure::Interrupted),
            ) => Err(ReplayStop::ServiceLost(failure.to_string())),
            Some(CallFailure::Unsendable(why)) => Err(ReplayStop::Otherwise(why.clone())),
            _ => Ok(call),
        }
    }

    fn step(
        &mut self,
        step: &HttpStep,
        proofs: &BTreeMap<String, Credentials>,
        captured: &mut Captured,
    ) -> Result<(), ReplayStop> {
        let mut request = Filler::new(&self.base, captured).request(&step.request)?;
        let credentials = step.request.user.as_ref().and_then(|name| proofs.get(name));
        if let Some(credentials) = credentials {
            credentials.apply(&mut request);
        }
        let call = self.call(&request)?;
        let answer = match (&step.expect, call.response(), call.failure()) {
            (ExpectedOutcome::Dropped, None, Some(CallFailure::Dropped))
            | (ExpectedOutcome::TimedOut, None, Some(CallFailure::TimedOut)) => return Ok(()),
            (ExpectedOutcome::Dropped | ExpectedOutcome::TimedOut, Some(response), _) => {
                return Err(format!("returned {}, expected no response", response.status).into());
            }
            (_, None, failure) => {
                let why = failure.map_or_else(String::new, ToString::to_string);
                return Err(why.into());
            }
            (ExpectedOutcome::Response(_), Some(response), _) => response,
        };
        for capture in &step.captures {
            let value = value(&capture.from, answer)
                .map_err(|why| format!("cannot capture `{}`: {why}", capture.variable))?;
            captured.insert(capture.variable.clone(), value);
        }
        if let ExpectedOutcome::Response(expected) = &step.expect {
            compare(expected, answer, captured)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Replayer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player").field("base", &self.base).finish()
    }
}

fn take(credentials: &mut Credentials, login: &Login, answer: &Response) -> Result<(), String> {
    if login.cookies {
        let cookies: Vec<&str> = answer
            .all_headers("set-cookie")
            .filter_map(|cookie| cookie.split(';').next())
            .map(str::trim)
            .collect();
        credentials
            .headers
            .push(("Cookie".into(), cookies.join("; ")));
    }
    if let Some(token) = &login.token {
        let value = value(&token.from, answer)?;
        let value = token.template.replace("{token}", &fill::plain(&value));
        match &token.send {
            TokenPlacement::Header(name) => credentials.headers.push((name.clone(), value)),
            TokenPlacement::Query(name) => credentials.query.push((name.clone(), value)),
        }
    }
    Ok(())
}

/// A value of a response.
fn value(from: &ValueSource, answer: &Response) -> Result<Value, String> {
    let header = |name: &str| {
        answer
            .header(name)
            .ok_or_else(|| format!("the response has no header `{name}`"))
    };
    match from {
        ValueSource::Body(place) => {
            let body: Value = serde_json::from_slice(&answer.body)
                .map_err(|_| "the response is not JSON".to_owned())?;
            let found = place.find(&body).cloned();
            found.ok_or_else(|| format!("the response has no value at `{place}`"))
        }
        ValueSource::Header(name) => header(name).map(|text| Value::String(text.to_owned())),
        ValueSource::Text => Ok(Value::String(answer.text().trim().to_owned())),
        ValueSource::LastSegment(source) => {
            let text = value(source, answer)?;
            let segment = text.as_str().and_then(last_segment);
            let missing = || "the response has no link to take a segment of".to_owned();
            segment.map(Value::String).ok_or_else(missing)
        }
        ValueSource::Cookie(name) => {
            let mut cookies = answer.all_headers("set-cookie");
            let value = cookies.find_map(|cookie| {
                let (own, value) = cookie.split(';').next()?.split_once('=')?;
                (own.trim() == name).then(|| value.trim().to_owned())
            });
            let missing = || format!("the response does not set the cookie `{name}`");
            value.map(Value::String).ok_or_else(missing)
        }
    }
}
