use std::collections::BTreeMap;

use fastrand::Rng;
use isobath_genes::{Domain, Gene, GeneConfig, Unresolved};
use serde_json::{Value as Json, json};

use super::*;

mod robust;
mod schemas;
mod versions;

fn api(document: &Json) -> Api {
    read(&document.to_string(), "api.json", &NoLoader).expect("an OpenAPI document")
}

/// A document of 3.0 whose only operation posts this schema, beside named schemas.
fn posting(schema: Json, schemas: Json) -> Api {
    api(&json!({
        "openapi": "3.0.3",
        "paths": {"/x": {"post": {
            "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"description": "ok"}},
        }}},
        "components": {"schemas": schemas},
    }))
}

/// Bodies of the only operation, many of them.
fn bodies(api: &Api) -> Vec<Json> {
    let mut rng = Rng::with_seed(1);
    let tuning = GeneConfig::default();
    (0..60)
        .map(|_| {
            let gene = Gene::sample(&api.model, api.operations[0].input, &mut rng, &tuning);
            assert_eq!(gene.check(), Ok(()));
            gene.to_json(&Unresolved).expect("present")["body"].clone()
        })
        .collect()
}

fn limitations(api: &Api) -> String {
    let lines: Vec<String> = api
        .limitations
        .list
        .iter()
        .map(|limitation| {
            let place = &limitation.place;
            let at = place
                .line_column
                .map_or(String::new(), |(l, c)| format!("{l}:{c} "));
            format!(
                "{} {}: {at}{}",
                limitation.kind.name(),
                limitation.detail,
                place.pointer
            )
        })
        .collect();
    lines.join("\n")
}

#[test]
fn all_four_versions_are_told_apart_and_others_refused() {
    let version = |key: &str, version: &str| {
        read(
            &json!({key: version, "paths": {}}).to_string(),
            "a",
            &NoLoader,
        )
        .map(|api| api.version)
    };
    assert_eq!(version("swagger", "2.0"), Ok(Version::V2_0));
    assert_eq!(version("openapi", "3.0.1"), Ok(Version::V3_0));
    assert_eq!(version("openapi", "3.1.0"), Ok(Version::V3_1));
    assert_eq!(version("openapi", "3.2.0"), Ok(Version::V3_2));
    let error = version("openapi", "4.0").expect_err("there is no such version");
    assert_eq!(
        error.to_string(),
        "a: OpenAPI version `4.0` is not known; 2.0, 3.0, 3.1 and 3.2 are"
    );
    let error = read("[1]", "a", &NoLoader).expect_err("not an API");
    assert!(matches!(error, ReadError::NotOpenApi { .. }));
    let error = read("{\"a\": }", "a.json", &NoLoader).expect_err("not JSON");
    assert!(error.to_string().starts_with("a.json:1:7"), "{error}");
}

#[test]
fn all_of_joins_bounds_properties_and_requirements() {
    let api = posting(
        json!({"allOf": [
            {"$ref": "#/components/schemas/Base"},
            {"type": "object", "required": ["n"], "properties": {
                "n": {"type": "integer", "maximum": 5},
                "m": {"type": "boolean"},
            }},
        ]}),
        json!({"Base": {"type": "object", "required": ["id"], "properties": {
            "id": {"type": "string", "format": "uuid"},
            "n": {"type": "integer", "minimum": 3},
        }}}),
    );
    assert_eq!(limitations(&api), "");
    for body in bodies(&api) {
        assert_eq!(body["id"].as_str().map(str::len), Some(36));
        assert!((3..=5).contains(&body["n"].as_i64().expect("required")));
    }
}

#[test]
fn a_discriminator_names_the_alternative() {
    let schemas = json!({
        "Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "claws": {"type": "integer"}}},
        "Dog": {"type": "object", "properties": {"kind": {"type": "string"}, "barks": {"type": "boolean"}}},
    });
    let api = posting(
        json!({
            "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
            "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}},
        }),
        schemas,
    );
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for body in bodies(&api) {
        let kind = body["kind"].as_str().expect("always there").to_owned();
        assert!(
            body.get(if kind == "cat" { "barks" } else { "claws" })
                .is_none()
        );
        *kinds.entry(kind).or_default() += 1;
    }
    assert_eq!(kinds.keys().collect::<Vec<_>>(), ["Dog", "cat"]);
}

