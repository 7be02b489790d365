//! Services that break down for one input, let anybody in, or pass inputs on to SQL; and their correct twins.

use std::time::Duration;

use axum::extract::Path;
use axum::extract::Query;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{operation, required, schema, secured};
use crate::features::{bad_request, bearer, error_schema, unauthorized};
use crate::running::{Running, serve};

/// Declares a module with the faulty service and its twin.
macro_rules! faulty {
    ($name:ident, $make:ident, $fault:literal) => {
        #[doc = $fault]
        pub mod $name {
            use super::Running;

            /// The service with the fault.
            pub fn start() -> Running {
                super::$make(true)
            }

            /// Its twin without the fault.
            pub fn start_correct() -> Running {
                super::$make(false)
            }
        }
    };
}

faulty!(
    dropped,
    make_dropped,
    "The connection is closed in place of an answer for one value that the document allows."
);
faulty!(
    hanging,
    make_hanging,
    "One value that the document allows is not answered for minutes."
);
faulty!(
    anonymous_read,
    make_anonymous_read,
    "What the document protects is shown to everybody."
);
faulty!(
    injected_error,
    make_injected_error,
    "A quote in the input breaks the SQL statement, and the message is shown."
);
faulty!(
    injected_pause,
    make_injected_pause,
    "An input is executed as SQL: a pause in it is felt."
);

type Number = Result<Path<u64>, PathRejection>;

/// A service over numbers from 0 to 100, with an answer for each.
fn numbers(title: &str, router: Router) -> Running {
    let number = json!({ "type": "integer", "minimum": 0, "maximum": 100 });
    let parameters = vec![required("n", "path", number)];
    let paths = json!({ "/numbers/{n}": { "get": operation("number", parameters, None,
        &[(200, schema("Number")), (400, schema("Error"))]) } });
    let schemas = json!({
        "Error": error_schema(),
        "Number": { "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } },
    });
    serve(title, router, paths, schemas)
}

fn shown(n: u64) -> Response {
    Json(json!({ "n": n })).into_response()
}

fn make_dropped(is_faulty: bool) -> Running {
    let answer = move |n: Number| async move {
        match n {
            // Without a status line there is no answer: the body ends the connection.
            Ok(Path(100)) if is_faulty => panic!("the number is too large"),
            Ok(Path(n @ 0..=100)) => shown(n),
            _ => bad_request(),
        }
    };
    numbers("dropped", Router::new().route("/numbers/{n}", get(answer)))
}

fn make_hanging(is_faulty: bool) -> Running {
    let answer = move |n: Number| async move {
        match n {
            Ok(Path(n @ 0..=100)) => {
                if is_faulty && n == 0 {
                    tokio::time::sleep(Duration::from_secs(120)).await;
                }
                shown(n)
            }
            _ => bad_request(),
        }
    };
    numbers("hanging", Router::new().route("/numbers/{n}", get(answer)))
}

fn make_anonymous_read(is_faulty: bool) -> Running {
    let answer = move |headers: HeaderMap| async move {
        match bearer(&headers) {
            None if !is_faulty => unauthorized(),
            _ => Json(json!({ "secret": "the analytical engine" })).into_response(),
        }
    };
    let paths = json!({ "/secret": { "get": secured(operation("secret", Vec::new(), None,
        &[(200, schema("Secret")), (401, schema("Error"))])) } });
    let schemas = json!({
        "Error": error_schema(),
        "Secret": { "type": "object", "required": ["secret"],
            "properties": { "secret": { "type": "string" } } },
    });
    let router = Router::new().route("/secret", get(answer));
    serve("anonymous read", router, paths, schemas)
}

#[derive(Deserialize)]
struct Search {
    q: String,
}

fn search(title: &str, router: Router) -> Running {
    let text = json!({ "type": "string", "maxLength": 100 });
    let parameters = vec![required("q", "query", text)];
    let paths = json!({ "/search": { "get": operation("search", parameters, None,
        &[(200, schema("Hits")), (400, schema("Error"))]) } });
    let schemas = json!({
        "Error": error_schema(),
        "Hits": { "type": "object", "required": ["hits"],
            "properties": { "hits": { "type": "integer" } } },
    });
    serve(title, router, paths, schemas)
}

fn make_injected_error(is_faulty: bool) -> Running {
    fn hits(q: &str, is_faulty: bool) -> rusqlite::Result<i64> {
        let database = Connection::open_in_memory()?;
        database.execute_batch("CREATE TABLE books (title TEXT)")?;
        let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        if is_faulty {
            let query = format!("SELECT count(*) FROM books WHERE title = '{q}'");
            database.query_row(&query, [], count)
        } else {
            let query = "SELECT count(*) FROM books WHERE title = ?1";
            database.query_row(query, [q], count)
        }
    }
    let answer = move |search: Result<Query<Search>, QueryRejection>| async move {
        let Ok(Query(Search { q })) = search else {
            return bad_request();
        };
        if q.chars().count() > 100 {
            return bad_request();
        }
        match hits(&q.replace('\0', ""), is_faulty) {
            Ok(hits) => Json(json!({ "hits": hits })).into_response(),
            Err(error) => {
                let body = Json(json!({ "error": error.to_string() }));
                (StatusCode::BAD_REQUEST, body).into_response()
            }
        }
    };
    search(
        "injected error",
        Router::new().route("/search", get(answer)),
    )
}

fn make_injected_pause(is_faulty: bool) -> Running {
    /// What a server with `pg_sleep` would do with the text between quotes.
    fn pause(q: &str) -> Option<f64> {
        let (before, rest) = q.split_once("pg_sleep(")?;
        before.contains('\'').then_some(())?;
        rest.split(')').next()?.parse().ok()
    }
    let answer = move |search: Result<Query<Search>, QueryRejection>| async move {
        let Ok(Query(Search { q })) = search else {
            return bad_request();
        };
        if q.chars().count() > 100 {
            return bad_request();
        }
        if is_faulty && let Some(seconds) = pause(&q) {
            tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 2.0))).await;
        }
        Json(json!({ "hits": Value::from(0) })).into_response()
    };
    search(
        "injected pause",
        Router::new().route("/search", get(answer)),
    )
}
