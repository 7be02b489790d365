//! Services with one obstacle each, and no fault: what a search has to get past.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use jiff::civil::{Date, date};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{body, id, operation, optional, required, schema, secured};
use crate::running::{Running, serve};

/// What a refused input is answered with.
pub(crate) fn bad_request() -> Response {
    (
        StatusCode::BAD_REQUEST,
        Json(json!({ "error": "invalid input" })),
    )
        .into_response()
}

/// What a missing thing is answered with.
pub(crate) fn not_found() -> Response {
    (StatusCode::NOT_FOUND, Json(json!({ "error": "not found" }))).into_response()
}

/// The schema of what [`bad_request`] and [`not_found`] answer.
pub(crate) fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": { "type": "string" } },
    })
}

/// A note can be read only by the id that its creation returned, which nobody can guess.
pub fn post_get_chain() -> Running {
    type Notes = Arc<Mutex<BTreeMap<String, String>>>;
    #[derive(Deserialize)]
    struct Draft {
        text: String,
    }
    async fn create(
        State(notes): State<Notes>,
        draft: Result<Json<Draft>, JsonRejection>,
    ) -> Response {
        let Ok(Json(draft)) = draft else {
            return bad_request();
        };
        let mut notes = notes.lock().expect("no request panics");
        // Far apart and without a pattern, but the same in every run.
        let id = (notes.len() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let id = format!("n-{id:016x}");
        notes.insert(id.clone(), draft.text.clone());
        let location = format!("/notes/{id}");
        let note = json!({ "id": id, "text": draft.text });
        (
            StatusCode::CREATED,
            [(header::LOCATION, location)],
            Json(note),
        )
            .into_response()
    }
    async fn read(State(notes): State<Notes>, Path(id): Path<String>) -> Response {
        let notes = notes.lock().expect("no request panics");
        match notes.get(&id) {
            Some(text) => Json(json!({ "id": id, "text": text })).into_response(),
            None => not_found(),
        }
    }
    let key = required("id", "path", json!({ "type": "string" }));
    let paths = json!({
        "/notes": { "post": operation("create", Vec::new(), Some(body(schema("Draft"))),
            &[(201, schema("Note")), (400, schema("Error"))]) },
        "/notes/{id}": { "get": operation("read", vec![key], None,
            &[(200, schema("Note")), (404, schema("Error"))]) },
    });
    let text = json!({ "type": "string" });
    let schemas = json!({
        "Error": error_schema(),
        "Draft": { "type": "object", "required": ["text"], "properties": { "text": text } },
        "Note": { "type": "object", "required": ["id", "text"],
            "properties": { "id": text, "text": text } },
    });
    let router = Router::new()
        .route("/notes", post(create))
        .route("/notes/{id}", get(read))
        .with_state(Notes::default());
    serve("post-get chain", router, paths, schemas)
}

/// Only who logs in as `ada` with `lovelace`, and shows the token, is told the secret.
pub fn login_token() -> Running {
    const TOKEN: &str = "t-8f1c5a";
    #[derive(Deserialize)]
    struct Login {
        user: String,
        password: String,
    }
    async fn login(login: Result<Json<Login>, JsonRejection>) -> Response {
        match login {
            Ok(Json(login)) if login.user == "ada" && login.password == "lovelace" => {
                Json(json!({ "token": TOKEN })).into_response()
            }
            Ok(_) => unauthorized(),
            Err(_) => bad_request(),
        }
    }
    async fn secret(headers: HeaderMap) -> Response {
        if bearer(&headers) == Some(TOKEN) {
            Json(json!({ "secret": "the analytical engine" })).into_response()
        } else {
            unauthorized()
        }
    }
    let text = json!({ "type": "string" });
    let paths = json!({
        "/login": { "post": operation("login", Vec::new(), Some(body(schema("Login"))),
            &[(200, schema("Token")), (400, schema("Error")), (401, schema("Error"))]) },
        "/secret": { "get": secured(operation("secret", Vec::new(), None,
            &[(200, schema("Secret")), (401, schema("Error"))])) },
    });
    let schemas = json!({
        "Error": error_schema(),
        "Login": { "type": "object", "required": ["user", "password"],
            "properties": { "user": text, "password": text } },
        "Token": { "type": "object", "required": ["token"], "properties": { "token": text } },
        "Secret": { "type": "object", "required": ["secret"], "properties": { "secret": text } },
    });
    let router = Router::new()
        .route("/login", post(login))
        .route("/secret", get(secret));
    serve("login token", router, paths, schemas)
}

/// What somebody without the right to be here is answered with.
pub(crate) fn unauthorized() -> Response {
    let headers = [(header::WWW_AUTHENTICATE, "Bearer")];
    let body = Json(json!({ "error": "log in first" }));
    (StatusCode::UNAUTHORIZED, headers, body).into_response()
}

/// The token of a request, if it shows one.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ")
}

