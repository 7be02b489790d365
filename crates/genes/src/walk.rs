//! Visits and addresses the nodes of a value by JSON Pointer.

use std::fmt::Write;
use std::sync::Arc;

use crate::model::{Domain, Model, NodeId};
use crate::rule::push_segment;
use crate::text::length;
use crate::value::{Resolver, Specialized, Unresolved, Value};

/// A property of a value that tells it from others of its node; each is worth covering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueClass {
    /// An optional property is left out.
    Absent,
    /// An optional property is there.
    Present,
    /// Null.
    Null,
    /// True.
    True,
    /// False.
    False,
    /// The enumerated value of this index.
    Member(u32),
    /// The alternative of this index.
    Option(u32),
    /// The lower bound of a number, or the least length.
    Minimum,
    /// The upper bound of a number, or the greatest length.
    Maximum,
    /// A number below zero.
    Negative,
    /// Zero.
    Zero,
    /// A number above zero.
    Positive,
    /// No characters, bytes or items.
    Empty,
    /// Some characters, bytes or items.
    Filled,
}

/// A place in a value.
#[derive(Clone, Copy, Debug)]
pub struct NodeRef<'a> {
    /// Its JSON Pointer.
    pub pointer: &'a str,
    /// The model of its node; that of the gene, except inside a specialized text.
    pub model: &'a Model,
    /// Its node.
    pub node: NodeId,
    /// Its value.
    pub value: &'a Value,
}

