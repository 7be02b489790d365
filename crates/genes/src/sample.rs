//! Samples new values.

use std::sync::Arc;

use fastrand::Rng;

use crate::config::GeneConfig;
use crate::date_time::DateTime;
use crate::model::{ArrayDomain, Domain, Model, Node, NodeId, ObjectDomain};
use crate::read::same;
use crate::text::TextDomain;
use crate::value::{ObjectValue, Unresolved, Value};

/// Draws values of a model, counting them so that a sample stays bounded.
pub(crate) struct Sampler<'a> {
    pub(crate) model: &'a Model,
    pub(crate) config: &'a GeneConfig,
    pub(crate) rng: &'a mut Rng,
    n_nodes: u32,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(model: &'a Model, config: &'a GeneConfig, rng: &'a mut Rng) -> Self {
        Self {
            model,
            config,
            rng,
            n_nodes: 0,
        }
    }

    /// Whether only what is required should be added.
    fn is_tight(&self, depth: u32) -> bool {
        depth >= self.config.max_depth || self.n_nodes >= self.config.max_nodes
    }

    /// Whether even what is required has become too much. Lists of at least three lists of at least
    /// three, thirty levels deep, have a finite value that nobody can send.
    fn is_spent(&self) -> bool {
        self.n_nodes >= self.config.max_nodes.saturating_mul(50)
    }

    pub(crate) fn node(&mut self, id: NodeId, depth: u32) -> Value {
        let node = self.model.node(id);
        if let Some(example) = self.example(node) {
            self.n_nodes += 1;
            return example;
        }
        if node.nullable && self.rng.f64() < self.config.null {
            self.n_nodes += 1;
            return Value::Null;
        }
        self.non_null(id, depth)
    }

    pub(crate) fn non_null(&mut self, id: NodeId, depth: u32) -> Value {
        let model = self.model;
        let node = model.node(id);
        self.n_nodes += 1;
        if self.is_tight(depth) && (node.nullable || model.is_infinite(id)) {
            return Value::Null;
        }
        let (rng, config) = (&mut *self.rng, self.config);
        match &node.domain {
            Domain::Null => Value::Null,
            Domain::Boolean => Value::Boolean(rng.bool()),
            Domain::Integer(domain) => Value::Integer(domain.sample(rng, config)),
            Domain::Float(domain) => Value::Float(domain.sample(rng, config)),
            Domain::Text(domain) => Value::Text(domain.sample(rng, config)),
            Domain::Pattern(domain) => Value::Text(domain.sample(rng)),
            Domain::DateTime(kind) => Value::DateTime(DateTime::sample(rng, config, *kind)),
            Domain::Binary(domain) => Value::Binary(domain.sample(rng, config)),
            Domain::Enum(members) => {
                let n = u32::try_from(members.len()).unwrap_or(u32::MAX);
                if n == 0 {
                    Value::Null
                } else {
                    Value::Member(rng.u32(0..n))
                }
            }
            Domain::Array(domain) => self.array(domain, depth),
            Domain::Object(domain) => self.object(domain, depth),
            Domain::Choice(options) => self.choice(options, None, depth),
        }
    }

    fn example(&mut self, node: &Node) -> Option<Value> {
        if node.examples.is_empty() {
            return None;
        }
        if let Some(name) = &self.config.named_example {
            let named = node
                .examples
                .iter()
                .find(|example| example.name.as_ref() == Some(name));
            if let Some(example) = named {
                return Some(Value::Literal(example.value.clone()));
            }
        }
        let fits = match self.rng.f64() {
            p if p < self.config.example => true,
            p if p < self.config.example + self.config.loose_example => false,
            _ => return None,
        };
        let eligible = || node.examples.iter().filter(|example| example.fits == fits);
        let n = eligible().count();
        if n == 0 {
            return None;
        }
        let example = eligible().nth(self.rng.usize(..n))?;
        Some(Value::Literal(example.value.clone()))
    }

    /// A value of one of the options other than `but`; the flattest one when space is tight.
    pub(crate) fn choice(&mut self, options: &[NodeId], but: Option<u32>, depth: u32) -> Value {
        let model = self.model;
        let n = u32::try_from(options.len()).unwrap_or(u32::MAX);
        let i = if self.is_tight(depth) {
            (0..n)
                .filter(|i| Some(*i) != but)
                .min_by_key(|i| options.get(*i as usize).map(|id| model.height(*id)))
        } else {
            let others = n - u32::from(but.is_some_and(|but| but < n));
            (others > 0).then(|| {
                let i = self.rng.u32(0..others);
                i + u32::from(but.is_some_and(|but| i >= but))
            })
        };
        let chosen = i.and_then(|i| Some((i, *options.get(i as usize)?)));
        match chosen {
            Some((i, option)) => Value::Choice(Arc::new((i, self.node(option, depth + 1)))),
            None => Value::Null,
        }
    }

    fn array(&mut self, domain: &ArrayDomain, depth: u32) -> Value {
        if self.is_spent() {
            return Value::Array(Arc::default());
        }
        let usual = domain.min.max(self.config.max_items);
        let mut high = domain.max.map_or(usual, |max| max.min(usual));
        if self.is_tight(depth) || self.model.is_infinite(domain.item) {
            high = domain.min;
        }
        if domain.unique {
            let n_different = u32::try_from(self.model.count(domain.item)).unwrap_or(u32::MAX);
            high = high.min(n_different).max(domain.min);
        }
        let n = self.rng.u32(domain.min.min(high)..=high);
        let mut items = Vec::with_capacity(n as usize);
        for _ in 0..n {
            if self.is_spent() {
                break;
            }
            match self.item(domain, &items, depth) {
                Some(item) => items.push(item),
                None => break,
            }
        }
        Value::Array(Arc::new(items))
    }

    /// One more item; `None` if the items must differ and no new one was found.
    pub(crate) fn item(
        &mut self,
        domain: &ArrayDomain,
        items: &[Value],
        depth: u32,
    ) -> Option<Value> {
        if !domain.unique {
            return Some(self.node(domain.item, depth + 1));
        }
        let print = |value: &Value| self.model.print(domain.item, value, &Unresolved);
        let taken: Vec<_> = items.iter().filter_map(print).collect();
        for _ in 0..64 {
            let item = self.node(domain.item, depth + 1);
            let json = self.model.print(domain.item, &item, &Unresolved);
            if json.is_none_or(|json| !taken.iter().any(|other| same(other, &json))) {
                return Some(item);
            }
        }
        // A nearly exhausted enumeration: take the first member that is left.
        if let Domain::Enum(members) = &self.model.node(domain.item).domain {
            return (0..)
                .zip(members)
                .find(|(_, member)| !taken.iter().any(|other| same(other, member)))
                .map(|(i, _)| Value::Member(i));
        }
        None
    }

    fn object(&mut self, domain: &ObjectDomain, depth: u32) -> Value {
        let model = self.model;
        let mut object = ObjectValue {
            fields: Vec::with_capacity(domain.fields.len()),
            extra: Vec::new(),
        };
        if self.is_spent() {
            object.fields.resize(domain.fields.len(), Value::Absent);
            return Value::Object(Arc::new(object));
        }
        for field in &domain.fields {
            let present = field.required
                || (!self.is_tight(depth)
                    && !model.is_infinite(field.node)
                    && self.rng.f64() < self.config.optional);
            object.fields.push(if present {
                self.node(field.node, depth + 1)
            } else {
                Value::Absent
            });
        }
        if domain.extra.is_some() && !self.is_tight(depth) {
            let wanted = if domain.fields.is_empty() {
                self.rng.u32(0..=self.config.max_items)
            } else {
                u32::from(self.rng.u8(0..8) == 0)
            };
            for _ in 0..wanted {
                self.add_extra(domain, &mut object, depth);
            }
        }
        self.mend_count(domain, &mut object, depth);
        Value::Object(Arc::new(object))
    }

    /// Adds or leaves out optional properties until their number is allowed.
    #[expect(
        clippy::indexing_slicing,
        reason = "an object has a value for each field of its domain; positions are those of its own fields"
    )]
    fn mend_count(&mut self, domain: &ObjectDomain, object: &mut ObjectValue, depth: u32) {
        while object.n_present() < domain.min as usize {
            let absent = |object: &ObjectValue| -> Vec<usize> {
                (0..object.fields.len())
                    .filter(|&i| object.fields[i] == Value::Absent)
                    .collect()
            };
            let mut absent = absent(object);
            // What requires itself is not begun where something else will do.
            let height = |i: &usize| self.model.height(domain.fields[*i].node);
            let extra = domain.extra.map(|extra| self.model.height(extra.value));
            let least = absent.iter().map(height).chain(extra).min();
            if self.is_tight(depth) {
                absent.retain(|i| Some(height(i)) <= least);
            } else {
                absent.retain(|i| !self.model.is_infinite(domain.fields[*i].node));
            }
            if let Some(i) = self.rng.choice(absent) {
                object.fields[i] = self.node(domain.fields[i].node, depth + 1);
            } else if !self.add_extra(domain, object, depth) {
                break;
            }
        }
        let Some(max) = domain.max else { return };
        while object.n_present() > max as usize {
            if object.extra.pop().is_some() {
                continue;
            }
            let removable: Vec<usize> = (0..object.fields.len())
                .filter(|&i| !domain.fields[i].required && object.fields[i] != Value::Absent)
                .collect();
            if removable.is_empty() {
                break;
            }
            object.fields[removable[self.rng.usize(..removable.len())]] = Value::Absent;
        }
    }

    /// Adds an additional property under a name that is free; false if none is allowed or found.
    pub(crate) fn add_extra(
        &mut self,
        domain: &ObjectDomain,
        object: &mut ObjectValue,
        depth: u32,
    ) -> bool {
        let Some(extra) = domain.extra else {
            return false;
        };
        for _ in 0..32 {
            let Value::Text(name) = self.key(extra.key) else {
                return false;
            };
            let taken = domain.fields.iter().any(|field| field.name == name)
                || object.extra.iter().any(|(other, _)| *other == name);
            if !taken {
                let value = self.node(extra.value, depth + 1);
                object.extra.push((name, value));
                return true;
            }
        }
        false
    }

    fn key(&mut self, id: NodeId) -> Value {
        match &self.model.node(id).domain {
            Domain::Text(domain) if *domain == TextDomain::any() => {
                let n = self.rng.usize(1..=6);
                let name: String = (0..n).map(|_| self.rng.lowercase()).collect();
                Value::Text(name.into())
            }
            _ => match self.non_null(id, 0) {
                Value::Text(text) => Value::Text(text),
                other => match self.model.print(id, &other, &Unresolved) {
                    Some(json) => Value::Text(crate::print::plain(&json).into()),
                    None => Value::Null,
                },
            },
        }
    }
}
