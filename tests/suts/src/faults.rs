//! Services with one planted fault each, and their correct twins.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::api::{body, id, operation, required, schema, secured};
use crate::features::{bad_request, bearer, error_schema, not_found, unauthorized};
use crate::running::{Running, serve};

/// Whether a service has its fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Planted,
    Absent,
}

/// Declares a module with the faulty service and its twin.
macro_rules! faulty {
    ($name:ident, $make:ident, $fault:literal) => {
        #[doc = $fault]
        pub mod $name {
            use super::{Fault, Running};

            /// The service with the fault.
            pub fn start() -> Running {
                super::$make(Fault::Planted)
            }

            /// Its twin without the fault.
            pub fn start_correct() -> Running {
                super::$make(Fault::Absent)
            }
        }
    };
}

faulty!(
    delete_keeps,
    make_delete_keeps,
    "DELETE is answered 204, and the thing is still there."
);
faulty!(
    put_appends,
    make_put_appends,
    "The second of two equal PUTs changes the thing again."
);
faulty!(
    failed_put_writes,
    make_failed_put_writes,
    "A PUT that is refused has changed the thing."
);
faulty!(
    unsafe_get,
    make_unsafe_get,
    "GET counts how often it was called, in the thing itself."
);
faulty!(
    lost_creation,
    make_lost_creation,
    "201 with a Location at which there is nothing."
);
faulty!(
    edge_crash,
    make_edge_crash,
    "500 for one value that the document allows."
);
faulty!(
    stack_trace,
    make_stack_trace,
    "An answer to invalid input shows the stack of the service."
);
faulty!(
    wrong_type,
    make_wrong_type,
    "The price in an answer is text where the document says number."
);
faulty!(
    undocumented_status,
    make_undocumented_status,
    "A status that the document does not mention."
);
faulty!(
    accepts_invalid,
    make_accepts_invalid,
    "Input that the document forbids is accepted."
);
faulty!(
    anonymous_write,
    make_anonymous_write,
    "Who does not log in may write where reading needs a login."
);
faulty!(
    foreign_resource,
    make_foreign_resource,
    "One user reads and deletes what belongs to another."
);
faulty!(
    existence_leak,
    make_existence_leak,
    "A stranger is told by 403 and 404 which things exist."
);

/// Things by number, as JSON.
#[derive(Default)]
struct Shelf {
    things: BTreeMap<u64, Value>,
    last: u64,
}

impl Shelf {
    fn add(&mut self, mut thing: Value) -> Value {
        self.last += 1;
        thing["id"] = json!(self.last);
        self.things.insert(self.last, thing.clone());
        thing
    }
}

type Shared = Arc<Mutex<Shelf>>;
type Input = Result<Json<Value>, JsonRejection>;
type Id = Result<Path<u64>, PathRejection>;

/// The things that most of these services keep: a name, and a number from 0 to 1000.
fn thing(input: Input) -> Option<Value> {
    let Json(value) = input.ok()?;
    let name = value["name"].as_str().filter(|name| !name.is_empty())?;
    let count = value["count"].as_u64().filter(|count| *count <= 1_000)?;
    Some(json!({ "name": name, "count": count }))
}

fn thing_schemas() -> Value {
    let name = json!({ "type": "string", "minLength": 1 });
    let count = json!({ "type": "integer", "minimum": 0, "maximum": 1000 });
    json!({
        "Error": error_schema(),
        "Draft": { "type": "object", "required": ["name", "count"],
            "properties": { "name": name, "count": count } },
        "Thing": { "type": "object", "required": ["id", "name", "count"], "properties": {
            "id": { "type": "integer" },
            "name": { "type": "string" },
            "count": { "type": "integer" },
        } },
    })
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

async fn create(State((_, shelf)): State<(Fault, Shared)>, input: Input) -> Response {
    match thing(input) {
        Some(thing) => created(&shelf.lock().expect("no request panics").add(thing)),
        None => bad_request(),
    }
}

async fn read(State((_, shelf)): State<(Fault, Shared)>, id: Id) -> Response {
    let Ok(Path(id)) = id else {
        return bad_request();
    };
    match shelf.lock().expect("no request panics").things.get(&id) {
        Some(thing) => Json(thing.clone()).into_response(),
        None => not_found(),
    }
}

fn create_operation() -> Value {
    operation(
        "create",
        Vec::new(),
        Some(body(schema("Draft"))),
        &[(201, schema("Thing")), (400, schema("Error"))],
    )
}

fn read_operation() -> Value {
    operation(
        "read",
        vec![id()],
        None,
        &[
            (200, schema("Thing")),
            (400, schema("Error")),
            (404, schema("Error")),
        ],
    )
}

fn remove_operation() -> Value {
    operation(
        "remove",
        vec![id()],
        None,
        &[
            (204, Value::Null),
            (400, schema("Error")),
            (404, schema("Error")),
        ],
    )
}

fn replace_operation() -> Value {
    operation(
        "replace",
        vec![id()],
        Some(body(schema("Draft"))),
        &[
            (200, schema("Thing")),
            (400, schema("Error")),
            (404, schema("Error")),
        ],
    )
}

fn make_delete_keeps(fault: Fault) -> Running {
    async fn remove(State((fault, shelf)): State<(Fault, Shared)>, id: Id) -> Response {
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut shelf = shelf.lock().expect("no request panics");
        if !shelf.things.contains_key(&id) {
            return not_found();
        }
        if fault == Fault::Absent {
            shelf.things.remove(&id);
        }
        StatusCode::NO_CONTENT.into_response()
    }
    let paths = json!({
        "/things": { "post": create_operation() },
        "/things/{id}": { "get": read_operation(), "delete": remove_operation() },
    });
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read).delete(remove))
        .with_state((fault, Shared::default()));
    serve("delete keeps", router, paths, thing_schemas())
}

