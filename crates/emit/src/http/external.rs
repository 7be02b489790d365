//! External services that the tests mock, and the mocked responses.
//!
//! The service is configured to call fixed ports of loopback; a suite listens there while its tests run, one small
//! server in each language, and gives the answers of the test in order, the last one again, and `{}` where there is none.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::suite::{HttpSuite, HttpTest};
use super::writer::value::JsonNotation;
use crate::writer::layout::Layout;
use crate::writer::text::one_line;

/// A service that the tests stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalService {
    /// Its name; empty for a proxy, whose callers name whom they mean.
    pub name: String,
    /// The port of loopback where the service looks for it.
    pub port: u16,
    /// Variables that point the service there, as `NAME=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// What an external service answers during a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MockedResponse {
    /// The external service; through a proxy, its host.
    pub service: String,
    /// The method of the call.
    pub method: String,
    /// The path of the call; `*` stands for any one segment.
    pub path: String,
    /// What comes back.
    pub reply: MockedReply,
}

/// What comes back from an external service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MockedReply {
    /// JSON.
    Json {
        /// The status.
        status: u16,
        /// The body.
        value: Value,
    },
    /// Anything else, or nothing.
    Text {
        /// The status.
        status: u16,
        /// The media type.
        content_type: String,
        /// The body.
        text: String,
    },
    /// The connection is closed without an answer.
    Closed,
}

impl MockedReply {
    /// Status, media type and body; status 0 stands for a closed connection.
    pub fn parts(&self) -> (u16, &str, String) {
        match self {
            Self::Json { status, value } => (*status, "application/json", value.to_string()),
            Self::Text {
                status,
                content_type,
                text,
            } => (*status, content_type, text.clone()),
            Self::Closed => (0, "", String::new()),
        }
    }
}

impl HttpTest {
    /// What external services answer, one line each, for people who try the test by hand.
    pub fn answer_lines(&self) -> Vec<String> {
        let line = |answer: &MockedResponse| {
            let MockedResponse {
                service,
                method,
                path,
                reply,
            } = answer;
            let how = match reply.parts() {
                (0, ..) => "by closing the connection".to_owned(),
                (status, _, body) if body.is_empty() => format!("with {status}"),
                (status, _, body) => format!("with {status} and {body}"),
            };
            format!("while {service} answers {method} {path} {how}")
        };
        self.mocks.iter().map(line).collect()
    }
}

/// The lines that say where a suite stands for others.
pub(crate) fn environment(suite: &HttpSuite) -> Vec<String> {
    let outside = suite.external_services.iter();
    let lines = outside.map(|outside| {
        let who = match outside.name.as_str() {
            "" => "services that are called through a proxy",
            name => name,
        };
        let settings = match outside.settings.join(" ") {
            none if none.is_empty() => String::new(),
            some => format!("; a service that runs already must have been started with {some}"),
        };
        one_line(&format!(
            "Port {} of 127.0.0.1 must be free: the tests stand for {who} there{settings}",
            outside.port
        ))
    });
    lines.collect()
}

/// The call that prepares an answer where bodies are texts: `mock_response("rates", "GET", "/latest", 200, "…", "…")`.
pub(crate) fn text_call(
    function: &str,
    answer: &MockedResponse,
    literal: impl Fn(&str) -> String,
) -> String {
    let (status, content_type, text) = answer.reply.parts();
    format!(
        "{function}({}, {}, {}, {status}, {}, {})",
        literal(&answer.service),
        literal(&answer.method),
        literal(&answer.path),
        literal(content_type),
        literal(&text)
    )
}

/// The arguments of the call that prepares an answer where bodies are values: status, body, and the media type of what is
/// not JSON.
pub(crate) fn value_arguments(answer: &MockedResponse, notation: &JsonNotation) -> Vec<Layout> {
    let literal = |text: &str| Layout::Atom((notation.string)(text));
    let number = |status: &u16| Layout::Atom(status.to_string());
    let mut arguments = vec![
        literal(&answer.service),
        literal(&answer.method),
        literal(&answer.path),
    ];
    match &answer.reply {
        MockedReply::Closed => {}
        MockedReply::Json { status, value } => {
            let body = notation.layout("", value, &|_| None);
            arguments.extend([number(status), body]);
        }
        MockedReply::Text {
            status,
            content_type,
            text,
        } => arguments.extend([number(status), literal(text), literal(content_type)]),
    }
    arguments
}
