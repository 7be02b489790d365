//! A service in a thread, on a free port, until it is dropped.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A service that runs until it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it is, without a slash at the end.
    pub url: String,
    /// Its OpenAPI document, which names `url` as its server; also at `/openapi.json`.
    pub openapi: Value,
    /// Its database, if it has one, as the path of a SQLite file.
    pub database: Option<String>,
    /// The statements that it ran on its database, if it tells.
    pub journal: Journal,
    folder: Option<Arc<TempDir>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The statements that a service ran, as a trace of its database would tell them.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Mutex<Vec<Ran>>>);

/// A statement that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The text, with its values.
    pub text: String,
    /// How many rows it returned or changed.
    pub rows: u64,
    /// What the database complained about.
    pub failure: Option<String>,
}

impl Journal {
    /// Writes a statement down.
    pub(crate) fn note(&self, text: String, rows: Result<u64, String>) {
        let (rows, failure) = match rows {
            Ok(rows) => (rows, None),
            Err(failure) => (0, Some(failure)),
        };
        let ran = Ran {
            text,
            rows,
            failure,
        };
        self.lock().push(ran);
    }

    /// What was written down since the last time.
    #[must_use]
    pub fn take(&self) -> Vec<Ran> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Ran>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a service; `paths` and `schemas` are those of its OpenAPI document.
pub(crate) fn serve(title: &str, router: Router, paths: Value, schemas: Value) -> Running {
    serve_at(0, title, router, paths, schemas)
}

/// Starts a service at a port; 0 is any that is free.
pub(crate) fn serve_at(
    port: u16,
    title: &str,
    router: Router,
    paths: Value,
    schemas: Value,
) -> Running {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    let url = format!("http://{address}");
    let openapi = json!({
        "openapi": "3.0.3",
        "info": { "title": title, "version": "1" },
        "servers": [{ "url": url }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    });
    let text = openapi.to_string();
    let router = router.route(
        "/openapi.json",
        get(move || async move { ([("content-type", "application/json")], text) }),
    );
    let (stop, stopped) = oneshot::channel();
    let thread = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("the system has resources for one more service");
        runtime.block_on(async move {
            listener
                .set_nonblocking(true)
                .expect("a socket can be made not to block");
            let listener = tokio::net::TcpListener::from_std(listener)
                .expect("a socket that does not block can be awaited");
            let serving = axum::serve(listener, router).into_future();
            // Dropping the runtime ends the connections, also those in the middle of something.
            tokio::select! {
                _ = serving => {}
                _ = stopped => {}
            }
        });
    });
    Running {
        url,
        openapi,
        database: None,
        journal: Journal::default(),
        folder: None,
        stop: Some(stop),
        thread: Some(thread),
    }
}

impl Running {
    /// The same service, with the database that it works on and the folder that goes with it.
    pub(crate) fn with_database(mut self, folder: Arc<TempDir>, path: &str) -> Self {
        self.folder = Some(folder);
        self.database = Some(path.to_owned());
        self
    }

    /// The same service, with what it writes down.
    pub(crate) fn with_journal(mut self, journal: Journal) -> Self {
        self.journal = journal;
        self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
