//! Known outbound requests of the service, and the mock responses that candidates can bring for
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_exec::driver::{Event, InputLocation};
use isobath_genes::{
    Domain, Field, FloatDomain, Gene, GeneConfig, IntegerDomain, ModelBuilder, NodeId,
    ObjectDomain, TextDomain,
};
use isobath_search::Rng;

use super::documented::{DocumentedService, ResponseOption};
use super::{MockBehavior, MockResponse, OutboundRequest};
use crate::candidate::Candidate;
use crate::exchange::Exchange;

/// Maximum number of outbound requests with varied responses.
const MAX_OUTBOUND_REQUESTS: usize = 64;
/// Maximum number of fields in an undocumented response.
const MAX_FIELDS: usize = 32;
/// The most answers of a candidate.
const MAX_MOCK_RESPONSES: usize = 8;
/// Probability that a sampled candidate gets a mock response for a known outbound request.
const ADD_RESPONSE: f64 = 0.8;
/// Statuses that every client should be prepared for.
const COMMON_ERRORS: [u16; 4] = [400, 404, 500, 503];

/// The known outbound requests of a service, and their possible responses.
#[derive(Clone, Debug, Default)]
pub struct MockCatalog {
    documented: Vec<DocumentedService>,
    known: BTreeMap<Arc<OutboundRequest>, KnownRequest>,
    /// The outbound requests that each operation was observed to send.
    called_by: BTreeMap<usize, BTreeSet<Arc<OutboundRequest>>>,
}

#[derive(Clone, Debug)]
struct KnownRequest {
    options: Vec<ResponseOption>,
    /// Fields that the service reads from an undocumented response.
    fields: Option<BTreeSet<String>>,
}

impl MockCatalog {
    /// A catalog of the documented external services.
    #[must_use]
    pub fn new(documented: Vec<DocumentedService>) -> Self {
        Self {
            documented,
            ..Self::default()
        }
    }

    /// Whether an operation was seen to call anybody.
    pub(crate) fn is_called_by(&self, operation: usize) -> bool {
        self.called_by.contains_key(&operation)
    }

    /// Learns which calls send which outbound requests, and which response fields are read.
    pub(crate) fn learn(&mut self, exchanges: &[Exchange]) {
        for exchange in exchanges {
            let Some(operation) = exchange.operation else {
                continue;
            };
            let outgoing = &exchange.trace.outgoing;
            for call in outgoing {
                if !self.known.contains_key(&call.outbound_request) {
                    if self.known.len() >= MAX_OUTBOUND_REQUESTS {
                        continue;
                    }
                    let known = self.describe_request(&call.outbound_request);
                    self.known.insert(Arc::clone(&call.outbound_request), known);
                }
                let run = self.called_by.entry(operation).or_default();
                run.insert(Arc::clone(&call.outbound_request));
            }
            if outgoing.is_empty() {
                continue;
            }
            let read = exchange
                .trace
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::Parameter {
                        place: InputLocation::Field,
                        name,
                        ..
                    } if !name.is_empty() && name.len() <= 100 => Some(name),
                    _ => None,
                });
            let read: Vec<&String> = read.collect();
            for call in outgoing {
                if let Some(known) = self.known.get_mut(&call.outbound_request) {
                    known.read(&read);
                }
            }
        }
    }

    fn describe_request(&self, outbound_request: &OutboundRequest) -> KnownRequest {
        let mut documented = self.documented.iter();
        let options = documented
            .find(|documented| *documented.name == *outbound_request.service)
            .map(|documented| {
                documented.response_options(&outbound_request.method, &outbound_request.path)
            })
            .unwrap_or_default();
        if options.iter().any(|options| options.status < 300) {
            return KnownRequest {
                options,
                fields: None,
            };
        }
        let fields = BTreeSet::new();
        let mut all = vec![from_read_fields(&fields)];
        all.extend(options);
        KnownRequest {
            options: all,
            fields: Some(fields),
        }
    }

    /// Adds mock responses for the known outbound requests of a sampled candidate.
    pub(crate) fn add_mock_responses(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
    ) {
        for outbound_request in self.outbound_requests(candidate) {
            let is_answered = candidate
                .mock_responses
                .iter()
                .any(|answer| answer.outbound_request == outbound_request);
            if !is_answered
                && candidate.mock_responses.len() < MAX_MOCK_RESPONSES
                && rng.f64() < ADD_RESPONSE
            {
                candidate
                    .mock_responses
                    .extend(self.answer(rng, tuning, &outbound_request));
            }
        }
    }

    /// Mutates one mock response of a candidate; false if it sends no outbound request.
    pub(crate) fn mutate(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
    ) -> bool {
        let outbound_requests = self.outbound_requests(candidate);
        let Some(outbound_request) = rng.choice(&outbound_requests) else {
            return false;
        };
        let numbered = candidate.mock_responses.iter().enumerate();
        let own: Vec<usize> = numbered
            .filter(|(_, answer)| answer.outbound_request == *outbound_request)
            .map(|(at, _)| at)
            .collect();
        let has_room = candidate.mock_responses.len() < MAX_MOCK_RESPONSES;
        // An outbound request that is run twice may be answered in two ways.
        if own.is_empty() || (has_room && own.len() < 3 && rng.f64() < 0.1) {
            let answer = self.answer(rng, tuning, outbound_request);
            let is_added = has_room && answer.is_some();
            candidate.mock_responses.extend(answer.filter(|_| has_room));
            return is_added;
        }
        let Some(at) = rng.choice(own) else {
            return false;
        };
        let chance = rng.f64();
        if chance < 0.05 {
            candidate.mock_responses.remove(at);
            return true;
        }
        let Some(changed) = candidate.mock_responses.get_mut(at) else {
            return false;
        };
        let is_stale = self.is_stale(changed);
        if chance < 0.75
            && !is_stale
            && let Some(body) = &mut changed.body
            && body.mutate(rng, tuning).is_some()
        {
            return true;
        }
        match self.answer(rng, tuning, outbound_request) {
            Some(answer) => {
                *changed = answer;
                true
            }
            None => false,
        }
    }

    /// Whether a response was made before it was known what is read of it.
    fn is_stale(&self, answer: &MockResponse) -> bool {
        let (Some(known), Some(body)) = (self.known.get(&answer.outbound_request), &answer.body)
        else {
            return false;
        };
        let mut models = known.options.iter().filter_map(|one| one.body.as_ref());
        !models.any(|(model, _)| Arc::ptr_eq(model, body.model()))
    }

    /// The known outbound requests of a candidate, each once.
    fn outbound_requests(&self, candidate: &Candidate) -> Vec<Arc<OutboundRequest>> {
        let operations = candidate.steps.iter().filter_map(|step| step.operation());
        let outbound_requests: BTreeSet<&Arc<OutboundRequest>> = operations
            .filter_map(|operation| self.called_by.get(&operation))
            .flatten()
            .collect();
        outbound_requests.into_iter().cloned().collect()
    }

    /// A mock response: mostly a success, sometimes an error, rarely a malformed body.
    fn answer(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        outbound_request: &Arc<OutboundRequest>,
    ) -> Option<MockResponse> {
        let known = self.known.get(outbound_request)?;
        let (good, bad): (Vec<&ResponseOption>, Vec<&ResponseOption>) =
            known.options.iter().partition(|one| one.status < 300);
        let made =
            |behavior: MockBehavior, content_type: &Arc<str>, body: Option<Gene>| MockResponse {
                outbound_request: Arc::clone(outbound_request),
                behavior,
                content_type: Arc::clone(content_type),
                body,
            };
        let json: Arc<str> = "application/json".into();
        let from = |rng: &mut Rng, one: &ResponseOption| {
            let body = one.body.as_ref();
            let body = body.map(|(model, node)| Gene::sample(model, *node, rng, tuning));
            made(MockBehavior::Status(one.status), &one.content_type, body)
        };
        let chance = rng.f64();
        let documented = if chance < 0.8 && !good.is_empty() {
            rng.choice(good)
        } else if chance < 0.9 {
            rng.choice(bad)
        } else {
            None
        };
        Some(if let Some(one) = documented {
            from(rng, one)
        } else if chance < 0.96 {
            let status = *rng.choice(&COMMON_ERRORS)?;
            made(MockBehavior::Status(status), &json, None)
        } else if chance < 0.98 {
            made(MockBehavior::Garbled, &json, None)
        } else {
            made(MockBehavior::Closed, &json, None)
        })
    }
}

