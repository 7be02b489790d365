//! The core's side of the driver protocol.
//!
//! [`Listener`] waits for the driver inside a service; the service is started
//! with its [`variables`](Listener::variables) in the environment. [`Driver`] is
//! the connection: candidates and actions begin, targets are read, events come.
//! [`SharedDriver`] is one that also the database behind it is reached through.

mod connection;
mod folder;
mod listener;
mod shared;
mod stream;

pub use connection::{Driver, DriverError, TextRows};
pub use listener::Listener;
pub use shared::{CurrentDriver, SharedDriver};

pub use isobath_protocol::{
    Event, InputLocation, InputUse, ReachedTarget, Target, TargetKind, TargetTable, distance,
};
