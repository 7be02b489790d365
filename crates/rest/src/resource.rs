//! Dependencies between operations: which operation produces a value that another one needs.
//!
//! An identifier in a path, query or body is matched with responses that contain such a value: by
//! links of the document, by the path hierarchy, and by name. Undocumented responses are learned
//! from observed ones.

mod unresolved;

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{Domain, Model, NodeId, push_segment};
use serde_json::Value;

use unresolved::{ConsumerIndex, ProducerIndex, add_dependency, unresolved_inputs};

use crate::exchange::{Exchange, Origin};
use crate::openapi::{Api, Expression, Operation, ParameterLocation, PathPiece};
use crate::per_operation::PerOperation;

/// An input of an operation that another operation produces.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependency {
    /// Where in the input, as a JSON Pointer.
    pub pointer: String,
    /// Whether the call makes no sense without it.
    pub required: bool,
    /// The producers, likeliest first.
    pub producers: Vec<Producer>,
}

/// An operation whose response contains the value.
#[derive(Clone, Debug, PartialEq)]
pub struct Producer {
    /// The operation.
    pub operation: usize,
    /// Where in the response, in the words of [`Exchange::value`](crate::exchange::Exchange::value).
    pub place: Arc<str>,
    /// How likely it is the right one.
    pub weight: u32,
}

/// The dependencies of all operations, and the operations on each path.
#[derive(Clone, Debug)]
pub struct Resources {
    dependencies: PerOperation<Vec<Dependency>>,
    entities: PerOperation<String>,
    by_path: BTreeMap<Arc<str>, Vec<usize>>,
    learned: PerOperation<bool>,
    has_learned_links: PerOperation<bool>,
    consumers: ConsumerIndex,
    /// By operation and place, how often a response lacked the value that others take from there; gone once it came.
    missed: BTreeMap<(usize, Arc<str>), u32>,
}

/// Producers beyond which more are no help.
const MAX_PRODUCERS: usize = 6;
/// A value that is less likely to come is not counted on.
const MIN_CONFIDENCE: f64 = 0.3;
/// How deep identifiers are looked for in bodies.
const DEPTH: usize = 4;

impl Resources {
    /// Computes the dependencies of an API.
    #[must_use]
    pub fn of(api: &Api) -> Self {
        let entities = PerOperation::new(api, |operation| entity_of_path(api.operation(operation)));
        let mut by_path: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (index, operation) in api.operations.iter().enumerate() {
            by_path
                .entry(operation.path.clone())
                .or_default()
                .push(index);
        }
        let responses = PerOperation::new(api, |operation| {
            response_leaves(&api.model, api.operation(operation))
        });
        let unresolved_inputs = unresolved_inputs(api, &entities);
        let producer_index = ProducerIndex::of(api, &entities, &responses);
        let mut dependencies: PerOperation<Vec<Dependency>> = PerOperation::filled(api, Vec::new());
        for unresolved in &unresolved_inputs {
            let mut producers = Vec::new();
            for producer in producer_index.producers_of(unresolved) {
                let made = &responses[producer];
                producers.extend(unresolved.matching_producers(
                    api,
                    producer,
                    &entities[producer],
                    made,
                ));
            }
            add_dependency(
                &mut dependencies[unresolved.consumer],
                unresolved,
                producers,
            );
        }
        let learned = PerOperation::new(api, |operation| !responses[operation].is_empty());
        let mut resources = Self {
            dependencies,
            entities,
            by_path,
            learned,
            has_learned_links: PerOperation::filled(api, false),
            consumers: ConsumerIndex::of(unresolved_inputs),
            missed: BTreeMap::new(),
        };
        resources.add_links(api);
        for dependency in resources.dependencies.iter().flatten() {
            for producer in &dependency.producers {
                let place = (producer.operation, producer.place.clone());
                resources.missed.insert(place, 0);
            }
        }
        resources
    }

    /// Records which referenced values a successful response contains.
    pub fn record_response(&mut self, operation: usize, has: impl Fn(&str) -> bool) {
        let first: (usize, Arc<str>) = (operation, "".into());
        let places = self.missed.range_mut(first..);
        let mut came = Vec::new();
        for ((_, place), missed) in places.take_while(|((of, _), _)| *of == operation) {
            if has(place) {
                came.push(place.clone());
            } else {
                *missed = missed.saturating_add(1);
            }
        }
        for place in came {
            self.missed.remove(&(operation, place));
        }
    }

