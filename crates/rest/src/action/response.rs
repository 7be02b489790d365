//! Checks responses against the OpenAPI document.

use std::sync::OnceLock;

use jsonschema::Validator;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::validation_cost::is_affordable;
use crate::openapi::{
    Api, Bundle, DocumentedResponse, Operation, ResponseMedia, SchemaId, StatusPattern,
};

/// How a response differs from the document.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Violation {
    /// In what way.
    pub kind: ViolationKind,
    /// JSON Pointer into the body; for headers, the name; else empty.
    pub pointer: String,
    /// The same place with `*` for items of lists and for keys that the schema does not name.
    pub place: String,
    /// The component of the document that it breaks, if it is one.
    pub component: Option<String>,
    /// What exactly, for people.
    pub message: String,
}

/// In what way a response differs from the document.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ViolationKind {
    /// The document does not know the status.
    UndocumentedStatus,
    /// The document does not know the content type for this status.
    UndocumentedContentType,
    /// A required header is not there.
    MissingHeader,
    /// A header does not fit its schema.
    InvalidHeader,
    /// A body is documented, and there is none.
    MissingBody,
    /// The body says it is JSON, and is not.
    MalformedBody,
    /// The body breaks this keyword of its schema, such as `required` or `format`.
    Schema(String),
}

/// A response to check.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedResponse<'a> {
    /// Its status.
    pub status: u16,
    /// Its headers; names are compared without regard to case.
    pub headers: &'a [(&'a str, &'a str)],
    /// Its body.
    pub body: &'a [u8],
    /// The body as JSON, if it was read already.
    pub json: Option<&'a Json>,
}

/// Violations of one body beyond which the rest is not listed.
const MAX_VIOLATIONS: usize = 20;

/// Checks the responses of an API; schemas that say the same are compiled once, when they are first needed.
#[derive(Debug)]
pub struct ResponseChecker {
    validators: FxHashMap<SchemaId, OnceLock<Option<Validator>>>,
}

impl ResponseChecker {
    /// A checker for all responses of the API.
    #[must_use]
    pub fn new(api: &Api) -> Self {
        let schemas = api
            .operations
            .iter()
            .flat_map(|operation| &operation.responses)
            .flat_map(|response| &response.media)
            .filter_map(|media| media.schema);
        Self {
            validators: schemas
                .map(|id| (api.bundle.shared(id), OnceLock::new()))
                .collect(),
        }
    }

    /// How the response of an operation differs from the document; empty if it does not, or if the
    /// document says nothing about it.
    #[must_use]
    pub fn check(
        &self,
        api: &Api,
        operation: &Operation,
        answer: &ReceivedResponse<'_>,
    ) -> Vec<Violation> {
        let ReceivedResponse {
            status, headers, ..
        } = *answer;
        if operation.responses.is_empty() {
            return Vec::new();
        }
        let Some(response) = operation.response(status) else {
            return vec![Violation {
                component: None,
                kind: ViolationKind::UndocumentedStatus,
                pointer: String::new(),
                place: String::new(),
                message: format!(
                    "status {status} is not documented ({})",
                    documented(operation)
                ),
            }];
        };
        let mut violations = Vec::new();
        check_headers(api, response, headers, &mut violations);
        let has_no_body =
            &*operation.method == "HEAD" || status == 204 || status == 304 || status < 200;
        if !has_no_body && !response.media.is_empty() {
            self.check_body(api, response, answer, &mut violations);
        }
        violations
    }

