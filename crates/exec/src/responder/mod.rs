//! Stands for the services that a service calls.
//!
//! [`Responder`] listens on loopback where the service believes others to be, one [`Station`] each,
//! or as the proxy through which it calls them. It answers from what was prepared for the candidate that runs
//! ([`Prepared`]) and keeps every call that it saw ([`Outgoing`]). Nothing is ever passed on: a call that nobody
//! prepared an answer for gets [`DEFAULT_BODY`].
//!
//! Reading order: `book` for which answer is whose, which knows no sockets, then `serve`.

mod book;
mod serve;

pub use book::{DEFAULT_BODY, Outgoing, Prepared, Reply, path_fits};
pub use serve::{Responder, ResponderError, Station};