    /// Confidence that a response contains a value; 1 unless it was missing before.
    #[must_use]
    pub fn confidence(&self, operation: usize, place: &Arc<str>) -> f64 {
        let missed = self.missed.get(&(operation, place.clone()));
        1.0 / f64::from(missed.map_or(1, |missed| missed.saturating_add(1)))
    }

    /// Whether all required inputs of an operation have a likely producer.
    #[must_use]
    pub fn is_provided(&self, operation: usize) -> bool {
        let producers = self.dependencies[operation]
            .iter()
            .flat_map(|dependency| &dependency.producers);
        let mut producers = producers.into_iter();
        producers
            .any(|producer| self.confidence(producer.operation, &producer.place) > MIN_CONFIDENCE)
    }

    /// The dependencies of an operation.
    #[must_use]
    pub fn dependencies(&self, operation: usize) -> &[Dependency] {
        &self.dependencies[operation]
    }

    /// The operation with this method on the same path, if there is one.
    #[must_use]
    pub fn sibling(&self, api: &Api, operation: usize, method: &str) -> Option<usize> {
        self.by_path
            .get(&api.operation(operation).path)?
            .iter()
            .copied()
            .find(|&other| &*api.operation(other).method == method)
    }

    /// All operations on the same path.
    #[must_use]
    pub fn on_path(&self, api: &Api, operation: usize) -> &[usize] {
        self.by_path
            .get(&api.operation(operation).path)
            .map_or(&[], Vec::as_slice)
    }

    /// Learns from a successful response of an operation with undocumented responses.
    pub fn learn(&mut self, api: &Api, operation: usize, body: &Value) {
        if std::mem::replace(&mut self.learned[operation], true) {
            return;
        }
        let mut leaves = Vec::new();
        json_leaves(body, &mut String::new(), DEPTH, &mut leaves);
        for unresolved in
            self.consumers
                .consumers_of(api, operation, &self.entities[operation], &leaves)
        {
            let producers =
                unresolved.matching_producers(api, operation, &self.entities[operation], &leaves);
            add_dependency(
                &mut self.dependencies[unresolved.consumer],
                unresolved,
                producers,
            );
        }
    }

    /// Learns from the links in a successful response: one that leads to another operation ends with an identifier of it.
    pub(crate) fn learn_links(&mut self, api: &Api, operation: usize, exchange: &Exchange) {
        if std::mem::replace(&mut self.has_learned_links[operation], true) {
            return;
        }
        for (place, text) in exchange.texts() {
            let Some(path) = path_of_link(&text) else {
                continue;
            };
            for consumer in 0..api.operations.len() {
                if let Some(name) = identifier_in(api.operation(consumer), path) {
                    let pointer = pointer_of(ParameterLocation::Path, name);
                    let place = Origin::Link(&place).to_string();
                    self.add_link(consumer, pointer, operation, place.into());
                }
            }
        }
    }

    fn add_links(&mut self, api: &Api) {
        for (producer, operation) in api.operations.iter().enumerate() {
            for link in operation
                .responses
                .iter()
                .flat_map(|response| &response.links)
            {
                let Some(consumer) = link.target else {
                    continue;
                };
                let target = api.operation(consumer);
                let parameters = link.parameters.iter().filter_map(|(name, expression)| {
                    Some((parameter_pointer(target, name)?, expression))
                });
                let body = link.body.iter().filter(|_| target.body.is_some());
                let body = body.map(|expression| ("/body".to_owned(), expression));
                for (pointer, expression) in parameters.chain(body) {
                    if let Some(place) = place_of(expression) {
                        self.add_link(consumer, pointer, producer, place);
                    }
                }
            }
        }
    }

    fn add_link(&mut self, consumer: usize, pointer: String, producer: usize, place: Arc<str>) {
        let record_response = vec![Producer {
            operation: producer,
            place,
            weight: 20,
        }];
        let dependencies = &mut self.dependencies[consumer];
        match dependencies
            .iter_mut()
            .find(|dependency| dependency.pointer == pointer)
        {
            Some(dependency) => add_producers(&mut dependency.producers, record_response),
            None => dependencies.push(Dependency {
                required: pointer.starts_with("/path/"),
                pointer,
                producers: record_response,
            }),
        }
    }
}

