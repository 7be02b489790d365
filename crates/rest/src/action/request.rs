//! A request as plain data, independent of how it is sent or printed.

use std::fmt::Write;
use std::sync::Arc;

use isobath_genes::{Resolver, Rule};
use serde_json::{Map, Value as Json};

use super::style::{Escape, encode, inline, join, pairs};
use super::{Action, content};
use crate::openapi::{Api, MediaKind, Operation, ParameterLocation, PathPiece, Style};

/// A request, without scheme, host and base path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, in capitals.
    pub method: Arc<str>,
    /// The path, percent-encoded, starting with a slash.
    pub path: String,
    /// The query string without the question mark, percent-encoded; may be empty.
    pub query: String,
    /// Headers in order, `Accept` and `Cookie` included, `Content-Type` not.
    pub headers: Vec<(Arc<str>, String)>,
    /// The body, if one is sent.
    pub body: Option<RequestBody>,
    /// The input that all this was made of, in the shape of [`Operation::input`].
    pub input: Option<Json>,
}

/// A body and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBody {
    /// The value of the `Content-Type` header.
    pub content_type: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Request {
    /// Path and query, as they stand in the first line of a request.
    #[must_use]
    pub fn target(&self) -> String {
        if self.query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }
}

/// What no reader of JSON accepts.
const MALFORMED: &str = "{\"unfinished\": ";

/// A body that breaks a rule which no value of the input can break; `None` if an operation cannot be called so.
pub(crate) fn broken_body(rule: Rule, operation: &Operation) -> Option<RequestBody> {
    let media = &operation.body.as_ref()?.media;
    let (content_type, bytes) = match rule {
        Rule::Syntax => {
            let json = media.iter().find(|media| media.kind == MediaKind::Json)?;
            (&*json.content_type, MALFORMED)
        }
        Rule::ContentType => {
            let is_open = media.iter().any(|media| media.content_type.contains('*'));
            let is_documented =
                |name: &str| (media.iter()).any(|media| media.content_type.starts_with(name));
            let mut usual = ["text/plain", "application/xml"].into_iter();
            (usual.find(|name| !is_open && !is_documented(name))?, "text")
        }
        _ => return None,
    };
    Some(RequestBody {
        content_type: content_type.to_owned(),
        bytes: bytes.into(),
    })
}

impl Action {
    /// The request of this call, with what references name filled in.
    ///
    /// # Panics
    /// If the action is not one of this API.
    #[must_use]
    pub fn request(&self, api: &Api, resolve: &dyn Resolver) -> Request {
        let operation = api.operation(self.operation);
        let mut input = self.gene.to_json(resolve);
        if let Some(input) = &mut input {
            make_sendable(input);
        }
        let input = input;
        let empty = Map::new();
        let group = |location: ParameterLocation| {
            let group = input.as_ref().and_then(|input| input.get(location.group()));
            group.and_then(Json::as_object).unwrap_or(&empty)
        };
        let (path, mut query) = path(operation, group(ParameterLocation::Path));
        let own = query_string(operation, group(ParameterLocation::Query));
        if !query.is_empty() && !own.is_empty() {
            query.push('&');
        }
        query.push_str(&own);
        let mut headers = vec![("Accept".into(), accept(operation))];
        for parameter in &operation.parameters {
            if parameter.location == ParameterLocation::Header
                && let Some(json) = group(ParameterLocation::Header).get(&*parameter.name)
            {
                let (style, explode) = (parameter.style, parameter.explode);
                let value = inline(&parameter.name, json, style, explode, Escape::Header);
                headers.push((parameter.name.clone(), value));
            }
        }
        let cookies = cookies(operation, group(ParameterLocation::Cookie));
        if !cookies.is_empty() {
            headers.push(("Cookie".into(), cookies));
        }
        let body = input.as_ref().and_then(|input| input.get("body"));
        let body = body.and_then(|json| {
            let media = &operation.body.as_ref()?.media;
            let media = media.get(self.media_index()?)?;
            Some(content::write(api, media, json))
        });
        let mut request = Request {
            method: operation.method.clone(),
            path,
            query,
            headers,
            body,
            input,
        };
        for extra in &self.undocumented {
            extra.write(&mut request, resolve);
        }
        request
    }
}

