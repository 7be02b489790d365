//! A blog of many authors: users follow each other, write articles with tags, comment on them,
//! mark favorites and report what should not be there.
//!
//! Made to be instrumented and tested: everything is kept in SQLite in memory unless told
//! otherwise, and `POST /reset` (when enabled) brings the first rows back.
//!
//! # Reading order
//!
//! [`config`] for what can be set, `app` for the routes and what they share, `articles` for the
//! largest of the resources, `error` for how refusals look.

mod app;
mod articles;
mod auth;
mod comments;
mod error;
mod favorites;
mod input;
mod limit;
mod page;
mod profiles;
mod reports;
mod sizes;
mod slug;
mod store;
mod tags;
mod trending;
mod users;
mod validate;

pub mod clock;
pub mod config;

pub use app::{App, OPENAPI, router};
pub use sizes::future_sizes;