/// Thirty-five items in pages; the last page is shorter, and behind it there is nothing.
pub fn pagination() -> Running {
    const N_ITEMS: u64 = 35;
    #[derive(Deserialize)]
    struct Page {
        page: Option<u64>,
        size: Option<u64>,
    }
    async fn list(page: Result<Query<Page>, QueryRejection>) -> Response {
        let Ok(Query(Page { page, size })) = page else {
            return bad_request();
        };
        let (page, size) = (page.unwrap_or(1), size.unwrap_or(10));
        if page == 0 || !(1..=20).contains(&size) {
            return bad_request();
        }
        let first = (page - 1).saturating_mul(size);
        if first >= N_ITEMS {
            return not_found();
        }
        let last = N_ITEMS.min(first + size);
        let items: Vec<u64> = (first + 1..=last).collect();
        let next = (last < N_ITEMS).then_some(page + 1);
        Json(json!({ "items": items, "next": next })).into_response()
    }
    let parameters = vec![
        optional(
            "page",
            json!({ "type": "integer", "minimum": 1, "default": 1 }),
        ),
        optional(
            "size",
            json!({ "type": "integer", "minimum": 1, "maximum": 20, "default": 10 }),
        ),
    ];
    let paths = json!({ "/items": { "get": operation("list", parameters, None,
        &[(200, schema("Page")), (400, schema("Error")), (404, schema("Error"))]) } });
    let schemas = json!({
        "Error": error_schema(),
        "Page": { "type": "object", "required": ["items"], "properties": {
            "items": { "type": "array", "items": { "type": "integer" } },
            "next": { "type": "integer", "nullable": true },
        } },
    });
    serve(
        "pagination",
        Router::new().route("/items", get(list)),
        paths,
        schemas,
    )
}

/// Each kind of a shape asks for another field; circles that are too large are refused.
pub fn enum_branch() -> Running {
    async fn area(shape: Result<Json<Value>, JsonRejection>) -> Response {
        let Ok(Json(shape)) = shape else {
            return bad_request();
        };
        let length = |name: &str| shape[name].as_f64().filter(|length| *length >= 0.0);
        let area = match shape["kind"].as_str() {
            Some("circle") => length("radius").map(|radius| radius * radius * 3.0),
            Some("square") => length("side").map(|side| side * side),
            Some("point") => Some(0.0),
            _ => None,
        };
        match area {
            Some(area) if area <= 1e6 => Json(json!({ "area": area })).into_response(),
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
            None => bad_request(),
        }
    }
    let length = json!({ "type": "number", "minimum": 0 });
    let paths = json!({ "/area": { "post": operation("area", Vec::new(), Some(body(schema("Shape"))),
        &[(200, schema("Area")), (400, schema("Error")), (422, Value::Null)]) } });
    let schemas = json!({
        "Error": error_schema(),
        "Shape": { "type": "object", "required": ["kind"], "properties": {
            "kind": { "type": "string", "enum": ["circle", "square", "point"] },
            "radius": length,
            "side": length,
        } },
        "Area": { "type": "object", "required": ["area"],
            "properties": { "area": { "type": "number" } } },
    });
    serve(
        "enum branch",
        Router::new().route("/area", post(area)),
        paths,
        schemas,
    )
}

