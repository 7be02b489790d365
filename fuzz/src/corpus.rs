//! Inputs to begin with: good ones, small and with a bit of everything, and those in the folder `corpus`.

use std::path::{Path, PathBuf};

use isobath_emit::campaign::CampaignReport;
use isobath_emit::findings::{FaultView, RestReport};
use isobath_emit::http::{Auth, ExpectedResponse, HttpStep, HttpSuite, HttpTest, Request, User};
use isobath_genes::{GeneConfig, Reference};
use isobath_protocol::{Event, channel};
use isobath_rest::action::Action;
use isobath_rest::candidate::{Candidate, StepKind};
use isobath_rest::journal::store;
use isobath_rest::openapi::{self, NoLoader};

/// The inputs of a target in the folder `corpus`: what is rare, strange or wrong.
#[must_use]
pub fn folder(target: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let entries = std::fs::read_dir(root.join(target)).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let inputs = paths.iter().filter_map(|path| std::fs::read(path).ok());
    inputs.collect()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// A document with most of what documents have.
#[must_use]
pub fn document() -> &'static [u8] {
    br#"openapi: 3.1.0
info: {title: Pets, version: '1'}
servers: [{url: 'http://localhost:{port}/v1', variables: {port: {default: '80', enum: ['80', '81']}}}]
paths:
  /pets:
    get:
      parameters:
        - {name: tags, in: query, style: form, explode: false, schema: {type: array, items: {type: string}, maxItems: 3}}
        - {name: X-Trace, in: header, schema: {type: string, format: uuid}}
        - {name: filter, in: query, style: deepObject, schema: {$ref: '#/components/schemas/Pet'}}
      responses:
        '200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}}
        default: {description: no}
    post:
      security: [{key: []}]
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Pet'}}
          multipart/form-data: {schema: {type: object, properties: {photo: {type: string, format: binary}}}}
          application/xml: {schema: {$ref: '#/components/schemas/Pet'}}
      responses:
        '201':
          description: made
          headers: {Location: {schema: {type: string}}}
          links: {it: {operationId: pet, parameters: {id: '$response.body#/id'}}}
  /pets/{id}:
    get:
      operationId: pet
      parameters: [{name: id, in: path, required: true, schema: {type: integer, minimum: 1, multipleOf: 1}}]
      responses: {2XX: {description: it}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
  schemas:
    Pet:
      type: object
      required: [name]
      additionalProperties: {type: [string, 'null']}
      properties:
        id: {type: integer, format: int64, readOnly: true}
        name: {type: string, minLength: 1, maxLength: 20, pattern: '^[A-Z][a-z]+$', example: Rex}
        born: {type: string, format: date}
        kind: {enum: [cat, dog, null]}
        friends: {type: array, uniqueItems: true, items: {$ref: '#/components/schemas/Pet'}}
        owner: {oneOf: [{type: string}, {type: object, properties: {name: {type: string}}}], discriminator: {propertyName: kind}}
"#
}

/// OpenAPI documents.
#[must_use]
pub fn openapi() -> Vec<Vec<u8>> {
    let old = r##"{"swagger":"2.0","info":{"title":"t","version":"1"},"basePath":"/v1","paths":{"/a/{b}":{"put":{"parameters":[{"name":"b","in":"path","required":true,"type":"string"},{"name":"c","in":"body","schema":{"type":"object","allOf":[{"$ref":"#/definitions/D"}]}}],"responses":{"200":{"description":"","schema":{"$ref":"#/definitions/D"}}}}}},"definitions":{"D":{"type":"object","properties":{"d":{"$ref":"#/definitions/D"},"n":{"type":"number","maximum":1e3}}}}}"##;
    vec![document().to_vec(), old.as_bytes().to_vec()]
}

/// Files of users.
#[must_use]
pub fn auth() -> Vec<Vec<u8>> {
    texts(&[
        "auth:\n  - name: ada\n    fixedHeaders: [{name: X-Key, value: secret}]\n  - name: ben\n    loginEndpointAuth:\n      endpoint: /login\n      verb: POST\n      contentType: application/json\n      payloadUserPwd: {username: ben, password: compass, usernameField: user, passwordField: password}\n      token: {extractFrom: body, extractSelector: /token, sendIn: header, sendName: Authorization, sendTemplate: 'Bearer {token}'}\n",
        "[[auth]]\nname = 'ada'\n[auth.loginEndpointAuth]\nendpoint = '/login'\nverb = 'POST'\nexpectCookies = true\n",
        "authTemplate: {loginEndpointAuth: {endpoint: /login, verb: POST}}\nauth: [{name: a, loginEndpointAuth: {payloadRaw: 'u=a&p=b', contentType: application/x-www-form-urlencoded}}]\n",
    ])
}

/// Schemas in the dialects.
#[must_use]
pub fn ddl() -> Vec<Vec<u8>> {
    texts(&[
        "CREATE TABLE a (id SERIAL PRIMARY KEY, n NUMERIC(8,2) NOT NULL DEFAULT 0 CHECK (n >= 0 AND n < 1e6), s VARCHAR(20) UNIQUE,\n  d DATE DEFAULT CURRENT_DATE, CONSTRAINT c CHECK (s LIKE 'a%' OR d > '2020-01-01'));\nCREATE TYPE mood AS ENUM ('sad', 'ok');\nALTER TABLE a ADD COLUMN m mood;\nCREATE UNIQUE INDEX i ON a (lower(s)) WHERE n > 0;\n",
        "CREATE TABLE `b` (`id` int unsigned NOT NULL AUTO_INCREMENT, `a` int DEFAULT NULL, `e` enum('x','y') COLLATE utf8mb4_bin, PRIMARY KEY (`id`),\n  KEY `k` (`a`), CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `b` (`id`) ON DELETE SET NULL ON UPDATE CASCADE) ENGINE=InnoDB;\n/*!40101 SET NAMES utf8 */;\n",
        "CREATE TABLE c (k TEXT PRIMARY KEY, v INTEGER GENERATED ALWAYS AS (length(k) * 2) STORED, CHECK (typeof(v) = 'integer')) STRICT, WITHOUT ROWID;\nINSERT INTO c (k) VALUES ('x''y');\nDROP TABLE IF EXISTS d;\n",
        "-- pg_dump\nSET search_path = public;\nCREATE TABLE public.t (x int4range, y int[], z jsonb, w interval, EXCLUDE USING gist (x WITH &&));\nCOPY public.t (x) FROM stdin;\n[1,2)\n\\.\nALTER TABLE ONLY public.t ADD CONSTRAINT u UNIQUE (y, w) DEFERRABLE;\n",
    ])
}

/// Queries, each after a byte for its dialect.
#[must_use]
pub fn query() -> Vec<Vec<u8>> {
    texts(&[
        "\0SELECT a.s, COUNT(*) FROM a LEFT JOIN b ON a.id = b.id AND b.n > 3 WHERE a.n BETWEEN 1 AND 5 OR a.s IS NULL GROUP BY a.s HAVING SUM(b.n) > 2 ORDER BY 1 DESC LIMIT 3",
        "\u{1}SELECT DISTINCT n FROM b WHERE EXISTS (SELECT 1 FROM a WHERE a.id = b.id AND a.s LIKE 'x%') AND d < CURRENT_DATE",
        "\u{2}WITH x AS (SELECT id, MAX(n) AS m FROM a GROUP BY id) SELECT CASE WHEN m > ? THEN 'big' ELSE LOWER('S') END FROM x UNION ALL SELECT s FROM b",
        "\u{3}SELECT s FROM a WHERE n IN (SELECT n FROM b WHERE NOT (b.s = a.s)) AND d + INTERVAL '1 day' > DATE '2020-02-29' AND n / (n - 1) > 0",
        "\0SELECT id, ROW_NUMBER() OVER (PARTITION BY s ORDER BY n) FROM a WHERE n = ALL (SELECT n FROM b) OR s || 'x' = $1",
    ])
}

/// Regular expressions.
#[must_use]
pub fn pattern() -> Vec<Vec<u8>> {
    texts(&[
        r"^[A-Z]{2}\d{3}(-[a-z]+)*$",
        r"(?i)^(?:cat|dog)s?\b.{3,7}[^\s@]+@x\.(com|org)$",
        r"^\p{L}+[\u00e9-\u00ff]?(?=x)$",
        r"^(a|b(c|d(e|f)))+$",
        r"^\S+\x41\cJ[\w.-]{1,64}$",
    ])
}

/// Frames of the driver protocol.
#[must_use]
pub fn messages() -> Vec<Vec<u8>> {
    let events = [
        Event::Hello {
            version: isobath_protocol::VERSION,
            language: "rust".to_owned(),
            driver: "isobath-rt".to_owned(),
            process: 7,
        },
        Event::Ready { cells: 40 },
        Event::Statement {
            action: 2,
            database: "sqlite".to_owned(),
            text: "SELECT * FROM a WHERE s = 'x'".to_owned(),
            rows: 0,
            failure: Some("no such column".to_owned()),
        },
    ];
    let mut all = Vec::new();
    let mut inputs = Vec::new();
    for event in &events {
        let mut frame = Vec::new();
        // A frame that is too long for the protocol is no input.
        if channel::push(&mut frame, event).is_ok() {
            all.extend_from_slice(&frame);
            inputs.push(frame[4..].to_vec());
            inputs.push(frame);
        }
    }
    inputs.push(all);
    inputs
}

/// Candidates of [`document`].
#[must_use]
pub fn journal() -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(document());
    let Ok(api) = openapi::read(&text, "fuzz.yaml", &NoLoader) else {
        return Vec::new();
    };
    let (mut rng, tuning) = (fastrand::Rng::with_seed(1), GeneConfig::robust());
    let mut inputs = Vec::new();
    for _ in 0..12 {
        let mut candidate = Candidate::default();
        let mut first = None;
        for operation in 0..api.operations.len() {
            let Some(mut action) = Action::sample(&api, operation, &mut rng, &tuning) else {
                continue;
            };
            if let Some(source) = first {
                let place = "body/id".into();
                action.gene.bind("/path/id", Reference { source, place });
            }
            let breach = None;
            first = Some(candidate.push(StepKind::Call { action, breach }, Some(0)));
        }
        inputs.push(store(&api, None, &candidate).to_string().into_bytes());
    }
    inputs
}

