//! Parcels that can all be made by calls, and are found only when what was made fits together.
//!
//! No call brings the values that are asked for: they stand in the statements. Only how far the statements
//! are from finding something tells which parcel would do.

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{body, operation};
use crate::running::Running;
use crate::store::{Row, Store};
use crate::stored::{Answer, failed};

/// Carriers and parcels, and who asks for some of them: by a range, by a pattern, by a join, by a group.
pub fn parcels() -> Running {
    let store = Store::own(
        "CREATE TABLE carrier (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, rating INT NOT NULL);
         CREATE TABLE parcel (id INTEGER PRIMARY KEY AUTOINCREMENT, carrier INT REFERENCES carrier (id), label TEXT NOT NULL,
            weight INT NOT NULL, value INT NOT NULL)",
    );
    let text = json!({ "type": "string", "maxLength": 20 });
    let number = json!({ "type": "integer", "format": "int32" });
    let (object, none) = (json!({ "type": "object" }), Value::Null);
    let made = [(201, object.clone()), (422, none.clone())];
    let listed = [(200, object), (204, none)];
    let carrier = json!({ "type": "object", "required": ["name", "rating"],
        "properties": { "name": text, "rating": number } });
    let parcel = json!({ "type": "object", "required": ["label", "weight", "value"],
        "properties": { "carrier": number, "label": text, "weight": number, "value": number } });
    let list = |id: &str| json!({ "get": operation(id, Vec::new(), None, &listed) });
    let paths = json!({
        "/carriers": { "post": operation("addCarrier", Vec::new(), Some(body(carrier)), &made) },
        "/parcels": { "post": operation("addParcel", Vec::new(), Some(body(parcel)), &made) },
        "/parcels/heavy": list("heavy"),
        "/parcels/marked": list("marked"),
        "/parcels/trusted": list("trusted"),
        "/carriers/busy": list("busy"),
    });
    let router = Router::new()
        .route("/carriers", post(add_carrier))
        .route("/parcels", post(add_parcel))
        .route("/parcels/heavy", get(heavy))
        .route("/parcels/marked", get(marked))
        .route("/parcels/trusted", get(trusted))
        .route("/carriers/busy", get(busy));
    store.serve(0, "parcels", router, paths, json!({}))
}

#[derive(Deserialize)]
struct Carrier {
    name: String,
    rating: i32,
}

#[derive(Deserialize)]
struct Parcel {
    carrier: Option<i32>,
    label: String,
    weight: i32,
    value: i32,
}

fn created(made: &[Row]) -> (StatusCode, Json<Value>) {
    let id = made.first().map_or(0, |row| row[0].int());
    (StatusCode::CREATED, Json(json!({ "id": id })))
}

async fn add_carrier(
    State(store): State<Store>,
    body: Result<Json<Carrier>, JsonRejection>,
) -> Answer {
    let Json(carrier) = body.map_err(|_| StatusCode::UNPROCESSABLE_ENTITY)?;
    let made = store
        .rows(
            "INSERT INTO carrier (name, rating) VALUES (?1, ?2) RETURNING id",
            &[(&carrier.name).into(), carrier.rating.into()],
        )
        .await;
    made.map(|made| created(&made)).map_err(failed)
}

async fn add_parcel(
    State(store): State<Store>,
    body: Result<Json<Parcel>, JsonRejection>,
) -> Answer {
    let Json(parcel) = body.map_err(|_| StatusCode::UNPROCESSABLE_ENTITY)?;
    // A carrier that is not there is as good as none.
    let made = store
        .rows(
        "INSERT INTO parcel (carrier, label, weight, value) VALUES ((SELECT id FROM carrier WHERE id = ?1), ?2, ?3, ?4) RETURNING id",
        &[
            parcel.carrier.into(),
            (&parcel.label).into(),
            parcel.weight.into(),
            parcel.value.into(),
        ],
        )
        .await;
    made.map(|made| created(&made)).map_err(failed)
}

async fn found(store: &Store, sql: &str) -> Answer {
    let rows = store.rows(sql, &[]).await.map_err(failed)?;
    if rows.is_empty() {
        return Err(StatusCode::NO_CONTENT);
    }
    Ok((StatusCode::OK, Json(json!({ "found": rows.len() }))))
}

async fn heavy(State(store): State<Store>) -> Answer {
    found(
        &store,
        "SELECT id FROM parcel WHERE weight BETWEEN 40000 AND 40100 AND value < -1000",
    )
    .await
}

async fn marked(State(store): State<Store>) -> Answer {
    found(
        &store,
        "SELECT id FROM parcel WHERE label LIKE 'X-%9' AND weight > 0",
    )
    .await
}

async fn trusted(State(store): State<Store>) -> Answer {
    found(
        &store,
        "SELECT p.id FROM parcel p JOIN carrier c ON c.id = p.carrier WHERE c.rating BETWEEN 700 AND 720 AND p.value > 5000",
    )
    .await
}

async fn busy(State(store): State<Store>) -> Answer {
    found(
        &store,
        "SELECT c.id FROM carrier c JOIN parcel p ON p.carrier = c.id GROUP BY c.id HAVING COUNT(*) > 1 AND MAX(p.weight) < -300",
    )
    .await
}
