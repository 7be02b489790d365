//! The immutable half of a gene: the model of its values.
//!
//! A model is an arena of nodes, so that schemas may refer to themselves. It is built once per
//! document and shared by every gene; a gene of a recursive schema is bounded by its sampling.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::binary::BinaryDomain;
use crate::date_time::DateTimeKind;
use crate::number::{FloatDomain, IntegerDomain};
use crate::pattern::PatternDomain;
use crate::text::TextDomain;

/// Index of a node in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// Only null.
    Null,
    /// True or false.
    Boolean,
    /// A whole number or decimal.
    Integer(IntegerDomain),
    /// A floating-point number.
    Float(FloatDomain),
    /// Free text.
    Text(TextDomain),
    /// Text of a pattern or of a format described by one.
    Pattern(PatternDomain),
    /// A date or time.
    DateTime(DateTimeKind),
    /// Bytes, as Base64 in text.
    Binary(BinaryDomain),
    /// One of the listed values.
    Enum(Box<[Arc<Json>]>),
    /// A list of values of one node.
    Array(ArrayDomain),
    /// Properties, declared and additional.
    Object(ObjectDomain),
    /// A value of one of several nodes.
    Choice(Box<[NodeId]>),
}

/// A list of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayDomain {
    /// What each item is.
    pub item: NodeId,
    /// The least number of items.
    pub min: u32,
    /// The greatest number of items, if any.
    pub max: Option<u32>,
    /// Whether all items differ.
    pub unique: bool,
}

/// Properties of an object; a map is an object with additional properties only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectDomain {
    /// Declared properties, in the order of the document.
    pub fields: Box<[Field]>,
    /// What additional properties are, if any are to be made.
    pub extra: Option<AdditionalProperties>,
    /// Whether undeclared properties are refused; only meaningful without `extra`.
    pub closed: bool,
    /// The least number of properties.
    pub min: u32,
    /// The greatest number of properties, if any.
    pub max: Option<u32>,
}

/// A declared property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// What it is.
    pub node: NodeId,
    /// Whether it must be there.
    pub required: bool,
}

/// Additional properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdditionalProperties {
    /// What a name is; a node of text.
    pub key: NodeId,
    /// What a value is.
    pub value: NodeId,
}

/// A value that the document gives as an example or default.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its name, for those that go together.
    pub name: Option<Arc<str>>,
    /// The value.
    pub value: Arc<Json>,
    /// Whether it fits the node; found out by [`ModelBuilder::finish`].
    pub fits: bool,
}

impl Example {
    /// An example with a name, if it has one.
    #[must_use]
    pub fn new(name: Option<&str>, value: Json) -> Self {
        Self {
            name: name.map(Into::into),
            value: value.into(),
            fits: true,
        }
    }
}

/// One node of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What the value may be.
    pub domain: Domain,
    /// Whether it may be null as well.
    pub nullable: bool,
    /// Whether nothing is said about its type: the domain is what such values tend to be, and every other one fits, too.
    pub is_untyped: bool,
    /// Values that the document suggests.
    pub examples: Vec<Example>,
}

impl Node {
    /// A node without null and without examples.
    #[must_use]
    pub fn new(domain: Domain) -> Self {
        Self {
            domain,
            nullable: false,
            is_untyped: false,
            examples: Vec::new(),
        }
    }

    /// A node of which no type is known.
    #[must_use]
    pub fn untyped(domain: Domain) -> Self {
        Self {
            is_untyped: true,
            ..Self::new(domain)
        }
    }
}

impl From<Domain> for Node {
    fn from(domain: Domain) -> Self {
        Self::new(domain)
    }
}

/// No finite value: the node requires itself, or nearly so.
const ENDLESS: u16 = u16::MAX;
/// Levels of a value. One that needs more is as good as endless: walks over it would exhaust the stack.
pub const MAX_LEVELS: u16 = 100;

/// An arena of nodes; see the module.
#[derive(Debug, PartialEq)]
pub struct Model {
    nodes: Vec<Node>,
    /// The least nesting of a value of each node.
    heights: Vec<u16>,
}

impl Model {
    /// The node of an index that this model gave out.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "indexes of nodes come from the model that they are used with"
    )]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All node indices.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// Whether the node requires itself, or more than [`MAX_LEVELS`] levels, so that no value fits it.
    #[must_use]
    pub fn is_infinite(&self, id: NodeId) -> bool {
        self.height(id) == ENDLESS
    }

    /// The example, or what it was meant to be: people write `1` for the text of a parameter, and
    /// one item for a list of one. `None` if it does not fit either way.
    fn repaired(&self, id: NodeId, value: &Arc<Json>) -> Option<Arc<Json>> {
        if self.read(id, value).is_ok() {
            return Some(value.clone());
        }
        let text = Json::String(crate::print::plain(value).into_owned());
        let parsed = value
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let item = Json::Array(vec![Json::clone(value)]);
        [Some(text), parsed, Some(item)]
            .into_iter()
            .flatten()
            .find(|meant| self.read(id, meant).is_ok())
            .map(Arc::new)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "there is a height for each node, and indexes of nodes come from this model"
    )]
    pub(crate) fn height(&self, id: NodeId) -> u16 {
        self.heights[id.index()]
    }

    /// How many different values a node has, as far as that is easily said.
    pub(crate) fn count(&self, id: NodeId) -> u64 {
        // Choices of choices multiply, and the answer is needed for every unique list.
        self.count_within(id, 2)
    }

    fn count_within(&self, id: NodeId, depth: u8) -> u64 {
        let node = self.node(id);
        let n = match &node.domain {
            Domain::Null => 1,
            Domain::Boolean => 2,
            Domain::Integer(domain) => domain.count(),
            Domain::Enum(members) => members.len() as u64,
            Domain::Choice(options) if depth > 0 => options
                .iter()
                .map(|&id| self.count_within(id, depth - 1))
                .fold(0, u64::saturating_add),
            Domain::Text(domain) if domain.max() == Some(0) => 1,
            Domain::Float(_)
            | Domain::Text(_)
            | Domain::Pattern(_)
            | Domain::DateTime(_)
            | Domain::Binary(_)
            | Domain::Array(_)
            | Domain::Object(_)
            | Domain::Choice(_) => u64::MAX,
        };
        n.saturating_add(u64::from(node.nullable))
    }
}

