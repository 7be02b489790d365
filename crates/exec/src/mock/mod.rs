//! Mocks of the external services that the service under test calls.
//!
//! [`MockServer`] listens on loopback where the service expects the external services, one [`MockEndpoint`] each,
//! or as the proxy through which it calls them. It responds with the stubs of the current candidate
//! ([`MockStub`]) and records every call ([`ReceivedCall`]). Nothing is ever forwarded: a call without
//! a matching stub gets [`DEFAULT_BODY`].
//!
//! Reading order: `stubs`, which knows no sockets, then `server`.

mod server;
mod stubs;

pub use server::{MockEndpoint, MockServer, MockServerError};
pub use stubs::{DEFAULT_BODY, MockReply, MockStub, ReceivedCall, path_matches};
