//! Things that can be sealed: a state in which every update is refused. One service keeps what it refused.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::api::{body, id, operation, schema};
use crate::features::{bad_request, error_schema, not_found};
use crate::running::{Running, serve};

/// A PUT on a sealed thing is answered 409, and has renamed it.
pub mod sealed_put_writes {
    use crate::running::Running;

    /// The service with the fault.
    pub fn start() -> Running {
        super::make(true)
    }

    /// Its twin without the fault.
    pub fn start_correct() -> Running {
        super::make(false)
    }
}

#[derive(Clone)]
struct Thing {
    name: String,
    is_sealed: bool,
}

#[derive(Clone, Default)]
struct Things {
    writes_refused: bool,
    by_id: Arc<Mutex<BTreeMap<u64, Thing>>>,
}

impl Things {
    /// Answers with what is done to the thing, or that there is none.
    fn with(
        &self,
        id: Result<Path<u64>, PathRejection>,
        act: impl FnOnce(u64, &mut Thing) -> Response,
    ) -> Response {
        let Ok(Path(id)) = id else {
            return bad_request();
        };
        let mut things = self.by_id.lock().expect("no request panics");
        things
            .get_mut(&id)
            .map_or_else(not_found, |thing| act(id, thing))
    }
}

type Id = Result<Path<u64>, PathRejection>;
type Input = Result<Json<Value>, JsonRejection>;

fn name(input: Input) -> Option<String> {
    let Json(value) = input.ok()?;
    let name = value["name"].as_str().filter(|name| !name.is_empty())?;
    Some(name.to_owned())
}

fn shown(id: u64, thing: &Thing) -> Json<Value> {
    Json(json!({ "id": id, "name": thing.name, "sealed": thing.is_sealed }))
}

async fn create(State(things): State<Things>, input: Input) -> Response {
    let Some(name) = name(input) else {
        return bad_request();
    };
    let mut things = things.by_id.lock().expect("no request panics");
    let id = things.len() as u64 + 1;
    let is_sealed = false;
    let thing = things.entry(id).or_insert(Thing { name, is_sealed });
    let location = [(header::LOCATION, format!("/things/{id}"))];
    (StatusCode::CREATED, location, shown(id, thing)).into_response()
}

async fn read(State(things): State<Things>, id: Id) -> Response {
    things.with(id, |id, thing| shown(id, thing).into_response())
}

async fn seal(State(things): State<Things>, id: Id) -> Response {
    things.with(id, |id, thing| {
        thing.is_sealed = true;
        shown(id, thing).into_response()
    })
}

async fn replace(State(things): State<Things>, id: Id, input: Input) -> Response {
    let Some(name) = name(input) else {
        return bad_request();
    };
    things.with(id, |id, thing| {
        if !thing.is_sealed || things.writes_refused {
            thing.name = name;
        }
        if thing.is_sealed {
            let error = Json(json!({ "error": "it is sealed" }));
            return (StatusCode::CONFLICT, error).into_response();
        }
        shown(id, thing).into_response()
    })
}

fn make(writes_refused: bool) -> Running {
    let error = || schema("Error");
    let one = |name: &str, input: Option<Value>, refusals: &[u16]| {
        let refusals = refusals.iter().map(|status| (*status, error()));
        let answers: Vec<(u16, Value)> = [(200, schema("Thing"))]
            .into_iter()
            .chain(refusals)
            .collect();
        operation(name, vec![id()], input, &answers)
    };
    let draft = || Some(body(schema("Draft")));
    let paths = json!({
        "/things": { "post": operation("create", Vec::new(), draft(), &[(201, schema("Thing")), (400, error())]) },
        "/things/{id}": {
            "get": one("read", None, &[400, 404]),
            "put": one("replace", draft(), &[400, 404, 409]),
        },
        "/things/{id}/seal": { "post": one("seal", None, &[400, 404]) },
    });
    let schemas = json!({
        "Error": error_schema(),
        "Draft": { "type": "object", "required": ["name"],
            "properties": { "name": { "type": "string", "minLength": 1 } } },
        "Thing": { "type": "object", "required": ["id", "name", "sealed"], "properties": {
            "id": { "type": "integer" },
            "name": { "type": "string" },
            "sealed": { "type": "boolean" },
        } },
    });
    let things = Things {
        writes_refused,
        ..Things::default()
    };
    let router = Router::new()
        .route("/things", post(create))
        .route("/things/{id}", get(read).put(replace))
        .route("/things/{id}/seal", post(seal))
        .with_state(things);
    serve("sealed put writes", router, paths, schemas)
}