impl KnownRequest {
    /// Records fields that were read from JSON.
    fn read(&mut self, names: &[&String]) {
        let Some(fields) = &mut self.fields else {
            return;
        };
        let before = fields.len();
        for name in names {
            if fields.len() < MAX_FIELDS {
                fields.insert((*name).clone());
            }
        }
        if fields.len() > before {
            let read = from_read_fields(fields);
            if let Some(first) = self.options.first_mut() {
                *first = read;
            }
        }
    }
}

/// A response that has the fields that the service was seen to read, each of any simple type.
fn from_read_fields(fields: &BTreeSet<String>) -> ResponseOption {
    let mut builder = ModelBuilder::new();
    let simple = simple(&mut builder);
    let root = object(&mut builder, fields, simple);
    ResponseOption {
        status: 200,
        content_type: "application/json".into(),
        body: Some((Arc::new(builder.finish()), root)),
    }
}

/// A value of any simple type.
fn simple(builder: &mut ModelBuilder) -> NodeId {
    let mut domains = vec![Domain::Text(TextDomain::any()), Domain::Boolean];
    domains.extend(FloatDomain::new(None, None).map(Domain::Float).ok());
    domains.extend(IntegerDomain::new(None, None).map(Domain::Integer).ok());
    let nodes: Vec<NodeId> = domains.into_iter().map(|one| builder.add(one)).collect();
    builder.add(Domain::Choice(nodes.into()))
}

/// An object with these fields; those of a field stand behind its name and a slash.
fn object(builder: &mut ModelBuilder, fields: &BTreeSet<String>, simple: NodeId) -> NodeId {
    let mut groups: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for field in fields {
        let (name, below) = field.split_once('/').unwrap_or((field, ""));
        let group = groups.entry(name).or_default();
        if !below.is_empty() {
            group.insert(below.to_owned());
        }
    }
    let fields = groups.into_iter().map(|(name, below)| {
        let node = if below.is_empty() {
            simple
        } else {
            object(builder, &below, simple)
        };
        Field {
            name: name.into(),
            node,
            required: true,
        }
    });
    let fields: Vec<Field> = fields.collect();
    builder.add(Domain::Object(ObjectDomain {
        fields: fields.into(),
        extra: None,
        closed: false,
        min: 0,
        max: None,
    }))
}

/// The model of a response that is grown from these fields.
#[cfg(test)]
pub(super) fn model_of(fields: &[&str]) -> (Arc<isobath_genes::Model>, NodeId) {
    let fields = fields.iter().map(|name| (*name).to_owned()).collect();
    from_read_fields(&fields)
        .body
        .expect("a grown answer has a body")
}
