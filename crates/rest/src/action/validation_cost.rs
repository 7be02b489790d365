//! How many subschemas a validator applies to one value. A short document can ask for 2⁶⁰ of them, by schemas that each
//! combine the next one twice.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

/// Subschemas for one value; real documents need some hundred.
const MAX_APPLICATIONS: u64 = 100_000;
/// Levels of schemas for one value, references included.
const MAX_LEVELS: u32 = 500;

/// Whether validation by a stand-alone schema ends within reasonable time.
///
/// Only what is applied to the same value counts: a subschema of a property is applied to a smaller value.
pub(super) fn is_affordable(schema: &Json) -> bool {
    let Some(definitions) = schema.get("$defs").and_then(Json::as_object) else {
        return true;
    };
    let mut cost = ValidationCost {
        definitions,
        known: FxHashMap::default(),
    };
    let mut names = definitions.keys();
    names.all(|name| cost.of_definition(name, 0) <= MAX_APPLICATIONS)
}

struct ValidationCost<'s> {
    definitions: &'s Map<String, Json>,
    /// Applications per definition; nothing while it is being counted.
    known: FxHashMap<&'s str, Option<u64>>,
}

impl<'s> ValidationCost<'s> {
    fn of_definition(&mut self, name: &str, level: u32) -> u64 {
        let Some((name, schema)) = self.definitions.get_key_value(name) else {
            return 1;
        };
        if let Some(known) = self.known.get(name.as_str()) {
            // A definition that applies itself to the same value never ends.
            return known.unwrap_or(u64::MAX);
        }
        self.known.insert(name, None);
        let cost = self.of_schema(schema, level);
        self.known.insert(name, Some(cost));
        cost
    }

    fn of_schema(&mut self, schema: &'s Json, level: u32) -> u64 {
        let Json::Object(map) = schema else {
            return 1;
        };
        if level >= MAX_LEVELS {
            return u64::MAX;
        }
        let mut cost: u64 = 1;
        for (keyword, value) in map {
            let inner = match (keyword.as_str(), value) {
                ("$ref", Json::String(reference)) => {
                    let name = reference.rsplit('/').next().unwrap_or_default();
                    self.of_definition(name, level + 1)
                }
                ("allOf" | "anyOf" | "oneOf", Json::Array(schemas)) => {
                    self.sum(schemas.iter(), level)
                }
                ("dependentSchemas", Json::Object(schemas)) => self.sum(schemas.values(), level),
                ("not" | "if" | "then" | "else", schema) => self.of_schema(schema, level + 1),
                _ => 0,
            };
            cost = cost.saturating_add(inner);
        }
        cost
    }

    fn sum(&mut self, schemas: impl Iterator<Item = &'s Json>, level: u32) -> u64 {
        schemas.fold(0, |sum: u64, schema| {
            sum.saturating_add(self.of_schema(schema, level + 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reference(id: usize) -> Json {
        json!({ "$ref": format!("#/$defs/{id}") })
    }

    /// So many definitions, each made of the next one, and a last one for strings.
    fn tower(levels: usize, make: impl Fn(Json) -> Json) -> Json {
        let definitions = (0..levels).map(|id| (id.to_string(), make(reference(id + 1))));
        let mut definitions: Map<String, Json> = definitions.collect();
        definitions.insert(levels.to_string(), json!({ "type": "string" }));
        json!({ "$ref": "#/$defs/0", "$defs": definitions })
    }

    #[test]
    fn schemas_that_multiply_are_refused_and_those_that_descend_are_not() {
        let twice = |next: Json| json!({ "allOf": [next, next] });
        assert!(is_affordable(&tower(10, twice)));
        assert!(!is_affordable(&tower(60, twice)));
        let choice = |next: Json| json!({ "if": next, "then": { "oneOf": [next, next] } });
        assert!(!is_affordable(&tower(60, choice)));
        let property = |next: Json| json!({ "properties": { "a": next, "b": next, "c": next } });
        assert!(is_affordable(&tower(3_000, property)));
        assert!(!is_affordable(&tower(10_000, |next| next)), "too deep");
    }

    #[test]
    fn a_definition_that_applies_itself_to_the_same_value_is_refused() {
        let endless =
            json!({ "$defs": { "1": { "anyOf": [reference(2), {}] }, "2": reference(1) } });
        assert!(!is_affordable(&endless));
        let list = json!({ "$defs": { "1": { "anyOf": [{ "items": reference(1) }, { "type": "null" }] } } });
        assert!(is_affordable(&list));
    }
}
