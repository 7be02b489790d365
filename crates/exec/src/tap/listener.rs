//! The tap: accepts connections, relays them and collects statements.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::record::{self, Recorded};
use super::relay::RelayedConnection;
use super::statement::Statement;
use super::{Observed, Session, mysql, postgres};
use crate::database::Address;

/// How long the database may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a client may take to say enough to be told that there is no database.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);
/// The most statements that are kept of a candidate.
const MOST: usize = 10_000;
/// The most memory that they may take.
const LARGEST: usize = 64 << 20;
/// The most different warnings that are kept.
const WARNINGS: usize = 100;

/// Why there is no tap.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// SQLite has no connection to look into.
    #[error("SQLite has no network connection to tap")]
    NoWire,
    /// The host of the database is unknown.
    #[error("{address}: unknown host ({why}); check the address")]
    NoHost {
        /// The address, without its password.
        address: String,
        /// What the system said.
        why: String,
    },
    /// The tap cannot listen there.
    #[error("failed to listen on {at}: {cause}; choose another port")]
    Listen {
        /// Where.
        at: SocketAddr,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// How much passed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that were opened.
    pub connections: u64,
    /// Connections for which there was no database.
    pub refused: u64,
    /// Statements that were answered.
    pub statements: u64,
    /// Messages that were passed on without being understood.
    pub not_understood: u64,
}

/// A tap in front of a database. Dropping it ends all its connections.
pub struct Tap {
    at: SocketAddr,
    database: Address,
    recorder: Arc<Recorder>,
    closing: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

/// What all connections share.
pub(super) struct Recorder {
    /// The stamp of what happens now; 0 before the first candidate.
    now: AtomicU64,
    kept: Mutex<StatementBuffer>,
    links: Mutex<Vec<Weak<RelayedConnection>>>,
    connections: AtomicU64,
    refused: AtomicU64,
    statements: AtomicU64,
    not_understood: AtomicU64,
    warnings: Mutex<Warnings>,
}

#[derive(Default)]
struct StatementBuffer {
    statements: Vec<Recorded>,
    size: usize,
    dropped: u32,
}

#[derive(Default)]
struct Warnings {
    known: BTreeSet<String>,
    fresh: Vec<String>,
}

impl Tap {
    /// Opens a tap in front of a database: on loopback, at a free port unless one is given.
    ///
    /// That the database is not there is told to whoever connects, not here.
    ///
    /// # Errors
    ///
    /// When the database has no address on a network, or the port is taken.
    pub fn open(database: &Address, at: Option<SocketAddr>) -> Result<Self, TapError> {
        let (url, port, converse): (_, _, SessionFactory) = match database {
            Address::SqliteMemory | Address::SqliteFile(_) => return Err(TapError::NoWire),
            Address::Postgres(url) => (url, 5432, || Box::new(postgres::Session::default())),
            Address::MariaDb(url) => (url, 3306, || Box::new(mysql::Session::default())),
        };
        let no_host = |why: String| TapError::NoHost {
            address: database.to_string(),
            why,
        };
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let server: Vec<SocketAddr> = (host, url.port().unwrap_or(port))
            .to_socket_addrs()
            .map_err(|error| no_host(error.to_string()))?
            .collect();
        if server.is_empty() {
            return Err(no_host("it has no address".to_owned()));
        }
        let at = at.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
        let listen = |cause| TapError::Listen { at, cause };
        let listener = TcpListener::bind(at).map_err(listen)?;
        let at = listener.local_addr().map_err(listen)?;
        let recorder = Arc::new(Recorder::default());
        let closing = Arc::new(AtomicBool::new(false));
        let acceptor = Acceptor {
            listener,
            server,
            converse,
            recorder: Arc::clone(&recorder),
            closing: Arc::clone(&closing),
        };
        let listening = thread::Builder::new()
            .name("tap-listener".into())
            .spawn(move || acceptor.run())
            .map_err(listen)?;
        Ok(Self {
            at,
            database: database.clone(),
            recorder,
            closing,
            listening: Some(listening),
        })
    }

    /// Where it listens.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// The database behind it.
    pub fn database(&self) -> &Address {
        &self.database
    }

