//! Sample suites of HTTP tests: one for `marina`, one for a service that shows what it was sent.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod echo;
pub(crate) mod everything;

use isobath_emit::http::{
    Auth, Body, BodyCheck, Capture, ExpectedOutcome, ExpectedResponse, FaultMark, HeaderCheck,
    HttpStep, HttpSuite, HttpTest, JsonPath, JsonType, Login, MultipartPart, PartContent,
    Placeholder, Request, ResetHook, Secret, Text, TextPiece, Token, TokenPlacement, UniqueValue,
    User, ValueSource,
};
use serde_json::{Value, json};

/// Tests of `marina` with all its faults.
pub(crate) fn marina(base_url: &str) -> HttpSuite {
    let mut suite = HttpSuite::new("marina", base_url);
    suite.title = "Regression tests of Marina".into();
    suite.source = "openapi.yaml".into();
    suite.seed = 7;
    suite.version = "0.0.0".into();
    suite.command = Some("isobath rest openapi.yaml --seed 7".into());
    suite.service.reset = Some(ResetHook::Call(Box::new(Request::new("POST", "/reset"))));
    suite.users = vec![user("ada", "sextant"), user("ben", "compass")];
    suite.tests = vec![
        lists_berths(),
        refuses_anonymous(),
        fetches_created(),
        deletes_created(),
        filters_boats(),
        shows_broken_search(),
        shows_dropped_payment(),
    ];
    suite
}

fn user(name: &str, password: &str) -> User {
    let mut login = Request::new("POST", "/login").json(json!({"user": name, "password": ""}));
    if let Some(Body::Json { placeholders, .. }) = &mut login.body {
        placeholders.push(Placeholder {
            at: JsonPath::from_pointer("/password"),
            value: Text(vec![TextPiece::Secret(Secret {
                variable: format!("MARINA_{}_PASSWORD", name.to_uppercase()),
                value: Some(password.into()),
            })]),
        });
    }
    let auth = Auth::Login(Box::new(Login {
        request: login,
        token: Some(Token {
            from: ValueSource::Body("/token".into()),
            send: TokenPlacement::Header("Authorization".into()),
            template: "Bearer {token}".into(),
        }),
        cookies: false,
    }));
    User::new(name, auth)
}

fn named(id: &str, group: &str, steps: Vec<HttpStep>) -> HttpTest {
    HttpTest {
        id: id.into(),
        name: id.replace('_', " "),
        group: group.into(),
        steps,
        ..HttpTest::default()
    }
}

fn lists_berths() -> HttpTest {
    let answer = ExpectedResponse::status(200)
        .as_json()
        .check(BodyCheck::Length {
            at: JsonPath::root(),
            items: 2,
        })
        .equals("/0/pier", "A")
        .equals("/0/power", true)
        .check(BodyCheck::Type {
            at: "/0/id".into(),
            is: JsonType::Integer,
        })
        .check(BodyCheck::Includes {
            at: JsonPath::root(),
            value: json!({"id": 2, "pier": "A", "number": 2, "length": 1200, "power": true}),
        })
        .check(BodyCheck::Absent {
            at: "/0/owner".into(),
        })
        .check(BodyCheck::Present {
            at: "/1/number".into(),
        });
    let request = Request::new("GET", "/berths")
        .query("pier", "A")
        .query("power", "true");
    let mut test = named(
        "lists_the_berths_of_a_pier",
        "GET /berths",
        vec![HttpStep::new(request, answer)],
    );
    test.covers = vec![
        "200 of GET /berths".into(),
        "`pier` and `power` are given".into(),
    ];
    test
}

