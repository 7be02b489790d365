//! The HTTP server of the mocks.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ::http::{Method, Request, Response, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::stubs::{MockReply, MockStub, ReceivedCall, Stubs};

/// How much of the body of a call is kept.
const KEPT: usize = 16 * 1024;
/// How long a call may take to be read.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Where one external service is stood for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MockEndpoint {
    /// The service; empty for the proxy, whose callers name whom they mean.
    pub name: String,
    /// Where it listens.
    pub at: SocketAddr,
}

/// Why no responder listens.
#[derive(Debug, thiserror::Error)]
pub enum MockServerError {
    /// The address is taken, or not ours.
    #[error("failed to start the mock of {service} at {at}: {cause}")]
    Listen {
        /// The service to stand for.
        service: String,
        /// Where.
        at: SocketAddr,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// The system has no resources for it.
    #[error("failed to start the mocks of external services: {0}")]
    System(#[from] io::Error),
}

/// Stands for external services until it is dropped.
pub struct MockServer {
    endpoints: Vec<MockEndpoint>,
    stubs: Arc<Mutex<Stubs>>,
    running: Option<Running>,
}

struct Running {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl MockServer {
    /// Listens for services of these names, each at a free port of its own from `from` on; an empty name is a proxy.
    ///
    /// # Errors
    ///
    /// When the system has no ports or threads.
    pub fn open(
        names: impl IntoIterator<Item = String>,
        mut from: u16,
    ) -> Result<Self, MockServerError> {
        let mut endpoints = Vec::new();
        let mut listeners = Vec::new();
        for name in names {
            // Bound at once, so that nobody else takes the port meanwhile.
            let (port, listener) = (from..=u16::MAX)
                .find_map(|port| {
                    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
                    Some((port, listener.ok()?))
                })
                .ok_or_else(|| io::Error::from(io::ErrorKind::AddrInUse))?;
            from = port.saturating_add(1);
            endpoints.push(MockEndpoint {
                name,
                at: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            });
            listeners.push(listener);
        }
        let mut mock = Self::silent(endpoints);
        mock.serve(listeners)?;
        Ok(mock)
    }

    /// Listens at known addresses, as a suite names them.
    ///
    /// # Errors
    ///
    /// When one of them is taken.
    pub fn at(endpoints: Vec<MockEndpoint>) -> Result<Self, MockServerError> {
        let mut mock = Self::silent(endpoints);
        mock.resume()?;
        Ok(mock)
    }

    fn silent(endpoints: Vec<MockEndpoint>) -> Self {
        Self {
            endpoints,
            stubs: Arc::default(),
            running: None,
        }
    }

    /// Where which service is stood for.
    #[must_use]
    pub fn endpoints(&self) -> &[MockEndpoint] {
        &self.endpoints
    }

    /// A candidate begins, with these answers.
    pub fn begin(&self, answers: Vec<MockStub>) {
        self.stubs().begin(answers);
    }

    /// Calls from now on belong to the action of this number.
    pub fn begin_action(&self, number: u16) {
        self.stubs().action = Some(number);
    }

    /// The calls since this was last asked, and how many more there were than are kept.
    pub fn calls(&self) -> (Vec<ReceivedCall>, u64) {
        self.stubs().take()
    }

    /// Stops to listen, so that somebody else can in its place; what was prepared stays.
    pub fn pause(&mut self) {
        if let Some(running) = self.running.take() {
            // Nobody hears it where the thread has ended by itself.
            let _ = running.stop.send(());
            let _ = running.thread.join();
        }
    }

    /// Listens again.
    ///
    /// # Errors
    ///
    /// When an address was taken meanwhile.
    pub fn resume(&mut self) -> Result<(), MockServerError> {
        if self.running.is_some() {
            return Ok(());
        }
        let listen = |endpoint: &MockEndpoint| {
            TcpListener::bind(endpoint.at).map_err(|cause| MockServerError::Listen {
                service: endpoint.name.clone(),
                at: endpoint.at,
                cause,
            })
        };
        let listeners: Result<Vec<_>, _> = self.endpoints.iter().map(listen).collect();
        self.serve(listeners?)?;
        Ok(())
    }

    fn serve(&mut self, listeners: Vec<TcpListener>) -> io::Result<()> {
        for listener in &listeners {
            listener.set_nonblocking(true)?;
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let names: Vec<String> = self.endpoints.iter().map(|s| s.name.clone()).collect();
        let stubs = Arc::clone(&self.stubs);
        let thread = std::thread::Builder::new()
            .name("responder".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    for (listener, name) in listeners.into_iter().zip(names) {
                        tokio::spawn(listen(listener, name, Arc::clone(&stubs)));
                    }
                    let _ = stopped.await;
                });
                // Connections end with the runtime.
            })?;
        self.running = Some(Running { stop, thread });
        Ok(())
    }

    fn stubs(&self) -> MutexGuard<'_, Stubs> {
        self.stubs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.pause();
    }
}

