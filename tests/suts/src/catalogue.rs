//! All services, by name.

use crate::running::Running;
use crate::{
    accounts, breakdowns, faults, features, links, papers, parcels, sealed, stored, unusual,
};

/// A service in the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Sut {
    /// Its name.
    pub name: &'static str,
    /// Starts it.
    pub start: fn() -> Running,
    /// Starts its twin without the fault, for services that have a planted one.
    pub start_correct: Option<fn() -> Running>,
}

const fn plain(name: &'static str, start: fn() -> Running) -> Sut {
    Sut {
        name,
        start,
        start_correct: None,
    }
}

const fn faulty(name: &'static str, start: fn() -> Running, correct: fn() -> Running) -> Sut {
    Sut {
        name,
        start,
        start_correct: Some(correct),
    }
}

/// A service with its twin.
macro_rules! twins {
    ($name:ident) => {
        twins!(faults, $name)
    };
    ($file:ident, $name:ident) => {
        faulty(
            stringify!($name),
            $file::$name::start,
            $file::$name::start_correct,
        )
    };
}

/// Services that are correct in unusual ways, with users `ada`, `grace` and `barbara`.
pub const UNUSUAL: [Sut; 5] = [
    plain("conditional", unusual::conditional),
    plain("eventual", unusual::eventual),
    plain("relaxed", unusual::relaxed),
    plain("shared_links", unusual::shared_links),
    plain("administrator", unusual::administrator),
];

/// All services.
pub const ALL: [Sut; 36] = [
    plain("testability", papers::testability),
    plain("hidden_parameter", papers::hidden_parameter),
    plain("hidden_body", papers::hidden_body),
    plain("stored_pair", papers::stored_pair),
    plain("stored_pair_without_post", papers::stored_pair_without_post),
    plain("depot", stored::depot),
    plain("parcels", parcels::parcels),
    plain("post_get_chain", features::post_get_chain),
    plain("login_token", features::login_token),
    plain("pagination", features::pagination),
    plain("enum_branch", features::enum_branch),
    plain("numeric_boundary", features::numeric_boundary),
    plain("pattern", features::pattern),
    plain("date_window", features::date_window),
    plain("link_chain", links::link_chain),
    plain("accounts", accounts::start),
    plain("quick", features::quick),
    twins!(delete_keeps),
    twins!(put_appends),
    twins!(failed_put_writes),
    twins!(sealed, sealed_put_writes),
    twins!(unsafe_get),
    twins!(lost_creation),
    twins!(edge_crash),
    twins!(stack_trace),
    twins!(wrong_type),
    twins!(undocumented_status),
    twins!(accepts_invalid),
    twins!(anonymous_write),
    twins!(foreign_resource),
    twins!(existence_leak),
    twins!(breakdowns, dropped),
    twins!(breakdowns, hanging),
    twins!(breakdowns, anonymous_read),
    twins!(breakdowns, injected_error),
    twins!(breakdowns, injected_pause),
];
