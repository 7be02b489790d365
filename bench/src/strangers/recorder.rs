//! A reverse proxy that records each call: the same witness for every tool that is compared.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

type RelayError = Box<dyn std::error::Error + Send + Sync>;

/// One call that passed through.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The method.
    pub(super) method: String,
    /// The path, without the query.
    pub(super) path: String,
    /// The status of the response; none when the service gave none.
    pub(super) status: Option<u16>,
}

/// The proxy; its thread ends with the program.
pub(super) struct Recorder {
    /// Where it listens.
    pub(super) port: u16,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Recorder {
    /// Listens on a free port and passes calls on to another one.
    pub(super) fn start(service: u16) -> io::Result<Self> {
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let port = listener.local_addr()?.port();
        let log = Arc::clone(&calls);
        thread::spawn(move || {
            runtime.block_on(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let log = Arc::clone(&log);
                    tokio::spawn(async move {
                        let relay =
                            service_fn(move |request| pass_on(request, service, Arc::clone(&log)));
                        // A client that hangs up ends its connection, nothing else.
                        let _ = server::Builder::new()
                            .half_close(true)
                            .serve_connection(TokioIo::new(stream), relay)
                            .await;
                    });
                }
            });
        });
        Ok(Self { port, calls })
    }

    /// The calls since it was last asked.
    pub(super) fn take(&self) -> Vec<Call> {
        self.calls
            .lock()
            .map(|mut calls| std::mem::take(&mut *calls))
            .unwrap_or_default()
    }
}

async fn pass_on(
    request: Request<Incoming>,
    service: u16,
    log: Arc<Mutex<Vec<Call>>>,
) -> Result<Response<Full<Bytes>>, RelayError> {
    let (method, path) = (
        request.method().to_string(),
        request.uri().path().to_owned(),
    );
    let response = ask(request, service).await;
    let status = response
        .as_ref()
        .ok()
        .map(|response| response.status().as_u16());
    if let Ok(mut calls) = log.lock() {
        calls.push(Call {
            method,
            path,
            status,
        });
    }
    // Without a response, the connection of the caller is closed as that of the service was.
    response
}

/// Sends a request to the service over a connection of its own.
async fn ask(
    request: Request<Incoming>,
    service: u16,
) -> Result<Response<Full<Bytes>>, RelayError> {
    let (mut head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    // The body has its length now, and the connection serves one call.
    for name in [
        header::TRANSFER_ENCODING,
        header::CONNECTION,
        header::EXPECT,
    ] {
        head.headers.remove(name);
    }
    let stream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, service))).await?;
    let (mut sender, connection) = client::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response = sender
        .send_request(Request::from_parts(head, Full::new(body)))
        .await?;
    let (mut head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    for name in [header::TRANSFER_ENCODING, header::CONNECTION] {
        head.headers.remove(name);
    }
    Ok(Response::from_parts(head, Full::new(body)))
}
