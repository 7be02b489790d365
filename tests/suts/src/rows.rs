//! A library whose faults show in its rows only, and its correct twin.
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
use serde_json::{Value, json};

use crate::api::{body, id, operation, schema};
use crate::features::error_schema;
use crate::running::Running;
use crate::store::{Cell, Row, Store, in_words_of};

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
        id COUNTED KEY, name TEXT NOT NULL, room TEXT, capacity INTEGER NOT NULL, mark TEXT NOT NULL DEFAULT '');
    CREATE TABLE books (
        id COUNTED KEY, shelf_id COUNTED NOT NULL, title VARCHAR(40) NOT NULL,
        pages INTEGER NOT NULL, note TEXT, views INTEGER NOT NULL DEFAULT 0, updated_at TIMESTAMP NULL,
        CONSTRAINT some_pages CHECK (pages > 0));
    CREATE TABLE loans (
        id COUNTED KEY, book_id COUNTED NOT NULL, reader TEXT NOT NULL, removed INTEGER NOT NULL DEFAULT 0,
        FOREIGN KEY (book_id) REFERENCES books (id) ON DELETE CASCADE);
    CREATE TABLE requests (token VARCHAR(12) PRIMARY KEY, answer TEXT NOT NULL);
    CREATE TABLE happened (number COUNTED KEY, what TEXT NOT NULL);
    INSERT INTO shelves (name, room, capacity) VALUES ('first', 'hall', 10), ('second', NULL, 20);
    INSERT INTO books (shelf_id, title, pages, note) VALUES (1, 'a thin book', 40, 'torn'), (2, 'a thick book', 900, NULL);
";

#[derive(Clone)]
struct Library {
    store: Store,
    hidden: Arc<Mutex<BTreeSet<i64>>>,
    fault: Option<RowFault>,
}

impl Library {
    fn hidden(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, fault: RowFault) -> bool {
        self.fault == Some(fault)
    }
}

/// Why a request was not served.
struct Refused(StatusCode, String);

impl From<String> for Refused {
    fn from(said: String) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, said)
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

/// Starts a library on SQLite with a fault, or without.
#[must_use]
pub fn library(fault: Option<RowFault>) -> Running {
    serve(Store::own(TABLES), fault)
}

/// Starts a library on a database with the tables of [`library_tables`].
#[must_use]
pub fn library_at(database: &str, fault: Option<RowFault>) -> Running {
    serve(Store::at(database), fault)
}

/// The tables and snapshot rows of a [`library`], in the words of a database.
#[must_use]
pub fn library_tables(database: &str) -> String {
    in_words_of(database, TABLES)
}

