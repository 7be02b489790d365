//! Tests that need a server, on machines that have none.

use std::env;
use std::io::Write;

use super::ServerError;

/// The environment variable that makes a missing server a failure.
pub const REQUIRE_SERVERS: &str = "ISOBATH_REQUIRE_SERVERS";

/// For tests: what they need, or `None` after saying that `what` was left out.
///
/// ```no_run
/// use isobath_exec::engine::Engine;
/// use isobath_exec::server::{or_left_out, shared};
///
/// let Some(server) = or_left_out("joins on PostgreSQL", shared(Engine::Postgres)) else {
///     return;
/// };
/// # let _ = server;
/// ```
///
/// # Panics
///
/// When the server is installed but does not start, and when
/// [`REQUIRE_SERVERS`] is set and it is not installed.
pub fn or_left_out<T>(what: &str, server: Result<T, ServerError>) -> Option<T> {
    match server {
        Ok(server) => Some(server),
        Err(error @ ServerError::NotInstalled { .. }) if env::var_os(REQUIRE_SERVERS).is_none() => {
            // Past the test runner's capture, which would swallow the macros' output.
            let _ = writeln!(std::io::stderr(), "left out: {what}, because {error}");
            None
        }
        Err(error) => panic!("{what}: {error}"),
    }
}
