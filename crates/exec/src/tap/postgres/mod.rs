//! The protocol of PostgreSQL, version 3, as far as statements are concerned.
//!
//! `Session` pairs what a client sends with what the server answers; `frames` cuts bytes into
//! messages, `startup` is what comes before the first of them, `value` reads what is bound.

mod failure;
mod frames;
mod session;
mod startup;
mod value;

pub(super) use session::Session;
pub(super) use value::Values;
