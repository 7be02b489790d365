//! The routes, and what all of them share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::middleware::{Next, from_fn};
use actix_web::rt::task::JoinHandle;
use actix_web::web::{self, Data, JsonConfig, PathConfig, QueryConfig, ServiceConfig};
use actix_web::{App, Error, HttpResponse, Responder};
use diesel::prelude::*;
use serde_json::json;
use time::OffsetDateTime;

use crate::config::Config;
use crate::language::{SYNTAXES, Sample, by_name};
use crate::problem::{Problem, Result};
use crate::rate::{Buckets, limit};
use crate::schema::pastes;
use crate::store::{Store, on_database, sweep};
use crate::{pastes as resource, search, stats};

/// The document of the API, as it is served.
pub const OPENAPI: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> OffsetDateTime + Send + Sync>;

/// What all handlers share.
pub struct Shared {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) buckets: Buckets,
    pub(crate) served: AtomicU64,
    clock: Clock,
}

impl Shared {
    /// Opens the database and gets ready to serve.
    ///
    /// # Errors
    ///
    /// When the database cannot be opened or its tables not be made.
    pub fn open(config: Config) -> Result<Self, Box<dyn std::error::Error>> {
        Self::with_clock(config, Arc::new(OffsetDateTime::now_utc))
    }

    /// The same, by another clock.
    ///
    /// # Errors
    ///
    /// When the database cannot be opened or its tables not be made.
    pub fn with_clock(config: Config, clock: Clock) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self {
            store: Store::open(&config.database)?,
            buckets: Buckets::new(config.rate),
            served: AtomicU64::new(0),
            clock,
            config,
        })
    }

    pub(crate) fn now(&self) -> OffsetDateTime {
        (self.clock)()
    }
}

/// Starts the task that removes expired pastes from time to time.
pub fn spawn_sweeping(shared: Data<Shared>) -> JoinHandle<()> {
    actix_web::rt::spawn(async move {
        let mut every = tokio::time::interval(shared.config.sweep_every);
        loop {
            every.tick().await;
            match on_database(&shared, sweep).await {
                Ok(0) => {}
                Ok(removed) => println!("removed {removed} expired pastes"),
                Err(problem) => eprintln!("pastebin: cannot sweep: {problem}"),
            }
        }
    })
}

/// All routes of a service.
pub fn app(
    shared: Data<Shared>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new()
        .app_data(shared.clone())
        .app_data(
            JsonConfig::default()
                .limit(4 * shared.config.longest)
                .error_handler(|error, _| Problem::from(error).into()),
        )
        .app_data(PathConfig::default().error_handler(|error, _| Problem::from(error).into()))
        .app_data(QueryConfig::default().error_handler(|error, _| Problem::from(error).into()))
        .app_data(web::PayloadConfig::new(4 * shared.config.longest))
        .wrap(from_fn(limit))
        .wrap(from_fn(stamp))
        .configure(|routes| configure(routes, shared.config.reset))
        .default_service(web::to(async || {
            Err::<HttpResponse, _>(Problem::Absent("page"))
        }))
}

fn configure(routes: &mut ServiceConfig, with_reset: bool) {
    routes
        .service(resource::create::create)
        .service(resource::list::list)
        .service(resource::read::raw)
        .service(resource::read::fetch)
        .service(resource::edit::change)
        .service(resource::edit::prolong)
        .service(resource::edit::remove)
        .service(resource::history::all_versions)
        .service(resource::history::one_version)
        .service(resource::history::differences)
        .service(resource::fork::fork)
        .service(resource::fork::forks)
        .service(search::search)
        .service(stats::stats)
        .route("/syntaxes", web::get().to(async || web::Json(SYNTAXES)))
        .route("/syntaxes/{name}", web::get().to(syntax))
        .route("/detect", web::post().to(detect))
        .route("/health", web::get().to(health))
        .route("/openapi.json", web::get().to(document));
    if with_reset {
        routes.route("/reset", web::post().to(reset));
    }
}

/// Numbers the answers, and says what must hold for all of them.
async fn stamp(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let number = request
        .app_data::<Data<Shared>>()
        .map_or(0, |shared| shared.served.fetch_add(1, Ordering::Relaxed));
    let mut response = next.call(request).await?;
    let headers = response.headers_mut();
    headers.insert(
        HeaderName::from_static("x-request-number"),
        HeaderValue::from(number),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    Ok(response)
}

pub(crate) async fn syntax(name: web::Path<String>) -> Result<impl Responder> {
    by_name(&name)
        .map(web::Json)
        .ok_or(Problem::Absent("syntax"))
}

pub(crate) async fn detect(sample: web::Json<Sample>) -> Result<impl Responder> {
    if sample.content.is_empty() {
        return Err(Problem::invalid("content", "is empty"));
    }
    Ok(web::Json(sample.guess()))
}

pub(crate) async fn health(shared: Data<Shared>) -> Result<impl Responder> {
    let count: i64 = on_database(&shared, |connection, _| {
        Ok(pastes::table.count().get_result(connection)?)
    })
    .await?;
    Ok(web::Json(json!({ "status": "ok", "pastes": count })))
}

async fn document() -> impl Responder {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(OPENAPI)
}

pub(crate) async fn reset(shared: Data<Shared>) -> Result<impl Responder> {
    shared.store.clear()?;
    shared.buckets.clear();
    Ok(HttpResponse::NoContent())
}
