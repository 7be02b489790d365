//! Input hints from validation errors: what 400 and 422 responses say about fields, used for later inputs.
//!
//! `field_error` reads the errors, `constraint` what they want, `names` what the names of fields tell. This module matches them with the fields of the
//! operation that was called, remembers them, and applies them to fresh and mutated inputs.

mod constraint;
mod field_error;
mod names;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{
    Domain, Gene, GeneConfig, SpecializationModel, Value as GeneValue, push_segment,
};
use isobath_search::Rng;
use serde_json::{Value, json};

#[cfg(test)]
use constraint::date_format_in;
use constraint::{Constraint, JsonType};
use field_error::FieldError;
use names::NamedTexts;

use crate::exchange::Exchange;
use crate::openapi::Api;
use crate::problem::stable_pointer;
use crate::resource::plain_name;

/// The chance that a hint is used for an input. Validators may be wrong about their own fields.
const USE: f64 = 0.8;
/// More hints than this for one field are not kept.
const MAX_HINTS: usize = 6;
/// So many calls with an optional parameter must be rejected before it is left out.
const MIN_REJECTED: u32 = 6;
/// A service cannot want more than this from one operation.
const MAX_FIELDS: usize = 200;

/// What services said about the fields of their operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    operations: BTreeMap<usize, BTreeMap<Arc<str>, Vec<Hint>>>,
    /// Per optional parameter of any operation, how often calls with it succeeded and were rejected.
    parameters: BTreeMap<String, (u32, u32)>,
    named: NamedTexts,
}

#[derive(Clone, Debug)]
struct Hint {
    constraint: Constraint,
    /// Made once, for text.
    model: Option<SpecializationModel>,
}

/// A field of an input that was sent.
struct SentField {
    pointer: String,
    /// The names in its pointer, in plain letters, without the part of the request and indexes.
    names: Vec<String>,
}

impl Hints {
    /// What the document tells before any call.
    pub(crate) fn of(api: &Api) -> Self {
        Self {
            named: NamedTexts::of(&api.model),
            ..Self::default()
        }
    }

    /// How many hints there are for an operation.
    pub(crate) fn count(&self, operation: usize) -> usize {
        let fields = self.operations.get(&operation);
        fields.map_or(0, |fields| fields.values().map(Vec::len).sum())
    }

    /// Takes note of whether a call with certain optional parameters was accepted.
    pub(crate) fn note_parameters(&mut self, input: &Gene, status: u16) {
        let is_accepted = match status {
            200..300 => true,
            400 | 406 | 415 | 422 => false,
            _ => return,
        };
        for pointer in optional_parameters(input) {
            let (accepted, rejected) = self.parameters.entry(pointer).or_default();
            *(if is_accepted { accepted } else { rejected }) += 1;
        }
    }

    /// Leaves out optional parameters with which no call was ever accepted, most of the time.
    fn leave_out_rejected(&self, rng: &mut Rng, input: &mut Gene) {
        for pointer in optional_parameters(input) {
            let counts = self.parameters.get(&pointer);
            let is_hopeless = counts.is_some_and(|(accepted, rejected)| {
                *rejected >= MIN_REJECTED && *rejected >= 20 * *accepted
            });
            if is_hopeless && rng.f64() < USE {
                input.set(&pointer, GeneValue::Absent);
            }
        }
    }

    /// Reads the errors of a rejected call, whose input was `input`.
    pub(crate) fn learn(&mut self, operation: usize, input: &Gene, exchange: &Exchange) {
        if !matches!(exchange.status(), Some(400 | 409 | 412 | 415 | 422)) {
            return;
        }
        let errors = match &exchange.body {
            Some(body) => field_error::in_json(body),
            None => match exchange.response() {
                Some(response) if response.body.len() < 10_000 => {
                    field_error::in_text(&String::from_utf8_lossy(&response.body))
                }
                _ => return,
            },
        };
        if errors.is_empty() {
            return;
        }
        let fields = sent_fields(input);
        for error in errors {
            if let Some(field) = find(&fields, &error.path) {
                self.keep(operation, stable_pointer(&field.pointer).as_ref(), error);
            }
        }
    }

