//! Parameters of all locations and styles.

use std::sync::Arc;

use isobath_genes::{Domain, Example, NodeId, TextDomain};
use serde_json::{Map, Value as Json};

use super::api::{MediaKind, Parameter, ParameterLocation, Style};
use super::body::media_kind;
use super::document::DocumentPlace;
use super::limitation::LimitationKind;
use super::reader::Reader;
use super::schema::Direction;

/// A `formData` parameter of Swagger, to become a property of the body.
pub(super) struct FormParameter {
    pub(super) name: Arc<str>,
    pub(super) required: bool,
    pub(super) node: NodeId,
    pub(super) is_file: bool,
    pub(super) style: Style,
    pub(super) explode: bool,
}

impl Reader<'_> {
    /// The places of the parameters in a list.
    pub(super) fn parameter_places(&mut self, place: &DocumentPlace) -> Vec<DocumentPlace> {
        match self.documents.get(place) {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(items)) => (0..items.len()).map(|i| place.item(i)).collect(),
            Some(_) => {
                self.malformed(place, "`parameters` must be a list");
                Vec::new()
            }
        }
    }

    /// Reads a parameter into where it belongs, unless one of its name is there already.
    pub(super) fn parameter(
        &mut self,
        place: &DocumentPlace,
        is_own: bool,
        (parameters, form, body): (
            &mut Vec<Parameter>,
            &mut Vec<FormParameter>,
            &mut Option<DocumentPlace>,
        ),
    ) {
        let Some((place, map)) = self.object(place) else {
            return;
        };
        let text = |name: &str| map.get(name).and_then(Json::as_str);
        let (Some(name), Some(location)) = (text("name"), text("in")) else {
            self.malformed(&place, "a parameter requires `name` and `in`");
            return;
        };
        let required = map.get("required") == Some(&Json::Bool(true));
        let location = match location {
            "path" => ParameterLocation::Path,
            "query" | "querystring" => ParameterLocation::Query,
            "header" => ParameterLocation::Header,
            "cookie" => ParameterLocation::Cookie,
            "body" => {
                body.get_or_insert(place);
                return;
            }
            "formData" => {
                let form_parameter = self.form_parameter(&place, name, required, &map);
                form.push(form_parameter);
                return;
            }
            other => {
                let detail = format!("parameter `{name}` is in `{other}`");
                self.documents
                    .limit(LimitationKind::Parameter, &place, detail);
                return;
            }
        };
        // Content negotiation is ours to do.
        let is_negotiation = ["accept", "content-type"]
            .iter()
            .any(|negotiated| name.eq_ignore_ascii_case(negotiated));
        if location == ParameterLocation::Header && is_negotiation {
            return;
        }
        // A name that no request can carry would make every call of the operation fail.
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if location == ParameterLocation::Header && (name.is_empty() || !name.chars().all(is_token))
        {
            let detail = format!("`{name}` is not a valid header name");
            self.documents
                .limit(LimitationKind::Parameter, &place, detail);
            return;
        }
        if parameters
            .iter()
            .any(|other| other.location == location && *other.name == *name)
        {
            if is_own {
                let detail = format!("duplicate parameter `{name}`");
                self.documents
                    .limit(LimitationKind::Duplicate, &place, detail);
            }
            return;
        }
        let (style, explode) = self.style(&place, location, &map);
        let node = self.parameter_node(&place, &map, location);
        parameters.push(Parameter {
            name: name.into(),
            location,
            required: required || location == ParameterLocation::Path,
            style,
            explode,
            allow_reserved: map.get("allowReserved") == Some(&Json::Bool(true)),
            node,
        });
    }

    fn style(
        &mut self,
        place: &DocumentPlace,
        location: ParameterLocation,
        map: &Map<String, Json>,
    ) -> (Style, bool) {
        use ParameterLocation::{Cookie, Header, Path, Query};
        let text = |name: &str| map.get(name).and_then(Json::as_str);
        let usual = match location {
            Path | Header => Style::Simple,
            Query | Cookie => Style::Form,
        };
        if text("in") == Some("querystring") {
            return (Style::WholeQuery, true);
        }
        if let Some(Json::Object(content)) = map.get("content") {
            let media = content.keys().next();
            return match media.and_then(|media| media_kind(media)) {
                // Text needs no quotes.
                Some(MediaKind::Text) => (usual, false),
                _ => (Style::Json, false),
            };
        }
        if self.is_v2() {
            return collection_format(text("collectionFormat"), usual);
        }
        let style = match (text("style"), location) {
            (None, _) => usual,
            (Some("form"), Query | Cookie) | (Some("cookie"), Cookie) => Style::Form,
            (Some("simple"), Path | Header) => Style::Simple,
            (Some("label"), Path) => Style::Label,
            (Some("matrix"), Path) => Style::Matrix,
            (Some("spaceDelimited"), Query) => Style::SpaceDelimited,
            (Some("pipeDelimited"), Query) => Style::PipeDelimited,
            (Some("deepObject"), Query) => Style::DeepObject,
            (Some(other), _) => {
                let detail = format!("style `{other}` in {}", location.group());
                self.documents
                    .limit(LimitationKind::Parameter, place, detail);
                usual
            }
        };
        let explode = match map.get("explode").and_then(Json::as_bool) {
            Some(explode) => explode,
            None => style == Style::Form,
        };
        (style, explode)
    }

    fn parameter_node(
        &mut self,
        place: &DocumentPlace,
        map: &Map<String, Json>,
        location: ParameterLocation,
    ) -> NodeId {
        let mut examples = self.examples(place, map);
        let schema = if map.contains_key("content") {
            let media = self.names(&place.child("content")).into_iter().next();
            media.map(|media| {
                let media = place.child("content").child(&media);
                if let Some((media, map)) = self.object(&media) {
                    examples.extend(self.examples(&media, &map));
                    media.child("schema")
                } else {
                    media
                }
            })
        } else if map.contains_key("schema") {
            Some(place.child("schema"))
        } else if self.is_v2() || map.contains_key("type") {
            // Swagger keeps the schema in the parameter itself, and so do some who know better.
            Some(place.clone())
        } else {
            None
        };
        let node = match schema {
            Some(schema) if self.documents.get(&schema).is_some() => {
                self.nodes
                    .schema(&mut self.documents, &schema, Direction::Request)
            }
            _ => self.nodes.add(Domain::Text(TextDomain::any())),
        };
        let node = if location == ParameterLocation::Path {
            self.nodes.not_empty(&mut self.documents, node)
        } else if location == ParameterLocation::Query {
            self.or_empty(node, map)
        } else {
            node
        };
        self.nodes
            .with_examples(&mut self.documents, node, examples, place)
    }

    /// The same values and none, where `allowEmptyValue` says that the name may be sent alone.
    fn or_empty(&mut self, node: NodeId, map: &Map<String, Json>) -> NodeId {
        if map.get("allowEmptyValue") != Some(&Json::Bool(true)) {
            return node;
        }
        let none: Arc<Json> = Arc::new(Json::String(String::new()));
        let empty = self.nodes.add(Domain::Enum([none].into()));
        self.nodes.add(Domain::Choice([node, empty].into()))
    }

    /// A path parameter that the path names and nothing describes.
    pub(super) fn undescribed(&mut self, name: &str) -> Parameter {
        let text = self.nodes.add(Domain::Text(TextDomain::any()));
        Parameter {
            name: name.into(),
            location: ParameterLocation::Path,
            required: true,
            style: Style::Simple,
            explode: false,
            allow_reserved: false,
            node: self.nodes.not_empty(&mut self.documents, text),
        }
    }

    fn form_parameter(
        &mut self,
        place: &DocumentPlace,
        name: &str,
        required: bool,
        map: &Map<String, Json>,
    ) -> FormParameter {
        let format = map.get("collectionFormat").and_then(Json::as_str);
        let (style, explode) = collection_format(format, Style::Form);
        let node = self
            .nodes
            .schema(&mut self.documents, place, Direction::Request);
        let node = self.or_empty(node, map);
        FormParameter {
            name: name.into(),
            required,
            node,
            is_file: map.get("type").and_then(Json::as_str) == Some("file"),
            style,
            explode,
        }
    }

    /// Examples beside a schema: `example`, and `examples` by name.
    ///
    /// Swagger keeps the schema in the parameter, so what stands there is read with the schema.
    pub(super) fn examples(
        &mut self,
        place: &DocumentPlace,
        map: &Map<String, Json>,
    ) -> Vec<Example> {
        let mut examples = Vec::new();
        if map.contains_key("schema") || map.contains_key("content") {
            examples.extend(
                map.get("example")
                    .map(|json| Example::new(None, json.clone())),
            );
        }
        if let Some(json) = map.get("x-example") {
            examples.push(Example::new(None, json.clone()));
        }
        if let Some(Json::Object(named)) = map.get("examples") {
            for name in named.keys() {
                let place = place.child("examples").child(name);
                if let Some((_, example)) = self.object(&place)
                    && let Some(json) = example.get("value").or_else(|| example.get("dataValue"))
                {
                    examples.push(Example::new(Some(name), json.clone()));
                }
            }
        }
        examples
    }
}

/// Swagger's way to say how lists are written.
fn collection_format(format: Option<&str>, usual: Style) -> (Style, bool) {
    match format {
        Some("multi") => (Style::Form, true),
        Some("ssv") => (Style::SpaceDelimited, false),
        Some("tsv") => (Style::TabDelimited, false),
        Some("pipes") => (Style::PipeDelimited, false),
        _ => (usual, false),
    }
}