#[test]
fn a_base_with_a_discriminator_stands_for_its_subtypes() {
    let reference = json!({"$ref": "#/definitions/Pet"});
    let api = api(&json!({
        "swagger": "2.0",
        "paths": {"/x": {"post": {
            "parameters": [{"name": "b", "in": "body", "required": true, "schema": reference}],
            "responses": {},
        }}},
        "definitions": {
            "Pet": {"type": "object", "discriminator": "type", "required": ["type"],
                    "properties": {"type": {"type": "string"}}},
            "Cat": {"allOf": [{"$ref": "#/definitions/Pet"}, {"properties": {"claws": {"type": "integer"}}}]},
            "Dog": {"allOf": [{"$ref": "#/definitions/Pet"}, {"properties": {"barks": {"type": "boolean"}}}]},
        },
    }));
    let types: std::collections::BTreeSet<String> = bodies(&api)
        .iter()
        .map(|body| body["type"].as_str().expect("required").to_owned())
        .collect();
    assert_eq!(types.into_iter().collect::<Vec<_>>(), ["Cat", "Dog"]);
}

#[test]
fn alternatives_keep_what_stands_beside_them() {
    let api = posting(
        json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "additionalProperties": false,
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }),
        json!({}),
    );
    for body in bodies(&api) {
        assert!(body.get("a").is_some() || body.get("b").is_some(), "{body}");
    }
}

#[test]
fn alternatives_inside_all_of_are_chosen_from() {
    let api = posting(
        json!({"allOf": [
            {"oneOf": [{"properties": {"x": {"const": 1}}, "required": ["x"]},
                       {"properties": {"y": {"const": 2}}, "required": ["y"]}]},
            {"type": "object", "required": ["z"], "properties": {"z": {"type": "boolean"}}},
        ]}),
        json!({}),
    );
    let bodies = bodies(&api);
    assert!(bodies.iter().all(|body| body["z"].is_boolean()));
    assert!(bodies.iter().any(|body| body["x"] == 1));
    assert!(bodies.iter().any(|body| body["y"] == 2));
}

#[test]
fn null_is_written_in_each_version_s_way() {
    let schemas = [
        json!({"type": "string", "nullable": true}),
        json!({"type": ["string", "null"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"enum": ["a", null]}),
    ];
    for schema in schemas {
        let bodies = bodies(&posting(schema.clone(), json!({})));
        assert!(bodies.iter().any(Json::is_null), "{schema}");
        assert!(bodies.iter().any(Json::is_string), "{schema}");
    }
}

#[test]
fn read_only_properties_are_not_sent_and_write_only_ones_not_expected() {
    let schema = json!({"type": "object", "required": ["id", "password"], "properties": {
        "id": {"type": "integer", "readOnly": true},
        "password": {"type": "string", "writeOnly": true},
    }});
    let api = api(&json!({
        "openapi": "3.0.0",
        "paths": {"/x": {"post": {
            "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"description": "", "content": {"application/json": {"schema": schema}}}},
        }}},
    }));
    for body in bodies(&api) {
        assert!(body.get("id").is_none() && body.get("password").is_some());
    }
    let media = &api.operations[0].responses[0].media[0];
    let checked = api
        .bundle
        .stand_alone(media.schema.expect("it has a schema"));
    assert_eq!(checked["$defs"]["0"]["required"], json!(["id"]));
    let Domain::Object(object) = &api.model.node(media.node.expect("it has one")).domain else {
        panic!("an object")
    };
    assert_eq!(
        object.fields.iter().map(|f| &*f.name).collect::<Vec<_>>(),
        ["id"]
    );
}

#[test]
fn recursive_schemas_are_bounded() {
    let api = posting(
        json!({"$ref": "#/components/schemas/Tree"}),
        json!({"Tree": {"type": "object", "required": ["children"], "properties": {
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "parent": {"$ref": "#/components/schemas/Tree"},
        }}}),
    );
    assert_eq!(limitations(&api), "");
    assert!(
        bodies(&api)
            .iter()
            .all(|body| body.to_string().len() < 20_000)
    );
}

#[test]
fn examples_of_all_kinds_are_used_by_name() {
    let api = api(&json!({
        "openapi": "3.1.0",
        "paths": {"/x/{id}": {"post": {
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"},
                            "examples": {"ada": {"value": 7}}}],
            "requestBody": {"required": true, "content": {"application/json": {
                "schema": {"type": "object", "properties": {"n": {"type": "string", "examples": ["s"]}}},
                "examples": {"ada": {"$ref": "#/components/examples/Ada"}},
            }}},
            "responses": {},
        }}},
        "components": {"examples": {"Ada": {"value": {"n": "Ada"}}}},
    }));
    let tuning = GeneConfig {
        named_example: Some("ada".into()),
        ..GeneConfig::default()
    };
    let input = api.operations[0].input;
    let gene = Gene::sample(&api.model, input, &mut Rng::with_seed(1), &tuning);
    assert_eq!(
        gene.to_json(&Unresolved),
        Some(json!({"path": {"id": 7}, "body": {"n": "Ada"}}))
    );
}

