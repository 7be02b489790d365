//! A service whose document leaves out what real documents leave out.
//!
//! Every operation wants a token, and the document has no `security`. Names are identifiers, lists come in an
//! envelope, collections end with a slash, what is created is not returned, the values of a field are known only from
//! error responses, and one operation makes all others answer 503.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::running::{Running, serve};

#[derive(Default)]
struct Terse {
    flags: BTreeSet<String>,
    is_read_only: bool,
}

type Shared = Arc<Mutex<Terse>>;

/// Starts the service. Its only team is `core`, and its token is `Bearer token-ada`.
pub fn terse() -> Running {
    let text = || json!({ "type": "string" });
    let path =
        |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": text() });
    let empty = |status: &str| json!({ status: { "description": "done" } });
    let of_flag = || json!([path("team"), path("flagName")]);
    let body = |schema: Value| json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    let teams = json!({ "type": "object", "properties": { "teams": { "type": "array", "items": {
        "type": "object", "properties": { "name": text() } } } } });
    let flag = json!({ "type": "object", "required": ["name"],
        "properties": { "name": text(), "kind": text(), "starts": text() } });
    let mode = json!({ "type": "object", "required": ["readOnly"],
        "properties": { "readOnly": { "type": "boolean" } } });
    let paths = json!({
        "/teams/": { "get": { "responses": { "200": { "description": "all",
            "content": { "application/json": { "schema": teams } } } } } },
        "/teams/{team}/flags/": { "post": { "parameters": [path("team")], "requestBody": body(flag),
            "responses": empty("201") } },
        "/teams/{team}/flags/{flagName}": {
            "get": { "parameters": of_flag(), "responses": empty("200") },
            "delete": { "parameters": of_flag(), "responses": empty("204") } },
        "/teams/{team}/flags/{flagName}/on": { "post": { "parameters": of_flag(), "responses": empty("200") } },
        "/mode": { "put": { "requestBody": body(mode), "responses": empty("200") } },
        "/session/logout": { "post": { "responses": empty("204") } },
    });
    let state = Shared::default();
    let router = Router::new()
        .route("/teams/", get(list))
        .route("/teams/{team}/flags/", post(create))
        .route("/teams/{team}/flags/{flag}", get(find).delete(delete))
        .route("/teams/{team}/flags/{flag}/on", post(find))
        .route("/mode", put(set_mode))
        .route("/session/logout", post(async || StatusCode::NO_CONTENT))
        .layer(from_fn_with_state(Arc::clone(&state), guard))
        .with_state(state);
    serve("terse", router, paths, json!({}))
}

/// Starts a service that tells the identifier of what was created only as the end of a link, in plain text.
pub fn pastes() -> Running {
    type Pastes = Arc<Mutex<BTreeSet<String>>>;
    let file =
        json!({ "name": "file", "in": "path", "required": true, "schema": { "type": "string" } });
    let body = json!({ "required": true, "content": { "text/plain": { "schema": { "type": "string" } } } });
    let done = || json!({ "200": { "description": "done" } });
    let paths = json!({
        "/pastes": { "post": { "requestBody": body, "responses": done() } },
        "/pastes/{file}": {
            "get": { "parameters": [file], "responses": done() },
            "delete": { "parameters": [file], "responses": done() } },
    });
    let create = async |State(pastes): State<Pastes>| {
        let mut pastes = pastes.lock().expect("no request panics");
        let file = format!("{:x}.txt", 0x9e37_79b9_u64 * (pastes.len() as u64 + 77));
        pastes.insert(file.clone());
        format!("http://pastes.example/pastes/{file}\n")
    };
    let status = |is_there: bool| match is_there {
        true => StatusCode::OK,
        false => StatusCode::NOT_FOUND,
    };
    let find = async move |State(pastes): State<Pastes>, Path(file): Path<String>| {
        status(pastes.lock().expect("no request panics").contains(&file))
    };
    let delete = async move |State(pastes): State<Pastes>, Path(file): Path<String>| {
        status(pastes.lock().expect("no request panics").remove(&file))
    };
    let router = Router::new()
        .route("/pastes", post(create))
        .route("/pastes/{file}", get(find).delete(delete))
        .with_state(Pastes::default());
    serve("pastes", router, paths, json!({}))
}

