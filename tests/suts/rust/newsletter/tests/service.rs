//! The service through its router, as a client sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use newsletter::config::Config;
use newsletter::{App, OPENAPI, router};
use serde_json::{Value, json};
use tower::ServiceExt;

/// 2024-02-28 12:00 UTC, a Wednesday.
const NOON: i64 = 1_709_121_600;

const POSTMASTER: &str = "postmaster:stamps-and-glue";
const EDITOR: &str = "editor:pen-and-paper";

struct Client {
    router: Router,
    clock: Arc<AtomicI64>,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Client {
    async fn new() -> Self {
        let clock = Arc::new(AtomicI64::new(NOON));
        let time = Arc::clone(&clock);
        let now = move || Timestamp::from_second(time.load(Ordering::SeqCst)).expect("in range");
        let config = Config {
            reset: true,
            batch: 2,
            ..Config::default()
        };
        let app = App::with_clock(config, Arc::new(now))
            .await
            .expect("a database in memory opens");
        Self {
            router: router(app),
            clock,
        }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .expect("never fails");
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), 1 << 20)
            .await
            .expect("a body");
        Answer {
            status,
            headers,
            body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        }
    }

    /// Calls with headers; those named `as` are turned into credentials.
    async fn call(&self, call: &str, headers: &[(&str, &str)], body: Value) -> Answer {
        let (method, path) = call.split_once(' ').expect("a method and a path");
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = match *name {
                "as" => request.header(
                    header::AUTHORIZATION,
                    format!("Basic {}", STANDARD.encode(value)),
                ),
                name => request.header(name, *value),
            };
        }
        let request = match body {
            Value::Null => request.body(Body::empty()),
            Value::String(text) => request
                .header(header::CONTENT_TYPE, "text/csv")
                .body(Body::from(text)),
            body => request
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(body.to_string())),
        };
        self.send(request.expect("the request is well formed"))
            .await
    }

    async fn ask(&self, call: &str) -> Answer {
        self.call(call, &[("as", POSTMASTER)], Value::Null).await
    }

    async fn tell(&self, call: &str, body: Value) -> Answer {
        self.call(call, &[("as", POSTMASTER)], body).await
    }

    async fn import(&self, table: &str) {
        let answer = self
            .tell("POST /admin/lists/weekly/import", json!(table))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    async fn campaign(&self, title: &str) -> i64 {
        let new = json!({ "list": "weekly", "template": "plain", "title": title });
        let answer = self.tell("POST /admin/campaigns", new).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.body["id"].as_i64().expect("a number")
    }

    /// The token in the latest letter to an address.
    async fn token(&self, to: &str) -> String {
        let letters = self.ask(&format!("GET /admin/outbox?to={to}")).await.body;
        let body = letters[0]["body"].as_str().expect("a letter");
        body.rsplit(' ').next().expect("the last word").to_owned()
    }
}

#[tokio::test]
async fn a_subscription_is_confirmed_and_ended_by_its_token() {
    let client = Client::new().await;
    let new = json!({ "email": "Ada@Example.org", "name": "Ada" });
    let asked = client
        .call("POST /lists/weekly/subscriptions", &[], new.clone())
        .await;
    assert_eq!(
        (asked.status, &asked.body["email"]),
        (StatusCode::ACCEPTED, &json!("ada@example.org"))
    );
    let token = client.token("ada@example.org").await;
    let confirm = json!({ "token": token });
    let confirmed = client
        .call("POST /subscriptions/confirm", &[], confirm.clone())
        .await;
    assert_eq!(confirmed.body["state"], "confirmed");
    assert_eq!(
        client
            .call("POST /subscriptions/confirm", &[], confirm.clone())
            .await
            .status,
        200
    );
    assert_eq!(
        client
            .call("POST /lists/weekly/subscriptions", &[], new)
            .await
            .status,
        409
    );
    let gone = client
        .call(
            &format!("DELETE /subscriptions/{token}?reason=busy"),
            &[],
            Value::Null,
        )
        .await;
    assert_eq!(gone.status, 204);
    assert_eq!(
        client
            .call("POST /subscriptions/confirm", &[], confirm)
            .await
            .status,
        410
    );
    let shown = client
        .ask(&format!("GET /subscriptions/{token}"))
        .await
        .body;
    assert_eq!(
        (&shown["state"], &shown["reason"]),
        (&json!("unsubscribed"), &json!("busy"))
    );
}

