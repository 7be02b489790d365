//! The same test on every engine that there is.

use isobath_exec::Database;
use isobath_exec::engine::{Engine, ProvisionedDatabase, provision};
use isobath_exec::server::{or_skip, shared};

/// Runs `test` in an empty database of each engine.
pub(crate) fn on_each(what: &str, mut test: impl FnMut(Engine, &mut dyn Database)) {
    for engine in Engine::ALL {
        let title = format!("{what} on {engine}");
        if let Some(mut provisioned) = or_skip(&title, provision(engine)) {
            test(engine, provisioned.database());
        }
    }
}

/// Another empty database of an engine that is there.
pub(crate) fn second(engine: Engine) -> ProvisionedDatabase {
    provision(engine).expect("the engine gave a database before")
}

/// Runs `test` with the address of an empty database of each server, to which nobody is connected.
pub(crate) fn on_servers(what: &str, mut test: impl FnMut(Engine, &str)) {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        if let Some(server) = or_skip(&format!("{what} on {engine}"), shared(engine)) {
            test(engine, &server.create_database().expect("a database"));
        }
    }
}
