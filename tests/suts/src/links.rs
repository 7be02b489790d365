//! A service whose document says by links alone what belongs together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::api::{body, operation, optional, required, schema};
use crate::features::{bad_request, error_schema, not_found};
use crate::running::{Running, serve};

/// By key: the wing and the words with which a room was made.
type Rooms = Arc<Mutex<BTreeMap<String, (String, Value)>>>;

/// A door opens for the wing that a room was made in, the key that was handed out in a header, the manner that only
/// the document knows, and the words with which the room was made.
pub fn link_chain() -> Running {
    async fn make(
        State(rooms): State<Rooms>,
        Query(asked): Query<BTreeMap<String, String>>,
        words: Option<Json<Value>>,
    ) -> Response {
        let (Some(wing), Some(Json(words))) = (asked.get("wing"), words) else {
            return bad_request();
        };
        if wing.is_empty() || !words["note"].is_string() {
            return bad_request();
        }
        let mut rooms = rooms.lock().expect("no request panics");
        let key = (rooms.len() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = format!("k-{key:016x}");
        rooms.insert(key.clone(), (wing.clone(), words));
        (StatusCode::CREATED, [("x-room-key", key)]).into_response()
    }
    async fn open(
        State(rooms): State<Rooms>,
        Path((a, b)): Path<(String, String)>,
        Query(asked): Query<BTreeMap<String, String>>,
        words: Option<Json<Value>>,
    ) -> Response {
        let rooms = rooms.lock().expect("no request panics");
        let Some((wing, kept)) = rooms.get(&b) else {
            return not_found();
        };
        let is_quiet = asked.get("c").is_some_and(|manner| manner == "on tiptoe");
        if *wing == a && is_quiet && words.is_some_and(|Json(words)| words == *kept) {
            Json(json!({ "open": true })).into_response()
        } else {
            bad_request()
        }
    }
    let text = json!({ "type": "string", "minLength": 1 });
    let mut make_operation = operation(
        "make",
        vec![required("wing", "query", text.clone())],
        Some(body(schema("Words"))),
        &[(201, Value::Null), (400, schema("Error"))],
    );
    make_operation["responses"]["201"]["links"] = json!({
        "door": {
            "operationRef": "#/paths/~1doors~1{a}~1{b}/post",
            "parameters": {
                "path.a": "$request.query.wing",
                "b": "$response.header.X-Room-Key",
                "c": "on tiptoe",
            },
            "requestBody": "$request.body",
        }
    });
    let open_operation = operation(
        "open",
        vec![
            required("a", "path", text.clone()),
            required("b", "path", text.clone()),
            optional("c", text.clone()),
        ],
        Some(body(json!({ "type": "object" }))),
        &[
            (200, schema("Door")),
            (400, schema("Error")),
            (404, schema("Error")),
        ],
    );
    let paths = json!({
        "/rooms": { "post": make_operation },
        "/doors/{a}/{b}": { "post": open_operation },
    });
    let schemas = json!({
        "Error": error_schema(),
        "Words": { "type": "object", "required": ["note"], "properties": { "note": text } },
        "Door": { "type": "object", "required": ["open"], "properties": { "open": { "type": "boolean" } } },
    });
    let router = Router::new()
        .route("/rooms", post(make))
        .route("/doors/{a}/{b}", post(open))
        .with_state(Rooms::default());
    serve("link chain", router, paths, schemas)
}