fn refuses_anonymous() -> HttpTest {
    let answer = ExpectedResponse::status(401)
        .as_json()
        .equals("", json!({"status": 401, "detail": "log in first"}))
        .check(BodyCheck::Contains {
            text: "\"log in first\"".into(),
        });
    let answer = ExpectedResponse {
        headers: vec![
            HeaderCheck {
                name: "WWW-Authenticate".into(),
                value: Some("Bearer".into()),
            },
            HeaderCheck {
                name: "Content-Length".into(),
                value: None,
            },
        ],
        ..answer
    };
    let request = Request::new("GET", "/me");
    named(
        "refuses_to_tell_nobody_who_they_are",
        "GET /me",
        vec![HttpStep::new(request, answer)],
    )
}

/// POST /boats as ada, keeping the id and the Location.
fn creates_boat() -> HttpStep {
    let request = Request::new("POST", "/boats").by("ada").json(json!({
        "name": "Gull \"of\" 'Ålesund' {x} %d ${y}",
        "kind": "sail",
        "length": 850,
        "draft": 120,
        "tags": ["blue", "old"]
    }));
    let answer = ExpectedResponse::status(201)
        .as_json()
        .equals("/name", "Gull \"of\" 'Ålesund' {x} %d ${y}")
        .equals("/tags", json!(["blue", "old"]));
    let whole = BodyCheck::Equals {
        at: JsonPath::root(),
        value: json!({
            "name": "Gull \"of\" 'Ålesund' {x} %d ${y}",
            "id": 0,
            "kind": "sail",
            "length": 850,
            "draft": 120,
            "tags": ["blue", "old"]
        }),
        placeholders: vec![Placeholder {
            at: "/id".into(),
            value: Text::captured("boat_id"),
        }],
    };
    let answer = answer.check(whole);
    let mut step = HttpStep::new(request, answer)
        .capture("boat_id", ValueSource::Body("/id".into()))
        .capture("location", ValueSource::Header("Location".into()));
    step.captures[0].sample = Some(json!(1));
    step
}

fn fetches_created() -> HttpTest {
    let by_location = Request::new("GET", Text::captured("location")).by("ada");
    let by_id = Request::new(
        "GET",
        Text::from("/boats/").then(TextPiece::captured("boat_id")),
    );
    let same = BodyCheck::Same {
        at: "/id".into(),
        variable: "boat_id".into(),
    };
    let answer = ExpectedResponse::status(200)
        .as_json()
        .check(same.clone())
        .equals("/length", 850)
        .equals("/draft", 120);
    let mut test = named(
        "a_boat_can_be_fetched_after_it_was_created",
        "GET /boats/{boatId}",
        vec![
            creates_boat(),
            HttpStep::new(by_id.clone().by("ada"), answer),
            HttpStep::new(by_location, ExpectedResponse::status(200).check(same)),
            HttpStep::new(by_id.by("ben"), ExpectedResponse::status(404)),
        ],
    );
    test.steps[3].comment = Some("Others do not see it.".into());
    test.scenario = "created, then fetched".into();
    test
}

fn deletes_created() -> HttpTest {
    let path = Text::from("/boats/").then(TextPiece::captured("boat_id"));
    named(
        "a_boat_is_gone_after_it_was_deleted",
        "DELETE /boats/{boatId}",
        vec![
            creates_boat(),
            HttpStep::new(
                Request::new("DELETE", path.clone()).by("ada"),
                ExpectedResponse::status(204).check(BodyCheck::Empty),
            ),
            HttpStep::new(
                Request::new("GET", path).by("ada"),
                ExpectedResponse::status(404),
            ),
        ],
    )
}

fn filters_boats() -> HttpTest {
    let request = Request::new("GET", "/boats").by("ada").query("limit", "0");
    let answer = ExpectedResponse::status(400)
        .as_json()
        .equals("/status", 400)
        .check(BodyCheck::Type {
            at: "/detail".into(),
            is: JsonType::String,
        });
    let mut test = named(
        "boats_are_not_listed_by_a_limit_of_zero",
        "GET /boats",
        vec![HttpStep::new(request, answer)],
    );
    test.scenario = "limit out of bounds".into();
    test
}

