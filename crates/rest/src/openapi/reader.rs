//! Reads the frame of a document: version, servers, paths and operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{Domain, Field, NodeId, ObjectDomain};
use serde_json::{Map, Value as Json};

use super::api::{Api, Body, Operation, Parameter, ParameterLocation, PathPiece, Server, Version};
use super::document::{DocumentPlace, Documents, Loader};
use super::limitation::LimitationKind;
use super::response::LinkTarget;
use super::schema::{BundleBuilder, NodeBuilder};
use super::source;

/// Why a text is not an API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is neither JSON nor YAML.
    #[error("{location}:{line}:{column}: {message}")]
    Syntax {
        /// The file or URL.
        location: String,
        /// The line, from one.
        line: usize,
        /// The column, from one.
        column: usize,
        /// What was expected.
        message: String,
    },
    /// It is JSON or YAML, but has neither `openapi` nor `swagger` at the top.
    #[error("{location}: not an OpenAPI document: neither `openapi` nor `swagger` is at the top")]
    NotOpenApi {
        /// The file or URL.
        location: String,
    },
    /// A version that does not exist, or not yet.
    #[error("{location}: OpenAPI version `{found}` is not known; 2.0, 3.0, 3.1 and 3.2 are")]
    UnknownVersion {
        /// The file or URL.
        location: String,
        /// What the document says.
        found: String,
    },
}

/// Operations beyond which the rest is left out.
const MAX_OPERATIONS: usize = 100_000;

/// Reads an API from the text of its document.
///
/// `location` is the file or URL of the text; references to other documents are relative to it, and
/// are fetched through `loader`.
///
/// # Errors
/// When the text is not an OpenAPI document at all. Whatever is wrong inside one is a limitation.
pub fn read(text: &str, location: &str, loader: &dyn Loader) -> Result<Api, ReadError> {
    let json = source::parse(text).map_err(|error| ReadError::Syntax {
        location: location.to_owned(),
        line: error.line,
        column: error.column,
        message: error.message,
    })?;
    let version = version(&json, location)?;
    let documents = Documents::new(location, text, json, loader);
    Ok(Reader::new(documents, version).read())
}

fn version(json: &Json, location: &str) -> Result<Version, ReadError> {
    let found = match (json.get("openapi"), json.get("swagger")) {
        (Some(version), _) | (None, Some(version)) => isobath_genes::plain(version).into_owned(),
        (None, None) => {
            return Err(ReadError::NotOpenApi {
                location: location.to_owned(),
            });
        }
    };
    let mut numbers = found.split('.');
    match (numbers.next(), numbers.next()) {
        (Some("2"), _) => Ok(Version::V2_0),
        (Some("3"), Some("0")) | (Some("3"), None) => Ok(Version::V3_0),
        (Some("3"), Some("1")) => Ok(Version::V3_1),
        (Some("3"), Some("2")) => Ok(Version::V3_2),
        _ => Err(ReadError::UnknownVersion {
            location: location.to_owned(),
            found,
        }),
    }
}

/// What is being read, shared by the modules that read its parts.
pub(super) struct Reader<'l> {
    pub(super) documents: Documents<'l>,
    pub(super) version: Version,
    pub(super) nodes: NodeBuilder,
    pub(super) bundle: BundleBuilder,
    /// Where the links read so far lead; operations they name may come later.
    pub(super) link_targets: Vec<LinkTarget>,
}

const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];

impl<'l> Reader<'l> {
    fn new(documents: Documents<'l>, version: Version) -> Self {
        Self {
            documents,
            version,
            nodes: NodeBuilder::new(),
            bundle: BundleBuilder::default(),
            link_targets: Vec::new(),
        }
    }

    pub(super) fn is_v2(&self) -> bool {
        self.version == Version::V2_0
    }

    pub(super) fn malformed(&mut self, place: &DocumentPlace, detail: impl Into<String>) {
        self.documents
            .limit(LimitationKind::Malformed, place, detail);
    }

    /// The object at a place after its references, with the place where it was found.
    pub(super) fn object(
        &mut self,
        place: &DocumentPlace,
    ) -> Option<(DocumentPlace, Map<String, Json>)> {
        let place = self.documents.follow(place)?;
        match self.documents.get(&place) {
            Some(Json::Object(map)) => Some((place.clone(), map.clone())),
            _ => {
                self.malformed(&place, "expected an object");
                None
            }
        }
    }