    fn keep(&mut self, operation: usize, pointer: &str, error: FieldError) {
        let fields = self.operations.entry(operation).or_default();
        if fields.len() >= MAX_FIELDS && !fields.contains_key(pointer) {
            return;
        }
        let hints = fields.entry(pointer.into()).or_default();
        let is_known = hints.iter().any(|hint| hint.constraint == error.constraint);
        if is_known || hints.len() >= MAX_HINTS {
            return;
        }
        let model = error
            .constraint
            .specialization()
            .and_then(|text| text.model().ok());
        if matches!(error.constraint, Constraint::Text(_)) && model.is_none() {
            return;
        }
        hints.push(Hint {
            constraint: error.constraint,
            model,
        });
    }

    /// Makes an input what the service said it wants, most of the time.
    pub(crate) fn apply(
        &self,
        rng: &mut Rng,
        tuning: &GeneConfig,
        operation: usize,
        input: &mut Gene,
    ) {
        self.leave_out_rejected(rng, input);
        self.named.apply(rng, tuning, input);
        let Some(fields) = self.operations.get(&operation) else {
            return;
        };
        // Outer fields first: a field inside one that was left out is there only then.
        for (pointer, hints) in fields {
            if rng.f64() >= USE {
                continue;
            }
            for place in places(input, pointer) {
                for hint in hints {
                    hint.apply(rng, tuning, &place, input);
                }
                within_bounds(rng, hints, &place, input);
            }
        }
    }
}

/// The optional headers, cookies and query parameters that an input has.
fn optional_parameters(input: &Gene) -> Vec<String> {
    let (GeneValue::Object(groups), Domain::Object(domain)) =
        (input.value(), &input.model().node(input.root()).domain)
    else {
        return Vec::new();
    };
    let mut present = Vec::new();
    for (group, value) in domain.fields.iter().zip(&groups.fields) {
        let is_parameters = matches!(&*group.name, "header" | "query" | "cookie");
        let (true, GeneValue::Object(values), Domain::Object(parameters)) =
            (is_parameters, value, &input.model().node(group.node).domain)
        else {
            continue;
        };
        for (parameter, value) in parameters.fields.iter().zip(&values.fields) {
            if !parameter.required && !matches!(value, GeneValue::Absent) {
                let mut pointer = format!("/{}", group.name);
                push_segment(&mut pointer, &parameter.name);
                present.push(pointer);
            }
        }
    }
    present
}

/// The places of an input that a stable pointer names.
fn places(input: &Gene, stable: &str) -> Vec<String> {
    let mut places = Vec::new();
    input.walk(|place| {
        let is_free = !matches!(place.value, GeneValue::Bound(_));
        if is_free
            && *stable_pointer(place.pointer) == *stable
            && places.last().map(String::as_str) != Some(place.pointer)
        {
            places.push(place.pointer.to_owned());
        }
    });
    places
}

impl Hint {
    fn apply(&self, rng: &mut Rng, tuning: &GeneConfig, pointer: &str, input: &mut Gene) {
        let current = value_at(input, pointer);
        match &self.constraint {
            Constraint::Required => {
                if matches!(current, None | Some(Value::Null)) {
                    input.resample(pointer, rng, tuning);
                }
            }
            Constraint::Forbidden => {
                let before = input.clone();
                if input.set(pointer, GeneValue::Absent) && input.check().is_err() {
                    *input = before;
                }
            }
            Constraint::OneOf(values) => {
                if current.is_some_and(|current| values.contains(&current)) {
                    return;
                }
                let is_done = self
                    .model
                    .as_ref()
                    .is_some_and(|model| input.specialize(pointer, model, rng, tuning));
                if !is_done && let Some(value) = rng.choice(values) {
                    input.set_json(pointer, value);
                }
            }
            Constraint::Text(_) => {
                // A second sample of the same kind is as good as the first, so that the gene keeps being mutated.
                if let Some(model) = &self.model
                    && !is_special(input, pointer)
                {
                    input.specialize(pointer, model, rng, tuning);
                }
            }
            Constraint::Type(wanted) => {
                if current.as_ref().is_none_or(|current| !wanted.fits(current)) {
                    input.set_json(pointer, &wanted.sample(rng));
                }
            }
            Constraint::AtLeast(_)
            | Constraint::AtMost(_)
            | Constraint::MinLength(_)
            | Constraint::MaxLength(_) => {}
        }
    }
}