fn make_put_appends(fault: Fault) -> Running {
    async fn replace(
        State((fault, shelf)): State<(Fault, Shared)>,
        id: Id,
        input: Input,
    ) -> Response {
        let (Ok(Path(id)), Some(mut new)) = (id, thing(input)) else {
            return bad_request();
        };
        let mut shelf = shelf.lock().expect("no request panics");
        let Some(old) = shelf.things.get_mut(&id) else {
            return not_found();
        };
        if fault == Fault::Planted {
            let sum = old["count"].as_u64().unwrap_or(0) + new["count"].as_u64().unwrap_or(0);
            new["count"] = json!(sum);
        }
        new["id"] = json!(id);
        *old = new.clone();
        Json(new).into_response()
    }
    serve_replacing("put appends", fault, axum::routing::put(replace))
}

fn make_failed_put_writes(fault: Fault) -> Running {
    async fn replace(
        State((fault, shelf)): State<(Fault, Shared)>,
        id: Id,
        input: Input,
    ) -> Response {
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut shelf = shelf.lock().expect("no request panics");
        let Some(old) = shelf.things.get_mut(&id) else {
            return not_found();
        };
        if fault == Fault::Planted
            && let Ok(Json(value)) = &input
            && let Some(name) = value["name"].as_str()
        {
            // Written before the rest is looked at.
            old["name"] = json!(name);
        }
        let Some(mut new) = thing(input) else {
            return bad_request();
        };
        new["id"] = json!(id);
        *old = new.clone();
        Json(new).into_response()
    }
    serve_replacing("failed put writes", fault, axum::routing::put(replace))
}

fn serve_replacing(
    title: &str,
    fault: Fault,
    put: axum::routing::MethodRouter<(Fault, Shared)>,
) -> Running {
    let paths = json!({
        "/things": { "post": create_operation() },
        "/things/{id}": { "get": read_operation(), "put": replace_operation() },
    });
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", put.get(read))
        .with_state((fault, Shared::default()));
    serve(title, router, paths, thing_schemas())
}

fn make_unsafe_get(fault: Fault) -> Running {
    async fn read(State((fault, shelf)): State<(Fault, Shared)>, id: Id) -> Response {
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut shelf = shelf.lock().expect("no request panics");
        let Some(thing) = shelf.things.get_mut(&id) else {
            return not_found();
        };
        if fault == Fault::Planted {
            thing["count"] = json!(thing["count"].as_u64().unwrap_or(0) + 1);
        }
        Json(thing.clone()).into_response()
    }
    let paths = json!({
        "/things": { "post": create_operation() },
        "/things/{id}": { "get": read_operation() },
    });
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read))
        .with_state((fault, Shared::default()));
    serve("unsafe get", router, paths, thing_schemas())
}

fn make_lost_creation(fault: Fault) -> Running {
    async fn create(State((fault, shelf)): State<(Fault, Shared)>, input: Input) -> Response {
        let Some(thing) = thing(input) else {
            return bad_request();
        };
        let mut shelf = shelf.lock().expect("no request panics");
        let thing = shelf.add(thing);
        if fault == Fault::Planted {
            let id = shelf.last;
            shelf.things.remove(&id);
        }
        created(&thing)
    }
    let paths = json!({
        "/things": { "post": create_operation() },
        "/things/{id}": { "get": read_operation() },
    });
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read))
        .with_state((fault, Shared::default()));
    serve("lost creation", router, paths, thing_schemas())
}

