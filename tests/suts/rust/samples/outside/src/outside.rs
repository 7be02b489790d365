//! Calls to the service of exchange rates.

use axum::body::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Where it is, when nobody says: a host that does not exist.
const NOWHERE: &str = "http://rates.invalid/v1";

/// The answer to a GET, as status and text; `None` when there is none.
pub(crate) async fn get(path: &str) -> Option<(u16, String)> {
    let base = std::env::var("RATES_URL").unwrap_or_else(|_| NOWHERE.to_owned());
    let address = base.strip_prefix("http://")?.split('/').next()?.to_owned();
    let host = if address.contains(':') {
        address.clone()
    } else {
        format!("{address}:80")
    };
    let stream = TcpStream::connect(host).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    let target = base.split_once(&address)?.1;
    let request = Request::get(format!("{target}{path}"))
        .header("Host", &address)
        .body(Empty::<Bytes>::new())
        .ok()?;
    let answer = sender.send_request(request).await.ok()?;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.ok()?.to_bytes();
    Some((status, String::from_utf8_lossy(&body).into_owned()))
}
