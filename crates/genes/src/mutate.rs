//! Mutation: changes a value at one site.
//!
//! One walk over the value meets every change that is possible and keeps one of them, chosen with
//! a chance that follows its weight; a second, straight descent makes it.

use std::sync::Arc;

use fastrand::Rng;
use serde_json::Value as Json;

use crate::config::GeneConfig;
use crate::impact::{GeneSite, Impacts};
use crate::model::{ArrayDomain, Domain, Model, NodeId, ObjectDomain};
use crate::sample::Sampler;
use crate::value::{ObjectValue, Specialized, Unresolved, Value};

/// What a mutation changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// Where, for [`Impacts::record`].
    pub site: GeneSite,
    /// Whether the value was drawn anew rather than moved a little.
    pub large: bool,
}

/// One way to change one value.
#[derive(Clone, Copy, Debug)]
enum MutationOperator {
    /// The value itself: a number, a text, a literal.
    Value,
    /// Null becomes a value, or a value becomes null.
    Null,
    /// An optional property comes or goes.
    Toggle(u32),
    /// An array or the additional properties of an object get longer or shorter.
    Resize,
    /// Another alternative.
    Switch,
}

/// Steps between sites that are not positions of children.
const NULL_STEP: u64 = 1 << 40;
const RESIZE_STEP: u64 = 1 << 41;
const SWITCH_STEP: u64 = 1 << 42;
const TOGGLE_STEP: u64 = 1 << 43;
const ITEM_STEP: u64 = 1 << 44;

struct Picker<'a> {
    rng: &'a mut Rng,
    impacts: &'a Impacts,
    total: f64,
    path: Vec<u32>,
    picked: Option<(Vec<u32>, MutationOperator, GeneSite)>,
}

impl Picker<'_> {
    fn offer(&mut self, op: MutationOperator, site: GeneSite, base: f64) {
        let weight = if self.impacts.is_empty() {
            base
        } else {
            base * self.impacts.weight(site)
        };
        self.total += weight;
        if self.rng.f64() * self.total < weight {
            let mut path = match self.picked.take() {
                Some((path, ..)) => path,
                None => Vec::new(),
            };
            path.clear();
            path.extend_from_slice(&self.path);
            self.picked = Some((path, op, site));
        }
    }

    fn below(&mut self, step: u32, f: impl FnOnce(&mut Self)) {
        self.path.push(step);
        f(self);
        self.path.pop();
    }

    fn node(&mut self, model: &Model, id: NodeId, value: &Value, site: GeneSite) {
        let node = model.node(id);
        match value {
            Value::Absent => return,
            Value::Null => {
                if node.nullable && !matches!(node.domain, Domain::Null) {
                    self.offer(MutationOperator::Null, site.child(NULL_STEP), 1.0);
                }
                return;
            }
            Value::Literal(_) => return self.offer(MutationOperator::Value, site, 1.0),
            // A reference was set on purpose; it is given up now and then.
            Value::Bound(_) => return self.offer(MutationOperator::Value, site, 0.2),
            Value::Specialized(specialization) => {
                return self.below(0, |this| {
                    this.node(
                        &specialization.model,
                        specialization.root,
                        &specialization.value,
                        site,
                    );
                });
            }
            _ => {}
        }
        if node.nullable {
            self.offer(MutationOperator::Null, site.child(NULL_STEP), 0.2);
        }
        match (&node.domain, value) {
            (Domain::Array(domain), Value::Array(items)) => {
                if domain.max != Some(0) && domain.max != Some(domain.min) {
                    self.offer(MutationOperator::Resize, site.child(RESIZE_STEP), 1.0);
                }
                for (i, item) in (0..).zip(items.iter()) {
                    self.below(i, |this| {
                        this.node(model, domain.item, item, site.child(ITEM_STEP));
                    });
                }
            }
            (Domain::Object(domain), Value::Object(object)) => {
                self.object(model, domain, object, site);
            }
            (Domain::Choice(options), Value::Choice(choice)) => {
                let (i, inner) = &**choice;
                if options.len() > 1 {
                    self.offer(MutationOperator::Switch, site.child(SWITCH_STEP), 0.5);
                }
                if let Some(&option) = options.get(*i as usize) {
                    let site = site.child(u64::from(*i));
                    self.below(0, |this| this.node(model, option, inner, site));
                }
            }
            _ if is_fixed(&node.domain) => {}
            _ => self.offer(MutationOperator::Value, site, 1.0),
        }
    }

    fn object(
        &mut self,
        model: &Model,
        domain: &ObjectDomain,
        object: &ObjectValue,
        site: GeneSite,
    ) {
        let n_present = object.n_present();
        let may_add = domain.max.is_none_or(|max| n_present < max as usize);
        let may_drop = n_present > domain.min as usize;
        for ((i, field), value) in (0..).zip(&domain.fields).zip(&object.fields) {
            let absent = *value == Value::Absent;
            if !field.required && (if absent { may_add } else { may_drop }) {
                let toggle = site.child(TOGGLE_STEP + u64::from(i));
                self.offer(MutationOperator::Toggle(i), toggle, 0.5);
            }
            self.below(i, |this| {
                this.node(model, field.node, value, site.child(u64::from(i)));
            });
        }
        let Some(extra) = domain.extra else { return };
        if may_add || (may_drop && !object.extra.is_empty()) {
            self.offer(MutationOperator::Resize, site.child(RESIZE_STEP), 0.5);
        }
        let from = u32::try_from(object.fields.len()).unwrap_or(u32::MAX);
        for (i, (_, value)) in (from..).zip(&object.extra) {
            self.below(i, |this| {
                this.node(model, extra.value, value, site.child(ITEM_STEP));
            });
        }
    }
}

