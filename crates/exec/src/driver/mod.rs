//! The core's side of a driver: where it connects, and what it tells.
//!
//! [`Listener`] waits for the driver inside a service; the service is started
//! with its [`variables`](Listener::variables) in the environment. [`Driver`] is
//! the connection: candidates and actions begin, targets are read, events come.

mod connection;
mod listener;
mod stream;

pub use connection::{Driver, DriverError, Rows};
pub use listener::Listener;

pub use isobath_protocol::{Event, Kind, Place, Reached, Role, Table, Target};