/// Moves a value inside the bounds that were stated for it, all of them together.
fn within_bounds(rng: &mut Rng, hints: &[Hint], pointer: &str, input: &mut Gene) {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut short, mut long) = (0_u32, u32::MAX);
    for hint in hints {
        match hint.constraint {
            Constraint::AtLeast(bound) => low = low.max(bound),
            Constraint::AtMost(bound) => high = high.min(bound),
            Constraint::MinLength(bound) => short = short.max(bound),
            Constraint::MaxLength(bound) => long = long.min(bound),
            _ => {}
        }
    }
    match value_at(input, pointer) {
        Some(Value::Number(number)) if low.is_finite() || high.is_finite() => {
            let value = number.as_f64().unwrap_or_default();
            if (low..=high).contains(&value) || low > high {
                return;
            }
            let (from, to) = match (low.is_finite(), high.is_finite()) {
                (true, true) => (low, high),
                (true, false) => (low, low + 100.0),
                _ => (high - 100.0, high),
            };
            let inside = from + (rng.f64() * (to - from)).floor();
            let json = if number.is_f64() {
                json!(inside)
            } else {
                json!(inside.ceil() as i64)
            };
            input.set_json(pointer, &json);
        }
        Some(Value::String(text)) => {
            let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            if length < short && short <= 10_000 {
                let missing = (short - length) as usize;
                input.set_json(pointer, &format!("{text}{}", "a".repeat(missing)).into());
            } else if length > long {
                let cut: String = text.chars().take(long as usize).collect();
                input.set_json(pointer, &cut.into());
            }
        }
        _ => {}
    }
}

impl JsonType {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    fn sample(self, rng: &mut Rng) -> Value {
        match self {
            Self::String => (0..rng.usize(1..8))
                .map(|_| rng.lowercase())
                .collect::<String>()
                .into(),
            Self::Integer => rng.i64(0..100).into(),
            Self::Number => (rng.i64(0..1_000) as f64 / 10.0).into(),
            Self::Boolean => rng.bool().into(),
            Self::Array => json!([]),
            Self::Object => json!({}),
        }
    }
}

fn is_special(input: &Gene, pointer: &str) -> bool {
    let mut is_special = false;
    input.walk(|place| {
        if place.pointer == pointer {
            is_special |= matches!(place.value, GeneValue::Specialized(_));
        }
    });
    is_special
}

fn value_at(input: &Gene, pointer: &str) -> Option<Value> {
    input
        .to_json(&isobath_genes::Unresolved)?
        .pointer(pointer)
        .cloned()
}

/// The fields of an input, those that were left out included.
fn sent_fields(input: &Gene) -> Vec<SentField> {
    let mut fields: Vec<SentField> = Vec::new();
    input.walk(|place| {
        let mut segments = place.pointer.split('/').skip(2).peekable();
        if segments.peek().is_none() {
            return;
        }
        let names = segments
            .filter(|segment| segment.parse::<usize>().is_err())
            .map(plain_name)
            .collect();
        if fields
            .last()
            .is_none_or(|last| last.pointer != place.pointer)
        {
            fields.push(SentField {
                pointer: place.pointer.to_owned(),
                names,
            });
        }
    });
    fields
}

/// The field that a path names: all its names are the last ones of the field's; the outermost such field.
fn find<'a>(fields: &'a [SentField], path: &[String]) -> Option<&'a SentField> {
    let path: Vec<String> = path
        .iter()
        .map(|name| plain_name(name))
        .filter(|name| !name.is_empty())
        .collect();
    if path.is_empty() {
        return None;
    }
    let fitting = |path: &[String]| {
        let ends_so = |field: &&SentField| field.names.ends_with(path);
        fields
            .iter()
            .filter(ends_so)
            .min_by_key(|field| field.names.len())
    };
    // Some frameworks put the part of the request, the class or the wrapped type before the names.
    (0..path.len().min(3)).find_map(|skip| fitting(path.get(skip..)?))
}