/// Calls `f` with each child and whether a value cannot do without it.
fn for_each_child(domain: &Domain, mut f: impl FnMut(NodeId, bool)) {
    match domain {
        Domain::Array(array) => f(array.item, array.min > 0),
        Domain::Object(object) => {
            for field in &object.fields {
                f(field.node, field.required);
            }
            if let Some(extra) = object.extra {
                f(extra.key, false);
                f(extra.value, false);
            }
        }
        Domain::Choice(options) => options.iter().for_each(|&id| f(id, false)),
        Domain::Null
        | Domain::Boolean
        | Domain::Integer(_)
        | Domain::Float(_)
        | Domain::Text(_)
        | Domain::Pattern(_)
        | Domain::DateTime(_)
        | Domain::Binary(_)
        | Domain::Enum(_) => {}
    }
}

/// Makes a [`Model`] node by node.
#[derive(Debug, Default)]
pub struct ModelBuilder {
    nodes: Vec<Option<Node>>,
}

impl ModelBuilder {
    /// An empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An index for a node that comes later, so that it can be referred to.
    pub fn reserve(&mut self) -> NodeId {
        self.nodes.push(None);
        NodeId(u32::try_from(self.nodes.len() - 1).expect("fewer than four billion nodes"))
    }

    /// Says what a reserved index is.
    #[expect(
        clippy::indexing_slicing,
        reason = "the index was reserved in this builder, which removes no node"
    )]
    pub fn define(&mut self, id: NodeId, node: impl Into<Node>) {
        self.nodes[id.index()] = Some(node.into());
    }

    /// A new node.
    pub fn add(&mut self, node: impl Into<Node>) -> NodeId {
        let id = self.reserve();
        self.define(id, node);
        id
    }

    /// The node of an index, if it has been defined.
    #[must_use]
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index()).and_then(Option::as_ref)
    }

    /// The node of an index, to add to it.
    pub fn get_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.index()).and_then(Option::as_mut)
    }

    /// How many indices have been given out.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether none has been given out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The finished model. Reserved nodes that were never defined are free text.
    #[must_use]
    pub fn finish(self) -> Model {
        let mut nodes: Vec<Node> = self
            .nodes
            .into_iter()
            .map(|node| node.unwrap_or_else(|| Node::new(Domain::Text(TextDomain::any()))))
            .collect();
        nodes.shrink_to_fit();
        let heights = heights(&nodes);
        let mut model = Model { nodes, heights };
        for id in model.ids() {
            let examples_of = |model: &mut Model| {
                let node = model.nodes.get_mut(id.index());
                node.map(|node| std::mem::take(&mut node.examples))
            };
            let mut examples = examples_of(&mut model).unwrap_or_default();
            for example in &mut examples {
                match model.repaired(id, &example.value) {
                    Some(value) => example.value = value,
                    None => example.fits = false,
                }
            }
            if let Some(node) = model.nodes.get_mut(id.index()) {
                node.examples = examples;
            }
        }
        model
    }
}

/// The least nesting of the properties that an object needs beside the required ones to have enough of them.
fn least_optional(object: &ObjectDomain, heights: &[u16]) -> u16 {
    let height = |id: NodeId| heights.get(id.index()).copied().unwrap_or(ENDLESS);
    let optional = object.fields.iter().filter(|field| !field.required);
    let mut optional: Vec<u16> = optional.map(|field| height(field.node)).collect();
    let n_required = object.fields.len() - optional.len();
    let Some(last) = (object.min as usize)
        .saturating_sub(n_required)
        .checked_sub(1)
    else {
        return 0;
    };
    optional.sort_unstable();
    // There are as many additional properties as one likes.
    let extra = object.extra.map(|extra| height(extra.value));
    let declared = optional
        .get(last)
        .or(optional.last().filter(|_| extra.is_none()));
    match (declared, extra) {
        (Some(declared), Some(extra)) => extra.min(*declared),
        (Some(height), None) => *height,
        (None, extra) => extra.unwrap_or(0),
    }
}

/// The least nesting of a value of each node, by iteration to a fixpoint.
#[expect(
    clippy::indexing_slicing,
    reason = "there is a height for each node, and the nodes of a model refer to each other only"
)]
fn heights(nodes: &[Node]) -> Vec<u16> {
    let mut heights = vec![ENDLESS; nodes.len()];
    for _ in 0..MAX_LEVELS {
        let mut changed = false;
        for (i, node) in nodes.iter().enumerate().rev() {
            let mut height = match &node.domain {
                Domain::Choice(options) => options
                    .iter()
                    .map(|id| heights[id.index()])
                    .min()
                    .unwrap_or(ENDLESS),
                _ if node.nullable => 0,
                domain => {
                    let mut height = 0;
                    for_each_child(domain, |id, needed| {
                        if needed {
                            height = height.max(heights[id.index()]);
                        }
                    });
                    match domain {
                        Domain::Object(object) => height.max(least_optional(object, &heights)),
                        _ => height,
                    }
                }
            };
            if node.nullable {
                height = 0;
            }
            height = match height {
                0..MAX_LEVELS => height + 1,
                _ => ENDLESS,
            };
            if height < heights[i] {
                heights[i] = height;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    heights
}