/// A suite.
#[must_use]
pub fn suite() -> Vec<Vec<u8>> {
    let mut suite = HttpSuite::new("pets", "http://localhost:80");
    let headers = vec![("X-Key".to_owned(), "secret".into())];
    suite.users = vec![User::new("ada", Auth::Headers(headers))];
    let body = serde_json::json!({"name": "Rex", "friends": [null, 1.5]});
    let test = HttpTest {
        id: "makes_a_pet".to_owned(),
        steps: vec![
            HttpStep::new(
                Request::new("POST", "/pets").json(body),
                ExpectedResponse::status(201),
            ),
            HttpStep::new(
                Request::new("GET", "/pets/1"),
                ExpectedResponse::status(200),
            ),
        ],
        ..HttpTest::default()
    };
    suite.tests = vec![test];
    vec![suite.to_json().into_bytes()]
}

/// Conversations: which database, how long pieces are, and turns.
#[must_use]
pub fn tap() -> Vec<Vec<u8>> {
    let turn = |who: u8, bytes: &[u8]| {
        let length = u8::try_from(bytes.len()).unwrap_or(u8::MAX);
        [&[who, length], &bytes[..usize::from(length)]].concat()
    };
    let message = |kind: u8, body: &[u8]| {
        let length = u32::try_from(body.len() + 4).unwrap_or(4);
        [&[kind], length.to_be_bytes().as_slice(), body].concat()
    };
    let startup = b"\0\0\0\x12\0\x03\0\0user\0me\0\0";
    let extended = [
        message(b'P', b"s\0SELECT * FROM t WHERE a = $1\0\0\0"),
        message(b'B', b"\0s\0\0\0\0\x01\0\0\0\x01x\0\0"),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
    ]
    .concat();
    let answers = [
        message(b'1', b""),
        message(b'2', b""),
        message(b'D', b"\0\x01\0\0\0\x01x"),
        message(b'C', b"SELECT 1\0"),
        message(b'E', b"SERROR\0C23505\0Mdouble\0nkey\0\0"),
        message(b'Z', b"I"),
    ]
    .concat();
    let postgres = [
        vec![0, 3],
        turn(0, startup),
        turn(1, &message(b'R', b"\0\0\0\0")),
        turn(1, &message(b'Z', b"I")),
        turn(0, &message(b'Q', b"SELECT 1; UPDATE t SET a = ';'\0")),
        turn(1, &message(b'C', b"UPDATE 3\0")),
        turn(1, &message(b'Z', b"I")),
        turn(0, &extended),
        turn(1, &answers),
    ];
    let packet = |number: u8, body: &[u8]| {
        let length = u32::try_from(body.len()).unwrap_or(0).to_le_bytes();
        [&length[..3], &[number], body].concat()
    };
    let greeting = b"\x0a8.0\0\x01\0\0\0challeng\0\x08\x02\x2d\x02\0\0\x01\x15\0\0\0\0\0\0\x07\0\0\0anotherpart!\0";
    let hello = [&[0x08, 0x02, 0, 0x01][..], &[0; 28], b"me\0\0"].concat();
    let mysql = [
        vec![1, 5],
        turn(1, &packet(0, greeting)),
        turn(0, &packet(1, &hello)),
        turn(1, &packet(2, &[0, 0, 0, 2, 0, 0, 0])),
        turn(0, &packet(0, b"\x03SELECT a FROM t")),
        turn(1, &packet(1, &[1])),
        turn(1, &packet(2, b"\x03def")),
        turn(1, &packet(3, b"\x01x")),
        turn(1, &packet(4, &[0xfe, 0, 0, 2, 0, 0, 0])),
        turn(0, &packet(0, b"\x16SELECT * FROM t WHERE a = ?")),
        turn(1, &packet(1, &[0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0])),
        turn(
            1,
            &packet(2, b"\xff\x26\x04#23000Duplicate entry 'x' for key 't.k'"),
        ),
    ];
    vec![postgres.concat(), mysql.concat()]
}

