//! A service that checks a password with every call outside a session, and refuses updates from within one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::api::operation;
use crate::features::unauthorized;
use crate::running::{Running, serve};

/// The password of everybody, as HTTP's Basic scheme writes it.
pub const AUTHORIZATION: &str = "Basic YWRhOnNleHRhbnQ=";
const SESSION: &str = "SESSION=open";

/// How often the password was checked.
type Checks = Arc<AtomicU64>;

fn has(headers: &HeaderMap, name: header::HeaderName, value: &str) -> bool {
    headers
        .get(name)
        .is_some_and(|sent| sent.as_bytes() == value.as_bytes())
}

async fn read(State(checks): State<Checks>, headers: HeaderMap) -> Response {
    if !has(&headers, header::COOKIE, SESSION) {
        if !has(&headers, header::AUTHORIZATION, AUTHORIZATION) {
            return unauthorized();
        }
        checks.fetch_add(1, Ordering::SeqCst);
    }
    let cookie = format!("{SESSION}; Path=/; HttpOnly");
    let body = Json(json!({ "checks": checks.load(Ordering::SeqCst) }));
    ([(header::SET_COOKIE, cookie)], body).into_response()
}

/// Browsers send cookies for others, too; so whoever sends one has to prove more than this document says.
async fn update(headers: HeaderMap) -> StatusCode {
    if has(&headers, header::COOKIE, SESSION) {
        StatusCode::FORBIDDEN
    } else if has(&headers, header::AUTHORIZATION, AUTHORIZATION) {
        StatusCode::NO_CONTENT
    } else {
        StatusCode::UNAUTHORIZED
    }
}

/// Starts it.
pub fn start() -> Running {
    let checks = json!({ "type": "object", "properties": { "checks": { "type": "integer" } } });
    let paths = json!({ "/checks": {
        "get": operation("read", vec![], None, &[(200, checks), (401, Value::Null)]),
        "put": operation("update", vec![], None, &[(204, Value::Null), (401, Value::Null)]),
    } });
    let router = Router::new().route("/checks", get(read).put(update));
    let router = router.with_state(Checks::default());
    serve("password", router, paths, json!({}))
}
