use fastrand::Rng;
use isobath_genes::{GeneConfig, Rule, Unresolved};
use serde_json::{Value as Json, json};

use super::*;
use crate::openapi::{NoLoader, read};

fn api(document: &Json) -> Api {
    read(&document.to_string(), "api.json", &NoLoader).expect("an OpenAPI document")
}

/// An operation with these parameters, called with these inputs.
fn request(path: &str, parameters: Json, input: &Json) -> Request {
    let api = api(&json!({
        "openapi": "3.0.0",
        "paths": {path: {"get": {"parameters": parameters, "responses": {}}}},
    }));
    send(&api, input)
}

fn send(api: &Api, input: &Json) -> Request {
    let gene = Gene::read(&api.model, api.operations[0].input, input).expect("fitting inputs");
    let action = Action {
        operation: 0,
        gene,
        undocumented: Vec::new(),
    };
    action.request(api, &Unresolved)
}

const ARRAY: fn() -> Json = || json!({"type": "array", "items": {"type": "string"}});
const OBJECT: fn() -> Json = || json!({"type": "object", "properties": {"r": {"type": "integer"}, "g": {"type": "integer"}}});

/// Clients take `.` and `..` out of a path, so that the suite would make another call than the search.
#[test]
fn a_part_of_a_path_is_never_one_that_clients_take_out() {
    let parameters = json!([
        {"name": "a", "in": "path", "required": true, "schema": {"type": "string"}},
        {"name": "q", "in": "query", "schema": {"type": "string"}},
    ]);
    for (text, sent) in [(".", "..."), ("..", "..."), ("...", "..."), ("a.", "a.")] {
        let input = json!({"path": {"a": text}, "query": {"q": text}});
        let request = request("/x/{a}", parameters.clone(), &input);
        assert_eq!(request.path, format!("/x/{sent}"));
        assert_eq!(request.query, format!("q={text}"));
        let input = request.input.expect("there are inputs");
        assert_eq!(input["path"]["a"], sent, "what is judged is what was sent");
    }
}

