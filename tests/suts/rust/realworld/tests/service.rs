//! The service through its router, as a client sees it.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use chrono::{DateTime, Duration, Utc};
use realworld::clock::{Clock, SetClock};
use realworld::config::Config;
use realworld::{App, OPENAPI, router};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

/// A clock that the test keeps a hand on.
#[derive(Clone)]
struct Shared(Arc<SetClock>);

impl Clock for Shared {
    fn now(&self) -> DateTime<Utc> {
        self.0.now()
    }
}

struct Client {
    router: Router,
    clock: Shared,
}

impl Client {
    async fn new() -> Self {
        let noon: DateTime<Utc> = "2024-02-29T12:00:00Z".parse().expect("a time");
        let clock = Shared(Arc::new(SetClock::at(noon)));
        let config = Config {
            reset: true,
            login_attempts: 3,
            ..Config::default()
        };
        let app = App::with_clock(config, clock.clone())
            .await
            .expect("a database in memory opens");
        Self {
            router: router(app),
            clock,
        }
    }

    async fn call(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Value,
    ) -> (StatusCode, Value) {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Token {token}"));
        }
        let request = if body.is_null() {
            request.body(Body::empty())
        } else {
            request
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(body.to_string()))
        };
        let request = request.expect("the request is well formed");
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .expect("never fails");
        let status = response.status();
        let bytes = to_bytes(response.into_body(), 1 << 20)
            .await
            .expect("a body");
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        (status, body)
    }

    async fn get(&self, path: &str, token: Option<&str>) -> (StatusCode, Value) {
        self.call("GET", path, token, Value::Null).await
    }

    async fn token(&self, name: &str) -> String {
        let login = json!({ "user": { "email": format!("{name}@example.org"), "password": "Correct-Horse-7" } });
        let (status, body) = self.call("POST", "/api/users/login", None, login).await;
        assert_eq!(status, 200, "{body}");
        body["user"]["token"].as_str().expect("a token").to_owned()
    }

    async fn write(&self, token: &str, title: &str, tags: &[&str], draft: bool) -> String {
        let article = json!({ "article": {
            "title": title, "description": "About it", "body": "Some words", "tagList": tags, "draft": draft,
        } });
        let (status, body) = self
            .call("POST", "/api/articles", Some(token), article)
            .await;
        assert_eq!(status, 201, "{body}");
        body["article"]["slug"].as_str().expect("a slug").to_owned()
    }
}

fn slugs(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("items");
    items
        .iter()
        .filter_map(|item| item["slug"].as_str())
        .collect()
}

#[tokio::test]
async fn who_registers_can_log_in_until_the_token_expires_or_is_given_back() {
    let client = Client::new().await;
    let user = |name, address| json!({ "user": { "username": name, "email": address, "password": "pass-word" } });
    let new = user("newcomer", "New@Example.org");
    let (status, body) = client.call("POST", "/api/users", None, new).await;
    assert_eq!(status, 201);
    assert_eq!(body["user"]["email"], "new@example.org");
    for (field, again) in [
        ("username", user("NewComer", "other@example.org")),
        ("email", user("other", "new@example.org")),
    ] {
        let (status, body) = client.call("POST", "/api/users", None, again).await;
        assert_eq!(
            (status, &body["errors"][field][0]),
            (StatusCode::CONFLICT, &json!("is taken"))
        );
    }

    let token = client.token("ada").await;
    assert_eq!(client.get("/api/user", Some(&token)).await.0, 200);
    assert_eq!(
        client
            .call("POST", "/api/user/logout", Some(&token), Value::Null)
            .await
            .0,
        204
    );
    assert_eq!(client.get("/api/user", Some(&token)).await.0, 401);

    let token = client.token("ada").await;
    client.clock.0.advance(Duration::hours(25));
    assert_eq!(client.get("/api/user", Some(&token)).await.0, 401);
}

