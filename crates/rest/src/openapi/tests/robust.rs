//! Broken, hostile and huge documents: clear errors, no panic, no hang.

use fastrand::Rng;
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::*;
use crate::action::Action;

/// Calls every operation, which must not panic.
fn call_all(api: &Api) {
    let mut rng = Rng::with_seed(3);
    let tuning = GeneConfig::robust();
    for operation in 0..api.operations.len() {
        let mut action = Action::sample(api, operation, &mut rng, &tuning).expect("in range");
        action.mutate(&mut rng, &tuning);
        let request = action.request(api, &Unresolved);
        assert!(request.path.starts_with('/'));
        for breach in action.breaches(api).iter().take(5) {
            let _ = action.breach(breach, &mut rng, &tuning);
        }
    }
}

#[test]
fn ten_thousand_operations_are_read() {
    let paths: Map<String, Json> = (0..10_000)
        .map(|i| {
            let path = json!({"get": {
                "operationId": format!("op{i}"),
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "", "content": {"application/json":
                    {"schema": {"$ref": format!("#/components/schemas/S{i}")}}}}},
            }});
            (format!("/r{i}/{{id}}"), path)
        })
        .collect();
    // Each schema refers to the next: a chain of ten thousand.
    let schemas: Map<String, Json> = (0..10_000)
        .map(|i| {
            let next = json!({"$ref": format!("#/components/schemas/S{}", (i + 1) % 10_000)});
            (
                format!("S{i}"),
                json!({"type": "object", "properties": {"next": next}}),
            )
        })
        .collect();
    let api = api(&json!({"openapi": "3.0.0", "paths": paths, "components": {"schemas": schemas}}));
    assert_eq!(api.operations.len(), 10_000);
    assert_eq!(limitations(&api), "");
    call_all(&api);
}

