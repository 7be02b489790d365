//! Values kept in a file and put back as they were: more than their JSON tells, such as which alternative was taken and
//! what is bound to an earlier response.
//!
//! Null, truth values and texts stand for themselves; anything else is a list that begins with a letter for its kind.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::binary;
use crate::date_time::DateTime;
use crate::gene::Gene;
use crate::model::{Domain, Model, NodeId};
use crate::value::{BoundValue, ObjectValue, Reference, Unresolved, Value};

impl Gene {
    /// The value as [`Gene::restore`] reads it.
    ///
    /// What run-time knowledge narrowed a text to is not kept; the text is.
    #[must_use]
    pub fn store(&self) -> Json {
        store(self.value())
    }

    /// The gene that was stored as `json`; `None` if that is no value of the node, as when the model is another now.
    #[must_use]
    pub fn restore(model: &Arc<Model>, root: NodeId, json: &Json) -> Option<Self> {
        let value = model.restore(root, json)?;
        Some(Self::with_value(model, root, value))
    }
}

fn store(value: &Value) -> Json {
    match value {
        Value::Absent => json!(["-"]),
        Value::Null => Json::Null,
        Value::Boolean(truth) => Json::Bool(*truth),
        Value::Text(text) => Json::String(text.to_string()),
        // As text, because JSON numbers are not exact everywhere.
        Value::Integer(n) => json!(["i", n.to_string()]),
        Value::Float(x) => json!(["f", x.to_string()]),
        Value::DateTime(m) => json!([
            "m", m.year, m.month, m.day, m.hour, m.minute, m.second, m.milli, m.offset
        ]),
        Value::Binary(bytes) => json!(["b", binary::encode(bytes)]),
        Value::Member(at) => json!(["e", at]),
        Value::Array(items) => {
            let items: Vec<Json> = items.iter().map(store).collect();
            json!(["a", items])
        }
        Value::Object(object) => {
            let fields: Vec<Json> = object.fields.iter().map(store).collect();
            let extra = object.extra.iter();
            let extra: Vec<Json> = extra
                .map(|(name, value)| json!([&**name, store(value)]))
                .collect();
            json!(["o", fields, extra])
        }
        Value::Choice(choice) => json!(["c", choice.0, store(&choice.1)]),
        Value::Literal(json) => json!(["=", **json]),
        Value::Bound(bound) => json!([
            "r",
            bound.reference.source,
            &*bound.reference.place,
            store(&bound.fallback)
        ]),
        Value::Specialized(specialization) => {
            let text =
                specialization
                    .model
                    .print(specialization.root, &specialization.value, &Unresolved);
            match text {
                Some(json) => json!(["=", Json::String(crate::plain(&json).into_owned())]),
                None => json!(["-"]),
            }
        }
    }
}

impl Model {
    fn restore(&self, id: NodeId, json: &Json) -> Option<Value> {
        let domain = &self.node(id).domain;
        let parts = match json {
            Json::Null => return Some(Value::Null),
            Json::Bool(truth) => {
                return matches!(domain, Domain::Boolean).then_some(Value::Boolean(*truth));
            }
            Json::String(text) => {
                let is_text = matches!(domain, Domain::Text(_) | Domain::Pattern(_));
                return is_text.then(|| Value::Text(text.as_str().into()));
            }
            Json::Array(parts) => parts,
            Json::Number(_) | Json::Object(_) => return None,
        };
        let text = |at: usize| parts.get(at)?.as_str();
        let number = |at: usize| u32::try_from(parts.get(at)?.as_u64()?).ok();
        let list = |at: usize| parts.get(at)?.as_array();
        Some(match (text(0)?, domain) {
            ("-", _) => Value::Absent,
            ("=", _) => Value::Literal(Arc::new(parts.get(1)?.clone())),
            ("r", _) => Value::Bound(Arc::new(BoundValue {
                reference: Reference {
                    source: number(1)?,
                    place: text(2)?.into(),
                },
                fallback: self.restore(id, parts.get(3)?)?,
            })),
            ("i", Domain::Integer(_)) => Value::Integer(text(1)?.parse().ok()?),
            ("f", Domain::Float(_)) => {
                let x: f64 = text(1)?.parse().ok()?;
                x.is_finite().then_some(Value::Float(x))?
            }
            ("m", Domain::DateTime(_)) => Value::DateTime(date_time(parts)?),
            ("b", Domain::Binary(_)) => Value::Binary(binary::decode(text(1)?)?),
            ("e", Domain::Enum(members)) => {
                let at = number(1)?;
                members.get(at as usize)?;
                Value::Member(at)
            }
            ("a", Domain::Array(array)) => {
                let items = list(1)?.iter();
                let items: Option<_> = items.map(|item| self.restore(array.item, item)).collect();
                Value::Array(Arc::new(items?))
            }
            ("o", Domain::Object(object)) => {
                let (fields, extra) = (list(1)?, list(2)?);
                if fields.len() != object.fields.len() {
                    return None;
                }
                let fields = object.fields.iter().zip(fields);
                let fields: Option<_> = fields
                    .map(|(field, json)| self.restore(field.node, json))
                    .collect();
                let extra = extra.iter().map(|pair| {
                    let name = pair.get(0)?.as_str()?;
                    let json = pair.get(1)?;
                    let value = match object.extra {
                        Some(extra) => self.restore(extra.value, json)?,
                        None => undeclared(json)?,
                    };
                    Some((name.into(), value))
                });
                let extra: Option<_> = extra.collect();
                Value::Object(Arc::new(ObjectValue {
                    fields: fields?,
                    extra: extra?,
                }))
            }
            ("c", Domain::Choice(options)) => {
                let at = number(1)?;
                let option = *options.get(at as usize)?;
                Value::Choice(Arc::new((at, self.restore(option, parts.get(2)?)?)))
            }
            _ => return None,
        })
    }
}

/// What an object that declares no other properties has all the same, such as one that breaks a rule on purpose.
fn undeclared(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Boolean(*truth),
        Json::String(text) => Value::Text(text.as_str().into()),
        Json::Array(parts) if parts.first()? == "=" => {
            Value::Literal(Arc::new(parts.get(1)?.clone()))
        }
        _ => return None,
    })
}

fn date_time(parts: &[Json]) -> Option<DateTime> {
    let part = |at: usize| parts.get(at)?.as_i64();
    let small = |at: usize| i8::try_from(part(at)?).ok();
    let large = |at: usize| i16::try_from(part(at)?).ok();
    Some(DateTime {
        year: large(1)?,
        month: small(2)?,
        day: small(3)?,
        hour: small(4)?,
        minute: small(5)?,
        second: small(6)?,
        milli: large(7)?,
        offset: large(8)?,
    })
}