#[tokio::test]
async fn every_broken_rule_is_told_by_field() {
    let client = Client::new().await;
    let user = json!({ "user": { "username": "Root", "email": "nowhere", "password": "short" } });
    let (status, body) = client.call("POST", "/api/users", None, user).await;
    assert_eq!(status, 422);
    assert_eq!(body["errors"]["username"], json!(["is reserved"]));
    assert_eq!(body["errors"]["email"], json!(["is not an e-mail address"]));
    assert_eq!(body["errors"]["password"], json!(["is shorter than 8"]));
    let user = json!({ "user": { "username": "simple", "email": "s@example.org", "password": "aaaaaaaaa" } });
    let (_, body) = client.call("POST", "/api/users", None, user).await;
    assert!(
        body["errors"]["password"][0]
            .as_str()
            .is_some_and(|why| why.contains("too simple"))
    );
}

#[tokio::test]
async fn too_many_wrong_passwords_make_one_wait() {
    let client = Client::new().await;
    let wrong = json!({ "user": { "email": "ada@example.org", "password": "guess" } });
    for _ in 0..3 {
        let (status, _) = client
            .call("POST", "/api/users/login", None, wrong.clone())
            .await;
        assert_eq!(status, 401);
    }
    assert_eq!(
        client
            .call("POST", "/api/users/login", None, wrong.clone())
            .await
            .0,
        429
    );
    client.clock.0.advance(Duration::minutes(11));
    assert_eq!(
        client.call("POST", "/api/users/login", None, wrong).await.0,
        401
    );
}

#[tokio::test]
async fn a_draft_is_hidden_until_it_is_published_and_its_address_follows_the_title() {
    let client = Client::new().await;
    let (ada, jakob) = (client.token("ada").await, client.token("jakob").await);
    let slug = client.write(&ada, "First Thoughts", &["notes"], true).await;
    assert_eq!(slug, "first-thoughts");
    assert_eq!(
        client
            .get("/api/articles/first-thoughts", Some(&jakob))
            .await
            .0,
        404
    );

    let change = json!({ "article": { "title": "Second Thoughts" } });
    let (status, body) = client
        .call("PUT", "/api/articles/first-thoughts", Some(&ada), change)
        .await;
    assert_eq!(
        (status, &body["article"]["slug"]),
        (StatusCode::OK, &json!("second-thoughts"))
    );

    let path = "/api/articles/second-thoughts/state";
    let publish = json!({ "state": "published" });
    assert_eq!(
        client
            .call("POST", path, Some(&jakob), publish.clone())
            .await
            .0,
        404
    );
    assert_eq!(
        client
            .call("POST", path, Some(&ada), publish.clone())
            .await
            .0,
        200
    );
    assert_eq!(client.call("POST", path, Some(&ada), publish).await.0, 409);
    let (_, body) = client
        .get("/api/articles/second-thoughts", Some(&jakob))
        .await;
    assert_eq!(body["article"]["reads"], 1);
    assert_eq!(body["article"]["publishedAt"], "2024-02-29T12:00:00.000Z");
}

