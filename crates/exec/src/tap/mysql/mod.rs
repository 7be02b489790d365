//! The MySQL protocol, as far as statements are concerned.
//!
//! `Session` pairs commands with answers; `packets` cuts bytes, `greeting` is what client and
//! server agree on first, `value` reads what is bound.

mod failure;
mod greeting;
mod packets;
mod session;
mod value;

pub(super) use session::Session;
pub(super) use value::Values;
