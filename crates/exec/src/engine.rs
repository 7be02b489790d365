//! Database engines, and an empty database on each of them.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use isobath_sql::DialectName;

use crate::database::{Database, DatabaseError, mask_password, open};
use crate::server::{Server, ServerError, shared};

/// A database that tests can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// SQLite, built in.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::MariaDb];

    /// The dialect it speaks.
    pub fn dialect(self) -> DialectName {
        match self {
            Self::Sqlite => DialectName::Sqlite,
            Self::Postgres => DialectName::Postgres,
            Self::MariaDb => DialectName::MySql,
        }
    }

    /// As flags spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::MariaDb => "mariadb",
        }
    }

    /// The environment variable that names a server to use instead of one of our own.
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("ISOBATH_TEST_POSTGRES"),
            Self::MariaDb => Some("ISOBATH_TEST_MARIADB"),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::MariaDb => "MariaDB",
        })
    }
}

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "sqlite" | "sqlite3" => Ok(Self::Sqlite),
            "postgres" | "postgresql" | "pg" => Ok(Self::Postgres),
            "mariadb" | "mysql" => Ok(Self::MariaDb),
            _ => Err(UnknownEngine(text.to_owned())),
        }
    }
}

/// A name that is no engine.
#[derive(Debug, thiserror::Error)]
#[error("unknown engine `{0}` (expected one of: sqlite, postgres, mariadb)")]
pub struct UnknownEngine(String);

/// How many scratch databases this process has made on servers of others.
static SCRATCH: AtomicU64 = AtomicU64::new(0);

/// Why there is no database to run tests on.
pub type ProvisionError = ServerError;

/// An empty database of our own, to run tests in.
pub struct ProvisionedDatabase {
    database: Option<Box<dyn Database>>,
    engine: Engine,
    address: String,
    afterwards: OnDrop,
}

/// What is done with a database that is no longer needed.
enum OnDrop {
    /// It vanishes with its connection.
    Forget,
    /// It is emptied, for whoever needs one next on the server of this process.
    ReturnToPool(&'static Server),
    /// It is dropped by a statement on the server at the address.
    Drop { server: String, statement: String },
}

/// Makes an empty database: SQLite in memory; PostgreSQL and MariaDB on a server
/// that the environment names ([`Engine::variable`]), else on one that we start.
///
/// # Errors
///
/// When the server is neither named nor installed, or does not do as told.
pub fn provision(engine: Engine) -> Result<ProvisionedDatabase, ProvisionError> {
    let named = engine
        .variable()
        .and_then(|name| std::env::var(name).ok())
        .filter(|address| !address.is_empty());
    match named {
        Some(address) => provision_at(engine, &address),
        None => provision_own(engine),
    }
}

fn provision_own(engine: Engine) -> Result<ProvisionedDatabase, ProvisionError> {
    let (address, afterwards) = match engine {
        Engine::Sqlite => ("sqlite::memory:".to_owned(), OnDrop::Forget),
        Engine::Postgres | Engine::MariaDb => {
            let server = shared(engine)?;
            (server.create_database()?, OnDrop::ReturnToPool(server))
        }
    };
    Ok(ProvisionedDatabase {
        database: Some(open(&address)?),
        engine,
        address,
        afterwards,
    })
}

/// Makes an empty database on the server at `address`, which is dropped afterwards.
///
/// The database that the address names is connected to, and not touched.
///
/// # Errors
///
/// When the server cannot be reached or refuses.
pub fn provision_at(engine: Engine, address: &str) -> Result<ProvisionedDatabase, ProvisionError> {
    let wrong = |why: &str| DatabaseError::Address {
        address: mask_password(address),
        why: why.to_owned(),
    };
    let mut url = url::Url::parse(address).map_err(|error| wrong(&error.to_string()))?;
    let mut server = open(address)?;
    if server.dialect() != engine.dialect() || engine == Engine::Sqlite {
        return Err(wrong(&format!("it is not a {engine} server")).into());
    }
    let taken = match engine {
        Engine::Postgres => "SELECT datname::text FROM pg_database",
        Engine::MariaDb | Engine::Sqlite => "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA",
    };
    // The process id keeps processes apart; a killed one may have left its database behind.
    let taken = server.query_required(taken)?;
    let name = loop {
        let number = SCRATCH.fetch_add(1, Ordering::Relaxed);
        let name = format!("isobath_scratch_{}_{number}", std::process::id());
        if !taken.texts(0).any(|other| other == name) {
            break name;
        }
    };
    server.execute_required(&format!("CREATE DATABASE {name}"))?;
    url.set_path(&name);
    let mut provisioned = ProvisionedDatabase {
        database: None,
        engine,
        address: url.to_string(),
        afterwards: OnDrop::Drop {
            server: address.to_owned(),
            statement: format!("DROP DATABASE IF EXISTS {name}"),
        },
    };
    provisioned.database = Some(open(&provisioned.address)?);
    Ok(provisioned)
}

impl ProvisionedDatabase {
    /// The connection.
    pub fn database(&mut self) -> &mut dyn Database {
        self.database
            .as_deref_mut()
            .expect("the connection is taken only when this is dropped")
    }

    /// Which engine it is.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Its address, password included, for other programs that run tests in it.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for ProvisionedDatabase {
    fn drop(&mut self) {
        let database = self.database.take();
        match &self.afterwards {
            OnDrop::Forget => {}
            OnDrop::ReturnToPool(server) => {
                if let Some(mut database) = database
                    && database.rollback().is_ok()
                    && database.drop_all_objects().is_ok()
                {
                    server.return_database(std::mem::take(&mut self.address));
                }
            }
            OnDrop::Drop { server, statement } => {
                // A database in use cannot be dropped.
                drop(database);
                if let Ok(mut server) = open(server) {
                    let _ = server.execute(statement);
                }
            }
        }
    }
}
