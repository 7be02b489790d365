//! Schemas rewritten as plain JSON Schema 2020-12, to check answers with.
//!
//! Only keywords we know, with values of the right type, are taken over: one wrong keyword in a
//! document must not keep every response from being checked. `nullable`, boolean exclusive bounds and
//! `readOnly`/`writeOnly` of the older versions are expressed in the newer ones.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};

use crate::openapi::document::{DocumentPlace, Documents};

/// A schema of the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaId(u32);

/// The schemas of all responses; those that refer to each other do so inside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    schemas: Vec<BundledSchema>,
    /// The names of those that are components of the document.
    names: Vec<Option<String>>,
    /// For each schema, the first one that says the same; documents repeat themselves. Components stay apart, because
    /// findings name them.
    same: Vec<SchemaId>,
}

/// A schema as text: trees of JSON take ten times as much, and each is needed once.
#[derive(Clone, Debug, PartialEq)]
struct BundledSchema {
    text: Box<str>,
    role: SchemaRole,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SchemaRole {
    /// It describes bytes.
    Bytes,
    /// It is another one.
    Reference(u32),
    /// It describes JSON.
    Json,
}

impl BundledSchema {
    fn new(schema: &Json) -> Self {
        let mut referred = Vec::new();
        if schema.get("$ref").is_some() {
            references(schema, &mut referred);
        }
        let role = match referred.first() {
            Some(other) => SchemaRole::Reference(*other),
            None if schema.get(BYTES).is_some() => SchemaRole::Bytes,
            None => SchemaRole::Json,
        };
        Self {
            text: schema.to_string().into(),
            role,
        }
    }
}

impl Bundle {
    /// How many schemas there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.schemas.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }

    /// The component that a place in a schema made by [`Bundle::stand_alone`] belongs to.
    #[must_use]
    pub fn component(&self, schema_path: &str) -> Option<&str> {
        let mut segments = schema_path.split('/').skip(1);
        let id = segments
            .nth(1)
            .filter(|_| schema_path.starts_with("/$defs/"));
        let id: usize = id?.parse().ok()?;
        self.names.get(id)?.as_deref()
    }

    /// The schema that stands for all that say the same.
    #[must_use]
    pub fn shared(&self, id: SchemaId) -> SchemaId {
        self.same.get(id.0 as usize).copied().unwrap_or(id)
    }

    /// Whether a schema describes bytes, which need not be JSON whatever the content type says.
    #[must_use]
    pub fn is_bytes(&self, id: SchemaId) -> bool {
        let mut id = id.0;
        for _ in 0..MAX_REFERENCES {
            match self.schemas.get(id as usize).map(|schema| schema.role) {
                Some(SchemaRole::Reference(other)) => id = other,
                role => return role == Some(SchemaRole::Bytes),
            }
        }
        false
    }

    /// A JSON Schema that stands alone: the schema and all that it refers to.
    #[must_use]
    pub fn stand_alone(&self, id: SchemaId) -> Json {
        let mut definitions = Map::new();
        let mut queue = vec![id.0];
        while let Some(id) = queue.pop() {
            let name = id.to_string();
            if definitions.contains_key(&name) {
                continue;
            }
            let schema = self.schemas.get(id as usize);
            let Some(Ok(schema)) = schema.map(|schema| serde_json::from_str(&schema.text)) else {
                continue;
            };
            references(&schema, &mut queue);
            definitions.insert(name, schema);
        }
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": format!("#/$defs/{}", id.0),
            "$defs": definitions,
        })
    }
}

