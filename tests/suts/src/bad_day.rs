//! Services that have a bad day: they speak raw TCP, and hardly any HTTP.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

/// How often a waiting connection looks whether the day is over.
const PULSE: Duration = Duration::from_millis(10);

/// What is wrong with the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Answers well and keeps the connection.
    Fine,
    /// Closes each connection when the request is there.
    CloseUnanswered,
    /// Answers well, says nothing about the connection, and closes it.
    CloseAfterAnswer,
    /// Closes every second connection unanswered, and keeps the others.
    CloseEverySecond,
    /// Answers in no language.
    Garbage,
    /// Never answers.
    Hang,
    /// Sends the head and half of the body, and then nothing.
    HangInBody,
    /// Sends the head and half of the body, and closes.
    DropInBody,
    /// Sends a body of 1 GB.
    HugeBody,
    /// Sends 1 MB that unpack to 1 GB.
    GzipBomb,
    /// Says gzip and sends text.
    LyingEncoding,
    /// Redirects to itself.
    RedirectCircle,
    /// Answers 429 with this `Retry-After` so many times, and then well.
    TooManyRequests {
        /// Seconds to wait.
        retry_after: u32,
        /// How often.
        times: usize,
    },
    /// Sends headers without end.
    EndlessHeaders,
}

/// A service that has a bad day until it is dropped.
#[derive(Debug)]
pub struct BadDay {
    /// Where it is, without a slash at the end.
    pub url: String,
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    manner: Manner,
    is_over: AtomicBool,
    connections: AtomicUsize,
    requests: AtomicUsize,
    bomb: Vec<u8>,
}

/// Starts a bad day on a free port of this machine.
pub fn start(manner: Manner) -> BadDay {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    let shared = Arc::new(Shared {
        manner,
        is_over: AtomicBool::new(false),
        connections: AtomicUsize::new(0),
        requests: AtomicUsize::new(0),
        bomb: if manner == Manner::GzipBomb {
            bomb()
        } else {
            Vec::new()
        },
    });
    let inside = Arc::clone(&shared);
    let acceptor = thread::spawn(move || {
        for stream in listener.incoming() {
            if inside.is_over.load(Ordering::Relaxed) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let number = inside.connections.fetch_add(1, Ordering::Relaxed);
            let inside = Arc::clone(&inside);
            // What goes wrong on a connection is what the day is about.
            thread::spawn(move || inside.serve(stream, number));
        }
    });
    BadDay {
        url: format!("http://{address}"),
        address,
        shared,
        acceptor: Some(acceptor),
    }
}

impl BadDay {
    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// How many requests were read so far.
    pub fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::Relaxed)
    }
}

impl Drop for BadDay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the acceptor.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

const FINE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nfine";

impl Shared {
    fn serve(&self, mut stream: TcpStream, number: usize) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PULSE))?;
        stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        while self.read_request(&mut stream)? {
            let nth = self.requests.fetch_add(1, Ordering::Relaxed);
            match self.manner {
                Manner::Fine => stream.write_all(FINE)?,
                Manner::CloseUnanswered => return Ok(()),
                Manner::CloseAfterAnswer => return stream.write_all(FINE),
                Manner::CloseEverySecond if number % 2 == 1 => return Ok(()),
                Manner::CloseEverySecond => stream.write_all(FINE)?,
                Manner::Garbage => return stream.write_all(b"\x16\x03\x01 hi there\n\n"),
                Manner::Hang => return self.hang(),
                Manner::HangInBody => {
                    stream.write_all(&FINE[..FINE.len() - 2])?;
                    return self.hang();
                }
                Manner::DropInBody => return stream.write_all(&FINE[..FINE.len() - 2]),
                Manner::HugeBody => {
                    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n";
                    stream.write_all(head)?;
                    let piece = vec![b'x'; 64 << 10];
                    for _ in 0..(1 << 30) / piece.len() {
                        stream.write_all(&piece)?;
                    }
                }
                Manner::GzipBomb => {
                    let length = self.bomb.len();
                    write!(
                        stream,
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"
                    )?;
                    stream.write_all(&self.bomb)?;
                }
                Manner::LyingEncoding => stream.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nfine",
                )?,
                Manner::RedirectCircle => stream.write_all(
                    b"HTTP/1.1 302 Found\r\nLocation: /round\r\nContent-Length: 0\r\n\r\n",
                )?,
                Manner::TooManyRequests { retry_after, times } if nth < times => write!(
                    stream,
                    "HTTP/1.1 429 Too Many Requests\r\nRetry-After: {retry_after}\r\nContent-Length: 0\r\n\r\n"
                )?,
                Manner::TooManyRequests { .. } => stream.write_all(FINE)?,
                Manner::EndlessHeaders => {
                    stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
                    while !self.is_over.load(Ordering::Relaxed) {
                        stream.write_all(b"X-More: and more\r\n")?;
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn hang(&self) -> io::Result<()> {
        while !self.is_over.load(Ordering::Relaxed) {
            thread::sleep(PULSE);
        }
        Ok(())
    }

    /// Reads one request with its body; `false` when there is no further one.
    fn read_request(&self, stream: &mut TcpStream) -> io::Result<bool> {
        let mut seen = Vec::new();
        let mut missing = None;
        loop {
            if missing.is_none()
                && let Some(end) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n")
            {
                let head = String::from_utf8_lossy(&seen[..end]).to_ascii_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length:"))
                    .and_then(|value| value.trim().parse::<usize>().ok());
                missing = Some(end + 4 + length.unwrap_or(0));
            }
            if missing.is_some_and(|missing| seen.len() >= missing) {
                return Ok(true);
            }
            if self.is_over.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let mut piece = [0; 4096];
            match stream.read(&mut piece) {
                Ok(0) => return Ok(false),
                Ok(n) => seen.extend_from_slice(&piece[..n]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// 1 GB of zeros, packed: one packed piece of 10 MB, again and again.
fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let piece = encoder
        .write_all(&vec![0; 10 << 20])
        .and_then(|()| encoder.finish())
        .expect("writing to memory does not fail");
    piece.repeat(102)
}
