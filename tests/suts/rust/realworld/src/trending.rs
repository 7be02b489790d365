//! What is read most. Counted by a background task, because it looks at all articles.

use std::cmp::Reverse;
use std::sync::{PoisonError, RwLock};

use axum::extract::State;
use chrono::{DateTime, Duration, Utc};
use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use crate::app::App;
use crate::error::{Error, Result};
use crate::input::{Body, Query};
use crate::store::Store;
use crate::validate::Violations;

/// How many are kept.
const KEPT: usize = 20;

/// Points per day that an article is old are taken off, up to this many days.
const FADES: i64 = 30;

#[derive(Debug, Default)]
pub(crate) struct Trending {
    counted: RwLock<Option<Counted>>,
}

#[derive(Clone, Debug)]
struct Counted {
    at: DateTime<Utc>,
    ranked: Vec<Ranked>,
}

/// An article and how many points it has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Ranked {
    slug: String,
    title: String,
    points: i64,
}

#[derive(FromRow)]
struct Row {
    slug: String,
    title: String,
    reads: i64,
    favorites: i64,
    comments: i64,
    published_at: String,
}

impl Row {
    fn points(&self, now: DateTime<Utc>) -> i64 {
        let base = self.reads + 5 * self.favorites + 3 * self.comments;
        let age = match DateTime::parse_from_rfc3339(&self.published_at) {
            Ok(published) => now.signed_duration_since(published),
            Err(_) => Duration::days(FADES),
        };
        match age.num_days() {
            days if days < 1 => base * 2,
            days if days <= FADES => base - days,
            _ => base - FADES,
        }
    }
}

impl Trending {
    /// Counts again.
    pub(crate) async fn count(&self, store: &Store, now: DateTime<Utc>) -> Result<()> {
        let mut db = store.connection().await?;
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT slug, title, reads, published_at,
                    (SELECT count(*) FROM favorites f WHERE f.article_id = a.id) AS favorites,
                    (SELECT count(*) FROM comments c WHERE c.article_id = a.id) AS comments
             FROM articles a WHERE state = 'published'",
        )
        .fetch_all(&mut *db)
        .await?;
        let mut ranked: Vec<Ranked> = rows
            .into_iter()
            .map(|row| Ranked {
                points: row.points(now),
                slug: row.slug,
                title: row.title,
            })
            .filter(|ranked| ranked.points > 0)
            .collect();
        ranked.sort_by(|a, b| {
            Reverse(a.points)
                .cmp(&Reverse(b.points))
                .then_with(|| a.slug.cmp(&b.slug))
        });
        ranked.truncate(KEPT);
        let mut counted = self.counted.write().unwrap_or_else(PoisonError::into_inner);
        *counted = Some(Counted { at: now, ranked });
        Ok(())
    }

    pub(crate) fn clear(&self) {
        *self.counted.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn read(&self) -> Option<Counted> {
        self.counted
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// How many are wanted, and whether to count again before.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    top: Option<usize>,
    #[serde(default)]
    fresh: bool,
}

/// The ranking, and when it was made.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ranking {
    counted_at: DateTime<Utc>,
    articles: Vec<Ranked>,
}

/// `GET /api/articles/trending`
pub(crate) async fn list(
    State(app): State<App>,
    Query(wanted): Query<Wanted>,
) -> Result<Body<Ranking>> {
    let top = wanted.top.unwrap_or(10);
    if top == 0 || top > KEPT {
        return Err(Violations::of("top", format!("is not between 1 and {KEPT}")).into());
    }
    let counted = match app.trending.read() {
        Some(counted) if !wanted.fresh => counted,
        _ => {
            app.trending.count(&app.store, app.now()).await?;
            app.trending.read().ok_or(Error::Absent("ranking"))?
        }
    };
    Ok(Body(Ranking {
        counted_at: counted.at,
        articles: counted.ranked.into_iter().take(top).collect(),
    }))
}
