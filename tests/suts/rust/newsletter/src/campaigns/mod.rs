//! Campaigns: one template, filled and sent to everybody on a list.

mod handlers;
pub(crate) mod model;

pub(crate) use handlers::{change, create, fetch, list, remove, schedule, step};
