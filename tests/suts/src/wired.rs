//! A service on a database server, which it reaches over a network: PostgreSQL, or MySQL and MariaDB.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use mysql_async::prelude::Queryable;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio_postgres::NoTls;

use crate::api::{body, id, operation};
use crate::running::{Running, serve_at};

/// The tables of [`ledger`], in words that both databases understand.
pub const LEDGER: &str =
    "CREATE TABLE account (id INT PRIMARY KEY, email VARCHAR(100) NOT NULL, age INT NOT NULL,
    CONSTRAINT account_email UNIQUE (email), CONSTRAINT account_age CHECK (age >= 0))";

/// Accounts with an address of which there must be one only, and an age that must not be negative; the service leaves
/// both to its database, and answers 500 when that complains.
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
        .route("/accounts/{id}", get(show))
        .with_state(Ledger {
            database: database.into(),
            connection: Arc::default(),
        });
    serve_at(port, "ledger", router, paths, json!({}))
}

#[derive(Clone)]
struct Ledger {
    database: Arc<str>,
    connection: Arc<Mutex<Option<Connection>>>,
}

enum Connection {
    Postgres(tokio_postgres::Client),
    MySql(mysql_async::Conn),
}

#[derive(Deserialize)]
struct Account {
    id: i32,
    email: String,
    age: i32,
}

type Answer = Result<(StatusCode, Json<Value>), (StatusCode, String)>;

async fn open(State(ledger): State<Ledger>, Json(account): Json<Account>) -> Answer {
    let opened = ledger.open(&account).await;
    opened.map_err(failed)?;
    Ok((StatusCode::CREATED, Json(json!({ "id": account.id }))))
}

async fn show(State(ledger): State<Ledger>, Path(id): Path<i32>) -> Answer {
    match ledger.show(id).await.map_err(failed)? {
        Some((email, age)) => Ok((StatusCode::OK, Json(json!({ "email": email, "age": age })))),
        None => Err((StatusCode::NOT_FOUND, String::new())),
    }
}

fn failed(error: String) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error)
}

impl Ledger {
    async fn open(&self, account: &Account) -> Result<(), String> {
        let mut held = self.connection.lock().await;
        let result = match connected(&mut held, &self.database).await? {
            Connection::Postgres(client) => client
                .execute(
                    "INSERT INTO account (id, email, age) VALUES ($1, $2, $3)",
                    &[&account.id, &account.email, &account.age],
                )
                .await
                .map(|_| ())
                .map_err(|error| (client.is_closed(), described(&error))),
            Connection::MySql(conn) => conn
                .exec_drop(
                    "INSERT INTO account (id, email, age) VALUES (?, ?, ?)",
                    (account.id, &account.email, account.age),
                )
                .await
                .map_err(|error| {
                    (
                        !matches!(error, mysql_async::Error::Server(_)),
                        error.to_string(),
                    )
                }),
        };
        settled(&mut held, result)
    }

    async fn show(&self, id: i32) -> Result<Option<(String, i32)>, String> {
        let mut held = self.connection.lock().await;
        let result = match connected(&mut held, &self.database).await? {
            Connection::Postgres(client) => client
                .query_opt("SELECT email, age FROM account WHERE id = $1", &[&id])
                .await
                .map(|row| row.map(|row| (row.get(0), row.get(1))))
                .map_err(|error| (client.is_closed(), described(&error))),
            Connection::MySql(conn) => conn
                .exec_first("SELECT email, age FROM account WHERE id = ?", (id,))
                .await
                .map_err(|error| {
                    (
                        !matches!(error, mysql_async::Error::Server(_)),
                        error.to_string(),
                    )
                }),
        };
        settled(&mut held, result)
    }
}

/// The connection, opened if there is none.
async fn connected<'a>(
    held: &'a mut Option<Connection>,
    database: &str,
) -> Result<&'a mut Connection, String> {
    if held.is_none() {
        *held = Some(connect(database).await?);
    }
    held.as_mut().ok_or_else(|| "no connection".to_owned())
}

async fn connect(database: &str) -> Result<Connection, String> {
    if database.starts_with("postgres") {
        let connected = tokio_postgres::connect(database, NoTls).await;
        let (client, connection) = connected.map_err(|error| described(&error))?;
        tokio::spawn(connection);
        return Ok(Connection::Postgres(client));
    }
    let (_, rest) = database.split_once(':').unwrap_or_default();
    let opts = mysql_async::Opts::from_url(&format!("mysql:{rest}"));
    let opts = mysql_async::OptsBuilder::from_opts(opts.map_err(|error| error.to_string())?);
    let connected = mysql_async::Conn::new(opts.prefer_socket(false)).await;
    connected
        .map(Connection::MySql)
        .map_err(|error| error.to_string())
}

/// Gives up a connection that is lost.
fn settled<T>(
    held: &mut Option<Connection>,
    result: Result<T, (bool, String)>,
) -> Result<T, String> {
    result.map_err(|(is_lost, error)| {
        if is_lost {
            *held = None;
        }
        error
    })
}

/// What the server said, which the client's own words leave out.
fn described(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}
