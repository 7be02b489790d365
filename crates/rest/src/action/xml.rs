//! Serializes values as XML, with the names that the document declares.

use isobath_genes::{Domain, Model, NodeId, plain};
use serde_json::Value as Json;

use super::{behind_choice, property};
use crate::openapi::{Api, BodyMedia, Xml};

/// The XML text of a body.
pub(super) fn write(api: &Api, media: &BodyMedia, node: NodeId, json: &Json) -> String {
    let name = api
        .xml
        .get(&node)
        .and_then(|xml| xml.name.as_deref())
        .or(media.xml_root.as_deref())
        .unwrap_or("root");
    let mut writer = Writer {
        api,
        out: String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"),
    };
    writer.element(name, Some(node), json);
    writer.out
}

struct Writer<'a> {
    api: &'a Api,
    out: String,
}

impl Writer<'_> {
    fn model(&self) -> &Model {
        &self.api.model
    }

    /// How a node is named; nothing is said for most.
    fn xml(&self, node: Option<NodeId>) -> Xml {
        node.and_then(|node| self.api.xml.get(&node))
            .cloned()
            .unwrap_or_default()
    }

    fn name(&self, usual: &str, node: Option<NodeId>) -> String {
        let xml = self.xml(node);
        let name = tidy(xml.name.as_deref().unwrap_or(usual));
        match &xml.prefix {
            Some(prefix) => format!("{}:{name}", tidy(prefix)),
            None => name,
        }
    }

    fn element(&mut self, usual: &str, node: Option<NodeId>, json: &Json) {
        if let Json::Array(items) = json {
            return self.list(usual, node, items);
        }
        let name = self.name(usual, node);
        let xml = self.xml(node);
        self.out.push('<');
        self.out.push_str(&name);
        if let Some(namespace) = &xml.namespace {
            let prefix = xml
                .prefix
                .as_deref()
                .map_or(String::new(), |p| format!(":{}", tidy(p)));
            let namespace = escape(namespace);
            self.out
                .push_str(&format!(" xmlns{prefix}=\"{namespace}\""));
        }
        match json {
            Json::Object(map) => {
                let mut children = Vec::new();
                for (usual, json) in map {
                    let child = node.and_then(|node| property(self.model(), node, usual));
                    if self.xml(child).attribute {
                        let name = self.name(usual, child);
                        let value = escape(&plain(json));
                        self.out.push_str(&format!(" {name}=\"{value}\""));
                    } else {
                        children.push((usual, child, json));
                    }
                }
                self.out.push('>');
                for (usual, child, json) in children {
                    self.element(usual, child, json);
                }
            }
            Json::Null => self.out.push('>'),
            json => {
                self.out.push('>');
                let text = escape(&plain(json));
                self.out.push_str(&text);
            }
        }
        self.out.push_str(&format!("</{name}>"));
    }

    /// Items stand one after the other under the name of the list, or inside an element of it.
    fn list(&mut self, usual: &str, node: Option<NodeId>, items: &[Json]) {
        let name = self.name(usual, node);
        let item = node.and_then(|node| match &self.model().node(node).domain {
            Domain::Array(array) => Some(behind_choice(self.model(), array.item)),
            _ => None,
        });
        let wrapped = self.xml(node).wrapped;
        if wrapped {
            self.out.push_str(&format!("<{name}>"));
        }
        for json in items {
            self.element(&name, item, json);
        }
        if wrapped {
            self.out.push_str(&format!("</{name}>"));
        }
    }
}

/// A name that XML accepts.
fn tidy(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "_-.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    if !out.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no way to write these.
            c if c.is_control() && !"\t\n\r".contains(c) => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