    fn check_body(
        &self,
        api: &Api,
        response: &DocumentedResponse,
        answer: &ReceivedResponse<'_>,
        violations: &mut Vec<Violation>,
    ) {
        let content_type = header(answer.headers, "content-type");
        if answer.body.is_empty() {
            // Text and bytes may be empty; an empty text is no JSON.
            if response
                .media
                .iter()
                .all(|media| is_json(&media.content_type))
            {
                violations.push(Violation {
                    component: None,
                    kind: ViolationKind::MissingBody,
                    pointer: String::new(),
                    place: String::new(),
                    message: "the body is empty".to_owned(),
                });
            }
            return;
        }
        let Some(media) = matching(&response.media, content_type) else {
            let types: Vec<&str> = response.media.iter().map(|m| &*m.content_type).collect();
            violations.push(Violation {
                component: None,
                kind: ViolationKind::UndocumentedContentType,
                pointer: String::new(),
                place: String::new(),
                message: format!(
                    "content type `{}` is not documented ({})",
                    content_type.unwrap_or("none"),
                    types.join(", ")
                ),
            });
            return;
        };
        // A wildcard in the document leaves it to the response to say that it is JSON.
        let says_json = content_type.map_or_else(|| is_json(&media.content_type), is_json);
        let is_checked = |schema: &SchemaId| says_json && !api.bundle.is_bytes(*schema);
        let Some(schema) = media.schema.filter(is_checked) else {
            return;
        };
        if let Some(json) = answer.json {
            return self.check_json(&api.bundle, schema, json, violations);
        }
        match serde_json::from_slice::<Json>(answer.body) {
            Ok(json) => self.check_json(&api.bundle, schema, &json, violations),
            Err(error) => violations.push(Violation {
                component: None,
                kind: ViolationKind::MalformedBody,
                pointer: String::new(),
                place: String::new(),
                message: error.to_string(),
            }),
        }
    }

    fn check_json(
        &self,
        bundle: &Bundle,
        schema: SchemaId,
        json: &Json,
        violations: &mut Vec<Violation>,
    ) {
        let schema = bundle.shared(schema);
        let validator = self
            .validators
            .get(&schema)
            .and_then(|cell| cell.get_or_init(|| compile(bundle, schema)).as_ref());
        let Some(validator) = validator else { return };
        if validator.is_valid(json) {
            return;
        }
        let errors = validator.iter_errors(json).take(MAX_VIOLATIONS);
        violations.extend(errors.map(|error| Violation {
            component: (bundle.component(error.schema_path().as_str())).map(str::to_owned),
            kind: ViolationKind::Schema(error.kind().keyword().to_owned()),
            pointer: error.instance_path().as_str().to_owned(),
            place: general_place(error.instance_path().as_str(), error.schema_path().as_str()),
            message: brief(&error.to_string()),
        }));
    }
}

/// A place in a body as its schema sees it: items of lists, and properties that the schema does not name, are `*`.
///
/// The two paths are compared from their ends, since a reference in the schema hides how it began.
fn general_place(instance: &str, schema: &str) -> String {
    let mut names: Vec<&str> = instance.split('/').skip(1).collect();
    let mut keywords: Vec<&str> = schema.split('/').skip(1).collect();
    // The last one is the keyword that is broken.
    keywords.pop();
    let mut end = names.len();
    while let Some(keyword) = keywords.pop() {
        let Some((name, before)) = names.get_mut(..end).and_then(<[&str]>::split_last_mut) else {
            break;
        };
        let at = before.len();
        let is_named = keywords.last() == Some(&"properties") && *name == keyword;
        if is_named {
            keywords.pop();
            end = at;
        } else if matches!(
            keyword,
            "additionalProperties" | "unevaluatedProperties" | "items"
        ) {
            *name = "*";
            end = at;
        } else if matches!(keywords.last(), Some(&"patternProperties" | &"prefixItems")) {
            keywords.pop();
            *name = "*";
            end = at;
        }
    }
    let general = |name: &&str| {
        let is_index = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        if is_index { "*" } else { *name }.to_owned()
    };
    let names: Vec<String> = names.iter().map(general).collect();
    names.iter().map(|name| format!("/{name}")).collect()
}

/// The validator of a schema, if it ends within reasonable time; patterns that it cannot read are left out of it.
fn compile(bundle: &Bundle, id: SchemaId) -> Option<Validator> {
    let build = |schema: &Json| {
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(schema)
            .ok()
    };
    let mut schema = bundle.stand_alone(id);
    if !is_affordable(&schema) {
        return None;
    }
    build(&schema).or_else(|| {
        remove_patterns(&mut schema);
        build(&schema)
    })
}