fn shows_broken_search() -> HttpTest {
    let request = Request::new("GET", "/search").query("q", "it's");
    let mut test = named(
        "search_fails_on_a_quote",
        "GET /search",
        vec![HttpStep::new(
            request,
            ExpectedResponse::status(500).as_json(),
        )],
    );
    test.faults = vec![FaultMark {
        code: "server-error".into(),
        message: "a quote in `q` is answered with 500".into(),
        root_cause: "server-error GET /search 500".into(),
    }];
    test
}

fn shows_dropped_payment() -> HttpTest {
    let stay =
        json!({"boatId": 1, "berthId": 1, "arrival": "2026-07-01", "departure": "2026-07-04"});
    let mut book = Request::new("POST", "/bookings").by("ada").json(stay);
    if let Some(Body::Json { placeholders, .. }) = &mut book.body {
        placeholders.push(Placeholder {
            at: "/boatId".into(),
            value: Text::captured("boat_id"),
        });
    }
    let with = |before: &str, variable: &str, after: &str| {
        Text::from(before)
            .then(TextPiece::captured(variable))
            .then(TextPiece::literal(after))
    };
    let id = |variable: &str| Capture {
        variable: variable.into(),
        from: ValueSource::Body("/id".into()),
        sample: Some(json!(1)),
    };
    let mut booked = HttpStep::new(book, ExpectedResponse::status(201));
    booked.name = Some("booked".into());
    booked.captures.push(id("booking_id"));
    let invoice = Request::new("POST", with("/bookings/", "booking_id", "/invoice")).by("ada");
    let mut invoiced = HttpStep::new(invoice, ExpectedResponse::status(201));
    invoiced.captures.push(id("invoice_id"));
    let pay = Request::new("POST", with("/invoices/", "invoice_id", "/payments"))
        .by("ada")
        .json(json!({"amount": 99_999_999}));
    let mut test = named(
        "paying_more_than_is_due_drops_the_connection",
        "POST /invoices/{invoiceId}/payments",
        vec![
            creates_boat(),
            booked,
            invoiced,
            HttpStep::new(pay, ExpectedOutcome::Dropped),
        ],
    );
    test.faults = vec![FaultMark {
        code: "dropped-connection".into(),
        message: "the connection is closed without an answer".into(),
        root_cause: "dropped-connection POST /invoices/{invoiceId}/payments".into(),
    }];
    test
}

/// Every way to send something, on the service of [`echo`].
pub(crate) fn echo(base_url: &str) -> HttpSuite {
    let mut suite = HttpSuite::new("echo", base_url);
    suite.service.timeout_millis = 1500;
    suite.users = vec![
        User::new(
            "static user",
            Auth::Headers(vec![(
                "X-Key".into(),
                Text::from("key ").then(TextPiece::Secret(Secret {
                    variable: "ECHO_KEY".into(),
                    value: Some("s3cr\"et'".into()),
                })),
            )]),
        ),
        User::new(
            "cookie",
            Auth::Login(Box::new(Login {
                request: Request::new("POST", "/login"),
                token: Some(Token {
                    from: ValueSource::Header("X-Token".into()),
                    send: TokenPlacement::Query("token".into()),
                    template: "<{token}>".into(),
                }),
                cookies: true,
            })),
        ),
        newcomer(),
    ];
    let odd = "a b\"'\\$`{}%ü€😀#&=?/+\n\tz";
    let mut tests = vec![
        json_bodies(odd),
        form_and_query(odd),
        multipart(odd),
        texts(odd),
        binary(),
        users(),
        captured(),
        last_segment(),
        unusual_method(),
    ];
    let slow = HttpStep::new(Request::new("GET", "/slow"), ExpectedOutcome::TimedOut);
    let mut times_out = named("a_slow_answer_times_out", "GET /slow", vec![slow]);
    times_out.faults = vec![FaultMark::default()];
    tests.push(times_out);
    suite.tests = tests;
    suite
}

