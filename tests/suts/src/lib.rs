//! Micro services, one feature or fault each, that tests run the product against.
//!
//! Each runs in a thread of its own, on a free port of this machine, until what
//! `start` returned is dropped. A service with a planted fault has a correct
//! twin (`start_correct`) that no oracle may accuse.
//!
//! This crate knows nothing of the product.
//!
//! # Reading order
//!
//! [`Running`], then [`ALL`] for what there is, then any service; [`bad_day`]
//! for services that hardly speak HTTP.

mod running;
pub mod bad_day;

pub mod accounts;
mod api;
pub mod breakdowns;
mod catalogue;
pub mod faults;
pub mod features;
pub mod gossip;
pub mod lasting;
pub mod links;
pub mod papers;
pub mod parcels;
pub mod password;
pub mod renaming;
pub mod rows;
pub mod sealed;
mod store;
pub mod stored;
pub mod terse;
pub mod unusual;
pub mod wide;
pub mod wired;

pub use catalogue::{ALL, Sut, UNUSUAL};
pub use running::{Journal, Ran, Running};
