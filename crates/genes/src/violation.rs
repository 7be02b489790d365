//! Values that deliberately violate exactly one rule.

use std::sync::Arc;

use fastrand::Rng;
use serde_json::{Number, Value as Json, json};

use crate::config::GeneConfig;
use crate::date_time::DateTime;
use crate::model::{Domain, Model, NodeId};
use crate::number::{GREATEST, LEAST, integer_json};
use crate::rule::{Rule, push_segment};
use crate::sample::Sampler;
use crate::value::{ObjectValue, Unresolved, Value};

/// A rule that a gene can break, and where.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleViolation {
    /// JSON Pointer of the value that will be wrong.
    pub pointer: String,
    /// The rule it will break.
    pub rule: Rule,
}

/// Longer texts than this are not made just to be too long.
const LONGEST: u32 = 1 << 20;

impl Model {
    /// The rules that can be broken in `value` as it stands.
    pub(crate) fn violations(&self, id: NodeId, value: &Value) -> Vec<RuleViolation> {
        let mut breaches = Vec::new();
        self.walk(id, value, &mut |place| {
            if matches!(place.value, Value::Absent | Value::Specialized(_)) {
                return;
            }
            let node = place.model.node(place.node);
            let mut offer = |rule| {
                breaches.push(RuleViolation {
                    pointer: place.pointer.to_owned(),
                    rule,
                });
            };
            // A choice has no type of its own, and an enumeration is one rule for all.
            if !matches!(node.domain, Domain::Choice(_) | Domain::Enum(_)) {
                offer(Rule::Type);
                if !node.nullable && !matches!(node.domain, Domain::Null) {
                    offer(Rule::NotNull);
                }
            }
            domain_rules(&node.domain, &mut offer);
            if let Domain::Object(domain) = &node.domain {
                for field in domain.fields.iter().filter(|field| field.required) {
                    let mut pointer = place.pointer.to_owned();
                    push_segment(&mut pointer, &field.name);
                    breaches.push(RuleViolation {
                        pointer,
                        rule: Rule::Required,
                    });
                }
            }
        });
        breaches
    }

    /// `value` with one rule broken; `None` if the place is not there, or if the result fits after
    /// all, as it may when alternatives overlap.
    pub(crate) fn violate(
        &self,
        id: NodeId,
        value: &Value,
        violation: &RuleViolation,
        rng: &mut Rng,
        config: &GeneConfig,
    ) -> Option<Value> {
        let mut broken = value.clone();
        self.at_mut(
            id,
            &mut broken,
            &violation.pointer,
            &mut |model, id, value| {
                let next = break_rule(model, id, value, violation.rule, rng, config);
                if let Some(next) = next {
                    *value = next;
                    true
                } else {
                    false
                }
            },
        )
        .filter(|done| *done)?;
        let json = self.print(id, &broken, &Unresolved)?;
        // The reader has the last word: in an overlap of rules or alternatives the broken value may
        // fit after all, or break another rule first. Inside a choice it only sees that none fits.
        let misfit = self.read(id, &json).err()?;
        let as_meant = misfit.rule == violation.rule && misfit.pointer == violation.pointer;
        (as_meant || misfit.rule == Rule::Choice).then_some(broken)
    }
}

fn domain_rules(domain: &Domain, offer: &mut dyn FnMut(Rule)) {
    let lengths = |offer: &mut dyn FnMut(Rule), min: u32, max: Option<u32>| {
        if min > 0 {
            offer(Rule::MinLength);
        }
        if max.is_some_and(|max| max < LONGEST) {
            offer(Rule::MaxLength);
        }
    };
    match domain {
        Domain::Null | Domain::Boolean | Domain::Choice(_) => {}
        Domain::Integer(domain) => {
            if domain.bounded_below() {
                offer(Rule::Minimum);
            }
            if domain.bounded_above() {
                offer(Rule::Maximum);
            }
            if domain.step() > 1 || domain.scale() > 0 {
                offer(Rule::MultipleOf);
            }
        }
        Domain::Float(domain) => {
            if domain.bounded_below() {
                offer(Rule::Minimum);
            }
            if domain.bounded_above() {
                offer(Rule::Maximum);
            }
        }
        Domain::Text(domain) => lengths(offer, domain.min(), domain.max()),
        Domain::Pattern(domain) => {
            lengths(offer, domain.min(), domain.max());
            offer(domain.rule());
        }
        Domain::Binary(domain) => {
            lengths(offer, domain.min(), domain.max());
            offer(Rule::Format);
        }
        Domain::DateTime(_) => offer(Rule::Format),
        Domain::Enum(_) => offer(Rule::Enum),
        Domain::Array(domain) => {
            if domain.min > 0 {
                offer(Rule::MinItems);
            }
            if domain.max.is_some_and(|max| max < 1000) {
                offer(Rule::MaxItems);
            }
            if domain.unique {
                offer(Rule::UniqueItems);
            }
        }
        Domain::Object(domain) => {
            let n_required = domain.fields.iter().filter(|field| field.required).count();
            if domain.min as usize > n_required {
                offer(Rule::MinProperties);
            }
            if domain.closed && domain.extra.is_none() {
                offer(Rule::AdditionalProperties);
            }
            if domain.max.is_some_and(|max| max < 1000) && domain.extra.is_some() {
                offer(Rule::MaxProperties);
            }
        }
    }
}

