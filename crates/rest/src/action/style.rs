//! Serializes parameters in all OpenAPI styles.

use std::fmt::Write;

use isobath_genes::plain;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

use crate::openapi::Style;

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// What even a parameter that allows reserved characters cannot have in a query.
const ALWAYS: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');

pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// How the text of a single value is escaped.
#[derive(Clone, Copy)]
pub(super) enum Escape {
    /// For paths and queries.
    Percent,
    /// The same, for parameters that allow reserved characters.
    Loose,
    /// For headers: only what a header cannot carry.
    Header,
}

impl Escape {
    fn text(self, json: &Json) -> String {
        let text = match json {
            // Nothing stands for null outside JSON.
            Json::Null => return String::new(),
            json => plain(json),
        };
        match self {
            Self::Percent => encode(&text),
            Self::Loose => utf8_percent_encode(&text, ALWAYS).to_string(),
            Self::Header => header_text(&text),
        }
    }
}

/// The text with everything percent-encoded that may not stand in a header.
pub(super) fn header_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.trim().bytes() {
        match byte {
            b' '..=b'~' => out.push(char::from(byte)),
            byte => {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// A path or header value: `simple`, `label` or `matrix`.
pub(super) fn inline(
    name: &str,
    json: &Json,
    style: Style,
    explode: bool,
    escape: Escape,
) -> String {
    let (prefix, separator) = match style {
        Style::Label => (".", if explode { "." } else { "," }),
        Style::Matrix => (";", if explode { ";" } else { "," }),
        _ => ("", ","),
    };
    let key = match style {
        Style::Matrix => format!("{}=", encode(name)),
        _ => String::new(),
    };
    if style == Style::Json {
        return match escape {
            Escape::Header => header_text(&json.to_string()),
            Escape::Percent | Escape::Loose => encode(&json.to_string()),
        };
    }
    match json {
        Json::Array(items) => {
            let each = if explode { key.as_str() } else { "" };
            let items: Vec<String> = items
                .iter()
                .map(|item| format!("{each}{}", escape.text(item)))
                .collect();
            let first = if explode { "" } else { key.as_str() };
            format!("{prefix}{first}{}", items.join(separator))
        }
        Json::Object(map) => {
            let link = if explode { "=" } else { "," };
            let pairs: Vec<String> = map
                .iter()
                .map(|(name, json)| {
                    let name = escape.text(&Json::String(name.clone()));
                    format!("{name}{link}{}", escape.text(json))
                })
                .collect();
            let first = if explode { "" } else { key.as_str() };
            format!("{prefix}{first}{}", pairs.join(separator))
        }
        json => format!("{prefix}{key}{}", escape.text(json)),
    }
}

/// Appends `name=value` pairs, encoded, of a query or form parameter.
pub(super) fn pairs(
    out: &mut Vec<(String, String)>,
    name: &str,
    json: &Json,
    (style, explode): (Style, bool),
    escape: Escape,
) {
    let separator = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::TabDelimited => "%09",
        _ => ",",
    };
    match (style, json) {
        (Style::Json, json) => out.push((encode(name), encode(&json.to_string()))),
        (Style::WholeQuery, Json::Object(map)) => {
            for (name, json) in map {
                pairs(out, name, json, (Style::Form, true), escape);
            }
        }
        (Style::DeepObject, Json::Object(_) | Json::Array(_)) => {
            deep(out, &encode(name), json, escape);
        }
        (_, Json::Array(items)) if explode => {
            for item in items {
                out.push((encode(name), escape.text(item)));
            }
        }
        (_, Json::Array(items)) => {
            let items: Vec<String> = items.iter().map(|item| escape.text(item)).collect();
            out.push((encode(name), items.join(separator)));
        }
        (_, Json::Object(map)) if explode => {
            for (name, json) in map {
                out.push((encode(name), escape.text(json)));
            }
        }
        (_, Json::Object(map)) => {
            let items: Vec<String> = map
                .iter()
                .flat_map(|(name, json)| [encode(name), escape.text(json)])
                .collect();
            out.push((encode(name), items.join(separator)));
        }
        (_, json) => out.push((encode(name), escape.text(json))),
    }
}

/// `a[b][c]=1`, and a list as the same name again and again.
fn deep(out: &mut Vec<(String, String)>, name: &str, json: &Json, escape: Escape) {
    match json {
        Json::Object(map) => {
            for (key, json) in map {
                deep(out, &format!("{name}%5B{}%5D", encode(key)), json, escape);
            }
        }
        Json::Array(items) => {
            for item in items {
                deep(out, name, item, escape);
            }
        }
        json => out.push((name.to_owned(), escape.text(json))),
    }
}

/// Joins encoded pairs to a query string or form.
pub(super) fn join(pairs: &[(String, String)]) -> String {
    let mut out = String::new();
    for (i, (name, value)) in pairs.iter().enumerate() {
        if i > 0 {
            out.push('&');
        }
        out.push_str(name);
        out.push('=');
        out.push_str(value);
    }
    out
}
