//! The code examples of the papers, as services.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::api::{in_text, operation, required};
use crate::running::{Running, serve};
use crate::store::{Store, in_words_of};

/// A date of 2019, the number 42 and one of two words, all as text in a path, are answered `OK`.
///
/// After figure 1 of "Enhancing Search-based Testing with Testability Transformations for Existing APIs".
pub fn testability() -> Running {
    async fn answer(
        Path((date, number, setting)): Path<(String, String, String)>,
    ) -> Result<&'static str, StatusCode> {
        let shape =
            regex::Regex::new(r"^\d{4}-\d{1,2}-\d{1,2}$").map_err(|_| StatusCode::NOT_FOUND)?;
        if !shape.is_match(&date) {
            return Err(StatusCode::NOT_FOUND);
        }
        // Like the original, it fails where the text has the shape of a date and is none.
        let failed = StatusCode::INTERNAL_SERVER_ERROR;
        let date: jiff::civil::Date = date.parse().map_err(|_| failed)?;
        let number: i32 = number.parse().map_err(|_| failed)?;
        let is_ok = date.year() == 2019 && number == 42 && ["Foo", "Bar"].contains(&&*setting);
        Ok(if is_ok { "OK" } else { "ERROR" })
    }
    let text = || json!({ "type": "string" });
    let parameters = ["date", "number", "setting"].map(|name| required(name, "path", text()));
    let paths = json!({ "/api/testability/{date}/{number}/{setting}": {
        "get": in_text(operation("testability", parameters.to_vec(), None, &[(200, text()), (404, Value::Null)])),
    } });
    let router = Router::new().route("/api/testability/{date}/{number}/{setting}", get(answer));
    serve("testability", router, paths, json!({}))
}

/// A query parameter that the document does not mention is answered `OK` when it is `FOO`; without it, the service fails.
///
/// After figure 7 of the same paper.
pub fn hidden_parameter() -> Running {
    async fn answer(
        Query(query): Query<BTreeMap<String, String>>,
    ) -> Result<&'static str, StatusCode> {
        let parameter = query
            .get("param")
            .ok_or(StatusCode::INTERNAL_SERVER_ERROR)?;
        Ok(if parameter == "FOO" { "OK" } else { "" })
    }
    let text = json!({ "type": "string" });
    let paths = json!({ "/api/param": {
        "get": in_text(operation("param", Vec::new(), None, &[(200, text)])),
    } });
    let router = Router::new().route("/api/param", get(answer));
    serve("hidden parameter", router, paths, json!({}))
}

/// A JSON body that the document does not mention is answered `OK` when its `x` is positive.
///
/// After figure 9 of the same paper.
pub fn hidden_body() -> Running {
    async fn answer(body: Bytes) -> Result<&'static str, StatusCode> {
        let failed = StatusCode::INTERNAL_SERVER_ERROR;
        let body: Value = serde_json::from_slice(&body).map_err(|_| failed)?;
        let x = body["x"].as_f64().ok_or(failed)?;
        Ok(if x > 0.0 { "OK" } else { "" })
    }
    let text = json!({ "type": "string" });
    let paths = json!({ "/api/body": {
        "post": in_text(operation("body", Vec::new(), None, &[(200, text)])),
    } });
    let router = Router::new().route("/api/body", post(answer));
    serve("hidden body", router, paths, json!({}))
}

/// POST stores the pair 42 and 77 in a database; GET finds a pair by its numbers, or returns 400.
///
/// After figure 1 of "SQL Data Generation to Enhance Search-Based System Testing".
pub fn stored_pair() -> Running {
    pair(Store::own(PAIR), true)
}

/// As [`stored_pair`], without the POST: only who writes to the database can be answered 200.
pub fn stored_pair_without_post() -> Running {
    pair(Store::own(PAIR), false)
}

/// As [`stored_pair`], on a database with the tables of [`pair_tables`].
pub fn stored_pair_at(database: &str, with_post: bool) -> Running {
    pair(Store::at(database), with_post)
}

/// The tables of [`stored_pair`], in the words of a database.
#[must_use]
pub fn pair_tables(database: &str) -> String {
    in_words_of(database, PAIR)
}

const PAIR: &str = "CREATE TABLE foo_entity (id COUNTED KEY, x INT NOT NULL, y INT NOT NULL)";

fn pair(store: Store, with_post: bool) -> Running {
    async fn store_pair(State(store): State<Store>) -> StatusCode {
        let insert = "INSERT INTO foo_entity (x, y) VALUES (42, 77)";
        match store.change(insert, &[]).await {
            Ok(_) => StatusCode::OK,
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
    async fn find(State(store): State<Store>, Path((x, y)): Path<(i32, i32)>) -> StatusCode {
        let query = "SELECT id, x, y FROM foo_entity WHERE x = ?1 AND y = ?2";
        match store.rows(query, &[x.into(), y.into()]).await {
            Ok(rows) if rows.is_empty() => StatusCode::BAD_REQUEST,
            Ok(_) => StatusCode::OK,
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
    let number = || json!({ "type": "integer", "format": "int32" });
    let parameters = ["x", "y"].map(|name| required(name, "path", number()));
    let none = Value::Null;
    let mut paths = json!({ "/api/foo/{x}/{y}": {
        "get": operation("find", parameters.to_vec(), None, &[(200, none.clone()), (400, none.clone())]),
    } });
    let mut router = Router::new().route("/api/foo/{x}/{y}", get(find));
    if with_post {
        paths["/api/foo"] = json!({ "post": operation("store", Vec::new(), None, &[(200, none)]) });
        router = router.route("/api/foo", post(store_pair));
    }
    store.serve(0, "stored pair", router, paths, json!({}))
}
