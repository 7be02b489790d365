//! Inputs that the document does not name: headers, JSON, queries and forms, read by hand.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::Value;

/// A header by its name, compared as it is.
pub(crate) async fn header(headers: HeaderMap) -> Result<&'static str, StatusCode> {
    let Some(mode) = headers.get("x-mode") else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if mode == "turbo" {
        return Ok("fast");
    }
    Ok("slow")
}

/// A header by a constant of the library.
pub(crate) async fn constant(headers: HeaderMap) -> Result<&'static str, StatusCode> {
    let agent = headers.get(header::IF_MATCH);
    let Some(Ok(agent)) = agent.map(|agent| agent.to_str()) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if agent.starts_with("v7") {
        return Ok("current");
    }
    Ok("old")
}

/// Fields of a JSON body, by index and by `get`.
pub(crate) async fn json(body: Bytes) -> Result<&'static str, StatusCode> {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if body["kind"] != "ship" {
        return Ok("not a ship");
    }
    let length = body.get("length").and_then(Value::as_i64);
    if length.is_some_and(|length| length > 100) {
        return Ok("a long ship");
    }
    Ok("a ship")
}

/// A field of a field.
pub(crate) async fn nested(body: Bytes) -> Result<&'static str, StatusCode> {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    let captain = body.pointer("/crew/captain").and_then(Value::as_str);
    if captain == Some("Nemo") {
        return Ok("nobody");
    }
    Ok("somebody")
}

/// A query that is taken apart by hand.
pub(crate) async fn raw(RawQuery(query): RawQuery) -> &'static str {
    let query = query.unwrap_or_default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name == "debug" && value == "yes" {
            return "everything";
        }
    }
    "little"
}

/// What a form is read into.
#[derive(Deserialize)]
struct Entry {
    user: String,
    code: u16,
}

/// A form that is read by hand.
pub(crate) async fn form(body: String) -> Result<&'static str, StatusCode> {
    let Ok(entry) = serde_urlencoded::from_str::<Entry>(&body) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if entry.user == "harbor" {
        return Ok("welcome");
    }
    if entry.code > 47 {
        return Ok("a guest");
    }
    Err(StatusCode::FORBIDDEN)
}
