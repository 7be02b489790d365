//! JSON documents as literals of a test language, with captured values filled in.

use serde_json::{Number, Value};

use crate::http::json_path::{JsonKey, JsonPath};
use crate::writer::layout::Layout;

/// How a language writes JSON.
pub(crate) struct JsonNotation {
    pub(crate) null: &'static str,
    pub(crate) yes: &'static str,
    pub(crate) no: &'static str,
    pub(crate) string: fn(&str) -> String,
    pub(crate) number: fn(&Number) -> String,
    pub(crate) key: fn(&str) -> String,
    /// The brackets of an array.
    pub(crate) brackets: (&'static str, &'static str),
    /// The brackets of an object on one line.
    pub(crate) braces: (&'static str, &'static str),
}

impl JsonNotation {
    /// `value` after `prefix`; where `placeholder` gives an expression for a place, it stands instead.
    pub(crate) fn layout(
        &self,
        prefix: &str,
        value: &Value,
        placeholder: &dyn Fn(&JsonPath) -> Option<String>,
    ) -> Layout {
        self.at(prefix, value, &mut JsonPath::root(), placeholder)
    }

    /// `value` without holes, on one line.
    pub(crate) fn flat(&self, value: &Value) -> String {
        let mut out = String::new();
        self.layout("", value, &|_| None)
            .render(&mut out, 0, usize::MAX, 0);
        out
    }

    fn at(
        &self,
        prefix: &str,
        value: &Value,
        place: &mut JsonPath,
        placeholder: &dyn Fn(&JsonPath) -> Option<String>,
    ) -> Layout {
        if let Some(expression) = placeholder(place) {
            return Layout::Atom(format!("{prefix}{expression}"));
        }
        match value {
            Value::Array(items) => {
                let mut parts = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    place.0.push(JsonKey::Index(index));
                    parts.push(self.at("", item, place, placeholder));
                    place.0.pop();
                }
                Layout::list(
                    format!("{prefix}{}", self.brackets.0),
                    parts,
                    self.brackets.1,
                )
            }
            Value::Object(members) if members.is_empty() => {
                Layout::Atom(format!("{prefix}{}}}", self.braces.0.trim_end()))
            }
            Value::Object(members) => {
                let mut parts = Vec::with_capacity(members.len());
                for (name, member) in members {
                    place.0.push(JsonKey::Name(name.clone()));
                    let prefix = format!("{}: ", (self.key)(name));
                    parts.push(self.at(&prefix, member, place, placeholder));
                    place.0.pop();
                }
                Layout::list(format!("{prefix}{}", self.braces.0), parts, self.braces.1)
            }
            scalar => Layout::Atom(format!("{prefix}{}", self.scalar(scalar))),
        }
    }

    fn scalar(&self, value: &Value) -> String {
        match value {
            Value::Bool(true) => self.yes.into(),
            Value::Bool(false) => self.no.into(),
            Value::Number(number) => (self.number)(number),
            Value::String(text) => (self.string)(text),
            Value::Null | Value::Array(_) | Value::Object(_) => self.null.into(),
        }
    }
}

/// Whether every scalar of a document passes.
pub(crate) fn every_scalar(value: &Value, passes: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| every_scalar(item, passes)),
        Value::Object(members) => members.values().all(|member| every_scalar(member, passes)),
        scalar => passes(scalar),
    }
}

/// The JSON text of `value` on one line, escaped by `escape`; where `placeholder` gives code for a place,
/// it stands instead, as it is.
pub(crate) fn spliced(
    value: &Value,
    placeholder: &dyn Fn(&JsonPath) -> Option<String>,
    escape: &dyn Fn(&str) -> String,
) -> String {
    let mut out = String::new();
    splice(&mut out, value, &mut JsonPath::root(), placeholder, escape);
    out
}

fn splice(
    out: &mut String,
    value: &Value,
    place: &mut JsonPath,
    placeholder: &dyn Fn(&JsonPath) -> Option<String>,
    escape: &dyn Fn(&str) -> String,
) {
    if let Some(code) = placeholder(place) {
        out.push_str(&code);
        return;
    }
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                place.0.push(JsonKey::Index(index));
                splice(out, item, place, placeholder, escape);
                place.0.pop();
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push_str(&escape("{"));
            for (idx, (name, member)) in members.iter().enumerate() {
                if idx > 0 {
                    out.push_str(", ");
                }
                out.push_str(&escape(&format!("{}: ", Value::from(name.as_str()))));
                place.0.push(JsonKey::Name(name.clone()));
                splice(out, member, place, placeholder, escape);
                place.0.pop();
            }
            out.push_str(&escape("}"));
        }
        scalar => out.push_str(&escape(&scalar.to_string())),
    }
}
