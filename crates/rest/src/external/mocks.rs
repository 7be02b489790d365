//! Mock servers while candidates run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_exec::mock::{MockEndpoint, MockServer, MockServerError, ReceivedCall};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{DocumentedService, OutboundRequest};
use crate::candidate::Candidate;
use crate::exchange::Exchange;

/// A call that the service made during a call of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundCall {
    /// The request.
    pub outbound_request: Arc<OutboundRequest>,
    /// Which answer of the candidate it got; `None` when there was none for it.
    pub answer: Option<usize>,
    /// The status it got; `None` when the connection was closed.
    pub status: Option<u16>,
}

/// How often the service sent an outbound request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboundTally {
    /// Calls; where only a driver saw them, the candidates in which there were some.
    pub calls: u64,
    /// The returned statuses with counts; 0 is a closed connection.
    pub statuses: BTreeMap<u16, u64>,
    /// The operations that caused them; empty when nothing was called at that time.
    pub operations: BTreeSet<usize>,
    /// Whether they asked for an encrypted connection, which was refused.
    pub encrypted: bool,
    /// The first query and body that were seen, shortened.
    pub example: String,
}

impl OutboundTally {
    /// Adds those that another instance of the service sent.
    pub(crate) fn add(&mut self, other: Self) {
        self.calls += other.calls;
        for (status, calls) in other.statuses {
            *self.statuses.entry(status).or_default() += calls;
        }
        self.operations.extend(other.operations);
        self.encrypted |= other.encrypted;
        if self.example.is_empty() {
            self.example = other.example;
        }
    }
}

/// External services while candidates run.
#[derive(Debug)]
pub struct Mocks {
    responder: MockServer,
    documented: Vec<DocumentedService>,
    tallies: BTreeMap<OutboundRequest, OutboundTally>,
    n_dropped: u64,
}

/// Maximum number of distinct outbound requests.
const MAX_OUTBOUND_REQUESTS: usize = 500;
/// Characters of a query or body that reports show.
const SHOWN: usize = 200;
/// A segment of a path of more characters is taken for a value.
const LONG_SEGMENT: usize = 32;

impl Mocks {
    /// Mock servers of a responder; some services are documented.
    #[must_use]
    pub fn new(responder: MockServer, documented: Vec<DocumentedService>) -> Self {
        Self {
            responder,
            documented,
            tallies: BTreeMap::new(),
            n_dropped: 0,
        }
    }

    /// Where which service is stood for.
    #[must_use]
    pub fn endpoints(&self) -> &[MockEndpoint] {
        self.responder.endpoints()
    }

    /// The external services with an OpenAPI document.
    #[must_use]
    pub fn documented(&self) -> &[DocumentedService] {
        &self.documented
    }

    /// A candidate begins.
    pub fn begin(&mut self, candidate: &Candidate) {
        self.count_rest();
        let answers = candidate.mock_responses.iter();
        self.responder
            .begin(answers.map(super::MockResponse::prepared).collect());
    }

    /// The next call is the one of this number.
    pub fn call(&mut self, number: u16) {
        self.responder.begin_action(number);
    }

    /// Gives each exchange the calls that the service made during it.
    pub fn end(&mut self, candidate: &Candidate, exchanges: &mut [Exchange]) {
        let (calls, n_dropped) = self.responder.calls();
        self.n_dropped += n_dropped;
        for call in calls {
            let during = call.action.map(usize::from);
            let exchange = during.and_then(|at| exchanges.get_mut(at));
            let given = call.answer.and_then(|at| candidate.mock_responses.get(at));
            let outbound_request = match given {
                Some(answer) => Arc::clone(&answer.outbound_request),
                None => {
                    let sent = exchange
                        .as_ref()
                        .and_then(|exchange| exchange.sent.as_ref());
                    Arc::new(self.outbound_request(&call, sent))
                }
            };
            let operation = exchange.as_ref().and_then(|exchange| exchange.operation);
            self.count(&outbound_request, &call, operation);
            if let Some(exchange) = exchange
                && !call.encrypted
            {
                exchange.trace.outgoing.push(OutboundCall {
                    outbound_request,
                    answer: call.answer,
                    status: call.status,
                });
            }
        }
    }

    /// The outbound requests so far, with counts.
    pub fn tallies(&mut self) -> Vec<(OutboundRequest, OutboundTally)> {
        self.count_rest();
        let all = self.tallies.iter();
        all.map(|(outbound_request, tally)| (outbound_request.clone(), tally.clone()))
            .collect()
    }

    /// Calls that were answered and not kept, because there were too many at once.
    #[must_use]
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// Stops the mock servers, so that suites can start their own.
    pub fn pause(&mut self) {
        self.responder.pause();
    }

    /// Stands for the services again.
    ///
    /// # Errors
    ///
    /// If the ports are still in use.
    pub fn resume(&mut self) -> Result<(), MockServerError> {
        self.responder.resume()
    }

    /// Counts what was called while no candidate ran.
    fn count_rest(&mut self) {
        let (calls, n_dropped) = self.responder.calls();
        self.n_dropped += n_dropped;
        for call in calls {
            let outbound_request = self.outbound_request(&call, None);
            self.count(&outbound_request, &call, None);
        }
    }

    fn count(
        &mut self,
        outbound_request: &OutboundRequest,
        call: &ReceivedCall,
        operation: Option<usize>,
    ) {
        if self.tallies.len() >= MAX_OUTBOUND_REQUESTS
            && !self.tallies.contains_key(outbound_request)
        {
            return;
        }
        let tally = self.tallies.entry(outbound_request.clone()).or_default();
        tally.calls += 1;
        *tally.statuses.entry(call.status.unwrap_or(0)).or_default() += 1;
        tally.operations.extend(operation);
        tally.encrypted |= call.encrypted;
        if tally.example.is_empty() {
            let body = String::from_utf8_lossy(&call.body);
            let parts = [call.query.as_str(), &body];
            let parts = parts.iter().filter(|part| !part.is_empty());
            let whole = parts.copied().collect::<Vec<_>>().join(" ");
            tally.example = whole.chars().take(SHOWN).collect();
        }
    }

    /// What a call asks, with what varies in its path left open.
    fn outbound_request(&self, call: &ReceivedCall, sent: Option<&Value>) -> OutboundRequest {
        let documented = self.documented.iter();
        let mut documented = documented.filter(|documented| documented.name == call.service);
        let path = documented
            .find_map(|documented| documented.shape(&call.method, &call.path))
            .unwrap_or_else(|| shape(&call.path, sent));
        OutboundRequest {
            service: call.service.as_str().into(),
            method: call.method.as_str().into(),
            path: path.into(),
        }
    }
}

/// A path with a star for each segment that is a number, an id, or a value of the input.
pub(super) fn shape(path: &str, sent: Option<&Value>) -> String {
    let mut values = BTreeSet::new();
    if let Some(sent) = sent {
        scalars(sent, &mut values);
    }
    let segments = path.split('/').map(|segment| {
        let decoded = percent_decode_str(segment).decode_utf8_lossy();
        let is_number = !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit());
        if is_number || segment.chars().count() > LONG_SEGMENT || values.contains(&*decoded) {
            "*"
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

fn scalars(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            into.insert(number.to_string());
        }
        Value::String(text) => {
            if !text.is_empty() {
                into.insert(text.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| scalars(item, into)),
        Value::Object(object) => object.values().for_each(|value| scalars(value, into)),
    }
}
