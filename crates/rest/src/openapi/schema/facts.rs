//! The keywords of a schema and its `allOf` members, joined in one record.
//!
//! Members are joined rather than merged as text: each bound becomes the tighter one, and a
//! property that several members describe keeps the places of all of them.

use std::sync::Arc;

use isobath_genes::{Distinct, Example};
use serde_json::{Map, Number, Value as Json};

use crate::openapi::api::{MediaKind, Xml};
use crate::openapi::body::media_kind;
use crate::openapi::document::{DocumentPlace, Documents};
use crate::openapi::limitation::LimitationKind;

pub(super) const NULL: u8 = 1;
pub(super) const BOOLEAN: u8 = 2;
pub(super) const INTEGER: u8 = 4;
pub(super) const NUMBER: u8 = 8;
pub(super) const STRING: u8 = 16;
pub(super) const ARRAY: u8 = 32;
pub(super) const OBJECT: u8 = 64;

/// Parts of a schema that are left out because they were dealt with elsewhere.
pub(super) const SKIP_REF: u8 = 1;
pub(super) const SKIP_ONE_OF: u8 = 2;
pub(super) const SKIP_ANY_OF: u8 = 4;
pub(super) const SKIP_DISCRIMINATOR: u8 = 8;

/// A schema, perhaps without some of its keywords.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SchemaPart {
    pub(super) place: DocumentPlace,
    pub(super) skip: u8,
}

impl SchemaPart {
    pub(super) fn whole(place: DocumentPlace) -> Self {
        Self { place, skip: 0 }
    }
}

/// A bound of a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumericBound {
    pub(super) number: Number,
    pub(super) exclusive: bool,
}

/// Rule for undeclared properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Additional {
    #[default]
    Unsaid,
    Allowed,
    Refused,
    Schemas(Vec<DocumentPlace>),
}

/// A list of alternatives.
#[derive(Clone, Debug)]
pub(super) struct Alternatives {
    /// The schema that has them.
    pub(super) owner: SchemaPart,
    /// The bit that leaves them out of their owner.
    pub(super) skip: u8,
    pub(super) options: Vec<DocumentPlace>,
}

/// The property that tells alternatives apart.
#[derive(Clone, Debug)]
pub(super) struct Discriminator {
    pub(super) owner: SchemaPart,
    pub(super) property: Arc<str>,
    /// From value to reference or schema name.
    pub(super) mapping: Vec<(Arc<str>, String)>,
}

/// The joined keywords of a schema.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The allowed types; `None` if nothing is said.
    pub(super) types: Option<u8>,
    pub(super) nullable: bool,
    pub(super) members: Option<Vec<Json>>,
    pub(super) min: Option<NumericBound>,
    pub(super) max: Option<NumericBound>,
    pub(super) multiple_of: Option<Number>,
    pub(super) min_length: Option<u32>,
    pub(super) max_length: Option<u32>,
    pub(super) patterns: Vec<String>,
    pub(super) format: Option<String>,
    pub(super) items: Vec<DocumentPlace>,
    pub(super) min_items: Option<u32>,
    pub(super) max_items: Option<u32>,
    pub(super) unique_items: bool,
    pub(super) properties: Vec<(Arc<str>, Vec<DocumentPlace>)>,
    pub(super) required: Vec<Arc<str>>,
    pub(super) additional: Additional,
    pub(super) pattern_properties: Vec<(String, DocumentPlace)>,
    pub(super) property_names: Option<DocumentPlace>,
    pub(super) min_properties: Option<u32>,
    pub(super) max_properties: Option<u32>,
    pub(super) alternatives: Vec<Alternatives>,
    pub(super) discriminator: Option<Discriminator>,
    pub(super) examples: Vec<Example>,
    pub(super) xml: Option<Xml>,
    /// The schema `false`, which nothing fits.
    pub(super) never: bool,
}

/// How deep `allOf` is followed.
const MAX_ALL_OF: usize = 32;

