//! What is computed over several tables: occupancy and search.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::auth::User;
use crate::bookings::nights;
use crate::input::{Query, date, length};
use crate::problem::Problem;
use crate::service::Marina;

#[derive(Deserialize)]
pub(crate) struct Period {
    from: String,
    to: String,
}

#[derive(Serialize)]
pub(crate) struct Occupancy {
    days: i64,
    percent: i64,
}

/// `GET /reports/occupancy`
pub(crate) async fn occupancy(
    State(marina): State<Marina>,
    _user: User,
    Query(period): Query<Period>,
) -> Result<Json<Occupancy>, Problem> {
    let (from, to) = (date("from", &period.from)?, date("to", &period.to)?);
    if to < from || (to == from && !marina.has(Fault::OccupancyOfNoDays)) {
        return Err(Problem::invalid("to must be after from"));
    }
    let days = nights(from, to);
    let booked: i64 = marina.db().query_row(
        "SELECT coalesce(sum(julianday(min(departure, ?2)) - julianday(max(arrival, ?1))), 0)
         FROM bookings WHERE arrival < ?2 AND departure > ?1",
        [&period.from, &period.to],
        |row| row.get::<_, f64>(0).map(|days| days as i64),
    )?;
    let berths: i64 = marina
        .db()
        .query_row("SELECT max(count(*), 1) FROM berths", [], |row| row.get(0))?;
    if marina.has(Fault::OccupancyCutsPower) {
        marina.db().execute(
            "UPDATE berths SET power = 0 WHERE id NOT IN (SELECT berth_id FROM bookings)",
            [],
        )?;
    }
    Ok(Json(Occupancy {
        days,
        percent: 100 * booked / (berths * days),
    }))
}

#[derive(Deserialize)]
pub(crate) struct Search {
    q: String,
}

#[derive(Serialize)]
pub(crate) struct Hit {
    id: i64,
    title: String,
}

/// `GET /search`
pub(crate) async fn search(
    State(marina): State<Marina>,
    Query(search): Query<Search>,
) -> Result<Json<Vec<Hit>>, Problem> {
    length("q", &search.q, 1..=60)?;
    let db = marina.db();
    let text = if marina.has(Fault::SearchPastesSql) {
        format!(
            "SELECT id, title FROM notices WHERE title LIKE '%{}%' ORDER BY id",
            search.q
        )
    } else {
        "SELECT id, title FROM notices WHERE instr(lower(title), lower(?1)) > 0 ORDER BY id"
            .to_owned()
    };
    let mut select = db.prepare(&text)?;
    let parameters: &[&dyn rusqlite::ToSql] = if marina.has(Fault::SearchPastesSql) {
        &[]
    } else {
        &[&search.q]
    };
    let hits = select.query_map(parameters, |row| {
        Ok(Hit {
            id: row.get(0)?,
            title: row.get(1)?,
        })
    })?;
    Ok(Json(hits.collect::<Result<_, _>>()?))
}