#[tokio::test]
async fn articles_are_found_by_tag_author_words_and_day() {
    let client = Client::new().await;
    let (ada, jakob) = (client.token("ada").await, client.token("jakob").await);
    client
        .write(&ada, "Looms of 100%", &["cloth", "machines"], false)
        .await;
    client.clock.0.advance(Duration::hours(23));
    client.write(&jakob, "Engines", &["machines"], false).await;
    client.write(&jakob, "Engines", &[], false).await;

    let (_, list) = client.get("/api/articles", None).await;
    assert_eq!(slugs(&list), ["engines-2", "engines", "looms-of-100"]);
    assert_eq!(list["items"][0].get("body"), None);
    for (query, expected) in [
        ("tag=machines", vec!["engines", "looms-of-100"]),
        ("author=JAKOB&sort=oldest", vec!["engines", "engines-2"]),
        ("q=100%25", vec!["looms-of-100"]),
        ("q=1_0", vec![]),
        ("until=2024-02-29", vec!["looms-of-100"]),
        ("since=2024-03-01T00:00:00Z", vec!["engines-2", "engines"]),
        ("limit=1&offset=1", vec!["engines"]),
    ] {
        let (status, list) = client.get(&format!("/api/articles?{query}"), None).await;
        assert_eq!(
            (status, slugs(&list)),
            (StatusCode::OK, expected),
            "{query}"
        );
    }
    let (_, page) = client.get("/api/articles?limit=2", None).await;
    assert_eq!(
        (&page["total"], &page["nextOffset"]),
        (&json!(3), &json!(2))
    );
    for query in [
        "limit=0",
        "since=yesterday",
        "since=2024-03-02&until=2024-03-01",
    ] {
        let (status, _) = client.get(&format!("/api/articles?{query}"), None).await;
        assert_eq!(status, 422, "{query}");
    }

    let (_, feed) = client.get("/api/articles/feed", Some(&jakob)).await;
    assert_eq!(slugs(&feed), ["looms-of-100"]);
    let (_, archive) = client.get("/api/archive?year=2024", None).await;
    assert_eq!(archive["busiest"], "2024-03-01");
    assert_eq!(archive["days"]["2024-02-29"], 1);
    let (_, tags) = client.get("/api/tags?atLeast=2", None).await;
    assert_eq!(
        tags,
        json!({ "tags": [{ "tag": "machines", "articles": 2 }] })
    );
}

#[tokio::test]
async fn only_authors_and_moderators_change_articles() {
    let client = Client::new().await;
    let (ada, jakob) = (client.token("ada").await, client.token("jakob").await);
    client.write(&ada, "Mine", &[], false).await;
    let change = json!({ "article": { "body": "Changed" } });
    let path = "/api/articles/mine";
    assert_eq!(
        client
            .call("PUT", path, Some(&jakob), change.clone())
            .await
            .0,
        403
    );
    assert_eq!(
        client
            .call("PUT", path, Some(&ada), json!({ "article": {} }))
            .await
            .0,
        422
    );
    let gardener = client.token("gardener").await;
    assert_eq!(
        client.call("PUT", path, Some(&gardener), change).await.0,
        200
    );
    assert_eq!(
        client
            .call("DELETE", path, Some(&jakob), Value::Null)
            .await
            .0,
        403
    );
    assert_eq!(
        client.call("DELETE", path, Some(&ada), Value::Null).await.0,
        204
    );
    assert_eq!(client.get(path, None).await.0, 404);
}

#[tokio::test]
async fn comments_are_threads_of_three_levels() {
    let client = Client::new().await;
    let (ada, jakob) = (client.token("ada").await, client.token("jakob").await);
    client.write(&ada, "Talk", &[], false).await;
    let path = "/api/articles/talk/comments";
    let mut parent = Value::Null;
    for level in 0..4 {
        let comment = json!({ "comment": { "body": format!("level {level}"), "replyTo": parent } });
        let (status, body) = client.call("POST", path, Some(&jakob), comment).await;
        assert_eq!(status, if level < 3 { 201 } else { 422 }, "{body}");
        parent = body["comment"]["id"].clone();
    }
    let (_, body) = client.get(path, None).await;
    assert_eq!(body["total"], 3);
    assert_eq!(
        body["comments"][0]["replies"][0]["replies"][0]["body"],
        "level 2"
    );
    // The author of the article keeps order; answers go along.
    let id = body["comments"][0]["id"].as_i64().expect("a number");
    assert_eq!(
        client
            .call("DELETE", &format!("{path}/{id}"), Some(&ada), Value::Null)
            .await
            .0,
        204
    );
    assert_eq!(client.get(path, None).await.1["total"], 0);
}

