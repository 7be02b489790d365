//! A service that waits before it answers, as services do that ask others, and counts its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::running::{Running, serve_at};

/// The service, and how many calls it has answered.
#[derive(Debug)]
pub struct Waiting {
    /// The service.
    pub running: Running,
    calls: Arc<AtomicU64>,
}

impl Waiting {
    /// Calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

#[derive(Clone)]
struct Shared {
    time: Duration,
    calls: Arc<AtomicU64>,
}

/// Starts a service that takes this long for each call.
#[must_use]
pub fn waiting(time: Duration) -> Waiting {
    waiting_at(time, 0)
}

/// Starts it at a port; 0 is any that is free.
#[must_use]
pub fn waiting_at(time: Duration, port: u16) -> Waiting {
    let integer = json!({ "type": "integer" });
    let of_step = json!([{ "name": "n", "in": "path", "required": true, "schema": integer }]);
    let responses = json!({ "200": { "description": "a step" }, "404": { "description": "none" } });
    let paths = json!({
        "/steps/{n}": { "get": { "parameters": of_step, "responses": responses } },
        "/stairs/{n}": { "get": { "parameters": of_step, "responses": responses } },
    });
    let calls = Arc::new(AtomicU64::new(0));
    let shared = Shared {
        time,
        calls: Arc::clone(&calls),
    };
    let router = Router::new()
        .route("/steps/{n}", get(step))
        .route("/stairs/{n}", get(step))
        .with_state(shared);
    Waiting {
        running: serve_at(port, "Waiting", router, paths, json!({})),
        calls,
    }
}

async fn step(State(shared): State<Shared>, Path(n): Path<String>) -> (StatusCode, Json<Value>) {
    tokio::time::sleep(shared.time).await;
    shared.calls.fetch_add(1, Ordering::Relaxed);
    match n.parse::<i64>() {
        Ok(n) if (0..1_000).contains(&n) => (StatusCode::OK, Json(json!({ "step": n }))),
        _ => (
            StatusCode::NOT_FOUND,
            Json(json!({ "error": "no such step" })),
        ),
    }
}