struct Files(BTreeMap<&'static str, &'static str>);

impl Loader for Files {
    fn load(&self, location: &str) -> Result<String, String> {
        let text = self.0.get(location).ok_or("there is no such file")?;
        Ok((*text).to_owned())
    }
}

#[test]
fn references_to_other_documents_go_through_the_loader() {
    let files = Files(BTreeMap::from([
        (
            "dir/schemas/pet.yaml",
            "type: object\nrequired: [tag]\nproperties:\n  tag: {$ref: 'tag.yaml#/Tag'}\n",
        ),
        ("dir/schemas/tag.yaml", "Tag: {type: string, enum: [x]}\n"),
        (
            "dir/path.yaml",
            "get:\n  responses: {'204': {description: none}}\n",
        ),
        ("dir/broken.yaml", "a: [\n"),
    ]));
    let text = "
openapi: 3.0.0
paths:
  /a:
    post:
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: schemas/pet.yaml}}}
      responses: {}
  /b: {$ref: path.yaml}
  /c: {$ref: broken.yaml}
  /d: {$ref: missing.yaml}
";
    let api = read(text, "dir/api.yaml", &files).expect("an API");
    assert_eq!(api.operations.len(), 2);
    assert_eq!(bodies(&api)[0], json!({"tag": "x"}));
    assert_eq!(api.operations[1].name(), "GET /b");
    assert_eq!(&*api.operations[1].place.location, "dir/path.yaml");
    assert_eq!(
        api.limitations.count(LimitationKind::UnresolvedReference),
        2
    );
    let first = api.limitations.list[0].to_string();
    assert!(
        first.contains("broken.yaml") && first.contains("dir/api.yaml:11"),
        "{first}"
    );
}

#[test]
fn swagger_forms_files_and_formats_of_lists_are_understood() {
    let api = api(&json!({
        "swagger": "2.0", "host": "h:80", "basePath": "/v1", "schemes": ["https"],
        "consumes": ["application/json"],
        "securityDefinitions": {"k": {"type": "apiKey", "in": "header", "name": "X-Key"}, "b": {"type": "basic"}},
        "security": [{"k": []}],
        "paths": {"/x/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": true, "type": "integer", "format": "int64"}],
            "post": {
                "consumes": ["multipart/form-data"],
                "parameters": [
                    {"name": "f", "in": "formData", "type": "file", "required": true},
                    {"name": "t", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "pipes"},
                    {"name": "m", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"},
                ],
                "responses": {"200": {"schema": {"type": "string"}, "headers": {"X-N": {"type": "integer"}}}},
                "security": [],
            },
        }},
    }));
    assert_eq!(limitations(&api), "");
    assert_eq!(api.servers[0].url, "https://h:80/v1");
    let operation = &api.operations[0];
    assert_eq!(operation.security, []);
    let style = |name| {
        let parameter = operation
            .parameter(ParameterLocation::Query, name)
            .expect("declared");
        (parameter.style, parameter.explode)
    };
    assert_eq!(style("t"), (Style::PipeDelimited, false));
    assert_eq!(style("m"), (Style::Form, true));
    let body = operation.body.as_ref().expect("a form");
    assert_eq!(
        (body.media[0].kind, body.required),
        (MediaKind::Multipart, true)
    );
    assert_eq!(operation.responses[0].media[0].content_type.as_ref(), "*/*");
    assert_eq!(api.security_schemes.len(), 2);
}

