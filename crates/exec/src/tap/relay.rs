//! Relays bytes between a service and its database.
//!
//! One thread per connection, for both directions. Whoever spoke is likely to be answered in a
//! moment, so the thread looks again for that moment before it sleeps: to be woken takes longer than most
//! statements do. Bytes are listened to before they are passed on, so that whoever has an answer in hands also finds
//! the statement recorded.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::listener::Recorder;
use super::{Forwarded, Session};

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// The threads do little, and there may be many of them.
const STACK: usize = 256 << 10;
/// How long a connection over which bytes passed is looked at before its thread sleeps.
const TIMEOUT: Duration = Duration::from_micros(200);

/// A connection that passes.
pub(super) struct RelayedConnection {
    pub(super) session: Mutex<Box<dyn Session>>,
    client: TcpStream,
    server: TcpStream,
}

/// Who speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Bytes that one side could not take yet.
#[derive(Default)]
struct PendingBytes {
    bytes: Vec<u8>,
    paid: usize,
}

impl PendingBytes {
    fn is_empty(&self) -> bool {
        self.paid == self.bytes.len()
    }

    /// Writes what can be written now.
    fn flush(&mut self, mut to: &TcpStream) -> io::Result<()> {
        while !self.is_empty() {
            match now(|| to.write(self.bytes.get(self.paid..).unwrap_or_default()))? {
                Some(0) => return Err(io::ErrorKind::WriteZero.into()),
                Some(length) => self.paid += length,
                None => return Ok(()),
            }
        }
        self.bytes.clear();
        self.paid = 0;
        Ok(())
    }

