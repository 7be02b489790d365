//! Converts schema facts to value domains.

use std::sync::Arc;

use isobath_genes::{
    AdditionalProperties, ArrayDomain, BinaryDomain, DateTimeKind, Domain, Field, FloatDomain,
    IntegerDomain, ModelBuilder, Node, NodeId, ObjectDomain, PatternDomain, PatternError,
    TextDomain, number,
};
use serde_json::{Number, Value as Json};

use super::facts::{
    ARRAY, Additional, BOOLEAN, Facts, INTEGER, NULL, NUMBER, NumericBound, OBJECT, STRING,
    SchemaPart, collect, expand,
};
use super::nodes::{Direction, NodeBuilder, NodeKey};
use crate::openapi::document::{DocumentPlace, Documents};
use crate::openapi::limitation::LimitationKind;

/// The longest text that is made because a schema asks for it.
const MAX_LENGTH: u32 = 100_000;

/// A value of any kind: mostly text, because that is what unfinished schemas tend to mean.
pub(super) fn anything(builder: &mut ModelBuilder) -> NodeId {
    let text = builder.add(Domain::Text(TextDomain::any()));
    let integer = builder.add(Domain::Integer(
        IntegerDomain::new(None, None).expect("no bounds leave every number"),
    ));
    let boolean = builder.add(Domain::Boolean);
    let object = builder.reserve();
    let array = builder.reserve();
    let id = builder.add(Node::untyped(Domain::Choice(
        [text, integer, boolean, object, array].into(),
    )));
    let extra = Some(AdditionalProperties {
        key: text,
        value: id,
    });
    builder.define(
        object,
        Domain::Object(ObjectDomain {
            fields: Box::default(),
            extra,
            closed: false,
            min: 0,
            max: None,
        }),
    );
    builder.define(
        array,
        Domain::Array(ArrayDomain {
            item: id,
            min: 0,
            max: None,
            unique: false,
        }),
    );
    id
}

/// The domain of a schema without alternatives.
pub(super) fn domain(
    nodes: &mut NodeBuilder,
    documents: &mut Documents<'_>,
    key: &NodeKey,
    facts: &Facts,
    place: &DocumentPlace,
) -> Domain {
    let mut maker = DomainBuilder {
        nodes,
        documents,
        key,
        facts,
        place,
    };
    if let Some(members) = &facts.members {
        let fitting: Box<[Arc<Json>]> = members
            .iter()
            .filter(|member| maker.allows(member))
            .map(|member| Arc::new(member.clone()))
            .collect();
        if !fitting.is_empty() {
            return Domain::Enum(fitting);
        }
        maker.contradiction("no enumerated value has the type of the schema");
        if !members.is_empty() {
            return Domain::Enum(members.iter().cloned().map(Arc::new).collect());
        }
    }
    let types = maker.types();
    let kinds: Vec<u8> = [BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT]
        .into_iter()
        .filter(|kind| types & kind != 0)
        // `number` covers whole numbers.
        .filter(|kind| *kind != INTEGER || types & NUMBER == 0)
        .collect();
    match &*kinds {
        [] => Domain::Null,
        [kind] => maker.of_type(*kind),
        kinds => {
            let options: Vec<NodeId> = kinds
                .iter()
                .map(|kind| {
                    let domain = maker.of_type(*kind);
                    maker.nodes.add(domain)
                })
                .collect();
            Domain::Choice(options.into())
        }
    }
}

struct DomainBuilder<'a, 'l> {
    nodes: &'a mut NodeBuilder,
    documents: &'a mut Documents<'l>,
    key: &'a NodeKey,
    facts: &'a Facts,
    place: &'a DocumentPlace,
}

impl DomainBuilder<'_, '_> {
    fn contradiction(&mut self, detail: &str) {
        self.documents
            .limit(LimitationKind::Contradiction, self.place, detail);
    }

    fn allows(&self, member: &Json) -> bool {
        let Some(types) = self.facts.types else {
            return true;
        };
        let kind = match member {
            Json::Null => return types & NULL != 0 || self.facts.nullable,
            Json::Bool(_) => BOOLEAN,
            Json::Number(number) if number.is_f64() => NUMBER,
            Json::Number(_) => NUMBER | INTEGER,
            Json::String(_) => STRING,
            Json::Array(_) => ARRAY,
            Json::Object(_) => OBJECT,
        };
        types & kind != 0
    }

