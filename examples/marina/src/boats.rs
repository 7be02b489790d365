//! Boats: every skipper sees and changes only their own.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Fault;
use crate::auth::User;
use crate::input::{Body, Path, Query, length, range};
use crate::problem::Problem;
use crate::service::Marina;

/// What kind of boat it is.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Sail,
    Motor,
    Rowing,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Sail => "sail",
            Self::Motor => "motor",
            Self::Rowing => "rowing",
        }
    }
}

/// A boat as a client describes it; lengths in centimeters.
#[derive(Deserialize)]
pub(crate) struct NewBoat {
    name: String,
    kind: Kind,
    length: i64,
    draft: Option<i64>,
    #[serde(default)]
    tags: Vec<String>,
}

impl NewBoat {
    fn check(&self, marina: &Marina) -> Result<(), Problem> {
        length("name", &self.name, 1..=40)?;
        if !marina.has(Fault::AnyLengthWillDo) {
            range("length", self.length, 100..=5000)?;
        }
        if let Some(draft) = self.draft {
            range("draft", draft, 0..=1000)?;
        }
        if self.tags.len() > 5 {
            return Err(Problem::invalid("a boat has at most five tags"));
        }
        self.tags
            .iter()
            .try_for_each(|tag| length("tag", tag, 1..=20))
    }
}

fn view(marina: &Marina, row: &Row<'_>) -> rusqlite::Result<Value> {
    let draft: Option<i64> = row.get("draft")?;
    let tags: String = row.get("tags")?;
    Ok(json!({
        "id": row.get::<_, i64>("id")?,
        "name": row.get::<_, String>("name")?,
        "kind": row.get::<_, String>("kind")?,
        "length": row.get::<_, i64>("length")?,
        "draft": match draft {
            None if marina.has(Fault::DraftIsText) => json!("unknown"),
            draft => json!(draft),
        },
        "tags": serde_json::from_str::<Value>(&tags).unwrap_or_default(),
    }))
}

fn find(marina: &Marina, db: &Connection, user: &User, id: i64) -> Result<Value, Problem> {
    db.query_row(
        "SELECT * FROM boats WHERE id = ?1 AND owner_id = ?2",
        [id, user.id],
        |row| view(marina, row),
    )
    .optional()?
    .ok_or_else(|| Problem::absent("boat"))
}

/// Whether the boat is there and belongs to the user.
pub(crate) fn belongs(db: &Connection, user: &User, id: i64) -> rusqlite::Result<bool> {
    db.query_row(
        "SELECT EXISTS (SELECT 1 FROM boats WHERE id = ?1 AND owner_id = ?2)",
        [id, user.id],
        |row| row.get(0),
    )
}

#[derive(Deserialize)]
pub(crate) struct Page {
    kind: Option<Kind>,
    limit: Option<i64>,
    offset: Option<i64>,
}

/// `GET /boats`
pub(crate) async fn list(
    State(marina): State<Marina>,
    user: User,
    Query(page): Query<Page>,
) -> Result<Json<Vec<Value>>, Problem> {
    let limit = page.limit.unwrap_or(20);
    let offset = page.offset.unwrap_or(0);
    range("limit", limit, 1..=100)?;
    range("offset", offset, 0..=1_000_000)?;
    let db = marina.db();
    let mut select = db.prepare("SELECT * FROM boats WHERE owner_id = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY id LIMIT ?3 OFFSET ?4")?;
    let boats = select.query_map(
        params![user.id, page.kind.map(Kind::name), limit, offset],
        |row| view(&marina, row),
    )?;
    Ok(Json(boats.collect::<Result<_, _>>()?))
}

/// `POST /boats`
pub(crate) async fn create(
    State(marina): State<Marina>,
    user: User,
    Body(boat): Body<NewBoat>,
) -> Result<impl IntoResponse, Problem> {
    boat.check(&marina)?;
    let db = marina.db();
    db.execute(
        "INSERT INTO boats (owner_id, name, kind, length, draft, tags) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![user.id, boat.name, boat.kind.name(), boat.length, boat.draft, json!(boat.tags).to_string()],
    )?;
    let id = db.last_insert_rowid();
    Ok((
        StatusCode::CREATED,
        [(header::LOCATION, format!("/boats/{id}"))],
        Json(find(&marina, &db, &user, id)?),
    ))
}

/// `GET /boats/{boatId}`
pub(crate) async fn fetch(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(find(&marina, &marina.db(), &user, id)?))
}

/// `PUT /boats/{boatId}`
pub(crate) async fn replace(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
    Body(boat): Body<NewBoat>,
) -> Result<Json<Value>, Problem> {
    boat.check(&marina)?;
    let db = marina.db();
    let before = find(&marina, &db, &user, id)?;
    let mut tags = json!(boat.tags);
    if marina.has(Fault::TagsPileUp)
        && let (Value::Array(tags), Value::Array(old)) = (&mut tags, &before["tags"])
    {
        tags.splice(0..0, old.iter().cloned());
    }
    let forgets =
        marina.has(Fault::DeepDraftForgotten) && boat.draft.is_some_and(|draft| draft > 500);
    db.execute(
        "UPDATE boats SET name = ?1, kind = ?2, length = ?3, draft = CASE WHEN ?7 THEN draft ELSE ?4 END, tags = ?5 WHERE id = ?6",
        params![
            boat.name,
            boat.kind.name(),
            boat.length,
            boat.draft,
            tags.to_string(),
            id,
            forgets
        ],
    )?;
    Ok(Json(find(&marina, &db, &user, id)?))
}

/// `DELETE /boats/{boatId}`
pub(crate) async fn remove(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
) -> Result<StatusCode, Problem> {
    let db = marina.db();
    find(&marina, &db, &user, id)?;
    let booked: bool = db.query_row(
        "SELECT EXISTS (SELECT 1 FROM bookings WHERE boat_id = ?1)",
        [id],
        |row| row.get(0),
    )?;
    if booked {
        return Err(Problem::conflict("the boat has bookings"));
    }
    db.execute("DELETE FROM boats WHERE id = ?1", [id])?;
    Ok(StatusCode::NO_CONTENT)
}
