//! A gene: a value together with its model.

use std::sync::{Arc, LazyLock};

use fastrand::Rng;
use serde_json::Value as Json;

use crate::config::GeneConfig;
use crate::impact::{GeneSite, Impacts};
use crate::model::{Domain, Model, NodeId};
use crate::mutate::Mutation;
use crate::rule::Mismatch;
use crate::sample::Sampler;
use crate::specialization::SpecializationModel;
use crate::value::{BoundValue, Reference, Resolver, Unresolved, Value};
use crate::violation::RuleViolation;
use crate::walk::NodeRef;

/// Of genes of which nothing is known; there are many of them.
static NO_IMPACTS: LazyLock<Arc<Impacts>> = LazyLock::new(Arc::default);

/// One mutable, typed value, from a single number to a whole request.
///
/// A clone is cheap: the model is shared, and so are the parts of the value until one of them is
/// changed.
#[derive(Clone, Debug)]
pub struct Gene {
    model: Arc<Model>,
    root: NodeId,
    value: Value,
    impacts: Arc<Impacts>,
}

impl PartialEq for Gene {
    /// Genes are equal if they are of the same node and hold equal values.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model)
            && self.root == other.root
            && self.value == other.value
    }
}

impl Gene {
    /// Draws a fresh value of node `root`, using no other randomness than `rng`.
    #[must_use]
    pub fn sample(model: &Arc<Model>, root: NodeId, rng: &mut Rng, config: &GeneConfig) -> Self {
        let value = Sampler::new(model, config, rng).node(root, 0);
        Self::with_value(model, root, value)
    }

    /// A gene that holds `value`, which must be one of node `root`.
    #[must_use]
    pub fn with_value(model: &Arc<Model>, root: NodeId, value: Value) -> Self {
        Self {
            model: model.clone(),
            root,
            value,
            impacts: Arc::clone(&NO_IMPACTS),
        }
    }

    /// The gene whose JSON is `json`.
    ///
    /// # Errors
    /// The first rule that `json` breaks.
    pub fn read(model: &Arc<Model>, root: NodeId, json: &Json) -> Result<Self, Mismatch> {
        let value = model.read(root, json)?;
        Ok(Self::with_value(model, root, value))
    }

    /// The gene whose plain text is `text`.
    ///
    /// # Errors
    /// The first rule that the text breaks.
    pub fn read_text(model: &Arc<Model>, root: NodeId, text: &str) -> Result<Self, Mismatch> {
        let value = model.read_text(root, text)?;
        Ok(Self::with_value(model, root, value))
    }

    /// What the value may be.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The node of the value.
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value as JSON, with what references name filled in; `None` if it is absent.
    #[must_use]
    pub fn to_json(&self, resolve: &dyn Resolver) -> Option<Json> {
        self.model.print(self.root, &self.value, resolve)
    }

