//! Services that are correct in unusual ways: no oracle may accuse any of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::api::{body, id, operation, schema, secured};
use crate::features::{bad_request, bearer, error_schema, not_found, unauthorized};
use crate::running::{Running, serve};

type Input = Result<Json<Value>, JsonRejection>;
type Id = Result<Path<u64>, PathRejection>;

/// A thing as clients send it: a name, and a number from 0 to 1000.
fn thing(input: Input) -> Option<Value> {
    let Json(value) = input.ok()?;
    let name = value["name"].as_str().filter(|name| !name.is_empty())?;
    let count = value["count"].as_u64().filter(|count| *count <= 1_000)?;
    Some(json!({ "name": name, "count": count }))
}

fn schemas(more: Value) -> Value {
    let name = json!({ "type": "string", "minLength": 1 });
    let count = json!({ "type": "integer", "minimum": 0, "maximum": 1000 });
    let mut properties = json!({ "id": { "type": "integer" }, "name": name, "count": count });
    for (key, value) in more.as_object().into_iter().flatten() {
        properties[key] = value.clone();
    }
    json!({
        "Error": error_schema(),
        "Draft": { "type": "object", "required": ["name", "count"],
            "properties": { "name": name, "count": count } },
        "Thing": { "type": "object", "required": ["id", "name", "count"], "properties": properties },
    })
}

fn create_operation() -> Value {
    operation(
        "create",
        Vec::new(),
        Some(body(schema("Draft"))),
        &[(201, schema("Thing")), (400, schema("Error"))],
    )
}

fn on_thing(name: &str, input: Option<Value>, statuses: &[(u16, Value)]) -> Value {
    let mut all = vec![(400, schema("Error")), (404, schema("Error"))];
    all.extend_from_slice(statuses);
    operation(name, vec![id()], input, &all)
}

fn created(thing: &Value) -> Response {
    let location = format!("/things/{}", thing["id"]);
    (
        StatusCode::CREATED,
        [(header::LOCATION, location)],
        Json(thing.clone()),
    )
        .into_response()
}

#[derive(Default)]
struct Store {
    things: BTreeMap<u64, Value>,
    /// Reads until something that was written or deleted is seen.
    delays: BTreeMap<u64, u32>,
    /// What stood there before the last write.
    before: BTreeMap<u64, Option<Value>>,
    owners: BTreeMap<u64, String>,
    clock: u64,
}

type Shared = Arc<Mutex<Store>>;

impl Store {
    fn add(&mut self, mut thing: Value) -> Value {
        self.clock += 1;
        // Ids are far apart and without a pattern.
        let id = self.clock.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        thing["id"] = json!(id);
        self.things.insert(id, thing.clone());
        thing
    }
}

/// Entity tags, 304, 412, HEAD and OPTIONS; every write changes time stamp, version and tag.
pub fn conditional() -> Running {
    fn stamped(store: &mut Store, id: u64, mut thing: Value) -> Value {
        store.clock += 1;
        thing["id"] = json!(id);
        thing["updatedAt"] = json!(format!("2026-01-01T00:00:{:02}Z", store.clock % 60));
        thing["version"] = json!(store.clock);
        thing["etag"] = json!(format!("\"{}\"", store.clock));
        store.things.insert(id, thing.clone());
        thing
    }
    async fn create(State(store): State<Shared>, input: Input) -> Response {
        let Some(thing) = thing(input) else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        let id = store.add(json!({}))["id"].as_u64().unwrap_or(0);
        let thing = stamped(&mut store, id, thing);
        created(&thing)
    }
    async fn read(State(store): State<Shared>, headers: HeaderMap, id: Id) -> Response {
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let store = store.lock().expect("no request panics");
        let Some(thing) = store.things.get(&id) else {
            return not_found();
        };
        let tag = thing["etag"].as_str().unwrap_or_default().to_owned();
        if headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|known| known.as_bytes() == tag.as_bytes())
        {
            return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response();
        }
        ([(header::ETAG, tag)], Json(thing.clone())).into_response()
    }
    async fn replace(
        State(store): State<Shared>,
        headers: HeaderMap,
        id: Id,
        input: Input,
    ) -> Response {
        let (Ok(Path(id)), Some(thing)) = (id, thing(input)) else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        let Some(old) = store.things.get(&id) else {
            return not_found();
        };
        let tag = old["etag"].as_str().unwrap_or_default();
        if headers
            .get(header::IF_MATCH)
            .is_some_and(|known| known.as_bytes() != tag.as_bytes())
        {
            return StatusCode::PRECONDITION_FAILED.into_response();
        }
        Json(stamped(&mut store, id, thing)).into_response()
    }
    async fn options() -> Response {
        (
            StatusCode::NO_CONTENT,
            [(header::ALLOW, "GET, HEAD, PUT, OPTIONS")],
        )
            .into_response()
    }
    let tag = |name: &str| json!({ "name": name, "in": "header", "schema": { "type": "string" } });
    let mut read_it = on_thing("read", None, &[(200, schema("Thing")), (304, Value::Null)]);
    read_it["parameters"] = json!([id(), tag("If-None-Match")]);
    let mut replace_it = on_thing(
        "replace",
        Some(body(schema("Draft"))),
        &[(200, schema("Thing")), (412, Value::Null)],
    );
    replace_it["parameters"] = json!([id(), tag("If-Match")]);
    let paths = json!({
        "/things": { "post": create_operation() },
        "/things/{id}": {
            "get": read_it,
            "put": replace_it,
            "head": on_thing("look", None, &[(200, schema("Thing"))]),
            "options": operation("ask", vec![id()], None, &[(204, Value::Null)]),
        },
    });
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read).put(replace).options(options))
        .with_state(Shared::default());
    let text = json!({ "type": "string" });
    let more = json!({ "updatedAt": text, "etag": text, "version": { "type": "integer" } });
    serve("conditional", router, paths, schemas(more))
}