    /// Writes these bytes after those that are owed, or owes them, too.
    fn add(&mut self, mut bytes: &[u8], mut to: &TcpStream) -> io::Result<()> {
        while self.is_empty() && !bytes.is_empty() {
            match now(|| to.write(bytes))? {
                Some(0) => return Err(io::ErrorKind::WriteZero.into()),
                Some(length) => bytes = bytes.get(length..).unwrap_or_default(),
                None => break,
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

/// What can be done without waiting.
fn now(mut work: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match work() {
            Ok(length) => return Ok(Some(length)),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(None),
                io::ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
}

/// What one look at a side came to.
enum PollResult {
    /// Bytes passed.
    Forwarded,
    /// There was nothing, or the other side cannot take more.
    Nothing,
    /// It has no more.
    Ended,
}

impl RelayedConnection {
    /// A connection between two ends.
    pub(super) fn new(
        client: TcpStream,
        server: TcpStream,
        session: Box<dyn Session>,
    ) -> io::Result<Self> {
        for end in [&client, &server] {
            // A small message must not wait for more.
            end.set_nodelay(true)?;
            end.set_nonblocking(true)?;
        }
        Ok(Self {
            session: Mutex::new(session),
            client,
            server,
        })
    }

    /// Ends the connection.
    pub(super) fn cut(&self) {
        // One that is closed already is as it should be.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    /// Lets bytes pass until either side ends the connection.
    pub(super) fn run(self: &Arc<Self>, recorder: &Arc<Recorder>) -> io::Result<()> {
        let (link, recorder) = (Arc::clone(self), Arc::clone(recorder));
        thread::Builder::new()
            .name("tap".into())
            .stack_size(STACK)
            .spawn(move || {
                let (by, end) = link.pass(&recorder);
                recorder.ended(&link, by == Side::Client, end.err());
                link.cut();
            })
            .map(drop)
            .inspect_err(|_| self.cut())
    }

    /// Passes bytes on until a side has no more; who that was, and whether it broke.
    fn pass(&self, recorder: &Recorder) -> (Side, io::Result<()>) {
        let mut chunk = vec![0; CHUNK];
        let mut owed = [PendingBytes::default(), PendingBytes::default()];
        let mut side = Side::Client;
        let mut spoke = Instant::now();
        // How many sides in a row had nothing to say.
        let mut silent = 0;
        loop {
            match self.poll(side, &mut chunk, &mut owed, recorder) {
                Ok(PollResult::Forwarded) => {
                    spoke = Instant::now();
                    silent = 0;
                }
                Ok(PollResult::Nothing) => silent += 1,
                Ok(PollResult::Ended) => return (side, Ok(())),
                Err(error) => return (side, Err(error)),
            }
            side = side.other();
            if silent < 2 {
                continue;
            }
            if spoke.elapsed() < TIMEOUT {
                // Whoever can do something meanwhile shall.
                thread::yield_now();
            } else {
                let woken;
                (side, woken) = self.wait(&owed);
                if let Err(error) = woken {
                    return (side, Err(error));
                }
                silent = 0;
            }
        }
    }

    /// The socket of a side.
    fn end(&self, side: Side) -> &TcpStream {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// Passes on what a side says now, when the other one can take it.
    fn poll(
        &self,
        side: Side,
        chunk: &mut [u8],
        owed: &mut [PendingBytes; 2],
        recorder: &Recorder,
    ) -> io::Result<PollResult> {
        let (mut from, to) = (self.end(side), self.end(side.other()));
        let [owed_client, owed_server] = owed;
        let (onwards, backwards) = match side {
            Side::Client => (owed_server, owed_client),
            Side::Server => (owed_client, owed_server),
        };
        onwards.flush(to)?;
        if !onwards.is_empty() {
            return Ok(PollResult::Nothing);
        }
        let bytes = match now(|| from.read(chunk))? {
            None => return Ok(PollResult::Nothing),
            Some(0) => return Ok(PollResult::Ended),
            Some(length) => chunk.get(..length).unwrap_or_default(),
        };
        let Forwarded { forward, back } = {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            let passed = match side {
                Side::Client => session.on_client_bytes(bytes, recorder.now()),
                Side::Server => session.on_server_bytes(bytes),
            };
            recorder.listen(&mut **session);
            passed
        };
        onwards.add(forward.as_deref().unwrap_or(bytes), to)?;
        if !back.is_empty() {
            backwards.add(&back, from)?;
        }
        Ok(PollResult::Forwarded)
    }

    /// Sleeps until a side speaks or can take what it is owed; whom to look at first, and whether it broke.
    fn wait(&self, owed: &[PendingBytes; 2]) -> (Side, io::Result<()>) {
        let [owed_client, owed_server] = owed;
        // A side is not listened to while the other one cannot take more.
        let interest = |mine: &PendingBytes, others: &PendingBytes| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::OUT, !mine.is_empty());
            flags.set(PollFlags::IN, others.is_empty());
            flags
        };
        let mut ends = [
            PollFd::new(&self.client, interest(owed_client, owed_server)),
            PollFd::new(&self.server, interest(owed_server, owed_client)),
        ];
        while let Err(error) = poll(&mut ends, None) {
            if error != rustix::io::Errno::INTR {
                return (Side::Client, Err(error.into()));
            }
        }
        let [client, server] = ends.map(|end| end.revents());
        let gone = PollFlags::HUP | PollFlags::ERR;
        // What is listened to tells by itself that it is gone, after its last bytes.
        if client.intersects(gone) && !owed_server.is_empty() {
            (Side::Client, Err(io::ErrorKind::ConnectionReset.into()))
        } else if server.intersects(gone) && !owed_client.is_empty() {
            (Side::Server, Err(io::ErrorKind::ConnectionReset.into()))
        } else if server.contains(PollFlags::IN) || client.contains(PollFlags::OUT) {
            (Side::Server, Ok(()))
        } else {
            (Side::Client, Ok(()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::tap::postgres;

    /// A connection to a server of one client, through a link.
    fn linked(serve: impl FnOnce(TcpStream) + Send + 'static) -> TcpStream {
        let listen = || TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let (outer, inner) = (listen(), listen());
        let at = |listener: &TcpListener| listener.local_addr().expect("it listens");
        let client = TcpStream::connect(at(&outer)).expect("it listens");
        let server = TcpStream::connect(at(&inner)).expect("it listens");
        let (taken, _) = outer.accept().expect("somebody connected");
        let (served, _) = inner.accept().expect("somebody connected");
        let session = Box::new(postgres::Session::default());
        let link = RelayedConnection::new(taken, server, session).expect("both ends are open");
        Arc::new(link)
            .run(&Arc::new(Recorder::default()))
            .expect("a thread more");
        thread::spawn(move || serve(served));
        for way in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
            way(&client, Some(Duration::from_secs(20))).expect("not zero");
        }
        client
    }

    #[test]
    fn both_sides_may_say_more_than_the_other_one_takes_at_once() {
        const LENGTH: usize = 24 << 20;
        let client = linked(|mut echo| {
            let mut from = echo.try_clone().expect("a socket more");
            let _ = io::copy(&mut from, &mut echo);
        });
        let said: Vec<u8> = (0..LENGTH).map(|at| (at * 31 / 7) as u8).collect();
        let mut observed = vec![0; LENGTH];
        thread::scope(|scope| {
            let writes = scope.spawn(|| (&client).write_all(&said));
            (&client)
                .read_exact(&mut observed)
                .expect("all of it returns");
            writes
                .join()
                .expect("no panic")
                .expect("all of it is taken");
        });
        assert!(said == observed, "bytes are the same in the same order");
    }

    #[test]
    fn what_a_side_said_last_arrives_before_its_end() {
        let client = linked(|mut server| {
            let last = vec![7; 4 << 20];
            server.write_all(&last).expect("the client reads");
        });
        let mut observed = Vec::new();
        (&client).read_to_end(&mut observed).expect("the end comes");
        assert_eq!(observed.len(), 4 << 20);
    }

    #[test]
    fn a_client_that_is_gone_ends_the_connection_to_the_server() {
        let (drain_into, told) = std::sync::mpsc::channel();
        let client = linked(move |mut server| {
            let mut observed = Vec::new();
            let _ = server.read_to_end(&mut observed);
            let _ = drain_into.send(observed);
        });
        (&client).write_all(b"last words").expect("it is open");
        drop(client);
        let observed = told.recv_timeout(Duration::from_secs(20));
        assert_eq!(observed.expect("the server is told"), b"last words");
    }
}
