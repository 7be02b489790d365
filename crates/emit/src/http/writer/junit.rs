//! Java: JUnit 5 over REST Assured, a nested class per operation, and the `pom.xml` that runs it.

use std::fmt::Write;

use serde_json::Value;

use super::value::spliced;
use super::{HttpWriter, Lines, Run, RunResults, WrittenSuite, WrittenTest};
use crate::http::external;
use crate::http::plan::{self, Casing, PlannedStep, PlannedTest, SuiteFile, Variables};
use crate::http::rows::{self, RowNotation};
use crate::http::suite::{
    AGENT_PORT, Auth, ExpectedOutcome, HttpSuite, Login, PORT, ResetHook, ServiceUnderTest,
    TokenPlacement, ValueSource,
};
use crate::http::{
    Body, BodyCheck, ExpectedResponse, JsonKey, JsonPath, JsonType, MultipartPart, PartContent,
    Placeholder, Request, TextPiece,
};
use crate::http::{SuiteError, Text, UniqueValue, User};
use crate::writer::File;
use crate::writer::junit::{KEYWORDS, comment, escaped};
use crate::writer::name::{Names, pascal, slug};
use crate::writer::text::one_line;

/// Google's Java line length.
const WIDTH: usize = 100;

/// Names that the file uses itself.
const TAKEN: &[&str] = &[
    "at",
    "mediatype",
    "api",
    "call",
    "json",
    "text",
    "dropped",
    "proof",
    "users",
    "string",
    "object",
    "list",
    "map",
    "record",
    "var",
    "response",
    "reset",
    "url",
    "base_url",
    "timeout",
    "proofs",
    "equals",
    "hashcode",
    "tostring",
    "getclass",
    "notifyall",
    "login",
    "start",
    "stop",
    "mock_response",
    "standin",
    "listen",
    "reply",
    "path_matches",
    "stubs",
    "port",
    "agent_port",
    "freeport",
];

/// Classes that the file uses itself.
const CLASSES: &[&str] = &[
    "Test",
    "Nested",
    "DisplayName",
    "Tag",
    "Response",
    "String",
    "Object",
    "List",
    "Map",
    "Request",
    "System",
    "URI",
    "Thread",
    "Process",
    "Files",
    "Proof",
    "Base64",
    "Stub",
    "HttpServer",
    "HttpExchange",
    "InetSocketAddress",
    "InetAddress",
    "ServerSocket",
    "UncheckedIOException",
];

/// Writes a JUnit 5 class over REST Assured.
#[derive(Debug)]
pub(crate) struct Junit;

impl HttpWriter for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn write(&self, suite: &HttpSuite) -> Result<WrittenSuite, SuiteError> {
        suite.check()?;
        let mut files = Vec::new();
        let mut tests = Vec::new();
        let reserved: Vec<&str> = KEYWORDS.iter().chain(TAKEN).copied().collect();
        for chapter in plan::chapters(suite, Casing::Camel, &reserved, &reserved) {
            let class = format!("{}Test", pascal(&plan::stem(suite, &chapter)));
            let path = format!("src/test/java/{class}.java");
            let text = class_file(suite, &chapter, &class, &path, &mut tests);
            files.push(File { path, text });
        }
        files.push(File {
            path: "pom.xml".into(),
            text: include_str!("junit/pom.xml").replace("@artifact@", &slug(&suite.name)),
        });
        Ok(WrittenSuite {
            files,
            tests,
            excluded: Vec::new(),
            run: Run {
                command: ["mvn", "-q", "-B", "test"].map(String::from).into(),
                results: RunResults::JunitXml {
                    folder: "target/surefire-reports".into(),
                    prefix: "TEST-".into(),
                },
            },
        })
    }
}