/// Starts a service with one list of pages, whose body and header are optional. A wrong version in the header, a body
/// that is not JSON, one that is malformed and one with a wrong value are refused, each with its own status; a limit of
/// zero is divided by.
pub fn pages() -> Running {
    let schema = json!({ "type": "object", "properties": {
        "limit": { "type": "integer", "minimum": 0 }, "sort": { "enum": ["ASC", "DESC"] } } });
    let body = json!({ "content": { "application/json": { "schema": schema } } });
    let version = json!({ "name": "x-version", "in": "header", "schema": { "type": "string" } });
    let paths = json!({ "/pages": { "post": { "parameters": [version], "requestBody": body,
        "responses": { "200": { "description": "some" }, "400": { "description": "no such version" },
            "422": { "description": "wrong" } } } } });
    let list = async |headers: HeaderMap, body: Bytes| {
        if headers
            .get("x-version")
            .is_some_and(|version| version != "7.1.3")
        {
            return StatusCode::BAD_REQUEST;
        }
        let content_type = headers.get("content-type");
        if content_type.is_some_and(|content_type| content_type != "application/json") {
            return StatusCode::UNSUPPORTED_MEDIA_TYPE;
        }
        let filter: Value = match body.is_empty() {
            true => json!({}),
            false => match serde_json::from_slice(&body) {
                Ok(filter) => filter,
                Err(_) => return StatusCode::IM_A_TEAPOT,
            },
        };
        let is_known = |sort: &Value| matches!(sort.as_str(), Some("ASC" | "DESC"));
        match (filter["limit"].as_u64(), &filter["sort"]) {
            _ if !filter.is_object() => StatusCode::UNPROCESSABLE_ENTITY,
            (None, _) if !filter["limit"].is_null() => StatusCode::UNPROCESSABLE_ENTITY,
            (_, sort) if !sort.is_null() && !is_known(sort) => StatusCode::UNPROCESSABLE_ENTITY,
            (Some(0), _) => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::OK,
        }
    };
    serve(
        "pages",
        Router::new().route("/pages", post(list)),
        paths,
        json!({}),
    )
}

/// Lets in who has a token, and everybody else only when the service is not read-only.
async fn guard(State(state): State<Shared>, request: Request, next: Next) -> Response {
    if request.uri().path().ends_with("/openapi.json") {
        return next.run(request).await;
    }
    let token = request.headers().get("authorization");
    if token.is_none_or(|token| token != "Bearer token-ada") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let is_read_only = state.lock().expect("no request panics").is_read_only;
    if is_read_only && request.uri().path() != "/mode" {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    next.run(request).await
}

async fn list() -> Json<Value> {
    Json(json!({ "teams": [{ "name": "core" }] }))
}

fn rejected(field: &str, kind: &str, message: &str, context: Value) -> Response {
    let error = json!({ "type": kind, "loc": ["body", field], "msg": message, "ctx": context });
    (
        StatusCode::UNPROCESSABLE_ENTITY,
        Json(json!({ "detail": [error] })),
    )
        .into_response()
}

async fn create(
    State(state): State<Shared>,
    Path(team): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    if team != "core" {
        return StatusCode::NOT_FOUND.into_response();
    }
    let Some(name) = body["name"].as_str().filter(|name| !name.is_empty()) else {
        return rejected("name", "missing", "Field required", json!({}));
    };
    if !matches!(body["kind"].as_str(), Some("release" | "kill-switch")) {
        let expected = json!({ "expected": "'release' or 'kill-switch'" });
        return rejected(
            "kind",
            "enum",
            "Input should be 'release' or 'kill-switch'",
            expected,
        );
    }
    let is_date = |text: &str| {
        let parts: Vec<usize> = text.split('-').map(str::len).collect();
        parts == [2, 2, 4]
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    if !body["starts"].as_str().is_some_and(is_date) {
        let message = "Value error, starts must be a date as dd-MM-yyyy";
        return rejected("starts", "value_error", message, json!({}));
    }
    state
        .lock()
        .expect("no request panics")
        .flags
        .insert(name.to_owned());
    StatusCode::CREATED.into_response()
}

async fn find(
    State(state): State<Shared>,
    Path((team, flag)): Path<(String, String)>,
) -> StatusCode {
    let state = state.lock().expect("no request panics");
    match team == "core" && state.flags.contains(&flag) {
        true => StatusCode::OK,
        false => StatusCode::NOT_FOUND,
    }
}

async fn delete(
    State(state): State<Shared>,
    Path((_, flag)): Path<(String, String)>,
) -> StatusCode {
    match state.lock().expect("no request panics").flags.remove(&flag) {
        true => StatusCode::NO_CONTENT,
        false => StatusCode::NOT_FOUND,
    }
}

async fn set_mode(State(state): State<Shared>, Json(body): Json<Value>) -> StatusCode {
    match body["readOnly"].as_bool() {
        Some(is_read_only) => {
            state.lock().expect("no request panics").is_read_only = is_read_only;
            StatusCode::OK
        }
        None => StatusCode::BAD_REQUEST,
    }
}