/// The place that an expression of a link names, unless values are not taken from there.
fn place_of(expression: &Expression) -> Option<Arc<str>> {
    let (pointer, json);
    let origin = match expression {
        Expression::ResponseBody(pointer) => Origin::Body(pointer),
        // What identifies the new thing is the end of where it is.
        Expression::ResponseHeader(name) if name.eq_ignore_ascii_case("location") => {
            Origin::Location
        }
        Expression::ResponseHeader(name) => Origin::Header(name),
        Expression::RequestBody(inner) => {
            pointer = format!("/body{inner}");
            Origin::Input(&pointer)
        }
        Expression::RequestParameter(location, name) => {
            pointer = pointer_of(*location, name);
            Origin::Input(&pointer)
        }
        Expression::Method => Origin::Method,
        Expression::StatusCode => Origin::Status,
        Expression::Constant(value) => {
            json = value.to_string();
            Origin::Given(&json)
        }
        Expression::Url => return None,
    };
    Some(origin.to_string().into())
}

/// The pointer of a parameter that a link names, `path.id` or just `id`.
fn parameter_pointer(operation: &Operation, name: &str) -> Option<String> {
    let (group, name) = match name.split_once('.') {
        Some((group, rest)) if ["path", "query", "header", "cookie"].contains(&group) => {
            (Some(group), rest)
        }
        _ => (None, name),
    };
    let parameter = operation.parameters.iter().find(|parameter| {
        &*parameter.name == name && group.is_none_or(|group| parameter.location.group() == group)
    })?;
    Some(pointer_of(parameter.location, &parameter.name))
}

fn pointer_of(location: ParameterLocation, name: &str) -> String {
    let mut pointer = format!("/{}", location.group());
    push_segment(&mut pointer, name);
    pointer
}

/// A simple value somewhere in an input or a response.
#[derive(Clone, Debug)]
struct Leaf {
    pointer: String,
    name: String,
    required: bool,
}

fn input_leaves(model: &Model, operation: &Operation) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = operation
        .parameters
        .iter()
        .map(|parameter| Leaf {
            pointer: pointer_of(parameter.location, &parameter.name),
            name: plain_name(&parameter.name),
            required: parameter.location == ParameterLocation::Path,
        })
        .collect();
    if let Some(media) = operation.body.as_ref().and_then(|body| body.media.first()) {
        node_leaves(
            model,
            media.node,
            &mut "/body".to_owned(),
            DEPTH,
            true,
            &mut leaves,
        );
    }
    leaves
}

fn response_leaves(model: &Model, operation: &Operation) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let successes = operation
        .responses
        .iter()
        .filter(|response| match response.status {
            crate::openapi::StatusPattern::Code(status) => (200..300).contains(&status),
            crate::openapi::StatusPattern::Range(digit) => digit == 2,
            crate::openapi::StatusPattern::Default => false,
        });
    for media in successes.flat_map(|response| &response.media) {
        if let Some(node) = media.node {
            node_leaves(model, node, &mut String::new(), DEPTH, true, &mut leaves);
        }
    }
    leaves
}

fn node_leaves(
    model: &Model,
    node: NodeId,
    pointer: &mut String,
    depth: usize,
    required: bool,
    leaves: &mut Vec<Leaf>,
) {
    if depth == 0 {
        return;
    }
    let end = pointer.len();
    match &model.node(node).domain {
        Domain::Object(object) => {
            for field in &object.fields {
                push_segment(pointer, &field.name);
                node_leaves(
                    model,
                    field.node,
                    pointer,
                    depth - 1,
                    required && field.required,
                    leaves,
                );
                pointer.truncate(end);
            }
        }
        Domain::Array(array) => {
            pointer.push_str("/0");
            node_leaves(model, array.item, pointer, depth - 1, false, leaves);
            pointer.truncate(end);
        }
        Domain::Choice(options) => {
            for &option in options {
                node_leaves(model, option, pointer, depth - 1, required, leaves);
            }
        }
        Domain::Integer(_) | Domain::Text(_) | Domain::Pattern(_) => {
            let name = plain_name(last_name(pointer));
            leaves.push(Leaf {
                pointer: pointer.clone(),
                name,
                required,
            });
        }
        Domain::Null
        | Domain::Boolean
        | Domain::Float(_)
        | Domain::DateTime(_)
        | Domain::Binary(_)
        | Domain::Enum(_) => {}
    }
}

