//! Schema keywords of single values, and version-specific ones.

use std::collections::BTreeSet;

use super::*;
use crate::action::Action;

/// The texts of a schema of strings.
fn texts(schema: Json) -> Vec<String> {
    let api = posting(schema, json!({}));
    assert_eq!(limitations(&api), "");
    let texts = bodies(&api);
    texts
        .iter()
        .map(|body| body.as_str().expect("a text").to_owned())
        .collect()
}

#[test]
fn bounds_of_numbers_lengths_and_counts_hold_in_both_ways_of_writing_them() {
    let api = posting(
        json!({"type": "object", "required": ["a", "b", "c", "d", "e", "f", "g"], "properties": {
            "a": {"type": "integer", "minimum": 3, "exclusiveMinimum": true, "maximum": 6},
            "b": {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 6},
            "c": {"type": "number", "minimum": 0.5, "maximum": 1.5},
            "d": {"type": "number", "multipleOf": 0.25, "minimum": 1, "maximum": 2},
            "e": {"type": "string", "minLength": 2, "maxLength": 4},
            "f": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
            "g": {"type": "array", "items": {"type": "integer", "maximum": 3, "minimum": 1}, "uniqueItems": true,
                  "minItems": 3},
        }}),
        json!({}),
    );
    assert_eq!(limitations(&api), "");
    for body in bodies(&api) {
        assert!(
            (4..=6).contains(&body["a"].as_i64().expect("whole")),
            "{body}"
        );
        assert!(
            (4..=5).contains(&body["b"].as_i64().expect("whole")),
            "{body}"
        );
        assert!(
            (0.5..=1.5).contains(&body["c"].as_f64().expect("a number")),
            "{body}"
        );
        let quarters = body["d"].as_f64().expect("a number") * 4.0;
        assert!(
            (4.0..=8.0).contains(&quarters) && quarters.fract() == 0.0,
            "{body}"
        );
        let n_chars = body["e"].as_str().expect("a text").chars().count();
        assert!((2..=4).contains(&n_chars), "{body}");
        assert!(
            (1..=2).contains(&body["f"].as_array().expect("a list").len()),
            "{body}"
        );
        let items = body["g"].as_array().expect("a list").iter();
        let different: BTreeSet<i64> = items.filter_map(Json::as_i64).collect();
        assert_eq!(different, [1, 2, 3].into(), "{body}");
    }
}

#[test]
fn several_types_are_all_tried() {
    let bodies = bodies(&posting(
        json!({"type": ["integer", "string", "null"]}),
        json!({}),
    ));
    assert!(bodies.iter().any(Json::is_i64));
    assert!(bodies.iter().any(Json::is_string));
    assert!(bodies.iter().any(Json::is_null));
}

#[test]
fn enumerations_and_constants_make_nothing_else() {
    let api = posting(
        json!({"type": "object", "required": ["e", "c"], "properties": {
            "e": {"enum": ["a", 2, false]}, "c": {"const": {"x": 1}},
        }}),
        json!({}),
    );
    let mut seen = BTreeSet::new();
    for body in bodies(&api) {
        assert_eq!(body["c"], json!({"x": 1}));
        seen.insert(body["e"].to_string());
    }
    assert_eq!(seen, ["\"a\"", "2", "false"].map(str::to_owned).into());
}

