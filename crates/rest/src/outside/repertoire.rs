//! What can be answered to errands, and how candidates come to bring answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobath_exec::driver::{Event, InputLocation};
use isobath_genes::{
    Domain, Field, FloatDomain, Gene, GeneConfig, IntegerDomain, ModelBuilder, NodeId,
    ObjectDomain, TextDomain,
};
use isobath_search::Rng;

use super::described::{Described, Possible};
use super::{Errand, How, NewAnswer};
use crate::candidate::Candidate;
use crate::exchange::Exchange;

/// More errands than these are not answered in any way but the usual one.
const MOST_ERRANDS: usize = 64;
/// More fields than these are not tried in an answer that nobody describes.
const MOST_FIELDS: usize = 32;
/// The most answers of a candidate.
const MOST_ANSWERS: usize = 8;
/// That a fresh candidate brings an answer to an errand that its calls are known to run.
const EAGER: f64 = 0.8;
/// Statuses that every client should be prepared for.
const UNWELCOME: [u16; 4] = [400, 404, 500, 503];

/// What is known of the errands of a service.
#[derive(Clone, Debug, Default)]
pub struct Repertoire {
    described: Vec<Described>,
    known: BTreeMap<Arc<Errand>, Known>,
    /// The errands that each operation was seen to run.
    run_by: BTreeMap<usize, BTreeSet<Arc<Errand>>>,
}

#[derive(Clone, Debug)]
struct Known {
    possible: Vec<Possible>,
    /// Names that the service was seen to look for in JSON, where nobody describes the answer.
    fields: Option<BTreeSet<String>>,
}

impl Repertoire {
    /// The repertoire of outside services, as far as they are described.
    #[must_use]
    pub fn new(described: Vec<Described>) -> Self {
        Self {
            described,
            ..Self::default()
        }
    }

    /// Whether an operation was seen to call anybody.
    pub(crate) fn is_run_by(&self, operation: usize) -> bool {
        self.run_by.contains_key(&operation)
    }

