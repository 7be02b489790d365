//! A service with one user, who may change the name and the password to log in with.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{body, operation, schema, secured};
use crate::features::{bad_request, bearer, error_schema, unauthorized};
use crate::running::{Running, serve};

#[derive(Deserialize)]
struct Credentials {
    username: String,
    password: String,
}

#[derive(Deserialize)]
struct Update {
    email: Option<String>,
    new_password: Option<String>,
    motto: Option<String>,
}

#[derive(Default)]
struct User {
    email: String,
    password: String,
    motto: String,
}

type Shared = Arc<Mutex<User>>;

/// The token does not depend on what the user logs in with, so it outlives a change of that.
const TOKEN: &str = "token-of-the-only-user";

async fn log_in(
    State(user): State<Shared>,
    credentials: Result<Json<Credentials>, JsonRejection>,
) -> Response {
    let user = user.lock().expect("no request panics");
    match credentials {
        Err(_) => bad_request(),
        Ok(Json(own)) if own.username == user.email && own.password == user.password => {
            Json(json!({ "token": TOKEN })).into_response()
        }
        Ok(_) => unauthorized(),
    }
}

async fn read(State(user): State<Shared>, headers: HeaderMap) -> Response {
    let user = user.lock().expect("no request panics");
    if bearer(&headers) != Some(TOKEN) {
        return unauthorized();
    }
    Json(json!({ "email": user.email, "motto": user.motto })).into_response()
}

async fn update(
    State(user): State<Shared>,
    headers: HeaderMap,
    update: Result<Json<Update>, JsonRejection>,
) -> Response {
    let mut user = user.lock().expect("no request panics");
    if bearer(&headers) != Some(TOKEN) {
        return unauthorized();
    }
    let Ok(Json(update)) = update else {
        return bad_request();
    };
    user.email = update.email.unwrap_or(user.email.clone());
    user.password = update.new_password.unwrap_or(user.password.clone());
    user.motto = update.motto.unwrap_or(user.motto.clone());
    Json(json!({ "email": user.email, "motto": user.motto })).into_response()
}

/// The user logs in as `ada@example.org` with the password `engine`.
pub fn start() -> Running {
    let text = json!({ "type": "string" });
    let answers = |status: u16, name: &str| {
        [
            (status, schema(name)),
            (400, schema("Error")),
            (401, schema("Error")),
        ]
    };
    let paths = json!({
        "/login": { "post": operation("logIn", Vec::new(), Some(body(schema("Credentials"))), &answers(200, "Token")) },
        "/me": {
            "get": secured(operation("read", Vec::new(), None, &answers(200, "User"))),
            "patch": secured(operation("update", Vec::new(), Some(body(schema("Update"))), &answers(200, "User"))),
        },
    });
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    let schemas = json!({
        "Error": error_schema(),
        "Credentials": { "type": "object", "required": ["username", "password"],
            "properties": { "username": text, "password": text } },
        "Token": object(json!({ "token": text })),
        "User": object(json!({ "email": text, "motto": text })),
        "Update": object(json!({ "email": text, "new_password": text, "motto": text })),
    });
    let user = User {
        email: "ada@example.org".to_owned(),
        password: "engine".to_owned(),
        motto: String::new(),
    };
    let router = Router::new()
        .route("/login", post(log_in))
        .route("/me", get(read).patch(update))
        .with_state(Shared::new(Mutex::new(user)));
    serve("renaming", router, paths, schemas)
}
