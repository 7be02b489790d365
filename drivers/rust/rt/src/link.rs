//! The connection to the core, made by the first probe that is executed.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use isobath_protocol::{ChannelError, Command, CoverageMap, Event, TargetTable, VERSION, channel};

use crate::{panics, queue, sqlite, track};

/// Names the socket of the core; without it nothing is recorded.
const SOCKET: &str = "ISOBATH_SOCKET";
/// Names the file with the table of targets that the build left.
const TARGETS: &str = "ISOBATH_TARGETS";
/// How long the core may take to answer at the start.
const PATIENCE: Duration = Duration::from_secs(10);

static MAP: OnceLock<Option<CoverageMap>> = OnceLock::new();
static TABLE: OnceLock<TargetTable> = OnceLock::new();

/// The map, when there is a core.
#[inline]
pub(crate) fn map() -> Option<&'static CoverageMap> {
    MAP.get_or_init(attach).as_ref()
}

/// Whether there is a core. For generic code, which is compiled with the service and as slow as that is;
/// whatever it calls here is compiled with all optimizations.
#[inline(never)]
pub(crate) fn awake() -> bool {
    map().is_some()
}

/// The targets that the core knows.
pub(crate) fn table() -> Option<&'static TargetTable> {
    TABLE.get()
}

/// Uses this map from now on, without a core; for tests. False when there is one already.
#[cfg(test)]
pub(crate) fn use_map(map: CoverageMap) -> bool {
    MAP.set(Some(map)).is_ok()
}

#[cold]
fn attach() -> Option<CoverageMap> {
    let socket = std::env::var_os(SOCKET)?;
    // A service must run the same when the core is gone or speaks another version.
    let (map, stream, table) = greet(Path::new(&socket)).ok()??;
    let _ = TABLE.set(table);
    queue::open(stream.try_clone().ok()?);
    panics::watch();
    sqlite::watch();
    std::thread::Builder::new()
        .name("isobath".into())
        .spawn(move || obey(stream))
        .ok()?;
    Some(map)
}

fn greet(socket: &Path) -> Result<Option<(CoverageMap, UnixStream, TargetTable)>, ChannelError> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    channel::send(
        &mut stream,
        &Event::Hello {
            version: VERSION,
            language: "rust".into(),
            driver: concat!("isobath-rt ", env!("CARGO_PKG_VERSION")).into(),
            process: std::process::id(),
        },
    )?;
    let bytes = match std::env::var_os(TARGETS) {
        Some(path) => std::fs::read(path)?,
        None => Vec::new(),
    };
    let table = TargetTable::read(&mut bytes.as_slice())?;
    std::io::Write::write_all(&mut stream, &bytes)?;
    channel::send(
        &mut stream,
        &Event::Ready {
            cells: table.cells(),
        },
    )?;
    let Command::Welcome { version, map } = channel::receive(&mut stream)? else {
        return Err(ChannelError::Unexpected);
    };
    if version != VERSION {
        return Ok(None);
    }
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    Ok(CoverageMap::open(Path::new(&map))
        .ok()
        .map(|map| (map, stream, table)))
}

/// Answers the core until it is gone.
fn obey(mut stream: UnixStream) {
    while let Ok(command) = channel::receive(&mut stream) {
        match command {
            Command::Welcome { .. } => {}
            Command::Track { inputs } => track::also(inputs),
            Command::Sync { token } => {
                sqlite::settle();
                queue::answer(&Event::Synced { token });
            }
            Command::Reset { request } => queue::answer(&Event::Answer {
                request,
                failure: Some("a Rust service is reset by a restart".into()),
                rows: Vec::new(),
            }),
            Command::RunSql { request, .. } | Command::Describe { request } => {
                queue::answer(&Event::Answer {
                    request,
                    failure: Some("this driver runs no SQL".into()),
                    rows: Vec::new(),
                })
            }
        }
    }
    queue::close();
}
