//! What is asked of each service: first what the rest needs, then the requests that are timed.

use serde_json::{Value, json};

use crate::verdict::BenchError;
use crate::whitebox::{Request, Service};

/// Sets a service up and says what to ask.
pub(super) type Prepare = fn(&mut Service) -> Result<Vec<Request>, BenchError>;

/// The services, by the names of their packages.
pub(super) const SERVICES: &[(&str, Prepare)] = &[
    ("realworld", blog),
    ("pastebin", pastes),
    ("newsletter", letters),
];

fn with_json(method: &'static str, path: &str, body: &Value) -> Request {
    Request {
        method,
        path: path.to_owned(),
        headers: vec![("Content-Type", "application/json".to_owned())],
        body: body.to_string(),
    }
}

impl Request {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// Makes a request that must succeed.
fn done(service: &mut Service, request: &Request) -> Result<Value, BenchError> {
    let answer = service.call(request)?;
    if !(200..300).contains(&answer.status) {
        return Err(format!("{} {}: {}", request.method, request.path, answer.body).into());
    }
    Ok(serde_json::from_str(&answer.body).unwrap_or_default())
}

fn text(value: &Value) -> Result<String, BenchError> {
    Ok(value.as_str().ok_or("a text is missing")?.to_owned())
}

fn blog(service: &mut Service) -> Result<Vec<Request>, BenchError> {
    let login = json!({ "user": { "email": "ada@example.org", "password": "Correct-Horse-7" } });
    let user = done(service, &with_json("POST", "/api/users/login", &login))?;
    let token = format!("Token {}", text(&user["user"]["token"])?);
    for title in ["Measured things", "More of them", "And others"] {
        let article = json!({ "article": {
            "title": title, "description": "What they cost", "body": "Some words about it",
            "tagList": ["cost", "time"],
        } });
        let request = with_json("POST", "/api/articles", &article);
        done(service, &request.with("Authorization", &token))?;
    }
    let change = json!({ "article": { "description": "What they cost now", "tagList": ["cost"] } });
    let bad = json!({ "user": { "username": "x", "email": "nowhere", "password": "short" } });
    Ok(vec![
        Request::get("/api/articles?tag=cost&sort=title&limit=2"),
        Request::get("/api/articles?q=words&since=2020-01-01"),
        Request::get("/api/articles/measured-things"),
        Request::get("/api/user").with("Authorization", &token),
        with_json("PUT", "/api/articles/measured-things", &change).with("Authorization", &token),
        with_json("POST", "/api/users", &bad),
        Request::get("/api/tags?prefix=co"),
        Request::get("/api/articles?since=yesterday"),
    ])
}

fn pastes(service: &mut Service) -> Result<Vec<Request>, BenchError> {
    let content = "fn main() {\n    let answer = 42;\n    println!(\"{answer}\");\n}\n";
    let new = json!({ "content": content, "title": "Measured" });
    let paste = done(service, &with_json("POST", "/pastes", &new))?;
    let path = format!("/pastes/{}", text(&paste["id"])?);
    let key = text(&paste["editKey"])?;
    let change = json!({ "title": "Measured again" });
    let sample = json!({ "content": "SELECT a FROM t WHERE b = 1" });
    Ok(vec![
        Request::get(path.as_str()),
        Request::get(format!("{path}/raw?lines=2-3")),
        with_json("PUT", &path, &change).with("x-edit-key", &key),
        Request::get(format!("{path}/versions")),
        with_json("POST", "/detect", &sample),
        Request::get("/search?q=answer"),
        Request::get("/pastes?limit=5&syntax=rust"),
        Request::get("/pastes/mistyped"),
    ])
}

fn letters(service: &mut Service) -> Result<Vec<Request>, BenchError> {
    // postmaster:stamps-and-glue
    let login = "Basic cG9zdG1hc3RlcjpzdGFtcHMtYW5kLWdsdWU=";
    let readers: Vec<String> = (0..20)
        .map(|nth| format!("reader{nth}@example.org,Reader {nth}"))
        .collect();
    let import = Request {
        method: "POST",
        path: "/admin/lists/weekly/import".to_owned(),
        headers: vec![("Content-Type", "text/csv".to_owned())],
        body: readers.join("\n"),
    };
    done(service, &import.with("Authorization", login))?;
    let body =
        "{% if name %}Dear {{ name | title }}{% else %}Hello{% end %}, {{ text | truncate:9 }}";
    let template = json!({ "subject": "For {{ name | upper }}", "body": body });
    let trial = json!({ "variables": { "name": "ada", "text": "something that is long" } });
    let campaign = json!({ "list": "weekly", "template": "nothing", "title": "No template" });
    let admin = |request: Request| request.with("Authorization", login);
    Ok(vec![
        Request::get("/lists"),
        admin(Request::get(
            "/admin/lists/weekly/subscribers?q=reader1&size=5",
        )),
        admin(with_json("PUT", "/admin/templates/plain", &template)),
        admin(with_json("POST", "/admin/templates/plain/preview", &trial)),
        admin(Request::get("/admin/statistics?list=weekly&week=2024-W09")),
        admin(with_json("POST", "/admin/campaigns", &campaign)),
        Request::get("/admin/outbox"),
        with_json(
            "POST",
            "/lists/weekly/subscriptions",
            &json!({ "email": "a..b@example.org" }),
        ),
    ])
}