/// Keywords that say nothing about values.
fn is_silent(keyword: &str) -> bool {
    matches!(
        keyword,
        "$ref"
            | "description"
            | "title"
            | "summary"
            | "deprecated"
            | "externalDocs"
            | "xml"
            | "$comment"
    ) || keyword.starts_with("x-")
}

/// Follows `$ref` from a part; what stands beside a reference counts as well, as in 3.1.
pub(super) fn expand(documents: &mut Documents<'_>, part: &SchemaPart, into: &mut Vec<SchemaPart>) {
    let mut at = part.clone();
    for _ in 0..64 {
        let document = documents.document(&at.place);
        let Some(json) = document.pointer(&at.place.pointer) else {
            let detail = format!("nothing found at `{}`", at.place.pointer);
            documents.limit(LimitationKind::UnresolvedReference, &part.place, detail);
            return;
        };
        let reference = json.get("$ref").and_then(Json::as_str);
        let Some(reference) = reference.filter(|_| at.skip & SKIP_REF == 0) else {
            if !into.contains(&at) {
                into.push(at);
            }
            return;
        };
        let speaks = json
            .as_object()
            .is_some_and(|map| map.keys().any(|keyword| !is_silent(keyword)));
        if speaks {
            into.push(SchemaPart {
                place: at.place.clone(),
                skip: at.skip | SKIP_REF,
            });
        }
        match documents.target(&at.place, reference) {
            Some(target) => at = SchemaPart::whole(target),
            None => return,
        }
    }
    documents.limit(
        LimitationKind::ReferenceCycle,
        &part.place,
        "circular references",
    );
}

/// What all the parts say together.
pub(super) fn collect(
    documents: &mut Documents<'_>,
    parts: &[SchemaPart],
    skips: &[SchemaPart],
) -> Facts {
    let mut collector = Collector {
        documents,
        facts: Facts::default(),
        seen: Vec::new(),
        skips,
    };
    for part in parts {
        collector.part(part, 0);
    }
    collector.facts
}

struct Collector<'d, 'l> {
    documents: &'d mut Documents<'l>,
    facts: Facts,
    seen: Vec<SchemaPart>,
    /// What to leave out wherever it is met, because a choice has been made there.
    skips: &'d [SchemaPart],
}

impl Collector<'_, '_> {
    fn part(&mut self, part: &SchemaPart, depth: usize) {
        if self.seen.contains(part) {
            // Members that share a base are common; a schema that contains itself says nothing new.
            return;
        }
        self.seen.push(part.clone());
        let mut part = part.clone();
        for skip in self.skips.iter().filter(|skip| skip.place == part.place) {
            part.skip |= skip.skip;
        }
        let part = &part;
        let document = self.documents.document(&part.place);
        match document.pointer(&part.place.pointer) {
            Some(Json::Object(map)) => self.keywords(part, map, depth),
            Some(Json::Bool(true)) | None => {}
            Some(Json::Bool(false)) => self.facts.never = true,
            Some(_) => self.documents.limit(
                LimitationKind::Malformed,
                &part.place,
                "a schema has to be an object",
            ),
        }
    }

    fn malformed(&mut self, place: &DocumentPlace, keyword: &str) {
        self.documents.limit(
            LimitationKind::Malformed,
            &place.child(keyword),
            format!("`{keyword}` has the wrong type"),
        );
    }

    fn keywords(&mut self, part: &SchemaPart, map: &Map<String, Json>, depth: usize) {
        for (keyword, json) in map {
            if !self.keyword(part, map, keyword, json, depth) {
                self.malformed(&part.place, keyword);
            }
        }
    }