/// The path of a text that is a link: a URL, or a path of at least one segment.
fn path_of_link(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_one_word = !text.contains(char::is_whitespace);
    let path = match text.split_once("://") {
        Some(("http" | "https", rest)) => &rest[rest.find('/')?..],
        _ => text,
    };
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    (is_one_word && path.starts_with('/') && path.len() > 1).then_some(path)
}

/// The parameter that is the last segment of an operation's path, if a path or its end could be one of its URLs.
///
/// A path without literals fits every link, so it must fit the whole path.
fn identifier_in<'a>(operation: &'a Operation, path: &str) -> Option<&'a str> {
    let Some(PathPiece::Parameter(name)) = operation.segments.last() else {
        return None;
    };
    let template: Vec<&str> = operation.path.split('/').skip(1).collect();
    let own: Vec<&str> = path.split('/').skip(1).collect();
    let skipped = own.len().checked_sub(template.len())?;
    let is_whole = |segment: &str| segment.starts_with('{') && segment.ends_with('}');
    let fits = |(segment, own): (&&str, &&str)| is_whole(segment) || segment == own;
    let has_literal = template.iter().any(|segment| !is_whole(segment));
    ((has_literal || skipped == 0)
        && template.last().is_some_and(|last| is_whole(last))
        && template.iter().zip(own.iter().skip(skipped)).all(fits))
    .then_some(&**name)
}

fn json_leaves(value: &Value, pointer: &mut String, depth: usize, leaves: &mut Vec<Leaf>) {
    if depth == 0 {
        return;
    }
    let end = pointer.len();
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                push_segment(pointer, name);
                json_leaves(value, pointer, depth - 1, leaves);
                pointer.truncate(end);
            }
        }
        Value::Array(items) => {
            if let Some(first) = items.first() {
                pointer.push_str("/0");
                json_leaves(first, pointer, depth - 1, leaves);
                pointer.truncate(end);
            }
        }
        Value::String(_) | Value::Number(_) => {
            let name = plain_name(last_name(pointer));
            leaves.push(Leaf {
                pointer: pointer.clone(),
                name,
                required: true,
            });
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// The last segment of a pointer that is a name and not an index.
fn last_name(pointer: &str) -> &str {
    pointer
        .rsplit('/')
        .find(|segment| segment.parse::<usize>().is_err())
        .unwrap_or_default()
}

/// A name in small letters, without what writers put between words.
pub(crate) fn plain_name(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// A word in the singular, as far as its ending tells.
fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["ches", "shes", "xes", "sses"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) && stem.len() > 1 => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// What the path is about: its last word, in the singular.
fn entity_of_path(operation: &Operation) -> String {
    let word = operation
        .path
        .split('/')
        .rev()
        .find(|segment| !segment.is_empty() && !segment.contains('{'));
    singular(&plain_name(word.unwrap_or_default()))
}

/// What an identifier identifies, or `None` when the name does not look like one.
fn entity_of_name(name: &str) -> Option<&str> {
    ["uuid", "guid", "id", "key", "code", "ref", "slug"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
}

/// The words of a path before a parameter: the entity and the path of the collection.
fn before_parameter(operation: &Operation, name: &str) -> Option<(String, String)> {
    let mut path = String::new();
    for piece in &operation.segments {
        match piece {
            PathPiece::Text(text) => path.push_str(text),
            PathPiece::Parameter(parameter) if **parameter == *name => {
                let collection = path.trim_end_matches('/').to_owned();
                let word = collection
                    .rsplit('/')
                    .find(|segment| !segment.is_empty() && !segment.contains('{'))
                    .unwrap_or_default();
                return Some((singular(&plain_name(word)), collection));
            }
            PathPiece::Parameter(parameter) => {
                path.push('{');
                path.push_str(parameter);
                path.push('}');
            }
        }
    }
    None
}

/// Adds producers, keeps the likeliest, in a stable order.
fn add_producers(all: &mut Vec<Producer>, more: Vec<Producer>) {
    for producer in more {
        if !all
            .iter()
            .any(|known| known.operation == producer.operation && known.place == producer.place)
        {
            all.push(producer);
        }
    }
    all.sort_by(|a, b| {
        b.weight
            .cmp(&a.weight)
            .then(a.operation.cmp(&b.operation))
            .then_with(|| a.place.cmp(&b.place))
    });
    all.truncate(MAX_PRODUCERS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::{NoLoader, read};

    const DOCUMENT: &str = r#"
openapi: 3.0.0
info: {title: Harbor, version: '1'}
paths:
  /companies:
    post:
      responses: {'201': {description: made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}
  /companies/{id}/boats:
    post:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      requestBody: {content: {application/json: {schema: {type: object, required: [ownerId], properties: {ownerId: {type: integer}, name: {type: string}}}}}}
      responses: {'201': {description: made}}
  /owners:
    get:
      responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {type: object, properties: {id: {type: integer}}}}}}}}
  /companies/{id}/boats/{boatName}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}, {name: boatName, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: one}}
