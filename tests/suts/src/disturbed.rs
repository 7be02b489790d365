//! A proxy in front of a service, which now and then disturbs a response: cuts it, lies about its length, delays it, or
//! sends something else.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a delayed response takes, unless the client hangs up before.
const DELAY: Duration = Duration::from_secs(30);
/// The most that a response without end sends.
const ENDLESS: usize = 1 << 30;

/// What happens to a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// The connection is closed instead.
    Dropped,
    /// Its first half is sent.
    Half,
    /// It announces more than it sends.
    LongLength,
    /// It announces less than it sends.
    ShortLength,
    /// It announces a negative length.
    NegativeLength,
    /// Headers without end.
    EndlessHeaders,
    /// A body of 1 GB.
    HugeBody,
    /// JSON that is not UTF-8.
    InvalidUtf8,
    /// Chunks whose lengths are no numbers.
    ChunkedGarbage,
    /// The preface of HTTP/2.
    Http2Preface,
    /// An alert of TLS.
    TlsAlert,
    /// It comes 30 s later.
    Late,
}

impl Disturbance {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Dropped,
        Self::Half,
        Self::LongLength,
        Self::ShortLength,
        Self::NegativeLength,
        Self::EndlessHeaders,
        Self::HugeBody,
        Self::InvalidUtf8,
        Self::ChunkedGarbage,
        Self::Http2Preface,
        Self::TlsAlert,
        Self::Late,
    ];
}

/// The proxy, until it is dropped.
#[derive(Debug)]
pub struct Disturbed {
    /// Where it is, without a slash at the end.
    pub url: String,
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    service: SocketAddr,
    kind: Disturbance,
    /// One of so many calls is disturbed.
    every: usize,
    calls: AtomicUsize,
    disturbed: AtomicUsize,
    is_over: AtomicBool,
}

/// Starts a proxy on a free port that disturbs one of `every` responses of a service. Its document and its reset are
/// left alone.
pub fn start(service: SocketAddr, kind: Disturbance, every: usize) -> Disturbed {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    let shared = Arc::new(Shared {
        service,
        kind,
        every,
        calls: AtomicUsize::new(0),
        disturbed: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    });
    let served = Arc::clone(&shared);
    let acceptor = thread::spawn(move || {
        for client in listener.incoming() {
            if served.is_over.load(Ordering::Acquire) {
                return;
            }
            let (Ok(client), served) = (client, Arc::clone(&served)) else {
                continue;
            };
            // A client that goes away is what this is for.
            thread::spawn(move || served.serve(client));
        }
    });
    Disturbed {
        url: format!("http://{address}"),
        address,
        shared,
        acceptor: Some(acceptor),
    }
}

impl Disturbed {
    /// How many responses were disturbed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.disturbed.load(Ordering::Acquire)
    }
}

impl Drop for Disturbed {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // Wakes the acceptor.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let request = read_request(&client)?;
        let mut service = TcpStream::connect(self.service)?;
        service.write_all(&request)?;
        let mut response = Vec::new();
        service.read_to_end(&mut response)?;
        let line = request.split(|byte| *byte == b'\n').next();
        let line = String::from_utf8_lossy(line.unwrap_or_default()).into_owned();
        let is_left_alone = line.contains("/openapi") || line.contains("/reset");
        let count = self.calls.fetch_add(1, Ordering::AcqRel);
        if is_left_alone || !count.is_multiple_of(self.every) {
            return client.write_all(&response);
        }
        self.disturbed.fetch_add(1, Ordering::AcqRel);
        self.disturb(client, &response)
    }

    fn disturb(&self, mut client: TcpStream, response: &[u8]) -> io::Result<()> {
        let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
        let with = |length: &str, body: &str| format!("{ok}Content-Length: {length}\r\n\r\n{body}");
        match self.kind {
            Disturbance::Dropped => Ok(()),
            Disturbance::Half => client.write_all(&response[..response.len() / 2]),
            Disturbance::LongLength => client.write_all(with("1000000", "{}").as_bytes()),
            Disturbance::ShortLength => client.write_all(with("3", r#"{"a": [1, 2]}"#).as_bytes()),
            Disturbance::NegativeLength => client.write_all(with("-5", "{}").as_bytes()),
            Disturbance::EndlessHeaders => {
                client.write_all(ok.as_bytes())?;
                pour(&mut client, &b"X-Header: and so on\r\n".repeat(1000))
            }
            Disturbance::HugeBody => {
                client.write_all(with(&ENDLESS.to_string(), "").as_bytes())?;
                pour(&mut client, &[b' '; 1 << 16])
            }
            Disturbance::InvalidUtf8 => {
                client.write_all(with("12", "").as_bytes())?;
                client.write_all(b"{\"a\": \"\xff\xfe\"}")
            }
            Disturbance::ChunkedGarbage => {
                client.write_all(format!("{ok}Transfer-Encoding: chunked\r\n\r\n").as_bytes())?;
                client.write_all(b"zz\r\n{}\r\n-1\r\n\xff\r\n")
            }
            Disturbance::Http2Preface => {
                client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
            }
            Disturbance::TlsAlert => client.write_all(&[0x15, 3, 3, 0, 2, 2, 0x28]),
            Disturbance::Late => {
                client.set_read_timeout(Some(DELAY))?;
                // Until the client hangs up, or the time is over.
                let _ = client.read(&mut [0]);
                client.write_all(response)
            }
        }
    }
}

/// Sends the same over and over, until nobody reads it or it is enough.
fn pour(client: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    for _ in 0..ENDLESS / bytes.len() {
        client.write_all(bytes)?;
    }
    Ok(())
}

/// A request, which asks to close the connection after it.
fn read_request(client: &TcpStream) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(client);
    let (mut request, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line == "\r\n" {
            request.extend(b"Connection: close\r\n\r\n");
            break;
        }
        if !lower.starts_with("connection:") {
            request.extend(line.as_bytes());
        }
    }
    let head = request.len();
    request.resize(head + length, 0);
    reader.read_exact(&mut request[head..])?;
    Ok(request)
}
