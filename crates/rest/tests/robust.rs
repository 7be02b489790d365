//! Damaged and hostile documents are read as far as possible, or rejected with a message.

use fastrand::Rng;
use isobath_genes::{GeneConfig, Unresolved};
use isobath_rest::action::{Action, ReceivedResponse, ResponseChecker};
use isobath_rest::openapi::{self, NoLoader};
use serde_json::{Map, Value as Json, json};

/// The document with some of its lines or characters changed.
fn damaged(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..lines.len());
        match rng.u8(..7) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[rng.usize(..lines.len())].clone()),
            2 => lines.swap(at, rng.usize(0..text.lines().count().min(20))),
            3 => {
                let indent = rng.usize(..8);
                lines[at] = format!("{}{}", " ".repeat(indent), lines[at].trim_start());
            }
            4 => {
                let words = [
                    "null",
                    "[]",
                    "{}",
                    "-1",
                    "1e999",
                    "'",
                    "&a",
                    "*a",
                    "$ref: '#/'",
                ];
                let word = rng.choice(words).unwrap_or_default();
                if let Some((key, _)) = lines[at].clone().split_once(':') {
                    lines[at] = format!("{key}: {word}");
                }
            }
            5 => lines[at] = lines[at].chars().rev().collect(),
            _ => lines.truncate(at.max(1)),
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

#[test]
fn damaged_documents_are_read_as_far_as_they_go_or_refused() {
    let mut rng = Rng::with_seed(1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..400 {
        let text = damaged(marina::OPENAPI, &mut rng);
        match openapi::read(&text, "damaged.yaml", &NoLoader) {
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
            Ok(api) => {
                read += 1;
                for index in 0..api.operations.len() {
                    let action = Action::sample(&api, index, &mut rng, &GeneConfig::default());
                    if let Some(mut action) = action {
                        action.mutate(&mut rng, &GeneConfig::default());
                        let request = action.request(&api, &Unresolved);
                        assert!(request.path.starts_with('/'), "{}", request.path);
                    }
                }
            }
        }
    }
    assert!(read > 50 && refused > 5, "{read} read, {refused} refused");
}

fn reference(id: usize) -> Json {
    json!({ "$ref": format!("#/components/schemas/S{id}") })
}

/// A document whose one operation takes and returns the first of these schemas.
fn document(schemas: impl IntoIterator<Item = Json>) -> String {
    let schemas = schemas.into_iter().enumerate();
    let schemas: Map<String, Json> = schemas
        .map(|(id, schema)| (format!("S{id}"), schema))
        .collect();
    let content = json!({ "application/json": { "schema": reference(0) } });
    let responses = json!({ "200": { "description": "ok", "content": content } });
    json!({
        "openapi": "3.0.3",
        "info": { "title": "hostile", "version": "1" },
        "paths": { "/a": { "post": { "requestBody": { "content": content }, "responses": responses } } },
        "components": { "schemas": schemas },
    })
    .to_string()
}

/// So many schemas, each made of the next one, and a last one.
fn tower(levels: usize, make: impl Fn(Json) -> Json) -> String {
    let schemas = (1..=levels).map(|id| make(reference(id)));
    document(schemas.chain([json!({ "type": "object" })]))
}

#[test]
fn hostile_documents_are_read_and_used_or_refused() {
    let patterns = [
        "(a+)+$",
        "(x{1000}){1000}",
        "((((a*)*)*)*)*b",
        "a{0,100000000}",
        "(?=a)(?!a)b",
    ];
    let patterns = patterns.map(|pattern| json!({ "type": "string", "pattern": pattern }));
    let bounds = [
        json!({ "type": "integer", "minimum": 10, "maximum": 3 }),
        json!({ "type": "string", "minLength": 100, "maxLength": 1 }),
        json!({ "type": "array", "minItems": 1_000_000_000, "maxItems": 2, "items": {} }),
        json!({ "enum": [] }),
        json!({ "type": "number", "multipleOf": 0 }),
        json!({ "type": "object", "minProperties": 99_999_999 }),
    ];
    let sizes = [
        json!({ "type": "array", "minItems": 2_000_000_000, "items": { "type": "string" } }),
        json!({ "type": "string", "minLength": 2_000_000_000 }),
        json!({ "type": "object", "minProperties": 2_000_000_000, "additionalProperties": {} }),
    ];
    let values: Vec<String> = (0..100_000).map(|number| format!("v{number}")).collect();
    let object = |schemas: &[Json]| {
        let names = (0..schemas.len()).map(|index| format!("p{index}"));
        let properties: Map<String, Json> = names.clone().zip(schemas.iter().cloned()).collect();
        let names: Vec<String> = names.collect();
        json!({ "type": "object", "required": names, "properties": properties })
    };
    let name = "n".repeat(100_000);
    let levels = (1..30).map(|level| {
        let below = vec![format!("*a{}", level - 1); 10].join(",");
        format!("a{level}: &a{level} [{below}]\n")
    });
    let laughs: String = std::iter::once("a0: &a0 lol\n".to_owned())
        .chain(levels)
        .collect();
    let documents = [
        (
            "a cycle",
            document([reference(1), reference(2), reference(0)]),
        ),
        (
            "a cycle of parts",
            document([
                json!({ "allOf": [reference(1), reference(0)] }),
                json!({ "oneOf": [reference(0)] }),
            ]),
        ),
        ("a chain", tower(10_000, |next| next)),
        ("a tower of objects", tower(2_000, |next| object(&[next]))),
        (
            "a tree",
            tower(60, |next| object(&[next.clone(), next.clone(), next])),
        ),
        (
            "parts that double",
            tower(60, |next| json!({ "allOf": [next, next] })),
        ),
        (
            "choices that double",
            tower(
                60,
                |next| json!({ "anyOf": [next, { "type": "string" }, next] }),
            ),
        ),
        ("patterns", document([object(&patterns)])),
        ("bounds", document([object(&bounds)])),
        ("sizes", document([object(&sizes)])),
        ("a long enum", document([json!({ "enum": values })])),
        (
            "long names",
            document([
                json!({ "type": "object", "required": [name], "properties": { name.clone(): {} } }),
            ]),
        ),
        (
            "depth",
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        ),
        (
            "aliases",
            format!("{laughs}openapi: 3.0.3\npaths: {{ /a: {{ x-a: *a29 }} }}\n"),
        ),
    ];
    let mut rng = Rng::with_seed(1);
    let mut n_read = 0;
    for (what, text) in documents {
        let Ok(api) = openapi::read(&text, "hostile.yaml", &NoLoader) else {
            continue;
        };
        n_read += 1;
        let action = Action::sample(&api, 0, &mut rng, &GeneConfig::default());
        let mut action = action.expect(what);
        action.mutate(&mut rng, &GeneConfig::default());
        assert_eq!(action.request(&api, &Unresolved).path, "/a", "{what}");
        let received = ReceivedResponse {
            status: 200,
            headers: &[("content-type", "application/json")],
            body: br#"{"p0": {"p0": {}}}"#,
            json: None,
        };
        // Whether it fits is another matter; the check has to end.
        let _ = ResponseChecker::new(&api).check(&api, &api.operations[0], &received);
    }
    assert!(n_read >= 12, "{n_read} read");
}