#[test]
fn path_parameters_in_all_styles() {
    let mut lines = Vec::new();
    for style in ["simple", "label", "matrix"] {
        for explode in [false, true] {
            let path = |schema: Json, value: Json| {
                let parameter = json!([{"name": "c", "in": "path", "required": true,
                    "style": style, "explode": explode, "schema": schema}]);
                request("/x/{c}", parameter, &json!({"path": {"c": value}})).path
            };
            lines.push(format!(
                "{style} {explode}: {} {} {}",
                path(json!({"type": "string"}), json!("a/b ü")),
                path(ARRAY(), json!(["a", "b,c"])),
                path(OBJECT(), json!({"r": 1, "g": 2})),
            ));
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    simple false: /x/a%2Fb%20%C3%BC /x/a,b%2Cc /x/r,1,g,2
    simple true: /x/a%2Fb%20%C3%BC /x/a,b%2Cc /x/r=1,g=2
    label false: /x/.a%2Fb%20%C3%BC /x/.a,b%2Cc /x/.r,1,g,2
    label true: /x/.a%2Fb%20%C3%BC /x/.a.b%2Cc /x/.r=1.g=2
    matrix false: /x/;c=a%2Fb%20%C3%BC /x/;c=a,b%2Cc /x/;c=r,1,g,2
    matrix true: /x/;c=a%2Fb%20%C3%BC /x/;c=a;c=b%2Cc /x/;r=1;g=2
    ");
}

#[test]
fn query_parameters_in_all_styles() {
    let mut lines = Vec::new();
    for (style, explode) in [
        ("form", true),
        ("form", false),
        ("spaceDelimited", false),
        ("pipeDelimited", false),
        ("deepObject", true),
    ] {
        let query = |schema: Json, value: Json| {
            let parameter = json!([{"name": "c d", "in": "query", "style": style, "explode": explode,
                "schema": schema}]);
            request("/x", parameter, &json!({"query": {"c d": value}})).query
        };
        lines.push(format!(
            "{style} {explode}: {} {} {}",
            query(json!({"type": "integer"}), json!(5)),
            query(ARRAY(), json!(["a", "b&c"])),
            query(OBJECT(), json!({"r": 1, "g": 2})),
        ));
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    form true: c%20d=5 c%20d=a&c%20d=b%26c r=1&g=2
    form false: c%20d=5 c%20d=a,b%26c c%20d=r,1,g,2
    spaceDelimited false: c%20d=5 c%20d=a%20b%26c c%20d=r%201%20g%202
    pipeDelimited false: c%20d=5 c%20d=a%7Cb%26c c%20d=r%7C1%7Cg%7C2
    deepObject true: c%20d=5 c%20d=a&c%20d=b%26c c%20d%5Br%5D=1&c%20d%5Bg%5D=2
    ");
}

#[test]
fn headers_cookies_content_and_reserved_characters() {
    let parameters = json!([
        {"name": "X-A", "in": "header", "schema": {"type": "array", "items": {"type": "integer"}}},
        {"name": "X-T", "in": "header", "schema": {"type": "string"}},
        {"name": "s", "in": "cookie", "schema": {"type": "string"}},
        {"name": "n", "in": "cookie", "schema": {"type": "array", "items": {"type": "integer"}}},
        {"name": "j", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
        {"name": "u", "in": "query", "allowReserved": true, "schema": {"type": "string"}},
        {"name": "Accept", "in": "header", "schema": {"type": "string"}},
    ]);
    let input = json!({
        "header": {"X-A": [1, 2], "X-T": "a\r\nb: ü"},
        "cookie": {"s": "a;b", "n": [1, 2]},
        "query": {"j": {"k": [1]}, "u": "http://h/?a=b&c#d"},
    });
    let request = request("/x", parameters, &input);
    let headers: Vec<String> = request
        .headers
        .iter()
        .map(|(n, v)| format!("{n}: {v}"))
        .collect();
    insta::assert_snapshot!(format!("{}\n{}", headers.join("\n"), request.target()), @"
    Accept: */*
    X-A: 1,2
    X-T: a%0D%0Ab: %C3%BC
    Cookie: s=a%3Bb; n=1,2
    /x?j=%7B%22k%22%3A%5B1%5D%7D&u=http://h/?a%3Db%26c%23d
    ");
}

/// The body of a value in a content type.
fn body(content_type: &str, media: Json, value: Json) -> String {
    let api = api(&json!({
        "openapi": "3.0.0",
        "paths": {"/x": {"post": {"requestBody": {"content": {content_type: media}}, "responses": {}}}},
        "components": {"schemas": {"Pet": {
            "type": "object", "xml": {"name": "pet"},
            "properties": {
                "id": {"type": "integer", "xml": {"attribute": true}},
                "name": {"type": "string"},
                "tags": {"type": "array", "xml": {"wrapped": true}, "items": {"type": "string", "xml": {"name": "tag"}}},
                "urls": {"type": "array", "items": {"type": "string"}},
            },
        }}},
    }));
    let body = send(&api, &json!({"body": value})).body.expect("a body");
    format!(
        "{}\n{}",
        body.content_type,
        String::from_utf8_lossy(&body.bytes)
    )
}

#[test]
fn bodies_in_all_content_types() {
    let pet = json!({"schema": {"$ref": "#/components/schemas/Pet"}});
    let value = json!({"id": 1, "name": "a & b", "tags": ["x", "y"], "urls": ["u"]});
    insta::assert_snapshot!(body("application/json", pet.clone(), value.clone()), @r#"
    application/json
    {"id":1,"name":"a & b","tags":["x","y"],"urls":["u"]}
    "#);
    insta::assert_snapshot!(body("application/xml", pet.clone(), value.clone()), @r#"
    application/xml
    <?xml version="1.0" encoding="UTF-8"?><pet id="1"><name>a &amp; b</name><tags><tag>x</tag><tag>y</tag></tags><urls>u</urls></pet>
    "#);
    insta::assert_snapshot!(body("application/x-www-form-urlencoded", pet, value), @"
    application/x-www-form-urlencoded
    id=1&name=a%20%26%20b&tags=x&tags=y&urls=u
    ");
    let text = json!({"schema": {"type": "string"}});
    insta::assert_snapshot!(body("text/plain", text, json!("a\nb")), @"
    text/plain
    a
    b
    ");
    let bytes = json!({"schema": {"type": "string", "format": "binary"}});
    insta::assert_snapshot!(body("application/octet-stream", bytes, json!("aGk=")), @"
    application/octet-stream
    hi
    ");
}

#[test]
fn multipart_bodies_carry_files_and_json() {
    let media = json!({
        "schema": {"type": "object", "properties": {
            "file": {"type": "string", "format": "binary"},
            "meta": {"type": "object"},
            "n": {"type": "array", "items": {"type": "integer"}},
        }},
        "encoding": {"file": {"contentType": "image/png, image/jpeg"}},
    });
    let value = json!({"file": "aGk=", "meta": {"a": "isobath-part-boundary"}, "n": [1, 2]});
    insta::assert_snapshot!(body("multipart/form-data", media, value).replace('\r', ""), @r#"
    multipart/form-data; boundary=isobath-part-boundary-x
    --isobath-part-boundary-x
    Content-Disposition: form-data; name="file"; filename="file.bin"
    Content-Type: image/png

    hi
    --isobath-part-boundary-x
    Content-Disposition: form-data; name="meta"
    Content-Type: application/json

    {"a":"isobath-part-boundary"}
    --isobath-part-boundary-x
    Content-Disposition: form-data; name="n"

    1
    --isobath-part-boundary-x
    Content-Disposition: form-data; name="n"

    2
    --isobath-part-boundary-x--
    "#);
}

#[test]
fn xml_follows_namespaces_prefixes_and_the_node_types_of_version_3_2() {
    let media = json!({"schema": {
        "type": "object", "xml": {"name": "boat", "namespace": "http://h/b?a&b", "prefix": "b"},
        "properties": {
            "id": {"type": "integer", "xml": {"nodeType": "attribute"}},
            "crew": {"type": "array", "xml": {"nodeType": "element"},
                     "items": {"type": "string", "xml": {"name": "sailor"}}},
        },
    }});
    let value = json!({"id": 1, "crew": ["Ann", "<Bo>"]});
    insta::assert_snapshot!(body("application/xml", media, value), @r#"
    application/xml
    <?xml version="1.0" encoding="UTF-8"?><b:boat xmlns:b="http://h/b?a&amp;b" id="1"><crew><sailor>Ann</sailor><sailor>&lt;Bo&gt;</sailor></crew></b:boat>
    "#);
}

#[test]
fn base64_text_stays_text_and_bytes_are_bytes() {
    let schema = |format: &str| json!({"schema": {"type": "string", "format": format}});
    assert_eq!(
        body("text/plain", schema("byte"), json!("aGk=")),
        "text/plain\naGk="
    );
    assert_eq!(
        body("text/plain", schema("binary"), json!("aGk=")),
        "text/plain\nhi"
    );
}

#[test]
fn files_are_known_by_content_in_version_3_1() {
    let media = json!({
        "schema": {"type": "object", "properties": {
            "photo": {"type": "string", "contentMediaType": "image/png"},
            "scan": {},
            "seal": {"type": "string", "contentEncoding": "base64"},
        }},
        "encoding": {"scan": {"contentType": "application/pdf"}},
    });
    let value = json!({"photo": "aGk=", "scan": "pages", "seal": "aGk="});
    insta::assert_snapshot!(body("multipart/form-data", media, value).replace('\r', ""), @r#"
    multipart/form-data; boundary=isobath-part-boundary
    --isobath-part-boundary
    Content-Disposition: form-data; name="photo"; filename="photo.bin"
    Content-Type: image/png

    hi
    --isobath-part-boundary
    Content-Disposition: form-data; name="scan"; filename="scan.bin"
    Content-Type: application/pdf

    pages
    --isobath-part-boundary
    Content-Disposition: form-data; name="seal"

    aGk=
    --isobath-part-boundary--
    "#);
}

#[test]
fn forms_follow_the_encoding_of_each_field() {
    let media = json!({
        "schema": {"type": "object", "properties": {
            "a": ARRAY(), "b": ARRAY(), "c": OBJECT(), "d": OBJECT(), "e": {"type": "string"},
        }},
        "encoding": {
            "a": {"style": "form", "explode": false},
            "b": {"style": "pipeDelimited"},
            "c": {"style": "deepObject", "explode": true},
        },
    });
    let value =
        json!({"a": ["x", "y"], "b": ["x", "y"], "c": {"r": 1, "g": 2}, "d": {"r": 1}, "e": "ü +"});
    insta::assert_snapshot!(body("application/x-www-form-urlencoded", media, value), @"
    application/x-www-form-urlencoded
    a=x,y&b=x%7Cy&c%5Br%5D=1&c%5Bg%5D=2&d=%7B%22r%22%3A1%7D&e=%C3%BC%20%2B
    ");
}

#[test]
fn lists_of_swagger_are_written_in_all_formats() {
    let lines: Vec<String> = ["csv", "ssv", "tsv", "pipes", "multi"]
        .iter()
        .map(|format| {
            let parameter = |name: &str, location: &str| {
                json!({"name": name, "in": location, "type": "array", "items": {"type": "string"},
                       "collectionFormat": format})
            };
            let api = api(&json!({
                "swagger": "2.0",
                "paths": {"/x": {"post": {
                    "consumes": ["application/x-www-form-urlencoded"],
                    "parameters": [parameter("q", "query"), parameter("f", "formData")],
                    "responses": {},
                }}},
            }));
            let input = json!({"query": {"q": ["a", "b"]}, "body": {"f": ["a", "b"]}});
            let request = send(&api, &input);
            let body = request.body.expect("a form").bytes;
            format!(
                "{format}: {} {}",
                request.query,
                String::from_utf8_lossy(&body)
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    csv: q=a,b f=a,b
    ssv: q=a%20b f=a%20b
    tsv: q=a%09b f=a%09b
    pipes: q=a%7Cb f=a%7Cb
    multi: q=a&q=b f=a&f=b
    ");
}

#[test]
fn a_parameter_whose_content_is_text_has_no_quotes() {
    let parameters = json!([{"name": "t", "in": "query", "content": {"text/plain": {
        "schema": {"type": "string", "minLength": 2}}}}]);
    let request = request("/x", parameters, &json!({"query": {"t": "a b"}}));
    assert_eq!(request.target(), "/x?t=a%20b");
}

fn pets() -> Api {
    let pet = json!({"type": "object", "required": ["id"], "additionalProperties": false, "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string", "nullable": true, "maxLength": 5},
        "born": {"type": "string", "format": "date"},
        "size": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
        "friend": {"$ref": "#/components/schemas/Pet"},
    }});
    let json = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}});
    api(&json!({
        "openapi": "3.0.0",
        "paths": {"/x": {"get": {
            "parameters": [
                {"name": "q", "in": "query", "required": true, "schema": {"type": "integer", "maximum": 9}},
                {"name": "t", "in": "query", "schema": {"type": "string", "maxLength": 3}},
            ],
            "responses": {
                "200": {"description": "", "content": json, "headers": {
                    "X-N": {"required": true, "schema": {"type": "integer"}}}},
                "4XX": {"description": "", "content": {"application/problem+json": {}}},
            },
        }}},
        "components": {"schemas": {"Pet": pet}},
    }))
}

fn check(api: &Api, status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let checker = ResponseChecker::new(api);
    let answer = ReceivedResponse {
        status,
        headers,
        body: body.as_bytes(),
        json: None,
    };
    let violations = checker.check(api, &api.operations[0], &answer);
    let lines: Vec<String> = violations
        .iter()
        .map(|v| format!("{:?} {}: {}", v.kind, v.pointer, v.message))
        .collect();
    lines.join("\n")
}

#[test]
fn answers_that_fit_are_not_accused() {
    let api = pets();
    let headers = [
        ("content-type", "application/json; charset=utf-8"),
        ("x-n", "5"),
    ];
    let body = r#"{"id": 1, "name": null, "born": "2020-02-29", "size": 0.1, "friend": {"id": 2}}"#;
    assert_eq!(check(&api, 200, &headers, body), "");
    let problem = [("Content-Type", "application/problem+json")];
    assert_eq!(check(&api, 404, &problem, "{\"any\": 1}"), "");
}

#[test]
fn answers_that_differ_say_where_and_how() {
    let api = pets();
    let json = [("content-type", "application/json"), ("X-N", "5")];
    insta::assert_snapshot!(check(&api, 500, &json, "{}"), @"UndocumentedStatus : status 500 is not documented (200, 4XX)");
    insta::assert_snapshot!(check(&api, 200, &[("content-type", "text/html")], "<p>"), @"
    MissingHeader X-N: header `X-N` is missing
    UndocumentedContentType : content type `text/html` is not documented (application/json)
    ");
    insta::assert_snapshot!(check(&api, 200, &json, "{"), @"MalformedBody : EOF while parsing an object at line 1 column 1");
    insta::assert_snapshot!(check(&api, 200, &json, ""), @"MissingBody : the body is empty");
    let bad_header = [("content-type", "application/json"), ("X-N", "many")];
    insta::assert_snapshot!(check(&api, 200, &bad_header, r#"{"id":1}"#), @"InvalidHeader X-N: header `X-N` breaks `type`");
    let body = r#"{"name": "too long", "born": "yesterday", "size": 0, "friend": {"id": "x"}, "extra": 1}"#;
    let mut lines: Vec<String> = check(&api, 200, &json, body)
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Schema("additionalProperties") : Additional properties are not allowed ('extra' was unexpected)
    Schema("exclusiveMinimum") /size: 0 is less than or equal to the minimum of 0
    Schema("format") /born: "yesterday" is not a "date"
    Schema("maxLength") /name: "too long" is longer than 5 characters
    Schema("required") : "id" is a required property
    Schema("type") /friend/id: "x" is not of type "integer"
    "#);
}

#[test]
fn a_mismatch_names_the_component_that_it_breaks_wherever_that_is() {
    let api = pets();
    let checker = ResponseChecker::new(&api);
    let answer = ReceivedResponse {
        status: 200,
        headers: &[("content-type", "application/json"), ("X-N", "5")],
        body: br#"{"id": 1, "friend": {"id": 2, "friend": {"id": "x"}}}"#,
        json: None,
    };
    let violations = checker.check(&api, &api.operations[0], &answer);
    let broken: Vec<_> = violations.iter().map(|v| v.component.as_deref()).collect();
    assert_eq!(broken, [Some("Pet")]);
}

#[test]
fn bytes_may_look_like_anything() {
    let file = json!({"*/*": {"schema": {"$ref": "#/components/schemas/File"}}});
    let api = api(&json!({
        "openapi": "3.0.0",
        "paths": {"/x": {"get": {"responses": {"200": {"description": "", "content": file}}}}},
        "components": {"schemas": {"File": {"type": "string", "format": "binary"}}},
    }));
    for body in ["null", "{\"unfinished\":", "[1]"] {
        let json = [("content-type", "application/json")];
        assert_eq!(check(&api, 200, &json, body), "", "{body}");
    }
}

#[test]
fn breaches_are_those_that_a_server_can_see() {
    let api = pets();
    let gene = Gene::read(
        &api.model,
        api.operations[0].input,
        &json!({"query": {"q": 5, "t": "ab"}}),
    );
    let action = Action {
        operation: 0,
        gene: gene.expect("fitting inputs"),
        undocumented: Vec::new(),
    };
    let breaches = action.breaches(&api);
    let shown: Vec<String> = breaches
        .iter()
        .map(|b| format!("{} {}", b.pointer, b.rule))
        .collect();
    assert_eq!(
        shown,
        [
            "/query/q required",
            "/query/q type",
            "/query/q maximum",
            "/query/t maxLength"
        ]
    );
    let mut rng = Rng::with_seed(1);
    let targets: Vec<String> = breaches
        .iter()
        .filter_map(|breach| action.breach(breach, &mut rng, &GeneConfig::default()))
        .map(|action| action.request(&api, &Unresolved).target())
        .collect();
    assert_eq!(
        targets,
        ["/x?t=ab", "/x?q=abc&t=ab", "/x?q=10&t=ab", "/x?q=5&t=abab"]
    );
    assert!(breaches.iter().all(|breach| breach.rule != Rule::NotNull));
}

#[test]
fn requests_are_the_same_for_the_same_seed() {
    let api = pets();
    let run = || {
        let mut rng = Rng::with_seed(9);
        let tuning = GeneConfig::robust();
        let mut action = Action::sample(&api, 0, &mut rng, &tuning).expect("there is one");
        let mut other = Action::sample(&api, 0, &mut rng, &tuning).expect("there is one");
        action.cross(&mut other, &mut rng);
        action.mutate(&mut rng, &tuning);
        action.request(&api, &Unresolved)
    };
    assert_eq!(run(), run());
}
