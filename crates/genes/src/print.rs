//! Prints values as JSON and as plain text.

use std::borrow::Cow;

use serde_json::{Map, Number, Value as Json};

use crate::binary;
use crate::model::{Domain, Model, NodeId};
use crate::value::{Resolver, Value};

impl Model {
    /// The JSON of a value of node `id`; `None` if it is absent.
    pub(crate) fn print(&self, id: NodeId, value: &Value, resolve: &dyn Resolver) -> Option<Json> {
        let domain = &self.node(id).domain;
        Some(match (value, domain) {
            (Value::Absent, _) => return None,
            (Value::Null, _) => Json::Null,
            (Value::Boolean(truth), _) => Json::Bool(*truth),
            (Value::Integer(n), Domain::Integer(integer)) => integer.to_json(*n),
            (Value::Integer(n), _) => crate::number::integer_json(*n, 0),
            (Value::Float(x), _) => Number::from_f64(*x).map_or(Json::Null, Json::Number),
            (Value::Text(text), _) => Json::String(text.to_string()),
            (Value::DateTime(date_time), Domain::DateTime(kind)) => {
                Json::String(date_time.show(*kind).to_string())
            }
            (Value::Member(i), Domain::Enum(members)) => members
                .get(*i as usize)
                .map_or(Json::Null, |m| Json::clone(m)),
            (Value::Binary(bytes), _) => Json::String(binary::encode(bytes)),
            (Value::Array(items), Domain::Array(array)) => Json::Array(
                items
                    .iter()
                    .filter_map(|item| self.print(array.item, item, resolve))
                    .collect(),
            ),
            (Value::Object(object), Domain::Object(domain)) => {
                let mut map = Map::with_capacity(object.n_present());
                for (field, value) in domain.fields.iter().zip(&object.fields) {
                    if let Some(json) = self.print(field.node, value, resolve) {
                        map.insert(field.name.to_string(), json);
                    }
                }
                for (name, value) in &object.extra {
                    let json = match domain.extra {
                        Some(extra) => self.print(extra.value, value, resolve),
                        None => literal(value),
                    };
                    if let Some(json) = json {
                        map.insert(name.to_string(), json);
                    }
                }
                Json::Object(map)
            }
            (Value::Choice(choice), Domain::Choice(options)) => {
                let (i, inner) = &**choice;
                return self.print(*options.get(*i as usize)?, inner, resolve);
            }
            (Value::Literal(json), _) => Json::clone(json),
            (Value::Bound(bound), _) => match resolve.resolve(&bound.reference) {
                Some(json) => self.fitted(id, json),
                None => return self.print(id, &bound.fallback, resolve),
            },
            (Value::Specialized(specialization), _) => {
                let json = specialization.model.print(
                    specialization.root,
                    &specialization.value,
                    resolve,
                )?;
                self.fitted(id, json)
            }
            // A value of another node; it can only come from a caller that mixes models.
            (
                Value::DateTime(_)
                | Value::Member(_)
                | Value::Array(_)
                | Value::Object(_)
                | Value::Choice(_),
                _,
            ) => Json::Null,
        })
    }

    /// Text where text is due, and a number where a text of digits stands for one.
    fn fitted(&self, id: NodeId, json: Json) -> Json {
        match (&self.node(id).domain, &json) {
            (
                Domain::Text(_) | Domain::Pattern(_) | Domain::DateTime(_),
                Json::Number(_) | Json::Bool(_),
            ) => Json::String(plain(&json).into_owned()),
            (Domain::Integer(_) | Domain::Float(_), Json::String(text)) => {
                text.parse::<Number>().map_or(json, Json::Number)
            }
            _ => json,
        }
    }
}

fn literal(value: &Value) -> Option<Json> {
    match value {
        Value::Literal(json) => Some(Json::clone(json)),
        Value::Null => Some(Json::Null),
        Value::Boolean(truth) => Some(Json::Bool(*truth)),
        Value::Text(text) => Some(Json::String(text.to_string())),
        _ => None,
    }
}

/// A JSON value as it stands in a path, a query, a header or a form: text without quotes, anything
/// else as its JSON.
#[must_use]
pub fn plain(json: &Json) -> Cow<'_, str> {
    match json {
        Json::String(text) => Cow::Borrowed(text),
        Json::Null => Cow::Borrowed("null"),
        Json::Bool(true) => Cow::Borrowed("true"),
        Json::Bool(false) => Cow::Borrowed("false"),
        Json::Number(_) | Json::Array(_) | Json::Object(_) => Cow::Owned(json.to_string()),
    }
}