    /// Learns which calls led to which errands, and what of the answers was read.
    pub(crate) fn learn(&mut self, exchanges: &[Exchange]) {
        for exchange in exchanges {
            let Some(operation) = exchange.operation else {
                continue;
            };
            let outgoing = &exchange.inside.outgoing;
            for call in outgoing {
                if !self.known.contains_key(&call.errand) {
                    if self.known.len() >= MOST_ERRANDS {
                        continue;
                    }
                    let known = self.first_sight(&call.errand);
                    self.known.insert(Arc::clone(&call.errand), known);
                }
                let run = self.run_by.entry(operation).or_default();
                run.insert(Arc::clone(&call.errand));
            }
            if outgoing.is_empty() {
                continue;
            }
            let read = exchange
                .inside
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
                if let Some(known) = self.known.get_mut(&call.errand) {
                    known.read(&read);
                }
            }
        }
    }

    fn first_sight(&self, errand: &Errand) -> Known {
        let mut described = self.described.iter();
        let possible = described
            .find(|described| *described.name == *errand.service)
            .map(|described| described.options(&errand.method, &errand.path))
            .unwrap_or_default();
        if possible.iter().any(|possible| possible.status < 300) {
            return Known {
                possible,
                fields: None,
            };
        }
        let fields = BTreeSet::new();
        let mut all = vec![grown(&fields)];
        all.extend(possible);
        Known {
            possible: all,
            fields: Some(fields),
        }
    }

    /// Gives a fresh candidate answers to the errands that its calls are known to run.
    pub(crate) fn season(&self, rng: &mut Rng, tuning: &GeneConfig, candidate: &mut Candidate) {
        for errand in self.errands(candidate) {
            let is_answered = candidate
                .answers
                .iter()
                .any(|answer| answer.errand == errand);
            if !is_answered && candidate.answers.len() < MOST_ANSWERS && rng.f64() < EAGER {
                candidate.answers.extend(self.answer(rng, tuning, &errand));
            }
        }
    }

    /// Changes the answers of a candidate in one place; false when it has nothing to do with any.
    pub(crate) fn change(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        candidate: &mut Candidate,
    ) -> bool {
        let errands = self.errands(candidate);
        if errands.is_empty() {
            return false;
        }
        let errand = &errands[rng.usize(..errands.len())];
        let own: Vec<usize> = (0..candidate.answers.len())
            .filter(|&at| candidate.answers[at].errand == *errand)
            .collect();
        let has_room = candidate.answers.len() < MOST_ANSWERS;
        // An errand that is run twice may be answered in two ways.
        if own.is_empty() || (has_room && own.len() < 3 && rng.f64() < 0.1) {
            let answer = self.answer(rng, tuning, errand);
            let is_added = has_room && answer.is_some();
            candidate.answers.extend(answer.filter(|_| has_room));
            return is_added;
        }
        let at = own[rng.usize(..own.len())];
        let chance = rng.f64();
        if chance < 0.05 {
            candidate.answers.remove(at);
            return true;
        }
        let is_stale = self.is_stale(&candidate.answers[at]);
        if chance < 0.75
            && !is_stale
            && let Some(body) = &mut candidate.answers[at].body
            && body.mutate(rng, tuning).is_some()
        {
            return true;
        }
        match self.answer(rng, tuning, errand) {
            Some(answer) => {
                candidate.answers[at] = answer;
                true
            }
            None => false,
        }
    }

    /// Whether an answer was made before it was known what is read of it.
    fn is_stale(&self, answer: &NewAnswer) -> bool {
        let (Some(known), Some(body)) = (self.known.get(&answer.errand), &answer.body) else {
            return false;
        };
        let mut models = known.possible.iter().filter_map(|one| one.body.as_ref());
        !models.any(|(model, _)| Arc::ptr_eq(model, body.model()))
    }

    /// The errands that the calls of a candidate are known to run, each once.
    fn errands(&self, candidate: &Candidate) -> Vec<Arc<Errand>> {
        let operations = candidate.steps.iter().filter_map(|step| step.operation());
        let errands: BTreeSet<&Arc<Errand>> = operations
            .filter_map(|operation| self.run_by.get(&operation))
            .flatten()
            .collect();
        errands.into_iter().cloned().collect()
    }

    /// An answer to an errand: mostly what the service hopes for, sometimes a refusal, rarely nonsense.
    fn answer(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        errand: &Arc<Errand>,
    ) -> Option<NewAnswer> {
        let known = self.known.get(errand)?;
        let (good, bad): (Vec<&Possible>, Vec<&Possible>) =
            known.possible.iter().partition(|one| one.status < 300);
        let made = |how: How, content_type: &Arc<str>, body: Option<Gene>| NewAnswer {
            errand: Arc::clone(errand),
            how,
            content_type: Arc::clone(content_type),
            body,
        };
        let json: Arc<str> = "application/json".into();
        let from = |rng: &mut Rng, one: &Possible| {
            let body = one.body.as_ref();
            let body = body.map(|(model, node)| Gene::sample(model, *node, rng, tuning));
            made(How::Status(one.status), &one.content_type, body)
        };
        let chance = rng.f64();
        Some(if chance < 0.8 && !good.is_empty() {
            let one = good[rng.usize(..good.len())];
            from(rng, one)
        } else if chance < 0.9 && !bad.is_empty() {
            let one = bad[rng.usize(..bad.len())];
            from(rng, one)
        } else if chance < 0.96 {
            let status = UNWELCOME[rng.usize(..UNWELCOME.len())];
            made(How::Status(status), &json, None)
        } else if chance < 0.98 {
            made(How::Garbled, &json, None)
        } else {
            made(How::Closed, &json, None)
        })
    }
}

impl Known {
    /// Takes note of names that were looked for in JSON.
    fn read(&mut self, names: &[&String]) {
        let Some(fields) = &mut self.fields else {
            return;
        };
        let before = fields.len();
        for name in names {
            if fields.len() < MOST_FIELDS {
                fields.insert((*name).clone());
            }
        }
        if fields.len() > before {
            self.possible[0] = grown(fields);
        }
    }
}

/// An answer that has the fields that the service was seen to read, each of any simple type.
fn grown(fields: &BTreeSet<String>) -> Possible {
    let mut builder = ModelBuilder::new();
    let simple = simple(&mut builder);
    let root = object(&mut builder, fields, simple);
    Possible {
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

/// The model of an answer that is grown from these fields.
#[cfg(test)]
pub(super) fn model_of(fields: &[&str]) -> (Arc<isobath_genes::Model>, NodeId) {
    let fields = fields.iter().map(|name| (*name).to_owned()).collect();
    grown(&fields).body.expect("a grown answer has a body")
}
