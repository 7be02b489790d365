//! A service that repeats in its answers what its users prove themselves with.

use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::api::{operation, secured};
use crate::running::{Running, serve};

/// The header that opens the door.
pub const DOOR: &str = "X-Door";

/// Starts a service that repeats the header [`DOOR`]: as a value, in a sentence, in plain text, in a header, where a number
/// should be, in the message of an error, and encoded in all of these ways.
pub fn gossip() -> Running {
    let text = || json!({ "type": "string" });
    let object =
        |key: Value| json!({ "type": "object", "properties": { "key": key, "note": text() } });
    let refused = (401, Value::Null);
    let shown = |id: &str, schema: Value| {
        let shown = operation(id, vec![], None, &[(200, schema), refused.clone()]);
        json!({ "get": secured(shown) })
    };
    let paths = json!({
        "/me": shown("me", object(text())),
        "/number": shown("number", object(json!({ "type": "integer" }))),
        "/greeting": shown("greeting", text()),
        "/error": shown("error", object(text())),
        "/encoded": shown("encoded", object(text())),
        "/encoded-error": shown("encodedError", object(text())),
    });
    let router = Router::new()
        .route("/me", get(me))
        .route("/number", get(number))
        .route("/greeting", get(greeting))
        .route("/error", get(error))
        .route("/encoded", get(encoded))
        .route("/encoded-error", get(encoded_error));
    serve("gossip", router, paths, json!({}))
}

type Answer = Result<Json<Value>, StatusCode>;

fn key(headers: &HeaderMap) -> Result<&str, StatusCode> {
    let key = headers.get(DOOR).and_then(|key| key.to_str().ok());
    key.ok_or(StatusCode::UNAUTHORIZED)
}

async fn me(headers: HeaderMap) -> Answer {
    let key = key(&headers)?;
    Ok(Json(
        json!({ "key": key, "note": format!("you came with {key}") }),
    ))
}

async fn number(headers: HeaderMap) -> Answer {
    Ok(Json(json!({ "key": key(&headers)? })))
}

async fn greeting(headers: HeaderMap) -> Result<([(&'static str, String); 1], String), StatusCode> {
    let key = key(&headers)?;
    Ok(([("x-came-with", key.to_owned())], format!("hello {key}")))
}

async fn error(headers: HeaderMap) -> (StatusCode, Json<Value>) {
    match key(&headers) {
        Ok(key) => {
            let told = json!({ "error": format!("no door for {key}") });
            (StatusCode::INTERNAL_SERVER_ERROR, Json(told))
        }
        Err(status) => (status, Json(Value::Null)),
    }
}

/// The key in Base64, alone and behind a name, and as a part of a URL.
fn encodings(key: &str) -> [String; 4] {
    let basic = BASE64_STANDARD.encode(format!("ada:{key}"));
    let url = utf8_percent_encode(key, NON_ALPHANUMERIC).to_string();
    [
        BASE64_STANDARD.encode(key),
        BASE64_URL_SAFE.encode(key),
        basic,
        format!("/door?key={url}"),
    ]
}

async fn encoded(headers: HeaderMap) -> Answer {
    let [key, note, basic, url] = encodings(key(&headers)?);
    Ok(Json(
        json!({ "key": key, "note": note, "basic": basic, "url": url }),
    ))
}

async fn encoded_error(headers: HeaderMap) -> (StatusCode, Json<Value>) {
    match key(&headers) {
        Ok(key) => {
            let told = json!({ "error": format!("no door for {:?}", encodings(key)) });
            (StatusCode::INTERNAL_SERVER_ERROR, Json(told))
        }
        Err(status) => (status, Json(Value::Null)),
    }
}
