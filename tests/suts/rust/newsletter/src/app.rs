//! The routes, and what all of them share.

use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::address::Address;
use crate::auth::Editor;
use crate::config::Config;
use crate::dispatch::Dispatcher;
use crate::error::{Error, Result};
use crate::input::{Body, Query};
use crate::mailer::Outbox;
use crate::store::Store;
use crate::{campaigns, dispatch, import, lists, statistics, subscriptions, templates};

/// The document of the API, as it is served.
pub const OPENAPI: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What all handlers share; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Shared>);

/// The insides of [`App`].
pub struct Shared {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) outbox: Outbox,
    clock: Clock,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    /// Opens the database and gets ready to serve.
    ///
    /// # Errors
    ///
    /// When the database cannot be opened or its tables not be made.
    pub async fn open(config: Config) -> Result<Self, sqlx::Error> {
        Self::with_clock(config, Arc::new(Timestamp::now)).await
    }

    /// The same, by another clock.
    ///
    /// # Errors
    ///
    /// When the database cannot be opened or its tables not be made.
    pub async fn with_clock(config: Config, clock: Clock) -> Result<Self, sqlx::Error> {
        Ok(Self(Arc::new(Shared {
            store: Store::open(&config.database).await?,
            outbox: Outbox::default(),
            config,
            clock,
        })))
    }

    /// The time now, in whole seconds.
    pub(crate) fn now(&self) -> Timestamp {
        let now = (self.clock)();
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    /// Who sends letters for this service.
    pub(crate) fn dispatcher(&self) -> Dispatcher<'_, Outbox> {
        Dispatcher {
            store: &self.store,
            mailer: &self.outbox,
            batch: self.config.batch,
            now: self.now(),
        }
    }

    /// Starts the task that sends campaigns when their time has come.
    pub fn spawn_dispatching(&self) -> JoinHandle<()> {
        let app = self.clone();
        tokio::spawn(async move {
            let mut every = tokio::time::interval(app.config.dispatch_every);
            loop {
                every.tick().await;
                if let Err(error) = app.dispatcher().run().await {
                    eprintln!("newsletter: cannot dispatch: {error}");
                }
            }
        })
    }
}

/// All routes of a service.
pub fn router(app: App) -> Router {
    let admin = Router::new()
        .route("/lists", post(lists::create))
        .route(
            "/lists/{slug}",
            get(lists::fetch).patch(lists::change).delete(lists::remove),
        )
        .route("/lists/{slug}/subscribers", get(subscriptions::list))
        .route("/lists/{slug}/import", post(import::import))
        .route("/templates", get(templates::list).post(templates::create))
        .route(
            "/templates/{name}",
            get(templates::fetch)
                .put(templates::replace)
                .delete(templates::remove),
        )
        .route("/templates/{name}/preview", post(templates::preview))
        .route("/campaigns", get(campaigns::list).post(campaigns::create))
        .route(
            "/campaigns/{id}",
            get(campaigns::fetch)
                .patch(campaigns::change)
                .delete(campaigns::remove),
        )
        .route("/campaigns/{id}/schedule", post(campaigns::schedule))
        .route("/campaigns/{id}/{step}", post(campaigns::step))
        .route("/campaigns/{id}/deliveries", get(dispatch::deliveries))
        .route("/dispatch", post(dispatch::now))
        .route("/outbox", get(outbox))
        .route("/statistics", get(statistics::overview));
    let mut routes = Router::new()
        .nest("/admin", admin)
        .route("/lists", get(lists::open_lists))
        .route(
            "/lists/{slug}/subscriptions",
            post(subscriptions::subscribe),
        )
        .route("/subscriptions/confirm", post(subscriptions::confirm))
        .route(
            "/subscriptions/{token}",
            get(subscriptions::show).delete(subscriptions::unsubscribe),
        )
        .route("/health", get(health))
        .route("/openapi.json", get(document));
    if app.config.reset {
        routes = routes.route("/reset", post(reset));
    }
    routes
        .fallback(async || Error::Absent("page"))
        .method_not_allowed_fallback(async || {
            let message = "the method is not supported here".to_owned();
            Error::Malformed(StatusCode::METHOD_NOT_ALLOWED, message)
        })
        .layer(DefaultBodyLimit::max(512 * 1024))
        .with_state(app)
}

/// Whose letters are wanted.
#[derive(Deserialize)]
struct Wanted {
    to: Option<String>,
}

/// `GET /admin/outbox`
async fn outbox(
    State(app): State<App>,
    _: Editor,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse> {
    let to = wanted
        .to
        .as_deref()
        .map(str::parse::<Address>)
        .transpose()?;
    Ok(Body(app.outbox.letters(to.as_ref())))
}

async fn health(State(app): State<App>) -> Result<impl IntoResponse> {
    let mut db = app.store.connection().await?;
    let lists: i64 = sqlx::query_scalar("SELECT count(*) FROM lists")
        .fetch_one(&mut *db)
        .await?;
    Ok(Body(json!({ "status": "ok", "lists": lists })))
}

async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

async fn reset(State(app): State<App>) -> Result<StatusCode> {
    app.store.reset().await?;
    app.outbox.clear();
    Ok(StatusCode::NO_CONTENT)
}
