//! A service whose users must be created, whose tokens wear out, and whose ids stand in `Location` only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{body, operation, required, schema, secured};
use crate::features::{bad_request, bearer, error_schema, not_found, unauthorized};
use crate::running::{Running, serve};

/// A token is good for so many calls.
const CALLS: u32 = 15;

#[derive(Default)]
struct Accounts {
    /// Passwords by name, with the number of the user.
    users: BTreeMap<String, (String, usize)>,
    /// Calls left and the name of the user, by token.
    tokens: BTreeMap<String, (u32, String)>,
    /// Owner and text, by id.
    notes: BTreeMap<String, (String, String)>,
}

type Shared = Arc<Mutex<Accounts>>;

#[derive(Deserialize)]
struct Credentials {
    name: String,
    password: String,
}

#[derive(Deserialize)]
struct Draft {
    text: String,
}

impl Accounts {
    /// The user who shows a token that is not worn out.
    fn user(&mut self, headers: &HeaderMap) -> Option<String> {
        let (left, name) = self.tokens.get_mut(bearer(headers)?)?;
        *left = left.checked_sub(1)?;
        Some(name.clone())
    }
}

async fn sign_up(
    State(accounts): State<Shared>,
    credentials: Result<Json<Credentials>, JsonRejection>,
) -> Response {
    let Ok(Json(credentials)) = credentials else {
        return bad_request();
    };
    let mut accounts = accounts.lock().expect("no request panics");
    if credentials.name.is_empty() || accounts.users.contains_key(&credentials.name) {
        return StatusCode::CONFLICT.into_response();
    }
    let number = accounts.users.len();
    accounts
        .users
        .insert(credentials.name, (credentials.password, number));
    StatusCode::CREATED.into_response()
}

async fn log_in(
    State(accounts): State<Shared>,
    credentials: Result<Json<Credentials>, JsonRejection>,
) -> Response {
    let Ok(Json(credentials)) = credentials else {
        return bad_request();
    };
    let mut accounts = accounts.lock().expect("no request panics");
    match accounts.users.get(&credentials.name) {
        Some((password, _)) if *password == credentials.password => {
            let token = format!("t-{}", accounts.tokens.len());
            accounts
                .tokens
                .insert(token.clone(), (CALLS, credentials.name));
            Json(json!({ "token": token })).into_response()
        }
        _ => unauthorized(),
    }
}

async fn create(
    State(accounts): State<Shared>,
    headers: HeaderMap,
    draft: Result<Json<Draft>, JsonRejection>,
) -> Response {
    let mut accounts = accounts.lock().expect("no request panics");
    let Some(owner) = accounts.user(&headers) else {
        return unauthorized();
    };
    let Ok(Json(draft)) = draft else {
        return bad_request();
    };
    // Far apart and without a pattern; part of it must be encoded in a path.
    let id = (accounts.notes.len() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let location = format!("/notes/{id:016x}%2Fn");
    accounts
        .notes
        .insert(format!("{id:016x}/n"), (owner, draft.text));
    (StatusCode::CREATED, [(header::LOCATION, location)]).into_response()
}

async fn read(
    State(accounts): State<Shared>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Response {
    let mut accounts = accounts.lock().expect("no request panics");
    let Some(user) = accounts.user(&headers) else {
        return unauthorized();
    };
    let number = accounts.users.get(&user).map(|(_, number)| *number);
    match accounts.notes.get(&id) {
        Some((owner, text)) if *owner == user => {
            Json(json!({ "text": text, "owner": owner, "ownerNumber": number, "kind": "note" }))
                .into_response()
        }
        _ => not_found(),
    }
}

async fn log_out(State(accounts): State<Shared>, headers: HeaderMap) -> Response {
    let mut accounts = accounts.lock().expect("no request panics");
    if accounts.user(&headers).is_none() {
        return unauthorized();
    }
    let token = bearer(&headers).unwrap_or_default();
    accounts.tokens.remove(token);
    StatusCode::NO_CONTENT.into_response()
}

/// Notes of users who sign up, log in and log out.
pub fn start() -> Running {
    let text = json!({ "type": "string" });
    let key = || required("id", "path", json!({ "type": "string" }));
    let paths = json!({
        "/users": { "post": operation("signUp", Vec::new(), Some(body(schema("Credentials"))),
            &[(201, Value::Null), (400, schema("Error")), (409, Value::Null)]) },
        "/login": { "post": operation("logIn", Vec::new(), Some(body(schema("Credentials"))),
            &[(200, schema("Token")), (400, schema("Error")), (401, schema("Error"))]) },
        "/notes": { "post": secured(operation("create", Vec::new(), Some(body(schema("Draft"))),
            &[(201, Value::Null), (400, schema("Error")), (401, schema("Error"))])) },
        "/notes/{id}": { "get": secured(operation("read", vec![key()], None,
            &[(200, schema("Note")), (401, schema("Error")), (404, schema("Error"))])) },
        "/logout": { "post": secured(operation("logOut", Vec::new(), None,
            &[(204, Value::Null), (401, schema("Error"))])) },
    });
    let schemas = json!({
        "Error": error_schema(),
        "Credentials": { "type": "object", "required": ["name", "password"],
            "properties": { "name": text, "password": text } },
        "Token": { "type": "object", "required": ["token"], "properties": { "token": text } },
        "Draft": { "type": "object", "required": ["text"], "properties": { "text": text } },
        "Note": { "type": "object", "required": ["text", "owner", "ownerNumber"], "properties": {
            "text": text, "owner": text, "kind": text, "ownerNumber": { "type": "integer" } } },
    });
    let router = Router::new()
        .route("/users", post(sign_up))
        .route("/login", post(log_in))
        .route("/notes", post(create))
        .route("/notes/{id}", get(read))
        .route("/logout", post(log_out))
        .with_state(Shared::default());
    serve("accounts", router, paths, schemas)
}
