//! Runs candidates against the live service.

use std::sync::{Arc, Mutex, PoisonError};

use isobath_exec::http::{Call, Client, Failure, Method, Outcome, Request};
use isobath_genes::{Reference, Resolve};
use serde_json::Value;

use crate::candidate::{Candidate, Step, What};
use crate::exchange::Exchange;
use crate::feedback::{Feedback, Seen};
use crate::openapi::Api;
use crate::session::Session;

/// Brings the service back to its first state.
#[derive(Clone, Debug)]
pub struct ResetCall {
    /// The request; a status below 400 means that it is done.
    pub request: Request,
}

/// The service cannot be reached any more.
#[derive(Debug, thiserror::Error)]
#[error("the service at {url} is gone: {why}")]
pub struct Lost {
    /// Where it was.
    pub url: String,
    /// What the last attempt met.
    pub why: String,
}

/// What all callers of a run share.
#[derive(Debug)]
pub struct Service {
    /// The API.
    pub api: Arc<Api>,
    /// Where it is, without a slash at the end.
    pub base: String,
    /// The users who are logged in.
    pub sessions: Vec<Session>,
    /// What brings the first state back before each candidate.
    pub reset: Option<ResetCall>,
    /// What looks into the service; nothing when it is a black box.
    pub feedback: Option<Mutex<Box<dyn Feedback>>>,
}

impl Service {
    /// Asks whoever looks into the service.
    pub fn inside<R>(&self, ask: impl FnOnce(&mut dyn Feedback) -> R) -> Option<R> {
        let feedback = self.feedback.as_ref()?;
        let mut feedback = feedback.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut **feedback))
    }
}

/// Runs candidates, one after the other, over connections of its own.
#[derive(Debug)]
pub struct Caller {
    service: Arc<Service>,
    client: Client,
}

impl Caller {
    /// A caller with a client.
    #[must_use]
    pub fn new(service: Arc<Service>, client: Client) -> Self {
        Self { service, client }
    }

    /// Makes the calls of a candidate; a step that fails does not keep the others from being tried.
    ///
    /// # Errors
    ///
    /// When the service refuses connections.
    pub fn run(&mut self, candidate: &Candidate) -> Result<Vec<Exchange>, Lost> {
        self.reset()?;
        self.service
            .inside(|feedback| feedback.begin(candidate.texts()));
        let mut exchanges: Vec<Exchange> = Vec::with_capacity(candidate.steps.len());
        for step in &candidate.steps {
            let Some(request) = self.request(step, &exchanges) else {
                continue;
            };
            let number = u16::try_from(exchanges.len()).unwrap_or(u16::MAX);
            self.service.inside(|feedback| feedback.call(number));
            let call = self.client.call(&request);
            self.check_alive(&call)?;
            exchanges.push(Exchange::new(
                step.id,
                step.operation(),
                step.user,
                request,
                call,
            ));
        }
        let seen: Option<Seen> = self.service.inside(|feedback| feedback.end());
        if let Some(seen) = seen {
            seen.give_to(&mut exchanges);
        }
        Ok(exchanges)
    }

    fn reset(&mut self) -> Result<(), Lost> {
        let Some(reset) = &self.service.reset else {
            return Ok(());
        };
        let call = self.client.call(&reset.request);
        self.check_alive(&call)?;
        match call.status() {
            Some(status) if status < 400 => Ok(()),
            _ => Err(Lost {
                url: self.service.base.clone(),
                why: format!("the reset failed: {}", describe(&call)),
            }),
        }
    }

    fn check_alive(&self, call: &Call) -> Result<(), Lost> {
        match call.failure() {
            Some(failure @ (Failure::Refused | Failure::Unreachable(_) | Failure::Tls(_))) => {
                Err(Lost {
                    url: self.service.base.clone(),
                    why: failure.to_string(),
                })
            }
            _ => Ok(()),
        }
    }

    /// The request of a step; `None` when it is to follow a Location that did not come.
    fn request(&self, step: &Step, earlier: &[Exchange]) -> Option<Request> {
        let service = &self.service;
        let mut request = match &step.what {
            What::Call { action, .. } => {
                let written = action.request(&service.api, &Answers(earlier));
                let method = Method::from_bytes(written.method.as_bytes()).ok()?;
                let mut request =
                    Request::new(method, format!("{}{}", service.base, written.target()));
                request.headers = written
                    .headers
                    .into_iter()
                    .map(|(name, value)| (name.to_string(), value))
                    .collect();
                if let Some(body) = written.body {
                    request = request
                        .header("Content-Type", body.content_type)
                        .body(body.bytes);
                }
                request
            }
            What::Follow(source) => {
                let location = earlier
                    .iter()
                    .find(|exchange| exchange.step == *source)?
                    .location()?;
                Request::get(absolute(&service.base, location)?)
            }
        };
        if let Some(session) = step.user.and_then(|user| service.sessions.get(user)) {
            for (name, value) in &session.headers {
                request
                    .headers
                    .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
                request.headers.push((name.clone(), value.clone()));
            }
            for (name, value) in &session.query {
                let between = if request.url.contains('?') { '&' } else { '?' };
                let mut pair = form_urlencoded::Serializer::new(String::new());
                request.url.push(between);
                request
                    .url
                    .push_str(&pair.append_pair(name, value).finish());
            }
        }
        Some(request)
    }
}

/// A Location as a whole URL. One that starts with a slash is relative to the host.
fn absolute(base: &str, location: &str) -> Option<String> {
    let base = url::Url::parse(&format!("{base}/")).ok()?;
    let target = base.join(location).ok()?;
    // Wherever a service may point to, calls stay with the service.
    (target.origin() == base.origin()).then(|| target.to_string())
}

fn describe(call: &Call) -> String {
    match &call.outcome {
        Outcome::Answered(response) => format!("status {}", response.status),
        Outcome::Failed(failure) => failure.to_string(),
    }
}

/// The answers so far, for values that refer to them.
struct Answers<'a>(&'a [Exchange]);

impl Resolve for Answers<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        self.0
            .iter()
            .find(|exchange| exchange.step == reference.source)?
            .value(&reference.place)
    }
}
