//! Calls to services on good and on bad days, and services as processes.

mod bad_days;
mod documents;
mod external;
mod processes;
mod tls;

use isobath_exec::http::{Client, ClientConfig, Request};

/// A client that gives up early.
fn client() -> Client {
    client_with(ClientConfig {
        body_limit: 1 << 20,
        ..ClientConfig::default()
    })
}

fn client_with(config: ClientConfig) -> Client {
    Client::new(config).expect("the system has resources for a client")
}

fn post(url: &str, body: &'static str) -> Request {
    Request::new(isobath_exec::http::Method::POST, url).body(body)
}
