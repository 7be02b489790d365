//! The services that the service calls: what they answer belongs to candidates, like rows do.
//!
//! [`Mocks`] works while candidates run: it hands the answers of a candidate to the responder that stands for outside
//! services, and says of each call of ours which calls the service made meanwhile ([`OutboundCall`]). [`MockCatalog`] works
//! while candidates are made: it knows which operation runs which [`OutboundRequest`], and what can be answered to it, by the document of
//! the outside service ([`DocumentedService`]) or by what the service was seen to read. See `docs/mock.md`.

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

/// What the service asks of an outside one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutboundRequest {
    /// The outside service.
    pub service: Arc<str>,
    /// The method.
    pub method: Arc<str>,
    /// The path; `*` stands for any one segment.
    pub path: Arc<str>,
}

impl std::fmt::Display for OutboundRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} of {}", self.method, self.path, self.service)
    }
}

/// An answer that a candidate brings for an errand.
#[derive(Clone, Debug)]
pub struct MockResponse {
    /// What it answers.
    pub outbound_request: Arc<OutboundRequest>,
    /// In which way.
    pub how: MockBehavior,
    /// The media type of the body.
    pub content_type: Arc<str>,
    /// The body, where there is one.
    pub body: Option<Gene>,
}

/// How an outside service answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockBehavior {
    /// With this status.
    Status(u16),
    /// With status 200, and a body that is not what it says it is.
    Garbled,
    /// Not at all: the connection is closed.
    Closed,
}

/// The body of an answer that is garbled.
const GARBLED: &str = "<html>not what you asked for</html>";

impl MockResponse {
    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        if self.how == MockBehavior::Garbled {
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
        self.content_type.contains("json") && self.how != MockBehavior::Garbled
    }

    /// The answer as the responder gives it.
    fn prepared(&self) -> MockStub {
        let status = match self.how {
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