    /// The types that are said, or those that the other keywords are about.
    fn types(&mut self) -> u8 {
        let facts = self.facts;
        match facts.types {
            Some(0) => {
                self.contradiction("the types exclude each other");
                STRING
            }
            Some(types) => types,
            None if !facts.properties.is_empty()
                || !facts.required.is_empty()
                || !facts.pattern_properties.is_empty()
                || facts.additional != Additional::Unsaid
                || facts.max_properties.is_some()
                || facts.min_properties.is_some()
                || self.key.tag.is_some() =>
            {
                OBJECT
            }
            None if !facts.items.is_empty()
                || facts.min_items.is_some()
                || facts.max_items.is_some() =>
            {
                ARRAY
            }
            None if !facts.patterns.is_empty()
                || facts.min_length.is_some()
                || facts.max_length.is_some() =>
            {
                STRING
            }
            None if facts.min.is_some() || facts.max.is_some() || facts.multiple_of.is_some() => {
                NUMBER
            }
            None => match facts.format.as_deref() {
                Some("int32" | "int64") => INTEGER,
                Some("float" | "double" | "decimal") => NUMBER,
                Some(_) => STRING,
                None => BOOLEAN | INTEGER | STRING | OBJECT,
            },
        }
    }

    fn of_type(&mut self, kind: u8) -> Domain {
        match kind {
            BOOLEAN => Domain::Boolean,
            INTEGER => self.integer(),
            NUMBER => self.number(),
            STRING => self.text(),
            ARRAY => self.array(),
            _ => self.object(),
        }
    }

    fn integer(&mut self) -> Domain {
        let (low, high) = match self.facts.format.as_deref() {
            Some("int8") => (Some(-128), Some(127)),
            Some("int16") => (Some(-32_768), Some(32_767)),
            Some("int32") => (Some(i128::from(i32::MIN)), Some(i128::from(i32::MAX))),
            Some("int64") => (Some(i128::from(i64::MIN)), Some(i128::from(i64::MAX))),
            Some("uint8") => (Some(0), Some(255)),
            Some("uint16") => (Some(0), Some(65_535)),
            Some("uint32") => (Some(0), Some(i128::from(u32::MAX))),
            Some("uint64") => (Some(0), Some(i128::from(u64::MAX))),
            _ => (None, None),
        };
        let min = whole(self.facts.min.as_ref(), true).or(low);
        let max = whole(self.facts.max.as_ref(), false).or(high);
        let step = match &self.facts.multiple_of {
            None => 1,
            Some(number) => match number::digits(number, 0) {
                Some(step) => step,
                None => {
                    self.contradiction("whole numbers are multiples of a fraction");
                    1
                }
            },
        };
        IntegerDomain::with_step(min, max, step)
            .or_else(|_| {
                self.contradiction("no whole number is within the bounds");
                IntegerDomain::new(low, high)
            })
            .map_or(Domain::Null, Domain::Integer)
    }

    fn number(&mut self) -> Domain {
        if let Some(multiple) = &self.facts.multiple_of
            && let Some(domain) =
                decimal(multiple, self.facts.min.as_ref(), self.facts.max.as_ref())
        {
            return Domain::Integer(domain);
        }
        let bound = |limit: &Option<NumericBound>, inward: fn(f64) -> f64| {
            limit.as_ref().and_then(|limit| {
                let x = limit.number.as_f64()?;
                Some(if limit.exclusive { inward(x) } else { x })
            })
        };
        let min = bound(&self.facts.min, f64::next_up);
        let max = bound(&self.facts.max, f64::next_down);
        FloatDomain::new(min, max)
            .or_else(|_| {
                self.contradiction("no number is within the bounds");
                FloatDomain::new(None, None)
            })
            .map_or(Domain::Null, Domain::Float)
    }

    /// A least size, cut to what is worth making: a request of gigabytes tests nothing.
    fn least(&mut self, keyword: &str, asked: Option<u32>, most: u32) -> u32 {
        let asked = asked.unwrap_or(0);
        if asked > most {
            let detail = format!("`{keyword}` asks for {asked}, {most} are made");
            self.documents
                .limit(LimitationKind::TooLarge, self.place, detail);
        }
        asked.min(most)
    }

    fn text(&mut self) -> Domain {
        let min = self.least("minLength", self.facts.min_length, MAX_LENGTH);
        let mut max = self.facts.max_length;
        if max.is_some_and(|max| max < min) {
            self.contradiction("`maxLength` is below `minLength`");
            max = None;
        }
        if let Some(domain) = self.patterned(min, max) {
            return domain;
        }
        if let Some(domain) = self.formatted(min, max) {
            return domain;
        }
        TextDomain::new(min, max).map_or(Domain::Null, Domain::Text)
    }