/// Responses, each after a byte for its content type.
#[must_use]
pub fn answer() -> Vec<Vec<u8>> {
    texts(&[
        "\0[{\"id\": 1, \"name\": \"Rex\", \"born\": \"2020-02-29\", \"kind\": \"cat\", \"friends\": [{\"name\": \"Ada\"}]}]",
        "\u{1}<Pet><name>Rex</name></Pet>",
        "\u{2}plain text",
    ])
}

/// Choices of the targets whose inputs are right by construction.
#[must_use]
pub fn choices() -> Vec<Vec<u8>> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut bytes = |length: usize| (0..length).map(|_| rng.u8(..)).collect();
    (1..12).map(|n| bytes(n * 40)).collect()
}

/// Reports and results.
#[must_use]
pub fn report() -> Vec<Vec<u8>> {
    let fault = FaultView {
        code: "server-error".to_owned(),
        operation: "GET /pets/{id}".to_owned(),
        message: "500 <b>".to_owned(),
        details: vec!["in line 3".to_owned()],
        ..FaultView::default()
    };
    let rest = RestReport {
        title: "pets".to_owned(),
        faults: vec![fault],
        ..RestReport::default()
    };
    let mut inputs = texts(&[
        "<testsuites><testsuite name='s'><testcase name='a' classname='b'/><testcase name='c'><failure message='no'>x</failure></testcase></testsuite></testsuites>",
        "running 2 tests\ntest a::b ... ok\ntest c ... FAILED\n\nfailures:\n\n---- c stdout ----\nno\n\ntest result: FAILED. 1 passed; 1 failed\n",
    ]);
    inputs.push(rest.to_json().into_bytes());
    inputs.push(CampaignReport::default().to_json().into_bytes());
    inputs
}

/// Statements, messages of databases and addresses.
#[must_use]
pub fn statement() -> Vec<Vec<u8>> {
    texts(&[
        "SELECT a ? 'x', $1, :name::text, @v, %s /* ? */ -- ?\nFROM t WHERE s = E'\\'' AND d = $tag$ ? $tag$; DELETE FROM `u` WHERE x = \"y\";",
        "/*!40101 SET NAMES utf8 */; INSERT INTO s.t VALUES (?, 'a''b', X'00') # end",
        "23505: duplicate key value violates unique constraint (UNIQUE: constraint k of t, columns a, b)",
        "UNIQUE constraint failed: t.a, t.b",
        "postgres://me:pw@localhost:5432/x_test?sslmode=disable",
        "sqlite:file.db",
    ])
}
