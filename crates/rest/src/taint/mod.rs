//! Taint tracking and genotype expansion, after sections 5 and 6 of "Enhancing Search-based Testing
//! with Testability Transformations for Existing APIs".
//!
//! Inputs are sent with taint markers. When the driver sees a marker in a comparison or a parser, the
//! input gets a hint which value is needed there (`hint`); later candidates apply it (`apply`). Inputs
//! that the service reads and the document does not name become optional inputs.

mod apply;
mod body_type;
mod hint;
mod replace_markers;
mod shift;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) use apply::without_named_markers;
pub(crate) use replace_markers::{WordLength, without_markers};
pub(crate) use shift::shift_by_distance;

use isobath_exec::driver::{Event, InputLocation, InputUse};
use isobath_genes::{Specialization, SpecializationModel, taint_marker, taint_marker_number};

use crate::action::{UndocumentedKind, describes};
use crate::candidate::{Candidate, StepKind};
use crate::exchange::Exchange;
use crate::openapi::{Api, ParameterLocation};
use crate::problem::stable_pointer;

/// Enabled white-box techniques, for ablation studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques {
    /// Code targets guide the search; otherwise they are only counted.
    pub steering: bool,
    /// Taint tracking.
    pub tracking: bool,
    /// Genotype expansion: inputs that the document does not name.
    pub expansion: bool,
}

impl Default for Techniques {
    fn default() -> Self {
        Self {
            steering: true,
            tracking: true,
            expansion: true,
        }
    }
}

/// An input of an operation, by pointer.
type InputKey = (usize, Arc<str>);

/// Maximum number of hints per input.
const MAX_HINTS: usize = 12;
/// Maximum number of constants per hint.
const MAX_CONSTANTS: usize = 64;
/// Maximum number of undocumented inputs per operation.
const MAX_UNDOCUMENTED: usize = 16;

/// Taint tracking: input hints and undocumented inputs learned from the driver.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaintTracker {
    techniques: Techniques,
    /// Whether a driver observes the service.
    enabled: bool,
    next_marker: u32,
    /// Probability of a marker; falls to zero before the focused phase.
    marker_rate: f64,
    hints: BTreeMap<InputKey, Vec<InputHint>>,
    /// Places whose values were compared with each other.
    compared_pairs: BTreeSet<(InputKey, InputKey)>,
    undocumented: BTreeMap<usize, Vec<(UndocumentedKind, Arc<str>)>>,
    /// Texts of documented bodies that the code narrows.
    text_types: BTreeMap<InputKey, SpecializationModel>,
    /// The types that documented bodies are read into.
    body_types: BTreeSet<(usize, Arc<str>)>,
    /// How often an operation was called with a marker as the name of a query parameter.
    named: BTreeMap<usize, u32>,
}

/// A hint which values an input needs.
#[derive(Clone, Debug)]
struct InputHint {
    what: Specialization,
    model: SpecializationModel,
    /// The targets of the code where that was seen.
    targets: BTreeSet<u32>,
}

/// A string that a candidate sends.
#[derive(Clone, Debug)]
struct SentText {
    step: usize,
    /// The extra input that it is, or a part of the documented ones.
    extra: Option<usize>,
    /// The mock response that contains it, instead of a step.
    answer: Option<usize>,
    pointer: String,
    key: InputKey,
    text: String,
}

impl TaintTracker {
    /// Enables taint tracking.
    pub(crate) fn enable(&mut self, techniques: Techniques) {
        self.enabled = true;
        self.techniques = techniques;
        self.marker_rate = MARKER_RATE;
    }

    /// Whether taint tracking is enabled.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Adapts the marker rate to the progress of the search.
    pub(crate) fn advance(&mut self, progress: f64, focused: bool) {
        self.marker_rate = if focused {
            0.0
        } else {
            MARKER_RATE * (1.0 - 2.0 * progress).max(0.0)
        };
    }

    fn taint_marker(&mut self) -> String {
        self.next_marker = self.next_marker.wrapping_add(1) % 10_000;
        taint_marker(self.next_marker)
    }

