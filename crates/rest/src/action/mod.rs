//! Operations as actions made of genes: builds requests and checks responses against the document.

mod body_model;
mod content;
pub mod request;
pub mod response;
mod style;
pub mod undocumented;
mod validation_cost;
mod xml;

use isobath_genes::{
    Domain, Gene, GeneConfig, Model, Mutation, NodeId, Rule, RuleViolation, Value,
};

use fastrand::Rng;

use crate::openapi::{Api, MediaKind, Operation};

pub(crate) use content::{FormPart, multipart_body};
pub(crate) use request::{broken_body, is_segment};
pub(crate) use style::encode as percent_encoded;

pub(crate) use body_model::{describes, shape as body_model};
pub use request::{Request, RequestBody};
pub use response::{ReceivedResponse, ResponseChecker, Violation, ViolationKind};
pub use undocumented::{UndocumentedInput, UndocumentedKind};

/// One call of an operation: which one, and with what.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The operation, as an index into [`Api::operations`].
    pub operation: usize,
    /// All inputs; see [`Operation::input`] for their shape.
    pub gene: Gene,
    /// Inputs that the document does not name.
    pub undocumented: Vec<UndocumentedInput>,
}

impl Action {
    /// Draws inputs for an operation; `None` if the API has no such operation.
    #[must_use]
    pub fn sample(api: &Api, operation: usize, rng: &mut Rng, tuning: &GeneConfig) -> Option<Self> {
        let input = api.operations.get(operation)?.input;
        Some(Self {
            operation,
            gene: Gene::sample(&api.model, input, rng, tuning),
            undocumented: Vec::new(),
        })
    }

    /// Changes the inputs in one place; `None` if the operation has none that can change.
    pub fn mutate(&mut self, rng: &mut Rng, tuning: &GeneConfig) -> Option<Mutation> {
        if !self.undocumented.is_empty()
            && rng.f64() < 0.3
            && let Some(change) = self.mutate_undocumented(rng, tuning)
        {
            return Some(change);
        }
        let change = self.gene.mutate(rng, tuning);
        change.or_else(|| self.mutate_undocumented(rng, tuning))
    }

    fn mutate_undocumented(&mut self, rng: &mut Rng, tuning: &GeneConfig) -> Option<Mutation> {
        let chosen = rng.choice(&mut self.undocumented)?;
        chosen.gene.mutate(rng, tuning)
    }

    /// Exchanges inputs with another call of the same operation; does nothing with others.
    pub fn cross(&mut self, other: &mut Self, rng: &mut Rng) {
        if self.operation == other.operation {
            self.gene.crossover(&mut other.gene, rng);
        }
    }

    /// The rules of the document that this call could break such that a server would see it.
    ///
    /// Outside a body of JSON all values are text: a number is as good as text there, nothing is
    /// null, and a path without one of its values is another path.
    #[must_use]
    pub fn breaches(&self, api: &Api) -> Vec<RuleViolation> {
        let Some(operation) = api.operations.get(self.operation) else {
            return Vec::new();
        };
        let is_json = self.sends_json(operation);
        self.gene
            .violations()
            .into_iter()
            .filter(|breach| {
                let mut segments = breach.pointer.split('/').skip(1);
                let (Some(group), depth) = (segments.next(), segments.count()) else {
                    return false;
                };
                match group {
                    "body" if depth == 0 && breach.rule == Rule::Required => true,
                    "body" if is_json => true,
                    "body" if depth == 0 => false,
                    group => {
                        depth >= 1
                            && breach.rule != Rule::NotNull
                            && !(group == "path" && breach.rule == Rule::Required)
                            && !(group == "path" && breach.rule == Rule::MinLength)
                            && (breach.rule != Rule::Type || !self.is_text(&breach.pointer))
                    }
                }
            })
            .collect()
    }

    /// A copy that breaks exactly this rule; `None` if it cannot be broken here.
    #[must_use]
    pub fn breach(
        &self,
        breach: &RuleViolation,
        rng: &mut Rng,
        tuning: &GeneConfig,
    ) -> Option<Self> {
        Some(Self {
            operation: self.operation,
            gene: self.gene.violate(breach, rng, tuning)?,
            undocumented: self.undocumented.clone(),
        })
    }

    /// The content type of the body that would be sent, as an index into the media of the body.
    #[must_use]
    pub fn media_index(&self) -> Option<usize> {
        let Domain::Object(domain) = &self.gene.model().node(self.gene.root()).domain else {
            return None;
        };
        let at = domain
            .fields
            .iter()
            .position(|field| &*field.name == "body")?;
        match self.gene.value() {
            Value::Object(object) => match object.fields.get(at)? {
                Value::Absent => None,
                Value::Choice(choice) => Some(choice.0 as usize),
                _ => Some(0),
            },
            _ => None,
        }
    }

    /// Whether the service is sure to read the body as JSON: not a text, which may be taken as it is, nor what is sent as
    /// JSON for want of another notation.
    pub(crate) fn sends_json(&self, operation: &Operation) -> bool {
        let body = operation.body.as_ref();
        let media = body.and_then(|body| body.media.get(self.media_index()?));
        media.is_some_and(|media| {
            let model = self.gene.model();
            let domain = &model.node(behind_choice(model, media.node)).domain;
            media.kind == MediaKind::Json
                && media.content_type.contains("json")
                && !matches!(domain, Domain::Text(_) | Domain::Binary(_))
        })
    }

    /// Whether any text would do at a pointer, or what stands there is not a single value.
    fn is_text(&self, pointer: &str) -> bool {
        let mut is_text = true;
        self.gene.walk(|place| {
            if place.pointer == pointer {
                is_text = !matches!(
                    place.model.node(place.node).domain,
                    Domain::Boolean | Domain::Integer(_) | Domain::Float(_)
                );
            }
        });
        is_text
    }
}

/// The node of the value behind choices of one, which carry examples.
pub(crate) fn behind_choice(model: &Model, mut id: NodeId) -> NodeId {
    for _ in 0..8 {
        match &model.node(id).domain {
            Domain::Choice(options) => match &**options {
                [only] => id = *only,
                _ => break,
            },
            _ => break,
        }
    }
    id
}

/// The node of a property, in the first alternative that has it.
pub(crate) fn property(model: &Model, node: NodeId, name: &str) -> Option<NodeId> {
    fn find(model: &Model, node: NodeId, name: &str, depth: u8) -> Option<NodeId> {
        match &model.node(node).domain {
            Domain::Object(domain) => {
                let field = domain.fields.iter().find(|field| *field.name == *name);
                let node = field.map(|field| field.node);
                node.or(domain.extra.map(|extra| extra.value))
            }
            Domain::Choice(options) if depth > 0 => options
                .iter()
                .find_map(|&option| find(model, option, name, depth - 1)),
            _ => None,
        }
    }
    find(model, node, name, 8).map(|node| behind_choice(model, node))
}

/// The node of a property that is named, in the first alternative that has it.
pub(crate) fn declared(model: &Model, node: NodeId, name: &str) -> Option<NodeId> {
    match &model.node(node).domain {
        Domain::Object(domain) => domain
            .fields
            .iter()
            .find(|field| *field.name == *name)
            .map(|field| field.node),
        Domain::Choice(options) => options
            .iter()
            .find_map(|&option| declared(model, option, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