/// Ages from 18 to 120 are welcome, and 120 itself is congratulated.
pub fn numeric_boundary() -> Running {
    async fn welcome(age: Result<Path<i64>, PathRejection>) -> Response {
        match age {
            Ok(Path(120)) => StatusCode::ACCEPTED.into_response(),
            Ok(Path(18..120)) => StatusCode::OK.into_response(),
            Ok(Path(0..18)) => StatusCode::FORBIDDEN.into_response(),
            _ => bad_request(),
        }
    }
    let age = json!({ "type": "integer", "minimum": 0, "maximum": 120 });
    let none = Value::Null;
    let paths = json!({ "/welcome/{age}": { "get": operation("welcome",
        vec![required("age", "path", age)], None,
        &[(200, none.clone()), (202, none.clone()), (403, none), (400, schema("Error"))]) } });
    let router = Router::new().route("/welcome/{age}", get(welcome));
    serve(
        "numeric boundary",
        router,
        paths,
        json!({ "Error": error_schema() }),
    )
}

/// A code must have the shape that the document says: three letters, a dash, four digits.
pub fn pattern() -> Running {
    async fn look_up(Path(code): Path<String>) -> Response {
        let bytes = code.as_bytes();
        let fits = bytes.len() == 8
            && bytes[..3].iter().all(u8::is_ascii_uppercase)
            && bytes[3] == b'-'
            && bytes[4..].iter().all(u8::is_ascii_digit);
        if fits {
            Json(json!({ "code": code })).into_response()
        } else {
            bad_request()
        }
    }
    let code = json!({ "type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$" });
    let paths = json!({ "/codes/{code}": { "get": operation("lookUp",
        vec![required("code", "path", code.clone())], None,
        &[(200, schema("Code")), (400, schema("Error"))]) } });
    let schemas = json!({
        "Error": error_schema(),
        "Code": { "type": "object", "required": ["code"], "properties": { "code": code } },
    });
    serve(
        "pattern",
        Router::new().route("/codes/{code}", get(look_up)),
        paths,
        schemas,
    )
}

/// A booking must begin before it ends, last at most two weeks, and lie in 2026.
pub fn date_window() -> Running {
    #[derive(Deserialize)]
    struct Window {
        from: Date,
        to: Date,
    }
    async fn book(window: Result<Json<Window>, JsonRejection>) -> Response {
        let Ok(Json(Window { from, to })) = window else {
            return bad_request();
        };
        let year = date(2026, 1, 1)..=date(2026, 12, 31);
        let days = from.until(to).map_or(i32::MAX, |span| span.get_days());
        if from >= to {
            bad_request()
        } else if !year.contains(&from) || !year.contains(&to) {
            StatusCode::UNPROCESSABLE_ENTITY.into_response()
        } else if days > 14 {
            StatusCode::CONFLICT.into_response()
        } else {
            (StatusCode::CREATED, Json(json!({ "days": days }))).into_response()
        }
    }
    let day = json!({ "type": "string", "format": "date" });
    let paths = json!({ "/bookings": { "post": operation("book", Vec::new(), Some(body(schema("Window"))),
        &[(201, schema("Booking")), (400, schema("Error")), (409, Value::Null), (422, Value::Null)]) } });
    let schemas = json!({
        "Error": error_schema(),
        "Window": { "type": "object", "required": ["from", "to"],
            "properties": { "from": day, "to": day } },
        "Booking": { "type": "object", "required": ["days"],
            "properties": { "days": { "type": "integer" } } },
    });
    serve(
        "date window",
        Router::new().route("/bookings", post(book)),
        paths,
        schemas,
    )
}

/// Answers at once and always the same, for measuring what a call costs.
pub fn quick() -> Running {
    async fn ping(id: Result<Path<u64>, PathRejection>) -> Response {
        match id {
            Ok(Path(id)) => Json(json!({ "id": id })).into_response(),
            Err(_) => bad_request(),
        }
    }
    let paths = json!({ "/ping/{id}": { "get": operation("ping", vec![id()], None,
        &[(200, schema("Pong")), (400, schema("Error"))]) } });
    let schemas = json!({ "Error": error_schema(), "Pong": { "type": "object", "required": ["id"],
        "properties": { "id": { "type": "integer" } } } });
    serve(
        "quick",
        Router::new().route("/ping/{id}", get(ping)),
        paths,
        schemas,
    )
}