fn class_file(
    suite: &HttpSuite,
    chapter: &SuiteFile<'_>,
    class: &str,
    path: &str,
    tests: &mut Vec<WrittenTest>,
) -> String {
    let mut out = String::new();
    for line in plan::header(suite, chapter.faults) {
        let _ = writeln!(out, "{}", comment(&line).trim_end());
    }
    out.push_str("//\n// Run with: mvn test. Environment:\n//\n");
    for line in plan::environment(suite) {
        let _ = writeln!(out, "{}", comment(&format!("  {line}")));
    }
    out.push('\n');
    let head = out;
    let first = tests.len();
    let mut out = String::new();
    let _ = write!(
        out,
        "\n@DisplayName({})\nclass {class} {{\n",
        literal(&one_line(&suite.title))
    );
    settings(&mut out, suite, chapter);
    let mut classes = Names::default();
    for taken in CLASSES {
        classes.unique((*taken).into());
    }
    classes.unique(class.into());
    let mut lines = Lines::default();
    for group in &chapter.groups {
        let _ = write!(
            out,
            "\n  @Nested\n  @DisplayName({})\n  class {} {{\n",
            literal(&one_line(group.title)),
            classes.unique(pascal(group.title))
        );
        let mut scenario = "";
        for (idx, test) in group.tests.iter().enumerate() {
            if idx > 0 {
                out.push('\n');
            }
            if test.test.scenario != scenario {
                scenario = &test.test.scenario;
                let _ = writeln!(out, "    {}\n", comment(&format!("Scenario: {scenario}")));
            }
            let start_line = lines.at(&out);
            method(&mut out, test);
            tests.push(lines.written(&out, test, test.name.clone(), path, start_line));
        }
        out.push_str("  }\n");
    }
    users(&mut out, suite, chapter);
    out.push_str(include_str!("junit/helpers.java"));
    if let Some(database) = &suite.database {
        let mut code = include_str!("junit/database.java").to_owned();
        if let Some((before, after)) = suite.free_agent_port() {
            let agent_url = format!("{} + AGENT_PORT + {}", literal(before), literal(after));
            code = code.replace("@AGENT_URL@", &agent_url);
        }
        out.push_str(&rows::helpers(&code, suite, database, literal));
    }
    if !suite.external_services.is_empty() {
        let endpoints = suite.external_services.iter();
        let endpoints: String = endpoints
            .map(|one| format!("    listen({}, {});\n", literal(&one.name), one.port))
            .collect();
        out.push_str(&include_str!("junit/external.java").replace("@ENDPOINTS@", &endpoints));
    }
    let uses = plan::uses(suite, chapter);
    if uses.last_segment {
        out.push_str(include_str!("junit/last_segment.java"));
    }
    if uses.unique_values {
        out.push_str(include_str!("junit/unique.java"));
    }
    out.push_str("}\n");
    let head = head + &imports(&out);
    let above = head.matches('\n').count();
    for test in &mut tests[first..] {
        test.start_line += above;
        test.end_line += above;
    }
    head + &out
}

/// The imports that a class uses.
fn imports(class: &str) -> String {
    let mut words: Vec<&str> = class
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    words.sort_unstable();
    let used = |line: &&str| match line.trim_end_matches(';').rsplit('.').next() {
        Some(name) if line.starts_with("import ") => words.binary_search(&name).is_ok(),
        _ => true,
    };
    let lines: Vec<&str> = include_str!("junit/imports.java")
        .lines()
        .filter(used)
        .collect();
    lines.join("\n") + "\n"
}

