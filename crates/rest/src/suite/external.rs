//! Mocks of external services in a suite.

use isobath_emit::http::{ExternalService, MockedReply, MockedResponse};

use super::TestBuilder;
use crate::caller::Service;
use crate::external::{MockBehavior, MockResponse};

/// The mocked external services, without their settings.
pub(super) fn stations(service: &Service) -> Vec<ExternalService> {
    let stations = service.with_mocks(|mocks| {
        let stations = mocks.stations().iter();
        let printed = stations.map(|station| ExternalService {
            name: station.name.clone(),
            port: station.at.port(),
            settings: Vec::new(),
        });
        printed.collect()
    });
    stations.unwrap_or_default()
}

impl TestBuilder<'_> {
    /// The mock responses of the test.
    pub(super) fn answers(&self) -> Vec<MockedResponse> {
        let answers = self.test.candidate.mock_responses.iter();
        answers.map(printed).collect()
    }

    /// Unsuccessful mock responses of the test, as text.
    pub(super) fn mock_summary(&self) -> Option<String> {
        let mut words: Vec<String> = Vec::new();
        for answer in &self.test.candidate.mock_responses {
            let service = &answer.outbound_request.service;
            let word = match answer.behavior {
                MockBehavior::Status(200..300) => continue,
                MockBehavior::Status(status) => format!("{service} returns {status}"),
                MockBehavior::Garbled => format!("{service} returns a malformed body"),
                MockBehavior::Closed => format!("{service} closes the connection"),
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        (!words.is_empty()).then(|| words.join(" and "))
    }
}

fn printed(answer: &MockResponse) -> MockedResponse {
    let text = answer.text();
    let value = serde_json::from_str(&text).ok();
    let reply = match (answer.behavior, value) {
        (MockBehavior::Closed, _) => MockedReply::Closed,
        (MockBehavior::Status(status), Some(value))
            if *answer.content_type == *"application/json" =>
        {
            MockedReply::Json { status, value }
        }
        (how, _) => MockedReply::Text {
            status: match how {
                MockBehavior::Status(status) => status,
                MockBehavior::Garbled | MockBehavior::Closed => 200,
            },
            content_type: answer.content_type.to_string(),
            text,
        },
    };
    MockedResponse {
        service: answer.outbound_request.service.to_string(),
        method: answer.outbound_request.method.to_string(),
        path: answer.outbound_request.path.to_string(),
        reply,
    }
}
