//! Services on a database of their own, which write down what they ask of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use rusqlite::{Connection, Params};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::{body, operation, required};
use crate::running::{Journal, Running, serve};

/// A SQLite file with a journal of what is run on it.
#[derive(Clone)]
pub(crate) struct Store {
    database: Arc<Mutex<Connection>>,
    journal: Journal,
    folder: Arc<Mutex<Option<(TempDir, PathBuf)>>>,
}

type Row = Vec<rusqlite::types::Value>;

impl Store {
    /// A new database.
    pub(crate) fn new(tables: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a database");
        let path = folder.path().join("store.db");
        let database = Connection::open(&path).expect("a database can be made in an empty folder");
        database
            .execute_batch(&format!(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; {tables}"
            ))
            .expect("the database is empty");
        Self {
            database: Arc::new(Mutex::new(database)),
            journal: Journal::default(),
            folder: Arc::new(Mutex::new(Some((folder, path)))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows that a query returns.
    pub(crate) fn rows(&self, sql: &str, parameters: impl Params) -> rusqlite::Result<Vec<Row>> {
        let database = self.lock();
        let mut statement = database.prepare_cached(sql)?;
        let n = statement.column_count();
        let rows: rusqlite::Result<Vec<Row>> = statement
            .query_map(parameters, |row| {
                (0..n).map(|column| row.get(column)).collect()
            })?
            .collect();
        let text = statement.expanded_sql().unwrap_or_else(|| sql.to_owned());
        let told = rows.as_ref().map(|rows| rows.len() as u64);
        self.journal.note(text, told.map_err(ToString::to_string));
        rows
    }

    /// How many rows a statement changed.
    pub(crate) fn change(&self, sql: &str, parameters: impl Params) -> rusqlite::Result<usize> {
        let database = self.lock();
        let mut statement = database.prepare_cached(sql)?;
        let changed = statement.execute(parameters);
        let text = statement.expanded_sql().unwrap_or_else(|| sql.to_owned());
        let told = changed.as_ref().map(|rows| *rows as u64);
        self.journal.note(text, told.map_err(ToString::to_string));
        changed
    }

    /// A service over it.
    pub(crate) fn serve(
        self,
        title: &str,
        router: Router<Store>,
        paths: Value,
        schemas: Value,
    ) -> Running {
        let folder = self
            .folder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let journal = self.journal.clone();
        let running = serve(title, router.with_state(self), paths, schemas).with_journal(journal);
        match folder {
            Some((folder, path)) => {
                running.with_database(Arc::new(folder), &path.display().to_string())
            }
            None => running,
        }
    }
}

/// What a service over a store answers.
pub(crate) type Answer = Result<(StatusCode, Json<Value>), StatusCode>;

pub(crate) fn failed(_: rusqlite::Error) -> StatusCode {
    StatusCode::INTERNAL_SERVER_ERROR
}

/// A depot that can hardly be filled from outside: sites and items come from elsewhere, only reservations are made here.
///
/// Most of its answers need rows: a site that is closed, an item that is sold out, one that is nearly so, a
/// reservation that is still open.
pub fn depot() -> Running {
    let store = Store::new(
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
    store.serve("depot", router, paths, json!({}))
}

pub(crate) fn integer(row: &Row, column: usize) -> i64 {
    match row.get(column) {
        Some(rusqlite::types::Value::Integer(number)) => *number,
        _ => 0,
    }
}

async fn site(State(store): State<Store>, Path(code): Path<String>) -> Answer {
    let found = store
        .rows("SELECT id, open FROM site WHERE code = ?1", [&code])
        .map_err(failed)?;
    let row = found.first().ok_or(StatusCode::NOT_FOUND)?;
    if integer(row, 1) == 0 {
        return Err(StatusCode::GONE);
    }
    Ok((
        StatusCode::OK,
        Json(json!({ "id": integer(row, 0), "code": code })),
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
            [&code],
        )
        .map_err(failed)?;
    if known.first().is_none_or(|row| integer(row, 0) == 0) {
        return Err(StatusCode::NOT_FOUND);
    }
    let items = store
        .rows(
            "SELECT i.id, i.quantity FROM item i JOIN site s ON s.id = i.site WHERE s.code = ?1 AND i.quantity > ?2 AND i.price IS NOT NULL",
            rusqlite::params![code, query.minimum.unwrap_or(0)],
        )
        .map_err(failed)?;
    if items.is_empty() {
        return Err(StatusCode::NO_CONTENT);
    }
    Ok((StatusCode::OK, Json(json!({ "items": items.len() }))))
}

async fn item(State(store): State<Store>, Path(id): Path<i32>) -> Answer {
    let found = store
        .rows("SELECT id, sku, quantity FROM item WHERE id = ?1", [id])
        .map_err(failed)?;
    let row = found.first().ok_or(StatusCode::NOT_FOUND)?;
    if integer(row, 2) == 0 {
        return Err(StatusCode::CONFLICT);
    }
    Ok((
        StatusCode::OK,
        Json(json!({ "id": id, "quantity": integer(row, 2) })),
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
        .rows("SELECT 1 FROM item WHERE id = ?1", [item])
        .map_err(failed)?;
    if known.is_empty() {
        return Err(StatusCode::NOT_FOUND);
    }
    let taken = store
        .change(
            "UPDATE item SET quantity = quantity - ?2 WHERE id = ?1 AND quantity >= ?2",
            [item, quantity],
        )
        .map_err(failed)?;
    if taken == 0 {
        return Err(StatusCode::CONFLICT);
    }
    let made = store
        .rows(
            "INSERT INTO reservation (item, quantity) VALUES (?1, ?2) RETURNING id",
            [item, quantity],
        )
        .map_err(failed)?;
    let id = made.first().map_or(0, |row| integer(row, 0));
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "item": item }))))
}

async fn void(State(store): State<Store>, Path(id): Path<i32>) -> Result<StatusCode, StatusCode> {
    let known = store
        .rows(
            "SELECT EXISTS (SELECT 1 FROM reservation WHERE id = ?1)",
            [id],
        )
        .map_err(failed)?;
    if known.first().is_none_or(|row| integer(row, 0) == 0) {
        return Err(StatusCode::NOT_FOUND);
    }
    let changed = store
        .change(
            "UPDATE reservation SET state = 'void' WHERE id = ?1 AND state = 'open'",
            [id],
        )
        .map_err(failed)?;
    Ok(if changed == 0 {
        StatusCode::CONFLICT
    } else {
        StatusCode::NO_CONTENT
    })
}