fn make_edge_crash(fault: Fault) -> Running {
    async fn share(State((fault, _)): State<(Fault, Shared)>, Path(n): Path<String>) -> Response {
        let Some(n) = n.parse::<u64>().ok().filter(|n| *n <= 1000) else {
            return bad_request();
        };
        match 100_u64.checked_div(n) {
            Some(share) => Json(json!({ "share": share })).into_response(),
            None if fault == Fault::Absent => bad_request(),
            None => {
                let error = json!({ "error": "attempt to divide by zero" });
                (StatusCode::INTERNAL_SERVER_ERROR, Json(error)).into_response()
            }
        }
    }
    let number = json!({ "type": "integer", "minimum": 0, "maximum": 1000 });
    let paths = json!({ "/share/{n}": { "get": operation("share", vec![required("n", "path", number)], None,
        &[(200, schema("Share")), (400, schema("Error"))]) } });
    let schemas = json!({
        "Error": error_schema(),
        "Share": { "type": "object", "required": ["share"],
            "properties": { "share": { "type": "integer" } } },
    });
    let router = Router::new()
        .route("/share/{n}", get(share))
        .with_state((fault, Shared::default()));
    serve("edge crash", router, paths, schemas)
}

fn make_stack_trace(fault: Fault) -> Running {
    async fn parse(State((fault, _)): State<(Fault, Shared)>, input: Input) -> Response {
        match thing(input) {
            Some(thing) => Json(json!({ "error": thing["name"] })).into_response(),
            None if fault == Fault::Absent => bad_request(),
            None => {
                let trace = "java.lang.IllegalArgumentException: count\n\
                    \tat com.example.things.Parser.parse(Parser.java:42)\n\
                    \tat com.example.things.ThingController.post(ThingController.java:17)\n\
                    \tat java.base/java.lang.Thread.run(Thread.java:1583)";
                (StatusCode::BAD_REQUEST, Json(json!({ "error": trace }))).into_response()
            }
        }
    }
    let paths = json!({ "/parse": { "post": operation("parse", Vec::new(), Some(body(schema("Draft"))),
        &[(200, schema("Error")), (400, schema("Error"))]) } });
    let router = Router::new()
        .route("/parse", post(parse))
        .with_state((fault, Shared::default()));
    serve("stack trace", router, paths, thing_schemas())
}

fn make_wrong_type(fault: Fault) -> Running {
    async fn price(
        State((fault, _)): State<(Fault, Shared)>,
        Path(item): Path<String>,
    ) -> Response {
        let amount = item.len() as u64 * 5;
        let price = match fault {
            Fault::Planted => json!(amount.to_string()),
            Fault::Absent => json!(amount),
        };
        Json(json!({ "price": price })).into_response()
    }
    let item = json!({ "type": "string", "minLength": 1 });
    let paths = json!({ "/prices/{item}": { "get": operation("price", vec![required("item", "path", item)],
        None, &[(200, schema("Price"))]) } });
    let schemas = json!({ "Price": { "type": "object", "required": ["price"],
        "properties": { "price": { "type": "number" } } } });
    let router = Router::new()
        .route("/prices/{item}", get(price))
        .with_state((fault, Shared::default()));
    serve("wrong type", router, paths, schemas)
}

fn make_undocumented_status(fault: Fault) -> Running {
    async fn brew(
        State((fault, _)): State<(Fault, Shared)>,
        Path(drink): Path<String>,
    ) -> Response {
        match (drink.as_str(), fault) {
            ("tea", _) => StatusCode::NO_CONTENT.into_response(),
            (_, Fault::Planted) => StatusCode::IM_A_TEAPOT.into_response(),
            (_, Fault::Absent) => not_found(),
        }
    }
    let drink = json!({ "type": "string", "enum": ["tea", "coffee"] });
    let paths = json!({ "/brew/{drink}": { "get": operation("brew", vec![required("drink", "path", drink)],
        None, &[(204, Value::Null), (404, schema("Error"))]) } });
    let router = Router::new()
        .route("/brew/{drink}", get(brew))
        .with_state((fault, Shared::default()));
    serve(
        "undocumented status",
        router,
        paths,
        json!({ "Error": error_schema() }),
    )
}

fn make_accepts_invalid(fault: Fault) -> Running {
    async fn create(State((fault, shelf)): State<(Fault, Shared)>, input: Input) -> Response {
        let lax = |input: Input| {
            let Json(value) = input.ok()?;
            let name = value["name"].as_str()?;
            let count = value["count"].as_i64()?;
            Some(json!({ "name": name, "count": count }))
        };
        let thing = match fault {
            Fault::Planted => lax(input),
            Fault::Absent => thing(input),
        };
        match thing {
            Some(thing) => created(&shelf.lock().expect("no request panics").add(thing)),
            None => bad_request(),
        }
    }
    let paths = json!({
        "/things": { "post": create_operation() },
        "/things/{id}": { "get": read_operation() },
    });
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read))
        .with_state((fault, Shared::default()));
    serve("accepts invalid", router, paths, thing_schemas())
}

