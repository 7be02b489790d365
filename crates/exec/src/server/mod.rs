//! Database servers of our own: started in a temporary directory, on loopback,
//! on a free port, as a user without rights, and gone afterwards, also when
//! this process is killed.

mod account;
pub(crate) mod guarded;
mod left_out;
mod mariadb;
mod postgres;
mod program;
mod running;

pub use left_out::{REQUIRE_SERVERS, or_left_out};
pub use program::find as find_program;
pub use running::{Server, ServerError, shared, start};
