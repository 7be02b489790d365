//! Inputs that need a producer, and the operations that may produce them.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Dependency, Leaf, Producer, add_producers, before_parameter, entity_of_name, input_leaves,
};
use crate::exchange::{LOCATION, Origin};
use crate::openapi::Api;
use crate::per_operation::PerOperation;

/// An input that may need a producer.
#[derive(Clone, Debug)]
pub(super) struct UnresolvedInput {
    pub(super) consumer: usize,
    leaf: Leaf,
    /// What it identifies.
    entity: String,
    /// The path of the collection that it is in, when it is a part of a path.
    collection: Option<String>,
}

/// All unresolved inputs, in the order of the operations.
pub(super) fn unresolved_inputs(
    api: &Api,
    entities: &PerOperation<String>,
) -> Vec<UnresolvedInput> {
    let known: FxHashSet<&str> = entities.iter().map(String::as_str).collect();
    let mut unresolved_inputs = Vec::new();
    for (consumer, operation) in api.operations.iter().enumerate() {
        for leaf in input_leaves(&api.model, operation) {
            let in_path = leaf.pointer.strip_prefix("/path/");
            let hierarchy = in_path.and_then(|name| {
                before_parameter(operation, &name.replace("~1", "/").replace("~0", "~"))
            });
            let named = entity_of_name(&leaf.name);
            if in_path.is_none() && named.is_none() && !known.contains(leaf.name.as_str()) {
                continue;
            }
            let entity = match (named, &hierarchy) {
                (Some(entity), _) if !entity.is_empty() => entity.to_owned(),
                (_, Some((entity, _))) => entity.clone(),
                _ => leaf.name.clone(),
            };
            unresolved_inputs.push(UnresolvedInput {
                consumer,
                leaf,
                entity,
                collection: hierarchy.map(|(_, collection)| collection),
            });
        }
    }
    unresolved_inputs
}

impl UnresolvedInput {
    /// Whether a name is this one without the entity before it, as `name` is of `featureName`, or the name of what
    /// the parameter is called after, as `name` is of `environment`.
    fn is_own(&self, name: &str) -> bool {
        match self.leaf.name.strip_prefix(self.entity.as_str()) {
            Some("") => name == "name",
            Some(own) => own == name,
            None => false,
        }
    }

    /// The places in responses of an operation that may provide it.
    pub(super) fn matching_producers(
        &self,
        api: &Api,
        producer: usize,
        entity: &str,
        responses: &[Leaf],
    ) -> Vec<Producer> {
        let made = api.operation(producer);
        let mut producers = Vec::new();
        let base = match &*made.method {
            _ if producer == self.consumer => return producers,
            "POST" => 4,
            "PUT" => 2,
            "GET" if !responses.is_empty() => 1,
            _ => return producers,
        };
        let in_collection = self
            .collection
            .as_ref()
            .is_some_and(|path| made.path.trim_end_matches('/') == path);
        let creates_here = in_collection && &*made.method == "POST";
        let same_entity = entity == self.entity;
        for response in responses {
            let top_level = is_top_level(&response.pointer);
            let is_id = matches!(
                response.name.as_str(),
                "id" | "uuid" | "guid" | "key" | "slug" | "code"
            );
            // `featureName` in a path is the `name` of the feature that was created.
            let same_name = response.name == self.leaf.name
                || (top_level && (creates_here || same_entity) && self.is_own(&response.name));
            let is_named = in_collection && response.name == "name";
            let identifies =
                top_level && (is_id || same_name || is_named) && (in_collection || same_entity);
            if !identifies && (!same_name || self.leaf.name == "id") {
                continue;
            }
            let weight =
                base * 3 + if creates_here { 12 } else { 0 } + if same_entity { 4 } else { 0 };
            producers.push(Producer {
                operation: producer,
                place: format!("body{}", response.pointer).into(),
                weight,
            });
        }
        if creates_here {
            // Whoever chooses the identifier of what is created knows it without a response.
            let sent = input_leaves(&api.model, made);
            let named = sent.iter().find(|leaf| {
                let is_top_level = leaf.pointer.matches('/').count() == 2;
                let is_named = leaf.name == self.leaf.name || self.is_own(&leaf.name);
                leaf.required && leaf.pointer.starts_with("/body/") && is_top_level && is_named
            });
            if let Some(leaf) = named {
                producers.push(Producer {
                    operation: producer,
                    place: Origin::Input(&leaf.pointer).to_string().into(),
                    weight: 6,
                });
            }
            producers.push(Producer {
                operation: producer,
                place: LOCATION.into(),
                weight: if responses.is_empty() { 8 } else { 2 },
            });
        }
        producers
    }
}