    fn patterned(&mut self, min: u32, max: Option<u32>) -> Option<Domain> {
        let source = self.facts.patterns.first()?;
        let place = self.place.child("pattern");
        if self.facts.patterns.len() > 1 {
            self.documents.limit(
                LimitationKind::Pattern,
                &place,
                "of several patterns only the first is followed",
            );
        }
        let pattern = match self.nodes.pattern(source) {
            Ok(pattern) => pattern,
            Err(error) => {
                let detail = format!("`{source}`: {error}");
                self.documents
                    .limit(LimitationKind::Pattern, &place, detail);
                return None;
            }
        };
        match PatternDomain::new(pattern.clone(), min, max) {
            Ok(domain) => Some(Domain::Pattern(domain)),
            Err(PatternError::NoText) => {
                self.contradiction("no text of the pattern has an allowed length");
                PatternDomain::new(pattern, 0, None)
                    .ok()
                    .map(Domain::Pattern)
            }
            Err(_) => None,
        }
    }

    fn formatted(&mut self, min: u32, max: Option<u32>) -> Option<Domain> {
        let format = self.facts.format.as_deref()?;
        match format {
            "date" | "full-date" => Some(Domain::DateTime(DateTimeKind::Date)),
            "date-time" | "datetime" | "dateTime" => Some(Domain::DateTime(DateTimeKind::DateTime)),
            "time" | "full-time" => Some(Domain::DateTime(DateTimeKind::Time)),
            "partial-time" | "local-time" => Some(Domain::DateTime(DateTimeKind::LocalTime)),
            "local-date-time" => Some(Domain::DateTime(DateTimeKind::LocalDateTime)),
            // Each three bytes, or what is left of them, are four characters.
            "byte" | "base64" | "base64url" => {
                let least = match min {
                    0 => 0,
                    min => (min.div_ceil(4) - 1) * 3 + 1,
                };
                let most = max.map(|max| max / 4 * 3);
                let domain =
                    BinaryDomain::new(least, most).map(|binary| Domain::Binary(binary.as_text()));
                if domain.is_none() {
                    self.contradiction("no Base64 has an allowed length");
                }
                domain
            }
            "binary" => BinaryDomain::new(min, max).map(Domain::Binary),
            "password" | "string" | "text" | "html" | "markdown" | "" => None,
            format => match PatternDomain::format(format, min, max) {
                Some(domain) => Some(Domain::Pattern(domain)),
                None => {
                    let detail = format!("format `{format}` is treated as free text");
                    let place = self.place.child("format");
                    self.documents.limit(LimitationKind::Format, &place, detail);
                    None
                }
            },
        }
    }

    fn array(&mut self) -> Domain {
        let item = if self.facts.items.is_empty() {
            self.nodes.anything()
        } else {
            let items = &self.facts.items;
            self.nodes.all(self.documents, items, self.key.direction)
        };
        // Items that must differ are compared with each other, so there had better be few.
        let most = if self.facts.unique_items { 100 } else { 1000 };
        let min = self.least("minItems", self.facts.min_items, most);
        let mut max = self.facts.max_items;
        if max.is_some_and(|max| max < min) {
            self.contradiction("`maxItems` is below `minItems`");
            max = None;
        }
        Domain::Array(ArrayDomain {
            item,
            min,
            max,
            unique: self.facts.unique_items,
        })
    }

    fn object(&mut self) -> Domain {
        let direction = self.key.direction;
        let mut fields = Vec::with_capacity(self.facts.properties.len());
        for (name, places) in &self.facts.properties {
            if self.is_hidden(places) {
                continue;
            }
            let node = match &self.key.tag {
                Some((property, value)) if property == name => self.constant(value),
                _ => self.nodes.all(self.documents, places, direction),
            };
            let is_tag = matches!(&self.key.tag, Some((property, _)) if property == name);
            fields.push(Field {
                name: name.clone(),
                node,
                required: is_tag || self.facts.required.contains(name),
            });
        }
        let extra = self.extra(fields.is_empty());
        for name in &self.facts.required {
            let declared = |(other, _): &(Arc<str>, Vec<DocumentPlace>)| other == name;
            if !self.facts.properties.iter().any(declared) {
                let node = match extra {
                    Some(extra) => extra.value,
                    None => self.nodes.anything(),
                };
                fields.push(Field {
                    name: name.clone(),
                    node,
                    required: true,
                });
            }
        }
        if let Some((property, value)) = &self.key.tag
            && !fields.iter().any(|field| field.name == *property)
        {
            let node = self.constant(value);
            fields.push(Field {
                name: property.clone(),
                node,
                required: true,
            });
        }
        self.counted(fields, extra)
    }

    fn counted(&mut self, fields: Vec<Field>, extra: Option<AdditionalProperties>) -> Domain {
        let n_required = fields.iter().filter(|field| field.required).count();
        let mut max = self.facts.max_properties;
        let mut min = self.least("minProperties", self.facts.min_properties, 1000);
        if max.is_some_and(|max| max < min || (max as usize) < n_required) {
            self.contradiction("`maxProperties` leaves too little room");
            max = None;
        }
        if extra.is_none() && min as usize > fields.len() {
            self.contradiction("`minProperties` asks for more than there are");
            min = 0;
        }
        Domain::Object(ObjectDomain {
            fields: fields.into(),
            extra,
            closed: self.facts.additional == Additional::Refused,
            min,
            max,
        })
    }

