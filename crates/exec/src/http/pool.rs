//! The pool of kept-alive connections, and one exchange over a connection.
//!
//! A kept connection may have been closed by the other side since its last use.
//! We look before we send; where the closing crosses with the sending, the
//! request is sent once more over a fresh connection, so that only a service
//! that drops a fresh connection is said to drop connections.

use std::io::{self, ErrorKind};
use std::net::TcpStream as Probe;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::http::HeaderValue;
use ::http::response::Parts;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::body::decode;
use super::call::{BodyCompleteness, CallFailure, Response};
use super::client::ClientConfig;
use super::request::{Origin, ParsedRequest};
use super::tls;

/// How often a long wait looks whether it should continue.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often a connection is tried for which this machine has no port left.
const TRIES: u32 = 40;

/// The connections of a client.
pub(super) struct ConnectionPool {
    kept: Vec<Connection>,
    tls: Option<TlsConnector>,
    user_agent: HeaderValue,
}

struct Connection {
    origin: Origin,
    sender: SendRequest<Full<Bytes>>,
    /// The same socket, to look whether the other side has closed it.
    probe: Option<Probe>,
}

/// An exchange that brought an answer.
pub(super) struct Exchange {
    pub(super) response: Response,
    pub(super) repeated: bool,
}

impl ConnectionPool {
    pub(super) fn new() -> Self {
        Self {
            kept: Vec::new(),
            tls: None,
            user_agent: HeaderValue::from_static(concat!("isobath/", env!("CARGO_PKG_VERSION"))),
        }
    }

    /// Sends a request and reads the answer.
    pub(super) async fn exchange(
        &mut self,
        request: &ParsedRequest<'_>,
        config: &ClientConfig,
    ) -> Result<Exchange, CallFailure> {
        let timeout = Deadline::new(config);
        let mut repeated = false;
        loop {
            let message = request.message(&self.user_agent)?;
            let kept = self.take(&request.origin);
            let is_fresh = kept.is_none();
            let mut connection = match kept {
                Some(connection) => connection,
                None => {
                    let connecting = self.connect(&request.origin, config);
                    match timeout.wait(connecting).await? {
                        // It was there when the request was sent, and closed the connection in place of an answer.
                        Err(CallFailure::Refused) if repeated => return Err(CallFailure::Dropped),
                        connected => connected?,
                    }
                }
            };
            let sending = async {
                connection.sender.ready().await?;
                connection.sender.send_request(message).await
            };
            let answer = match timeout.wait(sending).await? {
                Ok(answer) => answer,
                Err(error) if !is_fresh && is_closing(&error) => {
                    // A request that never left was not sent twice.
                    repeated |= !error.is_canceled();
                    continue;
                }
                Err(error) => return Err(failure(&error)),
            };
            let (head, body) = answer.into_parts();
            let (body, completeness) = read(body, config.body_limit, &timeout).await;
            if completeness == BodyCompleteness::Complete && head.status != 101 {
                self.kept.push(connection);
            }
            let response = response(head, body, completeness, config.body_limit);
            return Ok(Exchange { response, repeated });
        }
    }

    /// Opens a connection and keeps it.
    pub(super) async fn open_connection(
        &mut self,
        request: &ParsedRequest<'_>,
        config: &ClientConfig,
    ) -> Result<(), CallFailure> {
        let connecting = self.connect(&request.origin, config);
        let connection = Deadline::new(config).wait(connecting).await??;
        self.kept.push(connection);
        Ok(())
    }

    /// Takes a connection to `origin` that is still open out of those kept.
    fn take(&mut self, origin: &Origin) -> Option<Connection> {
        while let Some(place) = self.kept.iter().position(|kept| kept.origin == *origin) {
            let connection = self.kept.swap_remove(place);
            if connection.is_open() {
                return Some(connection);
            }
        }
        None
    }

