//! The outside services of a suite, and what they answer in a test.

use isobath_emit::http::{ExternalService, MockedReply, MockedResponse};

use super::Printer;
use crate::caller::Service;
use crate::outside::{How, NewAnswer};

/// The outside services that the tests stand for, with the settings still to be filled in.
pub(super) fn stations(service: &Service) -> Vec<ExternalService> {
    let stations = service.outwards(|outside| {
        let stations = outside.stations().iter();
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
        let answers = self.test.candidate.answers.iter();
        answers.map(printed).collect()
    }

    /// What outside services do in the test, as words; nothing where all of them do well.
    pub(super) fn outside(&self) -> Option<String> {
        let mut words: Vec<String> = Vec::new();
        for answer in &self.test.candidate.answers {
            let service = &answer.errand.service;
            let word = match answer.how {
                How::Status(200..300) => continue,
                How::Status(status) => format!("{service} answers {status}"),
                How::Garbled => format!("{service} answers nonsense"),
                How::Closed => format!("{service} does not answer"),
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        (!words.is_empty()).then(|| words.join(" and "))
    }
}

fn printed(answer: &NewAnswer) -> MockedResponse {
    let text = answer.text();
    let value = serde_json::from_str(&text).ok();
    let reply = match (answer.how, value) {
        (How::Closed, _) => MockedReply::Closed,
        (How::Status(status), Some(value)) if *answer.content_type == *"application/json" => {
            MockedReply::Json { status, value }
        }
        (how, _) => MockedReply::Text {
            status: match how {
                How::Status(status) => status,
                How::Garbled | How::Closed => 200,
            },
            content_type: answer.content_type.to_string(),
            text,
        },
    };
    MockedResponse {
        service: answer.errand.service.to_string(),
        method: answer.errand.method.to_string(),
        path: answer.errand.path.to_string(),
        reply,
    }
}