fn serve(store: Store, fault: Option<RowFault>) -> Running {
    let library = Library {
        store: store.clone(),
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
    store.serve(0, "library", router, paths(), schemas())
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
    let insert = "INSERT INTO happened (what) VALUES (?1)";
    match library.store.change(insert, &[(&what).into()]).await {
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

impl Library {
    /// The only row that a query finds, else 404.
    async fn one(&self, sql: &str, id: i64) -> Result<Row, Refused> {
        let found = self.store.rows(sql, &[id.into()]).await?;
        match found.into_iter().next() {
            Some(row) => Ok(row),
            None => refused(StatusCode::NOT_FOUND, "there is none"),
        }
    }

    async fn shelf(&self, id: i64) -> Result<Value, Refused> {
        let sql = "SELECT id, name, room, capacity FROM shelves WHERE id = ?1";
        let row = self.one(sql, id).await?;
        Ok(
            json!({ "id": row[0].json(), "name": row[1].json(), "room": row[2].json(), "capacity": row[3].json() }),
        )
    }

    async fn book(&self, id: i64) -> Result<Value, Refused> {
        let sql = "SELECT id, shelf_id, title, pages, note FROM books WHERE id = ?1";
        let row = self.one(sql, id).await?;
        Ok(
            json!({ "id": row[0].json(), "shelfId": row[1].json(), "title": row[2].json(), "pages": row[3].json(),
            "note": row[4].json() }),
        )
    }

    async fn loan(&self, id: i64) -> Result<Value, Refused> {
        let sql = "SELECT id, book_id, reader FROM loans WHERE id = ?1 AND removed = 0";
        let row = self.one(sql, id).await?;
        Ok(json!({ "id": row[0].json(), "bookId": row[1].json(), "reader": row[2].json() }))
    }

    /// Runs a statement that changes rows.
    async fn change(&self, sql: &str, values: &[Cell]) -> Result<(), Refused> {
        self.store.change(sql, values).await?;
        Ok(())
    }

    /// Inserts a row, and tells its key.
    async fn insert(&self, sql: &str, values: &[Cell]) -> Result<i64, Refused> {
        let made = self
            .store
            .rows(&format!("{sql} RETURNING id"), values)
            .await?;
        Ok(made.first().map_or(0, |row| row[0].int()))
    }
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
    let store = &library.store;
    let earlier = store
        .rows(
            "SELECT answer FROM requests WHERE token = ?1",
            &[key.into()],
        )
        .await?;
    if let Some(row) = earlier.first()
        && !library.has(RowFault::RepeatsCreation)
    {
        let answer = match &row[0] {
            Cell::Text(answer) => serde_json::from_str(answer).unwrap_or(Value::Null),
            Cell::Null | Cell::Int(_) => Value::Null,
        };
        return Ok((StatusCode::CREATED, Json(answer)));
    }
    if library.has(RowFault::LostCreation) && capacity > 30 {
        let last = store
            .rows("SELECT coalesce(max(id), 0) FROM shelves", &[])
            .await?;
        let next = last.first().map_or(0, |row| row[0].int()) + 1;
        let shelf = json!({ "id": next, "name": name, "room": room, "capacity": capacity });
        return Ok((StatusCode::CREATED, Json(shelf)));
    }
    let id = library
        .insert(
            "INSERT INTO shelves (name, room, capacity) VALUES (?1, ?2, ?3)",
            &[(&name).into(), room.as_ref().into(), capacity.into()],
        )
        .await?;
    let answer = library.shelf(id).await?;
    let values = [key.into(), (&answer.to_string()).into()];
    if earlier.is_empty() {
        let insert = "INSERT INTO requests (token, answer) VALUES (?1, ?2)";
        library.change(insert, &values).await?;
    } else {
        let update = "UPDATE requests SET answer = ?2 WHERE token = ?1";
        library.change(update, &values).await?;
    }
    Ok((StatusCode::CREATED, Json(answer)))
}

async fn list_shelves(State(library): State<Library>) -> Answer {
    let ids = library
        .store
        .rows("SELECT id FROM shelves ORDER BY id", &[])
        .await?;
    let mut shelves = Vec::new();
    for row in ids {
        let id = row[0].int();
        if !library.hidden().contains(&id) {
            shelves.push(library.shelf(id).await?);
        }
    }
    Ok((StatusCode::OK, Json(Value::Array(shelves))))
}

async fn show_shelf(State(library): State<Library>, Path(id): Path<i64>) -> Answer {
    if library.hidden().contains(&id) {
        return refused(StatusCode::NOT_FOUND, "there is none");
    }
    if library.has(RowFault::ReadMarks) {
        let mark = "UPDATE shelves SET mark = concat(mark, '*') WHERE id = ?1";
        library.change(mark, &[id.into()]).await?;
    }
    Ok((StatusCode::OK, Json(library.shelf(id).await?)))
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
    library.shelf(id).await?;
    let keeps = library.has(RowFault::KeepsCapacity) && capacity > 30;
    let capacity = (!keeps).then_some(capacity);
    library
        .change(
            "UPDATE shelves SET name = ?1, room = ?2, capacity = coalesce(?3, capacity) WHERE id = ?4",
            &[(&name).into(), room.as_ref().into(), capacity.into(), id.into()],
        )
        .await?;
    if library.has(RowFault::RenamesAll) {
        let rename = "UPDATE shelves SET name = ?1";
        library.change(rename, &[(&name).into()]).await?;
    }
    Ok((StatusCode::OK, Json(library.shelf(id).await?)))
}

async fn delete_shelf(
    State(library): State<Library>,
    Path(id): Path<i64>,
) -> Result<StatusCode, Refused> {
    library.shelf(id).await?;
    if library.has(RowFault::HiddenNotDeleted) {
        library.hidden().insert(id);
        return Ok(StatusCode::NO_CONTENT);
    }
    if library.has(RowFault::TakesThickBooks) {
        let delete = "DELETE FROM books WHERE pages > 500";
        library.change(delete, &[]).await?;
    }
    if !library.has(RowFault::LeavesBooks) {
        let delete = "DELETE FROM books WHERE shelf_id = ?1";
        library.change(delete, &[id.into()]).await?;
    }
    let delete = "DELETE FROM shelves WHERE id = ?1";
    library.change(delete, &[id.into()]).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn create_book(State(library): State<Library>, sent: axum::body::Bytes) -> Answer {
    let sent = object(&sent)?;
    let shelf_id = needed(number(&sent, "shelfId", 9)?, "shelfId")?;
    let title = needed(text(&sent, "title", 40)?, "title")?;
    let pages = needed(number(&sent, "pages", 3000)?, "pages")?;
    let note = text(&sent, "note", 30)?;
    library.shelf(shelf_id).await?;
    let is_too_thick = pages > 2000;
    if is_too_thick && !library.has(RowFault::RefusedAfterWrite) {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "too thick");
    }
    let id = library
        .insert(
            "INSERT INTO books (shelf_id, title, pages, note, updated_at) VALUES (?1, ?2, ?3, ?4, CURRENT_TIMESTAMP)",
            &[shelf_id.into(), (&title).into(), pages.into(), note.as_ref().into()],
        )
        .await?;
    if is_too_thick {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "too thick");
    }
    if library.has(RowFault::HalfWritten) && pages > 1000 {
        let insert = "INSERT INTO loans (book_id, reader) VALUES (?1, NULL)";
        library.change(insert, &[id.into()]).await?;
    }
    Ok((StatusCode::CREATED, Json(library.book(id).await?)))
}

async fn show_book(State(library): State<Library>, Path(id): Path<i64>) -> Answer {
    let count = "UPDATE books SET views = views + 1 WHERE id = ?1";
    library.change(count, &[id.into()]).await?;
    Ok((StatusCode::OK, Json(library.book(id).await?)))
}

async fn change_book(
    State(library): State<Library>,
    Path(id): Path<i64>,
    sent: axum::body::Bytes,
) -> Answer {
    let sent = object(&sent)?;
    let (title, pages) = (text(&sent, "title", 40)?, number(&sent, "pages", 3000)?);
    let note = text(&sent, "note", 30)?;
    library.book(id).await?;
    if pages.is_some_and(|pages| pages > 2000) {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "too thick");
    }
    let noted = if library.has(RowFault::ForgetsNote) {
        "?3"
    } else {
        "coalesce(?3, note)"
    };
    let update = format!(
        "UPDATE books SET title = coalesce(?1, title), pages = coalesce(?2, pages), note = {noted}, \
         updated_at = CURRENT_TIMESTAMP WHERE id = ?4"
    );
    let values = [
        title.as_ref().into(),
        pages.into(),
        note.as_ref().into(),
        id.into(),
    ];
    library.change(&update, &values).await?;
    Ok((StatusCode::OK, Json(library.book(id).await?)))
}

async fn create_loan(State(library): State<Library>, sent: axum::body::Bytes) -> Answer {
    let sent = object(&sent)?;
    let book_id = needed(number(&sent, "bookId", 9)?, "bookId")?;
    let reader = needed(text(&sent, "reader", 20)?, "reader")?;
    library.book(book_id).await?;
    let insert = "INSERT INTO loans (book_id, reader) VALUES (?1, ?2)";
    let id = library
        .insert(insert, &[book_id.into(), (&reader).into()])
        .await?;
    Ok((StatusCode::CREATED, Json(library.loan(id).await?)))
}

async fn show_loan(State(library): State<Library>, Path(id): Path<i64>) -> Answer {
    Ok((StatusCode::OK, Json(library.loan(id).await?)))
}

async fn remove_loan(
    State(library): State<Library>,
    Path(id): Path<i64>,
) -> Result<StatusCode, Refused> {
    library.loan(id).await?;
    let remove = "UPDATE loans SET removed = 1 WHERE id = ?1";
    library.change(remove, &[id.into()]).await?;
    Ok(StatusCode::NO_CONTENT)
}
