//! Outbound requests that the driver observed and no mock server answered.

use std::collections::BTreeMap;

use isobath_exec::document;
use isobath_exec::driver::Event;
use isobath_exec::mock::MockEndpoint;
use url::Url;

use super::mocks::shape;
use super::{OutboundRequest, OutboundTally};
use crate::exchange::Exchange;

/// Maximum number of distinct requests.
const MOST: usize = 200;

/// Calls to external services that the driver observed.
#[derive(Clone, Debug, Default)]
pub struct UnmockedRequests {
    tallies: BTreeMap<OutboundRequest, OutboundTally>,
}

impl UnmockedRequests {
    /// Takes note of what was called during an exchange. Once in a candidate is told, however often it was.
    pub(crate) fn learn(&mut self, exchange: &Exchange) {
        for event in &exchange.trace.events {
            let Event::Called { url, .. } = event else {
                continue;
            };
            let Ok(url) = Url::parse(url) else { continue };
            let outbound_request = OutboundRequest {
                service: url.origin().ascii_serialization().into(),
                method: "".into(),
                path: shape(url.path(), exchange.sent.as_ref()).into(),
            };
            if self.tallies.len() < MOST || self.tallies.contains_key(&outbound_request) {
                let tally = self.tallies.entry(outbound_request).or_default();
                tally.calls += 1;
                tally.operations.extend(exchange.operation);
            }
        }
    }

    /// What was called and answered by others than us.
    #[must_use]
    pub fn unanswered(&self, endpoints: &[MockEndpoint]) -> Vec<(OutboundRequest, OutboundTally)> {
        let by_proxy = endpoints.iter().any(|endpoint| endpoint.name.is_empty());
        let is_ours = |outbound_request: &OutboundRequest| {
            let mut at = endpoints.iter();
            at.any(|endpoint| *outbound_request.service == *format!("http://{}", endpoint.at))
                || (by_proxy && !is_local(&outbound_request.service))
        };
        let all = self
            .tallies
            .iter()
            .filter(|(outbound_request, _)| !is_ours(outbound_request));
        all.map(|(outbound_request, tally)| (outbound_request.clone(), tally.clone()))
            .collect()
    }
}

/// Whether a service is on this machine.
fn is_local(origin: &str) -> bool {
    Url::parse(origin).is_ok_and(|url| document::is_local(&url))
}

#[cfg(test)]
mod tests {
    use isobath_exec::http::{Client, ClientConfig, Request};

    use super::*;

    #[test]
    fn what_we_answer_is_not_told_twice() {
        let request = Request::get("http://127.0.0.1:1/");
        let call = Client::new(ClientConfig::default())
            .expect("a client")
            .call(&request);
        let mut exchange = Exchange::new(0, Some(0), None, request, call);
        for url in [
            "https://rates.example/v1/latest/17",
            "http://127.0.0.1:8940/v1",
            "http://localhost:9/x",
        ] {
            let url = url.to_owned();
            exchange.trace.events.push(Event::Called { action: 0, url });
        }
        let mut called = UnmockedRequests::default();
        called.learn(&exchange);
        let told = |endpoints: &[MockEndpoint]| -> Vec<String> {
            let seen = called.unanswered(endpoints);
            let seen = seen.iter();
            seen.map(|(one, _)| format!("{}{}", one.service, one.path))
                .collect()
        };
        let at = ([127, 0, 0, 1], 8940).into();
        let named = |name: &str| MockEndpoint {
            name: name.to_owned(),
            at,
        };
        assert_eq!(
            told(&[]),
            [
                "http://127.0.0.1:8940/v1",
                "http://localhost:9/x",
                "https://rates.example/v1/latest/*"
            ]
        );
        assert_eq!(
            told(&[named("RATES_URL")]),
            ["http://localhost:9/x", "https://rates.example/v1/latest/*"]
        );
        assert_eq!(told(&[named("")]), ["http://localhost:9/x"]);
    }
}
