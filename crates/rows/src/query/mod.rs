//! The query job: the smallest rows that exercise every part of a query.
//!
//! A coverage [`target`] is a query that must return a row. A [`candidate`] brings rows and values
//! of parameters ([`parameter`]). [`construct`] builds one from the target's conditions or proves
//! that there is none; `search` looks for one; `archive` keeps what was found. [`job`] does all
//! targets of a query by an [`algorithm`] and hands over [`fixture`]s, or ends early ([`stop`]); [`confirm`] asks a real engine.
//!
//! [`cover`] does all of this for a query of an input, from its text to confirmed fixtures.
//!
//! [`print`](mod@print) makes a suite of what was found, [`overview`](mod@overview) what a report shows of it,
//! and [`check`](mod@check) runs stored tests against a changed query.

pub mod algorithm;
mod archive;
pub mod candidate;
pub mod check;
pub mod confirm;
pub mod construct;
pub mod cover;
pub mod fixture;
pub mod job;
mod minimize;
pub mod mutation;
pub mod overview;
pub mod parameter;
pub mod placeholders;
pub mod print;
mod search;
pub mod stop;
pub mod target;
mod unread;

#[cfg(test)]
mod tests;
