//! The code examples of the papers, and functions of numbers and texts, on axum.
//!
//! The port is in the variable `PORT`.

mod numbers;
mod papers;
mod texts;

use std::net::Ipv4Addr;

use axum::Router;
use axum::routing::{get, post};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok());
    let listener =
        tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(8080))).await?;
    // Whoever ends it kindly lets it write down what it has to, such as coverage.
    let mut terminate = signal(SignalKind::terminate())?;
    let end = async move {
        terminate.recv().await;
    };
    axum::serve(listener, router())
        .with_graceful_shutdown(end)
        .await
}

fn router() -> Router {
    Router::new()
        .route(
            "/api/testability/{date}/{number}/{setting}",
            get(papers::testability),
        )
        .route("/api/param", get(papers::param))
        .route("/api/body", post(papers::body))
        .route("/api/triangle/{a}/{b}/{c}", get(numbers::triangle))
        .route("/api/bessel/{n}/{x}", get(numbers::bessel))
        .route("/api/remainder/{a}/{b}", get(numbers::remainder))
        .route("/api/gamma/{a}/{x}", get(numbers::gamma))
        .route("/api/calc/{op}/{a}/{b}", get(texts::calc))
        .route("/api/suffix/{folder}/{file}", get(texts::suffix))
        .route("/api/cookie/{name}/{value}/{site}", get(texts::cookie))
        .route("/api/date/{day}/{month}", get(texts::date))
        .route("/api/password/{user}/{password}", get(texts::password))
}
