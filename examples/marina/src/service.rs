//! The routes, the state they share, and a running service for tests.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use rusqlite::Connection;
use tokio::sync::oneshot;
use tower_http::catch_panic::CatchPanicLayer;

use crate::problem::Problem;
use crate::{
    Fault, Faults, OPENAPI, auth, berths, boats, bookings, invoices, notices, reports, store,
};

/// What all handlers share.
#[derive(Clone)]
pub(crate) struct Marina {
    db: Arc<Mutex<Connection>>,
    sessions: Arc<Mutex<BTreeMap<String, i64>>>,
    faults: Faults,
}

impl Marina {
    fn new(faults: Faults, file: Option<&Path>) -> rusqlite::Result<Self> {
        Ok(Self {
            db: Arc::new(Mutex::new(store::open(file)?)),
            sessions: Arc::default(),
            faults,
        })
    }

    /// The database. A handler that panicked does not take it along.
    pub(crate) fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.faults.has(fault)
    }

    pub(crate) fn session(&self, token: &str) -> Option<i64> {
        self.sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(token)
            .copied()
    }

    pub(crate) fn open_session(&self, user: i64) -> String {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let token = format!("pass-{user}-{}", sessions.len() + 1);
        sessions.insert(token.clone(), user);
        token
    }

    fn reset(&self) -> rusqlite::Result<()> {
        store::reset(&mut self.db())
    }
}

/// All routes of a service with these faults, whose rows are in memory or in a file.
///
/// `POST /reset`, which is not part of the API, brings the first rows back; log-ins stay valid.
///
/// # Errors
///
/// When SQLite cannot make the tables.
pub fn router(faults: Faults, file: Option<&Path>) -> rusqlite::Result<Router> {
    let marina = Marina::new(faults, file)?;
    let routes = Router::new()
        .route("/login", post(auth::login))
        .route("/me", get(auth::me))
        .route("/boats", get(boats::list).post(boats::create))
        .route(
            "/boats/{boatId}",
            get(boats::fetch).put(boats::replace).delete(boats::remove),
        )
        .route("/berths", get(berths::list).post(berths::create))
        .route(
            "/berths/{berthId}",
            get(berths::fetch)
                .patch(berths::change)
                .delete(berths::remove),
        )
        .route("/bookings", get(bookings::list).post(bookings::create))
        .route(
            "/bookings/{bookingId}",
            get(bookings::fetch)
                .patch(bookings::change)
                .delete(bookings::cancel),
        )
        .route("/bookings/{bookingId}/invoice", post(invoices::create))
        .route("/invoices/{invoiceId}", get(invoices::fetch))
        .route("/notices", get(notices::list).post(notices::create))
        .route("/notices/{noticeId}", get(notices::fetch))
        .route("/reports/occupancy", get(reports::occupancy))
        .route("/search", get(reports::search))
        .layer(CatchPanicLayer::custom(answer_panic))
        // Outside of the layer: a panic in here closes the connection.
        .route("/invoices/{invoiceId}/payments", post(invoices::pay))
        .route("/openapi.yaml", get(document))
        .route("/reset", post(reset));
    Ok(routes.with_state(marina))
}

fn answer_panic(_: Box<dyn Any + Send>) -> Response {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong").into_response()
}

async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/yaml")], OPENAPI)
}

async fn reset(State(marina): State<Marina>) -> Result<StatusCode, Problem> {
    marina.reset()?;
    Ok(StatusCode::NO_CONTENT)
}

/// Serves until `stop` resolves.
///
/// # Errors
///
/// When the tables cannot be made or the listener fails.
pub async fn serve(
    listener: TcpListener,
    faults: Faults,
    file: Option<&Path>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let router = router(faults, file).map_err(io::Error::other)?;
    axum::serve(listener, router)
        .with_graceful_shutdown(stop)
        .await
}

/// A service in a thread of its own, which ends when this is dropped.
pub struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Where it answers, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Starts the service on a free port of the loopback interface, with its rows in memory.
///
/// # Errors
///
/// When there is no free port or no thread to be had.
pub fn start(faults: Faults) -> io::Result<Running> {
    start_on(faults, None)
}

/// The same with its rows in a file, if one is given.
///
/// # Errors
///
/// As [`start`].
pub fn start_on(faults: Faults, file: Option<PathBuf>) -> io::Result<Running> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let thread = std::thread::Builder::new()
        .name("marina".into())
        .spawn(move || {
            // Open connections would keep a graceful shutdown waiting; the service is in memory, so nothing is lost.
            runtime.block_on(async {
                tokio::select! {
                    _ = serve(listener, faults, file.as_deref(), std::future::pending()) => {}
                    _ = stopped => {}
                }
            });
        })?;
    Ok(Running {
        address,
        stop: Some(stop),
        thread: Some(thread),
    })
}
