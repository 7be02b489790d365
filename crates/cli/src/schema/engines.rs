//! Databases to confirm on, one per engine for the whole run.

use isobath_exec::engine::provision_at;
use isobath_exec::server::ServerError;
use isobath_exec::{Database, Engine, ProvisionedDatabase, provision};

use super::args::EngineName;

/// Databases made so far.
#[derive(Default)]
pub(crate) struct Engines {
    provisioned: Vec<(Engine, ProvisionedDatabase)>,
    addresses: Vec<String>,
}

impl Engines {
    /// Databases on the servers that the user names, and on servers of our own where none is named.
    pub(crate) fn new(test_databases: &[String]) -> Self {
        Self {
            provisioned: Vec::new(),
            addresses: test_databases.to_vec(),
        }
    }

    /// An empty database of an engine.
    ///
    /// # Errors
    ///
    /// When there is no server, or it does not let us in.
    pub(crate) fn database(&mut self, engine: Engine) -> Result<&mut dyn Database, ServerError> {
        let known = self
            .provisioned
            .iter()
            .position(|(known, _)| *known == engine);
        let index = match known {
            Some(index) => index,
            None => {
                let scheme = |address: &&String| match engine {
                    Engine::Sqlite => false,
                    Engine::Postgres => address.starts_with("postgres"),
                    Engine::MariaDb => {
                        address.starts_with("mysql") || address.starts_with("mariadb")
                    }
                };
                let made = match self.addresses.iter().find(scheme) {
                    Some(address) => provision_at(engine, address)?,
                    None => provision(engine)?,
                };
                self.provisioned.push((engine, made));
                self.provisioned.len() - 1
            }
        };
        Ok(self.provisioned[index].1.database())
    }
}

impl EngineName {
    /// The engine behind the name; `None` for `none`.
    pub(crate) fn engine(self) -> Option<Engine> {
        match self {
            Self::None => None,
            Self::Sqlite => Some(Engine::Sqlite),
            Self::Postgres => Some(Engine::Postgres),
            Self::Mariadb => Some(Engine::MariaDb),
        }
    }
}
