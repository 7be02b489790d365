//! Observes the SQL that a service sends to its database, on the wire.
//!
//! [`Tap`] listens where the service believes its database to be, and passes every byte on as it
//! comes. Meanwhile it reads along: a [`Statement`] is known with its values, its rows and its
//! failure, and with the action during which it was sent. What it does not understand is passed on,
//! too, and counted.
//!
//! Reading order: [`Tap`], then `relay` for how bytes pass, `record` for what is kept, and the
//! conversations of `postgres` and `mysql`, which know no sockets. [`environment`] is how a
//! service is pointed at the tap.

pub mod environment;
mod listener;
mod mysql;
mod postgres;
mod reader;
mod record;
mod relay;
mod replay;
mod statement;

pub use listener::{Counts, Tap, TapError};
pub use replay::{Sender, replay};
pub use statement::{RowEffect, Statement};

use record::Recorded;

/// One connection between a service and its database, as bytes that pass in two directions.
///
/// Implementors: PostgreSQL and MySQL. Bytes may come in any pieces. Whatever they are, they are
/// passed on; a conversation that is not understood any more is passed on unseen.
pub(crate) trait Session: Send {
    /// Bytes of the service, sent at this moment of the run.
    fn on_client_bytes(&mut self, bytes: &[u8], stamp: u64) -> Forwarded;

    /// Bytes of the database.
    fn on_server_bytes(&mut self, bytes: &[u8]) -> Forwarded;

    /// Moves statements that were answered, and what else is worth saying, to the end of `observed`.
    fn drain_into(&mut self, observed: &mut Observed);

    /// Statements that wait for their answers.
    fn unanswered(&self) -> Vec<Recorded>;

    /// The service ended the connection.
    fn client_left(&mut self) {}

    /// How to tell the service, in its protocol, that there is no database; `None` until it has said enough.
    fn unavailable_reply(&mut self, why: &str) -> Option<Vec<u8>>;
}

/// What is done with bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Forwarded {
    /// What is passed on in place of them, if not they themselves.
    pub(crate) forward: Option<Vec<u8>>,
    /// What is said to whoever sent them.
    pub(crate) back: Vec<u8>,
}

/// What a conversation has to tell.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Statements that were answered.
    pub(crate) statements: Vec<Recorded>,
    /// Messages that were not understood.
    pub(crate) not_understood: u64,
    /// What the user should know.
    pub(crate) warnings: Vec<String>,
}

/// The longest part of a message that is kept; texts and values beyond are cut, and passed on whole.
pub(crate) const LONGEST: usize = 1 << 20;

/// What a user should know when a connection is encrypted.
pub(crate) const ENCRYPTED: &str = "a connection to the database is encrypted and passed on unseen; switch TLS off for the test database (sslmode=disable, ssl-mode=DISABLED)";
/// What a user should know when a client leaves because it wants encryption.
pub(crate) const WANTS_ENCRYPTION: &str = "a client left after it was told that there is no TLS; switch TLS off for the test database (sslmode=disable, ssl-mode=DISABLED)";
