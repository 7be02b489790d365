//! The outside services of a suite, and what they answer in a test.

use isobath_emit::http::{ExternalService, MockedReply, MockedResponse};

use super::Printer;
use crate::caller::Service;
use crate::external::{MockBehavior, MockResponse};

/// The outside services that the tests stand for, with the settings still to be filled in.
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

impl Printer<'_> {
    /// What outside services answer in the test.
    pub(super) fn answers(&self) -> Vec<MockedResponse> {
        let answers = self.test.candidate.mock_responses.iter();
        answers.map(printed).collect()
    }

    /// What outside services do in the test, as words; nothing where all of them do well.
    pub(super) fn mock_summary(&self) -> Option<String> {
        let mut words: Vec<String> = Vec::new();
        for answer in &self.test.candidate.mock_responses {
            let service = &answer.outbound_request.service;
            let word = match answer.how {
                MockBehavior::Status(200..300) => continue,
                MockBehavior::Status(status) => format!("{service} answers {status}"),
                MockBehavior::Garbled => format!("{service} answers nonsense"),
                MockBehavior::Closed => format!("{service} does not answer"),
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
    let reply = match (answer.how, value) {
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
