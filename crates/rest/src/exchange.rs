//! A call and its response, with what a driver observed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use isobath_exec::http::{Call, CallFailure, Method, Request, Response};
use serde_json::Value;

use crate::candidate::Candidate;
use crate::feedback::CallTrace;
use crate::redact;
use crate::session::Credentials;
use crate::unique::UniqueText;

/// How much of a path and of a body a summary shows, and how much of a body is looked at for it.
const SHOWN_PATH: usize = 200;
const SHOWN_BODY: usize = 400;
const READ: usize = 4096;

/// The outcome of the change of what a user logs in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginChange {
    /// Another call put the old values back.
    Restored,
    /// The user cannot log in.
    Lasting,
}

/// One call of a candidate and its result.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The step that made it.
    pub step: u32,
    /// The operation that was called; `None` when a Location was followed.
    pub operation: Option<usize>,
    /// The user on whose behalf; `None` is anonymous.
    pub user: Option<usize>,
    /// Credentials of the user; responses may repeat them, so they are redacted.
    pub credentials: Option<Arc<Credentials>>,
    /// What was sent.
    pub request: Request,
    /// The input that was sent, in the shape of [`Operation::input`](crate::openapi::Operation::input).
    pub sent: Option<Value>,
    /// What came back.
    pub call: Call,
    /// The body of the response, where it is JSON.
    pub body: Option<Value>,
    /// What the call did inside the service, where that is known.
    pub trace: CallTrace,
    /// Output of the service during the call, redacted; empty if not captured.
    pub service_output: String,
    /// Exit reason, if this call crashed the service.
    pub fatal: Option<String>,
    /// Whether the user had to log in once more for this call, after earlier ones of the same candidate.
    pub reauthenticated: bool,
    /// That the user could not log in any more after this call, and whether that was put right.
    pub login_change: Option<LoginChange>,
    /// The texts that were made up for this run of the candidate.
    pub unique_texts: Arc<[UniqueText]>,
}

