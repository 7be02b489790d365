//! A library on SQLite whose faults show in its rows only, and its correct twin.
//!
//! The twin does what services may do to rows: it writes an audit log at every call, counts views at every read, marks loans
//! as removed, deletes books with their shelf without a foreign key, answers a repeated request from memory.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

use crate::api::{body, id, operation, schema};
use crate::features::error_schema;
use crate::running::{Running, serve};

/// What is wrong with the rows of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    /// 201 for a large shelf, and no row.
    LostCreation,
    /// A book with too many pages is refused after it was stored.
    RefusedAfterWrite,
    /// A storage error comes after half of the work.
    HalfWritten,
    /// DELETE of a shelf hides it in memory only.
    HiddenNotDeleted,
    /// DELETE of a shelf takes all thick books along.
    TakesThickBooks,
    /// GET of a shelf changes its mark.
    ReadMarks,
    /// PUT of a shelf renames all of them.
    RenamesAll,
    /// PATCH of a book empties the note that was not sent.
    ForgetsNote,
    /// PUT of a shelf does not store a large capacity.
    KeepsCapacity,
    /// DELETE of a shelf leaves its books.
    LeavesBooks,
    /// A repeated POST of a shelf makes another one, whatever its idempotency key.
    RepeatsCreation,
}

impl RowFault {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::LostCreation,
        Self::RefusedAfterWrite,
        Self::HalfWritten,
        Self::HiddenNotDeleted,
        Self::TakesThickBooks,
        Self::ReadMarks,
        Self::RenamesAll,
        Self::ForgetsNote,
        Self::KeepsCapacity,
        Self::LeavesBooks,
        Self::RepeatsCreation,
    ];
}

const TABLES: &str = "
    CREATE TABLE shelves (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, room TEXT, capacity INTEGER NOT NULL, mark TEXT NOT NULL DEFAULT '');
    CREATE TABLE books (
        id INTEGER PRIMARY KEY AUTOINCREMENT, shelf_id INTEGER NOT NULL, title VARCHAR(40) NOT NULL,
        pages INTEGER NOT NULL CONSTRAINT some_pages CHECK (pages > 0), note TEXT, views INTEGER NOT NULL DEFAULT 0, updated_at TEXT);
    CREATE TABLE loans (
        id INTEGER PRIMARY KEY AUTOINCREMENT, book_id INTEGER NOT NULL REFERENCES books (id) ON DELETE CASCADE,
        reader TEXT NOT NULL, removed INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE requests (token TEXT PRIMARY KEY, answer TEXT NOT NULL);
    CREATE TABLE happened (number INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT NOT NULL);
    INSERT INTO shelves (name, room, capacity) VALUES ('first', 'hall', 10), ('second', NULL, 20);
    INSERT INTO books (shelf_id, title, pages, note) VALUES (1, 'a thin book', 40, 'torn'), (2, 'a thick book', 900, NULL);
";

#[derive(Clone)]
struct Library {
    db: Arc<Mutex<Connection>>,
    hidden: Arc<Mutex<BTreeSet<i64>>>,
    fault: Option<RowFault>,
}

impl Library {
    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hidden(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, fault: RowFault) -> bool {
        self.fault == Some(fault)
    }
}

/// Why a request was not served.
struct Refused(StatusCode, String);

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

type Answer = Result<(StatusCode, Json<Value>), Refused>;

fn refused<T>(status: StatusCode, why: &str) -> Result<T, Refused> {
    Err(Refused(status, why.to_owned()))
}

/// Starts a library with a fault, or without.
///
/// # Panics
///
/// When there is no folder for its database.
#[must_use]
pub fn library(fault: Option<RowFault>) -> Running {
    let folder = tempfile::tempdir().expect("a folder for the database");
    let path = folder.path().join("library.db").display().to_string();
    let db = Connection::open(&path).expect("a new database");
    db.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF",
    )
    .expect("settings of a new database");
    db.execute_batch(TABLES).expect("tables of a new database");
    let library = Library {
        db: Arc::new(Mutex::new(db)),
        hidden: Arc::default(),
        fault,
    };
    let router = Router::new()
        .route("/shelves", post(create_shelf).get(list_shelves))
        .route(
            "/shelves/{id}",
            get(show_shelf).put(replace_shelf).delete(delete_shelf),
        )
        .route("/books", post(create_book))
        .route("/books/{id}", get(show_book).patch(change_book))
        .route("/loans", post(create_loan))
        .route("/loans/{id}", get(show_loan).delete(remove_loan))
        .layer(middleware::from_fn_with_state(library.clone(), take_down))
        .with_state(library);
    serve("library", router, paths(), schemas()).with_database(folder, &path)
}