/// Whether a value is one of the response itself, of the first item of a list, or of a list in an envelope.
fn is_top_level(pointer: &str) -> bool {
    let mut segments: Vec<&str> = pointer.split('/').skip(1).collect();
    if let Some(index) = segments.iter().position(|segment| *segment == "0")
        && index <= 1
    {
        segments.drain(..=index);
    }
    segments.len() <= 1
}

/// Numbers by word, looked up and never walked through.
type NameIndex = FxHashMap<String, Vec<usize>>;

/// Index of producers by name: an API may have ten thousand operations.
pub(super) struct ProducerIndex {
    by_entity: NameIndex,
    by_response: NameIndex,
    by_path: NameIndex,
}

impl ProducerIndex {
    pub(super) fn of(
        api: &Api,
        entities: &PerOperation<String>,
        responses: &PerOperation<Vec<Leaf>>,
    ) -> Self {
        let (mut by_entity, mut by_response, mut by_path) = (
            NameIndex::default(),
            NameIndex::default(),
            NameIndex::default(),
        );
        let note = |words: &mut NameIndex, word: &str, operation: usize| {
            words.entry(word.to_owned()).or_default().push(operation);
        };
        for (operation, described) in api.operations.iter().enumerate() {
            note(&mut by_entity, &entities[operation], operation);
            let path = described.path.trim_end_matches('/');
            note(&mut by_path, path, operation);
            for leaf in &responses[operation] {
                note(&mut by_response, &leaf.name, operation);
            }
        }
        Self {
            by_entity,
            by_response,
            by_path,
        }
    }

    /// The operations that may produce an input, in order.
    pub(super) fn producers_of(&self, unresolved: &UnresolvedInput) -> BTreeSet<usize> {
        let of = |words: &NameIndex, word: &str| words.get(word).cloned().unwrap_or_default();
        let mut found: BTreeSet<usize> = of(&self.by_entity, &unresolved.entity)
            .into_iter()
            .collect();
        if unresolved.leaf.name != "id" {
            found.extend(of(&self.by_response, &unresolved.leaf.name));
        }
        if let Some(collection) = &unresolved.collection {
            found.extend(of(&self.by_path, collection));
        }
        found
    }
}

/// Index of unresolved inputs by name.
#[derive(Clone, Debug, Default)]
pub(super) struct ConsumerIndex {
    unresolved_inputs: Vec<UnresolvedInput>,
    by_entity: NameIndex,
    by_name: NameIndex,
    by_collection: NameIndex,
}

impl ConsumerIndex {
    pub(super) fn of(unresolved_inputs: Vec<UnresolvedInput>) -> Self {
        let mut consumers = Self::default();
        let note = |words: &mut NameIndex, word: &str, unresolved: usize| {
            words.entry(word.to_owned()).or_default().push(unresolved);
        };
        for (at, unresolved) in unresolved_inputs.iter().enumerate() {
            note(&mut consumers.by_entity, &unresolved.entity, at);
            note(&mut consumers.by_name, &unresolved.leaf.name, at);
            if let Some(collection) = &unresolved.collection {
                note(&mut consumers.by_collection, collection, at);
            }
        }
        consumers.unresolved_inputs = unresolved_inputs;
        consumers
    }

    /// The unresolved inputs that a response of an operation may provide, in order.
    pub(super) fn consumers_of<'a>(
        &'a self,
        api: &Api,
        operation: usize,
        entity: &str,
        response: &[Leaf],
    ) -> impl Iterator<Item = &'a UnresolvedInput> + use<'a> {
        let of = |words: &NameIndex, word: &str| words.get(word).cloned().unwrap_or_default();
        let mut found: BTreeSet<usize> = of(&self.by_entity, entity).into_iter().collect();
        let path = api.operation(operation).path.trim_end_matches('/');
        found.extend(of(&self.by_collection, path));
        for leaf in response {
            found.extend(of(&self.by_name, &leaf.name));
        }
        found
            .into_iter()
            .filter_map(|at| self.unresolved_inputs.get(at))
    }
}

/// Adds the producers of an input to the dependencies of its operation.
pub(super) fn add_dependency(
    dependencies: &mut Vec<Dependency>,
    unresolved: &UnresolvedInput,
    producers: Vec<Producer>,
) {
    if producers.is_empty() {
        return;
    }
    match dependencies
        .iter_mut()
        .find(|dependency| dependency.pointer == unresolved.leaf.pointer)
    {
        Some(dependency) => add_producers(&mut dependency.producers, producers),
        None => {
            let mut all = Vec::new();
            add_producers(&mut all, producers);
            dependencies.push(Dependency {
                pointer: unresolved.leaf.pointer.clone(),
                required: unresolved.leaf.required,
                producers: all,
            });
        }
    }
}
