//! Users as others see them, and who follows whom.

use axum::extract::State;
use serde::Serialize;
use sqlx::{FromRow, SqliteConnection};

use crate::app::App;
use crate::auth::{CurrentUser, viewer};
use crate::error::{Error, Result};
use crate::input::{Body, Path, Query};
use crate::page::{Listed, Page, Window};
use crate::validate::Violations;

/// A user as others see them.
#[derive(Clone, Debug, FromRow, Serialize)]
pub(crate) struct Profile {
    #[serde(skip)]
    #[sqlx(rename = "author_id")]
    pub(crate) id: i64,
    pub(crate) username: String,
    pub(crate) bio: String,
    pub(crate) image: Option<String>,
    pub(crate) following: bool,
}

/// Bodies hold a profile under this name.
#[derive(Serialize)]
pub(crate) struct ProfileBody {
    profile: Profile,
}

async fn by_name(db: &mut SqliteConnection, name: &str, viewer: i64) -> Result<Profile> {
    let profile = sqlx::query_as(
        "SELECT id AS author_id, username, bio, image,
                EXISTS (SELECT * FROM follows WHERE follower_id = ?2 AND followed_id = users.id) AS following
         FROM users WHERE username = ?1",
    )
    .bind(name)
    .bind(viewer)
    .fetch_optional(db)
    .await?;
    profile.ok_or(Error::Absent("user"))
}

/// `GET /api/profiles/{username}`
pub(crate) async fn fetch(
    State(app): State<App>,
    user: Option<CurrentUser>,
    Path(username): Path<String>,
) -> Result<Body<ProfileBody>> {
    let mut db = app.store.connection().await?;
    let profile = by_name(&mut db, &username, viewer(user.as_ref())).await?;
    Ok(Body(ProfileBody { profile }))
}

/// `POST /api/profiles/{username}/follow`
pub(crate) async fn follow(
    State(app): State<App>,
    user: CurrentUser,
    Path(username): Path<String>,
) -> Result<Body<ProfileBody>> {
    let mut db = app.store.connection().await?;
    let followed = by_name(&mut db, &username, user.id).await?;
    if followed.id == user.id {
        return Err(Violations::of("username", "is your own").into());
    }
    sqlx::query("INSERT OR IGNORE INTO follows (follower_id, followed_id) VALUES (?1, ?2)")
        .bind(user.id)
        .bind(followed.id)
        .execute(&mut *db)
        .await?;
    let profile = Profile {
        following: true,
        ..followed
    };
    Ok(Body(ProfileBody { profile }))
}

/// `DELETE /api/profiles/{username}/follow`
pub(crate) async fn unfollow(
    State(app): State<App>,
    user: CurrentUser,
    Path(username): Path<String>,
) -> Result<Body<ProfileBody>> {
    let mut db = app.store.connection().await?;
    let followed = by_name(&mut db, &username, user.id).await?;
    sqlx::query("DELETE FROM follows WHERE follower_id = ?1 AND followed_id = ?2")
        .bind(user.id)
        .bind(followed.id)
        .execute(&mut *db)
        .await?;
    let profile = Profile {
        following: false,
        ..followed
    };
    Ok(Body(ProfileBody { profile }))
}

/// `GET /api/profiles/{username}/followers`
pub(crate) async fn followers(
    State(app): State<App>,
    user: Option<CurrentUser>,
    Path(username): Path<String>,
    Query(window): Query<Window>,
) -> Result<Body<Listed<Profile>>> {
    let page = Page::try_from(window)?;
    let viewer = viewer(user.as_ref());
    let mut db = app.store.connection().await?;
    let followed = by_name(&mut db, &username, viewer).await?;
    let total: i64 = sqlx::query_scalar("SELECT count(*) FROM follows WHERE followed_id = ?1")
        .bind(followed.id)
        .fetch_one(&mut *db)
        .await?;
    let items = sqlx::query_as(
        "SELECT u.id AS author_id, u.username, u.bio, u.image,
                EXISTS (SELECT * FROM follows m WHERE m.follower_id = ?2 AND m.followed_id = u.id) AS following
         FROM follows f JOIN users u ON u.id = f.follower_id
         WHERE f.followed_id = ?1
         ORDER BY u.username LIMIT ?3 OFFSET ?4",
    )
    .bind(followed.id)
    .bind(viewer)
    .bind(page.limit)
    .bind(page.offset)
    .fetch_all(&mut *db)
    .await?;
    Ok(Body(Listed::new(items, total, page)))
}
