//! Documented responses and links.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::plain;
use serde_json::Value as Json;

use super::api::{
    DocumentedResponse, Expression, Link, Operation, ParameterLocation, ResponseHeader,
    ResponseMedia, StatusPattern,
};
use super::document::DocumentPlace;
use super::limitation::LimitationKind;
use super::reader::Reader;
use super::schema::Direction;

impl Reader<'_> {
    /// The answers of the operation at a place.
    pub(super) fn responses(&mut self, operation: &DocumentPlace) -> Vec<DocumentedResponse> {
        let place = operation.child("responses");
        let mut responses = Vec::new();
        for status in self.names(&place) {
            let response = place.child(&status);
            let Some(pattern) = StatusPattern::read(&status) else {
                self.malformed(&response, format!("`{status}` is not a status"));
                continue;
            };
            let Some((response, _)) = self.object(&response) else {
                continue;
            };
            let headers = self.response_headers(&response.child("headers"));
            let media = if self.is_v2() {
                self.v2_response_media(operation, &response)
            } else {
                self.response_media(&response.child("content"))
            };
            responses.push(DocumentedResponse {
                status: pattern,
                headers,
                media,
                links: self.links(&response.child("links")),
            });
        }
        responses
    }

    fn response_headers(&mut self, place: &DocumentPlace) -> Vec<ResponseHeader> {
        let mut headers = Vec::new();
        for name in self.names(place) {
            let Some((header, map)) = self.object(&place.child(&name)) else {
                continue;
            };
            let schema = if self.is_v2() {
                Some(header.clone())
            } else {
                map.contains_key("schema").then(|| header.child("schema"))
            };
            headers.push(ResponseHeader {
                name: name.as_str().into(),
                required: map.get("required") == Some(&Json::Bool(true)),
                node: schema.map(|schema| {
                    self.nodes
                        .schema(&mut self.documents, &schema, Direction::Response)
                }),
            });
        }
        headers
    }

    fn response_media(&mut self, content: &DocumentPlace) -> Vec<ResponseMedia> {
        let mut media = Vec::new();
        for content_type in self.names(content) {
            let Some((place, map)) = self.object(&content.child(&content_type)) else {
                continue;
            };
            let schema = map.contains_key("schema").then(|| place.child("schema"));
            media.push(self.media(&content_type, schema));
        }
        media
    }

    fn v2_response_media(
        &mut self,
        operation: &DocumentPlace,
        response: &DocumentPlace,
    ) -> Vec<ResponseMedia> {
        let schema = response.child("schema");
        if self.documents.get(&schema).is_none() {
            return Vec::new();
        }
        let produces = self.v2_types(operation, "produces");
        let any = ["*/*".to_owned()];
        let produces = if produces.is_empty() {
            &any[..]
        } else {
            &produces
        };
        produces
            .iter()
            .map(|content_type| self.media(content_type, Some(schema.clone())))
            .collect()
    }

    fn media(&mut self, content_type: &str, schema: Option<DocumentPlace>) -> ResponseMedia {
        let node = schema.as_ref().map(|schema| {
            self.nodes
                .schema(&mut self.documents, schema, Direction::Response)
        });
        ResponseMedia {
            content_type: content_type.into(),
            schema: schema.and_then(|schema| self.bundle.schema(&schema)),
            node,
        }
    }

    fn links(&mut self, place: &DocumentPlace) -> Vec<Link> {
        let mut links = Vec::new();
        for name in self.names(place) {
            let Some((place, map)) = self.object(&place.child(&name)) else {
                continue;
            };
            let parameters = map.get("parameters").and_then(Json::as_object);
            let parameters = parameters
                .into_iter()
                .flatten()
                .filter_map(|(name, json)| {
                    let expression = self.expression(&place, json)?;
                    self.limit_unfollowed(&place, name, &expression, json);
                    Some((name.as_str().into(), expression))
                })
                .collect();
            let body = map.get("requestBody").and_then(|json| {
                let expression = self.expression(&place, json)?;
                self.limit_unfollowed(&place, "requestBody", &expression, json);
                Some(expression)
            });
            if map.contains_key("server") {
                let detail = "the server of a link is ignored";
                self.documents.limit(LimitationKind::Link, &place, detail);
            }
            let text = |name: &str| map.get(name).and_then(Json::as_str).map(str::to_owned);
            let target = match (text("operationId"), text("operationRef")) {
                (Some(id), _) => TargetName::Id(id),
                (None, Some(reference)) => TargetName::Reference(reference),
                (None, None) => TargetName::None,
            };
            self.link_targets.push(LinkTarget {
                place: place.clone(),
                name: target,
            });
            links.push(Link {
                name: name.as_str().into(),
                target: None,
                parameters,
                body,
            });
        }
        links
    }

    fn limit_unfollowed(
        &mut self,
        place: &DocumentPlace,
        name: &str,
        from: &Expression,
        json: &Json,
    ) {
        if !from.is_followed() {
            let detail = format!("`{name}` is not taken from `{}`", plain(json));
            self.documents.limit(LimitationKind::Link, place, detail);
        }
    }

    fn expression(&mut self, place: &DocumentPlace, json: &Json) -> Option<Expression> {
        let Some(text) = json.as_str() else {
            return Some(Expression::Constant(json.clone()));
        };
        // `{$response.body#/id}` is the same inside a longer text; alone it needs no braces.
        let text = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'))
            .filter(|text| text.starts_with('$'))
            .unwrap_or(text);
        let read = expression(text);
        if read.is_none() {
            let detail = format!("expression `{text}`");
            self.documents.limit(LimitationKind::Link, place, detail);
        }
        read
    }

    /// Sets the targets of all links, now that all operations are known.
    ///
    /// Targets were noted in the order in which links were read, which is the order of operations.
    pub(super) fn link_targets(
        &mut self,
        operations: &mut [Operation],
        by_id: &BTreeMap<Arc<str>, usize>,
        by_place: &BTreeMap<(Arc<str>, Arc<str>), usize>,
    ) {
        let links = operations
            .iter_mut()
            .flat_map(|operation| &mut operation.responses)
            .flat_map(|response| &mut response.links);
        for (link, target) in links.zip(std::mem::take(&mut self.link_targets)) {
            link.target = match &target.name {
                TargetName::Id(id) => by_id.get(id.as_str()).copied(),
                TargetName::Reference(reference) => self
                    .documents
                    .target(&target.place, reference)
                    .map(|place| self.documents.show_briefly(&place))
                    .and_then(|place| by_place.get(&(place.location, place.pointer)).copied()),
                TargetName::None => None,
            };
            if link.target.is_none() {
                let detail = format!("link `{}` refers to an unknown operation", link.name);
                self.documents
                    .limit(LimitationKind::Link, &target.place, detail);
            }
        }
    }
}

