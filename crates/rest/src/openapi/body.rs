//! Request bodies, by content type.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{BinaryDomain, Domain, Field};
use serde_json::Value as Json;

use super::api::{Body, BodyMedia, Encoding, MediaKind, Style};
use super::document::DocumentPlace;
use super::limitation::LimitationKind;
use super::parameter::FormParameter;
use super::reader::{Reader, object};
use super::schema::Direction;

/// How a content type is written; `None` if we do not know it.
pub(crate) fn media_kind(content_type: &str) -> Option<MediaKind> {
    let essence = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/')?;
    Some(match (kind, subtype) {
        (_, "json") | ("*", "*") | ("application", "*") => MediaKind::Json,
        (_, subtype) if subtype.ends_with("+json") => MediaKind::Json,
        ("application", "x-www-form-urlencoded") => MediaKind::Form,
        ("multipart", _) => MediaKind::Multipart,
        (_, "xml") => MediaKind::Xml,
        (_, subtype) if subtype.ends_with("+xml") => MediaKind::Xml,
        ("text", _) => MediaKind::Text,
        ("application", "octet-stream" | "pdf" | "zip" | "gzip")
        | ("image" | "audio" | "video" | "font", _) => MediaKind::Binary,
        _ => return None,
    })
}

/// The content type to send for one that may have wildcards.
fn concrete(content_type: &str, kind: MediaKind) -> Arc<str> {
    if !content_type.contains('*') {
        return content_type.into();
    }
    match kind {
        MediaKind::Json => "application/json",
        MediaKind::Form => "application/x-www-form-urlencoded",
        MediaKind::Multipart => "multipart/form-data",
        MediaKind::Xml => "application/xml",
        MediaKind::Text => "text/plain",
        MediaKind::Binary => "application/octet-stream",
    }
    .into()
}

