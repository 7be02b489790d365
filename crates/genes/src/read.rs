//! Reads values from JSON and plain text, and reports the violated rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Number, Value as Json};

use crate::binary;
use crate::date_time::DateTime;
use crate::model::{ArrayDomain, Domain, Model, Node, NodeId, ObjectDomain};
use crate::rule::{Mismatch, Rule};
use crate::text::check_length;
use crate::value::{ObjectValue, Value};

impl Model {
    /// The value of node `id` that prints as `json`.
    ///
    /// # Errors
    /// The first rule that `json` breaks.
    pub fn read(&self, id: NodeId, json: &Json) -> Result<Value, Mismatch> {
        let node = self.node(id);
        if json.is_null() && node.nullable {
            return Ok(Value::Null);
        }
        if node.is_untyped {
            let typed = self.read_typed(node, json);
            return Ok(typed.unwrap_or_else(|_| Value::Literal(Arc::new(json.clone()))));
        }
        self.read_typed(node, json)
    }

    fn read_typed(&self, node: &Node, json: &Json) -> Result<Value, Mismatch> {
        let rule = |rule: Rule| Mismatch::here(rule);
        let wrong = || {
            rule(if json.is_null() {
                Rule::NotNull
            } else {
                Rule::Type
            })
        };
        match &node.domain {
            Domain::Null if json.is_null() => Ok(Value::Null),
            Domain::Null => Err(rule(Rule::Type)),
            Domain::Boolean => json.as_bool().map(Value::Boolean).ok_or_else(wrong),
            Domain::Integer(domain) => match json {
                Json::Number(number) => domain.read(number).map(Value::Integer).map_err(rule),
                _ => Err(wrong()),
            },
            Domain::Float(domain) => match json.as_f64() {
                Some(x) => domain.check(x).map(Value::Float).map_err(rule),
                None => Err(wrong()),
            },
            Domain::Text(domain) => {
                let text = json.as_str().ok_or_else(wrong)?;
                domain.check(text).map_err(rule)?;
                Ok(Value::Text(text.into()))
            }
            Domain::Pattern(domain) => {
                let text = json.as_str().ok_or_else(wrong)?;
                domain.check(text).map_err(rule)?;
                Ok(Value::Text(text.into()))
            }
            Domain::DateTime(kind) => {
                let text = json.as_str().ok_or_else(wrong)?;
                match DateTime::read(text, *kind) {
                    Some(date_time) if date_time.is_valid(*kind) => {
                        // Microseconds and other spellings are kept as they are: a service that
                        // gave them may look for exactly them.
                        if date_time.show(*kind).to_string() == text {
                            Ok(Value::DateTime(date_time))
                        } else {
                            Ok(Value::Literal(Arc::new(json.clone())))
                        }
                    }
                    _ => Err(rule(Rule::Format)),
                }
            }
            Domain::Binary(domain) => {
                let text = json.as_str().ok_or_else(wrong)?;
                let bytes = binary::decode(text).ok_or_else(|| rule(Rule::Format))?;
                let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                check_length(len, domain.min(), domain.max()).map_err(rule)?;
                // Other alphabets and missing padding are kept as they are.
                if binary::encode(&bytes) != text {
                    return Ok(Value::Literal(Arc::new(json.clone())));
                }
                Ok(Value::Binary(bytes))
            }
            Domain::Enum(members) => members
                .iter()
                .position(|member| same(member, json))
                .and_then(|i| u32::try_from(i).ok())
                .map(Value::Member)
                .ok_or_else(|| rule(Rule::Enum)),
            Domain::Array(domain) => self.read_array(domain, json.as_array().ok_or_else(wrong)?),
            Domain::Object(domain) => self.read_object(domain, json.as_object().ok_or_else(wrong)?),
            Domain::Choice(options) => (0..)
                .zip(options)
                .find_map(|(i, &option)| {
                    let value = self.read(option, json).ok()?;
                    Some(Value::Choice(Arc::new((i, value))))
                })
                .ok_or_else(|| rule(Rule::Choice)),
        }
    }