/// What was written or deleted is seen a read or two later; deletions may be accepted for later.
pub fn eventual() -> Running {
    fn write(store: &mut Store, id: u64, new: Option<Value>) {
        let old = store.things.get(&id).cloned();
        store.before.insert(id, old);
        store.delays.insert(id, 1);
        match new {
            Some(new) => store.things.insert(id, new),
            None => store.things.remove(&id),
        };
    }
    async fn create(State(store): State<Shared>, input: Input) -> Response {
        let Some(thing) = thing(input) else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        let thing = store.add(thing);
        let id = thing["id"].as_u64().unwrap_or(0);
        store.things.remove(&id);
        write(&mut store, id, Some(thing.clone()));
        created(&thing)
    }
    async fn read(State(store): State<Shared>, id: Id) -> Response {
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        let is_stale = match store.delays.get_mut(&id) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        let seen = if is_stale {
            store.before.get(&id).cloned().flatten()
        } else {
            store.things.get(&id).cloned()
        };
        seen.map_or_else(not_found, |thing| Json(thing).into_response())
    }
    async fn replace(State(store): State<Shared>, id: Id, input: Input) -> Response {
        let (Ok(Path(id)), Some(mut thing)) = (id, thing(input)) else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        if !store.things.contains_key(&id) {
            return not_found();
        }
        thing["id"] = json!(id);
        write(&mut store, id, Some(thing.clone()));
        Json(thing).into_response()
    }
    async fn delete(State(store): State<Shared>, id: Id) -> Response {
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        if !store.things.contains_key(&id) {
            return not_found();
        }
        write(&mut store, id, None);
        StatusCode::NO_CONTENT.into_response()
    }
    let paths = json!({
        "/things": { "post": create_operation() },
        "/things/{id}": {
            "get": on_thing("read", None, &[(200, schema("Thing"))]),
            "put": on_thing("replace", Some(body(schema("Draft"))), &[(200, schema("Thing"))]),
            "delete": on_thing("delete", None, &[(204, Value::Null)]),
        },
    });
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read).put(replace).delete(delete))
        .with_state(Shared::default());
    serve("eventual", router, paths, schemas(json!({})))
}

