//! Calls to a service over HTTP: one client, kept-alive connections, bounded in
//! time and in memory, and every misbehaviour of the service a value.
//!
//! [`Client::call`] never panics and never fails: whatever the other side does,
//! there is an [`CallOutcome`]. What a caller must decide is left to the caller:
//! cookies, authentication, and whether a redirection is followed.

mod body;
mod call;
mod client;
mod pool;
mod request;
mod retry_after;
mod tls;

pub use call::{BodyCompleteness, Call, CallFailure, CallOutcome, Response};
pub use client::{Client, ClientConfig};
pub use request::Request;

pub use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
pub use bytes::Bytes;