fn settings(out: &mut String, suite: &HttpSuite, chapter: &SuiteFile<'_>) {
    let service = &suite.service;
    let mut base_url = literal(&service.base_url);
    if let Some((before, after)) = suite.free_url() {
        out.push_str("  private static final int PORT = freePort();\n");
        base_url = format!("{} + PORT + {}", literal(before), literal(after));
    }
    if suite.free_agent_port().is_some() {
        out.push_str(
            "  private static final String AGENT_PORT =\n      freePort() + \"/\" + java.util.UUID.randomUUID();\n",
        );
    }
    let _ = writeln!(
        out,
        "  private static final String BASE_URL =\n      \
         environment({}, {base_url}).replaceAll(\"/+$\", \"\");",
        literal(&service.base_url_variable),
    );
    let _ = writeln!(
        out,
        "  private static final int TIMEOUT = {};",
        service.timeout_millis
    );
    for secret in plan::secrets_of(suite, chapter) {
        let default = secret.value.as_deref().map_or("null".into(), literal);
        let _ = writeln!(
            out,
            "  private static final String {} = environment({}, {default});",
            constant(&secret.variable),
            literal(&secret.variable)
        );
    }
    match &service.start {
        None => {
            out.push_str("\n  @BeforeAll\n  static void up() {\n    anonymous().get(\"/\");\n  }\n")
        }
        Some(start) => {
            let code = include_str!("junit/started.java")
                .replace("@VARIABLE@", &literal(&service.base_url_variable))
                .replace("@START@", &started(service, start));
            out.push_str(&code);
            if service.start_on_free_ports.is_some() {
                out.push_str(include_str!("junit/free_port.java"));
            }
        }
    }
    out.push_str("\n  @BeforeEach\n  void reset() throws Exception {\n    proofs.clear();\n");
    if !suite.external_services.is_empty() {
        out.push_str("    synchronized (STUBS) {\n      STUBS.clear();\n    }\n");
    }
    match &service.reset {
        None => {}
        Some(ResetHook::Command(command)) => {
            let _ = writeln!(
                out,
                "    Process process = new ProcessBuilder(\"sh\", \"-c\", {}).inheritIO().start();\n    \
                 assertEquals(0, process.waitFor());",
                literal(command)
            );
        }
        Some(ResetHook::Call(request)) => {
            out.push_str("    Response reset =\n        ");
            call(out, request, &Variables::new(), 8);
            out.push_str(";\n    assertTrue(reset.statusCode() < 400, reset.asString());\n");
        }
    }
    if let Some(database) = &suite.database
        && !database.setup.is_empty()
    {
        let statements: Vec<String> = database.setup.iter().map(|sql| literal(sql)).collect();
        let _ = writeln!(
            out,
            "    runSql(\n        {});",
            statements.join(",\n        ")
        );
    }
    out.push_str("  }\n");
}

/// The command that starts the service: at ports that are free, where it takes any.
fn started(service: &ServiceUnderTest, fixed: &str) -> String {
    let Some(start) = &service.start_on_free_ports else {
        return literal(fixed);
    };
    let mut code = literal(start);
    for (placeholder, name) in [(PORT, "PORT"), (AGENT_PORT, "AGENT_PORT")] {
        if start.contains(placeholder) {
            let _ = write!(code, ".replace({}, \"\" + {name})", literal(placeholder));
        }
    }
    code
}

fn constant(variable: &str) -> String {
    slug(variable).to_ascii_uppercase()
}

fn users(out: &mut String, suite: &HttpSuite, chapter: &SuiteFile<'_>) {
    out.push_str(
        "\n  /** What proves that a user calls. */\n  private static Proof logIn(String user) {\n",
    );
    let users = plan::users(suite, chapter);
    if users.is_empty() {
        out.push_str("    throw new IllegalArgumentException(user);\n  }\n");
        return;
    }
    out.push_str("    Proof proof = new Proof();\n    switch (user) {\n");
    for user in users {
        let _ = writeln!(out, "      case {} -> {{", literal(&user.name));
        log_in(out, user);
        out.push_str("      }\n");
    }
    out.push_str(
        "      default -> throw new IllegalArgumentException(user);\n    }\n    return proof;\n  }\n",
    );
}

/// Assigns a text that is made up anew.
fn make_unique(out: &mut String, indent: &str, name: &str, unique: &UniqueValue) {
    let (prefix, suffix) = (literal(&unique.prefix), literal(&unique.suffix));
    let _ = writeln!(
        out,
        "{indent}String {name} = unique({prefix}, {}, {suffix});",
        unique.digits
    );
}

fn log_in(out: &mut String, user: &User) {
    let reserved: Vec<&str> = KEYWORDS.iter().chain(TAKEN).copied().collect();
    let (known, unique_values) = plan::unique_values(user, Casing::Camel, &reserved);
    for (name, unique) in unique_values {
        make_unique(out, "        ", &name, unique);
    }
    if let Some(create) = &user.create {
        out.push_str("        Response created =\n            ");
        call(out, create, &known, 12);
        out.push_str(";\n        assertTrue(created.statusCode() < 400, created.asString());\n");
    }
    match &user.auth {
        Auth::Headers(headers) => {
            for (name, value) in headers {
                let value = string(value, &known);
                let _ = writeln!(
                    out,
                    "        proof.headers.put({}, {value});",
                    literal(name)
                );
            }
        }
        Auth::Login(login) => log_in_by_call(out, login, &known),
    }
}