impl Reader<'_> {
    /// The body of an operation of version 3.
    pub(super) fn body(&mut self, place: &DocumentPlace) -> Option<Body> {
        self.documents.get(place).filter(|json| !json.is_null())?;
        let (place, map) = self.object(place)?;
        let content = place.child("content");
        let mut media = Vec::new();
        for content_type in self.names(&content) {
            if let Some(read) = self.body_media(&content_type, &content.child(&content_type)) {
                media.push(read);
            }
        }
        if media.is_empty() {
            self.malformed(&place, "a body requires a content type");
            return None;
        }
        Some(Body {
            required: map.get("required") == Some(&Json::Bool(true)),
            media,
        })
    }

    fn body_media(&mut self, content_type: &str, place: &DocumentPlace) -> Option<BodyMedia> {
        let (place, map) = self.object(place)?;
        let kind = self.known_kind(content_type, &place);
        let schema = place.child("schema");
        let has_schema = self.documents.get(&schema).is_some();
        let node = if has_schema {
            self.nodes
                .schema(&mut self.documents, &schema, Direction::Request)
        } else if kind == MediaKind::Binary || kind == MediaKind::Text {
            self.nodes.add(bytes())
        } else {
            if map.contains_key("itemSchema") {
                let detail = "a stream of items is sent as arbitrary JSON";
                self.documents
                    .limit(LimitationKind::ContentType, &place, detail);
            }
            self.nodes.anything_at_all()
        };
        let examples = self.examples(&place, &map);
        let mut examples = examples;
        if !has_schema {
            examples.extend(
                map.get("example")
                    .map(|json| isobath_genes::Example::new(None, json.clone())),
            );
        }
        let node = self
            .nodes
            .with_examples(&mut self.documents, node, examples, &place);
        Some(BodyMedia {
            content_type: concrete(content_type, kind),
            kind,
            node,
            encoding: self.encoding(&place.child("encoding"), &schema),
            xml_root: self.xml_root(&schema),
        })
    }

    fn known_kind(&mut self, content_type: &str, place: &DocumentPlace) -> MediaKind {
        media_kind(content_type).unwrap_or_else(|| {
            let detail = format!("`{content_type}` is sent as JSON");
            self.documents
                .limit(LimitationKind::ContentType, place, detail);
            MediaKind::Json
        })
    }

    /// The name of the schema, for documents that do not name the outermost element.
    fn xml_root(&mut self, schema: &DocumentPlace) -> Option<Arc<str>> {
        let json = self.documents.get(schema)?;
        let reference = json.get("$ref").and_then(Json::as_str)?;
        Some(reference.rsplit('/').next()?.into())
    }

    fn encoding(
        &mut self,
        place: &DocumentPlace,
        schema: &DocumentPlace,
    ) -> BTreeMap<Arc<str>, Encoding> {
        let mut encodings = self.encodings_from_schema(schema);
        for name in self.names(place) {
            let place = place.child(&name);
            let Some((_, map)) = self.object(&place) else {
                continue;
            };
            let text = |name: &str| map.get(name).and_then(Json::as_str);
            let style = match text("style") {
                None | Some("form") => Style::Form,
                Some("spaceDelimited") => Style::SpaceDelimited,
                Some("pipeDelimited") => Style::PipeDelimited,
                Some("deepObject") => Style::DeepObject,
                Some(other) => {
                    let detail = format!("style `{other}` in a form");
                    self.documents
                        .limit(LimitationKind::Parameter, &place, detail);
                    Style::Form
                }
            };
            let explode = map.get("explode").and_then(Json::as_bool);
            encodings.insert(
                name.as_str().into(),
                Encoding {
                    // Of several content types the first will do.
                    content_type: text("contentType")
                        .and_then(|types| types.split(',').next())
                        .map(|first| first.trim().into()),
                    style,
                    explode: explode.unwrap_or(style == Style::Form),
                },
            );
        }
        encodings
    }

    /// The content types of parts that their own schemas name, as in 3.1.
    fn encodings_from_schema(&self, schema: &DocumentPlace) -> BTreeMap<Arc<str>, Encoding> {
        let schema = self.documents.get(schema).and_then(|json| {
            let reference = json.get("$ref").and_then(Json::as_str);
            match reference.and_then(|reference| reference.strip_prefix('#')) {
                Some(pointer) => self.documents.get(&DocumentPlace {
                    document: schema.document,
                    pointer: pointer.into(),
                }),
                None => Some(json),
            }
        });
        let properties = schema.and_then(|json| json.get("properties")?.as_object());
        let mut encodings = BTreeMap::new();
        for (name, property) in properties.into_iter().flatten() {
            let of = |json: &Json| Some(json.get("contentMediaType")?.as_str()?.into());
            let content_type = of(property).or_else(|| property.get("items").and_then(of));
            if content_type.is_some() {
                let encoding = Encoding {
                    content_type,
                    style: Style::Form,
                    explode: true,
                };
                encodings.insert(name.as_str().into(), encoding);
            }
        }
        encodings
    }

    /// The body of an operation of Swagger: a parameter of its own, or a form.
    pub(super) fn v2_body(
        &mut self,
        operation: &DocumentPlace,
        parameter: Option<DocumentPlace>,
        form: &[FormParameter],
    ) -> Option<Body> {
        let consumes = self.v2_types(operation, "consumes");
        if let Some(place) = parameter {
            return self.v2_body_parameter(&place, &consumes);
        }
        if form.is_empty() {
            return None;
        }
        let has_file = form.iter().any(|parameter| parameter.is_file);
        let is_multipart = has_file
            || (consumes
                .iter()
                .any(|c| media_kind(c) == Some(MediaKind::Multipart))
                && !consumes
                    .iter()
                    .any(|c| media_kind(c) == Some(MediaKind::Form)));
        let fields = form
            .iter()
            .map(|parameter| Field {
                name: parameter.name.clone(),
                node: parameter.node,
                required: parameter.required,
            })
            .collect();
        let node = self.nodes.add(object(fields));
        let encoding = form
            .iter()
            .map(|parameter| {
                let encoding = Encoding {
                    content_type: None,
                    style: parameter.style,
                    explode: parameter.explode,
                };
                (parameter.name.clone(), encoding)
            })
            .collect();
        let (content_type, kind) = if is_multipart {
            ("multipart/form-data", MediaKind::Multipart)
        } else {
            ("application/x-www-form-urlencoded", MediaKind::Form)
        };
        Some(Body {
            required: form.iter().any(|parameter| parameter.required),
            media: vec![BodyMedia {
                content_type: content_type.into(),
                kind,
                node,
                encoding,
                xml_root: None,
            }],
        })
    }

    fn v2_body_parameter(&mut self, place: &DocumentPlace, consumes: &[String]) -> Option<Body> {
        let (place, map) = self.object(place)?;
        let schema = place.child("schema");
        let node = if self.documents.get(&schema).is_some() {
            self.nodes
                .schema(&mut self.documents, &schema, Direction::Request)
        } else {
            self.nodes.anything_at_all()
        };
        let examples = self.examples(&place, &map);
        let node = self
            .nodes
            .with_examples(&mut self.documents, node, examples, &place);
        let json = ["application/json".to_owned()];
        let consumes = if consumes.is_empty() { &json } else { consumes };
        let xml_root = self.xml_root(&schema);
        let mut media: Vec<BodyMedia> = Vec::new();
        for content_type in consumes {
            let kind = self.known_kind(content_type, &place);
            media.push(BodyMedia {
                content_type: concrete(content_type, kind),
                kind,
                node,
                encoding: BTreeMap::new(),
                xml_root: xml_root.clone(),
            });
        }
        Some(Body {
            required: map.get("required") == Some(&Json::Bool(true)),
            media,
        })
    }

    /// The content types of an operation of Swagger, or those of the whole document.
    pub(super) fn v2_types(&self, operation: &DocumentPlace, name: &str) -> Vec<String> {
        let list = |place: DocumentPlace| {
            let types = self.documents.get(&place)?.as_array()?;
            let types = types.iter().filter_map(|t| t.as_str().map(str::to_owned));
            Some(types.collect::<Vec<_>>())
        };
        list(operation.child(name))
            .or_else(|| list(self.documents.root().child(name)))
            .unwrap_or_default()
    }
}

fn bytes() -> Domain {
    Domain::Binary(BinaryDomain::new(0, None).expect("no upper bound"))
}
