//! Parts of inputs that somebody may have to make first, and who may make them.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Leaf, Need, Producer, add_producers, before_parameter, entity_of_name, input_leaves};
use crate::exchange::{LOCATION, Origin};
use crate::openapi::Api;

/// A part of an input that somebody may have to make first.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) consumer: usize,
    leaf: Leaf,
    /// What it identifies.
    entity: String,
    /// The path of the collection that it is in, when it is a part of a path.
    collection: Option<String>,
}

/// All wishes, in the order of the operations.
pub(super) fn wishes(api: &Api, entities: &[String]) -> Vec<Wish> {
    let known: FxHashSet<&str> = entities.iter().map(String::as_str).collect();
    let mut wishes = Vec::new();
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
            wishes.push(Wish {
                consumer,
                leaf,
                entity,
                collection: hierarchy.map(|(_, collection)| collection),
            });
        }
    }
    wishes
}

impl Wish {
    /// The places in the answers of an operation that may meet it.
    pub(super) fn met_by(
        &self,
        api: &Api,
        producer: usize,
        entity: &str,
        answers: &[Leaf],
    ) -> Vec<Producer> {
        let made = &api.operations[producer];
        let mut producers = Vec::new();
        let base = match &*made.method {
            _ if producer == self.consumer => return producers,
            "POST" => 4,
            "PUT" => 2,
            "GET" if !answers.is_empty() => 1,
            _ => return producers,
        };
        let in_collection = self
            .collection
            .as_ref()
            .is_some_and(|path| made.path.trim_end_matches('/') == path);
        let creates_here = in_collection && &*made.method == "POST";
        let same_entity = entity == self.entity;
        for answer in answers {
            let top_level = answer.pointer.matches('/').count()
                <= 1 + usize::from(answer.pointer.starts_with("/0/"));
            let is_id = matches!(
                answer.name.as_str(),
                "id" | "uuid" | "guid" | "key" | "slug" | "code"
            );
            // `featureName` in a path is the `name` of the feature that was created.
            let same_name = answer.name == self.leaf.name
                || (top_level
                    && !answer.name.is_empty()
                    && self.leaf.name.strip_prefix(self.entity.as_str()) == Some(&answer.name)
                    && (creates_here || same_entity));
            let identifies = top_level && (is_id || same_name) && (creates_here || same_entity);
            if !identifies && (!same_name || self.leaf.name == "id") {
                continue;
            }
            let weight =
                base * 3 + if creates_here { 12 } else { 0 } + if same_entity { 4 } else { 0 };
            producers.push(Producer {
                operation: producer,
                place: format!("body{}", answer.pointer).into(),
                weight,
            });
        }
        if creates_here {
            // Whoever chooses the identifier of what is created knows it without a response.
            let named = |leaf: &Leaf| {
                let is_top_level = leaf.pointer.matches('/').count() == 2;
                let is_whole_name = leaf.name == self.leaf.name;
                let is_own_name =
                    self.leaf.name.strip_prefix(self.entity.as_str()) == Some(&leaf.name);
                leaf.pointer.starts_with("/body/") && is_top_level && (is_whole_name || is_own_name)
            };
            let sent = input_leaves(&api.model, made);
            if let Some(leaf) = sent.iter().find(|leaf| leaf.required && named(leaf)) {
                producers.push(Producer {
                    operation: producer,
                    place: Origin::Sent(&leaf.pointer).to_string().into(),
                    weight: 6,
                });
            }
            producers.push(Producer {
                operation: producer,
                place: LOCATION.into(),
                weight: if answers.is_empty() { 8 } else { 2 },
            });
        }
        producers
    }
}

/// Numbers by word, looked up and never walked through.
type ByWord = FxHashMap<String, Vec<usize>>;

/// Who may make what, found without asking everybody: an API may have ten thousand operations.
pub(super) struct Makers {
    by_entity: ByWord,
    by_answer: ByWord,
    by_path: ByWord,
}

impl Makers {
    pub(super) fn of(api: &Api, entities: &[String], answers: &[Vec<Leaf>]) -> Self {
        let (mut by_entity, mut by_answer, mut by_path) =
            (ByWord::default(), ByWord::default(), ByWord::default());
        let note = |words: &mut ByWord, word: &str, operation: usize| {
            words.entry(word.to_owned()).or_default().push(operation);
        };
        for (operation, described) in api.operations.iter().enumerate() {
            note(&mut by_entity, &entities[operation], operation);
            note(
                &mut by_path,
                described.path.trim_end_matches('/'),
                operation,
            );
            for leaf in &answers[operation] {
                note(&mut by_answer, &leaf.name, operation);
            }
        }
        Self {
            by_entity,
            by_answer,
            by_path,
        }
    }

    /// The operations that may meet a wish, in order.
    pub(super) fn of_wish(&self, wish: &Wish) -> BTreeSet<usize> {
        let of = |words: &ByWord, word: &str| words.get(word).cloned().unwrap_or_default();
        let mut found: BTreeSet<usize> = of(&self.by_entity, &wish.entity).into_iter().collect();
        if wish.leaf.name != "id" {
            found.extend(of(&self.by_answer, &wish.leaf.name));
        }
        if let Some(collection) = &wish.collection {
            found.extend(of(&self.by_path, collection));
        }
        found
    }
}

/// Who wishes for what, found without asking everybody.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishers {
    wishes: Vec<Wish>,
    by_entity: ByWord,
    by_name: ByWord,
    by_collection: ByWord,
}

impl Wishers {
    pub(super) fn of(wishes: Vec<Wish>) -> Self {
        let mut wishers = Self::default();
        let note = |words: &mut ByWord, word: &str, wish: usize| {
            words.entry(word.to_owned()).or_default().push(wish);
        };
        for (at, wish) in wishes.iter().enumerate() {
            note(&mut wishers.by_entity, &wish.entity, at);
            note(&mut wishers.by_name, &wish.leaf.name, at);
            if let Some(collection) = &wish.collection {
                note(&mut wishers.by_collection, collection, at);
            }
        }
        wishers.wishes = wishes;
        wishers
    }

    /// The wishes that an answer of an operation may meet, in order.
    pub(super) fn of_answer<'a>(
        &'a self,
        api: &Api,
        operation: usize,
        entity: &str,
        answer: &[Leaf],
    ) -> impl Iterator<Item = &'a Wish> + use<'a> {
        let of = |words: &ByWord, word: &str| words.get(word).cloned().unwrap_or_default();
        let mut found: BTreeSet<usize> = of(&self.by_entity, entity).into_iter().collect();
        let path = api.operations[operation].path.trim_end_matches('/');
        found.extend(of(&self.by_collection, path));
        for leaf in answer {
            found.extend(of(&self.by_name, &leaf.name));
        }
        found.into_iter().map(|at| &self.wishes[at])
    }
}

/// Adds the producers of a wish to the needs of its operation.
pub(super) fn add_need(needs: &mut Vec<Need>, wish: &Wish, producers: Vec<Producer>) {
    if producers.is_empty() {
        return;
    }
    match needs
        .iter_mut()
        .find(|need| need.pointer == wish.leaf.pointer)
    {
        Some(need) => add_producers(&mut need.producers, producers),
        None => {
            let mut all = Vec::new();
            add_producers(&mut all, producers);
            needs.push(Need {
                pointer: wish.leaf.pointer.clone(),
                essential: wish.leaf.required,
                producers: all,
            });
        }
    }
}