fn log_in_by_call(out: &mut String, login: &Login, known: &Variables) {
    out.push_str("        Response answer =\n            ");
    call(out, &login.request, known, 12);
    out.push_str(";\n        assertTrue(answer.statusCode() < 400, answer.asString());\n");
    if let Some(token) = &login.token {
        let found = found("answer", &token.from);
        let mut parts = Vec::new();
        for (idx, text) in token.template.split("{token}").enumerate() {
            if idx > 0 {
                parts.push(found.clone());
            }
            if !text.is_empty() || parts.is_empty() {
                parts.push(literal(text));
            }
        }
        let value = parts.join(" + ");
        let _ = match &token.send {
            TokenPlacement::Header(name) => {
                writeln!(
                    out,
                    "        proof.headers.put({}, {value});",
                    literal(name)
                )
            }
            TokenPlacement::Query(name) => {
                writeln!(out, "        proof.query.put({}, {value});", literal(name))
            }
        };
    }
    if login.cookies {
        out.push_str("        proof.cookies.putAll(answer.cookies());\n");
    }
}

fn found(answer: &str, source: &ValueSource) -> String {
    match source {
        ValueSource::Body(place) => at(answer, place),
        ValueSource::Header(name) => format!("{answer}.header({})", literal(name)),
        ValueSource::Text => format!("{answer}.asString().trim()"),
        ValueSource::LastSegment(source) => match &**source {
            ValueSource::Body(_) => {
                format!("lastSegment(String.valueOf({}))", found(answer, source))
            }
            _ => format!("lastSegment({})", found(answer, source)),
        },
        ValueSource::Cookie(name) => format!("{answer}.cookie({})", literal(name)),
    }
}

fn method(out: &mut String, test: &PlannedTest<'_>) {
    for remark in plan::test_comments(test.test) {
        let _ = writeln!(out, "    {}", comment(&remark));
    }
    let tag = if test.test.faults.is_empty() {
        ""
    } else {
        "    @Tag(\"fault\")\n"
    };
    let _ = write!(
        out,
        "    @Test\n{tag}    @DisplayName({})\n    void {}() throws Exception {{\n",
        literal(&one_line(&test.test.name)),
        test.name
    );
    for answer in &test.test.mocks {
        let call = external::text_call("mockResponse", answer, literal);
        let _ = writeln!(out, "      {call};");
    }
    for (name, unique) in &test.unique_values {
        make_unique(out, "      ", name, unique);
    }
    for (row, key) in &test.rows {
        let links = rows::links(row, &test.known, SPELLING);
        let start = key
            .as_ref()
            .map_or(String::new(), |key| format!("Object {key} =\n          "));
        let between = if key.is_some() {
            "\n              "
        } else {
            "\n          "
        };
        let _ = writeln!(out, "      {start}{};", links.join(between));
    }
    for (idx, step) in test.steps.iter().enumerate() {
        if idx > 0 || test.has_preparation() {
            out.push('\n');
        }
        self::step(out, step);
    }
    if !test.test.expected_rows.is_empty() {
        out.push('\n');
    }
    for row in &test.test.expected_rows {
        let links = rows::state_links(row, &test.all_known, SPELLING);
        let _ = writeln!(out, "      {};", links.join("\n          "));
    }
    out.push_str("    }\n");
}

const SPELLING: RowNotation = RowNotation {
    into: "insertInto",
    looked_for: ("rowIn", "isThere", "isGone"),
    literal,
    borrow: "",
};

fn step(out: &mut String, planned: &PlannedStep<'_>) {
    let PlannedStep {
        step,
        answer,
        known,
        ..
    } = planned;
    if let Some(text) = &step.comment {
        let _ = writeln!(out, "      {}", comment(text));
    }
    let error = match &step.expect {
        ExpectedOutcome::Response(expected) => {
            let _ = write!(out, "      Response {answer} =\n          ");
            call(out, &step.request, known, 10);
            out.push_str(";\n");
            expectations(out, planned, expected);
            return;
        }
        ExpectedOutcome::Dropped => "assertDropped",
        ExpectedOutcome::TimedOut => "assertTimedOut",
    };
    let _ = write!(out, "      {error}(\n          () ->\n              ");
    call(out, &step.request, known, 14);
    out.push_str(");\n");
}

