//! Tests on real databases, in one program so that each server starts once.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod answers;
mod catalog;
mod copies;
mod engines;
mod failures;
mod isolated;
mod servers;
mod state;
mod tap;
mod values;
