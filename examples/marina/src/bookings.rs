//! Bookings: a boat in a berth from one day to another.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use jiff::civil::Date;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::auth::User;
use crate::boats;
use crate::input::{Body, Path, date, length};
use crate::problem::Problem;
use crate::service::Marina;

#[derive(Deserialize)]
pub(crate) struct NewBooking {
    #[serde(rename = "boatId")]
    boat: i64,
    #[serde(rename = "berthId")]
    berth: i64,
    arrival: String,
    departure: String,
    #[serde(default)]
    notes: String,
}

#[derive(Serialize)]
pub(crate) struct Booking {
    id: i64,
    #[serde(rename = "boatId")]
    boat: i64,
    #[serde(rename = "berthId")]
    berth: i64,
    arrival: String,
    departure: String,
    notes: String,
}

impl Booking {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            boat: row.get("boat_id")?,
            berth: row.get("berth_id")?,
            arrival: row.get("arrival")?,
            departure: row.get("departure")?,
            notes: row.get("notes")?,
        })
    }
}

const OWN: &str =
    "SELECT g.* FROM bookings g JOIN boats b ON b.id = g.boat_id WHERE b.owner_id = ?1";

/// The booking, if it is there and the boat belongs to the user.
pub(crate) fn find(db: &Connection, user: &User, id: i64) -> Result<Booking, Problem> {
    db.query_row(&format!("{OWN} AND g.id = ?2"), [user.id, id], Booking::of)
        .optional()?
        .ok_or_else(|| Problem::absent("booking"))
}

/// The number of nights of a stay.
pub(crate) fn nights(arrival: Date, departure: Date) -> i64 {
    i64::from((departure - arrival).get_days())
}

/// Refuses a stay that is no stay.
fn check_stay(marina: &Marina, arrival: Date, departure: Date) -> Result<(), Problem> {
    if departure > arrival {
        return Ok(());
    }
    let detail = "departure must be after arrival";
    if marina.has(Fault::UndocumentedStatus) {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    Err(Problem::invalid(detail))
}

/// `GET /bookings`
pub(crate) async fn list(
    State(marina): State<Marina>,
    user: User,
) -> Result<Json<Vec<Booking>>, Problem> {
    let db = marina.db();
    let mut select = db.prepare(&format!("{OWN} ORDER BY g.id LIMIT 100"))?;
    let bookings = select.query_map([user.id], Booking::of)?;
    Ok(Json(bookings.collect::<Result<_, _>>()?))
}

/// `POST /bookings`
pub(crate) async fn create(
    State(marina): State<Marina>,
    user: User,
    Body(booking): Body<NewBooking>,
) -> Result<impl IntoResponse, Problem> {
    let (arrival, departure) = (
        date("arrival", &booking.arrival)?,
        date("departure", &booking.departure)?,
    );
    length("notes", &booking.notes, 0..=200)?;
    check_stay(&marina, arrival, departure)?;
    let db = marina.db();
    if !boats::belongs(&db, &user, booking.boat)? {
        return Err(Problem::absent("boat"));
    }
    let fits: Option<bool> = db
        .query_row(
            "SELECT berths.length >= boats.length FROM berths, boats WHERE berths.id = ?1 AND boats.id = ?2",
            [booking.berth, booking.boat],
            |row| row.get(0),
        )
        .optional()?;
    if !fits.ok_or_else(|| Problem::absent("berth"))? {
        if marina.has(Fault::RefusedBookingStays) {
            store(&db, &booking)?;
        }
        return Err(Problem::conflict("the boat is longer than the berth"));
    }
    let taken: bool = db.query_row(
        "SELECT EXISTS (SELECT 1 FROM bookings WHERE berth_id = ?1 AND arrival < ?3 AND departure > ?2)",
        params![booking.berth, booking.arrival, booking.departure],
        |row| row.get(0),
    )?;
    if taken {
        return Err(Problem::conflict("the berth is taken on these days"));
    }
    let id = store(&db, &booking)?;
    Ok((
        StatusCode::CREATED,
        [(header::LOCATION, format!("/bookings/{id}"))],
        Json(find(&db, &user, id)?),
    ))
}

/// Stores a booking, and says its number.
fn store(db: &Connection, booking: &NewBooking) -> rusqlite::Result<i64> {
    db.execute(
        "INSERT INTO bookings (boat_id, berth_id, arrival, departure, notes) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![booking.boat, booking.berth, booking.arrival, booking.departure, booking.notes],
    )?;
    Ok(db.last_insert_rowid())
}

/// `GET /bookings/{bookingId}`
pub(crate) async fn fetch(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
) -> Result<Json<Booking>, Problem> {
    let db = marina.db();
    if marina.has(Fault::OthersBookings) {
        let booking = db
            .query_row("SELECT * FROM bookings WHERE id = ?1", [id], Booking::of)
            .optional()?;
        return booking.map(Json).ok_or_else(|| Problem::absent("booking"));
    }
    Ok(Json(find(&db, &user, id)?))
}

#[derive(Deserialize)]
pub(crate) struct Change {
    departure: Option<String>,
    notes: Option<String>,
}

/// `PATCH /bookings/{bookingId}`
pub(crate) async fn change(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
    Body(change): Body<Change>,
) -> Result<Json<Booking>, Problem> {
    let db = marina.db();
    let before = find(&db, &user, id)?;
    if let Some(notes) = &change.notes {
        length("notes", notes, 0..=200)?;
        if marina.has(Fault::RefusedChangeSticks) {
            db.execute(
                "UPDATE bookings SET notes = ?1 WHERE id = ?2",
                params![notes, id],
            )?;
        }
    }
    if let Some(departure) = &change.departure
        && date("departure", departure)? <= date("arrival", &before.arrival)?
    {
        return Err(Problem::conflict("departure must be after arrival"));
    }
    db.execute(
        "UPDATE bookings SET departure = coalesce(?1, departure), notes = coalesce(?2, notes) WHERE id = ?3",
        params![change.departure, change.notes, id],
    )?;
    Ok(Json(find(&db, &user, id)?))
}

/// `DELETE /bookings/{bookingId}`
pub(crate) async fn cancel(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
) -> Result<StatusCode, Problem> {
    let db = marina.db();
    find(&db, &user, id)?;
    if marina.has(Fault::CancellingTakesInvoices) {
        db.execute("DELETE FROM invoices", [])?;
    }
    db.execute("DELETE FROM bookings WHERE id = ?1", [id])?;
    Ok(StatusCode::NO_CONTENT)
}
