//! Figures 1, 7 and 9 of "Enhancing Search-based Testing with Testability Transformations for
//! Existing APIs", on actix-web. The port is in the variable `PORT`.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Path, Query};
use actix_web::{App, HttpResponse, HttpServer, get, post};
use chrono::{Datelike, NaiveDate};
use regex::Regex;
use serde_json::Value;

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok());
    let services = || App::new().service(testability).service(param).service(body);
    HttpServer::new(services)
        .workers(1)
        .bind((Ipv4Addr::LOCALHOST, port.unwrap_or(8080)))?
        .run()
        .await
}

fn refuse(status: StatusCode) -> HttpResponse {
    HttpResponse::new(status)
}

fn say(text: &'static str) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain").body(text)
}

/// Figure 1: a date of 2019, the number 42 and one of two words, all as text in a path.
#[get("/api/testability/{date}/{number}/{setting}")]
async fn testability(path: Path<(String, String, String)>) -> HttpResponse {
    let (date, number, setting) = path.into_inner();
    let shape = Regex::new(r"^\d{4}-\d{1,2}-\d{1,2}$").expect("a constant pattern");
    if !shape.is_match(&date) {
        return refuse(StatusCode::NOT_FOUND);
    }
    let Ok(date) = NaiveDate::parse_from_str(&date, "%Y-%m-%d") else {
        return refuse(StatusCode::BAD_REQUEST);
    };
    let Ok(number) = number.parse::<i32>() else {
        return refuse(StatusCode::BAD_REQUEST);
    };
    let settings = ["Foo", "Bar"];
    if date.year() == 2019 && number == 42 && settings.contains(&setting.as_str()) {
        say("OK")
    } else {
        say("ERROR")
    }
}

/// Figure 7: a query parameter that the document does not mention.
#[get("/api/param")]
async fn param(query: Query<HashMap<String, String>>) -> HttpResponse {
    match query.get("param") {
        None => refuse(StatusCode::BAD_REQUEST),
        Some(param) if param == "FOO" => say("OK"),
        Some(_) => say(""),
    }
}

/// Figure 9: a body that the document does not mention.
#[post("/api/body")]
async fn body(bytes: Bytes) -> HttpResponse {
    let Ok(body) = serde_json::from_slice::<Value>(&bytes) else {
        return refuse(StatusCode::BAD_REQUEST);
    };
    let Some(x) = body["x"].as_i64() else {
        return refuse(StatusCode::BAD_REQUEST);
    };
    if x > 0 { say("OK") } else { say("") }
}
