//! External services that the service under test calls; their mock responses are part of a
//! candidate.
//!
//! [`Mocks`] is used while candidates run: it passes the mock responses of a candidate to the mock
//! servers and records the outbound calls of each exchange ([`OutboundCall`]). [`MockCatalog`] is
//! used while candidates are made: it knows which operation sends which [`OutboundRequest`], and
//! which responses are possible, from the OpenAPI document of the external service
//! ([`DocumentedService`]) or from the fields that the service reads. See `docs/mock.md`.

mod catalog;
mod documented;
mod mocks;
mod stored;
#[cfg(test)]
mod tests;
mod unmocked;

use std::sync::Arc;

use isobath_exec::mock::{MockReply, MockStub};
use isobath_genes::{Gene, Unresolved, plain};

pub use catalog::MockCatalog;
pub use documented::DocumentedService;
pub use mocks::{Mocks, OutboundCall, OutboundTally};
pub use unmocked::UnmockedRequests;

/// An outbound request of the service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutboundRequest {
    /// The external service.
    pub service: Arc<str>,
    /// The method.
    pub method: Arc<str>,
    /// The path; `*` matches any one segment.
    pub path: Arc<str>,
}

impl std::fmt::Display for OutboundRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} of {}", self.method, self.path, self.service)
    }
}

/// A mock response of a candidate.
#[derive(Clone, Debug)]
pub struct MockResponse {
    /// What it answers.
    pub outbound_request: Arc<OutboundRequest>,
    /// In which way.
    pub behavior: MockBehavior,
    /// The media type of the body.
    pub content_type: Arc<str>,
    /// The body, where there is one.
    pub body: Option<Gene>,
}

/// How a mock behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockBehavior {
    /// With this status.
    Status(u16),
    /// With status 200, and a body that is not what it says it is.
    Garbled,
    /// Not at all: the connection is closed.
    Closed,
}

/// The body of a response that is garbled.
const GARBLED: &str = "<html>not what you asked for</html>";

impl MockResponse {
    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        if self.behavior == MockBehavior::Garbled {
            return GARBLED.to_owned();
        }
        let json = self
            .body
            .as_ref()
            .and_then(|body| body.to_json(&Unresolved));
        match json {
            None => String::new(),
            Some(json) if self.is_json() => json.to_string(),
            Some(json) => plain(&json).into_owned(),
        }
    }

    /// Whether the body is JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.content_type.contains("json") && self.behavior != MockBehavior::Garbled
    }

    /// The response as the responder gives it.
    fn prepared(&self) -> MockStub {
        let status = match self.behavior {
            MockBehavior::Status(status) => Some(status),
            MockBehavior::Garbled => Some(200),
            MockBehavior::Closed => None,
        };
        MockStub {
            service: self.outbound_request.service.to_string(),
            method: self.outbound_request.method.to_string(),
            path: self.outbound_request.path.to_string(),
            reply: match status {
                None => MockReply::Close,
                Some(status) => MockReply::Respond {
                    status,
                    content_type: self.content_type.to_string(),
                    body: self.text().into_bytes(),
                },
            },
        }
    }
}