#[tokio::test]
async fn a_token_expires_after_two_days() {
    let client = Client::new().await;
    client
        .call(
            "POST /lists/weekly/subscriptions",
            &[],
            json!({ "email": "a@example.org" }),
        )
        .await;
    let token = client.token("a@example.org").await;
    client.clock.fetch_add(48 * 60 * 60, Ordering::SeqCst);
    let confirm = json!({ "token": token });
    assert_eq!(
        client
            .call("POST /subscriptions/confirm", &[], confirm)
            .await
            .status,
        410
    );
}

#[tokio::test]
async fn a_repeated_request_gets_the_same_answer_and_one_letter() {
    let client = Client::new().await;
    let key = [("idempotency-key", "once-and-only")];
    let new = json!({ "email": "a@example.org" });
    let first = client
        .call("POST /lists/weekly/subscriptions", &key, new.clone())
        .await;
    let second = client
        .call("POST /lists/weekly/subscriptions", &key, new)
        .await;
    assert_eq!((first.status, &first.body), (second.status, &second.body));
    assert!(second.headers.contains_key("idempotent-replay"));
    assert_eq!(
        client
            .ask("GET /admin/outbox")
            .await
            .body
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    let other = json!({ "email": "b@example.org" });
    assert_eq!(
        client
            .call("POST /lists/weekly/subscriptions", &key, other.clone())
            .await
            .status,
        422
    );
    let bad = [("idempotency-key", "short")];
    assert_eq!(
        client
            .call("POST /lists/weekly/subscriptions", &bad, other)
            .await
            .status,
        422
    );
}

#[tokio::test]
async fn operators_log_in_and_editors_may_only_write() {
    let client = Client::new().await;
    let none = client.call("GET /admin/templates", &[], Value::Null).await;
    assert_eq!(none.status, 401);
    assert!(none.headers.contains_key(header::WWW_AUTHENTICATE));
    let wrong = [("as", "postmaster:guess")];
    assert_eq!(
        client
            .call("GET /admin/templates", &wrong, Value::Null)
            .await
            .status,
        401
    );
    let editor = [("as", EDITOR)];
    assert_eq!(
        client
            .call("GET /admin/templates", &editor, Value::Null)
            .await
            .status,
        200
    );
    assert_eq!(
        client
            .call("DELETE /admin/templates/plain", &editor, Value::Null)
            .await
            .status,
        403
    );
    assert_eq!(
        client
            .call("POST /admin/dispatch", &editor, Value::Null)
            .await
            .status,
        403
    );
}

#[tokio::test]
async fn a_campaign_goes_out_in_batches_when_its_time_has_come() {
    let client = Client::new().await;
    client
        .import(
            "email,name\na@example.org,Ada\nb@example.net\nbounce@example.org\nbusy@example.org",
        )
        .await;
    let id = client.campaign("Hello").await;
    let at = json!({ "at": "2024-02-28T13:00:00+00:00" });
    let scheduled = client
        .tell(&format!("POST /admin/campaigns/{id}/schedule"), at)
        .await;
    assert_eq!(scheduled.body["state"], "scheduled", "{}", scheduled.body);
    let tally = client.ask("POST /admin/dispatch").await.body;
    assert_eq!(tally["started"], 0);
    client.clock.fetch_add(60 * 60, Ordering::SeqCst);
    let tally = client.ask("POST /admin/dispatch").await.body;
    assert_eq!(
        tally,
        json!({ "started": 1, "finished": 0, "delivered": 2, "deferred": 0, "failed": 0 })
    );
    let tally = client.ask("POST /admin/dispatch").await.body;
    assert_eq!(
        tally,
        json!({ "started": 0, "finished": 0, "delivered": 0, "deferred": 1, "failed": 1 })
    );
    let tally = client.ask("POST /admin/dispatch").await.body;
    assert_eq!(
        tally,
        json!({ "started": 0, "finished": 1, "delivered": 1, "deferred": 0, "failed": 0 })
    );
    let letters = client.ask("GET /admin/outbox?to=a@example.org").await.body;
    assert_eq!(
        (
            &letters[0]["subject"],
            letters[0]["body"]
                .as_str()
                .map(|b| b.starts_with("Hello Ada,"))
        ),
        (&json!("Hello"), Some(true))
    );
    let failed = client
        .ask(&format!(
            "GET /admin/campaigns/{id}/deliveries?state=failed"
        ))
        .await
        .body;
    assert_eq!(
        failed["items"][0]["problem"],
        "the letter cannot be sent: the mailbox does not exist"
    );
    let statistics = client
        .ask("GET /admin/statistics?list=weekly&week=2024-W09")
        .await
        .body;
    assert_eq!(
        (
            &statistics["deliveredPercent"],
            &statistics["subscribers"]["bounced"]
        ),
        (&json!(75.0), &json!(1))
    );
    assert_eq!(statistics["perDay"], json!({ "2024-02-28": 4 }));
    assert_eq!(
        statistics["domains"][0],
        json!({ "name": "example.org", "readers": 2 })
    );
}

#[tokio::test]
async fn steps_that_lead_nowhere_are_refused() {
    let client = Client::new().await;
    let id = client.campaign("Steps").await;
    let path = format!("/admin/campaigns/{id}");
    let nobody = client
        .tell(&format!("POST {path}/schedule"), json!({ "at": "now" }))
        .await;
    assert_eq!(nobody.body["message"], "nobody reads the list");
    client
        .import("a@example.org\nb@example.org\nc@example.org")
        .await;
    assert_eq!(client.ask(&format!("POST {path}/pause")).await.status, 409);
    assert_eq!(client.ask(&format!("POST {path}/jump")).await.status, 404);
    assert_eq!(
        client
            .tell(&format!("POST {path}/schedule"), json!({ "at": "now" }))
            .await
            .status,
        200
    );
    assert_eq!(client.ask(&format!("DELETE {path}")).await.status, 409);
    client.ask("POST /admin/dispatch").await;
    assert_eq!(
        client.ask(&format!("POST {path}/pause")).await.body["state"],
        "paused"
    );
    assert_eq!(
        client.ask("POST /admin/dispatch").await.body["delivered"],
        0
    );
    assert_eq!(
        client
            .tell(&format!("PATCH {path}"), json!({ "title": "Other" }))
            .await
            .status,
        409
    );
    assert_eq!(
        client.ask(&format!("POST {path}/resume")).await.body["state"],
        "sending"
    );
    assert_eq!(
        client.ask(&format!("POST {path}/cancel")).await.body["finishedAt"],
        "2024-02-28T12:00:00Z"
    );
    assert_eq!(client.ask(&format!("DELETE {path}")).await.status, 204);
}

#[tokio::test]
async fn templates_are_checked_and_tried() {
    let client = Client::new().await;
    let bad = json!({ "name": "bad", "subject": "s", "body": "{% if x %}" });
    let refused = client.tell("POST /admin/templates", bad).await;
    assert_eq!(
        (refused.status, &refused.body["message"]),
        (
            StatusCode::UNPROCESSABLE_ENTITY,
            &json!("`body` has `if` in line 1 that is not closed")
        )
    );
    let good = json!({ "name": "vip", "subject": "For {{ name | title }}", "body": "{% if plan == \"gold\" %}Gold{% else %}{{ offer }}{% end %}" });
    let made = client.tell("POST /admin/templates", good).await;
    assert_eq!(made.body["placeholders"], json!(["name", "offer", "plan"]));
    let path = "POST /admin/templates/vip/preview";
    let gold = json!({ "variables": { "name": "ada", "plan": "gold" } });
    assert_eq!(
        client.tell(path, gold).await.body,
        json!({ "subject": "For Ada", "body": "Gold" })
    );
    let missing = client
        .tell(path, json!({ "variables": { "name": "ada" } }))
        .await;
    assert_eq!(
        missing.body["message"],
        "`body` needs `offer`, which is not given"
    );
    client.import("a@example.org").await;
    let id = client.campaign("Needs more").await;
    client
        .tell(
            &format!("PATCH /admin/campaigns/{id}"),
            json!({ "template": "vip" }),
        )
        .await;
    let plan = json!({ "at": { "weekday": "Friday", "time": "09:30" } });
    assert_eq!(
        client
            .tell(
                &format!("POST /admin/campaigns/{id}/schedule"),
                plan.clone()
            )
            .await
            .status,
        422
    );
    client
        .tell(
            &format!("PATCH /admin/campaigns/{id}"),
            json!({ "variables": { "offer": "x" } }),
        )
        .await;
    let planned = client
        .tell(&format!("POST /admin/campaigns/{id}/schedule"), plan)
        .await;
    assert_eq!(planned.body["sendAt"], "2024-03-01T09:30:00Z");
    assert_eq!(client.ask("DELETE /admin/templates/vip").await.status, 409);
}

#[tokio::test]
async fn lists_keep_their_hours_and_their_readers() {
    let client = Client::new().await;
    let hours = json!({ "slug": "office", "title": "Office", "hours": { "from": 8, "until": 12 } });
    assert_eq!(
        client.tell("POST /admin/lists", hours.clone()).await.status,
        201
    );
    assert_eq!(client.tell("POST /admin/lists", hours).await.status, 409);
    for (body, field) in [
        (json!({ "slug": "No", "title": "Bad slug" }), "slug"),
        (json!({ "slug": "no-hours", "title": "x" }), "title"),
        (
            json!({ "slug": "no-hours", "title": "Hours", "hours": { "from": 8, "until": 8 } }),
            "hours",
        ),
    ] {
        let refused = client.tell("POST /admin/lists", body).await;
        let message = refused.body["message"]
            .as_str()
            .expect("a message")
            .to_owned();
        assert!(message.starts_with(&format!("`{field}`")), "{message}");
    }
    client
        .tell(
            "POST /admin/lists/office/import",
            json!("x@example.org\nx@example.org\nbad\n\"open"),
        )
        .await;
    let readers = client
        .ask("GET /admin/lists/office/subscribers?q=X@")
        .await
        .body;
    assert_eq!(
        (&readers["total"], &readers["pages"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(client.ask("DELETE /admin/lists/office").await.status, 409);
    let closed = client
        .tell("PATCH /admin/lists/office", json!({ "open": false }))
        .await;
    assert_eq!(closed.body["open"], false);
    let new = json!({ "email": "y@example.org" });
    assert_eq!(
        client
            .call("POST /lists/office/subscriptions", &[], new)
            .await
            .status,
        409
    );
    let new = json!({ "list": "office", "template": "plain", "title": "Late" });
    let id = client.tell("POST /admin/campaigns", new).await.body["id"].clone();
    let late = client
        .tell(
            &format!("POST /admin/campaigns/{id}/schedule"),
            json!({ "at": "now" }),
        )
        .await;
    assert_eq!(
        late.body["message"],
        "`at` is outside of the hours of the list, 8 to 12"
    );
}

#[tokio::test]
async fn a_reset_starts_afresh() {
    let client = Client::new().await;
    client.import("a@example.org").await;
    client.campaign("Gone").await;
    assert_eq!(client.ask("POST /reset").await.status, 204);
    assert_eq!(client.ask("GET /admin/campaigns").await.body["total"], 0);
    assert_eq!(client.ask("GET /lists").await.body[0]["confirmed"], 0);
    assert_eq!(client.campaign("First").await, 1);
}

#[test]
fn the_served_document_is_the_written_one() {
    let document: Value = serde_json::from_str(OPENAPI).expect("JSON");
    assert!(document["paths"]["/admin/campaigns/{id}/schedule"]["post"].is_object());
}
