//! A read-only page server for this machine alone.
//!
//! It listens on loopback, answers GET and HEAD, and refuses requests that name another host or come from another
//! origin: a page on the internet can make a browser call any port of this machine (DNS rebinding).

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::time::Duration;

use ::http::{HeaderMap, Method, Request, Response, header};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Builder;

/// How long the head of a request may take to be read.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A page, as a browser gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The media type.
    pub content_type: &'static str,
    /// The content.
    pub body: Vec<u8>,
}

/// A server that is bound to its port and does not answer yet.
#[derive(Debug)]
pub struct PageServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl PageServer {
    /// Binds a port of the loopback interface; 0 takes a free one.
    ///
    /// # Errors
    ///
    /// When the port is taken.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until the process ends; `page` gets path and query.
    ///
    /// # Errors
    ///
    /// When the system has no resources for it.
    pub fn run(self, page: impl Fn(&str, &str) -> Page + 'static) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let page = Rc::new(page);
        let port = self.address.port();
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async move {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    // Too many open files, mostly; they are closed by and by.
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                };
                let page = Rc::clone(&page);
                tokio::task::spawn_local(async move {
                    let service = service_fn(|request: Request<Incoming>| {
                        let response = answer(&request, port, &*page);
                        async move { Ok::<_, Infallible>(response) }
                    });
                    // A client that goes away is no error of ours.
                    let _ = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(TIMEOUT)
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        })
    }
}

fn answer(
    request: &Request<Incoming>,
    port: u16,
    page: &dyn Fn(&str, &str) -> Page,
) -> Response<Full<Bytes>> {
    let text = |status, why: &str| Page {
        status,
        content_type: "text/plain; charset=utf-8",
        body: why.as_bytes().to_vec(),
    };
    let page = if !is_local(request.headers(), port) {
        text(403, "only pages of this server may call it")
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        text(405, "only GET and HEAD are answered")
    } else {
        let uri = request.uri();
        page(uri.path(), uri.query().unwrap_or_default())
    };
    let response = Response::builder()
        .status(page.status)
        .header(header::CONTENT_TYPE, page.content_type)
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header("cross-origin-resource-policy", "same-origin")
        .header(header::X_FRAME_OPTIONS, "DENY")
        .body(Full::new(Bytes::from(page.body)));
    response.unwrap_or_else(|_| Response::new(Full::new(Bytes::new())))
}

/// Whether a request names this server, and comes from one of its pages or from no page.
fn is_local(headers: &HeaderMap, port: u16) -> bool {
    let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let is_named = host.is_some_and(|host| names.iter().any(|name| name == host));
    let is_own = match headers.get(header::ORIGIN) {
        None => true,
        Some(origin) => origin
            .to_str()
            .ok()
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_some_and(|origin| names.iter().any(|name| name == origin)),
    };
    is_named && is_own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_hosts_and_origins_are_refused() {
        let check = |host: Option<&str>, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            let pairs = [(header::HOST, host), (header::ORIGIN, origin)];
            for (name, value) in pairs {
                if let Some(value) = value {
                    headers.insert(name, value.parse().expect("a header value"));
                }
            }
            is_local(&headers, 8000)
        };
        assert!(check(Some("127.0.0.1:8000"), None));
        assert!(check(Some("localhost:8000"), Some("http://localhost:8000")));
        assert!(!check(None, None));
        assert!(!check(Some("rebound.example:8000"), None));
        assert!(!check(Some("127.0.0.1:8001"), None));
        assert!(!check(Some("127.0.0.1:8000"), Some("http://evil.example")));
        assert!(!check(Some("127.0.0.1:8000"), Some("null")));
    }
}