fn expectations(out: &mut String, planned: &PlannedStep<'_>, expected: &ExpectedResponse) {
    let answer = &planned.answer;
    let _ = writeln!(
        out,
        "      assertEquals({}, {answer}.statusCode());",
        expected.status
    );
    if let Some(media_type) = &expected.content_type {
        let media_type = literal(&media_type.to_ascii_lowercase());
        let _ = writeln!(
            out,
            "      assertEquals({media_type}, mediaType({answer}));"
        );
    }
    for header in &expected.headers {
        let name = literal(&header.name);
        let _ = match &header.value {
            Some(value) => writeln!(
                out,
                "      assertEquals({}, {answer}.header({name}));",
                literal(value)
            ),
            None => writeln!(
                out,
                "      assertTrue({answer}.headers().hasHeaderWithName({name}));"
            ),
        };
    }
    for (name, capture) in &planned.captures {
        let _ = writeln!(
            out,
            "      Object {name} = {};",
            found(answer, &capture.from)
        );
    }
    for check in &expected.body {
        self::check(out, planned, check);
    }
}

fn check(out: &mut String, planned: &PlannedStep<'_>, check: &BodyCheck) {
    let answer = &planned.answer;
    let _ = match check {
        BodyCheck::Equals {
            at: place,
            value,
            placeholders,
        } if placeholders.is_empty() => equality(out, &json(value), &at(answer, place)),
        BodyCheck::Equals {
            at: place,
            value,
            placeholders,
        } => {
            let expected = format!("json({})", filled(value, placeholders, &planned.after));
            equality(out, &expected, &at(answer, place))
        }
        BodyCheck::Same {
            at: place,
            variable,
        } => writeln!(
            out,
            "      assertEquals({}, {});",
            planned.after.name(variable),
            at(answer, place)
        ),
        BodyCheck::Type { at: place, is } => {
            let value = at(answer, place);
            match is {
                JsonType::Null => writeln!(out, "      assertNull({value});"),
                JsonType::Integer => writeln!(out, "      assertTrue(isInteger({value}));"),
                JsonType::Boolean => instance(out, "Boolean", &value),
                JsonType::Number => instance(out, "Number", &value),
                JsonType::String => instance(out, "String", &value),
                JsonType::Array => instance(out, "List", &value),
                JsonType::Object => instance(out, "Map", &value),
            }
        }
        BodyCheck::Length { at: place, items } => writeln!(
            out,
            "      assertEquals({items}, ((List<?>) {}).size());",
            at(answer, place)
        ),
        BodyCheck::Includes { at: place, value } => {
            let list = format!("((List<?>) {})", at(answer, place));
            let flat = format!("      assertTrue({list}.contains({}));", json(value));
            if flat.chars().count() <= WIDTH {
                writeln!(out, "{flat}")
            } else {
                let value = json(value);
                writeln!(
                    out,
                    "      assertTrue(\n          {list}\n              .contains({value}));"
                )
            }
        }
        BodyCheck::Present { at: place } => presence(out, answer, place, "assertTrue"),
        BodyCheck::Absent { at: place } => presence(out, answer, place, "assertFalse"),
        BodyCheck::Contains { text } => writeln!(
            out,
            "      assertTrue({answer}.asString().contains({}), {answer}.asString());",
            literal(text)
        ),
        BodyCheck::TextEquals { text } => {
            writeln!(
                out,
                "      assertEquals({}, {answer}.asString());",
                literal(text)
            )
        }
        BodyCheck::Empty => writeln!(out, "      assertEquals(\"\", {answer}.asString());"),
    };
}

fn instance(out: &mut String, class: &str, value: &str) -> std::fmt::Result {
    writeln!(out, "      assertInstanceOf({class}.class, {value});")
}

fn equality(out: &mut String, expected: &str, actual: &str) -> std::fmt::Result {
    let flat = format!("      assertEquals({expected}, {actual});");
    if flat.chars().count() <= WIDTH {
        writeln!(out, "{flat}")
    } else {
        writeln!(
            out,
            "      assertEquals(\n          {expected},\n          {actual});"
        )
    }
}

