//! Numbers about all pastes.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use actix_web::web::{Data, Json};
use actix_web::{Responder, get};
use diesel::dsl::{count_star, max, sum};
use diesel::prelude::*;
use serde::Serialize;
use time::OffsetDateTime;

use crate::models::time;
use crate::problem::Result;
use crate::schema::{pastes, versions};
use crate::service::Shared;
use crate::store::on_database;

/// How old pastes are, by the largest step that they have passed.
const AGES: [(&str, i64); 4] = [
    ("older", 30 * 24 * 60 * 60),
    ("month", 7 * 24 * 60 * 60),
    ("week", 24 * 60 * 60),
    ("day", 0),
];

/// The numbers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    pastes: i64,
    versions: i64,
    views: i64,
    forked: i64,
    by_syntax: BTreeMap<String, i64>,
    by_visibility: BTreeMap<String, i64>,
    by_age: BTreeMap<&'static str, usize>,
    #[serde(with = "time::serde::rfc3339::option")]
    last_change: Option<OffsetDateTime>,
    requests: u64,
}

fn age(created_at: i64, now: OffsetDateTime) -> &'static str {
    let age = (now.unix_timestamp() - created_at).max(0);
    AGES.iter()
        .find(|(_, least)| age >= *least)
        .map_or("day", |(name, _)| name)
}

fn count(connection: &mut SqliteConnection, now: OffsetDateTime, requests: u64) -> Result<Stats> {
    let by_syntax: Vec<(String, i64)> = pastes::table
        .group_by(pastes::syntax)
        .select((pastes::syntax, count_star()))
        .load(connection)?;
    let by_visibility: Vec<(String, i64)> = pastes::table
        .group_by(pastes::visibility)
        .select((pastes::visibility, count_star()))
        .load(connection)?;
    let created: Vec<i64> = pastes::table.select(pastes::created_at).load(connection)?;
    let mut by_age = BTreeMap::new();
    for at in created {
        *by_age.entry(age(at, now)).or_insert(0) += 1;
    }
    let views: Option<i64> = pastes::table.select(sum(pastes::views)).first(connection)?;
    let last: Option<i64> = pastes::table
        .select(max(pastes::updated_at))
        .first(connection)?;
    Ok(Stats {
        pastes: pastes::table.count().get_result(connection)?,
        versions: versions::table.count().get_result(connection)?,
        views: views.unwrap_or(0),
        forked: pastes::table
            .filter(pastes::parent.is_not_null())
            .count()
            .get_result(connection)?,
        by_syntax: by_syntax.into_iter().collect(),
        by_visibility: by_visibility.into_iter().collect(),
        by_age,
        last_change: last.map(time).transpose()?,
        requests,
    })
}

/// `GET /stats`
#[get("/stats")]
pub(crate) async fn stats(shared: Data<Shared>) -> Result<impl Responder> {
    let requests = shared.served.load(Ordering::Relaxed);
    let stats = on_database(&shared, move |connection, now| {
        count(connection, now, requests)
    })
    .await?;
    Ok(Json(stats))
}
