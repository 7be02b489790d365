//! The protocol of PostgreSQL, version 3, as far as statements are concerned.
//!
//! `Conversation` pairs what a client sends with what the server answers; `frames` cuts bytes into
//! messages, `startup` is what comes before the first of them, `value` reads what is bound.

mod conversation;
mod failure;
mod frames;
mod startup;
mod value;

pub(super) use conversation::Conversation;
pub(super) use value::Values;
