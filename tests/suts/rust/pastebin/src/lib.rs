//! A paste bin: pieces of text with a syntax, a date of expiry, versions, forks and passwords.
//!
//! Made to be instrumented and tested: everything is kept in SQLite in memory unless told
//! otherwise, and `POST /reset` (when enabled) takes everything out.
//!
//! # Reading order
//!
//! [`config`] for what can be set, `service` for the routes and what they share, `pastes` for the
//! resource, `problem` for how refusals look.

mod access;
mod diff;
mod expiry;
mod id;
mod language;
mod lines;
mod models;
mod pastes;
mod problem;
mod rate;
mod schema;
mod search;
mod secret;
mod service;
mod sizes;
mod stats;
mod store;

pub mod config;

pub use service::{Clock, OPENAPI, Shared, app, spawn_sweeping};
pub use sizes::future_sizes;
