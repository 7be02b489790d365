//! The services do what they say, and their twins do not have the fault.

use isobath_exec::http::{Call, Client, ClientConfig, Method, Request};
use isobath_suts::{ALL, Running, Sut};
use serde_json::{Value, json};

/// A service with a client to call it.
struct Visit {
    service: Running,
    client: Client,
}

impl Visit {
    fn to(service: Running) -> Self {
        let client = Client::new(ClientConfig::default()).expect("there is room for a client");
        Self { service, client }
    }

    fn call(&mut self, method: Method, path: &str, token: &str, body: Option<Value>) -> Call {
        let mut request = Request::new(method, format!("{}{path}", self.service.url));
        if !token.is_empty() {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if let Some(body) = body {
            request = request
                .header("Content-Type", "application/json")
                .body(body.to_string());
        }
        self.client.call(&request)
    }

    fn get(&mut self, path: &str) -> (u16, String) {
        let call = self.call(Method::GET, path, "", None);
        let response = call
            .response()
            .unwrap_or_else(|| panic!("{path}: {call:?}"));
        (response.status, response.text().into_owned())
    }

    fn status(&mut self, method: Method, path: &str, body: Option<Value>) -> u16 {
        self.status_as(method, path, "", body)
    }

    fn status_as(&mut self, method: Method, path: &str, token: &str, body: Option<Value>) -> u16 {
        let call = self.call(method, path, token, body);
        call.status().unwrap_or_else(|| panic!("{path}: {call:?}"))
    }
}

fn draft(name: &str, count: i64) -> Option<Value> {
    Some(json!({ "name": name, "count": count }))
}

fn sut(name: &str) -> Sut {
    let found = ALL.into_iter().find(|sut| sut.name == name);
    found.unwrap_or_else(|| panic!("no service is called {name}"))
}

/// What `observe` sees at the faulty service and at its twin.
fn both<T>(name: &str, observe: impl Fn(&mut Visit) -> T) -> (T, T) {
    let sut = sut(name);
    let correct = sut.start_correct.expect("it has a planted fault");
    (
        observe(&mut Visit::to((sut.start)())),
        observe(&mut Visit::to(correct())),
    )
}

#[test]
fn every_service_serves_the_document_that_it_hands_out() {
    for sut in ALL {
        for start in [Some(sut.start), sut.start_correct].into_iter().flatten() {
            let mut visit = Visit::to(start());
            let (status, text) = visit.get("/openapi.json");
            assert_eq!(status, 200, "{}", sut.name);
            let served: Value = serde_json::from_str(&text).expect("a document is JSON");
            assert_eq!(served, visit.service.openapi, "{}", sut.name);
            assert_eq!(served["servers"][0]["url"], json!(visit.service.url));
            assert!(
                !served["paths"]
                    .as_object()
                    .expect("it has paths")
                    .is_empty()
            );
        }
    }
}

#[test]
fn the_examples_of_the_papers_have_their_hard_answers() {
    let mut visit = Visit::to(isobath_suts::papers::testability());
    assert_eq!(
        visit.get("/api/testability/2019-03-04/42/Foo"),
        (200, "OK".to_owned())
    );
    assert_eq!(
        visit.get("/api/testability/2020-03-04/42/Foo"),
        (200, "ERROR".to_owned())
    );
    assert_eq!(visit.get("/api/testability/2019-42-77/42/Foo").0, 500);
    assert_eq!(visit.get("/api/testability/x/42/Foo").0, 404);
    let mut visit = Visit::to(isobath_suts::papers::hidden_parameter());
    assert_eq!(visit.get("/api/param?param=FOO"), (200, "OK".to_owned()));
    assert_eq!(visit.get("/api/param?param=BAR"), (200, String::new()));
    assert_eq!(visit.get("/api/param").0, 500);
    let mut visit = Visit::to(isobath_suts::papers::hidden_body());
    assert_eq!(
        visit.status(Method::POST, "/api/body", Some(json!({ "x": 985.0 }))),
        200
    );
    assert_eq!(visit.status(Method::POST, "/api/body", None), 500);
}

#[test]
fn the_stored_pair_is_in_the_database() {
    let mut visit = Visit::to(isobath_suts::papers::stored_pair());
    assert_eq!(visit.get("/api/foo/42/77").0, 400);
    assert_eq!(visit.status(Method::POST, "/api/foo", None), 200);
    assert_eq!(visit.get("/api/foo/42/77").0, 200);
    assert!(visit.service.database.is_some());
    let mut visit = Visit::to(isobath_suts::papers::stored_pair_without_post());
    assert_eq!(visit.status(Method::POST, "/api/foo", None), 404);
}

#[test]
fn the_obstacles_can_be_passed() {
    use isobath_suts::features;
    let mut visit = Visit::to(features::post_get_chain());
    let call = visit.call(Method::POST, "/notes", "", Some(json!({ "text": "hi" })));
    let location = call
        .response()
        .and_then(|response| response.header("location"));
    let location = location.expect("a creation says where").to_owned();
    assert_eq!(visit.get(&location).0, 200);
    assert_eq!(visit.get("/notes/1").0, 404);

    let mut visit = Visit::to(features::login_token());
    assert_eq!(visit.get("/secret").0, 401);
    let login = json!({ "user": "ada", "password": "lovelace" });
    let call = visit.call(Method::POST, "/login", "", Some(login));
    let answer: Value =
        serde_json::from_slice(&call.response().expect("it answers").body).expect("it is JSON");
    let token = answer["token"].as_str().expect("it has a token").to_owned();
    assert_eq!(visit.status_as(Method::GET, "/secret", &token, None), 200);

    let mut visit = Visit::to(features::pagination());
    assert!(visit.get("/items?page=4").1.contains("\"next\":null"));
    assert_eq!(visit.get("/items?page=5").0, 404);
    assert_eq!(visit.get("/items?size=21").0, 400);

    let mut visit = Visit::to(features::enum_branch());
    let mut area = |shape| visit.status(Method::POST, "/area", Some(shape));
    assert_eq!(area(json!({ "kind": "circle", "radius": 2 })), 200);
    assert_eq!(area(json!({ "kind": "square", "radius": 2 })), 400);
    assert_eq!(area(json!({ "kind": "square", "side": 1e4 })), 422);

    let mut visit = Visit::to(features::numeric_boundary());
    let ages = ["17", "18", "120", "121", "x"].map(|age| visit.get(&format!("/welcome/{age}")).0);
    assert_eq!(ages, [403, 200, 202, 400, 400]);

    let mut visit = Visit::to(features::pattern());
    assert_eq!(visit.get("/codes/ABC-1234").0, 200);
    assert_eq!(visit.get("/codes/ABC-123").0, 400);

    let mut visit = Visit::to(features::date_window());
    let mut book = |from: &str, to: &str| {
        visit.status(
            Method::POST,
            "/bookings",
            Some(json!({ "from": from, "to": to })),
        )
    };
    assert_eq!(book("2026-05-01", "2026-05-15"), 201);
    assert_eq!(book("2026-05-01", "2026-05-16"), 409);
    assert_eq!(book("2025-05-01", "2025-05-02"), 422);
    assert_eq!(book("2026-05-02", "2026-05-01"), 400);
    assert_eq!(book("2026-02-30", "2026-05-01"), 400);
}

#[test]
fn faults_of_state_are_there_and_not_in_the_twins() {
    let after_delete = both("delete_keeps", |visit| {
        visit.status(Method::POST, "/things", draft("a", 1));
        assert_eq!(visit.status(Method::DELETE, "/things/1", None), 204);
        visit.get("/things/1").0
    });
    assert_eq!(after_delete, (200, 404));

    let after_put_twice = both("put_appends", |visit| {
        visit.status(Method::POST, "/things", draft("a", 1));
        visit.status(Method::PUT, "/things/1", draft("b", 2));
        let first = visit.get("/things/1");
        visit.status(Method::PUT, "/things/1", draft("b", 2));
        first == visit.get("/things/1")
    });
    assert_eq!(after_put_twice, (false, true));

    let after_refused_put = both("failed_put_writes", |visit| {
        visit.status(Method::POST, "/things", draft("a", 1));
        let before = visit.get("/things/1");
        assert_eq!(visit.status(Method::PUT, "/things/1", draft("b", -2)), 400);
        before == visit.get("/things/1")
    });
    assert_eq!(after_refused_put, (false, true));

    let after_get = both("unsafe_get", |visit| {
        visit.status(Method::POST, "/things", draft("a", 1));
        visit.get("/things/1") == visit.get("/things/1")
    });
    assert_eq!(after_get, (false, true));

    let after_creation = both("lost_creation", |visit| {
        assert_eq!(visit.status(Method::POST, "/things", draft("a", 1)), 201);
        visit.get("/things/1").0
    });
    assert_eq!(after_creation, (404, 200));
}

#[test]
fn faults_of_answers_are_there_and_not_in_the_twins() {
    assert_eq!(
        both("edge_crash", |visit| visit.get("/share/0").0),
        (500, 400)
    );
    let traces = both("stack_trace", |visit| {
        let call = visit.call(Method::POST, "/parse", "", Some(json!({})));
        call.response()
            .is_some_and(|response| response.text().contains("Parser.java"))
    });
    assert_eq!(traces, (true, false));
    let prices = both("wrong_type", |visit| visit.get("/prices/tea").1);
    assert_eq!(
        prices,
        (r#"{"price":"15"}"#.to_owned(), r#"{"price":15}"#.to_owned())
    );
    assert_eq!(
        both("undocumented_status", |visit| visit.get("/brew/coffee").0),
        (418, 404)
    );
    let accepted = both("accepts_invalid", |visit| {
        visit.status(Method::POST, "/things", draft("", -5))
    });
    assert_eq!(accepted, (201, 400));
}

#[test]
fn faults_of_rights_are_there_and_not_in_the_twins() {
    let anonymous = both("anonymous_write", |visit| {
        visit.status(Method::POST, "/things", draft("a", 1))
    });
    assert_eq!(anonymous, (201, 401));
    for name in ["anonymous_write", "foreign_resource", "existence_leak"] {
        let strangers = both(name, |visit| visit.get("/things/1").0);
        assert_eq!(strangers, (401, 401), "{name}");
    }
    let of_others = |visit: &mut Visit| {
        visit.status_as(Method::POST, "/things", "token-ada", draft("a", 1));
        assert_eq!(
            visit.status_as(Method::GET, "/things/1", "token-ada", None),
            200
        );
        visit.status_as(Method::GET, "/things/1", "token-grace", None)
    };
    assert_eq!(both("foreign_resource", of_others), (200, 404));
    assert_eq!(both("existence_leak", of_others), (403, 404));
}