/// A value as `at` finds it.
fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::String(text) => literal(text),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(n), _) => match i32::try_from(n) {
                Ok(n) => n.to_string(),
                Err(_) => format!("{n}L"),
            },
            _ => format!("json({})", literal(&number.to_string())),
        },
        Value::Array(_) | Value::Object(_) => {
            format!(
                "json({})",
                literal(&spliced(value, &|_| None, &|text| text.into()))
            )
        }
    }
}

fn presence(out: &mut String, answer: &str, place: &JsonPath, method: &str) -> std::fmt::Result {
    match place.split() {
        None => Ok(()),
        Some((parent, JsonKey::Name(name))) => writeln!(
            out,
            "      {method}(((Map<?, ?>) {}).containsKey({}));",
            at(answer, &parent),
            literal(name)
        ),
        Some((parent, JsonKey::Index(index))) => writeln!(
            out,
            "      {method}(((List<?>) {}).size() > {index});",
            at(answer, &parent)
        ),
    }
}

/// `as("ada").queryParam("a", "b").get("/boats")`, a link per line.
fn call(out: &mut String, request: &Request, known: &Variables, indent: usize) {
    let mut links = Vec::new();
    for (name, value) in &request.query {
        links.push(format!(
            ".queryParam({}, {})",
            literal(name),
            known.expression(value, string)
        ));
    }
    let mut headers = request.headers.clone();
    let body = request
        .body
        .as_ref()
        .map(|body| self::body(body, known, &mut headers));
    for (name, value) in &headers {
        let name = if name.eq_ignore_ascii_case("content-type") {
            ".contentType(".into()
        } else {
            format!(".header({}, ", literal(name))
        };
        links.push(format!("{name}{})", string(value, known)));
    }
    for (name, value) in &request.cookies {
        links.push(format!(
            ".cookie({}, {})",
            literal(name),
            string(value, known)
        ));
    }
    links.extend(body.into_iter().flatten());
    let (path, mut arguments) = path(&request.path, known);
    if plan::is_reference(&request.path) {
        links.push(".urlEncodingEnabled(false)".into());
        arguments.clear();
    }
    let arguments: String = arguments
        .iter()
        .map(|argument| format!(", {argument}"))
        .collect();
    links.push(match request.method.as_str() {
        "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" => {
            format!(
                ".{}({path}{arguments})",
                request.method.to_ascii_lowercase()
            )
        }
        method => format!(".request({}, {path}{arguments})", literal(method)),
    });
    let start = match &request.user {
        Some(user) => format!("as({})", literal(user)),
        None => "anonymous()".into(),
    };
    let flat = format!("{start}{}", links.concat());
    if indent + flat.chars().count() < WIDTH {
        out.push_str(&flat);
        return;
    }
    out.push_str(&start);
    for link in links {
        let _ = write!(out, "\n{:1$}{link}", "", indent + 4);
    }
}

/// The links that carry a body; `headers` gets the media type where REST Assured would not set
/// it.
fn body(body: &Body, known: &Variables, headers: &mut Vec<(String, Text)>) -> Vec<String> {
    let mut typed = |content_type: &str| plan::name_type(headers, content_type);
    match body {
        Body::Json {
            value,
            placeholders,
            content_type,
        } => {
            typed(content_type);
            let text = filled(value, placeholders, known);
            vec![format!(".body({text}.getBytes(UTF_8))")]
        }
        Body::Form(fields) => {
            typed("application/x-www-form-urlencoded");
            let fields = fields.iter();
            fields
                .map(|(name, value)| {
                    format!(
                        ".formParam({}, {})",
                        literal(name),
                        known.expression(value, string)
                    )
                })
                .collect()
        }
        Body::Multipart(parts) => parts.iter().map(|part| self::part(part, known)).collect(),
        Body::Text { content_type, text } => {
            typed(content_type);
            vec![format!(
                ".body({}.getBytes(UTF_8))",
                bracketed(string(text, known))
            )]
        }
        Body::Binary {
            content_type,
            base64,
        } => {
            typed(content_type);
            vec![format!(
                ".body(Base64.getDecoder().decode({}))",
                literal(base64)
            )]
        }
    }
}