/// Writes every call down, whatever comes of it.
async fn take_down(
    State(library): State<Library>,
    method: Method,
    uri: Uri,
    request: axum::extract::Request,
    next: Next,
) -> Response {
    let what = format!("{method} {}", uri.path());
    let written = library
        .db()
        .execute("INSERT INTO happened (what) VALUES (?1)", [what]);
    match written {
        Ok(_) => next.run(request).await,
        Err(error) => Refused::from(error).into_response(),
    }
}

fn paths() -> Value {
    let key = json!({ "name": "Idempotency-Key", "in": "header", "required": true,
        "schema": { "type": "string", "pattern": "^[a-z]{8,12}$" } });
    let problem = || schema("Error");
    let of = |name: &str, parameters: Vec<Value>, sent: Option<Value>, done: u16, shown: Value| {
        let responses = [
            (done, shown),
            (400, problem()),
            (404, problem()),
            (422, problem()),
        ];
        operation(name, parameters, sent, &responses)
    };
    json!({
        "/shelves": {
            "post": of("createShelf", vec![key], Some(body(schema("NewShelf"))), 201, schema("Shelf")),
            "get": of("listShelves", vec![], None, 200, json!({ "type": "array", "items": schema("Shelf") })),
        },
        "/shelves/{id}": {
            "get": of("showShelf", vec![id()], None, 200, schema("Shelf")),
            "put": of("replaceShelf", vec![id()], Some(body(schema("NewShelf"))), 200, schema("Shelf")),
            "delete": of("deleteShelf", vec![id()], None, 204, Value::Null),
        },
        "/books": { "post": of("createBook", vec![], Some(body(schema("NewBook"))), 201, schema("Book")) },
        "/books/{id}": {
            "get": of("showBook", vec![id()], None, 200, schema("Book")),
            "patch": of("changeBook", vec![id()], Some(body(schema("BookChange"))), 200, schema("Book")),
        },
        "/loans": { "post": of("createLoan", vec![], Some(body(schema("NewLoan"))), 201, schema("Loan")) },
        "/loans/{id}": {
            "get": of("showLoan", vec![id()], None, 200, schema("Loan")),
            "delete": of("removeLoan", vec![id()], None, 204, Value::Null),
        },
    })
}

fn schemas() -> Value {
    let text = |max: u32| json!({ "type": "string", "minLength": 1, "maxLength": max });
    let number = |min: i64, max: i64| json!({ "type": "integer", "minimum": min, "maximum": max });
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties });
    json!({
        "Error": error_schema(),
        "NewShelf": object(&["name", "capacity"], json!({ "name": text(20), "room": text(20), "capacity": number(1, 60) })),
        "Shelf": object(&["id", "name", "capacity"], json!({ "id": { "type": "integer" }, "name": { "type": "string" },
            "room": { "type": "string", "nullable": true }, "capacity": { "type": "integer" } })),
        "NewBook": object(&["shelfId", "title", "pages"], json!({ "shelfId": number(1, 9), "title": text(40),
            "pages": number(1, 3000), "note": text(30) })),
        "BookChange": object(&[], json!({ "title": text(40), "pages": number(1, 3000), "note": text(30) })),
        "Book": object(&["id", "shelfId", "title", "pages"], json!({ "id": { "type": "integer" }, "shelfId": { "type": "integer" },
            "title": { "type": "string" }, "pages": { "type": "integer" }, "note": { "type": "string", "nullable": true } })),
        "NewLoan": object(&["bookId", "reader"], json!({ "bookId": number(1, 9), "reader": text(20) })),
        "Loan": object(&["id", "bookId", "reader"], json!({ "id": { "type": "integer" }, "bookId": { "type": "integer" },
            "reader": { "type": "string" } })),
    })
}

