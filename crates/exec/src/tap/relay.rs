//! Bytes that pass between a service and its database.
//!
//! Two threads per connection, one per direction, each of them reading, listening and writing in
//! turns: measured against one loop over all connections, this costs a call of the system less per
//! message, and no connection waits for another. Bytes are listened to before they are passed on, so
//! that whoever has an answer in hands also finds the statement recorded.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::tapped::Recorder;
use super::{Conversation, Passed};

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// The threads do little, and there may be many of them.
const STACK: usize = 256 << 10;

/// A connection that passes.
pub(super) struct Link {
    pub(super) conversation: Mutex<Box<dyn Conversation>>,
    client: TcpStream,
    server: TcpStream,
}

/// Whose bytes.
#[derive(Clone, Copy)]
enum Side {
    Client,
    Server,
}

impl Link {
    /// A connection between two ends.
    pub(super) fn new(
        client: TcpStream,
        server: TcpStream,
        conversation: Box<dyn Conversation>,
    ) -> io::Result<Self> {
        // A small message must not wait for more.
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
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
        for side in [Side::Client, Side::Server] {
            let (link, recorder) = (Arc::clone(self), Arc::clone(recorder));
            let started = thread::Builder::new()
                .name("tap".into())
                .stack_size(STACK)
                .spawn(move || {
                    let end = link.pass(side, &recorder);
                    recorder.ended(&link, matches!(side, Side::Client), end.err());
                    link.cut();
                });
            if let Err(error) = started {
                self.cut();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Passes the bytes of one side on until it has no more.
    fn pass(&self, side: Side, recorder: &Recorder) -> io::Result<()> {
        let (mut from, mut to) = match side {
            Side::Client => (&self.client, &self.server),
            Side::Server => (&self.server, &self.client),
        };
        let mut chunk = vec![0; CHUNK];
        loop {
            let length = match from.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = &chunk[..length];
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
            if !back.is_empty() {
                from.write_all(&back)?;
            }
            to.write_all(onward.as_deref().unwrap_or(bytes))?;
        }
    }
}