fn literal(json: Json) -> Value {
    Value::Literal(Arc::new(json))
}

/// A value for the node that breaks `rule`, made from the valid one where that helps.
fn break_rule(
    model: &Model,
    id: NodeId,
    value: &Value,
    rule: Rule,
    rng: &mut Rng,
    config: &GeneConfig,
) -> Option<Value> {
    let domain = &model.node(id).domain;
    match (rule, domain) {
        (Rule::Required, _) => Some(Value::Absent),
        (Rule::NotNull, _) => Some(literal(Json::Null)),
        (Rule::Type, _) => Some(literal(wrong_type(domain, rng))),
        (Rule::Minimum, Domain::Integer(d)) => {
            let below = d.min() - d.step();
            Some(if d.scale() == 0 && below < LEAST {
                literal(json!(-1e20))
            } else {
                literal(integer_json(below, d.scale()))
            })
        }
        (Rule::Maximum, Domain::Integer(d)) => {
            let above = d.max() + d.step();
            Some(if d.scale() == 0 && above > GREATEST {
                literal(json!(1e20))
            } else {
                literal(integer_json(above, d.scale()))
            })
        }
        (Rule::MultipleOf, Domain::Integer(d)) if d.step() > 1 => {
            let n = match value {
                Value::Integer(n) => *n,
                _ => d.min(),
            };
            let off = if n < d.max() { n + 1 } else { n - 1 };
            Some(literal(integer_json(off, d.scale())))
        }
        (Rule::MultipleOf, Domain::Integer(d)) => {
            let n = match value {
                Value::Integer(n) => *n,
                _ => d.min(),
            };
            let off = if n < d.max() { n * 10 + 1 } else { n * 10 - 1 };
            Some(literal(integer_json(off, d.scale() + 1)))
        }
        (Rule::Minimum, Domain::Float(d)) => float(d.min() - below(d.min()), |x| x < d.min()),
        (Rule::Maximum, Domain::Float(d)) => float(d.max() + below(d.max()), |x| x > d.max()),
        (Rule::MinLength, Domain::Text(d)) => Some(resized(model, id, value, d.min() - 1)),
        (Rule::MaxLength, Domain::Text(d)) => Some(resized(model, id, value, d.max()? + 1)),
        (Rule::MinLength, Domain::Pattern(d)) => Some(resized(model, id, value, d.min() - 1)),
        (Rule::MaxLength, Domain::Pattern(d)) => Some(resized(model, id, value, d.max()? + 1)),
        (Rule::MinLength, Domain::Binary(d)) => {
            Some(Value::Binary(vec![b'a'; d.min() as usize - 1].into()))
        }
        (Rule::MaxLength, Domain::Binary(d)) => {
            Some(Value::Binary(vec![b'a'; d.max()? as usize + 1].into()))
        }
        (Rule::Pattern | Rule::Format, Domain::Pattern(d)) => {
            let text = match value {
                Value::Text(text) => text.to_string(),
                _ => d.sample(rng).to_string(),
            };
            off_pattern(&text, rng, |next| d.check(next) == Err(d.rule()))
        }
        (Rule::Format, Domain::DateTime(kind)) => {
            let mut date_time = match value {
                Value::DateTime(date_time) => *date_time,
                _ => DateTime::sample(rng, &GeneConfig::default(), *kind),
            };
            date_time.make_invalid(rng, *kind);
            Some(Value::DateTime(date_time))
        }
        (Rule::Format, Domain::Binary(_)) => Some(literal(json!("*not base64*"))),
        (Rule::Enum, Domain::Enum(members)) => Some(literal(outsider(members))),
        (Rule::MinItems, Domain::Array(d)) => {
            let Value::Array(items) = value else {
                return Some(Value::Array(Arc::default()));
            };
            let mut items = Vec::clone(items);
            items.truncate(d.min as usize - 1);
            Some(Value::Array(Arc::new(items)))
        }
        (Rule::MaxItems, Domain::Array(d)) => {
            let mut items = match value {
                Value::Array(items) => Vec::clone(items),
                _ => Vec::new(),
            };
            let mut sampler = Sampler::new(model, config, rng);
            while items.len() <= d.max? as usize {
                let item = sampler.item(d, &items, 0)?;
                items.push(item);
            }
            Some(Value::Array(Arc::new(items)))
        }
        (Rule::UniqueItems, Domain::Array(d)) => {
            let Value::Array(items) = value else {
                return None;
            };
            let mut items = Vec::clone(items);
            let again = items.first()?.clone();
            if d.max.is_some_and(|max| items.len() >= max as usize) {
                items.pop();
            }
            items.push(again);
            (items.len() > 1).then(|| Value::Array(Arc::new(items)))
        }
        (Rule::MinProperties, Domain::Object(d)) => {
            let mut object = object(value)?;
            object.extra.clear();
            for (field, value) in d.fields.iter().zip(&mut object.fields) {
                if !field.required {
                    *value = Value::Absent;
                }
            }
            Some(Value::Object(Arc::new(object)))
        }
        (Rule::MaxProperties, Domain::Object(d)) => {
            let mut object = object(value)?;
            let mut sampler = Sampler::new(model, config, rng);
            while object.n_present() <= d.max? as usize {
                if !sampler.add_extra(d, &mut object, 0) {
                    return None;
                }
            }
            Some(Value::Object(Arc::new(object)))
        }
        (Rule::AdditionalProperties, Domain::Object(d)) => {
            let mut object = object(value)?;
            let mut name = "unexpected".to_owned();
            while d.fields.iter().any(|field| *field.name == name) {
                name.push('_');
            }
            object.extra.push((name.into(), literal(json!("x"))));
            Some(Value::Object(Arc::new(object)))
        }
        _ => None,
    }
}