impl Model {
    /// Calls `f` for the value and all below it, properties that are left out included. Choices
    /// have no segment of their own: they are visited, then what was chosen, at the same pointer.
    pub(crate) fn walk(&self, id: NodeId, value: &Value, f: &mut dyn FnMut(NodeRef<'_>)) {
        let mut pointer = String::new();
        self.walk_at(id, value, &mut pointer, f);
    }

    fn walk_at(
        &self,
        id: NodeId,
        value: &Value,
        pointer: &mut String,
        f: &mut dyn FnMut(NodeRef<'_>),
    ) {
        f(NodeRef {
            pointer,
            model: self,
            node: id,
            value,
        });
        let n = pointer.len();
        match (&self.node(id).domain, value) {
            (Domain::Array(domain), Value::Array(items)) => {
                for (i, item) in items.iter().enumerate() {
                    // Writing to a String cannot fail.
                    let _ = write!(pointer, "/{i}");
                    self.walk_at(domain.item, item, pointer, f);
                    pointer.truncate(n);
                }
            }
            (Domain::Object(domain), Value::Object(object)) => {
                for (field, value) in domain.fields.iter().zip(&object.fields) {
                    push_segment(pointer, &field.name);
                    self.walk_at(field.node, value, pointer, f);
                    pointer.truncate(n);
                }
                if let Some(extra) = domain.extra {
                    for (name, value) in &object.extra {
                        push_segment(pointer, name);
                        self.walk_at(extra.value, value, pointer, f);
                        pointer.truncate(n);
                    }
                }
            }
            (Domain::Choice(options), Value::Choice(choice)) => {
                if let Some(&option) = options.get(choice.0 as usize) {
                    self.walk_at(option, &choice.1, pointer, f);
                }
            }
            _ => {}
        }
    }

    /// Calls `f` with the node and value at `pointer`, copying what is shared on the way there.
    ///
    /// A literal on the way is read into its parts first. `None` if there is no such place.
    pub(crate) fn at_mut<R>(
        &self,
        id: NodeId,
        value: &mut Value,
        pointer: &str,
        f: &mut dyn FnMut(&Self, NodeId, &mut Value) -> R,
    ) -> Option<R> {
        if let (Domain::Choice(options), Value::Choice(choice)) =
            (&self.node(id).domain, &mut *value)
            && let Some(&option) = options.get(choice.0 as usize)
        {
            return self.at_mut(option, &mut Arc::make_mut(choice).1, pointer, f);
        }
        if pointer.is_empty() {
            return Some(f(self, id, value));
        }
        if let Value::Literal(json) = value {
            *value = self.read(id, json).ok()?;
            if matches!(value, Value::Literal(_)) {
                return None;
            }
            return self.at_mut(id, value, pointer, f);
        }
        let (segment, rest) = match pointer[1..].find('/') {
            Some(at) => (&pointer[1..=at], &pointer[at + 1..]),
            None => (&pointer[1..], ""),
        };
        match (&self.node(id).domain, value) {
            (Domain::Array(domain), Value::Array(items)) => {
                let item = Arc::make_mut(items).get_mut(segment.parse::<usize>().ok()?)?;
                self.at_mut(domain.item, item, rest, f)
            }
            (Domain::Object(domain), Value::Object(object)) => {
                let name = segment.replace("~1", "/").replace("~0", "~");
                let object = Arc::make_mut(object);
                if let Some(i) = domain.fields.iter().position(|field| *field.name == *name) {
                    let field = domain.fields.get(i)?;
                    return self.at_mut(field.node, object.fields.get_mut(i)?, rest, f);
                }
                let extra = domain.extra?;
                let (_, value) = object
                    .extra
                    .iter_mut()
                    .find(|(other, _)| **other == *name)?;
                self.at_mut(extra.value, value, rest, f)
            }
            (_, Value::Specialized(specialization)) => {
                let specialization: &mut Specialized = Arc::make_mut(specialization);
                let model = specialization.model.clone();
                model.at_mut(specialization.root, &mut specialization.value, pointer, f)
            }
            _ => None,
        }
    }
}

impl NodeRef<'_> {
    /// What is sent for it; `None` where it is left out.
    #[must_use]
    pub fn json(&self, resolve: &dyn Resolver) -> Option<serde_json::Value> {
        self.model.print(self.node, self.value, resolve)
    }

    /// The text that is sent for it, where it is a text of its own.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self.value {
            Value::Text(text) => Some(text.to_string()),
            Value::Specialized(_) | Value::Literal(_) | Value::DateTime(_) => {
                match self.model.print(self.node, self.value, &Unresolved) {
                    Some(serde_json::Value::String(text)) => Some(text),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The text that is sent for it, where it is a text or an integer of its own.
    #[must_use]
    pub fn text_or_integer(&self) -> Option<String> {
        match self.value {
            Value::Integer(_) | Value::Float(_) | Value::Literal(_) => {
                match self.model.print(self.node, self.value, &Unresolved) {
                    Some(serde_json::Value::Number(number)) => {
                        let text = number.to_string();
                        let whole = text.strip_suffix(".0").unwrap_or(&text);
                        Some(whole.to_owned()).filter(|whole| !whole.contains('.'))
                    }
                    _ => self.text(),
                }
            }
            _ => self.text(),
        }
    }

    /// Calls `f` for each facet that the value shows.
    pub fn value_classes(&self, mut f: impl FnMut(ValueClass)) {
        let size = |f: &mut dyn FnMut(ValueClass), n: u32, min: u32, max: Option<u32>| {
            f(if n == 0 {
                ValueClass::Empty
            } else {
                ValueClass::Filled
            });
            if n == min && min > 0 {
                f(ValueClass::Minimum);
            }
            if Some(n) == max {
                f(ValueClass::Maximum);
            }
        };
        let sign = |f: &mut dyn FnMut(ValueClass), order: Option<std::cmp::Ordering>| match order {
            Some(std::cmp::Ordering::Less) => f(ValueClass::Negative),
            Some(std::cmp::Ordering::Equal) => f(ValueClass::Zero),
            Some(std::cmp::Ordering::Greater) => f(ValueClass::Positive),
            None => {}
        };
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match (&self.model.node(self.node).domain, self.value) {
            (_, Value::Absent) => f(ValueClass::Absent),
            (_, Value::Null) => f(ValueClass::Null),
            (_, Value::Boolean(true)) => f(ValueClass::True),
            (_, Value::Boolean(false)) => f(ValueClass::False),
            (_, Value::Member(i)) => f(ValueClass::Member(*i)),
            (_, Value::Choice(choice)) => f(ValueClass::Option(choice.0)),
            (Domain::Integer(domain), Value::Integer(n)) => {
                sign(&mut f, Some(n.cmp(&0)));
                if domain.bounded_below() && *n == domain.min() {
                    f(ValueClass::Minimum);
                }
                if domain.bounded_above() && *n == domain.max() {
                    f(ValueClass::Maximum);
                }
            }
            (Domain::Float(domain), Value::Float(x)) => {
                sign(&mut f, x.partial_cmp(&0.0));
                if domain.bounded_below() && *x == domain.min() {
                    f(ValueClass::Minimum);
                }
                if domain.bounded_above() && *x == domain.max() {
                    f(ValueClass::Maximum);
                }
            }
            (Domain::Text(domain), Value::Text(text)) => {
                size(&mut f, length(text), domain.min(), domain.max());
            }
            (Domain::Pattern(domain), Value::Text(text)) => {
                size(&mut f, length(text), domain.min(), domain.max());
            }
            (Domain::Binary(domain), Value::Binary(bytes)) => {
                size(&mut f, narrow(bytes.len()), domain.min(), domain.max());
            }
            (Domain::Array(domain), Value::Array(items)) => {
                size(&mut f, narrow(items.len()), domain.min, domain.max);
            }
            (Domain::Enum(members), Value::Literal(json)) => {
                if let Some(i) = members.iter().position(|m| crate::read::same(m, json)) {
                    f(ValueClass::Member(narrow(i)));
                }
            }
            _ => {}
        }
    }
}