    /// Whether the value meets all rules of its node, references at their fallback.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn check(&self) -> Result<(), Mismatch> {
        let json = self.to_json(&Unresolved).unwrap_or(Json::Null);
        self.model.read(self.root, &json).map(|_| ())
    }

    /// Changes the value in one place; `None` if nothing in it can change.
    pub fn mutate(&mut self, rng: &mut Rng, config: &GeneConfig) -> Option<Mutation> {
        self.model
            .mutate(self.root, &mut self.value, rng, config, &self.impacts)
    }

    /// Exchanges random parts with another gene of the same node; does nothing with others.
    pub fn crossover(&mut self, other: &mut Self, rng: &mut Rng) {
        if Arc::ptr_eq(&self.model, &other.model) && self.root == other.root {
            self.model
                .crossover(self.root, &mut self.value, &mut other.value, rng);
        }
    }

    /// Notes whether a change mattered, so that later mutations go where it did.
    pub fn credit(&mut self, site: GeneSite, mattered: bool) {
        Arc::make_mut(&mut self.impacts).record(site, mattered);
    }

    /// Calls `f` for every place of the value, properties that are left out included.
    pub fn walk(&self, mut f: impl FnMut(NodeRef<'_>)) {
        self.model.walk(self.root, &self.value, &mut f);
    }

    /// Replaces the value at a JSON Pointer; false if there is no such place.
    ///
    /// The value is taken as it is: [`Model::read`] makes valid ones.
    pub fn set(&mut self, pointer: &str, value: Value) -> bool {
        let mut value = Some(value);
        self.edit(pointer, |_, _, old| {
            if let Some(value) = value.take() {
                *old = value;
            }
        })
        .is_some()
    }

    /// Puts a learned value, or any other JSON, at a JSON Pointer. It is read into its parts if it
    /// fits, and taken literally if it does not; false if there is no such place.
    pub fn set_json(&mut self, pointer: &str, json: &Json) -> bool {
        self.edit(pointer, |model, id, value| {
            *value = model
                .read(id, json)
                .unwrap_or_else(|_| Value::Literal(Arc::new(json.clone())));
        })
        .is_some()
    }

    /// Draws the value at a JSON Pointer anew, present even if it is optional.
    pub fn resample(&mut self, pointer: &str, rng: &mut Rng, config: &GeneConfig) -> bool {
        self.edit(pointer, |model, id, value| {
            *value = Sampler::new(model, config, rng).non_null(id, 0);
        })
        .is_some()
    }

    /// Takes the value at a JSON Pointer from an earlier response when the gene is printed.
    pub fn bind(&mut self, pointer: &str, reference: Reference) -> bool {
        self.edit(pointer, |_, _, value| {
            let fallback = match &*value {
                Value::Bound(bound) => bound.fallback.clone(),
                other => other.clone(),
            };
            *value = Value::Bound(Arc::new(BoundValue {
                reference: reference.clone(),
                fallback,
            }));
        })
        .is_some()
    }

    /// Turns every reference for which `keep` says no back into its own value.
    pub fn unbind(&mut self, keep: impl Fn(&Reference) -> bool) {
        let mut places = Vec::new();
        self.walk(|place| {
            if let Value::Bound(bound) = place.value
                && !keep(&bound.reference)
            {
                places.push(place.pointer.to_owned());
            }
        });
        for pointer in places {
            self.edit(&pointer, |_, _, value| {
                if let Value::Bound(bound) = value {
                    *value = bound.fallback.clone();
                }
            });
        }
    }

    /// Renames references, as when actions are moved; `None` turns one back into its own value.
    pub fn rebind(&mut self, rename: impl Fn(&Reference) -> Option<Reference>) {
        let mut places = Vec::new();
        self.walk(|place| {
            if let Value::Bound(bound) = place.value {
                let new = rename(&bound.reference);
                if new.as_ref() != Some(&bound.reference) {
                    places.push((place.pointer.to_owned(), new));
                }
            }
        });
        for (pointer, new) in places {
            self.edit(&pointer, |_, _, value| {
                if let Value::Bound(bound) = value {
                    *value = match &new {
                        Some(reference) => Value::Bound(Arc::new(BoundValue {
                            reference: reference.clone(),
                            fallback: bound.fallback.clone(),
                        })),
                        None => bound.fallback.clone(),
                    };
                }
            });
        }
    }

    /// All references in the value, with the JSON Pointers of their places.
    #[must_use]
    pub fn references(&self) -> Vec<(String, Reference)> {
        let mut found = Vec::new();
        self.walk(|place| {
            if let Value::Bound(bound) = place.value {
                found.push((place.pointer.to_owned(), bound.reference.clone()));
            }
        });
        found
    }

    /// Puts a marker text at a JSON Pointer; false where no text of its length fits.
    pub fn set_taint_marker(&mut self, pointer: &str, taint_marker: &str) -> bool {
        self.edit(pointer, |model, id, value| {
            let is_free = matches!(model.node(id).domain, Domain::Text(_));
            match model.read(id, &Json::String(taint_marker.to_owned())) {
                Ok(marked) if is_free => {
                    *value = marked;
                    true
                }
                _ => false,
            }
        })
        .unwrap_or(false)
    }

    /// Narrows the text at a JSON Pointer to what it turned out to be; false if there is none.
    pub fn specialize(
        &mut self,
        pointer: &str,
        specialization: &SpecializationModel,
        rng: &mut Rng,
        config: &GeneConfig,
    ) -> bool {
        self.edit(pointer, |model, id, value| {
            let is_text = matches!(
                model.node(id).domain,
                Domain::Text(_) | Domain::Pattern(_) | Domain::DateTime(_)
            );
            if is_text {
                *value = specialization.sample(rng, config);
            }
            is_text
        })
        .unwrap_or(false)
    }

    /// The rules that can be broken in the value as it stands.
    #[must_use]
    pub fn violations(&self) -> Vec<RuleViolation> {
        self.model.violations(self.root, &self.value)
    }

    /// A copy that breaks exactly this rule; `None` if it cannot be broken here.
    #[must_use]
    pub fn violate(
        &self,
        violation: &RuleViolation,
        rng: &mut Rng,
        config: &GeneConfig,
    ) -> Option<Self> {
        let value = self
            .model
            .violate(self.root, &self.value, violation, rng, config)?;
        Some(Self {
            value,
            ..self.clone()
        })
    }

    pub(crate) fn edit<R>(
        &mut self,
        pointer: &str,
        mut f: impl FnMut(&Model, NodeId, &mut Value) -> R,
    ) -> Option<R> {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        let model = self.model.clone();
        model.at_mut(self.root, &mut self.value, pointer, &mut f)
    }
}