/// A field of a body: text between bounds of its length.
fn text(sent: &Value, name: &str, longest: usize) -> Result<Option<String>, Refused> {
    match sent.get(name) {
        None => Ok(None),
        Some(Value::String(text)) if (1..=longest).contains(&text.chars().count()) => {
            Ok(Some(text.clone()))
        }
        Some(_) => refused(StatusCode::BAD_REQUEST, name),
    }
}

fn number(sent: &Value, name: &str, most: i64) -> Result<Option<i64>, Refused> {
    match sent.get(name) {
        None => Ok(None),
        Some(value) => match value.as_i64() {
            Some(number) if (1..=most).contains(&number) => Ok(Some(number)),
            _ => refused(StatusCode::BAD_REQUEST, name),
        },
    }
}

fn needed<T>(value: Option<T>, name: &str) -> Result<T, Refused> {
    value.ok_or_else(|| Refused(StatusCode::BAD_REQUEST, format!("{name} is missing")))
}

/// A body that is a JSON object.
fn object(sent: &[u8]) -> Result<Value, Refused> {
    match serde_json::from_slice(sent) {
        Ok(value @ Value::Object(_)) => Ok(value),
        _ => refused(StatusCode::BAD_REQUEST, "no object"),
    }
}

/// What is found, else 404.
fn found<T>(row: rusqlite::Result<T>) -> Result<T, Refused> {
    match row.optional()? {
        Some(row) => Ok(row),
        None => refused(StatusCode::NOT_FOUND, "there is none"),
    }
}

fn shelf(db: &Connection, id: i64) -> Result<Value, Refused> {
    found(db.query_row(
        "SELECT id, name, room, capacity FROM shelves WHERE id = ?1",
        [id],
        |row| {
            Ok(
                json!({ "id": row.get::<_, i64>(0)?, "name": row.get::<_, String>(1)?,
            "room": row.get::<_, Option<String>>(2)?, "capacity": row.get::<_, i64>(3)? }),
            )
        },
    ))
}

fn book(db: &Connection, id: i64) -> Result<Value, Refused> {
    found(db.query_row("SELECT id, shelf_id, title, pages, note FROM books WHERE id = ?1", [id], |row| {
        Ok(json!({ "id": row.get::<_, i64>(0)?, "shelfId": row.get::<_, i64>(1)?, "title": row.get::<_, String>(2)?,
            "pages": row.get::<_, i64>(3)?, "note": row.get::<_, Option<String>>(4)? }))
    }))
}

fn loan(db: &Connection, id: i64) -> Result<Value, Refused> {
    let sql = "SELECT id, book_id, reader FROM loans WHERE id = ?1 AND removed = 0";
    found(db.query_row(sql, [id], |row| {
        Ok(json!({ "id": row.get::<_, i64>(0)?, "bookId": row.get::<_, i64>(1)?, "reader": row.get::<_, String>(2)? }))
    }))
}

