//! Stores mock responses in the journal of a run.

use std::sync::Arc;

use isobath_genes::{Domain, Gene, ModelBuilder, TextDomain, Unresolved, Value};
use serde_json::{Value as Json, json};

use super::{MockBehavior, MockResponse, OutboundRequest};

impl MockResponse {
    /// The response as [`restore`](Self::restore) reads it.
    pub(crate) fn store(&self) -> Json {
        let behavior = match self.behavior {
            MockBehavior::Status(status) => json!(status),
            MockBehavior::Garbled => json!("garbled"),
            MockBehavior::Closed => json!("closed"),
        };
        json!({
            "service": &*self.outbound_request.service,
            "method": &*self.outbound_request.method,
            "path": &*self.outbound_request.path,
            "behavior": behavior,
            "type": &*self.content_type,
            "body": self.body.as_ref().and_then(|body| body.to_json(&Unresolved)),
        })
    }

    /// The response that was stored as `json`. Its body is as it was, and made anew when it is to change.
    pub(crate) fn restore(json: &Json) -> Option<Self> {
        let text = |name: &str| json[name].as_str().map(Arc::<str>::from);
        let behavior = match &json["behavior"] {
            Json::String(word) if word == "garbled" => MockBehavior::Garbled,
            Json::String(word) if word == "closed" => MockBehavior::Closed,
            status => MockBehavior::Status(u16::try_from(status.as_u64()?).ok()?),
        };
        let body = match &json["body"] {
            Json::Null => None,
            body => {
                let mut builder = ModelBuilder::new();
                let root = builder.add(Domain::Text(TextDomain::any()));
                let model = Arc::new(builder.finish());
                let value = Value::Literal(Arc::new(body.clone()));
                Some(Gene::with_value(&model, root, value))
            }
        };
        Some(Self {
            outbound_request: Arc::new(OutboundRequest {
                service: text("service")?,
                method: text("method")?,
                path: text("path")?,
            }),
            behavior,
            content_type: text("type")?,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mock_responses_are_restored_as_they_were() {
        for behavior in [json!(404), json!("garbled"), json!("closed")] {
            let stored = json!({
                "service": "rates",
                "method": "GET",
                "path": "/latest/*",
                "behavior": behavior,
                "type": "application/json",
                "body": {"value": 7},
            });
            let answer = MockResponse::restore(&stored).expect("it was stored so");
            assert_eq!(answer.store(), stored);
        }
        assert!(MockResponse::restore(&json!({"how": 200})).is_none());
        assert!(MockResponse::restore(&json!({"how": "otherwise"})).is_none());
    }
}
