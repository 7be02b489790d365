//! A service that answers with what it was sent, as JSON.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::IntoResponse;
use axum::routing::{any, get, post};
use serde_json::{Map, Value, json};

/// A running service, which ends with the process.
pub(crate) fn start() -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, routes()).await
        })
    });
    Ok(format!("http://{address}"))
}

fn routes() -> axum::Router {
    axum::Router::new()
        .route("/", get(|| async { "up" }))
        .route("/echo", any(echo))
        .route("/echo/{*rest}", any(echo))
        .route("/plain", get(|| async { "grüße \"you\"\nand {me}\n" }))
        .route(
            "/slow",
            get(|| async { tokio::time::sleep(Duration::from_secs(60)).await }),
        )
        .route(
            "/login",
            post(|| async {
                let session = (header::SET_COOKIE, "session=abc; Path=/; HttpOnly");
                (
                    [session, (header::HeaderName::from_static("x-token"), "t-1")],
                    "in",
                )
            }),
        )
        .route("/people", post(create_person))
        .route("/people/log-in", post(log_in))
        .route(
            "/things",
            post(|| async {
                let location = (header::LOCATION, "/echo/a%20b%2Fc%2Bd/?x=/1#/2");
                (StatusCode::CREATED, [location], "made")
            }),
        )
        .route(
            "/give",
            get(|| async {
                let body = json!({"odd": "a/b c?", "list": [{"id": 41}, {"id": 42}]});
                ([(header::SET_COOKIE, "crumb=yes; Path=/")], Json(body))
            }),
        )
}

/// The names of those who were created.
static PEOPLE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

async fn create_person(Json(person): Json<Value>) -> StatusCode {
    let name = person["name"].as_str().unwrap_or_default();
    let whole = name.starts_with("n '\"$-") && name.ends_with("@x") && name.len() == 20;
    if !whole || person["note"] != format!("I am {name}").as_str() {
        return StatusCode::BAD_REQUEST;
    }
    match PEOPLE
        .lock()
        .expect("nobody panics")
        .insert(name.to_owned())
    {
        true => StatusCode::CREATED,
        false => StatusCode::CONFLICT,
    }
}

async fn log_in(body: String) -> Result<impl IntoResponse, StatusCode> {
    let form = pairs(&body);
    let name = form.first().map(|(_, name)| name.clone());
    let people = PEOPLE.lock().expect("nobody panics");
    match name {
        Some(name) if people.contains(&name) => Ok([(header::LOCATION, "http://x/tokens/known/")]),
        _ => Err(StatusCode::UNAUTHORIZED),
    }
}

async fn echo(method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let text = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let content_type = text("content-type");
    let mut shown = Map::new();
    for (name, value) in &headers {
        shown.insert(
            name.as_str().into(),
            String::from_utf8_lossy(value.as_bytes()).into(),
        );
    }
    let mut cookies: Vec<(String, String)> = text("cookie")
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    cookies.sort();
    let query = pairs(uri.query().unwrap_or_default());
    let mut sorted_query = query.clone();
    sorted_query.sort();
    let whole = String::from_utf8_lossy(&body).into_owned();
    Json(json!({
        "method": method.as_str(),
        "path": uri.path(),
        "query": query,
        "sorted_query": sorted_query,
        "headers": shown,
        "cookies": cookies.into_iter().map(|(name, value)| (name, Value::from(value))).collect::<Map<_, _>>(),
        "text": whole,
        "bytes": if content_type.starts_with("image/") { json!(body.to_vec()) } else { Value::Null },
        "json": serde_json::from_slice::<Value>(&body).unwrap_or_default(),
        "form": if content_type.starts_with("application/x-www-form") { json!(pairs(&whole)) } else { Value::Null },
        "parts": parts(&content_type, &body),
    }))
}

fn pairs(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let hex = std::str::from_utf8(&after[..2]).expect("two digits");
                bytes.push(u8::from_str_radix(hex, 16).expect("two hex digits"));
                rest = &after[2..];
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// The parts of a multipart body.
fn parts(content_type: &str, body: &[u8]) -> Value {
    let Some((_, boundary)) = content_type.split_once("boundary=") else {
        return Value::Null;
    };
    let boundary = boundary.split(';').next().unwrap_or_default();
    let fence = format!("--{}", boundary.trim_matches('"'));
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some(at) = find(rest, fence.as_bytes()) {
        rest = &rest[at + fence.len()..];
        let Some(end) = find(rest, fence.as_bytes()) else {
            break;
        };
        let part = &rest[2..end - 2];
        let blank = find(part, b"\r\n\r\n").expect("a blank line");
        let head = String::from_utf8_lossy(&part[..blank]).into_owned();
        let content = &part[blank + 4..];
        let after = |marker: &str, end: char| {
            let (_, value) = head.split_once(marker)?;
            value.split(end).next().map(str::to_owned)
        };
        parts.push(json!({
            "name": after("; name=\"", '"'),
            "file_name": after("filename=\"", '"'),
            "content_type": head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-type").then(|| value.to_owned())
            }),
            "text": String::from_utf8_lossy(content),
            "bytes": content,
        }));
    }
    parts.into()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