async fn create_shelf(
    State(library): State<Library>,
    headers: HeaderMap,
    sent: axum::body::Bytes,
) -> Answer {
    let sent = object(&sent)?;
    let name = needed(text(&sent, "name", 20)?, "name")?;
    let room = text(&sent, "room", 20)?;
    let capacity = needed(number(&sent, "capacity", 60)?, "capacity")?;
    let key = headers
        .get("Idempotency-Key")
        .and_then(|key| key.to_str().ok())
        .unwrap_or_default();
    if !(8..=12).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return refused(StatusCode::BAD_REQUEST, "Idempotency-Key");
    }
    let db = library.db();
    let earlier: Option<String> = db
        .query_row(
            "SELECT answer FROM requests WHERE token = ?1",
            [key],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(earlier) = earlier.filter(|_| !library.has(RowFault::RepeatsCreation)) {
        let answer = serde_json::from_str(&earlier).unwrap_or(Value::Null);
        return Ok((StatusCode::CREATED, Json(answer)));
    }
    if library.has(RowFault::LostCreation) && capacity > 30 {
        let next: i64 =
            db.query_row("SELECT coalesce(max(id), 0) + 1 FROM shelves", [], |row| {
                row.get(0)
            })?;
        let shelf = json!({ "id": next, "name": name, "room": room, "capacity": capacity });
        return Ok((StatusCode::CREATED, Json(shelf)));
    }
    db.execute(
        "INSERT INTO shelves (name, room, capacity) VALUES (?1, ?2, ?3)",
        params![name, room, capacity],
    )?;
    let answer = shelf(&db, db.last_insert_rowid())?;
    db.execute(
        "INSERT OR REPLACE INTO requests VALUES (?1, ?2)",
        params![key, answer.to_string()],
    )?;
    Ok((StatusCode::CREATED, Json(answer)))
}

async fn list_shelves(State(library): State<Library>) -> Answer {
    let db = library.db();
    let mut ids = db.prepare("SELECT id FROM shelves ORDER BY id")?;
    let ids = ids
        .query_map([], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let hidden = library.hidden();
    let ids = ids.into_iter().filter(|id| !hidden.contains(id));
    let shelves = ids
        .map(|id| shelf(&db, id))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((StatusCode::OK, Json(Value::Array(shelves))))
}

async fn show_shelf(State(library): State<Library>, Path(id): Path<i64>) -> Answer {
    let db = library.db();
    if library.hidden().contains(&id) {
        return refused(StatusCode::NOT_FOUND, "there is none");
    }
    if library.has(RowFault::ReadMarks) {
        db.execute("UPDATE shelves SET mark = mark || '*' WHERE id = ?1", [id])?;
    }
    Ok((StatusCode::OK, Json(shelf(&db, id)?)))
}

async fn replace_shelf(
    State(library): State<Library>,
    Path(id): Path<i64>,
    sent: axum::body::Bytes,
) -> Answer {
    let sent = object(&sent)?;
    let name = needed(text(&sent, "name", 20)?, "name")?;
    let room = text(&sent, "room", 20)?;
    let capacity = needed(number(&sent, "capacity", 60)?, "capacity")?;
    let db = library.db();
    shelf(&db, id)?;
    let keeps = library.has(RowFault::KeepsCapacity) && capacity > 30;
    db.execute(
        "UPDATE shelves SET name = ?1, room = ?2, capacity = CASE WHEN ?5 THEN capacity ELSE ?3 END WHERE id = ?4",
        params![name, room, capacity, id, keeps],
    )?;
    if library.has(RowFault::RenamesAll) {
        db.execute("UPDATE shelves SET name = ?1", [name])?;
    }
    Ok((StatusCode::OK, Json(shelf(&db, id)?)))
}

async fn delete_shelf(
    State(library): State<Library>,
    Path(id): Path<i64>,
) -> Result<StatusCode, Refused> {
    let db = library.db();
    shelf(&db, id)?;
    if library.has(RowFault::HiddenNotDeleted) {
        library.hidden().insert(id);
        return Ok(StatusCode::NO_CONTENT);
    }
    if library.has(RowFault::TakesThickBooks) {
        db.execute("DELETE FROM books WHERE pages > 500", [])?;
    }
    if !library.has(RowFault::LeavesBooks) {
        db.execute("DELETE FROM books WHERE shelf_id = ?1", [id])?;
    }
    db.execute("DELETE FROM shelves WHERE id = ?1", [id])?;
    Ok(StatusCode::NO_CONTENT)
}

async fn create_book(State(library): State<Library>, sent: axum::body::Bytes) -> Answer {
    let sent = object(&sent)?;
    let shelf_id = needed(number(&sent, "shelfId", 9)?, "shelfId")?;
    let title = needed(text(&sent, "title", 40)?, "title")?;
    let pages = needed(number(&sent, "pages", 3000)?, "pages")?;
    let note = text(&sent, "note", 30)?;
    let db = library.db();
    shelf(&db, shelf_id)?;
    let is_too_thick = pages > 2000;
    if is_too_thick && !library.has(RowFault::RefusedAfterWrite) {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "too thick");
    }
    db.execute(
        "INSERT INTO books (shelf_id, title, pages, note, updated_at) VALUES (?1, ?2, ?3, ?4, datetime('now'))",
        params![shelf_id, title, pages, note],
    )?;
    let id = db.last_insert_rowid();
    if is_too_thick {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "too thick");
    }
    if library.has(RowFault::HalfWritten) && pages > 1000 {
        db.execute(
            "INSERT INTO loans (book_id, reader) VALUES (?1, NULL)",
            [id],
        )?;
    }
    Ok((StatusCode::CREATED, Json(book(&db, id)?)))
}

