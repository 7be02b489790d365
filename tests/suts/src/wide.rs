//! A service with many operations, which counts its calls.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::api::{body, operation, required};
use crate::running::{Running, serve};

/// The collections; each has five operations.
const COLLECTIONS: usize = 40;

/// What the service knows: the items of all collections, and how often it was called.
#[derive(Clone, Default)]
struct Wide {
    items: Arc<Mutex<BTreeSet<(String, u64)>>>,
    calls: Arc<AtomicU64>,
}

/// Forty collections of items to create, list, read, change and delete; gives back how often it was called, too.
pub fn wide() -> (Running, Arc<AtomicU64>) {
    async fn on_collection(
        State(wide): State<Wide>,
        Path(collection): Path<String>,
        method: Method,
    ) -> Response {
        let id = wide.calls.fetch_add(1, Ordering::Relaxed);
        let mut items = wide.items.lock().expect("no request panics");
        if method == Method::POST {
            items.insert((collection, id));
            return (StatusCode::CREATED, Json(json!({ "id": id }))).into_response();
        }
        let ids = items.iter().filter(|(of, _)| *of == collection);
        Json(ids.map(|(_, id)| json!({ "id": id })).collect::<Value>()).into_response()
    }
    async fn on_item(
        State(wide): State<Wide>,
        Path((collection, id)): Path<(String, u64)>,
        method: Method,
    ) -> Response {
        wide.calls.fetch_add(1, Ordering::Relaxed);
        let mut items = wide.items.lock().expect("no request panics");
        let item = (collection, id);
        let is_there = match method {
            Method::DELETE => items.remove(&item),
            _ => items.contains(&item),
        };
        match is_there {
            true => Json(json!({ "id": id })).into_response(),
            false => StatusCode::NOT_FOUND.into_response(),
        }
    }
    let item = json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } });
    let list = json!({ "type": "array", "items": item });
    let words = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let mut paths = json!({});
    for number in 0..COLLECTIONS {
        let id = || {
            vec![required(
                "id",
                "path",
                json!({ "type": "integer", "minimum": 0 }),
            )]
        };
        let found = [(200, item.clone()), (404, Value::Null)];
        paths[format!("/kind{number}")] = json!({
            "post": operation(&format!("create{number}"), vec![], Some(body(words.clone())), &[(201, item.clone())]),
            "get": operation(&format!("list{number}"), vec![], None, &[(200, list.clone())]),
        });
        paths[format!("/kind{number}/{{id}}")] = json!({
            "get": operation(&format!("read{number}"), id(), None, &found),
            "put": operation(&format!("change{number}"), id(), Some(body(words.clone())), &found),
            "delete": operation(&format!("delete{number}"), id(), None, &found),
        });
    }
    let wide = Wide::default();
    let calls = Arc::clone(&wide.calls);
    let router = Router::new()
        .route("/{collection}", any(on_collection))
        .route("/{collection}/{id}", any(on_item))
        .with_state(wide);
    (serve("wide", router, paths, json!({})), calls)
}
