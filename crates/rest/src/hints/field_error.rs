//! Reads validation errors out of 400 and 422 responses.
//!
//! Every framework has its own layout, but few ideas: a list of objects that name a field and say what is wrong
//! (pydantic, ajv, zod, joi, Spring, express-validator), an object from field names to messages (DRF, ASP.NET,
//! Rails, Laravel), or a sentence that names the field (Jackson, serde, class-validator, Go). The layouts are
//! recognized by their keys, wherever in the body they are.

use serde_json::{Map, Value};

use super::constraint::{Constraint, from_code, from_message};

/// A field that the service rejected, and what it wants there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldError {
    /// The names that lead to the field, outermost first; list indexes are left out.
    pub path: Vec<String>,
    /// What the service wants.
    pub constraint: Constraint,
}

/// More errors than this in one response are not read.
const MAX_ERRORS: usize = 50;
/// How deep errors are looked for.
const MAX_DEPTH: usize = 6;

/// The errors that a JSON body names.
pub(crate) fn in_json(body: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    collect(body, &[], 0, &mut errors);
    errors.dedup();
    errors.truncate(MAX_ERRORS);
    errors
}

/// The errors that a plain text names.
pub(crate) fn in_text(text: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for line in text.lines().take(MAX_ERRORS) {
        from_sentence(line, &mut errors);
    }
    errors
}

/// Keys under which frameworks name the field, the most specific first.
const FIELD_KEYS: [&str; 10] = [
    "loc",
    "instancePath",
    "dataPath",
    "path",
    "field",
    "param",
    "property",
    "propertyPath",
    "attribute",
    "pointer",
];
/// Keys under which frameworks say what is wrong.
const MESSAGE_KEYS: [&str; 7] = [
    "msg",
    "message",
    "defaultMessage",
    "description",
    "reason",
    "detail",
    "error",
];