    /// Takes one keyword in; false if its value has the wrong type.
    fn keyword(
        &mut self,
        part: &SchemaPart,
        map: &Map<String, Json>,
        keyword: &str,
        json: &Json,
        depth: usize,
    ) -> bool {
        let place = &part.place;
        let facts = &mut self.facts;
        let size = || json.as_f64().filter(|n| *n >= 0.0).map(|n| n as u32);
        match keyword {
            "type" => return self.types(place, json),
            "nullable" | "x-nullable" => match json.as_bool() {
                Some(nullable) => facts.nullable |= nullable,
                None => return false,
            },
            "enum" => {
                let Some(members) = json.as_array() else {
                    return false;
                };
                self.members(members);
            }
            "const" => self.members(std::slice::from_ref(json)),
            "minimum" | "maximum" => {
                let Json::Number(number) = json else {
                    return false;
                };
                let flag = if keyword == "minimum" {
                    "exclusiveMinimum"
                } else {
                    "exclusiveMaximum"
                };
                let exclusive = map.get(flag) == Some(&Json::Bool(true));
                facts.bound(keyword == "minimum", number, exclusive);
            }
            "exclusiveMinimum" | "exclusiveMaximum" => match json {
                Json::Bool(_) => {}
                Json::Number(number) => facts.bound(keyword == "exclusiveMinimum", number, true),
                _ => return false,
            },
            "multipleOf" => match json {
                Json::Number(number) if number.as_f64().is_some_and(|x| x > 0.0) => {
                    if facts
                        .multiple_of
                        .as_ref()
                        .is_some_and(|other| other != number)
                    {
                        self.unsupported(place, keyword);
                    } else {
                        facts.multiple_of = Some(number.clone());
                    }
                }
                _ => return false,
            },
            "minLength" => return tighten(&mut facts.min_length, size(), u32::max),
            "maxLength" => return tighten(&mut facts.max_length, size(), u32::min),
            "minItems" => return tighten(&mut facts.min_items, size(), u32::max),
            "maxItems" => return tighten(&mut facts.max_items, size(), u32::min),
            "minProperties" => return tighten(&mut facts.min_properties, size(), u32::max),
            "maxProperties" => return tighten(&mut facts.max_properties, size(), u32::min),
            "uniqueItems" => match json.as_bool() {
                Some(unique) => facts.unique_items |= unique,
                None => return false,
            },
            "pattern" => match json.as_str() {
                Some(pattern) if facts.patterns.iter().any(|other| other == pattern) => {}
                Some(pattern) => facts.patterns.push(pattern.to_owned()),
                None => return false,
            },
            "format" => match json.as_str() {
                Some(format) => facts.format = Some(format.to_owned()),
                None => return false,
            },
            // How 3.1 writes the formats `byte` and `binary`.
            "contentEncoding" => match json.as_str() {
                Some("base64" | "base64url") => facts.format = Some("byte".to_owned()),
                Some(_) => self.unsupported(place, keyword),
                None => return false,
            },
            "contentMediaType" => match json.as_str() {
                Some(_) if map.contains_key("contentEncoding") => {}
                Some(media) => {
                    if media_kind(media) == Some(MediaKind::Binary) {
                        facts.format = Some("binary".to_owned());
                    }
                }
                None => return false,
            },
            "items" => match json {
                Json::Object(_) | Json::Bool(_) => facts.items.push(place.child(keyword)),
                Json::Array(_) => self.unsupported(place, keyword),
                _ => return false,
            },
            "properties" => {
                let Some(properties) = json.as_object() else {
                    return false;
                };
                let place = place.child(keyword);
                for name in properties.keys() {
                    facts.property(name, place.child(name));
                }
            }
            "required" => match json {
                Json::Array(names) => {
                    for name in names.iter().filter_map(Json::as_str) {
                        if !facts.required.iter().any(|other| **other == *name) {
                            facts.required.push(name.into());
                        }
                    }
                }
                // A property in the style of version 3 of JSON Schema; parameters have it, too.
                Json::Bool(_) => {}
                _ => return false,
            },
            "additionalProperties" => facts.additional(json, place),
            "unevaluatedProperties" if *json == Json::Bool(false) => {
                // The same as long as everything is joined, which it is here.
                facts.additional(json, place);
            }
            "patternProperties" => {
                let Some(patterns) = json.as_object() else {
                    return false;
                };
                let place = place.child(keyword);
                for pattern in patterns.keys() {
                    facts
                        .pattern_properties
                        .push((pattern.clone(), place.child(pattern)));
                }
            }
            "propertyNames" => facts.property_names = Some(place.child(keyword)),
            "allOf" => {
                let Some(members) = json.as_array() else {
                    return false;
                };
                self.all_of(&place.child(keyword), members.len(), depth);
            }
            "oneOf" if part.skip & SKIP_ONE_OF == 0 => {
                return facts.alternatives(part, SKIP_ONE_OF, keyword, json);
            }
            "anyOf" if part.skip & SKIP_ANY_OF == 0 => {
                return facts.alternatives(part, SKIP_ANY_OF, keyword, json);
            }
            "discriminator" if part.skip & SKIP_DISCRIMINATOR == 0 => {
                let is_read = facts.discriminator(part, json);
                if json.get("defaultMapping").is_some() {
                    self.unsupported(&place.child(keyword), "defaultMapping");
                }
                return is_read;
            }
            "example" => facts.examples.push(Example::new(None, json.clone())),
            "default" => facts.examples.push(Example::new(None, json.clone())),
            "examples" => match json {
                Json::Array(examples) => {
                    let examples = examples.iter().map(|json| Example::new(None, json.clone()));
                    facts.examples.extend(examples);
                }
                Json::Object(_) => {}
                _ => return false,
            },
            "xml" => facts.xml = Some(xml(json)),
            "not" | "if" | "contains" | "prefixItems" | "dependentSchemas"
            | "dependentRequired" | "dependencies" | "unevaluatedItems" | "$dynamicRef"
            | "$recursiveRef" => {
                self.unsupported(place, keyword);
            }
            _ => {}
        }
        true
    }

