//! Bytes that pass between a service and its database.
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

use super::tapped::Recorder;
use super::{Conversation, Passed};

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// The threads do little, and there may be many of them.
const STACK: usize = 256 << 10;
/// How long a connection over which bytes passed is looked at before its thread sleeps.
const PATIENCE: Duration = Duration::from_micros(200);

/// A connection that passes.
pub(super) struct Link {
    pub(super) conversation: Mutex<Box<dyn Conversation>>,
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
struct Owed {
    bytes: Vec<u8>,
    paid: usize,
}

impl Owed {
    fn is_empty(&self) -> bool {
        self.paid == self.bytes.len()
    }

    /// Writes what can be written now.
    fn pay(&mut self, mut to: &TcpStream) -> io::Result<()> {
        while !self.is_empty() {
            match now(|| to.write(&self.bytes[self.paid..]))? {
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
                Some(length) => bytes = &bytes[length..],
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
enum Looked {
    /// Bytes passed.
    Passed,
    /// There was nothing, or the other side cannot take more.
    Nothing,
    /// It has no more.
    Ended,
}

impl Link {
    /// A connection between two ends.
    pub(super) fn new(
        client: TcpStream,
        server: TcpStream,
        conversation: Box<dyn Conversation>,
    ) -> io::Result<Self> {
        for end in [&client, &server] {
            // A small message must not wait for more.
            end.set_nodelay(true)?;
            end.set_nonblocking(true)?;
        }
        Ok(Self {
            conversation: Mutex::new(conversation),
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
        let mut owed = [Owed::default(), Owed::default()];
        let mut side = Side::Client;
        let mut spoke = Instant::now();
        // How many sides in a row had nothing to say.
        let mut silent = 0;
        loop {
            match self.look(side, &mut chunk, &mut owed, recorder) {
                Ok(Looked::Passed) => {
                    spoke = Instant::now();
                    silent = 0;
                }
                Ok(Looked::Nothing) => silent += 1,
                Ok(Looked::Ended) => return (side, Ok(())),
                Err(error) => return (side, Err(error)),
            }
            side = side.other();
            if silent < 2 {
                continue;
            }
            if spoke.elapsed() < PATIENCE {
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
    fn look(
        &self,
        side: Side,
        chunk: &mut [u8],
        owed: &mut [Owed; 2],
        recorder: &Recorder,
    ) -> io::Result<Looked> {
        let (mut from, to) = (self.end(side), self.end(side.other()));
        let onwards = &mut owed[side.other() as usize];
        onwards.pay(to)?;
        if !onwards.is_empty() {
            return Ok(Looked::Nothing);
        }
        let bytes = match now(|| from.read(chunk))? {
            None => return Ok(Looked::Nothing),
            Some(0) => return Ok(Looked::Ended),
            Some(length) => &chunk[..length],
        };
        let Passed { onward, back } = {
            let mut conversation = self
                .conversation
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let passed = match side {
                Side::Client => conversation.client_says(bytes, recorder.now()),
                Side::Server => conversation.server_says(bytes),
            };
            recorder.listen(&mut **conversation);
            passed
        };
        onwards.add(onward.as_deref().unwrap_or(bytes), to)?;
        if !back.is_empty() {
            owed[side as usize].add(&back, from)?;
        }
        Ok(Looked::Passed)
    }

    /// Sleeps until a side speaks or can take what it is owed; whom to look at first, and whether it broke.
    fn wait(&self, owed: &[Owed; 2]) -> (Side, io::Result<()>) {
        let [owed_client, owed_server] = owed;
        // A side is not listened to while the other one cannot take more.
        let interest = |mine: &Owed, others: &Owed| {
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
        let conversation = Box::new(postgres::Conversation::default());
        let link = Link::new(taken, server, conversation).expect("both ends are open");
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
        let mut heard = vec![0; LENGTH];
        thread::scope(|scope| {
            let writes = scope.spawn(|| (&client).write_all(&said));
            (&client).read_exact(&mut heard).expect("all of it returns");
            writes
                .join()
                .expect("no panic")
                .expect("all of it is taken");
        });
        assert!(said == heard, "bytes are the same in the same order");
    }

    #[test]
    fn what_a_side_said_last_arrives_before_its_end() {
        let client = linked(|mut server| {
            let last = vec![7; 4 << 20];
            server.write_all(&last).expect("the client reads");
        });
        let mut heard = Vec::new();
        (&client).read_to_end(&mut heard).expect("the end comes");
        assert_eq!(heard.len(), 4 << 20);
    }

    #[test]
    fn a_client_that_is_gone_ends_the_connection_to_the_server() {
        let (tell, told) = std::sync::mpsc::channel();
        let client = linked(move |mut server| {
            let mut heard = Vec::new();
            let _ = server.read_to_end(&mut heard);
            let _ = tell.send(heard);
        });
        (&client).write_all(b"last words").expect("it is open");
        drop(client);
        let heard = told.recv_timeout(Duration::from_secs(20));
        assert_eq!(heard.expect("the server is told"), b"last words");
    }
}