fn collect(value: &Value, path: &[String], depth: usize, errors: &mut Vec<FieldError>) {
    if depth > MAX_DEPTH || errors.len() >= MAX_ERRORS {
        return;
    }
    match value {
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(message) => field_message(message, path, errors),
                    item => collect(item, path, depth + 1, errors),
                }
            }
        }
        Value::Object(object) => {
            if let Some(found) = from_object(object) {
                errors.extend(found);
                return;
            }
            for (name, inner) in object {
                match inner {
                    // What was sent, repeated by the service, names no errors.
                    _ if ["request_body", "input", "rejectedValue", "trace"]
                        .contains(&name.as_str()) => {}
                    Value::String(message) => {
                        let before = errors.len();
                        from_sentence(message, errors);
                        if errors.len() == before && depth > 0 && !is_envelope(name) {
                            field_message(message, &extended(path, name), errors);
                        }
                    }
                    Value::Array(_) | Value::Object(_) if is_envelope(name) => {
                        collect(inner, path, depth + 1, errors);
                    }
                    Value::Array(_) | Value::Object(_) => {
                        collect(inner, &extended(path, name), depth + 1, errors);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether a key belongs to the layout of the error, and is no field.
fn is_envelope(name: &str) -> bool {
    const NAMES: [&str; 22] = [
        "error",
        "errors",
        "detail",
        "details",
        "message",
        "messages",
        "issues",
        "violations",
        "fieldErrors",
        "field_errors",
        "validation",
        "validation_errors",
        "validationErrors",
        "exception_detail",
        "invalidParams",
        "invalid-params",
        "parameterViolations",
        "propertyViolations",
        "non_field_errors",
        "body",
        "data",
        "cause",
    ];
    NAMES.contains(&name)
}

fn extended(path: &[String], name: &str) -> Vec<String> {
    let mut path = path.to_vec();
    // ASP.NET names fields by JSONPath, Rails by brackets.
    path.extend(segments(name));
    path
}

/// The names in a path that is written with dots, brackets or slashes; indexes are left out.
fn segments(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split(['.', '/', '[', ']', '$', '"', '\''])
        .filter(|segment| {
            !segment.is_empty() && segment.parse::<usize>().is_err() && *segment != "*"
        })
        .map(str::to_owned)
}

/// The error that an object of a list describes.
fn from_object(object: &Map<String, Value>) -> Option<Vec<FieldError>> {
    let (key, field) = FIELD_KEYS
        .iter()
        .find_map(|key| Some((*key, object.get(*key)?)))?;
    let message = MESSAGE_KEYS
        .iter()
        .find_map(|key| object.get(*key)?.as_str())
        .unwrap_or_default();
    let code = ["type", "code", "keyword", "validator", "rule", "tag"]
        .iter()
        .find_map(|key| object.get(*key)?.as_str())
        .unwrap_or_default();
    if message.is_empty() && code.is_empty() {
        return None;
    }
    let mut path: Vec<String> = match field {
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.as_str().map(str::to_owned))
            .collect(),
        Value::String(text) => segments(text).collect(),
        _ => return None,
    };
    let parameters = ["ctx", "params", "context", "meta"]
        .iter()
        .find_map(|key| object.get(*key)?.as_object())
        .unwrap_or(object);
    // ajv names the object, and the missing property apart.
    if let Some(missing) = parameters.get("missingProperty").and_then(Value::as_str) {
        path.push(missing.to_owned());
        return Some(vec![FieldError {
            path,
            constraint: Constraint::Required,
        }]);
    }
    // A request path in an error envelope is no field.
    if path.is_empty() || (key == "path" && message.is_empty()) {
        return None;
    }
    if key == "loc" {
        path = without_location(path);
    }
    let constraint = from_code(code, parameters).or_else(|| from_message(message))?;
    Some(vec![FieldError { path, constraint }])
}

/// A path of pydantic without the part of the request that it begins with and the names of types in it.
fn without_location(mut path: Vec<String>) -> Vec<String> {
    let locations = ["body", "query", "path", "header", "cookie"];
    if matches!(path.as_slice(), [first, _, ..] if locations.contains(&first.as_str())) {
        path.remove(0);
    }
    path.retain(|name| !name.contains('[') && !name.contains('('));
    path
}

/// A message about a known field.
fn field_message(message: &str, path: &[String], errors: &mut Vec<FieldError>) {
    if path.is_empty() {
        return from_sentence(message, errors);
    }
    if let Some(constraint) = from_message(message) {
        errors.push(FieldError {
            path: path.to_vec(),
            constraint,
        });
    }
}

/// A sentence that names its field.
fn from_sentence(sentence: &str, errors: &mut Vec<FieldError>) {
    let Some((path, rest)) = named_field(sentence) else {
        return;
    };
    if let Some(constraint) = from_message(rest) {
        errors.push(FieldError { path, constraint });
    }
}

/// The field that a sentence names, and what it says of it.
fn named_field(sentence: &str) -> Option<(Vec<String>, &str)> {
    // Jackson: `(through reference chain: a.B["c"]->a.D["e"])`.
    if let Some((rest, chain)) = sentence.split_once("(through reference chain:") {
        let quoted = chain.split('"').skip(1).step_by(2);
        let path: Vec<String> = quoted.map(str::to_owned).collect();
        return (!path.is_empty()).then_some((path, rest));
    }
    // serde: missing field `a`; unknown field is not wanted, so it is no error of an input we could mend.
    if let Some((_, rest)) = sentence.split_once("missing field `") {
        let name = rest.split('`').next()?;
        return Some((vec![name.to_owned()], "required"));
    }
    // Go: `Key: 'User.Email' Error:Field validation for 'Email' failed on the 'email' tag`.
    if let Some((_, rest)) = sentence.split_once("Field validation for '") {
        let (name, rest) = rest.split_once('\'')?;
        return Some((vec![name.to_owned()], rest));
    }
    if let Some((_, rest)) = sentence.split_once("Go struct field ") {
        let (name, rest) = rest.split_once(' ')?;
        return Some((vec![name.rsplit('.').next()?.to_owned()], rest));
    }
    // `a.b: invalid type …` (serde), "The `/body/name` property must be …" (openapi validators), "\"name\" is required" (joi).
    let quoted = sentence.split(['`', '"', '\'']).nth(1);
    if let Some(name) = quoted
        && sentence.find(name).is_some_and(|at| at < 12)
        && is_field_name(name)
    {
        let at = sentence.find(name)? + name.len();
        let path: Vec<String> = segments(name).filter(|name| name != "body").collect();
        return (!path.is_empty()).then_some((path, &sentence[at..]));
    }
    let first = sentence.split([' ', ':']).next()?;
    let rest = &sentence[first.len()..];
    let is_subject = rest.starts_with(':')
        || ["must", "should", "is", "has", "cannot", "may"]
            .iter()
            .any(|verb| rest.trim_start().starts_with(verb));
    let is_pronoun = [
        "this", "it", "value", "input", "there", "field", "the", "json",
    ]
    .contains(&first.to_ascii_lowercase().as_str());
    (is_subject && !is_pronoun && is_field_name(first)).then(|| (segments(first).collect(), rest))
}

fn is_field_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 80
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '[' | ']'))
        && text.chars().any(|c| c.is_ascii_alphabetic())
}
