//! A suite with all that surrounds calls: rows, external services, ports that the tests choose, users and resets.

use isobath_emit::SuiteDialect;
use isobath_emit::http::{
    BodyCheck, ExpectedOutcome, ExpectedResponse, ExpectedRow, ExternalService, HttpStep,
    HttpSuite, HttpTest, JsonPath, JsonType, MockedReply, MockedResponse, Placeholder, Request,
    ResetHook, RowKey, Secret, SuiteDatabase, TestRow, Text, TextPiece, UniqueValue, ValueSource,
};
use serde_json::json;

use super::{echo, marina};

/// All of it in one suite, for a database that the tests reach (or that the agent inside the service keeps).
pub(crate) fn everything(dialect: SuiteDialect, inside: bool) -> HttpSuite {
    let mut suite = marina("http://127.0.0.1:8640/api");
    suite.users.extend(echo("http://x").users);
    let agent_url = inside.then(|| "http://127.0.0.1:9640/rows".to_owned());
    suite.service.start_on_free_ports(
        "env PORT={port} AGENT={agent_port} run",
        agent_url.as_deref(),
    );
    suite.service.reset = Some(ResetHook::Command("make 'reset' \"now\"".into()));
    suite.database = Some(SuiteDatabase {
        variable: "MARINA_DATABASE".into(),
        dialect,
        agent_url,
        setup: vec![
            "DELETE FROM boats".into(),
            "INSERT INTO boats (id, secret) VALUES (1, '${BOATS_SECRET}')".into(),
        ],
        secret_variables: vec!["BOATS_SECRET".into()],
    });
    suite.external_services = vec![
        ExternalService {
            name: "rates".into(),
            port: 7001,
            settings: vec!["RATES_URL=http://127.0.0.1:7001".into()],
        },
        ExternalService {
            name: String::new(),
            port: 7002,
            settings: Vec::new(),
        },
    ];
    suite.tests.push(prepared());
    suite.tests.push(checks());
    suite.tests.push(gives_up());
    suite
}

/// A test with rows, mocks and unique values before its calls, and rows expected after them.
fn prepared() -> HttpTest {
    let mock = |path: &str, reply| MockedResponse {
        service: "rates".into(),
        method: "GET".into(),
        path: path.into(),
        reply,
    };
    let path = Text::from("/boats/")
        .then(TextPiece::captured("row id"))
        .then(TextPiece::literal("/berth"));
    let mut request = Request::new("PUT", path)
        .by("newcomer")
        .header(
            "X-Key",
            Text(vec![TextPiece::Secret(Secret {
                variable: "MARINA_KEY".into(),
                value: None,
            })]),
        )
        .json(json!({"name": "", "note": "a rather long note, so that the line is broken", "n": [1, 2]}));
    if let Some(isobath_emit::http::Body::Json { placeholders, .. }) = &mut request.body {
        placeholders.push(Placeholder {
            at: "/name".into(),
            value: Text::captured("boat name"),
        });
    }
    let answer = ExpectedResponse::status(200)
        .as_json()
        .check(BodyCheck::Same {
            at: "/name".into(),
            variable: "boat name".into(),
        });
    let cell = |column: &str, value: &str| (column.to_owned(), Text::from(value));
    HttpTest {
        id: "puts_a_boat_into_a_berth".into(),
        name: "a boat is put into a berth".into(),
        group: "PUT /boats/{boatId}/berth".into(),
        unique_values: vec![UniqueValue {
            variable: "boat name".into(),
            prefix: "gull-".into(),
            suffix: String::new(),
            digits: 8,
        }],
        rows: vec![
            TestRow {
                table: "boats".into(),
                cells: vec![cell("name", "'Gull'"), cell("length", "850")],
                key: Some(RowKey {
                    column: "id".into(),
                    variable: "row id".into(),
                    sample: Some(json!(4)),
                }),
            },
            TestRow {
                table: "stays".into(),
                cells: vec![
                    ("boat_id".into(), Text::captured("row id")),
                    cell(
                        "remark",
                        "'a remark that makes this chain of calls too long for a single line'",
                    ),
                ],
                key: None,
            },
        ],
        mocks: vec![
            mock(
                "/latest/*",
                MockedReply::Json {
                    status: 200,
                    value: json!({"EUR": 1.5}),
                },
            ),
            mock(
                "/text",
                MockedReply::Text {
                    status: 404,
                    content_type: "text/plain".into(),
                    text: "no \"rate\"".into(),
                },
            ),
            mock("/closed", MockedReply::Closed),
        ],
        steps: vec![HttpStep::new(request, answer)],
        expected_rows: vec![
            ExpectedRow {
                table: "stays".into(),
                cells: vec![
                    ("boat_id".into(), Text::captured("row id")),
                    cell("berth", "NULL"),
                ],
                exists: true,
            },
            ExpectedRow {
                table: "boats".into(),
                cells: vec![cell("name", "'Tern'")],
                exists: false,
            },
        ],
        ..HttpTest::default()
    }
}

/// Every check, on a body and on what is no JSON.
fn checks() -> HttpTest {
    let of = |at: &str, is| BodyCheck::Type { at: at.into(), is };
    let mut answer = ExpectedResponse::status(200)
        .equals("/none", json!(null))
        .equals("/yes", true)
        .equals("/half", 0.5)
        .equals("/large", 5_000_000_000_i64)
        .equals("/empty", json!({}))
        .equals(
            "/text-with-a-dash/0",
            "a text that is so long that the assertion does not fit into a line",
        );
    for (at, is) in [
        ("/a", JsonType::Null),
        ("/b", JsonType::Boolean),
        ("/c", JsonType::Integer),
        ("/d", JsonType::Number),
        ("/e", JsonType::String),
        ("/f", JsonType::Array),
        ("/g", JsonType::Object),
    ] {
        answer = answer.check(of(at, is));
    }
    answer = answer
        .check(BodyCheck::Present { at: "/f/1".into() })
        .check(BodyCheck::Absent { at: "/f/2".into() })
        .check(BodyCheck::Includes {
            at: "/f".into(),
            value: json!({"id": 2, "name": "a name that makes the item too long for a line", "tags": ["x"]}),
        })
        .check(BodyCheck::Length { at: "/f".into(), items: 2 });
    let plain = ExpectedResponse::status(200)
        .check(BodyCheck::TextEquals { text: "up".into() })
        .check(BodyCheck::Contains { text: "u".into() });
    let step = HttpStep::new(Request::new("GET", "/checks"), answer);
    let mut plain = HttpStep::new(Request::new("GET", "/plain"), plain)
        .capture("word", ValueSource::Text)
        .capture("cookie", ValueSource::Cookie("crumb".into()))
        .capture(
            "last",
            ValueSource::LastSegment(Box::new(ValueSource::Body(JsonPath::root()))),
        );
    plain.captures[0].sample = Some(json!("up"));
    HttpTest {
        id: "checks".into(),
        name: "everything is checked".into(),
        group: "GET /checks".into(),
        covers: vec!["200 of GET /checks".into()],
        steps: vec![step, plain],
        ..HttpTest::default()
    }
}

fn gives_up() -> HttpTest {
    let step = HttpStep::new(Request::new("GET", "/slow"), ExpectedOutcome::TimedOut);
    HttpTest {
        id: "gives_up".into(),
        name: "a slow answer times out".into(),
        group: "GET /slow".into(),
        steps: vec![step],
        ..HttpTest::default()
    }
}