async fn show_book(State(library): State<Library>, Path(id): Path<i64>) -> Answer {
    let db = library.db();
    db.execute("UPDATE books SET views = views + 1 WHERE id = ?1", [id])?;
    Ok((StatusCode::OK, Json(book(&db, id)?)))
}

async fn change_book(
    State(library): State<Library>,
    Path(id): Path<i64>,
    sent: axum::body::Bytes,
) -> Answer {
    let sent = object(&sent)?;
    let (title, pages) = (text(&sent, "title", 40)?, number(&sent, "pages", 3000)?);
    let note = text(&sent, "note", 30)?;
    let db = library.db();
    book(&db, id)?;
    if pages.is_some_and(|pages| pages > 2000) {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "too thick");
    }
    db.execute(
        "UPDATE books SET title = coalesce(?1, title), pages = coalesce(?2, pages), \
         note = CASE WHEN ?5 THEN ?3 ELSE coalesce(?3, note) END, updated_at = datetime('now') WHERE id = ?4",
        params![title, pages, note, id, library.has(RowFault::ForgetsNote)],
    )?;
    Ok((StatusCode::OK, Json(book(&db, id)?)))
}

async fn create_loan(State(library): State<Library>, sent: axum::body::Bytes) -> Answer {
    let sent = object(&sent)?;
    let book_id = needed(number(&sent, "bookId", 9)?, "bookId")?;
    let reader = needed(text(&sent, "reader", 20)?, "reader")?;
    let db = library.db();
    book(&db, book_id)?;
    db.execute(
        "INSERT INTO loans (book_id, reader) VALUES (?1, ?2)",
        params![book_id, reader],
    )?;
    Ok((
        StatusCode::CREATED,
        Json(loan(&db, db.last_insert_rowid())?),
    ))
}

async fn show_loan(State(library): State<Library>, Path(id): Path<i64>) -> Answer {
    Ok((StatusCode::OK, Json(loan(&library.db(), id)?)))
}

async fn remove_loan(
    State(library): State<Library>,
    Path(id): Path<i64>,
) -> Result<StatusCode, Refused> {
    let db = library.db();
    loan(&db, id)?;
    db.execute("UPDATE loans SET removed = 1 WHERE id = ?1", [id])?;
    Ok(StatusCode::NO_CONTENT)
}
