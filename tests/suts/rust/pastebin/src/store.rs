//! The database: opened once, used by one request at a time, away from the threads that answer.

use std::sync::{Mutex, PoisonError};

use actix_web::web::{Data, block};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use time::OffsetDateTime;

use crate::id::Id;
use crate::models::{Paste, Version};
use crate::problem::{Problem, Result};
use crate::schema::{CREATE, pastes, versions};
use crate::service::Shared;

/// The one connection.
pub(crate) struct Store(Mutex<SqliteConnection>);

impl Store {
    pub(crate) fn open(path: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let mut connection = SqliteConnection::establish(path)?;
        connection.batch_execute(CREATE)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Uses the connection; a request that panicked does not take it along.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut SqliteConnection) -> T) -> T {
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection)
    }

    pub(crate) fn clear(&self) -> Result<()> {
        self.with(|connection| {
            connection.transaction(|connection| {
                diesel::delete(versions::table).execute(connection)?;
                diesel::delete(pastes::table).execute(connection)?;
                Ok(())
            })
        })
    }
}

/// Runs `work` on the database in a transaction, on a thread that may wait.
pub(crate) async fn on_database<T, F>(shared: &Data<Shared>, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce(&mut SqliteConnection, OffsetDateTime) -> Result<T> + Send + 'static,
{
    let shared = shared.clone();
    let now = shared.now();
    block(move || {
        shared
            .store
            .with(|connection| connection.transaction(|connection| work(connection, now)))
    })
    .await
    .map_err(|_| Problem::Cancelled)?
}

/// A paste that can still be read.
pub(crate) fn live_paste(
    connection: &mut SqliteConnection,
    id: Id,
    now: OffsetDateTime,
) -> Result<Paste> {
    let paste: Paste = pastes::table
        .find(id.to_string())
        .select(Paste::as_select())
        .first(connection)?;
    if paste.is_over(now) {
        return Err(Problem::Gone);
    }
    Ok(paste)
}

/// One version of a paste.
pub(crate) fn version(
    connection: &mut SqliteConnection,
    paste: &Paste,
    number: i32,
) -> Result<Version> {
    versions::table
        .find((&paste.id, number))
        .select(Version::as_select())
        .first(connection)
        .optional()?
        .ok_or(Problem::Absent("version"))
}

/// Removes what is over; returns how many.
pub(crate) fn sweep(connection: &mut SqliteConnection, now: OffsetDateTime) -> Result<usize> {
    let expired = pastes::expires_at.le(now.unix_timestamp());
    let burnt = pastes::views.nullable().ge(pastes::most_views);
    let removed = diesel::delete(pastes::table.filter(expired.or(burnt))).execute(connection)?;
    Ok(removed)
}
