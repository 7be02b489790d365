//! Genotype expansion: inputs that the service reads and the OpenAPI document does not name.

use std::sync::{Arc, LazyLock};

use fastrand::Rng;
use isobath_genes::{
    Domain, Gene, GeneConfig, IntegerDomain, Model, ModelBuilder, NodeId, Resolver, TextDomain,
};
use serde_json::{Map, Value as Json};

use super::body_model::{BodyModel, shape};
use super::request::{Request, RequestBody};
use super::style::encode;

/// Where such an input goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UndocumentedKind {
    /// The query of the URL.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A property of a JSON body.
    Field,
    /// A field of a form.
    Form,
    /// A JSON body; its schema is its name.
    Body,
}

impl UndocumentedKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Query,
        Self::Header,
        Self::Cookie,
        Self::Field,
        Self::Form,
        Self::Body,
    ];

    /// What its values may be.
    fn shape(self, name: &Arc<str>) -> BodyModel {
        let node = match self {
            Self::Body => match shape(name) {
                Some(shape) => return shape,
                None => MODELS.anything,
            },
            Self::Field => MODELS.anything,
            Self::Query | Self::Form => MODELS.wire,
            Self::Header | Self::Cookie => MODELS.text,
        };
        (Arc::clone(&MODELS.model), node)
    }
}

/// An input that the document does not name.
#[derive(Clone, Debug, PartialEq)]
pub struct UndocumentedInput {
    /// Where it goes.
    pub kind: UndocumentedKind,
    /// Its name, or the schema of a body; a field without one is an empty object.
    pub name: Arc<str>,
    /// Its value.
    pub gene: Gene,
}

struct BodyModels {
    model: Arc<Model>,
    text: NodeId,
    /// What is a text on its way, and maybe a number for whoever reads it.
    wire: NodeId,
    anything: NodeId,
}

/// All that can be said of such an input is that it is a text or some simple value; of what is a text on its way, a
/// number is worth a try as well.
static MODELS: LazyLock<BodyModels> = LazyLock::new(|| {
    let mut builder = ModelBuilder::new();
    let text = builder.add(Domain::Text(TextDomain::any()));
    let mut options = vec![text];
    options.extend(
        IntegerDomain::new(None, None)
            .ok()
            .map(|integers| builder.add(Domain::Integer(integers))),
    );
    let wire = builder.add(Domain::Choice(options.clone().into()));
    options.push(builder.add(Domain::Boolean));
    let anything = builder.add(Domain::Choice(options.into()));
    BodyModels {
        model: Arc::new(builder.finish()),
        text,
        wire,
        anything,
    }
});

impl UndocumentedInput {
    /// Draws a value.
    #[must_use]
    pub fn sample(
        kind: UndocumentedKind,
        name: Arc<str>,
        rng: &mut Rng,
        tuning: &GeneConfig,
    ) -> Self {
        let (model, node) = kind.shape(&name);
        Self {
            kind,
            name,
            gene: Gene::sample(&model, node, rng, tuning),
        }
    }

    /// The one whose value was stored as `json`; see [`Gene::restore`].
    #[must_use]
    pub fn restore(kind: UndocumentedKind, name: Arc<str>, json: &Json) -> Option<Self> {
        let (model, node) = kind.shape(&name);
        let gene = Gene::restore(&model, node, json)?;
        Some(Self { kind, name, gene })
    }

    /// Whether it is the one with this name at this place.
    #[must_use]
    pub fn is(&self, kind: UndocumentedKind, name: &str) -> bool {
        self.kind == kind && *self.name == *name
    }

    /// What tells its place from those that the document names.
    #[must_use]
    pub fn key(&self) -> String {
        format!("+{:?}/{}", self.kind, self.name)
    }

