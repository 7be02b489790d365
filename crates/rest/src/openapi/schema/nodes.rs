//! Converts schemas to gene nodes.
//!
//! A node is identified by the set of places that describe it together, so a schema that is used a
//! hundred times is one node, and a schema may contain itself. Nodes wait in a queue rather than on
//! the stack: documents can chain ten thousand references.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use isobath_genes::{
    ArrayDomain, Domain, Example, Model, ModelBuilder, Node, NodeId, Pattern, PatternError,
    TextDomain, model::MAX_LEVELS,
};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::facts::{
    Alternatives, Discriminator, Facts, SKIP_DISCRIMINATOR, SchemaPart, collect, expand,
};
use crate::openapi::api::Xml;
use crate::openapi::document::{DocumentPlace, Documents};
use crate::openapi::limitation::LimitationKind;

/// Which way a value travels: what is read-only is not sent, what is write-only not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Request,
    Response,
}

/// A discriminating property and its value.
type Tag = (Arc<str>, Arc<str>);

/// What describes a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeKey {
    pub(super) parts: Vec<SchemaPart>,
    /// What is left out of them because a choice has been made.
    pub(super) skips: Vec<SchemaPart>,
    /// The discriminating property and its value.
    pub(super) tag: Option<Tag>,
    pub(super) direction: Direction,
}

impl NodeKey {
    /// Where its first part is.
    #[expect(
        clippy::indexing_slicing,
        reason = "a key without parts gets no node: `node` answers it with anything"
    )]
    fn place(&self) -> &DocumentPlace {
        &self.parts[0].place
    }
}

/// Nodes beyond which no more are made; what is left is free text.
const MAX_NODES: usize = 400_000;
/// Lists of alternatives that are multiplied with each other.
const MAX_LISTS: usize = 4;
/// Alternatives beyond which the rest is left out.
const MAX_OPTIONS: usize = 128;

/// Makes the model of a whole API.
pub(crate) struct NodeBuilder {
    pub(super) builder: ModelBuilder,
    known: FxHashMap<NodeKey, NodeId>,
    queue: VecDeque<(NodeId, NodeKey)>,
    patterns: FxHashMap<String, Result<Arc<Pattern>, PatternError>>,
    anything: Option<NodeId>,
    subtypes: FxHashMap<DocumentPlace, Vec<(Arc<str>, DocumentPlace)>>,
    is_full: bool,
    xml: BTreeMap<NodeId, Xml>,
    /// The place of each node that has examples, for messages.
    examples: Vec<(NodeId, DocumentPlace)>,
    /// The place of each object, for messages.
    objects: Vec<(NodeId, DocumentPlace)>,
}