fn object(value: &Value) -> Option<ObjectValue> {
    match value {
        Value::Object(object) => Some(ObjectValue::clone(object)),
        _ => None,
    }
}

fn wrong_type(domain: &Domain, rng: &mut Rng) -> Json {
    match domain {
        Domain::Boolean | Domain::Null => json!("maybe"),
        Domain::Integer(_) | Domain::Float(_) => json!("abc"),
        Domain::Text(_) | Domain::Pattern(_) | Domain::DateTime(_) | Domain::Binary(_) => {
            match rng.u8(0..3) {
                0 => json!(42),
                1 => json!(true),
                _ => json!([1]),
            }
        }
        Domain::Enum(_) => json!({"unexpected": 1}),
        Domain::Array(_) => json!("not a list"),
        Domain::Object(_) => json!("not an object"),
        Domain::Choice(_) => Json::Null,
    }
}

/// A step that is visible at the magnitude of `bound`.
fn below(bound: f64) -> f64 {
    (bound.abs() * 1e-6).max(1.0)
}

fn float(x: f64, outside: impl Fn(f64) -> bool) -> Option<Value> {
    let number = Number::from_f64(x).filter(|_| outside(x))?;
    Some(literal(Json::Number(number)))
}

/// The text of the value, cut or repeated to a length.
fn resized(model: &Model, id: NodeId, value: &Value, len: u32) -> Value {
    let json = model.print(id, value, &Unresolved);
    let text = json.as_ref().and_then(Json::as_str).unwrap_or_default();
    let text = if text.is_empty() { "a" } else { text };
    let text: String = text.chars().cycle().take(len as usize).collect();
    literal(Json::String(text))
}

/// The text with one character changed so that it leaves the pattern, of the same length if it
/// can be, because only one rule is to be broken.
fn off_pattern(text: &str, rng: &mut Rng, is_off: impl Fn(&str) -> bool) -> Option<Value> {
    const STRANGE: [char; 8] = ['!', '§', ' ', '?', 'x', '0', '\n', '/'];
    let chars: Vec<char> = text.chars().collect();
    for _ in 0..24 {
        let mut next = chars.clone();
        let strange = rng.choice(STRANGE)?;
        match rng.choice(&mut next) {
            Some(changed) => *changed = strange,
            None => next.push(strange),
        }
        let next: String = next.into_iter().collect();
        if is_off(&next) {
            return Some(literal(Json::String(next)));
        }
    }
    let all: String = chars.iter().map(|_| '!').collect();
    [all, "!".to_owned(), String::new()]
        .into_iter()
        .find(|next| is_off(next))
        .map(|next| literal(Json::String(next)))
}

/// A value of the same type as the members that is none of them.
fn outsider(members: &[Arc<Json>]) -> Json {
    let is_member = |json: &Json| members.iter().any(|member| crate::read::same(member, json));
    let mut guess = match members.first().map(|member| &**member) {
        Some(Json::Number(number)) => json!(number.as_f64().unwrap_or(0.0).trunc() as i64),
        Some(Json::Bool(_)) => json!("maybe"),
        _ => json!("NOT_A_MEMBER"),
    };
    while is_member(&guess) {
        guess = match guess {
            Json::Number(number) => json!(number.as_i64().unwrap_or(0).wrapping_add(1)),
            Json::String(text) => json!(format!("{text}_")),
            _ => json!("NOT_A_MEMBER"),
        };
    }
    guess
}