impl fmt::Debug for MockServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("endpoints", &self.endpoints)
            .finish_non_exhaustive()
    }
}

async fn listen(listener: TcpListener, name: String, stubs: Arc<Mutex<Stubs>>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let name: Arc<str> = name.into();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, mostly; they are closed by and by.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (name, stubs) = (Arc::clone(&name), Arc::clone(&stubs));
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, &name, &stubs));
            // No connection outlives its call: what a client keeps open would lead nowhere once a suite
            // stands for the same services.
            let _ = http1::Builder::new()
                .keep_alive(false)
                .timer(TokioTimer::new())
                .header_read_timeout(TIMEOUT)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// The connection is to be closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("closed on purpose")]
struct Closed;

async fn answer(
    request: Request<Incoming>,
    endpoint: &str,
    stubs: &Mutex<Stubs>,
) -> Result<Response<Full<Bytes>>, Closed> {
    let call = read(request, endpoint).await;
    let mut stubs = stubs.lock().unwrap_or_else(PoisonError::into_inner);
    if call.encrypted {
        stubs.note(ReceivedCall {
            status: Some(502),
            ..call
        });
        let why = "encrypted calls are not answered; name the variable of the base URL by --mock";
        return Ok(response(502, "text/plain", why.as_bytes().to_vec()));
    }
    match stubs.reply(call) {
        MockReply::Close => Err(Closed),
        MockReply::Respond {
            status,
            content_type,
            body,
        } => Ok(response(status, &content_type, body)),
    }
}

/// What a request asks of whom; who comes through the proxy says that, others mean the endpoint.
async fn read(request: Request<Incoming>, endpoint: &str) -> ReceivedCall {
    let (parts, body) = request.into_parts();
    let host = parts.uri.host().map(str::to_owned);
    let host = host.or_else(|| {
        let named = parts.headers.get(header::HOST)?.to_str().ok()?;
        Some(named.to_owned())
    });
    let service = match (endpoint.is_empty(), host) {
        (true, Some(host)) => host,
        _ => endpoint.to_owned(),
    };
    ReceivedCall {
        action: None,
        service,
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        body: beginning(body).await,
        status: None,
        answer: None,
        encrypted: parts.method == Method::CONNECT,
    }
}

/// The beginning of a body; the rest is read, since a client may be deaf until it has said all.
async fn beginning(mut body: Incoming) -> Vec<u8> {
    let mut kept = Vec::new();
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            if let Some(data) = frame.data_ref() {
                let room = KEPT - kept.len();
                kept.extend_from_slice(data.get(..room).unwrap_or(data));
            }
        }
    };
    // What takes longer is answered by what came so far.
    let _ = tokio::time::timeout(TIMEOUT, reading).await;
    kept
}

fn response(status: u16, content_type: &str, body: Vec<u8>) -> Response<Full<Bytes>> {
    let has_body = !matches!(status, 100..200 | 204 | 304);
    let mut response = Response::builder().status(status);
    if has_body && !body.is_empty() {
        response = response.header(header::CONTENT_TYPE, content_type);
    }
    let body = if has_body { body } else { Vec::new() };
    let built = response.body(Full::new(Bytes::from(body)));
    // A status or type that HTTP does not have is the fault of whoever prepared it.
    built.unwrap_or_else(|_| Response::new(Full::new(Bytes::new())))
}
