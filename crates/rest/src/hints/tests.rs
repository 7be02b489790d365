//! One response of each framework, and the hints that are read from it.

use serde_json::{Value, json};

use super::field_error::{in_json, in_text};

/// The errors of a body, one per line: path, then constraint.
fn read(body: &Value) -> String {
    render(&in_json(body))
}

fn render(errors: &[super::FieldError]) -> String {
    let lines = errors
        .iter()
        .map(|error| format!("{} {:?}\n", error.path.join("."), error.constraint));
    lines.collect()
}

#[test]
fn pydantic_names_locations_types_and_context() {
    let body = json!({"detail": [
        {"type": "missing", "loc": ["body", "name"], "msg": "Field required", "input": {}},
        {"type": "enum", "loc": ["body", "state", "type"], "msg": "Input should be 'A' or 'B'", "ctx": {"expected": "'A' or 'B'"}},
        {"type": "uuid_parsing", "loc": ["path", "id"], "msg": "Input should be a valid UUID"},
        {"type": "greater_than_equal", "loc": ["query", "limit"], "msg": "…", "ctx": {"ge": 1}},
        {"type": "extra_forbidden", "loc": ["body", "nam"], "msg": "Extra inputs are not permitted"},
        {"type": "string_pattern_mismatch", "loc": ["body", "tags", 0], "msg": "…", "ctx": {"pattern": "^[a-z]+$"}},
    ]});
    insta::assert_snapshot!(read(&body), @r#"
    name Required
    state.type OneOf([String("A"), String("B")])
    id Text(Uuid)
    limit AtLeast(1.0)
    nam Forbidden
    tags Text(Pattern("^[a-z]+$"))
    "#);
}

#[test]
fn older_pydantic_has_other_codes() {
    let body = json!({"detail": [
        {"loc": ["body", "kind"], "msg": "value is not a valid enumeration member", "type": "type_error.enum", "ctx": {"enum_values": ["a", "b"]}},
        {"loc": ["body", "n"], "msg": "value is not a valid integer", "type": "type_error.integer"},
        {"loc": ["body", "age"], "msg": "…", "type": "value_error.number.not_ge", "ctx": {"limit_value": 18}},
    ]});
    insta::assert_snapshot!(read(&body), @r#"
    kind OneOf([String("a"), String("b")])
    n Type(Integer)
    age AtLeast(18.0)
    "#);
}

#[test]
fn django_rest_framework_maps_fields_to_messages() {
    let body = json!({"status_code": 400, "detail": "Validation error", "validation_errors": {
        "title": ["This field is required."],
        "count": ["A valid integer is required."],
        "site": ["Enter a valid URL."],
        "note": ["Ensure this field has no more than 50 characters."],
        "from": ["Date has wrong format. Use one of these formats instead: YYYY-MM-DD."],
        "owner": {"email": ["Enter a valid email address."]},
    }});
    insta::assert_snapshot!(read(&body), @r#"
    title Required
    count Type(Integer)
    site Text(Uri)
    note MaxLength(50)
    from Text(Pattern("^20[0-3][0-9]-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$"))
    owner.email Text(Pattern("^[a-z]{1,8}@example\\.(com|org)$"))
    "#);
}

#[test]
fn javascript_validators_name_paths_and_parameters() {
    let body = json!([
        // ajv
        {"errors": [
            {"instancePath": "/address", "keyword": "required", "params": {"missingProperty": "street"}, "message": "must have required property 'street'"},
            {"instancePath": "/kind", "keyword": "enum", "params": {"allowedValues": ["x", "y"]}, "message": "must be equal to one of the allowed values"},
        ]},
        // zod
        {"issues": [{"code": "invalid_type", "expected": "number", "received": "string", "path": ["age"], "message": "Expected number, received string"}]},
        // joi
        {"details": [{"message": "\"size\" must be one of [s, m]", "path": ["size"], "type": "any.only", "context": {"valids": ["s", "m"]}}]},
        // express-validator
        {"errors": [{"type": "field", "msg": "must be a valid email", "path": "mail", "location": "body"}]},
        // class-validator
        {"statusCode": 400, "error": "Bad Request", "message": ["color must be one of the following values: red, blue", "age must not be less than 3"]},
        // OpenAPI validators that write sentences
        {"details": [{"path": "/body/name", "message": "The `/body/name` property is required. It was not present on the data you sent."}]},
    ]);
    insta::assert_snapshot!(read(&body), @r#"
    address.street Required
    kind OneOf([String("x"), String("y")])
    age Type(Number)
    size OneOf([String("s"), String("m")])
    mail Text(Pattern("^[a-z]{1,8}@example\\.(com|org)$"))
    color OneOf([String("red"), String("blue")])
    age AtLeast(3.0)
    body.name Required
    "#);
}

#[test]
fn java_and_dotnet_name_fields_in_lists_maps_and_chains() {
    let body = json!([
        // Spring
        {"status": 400, "error": "Bad Request", "errors": [{"field": "name", "defaultMessage": "must not be blank", "code": "NotBlank", "rejectedValue": ""}], "path": "/users"},
        // Jackson
        {"message": "JSON parse error: Cannot deserialize value of type `a.Kind` from String \"q\": not one of the values accepted for Enum class: [BIG, SMALL] (through reference chain: a.Order[\"lines\"]->java.util.ArrayList[0]->a.Line[\"kind\"])"},
        // ASP.NET
        {"title": "One or more validation errors occurred.", "errors": {"Name": ["The Name field is required."], "$.age": ["The JSON value could not be converted to System.Int32. It must be an integer."]}},
    ]);
    insta::assert_snapshot!(read(&body), @r#"
    name Required
    lines.kind OneOf([String("BIG"), String("SMALL")])
    Name Required
    age Type(Integer)
    "#);
}

#[test]
fn sentences_of_serde_and_go_name_their_field() {
    let text = "Failed to deserialize the JSON body into the target type: missing field `name` at line 1 column 2\n\
        Key: 'User.Email' Error:Field validation for 'Email' failed on the 'email' tag\n\
        json: cannot unmarshal string into Go struct field User.age of type integer";
    insta::assert_snapshot!(render(&in_text(text)), @r#"
    name Required
    Email Text(Pattern("^[a-z]{1,8}@example\\.(com|org)$"))
    age Type(Integer)
    "#);
}

#[test]
fn prose_without_a_field_teaches_nothing() {
    for body in [
        json!({"detail": "Not found."}),
        json!({"error": "it is too late"}),
        json!({"message": "this must be a valid request"}),
        json!("required"),
        json!(null),
    ] {
        assert_eq!(in_json(&body), [], "{body}");
    }
}

#[test]
fn date_formats_are_read_from_prose() {
    let pattern = |text| super::date_format_in(text);
    let german = pattern("the day, as dd-MM-yyyy").expect("a format");
    assert_eq!(
        german,
        "^(0[1-9]|1[0-9]|2[0-8])-(0[1-9]|1[0-2])-20[0-3][0-9]$"
    );
    assert!(pattern("yyyy-MM-dd'T'HH:mm:ss").is_some());
    assert_eq!(pattern("My daddy is a yummy MMORPG"), None);
}
