//! The service through its routes, as a client sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use actix_http::Request;
use actix_web::body::to_bytes;
use actix_web::dev::{Service, ServiceResponse};
use actix_web::http::Method;
use actix_web::test::{TestRequest, init_service};
use actix_web::web::Data;
use actix_web::{Error, body::MessageBody};
use pastebin::config::ConfigBuilder;
use pastebin::{OPENAPI, Shared, app};
use serde_json::{Value, json};
use time::OffsetDateTime;

/// 2024-02-28 12:00 UTC.
const NOON: i64 = 1_709_121_600;

/// The state of a service, and a hand on its clock.
fn shared(rate: u64) -> (Data<Shared>, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(NOON));
    let time = Arc::clone(&clock);
    let now =
        move || OffsetDateTime::from_unix_timestamp(time.load(Ordering::SeqCst)).expect("in range");
    let config = ConfigBuilder::default()
        .reset(true)
        .number("RATE_PER_MINUTE", rate)
        .expect("in range")
        .finish();
    let shared = Shared::with_clock(config, Arc::new(now)).expect("a database in memory opens");
    (Data::new(shared), clock)
}

struct Answer {
    status: u16,
    text: String,
    headers: actix_web::http::header::HeaderMap,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("the answer is JSON")
    }
}

/// Calls a service; `headers` are names and values.
async fn call<S, B>(
    service: &S,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> Answer
where
    S: Service<Request, Response = ServiceResponse<B>, Error = Error>,
    B: MessageBody + 'static,
{
    let mut request = TestRequest::default().method(method).uri(path);
    for header in headers {
        request = request.insert_header(*header);
    }
    request = match body {
        Value::Null => request,
        Value::String(text) => request
            .insert_header(("content-type", "text/plain"))
            .set_payload(text),
        body => request.set_json(body),
    };
    let response = match service.call(request.to_request()).await {
        Ok(response) => response.map_into_boxed_body().into_parts().1,
        Err(error) => error.error_response(),
    };
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let bytes = to_bytes(response.into_body()).await;
    let bytes = bytes.unwrap_or_default();
    Answer {
        status,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        headers,
    }
}

macro_rules! get {
    ($service:expr, $path:expr $(, $name:literal: $value:expr)*) => {
        call(&$service, Method::GET, &$path, &[$(($name, $value)),*], Value::Null).await
    };
}

macro_rules! post {
    ($service:expr, $path:expr, $body:expr $(, $name:literal: $value:expr)*) => {
        call(&$service, Method::POST, &$path, &[$(($name, $value)),*], $body).await
    };
}

macro_rules! put {
    ($service:expr, $path:expr, $body:expr $(, $name:literal: $value:expr)*) => {
        call(&$service, Method::PUT, &$path, &[$(($name, $value)),*], $body).await
    };
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().expect("a text")
}

#[actix_web::test]
async fn a_paste_is_read_in_both_forms_and_counts_its_readers() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    let made = post!(
        service,
        "/pastes",
        json!({ "content": "fn main() { let x = 1; }\n", "author": " ada " })
    );
    assert_eq!(made.status, 201, "{}", made.text);
    let made = made.json();
    assert_eq!(
        (text(&made, "syntax"), text(&made, "author")),
        ("rust", "ada")
    );
    assert_eq!(text(&made, "title"), "fn main() { let x = 1; }");
    let path = format!("/pastes/{}", text(&made, "id"));

    let read = get!(service, path);
    assert_eq!((read.status, &read.json()["views"]), (200, &json!(1)));
    let tag = read
        .headers
        .get("etag")
        .expect("a tag")
        .to_str()
        .expect("text")
        .to_owned();
    assert_eq!(
        get!(service, path, "if-none-match": tag.as_str()).status,
        304
    );
    let plain = get!(service, path, "accept": "text/plain");
    assert_eq!(plain.text, "fn main() { let x = 1; }\n");
    assert_eq!(get!(service, path, "accept": "image/png").status, 406);
    let own = get!(service, path, "x-edit-key": text(&made, "editKey"));
    assert_eq!(own.json()["views"], 3, "the owner does not count");
}

#[actix_web::test]
async fn plain_text_takes_its_options_from_the_query() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    let made = post!(
        service,
        "/pastes?title=Notes&expires=1d",
        json!("one\ntwo\nthree")
    )
    .json();
    assert_eq!(
        (text(&made, "title"), text(&made, "expiresAt")),
        ("Notes", "2024-02-29T12:00:00Z")
    );
    let raw = format!("/pastes/{}/raw", text(&made, "id"));
    assert_eq!(get!(service, format!("{raw}?lines=2-")).text, "two\nthree");
    assert_eq!(get!(service, format!("{raw}?lines=3-2")).status, 422);
    let file = get!(service, format!("{raw}?download=true"));
    let disposition = file.headers.get("content-disposition").expect("a name");
    assert!(
        disposition
            .to_str()
            .is_ok_and(|name| name.ends_with(".txt\""))
    );
}