    /// Puts it into a request.
    pub(super) fn write(&self, request: &mut Request, resolve: &dyn Resolver) {
        let Some(json) = self.gene.to_json(resolve) else {
            return;
        };
        let text = isobath_genes::plain(&json);
        match self.kind {
            UndocumentedKind::Query => {
                if !request.query.is_empty() {
                    request.query.push('&');
                }
                let pair = format!("{}={}", encode(&self.name), encode(&text));
                request.query.push_str(&pair);
            }
            UndocumentedKind::Header => {
                // A header cannot carry everything that a text can.
                if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
                    let value = text.trim().to_owned();
                    let is_same = |name: &str| name.eq_ignore_ascii_case(&self.name);
                    request.headers.retain(|(name, _)| !is_same(name));
                    request.headers.push((Arc::clone(&self.name), value));
                }
            }
            UndocumentedKind::Cookie => {
                let pair = format!("{}={}", self.name, encode(&text));
                match request
                    .headers
                    .iter_mut()
                    .find(|(name, _)| name.eq_ignore_ascii_case("cookie"))
                {
                    Some((_, cookies)) => *cookies = format!("{cookies}; {pair}"),
                    None => request.headers.push(("Cookie".into(), pair)),
                }
            }
            UndocumentedKind::Field => write_fields(request, |object| {
                // Without a name it is about the body itself.
                if !self.name.is_empty() {
                    put(object, &self.name, json);
                }
            }),
            UndocumentedKind::Body => match json {
                Json::Object(fields) => write_fields(request, |object| {
                    for (name, value) in fields {
                        object.entry(name).or_insert(value);
                    }
                }),
                json if request.body.is_none() && !is_without_body(&request.method) => {
                    request.body = Some(json_body("application/json", &json));
                }
                _ => {}
            },
            UndocumentedKind::Form => {
                let pair = format!("{}={}", encode(&self.name), encode(&text));
                match &mut request.body {
                    Some(body) if body.content_type.contains("urlencoded") => {
                        if !body.bytes.is_empty() {
                            body.bytes.push(b'&');
                        }
                        body.bytes.extend_from_slice(pair.as_bytes());
                    }
                    Some(_) => {}
                    None if is_without_body(&request.method) => {}
                    None => {
                        request.body = Some(RequestBody {
                            content_type: "application/x-www-form-urlencoded".into(),
                            bytes: pair.into_bytes(),
                        });
                    }
                }
            }
        }
    }
}

/// Changes the object that is the body of a request, or makes one.
fn write_fields(request: &mut Request, add: impl FnOnce(&mut Map<String, Json>)) {
    let mut object = match &request.body {
        None if is_without_body(&request.method) => return,
        None => Map::new(),
        Some(body) if body.content_type.contains("json") => {
            match serde_json::from_slice(&body.bytes) {
                Ok(Json::Object(object)) => object,
                _ => return,
            }
        }
        Some(_) => return,
    };
    add(&mut object);
    let content_type = request
        .body
        .as_ref()
        .map_or("application/json", |body| &body.content_type);
    request.body = Some(json_body(content_type, &Json::Object(object)));
}

fn json_body(content_type: &str, json: &Json) -> RequestBody {
    RequestBody {
        content_type: content_type.into(),
        bytes: json.to_string().into_bytes(),
    }
}

/// Whether calls of a method mostly have no body.
fn is_without_body(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "DELETE")
}

