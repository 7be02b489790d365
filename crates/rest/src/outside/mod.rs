//! The services that the service calls: what they answer belongs to candidates, like rows do.
//!
//! [`Outbound`] works while candidates run: it hands the answers of a candidate to the responder that stands for outside
//! services, and says of each call of ours which calls the service made meanwhile ([`OutCall`]). [`Repertoire`] works
//! while candidates are made: it knows which operation runs which [`Errand`], and what can be answered to it, by the document of
//! the outside service ([`Described`]) or by what the service was seen to read. See `docs/mock.md`.

mod called;
mod described;
mod live;
mod repertoire;
mod stored;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use isobath_exec::mock::{MockReply, MockStub};
use isobath_genes::{Gene, Unresolved, plain};

pub use called::Called;
pub use described::Described;
pub use live::{OutCall, Outbound, Tally};
pub use repertoire::Repertoire;

/// What the service asks of an outside one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Errand {
    /// The outside service.
    pub service: Arc<str>,
    /// The method.
    pub method: Arc<str>,
    /// The path; `*` stands for any one segment.
    pub path: Arc<str>,
}

impl std::fmt::Display for Errand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} of {}", self.method, self.path, self.service)
    }
}

/// An answer that a candidate brings for an errand.
#[derive(Clone, Debug)]
pub struct NewAnswer {
    /// What it answers.
    pub errand: Arc<Errand>,
    /// In which way.
    pub how: How,
    /// The media type of the body.
    pub content_type: Arc<str>,
    /// The body, where there is one.
    pub body: Option<Gene>,
}

/// How an outside service answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With this status.
    Status(u16),
    /// With status 200, and a body that is not what it says it is.
    Garbled,
    /// Not at all: the connection is closed.
    Closed,
}

/// The body of an answer that is garbled.
const GARBLED: &str = "<html>not what you asked for</html>";

impl NewAnswer {
    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        if self.how == How::Garbled {
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
        self.content_type.contains("json") && self.how != How::Garbled
    }

    /// The answer as the responder gives it.
    fn prepared(&self) -> MockStub {
        let status = match self.how {
            How::Status(status) => Some(status),
            How::Garbled => Some(200),
            How::Closed => None,
        };
        MockStub {
            service: self.errand.service.to_string(),
            method: self.errand.method.to_string(),
            path: self.errand.path.to_string(),
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
