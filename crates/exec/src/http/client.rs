//! The HTTP client: honors `Retry-After`, follows redirects when configured.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ::http::Method;
use bytes::Bytes;
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::call::{Call, CallFailure, CallOutcome, Response};
use super::pool::{ConnectionPool, Exchange};
use super::request::{ParsedRequest, Request};
use super::retry_after;

/// How often a wait looks whether it should continue.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How to call.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// How long an attempt may take, all in all.
    pub timeout: Duration,
    /// How many bytes of a body are read, as sent and as decoded; the rest is cut.
    pub body_limit: usize,
    /// How many redirections are followed; none unless asked for.
    pub redirects: usize,
    /// The longest `Retry-After` that is waited for; a longer one is handed to the caller.
    pub max_retry_after: Duration,
    /// How often one call waits.
    pub waits: u32,
    /// Whether to talk to a service whose certificate nobody vouches for.
    pub accept_any_certificate: bool,
    /// Ends waiting, for an answer or for leave to call again, when it is raised.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            body_limit: 4 << 20,
            redirects: 0,
            max_retry_after: Duration::from_secs(5),
            waits: 3,
            accept_any_certificate: false,
            interrupt: None,
        }
    }
}

/// An HTTP client; for several workers, make one each.
pub struct Client {
    config: ClientConfig,
    runtime: Runtime,
    pool: ConnectionPool,
}

impl Client {
    /// A client without connections.
    ///
    /// # Errors
    ///
    /// When the system has no resources for it.
    pub fn new(config: ClientConfig) -> io::Result<Self> {
        Ok(Self {
            config,
            runtime: Builder::new_current_thread().enable_all().build()?,
            pool: ConnectionPool::new(),
        })
    }

    /// How it calls.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// Sends a request and returns the outcome.
    pub fn call(&mut self, request: &Request) -> Call {
        let mut call = self.call_with_retries(request);
        if self.config.redirects == 0 {
            return call;
        }
        let mut sent = request.clone();
        while let Some(next) = call
            .response()
            .and_then(|response| redirected(&sent, response))
        {
            let mut hops = std::mem::take(&mut call.hops);
            if hops.len() >= self.config.redirects {
                call.outcome = CallOutcome::Failed(CallFailure::TooManyRedirects);
                call.hops = hops;
                return call;
            }
            hops.push(next.url.clone());
            let (waited, repeated) = (call.waited, call.repeated);
            call = self.call_with_retries(&next);
            call.hops = hops;
            call.waited += waited;
            call.repeated |= repeated;
            sent = next;
        }
        call
    }

    /// Opens a connection to where a URL leads, and keeps it for the next call: is anybody there?
    ///
    /// # Errors
    ///
    /// Why no connection is possible.
    pub fn open_connection(&mut self, url: &str) -> Result<(), CallFailure> {
        let request = Request::get(url);
        let addressed = ParsedRequest::new(&request)?;
        self.runtime
            .block_on(self.pool.open_connection(&addressed, &self.config))
    }

    /// Calls, and calls again after the wait that the service asks for.
    fn call_with_retries(&mut self, request: &Request) -> Call {
        let mut waited = Duration::ZERO;
        let mut waits = 0;
        loop {
            let mut call = self.call_once(request);
            let asked = call
                .response()
                .and_then(|response| retry_after::asked_for(response, SystemTime::now()));
            match asked {
                Some(wait) if wait <= self.config.max_retry_after && waits < self.config.waits => {
                    waits += 1;
                    waited += wait;
                    if self.pause(wait) {
                        continue;
                    }
                    call.outcome = CallOutcome::Failed(CallFailure::Interrupted);
                }
                _ => {}
            }
            call.waited = waited;
            return call;
        }
    }

    fn call_once(&mut self, request: &Request) -> Call {
        let started = Instant::now();
        let exchanged = match ParsedRequest::new(request) {
            Ok(addressed) => self
                .runtime
                .block_on(self.pool.exchange(&addressed, &self.config)),
            Err(failure) => Err(failure),
        };
        let (outcome, repeated) = match exchanged {
            Ok(Exchange { response, repeated }) => (CallOutcome::Answered(response), repeated),
            Err(failure) => (CallOutcome::Failed(failure), false),
        };
        Call {
            outcome,
            elapsed: started.elapsed(),
            repeated,
            waited: Duration::ZERO,
            hops: Vec::new(),
        }
    }

    /// Sleeps; says whether it slept to the end.
    fn pause(&self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        loop {
            let raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
            if self.config.interrupt.as_ref().is_some_and(raised) {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(POLL_INTERVAL));
        }
    }
}

/// The request that an answer redirects to, as browsers make it.
fn redirected(request: &Request, response: &Response) -> Option<Request> {
    let keeps_method = match response.status {
        301 | 302 => request.method != Method::POST,
        303 => request.method == Method::HEAD,
        307 | 308 => true,
        _ => return None,
    };
    let from = Url::parse(&request.url).ok()?;
    let to = from.join(response.header("location")?).ok()?;
    let mut next = request.clone();
    if !keeps_method {
        next.method = Method::GET;
        next.body = Bytes::new();
        let about_body = |name: &str| name.to_ascii_lowercase().starts_with("content-");
        next.headers.retain(|(name, _)| !about_body(name));
    }
    if to.origin() != from.origin() {
        // What lets us in here is no business of another service.
        let secret = ["authorization", "cookie", "host"];
        let is_secret = |name: &str| secret.contains(&name.to_ascii_lowercase().as_str());
        next.headers.retain(|(name, _)| !is_secret(name));
    }
    next.url = to.into();
    Some(next)
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::call::BodyCompleteness;

    fn check(method: Method, status: u16, location: &'static str) -> Option<String> {
        let request = Request::new(method, "http://a.test/x/y")
            .header("Authorization", "secret")
            .header("Content-Type", "text/plain")
            .header("X-Own", "1")
            .body("hello");
        let mut headers = ::http::HeaderMap::new();
        headers.insert("location", ::http::HeaderValue::from_static(location));
        let response = Response {
            status,
            headers,
            body: Bytes::new(),
            completeness: BodyCompleteness::Complete,
        };
        let next = redirected(&request, &response)?;
        let names: Vec<&str> = next.headers.iter().map(|(name, _)| name.as_str()).collect();
        Some(format!(
            "{} {} {} {}",
            next.method,
            next.url,
            names.join(","),
            next.body.len()
        ))
    }

    #[test]
    fn redirections_are_followed_as_browsers_do() {
        let check = |method, status, location| check(method, status, location).unwrap_or_default();
        insta::assert_snapshot!(check(Method::POST, 303, "../z"), @"GET http://a.test/z Authorization,X-Own 0");
        insta::assert_snapshot!(check(Method::POST, 307, "/z?q=1"), @"POST http://a.test/z?q=1 Authorization,Content-Type,X-Own 5");
        insta::assert_snapshot!(check(Method::PUT, 302, "http://b.test/"), @"PUT http://b.test/ Content-Type,X-Own 5");
        insta::assert_snapshot!(check(Method::GET, 304, "/z"), @"");
    }
}
