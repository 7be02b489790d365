//! A service that keeps what it is given, cannot be reset, and takes every name once.
//!
//! It begins with one board, `default`. Lists and counts grow with every call that creates something. Teams are numbered,
//! and a view names its team in the query; the list of teams has a list of roles beside it, with numbers of their own. A
//! POST to a shelf finds the one of that name, or creates it, puts something on it, and tells who owns all shelves, which
//! anybody may change; they cannot be counted when there are many. A board says whether it was used, and a text which ones there are. Each start
//! walks a set of texts in another order, as processes do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::running::{Running, serve};

/// The notes of each board, by title.
type Shared = Arc<Mutex<BTreeMap<String, BTreeMap<String, Value>>>>;

/// What is on each shelf, and who owns them.
#[derive(Default)]
struct Shelving {
    shelves: BTreeMap<String, Vec<String>>,
    owner: String,
}

type Shelves = Arc<Mutex<Shelving>>;

/// Shelves that can be counted.
const COUNTABLE: usize = 12;

/// How often the service was started.
static STARTS: AtomicUsize = AtomicUsize::new(0);

type Answer = (StatusCode, Json<Value>);

/// Starts the service.
pub fn lasting() -> Running {
    let text = || json!({ "type": "string", "minLength": 1, "maxLength": 40 });
    let path =
        |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": text() });
    let known = |statuses: &[&str]| {
        let statuses = statuses.iter().map(|status| {
            let schema = json!({ "schema": { "type": "object" } });
            let answer = json!({ "description": "", "content": { "application/json": schema } });
            ((*status).to_owned(), answer)
        });
        Value::Object(statuses.collect())
    };
    let body = |schema: Value| json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    let board = json!({ "type": "object", "required": ["name"], "properties": { "name": text() } });
    let note = json!({ "type": "object", "required": ["title", "text"],
        "properties": { "title": text(), "text": text() } });
    let team = json!({ "type": "object", "properties": { "id": { "type": "integer" } } });
    let shelf = json!({ "type": "object", "required": ["shelfId", "item"],
        "properties": { "shelfId": text(), "item": text() } });
    let owner = json!({ "type": "object", "required": ["name"], "properties": { "name": text() } });
    let of_team = json!({ "name": "team", "in": "query", "required": true,
        "schema": { "type": "integer", "minimum": 1, "maximum": 20 } });
    let of_note = || json!([path("board"), path("title")]);
    let paths = json!({
        "/boards": {
            "get": { "responses": known(&["200"]) },
            "post": { "requestBody": body(board), "responses": known(&["201", "400", "409"]) } },
        "/boards/{board}": { "get": { "parameters": [path("board")], "responses": known(&["200", "404"]) } },
        "/names": { "get": { "responses": { "200": { "description": "",
            "content": { "text/plain": { "schema": { "type": "string" } } } } } } },
        "/boards/{board}/notes": {
            "get": { "parameters": [path("board")], "responses": known(&["200", "404"]) },
            "post": { "parameters": [path("board")], "requestBody": body(note),
                "responses": known(&["201", "400", "404", "409"]) },
            "delete": { "parameters": [path("board")], "responses": known(&["200", "404"]) } },
        "/boards/{board}/notes/{title}": {
            "get": { "parameters": of_note(), "responses": known(&["200", "404"]) },
            "delete": { "parameters": of_note(), "responses": known(&["200", "404"]) } },
        "/shelves": { "post": { "requestBody": body(shelf), "responses": known(&["200", "400"]) } },
        "/shelves/count": { "post": { "responses": known(&["200"]) } },
        "/owner": { "put": { "requestBody": body(owner), "responses": known(&["200", "400"]) } },
        "/shelves/{shelfId}": { "get": { "parameters": [path("shelfId")], "responses": known(&["200", "404"]) } },
        "/teams": { "get": { "responses": known(&["200"]) }, "post": { "responses": { "201": { "description": "",
            "content": { "application/json": { "schema": team } } } } } },
        "/teams/{id}": { "get": { "parameters": [{ "name": "id", "in": "path", "required": true,
            "schema": { "type": "integer", "minimum": 1, "maximum": 2_000_000_000 } }],
            "responses": known(&["200", "404"]) } },
        "/views": { "get": { "parameters": [of_team], "responses": known(&["200", "400", "404"]) } },
    });
    let is_odd = STARTS.fetch_add(1, Ordering::Relaxed) % 2 == 1;
    let rights = if is_odd {
        ["write", "read"]
    } else {
        ["read", "write"]
    };
    let n_teams = Arc::new(AtomicU64::new(0));
    let teams = Arc::clone(&n_teams);
    let add_team = async move || {
        let id = teams.fetch_add(1, Ordering::Relaxed) + 1;
        done(StatusCode::CREATED, json!({ "id": id }))
    };
    let teams = Arc::clone(&n_teams);
    let teams_of = async move || {
        let teams = 1..=teams.load(Ordering::Relaxed);
        let teams: Vec<Value> = teams.map(|id| json!({ "id": id })).collect();
        let roles: Vec<Value> = (1..=9).map(|id| json!({ "id": id })).collect();
        done(StatusCode::OK, json!({ "teams": teams, "roles": roles }))
    };
    let teams = Arc::clone(&n_teams);
    let team_of = async move |Path(id): Path<u64>| {
        let n_teams = teams.load(Ordering::Relaxed);
        let next = (id < n_teams).then(|| format!("/teams/{}", id + 1));
        match (1..=n_teams).contains(&id) {
            true => done(StatusCode::OK, json!({ "id": id, "next": next })),
            false => refused(StatusCode::NOT_FOUND),
        }
    };
    let view = async move |Query(query): Query<BTreeMap<String, String>>| {
        let id = query.get("team").and_then(|team| team.parse::<u64>().ok());
        match id {
            None => refused(StatusCode::BAD_REQUEST),
            Some(id) if (1..=n_teams.load(Ordering::Relaxed)).contains(&id) => {
                done(StatusCode::OK, json!({ "kind": "view", "rights": rights }))
            }
            Some(_) => refused(StatusCode::NOT_FOUND),
        }
    };
    let state = Shared::default();
    let mut boards = state.lock().expect("nobody else has it");
    boards.insert("default".into(), BTreeMap::new());
    drop(boards);
    let router = Router::new()
        .route("/boards", get(boards_of).post(add_board))
        .route("/boards/{board}", get(board_of))
        .route("/names", get(names))
        .route(
            "/boards/{board}/notes",
            get(notes_of).post(add_note).delete(delete_notes),
        )
        .route("/boards/{board}/notes/{title}", get(note_of).delete(delete))
        .with_state(state)
        .route("/shelves", post(put_on_shelf))
        .route("/shelves/count", post(count_shelves))
        .route("/shelves/{shelf}", get(shelf_of))
        .route("/owner", put(set_owner))
        .with_state(Shelves::default())
        .route("/teams", get(teams_of).post(add_team))
        .route("/teams/{id}", get(team_of))
        .route("/views", get(view));
    serve("lasting", router, paths, json!({}))
}