/// Somebody whom every test creates under a new name.
fn newcomer() -> User {
    let mut create = Request::new("POST", "/people").json(json!({"name": "", "note": "x"}));
    if let Some(Body::Json { placeholders, .. }) = &mut create.body {
        placeholders.push(Placeholder {
            at: "/name".into(),
            value: Text::captured("user name"),
        });
        placeholders.push(Placeholder {
            at: "/note".into(),
            value: Text::from("I am ").then(TextPiece::captured("user name")),
        });
    }
    let login = Request::new("POST", "/people/log-in").body(Body::Form(vec![(
        "name".into(),
        Text::captured("user name"),
    )]));
    User {
        unique_values: vec![UniqueValue {
            variable: "user name".into(),
            prefix: "n '\"$-".into(),
            suffix: "@x".into(),
            digits: 12,
        }],
        create: Some(Box::new(create)),
        ..User::new(
            "newcomer",
            Auth::Login(Box::new(Login {
                request: login,
                token: Some(Token {
                    from: ValueSource::LastSegment(Box::new(ValueSource::Header(
                        "Location".into(),
                    ))),
                    send: TokenPlacement::Header("X-Me".into()),
                    template: "{token}".into(),
                }),
                cookies: false,
            })),
        )
    }
}

/// The id that a Location ends with is used in a path, in a body, and as a whole.
fn last_segment() -> HttpTest {
    let mut made = HttpStep::new(
        Request::new("POST", "/things").by("newcomer"),
        ExpectedResponse::status(201),
    )
    .capture(
        "thing_id",
        ValueSource::LastSegment(Box::new(ValueSource::Header("location".into()))),
    );
    made.captures[0].sample = Some(json!("a b/c+d"));
    let mut fetch = Request::new(
        "PUT",
        Text::from("/echo/")
            .then(TextPiece::captured("thing_id"))
            .then(TextPiece::literal("/x")),
    )
    .by("newcomer")
    .json(json!({"id": ""}));
    if let Some(Body::Json { placeholders, .. }) = &mut fetch.body {
        placeholders.push(Placeholder {
            at: "/id".into(),
            value: Text::captured("thing_id"),
        });
    }
    let fetched = expecting(echoed(fetch), "/path", "/echo/a%20b%2Fc%2Bd/x");
    let fetched = expecting(fetched, "/json/id", "a b/c+d");
    let fetched = expecting(fetched, "/headers/x-me", "known");
    named(
        "what_a_location_ends_with_is_an_id",
        "PUT /echo",
        vec![made, fetched],
    )
}

fn echoed(request: Request) -> HttpStep {
    HttpStep::new(request, ExpectedResponse::status(200).as_json())
}

fn expecting(mut step: HttpStep, at: &str, value: impl Into<Value>) -> HttpStep {
    if let ExpectedOutcome::Response(answer) = &mut step.expect {
        answer.body.push(BodyCheck::Equals {
            at: at.into(),
            value: value.into(),
            placeholders: Vec::new(),
        });
    }
    step
}

fn json_bodies(odd: &str) -> HttpTest {
    let document = json!({
        "text": odd, "none": null, "yes": true, "no": false, "int": -7, "big": 9_007_199_254_740_993_i64,
        "huge": u64::MAX, "half": 0.5, "tiny": 1e-300, "list": [], "object": {}, "nested": [[1, [2]], {"a-b": {"0": "z"}}],
        "class": 1, "": "empty key", "a'b\"c": "$x"
    });
    let step = expecting(
        echoed(Request::new("POST", "/echo").json(document.clone())),
        "/json",
        document,
    );
    let null = expecting(
        echoed(Request::new("POST", "/echo").json(Value::Null)),
        "/text",
        "null",
    );
    let patch = Request::new("PATCH", "/echo").body(Body::Json {
        value: json!({"a": [1.5, "x"]}),
        placeholders: vec![],
        content_type: "application/merge-patch+json".into(),
    });
    let patch = expecting(echoed(patch), "/json", json!({"a": [1.5, "x"]}));
    let patch = expecting(
        patch,
        "/headers/content-type",
        "application/merge-patch+json",
    );
    named("json_bodies_arrive", "POST /echo", vec![step, null, patch])
}