    /// What comes from now on belongs to the next candidate, at its first action. What was heard before and
    /// not asked for is forgotten.
    pub fn begin_candidate(&self) {
        let candidate = record::candidate(self.recorder.now()) + 1;
        self.recorder.set_now(record::stamp(candidate, 0));
        *self.recorder.kept() = StatementBuffer::default();
    }

    /// What comes from now on belongs to this action.
    pub fn begin_action(&self, action: u16) {
        let candidate = record::candidate(self.recorder.now());
        self.recorder.set_now(record::stamp(candidate, action));
    }

    /// The statements of the candidate since the last call, in the order of their answers, and how many more
    /// there were. Those that wait for an answer come last, and say so in their failures.
    pub fn statements(&self) -> (Vec<Statement>, u32) {
        let candidate = record::candidate(self.recorder.now());
        let kept = std::mem::take(&mut *self.recorder.kept());
        let links: Vec<Arc<RelayedConnection>> = self
            .recorder
            .links()
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        let waiting = links.iter().flat_map(|link| {
            let session = lock(&link.session);
            session.unanswered()
        });
        let waiting = waiting
            .filter(|statement| record::candidate(statement.stamp) == candidate)
            .map(|statement| Recorded {
                failure: Some(record::unanswered("no answer yet")),
                ..statement
            });
        let all = kept.statements.into_iter().chain(waiting);
        (all.map(|recorded| recorded.read()).collect(), kept.dropped)
    }

    /// How much passed so far.
    pub fn counts(&self) -> Counts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            connections: of(&self.recorder.connections),
            refused: of(&self.recorder.refused),
            statements: of(&self.recorder.statements),
            not_understood: of(&self.recorder.not_understood),
        }
    }

    /// What the user should know and was not told before.
    pub fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.recorder.warnings).fresh)
    }

    /// Ends all connections that are open; others may be opened.
    pub fn cut(&self) {
        for link in self.recorder.links().iter().filter_map(Weak::upgrade) {
            link.cut();
        }
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tap")
            .field("at", &self.at)
            .field("database", &self.database.to_string())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Wakes the thread; when that fails it is not there any more.
        let _ = TcpStream::connect_timeout(&self.at, CONNECT_TIMEOUT);
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
        self.cut();
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            now: AtomicU64::new(0),
            kept: Mutex::default(),
            links: Mutex::default(),
            connections: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            statements: AtomicU64::new(0),
            not_understood: AtomicU64::new(0),
            warnings: Mutex::default(),
        }
    }
}

impl Recorder {
    /// The stamp of what happens now.
    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::Acquire)
    }

    fn set_now(&self, stamp: u64) {
        self.now.store(stamp, Ordering::Release);
    }

    fn kept(&self) -> MutexGuard<'_, StatementBuffer> {
        lock(&self.kept)
    }

    fn links(&self) -> MutexGuard<'_, Vec<Weak<RelayedConnection>>> {
        lock(&self.links)
    }

    /// Takes what a conversation has to tell.
    pub(super) fn listen(&self, session: &mut dyn Session) {
        let mut observed = Observed::default();
        session.drain_into(&mut observed);
        self.keep(observed);
    }

    fn keep(&self, observed: Observed) {
        if observed.not_understood > 0 {
            self.not_understood
                .fetch_add(observed.not_understood, Ordering::Relaxed);
        }
        observed
            .warnings
            .into_iter()
            .for_each(|text| self.warn(text));
        if observed.statements.is_empty() {
            return;
        }
        self.statements
            .fetch_add(observed.statements.len() as u64, Ordering::Relaxed);
        let candidate = record::candidate(self.now());
        let mut kept = self.kept();
        for statement in observed.statements {
            // What an earlier candidate began belongs to nobody who still asks.
            if candidate == 0 || record::candidate(statement.stamp) != candidate {
                continue;
            }
            let size = statement.size();
            if kept.statements.len() < MOST && kept.size + size <= LARGEST {
                kept.size += size;
                kept.statements.push(statement);
            } else {
                kept.dropped = kept.dropped.saturating_add(1);
            }
        }
    }

    fn warn(&self, text: String) {
        let mut warnings = lock(&self.warnings);
        if warnings.known.len() < WARNINGS && warnings.known.insert(text.clone()) {
            warnings.fresh.push(text);
        }
    }

    /// A connection was ended by one of its sides; statements without an answer will not get one.
    pub(super) fn ended(
        &self,
        link: &RelayedConnection,
        by_client: bool,
        error: Option<io::Error>,
    ) {
        let mut session = lock(&link.session);
        if by_client {
            session.client_left();
        }
        self.listen(&mut **session);
        let who = if by_client {
            "the service"
        } else {
            "the database"
        };
        let how = error.map_or_else(
            || format!("{who} closed the connection"),
            |error| format!("the connection with {who} broke: {error}"),
        );
        let statements = session.unanswered().into_iter().map(|statement| Recorded {
            failure: Some(record::unanswered(&format!("{how} before the answer"))),
            ..statement
        });
        let observed = Observed {
            statements: statements.collect(),
            ..Observed::default()
        };
        // Whoever still holds the connection finds nothing in it that waits.
        *session = Box::new(Ended);
        drop(session);
        self.keep(observed);
    }
}

