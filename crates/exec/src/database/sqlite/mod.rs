//! SQLite, linked into the program.

mod connection;
mod refusal;

pub(crate) use connection::SqliteDatabase;
pub(crate) use refusal::from_message;
