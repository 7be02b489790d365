//! The routes, and what all of them share.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use chrono::{DateTime, Utc};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::auth::token::Signer;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::input::Body;
use crate::limit::Attempts;
use crate::store::Store;
use crate::trending::Trending;
use crate::{articles, comments, favorites, profiles, reports, tags, users};

/// The document of the API, as it is served.
pub const OPENAPI: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// What all handlers share; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Shared>);

/// The insides of [`App`].
pub struct Shared {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) signer: Signer,
    pub(crate) attempts: Attempts,
    pub(crate) trending: Trending,
    clock: Box<dyn Clock>,
    served: AtomicU64,
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
        Self::with_clock(config, SystemClock).await
    }

    /// The same, by another clock.
    ///
    /// # Errors
    ///
    /// When the database cannot be opened or its tables not be made.
    pub async fn with_clock(config: Config, clock: impl Clock) -> Result<Self, sqlx::Error> {
        let store = Store::open(&config.database, clock.now()).await?;
        Ok(Self(Arc::new(Shared {
            signer: Signer::new(&config.secret, config.token_life),
            attempts: Attempts::new(config.login_attempts),
            trending: Trending::default(),
            clock: Box::new(clock),
            served: AtomicU64::new(0),
            store,
            config,
        })))
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Starts the task that counts from time to time what is read most.
    pub fn spawn_counting(&self) -> JoinHandle<()> {
        let app = self.clone();
        tokio::spawn(async move {
            let mut every = tokio::time::interval(app.config.count_every);
            loop {
                every.tick().await;
                if let Err(error) = app.trending.count(&app.store, app.now()).await {
                    eprintln!("realworld: cannot count what is read: {error}");
                }
            }
        })
    }
}

/// All routes of a service.
pub fn router(app: App) -> Router {
    let api = Router::new()
        .route("/users", post(users::register))
        .route("/users/login", post(users::login))
        .route("/user", get(users::current).put(users::change))
        .route("/user/logout", post(users::logout))
        .route("/profiles/{username}", get(profiles::fetch))
        .route(
            "/profiles/{username}/follow",
            post(profiles::follow).delete(profiles::unfollow),
        )
        .route("/profiles/{username}/followers", get(profiles::followers))
        .route(
            "/articles",
            get(articles::handlers::list).post(articles::handlers::create),
        )
        .route("/articles/feed", get(articles::handlers::feed))
        .route("/articles/trending", get(crate::trending::list))
        .route(
            "/articles/{slug}",
            get(articles::handlers::fetch)
                .put(articles::handlers::change)
                .delete(articles::handlers::remove),
        )
        .route("/articles/{slug}/state", post(articles::handlers::go))
        .route(
            "/articles/{slug}/comments",
            get(comments::list).post(comments::create),
        )
        .route("/articles/{slug}/comments/{id}", delete(comments::remove))
        .route(
            "/articles/{slug}/favorite",
            post(favorites::add).delete(favorites::remove),
        )
        .route("/archive", get(articles::archive::by_month))
        .route("/tags", get(tags::list))
        .route("/reports", get(reports::list).post(reports::create))
        .route("/reports/{id}", get(reports::fetch).patch(reports::decide));
    let mut routes = Router::new()
        .nest("/api", api)
        .route("/health", get(health))
        .route("/openapi.json", get(document));
    if app.config.reset {
        routes = routes.route("/reset", post(reset));
    }
    routes
        .fallback(async || Error::Absent("page"))
        .method_not_allowed_fallback(async || {
            Error::Malformed(
                StatusCode::METHOD_NOT_ALLOWED,
                "the method is not supported here".to_owned(),
            )
        })
        .layer(middleware::from_fn_with_state(app.clone(), number_requests))
        .layer(DefaultBodyLimit::max(256 * 1024))
        .with_state(app)
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Gives each answer the identifier that the caller sent, or the next number.
async fn number_requests(State(app): State<App>, request: Request, next: Next) -> Response {
    let number = app.served.fetch_add(1, Ordering::Relaxed);
    let given = request.headers().get(&REQUEST_ID).cloned();
    let mut response = next.run(request).await;
    let id = match given {
        Some(id) if id.len() <= 64 => id,
        _ => HeaderValue::from(number),
    };
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

async fn health(State(app): State<App>) -> Result<impl IntoResponse> {
    let mut db = app.store.connection().await?;
    let users: i64 = sqlx::query_scalar("SELECT count(*) FROM users")
        .fetch_one(&mut *db)
        .await?;
    let served = app.served.load(Ordering::Relaxed);
    Ok(Body(
        json!({ "status": "ok", "users": users, "served": served }),
    ))
}

async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

async fn reset(State(app): State<App>) -> Result<StatusCode> {
    app.store.reset(app.now()).await?;
    app.attempts.clear();
    app.trending.clear();
    Ok(StatusCode::NO_CONTENT)
}
