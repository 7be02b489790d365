//! MariaDB and MySQL, over a socket.

mod connection;
mod refusal;
mod value;

pub(super) use connection::MariaDbDatabase;
pub(crate) use refusal::refusal;
