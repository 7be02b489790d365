//! Skips tests that need a server on machines without one.

use std::env;
use std::io::Write;

use super::ServerError;

/// The environment variable that makes a missing server a failure.
pub const REQUIRE_SERVERS: &str = "ISOBATH_REQUIRE_SERVERS";

/// For tests: what they need, or `None` after saying that `what` was left out.
///
/// ```no_run
/// use isobath_exec::engine::Engine;
/// use isobath_exec::server::{or_skip, shared};
///
/// let Some(server) = or_skip("joins on PostgreSQL", shared(Engine::Postgres)) else {
///     return;
/// };
/// # let _ = server;
/// ```
///
/// # Panics
///
/// When the server is installed but does not start, and when
/// [`REQUIRE_SERVERS`] is set and it is not installed.
pub fn or_skip<T>(what: &str, server: Result<T, ServerError>) -> Option<T> {
    let required = env::var_os(REQUIRE_SERVERS).is_some();
    // Past the test runner's capture, which would swallow the macros' output.
    decide(what, server, required, &mut std::io::stderr())
}

fn decide<T>(
    what: &str,
    server: Result<T, ServerError>,
    required: bool,
    notes: &mut dyn Write,
) -> Option<T> {
    match server {
        Ok(server) => Some(server),
        Err(error @ ServerError::NotInstalled { .. }) if !required => {
            let _ = writeln!(notes, "left out: {what}, because {error}");
            None
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;

    fn absent() -> Result<(), ServerError> {
        Err(ServerError::NotInstalled {
            engine: Engine::Postgres,
            packages: "the package `postgresql`",
        })
    }

    #[test]
    fn a_test_without_its_server_is_left_out_aloud() {
        let mut notes = Vec::new();
        assert_eq!(decide("joins", absent(), false, &mut notes), None);
        assert_eq!(
            String::from_utf8(notes).unwrap(),
            "left out: joins, because no PostgreSQL server is installed; install the package `postgresql`\n"
        );
    }

    #[test]
    #[should_panic(expected = "joins: no PostgreSQL server is installed")]
    fn where_servers_are_required_a_missing_one_fails_the_test() {
        decide("joins", absent(), true, &mut Vec::new());
    }

    #[test]
    #[should_panic(expected = "joins: failed to start the MariaDB server")]
    fn a_server_that_is_there_and_does_not_start_always_fails_the_test() {
        let broken: Result<(), _> = Err(ServerError::DoesNotStart {
            engine: Engine::MariaDb,
            last_output: String::new(),
        });
        decide("joins", broken, false, &mut Vec::new());
    }
}
