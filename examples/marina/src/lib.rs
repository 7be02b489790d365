//! A small harbor's booking service: boats, berths, bookings, invoices, notices.
//!
//! It is the service that `isobath rest` is shown on and measured by. It keeps
//! its state in SQLite, has users with a login, and carries the faults listed in
//! [`Fault`], each of a different kind. Without faults it does exactly what its
//! OpenAPI document says, so that it also shows whom an oracle must not accuse.
//!
//! # Reading order
//!
//! [`Fault`], then [`router`], then the handlers, one module per resource.

mod fault;

mod auth;
mod berths;
mod boats;
mod bookings;
mod input;
mod invoices;
mod notices;
mod problem;
mod reports;
mod service;
mod store;

pub use fault::{Fault, Faults};
pub use service::{Running, router, serve, start, start_on};

/// The service's OpenAPI document, as it is served at `/openapi.yaml`.
pub const OPENAPI: &str = include_str!("../openapi.yaml");
