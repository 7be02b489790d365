//! Figures 1, 7 and 9 of "Enhancing Search-based Testing with Testability Transformations for
//! Existing APIs".

use std::collections::HashMap;

use axum::body::Bytes;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use jiff::civil::Date;
use regex::Regex;
use serde::Deserialize;

/// Figure 1: a date of 2019, the number 42 and one of two words, all as text in a path.
pub(crate) async fn testability(
    Path((date, number, setting)): Path<(String, String, String)>,
) -> Result<&'static str, StatusCode> {
    let shape = Regex::new(r"^\d{4}-\d{1,2}-\d{1,2}$").map_err(|_| StatusCode::NOT_FOUND)?;
    if !shape.is_match(&date) {
        return Err(StatusCode::NOT_FOUND);
    }
    let date: Date = date.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    let number: i32 = number.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    let settings = ["Foo", "Bar"];
    if date.year() == 2019 && number == 42 && settings.contains(&setting.as_str()) {
        Ok("OK")
    } else {
        Ok("ERROR")
    }
}

/// Figure 7: a query parameter that the document does not mention.
pub(crate) async fn param(
    Query(query): Query<HashMap<String, String>>,
) -> Result<&'static str, StatusCode> {
    let Some(param) = query.get("param") else {
        return Err(StatusCode::BAD_REQUEST);
    };
    if param == "FOO" {
        return Ok("OK");
    }
    Ok("")
}

/// What figure 9 reads.
#[derive(Deserialize)]
struct Body {
    x: i32,
}

/// Figure 9: a body that the document does not mention.
pub(crate) async fn body(bytes: Bytes) -> Result<&'static str, StatusCode> {
    let body: Body = serde_json::from_slice(&bytes).map_err(|_| StatusCode::BAD_REQUEST)?;
    if body.x > 0 { Ok("OK") } else { Ok("") }
}
