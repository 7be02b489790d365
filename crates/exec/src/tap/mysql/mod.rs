//! The protocol of MySQL and MariaDB, as far as statements are concerned.
//!
//! `Conversation` pairs commands with answers; `packets` cuts bytes, `greeting` is what client and
//! server agree on first, `value` reads what is bound.

mod conversation;
mod failure;
mod greeting;
mod packets;
mod value;

pub(super) use conversation::Conversation;
pub(super) use value::Values;