fn remove_patterns(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            // A property may be called `pattern`; only the keyword has text.
            if map.get("pattern").is_some_and(Json::is_string) {
                map.remove("pattern");
            }
            map.remove("patternProperties");
            map.values_mut().for_each(remove_patterns);
        }
        Json::Array(items) => items.iter_mut().for_each(remove_patterns),
        _ => {}
    }
}

fn check_headers(
    api: &Api,
    response: &DocumentedResponse,
    headers: &[(&str, &str)],
    violations: &mut Vec<Violation>,
) {
    for expected in &response.headers {
        match (header(headers, &expected.name), expected.node) {
            (None, _) if expected.required => violations.push(Violation {
                component: None,
                kind: ViolationKind::MissingHeader,
                pointer: expected.name.to_string(),
                place: expected.name.to_string(),
                message: format!("header `{}` is missing", expected.name),
            }),
            (Some(value), Some(node)) => {
                // Lists and objects in headers have a style of their own; only single values are read.
                if let Err(misfit) = api.model.read_text(node, value.trim())
                    && !is_structured(api, node)
                {
                    violations.push(Violation {
                        component: None,
                        kind: ViolationKind::InvalidHeader,
                        pointer: expected.name.to_string(),
                        place: expected.name.to_string(),
                        message: format!("header `{}` breaks `{}`", expected.name, misfit.rule),
                    });
                }
            }
            (None, _) | (Some(_), None) => {}
        }
    }
}

fn is_structured(api: &Api, node: isobath_genes::NodeId) -> bool {
    use isobath_genes::Domain;
    let node = super::behind_choice(&api.model, node);
    matches!(
        api.model.node(node).domain,
        Domain::Array(_) | Domain::Object(_) | Domain::Choice(_)
    )
}

fn header<'a>(headers: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| *value)
}

/// A content type without its parameters.
fn essence(content_type: &str) -> &str {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim()
}

fn is_json(content_type: &str) -> bool {
    let essence = essence(content_type).as_bytes();
    let ends_in = |end: &[u8]| {
        let last = essence.last_chunk::<5>();
        last.is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    ends_in(b"/json") || ends_in(b"+json")
}

/// The documented content type that covers the one sent; an exact one goes before a wildcard.
fn matching<'a>(
    media: &'a [ResponseMedia],
    content_type: Option<&str>,
) -> Option<&'a ResponseMedia> {
    let Some(sent) = content_type.map(essence) else {
        // Without a type in the response only one documented type can be meant.
        return match media {
            [only] => Some(only),
            _ => None,
        };
    };
    let kind = sent.split('/').next().unwrap_or_default();
    let covers = |pattern: &str| {
        pattern == "*/*"
            || pattern
                .strip_suffix("/*")
                .is_some_and(|pattern| pattern.eq_ignore_ascii_case(kind))
    };
    media
        .iter()
        .find(|media| essence(&media.content_type).eq_ignore_ascii_case(sent))
        .or_else(|| {
            media
                .iter()
                .find(|media| covers(essence(&media.content_type)))
        })
}

fn documented(operation: &Operation) -> String {
    let statuses: Vec<String> = operation
        .responses
        .iter()
        .map(|response| match response.status {
            StatusPattern::Code(code) => code.to_string(),
            StatusPattern::Range(digit) => format!("{digit}XX"),
            StatusPattern::Default => "default".to_owned(),
        })
        .collect();
    statuses.join(", ")
}

/// Messages quote the value, which may be a megabyte.
fn brief(message: &str) -> String {
    match message.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod general_place_tests {
    use super::general_place;

    #[test]
    fn keys_and_indexes_are_taken_out_of_places() {
        let place = |instance, schema| general_place(instance, schema);
        assert_eq!(
            place(
                "/features/3/environments/pqST/0",
                "/properties/features/items/properties/environments/additionalProperties/items/additionalProperties"
            ),
            "/features/*/environments/*/*"
        );
        // A reference hides how the path in the schema began.
        assert_eq!(
            place(
                "/features/3/environments/pqST",
                "/$defs/map/additionalProperties/type"
            ),
            "/features/*/environments/*"
        );
        assert_eq!(place("/name", "/properties/name/type"), "/name");
        assert_eq!(place("", "/required"), "");
    }
}
