//! Replays recorded bytes through the tap, for tests and fuzzing.

use isobath_sql::DialectName;

use super::record::Recorded;
use super::statement::Statement;
use super::{Observed, Session, mysql, postgres};

/// Who sent bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The service.
    Client,
    /// The database.
    Server,
}

/// The statements of a connection whose bytes were written down, in whatever pieces; for tests and fuzzing.
///
/// Only PostgreSQL and MySQL have a wire; of others there is nothing to hear.
pub fn replay<'a>(
    dialect: DialectName,
    pieces: impl IntoIterator<Item = (Sender, &'a [u8])>,
) -> Vec<Statement> {
    let mut session: Box<dyn Session> = match dialect {
        DialectName::Postgres => Box::new(postgres::Session::default()),
        DialectName::MySql => Box::new(mysql::Session::default()),
        DialectName::Ansi | DialectName::Sqlite => return Vec::new(),
    };
    for (sender, bytes) in pieces {
        match sender {
            Sender::Client => session.on_client_bytes(bytes, 0),
            Sender::Server => session.on_server_bytes(bytes),
        };
    }
    let mut observed = Observed::default();
    session.drain_into(&mut observed);
    observed.statements.extend(session.unanswered());
    observed.statements.iter().map(Recorded::read).collect()
}