/// The text of a JSON document, with its holes filled.
fn filled(value: &Value, placeholders: &[Placeholder], known: &Variables) -> String {
    let mut fills = Vec::new();
    let fill = std::cell::RefCell::new(&mut fills);
    let text = spliced(
        value,
        &|place| {
            let placeholder = placeholders
                .iter()
                .find(|placeholder| placeholder.at == *place)?;
            fill.borrow_mut().push(format!(
                "toJson({})",
                known.expression(&placeholder.value, string)
            ));
            Some("%s".into())
        },
        &|text| {
            if placeholders.is_empty() {
                text.into()
            } else {
                text.replace('%', "%%")
            }
        },
    );
    let text = literal(&text);
    if fills.is_empty() {
        text
    } else {
        format!("{text}.formatted({})", fills.join(", "))
    }
}

fn part(part: &MultipartPart, known: &Variables) -> String {
    let bytes = match &part.content {
        PartContent::Text(text) => format!("{}.getBytes(UTF_8)", bracketed(string(text, known))),
        PartContent::Base64(base64) => format!("Base64.getDecoder().decode({})", literal(base64)),
    };
    let name = literal(&part.name);
    match (&part.file_name, &part.content_type, &part.content) {
        (None, media_type, PartContent::Text(text)) => {
            let media_type = media_type.as_deref().unwrap_or("text/plain");
            format!(
                ".multiPart({name}, {}, {})",
                string(text, known),
                literal(media_type)
            )
        }
        (file_name, media_type, _) => format!(
            ".multiPart({name}, {}, {bytes}, {})",
            literal(file_name.as_deref().unwrap_or("file")),
            literal(media_type.as_deref().unwrap_or("application/octet-stream"))
        ),
    }
}

fn bracketed(code: String) -> String {
    if code.contains(" + ") {
        format!("({code})")
    } else {
        code
    }
}

/// The path as a template, and what fills it.
fn path(path: &Text, known: &Variables) -> (String, Vec<String>) {
    if plan::is_reference(path) {
        let reference = string(path, known);
        return (
            format!("URI.create(BASE_URL).resolve({reference}).toString()"),
            Vec::new(),
        );
    }
    let mut template = String::new();
    let mut fills = Vec::new();
    for piece in &path.0 {
        match piece {
            TextPiece::Literal(text) => {
                // REST Assured encodes by itself, so what is encoded already is decoded and filled in.
                for (idx, segment) in text.split('/').enumerate() {
                    if idx > 0 {
                        template.push('/');
                    }
                    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:?=&".contains(c);
                    if segment.chars().all(plain) {
                        template.push_str(segment);
                    } else {
                        let _ = write!(template, "{{p{}}}", fills.len());
                        fills.push(literal(&decoded(segment)));
                    }
                }
            }
            TextPiece::Captured(variable) => {
                let name = known.name(variable);
                let _ = write!(template, "{{{name}}}");
                fills.push(name);
            }
            TextPiece::Secret(secret) => {
                let _ = write!(template, "{{p{}}}", fills.len());
                fills.push(constant(&secret.variable));
            }
        }
    }
    (literal(&template), fills)
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An expression of type `String`.
fn string(text: &Text, known: &Variables) -> String {
    if let Some(text) = text.literal() {
        return literal(&text);
    }
    match text.0.as_slice() {
        [TextPiece::Secret(secret)] => return constant(&secret.variable),
        [TextPiece::Captured(variable)] => {
            return format!("{}.toString()", known.name(variable));
        }
        _ => {}
    }
    let mut parts: Vec<String> = text
        .0
        .iter()
        .map(|piece| match piece {
            TextPiece::Literal(text) => literal(text),
            TextPiece::Captured(variable) => known.name(variable),
            TextPiece::Secret(secret) => constant(&secret.variable),
        })
        .collect();
    if !parts[0].starts_with('"') {
        parts.insert(0, "\"\"".into());
    }
    parts.join(" + ")
}

/// `at(created, "tags", 0)`
fn at(answer: &str, place: &JsonPath) -> String {
    let mut out = format!("at({answer}");
    for key in &place.0 {
        let _ = match key {
            JsonKey::Index(index) => write!(out, ", {index}"),
            JsonKey::Name(name) => write!(out, ", {}", literal(name)),
        };
    }
    out.push(')');
    out
}

fn literal(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}