    fn read_array(&self, domain: &ArrayDomain, items: &[Json]) -> Result<Value, Mismatch> {
        let n = u32::try_from(items.len()).unwrap_or(u32::MAX);
        if n < domain.min {
            return Err(Mismatch::here(Rule::MinItems));
        }
        if domain.max.is_some_and(|max| n > max) {
            return Err(Mismatch::here(Rule::MaxItems));
        }
        if domain.unique && has_repeats(items) {
            return Err(Mismatch::here(Rule::UniqueItems));
        }
        let values = items
            .iter()
            .enumerate()
            .map(|(i, item)| {
                self.read(domain.item, item)
                    .map_err(|misfit| misfit.under(&i.to_string()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Value::Array(Arc::new(values)))
    }

    fn read_object(
        &self,
        domain: &ObjectDomain,
        map: &serde_json::Map<String, Json>,
    ) -> Result<Value, Mismatch> {
        let mut object = ObjectValue {
            fields: Vec::with_capacity(domain.fields.len()),
            extra: Vec::new(),
        };
        for field in &domain.fields {
            object.fields.push(match map.get(&*field.name) {
                Some(json) => self
                    .read(field.node, json)
                    .map_err(|misfit| misfit.under(&field.name))?,
                None if field.required => {
                    return Err(Mismatch::here(Rule::Required).under(&field.name));
                }
                None => Value::Absent,
            });
        }
        for (name, json) in map {
            if domain.fields.iter().any(|field| *field.name == **name) {
                continue;
            }
            let value = match domain.extra {
                Some(extra) => {
                    let key = Json::String(name.clone());
                    self.read(extra.key, &key)
                        .and_then(|_| self.read(extra.value, json))
                        .map_err(|misfit| misfit.under(name))?
                }
                None if domain.closed => {
                    return Err(Mismatch::here(Rule::AdditionalProperties));
                }
                None => Value::Literal(Arc::new(json.clone())),
            };
            object.extra.push((name.as_str().into(), value));
        }
        let n = u32::try_from(map.len()).unwrap_or(u32::MAX);
        if n < domain.min {
            return Err(Mismatch::here(Rule::MinProperties));
        }
        if domain.max.is_some_and(|max| n > max) {
            return Err(Mismatch::here(Rule::MaxProperties));
        }
        Ok(Value::Object(Arc::new(object)))
    }

    /// The value of node `id` that prints as this plain text, as found in a path or query.
    ///
    /// # Errors
    /// The rule that the text breaks.
    pub fn read_text(&self, id: NodeId, text: &str) -> Result<Value, Mismatch> {
        let as_text = Json::String(text.to_owned());
        self.read(id, &as_text).or_else(|misfit| {
            // Numbers, truth values and structures have no quotes of their own in plain text.
            let json = match text {
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                "null" => Json::Null,
                _ => match number(text) {
                    Some(number) => Json::Number(number),
                    None => serde_json::from_str(text).map_err(|_| misfit)?,
                },
            };
            self.read(id, &json)
        })
    }
}

/// A number as JSON writes it. Fractions are read by the standard library, which keeps every digit.
fn number(text: &str) -> Option<Number> {
    let number = text.parse::<Number>().ok()?;
    if number.is_f64() {
        return text.parse().ok().and_then(Number::from_f64);
    }
    Some(number)
}

/// JSON equality by value: `1` and `1.0` are the same number.
#[must_use]
pub fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        // Large whole numbers that differ may have the same nearest double.
        (Json::Number(a), Json::Number(b)) => {
            a == b || (a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64())
        }
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Values by what they are, without comparing each with all others.
#[derive(Debug, Default)]
pub struct Distinct<'a> {
    by_digest: BTreeMap<String, Vec<&'a Json>>,
}

impl<'a> Distinct<'a> {
    /// Adds a value; false if one that is the [`same`] is there already.
    pub fn insert(&mut self, value: &'a Json) -> bool {
        let is_new = !self.contains(value);
        if is_new {
            let known = self.by_digest.entry(digest(value)).or_default();
            known.push(value);
        }
        is_new
    }

    /// Whether a value that is the [`same`] is there.
    #[must_use]
    pub fn contains(&self, value: &Json) -> bool {
        let known = self.by_digest.get(&digest(value));
        known.is_some_and(|known| known.iter().any(|other| same(other, value)))
    }
}

impl<'a> FromIterator<&'a Json> for Distinct<'a> {
    fn from_iter<I: IntoIterator<Item = &'a Json>>(values: I) -> Self {
        let mut distinct = Self::default();
        for value in values {
            distinct.insert(value);
        }
        distinct
    }
}

/// A text that is equal for values that are the [`same`], and hardly ever for others.
fn digest(value: &Json) -> String {
    match value {
        // Zero has no sign.
        Json::Number(number) => format!("{:?}", number.as_f64().map(|number| number + 0.0)),
        Json::Array(items) => items.iter().map(|item| digest(item) + ",").collect(),
        Json::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{name}:{},", digest(value)))
                .collect();
            members.sort_unstable();
            members.concat()
        }
        other => other.to_string(),
    }
}

pub(crate) fn has_repeats(items: &[Json]) -> bool {
    let mut distinct = Distinct::default();
    !items.iter().all(|item| distinct.insert(item))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn distinct_values_are_those_that_are_not_the_same() {
        let values = [
            json!(1),
            json!(1.0),
            json!("1"),
            json!(0),
            json!(-0.0),
            json!({ "a": [1, null], "b": 2 }),
            json!({ "b": 2.0, "a": [1.0, null] }),
            json!([1, null]),
            json!([1.0, null]),
            json!(u64::MAX),
            json!(u64::MAX - 1),
            json!("n,"),
            json!(["n"]),
        ];
        let mut distinct = Distinct::default();
        let mut kept: Vec<&Json> = Vec::new();
        for value in &values {
            let is_new = !kept.iter().any(|other| same(other, value));
            assert_eq!(distinct.insert(value), is_new, "{value}");
            if is_new {
                kept.push(value);
            }
        }
        assert_eq!(kept.len(), 9, "{kept:?}");
        assert!(has_repeats(&values) && !has_repeats(&values[9..]));
    }
}
