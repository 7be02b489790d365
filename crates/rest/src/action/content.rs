//! Serializes request bodies in all supported content types.

use isobath_genes::{Domain, Model, NodeId, binary, plain};
use serde_json::Value as Json;

use super::request::RequestBody;
use super::style::{Escape, join, pairs};
use super::xml;
use super::{behind_choice, property};
use crate::openapi::{Api, BodyMedia, MediaKind, Style, media_kind};

/// The body of a value in a content type.
pub(super) fn write(api: &Api, media: &BodyMedia, json: &Json) -> RequestBody {
    let model = &*api.model;
    let node = behind_choice(model, media.node);
    let mut content_type = media.content_type.to_string();
    let bytes = match media.kind {
        MediaKind::Json => json.to_string().into_bytes(),
        MediaKind::Form => form(media, json).into_bytes(),
        MediaKind::Multipart => {
            let (boundary, bytes) = multipart(model, media, node, json);
            content_type.push_str("; boundary=");
            content_type.push_str(&boundary);
            bytes
        }
        MediaKind::Xml => xml::write(api, media, node, json).into_bytes(),
        MediaKind::Text if !is_binary(model, node) => plain(json).into_owned().into_bytes(),
        MediaKind::Text | MediaKind::Binary => raw(model, node, json),
    };
    RequestBody {
        content_type,
        bytes,
    }
}

/// The bytes that a value stands for: those of Base64 where bytes are meant, else its text.
fn raw(model: &Model, node: NodeId, json: &Json) -> Vec<u8> {
    if matches!(model.node(node).domain, Domain::Binary(_))
        && let Some(bytes) = json.as_str().and_then(binary::decode)
    {
        return bytes.to_vec();
    }
    plain(json).into_owned().into_bytes()
}

/// Whether bytes are meant as they are, as in a file.
fn is_binary(model: &Model, node: NodeId) -> bool {
    matches!(&model.node(node).domain, Domain::Binary(binary) if !binary.is_text())
}

fn form(media: &BodyMedia, json: &Json) -> String {
    let Json::Object(map) = json else {
        return super::style::encode(&plain(json));
    };
    let mut out = Vec::new();
    for (name, json) in map {
        let style = match (media.encoding.get(name.as_str()), json) {
            (Some(encoding), _) if is_json(encoding.content_type.as_deref()) => {
                (Style::Json, false)
            }
            (Some(encoding), _) => (encoding.style, encoding.explode),
            // Objects have no form of their own unless the document gives them one.
            (None, Json::Object(_)) => (Style::Json, false),
            (None, _) => (Style::Form, true),
        };
        pairs(&mut out, name, json, style, Escape::Percent);
    }
    join(&out)
}

fn is_json(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|content_type| content_type.contains("json"))
}

/// One part of a multipart body.
pub(crate) struct FormPart {
    pub(crate) name: String,
    pub(crate) file_name: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) bytes: Vec<u8>,
}

/// The boundary and the bytes of the multipart body of a value.
fn multipart(model: &Model, media: &BodyMedia, node: NodeId, json: &Json) -> (String, Vec<u8>) {
    let mut parts = Vec::new();
    match json {
        Json::Object(map) => {
            for (name, json) in map {
                let node = property(model, node, name);
                let content_type = media
                    .encoding
                    .get(name.as_str())
                    .and_then(|encoding| encoding.content_type.as_deref());
                part(model, &mut parts, name, (node, content_type), json);
            }
        }
        json => part(model, &mut parts, "value", (None, None), json),
    }
    multipart_body(parts)
}

/// The boundary and the bytes of a multipart body. The boundary is always the same one, made longer
/// until nothing in the body looks like it.
pub(crate) fn multipart_body(parts: Vec<FormPart>) -> (String, Vec<u8>) {
    let mut boundary = "isobath-part-boundary".to_owned();
    while parts
        .iter()
        .any(|part| contains(&part.bytes, boundary.as_bytes()))
    {
        boundary.push('-');
        boundary.push('x');
    }
    let mut out = Vec::new();
    for part in parts {
        out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        let name = quoted(&part.name);
        let file = match &part.file_name {
            Some(file) => format!("; filename=\"{}\"", quoted(file)),
            None => String::new(),
        };
        let header = format!("Content-Disposition: form-data; name=\"{name}\"{file}\r\n");
        out.extend_from_slice(header.as_bytes());
        if let Some(content_type) = part.content_type {
            out.extend_from_slice(format!("Content-Type: {content_type}\r\n").as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&part.bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (boundary, out)
}

/// A name inside quotes, as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn part(
    model: &Model,
    parts: &mut Vec<FormPart>,
    name: &str,
    (node, content_type): (Option<NodeId>, Option<&str>),
    json: &Json,
) {
    if let Json::Array(items) = json
        && !is_json(content_type)
    {
        let node = node.and_then(|node| match &model.node(node).domain {
            Domain::Array(array) => Some(behind_choice(model, array.item)),
            _ => None,
        });
        for item in items {
            part(model, parts, name, (node, content_type), item);
        }
        return;
    }
    // 3.1 may say of a file nothing but its content type.
    let is_file = node.is_some_and(|node| is_binary(model, node))
        || content_type.and_then(media_kind) == Some(MediaKind::Binary);
    let usual = match json {
        _ if is_file => Some("application/octet-stream"),
        Json::Object(_) | Json::Array(_) => Some("application/json"),
        _ => None,
    };
    let bytes = match node {
        Some(node) if is_file => raw(model, node, json),
        _ => plain(json).into_owned().into_bytes(),
    };
    parts.push(FormPart {
        name: name.to_owned(),
        file_name: is_file.then(|| format!("{name}.bin")),
        content_type: content_type.or(usual).map(str::to_owned),
        bytes,
    });
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}