impl Exchange {
    /// Puts a call together with its response, and reads the body if it is JSON.
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
            credentials: None,
            request,
            sent: None,
            call,
            body,
            trace: CallTrace::default(),
            service_output: String::new(),
            fatal: None,
            reauthenticated: false,
            login_change: None,
            unique_texts: Arc::default(),
        }
    }

    /// Whether a text holds what only the user may know.
    #[must_use]
    pub fn is_secret(&self, text: &str) -> bool {
        let credentials = self.credentials.as_deref();
        let secrets = credentials.map(Credentials::secrets).unwrap_or_default();
        let mut spelled = secrets.into_iter().flat_map(redact::spellings);
        spelled.any(|secret| text.contains(&secret))
    }

    /// A text without what only the user may know.
    #[must_use]
    pub fn redacted(&self, text: String) -> String {
        match self.credentials.as_deref() {
            Some(credentials) => redact::without(&text, credentials.secrets()),
            None => text,
        }
    }

    /// The call and its response in one line, redacted and shortened.
    #[must_use]
    pub fn summary(&self) -> String {
        let url = self.request.url.as_str();
        let after_scheme = url.find("://").map_or(0, |at| at + 3);
        let path = url[after_scheme..]
            .find('/')
            .map_or(0, |at| after_scheme + at);
        // Secrets go before anything is cut: half of one is not recognized.
        let redacted = |text: &str| self.redacted(redact::request_secrets(text, &self.request));
        let path = redacted(&url[path..]);
        let call = format!("{} {}", self.request.method, shortened(&path, SHOWN_PATH));
        match self.response() {
            Some(response) => {
                let body =
                    String::from_utf8_lossy(response.body.get(..READ).unwrap_or(&response.body));
                let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
                let body = redacted(&body);
                let line = format!(
                    "{call}: {} {}",
                    response.status,
                    shortened(&body, SHOWN_BODY)
                );
                line.trim_end().to_owned()
            }
            None => format!("{call}: no response"),
        }
    }

    /// The status, if there was a response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.call.status()
    }

    /// The response, if there was one.
    #[must_use]
    pub fn response(&self) -> Option<&Response> {
        self.call.response()
    }

    /// Why there was no response.
    #[must_use]
    pub fn failure(&self) -> Option<&CallFailure> {
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

    /// The same exchange, with the input that was sent.
    #[must_use]
    pub fn with_sent(mut self, sent: Option<Value>) -> Self {
        self.sent = sent;
        self
    }

    /// What a reference to this exchange names; see [`Origin`] for how places are written.
    ///
    /// Only a success has something to refer to.
    #[must_use]
    pub fn value(&self, place: &str) -> Option<Value> {
        if !self.succeeded() {
            return None;
        }
        let value = match Origin::read(place)? {
            Origin::Body(pointer) => self.body.as_ref()?.pointer(pointer)?.clone(),
            Origin::Location => Value::String(last_segment(self.location()?)?),
            Origin::Link(pointer) => Value::String(last_segment(&self.text(pointer)?)?),
            Origin::Header(name) => Value::String(self.response()?.header(name)?.to_owned()),
            Origin::Input(pointer) => self.sent.as_ref()?.pointer(pointer)?.clone(),
            Origin::Method => Value::String(self.request.method.to_string()),
            Origin::Status => Value::from(self.status()?),
            Origin::Given(json) => serde_json::from_str(json).ok()?,
        };
        (!value.is_null()).then_some(value)
    }

    /// The text at a place of the body; without a place, the body itself if it is not JSON.
    fn text(&self, pointer: &str) -> Option<Cow<'_, str>> {
        match &self.body {
            Some(body) => body.pointer(pointer)?.as_str().map(Cow::Borrowed),
            None if pointer.is_empty() => Some(self.response()?.text()),
            None => None,
        }
    }

    /// The texts of the body that may be links, each with its place.
    #[must_use]
    pub(crate) fn texts(&self) -> Vec<(String, Cow<'_, str>)> {
        fn walk<'a>(
            value: &'a Value,
            at: &mut String,
            depth: usize,
            texts: &mut Vec<(String, Cow<'a, str>)>,
        ) {
            let end = at.len();
            match value {
                Value::String(text) => texts.push((at.clone(), text.into())),
                Value::Object(object) if depth > 0 => {
                    for (name, value) in object.iter().take(MAX_FIELDS) {
                        isobath_genes::push_segment(at, name);
                        walk(value, at, depth - 1, texts);
                        at.truncate(end);
                    }
                }
                Value::Array(items) if depth > 0 => {
                    if let Some(first) = items.first() {
                        at.push_str("/0");
                        walk(first, at, depth - 1, texts);
                        at.truncate(end);
                    }
                }
                _ => {}
            }
        }
        let mut texts = Vec::new();
        match (&self.body, self.response()) {
            (Some(body), _) => walk(body, &mut String::new(), TEXT_DEPTH, &mut texts),
            (None, Some(response)) if response.body.len() <= MAX_LINK => {
                texts.push((String::new(), response.text()));
            }
            _ => {}
        }
        texts
    }

    /// The Location header of the response.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.response()?.header("location")
    }
}

/// Whether the path of a step names something that the candidate itself made: a row, or what a call that writes
/// returned or was sent.
#[must_use]
pub(crate) fn is_about_own(candidate: &Candidate, exchanges: &[Exchange], step: u32) -> bool {
    let steps = candidate.steps.iter();
    let inputs = steps
        .filter(|one| one.id == step)
        .filter_map(|one| one.input());
    let references = inputs.flat_map(|input| input.references());
    let mut sources = references
        .filter(|(pointer, _)| pointer.starts_with("/path/"))
        .map(|(_, reference)| reference.source);
    let is_made = |source: u32| {
        let mut exchanges = exchanges.iter();
        let maker = exchanges.find(|exchange| exchange.step == source);
        candidate.rows.iter().any(|row| row.id == source)
            || maker.is_some_and(|maker| maker.succeeded() && maker.request.method != Method::GET)
    };
    let mut own = exchanges.iter().filter(|exchange| exchange.step == step);
    let is_named = |exchange: &Exchange| {
        let mut texts = exchange.unique_texts.iter();
        texts.any(|text| exchange.request.url.contains(&text.sent))
    };
    sources.any(is_made) || own.any(is_named)
}

