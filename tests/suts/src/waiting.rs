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
        "/rooms/{n}": { "get": { "parameters": of_step, "responses": responses } },
    });
    let calls = Arc::new(AtomicU64::new(0));
    let shared = Shared {
        time,
        calls: Arc::clone(&calls),
    };
    let router = Router::new()
        .route("/steps/{n}", get(step))
        .route("/stairs/{n}", get(step))
        .route("/rooms/{n}", get(room))
        .with_state(shared);
    Waiting {
        running: serve_at(port, "Waiting", router, paths, json!({})),
        calls,
    }
}

/// Few of the rooms have something in them, each something else.
const ROOMS: u64 = 20_000;
const FURNISHED: u64 = 2_000;

/// A room: what is found in it is found by trying.
async fn room(State(shared): State<Shared>, Path(n): Path<String>) -> (StatusCode, Json<Value>) {
    tokio::time::sleep(shared.time).await;
    shared.calls.fetch_add(1, Ordering::Relaxed);
    let Ok(n) = n.parse::<i64>() else {
        return (StatusCode::NOT_FOUND, Json(json!({})));
    };
    // Neighbors have nothing in common.
    let room = (n.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % ROOMS;
    let found = match room {
        0..FURNISHED => json!({ format!("thing-{room}"): true }),
        _ => json!({}),
    };
    (StatusCode::OK, Json(found))
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