/// Whether a string is a valid path segment. An empty segment or one of dots makes another path: a client that sends
/// a request takes `.` and `..` out of its path (RFC 3986, section 5.2.4), also when they are percent-encoded.
pub(crate) fn is_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
}

/// Replaces what makes another path: nothing and dots in the place of a part of the path become three dots.
fn make_sendable(input: &mut Json) {
    let path = input.get_mut(ParameterLocation::Path.group());
    for value in path.and_then(Json::as_object_mut).into_iter().flatten() {
        if let (_, Json::String(text)) = value
            && !is_segment(text)
        {
            "...".clone_into(text);
        }
    }
}

fn path(operation: &Operation, values: &Map<String, Json>) -> (String, String) {
    let mut path = String::with_capacity(operation.path.len() + 16);
    for piece in &operation.segments {
        match piece {
            // What the document writes is taken as it is, but for what no request can carry.
            PathPiece::Text(text) => {
                for c in text.chars() {
                    if c.is_ascii_graphic() && c != '#' {
                        path.push(c);
                    } else {
                        path.push_str(&encode(c.encode_utf8(&mut [0; 4])));
                    }
                }
            }
            PathPiece::Parameter(name) => {
                if let Some(json) = values.get(&**name)
                    && let Some(parameter) = operation.parameter(ParameterLocation::Path, name)
                {
                    let (style, explode) = (parameter.style, parameter.explode);
                    path.push_str(&inline(name, json, style, explode, Escape::Percent));
                }
            }
        }
    }
    match path.split_once('?') {
        Some((path, query)) => (path.to_owned(), query.to_owned()),
        None => (path, String::new()),
    }
}

fn query_string(operation: &Operation, values: &Map<String, Json>) -> String {
    let mut out = Vec::new();
    for parameter in &operation.parameters {
        if parameter.location == ParameterLocation::Query
            && let Some(json) = values.get(&*parameter.name)
        {
            let escape = if parameter.allow_reserved {
                Escape::Loose
            } else {
                Escape::Percent
            };
            let style = (parameter.style, parameter.explode);
            pairs(&mut out, &parameter.name, json, style, escape);
        }
    }
    join(&out)
}

fn cookies(operation: &Operation, values: &Map<String, Json>) -> String {
    let mut out = String::new();
    for parameter in &operation.parameters {
        if parameter.location != ParameterLocation::Cookie {
            continue;
        }
        let Some(json) = values.get(&*parameter.name) else {
            continue;
        };
        let mut written = Vec::new();
        // A cookie has one value, so lists cannot be spread over several.
        let style = match parameter.style {
            Style::Json => (Style::Json, false),
            _ => (Style::Form, false),
        };
        pairs(&mut written, &parameter.name, json, style, Escape::Percent);
        for (name, value) in written {
            if !out.is_empty() {
                out.push_str("; ");
            }
            // Writing to a String cannot fail.
            let _ = write!(out, "{name}={value}");
        }
    }
    out
}

/// All content types that the operation may answer with, and at last anything.
fn accept(operation: &Operation) -> String {
    let mut types: Vec<&str> = Vec::new();
    for media in operation
        .responses
        .iter()
        .flat_map(|response| &response.media)
    {
        if !types.contains(&&*media.content_type) {
            types.push(&media.content_type);
        }
    }
    if types.is_empty() || types.contains(&"*/*") {
        return "*/*".to_owned();
    }
    format!("{}, */*;q=0.1", types.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::make_sendable;

    #[test]
    fn an_empty_value_of_an_earlier_response_does_not_call_the_operation_above() {
        let mut input = json!({ "path": { "token": "", "id": 7 }, "query": { "token": "" } });
        make_sendable(&mut input);
        let sent = json!({ "path": { "token": "...", "id": 7 }, "query": { "token": "" } });
        assert_eq!(input, sent);
    }
}