#[test]
fn links_lead_to_operations() {
    let api = api(&json!({
        "openapi": "3.0.0",
        "paths": {
            "/x": {"post": {"responses": {"201": {"description": "", "links": {
                "get": {"operationId": "getX", "parameters": {"id": "$response.body#/id"}},
                "ref": {"operationRef": "#/paths/~1x~1{id}/get", "parameters": {"path.id": "$response.header.Location"}},
                "bad": {"operationId": "nothing", "parameters": {"id": "$oops"}},
                "sent": {"operationId": "getX", "requestBody": "$response.body",
                         "parameters": {"id": "$request.path.id"}},
                "where": {"operationId": "getX", "parameters": {"id": "$url"}, "server": {"url": "/"}},
                "within": {"operationId": "getX", "parameters": {"id": "x-{$response.body#/id}"}},
            }}}}},
            "/x/{id}": {"get": {"operationId": "getX", "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {}}},
        },
    }));
    let links = &api.operations[0].responses[0].links;
    assert_eq!(links[0].target, Some(1));
    assert_eq!(
        links[0].parameters[0].1,
        Expression::ResponseBody("/id".into())
    );
    assert_eq!(links[1].target, Some(1));
    assert_eq!(
        links[1].parameters[0].1,
        Expression::ResponseHeader("Location".into())
    );
    assert_eq!(links[2].target, None);
    insta::assert_snapshot!(limitations(&api), @"
    link expression `$oops`: 1:265 /paths/~1x/post/responses/201/links/bad
    link `id` is not taken from `$url`: 1:427 /paths/~1x/post/responses/201/links/where
    link the server of a link is ignored: 1:427 /paths/~1x/post/responses/201/links/where
    link expression `x-{$response.body#/id}`: 1:507 /paths/~1x/post/responses/201/links/within
    link link `bad` refers to an unknown operation: 1:265 /paths/~1x/post/responses/201/links/bad
    ");
}

#[test]
fn what_cannot_be_modelled_is_listed_with_its_place() {
    let text = r#"
openapi: 3.0.0
paths:
  /a/{x}/{y}:
    get:
      parameters:
        - {name: x, in: path, required: true, schema: {type: string, pattern: '^(?=a)b$'}}
        - {name: z, in: path, required: true, schema: {type: string}}
        - {name: q, in: query, style: label, schema: {type: string, format: zip-code}}
        - {in: query}
        - {$ref: '#/components/parameters/none'}
        - {name: n, in: query, schema: {type: integer, minimum: 5, maximum: 1, minLength: no}}
        - {name: e, in: query, example: abc, schema: {type: integer}}
      responses:
        '999': {description: what}
        '200': {description: ok, content: {application/json: {schema: {not: {type: string}}}}}
    post: nonsense
  /b:
    put:
      requestBody: {content: {application/x-thing: {schema: {type: object}}}}
      responses: {}
"#;
    let api = read(text, "api.yaml", &NoLoader).expect("an API");
    assert_eq!(api.operations.len(), 2);
    insta::assert_snapshot!(limitations(&api), @r#"
    pattern `^(?=a)b$`: lookaround is not supported: 7:79 /paths/~1a~1{x}~1{y}/get/parameters/0/schema/pattern
    parameter style `label` in query: 9:11 /paths/~1a~1{x}~1{y}/get/parameters/2
    malformed a parameter requires `name` and `in`: 10:11 /paths/~1a~1{x}~1{y}/get/parameters/3
    unresolved-reference unresolved reference `#/components/parameters/none`: 11:11 /paths/~1a~1{x}~1{y}/get/parameters/4
    format format `zip-code` is treated as free text: 9:77 /paths/~1a~1{x}~1{y}/get/parameters/2/schema/format
    malformed `minLength` has the wrong type: 12:91 /paths/~1a~1{x}~1{y}/get/parameters/5/schema/minLength
    contradiction no whole number is within the bounds: 12:40 /paths/~1a~1{x}~1{y}/get/parameters/5/schema
    path-template path parameter `{y}` is not declared; sent as a string: 6:7 /paths/~1a~1{x}~1{y}/get
    path-template path parameter `z` is not in the path: 6:7 /paths/~1a~1{x}~1{y}/get
    malformed `999` is not a status: 15:16 /paths/~1a~1{x}~1{y}/get/responses/999
    malformed an operation must be an object: 17:11 /paths/~1a~1{x}~1{y}/post
    content-type `application/x-thing` is sent as JSON: 20:52 /paths/~1b/put/requestBody/content/application~1x-thing
    misfit-example example `"abc"` does not fit its schema: 13:11 /paths/~1a~1{x}~1{y}/get/parameters/6
    "#);
}

#[test]
fn a_bad_operation_does_not_lose_the_others() {
    let api = api(&json!({
        "openapi": "3.1.0",
        "paths": {
            "/a": {"get": 5, "post": {"parameters": "x", "responses": [], "requestBody": 7, "tags": 3, "security": 1}},
            "/b": null,
            "/c": {"$ref": "#/paths/~1c"},
            "d": {"get": {"responses": {"200": {"$ref": "#/nowhere"}}}},
        },
        "components": {"schemas": 5, "securitySchemes": {"x": {"type": "magic"}}},
        "servers": {}, "security": {},
    }));
    let names: Vec<String> = api.operations.iter().map(Operation::name).collect();
    assert_eq!(names, ["POST /a", "GET /d"]);
    assert!(api.limitations.count(LimitationKind::Malformed) >= 6);
}