fn is_fixed(domain: &Domain) -> bool {
    match domain {
        Domain::Null => true,
        Domain::Enum(members) => members.len() < 2,
        Domain::Integer(integer) => integer.min() == integer.max(),
        Domain::Float(float) => float.min() == float.max(),
        Domain::Text(text) => text.max() == Some(0),
        Domain::Binary(binary) => binary.max() == Some(0),
        _ => false,
    }
}

impl Model {
    /// Changes `value` in one place; `None` if nothing in it can change.
    pub(crate) fn mutate(
        &self,
        id: NodeId,
        value: &mut Value,
        rng: &mut Rng,
        config: &GeneConfig,
        impacts: &Impacts,
    ) -> Option<Mutation> {
        // Some offers turn out impossible, such as a pattern of one word or a taken unique item.
        for _ in 0..24 {
            let mut picker = Picker {
                rng,
                impacts,
                total: 0.0,
                path: Vec::new(),
                picked: None,
            };
            picker.node(self, id, value, GeneSite::ROOT);
            let (path, op, site) = picker.picked?;
            let large = rng.f64() < config.large_step;
            let mut mutator = Mutator { rng, config, large };
            if mutator.descend(self, id, value, &path, op, 0) {
                return Some(Mutation { site, large });
            }
        }
        None
    }
}

struct Mutator<'a> {
    rng: &'a mut Rng,
    config: &'a GeneConfig,
    large: bool,
}