/// Puts a value where there is none yet; a name with slashes is the way to a field of a field.
fn put(object: &mut Map<String, Json>, name: &str, json: Json) {
    match name.split_once('/') {
        None => {
            object.entry(name).or_insert(json);
        }
        Some((first, rest)) => {
            let inner = object
                .entry(first)
                .or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(inner) = inner {
                put(inner, rest, json);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use isobath_genes::Unresolved;
    use serde_json::json;

    use super::*;

    fn extra(kind: UndocumentedKind, name: &str, value: &str) -> UndocumentedInput {
        let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::default());
        let mut extra = UndocumentedInput::sample(kind, name.into(), &mut rng, &tuning);
        assert!(extra.gene.set_json("", &json!(value)));
        extra
    }

    fn request(method: &str, body: Option<(&str, &str)>) -> Request {
        Request {
            method: method.into(),
            path: "/".into(),
            query: "a=1".into(),
            headers: vec![
                ("Cookie".into(), "b=2".into()),
                ("Accept".into(), "*/*".into()),
            ],
            body: body.map(|(content_type, text)| RequestBody {
                content_type: content_type.into(),
                bytes: text.into(),
            }),
            input: None,
        }
    }

    fn written(extra: &UndocumentedInput, mut request: Request) -> String {
        extra.write(&mut request, &Unresolved);
        let body = request.body.map(|body| {
            let text = String::from_utf8_lossy(&body.bytes).into_owned();
            format!(" {} {text}", body.content_type)
        });
        let headers: Vec<String> = request
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        format!(
            "{} | {}{}",
            request.query,
            headers.join(", "),
            body.unwrap_or_default()
        )
    }

    #[test]
    fn what_the_document_does_not_name_is_put_where_the_service_looks() {
        use UndocumentedKind::{Cookie, Field, Form, Header, Query};
        let json = Some(("application/json", r#"{"x":1}"#));
        let lines = [
            written(&extra(Query, "q", "x y"), request("GET", None)),
            written(&extra(Header, "X-Unit", "feet"), request("GET", None)),
            written(&extra(Header, "X-Unit", "naïve"), request("GET", None)),
            written(&extra(Header, "accept", "text/a"), request("GET", None)),
            written(&extra(Cookie, "c", "3"), request("GET", None)),
            written(&extra(Field, "x", "7"), request("POST", json)),
            written(&extra(Field, "x", "7"), request("POST", None)),
            written(&extra(Field, "", "7"), request("POST", None)),
            written(&extra(Field, "a/b", "7"), request("POST", json)),
            written(&extra(Field, "x/b", "7"), request("POST", json)),
            written(&extra(Field, "x", "7"), request("GET", None)),
            written(&extra(Form, "f", "g"), request("POST", None)),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        a=1&q=x%20y | Cookie: b=2, Accept: */*
        a=1 | Cookie: b=2, Accept: */*, X-Unit: feet
        a=1 | Cookie: b=2, Accept: */*
        a=1 | Cookie: b=2, accept: text/a
        a=1 | Cookie: b=2; c=3, Accept: */*
        a=1 | Cookie: b=2, Accept: */* application/json {"x":1}
        a=1 | Cookie: b=2, Accept: */* application/json {"x":"7"}
        a=1 | Cookie: b=2, Accept: */* application/json {}
        a=1 | Cookie: b=2, Accept: */* application/json {"x":1,"a":{"b":"7"}}
        a=1 | Cookie: b=2, Accept: */* application/json {"x":1}
        a=1 | Cookie: b=2, Accept: */*
        a=1 | Cookie: b=2, Accept: */* application/x-www-form-urlencoded f=g
        "#);
    }

    #[test]
    fn a_body_is_what_its_type_allows() {
        let schema = r#"{"type":"object","properties":{"n":{"type":"integer","format":"int32"},"size":{"type":"string","enum":["S","L"]}}}"#;
        let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::default());
        for _ in 0..50 {
            let extra =
                UndocumentedInput::sample(UndocumentedKind::Body, schema.into(), &mut rng, &tuning);
            let mut request = request("POST", None);
            extra.write(&mut request, &Unresolved);
            let body = request.body.expect("a body");
            let json: Map<String, Json> = serde_json::from_slice(&body.bytes).expect("an object");
            for (name, value) in json {
                match &*name {
                    "n" => assert!(i32::try_from(value.as_i64().expect("whole")).is_ok()),
                    "size" => assert!(value == "S" || value == "L", "{value}"),
                    other => panic!("{other} is not in the schema"),
                }
            }
            let stored = extra.gene.store();
            let again = UndocumentedInput::restore(UndocumentedKind::Body, schema.into(), &stored);
            assert_eq!(again.as_ref(), Some(&extra));
        }
    }

    #[test]
    fn a_body_fills_in_what_is_missing_and_lists_stand_alone() {
        let schema = r#"{"type":"object","required":["x","y"],"properties":{"x":{"const":1},"y":{"const":2}}}"#;
        let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::default());
        let mut sample = |schema: &str| {
            UndocumentedInput::sample(UndocumentedKind::Body, schema.into(), &mut rng, &tuning)
        };
        let list = r#"{"type":"array","minItems":2,"maxItems":2,"items":{"const":3}}"#;
        let (object, list) = (sample(schema), sample(list));
        let json = || request("POST", Some(("application/json", r#"{"x":7}"#)));
        let lines = [
            written(&object, json()),
            written(&list, json()),
            written(&list, request("POST", None)),
            written(&object, request("GET", None)),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        a=1 | Cookie: b=2, Accept: */* application/json {"x":7,"y":2}
        a=1 | Cookie: b=2, Accept: */* application/json {"x":7}
        a=1 | Cookie: b=2, Accept: */* application/json [3,3]
        a=1 | Cookie: b=2, Accept: */*
        "#);
    }
}
