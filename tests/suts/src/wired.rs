//! A service on a database server, which it reaches over a network: PostgreSQL, or MySQL and MariaDB.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{body, id, operation};
use crate::running::Running;
use crate::store::Store;

/// The tables of [`ledger`], in words that both databases understand.
pub const LEDGER: &str =
    "CREATE TABLE account (id INT PRIMARY KEY, email VARCHAR(100) NOT NULL, age INT NOT NULL,
    CONSTRAINT account_email UNIQUE (email), CONSTRAINT account_age CHECK (age >= 0))";

/// Accounts with an address of which there must be one only, and an age that must not be negative; the service leaves
/// both to its database, and returns 500 when that complains.
///
/// It connects when it is first called, and again when its connection is lost.
pub fn ledger(database: &str, port: u16) -> Running {
    let integer = || json!({ "type": "integer", "format": "int32" });
    let account = json!({
        "type": "object",
        "required": ["id", "email", "age"],
        "properties": {
            "id": integer(),
            "email": { "type": "string", "maxLength": 20 },
            "age": integer(),
        },
    });
    let object = || json!({ "type": "object" });
    let paths = json!({
        "/accounts": {
            "post": operation("open", vec![], Some(body(account)), &[(201, object()), (422, Value::Null)]),
        },
        "/accounts/{id}": {
            "get": operation("show", vec![id()], None, &[(200, object()), (400, Value::Null), (404, Value::Null)]),
        },
    });
    let router = Router::new()
        .route("/accounts", post(open))
        .route("/accounts/{id}", get(show));
    Store::at(database).serve(port, "ledger", router, paths, json!({}))
}

#[derive(Deserialize)]
struct Account {
    id: i32,
    email: String,
    age: i32,
}

type Answer = Result<(StatusCode, Json<Value>), (StatusCode, String)>;

async fn open(State(store): State<Store>, Json(account): Json<Account>) -> Answer {
    let values = [
        account.id.into(),
        (&account.email).into(),
        account.age.into(),
    ];
    let insert = "INSERT INTO account (id, email, age) VALUES (?1, ?2, ?3)";
    store.change(insert, &values).await.map_err(failed)?;
    Ok((StatusCode::CREATED, Json(json!({ "id": account.id }))))
}

async fn show(State(store): State<Store>, Path(id): Path<i32>) -> Answer {
    let query = "SELECT email, age FROM account WHERE id = ?1";
    let found = store.rows(query, &[id.into()]).await.map_err(failed)?;
    match found.first() {
        Some(row) => {
            let account = json!({ "email": row[0].json(), "age": row[1].json() });
            Ok((StatusCode::OK, Json(account)))
        }
        None => Err((StatusCode::NOT_FOUND, String::new())),
    }
}

fn failed(error: String) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error)
}
