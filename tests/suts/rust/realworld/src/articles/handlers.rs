//! The handlers of articles.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::articles::model::{Article, ArticleState, ChangedArticle, NewArticle, Row, check, tidy};
use crate::articles::queries::{self, Filter, Scope};
use crate::auth::{CurrentUser, viewer};
use crate::error::Result;
use crate::input::{Body, Path, Query};
use crate::page::Listed;
use crate::slug::slug;
use crate::store;
use crate::validate::Violations;

/// Bodies hold the article under this name.
#[derive(Deserialize, Serialize)]
pub(crate) struct ArticleBody<T> {
    pub(crate) article: T,
}

const NOT_YOURS: &str = "this is somebody else's article";

/// `GET /api/articles`
pub(crate) async fn list(
    State(app): State<App>,
    user: Option<CurrentUser>,
    Query(filter): Query<Filter>,
) -> Result<Body<Listed<Article>>> {
    let mut db = app.store.connection().await?;
    let viewer = viewer(user.as_ref());
    queries::list(&mut db, &filter, Scope::Everybody, viewer)
        .await
        .map(Body)
}

/// `GET /api/articles/feed`
pub(crate) async fn feed(
    State(app): State<App>,
    user: CurrentUser,
    Query(filter): Query<Filter>,
) -> Result<Body<Listed<Article>>> {
    let mut db = app.store.connection().await?;
    queries::list(&mut db, &filter, Scope::Followed, user.id)
        .await
        .map(Body)
}

/// `POST /api/articles`
pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    Body(ArticleBody { article: new }): Body<ArticleBody<NewArticle>>,
) -> Result<(StatusCode, Body<ArticleBody<Article>>)> {
    check(
        Some(&new.title),
        Some(&new.description),
        Some(&new.body),
        Some(&new.tag_list),
    )?;
    let now = store::text(app.now());
    let (state, published) = if new.draft {
        (ArticleState::Draft, None)
    } else {
        (ArticleState::Published, Some(&now))
    };
    let mut transaction = app.store.begin().await?;
    let slug = queries::free_slug(&mut transaction, &slug(&new.title), None).await?;
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO articles (author_id, slug, title, description, body, state, created_at, updated_at, published_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8) RETURNING id",
    )
    .bind(user.id)
    .bind(&slug)
    .bind(&new.title)
    .bind(&new.description)
    .bind(&new.body)
    .bind(state.name())
    .bind(&now)
    .bind(published)
    .fetch_one(&mut *transaction)
    .await?;
    queries::set_tags(&mut transaction, id, &tidy(new.tag_list)).await?;
    let row = queries::by_slug(&mut transaction, &slug, user.id).await?;
    transaction.commit().await?;
    Ok((StatusCode::CREATED, answer(row)?))
}

/// `GET /api/articles/{slug}`
pub(crate) async fn fetch(
    State(app): State<App>,
    user: Option<CurrentUser>,
    Path(slug): Path<String>,
) -> Result<Body<ArticleBody<Article>>> {
    let viewer = viewer(user.as_ref());
    let mut db = app.store.connection().await?;
    let mut row = queries::by_slug(&mut db, &slug, viewer).await?;
    if row.author.id != viewer {
        sqlx::query("UPDATE articles SET reads = reads + 1 WHERE id = ?1")
            .bind(row.id)
            .execute(&mut *db)
            .await?;
        row.reads += 1;
    }
    answer(row)
}

/// `PUT /api/articles/{slug}`
pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    Path(slug): Path<String>,
    Body(ArticleBody { article: change }): Body<ArticleBody<ChangedArticle>>,
) -> Result<Body<ArticleBody<Article>>> {
    if change.is_empty() {
        return Err(Violations::of("article", "changes nothing").into());
    }
    check(
        change.title.as_deref(),
        change.description.as_deref(),
        change.body.as_deref(),
        change.tag_list.as_deref(),
    )?;
    let mut transaction = app.store.begin().await?;
    let row = queries::by_slug(&mut transaction, &slug, user.id).await?;
    user.may_change(row.author.id, NOT_YOURS)?;
    // The address follows the title only as long as nobody can have it.
    let slug = match &change.title {
        Some(title) if row.state == "draft" && *title != row.title => {
            let wanted = crate::slug::slug(title);
            queries::free_slug(&mut transaction, &wanted, Some(row.id)).await?
        }
        _ => row.slug,
    };
    sqlx::query(
        "UPDATE articles SET slug = ?2, title = ?3, description = ?4, body = ?5, updated_at = ?6 WHERE id = ?1",
    )
    .bind(row.id)
    .bind(&slug)
    .bind(change.title.unwrap_or(row.title))
    .bind(change.description.unwrap_or(row.description))
    .bind(change.body.unwrap_or(row.body))
    .bind(store::text(app.now()))
    .execute(&mut *transaction)
    .await?;
    if let Some(tags) = change.tag_list {
        queries::set_tags(&mut transaction, row.id, &tidy(tags)).await?;
    }
    let row = queries::by_slug(&mut transaction, &slug, user.id).await?;
    transaction.commit().await?;
    answer(row)
}

/// `DELETE /api/articles/{slug}`
pub(crate) async fn remove(
    State(app): State<App>,
    user: CurrentUser,
    Path(slug): Path<String>,
) -> Result<StatusCode> {
    let mut db = app.store.connection().await?;
    let row = queries::by_slug(&mut db, &slug, user.id).await?;
    user.may_change(row.author.id, NOT_YOURS)?;
    sqlx::query("DELETE FROM articles WHERE id = ?1")
        .bind(row.id)
        .execute(&mut *db)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Where an article shall go.
#[derive(Deserialize)]
pub(crate) struct Going {
    state: ArticleState,
}

/// `POST /api/articles/{slug}/state`
pub(crate) async fn go(
    State(app): State<App>,
    user: CurrentUser,
    Path(slug): Path<String>,
    Body(Going { state: to }): Body<Going>,
) -> Result<Body<ArticleBody<Article>>> {
    let mut transaction = app.store.begin().await?;
    let row = queries::by_slug(&mut transaction, &slug, user.id).await?;
    user.may_change(row.author.id, NOT_YOURS)?;
    let state = row.state.parse::<ArticleState>()?.go(to)?;
    let now = store::text(app.now());
    sqlx::query(
        "UPDATE articles SET state = ?2, updated_at = ?3, published_at = coalesce(published_at, ?3) WHERE id = ?1",
    )
    .bind(row.id)
    .bind(state.name())
    .bind(&now)
    .execute(&mut *transaction)
    .await?;
    let row = queries::by_slug(&mut transaction, &row.slug, user.id).await?;
    transaction.commit().await?;
    answer(row)
}

/// One article as a body.
pub(crate) fn answer(row: Row) -> Result<Body<ArticleBody<Article>>> {
    let article = Article::try_from(row)?;
    Ok(Body(ArticleBody { article }))
}