fn form_and_query(odd: &str) -> HttpTest {
    let form = Body::Form(vec![
        ("a".into(), odd.into()),
        ("a".into(), "2".into()),
        ("b c".into(), "".into()),
    ]);
    let request = Request::new("POST", "/echo/a%20b%2Fc")
        .query("q", odd)
        .query("q", "2")
        .query("e", "")
        .body(form);
    let step = expecting(
        echoed(request),
        "/query",
        json!([["q", odd], ["q", "2"], ["e", ""]]),
    );
    let step = expecting(step, "/form", json!([["a", odd], ["a", "2"], ["b c", ""]]));
    let step = expecting(step, "/path", "/echo/a%20b%2Fc");
    named("forms_and_queries_arrive", "POST /echo", vec![step])
}

fn multipart(odd: &str) -> HttpTest {
    let body = Body::Multipart(vec![
        MultipartPart {
            name: "note".into(),
            file_name: None,
            content_type: None,
            content: PartContent::Text("just text".into()),
        },
        MultipartPart {
            name: "file".into(),
            file_name: Some("a.bin".into()),
            content_type: Some("application/x-thing".into()),
            content: PartContent::Base64("AAH/YQ==".into()),
        },
        MultipartPart {
            name: "doc".into(),
            file_name: Some("a.txt".into()),
            content_type: Some("text/plain".into()),
            content: PartContent::Text(odd.into()),
        },
    ]);
    let step = echoed(Request::new("POST", "/echo").body(body));
    let step = expecting(step, "/parts/0/name", "note");
    let step = expecting(step, "/parts/0/text", "just text");
    let step = expecting(step, "/parts/1/name", "file");
    let step = expecting(step, "/parts/1/file_name", "a.bin");
    let step = expecting(step, "/parts/1/content_type", "application/x-thing");
    let step = expecting(step, "/parts/1/bytes", json!([0, 1, 255, 97]));
    let step = expecting(step, "/parts/2/text", odd);
    named("multipart_bodies_arrive", "POST /echo", vec![step])
}

fn texts(odd: &str) -> HttpTest {
    let plain = Request::new("POST", "/echo").body(Body::Text {
        content_type: "text/plain".into(),
        text: odd.into(),
    });
    let broken = Request::new("PUT", "/echo").body(Body::Text {
        content_type: "application/json".into(),
        text: "{\"a\": ".into(),
    });
    let broken = expecting(echoed(broken), "/text", "{\"a\": ");
    let broken = expecting(broken, "/headers/content-type", "application/json");
    let mut plainly = HttpStep::new(
        Request::new("GET", "/plain"),
        ExpectedResponse {
            content_type: Some("text/plain".into()),
            ..ExpectedResponse::status(200)
        },
    );
    if let ExpectedOutcome::Response(answer) = &mut plainly.expect {
        answer.body = vec![
            BodyCheck::TextEquals {
                text: "grüße \"you\"\nand {me}\n".into(),
            },
            BodyCheck::Contains {
                text: "\"you\"".into(),
            },
        ];
    }
    let plain = expecting(echoed(plain), "/text", odd);
    named(
        "texts_arrive_and_come_back",
        "POST /echo",
        vec![plain, broken, plainly],
    )
}

fn binary() -> HttpTest {
    let request = Request::new("POST", "/echo").body(Body::Binary {
        content_type: "image/png".into(),
        base64: "iVBORw0KGgr/AGFi".into(),
    });
    let step = expecting(
        echoed(request),
        "/bytes",
        json!([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 255, 0, 97, 98]),
    );
    let step = expecting(step, "/headers/content-type", "image/png");
    named("bytes_arrive", "POST /echo", vec![step])
}