/// A connection that has ended.
struct Ended;

impl Session for Ended {
    fn on_client_bytes(&mut self, _: &[u8], _: u64) -> super::Forwarded {
        super::Forwarded::default()
    }

    fn on_server_bytes(&mut self, _: &[u8]) -> super::Forwarded {
        super::Forwarded::default()
    }

    fn drain_into(&mut self, _: &mut Observed) {}

    fn unanswered(&self) -> Vec<Recorded> {
        Vec::new()
    }

    fn unavailable_reply(&mut self, _: &str) -> Option<Vec<u8>> {
        None
    }
}

type SessionFactory = fn() -> Box<dyn Session>;

/// Takes connections and finds the database for each.
struct Acceptor {
    listener: TcpListener,
    server: Vec<SocketAddr>,
    converse: SessionFactory,
    recorder: Arc<Recorder>,
    closing: Arc<AtomicBool>,
}

impl Acceptor {
    fn run(self) {
        for client in self.listener.incoming() {
            if self.closing.load(Ordering::Acquire) {
                return;
            }
            match client {
                Ok(client) => self.take(client),
                // Too many open files, most likely: there may be fewer in a moment.
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn take(&self, client: TcpStream) {
        let recorder = &self.recorder;
        recorder.connections.fetch_add(1, Ordering::Relaxed);
        let session = (self.converse)();
        let server = match self.connect() {
            Ok(server) => server,
            Err(error) => {
                recorder.refused.fetch_add(1, Ordering::Relaxed);
                let server = self.server.first().map(ToString::to_string);
                let server = server.unwrap_or_default();
                let why = format!("the database at {server} cannot be reached: {error}");
                recorder.warn(why.clone());
                // The next client must not wait for what this one says.
                let _ = thread::Builder::new()
                    .name("tap-excuse".into())
                    .spawn(move || unavailable_reply(client, session, &why));
                return;
            }
        };
        let linked = RelayedConnection::new(client, server, session).and_then(|link| {
            let link = Arc::new(link);
            let mut links = recorder.links();
            links.retain(|link| link.strong_count() > 0);
            links.push(Arc::downgrade(&link));
            drop(links);
            link.run(recorder)
        });
        if let Err(error) = linked {
            recorder.warn(format!(
                "a connection to the database was not taken: {error}"
            ));
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for server in &self.server {
            match TcpStream::connect_timeout(server, CONNECT_TIMEOUT) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Tells a client in its own words that there is no database.
fn unavailable_reply(mut client: TcpStream, mut session: Box<dyn Session>, why: &str) {
    let why = format!("isobath: {why}");
    let _ = client.set_read_timeout(Some(REPLY_TIMEOUT));
    let mut chunk = [0; 4096];
    loop {
        if let Some(words) = session.unavailable_reply(&why) {
            let _ = client.write_all(&words);
            return;
        }
        let Ok(length @ 1..) = client.read(&mut chunk) else {
            return;
        };
        let passed = session.on_client_bytes(chunk.get(..length).unwrap_or_default(), 0);
        if client.write_all(&passed.back).is_err() {
            return;
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