#[test]
fn texts_of_formats_and_patterns_have_their_shape() {
    let fits = |schema: Json, pattern: &str| {
        let pattern = isobath_genes::Pattern::new(pattern).expect("a simple one");
        for text in texts(schema.clone()) {
            assert!(pattern.matches(&text), "{schema} made {text}");
        }
    };
    for (format, pattern) in [
        ("date", r"^\d{4}-\d\d-\d\d$"),
        ("time", r"^\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"),
        (
            "date-time",
            r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
        ),
        ("uuid", r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
        ("email", r"^[^@ ]+@[^@ ]+$"),
        ("uri", r"^https?://[^ ]+$"),
        ("hostname", r"^[a-z0-9.-]+$"),
        ("ipv4", r"^\d+(\.\d+){3}$"),
        ("byte", r"^[A-Za-z0-9+/]*={0,2}$"),
        ("duration", r"^P.+$"),
    ] {
        fits(json!({"type": "string", "format": format}), pattern);
    }
    fits(
        json!({"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"}),
        r"^[A-Z]{2}-\d{3}$",
    );
    fits(
        json!({"type": "string", "contentEncoding": "base64"}),
        r"^[A-Za-z0-9+/]*={0,2}$",
    );
    for body in bodies(&posting(
        json!({"type": "integer", "format": "uint8"}),
        json!({}),
    )) {
        assert!((0..=255).contains(&body.as_i64().expect("whole")), "{body}");
    }
}

#[test]
fn base64_keeps_to_the_bounds_of_its_text() {
    let schema = json!({"type": "string", "format": "byte", "minLength": 5, "maxLength": 10});
    for text in texts(schema) {
        assert_eq!(text.len(), 8, "{text}");
        assert!(isobath_genes::binary::decode(&text).is_some(), "{text}");
    }
    let schema = json!({"type": "string", "format": "byte", "minLength": 1, "maxLength": 3});
    let api = posting(schema, json!({}));
    assert_eq!(api.limitations.count(LimitationKind::Contradiction), 1);
}

#[test]
fn additional_properties_are_made_typed_refused_or_named_by_pattern() {
    let maps = bodies(&posting(
        json!({"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer", "minimum": 7}}),
        json!({}),
    ));
    for body in maps {
        let map = body.as_object().expect("a map");
        assert!(!map.is_empty());
        assert!(
            map.values().all(|value| value.as_i64() >= Some(7)),
            "{body}"
        );
    }
    let named = bodies(&posting(
        json!({"type": "object", "minProperties": 1, "additionalProperties": false,
               "patternProperties": {"^x-[a-z]+$": {"type": "boolean"}}}),
        json!({}),
    ));
    for body in named {
        let map = body.as_object().expect("a map");
        assert!(
            map.iter()
                .all(|(name, value)| name.starts_with("x-") && value.is_boolean()),
            "{body}"
        );
    }
    let closed = posting(
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}),
        json!({}),
    );
    let input = closed.operations[0].input;
    let refused = Gene::read(&closed.model, input, &json!({"body": {"b": 1}}));
    assert!(refused.is_err());
}

#[test]
fn defaults_and_examples_of_schemas_are_sent() {
    for schema in [
        json!({"type": "string", "default": "standard"}),
        json!({"type": "string", "example": "standard"}),
        json!({"type": "string", "examples": ["standard"]}),
    ] {
        let bodies = bodies(&posting(schema.clone(), json!({})));
        assert!(bodies.contains(&json!("standard")), "{schema}");
        assert!(bodies.iter().any(|body| body != "standard"), "{schema}");
    }
}

#[test]
fn subtypes_of_subtypes_stand_for_a_base_too() {
    let api = posting(
        json!({"$ref": "#/components/schemas/Pet"}),
        json!({
            "Pet": {"type": "object", "discriminator": {"propertyName": "type", "mapping": {"lion": "Lion"}},
                    "properties": {"type": {"type": "string"}}},
            "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"claws": {"type": "integer"}}}]},
            "Lion": {"allOf": [{"$ref": "#/components/schemas/Cat"}, {"required": ["mane"],
                               "properties": {"mane": {"type": "boolean"}}}]},
        }),
    );
    let mut types = BTreeSet::new();
    for body in bodies(&api) {
        let name = body["type"].as_str().expect("it tells them apart");
        assert_eq!(name == "lion", body.get("mane").is_some(), "{body}");
        types.insert(name.to_owned());
    }
    assert_eq!(types, ["Cat", "lion"].map(str::to_owned).into());
}

