//! Database servers of our own: started in a temporary directory, on loopback,
//! on a free port, as a user without rights, and gone afterwards, also when
//! this process is killed.

mod account;
pub(crate) mod child_process;
mod mariadb;
mod postgres;
mod program;
mod running;
mod skip;

pub use program::find as find_program;
pub use running::{Server, ServerError, shared, start};
pub use skip::{REQUIRE_SERVERS, or_skip};
