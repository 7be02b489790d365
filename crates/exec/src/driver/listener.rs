//! Accepts driver connections.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use isobath_protocol::{Command, CoverageMap, Event, TargetTable, VERSION, channel as wire};
use subtle::ConstantTimeEq;

use super::connection::{Driver, DriverError};
use super::folder::SharedFolder;
use super::stream::Stream;

/// A driver that does not finish its greeting in this time is let go.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The bytes of a token.
const TOKEN: usize = 16;

/// A place where drivers connect. Dropping it closes the place and removes its files.
#[derive(Debug)]
pub struct Listener {
    folder: SharedFolder,
    connected: Receiver<Result<Driver, DriverError>>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Where drivers connect that know no Unix sockets, and what they say first.
    loopback: Option<(SocketAddr, String)>,
}

/// What is listened at.
enum Endpoint {
    Unix(UnixListener),
    Tcp(TcpListener, String),
}

impl Endpoint {
    fn next(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            Self::Tcp(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }

    fn token(&self) -> Option<&str> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(_, token) => Some(token),
        }
    }
}

impl Listener {
    /// Opens the place. A service may be restarted as often as needed: each time its
    /// driver connects again.
    ///
    /// # Errors
    ///
    /// When the system does not let us listen.
    pub fn open() -> io::Result<Self> {
        let folder = SharedFolder::new()?;
        let listener = UnixListener::bind(folder.path().join("socket"))?;
        Self::listen(folder, Endpoint::Unix(listener), None)
    }

    /// Opens the place on the loopback interface, for drivers that know no Unix sockets. They
    /// show by a token that they were started here.
    ///
    /// # Errors
    ///
    /// When the system does not let us listen.
    pub fn open_loopback() -> io::Result<Self> {
        let folder = SharedFolder::new()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let token = token()?;
        let door = Endpoint::Tcp(listener, token.clone());
        Self::listen(folder, door, Some((address, token)))
    }

    fn listen(
        folder: SharedFolder,
        door: Endpoint,
        loopback: Option<(SocketAddr, String)>,
    ) -> io::Result<Self> {
        let (send, connected) = channel();
        let closing = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&closing);
        let maps = folder.path().to_path_buf();
        // A service does not come up before its driver is greeted, so greeting cannot wait
        // for whoever waits for the service.
        let thread = std::thread::Builder::new()
            .name("drivers".into())
            .spawn(move || {
                for count in 0_u64.. {
                    let stream = door.next();
                    if told.load(Ordering::Acquire) {
                        return;
                    }
                    let token = door.token().map(str::to_owned);
                    let map = maps.join(format!("map-{count}"));
                    let send = send.clone();
                    // Each on a thread of its own: whoever connects and stays silent holds up nobody else.
                    std::thread::spawn(move || {
                        let greeted = match stream {
                            Ok(stream) => greet(stream, token.as_deref(), &map),
                            Err(error) => Err(DriverError::Channel(error.into())),
                        };
                        // Whoever does not know the token is nobody. Without a receiver, nobody waits for drivers any more.
                        if !matches!(greeted, Err(DriverError::Stranger)) {
                            let _ = send.send(greeted);
                        }
                    });
                }
            })?;
        Ok(Self {
            folder,
            connected,
            closing,
            thread: Some(thread),
            loopback,
        })
    }

    /// What drivers on the loopback interface say first.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.loopback.as_ref().map(|(_, token)| token.as_str())
    }

    /// What the service must find in its environment; `targets` is the file that an
    /// instrumented build left, for drivers that need one.
    pub fn variables(&self, targets: Option<&Path>) -> Vec<(String, String)> {
        let mut variables = match &self.loopback {
            None => vec![(
                "ISOBATH_SOCKET".to_owned(),
                self.socket().display().to_string(),
            )],
            Some((address, token)) => vec![
                ("ISOBATH_ADDRESS".to_owned(), address.to_string()),
                ("ISOBATH_TOKEN".to_owned(), token.clone()),
            ],
        };
        if let Some(targets) = targets {
            let targets = targets.display().to_string();
            variables.push(("ISOBATH_TARGETS".to_owned(), targets));
        }
        variables
    }

    /// The driver that connected first since the last was handed out.
    ///
    /// # Errors
    ///
    /// When none connects in time, or one does that cannot be used.
    pub fn accept(&self, timeout: Duration) -> Result<Driver, DriverError> {
        match self.connected.recv_timeout(timeout) {
            Ok(driver) => driver,
            Err(RecvTimeoutError::Timeout) => Err(DriverError::Absent(timeout)),
            Err(RecvTimeoutError::Disconnected) => Err(DriverError::Absent(Duration::ZERO)),
        }
    }

    /// Forgets drivers that connected and were not handed out; for before a restart.
    pub fn forget(&self) {
        while self.connected.try_recv().is_ok() {}
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Wakes the thread; when that fails it is not there any more.
        let _ = match &self.loopback {
            None => UnixStream::connect(self.socket()).map(drop),
            Some((address, _)) => TcpStream::connect(address).map(drop),
        };
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A secret that only whoever we start can know.
fn token() -> io::Result<String> {
    let mut bytes = [0; TOKEN];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn greet(mut stream: Stream, token: Option<&str>, path: &Path) -> Result<Driver, DriverError> {
    stream
        .set_read_timeout(HANDSHAKE_TIMEOUT)
        .map_err(|error| DriverError::Channel(error.into()))?;
    if let Some(token) = token {
        let mut line = vec![0; token.len() + 1];
        let read = stream.read_exact(&mut line);
        // The time that it takes does not tell how much of a guess is right.
        let is_right = line.ct_eq(format!("{token}\n").as_bytes());
        if read.is_err() || !bool::from(is_right) {
            return Err(DriverError::Stranger);
        }
    }
    let Event::Hello {
        version,
        language,
        driver,
        process,
    } = wire::receive(&mut stream)?
    else {
        return Err(DriverError::Unexpected("something before its greeting"));
    };
    if version != VERSION {
        return Err(DriverError::Version { driver, version });
    }
    let mut table = TargetTable::new();
    let cells = loop {
        match wire::receive(&mut stream)? {
            Event::Targets { targets } => table.extend(targets),
            Event::Ready { cells } => break cells,
            _ => return Err(DriverError::Unexpected("an event before it was ready")),
        }
    };
    let map = CoverageMap::create(path, cells.max(table.cells()))?;
    let welcome = Command::Welcome {
        version: VERSION,
        map: path.display().to_string(),
    };
    wire::send(&mut stream, &welcome)?;
    Ok(Driver::new(stream, map, table, language, process))
}