impl NodeBuilder {
    pub(crate) fn new() -> Self {
        Self {
            builder: ModelBuilder::new(),
            known: FxHashMap::default(),
            queue: VecDeque::new(),
            patterns: FxHashMap::default(),
            anything: None,
            subtypes: FxHashMap::default(),
            is_full: false,
            xml: BTreeMap::new(),
            examples: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Records which named schemas inherit from which, for base schemas with a discriminator.
    pub(crate) fn find_subtypes(&mut self, documents: &mut Documents<'_>, schemas: &DocumentPlace) {
        let document = documents.document(schemas);
        let Some(map) = document.pointer(&schemas.pointer).and_then(Json::as_object) else {
            return;
        };
        for (name, schema) in map {
            let members = schema.get("allOf").and_then(Json::as_array);
            for reference in members
                .into_iter()
                .flatten()
                .filter_map(|member| member.get("$ref")?.as_str())
            {
                // Only bases of the same list; others are met through their own `oneOf`.
                let Some(pointer) = reference.strip_prefix('#') else {
                    continue;
                };
                let base = DocumentPlace {
                    document: schemas.document,
                    pointer: pointer.into(),
                };
                let subtype = (name.as_str().into(), schemas.child(name));
                self.subtypes.entry(base).or_default().push(subtype);
            }
        }
    }

    /// The node of the schema at a place.
    pub(crate) fn schema(
        &mut self,
        documents: &mut Documents<'_>,
        place: &DocumentPlace,
        direction: Direction,
    ) -> NodeId {
        self.all(documents, std::slice::from_ref(place), direction)
    }

    /// The node of a value that fits all the schemas.
    pub(super) fn all(
        &mut self,
        documents: &mut Documents<'_>,
        places: &[DocumentPlace],
        direction: Direction,
    ) -> NodeId {
        let parts: Vec<SchemaPart> = places.iter().cloned().map(SchemaPart::whole).collect();
        let key = NodeKey {
            parts,
            skips: Vec::new(),
            tag: None,
            direction,
        };
        self.node(documents, key)
    }

    fn node(&mut self, documents: &mut Documents<'_>, mut key: NodeKey) -> NodeId {
        let mut expanded = Vec::with_capacity(key.parts.len());
        for part in &key.parts {
            expand(documents, part, &mut expanded);
        }
        if expanded.is_empty() {
            return self.anything();
        }
        key.parts = expanded;
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        if self.builder.len() >= MAX_NODES {
            if !self.is_full {
                self.is_full = true;
                documents.limit(
                    LimitationKind::TooLarge,
                    key.place(),
                    format!("more than {MAX_NODES} different values"),
                );
            }
            return self.anything();
        }
        let id = self.builder.reserve();
        self.known.insert(key.clone(), id);
        self.queue.push_back((id, key));
        id
    }

    /// A value of any kind, for schemas that say nothing.
    pub(super) fn anything(&mut self) -> NodeId {
        if let Some(id) = self.anything {
            return id;
        }
        let id = super::domain::anything(&mut self.builder);
        self.anything = Some(id);
        id
    }

    /// A pattern, read once per text.
    pub(super) fn pattern(&mut self, source: &str) -> Result<Arc<Pattern>, PatternError> {
        if let Some(known) = self.patterns.get(source) {
            return known.clone();
        }
        let pattern = Pattern::new(source).map(Arc::new);
        self.patterns.insert(source.to_owned(), pattern.clone());
        pattern
    }

    /// A value of any kind.
    pub(crate) fn anything_at_all(&mut self) -> NodeId {
        self.anything()
    }

    /// The node, or one like it that is never empty: an empty path segment is another path.
    pub(crate) fn not_empty(&mut self, documents: &mut Documents<'_>, id: NodeId) -> NodeId {
        self.work(documents);
        let Some(node) = self.builder.get(id) else {
            return id;
        };
        let mut node = node.clone();
        let domain = match &node.domain {
            Domain::Text(text) if text.min() == 0 => {
                TextDomain::new(1, text.max()).map(Domain::Text)
            }
            Domain::Pattern(pattern) => pattern.not_empty().map(Domain::Pattern),
            Domain::Array(array) if array.min == 0 && array.max != Some(0) => {
                Some(Domain::Array(ArrayDomain { min: 1, ..*array }))
            }
            _ => None,
        };
        let Some(domain) = domain else { return id };
        node.domain = domain;
        self.builder.add(node)
    }

    /// How values are named in XML; everything has to be defined before.
    pub(crate) fn take_xml(&mut self) -> BTreeMap<NodeId, Xml> {
        std::mem::take(&mut self.xml)
    }

    /// Adds a node that is not a schema of its own, such as all inputs of an operation.
    pub(crate) fn add(&mut self, node: impl Into<Node>) -> NodeId {
        self.builder.add(node)
    }

    /// A node like `id`, with the examples of the parameter or body that uses it.
    pub(crate) fn with_examples(
        &mut self,
        documents: &mut Documents<'_>,
        id: NodeId,
        examples: Vec<Example>,
        place: &DocumentPlace,
    ) -> NodeId {
        if examples.is_empty() {
            return id;
        }
        // Shared nodes keep their own examples, so the new ones go into a choice of one.
        self.work(documents);
        let mut node = Node::new(Domain::Choice([id].into()));
        node.examples = examples;
        let id = self.builder.add(node);
        self.examples.push((id, place.clone()));
        id
    }

    /// Defines every node that waits.
    pub(crate) fn work(&mut self, documents: &mut Documents<'_>) {
        while let Some((id, key)) = self.queue.pop_front() {
            let place = key.place().clone();
            documents.is_quiet = key.direction == Direction::Response;
            let mut facts = collect(documents, &key.parts, &key.skips);
            if let Some(xml) = facts.xml.take() {
                self.xml.insert(id, xml);
            }
            let node = self.define(documents, &key, facts, &place);
            if !documents.is_quiet && !node.examples.is_empty() {
                self.examples.push((id, place.clone()));
            }
            if !documents.is_quiet && matches!(node.domain, Domain::Object(_)) {
                self.objects.push((id, place));
            }
            self.builder.define(id, node);
        }
        documents.is_quiet = false;
    }

    fn define(
        &mut self,
        documents: &mut Documents<'_>,
        key: &NodeKey,
        mut facts: Facts,
        place: &DocumentPlace,
    ) -> Node {
        if facts.never {
            documents.limit(LimitationKind::Contradiction, place, "nothing fits `false`");
            return Node::new(Domain::Null);
        }
        let examples = std::mem::take(&mut facts.examples);
        let nullable = facts.nullable
            || facts
                .types
                .is_some_and(|types| types & super::facts::NULL != 0);
        let domain = if let Some(group) = facts.alternatives.first().cloned() {
            self.choice(documents, key, &facts, &group)
        } else if let Some(domain) = self.subtypes_of(documents, key, &facts) {
            domain
        } else {
            super::domain::domain(self, documents, key, &facts, place)
        };
        // `anyOf: [X, {type: null}]` is how 3.1 writes nullable; keep it as one value.
        let is_null = matches!(domain, Domain::Null);
        // Where nothing tells the type, there is a choice of the usual ones.
        let is_untyped = facts.types.is_none()
            && facts.alternatives.is_empty()
            && facts.discriminator.is_none()
            && matches!(domain, Domain::Choice(_));
        Node {
            domain,
            nullable: nullable && !is_null,
            is_untyped,
            examples,
        }
    }

    fn choice(
        &mut self,
        documents: &mut Documents<'_>,
        key: &NodeKey,
        facts: &Facts,
        group: &Alternatives,
    ) -> Domain {
        if group.options.len() > MAX_OPTIONS {
            documents.limit(
                LimitationKind::TooLarge,
                &group.owner.place,
                format!(
                    "{} alternatives, {MAX_OPTIONS} are used",
                    group.options.len()
                ),
            );
        }
        // Several lists of alternatives multiply; a few of them are enough.
        if key.skips.len() >= MAX_LISTS {
            documents.limit(
                LimitationKind::TooLarge,
                &group.owner.place,
                "too many lists of alternatives in one schema",
            );
            return super::domain::domain(self, documents, key, facts, &group.owner.place);
        }
        let mut skips = key.skips.clone();
        skips.push(SchemaPart {
            place: group.owner.place.clone(),
            skip: group.skip | SKIP_DISCRIMINATOR,
        });
        let mut nodes = Vec::new();
        for option in group.options.iter().take(MAX_OPTIONS) {
            let discriminator = facts.discriminator.as_ref();
            let mut tags: Vec<Option<Tag>> = discriminator
                .map(|d| tags(documents, d, option))
                .unwrap_or_default();
            if tags.is_empty() {
                tags.push(key.tag.clone());
            }
            let mut parts: Vec<SchemaPart> = key
                .parts
                .iter()
                .filter(|part| says_more(documents, part, &skips))
                .cloned()
                .collect();
            parts.push(SchemaPart::whole(option.clone()));
            for tag in tags {
                let option = NodeKey {
                    parts: parts.clone(),
                    skips: skips.clone(),
                    tag,
                    direction: key.direction,
                };
                nodes.push(self.node(documents, option));
            }
        }
        Domain::Choice(nodes.into())
    }

    /// The alternatives of a base that names no alternatives: the schemas that inherit from it.
    fn subtypes_of(
        &mut self,
        documents: &mut Documents<'_>,
        key: &NodeKey,
        facts: &Facts,
    ) -> Option<Domain> {
        let discriminator = facts.discriminator.as_ref()?;
        let [part] = &*key.parts else { return None };
        if part.place != discriminator.owner.place || key.tag.is_some() {
            return None;
        }
        let mut subtypes = self.subtypes.get(&part.place)?.clone();
        // Heirs have heirs of their own.
        let mut at = 0;
        while let Some((_, place)) = subtypes.get(at)
            && subtypes.len() < MAX_OPTIONS
        {
            for subtype in self.subtypes.get(place).into_iter().flatten() {
                if subtype.1 != part.place && !subtypes.contains(subtype) {
                    subtypes.push(subtype.clone());
                }
            }
            at += 1;
        }
        let mut nodes = Vec::new();
        for (name, place) in subtypes.iter().take(MAX_OPTIONS) {
            for value in values(&discriminator.mapping, name) {
                let subtype = NodeKey {
                    parts: vec![SchemaPart::whole(place.clone())],
                    skips: Vec::new(),
                    tag: Some((discriminator.property.clone(), value)),
                    direction: key.direction,
                };
                nodes.push(self.node(documents, subtype));
            }
        }
        Some(Domain::Choice(nodes.into()))
    }

    /// The finished model. Examples that do not fit and schemas without end become limitations.
    pub(crate) fn finish(mut self, documents: &mut Documents<'_>) -> Model {
        self.work(documents);
        let model = self.builder.finish();
        for (id, place) in &self.examples {
            for example in model
                .node(*id)
                .examples
                .iter()
                .filter(|example| !example.fits)
            {
                let text = brief(&example.value);
                documents.limit(
                    LimitationKind::MisfitExample,
                    place,
                    format!("example `{text}` does not fit its schema"),
                );
            }
        }
        for (id, place) in &self.objects {
            if model.is_infinite(*id) {
                documents.limit(
                    LimitationKind::EndlessSchema,
                    place,
                    format!("the schema requires itself, or more than {MAX_LEVELS} levels"),
                );
            }
        }
        model
    }
}

/// The discriminating values of an option that is a named schema.
fn tags(
    documents: &Documents<'_>,
    discriminator: &Discriminator,
    option: &DocumentPlace,
) -> Vec<Option<Tag>> {
    let reference = documents
        .get(option)
        .and_then(|json| json.get("$ref")?.as_str());
    let Some(reference) = reference else {
        return Vec::new();
    };
    let name = reference.rsplit('/').next().unwrap_or(reference);
    values(&discriminator.mapping, name)
        .into_iter()
        .map(|value| Some((discriminator.property.clone(), value)))
        .collect()
}

/// What the mapping calls a schema, by reference or bare name; its own name if nothing.
fn values(mapping: &[(Arc<str>, String)], name: &str) -> Vec<Arc<str>> {
    let mapped: Vec<Arc<str>> = mapping
        .iter()
        .filter(|(_, target)| target.rsplit('/').next() == Some(name))
        .map(|(value, _)| value.clone())
        .collect();
    if mapped.is_empty() {
        vec![name.into()]
    } else {
        mapped
    }
}

/// Whether a part of a choice's owner says anything beside the choice.
fn says_more(documents: &Documents<'_>, part: &SchemaPart, skips: &[SchemaPart]) -> bool {
    use super::facts::{SKIP_ANY_OF, SKIP_ONE_OF};
    let skip = skips
        .iter()
        .filter(|skip| skip.place == part.place)
        .fold(part.skip, |bits, skip| bits | skip.skip);
    let Some(Json::Object(map)) = documents.get(&part.place) else {
        return false;
    };
    map.keys().any(|keyword| match keyword.as_str() {
        "oneOf" => skip & SKIP_ONE_OF == 0,
        "anyOf" => skip & SKIP_ANY_OF == 0,
        "description" | "title" | "example" | "examples" | "default" | "nullable" | "xml"
        | "discriminator" | "deprecated" => false,
        keyword => !keyword.starts_with("x-"),
    })
}

pub(super) fn brief(json: &Json) -> String {
    let text = json.to_string();
    let cut = text.char_indices().nth(60);
    match cut.and_then(|(at, _)| text.split_at_checked(at)) {
        Some((beginning, _)) => format!("{beginning}…"),
        None => text,
    }
}
