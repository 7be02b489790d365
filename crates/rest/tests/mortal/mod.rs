//! A service that crashes like a process: it stops listening and closes all connections.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A service that answers well until it dies.
pub(crate) struct Mortal {
    address: SocketAddr,
    cause: Cause,
    life: Mutex<Option<Life>>,
}

#[derive(Clone, Copy)]
enum Cause {
    /// Dies in place of a response to this method.
    Method(&'static str),
    /// Dies after so many answers.
    Age(usize),
}

struct Life {
    over: Arc<Over>,
    acceptor: JoinHandle<()>,
}

/// What stops the service.
#[derive(Default)]
struct Over {
    is_over: AtomicBool,
    answers: AtomicUsize,
    connections: Mutex<Vec<TcpStream>>,
}

const FINE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"id\":1}";

impl Mortal {
    /// One that dies when it is called with this method.
    pub(crate) fn dying_of(method: &'static str) -> Self {
        Self::new(Cause::Method(method))
    }

    /// One that dies after so many answers.
    pub(crate) fn dying_after(answers: usize) -> Self {
        Self::new(Cause::Age(answers))
    }

    fn new(cause: Cause) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let mortal = Self {
            address: listener.local_addr().expect("it is bound"),
            cause,
            life: Mutex::new(None),
        };
        mortal.live(listener);
        mortal
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Brings it back.
    pub(crate) fn rise(&self) {
        self.end();
        let listener = TcpListener::bind(self.address).expect("its port is free again");
        self.live(listener);
    }

    fn live(&self, listener: TcpListener) {
        let over = Arc::new(Over::default());
        let (inside, cause, address) = (Arc::clone(&over), self.cause, self.address);
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if inside.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let kept = stream.try_clone().expect("a second handle");
                inside.connections.lock().expect("no panic").push(kept);
                let inside = Arc::clone(&inside);
                thread::spawn(move || inside.serve(stream, cause, address));
            }
        });
        *self.life.lock().expect("no panic") = Some(Life { over, acceptor });
    }

    fn end(&self) {
        if let Some(life) = self.life.lock().expect("no panic").take() {
            life.over.die(self.address);
            let _ = life.acceptor.join();
        }
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.end();
    }
}

impl Over {
    fn serve(&self, mut stream: TcpStream, cause: Cause, address: SocketAddr) {
        let mut seen = Vec::new();
        let mut piece = [0; 4096];
        loop {
            match stream.read(&mut piece) {
                Ok(n) if n > 0 => seen.extend_from_slice(&piece[..n]),
                _ => return,
            }
            let Some(head) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
                continue;
            };
            let text = String::from_utf8_lossy(&seen[..head]).to_ascii_lowercase();
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
                .unwrap_or(0);
            if seen.len() < head + 4 + length {
                continue;
            }
            let answers = self.answers.fetch_add(1, Ordering::SeqCst) + 1;
            match cause {
                Cause::Method(method) if seen.starts_with(method.as_bytes()) => {
                    return self.die(address);
                }
                Cause::Age(most) if answers >= most => {
                    let _ = stream.write_all(FINE);
                    return self.die(address);
                }
                _ => {}
            }
            seen.clear();
            if stream.write_all(FINE).is_err() {
                return;
            }
        }
    }

    /// Closes the listener first, as the end of a process does, and then every connection.
    fn die(&self, address: SocketAddr) {
        if !self.is_over.swap(true, Ordering::SeqCst) {
            // Wakes the acceptor, and waits until it has let go of the port.
            let _ = TcpStream::connect(address);
            while TcpStream::connect(address).is_ok() {
                thread::yield_now();
            }
        }
        for connection in self.connections.lock().expect("no panic").drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}