fn users() -> HttpTest {
    let fixed = Request::new("GET", "/echo")
        .by("static user")
        .header("X-Odd", "a \"b\" 'c' {d} \\e");
    let fixed = expecting(echoed(fixed), "/headers/x-key", "key s3cr\"et'");
    let fixed = expecting(fixed, "/headers/x-odd", "a \"b\" 'c' {d} \\e");
    let cookie = Request {
        cookies: vec![("flavor".into(), "plain".into())],
        ..Request::new("GET", "/echo").by("cookie").query("n", "1")
    };
    let cookie = expecting(
        echoed(cookie),
        "/cookies",
        json!({"flavor": "plain", "session": "abc"}),
    );
    let cookie = expecting(
        cookie,
        "/sorted_query",
        json!([["n", "1"], ["token", "<t-1>"]]),
    );
    let mut nobody = echoed(Request::new("GET", "/echo"));
    if let ExpectedOutcome::Response(answer) = &mut nobody.expect {
        answer.body.push(BodyCheck::Absent {
            at: "/headers/x-key".into(),
        });
        answer.body.push(BodyCheck::Equals {
            at: "/cookies".into(),
            value: json!({}),
            placeholders: Vec::new(),
        });
    }
    named(
        "users_prove_who_they_are",
        "GET /echo",
        vec![fixed, cookie, nobody],
    )
}

fn captured() -> HttpTest {
    let give = HttpStep::new(Request::new("GET", "/give"), ExpectedResponse::status(200))
        .capture("type", ValueSource::Body("/odd".into()))
        .capture("id", ValueSource::Body("/list/0/id".into()))
        .capture("token", ValueSource::Cookie("crumb".into()))
        .capture("id", ValueSource::Body("/list/1/id".into()));
    let path = Text::from("/echo/")
        .then(TextPiece::captured("type"))
        .then(TextPiece::literal("/x"));
    let mut request = Request::new("POST", path)
        .header("X-Id", Text::captured("id"))
        .query("crumb", Text::captured("token"))
        .query(
            "both",
            Text::from("<")
                .then(TextPiece::captured("id"))
                .then(TextPiece::literal(">\"")),
        )
        .json(json!({"id": 0, "text": "", "list": [null]}));
    if let Some(Body::Json { placeholders, .. }) = &mut request.body {
        for (at, value) in [
            ("/id", Text::captured("id")),
            ("/text", Text::from("n° ").then(TextPiece::captured("id"))),
            ("/list/0", Text::captured("type")),
        ] {
            placeholders.push(Placeholder {
                at: at.into(),
                value,
            });
        }
    }
    let step = expecting(
        echoed(request),
        "/json",
        json!({"id": 42, "text": "n° 42", "list": ["a/b c?"]}),
    );
    let step = expecting(step, "/path", "/echo/a%2Fb%20c%3F/x");
    let step = expecting(
        step,
        "/query",
        json!([["crumb", "yes"], ["both", "<42>\""]]),
    );
    let mut step = expecting(step, "/headers/x-id", "42");
    if let ExpectedOutcome::Response(answer) = &mut step.expect {
        answer.body.push(BodyCheck::Same {
            at: "/json/list/0".into(),
            variable: "type".into(),
        });
    }
    named(
        "captured_values_go_everywhere",
        "POST /echo",
        vec![give, step],
    )
}

fn unusual_method() -> HttpTest {
    let step = expecting(echoed(Request::new("PURGE", "/echo")), "/method", "PURGE");
    named("unusual_methods_arrive", "PURGE /echo", vec![step])
}

