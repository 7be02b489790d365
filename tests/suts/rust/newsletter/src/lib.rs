//! Mailing lists: people subscribe and confirm, editors write campaigns from templates, and a
//! dispatcher sends them when their time has come.
//!
//! Made to be instrumented and tested: mail goes to an outbox in the process, everything is kept
//! in SQLite in memory unless told otherwise, and `POST /reset` (when enabled) starts afresh.
//!
//! # Reading order
//!
//! [`config`] for what can be set, `app` for the routes and what they share, `campaigns` and
//! `dispatch` for what the service is about, `template` for the language of templates.

mod address;
mod app;
mod auth;
mod campaigns;
mod dispatch;
mod error;
mod idempotency;
mod import;
mod input;
mod lists;
mod mailer;
mod page;
mod schedule;
mod sizes;
mod statistics;
mod store;
mod subscriptions;
mod template;
mod templates;

pub mod config;

pub use app::{App, Clock, OPENAPI, router};
pub use sizes::future_sizes;