impl Mutator<'_> {
    fn descend(
        &mut self,
        model: &Model,
        id: NodeId,
        value: &mut Value,
        path: &[u32],
        op: MutationOperator,
        depth: u32,
    ) -> bool {
        let Some((&step, rest)) = path.split_first() else {
            return self.change(model, id, value, op, depth);
        };
        let step = step as usize;
        match (&model.node(id).domain, value) {
            (_, Value::Specialized(specialization)) => {
                let specialization: &mut Specialized = Arc::make_mut(specialization);
                let inner = specialization.model.clone();
                self.descend(
                    &inner,
                    specialization.root,
                    &mut specialization.value,
                    rest,
                    op,
                    depth,
                )
            }
            (Domain::Array(domain), Value::Array(items)) => {
                let items = Arc::make_mut(items);
                let Some(item) = items.get_mut(step) else {
                    return false;
                };
                let old = domain.unique.then(|| item.clone());
                let changed = self.descend(model, domain.item, item, rest, op, depth + 1);
                let is_repeated =
                    changed && old.is_some() && is_repeated(model, domain, items, step);
                if let (true, Some(old), Some(item)) = (is_repeated, old, items.get_mut(step)) {
                    *item = old;
                }
                changed && !is_repeated
            }
            (Domain::Object(domain), Value::Object(object)) => {
                let object = Arc::make_mut(object);
                let (node, value) = match (domain.fields.get(step), domain.extra) {
                    (Some(field), _) => (field.node, object.fields.get_mut(step)),
                    (None, Some(extra)) => {
                        let value = object.extra.get_mut(step - domain.fields.len());
                        (extra.value, value.map(|(_, value)| value))
                    }
                    (None, None) => return false,
                };
                value.is_some_and(|value| self.descend(model, node, value, rest, op, depth + 1))
            }
            (Domain::Choice(options), Value::Choice(choice)) => {
                let (i, inner) = Arc::make_mut(choice);
                match options.get(*i as usize) {
                    Some(&option) => self.descend(model, option, inner, rest, op, depth + 1),
                    None => false,
                }
            }
            _ => false,
        }
    }

    fn sampler<'s>(&'s mut self, model: &'s Model) -> Sampler<'s> {
        Sampler::new(model, self.config, self.rng)
    }

    fn change(
        &mut self,
        model: &Model,
        id: NodeId,
        value: &mut Value,
        op: MutationOperator,
        depth: u32,
    ) -> bool {
        let domain = &model.node(id).domain;
        match (op, domain, &mut *value) {
            // Null may also be an enumerated value or an alternative: what counts is the print.
            (MutationOperator::Null, _, Value::Null) => {
                for _ in 0..8 {
                    let next = self.sampler(model).non_null(id, depth);
                    if model.print(id, &next, &Unresolved) != Some(Json::Null) {
                        *value = next;
                        return true;
                    }
                }
                false
            }
            (MutationOperator::Null, ..) => {
                let differs = model.print(id, value, &Unresolved) != Some(Json::Null);
                *value = Value::Null;
                differs
            }
            (MutationOperator::Toggle(i), Domain::Object(domain), Value::Object(object)) => {
                let values = Arc::make_mut(object).fields.iter_mut();
                let Some((field, value)) = domain.fields.iter().zip(values).nth(i as usize) else {
                    return false;
                };
                *value = if *value == Value::Absent {
                    self.sampler(model).node(field.node, depth + 1)
                } else {
                    Value::Absent
                };
                true
            }
            (MutationOperator::Resize, Domain::Array(domain), Value::Array(items)) => {
                self.resize(model, domain, Arc::make_mut(items), depth)
            }
            (MutationOperator::Resize, Domain::Object(domain), Value::Object(object)) => {
                let object = Arc::make_mut(object);
                let n_present = object.n_present();
                let may_add = domain.max.is_none_or(|max| n_present < max as usize);
                let may_drop = !object.extra.is_empty() && n_present > domain.min as usize;
                if may_drop && (!may_add || self.rng.bool()) {
                    let at = self.rng.usize(..object.extra.len());
                    object.extra.remove(at);
                    true
                } else {
                    may_add && self.sampler(model).add_extra(domain, object, depth)
                }
            }
            (MutationOperator::Switch, Domain::Choice(options), Value::Choice(choice)) => {
                let i = choice.0;
                let old = model.print(id, value, &Unresolved);
                let next = self.sampler(model).choice(options, Some(i), depth);
                // Alternatives overlap: another one may print the same.
                let differs = model.print(id, &next, &Unresolved) != old;
                if differs {
                    *value = next;
                }
                differs
            }
            (MutationOperator::Value, ..) => self.step(model, id, value, depth),
            _ => false,
        }
    }

    /// Another value of a node without children, or of a literal.
    fn step(&mut self, model: &Model, id: NodeId, value: &mut Value, depth: u32) -> bool {
        let (rng, config, large) = (&mut *self.rng, self.config, self.large);
        let next = match (&model.node(id).domain, &*value) {
            (_, Value::Literal(json)) => {
                let read = match model.read(id, json) {
                    // What stays as it is written has no parts to move.
                    Ok(Value::Literal(_)) | Err(_) => {
                        *value = self.sampler(model).non_null(id, depth);
                        return true;
                    }
                    Ok(read) => read,
                };
                let old = value.clone();
                *value = read;
                let changed = model.mutate(id, value, rng, config, &Impacts::default());
                if changed.is_none() {
                    *value = old;
                }
                return changed.is_some();
            }
            (_, Value::Bound(bound)) => Some(bound.fallback.clone()),
            (Domain::Boolean, Value::Boolean(truth)) => Some(Value::Boolean(!truth)),
            (Domain::Integer(domain), Value::Integer(n)) => {
                domain.mutate(rng, config, *n, large).map(Value::Integer)
            }
            (Domain::Float(domain), Value::Float(x)) => {
                domain.mutate(rng, config, *x, large).map(Value::Float)
            }
            (Domain::Text(domain), Value::Text(text)) => {
                domain.mutate(rng, config, text, large).map(Value::Text)
            }
            (Domain::Pattern(domain), Value::Text(text)) => {
                domain.mutate(rng, text, large).map(Value::Text)
            }
            (Domain::DateTime(kind), Value::DateTime(date_time)) => {
                Some(Value::DateTime(date_time.mutate(rng, config, *kind, large)))
            }
            (Domain::Binary(domain), Value::Binary(bytes)) => {
                domain.mutate(rng, config, bytes, large).map(Value::Binary)
            }
            (Domain::Enum(members), Value::Member(i)) => {
                let n = u32::try_from(members.len()).unwrap_or(u32::MAX);
                (n > 1).then(|| {
                    let next = rng.u32(0..n - 1);
                    Value::Member(next + u32::from(next >= *i))
                })
            }
            _ => Some(self.sampler(model).non_null(id, depth)),
        };
        match next {
            Some(next) if next != *value => {
                *value = next;
                true
            }
            _ => false,
        }
    }

    fn resize(
        &mut self,
        model: &Model,
        domain: &ArrayDomain,
        items: &mut Vec<Value>,
        depth: u32,
    ) -> bool {
        let n = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let may_grow = domain.max.is_none_or(|max| n < max);
        let may_shrink = n > domain.min;
        let shrink = may_shrink && (!may_grow || self.rng.bool());
        if self.large && shrink {
            items.truncate(domain.min as usize);
            return true;
        }
        if shrink {
            let at = self.rng.usize(..items.len());
            items.remove(at);
            return true;
        }
        if !may_grow {
            return false;
        }
        match self.sampler(model).item(domain, items, depth) {
            Some(item) => {
                let at = self.rng.usize(..=items.len());
                items.insert(at, item);
                true
            }
            None => false,
        }
    }
}

fn is_repeated(model: &Model, domain: &ArrayDomain, items: &[Value], at: usize) -> bool {
    let print = |value: &Value| model.print(domain.item, value, &Unresolved);
    let Some(json) = items.get(at).and_then(print) else {
        return false;
    };
    items.iter().enumerate().any(|(i, item)| {
        i != at && print(item).is_some_and(|other| crate::read::same(&other, &json))
    })
}
