//! Short ways to write OpenAPI documents.

use serde_json::{Map, Value, json};

/// A required parameter.
pub(crate) fn required(name: &str, place: &str, schema: Value) -> Value {
    json!({ "name": name, "in": place, "required": true, "schema": schema })
}

/// A query parameter that is optional.
pub(crate) fn optional(name: &str, schema: Value) -> Value {
    json!({ "name": name, "in": "query", "required": false, "schema": schema })
}

/// A whole number in a path.
pub(crate) fn id() -> Value {
    required("id", "path", json!({ "type": "integer", "minimum": 1 }))
}

/// A required JSON body.
pub(crate) fn body(schema: Value) -> Value {
    json!({ "required": true, "content": { "application/json": { "schema": schema } } })
}

/// A reference to a schema of the document.
pub(crate) fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// An operation; a response schema of `null` means that the response has no body.
pub(crate) fn operation(
    id: &str,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: &[(u16, Value)],
) -> Value {
    let mut operation = Map::new();
    operation.insert("operationId".to_owned(), json!(id));
    operation.insert("parameters".to_owned(), Value::Array(parameters));
    if let Some(body) = body {
        operation.insert("requestBody".to_owned(), body);
    }
    let responses = responses.iter().map(|(status, schema)| {
        let mut response = json!({ "description": status.to_string() });
        if !schema.is_null() {
            response["content"] = json!({ "application/json": { "schema": schema } });
        }
        (status.to_string(), response)
    });
    operation.insert("responses".to_owned(), Value::Object(responses.collect()));
    Value::Object(operation)
}

/// The same operation, for those who show a token.
pub(crate) fn secured(mut operation: Value) -> Value {
    operation["security"] = json!([{ "bearer": [] }]);
    operation
}

/// The same operation, answering in plain text instead of JSON.
pub(crate) fn in_text(mut operation: Value) -> Value {
    let responses = operation["responses"].as_object_mut().into_iter().flatten();
    for (_, response) in responses {
        if let Some(content) = response.get_mut("content").and_then(Value::as_object_mut)
            && let Some(schema) = content.remove("application/json")
        {
            content.insert("text/plain".to_owned(), schema);
        }
    }
    operation
}
