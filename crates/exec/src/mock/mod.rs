//! Stands for the services that a service calls.
//!
//! [`MockServer`] listens on loopback where the service believes others to be, one [`MockEndpoint`] each,
//! or as the proxy through which it calls them. It answers from what was prepared for the candidate that runs
//! ([`MockStub`]) and keeps every call that it saw ([`ReceivedCall`]). Nothing is ever passed on: a call that nobody
//! prepared an answer for gets [`DEFAULT_BODY`].
//!
//! Reading order: `stubs` for which answer is whose, which knows no sockets, then `server`.

mod server;
mod stubs;

pub use server::{MockEndpoint, MockServer, MockServerError};
pub use stubs::{DEFAULT_BODY, MockReply, MockStub, ReceivedCall, path_matches};
