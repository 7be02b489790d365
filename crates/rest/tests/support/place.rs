//! A test database on each engine, with feedback about its statements.

use std::path::Path;

use isobath_exec::database::Address;
use isobath_exec::engine::Engine;
use isobath_exec::server::{or_skip, shared};
use isobath_exec::tap::{Tap, environment};
use isobath_exec::{Database, connect_writable};
use isobath_rest::feedback::{Feedback, TapFeedback};
use isobath_suts::Running;
use tempfile::TempDir;

/// An empty database, and where the service finds it.
pub(crate) struct Place {
    /// What it is.
    pub(crate) engine: Engine,
    /// Where it is.
    pub(crate) address: String,
    /// Where the service finds it: at the tap, if there is one.
    pub(crate) at: String,
    tap: Option<Tap>,
    /// What goes with it.
    folder: Option<TempDir>,
}

impl Place {
    /// An empty database; `None` where there is no such server, after saying that `what` is left out.
    pub(crate) fn new(engine: Engine, what: &str) -> Option<Self> {
        if engine == Engine::Sqlite {
            let folder = tempfile::tempdir().expect("room for a database");
            let mut place = Self::sqlite(folder.path());
            place.folder = Some(folder);
            return Some(place);
        }
        let server = or_skip(&format!("{what} on {engine}"), shared(engine))?;
        let address = server.create_database().expect("a database");
        let database = Address::parse(&address).expect("an address");
        let tap = Tap::open(&database, None).expect("a tap");
        Some(Self {
            engine,
            at: environment::url(&database, tap.at()).expect("an address at the tap"),
            address,
            tap: Some(tap),
            folder: None,
        })
    }

    /// A SQLite file in a folder.
    pub(crate) fn sqlite(folder: &Path) -> Self {
        let address = format!("sqlite:{}", folder.join("test.db").display());
        Self {
            engine: Engine::Sqlite,
            at: address.clone(),
            address,
            tap: None,
            folder: None,
        }
    }

    /// A connection past the tap.
    pub(crate) fn open(&self) -> Box<dyn Database> {
        connect_writable(&self.address, std::slice::from_ref(&self.address)).expect("a connection")
    }

    /// The same database with tables.
    pub(crate) fn with(self, tables: &str) -> Self {
        self.open().execute_required(tables).expect("tables");
        self
    }

    /// Who tells the statements of the service: the tap, or what it writes down.
    pub(crate) fn ear(&mut self, service: &Running) -> Box<dyn Feedback> {
        match self.tap.take() {
            Some(tap) => Box::new(TapFeedback::new(tap)),
            None => super::told(service),
        }
    }
}

/// Does something on each database that there is.
pub(crate) fn on_each(what: &str, mut test: impl FnMut(Place)) {
    for engine in Engine::ALL {
        if let Some(place) = Place::new(engine, what) {
            test(place);
        }
    }
}
