//! A service whose branches depend on what another service answers.
//!
//! The port is in the variable `PORT`, the base URL of the service of exchange rates in `RATES_URL`.

mod outside;
mod prices;

use std::net::Ipv4Addr;

use axum::Router;
use axum::routing::get;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok());
    let listener =
        tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(8080))).await?;
    let router = Router::new()
        .route("/prices/{item}", get(prices::price))
        .route("/ranks/{item}", get(prices::rank))
        .route("/health", get(prices::health));
    axum::serve(listener, router).await
}
