//! The outcome of an HTTP call: a response, or why there is none.

use std::fmt;
use std::time::Duration;

use ::http::HeaderMap;
use bytes::Bytes;

/// A call that was made.
#[derive(Clone, Debug)]
pub struct Call {
    /// What came back.
    pub outcome: CallOutcome,
    /// How long the last attempt took, from its first byte out to its last byte in.
    pub elapsed: Duration,
    /// Whether the request was sent a second time, because the kept-alive connection was closed under it.
    ///
    /// The service may then have seen it twice.
    pub repeated: bool,
    /// How long we waited because the service asked us to (`Retry-After`).
    pub waited: Duration,
    /// Where redirections led, in order; empty unless they are followed.
    pub hops: Vec<String>,
}

/// What came back.
#[derive(Clone, Debug)]
pub enum CallOutcome {
    /// A response, at least its head.
    Answered(Response),
    /// No response.
    Failed(CallFailure),
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, decoded; at most as long as the limit.
    pub body: Bytes,
    /// Whether that is all of it.
    pub completeness: BodyCompleteness,
}

/// Whether a body is all that the service sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyCompleteness {
    /// All of it is here.
    Complete,
    /// It was cut at the limit, as sent or as decoded.
    TooLarge,
    /// The connection was closed in the middle.
    Dropped,
    /// The rest did not come in time.
    TimedOut,
    /// It is not what its `Content-Encoding` says, and is here as it was sent.
    Undecodable,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// The request cannot be written down as HTTP.
    Unsendable(String),
    /// Connection refused.
    Refused,
    /// There is no way to the service: no such host, no route.
    Unreachable(String),
    /// No encrypted connection is possible.
    Tls(String),
    /// The head of the response did not come in time.
    TimedOut,
    /// The connection was closed before the head of the response was complete.
    Dropped,
    /// What came is not HTTP.
    Garbage(String),
    /// The service sent us on more often than we follow.
    TooManyRedirects,
    /// The run was interrupted.
    Interrupted,
}

impl Call {
    /// The answer, if there is one.
    pub fn response(&self) -> Option<&Response> {
        match &self.outcome {
            CallOutcome::Answered(response) => Some(response),
            CallOutcome::Failed(_) => None,
        }
    }

    /// The status code, if there is an answer.
    pub fn status(&self) -> Option<u16> {
        self.response().map(|response| response.status)
    }

    /// Why there is no response, if there is none.
    pub fn failure(&self) -> Option<&CallFailure> {
        match &self.outcome {
            CallOutcome::Answered(_) => None,
            CallOutcome::Failed(failure) => Some(failure),
        }
    }
}

impl Response {
    /// The first header of a name, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// All headers of a name that are text, such as `Set-Cookie`.
    pub fn all_headers<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let values = self.headers.get_all(name).iter();
        values.filter_map(|value| value.to_str().ok())
    }

    /// The media type without its parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let value = self.header("content-type")?;
        let essence = value.split(';').next().unwrap_or(value);
        Some(essence.trim().to_ascii_lowercase())
    }

    /// The body as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsendable(why) => write!(f, "the request cannot be sent: {why}"),
            Self::Refused => f.write_str("connection refused"),
            Self::Unreachable(why) => write!(f, "unreachable: {why}"),
            Self::Tls(why) => write!(f, "TLS handshake failed: {why}"),
            Self::TimedOut => f.write_str("no response before the timeout"),
            Self::Dropped => f.write_str("the connection was closed without a response"),
            Self::Garbage(why) => write!(f, "the response is not HTTP: {why}"),
            Self::TooManyRedirects => f.write_str("too many redirects"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for CallFailure {}