/// `suite` with each of its expectations wrong in a test of its own: all of them must fail.
pub(crate) fn all_wrong(suite: &HttpSuite) -> HttpSuite {
    let mut wrong = suite.clone();
    wrong.tests.clear();
    let mut seen: Vec<&HttpStep> = Vec::new();
    for test in &suite.tests {
        for (idx, step) in test.steps.iter().enumerate() {
            if seen.contains(&step) {
                continue;
            }
            seen.push(step);
            for (nth, outcome) in wrong_outcomes(&step.expect).into_iter().enumerate() {
                let mut test = test.clone();
                test.steps.truncate(idx + 1);
                test.steps[idx].expect = outcome;
                if !matches!(test.steps[idx].expect, ExpectedOutcome::Response(_)) {
                    test.steps[idx].captures.clear();
                }
                test.id = format!("{}_step_{idx}_wrong_{nth}", test.id);
                wrong.tests.push(test);
            }
        }
    }
    wrong
}

fn wrong_outcomes(expect: &ExpectedOutcome) -> Vec<ExpectedOutcome> {
    let ExpectedOutcome::Response(right) = expect else {
        return vec![ExpectedOutcome::Response(ExpectedResponse::status(200))];
    };
    let mut all = vec![ExpectedResponse {
        status: right.status + 1,
        ..right.clone()
    }];
    if right.content_type.is_some() {
        all.push(ExpectedResponse {
            content_type: Some("text/x-wrong".into()),
            ..right.clone()
        });
    }
    for idx in 0..right.headers.len() {
        let mut wrong = right.clone();
        match &mut wrong.headers[idx] {
            HeaderCheck {
                value: Some(value), ..
            } => value.push('x'),
            HeaderCheck { name, .. } => name.push_str("-not"),
        }
        all.push(wrong);
    }
    for (idx, check) in right.body.iter().enumerate() {
        for check in wrong_checks(check) {
            let mut wrong = right.clone();
            wrong.body[idx] = check;
            all.push(wrong);
        }
    }
    let mut all: Vec<ExpectedOutcome> = all.into_iter().map(ExpectedOutcome::Response).collect();
    all.push(ExpectedOutcome::Dropped);
    all
}

fn wrong_checks(check: &BodyCheck) -> Vec<BodyCheck> {
    let mut check = check.clone();
    let other = match &mut check {
        BodyCheck::Equals { value, .. } | BodyCheck::Includes { value, .. } => {
            wrong_value(value);
            vec![]
        }
        BodyCheck::Same { at, .. } => vec![BodyCheck::Equals {
            at: at.clone(),
            value: "wrong".into(),
            placeholders: Vec::new(),
        }],
        BodyCheck::Type { is, .. } => {
            *is = match is {
                JsonType::Integer => JsonType::Boolean,
                JsonType::Boolean => JsonType::Integer,
                _ => JsonType::Array,
            };
            vec![]
        }
        BodyCheck::Length { items, .. } => {
            *items += 1;
            vec![]
        }
        BodyCheck::Present { at } => vec![
            BodyCheck::Absent { at: at.clone() },
            BodyCheck::Present {
                at: at.clone().name("not"),
            },
        ],
        BodyCheck::Absent { at } => vec![BodyCheck::Present { at: at.clone() }],
        BodyCheck::Contains { text } => {
            text.push_str("not");
            vec![check.clone(), BodyCheck::Empty]
        }
        BodyCheck::TextEquals { text } => {
            text.push('x');
            vec![]
        }
        BodyCheck::Empty => vec![BodyCheck::Contains { text: "x".into() }],
    };
    if other.is_empty() { vec![check] } else { other }
}

/// Changes one scalar deep inside, so that equality has to look there.
fn wrong_value(value: &mut Value) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let last = items.len() - 1;
            wrong_value(&mut items[last]);
        }
        Value::Object(members) if !members.is_empty() => {
            if let Some(member) = members.values_mut().next() {
                wrong_value(member);
            }
        }
        Value::String(text) => text.push('x'),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) if number.is_i64() => {
            *value = Value::from(number.as_i64().unwrap_or_default() + 1);
        }
        other => *other = json!("wrong"),
    }
}
