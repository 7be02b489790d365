//! Ways to read, parse and compare inputs, one function each, with branches that few requests
//! take. The port is in the variable `PORT`.

mod inputs;
mod moments;
mod words;

use std::net::Ipv4Addr;

use axum::Router;
use axum::routing::{get, post};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok());
    let listener =
        tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(8080))).await?;
    axum::serve(listener, router()).await
}

fn router() -> Router {
    Router::new()
        .route("/chrono/{day}", get(moments::chrono_date))
        .route("/rfc3339/{moment}", get(moments::chrono_moment))
        .route("/time/{day}", get(moments::time_date))
        .route("/jiff/{day}", get(moments::jiff_date))
        .route("/uuid/{id}", get(words::uuid))
        .route("/found/{text}", get(words::found))
        .route("/captured/{text}", get(words::captured))
        .route("/parsed/{address}/{flag}/{letter}", get(words::parsed))
        .route("/same/{a}/{b}", get(words::same))
        .route("/header", get(inputs::header))
        .route("/constant", get(inputs::constant))
        .route("/json", post(inputs::json))
        .route("/nested", post(inputs::nested))
        .route("/raw", get(inputs::raw))
        .route("/form", post(inputs::form))
}