#[tokio::test]
async fn liking_twice_counts_once_and_makes_articles_trend() {
    let client = Client::new().await;
    let (ada, jakob) = (client.token("ada").await, client.token("jakob").await);
    client.write(&ada, "Liked", &[], false).await;
    client.write(&ada, "Ignored", &[], false).await;
    for _ in 0..2 {
        let (_, body) = client
            .call(
                "POST",
                "/api/articles/liked/favorite",
                Some(&jakob),
                Value::Null,
            )
            .await;
        assert_eq!(body["article"]["favoritesCount"], 1);
    }
    let (_, ranking) = client.get("/api/articles/trending?fresh=true", None).await;
    assert_eq!(
        ranking["articles"],
        json!([{ "slug": "liked", "title": "Liked", "points": 10 }])
    );
    assert_eq!(
        client.get("/api/articles/trending?top=21", None).await.0,
        422
    );
    let (_, body) = client
        .call(
            "DELETE",
            "/api/articles/liked/favorite",
            Some(&jakob),
            Value::Null,
        )
        .await;
    assert_eq!(body["article"]["favoritesCount"], 0);
}

#[tokio::test]
async fn following_shows_in_profiles_and_not_for_oneself() {
    let client = Client::new().await;
    let ada = client.token("ada").await;
    let path = "/api/profiles/jakob/follow";
    let (_, body) = client.call("POST", path, Some(&ada), Value::Null).await;
    assert_eq!(body["profile"]["following"], true);
    assert_eq!(
        client.get("/api/profiles/Jakob", Some(&ada)).await.1["profile"]["following"],
        true
    );
    assert_eq!(
        client.get("/api/profiles/jakob", None).await.1["profile"]["following"],
        false
    );
    let (_, body) = client.get("/api/profiles/jakob/followers", None).await;
    assert_eq!(body["items"][0]["username"], "ada");
    assert_eq!(
        client
            .call("POST", "/api/profiles/ada/follow", Some(&ada), Value::Null)
            .await
            .0,
        422
    );
}

#[tokio::test]
async fn reports_go_from_open_over_triaged_to_a_verdict_with_a_note() {
    let client = Client::new().await;
    let (ada, gardener) = (client.token("ada").await, client.token("gardener").await);
    let report = json!({ "kind": "user", "subject": "jakob", "reason": "spam" });
    let (status, body) = client
        .call("POST", "/api/reports", Some(&ada), report.clone())
        .await;
    assert_eq!(
        (status, &body["state"]),
        (StatusCode::CREATED, &json!("open"))
    );
    assert_eq!(
        client
            .call("POST", "/api/reports", Some(&ada), report)
            .await
            .0,
        409
    );
    assert_eq!(client.get("/api/reports", Some(&ada)).await.0, 403);
    for (state, note, expected) in [
        ("upheld", json!("clear case"), 409),
        ("triaged", Value::Null, 200),
        ("upheld", Value::Null, 422),
        ("upheld", json!("clear case"), 200),
        ("dismissed", json!("or not"), 409),
    ] {
        let verdict = json!({ "state": state, "note": note });
        let (status, body) = client
            .call("PATCH", "/api/reports/1", Some(&gardener), verdict)
            .await;
        assert_eq!(status, expected, "{state}: {body}");
    }
    let (_, list) = client
        .get("/api/reports?state=upheld&kind=user", Some(&gardener))
        .await;
    assert_eq!(
        (&list["total"], &list["items"][0]["note"]),
        (&json!(1), &json!("clear case"))
    );
}

#[tokio::test]
async fn a_reset_brings_the_first_rows_back() {
    let client = Client::new().await;
    let ada = client.token("ada").await;
    client.write(&ada, "Gone", &[], false).await;
    assert_eq!(
        client.call("POST", "/reset", None, Value::Null).await.0,
        204
    );
    assert_eq!(client.get("/api/articles", Some(&ada)).await.1["total"], 0);
    assert_eq!(client.get("/health", None).await.1["users"], 3);
    assert_eq!(client.write(&ada, "Gone", &[], false).await, "gone");
}

#[test]
fn the_served_document_is_the_written_one() {
    let document: Value = serde_json::from_str(OPENAPI).expect("JSON");
    assert_eq!(document["openapi"], "3.0.3");
    assert!(document["paths"]["/api/articles/{slug}"]["put"].is_object());
}