#[test]
fn circles_of_references_end() {
    let circle = json!({"$ref": "#/components/schemas/A"});
    let api = posting(
        circle,
        json!({
            "A": {"$ref": "#/components/schemas/B"},
            "B": {"$ref": "#/components/schemas/A"},
        }),
    );
    assert!(api.limitations.count(LimitationKind::ReferenceCycle) >= 1);
    call_all(&api);
    let api = posting(
        json!({"$ref": "#/components/schemas/A"}),
        json!({"A": {"allOf": [{"$ref": "#/components/schemas/A"}, {"type": "object"}]}}),
    );
    call_all(&api);
    let api = posting(
        json!({"$ref": "#/components/schemas/A"}),
        json!({"A": {"oneOf": [{"$ref": "#/components/schemas/A"}]}}),
    );
    call_all(&api);
    let api = posting(
        json!({"$ref": "#/components/schemas/A"}),
        json!({"A": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/components/schemas/A"}}}}),
    );
    assert_eq!(api.limitations.count(LimitationKind::EndlessSchema), 1);
    call_all(&api);
}

#[test]
fn alternatives_that_multiply_are_bounded() {
    let list = |i: usize| {
        json!({"oneOf": [
            {"properties": {format!("a{i}"): {"type": "integer"}}},
            {"properties": {format!("b{i}"): {"type": "integer"}}},
            {"properties": {format!("c{i}"): {"type": "integer"}}},
        ]})
    };
    let lists: Vec<Json> = (0..20).map(list).collect();
    let api = posting(json!({"allOf": lists}), json!({}));
    assert!(api.model.len() < 5_000, "{} nodes", api.model.len());
    assert!(api.limitations.count(LimitationKind::TooLarge) >= 1);
    call_all(&api);
}

#[test]
fn a_pattern_that_explodes_does_not_hang() {
    for pattern in [
        "^(a+)+$",
        "^(a|aa)+$",
        "^((((.*)*)*)*)*$",
        "a{1,99999}b{1,99999}",
    ] {
        let api = posting(
            json!({"type": "string", "pattern": pattern, "maxLength": 50}),
            json!({}),
        );
        call_all(&api);
    }
}

#[test]
fn huge_bounds_make_no_huge_values() {
    let api = posting(
        json!({"type": "object", "properties": {
            "a": {"type": "array", "minItems": 4_000_000_000u64, "items": {"type": "integer"}},
            "s": {"type": "string", "maxLength": 1e300},
            "n": {"type": "number", "minimum": -1e308, "maximum": 1e308, "multipleOf": 1e-300},
            "i": {"type": "integer", "minimum": -1e300, "maximum": 1e300},
        }}),
        json!({}),
    );
    call_all(&api);
}

#[test]
fn lists_of_lists_that_multiply_are_bounded() {
    let mut schema = json!({"type": "integer"});
    for _ in 0..40 {
        schema = json!({"type": "array", "minItems": 3, "items": schema});
    }
    call_all(&posting(schema, json!({})));
    let mut schema = json!({"type": "integer"});
    for i in 0..30 {
        let properties = json!({"a": schema, "b": {"$ref": format!("#/components/schemas/S{i}")}});
        schema = json!({"type": "object", "required": ["a", "b"], "properties": properties});
    }
    let schemas: Map<String, Json> = (0..30)
        .map(|i| {
            let next = json!({"$ref": format!("#/components/schemas/S{}", i + 1)});
            let schema = json!({"type": "object", "required": ["l", "r"], "properties": {"l": next, "r": next}});
            (format!("S{i}"), schema)
        })
        .chain([("S30".to_owned(), json!({"type": "boolean"}))])
        .collect();
    call_all(&posting(schema, Json::Object(schemas)));
}

/// Changes one place of a document, by a number.
fn damage(json: &mut Json, at: &mut usize, with: &Json) -> bool {
    if *at == 0 {
        *json = with.clone();
        return true;
    }
    *at -= 1;
    match json {
        Json::Array(items) => items.iter_mut().any(|item| damage(item, at, with)),
        Json::Object(map) => map.values_mut().any(|item| damage(item, at, with)),
        _ => false,
    }
}

fn sample_document() -> Json {
    json!({
        "openapi": "3.1.0",
        "servers": [{"url": "http://{h}/v1", "variables": {"h": {"default": "x"}}}],
        "security": [{"key": []}],
        "paths": {
            "/pets/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 1}}],
                "get": {
                    "operationId": "getPet", "tags": ["pets"],
                    "parameters": [
                        {"name": "q", "in": "query", "style": "deepObject", "explode": true,
                         "schema": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}},
                        {"name": "h", "in": "header", "schema": {"type": "string", "pattern": "^[a-z]{2,4}$"}},
                        {"name": "c", "in": "cookie", "schema": {"enum": ["a", 1, null]}},
                        {"name": "j", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
                    ],
                    "responses": {
                        "200": {"description": "", "headers": {"X-N": {"schema": {"type": "integer"}}},
                                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                                "links": {"self": {"operationId": "getPet", "parameters": {"id": "$response.body#/id"}}}},
                        "4XX": {"description": ""},
                    },
                },
                "put": {
                    "requestBody": {"required": true, "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}, "example": {"name": "Rex"}},
                        "application/xml": {"schema": {"$ref": "#/components/schemas/Pet"}},
                        "multipart/form-data": {"schema": {"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}},
                                                "encoding": {"f": {"contentType": "image/png"}}},
                        "application/x-www-form-urlencoded": {"schema": {"type": "object", "additionalProperties": {"type": "number", "multipleOf": 0.01}}},
                    }},
                    "responses": {"default": {"description": ""}},
                },
            },
        },
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "k"}},
            "schemas": {
                "Pet": {"type": "object", "required": ["name"], "properties": {
                    "id": {"type": "integer", "format": "int64", "readOnly": true},
                    "name": {"type": "string", "minLength": 1, "maxLength": 9},
                    "born": {"type": "string", "format": "date"},
                    "tags": {"type": "array", "uniqueItems": true, "maxItems": 3, "items": {"enum": ["x", "y"]}},
                    "friend": {"$ref": "#/components/schemas/Pet"},
                    "kind": {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"type": "null"}]},
                }},
                "Cat": {"allOf": [{"type": "object", "properties": {"claws": {"type": "integer", "exclusiveMinimum": 0}}}]},
            },
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damaged_documents_are_read_as_far_as_they_go(
        places in prop::collection::vec((0..160usize, 0..12usize), 1..5)
    ) {
        let with = [
            json!(null), json!(true), json!(-1), json!(1e300), json!(""), json!("x"), json!([]), json!({}),
            json!({"$ref": "#/components/schemas/Pet"}), json!({"$ref": "#"}),
            json!([{"$ref": "#/paths"}]), json!({"type": "array", "minItems": 3}),
        ];
        let mut document = sample_document();
        for (mut at, i) in places {
            damage(&mut document, &mut at, &with[i]);
        }
        if let Ok(api) = read(&document.to_string(), "a.json", &NoLoader) {
            call_all(&api);
            let checker = crate::action::ResponseChecker::new(&api);
            for operation in &api.operations {
                let json = [("content-type", "application/json"), ("x-n", "5")];
                let answer = crate::action::ReceivedResponse {
                    status: 200,
                    headers: &json,
                    body: b"{\"name\": [1]}",
                    json: None,
                };
                let _ = checker.check(&api, operation, &answer);
            }
        }
    }

    #[test]
    fn cut_and_scrambled_texts_are_errors_or_documents(cut in 0..4000usize, with in ".{0,6}") {
        let mut text = serde_json::to_string_pretty(&sample_document()).expect("it is JSON");
        let cut = cut.min(text.len());
        if text.is_char_boundary(cut) {
            text.insert_str(cut, &with);
        }
        let _ = read(&text, "a.json", &NoLoader);
        let _ = read(&text[..cut], "a.yaml", &NoLoader);
        // The same with the braces of JSON taken away reads as YAML, or fails as such.
        let _ = read(&text.replace(['{', '}', '"', ','], " "), "a.yaml", &NoLoader);
    }
}