#[actix_web::test]
async fn identifiers_are_checked_before_they_are_looked_up() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    assert_eq!(get!(service, "/pastes/22222222").status, 404);
    assert_eq!(
        get!(service, "/pastes/22222223").json()["type"],
        "urn:pastebin:bad-id"
    );
    assert_eq!(get!(service, "/pastes/short").status, 400);
}

#[actix_web::test]
async fn what_expires_is_gone_and_swept() {
    let (shared, clock) = shared(0);
    let service = init_service(app(shared)).await;
    let made = post!(
        service,
        "/pastes",
        json!({ "content": "x", "expires": "1h" })
    )
    .json();
    let once = post!(
        service,
        "/pastes",
        json!({ "content": "y", "mostViews": 1 })
    )
    .json();
    let once = format!("/pastes/{}", text(&once, "id"));
    assert_eq!(get!(service, once).json()["viewsLeft"], 0);
    assert_eq!(get!(service, once).status, 410);
    let path = format!("/pastes/{}", text(&made, "id"));
    let key = text(&made, "editKey");
    let longer =
        post!(service, format!("{path}/expiry"), json!({ "expires": "2h" }), "x-edit-key": key);
    assert_eq!(text(&longer.json(), "expiresAt"), "2024-02-28T14:00:00Z");
    clock.fetch_add(2 * 60 * 60, Ordering::SeqCst);
    assert_eq!(get!(service, path).status, 410);
}

#[actix_web::test]
async fn private_pastes_need_their_password() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    let made = post!(
        service,
        "/pastes",
        json!({ "content": "secret", "password": "quite-hard-9" })
    )
    .json();
    assert_eq!(text(&made, "visibility"), "private");
    let path = format!("/pastes/{}", text(&made, "id"));
    assert_eq!(get!(service, path).status, 401);
    assert_eq!(
        get!(service, path, "x-paste-password": "quite-hard-8").status,
        403
    );
    assert_eq!(
        get!(service, path, "x-paste-password": "quite-hard-9").status,
        200
    );
    assert_eq!(get!(service, "/pastes").json()["pastes"], json!([]));
    for (body, field) in [
        (
            json!({ "content": "x", "visibility": "private" }),
            "password",
        ),
        (
            json!({ "content": "x", "visibility": "public", "password": "quite-hard-9" }),
            "password",
        ),
        (
            json!({ "content": "x", "password": "12345678" }),
            "password",
        ),
        (json!({ "content": " " }), "content"),
        (json!({ "content": "x", "expires": "later" }), "expires"),
        (json!({ "content": "x", "syntax": "klingon" }), "syntax"),
    ] {
        let refused = post!(service, "/pastes", body);
        assert_eq!(
            (refused.status, &refused.json()["field"]),
            (422, &json!(field))
        );
    }
}

