//! Invoices for bookings, and their payment; amounts in cents.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::auth::User;
use crate::bookings;
use crate::input::{Body, Path, date, range};
use crate::problem::Problem;
use crate::service::Marina;

/// The price of a night.
const NIGHT: i64 = 1850;
/// Whoever stays longer pays for as many nights.
const MOST_NIGHTS: i64 = 30;

#[derive(Serialize)]
pub(crate) struct Invoice {
    id: i64,
    #[serde(rename = "bookingId")]
    booking: i64,
    due: i64,
    paid: i64,
}

impl Invoice {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            booking: row.get("booking_id")?,
            due: row.get("due")?,
            paid: row.get("paid")?,
        })
    }
}

fn find(marina: &Marina, db: &Connection, user: &User, id: i64) -> Result<Invoice, Problem> {
    let own = db
        .query_row(
            "SELECT i.* FROM invoices i JOIN bookings g ON g.id = i.booking_id JOIN boats b ON b.id = g.boat_id
             WHERE i.id = ?1 AND b.owner_id = ?2",
            [id, user.id],
            Invoice::of,
        )
        .optional()?;
    let Some(invoice) = own else {
        let exists: bool = db.query_row(
            "SELECT EXISTS (SELECT 1 FROM invoices WHERE id = ?1)",
            [id],
            |row| row.get(0),
        )?;
        if exists && marina.has(Fault::InvoiceExists) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "this invoice is somebody else's",
            ));
        }
        return Err(Problem::absent("invoice"));
    };
    Ok(invoice)
}

/// `POST /bookings/{bookingId}/invoice`
pub(crate) async fn create(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
) -> Result<impl IntoResponse, Problem> {
    let db = marina.db();
    bookings::find(&db, &user, id)?;
    let billed: bool = db.query_row(
        "SELECT EXISTS (SELECT 1 FROM invoices WHERE booking_id = ?1)",
        [id],
        |row| row.get(0),
    )?;
    if billed {
        return Err(Problem::conflict("there is an invoice already"));
    }
    let (arrival, departure): (String, String) = db.query_row(
        "SELECT arrival, departure FROM bookings WHERE id = ?1",
        [id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let nights = bookings::nights(date("arrival", &arrival)?, date("departure", &departure)?);
    let due = NIGHT * nights.min(MOST_NIGHTS);
    db.execute(
        "INSERT INTO invoices (booking_id, due) VALUES (?1, ?2)",
        [id, due],
    )?;
    let id = db.last_insert_rowid();
    let place = if marina.has(Fault::LocationLeadsNowhere) {
        "invoice"
    } else {
        "invoices"
    };
    Ok((
        StatusCode::CREATED,
        [(header::LOCATION, format!("/{place}/{id}"))],
        Json(find(&marina, &db, &user, id)?),
    ))
}

/// `GET /invoices/{invoiceId}`
pub(crate) async fn fetch(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
) -> Result<Json<Invoice>, Problem> {
    Ok(Json(find(&marina, &marina.db(), &user, id)?))
}

#[derive(Deserialize)]
pub(crate) struct Payment {
    amount: i64,
}

/// `POST /invoices/{invoiceId}/payments`
#[expect(clippy::panic, reason = "one of the planted faults")]
pub(crate) async fn pay(
    State(marina): State<Marina>,
    user: User,
    Path(id): Path<i64>,
    Body(payment): Body<Payment>,
) -> Result<Json<Invoice>, Problem> {
    range("amount", payment.amount, 1..=100_000_000)?;
    let db = marina.db();
    let invoice = find(&marina, &db, &user, id)?;
    if payment.amount > invoice.due - invoice.paid {
        if marina.has(Fault::OverpaymentDrops) {
            panic!("paid more than is due");
        }
        return Err(Problem::conflict("this is more than is due"));
    }
    db.execute(
        "UPDATE invoices SET paid = paid + ?1 WHERE id = ?2",
        [payment.amount, id],
    )?;
    Ok(Json(find(&marina, &db, &user, id)?))
}