    /// The names in an object that may be missing, without extensions; the values are not copied.
    pub(super) fn names(&mut self, place: &DocumentPlace) -> Vec<String> {
        match self.documents.get(place) {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Object(map)) => map
                .keys()
                .filter(|name| !name.starts_with("x-"))
                .cloned()
                .collect(),
            Some(_) => {
                self.malformed(place, "expected an object");
                Vec::new()
            }
        }
    }

    fn read(mut self) -> Api {
        let root = self.documents.root();
        let schemas = if self.is_v2() {
            root.child("definitions")
        } else {
            root.child("components").child("schemas")
        };
        self.nodes.find_subtypes(&mut self.documents, &schemas);
        let security_schemes = self.security_schemes(&root);
        let security = self.security(&root.child("security")).unwrap_or_default();
        let servers = self.root_servers(&root);
        let mut operations = Vec::new();
        let paths = root.child("paths");
        for path in self.names(&paths) {
            self.path(&path, &paths.child(&path), &security, &mut operations);
        }
        if operations.is_empty() {
            self.malformed(&paths, "no operations");
        }
        for part in ["webhooks"] {
            for name in self.names(&root.child(part)) {
                let place = root.child(part).child(&name);
                self.documents.limit(
                    LimitationKind::Callback,
                    &place,
                    format!("`{name}` is called by the service and not tested"),
                );
            }
        }
        self.resolve_links(&mut operations);
        let title = self
            .documents
            .get(&root.child("info").child("title"))
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned();
        let bundle = self.bundle.finish(&mut self.documents);
        self.nodes.work(&mut self.documents);
        let xml = self.nodes.take_xml();
        let model = self.nodes.finish(&mut self.documents);
        Api {
            version: self.version,
            title,
            servers,
            operations,
            security_schemes,
            model: Arc::new(model),
            xml,
            bundle,
            limitations: self.documents.limitations,
        }
    }

    fn path(
        &mut self,
        path: &str,
        place: &DocumentPlace,
        security: &[super::api::SecurityRequirement],
        operations: &mut Vec<Operation>,
    ) {
        let Some(place) = self.documents.follow(place) else {
            return;
        };
        let shared = self.parameter_places(&place.child("parameters"));
        let servers = self.servers(&place.child("servers"));
        for key in self.names(&place) {
            let key_place = place.child(&key);
            let lower = key.to_ascii_lowercase();
            if METHODS.contains(&lower.as_str()) {
                self.operation(
                    path,
                    &lower,
                    &key_place,
                    (&shared, &servers, security),
                    operations,
                );
            } else if key == "additionalOperations" {
                for method in self.names(&key_place) {
                    let place = key_place.child(&method);
                    self.operation(
                        path,
                        &method,
                        &place,
                        (&shared, &servers, security),
                        operations,
                    );
                }
            }
        }
    }

    fn operation(
        &mut self,
        path: &str,
        method: &str,
        place: &DocumentPlace,
        (shared, servers, security): (
            &[DocumentPlace],
            &[Server],
            &[super::api::SecurityRequirement],
        ),
        operations: &mut Vec<Operation>,
    ) {
        if operations.len() >= MAX_OPERATIONS {
            if operations.len() == MAX_OPERATIONS {
                self.documents.limit(
                    LimitationKind::TooLarge,
                    place,
                    format!("more than {MAX_OPERATIONS} operations"),
                );
            }
            return;
        }
        let Some(place) = self.documents.follow(place) else {
            return;
        };
        if !matches!(self.documents.get(&place), Some(Json::Object(_))) {
            self.malformed(&place, "an operation must be an object");
            return;
        }
        let mut parameters = Vec::new();
        let mut form = Vec::new();
        let mut body_parameter = None;
        let own = self.parameter_places(&place.child("parameters"));
        // An operation's own parameters go before those of its path.
        for (i, parameter) in own.iter().chain(shared).enumerate() {
            self.parameter(
                parameter,
                i < own.len(),
                (&mut parameters, &mut form, &mut body_parameter),
            );
        }
        let (path, segments) = self.path_pieces(path, &place, &mut parameters);
        let body = if self.is_v2() {
            self.v2_body(&place, body_parameter, &form)
        } else {
            self.body(&place.child("requestBody"))
        };
        for name in self.names(&place.child("callbacks")) {
            let place = place.child("callbacks").child(&name);
            let detail = format!("`{name}` is called by the service and not tested");
            self.documents
                .limit(LimitationKind::Callback, &place, detail);
        }
        let responses = self.responses(&place);
        let input = self.input(&parameters, body.as_ref());
        let operation_id = self.documents.get(&place.child("operationId"));
        let operation_id = operation_id
            .and_then(|json| json.as_str()?.lines().next())
            .map(Into::into);
        let own_servers = self.servers(&place.child("servers"));
        let own_security = self.security(&place.child("security"));
        operations.push(Operation {
            method: method.to_ascii_uppercase().into(),
            path,
            segments,
            operation_id,
            tags: self.tags(&place),
            deprecated: self.documents.get(&place.child("deprecated")) == Some(&Json::Bool(true)),
            parameters,
            body,
            responses,
            security: own_security.unwrap_or_else(|| security.to_vec()),
            servers: if own_servers.is_empty() {
                servers.to_vec()
            } else {
                own_servers
            },
            input,
            place: self.documents.show_briefly(&place),
        });
    }

    fn tags(&self, place: &DocumentPlace) -> Vec<Arc<str>> {
        let tags = self
            .documents
            .get(&place.child("tags"))
            .and_then(Json::as_array);
        tags.into_iter()
            .flatten()
            .filter_map(|tag| tag.as_str().map(Into::into))
            .collect()
    }

    /// Cuts a path at its placeholders, and makes it agree with its parameters.
    fn path_pieces(
        &mut self,
        path: &str,
        place: &DocumentPlace,
        parameters: &mut Vec<Parameter>,
    ) -> (Arc<str>, Vec<PathPiece>) {
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            self.malformed(place, format!("path `{path}` does not start with a slash"));
            format!("/{path}")
        };
        let mut pieces = Vec::new();
        let mut rest = path.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else {
                break;
            };
            if !before.is_empty() {
                pieces.push(PathPiece::Text(before.into()));
            }
            pieces.push(PathPiece::Parameter(name.into()));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(PathPiece::Text(rest.into()));
        }
        for piece in &pieces {
            let PathPiece::Parameter(name) = piece else {
                continue;
            };
            let described = parameters
                .iter()
                .any(|p| p.location == ParameterLocation::Path && p.name == *name);
            if !described {
                let detail =
                    format!("path parameter `{{{name}}}` is not declared; sent as a string");
                self.documents
                    .limit(LimitationKind::PathTemplate, place, detail);
                let parameter = self.undescribed(name);
                parameters.push(parameter);
            }
        }
        parameters.retain(|parameter| {
            let used = parameter.location != ParameterLocation::Path
                || pieces.contains(&PathPiece::Parameter(parameter.name.clone()));
            if !used {
                let detail = format!("path parameter `{}` is not in the path", parameter.name);
                self.documents
                    .limit(LimitationKind::PathTemplate, place, detail);
            }
            used
        });
        (path.into(), pieces)
    }

    /// All inputs of an operation as one node.
    fn input(&mut self, parameters: &[Parameter], body: Option<&Body>) -> NodeId {
        let mut fields = Vec::new();
        for location in [
            ParameterLocation::Path,
            ParameterLocation::Query,
            ParameterLocation::Header,
            ParameterLocation::Cookie,
        ] {
            let group: Vec<Field> = parameters
                .iter()
                .filter(|parameter| parameter.location == location)
                .map(|parameter| Field {
                    name: parameter.name.clone(),
                    node: parameter.node,
                    required: parameter.required,
                })
                .collect();
            if !group.is_empty() {
                let node = self.nodes.add(object(group));
                fields.push(Field {
                    name: location.group().into(),
                    node,
                    required: true,
                });
            }
        }
        if let Some(body) = body {
            let options = body.media.iter().map(|media| media.node).collect();
            let node = self.nodes.add(Domain::Choice(options));
            fields.push(Field {
                name: "body".into(),
                node,
                required: body.required,
            });
        }
        self.nodes.add(object(fields))
    }

    fn root_servers(&mut self, root: &DocumentPlace) -> Vec<Server> {
        if !self.is_v2() {
            return self.servers(&root.child("servers"));
        }
        let text = |name: &str| {
            let json = self.documents.get(&root.child(name));
            json.and_then(Json::as_str).unwrap_or_default().to_owned()
        };
        let (host, base) = (text("host"), text("basePath"));
        if host.is_empty() {
            return vec![Server { url: base }];
        }
        let schemes: Vec<String> = self
            .documents
            .get(&root.child("schemes"))
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(|scheme| scheme.as_str().map(str::to_owned))
            .collect();
        let schemes = if schemes.is_empty() {
            vec!["http".to_owned()]
        } else {
            schemes
        };
        schemes
            .iter()
            .map(|scheme| Server {
                url: format!("{scheme}://{host}{base}"),
            })
            .collect()
    }

    fn servers(&mut self, place: &DocumentPlace) -> Vec<Server> {
        let servers = self.documents.get(place).and_then(Json::as_array);
        servers
            .into_iter()
            .flatten()
            .filter_map(|server| {
                let mut url = server.get("url")?.as_str()?.to_owned();
                let variables = server.get("variables").and_then(Json::as_object);
                for (name, variable) in variables.into_iter().flatten() {
                    let default = variable.get("default").map(isobath_genes::plain);
                    url = url.replace(&format!("{{{name}}}"), &default.unwrap_or_default());
                }
                Some(Server { url })
            })
            .collect()
    }

    /// Turns the names and references of links into operations.
    fn resolve_links(&mut self, operations: &mut [Operation]) {
        let mut by_id = BTreeMap::new();
        let mut by_place = BTreeMap::new();
        for (i, operation) in operations.iter().enumerate() {
            if let Some(id) = &operation.operation_id
                && by_id.insert(id.clone(), i).is_some()
            {
                let detail = format!("duplicate operation id `{id}`");
                let place = operation.place.clone();
                let limitations = &mut self.documents.limitations;
                limitations.add(LimitationKind::Duplicate, detail, place);
            }
            let place = &operation.place;
            by_place.insert((place.location.clone(), place.pointer.clone()), i);
        }
        self.link_targets(operations, &by_id, &by_place);
    }
}

pub(super) fn object(fields: Vec<Field>) -> Domain {
    Domain::Object(ObjectDomain {
        fields: fields.into(),
        extra: None,
        closed: false,
        min: 0,
        max: None,
    })
}
