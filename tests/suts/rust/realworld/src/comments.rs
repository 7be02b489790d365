//! Comments on articles, and answers to comments.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, SqliteConnection};

use crate::app::App;
use crate::articles::queries;
use crate::auth::{CurrentUser, viewer};
use crate::error::{Error, Result};
use crate::input::{Body, Path};
use crate::profiles::Profile;
use crate::store;
use crate::validate::{Check, Violations};

/// How deep answers to answers go.
const DEEPEST: usize = 3;

#[derive(Debug, FromRow)]
struct Row {
    id: i64,
    parent_id: Option<i64>,
    body: String,
    created_at: String,
    updated_at: String,
    #[sqlx(flatten)]
    author: Profile,
}

/// A comment with the answers to it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comment {
    id: i64,
    body: String,
    created_at: String,
    updated_at: String,
    author: Profile,
    replies: Vec<Comment>,
}

impl From<Row> for Comment {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            body: row.body,
            created_at: row.created_at,
            updated_at: row.updated_at,
            author: row.author,
            replies: Vec::new(),
        }
    }
}

/// Bodies hold the comment under this name.
#[derive(Deserialize, Serialize)]
pub(crate) struct CommentBody<T> {
    comment: T,
}

/// Bodies hold several comments under this name.
#[derive(Serialize)]
pub(crate) struct Comments {
    comments: Vec<Comment>,
    total: usize,
}

/// A comment to be written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewComment {
    body: String,
    reply_to: Option<i64>,
}

async fn of_article(db: &mut SqliteConnection, article: i64, viewer: i64) -> Result<Vec<Row>> {
    let rows = sqlx::query_as(
        "SELECT c.id, c.parent_id, c.body, c.created_at, c.updated_at, u.id AS author_id, u.username, u.bio, u.image,
                EXISTS (SELECT * FROM follows WHERE follower_id = ?2 AND followed_id = u.id) AS following
         FROM comments c JOIN users u ON u.id = c.author_id
         WHERE c.article_id = ?1 ORDER BY c.id",
    )
    .bind(article)
    .bind(viewer)
    .fetch_all(db)
    .await?;
    Ok(rows)
}

/// Puts answers under what they answer.
fn thread(rows: Vec<Row>) -> Vec<Comment> {
    let mut children: HashMap<Option<i64>, Vec<Row>> = HashMap::new();
    for row in rows {
        children.entry(row.parent_id).or_default().push(row);
    }
    fn grow(parent: Option<i64>, children: &mut HashMap<Option<i64>, Vec<Row>>) -> Vec<Comment> {
        let rows = children.remove(&parent).unwrap_or_default();
        rows.into_iter()
            .map(|row| {
                let replies = grow(Some(row.id), children);
                Comment {
                    replies,
                    ..Comment::from(row)
                }
            })
            .collect()
    }
    grow(None, &mut children)
}

/// How many comments are above this one.
fn depth(rows: &[Row], mut id: i64) -> Option<usize> {
    let mut depth = 0;
    loop {
        let row = rows.iter().find(|row| row.id == id)?;
        match row.parent_id {
            Some(parent) => id = parent,
            None => return Some(depth),
        }
        depth += 1;
    }
}

/// `GET /api/articles/{slug}/comments`
pub(crate) async fn list(
    State(app): State<App>,
    user: Option<CurrentUser>,
    Path(slug): Path<String>,
) -> Result<Body<Comments>> {
    let viewer = viewer(user.as_ref());
    let mut db = app.store.connection().await?;
    let article = queries::by_slug(&mut db, &slug, viewer).await?;
    let rows = of_article(&mut db, article.id, viewer).await?;
    Ok(Body(Comments {
        total: rows.len(),
        comments: thread(rows),
    }))
}

/// `POST /api/articles/{slug}/comments`
pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    Path(slug): Path<String>,
    Body(CommentBody { comment: new }): Body<CommentBody<NewComment>>,
) -> Result<(StatusCode, Body<CommentBody<Comment>>)> {
    let mut check = Check::default();
    check.text("body", &new.body).length(1, 2000).not_blank();
    check.finish()?;
    let mut transaction = app.store.begin().await?;
    let article = queries::by_slug(&mut transaction, &slug, user.id).await?;
    if article.state == "archived" {
        return Err(Error::Conflict {
            field: "article",
            why: "is archived and takes no comments",
        });
    }
    if let Some(parent) = new.reply_to {
        let rows = of_article(&mut transaction, article.id, user.id).await?;
        match depth(&rows, parent) {
            None => return Err(Violations::of("replyTo", "is not a comment here").into()),
            Some(depth) if depth + 1 >= DEEPEST => {
                return Err(Violations::of("replyTo", "is too deep").into());
            }
            Some(_) => {}
        }
    }
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO comments (article_id, author_id, parent_id, body, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5) RETURNING id",
    )
    .bind(article.id)
    .bind(user.id)
    .bind(new.reply_to)
    .bind(&new.body)
    .bind(store::text(app.now()))
    .fetch_one(&mut *transaction)
    .await?;
    let rows = of_article(&mut transaction, article.id, user.id).await?;
    transaction.commit().await?;
    let comment = rows
        .into_iter()
        .find(|row| row.id == id)
        .map(Comment::from)
        .ok_or(Error::Absent("comment"))?;
    Ok((StatusCode::CREATED, Body(CommentBody { comment })))
}

/// `DELETE /api/articles/{slug}/comments/{id}`
pub(crate) async fn remove(
    State(app): State<App>,
    user: CurrentUser,
    Path((slug, id)): Path<(String, i64)>,
) -> Result<StatusCode> {
    let mut db = app.store.connection().await?;
    let article = queries::by_slug(&mut db, &slug, user.id).await?;
    let rows = of_article(&mut db, article.id, user.id).await?;
    let Some(row) = rows.iter().find(|row| row.id == id) else {
        return Err(Error::Absent("comment"));
    };
    // The author of the article keeps order below it.
    if article.author.id != user.id {
        user.may_change(row.author.id, "this is somebody else's comment")?;
    }
    sqlx::query("DELETE FROM comments WHERE id = ?1")
        .bind(id)
        .execute(&mut *db)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
