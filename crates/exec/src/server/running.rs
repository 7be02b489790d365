//! Starts a database server and waits until it accepts connections.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::child_process::{self, ChildProcess};
use super::{account, mariadb, postgres};
use crate::database::{DatabaseError, open};
use crate::engine::Engine;

/// How long a server may take to come up; slow machines and cold disks included.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How often to ask whether it is up.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How often to try another port, when somebody else was quicker to take the free one.
const ATTEMPTS: usize = 3;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Its programs are not on this machine.
    #[error("no {engine} server is installed; install {packages}")]
    NotInstalled {
        /// Which server.
        engine: Engine,
        /// What to install.
        packages: &'static str,
    },
    /// It does not come up.
    #[error("failed to start the {engine} server:\n{last_output}")]
    DoesNotStart {
        /// Which server.
        engine: Engine,
        /// The end of its log.
        last_output: String,
    },
    /// The system does not let us start anything.
    #[error("failed to start the {engine} server")]
    System {
        /// Which server.
        engine: Engine,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// It is up, but does not do as told.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Where a server listens, and whom it lets in.
#[derive(Clone, Debug)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: String,
    pub(super) port: u16,
}

/// A server of our own; dropping it ends it and removes its files.
#[derive(Debug)]
pub struct Server {
    engine: Engine,
    login: Login,
    process: ChildProcess,
    databases: AtomicU64,
    /// Empty databases that were given back; creating one takes longer than emptying one.
    spare: Mutex<Vec<String>>,
}

/// Starts a server.
///
/// # Errors
///
/// When it is not installed or does not come up. SQLite has no server, and is
/// reported as not installed.
pub fn start(engine: Engine) -> Result<Server, ServerError> {
    let mut attempt = 1;
    loop {
        match attempt_start(engine) {
            Err(ServerError::DoesNotStart { last_output, .. })
                if attempt < ATTEMPTS
                    && last_output
                        .to_ascii_lowercase()
                        .contains("address already in use") =>
            {
                attempt += 1;
            }
            result => return result,
        }
    }
}

/// The server of this process, started at the first call and ended with the process.
///
/// # Errors
///
/// As [`start`]; a failed start is tried again by the next call.
pub fn shared(engine: Engine) -> Result<&'static Server, ServerError> {
    static POSTGRES: OnceLock<Server> = OnceLock::new();
    static MARIADB: OnceLock<Server> = OnceLock::new();
    // One start at a time, so that tests running side by side do not start one each.
    static STARTING: Mutex<()> = Mutex::new(());
    let slot = match engine {
        Engine::Postgres => &POSTGRES,
        Engine::MariaDb => &MARIADB,
        Engine::Sqlite => return Err(not_installed(engine)),
    };
    if let Some(server) = slot.get() {
        return Ok(server);
    }
    let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    match slot.get() {
        Some(server) => Ok(server),
        None => {
            let server = start(engine)?;
            Ok(slot.get_or_init(|| server))
        }
    }
}

impl Server {
    /// What kind of server it is.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The address of one of its databases, password included.
    pub fn address(&self, database: &str) -> String {
        let Login {
            user,
            password,
            port,
        } = &self.login;
        format!(
            "{}://{user}:{password}@127.0.0.1:{port}/{database}",
            scheme(self.engine)
        )
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.login.port
    }

    /// The process id of the server.
    pub fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// The temporary directory it lives in.
    pub fn directory(&self) -> &Path {
        self.process.directory()
    }

    /// Returns the address of an empty database that nobody else has.
    ///
    /// # Errors
    ///
    /// When the server is unreachable or refuses.
    pub fn create_database(&self) -> Result<String, DatabaseError> {
        if let Some(address) = self.spares().pop() {
            return Ok(address);
        }
        let name = format!("scratch_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        open(&self.address(maintenance_database(self.engine)))?
            .execute_required(&format!("CREATE DATABASE {name}"))?;
        Ok(self.address(&name))
    }
}

impl Server {
    /// Takes back a database that is empty again.
    pub(crate) fn return_database(&self, address: String) {
        self.spares().push(address);
    }

    fn spares(&self) -> MutexGuard<'_, Vec<String>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The database that every server has.
pub(crate) fn maintenance_database(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgres => "postgres",
        Engine::MariaDb | Engine::Sqlite => "mysql",
    }
}

fn scheme(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "sqlite",
        Engine::Postgres => "postgres",
        Engine::MariaDb => "mariadb",
    }
}

fn not_installed(engine: Engine) -> ServerError {
    let packages = match engine {
        Engine::Sqlite => "nothing: SQLite is built in and has no server",
        Engine::Postgres => {
            "the package `postgresql` (Debian, Homebrew) or `postgresql-server` (Fedora)"
        }
        Engine::MariaDb => "the package `mariadb-server` (Debian, Fedora) or `mariadb` (Homebrew)",
    };
    ServerError::NotInstalled { engine, packages }
}

fn attempt_start(engine: Engine) -> Result<Server, ServerError> {
    let system = |cause| ServerError::System { engine, cause };
    let login = Login {
        user: "isobath".to_owned(),
        password: password().map_err(system)?,
        port: free_port().map_err(system)?,
    };
    let (accounts, plan): (&[&str], fn(&Path, &Login) -> _) = match engine {
        Engine::Sqlite => return Err(not_installed(engine)),
        Engine::Postgres => (&postgres::ACCOUNTS, postgres::plan),
        Engine::MariaDb => (&mariadb::ACCOUNTS, mariadb::plan),
    };
    let account = account::for_server(accounts);
    let directory = child_process::directory(account).map_err(system)?;
    let Some(plan) = plan(&directory, &login) else {
        let _ = std::fs::remove_dir_all(&directory);
        return Err(not_installed(engine));
    };
    let server = Server {
        engine,
        login,
        process: ChildProcess::start(directory, account, &plan).map_err(system)?,
        databases: AtomicU64::new(0),
        spare: Mutex::default(),
    };
    server.wait_until_up()?;
    Ok(server)
}

impl Server {
    fn wait_until_up(&self) -> Result<(), ServerError> {
        let started = Instant::now();
        let address = self.address(maintenance_database(self.engine));
        loop {
            let last = match open(&address) {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            if self.process.has_ended() || started.elapsed() > TIMEOUT {
                let last_output = format!("{}\n({last})", self.process.last_output());
                return Err(ServerError::DoesNotStart {
                    engine: self.engine,
                    last_output,
                });
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// A port that is free right now.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// A password that no other user of the machine can guess.
fn password() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