#[test]
fn a_schema_that_a_mapping_names_twice_has_both_names() {
    let alternatives =
        json!([{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]);
    let mapping = json!({"cat": "#/components/schemas/Cat", "kitten": "Cat"});
    let api = posting(
        json!({"oneOf": alternatives, "discriminator": {"propertyName": "kind", "mapping": mapping}}),
        json!({"Cat": {"type": "object"}, "Dog": {"type": "object"}}),
    );
    let kinds: BTreeSet<String> = bodies(&api)
        .iter()
        .map(|body| body["kind"].as_str().expect("always there").to_owned())
        .collect();
    assert_eq!(kinds, ["Dog", "cat", "kitten"].map(str::to_owned).into());
}

#[test]
fn a_path_is_not_cut_short_by_an_empty_value() {
    for schema in [
        json!({"type": "string"}),
        json!({"type": "string", "pattern": "^[a-z]*$"}),
        json!({"type": "array", "items": {"type": "integer"}}),
    ] {
        let id = json!({"name": "id", "in": "path", "required": true, "schema": schema});
        let api = api(&json!({
            "openapi": "3.0.0",
            "paths": {"/x/{id}": {"get": {"parameters": [id], "responses": {}}}},
        }));
        for seed in 0..200 {
            let action = Action::sample(&api, 0, &mut Rng::with_seed(seed), &GeneConfig::default());
            let request = action.expect("it exists").request(&api, &Unresolved);
            assert_ne!(request.path, "/x/", "{schema}");
        }
    }
}

#[test]
fn what_values_are_not_made_for_is_counted_where_it_stands() {
    for (keyword, json) in [
        ("not", json!({"const": "a"})),
        ("if", json!({"minLength": 3})),
        ("contains", json!({})),
        ("prefixItems", json!([{}])),
        ("dependentRequired", json!({"a": ["b"]})),
        ("contentEncoding", json!("quoted-printable")),
    ] {
        let api = posting(json!({"type": "string", keyword: json}), json!({}));
        let pointer = "/paths/~1x/post/requestBody/content/application~1json/schema";
        let found: Vec<_> = api
            .limitations
            .list
            .iter()
            .map(|l| (l.kind, &*l.place.pointer))
            .collect();
        let expected = format!("{pointer}/{keyword}");
        assert_eq!(found, [(LimitationKind::SchemaKeyword, &*expected)]);
        assert_eq!(api.limitations.count(LimitationKind::SchemaKeyword), 1);
        assert_eq!(api.operations.len(), 1);
    }
}

#[test]
fn what_only_version_3_2_has_is_called() {
    let api = api(&json!({
        "openapi": "3.2.0",
        "paths": {"/x": {
            "query": {"responses": {}, "requestBody": {"required": true, "content": {"application/json": {
                "schema": {"type": "integer"}, "examples": {"one": {"dataValue": 1}}}}}},
            "additionalOperations": {"COPY": {"responses": {}, "parameters": [
                {"name": "all", "in": "querystring", "required": true, "content": {
                    "application/x-www-form-urlencoded": {"schema": {"type": "object", "required": ["a", "b"],
                        "properties": {"a": {"const": 1}, "b": {"const": ["x", "y"]}}}}}},
                {"name": "c", "in": "cookie", "style": "cookie", "required": true, "schema": {"const": "v"}},
            ]}},
        }},
    }));
    assert_eq!(limitations(&api), "");
    let tuning = GeneConfig {
        named_example: Some("one".into()),
        ..GeneConfig::default()
    };
    let lines: Vec<String> = (0..api.operations.len())
        .map(|operation| {
            let action = Action::sample(&api, operation, &mut Rng::with_seed(1), &tuning);
            let request = action.expect("it exists").request(&api, &Unresolved);
            let body = request
                .body
                .as_ref()
                .map(|body| String::from_utf8_lossy(&body.bytes));
            let cookie = request.headers.iter().find(|(name, _)| &**name == "Cookie");
            format!(
                "{} {} {body:?} {:?}",
                request.method,
                request.target(),
                cookie.map(|(_, value)| value)
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    QUERY /x Some("1") None
    COPY /x?a=1&b=x&b=y None Some("c=v")
    "#);
}

#[test]
fn every_value_fits_a_schema_that_says_nothing_of_types() {
    let free = json!({ "title": "Data" });
    let api = posting(
        json!({"type": "object", "required": ["data", "free", "text"], "properties": {
            "data": {"anyOf": [{"type": "object"}, free]}, "free": free, "text": {"type": "string"},
        }}),
        json!({}),
    );
    let action = Action::sample(&api, 0, &mut Rng::with_seed(1), &GeneConfig::default());
    let action = action.expect("it exists");
    let fits = |name: &str, value: &Json| {
        let mut action = action.clone();
        assert!(action.gene.set_json(&format!("/body/{name}"), value));
        action.gene.check().is_ok()
    };
    for value in [json!(null), json!([null]), json!(5.5), json!({"a": [null]})] {
        assert!(fits("data", &value) && fits("free", &value), "{value}");
        assert!(!fits("text", &value), "{value}");
    }
}
