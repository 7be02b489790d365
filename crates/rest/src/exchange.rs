//! A call that was made, and what can be read from its answer.

use isobath_exec::http::{Call, Failure, Request, Response};
use serde_json::Value;

use crate::feedback::Inside;

/// One call of a candidate and what came of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The step that made it.
    pub step: u32,
    /// The operation that was called; `None` when a Location was followed.
    pub operation: Option<usize>,
    /// The user on whose behalf; `None` is anonymous.
    pub user: Option<usize>,
    /// What was sent.
    pub request: Request,
    /// What came back.
    pub call: Call,
    /// The body of the answer, where it is JSON.
    pub body: Option<Value>,
    /// What the call did inside the service, where that is known.
    pub inside: Inside,
    /// What the service said on its output during the call, without secrets; empty where nobody listens.
    pub said: String,
    /// How the service ended, when this call brought it down.
    pub fatal: Option<String>,
}

impl Exchange {
    /// Puts a call together with its answer, and reads the body if it is JSON.
    #[must_use]
    pub fn new(
        step: u32,
        operation: Option<usize>,
        user: Option<usize>,
        request: Request,
        call: Call,
    ) -> Self {
        let body = call.response().and_then(read_json);
        Self {
            step,
            operation,
            user,
            request,
            call,
            body,
            inside: Inside::default(),
            said: String::new(),
            fatal: None,
        }
    }

    /// The status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.call.status()
    }

    /// The answer, if there was one.
    #[must_use]
    pub fn response(&self) -> Option<&Response> {
        self.call.response()
    }

    /// Why there was no answer.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.call.failure()
    }

    /// Whether the status is 2xx.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.status()
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the status is 4xx.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.status()
            .is_some_and(|status| (400..500).contains(&status))
    }

    /// What a reference to this exchange names: `body` and a JSON Pointer, or [`LOCATION`].
    ///
    /// Only a success has something to refer to.
    #[must_use]
    pub fn value(&self, place: &str) -> Option<Value> {
        if !self.succeeded() {
            return None;
        }
        if place == LOCATION {
            let id = self
                .location()?
                .split(['?', '#'])
                .next()?
                .trim_end_matches('/')
                .rsplit('/')
                .next()?;
            let id = percent_encoding::percent_decode_str(id)
                .decode_utf8()
                .ok()?;
            return (!id.is_empty()).then(|| Value::String(id.into_owned()));
        }
        let value = self.body.as_ref()?.pointer(place.strip_prefix("body")?)?;
        (!value.is_null()).then(|| value.clone())
    }

    /// The Location header of the answer.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.response()?.header("location")
    }
}

/// The place of the last segment of the Location header.
pub const LOCATION: &str = "location";

fn read_json(response: &Response) -> Option<Value> {
    let looks_like_json = match response.media_type() {
        Some(media) => media.contains("json"),
        None => true,
    };
    if !looks_like_json || response.body.is_empty() {
        return None;
    }
    serde_json::from_slice(&response.body).ok()
}
