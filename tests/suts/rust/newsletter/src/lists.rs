//! Mailing lists.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, SqliteConnection};

use crate::app::App;
use crate::auth::{Admin, Editor};
use crate::error::{Error, Result};
use crate::input::{Body, Path, line, slug};
use crate::schedule::Hours;

/// A list as it is stored and answered.
#[derive(Clone, Debug, FromRow, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List {
    #[serde(skip)]
    pub(crate) id: i64,
    pub(crate) slug: String,
    pub(crate) title: String,
    pub(crate) description: String,
    /// Whether people may subscribe.
    pub(crate) open: bool,
    pub(crate) hour_from: i8,
    pub(crate) hour_until: i8,
    pub(crate) offset_minutes: i32,
    pub(crate) confirmed: i64,
}

/// A list to be made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewList {
    slug: String,
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    hours: Option<HoursBody>,
}

/// A change of a list: what is absent stays.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListChange {
    title: Option<String>,
    description: Option<String>,
    open: Option<bool>,
    hours: Option<HoursBody>,
}

/// The hours in which a list sends.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HoursBody {
    from: i8,
    until: i8,
    #[serde(default)]
    offset_minutes: i32,
}

impl HoursBody {
    fn check(self) -> Result<Self> {
        if !(0..=23).contains(&self.from) || !(1..=24).contains(&self.until) {
            return Err(Error::invalid("hours", "are not hours of a day"));
        }
        if self.from == self.until {
            return Err(Error::invalid("hours", "leave no time to send"));
        }
        if self.offset_minutes.abs() > 14 * 60 || self.offset_minutes % 15 != 0 {
            return Err(Error::invalid("hours", "have an offset that no zone has"));
        }
        Ok(self)
    }
}

impl List {
    pub(crate) const fn hours(&self) -> Hours {
        Hours {
            from: self.hour_from,
            until: self.hour_until,
            offset_minutes: self.offset_minutes,
        }
    }
}

/// A list by its name.
pub(crate) async fn by_slug(db: &mut SqliteConnection, slug: &str) -> Result<List> {
    let list = sqlx::query_as(
        "SELECT l.*, (SELECT count(*) FROM subscribers s WHERE s.list_id = l.id AND s.state = 'confirmed') AS confirmed
         FROM lists l WHERE l.slug = ?1",
    )
    .bind(slug)
    .fetch_optional(db)
    .await?;
    list.ok_or(Error::Absent("list"))
}

/// `GET /lists`
pub(crate) async fn open_lists(State(app): State<App>) -> Result<Body<Vec<List>>> {
    let mut db = app.store.connection().await?;
    let lists = sqlx::query_as(
        "SELECT l.*, (SELECT count(*) FROM subscribers s WHERE s.list_id = l.id AND s.state = 'confirmed') AS confirmed
         FROM lists l WHERE l.open ORDER BY l.slug",
    )
    .fetch_all(&mut *db)
    .await?;
    Ok(Body(lists))
}

/// `POST /admin/lists`
pub(crate) async fn create(
    State(app): State<App>,
    _: Admin,
    Body(new): Body<NewList>,
) -> Result<(StatusCode, Body<List>)> {
    let name = slug("slug", &new.slug)?;
    let title = line("title", &new.title, 3, 80)?;
    let description = line("description", &new.description, 0, 500)?;
    let hours = match new.hours {
        Some(hours) => hours.check()?,
        None => HoursBody {
            from: 0,
            until: 24,
            offset_minutes: 0,
        },
    };
    let mut db = app.store.connection().await?;
    sqlx::query(
        "INSERT INTO lists (slug, title, description, hour_from, hour_until, offset_minutes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(name)
    .bind(title)
    .bind(description)
    .bind(hours.from)
    .bind(hours.until)
    .bind(hours.offset_minutes)
    .execute(&mut *db)
    .await?;
    let list = by_slug(&mut db, name).await?;
    Ok((StatusCode::CREATED, Body(list)))
}

/// `GET /admin/lists/{slug}`
pub(crate) async fn fetch(
    State(app): State<App>,
    _: Editor,
    Path(slug): Path<String>,
) -> Result<Body<List>> {
    let mut db = app.store.connection().await?;
    by_slug(&mut db, &slug).await.map(Body)
}

/// `PATCH /admin/lists/{slug}`
pub(crate) async fn change(
    State(app): State<App>,
    _: Admin,
    Path(slug): Path<String>,
    Body(change): Body<ListChange>,
) -> Result<Body<List>> {
    let mut transaction = app.store.begin().await?;
    let mut list = by_slug(&mut transaction, &slug).await?;
    if let Some(title) = &change.title {
        list.title = line("title", title, 3, 80)?.to_owned();
    }
    if let Some(description) = &change.description {
        list.description = line("description", description, 0, 500)?.to_owned();
    }
    if let Some(hours) = change.hours {
        let hours = hours.check()?;
        list.hour_from = hours.from;
        list.hour_until = hours.until;
        list.offset_minutes = hours.offset_minutes;
    }
    list.open = change.open.unwrap_or(list.open);
    sqlx::query(
        "UPDATE lists SET title = ?2, description = ?3, open = ?4, hour_from = ?5, hour_until = ?6, offset_minutes = ?7 WHERE id = ?1",
    )
    .bind(list.id)
    .bind(&list.title)
    .bind(&list.description)
    .bind(list.open)
    .bind(list.hour_from)
    .bind(list.hour_until)
    .bind(list.offset_minutes)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(Body(list))
}

/// `DELETE /admin/lists/{slug}`
pub(crate) async fn remove(
    State(app): State<App>,
    _: Admin,
    Path(slug): Path<String>,
) -> Result<StatusCode> {
    let mut transaction = app.store.begin().await?;
    let list = by_slug(&mut transaction, &slug).await?;
    let campaigns: i64 = sqlx::query_scalar("SELECT count(*) FROM campaigns WHERE list_id = ?1")
        .bind(list.id)
        .fetch_one(&mut *transaction)
        .await?;
    match (campaigns, list.confirmed) {
        (0, 0) => {}
        (0, readers) => {
            return Err(Error::Conflict(format!("{readers} people read this list")));
        }
        (campaigns, _) => {
            return Err(Error::Conflict(format!(
                "{campaigns} campaigns are for this list"
            )));
        }
    }
    sqlx::query("DELETE FROM lists WHERE id = ?1")
        .bind(list.id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
