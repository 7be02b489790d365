//! Services on a SQLite database of their own, which write down what they ask of it.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{body, operation, required};
use crate::running::Running;
use crate::store::Store;

/// What a service over a store answers.
pub(crate) type Answer = Result<(StatusCode, Json<Value>), StatusCode>;

pub(crate) fn failed(_: String) -> StatusCode {
    StatusCode::INTERNAL_SERVER_ERROR
}

/// A depot that can hardly be filled from outside: sites and items come from elsewhere, only reservations are made here.
///
/// Most of its answers need rows: a site that is closed, an item that is sold out, one that is nearly so, a
/// reservation that is still open.
pub fn depot() -> Running {
    let store = Store::own(
        "CREATE TABLE site (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, open INT NOT NULL DEFAULT 1 CHECK (open IN (0, 1)));
         CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, site INT NOT NULL REFERENCES site (id), sku TEXT NOT NULL,
            quantity INT NOT NULL CHECK (quantity >= 0), price NUMERIC, UNIQUE (site, sku));
         CREATE TABLE reservation (id INTEGER PRIMARY KEY AUTOINCREMENT, item INT NOT NULL REFERENCES item (id),
            quantity INT NOT NULL CHECK (quantity > 0), state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'taken', 'void')))",
    );
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer", "format": "int32" });
    let object = || json!({ "type": "object" });
    let none = Value::Null;
    let reservation = json!({ "type": "object", "required": ["item", "quantity"],
        "properties": { "item": number(), "quantity": { "type": "integer", "minimum": 1, "maximum": 1000 } } });
    let minimum = json!({ "name": "minimum", "in": "query", "schema": number() });
    let paths = json!({
        "/sites/{code}": { "get": operation("site", vec![required("code", "path", text())], None,
            &[(200, object()), (404, none.clone()), (410, none.clone())]) },
        "/sites/{code}/stock": { "get": operation("stock", vec![required("code", "path", text()), minimum], None,
            &[(200, object()), (204, none.clone()), (404, none.clone())]) },
        "/items/{id}": { "get": operation("item", vec![required("id", "path", number())], None,
            &[(200, object()), (404, none.clone()), (409, none.clone())]) },
        "/reservations": { "post": operation("reserve", Vec::new(), Some(body(reservation)),
            &[(201, object()), (404, none.clone()), (409, none.clone()), (422, none.clone())]) },
        "/reservations/{id}": { "delete": operation("void", vec![required("id", "path", number())], None,
            &[(204, none.clone()), (404, none.clone()), (409, none)]) },
    });
    let router = Router::new()
        .route("/sites/{code}", get(site))
        .route("/sites/{code}/stock", get(stock))
        .route("/items/{id}", get(item))
        .route("/reservations", post(reserve))
        .route("/reservations/{id}", delete(void));
    store.serve(0, "depot", router, paths, json!({}))
}

async fn site(State(store): State<Store>, Path(code): Path<String>) -> Answer {
    let found = store
        .rows(
            "SELECT id, open FROM site WHERE code = ?1",
            &[(&code).into()],
        )
        .await
        .map_err(failed)?;
    let row = found.first().ok_or(StatusCode::NOT_FOUND)?;
    if row[1].int() == 0 {
        return Err(StatusCode::GONE);
    }
    Ok((
        StatusCode::OK,
        Json(json!({ "id": row[0].int(), "code": code })),
    ))
}

#[derive(Deserialize)]
struct Minimum {
    minimum: Option<i32>,
}

async fn stock(
    State(store): State<Store>,
    Path(code): Path<String>,
    Query(query): Query<Minimum>,
) -> Answer {
    let known = store
        .rows(
            "SELECT COUNT(*) FROM site WHERE code = ?1 AND open = 1",
            &[(&code).into()],
        )
        .await
        .map_err(failed)?;
    if known.first().is_none_or(|row| row[0].int() == 0) {
        return Err(StatusCode::NOT_FOUND);
    }
    let items = store
        .rows(
            "SELECT i.id, i.quantity FROM item i JOIN site s ON s.id = i.site WHERE s.code = ?1 AND i.quantity > ?2 AND i.price IS NOT NULL",
            &[(&code).into(), query.minimum.unwrap_or(0).into()],
        )
        .await
        .map_err(failed)?;
    if items.is_empty() {
        return Err(StatusCode::NO_CONTENT);
    }
    Ok((StatusCode::OK, Json(json!({ "items": items.len() }))))
}

async fn item(State(store): State<Store>, Path(id): Path<i32>) -> Answer {
    let found = store
        .rows(
            "SELECT id, sku, quantity FROM item WHERE id = ?1",
            &[id.into()],
        )
        .await
        .map_err(failed)?;
    let row = found.first().ok_or(StatusCode::NOT_FOUND)?;
    if row[2].int() == 0 {
        return Err(StatusCode::CONFLICT);
    }
    Ok((
        StatusCode::OK,
        Json(json!({ "id": id, "quantity": row[2].int() })),
    ))
}

#[derive(Deserialize)]
struct Reservation {
    item: i32,
    quantity: i32,
}

async fn reserve(
    State(store): State<Store>,
    body: Result<Json<Reservation>, axum::extract::rejection::JsonRejection>,
) -> Answer {
    let Ok(Json(Reservation { item, quantity })) = body else {
        return Err(StatusCode::UNPROCESSABLE_ENTITY);
    };
    if !(1..=1000).contains(&quantity) {
        return Err(StatusCode::UNPROCESSABLE_ENTITY);
    }
    let known = store
        .rows("SELECT 1 FROM item WHERE id = ?1", &[item.into()])
        .await
        .map_err(failed)?;
    if known.is_empty() {
        return Err(StatusCode::NOT_FOUND);
    }
    let taken = store
        .change(
            "UPDATE item SET quantity = quantity - ?2 WHERE id = ?1 AND quantity >= ?2",
            &[item.into(), quantity.into()],
        )
        .await
        .map_err(failed)?;
    if taken == 0 {
        return Err(StatusCode::CONFLICT);
    }
    let made = store
        .rows(
            "INSERT INTO reservation (item, quantity) VALUES (?1, ?2) RETURNING id",
            &[item.into(), quantity.into()],
        )
        .await
        .map_err(failed)?;
    let id = made.first().map_or(0, |row| row[0].int());
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "item": item }))))
}

async fn void(State(store): State<Store>, Path(id): Path<i32>) -> Result<StatusCode, StatusCode> {
    let known = store
        .rows(
            "SELECT EXISTS (SELECT 1 FROM reservation WHERE id = ?1)",
            &[id.into()],
        )
        .await
        .map_err(failed)?;
    if known.first().is_none_or(|row| row[0].int() == 0) {
        return Err(StatusCode::NOT_FOUND);
    }
    let changed = store
        .change(
            "UPDATE reservation SET state = 'void' WHERE id = ?1 AND state = 'open'",
            &[id.into()],
        )
        .await
        .map_err(failed)?;
    Ok(if changed == 0 {
        StatusCode::CONFLICT
    } else {
        StatusCode::NO_CONTENT
    })
}