    async fn connect(
        &mut self,
        origin: &Origin,
        config: &ClientConfig,
    ) -> Result<Connection, CallFailure> {
        let mut tries = 0;
        let stream = loop {
            tries += 1;
            match TcpStream::connect((origin.host.as_str(), origin.port)).await {
                Ok(stream) => break stream,
                // After very many connections, ports are free again only after a while.
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable && tries < TRIES => {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                Err(error) => return Err(unconnected(&error)),
            }
        };
        let io = |error: io::Error| CallFailure::Unreachable(error.to_string());
        stream.set_nodelay(true).map_err(io)?;
        let stream = stream.into_std().map_err(io)?;
        // Without a second handle we cannot look, and rely on sending again.
        let probe = stream.try_clone().ok();
        let stream = TcpStream::from_std(stream).map_err(io)?;
        let sender = if origin.is_tls {
            let tls_failure = |error: &dyn std::error::Error| CallFailure::Tls(error.to_string());
            let connector = match &self.tls {
                Some(connector) => connector.clone(),
                None => tls::connector(config.accept_any_certificate)
                    .map_err(|error| tls_failure(&error))?,
            };
            self.tls = Some(connector.clone());
            let name =
                ServerName::try_from(origin.host.clone()).map_err(|error| tls_failure(&error))?;
            let stream = connector
                .connect(name, stream)
                .await
                .map_err(|error| tls_failure(&error))?;
            handshake(stream).await?
        } else {
            handshake(stream).await?
        };
        Ok(Connection {
            origin: origin.clone(),
            sender,
            probe,
        })
    }
}

async fn handshake(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<SendRequest<Full<Bytes>>, CallFailure> {
    let (sender, connection) = http1::Builder::new()
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| failure(&error))?;
    // What goes wrong on the connection is told to whoever waits for an answer.
    tokio::spawn(connection);
    Ok(sender)
}

impl Connection {
    /// Whether the other side has neither closed the connection nor sent what nobody asked for.
    fn is_open(&self) -> bool {
        if self.sender.is_closed() {
            return false;
        }
        let Some(probe) = &self.probe else {
            return true;
        };
        match probe.peek(&mut [0]) {
            Ok(0) => false,
            // Encrypted connections have messages of their own between answers.
            Ok(_) => self.origin.is_tls,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// How long an exchange may take.
struct Deadline<'a> {
    deadline: Instant,
    config: &'a ClientConfig,
}

impl<'a> Deadline<'a> {
    fn new(config: &'a ClientConfig) -> Self {
        Self {
            deadline: Instant::now() + config.timeout,
            config,
        }
    }

    /// Waits until the deadline, and no longer than a moment once interrupted.
    async fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, CallFailure> {
        let mut future = std::pin::pin!(future);
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let moment = match &self.config.interrupt {
                Some(_) => left.min(POLL_INTERVAL),
                None => left,
            };
            if let Ok(done) = tokio::time::timeout(moment, &mut future).await {
                return Ok(done);
            }
            let raised =
                |flag: &std::sync::Arc<std::sync::atomic::AtomicBool>| flag.load(Ordering::Relaxed);
            if self.config.interrupt.as_ref().is_some_and(raised) {
                return Err(CallFailure::Interrupted);
            }
            if Instant::now() >= self.deadline {
                return Err(CallFailure::TimedOut);
            }
        }
    }
}

/// Reads a body up to `limit` bytes; the connection of a longer one must not be used again.
async fn read(
    mut body: Incoming,
    limit: usize,
    timeout: &Deadline<'_>,
) -> (Bytes, BodyCompleteness) {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    let end = loop {
        if body.is_end_stream() {
            break BodyCompleteness::Complete;
        }
        let data = match timeout.wait(body.frame()).await {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(_))) => break BodyCompleteness::Dropped,
            Ok(None) => break BodyCompleteness::Complete,
            Err(_) => break BodyCompleteness::TimedOut,
        };
        let room = limit - first.len().max(all.len());
        if data.len() > room {
            all = if all.is_empty() {
                BytesMut::from(&*first)
            } else {
                all
            };
            all.extend_from_slice(data.get(..room).unwrap_or(&data));
            break BodyCompleteness::TooLarge;
        }
        if first.is_empty() {
            // Most bodies are one piece, which need not be copied.
            first = data;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
    };
    let bytes = if all.is_empty() { first } else { all.freeze() };
    (bytes, end)
}

fn response(head: Parts, body: Bytes, completeness: BodyCompleteness, limit: usize) -> Response {
    let (body, completeness) = match completeness {
        BodyCompleteness::Complete => decode(&head.headers, body, limit),
        cut => (body, cut),
    };
    Response {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
        completeness,
    }
}

fn unconnected(error: &io::Error) -> CallFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused => CallFailure::Refused,
        ErrorKind::TimedOut => CallFailure::TimedOut,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => CallFailure::Dropped,
        _ => CallFailure::Unreachable(error.to_string()),
    }
}

/// Whether the connection went away, rather than something being wrong with what was said on it.
fn is_closing(error: &hyper::Error) -> bool {
    !error.is_parse() && !error.is_user()
}

fn failure(error: &hyper::Error) -> CallFailure {
    if error.is_parse() {
        CallFailure::Garbage(error.to_string())
    } else if error.is_user() {
        CallFailure::Unsendable(error.to_string())
    } else {
        CallFailure::Dropped
    }
}