fn refused(status: StatusCode) -> Answer {
    (status, Json(json!({ "status": status.as_u16() })))
}

fn done(status: StatusCode, body: Value) -> Answer {
    (status, Json(body))
}

async fn put_on_shelf(State(shelves): State<Shelves>, Json(body): Json<Value>) -> Answer {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let (Some(shelf), Some(item)) = (text("shelfId"), text("item")) else {
        return refused(StatusCode::BAD_REQUEST);
    };
    let mut shelving = shelves.lock().expect("no request panics");
    let items = shelving.shelves.entry(shelf.to_owned()).or_default();
    if !items.iter().any(|known| known == item) {
        items.push(item.to_owned());
    }
    let owner = json!({ "name": shelving.owner });
    done(StatusCode::OK, json!({ "shelfId": shelf, "owner": owner }))
}

async fn count_shelves(State(shelves): State<Shelves>) -> Answer {
    match shelves.lock().expect("no request panics").shelves.len() {
        n @ ..COUNTABLE => done(StatusCode::OK, json!({ "n": n })),
        _ => refused(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

async fn set_owner(State(shelves): State<Shelves>, Json(body): Json<Value>) -> Answer {
    let Some(name) = body.get("name").and_then(Value::as_str) else {
        return refused(StatusCode::BAD_REQUEST);
    };
    name.clone_into(&mut shelves.lock().expect("no request panics").owner);
    done(StatusCode::OK, json!({ "name": name }))
}

async fn shelf_of(State(shelves): State<Shelves>, Path(shelf): Path<String>) -> Answer {
    let shelving = shelves.lock().expect("no request panics");
    match shelving.shelves.get(&shelf) {
        Some(items) => {
            let shown = json!({ "shelfId": shelf, "first": items.first(), "items": items });
            done(StatusCode::OK, shown)
        }
        None => refused(StatusCode::NOT_FOUND),
    }
}

async fn boards_of(State(state): State<Shared>) -> Answer {
    let boards = state.lock().expect("no request panics");
    let all: Vec<Value> = boards.keys().map(|name| json!({ "name": name })).collect();
    done(StatusCode::OK, json!({ "total": all.len(), "boards": all }))
}

async fn add_board(State(state): State<Shared>, Json(body): Json<Value>) -> Answer {
    let Some(name) = body.get("name").and_then(Value::as_str) else {
        return refused(StatusCode::BAD_REQUEST);
    };
    let mut boards = state.lock().expect("no request panics");
    if boards.contains_key(name) {
        return refused(StatusCode::CONFLICT);
    }
    boards.insert(name.to_owned(), BTreeMap::new());
    done(
        StatusCode::CREATED,
        json!({ "name": name, "kind": "board" }),
    )
}

async fn board_of(State(state): State<Shared>, Path(board): Path<String>) -> Answer {
    let boards = state.lock().expect("no request panics");
    match boards.get(&board) {
        Some(notes) => {
            let status = if notes.is_empty() { "new" } else { "used" };
            done(StatusCode::OK, json!({ "name": board, "status": status }))
        }
        None => refused(StatusCode::NOT_FOUND),
    }
}

async fn names(State(state): State<Shared>) -> String {
    let boards = state.lock().expect("no request panics");
    let lines = boards.keys().map(|name| format!("{name}\n"));
    lines.take(4).collect()
}

async fn notes_of(State(state): State<Shared>, Path(board): Path<String>) -> Answer {
    let boards = state.lock().expect("no request panics");
    match boards.get(&board) {
        None => refused(StatusCode::NOT_FOUND),
        Some(notes) => {
            let all: Vec<&Value> = notes.values().collect();
            done(StatusCode::OK, json!({ "notes": all }))
        }
    }
}

async fn add_note(
    State(state): State<Shared>,
    Path(board): Path<String>,
    Json(body): Json<Value>,
) -> Answer {
    let title = body.get("title").and_then(Value::as_str);
    let text = body.get("text").and_then(Value::as_str);
    let (Some(title), Some(text)) = (title, text) else {
        return refused(StatusCode::BAD_REQUEST);
    };
    let mut boards = state.lock().expect("no request panics");
    let Some(notes) = boards.get_mut(&board) else {
        return refused(StatusCode::NOT_FOUND);
    };
    if notes.contains_key(title) {
        return refused(StatusCode::CONFLICT);
    }
    let note = json!({ "title": title, "text": text });
    notes.insert(title.to_owned(), note.clone());
    done(StatusCode::CREATED, note)
}

async fn delete_notes(State(state): State<Shared>, Path(board): Path<String>) -> Answer {
    let mut boards = state.lock().expect("no request panics");
    let Some(notes) = boards.get_mut(&board) else {
        return refused(StatusCode::NOT_FOUND);
    };
    notes.clear();
    done(StatusCode::OK, json!({}))
}

async fn note_of(
    State(state): State<Shared>,
    Path((board, title)): Path<(String, String)>,
) -> Answer {
    let boards = state.lock().expect("no request panics");
    let note = boards.get(&board).and_then(|notes| notes.get(&title));
    note.map_or_else(
        || refused(StatusCode::NOT_FOUND),
        |note| done(StatusCode::OK, note.clone()),
    )
}

async fn delete(
    State(state): State<Shared>,
    Path((board, title)): Path<(String, String)>,
) -> Answer {
    let mut boards = state.lock().expect("no request panics");
    let notes = boards.get_mut(&board);
    let note = notes.and_then(|notes| notes.remove(&title));
    note.map_or_else(
        || refused(StatusCode::NOT_FOUND),
        |note| done(StatusCode::OK, note),
    )
}