/// The fields of an object, and the levels of a body, that are looked at for links; the most bytes of a body that is
/// itself one.
const MAX_FIELDS: usize = 60;
const TEXT_DEPTH: usize = 4;
const MAX_LINK: usize = 500;

/// The last segment of the path in a link, decoded.
pub(crate) fn last_segment(link: &str) -> Option<String> {
    let path = link.trim().split(['?', '#']).next()?;
    let segment = path.trim_end_matches('/').rsplit('/').next()?;
    let segment = percent_encoding::percent_decode_str(segment);
    let segment = segment.decode_utf8().ok()?;
    (!segment.is_empty()).then(|| segment.into_owned())
}

/// The place of the last segment of the Location header.
pub const LOCATION: &str = "location";

/// Where a referenced value comes from in an earlier exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// `body` and a JSON Pointer: the body of the response.
    Body(&'a str),
    /// [`LOCATION`]: the last segment of the Location header.
    Location,
    /// `link` and a JSON Pointer: the last segment of a link in the body of the response.
    Link(&'a str),
    /// `header/` and a name: a header of the response.
    Header(&'a str),
    /// `sent` and a JSON Pointer: the input of the call.
    Input(&'a str),
    /// `method`: the method of the call.
    Method,
    /// `status`: the status of the response.
    Status,
    /// `given ` and JSON: a constant of the document.
    Given(&'a str),
}

impl<'a> Origin<'a> {
    /// Reads a place.
    #[must_use]
    pub fn read(place: &'a str) -> Option<Self> {
        match place {
            LOCATION => return Some(Self::Location),
            "method" => return Some(Self::Method),
            "status" => return Some(Self::Status),
            _ => {}
        }
        if let Some(pointer) = place.strip_prefix("body") {
            return Some(Self::Body(pointer));
        }
        if let Some(pointer) = place.strip_prefix("link") {
            return Some(Self::Link(pointer));
        }
        if let Some(name) = place.strip_prefix("header/") {
            return Some(Self::Header(name));
        }
        if let Some(pointer) = place.strip_prefix("sent") {
            return Some(Self::Input(pointer));
        }
        place.strip_prefix("given ").map(Self::Given)
    }
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(pointer) => write!(f, "body{pointer}"),
            Self::Location => f.write_str(LOCATION),
            Self::Link(pointer) => write!(f, "link{pointer}"),
            Self::Header(name) => write!(f, "header/{name}"),
            Self::Input(pointer) => write!(f, "sent{pointer}"),
            Self::Method => f.write_str("method"),
            Self::Status => f.write_str("status"),
            Self::Given(json) => write!(f, "given {json}"),
        }
    }
}

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

/// A text that is at most so long, or its beginning.
fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The texts in an input that have more characters than this.
pub(crate) fn texts_in(value: &Value, than: usize) -> BTreeSet<&str> {
    let mut texts = BTreeSet::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) if text.chars().count() > than => {
                texts.insert(text.as_str());
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            _ => {}
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for place in [
            "body",
            "body/0/id",
            "location",
            "link/url",
            "header/X-Id",
            "sent/path/id",
            "method",
            "status",
            "given {\"a\":1}",
        ] {
            let origin = Origin::read(place).expect("a place");
            assert_eq!(origin.to_string(), place);
        }
        assert_eq!(Origin::read("nowhere"), None);
    }
}
