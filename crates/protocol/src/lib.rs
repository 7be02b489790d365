//! The protocol between the core and a driver inside the system under test.
//!
//! Two planes on one host. Scores of targets go through a [`CoverageMap`] in shared
//! memory: a driver stores them without a lock, an allocation or a system call,
//! and the core reads what was touched. Everything else (who is there, which
//! targets exist, SQL, tracked inputs, panics, commands) goes through a Unix
//! socket as length-prefixed [`Event`]s and [`Command`]s.
//!
//! This crate has no dependencies, because it is linked into systems under test.
//! It does not know what a test, a gene or a statement means, and it opens no
//! socket: [`channel`] reads and writes whatever stream it is given. The page
//! `docs/protocol.md` is for those who write a driver; a test keeps its tables
//! equal to the code.
//!
//! # Reading order
//!
//! [`CoverageMap`] for the scores, [`message`] for what is said, [`channel`] for how it
//! travels, [`wire`] for the bytes. `memory` is the only place with unsafe code.
//!
//! # Example
//!
//! ```
//! use isobath_protocol::{Event, channel};
//!
//! # fn main() -> Result<(), isobath_protocol::ChannelError> {
//! let mut pipe = Vec::new();
//! channel::send(&mut pipe, &Event::Synced { token: 7 })?;
//! let event: Event = channel::receive(&mut pipe.as_slice())?;
//! assert_eq!(event, Event::Synced { token: 7 });
//! # Ok(())
//! # }
//! ```

#![deny(clippy::indexing_slicing)]

pub mod message;
pub mod channel;
pub mod wire;
mod memory;

mod map;
mod target;

pub use channel::ChannelError;
pub use map::{COVERED, CoverageMap, MapError, ReachedTarget, distance, score};
pub use message::{Command, Event, InputLocation, InputUse, VERSION};
pub use target::{Target, TargetKind, TargetTable};