"#;

    fn dependencies(resources: &Resources, api: &Api, operation: usize) -> Vec<String> {
        let show = |dependency: &Dependency| {
            let producers: Vec<String> = dependency
                .producers
                .iter()
                .map(|producer| {
                    format!(
                        "{} {}",
                        api.operations[producer.operation].name(),
                        producer.place
                    )
                })
                .collect();
            format!("{} <- {}", dependency.pointer, producers.join(", "))
        };
        resources.dependencies(operation).iter().map(show).collect()
    }

    #[test]
    fn identifiers_come_from_whoever_makes_or_lists_the_thing() {
        let api = read(DOCUMENT, "harbor.yaml", &NoLoader).expect("a good document");
        let resources = Resources::of(&api);
        assert_eq!(
            dependencies(&resources, &api, 1),
            [
                "/path/id <- POST /companies body/id, POST /companies location",
                "/body/ownerId <- GET /owners body/0/id"
            ]
        );
    }

    #[test]
    fn what_a_document_keeps_quiet_about_is_learned_from_answers() {
        let api = read(DOCUMENT, "harbor.yaml", &NoLoader).expect("a good document");
        let mut resources = Resources::of(&api);
        let boat = |resources: &Resources| {
            dependencies(resources, &api, 3)
                .into_iter()
                .find(|dependency| dependency.starts_with("/path/boatName"))
        };
        assert_eq!(
            boat(&resources).as_deref(),
            Some("/path/boatName <- POST /companies/{id}/boats location")
        );
        resources.learn(&api, 1, &serde_json::json!({"boatName": "gull"}));
        assert_eq!(
            boat(&resources).as_deref(),
            Some(
                "/path/boatName <- POST /companies/{id}/boats body/boatName, POST /companies/{id}/boats location"
            )
        );
    }

    #[test]
    fn values_that_never_come_lose_confidence_until_one_comes() {
        let api = read(DOCUMENT, "harbor.yaml", &NoLoader).expect("a good document");
        let mut resources = Resources::of(&api);
        let (id, location): (Arc<str>, Arc<str>) = ("body/id".into(), "location".into());
        assert!(resources.is_provided(1));
        for _ in 0..3 {
            resources.record_response(0, |place| place == "body/id");
        }
        assert_eq!(resources.confidence(0, &id), 1.0);
        assert_eq!(resources.confidence(0, &location), 0.25);
        assert!(resources.is_provided(1));
        resources.record_response(0, |place| place == "location");
        assert_eq!(resources.confidence(0, &location), 1.0);
        // Nothing is to be had from responses without anything.
        let mut silent = Resources::of(&api);
        for operation in 0..3 {
            (0..3).for_each(|_| silent.record_response(operation, |_| false));
        }
        assert!(!silent.is_provided(1));
    }

    #[test]
    fn words_are_put_into_the_singular() {
        let words = [
            "boats",
            "companies",
            "boxes",
            "classes",
            "status",
            "news",
            "bus",
        ]
        .map(singular);
        assert_eq!(
            words,
            ["boat", "company", "box", "class", "status", "new", "bus"]
        );
    }
}