#[actix_web::test]
async fn changes_need_the_key_and_make_versions() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    let made = post!(service, "/pastes", json!({ "content": "a\nb" })).json();
    let path = format!("/pastes/{}", text(&made, "id"));
    let key = text(&made, "editKey");
    let change = json!({ "content": "a\nc", "note": "better" });
    assert_eq!(put!(service, path, change.clone()).status, 401);
    let other = "00000000-0000-4000-8000-000000000000";
    assert_eq!(
        put!(service, path, change.clone(), "x-edit-key": other).status,
        403
    );
    assert_eq!(
        put!(service, path, change.clone(), "x-edit-key": "nonsense").status,
        400
    );
    let changed = put!(service, path, change.clone(), "x-edit-key": key, "if-match": "\"1\"");
    assert_eq!(changed.json()["version"], 2);
    assert_eq!(
        put!(service, path, change.clone(), "x-edit-key": key, "if-match": "1").status,
        412
    );
    assert_eq!(
        put!(service, path, change, "x-edit-key": key).json()["version"],
        2,
        "the same text"
    );
    assert_eq!(
        put!(service, path, json!({ "note": "x" }), "x-edit-key": key).status,
        422
    );

    let versions = get!(service, format!("{path}/versions")).json();
    assert_eq!(
        (&versions[0]["note"], &versions[1]["note"]),
        (&json!("better"), &json!("first version"))
    );
    assert_eq!(
        get!(service, format!("{path}/versions/1")).json()["content"],
        "a\nb"
    );
    assert_eq!(get!(service, format!("{path}/versions/3")).status, 404);
    let diff = get!(service, format!("{path}/diff")).json();
    assert_eq!(
        (&diff["added"], &diff["removed"], &diff["same"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(get!(service, format!("{path}/diff?from=2")).status, 422);

    let gone = call(
        &service,
        Method::DELETE,
        &path,
        &[("x-edit-key", key)],
        Value::Null,
    )
    .await;
    assert_eq!((gone.status, get!(service, path).status), (204, 404));
}

#[actix_web::test]
async fn forks_are_copies_for_five_generations() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    let first = post!(
        service,
        "/pastes",
        json!({ "content": "x", "title": "Root" })
    )
    .json();
    let mut id = text(&first, "id").to_owned();
    for generation in 1..=5 {
        let copy = post!(service, format!("/pastes/{id}/forks"), json!({})).json();
        assert_eq!(copy["parent"], json!(id), "generation {generation}");
        id = text(&copy, "id").to_owned();
    }
    assert_eq!(
        post!(service, format!("/pastes/{id}/forks"), json!({})).status,
        409
    );
    let forks = get!(service, format!("/pastes/{}/forks", text(&first, "id"))).json();
    assert_eq!(forks[0]["title"], "Copy of Root");
    let stats = get!(service, "/stats").json();
    assert_eq!((&stats["pastes"], &stats["forked"]), (&json!(6), &json!(5)));
}

#[actix_web::test]
async fn lists_go_on_where_the_page_before_ended() {
    let (shared, clock) = shared(0);
    let service = init_service(app(shared)).await;
    for nth in 0..5 {
        let made = post!(
            service,
            "/pastes",
            json!({ "content": format!("text {nth}"), "title": format!("{nth} 100%") })
        );
        assert_eq!(made.status, 201);
        clock.fetch_add(i64::from(nth % 2), Ordering::SeqCst);
    }
    for order in ["newest", "oldest"] {
        let mut titles = Vec::new();
        let mut path = format!("/pastes?limit=2&order={order}");
        loop {
            let page = get!(service, path).json();
            let pastes = page["pastes"].as_array().expect("a list");
            titles.extend(pastes.iter().map(|paste| text(paste, "title").to_owned()));
            let Some(next) = page["next"].as_str() else {
                break;
            };
            path = format!("/pastes?limit=2&order={order}&after={next}");
        }
        titles.sort();
        assert_eq!(
            titles,
            ["0 100%", "1 100%", "2 100%", "3 100%", "4 100%"],
            "{order}"
        );
    }
    assert_eq!(
        get!(service, "/pastes?title=3+100%25").json()["pastes"][0]["title"],
        "3 100%"
    );
    assert_eq!(get!(service, "/pastes?title=_").json()["pastes"], json!([]));
    assert_eq!(
        get!(service, "/pastes?day=2024-02-27").json()["pastes"],
        json!([])
    );
    for query in ["limit=0", "after=x", "day=2024-02-30", "syntax=klingon"] {
        assert_eq!(
            get!(service, format!("/pastes?{query}")).status,
            422,
            "{query}"
        );
    }
}

#[actix_web::test]
async fn searching_ranks_titles_first_and_refuses_bad_patterns() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    post!(
        service,
        "/pastes",
        json!({ "content": "Red apples\nand apples", "title": "Fruit" })
    );
    post!(
        service,
        "/pastes",
        json!({ "content": "red", "title": "Apples" })
    );
    post!(
        service,
        "/pastes",
        json!({ "content": "red apples", "visibility": "unlisted" })
    );
    let found = get!(service, "/search?q=apples+red").json();
    assert_eq!(
        (&found[0]["title"], &found[1]["title"]),
        (&json!("Apples"), &json!("Fruit"))
    );
    assert_eq!(found[1]["hits"][1]["line"], 2);
    let found = get!(service, "/search?q=%5EApp&mode=regex&caseSensitive=true").json();
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    for query in [
        "q=",
        "q=(&mode=regex",
        "q=x&limit=51",
        "q=(a%7B999%7D)%7B999%7D&mode=regex",
    ] {
        assert_eq!(
            get!(service, format!("/search?{query}")).status,
            422,
            "{query}"
        );
    }
}

#[actix_web::test]
async fn who_calls_too_often_has_to_wait() {
    let (shared, clock) = shared(2);
    let service = init_service(app(shared)).await;
    for expected in [200, 200, 429] {
        let answer = get!(service, "/syntaxes", "x-forwarded-for": "10.0.0.1");
        assert_eq!(answer.status, expected);
    }
    assert_eq!(
        get!(service, "/syntaxes", "x-forwarded-for": "10.0.0.2").status,
        200
    );
    assert_eq!(
        get!(service, "/health", "x-forwarded-for": "10.0.0.1").status,
        200
    );
    clock.fetch_add(30, Ordering::SeqCst);
    assert_eq!(
        get!(service, "/syntaxes", "x-forwarded-for": "10.0.0.1").status,
        200
    );
}

#[actix_web::test]
async fn a_reset_takes_everything_out() {
    let (shared, _) = shared(0);
    let service = init_service(app(shared)).await;
    post!(service, "/pastes", json!({ "content": "x" }));
    assert_eq!(post!(service, "/reset", Value::Null).status, 204);
    assert_eq!(get!(service, "/health").json()["pastes"], 0);
}

#[test]
fn the_served_document_is_the_written_one() {
    let document: Value = serde_json::from_str(OPENAPI).expect("JSON");
    assert!(document["paths"]["/pastes/{id}/diff"]["get"].is_object());
}