/// Where a link leads, in the words of the document.
pub(super) struct LinkTarget {
    place: DocumentPlace,
    name: TargetName,
}

enum TargetName {
    Id(String),
    Reference(String),
    None,
}

fn expression(text: &str) -> Option<Expression> {
    let Some(expression) = text.strip_prefix('$') else {
        // An expression within a longer text is more than a value that can be taken over.
        return (!text.contains("{$")).then(|| Expression::Constant(Json::String(text.to_owned())));
    };
    match expression {
        "url" => return Some(Expression::Url),
        "method" => return Some(Expression::Method),
        "statusCode" => return Some(Expression::StatusCode),
        _ => {}
    }
    let (side, source) = expression.split_once('.')?;
    let body = |source: &str| {
        let pointer = source.strip_prefix("body")?;
        Some(pointer.strip_prefix('#').unwrap_or(pointer).into())
    };
    match side {
        "response" => match source.strip_prefix("header.") {
            Some(name) => Some(Expression::ResponseHeader(name.into())),
            None => body(source).map(Expression::ResponseBody),
        },
        "request" => {
            let parameter = |prefix: &str, location| {
                let name = source.strip_prefix(prefix)?;
                Some(Expression::RequestParameter(location, name.into()))
            };
            parameter("path.", ParameterLocation::Path)
                .or_else(|| parameter("query.", ParameterLocation::Query))
                .or_else(|| parameter("header.", ParameterLocation::Header))
                .or_else(|| body(source).map(Expression::RequestBody))
        }
        _ => None,
    }
}