/// Deleted things are 410, deletions of some are accepted for later, reads are counted in the open, lists
/// begin somewhere else each time, too many calls are 429, errors are problem documents, and answers have more than
/// the document says.
pub fn relaxed() -> Running {
    fn problem(status: StatusCode) -> Response {
        let body = json!({ "type": "about:blank", "title": status.as_str(), "error": "no" });
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        (status, kind, body.to_string()).into_response()
    }
    fn limited(store: &mut Store) -> Option<Response> {
        store.clock += 1;
        store.clock.is_multiple_of(53).then(|| {
            let status = StatusCode::TOO_MANY_REQUESTS;
            (status, [(header::RETRY_AFTER, "0")]).into_response()
        })
    }
    async fn create(State(store): State<Shared>, input: Input) -> Response {
        let mut store = store.lock().expect("no request panics");
        if let Some(wait) = limited(&mut store) {
            return wait;
        }
        let Some(mut thing) = thing(input) else {
            return problem(StatusCode::BAD_REQUEST);
        };
        thing["views"] = json!(0);
        thing["tags"] = if store.clock.is_multiple_of(2) {
            json!([])
        } else {
            Value::Null
        };
        thing["surplus"] = json!({ "not": "documented" });
        let thing = store.add(thing);
        created(&thing)
    }
    async fn list(State(store): State<Shared>) -> Response {
        let mut store = store.lock().expect("no request panics");
        if let Some(wait) = limited(&mut store) {
            return wait;
        }
        let all: Vec<&Value> = store
            .things
            .values()
            .filter(|thing| thing.is_object())
            .collect();
        let start = usize::try_from(store.clock).unwrap_or(0) % all.len().max(1);
        let page: Vec<&Value> = all.into_iter().skip(start).take(3).collect();
        Json(json!({ "items": page })).into_response()
    }
    async fn read(State(store): State<Shared>, id: Id) -> Response {
        let mut store = store.lock().expect("no request panics");
        if let Some(wait) = limited(&mut store) {
            return wait;
        }
        let Ok(Path(id)) = id else {
            return problem(StatusCode::BAD_REQUEST);
        };
        let clock = store.clock;
        match store.things.get_mut(&id) {
            Some(Value::Null) => problem(StatusCode::GONE),
            Some(thing) => {
                thing["views"] = json!(thing["views"].as_u64().unwrap_or(0) + 1);
                thing["lastAccess"] = json!(clock);
                Json(thing.clone()).into_response()
            }
            None => problem(StatusCode::NOT_FOUND),
        }
    }
    async fn delete(State(store): State<Shared>, id: Id) -> Response {
        let mut store = store.lock().expect("no request panics");
        if let Some(wait) = limited(&mut store) {
            return wait;
        }
        let Ok(Path(id)) = id else {
            return problem(StatusCode::BAD_REQUEST);
        };
        match store.things.get_mut(&id) {
            Some(Value::Null) => problem(StatusCode::GONE),
            // Even ones are removed at night.
            Some(_) if id.is_multiple_of(2) => StatusCode::ACCEPTED.into_response(),
            Some(thing) => {
                *thing = Value::Null;
                StatusCode::NO_CONTENT.into_response()
            }
            None => problem(StatusCode::NOT_FOUND),
        }
    }
    let refused = |mut operation: Value| {
        for status in ["400", "404", "410"] {
            operation["responses"][status] = json!({ "description": "refused",
                "content": { "application/problem+json": { "schema": schema("Error") } } });
        }
        operation
    };
    let paths = json!({
        "/things": {
            "post": refused(create_operation()),
            "get": refused(operation("list", Vec::new(), None, &[(200, schema("Things"))])),
        },
        "/things/{id}": {
            "get": refused(on_thing("read", None, &[(200, schema("Thing"))])),
            "delete": refused(on_thing("delete", None, &[(202, Value::Null), (204, Value::Null)])),
        },
    });
    let number = json!({ "type": "integer" });
    let mut all = schemas(json!({ "views": number, "lastAccess": number,
        "tags": { "type": "array", "nullable": true, "items": { "type": "string" } } }));
    all["Things"] = json!({ "type": "object", "required": ["items"],
        "properties": { "items": { "type": "array", "items": schema("Thing") } } });
    let router = Router::new()
        .route("/things", post(create).get(list))
        .route("/things/{id}", get(read).delete(delete))
        .with_state(Shared::default());
    serve("relaxed", router, paths, all)
}