    fn unsupported(&mut self, place: &DocumentPlace, keyword: &str) {
        self.documents.limit(
            LimitationKind::SchemaKeyword,
            &place.child(keyword),
            format!("`{keyword}` is not followed when values are made"),
        );
    }

    fn types(&mut self, place: &DocumentPlace, json: &Json) -> bool {
        let names: Vec<&str> = match json {
            Json::String(name) => vec![name],
            Json::Array(names) => names.iter().filter_map(Json::as_str).collect(),
            _ => return false,
        };
        let mut types = 0;
        for name in names {
            types |= match name {
                "null" => NULL,
                "boolean" => BOOLEAN,
                "integer" => INTEGER,
                "number" => NUMBER | INTEGER,
                "string" => STRING,
                "array" => ARRAY,
                "object" => OBJECT,
                "file" => {
                    self.facts.format = Some("binary".to_owned());
                    STRING
                }
                other => {
                    let place = place.child("type");
                    let detail = format!("there is no type `{other}`");
                    self.documents
                        .limit(LimitationKind::Malformed, &place, detail);
                    0
                }
            };
        }
        if types != 0 {
            self.facts.types = Some(self.facts.types.map_or(types, |other| other & types));
        }
        true
    }

    fn members(&mut self, members: &[Json]) {
        let others: Option<Distinct<'_>> = self
            .facts
            .members
            .as_ref()
            .map(|others| others.iter().collect());
        let is_allowed = |member: &Json| {
            let others = others.as_ref();
            others.is_none_or(|others| others.contains(member))
        };
        let mut distinct = Distinct::default();
        let kept = members
            .iter()
            .filter(|member| is_allowed(member) && distinct.insert(member));
        self.facts.members = Some(kept.cloned().collect());
    }

    fn all_of(&mut self, place: &DocumentPlace, n_members: usize, depth: usize) {
        if depth >= MAX_ALL_OF {
            self.documents.limit(
                LimitationKind::TooLarge,
                place,
                "`allOf` is nested too deeply",
            );
            return;
        }
        for i in 0..n_members {
            let mut parts = Vec::new();
            expand(
                self.documents,
                &SchemaPart::whole(place.item(i)),
                &mut parts,
            );
            for mut part in parts {
                // A base tells its heirs apart; an heir is one of them already.
                part.skip |= SKIP_DISCRIMINATOR;
                self.part(&part, depth + 1);
            }
        }
    }
}

