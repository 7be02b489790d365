//! A NATS server with JetStream on loopback, with its store in a temporary directory, until it is dropped.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Where `scripts/test` puts a server when that of the system is missing or too old.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/nats");

/// A server that runs until it is dropped, and can be killed and restarted with its store.
#[derive(Debug)]
pub struct NatsServer {
    folder: TempDir,
    program: PathBuf,
    port: u16,
    child: Option<Child>,
}

impl NatsServer {
    /// Starts a server; nothing when there is none on this machine, unless tests must have one.
    ///
    /// # Panics
    ///
    /// When it does not come up, or is required and missing.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with(|_| String::new())
    }

    /// The same, with more configuration, which is made from the folder that files can be put into.
    ///
    /// # Panics
    ///
    /// As [`NatsServer::start`].
    #[must_use]
    pub fn start_with(more: impl FnOnce(&Path) -> String) -> Option<Self> {
        let Some(program) = program() else {
            let required = std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_some();
            assert!(!required, "there is no nats-server; run scripts/test");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
        let port = port.expect("a free port").port();
        let config = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {:?} }}\n{}\n",
            folder.path().join("store"),
            more(folder.path())
        );
        std::fs::write(folder.path().join("server.conf"), config).expect("a file");
        let mut server = Self {
            folder,
            program,
            port,
            child: None,
        };
        server.restart();
        Some(server)
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Where it keeps what it was given.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Kills it with `SIGKILL`.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again, with its store, and waits until it is up.
    ///
    /// # Panics
    ///
    /// When it does not come up.
    pub fn restart(&mut self) {
        self.kill();
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"));
        let child = Command::new(&self.program)
            .arg("-c")
            .arg(self.folder.path().join("server.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.expect("a file"))
            .spawn();
        self.child = Some(child.expect("the server starts"));
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            let log = std::fs::read_to_string(self.folder.path().join("log"));
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok()?);
            assert!(ended.is_none(), "nats-server ended: {log:?}");
            assert!(started.elapsed() < Duration::from_secs(60), "{log:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::iter::once(PathBuf::from(OWN)).chain(std::env::split_paths(&path));
    folders.find_map(|folder| {
        let program = folder.join("nats-server");
        program.is_file().then_some(program)
    })
}