    /// Learns from what a candidate did inside the service.
    pub(crate) fn learn(&mut self, api: &Api, candidate: &Candidate, exchanges: &[Exchange]) {
        if !self.enabled {
            return;
        }
        let mut sent: Option<Vec<SentText>> = None;
        for exchange in exchanges {
            // Who finds the type of a body wrong where none is documented wants one.
            if let (true, Some(415), Some(operation)) = (
                self.techniques.expansion,
                exchange.status(),
                exchange.operation,
            ) {
                self.expand(api, operation, InputLocation::Field, "");
            }
            for event in &exchange.trace.events {
                match event {
                    Event::Tracked {
                        input,
                        role,
                        arguments,
                        target,
                        ..
                    } if self.techniques.tracking => {
                        self.record_parameter_names(
                            api, candidate, exchange, input, *role, arguments,
                        );
                        let sent = sent.get_or_insert_with(|| texts(candidate));
                        self.record_tracked(sent, exchange, input, *role, arguments, *target);
                    }
                    Event::Parameter { place, name, .. } if self.techniques.expansion => {
                        if let Some(operation) = exchange.operation
                            && !is_about_answers(api, exchange, *place)
                        {
                            self.expand(api, operation, *place, name);
                        }
                    }
                    Event::Body { schema, .. } if self.techniques.expansion => {
                        if let Some(operation) = exchange.operation
                            && !is_about_answers(api, exchange, InputLocation::Field)
                        {
                            self.expand_body(api, operation, schema);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Learns the names that a service compares those of its query parameters with, where it takes the query
    /// apart by itself.
    fn record_parameter_names(
        &mut self,
        api: &Api,
        candidate: &Candidate,
        exchange: &Exchange,
        input: &str,
        role: InputUse,
        arguments: &[String],
    ) {
        let wanted = matches!(role, InputUse::Equal | InputUse::EqualIgnoringCase);
        let (true, true, Some(operation)) = (wanted, self.techniques.expansion, exchange.operation)
        else {
            return;
        };
        let is_name = candidate.steps.iter().any(|step| match &step.kind {
            StepKind::Call { action, .. } => action
                .undocumented
                .iter()
                .any(|extra| extra.is(UndocumentedKind::Query, input)),
            StepKind::Follow(_) => false,
        });
        if is_name && taint_marker_number(input).is_some() {
            for name in arguments {
                self.expand(api, operation, InputLocation::Query, name);
            }
        }
    }

    fn record_tracked(
        &mut self,
        sent: &[SentText],
        exchange: &Exchange,
        input: &str,
        role: InputUse,
        arguments: &[String],
        target: Option<u32>,
    ) {
        let Some(from) = source(sent, exchange, input) else {
            return;
        };
        if role == InputUse::Same {
            let other = arguments
                .first()
                .and_then(|other| source(sent, exchange, other));
            if let Some(other) = other
                && other.key != from.key
            {
                let mut pair = [from.key.clone(), other.key.clone()];
                pair.sort();
                let [a, b] = pair;
                self.compared_pairs.insert((a, b));
            }
            return;
        }
        let taint_marker = self.taint_marker();
        let hint = hint::hint_for(&from.text, input, role, arguments, &taint_marker);
        let hint = if from.key.1.starts_with("/path/") {
            hint.and_then(hint::for_path)
        } else {
            hint
        };
        if let Some(what) = hint {
            self.add_hint(from.key.clone(), what, target);
        }
    }

    /// Remembers what a place wants; constants of one target are remembered together.
    fn add_hint(&mut self, key: InputKey, what: Specialization, target: Option<u32>) {
        let hints = self.hints.entry(key).or_default();
        if let Some(known) = hints.iter_mut().find(|hint| hint.what == what) {
            known.targets.extend(target);
            return;
        }
        if let Specialization::OneOf(texts) = &what {
            let same = hints.iter_mut().find(|hint| {
                matches!(hint.what, Specialization::OneOf(_))
                    && target.is_some_and(|target| hint.targets.contains(&target))
            });
            if let Some(same) = same
                && let Specialization::OneOf(known) = &same.what
            {
                let mut all = known.clone();
                let new = texts.iter().filter(|text| !known.contains(text));
                all.extend(new.cloned());
                if all.len() == known.len() || all.len() > MAX_CONSTANTS {
                    return;
                }
                let what = Specialization::OneOf(all);
                if let Ok(model) = what.model() {
                    same.what = what;
                    same.model = model;
                }
                return;
            }
        }
        if hints.len() < MAX_HINTS
            && let Ok(model) = what.model()
        {
            hints.push(InputHint {
                what,
                model,
                targets: target.into_iter().collect(),
            });
        }
    }

    /// Learns the type that a body is read into; it tells more than the names of fields do.
    fn expand_body(&mut self, api: &Api, operation: usize, schema: &str) {
        let schema: Arc<str> = schema.into();
        match api.operations.get(operation) {
            Some(described) if described.body.is_none() => {}
            Some(_) => return self.learn_body_type(api, operation, &schema),
            None => return,
        }
        let undocumented = self.undocumented.entry(operation).or_default();
        if undocumented.contains(&(UndocumentedKind::Body, Arc::clone(&schema))) {
            return;
        }
        undocumented
            .retain(|(kind, name)| *kind != UndocumentedKind::Field || !describes(&schema, name));
        if undocumented.len() < MAX_UNDOCUMENTED {
            undocumented.push((UndocumentedKind::Body, schema));
        }
    }

    fn expand(&mut self, api: &Api, operation: usize, place: InputLocation, name: &str) {
        let Some(described) = api.operations.get(operation) else {
            return;
        };
        let kind = match place {
            InputLocation::Query => UndocumentedKind::Query,
            InputLocation::Header => UndocumentedKind::Header,
            InputLocation::Cookie => UndocumentedKind::Cookie,
            InputLocation::Field => UndocumentedKind::Field,
            InputLocation::Form => UndocumentedKind::Form,
        };
        let location = match kind {
            UndocumentedKind::Query => Some(ParameterLocation::Query),
            UndocumentedKind::Header => Some(ParameterLocation::Header),
            UndocumentedKind::Cookie => Some(ParameterLocation::Cookie),
            UndocumentedKind::Field | UndocumentedKind::Form | UndocumentedKind::Body => None,
        };
        let documented = match location {
            Some(location) => described.parameters.iter().any(|parameter| {
                parameter.location == location && parameter.name.eq_ignore_ascii_case(name)
            }),
            None => documented_field(api, operation, name),
        };
        let ours = kind == UndocumentedKind::Header
            && OUR_HEADERS
                .iter()
                .any(|ours| name.eq_ignore_ascii_case(ours));
        // A field without name stands for a body: that something should be sent at all.
        let nothing =
            name.is_empty() && (kind != UndocumentedKind::Field || described.body.is_some());
        if documented || ours || nothing || name.len() > 100 {
            return;
        }
        let undocumented = self.undocumented.entry(operation).or_default();
        let known = undocumented
            .iter()
            .any(|(other, known)| *other == kind && **known == *name);
        let in_body = kind == UndocumentedKind::Field
            && undocumented
                .iter()
                .any(|(kind, schema)| *kind == UndocumentedKind::Body && describes(schema, name));
        if !known && !in_body && undocumented.len() < MAX_UNDOCUMENTED {
            undocumented.push((kind, name.into()));
        }
    }
}

/// Placeholder operation for strings of mock responses.
const EXTERNAL: usize = usize::MAX;

/// The chance of a marker at the start of a search.
const MARKER_RATE: f64 = 0.5;

/// Headers set by the HTTP client.
const OUR_HEADERS: [&str; 9] = [
    "host",
    "content-type",
    "content-length",
    "connection",
    "transfer-encoding",
    "accept-encoding",
    "expect",
    "upgrade",
    "cookie",
];

/// Whether a field that was read belongs to a mock response: the operation has no body.
fn is_about_answers(api: &Api, exchange: &Exchange, place: InputLocation) -> bool {
    let described = exchange.operation.and_then(|at| api.operations.get(at));
    place == InputLocation::Field
        && !exchange.trace.outgoing.is_empty()
        && described.is_some_and(|operation| operation.body.is_none())
}

/// Whether a body of the operation has a property of this name at its top.
fn documented_field(api: &Api, operation: usize, name: &str) -> bool {
    let input = api.operation(operation).input;
    crate::action::property(&api.model, input, "body")
        .and_then(|body| crate::action::declared(&api.model, body, name))
        .is_some()
}

/// The text that an input was made of: one of the same call if there is one, the same text before others.
fn source<'a>(sent: &'a [SentText], exchange: &Exchange, input: &str) -> Option<&'a SentText> {
    let number = |sent: &&SentText| {
        let here = sent.key.0 == exchange.operation.unwrap_or(usize::MAX);
        let whole = sent.text == input;
        (!whole, !here)
    };
    sent.iter()
        .filter(|sent| hint::is_part(&sent.text, input) || hint::is_part(input, &sent.text))
        .min_by_key(number)
}

/// The texts that a candidate sends.
fn texts(candidate: &Candidate) -> Vec<SentText> {
    let mut sent = Vec::new();
    for (at, step) in candidate.steps.iter().enumerate() {
        let StepKind::Call { action, .. } = &step.kind else {
            continue;
        };
        let mut add = |extra: Option<usize>, prefix: &str, place: isobath_genes::NodeRef<'_>| {
            if let Some(text) = place.text() {
                let key = format!("{prefix}{}", stable_pointer(place.pointer));
                sent.push(SentText {
                    step: at,
                    extra,
                    answer: None,
                    pointer: place.pointer.to_owned(),
                    key: (action.operation, key.into()),
                    text,
                });
            }
        };
        action.gene.walk(|place| add(None, "", place));
        for (number, extra) in action.undocumented.iter().enumerate() {
            let prefix = extra.key();
            extra.gene.walk(|place| add(Some(number), &prefix, place));
        }
    }
    for (at, answer) in candidate.mock_responses.iter().enumerate() {
        let Some(body) = &answer.body else { continue };
        body.walk(|place| {
            if let Some(text) = place.text() {
                let key = format!(
                    "{} {}",
                    answer.outbound_request,
                    stable_pointer(place.pointer)
                );
                sent.push(SentText {
                    step: usize::MAX,
                    extra: None,
                    answer: Some(at),
                    pointer: place.pointer.to_owned(),
                    key: (EXTERNAL, key.into()),
                    text,
                });
            }
        });
    }
    sent
}