fn xml(json: &Json) -> Xml {
    let text = |name: &str| json.get(name).and_then(Json::as_str).map(Into::into);
    let flag = |name: &str| json.get(name) == Some(&Json::Bool(true));
    // 3.2 says with one word what the flags said before.
    let node_type = json.get("nodeType").and_then(Json::as_str);
    Xml {
        name: text("name"),
        namespace: text("namespace"),
        prefix: text("prefix"),
        attribute: flag("attribute") || node_type == Some("attribute"),
        wrapped: flag("wrapped") || node_type == Some("element"),
    }
}

fn tighten(limit: &mut Option<u32>, new: Option<u32>, pick: fn(u32, u32) -> u32) -> bool {
    match new {
        Some(new) => {
            *limit = Some(limit.map_or(new, |old| pick(old, new)));
            true
        }
        None => false,
    }
}

impl Facts {
    fn bound(&mut self, is_min: bool, number: &Number, exclusive: bool) {
        let limit = if is_min { &mut self.min } else { &mut self.max };
        let value = |number: &Number| number.as_f64().unwrap_or(0.0);
        let replaces = match limit {
            None => true,
            Some(old) => {
                let (old_x, new_x) = (value(&old.number), value(number));
                let tighter = if is_min { new_x > old_x } else { new_x < old_x };
                tighter || (new_x == old_x && exclusive)
            }
        };
        if replaces {
            *limit = Some(NumericBound {
                number: number.clone(),
                exclusive,
            });
        }
    }

    fn property(&mut self, name: &str, place: DocumentPlace) {
        match self
            .properties
            .iter_mut()
            .find(|(other, _)| **other == *name)
        {
            Some((_, places)) => places.push(place),
            None => self.properties.push((name.into(), vec![place])),
        }
    }

    fn additional(&mut self, json: &Json, place: &DocumentPlace) {
        let said = match json {
            Json::Bool(false) => Additional::Refused,
            Json::Object(map) if !map.is_empty() => {
                Additional::Schemas(vec![place.child("additionalProperties")])
            }
            _ => Additional::Allowed,
        };
        self.additional = match (std::mem::take(&mut self.additional), said) {
            (Additional::Refused, _) | (_, Additional::Refused) => Additional::Refused,
            (Additional::Schemas(mut places), Additional::Schemas(more)) => {
                places.extend(more);
                Additional::Schemas(places)
            }
            (Additional::Schemas(places), _) | (_, Additional::Schemas(places)) => {
                Additional::Schemas(places)
            }
            _ => Additional::Allowed,
        };
    }

    fn alternatives(&mut self, part: &SchemaPart, skip: u8, keyword: &str, json: &Json) -> bool {
        let Some(options) = json.as_array() else {
            return false;
        };
        let place = part.place.child(keyword);
        if !options.is_empty() {
            self.alternatives.push(Alternatives {
                owner: part.clone(),
                skip,
                options: (0..options.len()).map(|i| place.item(i)).collect(),
            });
        }
        true
    }

    fn discriminator(&mut self, part: &SchemaPart, json: &Json) -> bool {
        let property = match json {
            // Version 2.0 gives the name alone.
            Json::String(name) => Some(name.as_str()),
            Json::Object(map) => map.get("propertyName").and_then(Json::as_str),
            _ => None,
        };
        let Some(property) = property else {
            return false;
        };
        let mapping = json
            .get("mapping")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(value, target)| {
                Some((value.as_str().into(), target.as_str()?.to_owned()))
            })
            .collect();
        self.discriminator.get_or_insert(Discriminator {
            owner: part.clone(),
            property: property.into(),
            mapping,
        });
        true
    }
}