/// Everybody who is logged in may read by id, as of a shared link; lists show one's own; only owners write, others
/// get 403 whether they may know of it or not, as reading is open.
pub fn shared_links() -> Running {
    async fn create(State(store): State<Shared>, headers: HeaderMap, input: Input) -> Response {
        let Some(user) = bearer(&headers) else {
            return unauthorized();
        };
        let Some(thing) = thing(input) else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        let thing = store.add(thing);
        let id = thing["id"].as_u64().unwrap_or(0);
        store.owners.insert(id, user.to_owned());
        created(&thing)
    }
    async fn list(State(store): State<Shared>, headers: HeaderMap) -> Response {
        let Some(user) = bearer(&headers) else {
            return unauthorized();
        };
        let store = store.lock().expect("no request panics");
        let own = |id: &u64| store.owners.get(id).is_some_and(|owner| owner == user);
        let things: Vec<&Value> = store
            .things
            .iter()
            .filter_map(|(id, thing)| own(id).then_some(thing))
            .collect();
        Json(json!(things)).into_response()
    }
    async fn read(State(store): State<Shared>, headers: HeaderMap, id: Id) -> Response {
        if bearer(&headers).is_none() {
            return unauthorized();
        }
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let store = store.lock().expect("no request panics");
        let thing = store.things.get(&id).cloned();
        thing.map_or_else(not_found, |thing| Json(thing).into_response())
    }
    async fn delete(State(store): State<Shared>, headers: HeaderMap, id: Id) -> Response {
        let Some(user) = bearer(&headers) else {
            return unauthorized();
        };
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        match store.owners.get(&id) {
            None => not_found(),
            Some(owner) if owner != user => StatusCode::FORBIDDEN.into_response(),
            Some(_) => {
                store.owners.remove(&id);
                store.things.remove(&id);
                StatusCode::NO_CONTENT.into_response()
            }
        }
    }
    let closed = |operation: Value| {
        let mut operation = secured(operation);
        operation["responses"]["401"] = json!({ "description": "log in first",
            "content": { "application/json": { "schema": schema("Error") } } });
        operation
    };
    let things = json!({ "type": "array", "items": schema("Thing") });
    let paths = json!({
        "/things": {
            "post": closed(create_operation()),
            "get": closed(operation("list", Vec::new(), None, &[(200, things)])),
        },
        "/things/{id}": {
            "get": closed(on_thing("read", None, &[(200, schema("Thing"))])),
            "delete": closed(on_thing("delete", None, &[(204, Value::Null), (403, Value::Null)])),
        },
    });
    let router = Router::new()
        .route("/things", post(create).get(list))
        .route("/things/{id}", get(read).delete(delete))
        .with_state(Shared::default());
    serve("shared links", router, paths, schemas(json!({})))
}

/// `ada` may do everything with everything, though her list shows her own things only; others reach just their own.
pub fn administrator() -> Running {
    fn may(store: &Store, id: u64, user: &str) -> bool {
        user == "token-ada" || store.owners.get(&id).is_some_and(|owner| owner == user)
    }
    async fn create(State(store): State<Shared>, headers: HeaderMap, input: Input) -> Response {
        let Some(user) = bearer(&headers) else {
            return unauthorized();
        };
        let Some(thing) = thing(input) else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        let thing = store.add(thing);
        let id = thing["id"].as_u64().unwrap_or(0);
        store.owners.insert(id, user.to_owned());
        created(&thing)
    }
    async fn list(State(store): State<Shared>, headers: HeaderMap) -> Response {
        let Some(user) = bearer(&headers) else {
            return unauthorized();
        };
        let store = store.lock().expect("no request panics");
        let own = |id: &u64| store.owners.get(id).is_some_and(|owner| owner == user);
        let things: Vec<&Value> = store
            .things
            .iter()
            .filter_map(|(id, thing)| own(id).then_some(thing))
            .collect();
        Json(json!(things)).into_response()
    }
    async fn read(State(store): State<Shared>, headers: HeaderMap, id: Id) -> Response {
        let Some(user) = bearer(&headers) else {
            return unauthorized();
        };
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let store = store.lock().expect("no request panics");
        match store.things.get(&id) {
            Some(thing) if may(&store, id, user) => Json(thing.clone()).into_response(),
            _ => not_found(),
        }
    }
    async fn delete(State(store): State<Shared>, headers: HeaderMap, id: Id) -> Response {
        let Some(user) = bearer(&headers) else {
            return unauthorized();
        };
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut store = store.lock().expect("no request panics");
        if !store.things.contains_key(&id) || !may(&store, id, user) {
            return not_found();
        }
        store.things.remove(&id);
        StatusCode::NO_CONTENT.into_response()
    }
    let closed = |operation: Value| {
        let mut operation = secured(operation);
        operation["responses"]["401"] = json!({ "description": "log in first",
            "content": { "application/json": { "schema": schema("Error") } } });
        operation
    };
    let things = json!({ "type": "array", "items": schema("Thing") });
    let paths = json!({
        "/things": {
            "post": closed(create_operation()),
            "get": closed(operation("list", Vec::new(), None, &[(200, things)])),
        },
        "/things/{id}": {
            "get": closed(on_thing("read", None, &[(200, schema("Thing"))])),
            "delete": closed(on_thing("delete", None, &[(204, Value::Null)])),
        },
    });
    let router = Router::new()
        .route("/things", post(create).get(list))
        .route("/things/{id}", get(read).delete(delete))
        .with_state(Shared::default());
    serve("administrator", router, paths, schemas(json!({})))
}
