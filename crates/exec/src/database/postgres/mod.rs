//! PostgreSQL, over a socket.

mod connection;
mod refusal;
mod value;

pub(super) use connection::PostgresDatabase;
pub(crate) use refusal::{ErrorFields, refusal};
pub(crate) use value::decoded;