fn references(schema: &Json, found: &mut Vec<u32>) {
    match schema {
        Json::Object(map) => {
            for (keyword, json) in map {
                match (keyword.as_str(), json) {
                    ("$ref", Json::String(reference)) => {
                        found.extend(
                            reference
                                .rsplit('/')
                                .next()
                                .and_then(|n| n.parse::<u32>().ok()),
                        );
                    }
                    ("enum" | "const", _) => {}
                    (_, json) => references(json, found),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Marks a schema of bytes; validators ignore it.
const BYTES: &str = "x-bytes";

/// The most references that are followed one after another.
const MAX_REFERENCES: usize = 8;

/// Schemas beyond which answers are not checked.
const MAX_SCHEMAS: usize = 200_000;

/// Rewrites schemas on demand.
#[derive(Default)]
pub(crate) struct BundleBuilder {
    schemas: Vec<BundledSchema>,
    known: FxHashMap<DocumentPlace, SchemaId>,
    queue: Vec<(SchemaId, DocumentPlace)>,
}

impl BundleBuilder {
    /// The schema at a place; `None` when there are too many.
    pub(crate) fn schema(&mut self, place: &DocumentPlace) -> Option<SchemaId> {
        if let Some(&id) = self.known.get(place) {
            return Some(id);
        }
        if self.schemas.len() >= MAX_SCHEMAS {
            return None;
        }
        let id = SchemaId(u32::try_from(self.schemas.len()).ok()?);
        self.schemas.push(BundledSchema::new(&Json::Bool(true)));
        self.known.insert(place.clone(), id);
        self.queue.push((id, place.clone()));
        Some(id)
    }

    /// The finished bundle.
    pub(crate) fn finish(mut self, documents: &mut Documents<'_>) -> Bundle {
        while let Some((id, place)) = self.queue.pop() {
            let document = documents.document(&place);
            if let Some(json) = document.pointer(&place.pointer) {
                let schema = self.rewrite(documents, &place, json);
                if let Some(place) = self.schemas.get_mut(id.0 as usize) {
                    *place = BundledSchema::new(&schema);
                }
            }
        }
        let mut names = vec![None; self.schemas.len()];
        for (place, id) in &self.known {
            let containers = ["/components/schemas/", "/definitions/"];
            let mut names_in = containers
                .iter()
                .filter_map(|container| place.pointer.strip_prefix(container));
            let name = names_in.next().filter(|name| !name.contains('/'));
            if let Some(place) = names.get_mut(id.0 as usize) {
                *place = name.map(str::to_owned);
            }
        }
        let mut known: FxHashMap<&str, SchemaId> = FxHashMap::default();
        let numbered = (0..).map(SchemaId).zip(self.schemas.iter().zip(&names));
        let same = numbered.map(|(id, (schema, name))| match name {
            Some(_) => id,
            None => *known.entry(&*schema.text).or_insert(id),
        });
        let same: Vec<SchemaId> = same.collect();
        Bundle {
            same,
            schemas: self.schemas,
            names,
        }
    }

    fn rewrite(
        &mut self,
        documents: &mut Documents<'_>,
        place: &DocumentPlace,
        json: &Json,
    ) -> Json {
        let map = match json {
            Json::Object(map) => map,
            Json::Bool(verdict) => return Json::Bool(*verdict),
            _ => return Json::Bool(true),
        };
        let mut out = Map::new();
        if let Some(reference) = map.get("$ref").and_then(Json::as_str) {
            let target = documents.target(place, reference);
            if let Some(id) = target.and_then(|target| self.schema(&target)) {
                out.insert("$ref".into(), json!(format!("#/$defs/{}", id.0)));
            }
        } else {
            for (keyword, json) in map {
                self.keyword(documents, place, keyword, json, &mut out);
            }
            self.amend(map, &mut out);
        }
        let nullable =
            [map.get("nullable"), map.get("x-nullable")].contains(&Some(&Json::Bool(true)));
        if nullable && !out.is_empty() && !admit_null(&mut out) {
            return json!({"anyOf": [{"type": "null"}, Json::Object(out)]});
        }
        Json::Object(out)
    }

    fn keyword(
        &mut self,
        documents: &mut Documents<'_>,
        place: &DocumentPlace,
        keyword: &str,
        json: &Json,
        out: &mut Map<String, Json>,
    ) {
        let value = match (keyword, json) {
            ("type", Json::String(name)) => is_type(name).then(|| json.clone()),
            ("type", Json::Array(names)) => {
                let known = names.iter().all(|name| name.as_str().is_some_and(is_type));
                (known && !names.is_empty()).then(|| json.clone())
            }
            ("enum", Json::Array(members)) => (!members.is_empty()).then(|| json.clone()),
            ("const", _) => Some(json.clone()),
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Json::Number(_)) => {
                Some(json.clone())
            }
            ("multipleOf", Json::Number(n)) => {
                n.as_f64().is_some_and(|x| x > 0.0).then(|| json.clone())
            }
            (
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                | "maxProperties" | "minContains" | "maxContains",
                Json::Number(n),
            ) => n.as_f64().filter(|x| *x >= 0.0).map(|x| json!(x as u64)),
            ("uniqueItems", Json::Bool(_)) | ("pattern" | "format", Json::String(_)) => {
                Some(json.clone())
            }
            ("required", Json::Array(names)) => Some(
                names
                    .iter()
                    .filter(|name| name.is_string())
                    .cloned()
                    .collect(),
            ),
            (
                "items"
                | "additionalProperties"
                | "not"
                | "contains"
                | "propertyNames"
                | "if"
                | "then"
                | "else"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                Json::Object(_) | Json::Bool(_),
            ) => Some(self.rewrite(documents, &place.child(keyword), json)),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Json::Array(members)) => {
                let place = place.child(keyword);
                let members: Vec<Json> = members
                    .iter()
                    .enumerate()
                    .map(|(i, member)| self.rewrite(documents, &place.item(i), member))
                    .collect();
                (!members.is_empty()).then_some(Json::Array(members))
            }
            ("properties" | "patternProperties" | "dependentSchemas", Json::Object(map)) => {
                let place = place.child(keyword);
                let map = map
                    .iter()
                    .map(|(name, json)| {
                        (
                            name.clone(),
                            self.rewrite(documents, &place.child(name), json),
                        )
                    })
                    .collect();
                Some(Json::Object(map))
            }
            _ => None,
        };
        if let Some(value) = value {
            out.insert(keyword.to_owned(), value);
        }
    }

    /// What the older versions express in their own way.
    fn amend(&mut self, map: &Map<String, Json>, out: &mut Map<String, Json>) {
        for (flag, bound) in [
            ("exclusiveMinimum", "minimum"),
            ("exclusiveMaximum", "maximum"),
        ] {
            if map.get(flag) == Some(&Json::Bool(true))
                && let Some(number) = out.remove(bound)
            {
                out.insert(flag.into(), number);
            }
        }
        // What is only ever written is not to be expected in a response.
        let write_only = |name: &Json| {
            let property = name
                .as_str()
                .and_then(|name| map.get("properties")?.get(name));
            property.and_then(|property| property.get("writeOnly")) == Some(&Json::Bool(true))
        };
        if let Some(Json::Array(required)) = out.get_mut("required") {
            required.retain(|name| !write_only(name));
        }
        // The discriminating mapping is an aid, and so are bytes that stand as text.
        if out.get("format") == Some(&json!("binary")) {
            out.remove("format");
            out.insert(BYTES.to_owned(), Json::Bool(true));
        }
    }
}

/// Adds null to the type and the enumeration, where that is all there is to it: errors then name the
/// keyword that was broken rather than an alternative.
fn admit_null(out: &mut Map<String, Json>) -> bool {
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "not", "const", "if"];
    if composed.iter().any(|keyword| out.contains_key(*keyword)) {
        return false;
    }
    match out.get_mut("type") {
        Some(Json::String(name)) => {
            let name = std::mem::take(name);
            out.insert("type".into(), json!([name, "null"]));
        }
        Some(Json::Array(names)) => {
            if !names.contains(&json!("null")) {
                names.push(json!("null"));
            }
        }
        _ => return false,
    }
    if let Some(Json::Array(members)) = out.get_mut("enum")
        && !members.contains(&Json::Null)
    {
        members.push(Json::Null);
    }
    true
}

fn is_type(name: &str) -> bool {
    matches!(
        name,
        "null" | "boolean" | "integer" | "number" | "string" | "array" | "object"
    )
}