/// The users that the services with users know; their tokens are `token-` and their name.
pub const USERS: [&str; 2] = ["ada", "grace"];

fn user(headers: &HeaderMap) -> Option<&'static str> {
    let name = bearer(headers)?.strip_prefix("token-")?;
    USERS.into_iter().find(|user| *user == name)
}

fn secured_paths(others: &[(u16, Value)]) -> Value {
    let with = |responses: &[(u16, Value)]| {
        let mut all = responses.to_vec();
        all.push((400, schema("Error")));
        all.push((401, schema("Error")));
        all.extend_from_slice(others);
        all
    };
    let read = with(&[(200, schema("Thing")), (404, schema("Error"))]);
    let remove = with(&[(204, Value::Null), (404, schema("Error"))]);
    json!({
        "/things": { "post": secured(operation("create", Vec::new(), Some(body(schema("Draft"))),
            &with(&[(201, schema("Thing"))]))) },
        "/things/{id}": {
            "get": secured(operation("read", vec![id()], None, &read)),
            "delete": secured(operation("remove", vec![id()], None, &remove)),
        },
    })
}

/// How a service with users treats those who are not allowed.
#[derive(Clone, Copy)]
struct Door {
    /// Anybody may write, without a login.
    lets_anonymous_write: bool,
    /// Every user may read the things of every other, though not remove them.
    lets_others_in: bool,
    /// A stranger is told 403 where there is something, and 404 where there is nothing.
    tells_of_existence: bool,
}

fn serve_behind(title: &str, door: Door) -> Running {
    type Guarded = (Door, Shared);
    async fn create(
        State((door, shelf)): State<Guarded>,
        headers: HeaderMap,
        input: Input,
    ) -> Response {
        let user = user(&headers);
        if user.is_none() && !door.lets_anonymous_write {
            return unauthorized();
        }
        let Some(mut thing) = thing(input) else {
            return bad_request();
        };
        thing["owner"] = json!(user.unwrap_or(USERS[0]));
        created(&shelf.lock().expect("no request panics").add(thing))
    }
    /// The thing, if this user may use it.
    fn allowed(door: Door, shelf: &Shelf, id: u64, user: &str) -> Result<Value, Box<Response>> {
        match shelf.things.get(&id) {
            Some(thing) if thing["owner"] == user || door.lets_others_in => Ok(thing.clone()),
            Some(_) if door.tells_of_existence => Err(Box::new(forbidden())),
            _ => Err(Box::new(not_found())),
        }
    }
    async fn read(State((door, shelf)): State<Guarded>, headers: HeaderMap, id: Id) -> Response {
        let Some(user) = user(&headers) else {
            return unauthorized();
        };
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        match allowed(door, &shelf.lock().expect("no request panics"), id, user) {
            Ok(thing) => Json(thing).into_response(),
            Err(refusal) => *refusal,
        }
    }
    async fn remove(State((door, shelf)): State<Guarded>, headers: HeaderMap, id: Id) -> Response {
        let Some(user) = user(&headers).or(door.lets_anonymous_write.then_some(USERS[0])) else {
            return unauthorized();
        };
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut shelf = shelf.lock().expect("no request panics");
        let door = Door {
            lets_others_in: false,
            ..door
        };
        match allowed(door, &shelf, id, user) {
            Ok(_) => {
                shelf.things.remove(&id);
                StatusCode::NO_CONTENT.into_response()
            }
            Err(refusal) => *refusal,
        }
    }
    let others: &[(u16, Value)] = if door.tells_of_existence {
        &[(403, json!({ "$ref": "#/components/schemas/Error" }))]
    } else {
        &[]
    };
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read).delete(remove))
        .with_state((door, Shared::default()));
    serve(title, router, secured_paths(others), thing_schemas())
}

fn forbidden() -> Response {
    (StatusCode::FORBIDDEN, Json(json!({ "error": "not yours" }))).into_response()
}

const CLOSED: Door = Door {
    lets_anonymous_write: false,
    lets_others_in: false,
    tells_of_existence: false,
};

fn make_anonymous_write(fault: Fault) -> Running {
    let lets_anonymous_write = fault == Fault::Planted;
    serve_behind(
        "anonymous write",
        Door {
            lets_anonymous_write,
            ..CLOSED
        },
    )
}

fn make_foreign_resource(fault: Fault) -> Running {
    let lets_others_in = fault == Fault::Planted;
    serve_behind(
        "foreign resource",
        Door {
            lets_others_in,
            ..CLOSED
        },
    )
}

fn make_existence_leak(fault: Fault) -> Running {
    let tells_of_existence = fault == Fault::Planted;
    serve_behind(
        "existence leak",
        Door {
            tells_of_existence,
            ..CLOSED
        },
    )
}
