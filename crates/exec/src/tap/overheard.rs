//! What a tap makes of bytes that were written down.

use isobath_sql::DialectName;

use super::record::Recorded;
use super::statement::Statement;
use super::{Conversation, Heard, mysql, postgres};

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
pub fn overheard<'a>(
    dialect: DialectName,
    pieces: impl IntoIterator<Item = (Sender, &'a [u8])>,
) -> Vec<Statement> {
    let mut conversation: Box<dyn Conversation> = match dialect {
        DialectName::Postgres => Box::new(postgres::Conversation::default()),
        DialectName::MySql => Box::new(mysql::Conversation::default()),
        DialectName::Ansi | DialectName::Sqlite => return Vec::new(),
    };
    for (sender, bytes) in pieces {
        match sender {
            Sender::Client => conversation.client_says(bytes, 0),
            Sender::Server => conversation.server_says(bytes),
        };
    }
    let mut heard = Heard::default();
    conversation.tell(&mut heard);
    heard.statements.extend(conversation.unanswered());
    heard.statements.iter().map(Recorded::read).collect()
}
