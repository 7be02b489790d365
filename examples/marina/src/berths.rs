//! Berths: everybody may look, the harbor master may change.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::auth::User;
use crate::input::{Body, Path, Query, range};
use crate::problem::Problem;
use crate::service::Marina;

#[derive(Deserialize)]
pub(crate) struct NewBerth {
    pier: String,
    number: i64,
    length: i64,
    #[serde(default)]
    power: bool,
}

#[derive(Serialize)]
pub(crate) struct Berth {
    id: i64,
    pier: String,
    number: i64,
    length: i64,
    power: bool,
}

impl Berth {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            pier: row.get("pier")?,
            number: row.get("number")?,
            length: row.get("length")?,
            power: row.get("power")?,
        })
    }
}

fn find(db: &Connection, id: i64) -> Result<Berth, Problem> {
    db.query_row("SELECT * FROM berths WHERE id = ?1", [id], Berth::of)
        .optional()?
        .ok_or_else(|| Problem::absent("berth"))
}

fn check_pier(pier: &str) -> Result<(), Problem> {
    let one_letter = pier.len() == 1 && pier.bytes().all(|byte| byte.is_ascii_uppercase());
    if one_letter {
        Ok(())
    } else {
        Err(Problem::invalid("a pier is a letter from A to Z"))
    }
}

#[derive(Deserialize)]
pub(crate) struct Filter {
    pier: Option<String>,
    #[serde(rename = "minLength")]
    min_length: Option<i64>,
    power: Option<bool>,
}

/// `GET /berths`
pub(crate) async fn list(
    State(marina): State<Marina>,
    Query(filter): Query<Filter>,
) -> Result<Json<Vec<Berth>>, Problem> {
    if let Some(pier) = &filter.pier {
        check_pier(pier)?;
    }
    if let Some(min_length) = filter.min_length {
        range("minLength", min_length, 0..=5000)?;
    }
    let db = marina.db();
    let mut select = db.prepare(
        "SELECT * FROM berths WHERE (?1 IS NULL OR pier = ?1) AND (?2 IS NULL OR length >= ?2) AND (?3 IS NULL OR power = ?3) ORDER BY id",
    )?;
    let berths = select.query_map(
        params![filter.pier, filter.min_length, filter.power],
        Berth::of,
    )?;
    Ok(Json(berths.collect::<Result<_, _>>()?))
}

/// `POST /berths`
pub(crate) async fn create(
    State(marina): State<Marina>,
    user: User,
    Body(berth): Body<NewBerth>,
) -> Result<Response, Problem> {
    user.must_be_harbor_master()?;
    check_pier(&berth.pier)?;
    range("number", berth.number, 1..=99)?;
    range("length", berth.length, 100..=5000)?;
    let db = marina.db();
    let inserted = db.execute(
        "INSERT INTO berths (pier, number, length, power) VALUES (?1, ?2, ?3, ?4)",
        params![berth.pier, berth.number, berth.length, berth.power],
    );
    match inserted {
        Ok(_) => {}
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            if marina.has(Fault::BerthTrace) {
                return Ok(trace(&error));
            }
            return Err(Problem::conflict("there is such a berth already"));
        }
        Err(error) => return Err(error.into()),
    }
    let id = db.last_insert_rowid();
    Ok((
        StatusCode::CREATED,
        [(header::LOCATION, format!("/berths/{id}"))],
        Json(find(&db, id)?),
    )
        .into_response())
}

/// The planted leak: what a careless error page shows.
fn trace(error: &rusqlite::Error) -> Response {
    let text = format!(
        "thread 'tokio-runtime-worker' panicked at src/berths.rs:88:10:\ncalled `Result::unwrap()` on an `Err` value: {error:?}\n\
         stack backtrace:\n   0: rust_begin_unwind\n             at /rustc/library/std/src/panicking.rs:697:5\n   \
         1: core::result::unwrap_failed\n   2: marina::berths::create::{{{{closure}}}}\n             at ./src/berths.rs:88:10\n"
    );
    (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
}

/// `GET /berths/{berthId}`
pub(crate) async fn fetch(
    State(marina): State<Marina>,
    Path(id): Path<i64>,
) -> Result<Json<Berth>, Problem> {
    Ok(Json(find(&marina.db(), id)?))
}

#[derive(Deserialize)]
pub(crate) struct Change {
    length: Option<i64>,
    power: Option<bool>,
}

/// `PATCH /berths/{berthId}`
pub(crate) async fn change(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
    Body(change): Body<Change>,
) -> Result<Json<Berth>, Problem> {
    user.must_be_harbor_master()?;
    if let Some(length) = change.length {
        range("length", length, 100..=5000)?;
    }
    let db = marina.db();
    find(&db, id)?;
    let power = match change.power {
        None if change.length.is_some() && marina.has(Fault::LengthCutsPower) => Some(false),
        power => power,
    };
    db.execute(
        "UPDATE berths SET length = coalesce(?1, length), power = coalesce(?2, power) WHERE id = ?3",
        params![change.length, power, id],
    )?;
    Ok(Json(find(&db, id)?))
}

/// `DELETE /berths/{berthId}`
pub(crate) async fn remove(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
) -> Result<StatusCode, Problem> {
    user.must_be_harbor_master()?;
    let db = marina.db();
    find(&db, id)?;
    let booked: bool = db.query_row(
        "SELECT EXISTS (SELECT 1 FROM bookings WHERE berth_id = ?1)",
        [id],
        |row| row.get(0),
    )?;
    if booked {
        return Err(Problem::conflict("the berth has bookings"));
    }
    if !marina.has(Fault::BerthOutlivesDelete) {
        db.execute("DELETE FROM berths WHERE id = ?1", [id])?;
    }
    Ok(StatusCode::NO_CONTENT)
}