    fn constant(&mut self, value: &str) -> NodeId {
        let member = Arc::new(Json::String(value.to_owned()));
        self.nodes.add(Node::new(Domain::Enum([member].into())))
    }

    /// Whether a property travels the other way only.
    fn is_hidden(&mut self, places: &[DocumentPlace]) -> bool {
        let mut parts = Vec::new();
        for place in places {
            expand(
                self.documents,
                &SchemaPart::whole(place.clone()),
                &mut parts,
            );
        }
        let flag = match self.key.direction {
            Direction::Request => "readOnly",
            Direction::Response => "writeOnly",
        };
        parts.iter().any(|part| {
            self.documents
                .get(&part.place)
                .and_then(|json| json.get(flag))
                == Some(&Json::Bool(true))
        })
    }

    fn extra(&mut self, is_map: bool) -> Option<AdditionalProperties> {
        let facts = self.facts;
        let any_key = |this: &mut Self| {
            let names = facts.property_names.as_ref();
            names
                .and_then(|place| this.key_node(place))
                .unwrap_or_else(|| this.nodes.add(Domain::Text(TextDomain::any())))
        };
        match (&facts.additional, facts.pattern_properties.first()) {
            (Additional::Schemas(places), _) => {
                let value = self.nodes.all(self.documents, places, self.key.direction);
                let key = any_key(self);
                Some(AdditionalProperties { key, value })
            }
            (_, Some((pattern, place))) => {
                let key = match self.nodes.pattern(pattern) {
                    Ok(pattern) => PatternDomain::new(pattern, 0, None)
                        .ok()
                        .map(Domain::Pattern),
                    Err(error) => {
                        let detail = format!("`{pattern}`: {error}");
                        self.documents.limit(LimitationKind::Pattern, place, detail);
                        None
                    }
                };
                let key = self.nodes.add(key?);
                let places = std::slice::from_ref(place);
                let value = self.nodes.all(self.documents, places, self.key.direction);
                Some(AdditionalProperties { key, value })
            }
            (Additional::Refused, None) => None,
            // An object about which nothing is said is a map.
            (Additional::Unsaid | Additional::Allowed, None)
                if is_map && facts.properties.is_empty() =>
            {
                let key = any_key(self);
                let value = self.nodes.anything();
                Some(AdditionalProperties { key, value })
            }
            (Additional::Unsaid | Additional::Allowed, None) => None,
        }
    }

    /// The node of property names, which are text whether they say so or not.
    fn key_node(&mut self, place: &DocumentPlace) -> Option<NodeId> {
        let mut parts = Vec::new();
        expand(
            self.documents,
            &SchemaPart::whole(place.clone()),
            &mut parts,
        );
        let mut facts = collect(self.documents, &parts, &[]);
        facts.types = Some(STRING);
        let key = NodeKey {
            parts,
            skips: Vec::new(),
            tag: None,
            direction: self.key.direction,
        };
        let domain = domain(self.nodes, self.documents, &key, &facts, place);
        Some(self.nodes.add(domain))
    }
}

/// A bound as a whole number, moved inward.
fn whole(limit: Option<&NumericBound>, is_min: bool) -> Option<i128> {
    let limit = limit?;
    match number::digits(&limit.number, 0) {
        Some(n) if limit.exclusive => Some(if is_min { n + 1 } else { n - 1 }),
        Some(n) => Some(n),
        None => {
            let x = limit.number.as_f64()?;
            // Beyond what a whole number can be it is no bound; the cast saturates.
            Some((if is_min { x.ceil() } else { x.floor() }) as i128)
        }
    }
}

/// Decimals that are multiples of a step such as 0.01; `None` if the digits do not fit.
fn decimal(
    multiple: &Number,
    min: Option<&NumericBound>,
    max: Option<&NumericBound>,
) -> Option<IntegerDomain> {
    (0..=6).find_map(|scale| {
        let step = number::digits(multiple, scale)?;
        let unit = 10f64.powi(i32::from(scale));
        let bound = |limit: &NumericBound, is_min: bool| {
            let exact = number::digits(&limit.number, scale);
            let rounded = || {
                let x = limit.number.as_f64().unwrap_or(0.0) * unit;
                (if is_min { x.ceil() } else { x.floor() }) as i128
            };
            let n = exact.unwrap_or_else(rounded);
            match (limit.exclusive && exact.is_some(), is_min) {
                (true, true) => n + 1,
                (true, false) => n - 1,
                (false, _) => n,
            }
        };
        let min = min.map(|limit| bound(limit, true));
        let max = max.map(|limit| bound(limit, false));
        IntegerDomain::decimal(min, max, step, scale).ok()
    })
}
