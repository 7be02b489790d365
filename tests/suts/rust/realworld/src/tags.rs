//! The words that articles are filed under.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use crate::app::App;
use crate::error::Result;
use crate::input::{Body, Query};
use crate::validate::{Check, TAG};

/// What tags are wanted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wanted {
    prefix: Option<String>,
    #[serde(default = "one")]
    at_least: u16,
}

const fn one() -> u16 {
    1
}

/// A tag, and how many published articles have it.
#[derive(FromRow, Serialize)]
pub(crate) struct Tag {
    tag: String,
    articles: i64,
}

/// Bodies hold the tags under this name.
#[derive(Serialize)]
pub(crate) struct Tags {
    tags: Vec<Tag>,
}

/// `GET /api/tags`
pub(crate) async fn list(
    State(app): State<App>,
    Query(wanted): Query<Wanted>,
) -> Result<Body<Tags>> {
    let mut check = Check::default();
    check.optional("prefix", wanted.prefix.as_deref(), |prefix| {
        prefix.length(1, 30).matches(&TAG, "the start of a tag");
    });
    check.finish()?;
    let mut db = app.store.connection().await?;
    let tags: Vec<Tag> = sqlx::query_as(
        "SELECT t.tag, count(*) AS articles
         FROM article_tags t JOIN articles a ON a.id = t.article_id
         WHERE a.state = 'published' AND t.tag LIKE ?1 || '%'
         GROUP BY t.tag HAVING count(*) >= ?2
         ORDER BY articles DESC, t.tag",
    )
    .bind(wanted.prefix.unwrap_or_default())
    .bind(wanted.at_least)
    .fetch_all(&mut *db)
    .await?;
    Ok(Body(Tags { tags }))
}
