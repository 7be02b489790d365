//! The notice board: everybody reads, users write.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::auth::User;
use crate::input::{Body, Path, length};
use crate::problem::Problem;
use crate::service::Marina;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    Low,
    Normal,
    Urgent,
}

impl Priority {
    fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::Urgent => "urgent",
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct NewNotice {
    title: String,
    priority: Priority,
}

#[derive(Serialize)]
pub(crate) struct Notice {
    id: i64,
    author: Option<String>,
    title: String,
    priority: String,
}

impl Notice {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            author: row.get("author")?,
            title: row.get("title")?,
            priority: row.get("priority")?,
        })
    }
}

/// `GET /notices`
pub(crate) async fn list(State(marina): State<Marina>) -> Result<Json<Vec<Notice>>, Problem> {
    let db = marina.db();
    let mut select = db.prepare("SELECT * FROM notices ORDER BY id DESC LIMIT 50")?;
    let notices = select.query_map([], Notice::of)?;
    Ok(Json(notices.collect::<Result<_, _>>()?))
}

/// `POST /notices`
pub(crate) async fn create(
    State(marina): State<Marina>,
    user: Result<User, Problem>,
    Body(notice): Body<NewNotice>,
) -> Result<impl IntoResponse, Problem> {
    let author = match user {
        Ok(user) => Some(user.name),
        Err(_) if marina.has(Fault::AnonymousNotice) => None,
        Err(problem) => return Err(problem),
    };
    length("title", &notice.title, 1..=80)?;
    let db = marina.db();
    db.execute(
        "INSERT INTO notices (author, title, priority) VALUES (?1, ?2, ?3)",
        params![author, notice.title, notice.priority.name()],
    )?;
    let id = db.last_insert_rowid();
    let stored = db.query_row("SELECT * FROM notices WHERE id = ?1", [id], Notice::of)?;
    Ok((
        StatusCode::CREATED,
        [(header::LOCATION, format!("/notices/{id}"))],
        Json(stored),
    ))
}

/// `GET /notices/{noticeId}`
pub(crate) async fn fetch(
    State(marina): State<Marina>,
    Path(id): Path<i64>,
) -> Result<Json<Notice>, Problem> {
    let db = marina.db();
    let notice = db
        .query_row("SELECT * FROM notices WHERE id = ?1", [id], Notice::of)
        .optional()?;
    let notice = notice.ok_or_else(|| Problem::absent("notice"))?;
    if notice.priority == "urgent" && marina.has(Fault::ReadingRemoves) {
        db.execute("DELETE FROM notices WHERE id = ?1", [id])?;
    }
    Ok(Json(notice))
}
