//! pytest over requests: one file with its fixtures, one function per test, as black would format
//! it.

use std::fmt::Write;

use serde_json::Value;

use super::value::Notation;
use super::{HttpWriter, Lines, WrittenSuite, WrittenTest, run_on};
use crate::http::external;
use crate::http::plan::{self, Casing, PlannedStep, PlannedTest, SuiteFile, Variables};
use crate::http::rows::{self, RowNotation};
use crate::http::suite::{
    AGENT_PORT, Auth, ExpectedOutcome, HttpSuite, Login, PORT, ResetHook, Token, TokenPlacement,
    ValueSource,
};
use crate::http::{
    Body, BodyCheck, ExpectedResponse, JsonKey, JsonPath, JsonType, MockedResponse, PartContent,
    Request, Text, TextPiece, UniqueValue, User,
};
use crate::http::{SuiteError, request::MultipartPart};
use crate::suite::SuiteDialect;
use crate::writer::File;
use crate::writer::layout::Layout;
use crate::writer::name::slug;
use crate::writer::pytest::{in_docstring, literal};
use crate::writer::text::{one_line, sentence};

/// Black's line length.
const WIDTH: usize = 88;

const NOTATION: Notation = Notation {
    null: "None",
    yes: "True",
    no: "False",
    string: literal,
    number: ToString::to_string,
    key: literal,
    braces: ("{", "}"),
};

const SPELLING: RowNotation = RowNotation {
    into: "insert_into",
    looked_for: ("row_in", "is_there", "is_gone"),
    literal,
    borrow: "",
};

/// Names that a test must not use for its variables.
const RESERVED: &[&str] = &[
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "none",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "true",
    "false",
    "try",
    "while",
    "with",
    "yield",
    "api",
    "body",
    "requests",
    "pytest",
    "os",
    "json",
    "str",
    "int",
    "float",
    "list",
    "dict",
    "type",
    "len",
    "bool",
    "isinstance",
    "quote",
    "unquote",
    "urljoin",
    "urlsplit",
    "uuid4",
    "base64",
    "media_type",
    "last_segment",
    "unique",
    "dropped",
    "base_url",
    "timeout",
    "insert_into",
    "row_in",
    "row",
    "run_sql",
    "initial_rows",
    "mock_servers",
    "mock_response",
    "path_matches",
    "free_port",
];

/// Writes a pytest module over requests.
#[derive(Debug)]
pub(crate) struct Pytest;

impl HttpWriter for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn write(&self, suite: &HttpSuite) -> Result<WrittenSuite, SuiteError> {
        suite.check()?;
        let mut files = Vec::new();
        let mut tests = Vec::new();
        for chapter in plan::chapters(suite, Casing::Snake, RESERVED, &[]) {
            let path = format!("test_{}.py", plan::stem(suite, &chapter));
            let text = module(suite, &chapter, &path, &mut tests);
            files.push(File { path, text });
        }
        let program = [
            "python3",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--junitxml=results.xml",
        ];
        let run = run_on(&program, &files);
        Ok(WrittenSuite {
            files,
            tests,
            excluded: Vec::new(),
            run,
        })
    }
}

fn module(
    suite: &HttpSuite,
    chapter: &SuiteFile<'_>,
    path: &str,
    tests: &mut Vec<WrittenTest>,
) -> String {
    let mut out = String::from("\"\"\"");
    for (idx, line) in plan::header(suite, chapter.faults).iter().enumerate() {
        let line = if idx == 0 {
            sentence(line)
        } else {
            line.clone()
        };
        out.push_str(&in_docstring(&line));
        out.push('\n');
    }
    out.push_str("\nNeeds pytest and requests. Environment:\n\n");
    for line in plan::environment(suite) {
        let _ = writeln!(out, "  {}", in_docstring(&line));
    }
    out.push_str("\"\"\"\n\n");
    prelude(&mut out, suite, chapter);
    let mut lines = Lines::default();
    for group in &chapter.groups {
        let mut scenario = "";
        let _ = write!(out, "\n\n# {}\n", one_line(group.title));
        for test in &group.tests {
            if test.test.scenario != scenario {
                scenario = &test.test.scenario;
                let _ = write!(out, "\n\n# Scenario: {}\n", one_line(scenario));
            }
            out.push_str("\n\n");
            let start_line = lines.at(&out);
            let name = format!("test_{}", test.name);
            function(&mut out, test, &name);
            tests.push(lines.written(&out, test, name, path, start_line));
        }
    }
    out
}

/// Imports, settings, users and fixtures: only what the tests of the chapter need.
fn prelude(out: &mut String, suite: &HttpSuite, chapter: &SuiteFile<'_>) {
    let uses = plan::uses(suite, chapter);
    let service = &suite.service;
    let users = plan::users(suite, chapter);
    let in_shell = service.start.is_some() || matches!(service.reset, Some(ResetHook::Command(_)));
    let mut imports = vec!["os"];
    if uses.base64 {
        imports.push("base64");
    }
    if needs_json(suite, chapter) || !suite.external_services.is_empty() {
        imports.push("json");
    }
    if service.start.is_some() {
        imports.extend(["signal", "time"]);
    }
    if suite.chooses_ports() {
        imports.push("socket");
    }
    if suite.free_agent_port().is_some() {
        imports.push("secrets");
    }
    if in_shell || suite.database.is_some() {
        imports.push("subprocess");
    }
    if !suite.external_services.is_empty() {
        imports.push("threading");
    }
    let is_mysql = suite
        .database
        .as_ref()
        .is_some_and(|database| database.dialect == SuiteDialect::Mysql);
    imports.sort_unstable();
    for import in imports {
        let _ = writeln!(out, "import {import}");
    }
    out.push_str("from functools import partialmethod\n");
    if !suite.external_services.is_empty() {
        out.push_str("from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer\n");
    }
    let from_parse: Vec<&str> = [
        (uses.encoding, "quote"),
        (uses.last_segment || is_mysql, "unquote"),
        (uses.references, "urljoin"),
        (
            uses.last_segment || is_mysql || !suite.external_services.is_empty(),
            "urlsplit",
        ),
    ]
    .into_iter()
    .filter_map(|(used, name)| used.then_some(name))
    .collect();
    if !from_parse.is_empty() {
        let _ = writeln!(out, "from urllib.parse import {}", from_parse.join(", "));
    }
    if uses.unique_values {
        out.push_str("from uuid import uuid4\n");
    }
    out.push_str("\nimport pytest\nimport requests\n\n");
    let mut base_url = literal(&service.base_url);
    if suite.chooses_ports() {
        out.push_str(include_str!("pytest/free_port.py"));
    }
    if let Some(free) = suite.free_url() {
        out.push_str("PORT = free_port()\n");
        base_url = at_port(free, "PORT");
    }
    if suite.free_agent_port().is_some() {
        out.push_str("AGENT_PORT = free_port() + \"/\" + secrets.token_hex(16)\n");
    }
    let _ = writeln!(
        out,
        "BASE_URL = os.environ.get({}, {base_url}).rstrip(\"/\")",
        literal(&service.base_url_variable),
    );
    let _ = writeln!(out, "TIMEOUT = {}", seconds(service.timeout_millis));
    if uses.dropped {
        out.push_str(
            "DROPPED = (requests.ConnectionError, requests.exceptions.ChunkedEncodingError)\n",
        );
    }
    for secret in plan::secrets_of(suite, chapter) {
        let variable = literal(&secret.variable);
        let _ = match &secret.value {
            Some(value) => writeln!(
                out,
                "{} = os.environ.get({variable}, {})",
                constant(&secret.variable),
                literal(value)
            ),
            None => writeln!(
                out,
                "{} = os.environ[{variable}]",
                constant(&secret.variable)
            ),
        };
    }
    if let Some(database) = &suite.database {
        out.push_str("INITIAL_ROWS = [\n");
        for statement in &database.setup {
            let _ = writeln!(out, "    {},", literal(statement));
        }
        out.push_str("]\n");
    }
    if !suite.external_services.is_empty() {
        let endpoints = suite
            .external_services
            .iter()
            .map(|one| Layout::Atom(format!("({}, {})", literal(&one.name), one.port)));
        Layout::list("EXTERNAL_SERVICES = [", endpoints, "]").render(out, 0, WIDTH, 0);
        out.push('\n');
        out.push_str(include_str!("pytest/external.py"));
    }
    service_fixture(out, suite);
    api_fixture(out, suite);
    if let Some(database) = &suite.database {
        let mut code = include_str!("pytest/database.py").to_owned();
        if let Some(free) = suite.free_agent_port() {
            code = code.replace("@AGENT_URL@", &at_port(free, "AGENT_PORT"));
        }
        out.push_str(&rows::helpers(&code, suite, database, literal));
    }
    let mut methods: Vec<&str> = plan::requests(suite, chapter)
        .iter()
        .map(|request| request.method.as_str())
        .collect();
    methods.sort_unstable();
    methods.dedup();
    api_class(out, &methods, !users.is_empty());
    if uses.content_type {
        out.push_str(include_str!("pytest/media_type.py"));
    }
    if uses.last_segment {
        out.push_str(include_str!("pytest/last_segment.py"));
    }
    if uses.unique_values {
        out.push_str(include_str!("pytest/unique.py"));
    }
    for user in &users {
        log_in(out, user);
    }
    if !users.is_empty() {
        let entries = users
            .iter()
            .map(|user| Layout::Atom(format!("{}: {}", literal(&user.name), log_in_name(user))));
        out.push_str("\n\n");
        Layout::list("USERS = {", entries, "}").render(out, 0, WIDTH, 0);
        out.push('\n');
    }
}

fn needs_json(suite: &HttpSuite, chapter: &SuiteFile<'_>) -> bool {
    plan::all_requests(suite, chapter)
        .iter()
        .any(|request| match &request.body {
            Some(Body::Json {
                value,
                content_type,
                ..
            }) => value.is_null() || content_type != "application/json",
            _ => false,
        })
}

fn seconds(millis: u64) -> String {
    if millis.is_multiple_of(1000) {
        (millis / 1000).to_string()
    } else {
        format!("{}", millis as f64 / 1000.0)
    }
}

fn constant(variable: &str) -> String {
    slug(variable).to_ascii_uppercase()
}

fn service_fixture(out: &mut String, suite: &HttpSuite) {
    // Somebody must listen for the service before it starts, and only as long as it runs.
    let with_mocks = |code: &str| {
        if suite.external_services.is_empty() {
            return code.to_owned();
        }
        code.replace("scope=\"session\"", "scope=\"module\"")
            .replace("def service():", "def service(mock_servers):")
    };
    let Some(start) = &suite.service.start else {
        out.push_str(&with_mocks(include_str!("pytest/running.py")));
        return;
    };
    let code = with_mocks(include_str!("pytest/started.py"))
        .replace("@VARIABLE@", &literal(&suite.service.base_url_variable))
        .replace("@START@", &started(suite, start));
    out.push_str(&code);
}

/// The command that starts the service: at ports that are free, where it takes any.
fn started(suite: &HttpSuite, fixed: &str) -> String {
    let Some(start) = &suite.service.start_on_free_ports else {
        return literal(fixed);
    };
    let mut code = literal(start);
    if suite.free_url().is_some() {
        let _ = write!(code, ".replace({}, PORT)", literal(PORT));
    }
    if suite.free_agent_port().is_some() {
        let _ = write!(code, ".replace({}, AGENT_PORT)", literal(AGENT_PORT));
    }
    code
}

/// A URL whose port is that of a variable.
fn at_port((before, after): (&str, &str), variable: &str) -> String {
    let mut code = format!("{} + {variable}", literal(before));
    if !after.is_empty() {
        let _ = write!(code, " + {}", literal(after));
    }
    code
}

fn api_fixture(out: &mut String, suite: &HttpSuite) {
    out.push_str("\n\n@pytest.fixture\ndef api(service):\n");
    let mut initial_rows = String::new();
    if !suite.external_services.is_empty() {
        initial_rows.push_str("    MockServer.stubs = []\n");
    }
    match &suite.database {
        Some(database) if !database.setup.is_empty() => {
            initial_rows.push_str("    run_sql(*INITIAL_ROWS)\n");
        }
        _ => {}
    }
    match &suite.service.reset {
        None if initial_rows.is_empty() => {
            out.push_str("    \"\"\"The service, for one test.\"\"\"\n    return Api()\n");
        }
        None => {
            out.push_str("    \"\"\"A client of the reset service, for one test.\"\"\"\n");
            let _ = writeln!(out, "{initial_rows}    return Api()");
        }
        Some(ResetHook::Command(command)) => {
            out.push_str("    \"\"\"A client of the reset service, for one test.\"\"\"\n    ");
            let arguments = [
                Layout::Atom(literal(command)),
                Layout::Atom("shell=True".into()),
                Layout::Atom("check=True".into()),
            ];
            Layout::list("subprocess.run(", arguments, ")").render(out, 4, WIDTH, 0);
            let _ = write!(out, "\n{initial_rows}    return Api()\n");
        }
        Some(ResetHook::Call(request)) => {
            out.push_str(
                "    \"\"\"A client of the reset service, for one test.\"\"\"\n    api = Api()\n    ",
            );
            call("reset = ", request, &Variables::new()).render(out, 4, WIDTH, 0);
            let _ = write!(
                out,
                "\n    assert reset.ok, reset.text\n{initial_rows}    return api\n"
            );
        }
    }
}

fn api_class(out: &mut String, methods: &[&str], users: bool) {
    out.push_str(if users {
        include_str!("pytest/api_users.py")
    } else {
        include_str!("pytest/api.py")
    });
    let usual: Vec<&&str> = methods.iter().filter(|method| is_usual(method)).collect();
    if !usual.is_empty() {
        out.push('\n');
    }
    for method in usual {
        let name = method.to_ascii_lowercase();
        let _ = writeln!(out, "    {name} = partialmethod(call, \"{method}\")");
    }
}

fn is_usual(method: &str) -> bool {
    matches!(
        method,
        "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS"
    )
}

fn log_in_name(user: &User) -> String {
    format!("log_in_as_{}", slug(&user.name))
}

/// A function that returns what `requests.request` needs to act as the user.
fn log_in(out: &mut String, user: &User) {
    let _ = write!(
        out,
        "\n\ndef {}():\n    \"\"\"What proves that {} calls.\"\"\"\n",
        log_in_name(user),
        in_docstring(&one_line(&user.name))
    );
    let (known, unique_values) = plan::unique_values(user, Casing::Snake, RESERVED);
    for (name, unique) in unique_values {
        make_unique(out, "    ", &name, unique);
    }
    if let Some(create) = &user.create {
        out.push_str("    ");
        call_on("created = Api()", create, &known).render(out, 4, WIDTH, 0);
        out.push_str("\n    assert created.ok, created.text\n");
    }
    match &user.auth {
        Auth::Headers(headers) => {
            let headers = headers.iter().map(|(name, value)| {
                Layout::Atom(format!("{}: {}", literal(name), string(value, &known)))
            });
            out.push_str("    return ");
            Layout::list("{", [Layout::list("\"headers\": {", headers, "}")], "}")
                .render(out, 4, WIDTH, 0);
            out.push('\n');
        }
        Auth::Login(login) => log_in_by_call(out, login, &known),
    }
}

fn log_in_by_call(out: &mut String, login: &Login, known: &Variables) {
    out.push_str("    ");
    call_on("answer = Api()", &login.request, known).render(out, 4, WIDTH, 0);
    out.push_str("\n    assert answer.ok, answer.text\n");
    let mut entries = Vec::new();
    if let Some(Token {
        from,
        send,
        template,
    }) = &login.token
    {
        let token = found("answer", "answer.json()", from);
        let _ = writeln!(out, "    token = {token}");
        let value = match template.split_once("{token}") {
            Some(("", "")) => "token".into(),
            Some((before, after)) => format!("{} + token{}", literal(before), plus(after))
                .trim_start_matches("\"\" + ")
                .to_owned(),
            None => literal(template),
        };
        entries.push(match send {
            TokenPlacement::Header(name) => Layout::list(
                "\"headers\": {",
                [Layout::Atom(format!("{}: {value}", literal(name)))],
                "}",
            ),
            TokenPlacement::Query(name) => Layout::list(
                "\"params\": {",
                [Layout::Atom(format!("{}: {value}", literal(name)))],
                "}",
            ),
        });
    }
    if login.cookies {
        entries.push(Layout::Atom(
            "\"cookies\": answer.cookies.get_dict()".into(),
        ));
    }
    out.push_str("    return ");
    Layout::list("{", entries, "}").render(out, 4, WIDTH, 0);
    out.push('\n');
}

/// A value of a response, given how its JSON is called.
fn found(answer: &str, json: &str, source: &ValueSource) -> String {
    match source {
        ValueSource::Body(place) => at(json, place),
        ValueSource::Header(name) => format!("{answer}.headers[{}]", literal(name)),
        ValueSource::Text => format!("{answer}.text.strip()"),
        ValueSource::LastSegment(source) => {
            format!("last_segment({})", found(answer, json, source))
        }
        ValueSource::Cookie(name) => format!("{answer}.cookies[{}]", literal(name)),
    }
}

fn plus(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(" + {}", literal(text))
    }
}

/// Assigns a text that is made up anew.
fn make_unique(out: &mut String, indent: &str, name: &str, unique: &UniqueValue) {
    let (prefix, suffix) = (literal(&unique.prefix), literal(&unique.suffix));
    let _ = writeln!(
        out,
        "{indent}{name} = unique({prefix}, {}, {suffix})",
        unique.digits
    );
}

fn function(out: &mut String, test: &PlannedTest<'_>, name: &str) {
    let _ = writeln!(out, "def {name}(api):");
    let title = in_docstring(&sentence(&test.test.name));
    let test_comments = plan::test_comments(test.test);
    if test_comments.is_empty() {
        let _ = writeln!(out, "    \"\"\"{title}\"\"\"");
    } else {
        let _ = write!(out, "    \"\"\"{title}\n\n");
        for remark in test_comments {
            let _ = writeln!(out, "    {}", in_docstring(&remark));
        }
        out.push_str("    \"\"\"\n");
    }
    for answer in &test.test.mocks {
        mock_response(out, answer);
    }
    for (name, unique) in &test.unique_values {
        make_unique(out, "    ", name, unique);
    }
    for (row, key) in &test.rows {
        let start = key
            .as_ref()
            .map_or(String::new(), |key| format!("{key} = "));
        chain(out, &start, &rows::links(row, &test.known, SPELLING));
    }
    for (idx, step) in test.steps.iter().enumerate() {
        if idx > 0 || test.has_preparation() {
            out.push('\n');
        }
        self::step(out, step);
    }
    if test.steps.is_empty() {
        out.push_str("    assert api\n");
    }
    if !test.test.expected_rows.is_empty() {
        out.push('\n');
    }
    for row in &test.test.expected_rows {
        chain(out, "", &rows::state_links(row, &test.all_known, SPELLING));
    }
}

/// A chain of calls, in parentheses where it is too long for a line.
fn chain(out: &mut String, start: &str, links: &[String]) {
    let flat = format!("    {start}{}", links.concat());
    if flat.chars().count() <= WIDTH {
        out.push_str(&flat);
    } else {
        let _ = write!(out, "    {start}(");
        for link in links {
            let _ = write!(out, "\n        {link}");
        }
        out.push_str("\n    )");
    }
    out.push('\n');
}

/// `mock_response("rates", "GET", "/latest", 200, {…})`
fn mock_response(out: &mut String, answer: &MockedResponse) {
    let (first, value, last) = external::value_arguments(answer, literal);
    let mut arguments: Vec<Layout> = first.into_iter().map(Layout::Atom).collect();
    arguments.extend(value.map(|value| NOTATION.layout("", value, &|_| None)));
    arguments.extend(last.map(Layout::Atom));
    out.push_str("    ");
    Layout::list("mock_response(", arguments, ")").render(out, 4, WIDTH, 0);
    out.push('\n');
}

fn step(out: &mut String, planned: &PlannedStep<'_>) {
    let PlannedStep {
        step,
        answer,
        known,
        ..
    } = planned;
    if let Some(comment) = &step.comment {
        let _ = writeln!(out, "    # {}", one_line(comment));
    }
    let raises = match &step.expect {
        ExpectedOutcome::Response(expected) => {
            out.push_str("    ");
            call(&format!("{answer} = "), &step.request, known).render(out, 4, WIDTH, 0);
            out.push('\n');
            expectations(out, planned, expected);
            return;
        }
        ExpectedOutcome::Dropped => "DROPPED",
        ExpectedOutcome::TimedOut => "requests.Timeout",
    };
    let _ = write!(out, "    with pytest.raises({raises}):\n        ");
    call("", &step.request, known).render(out, 8, WIDTH, 0);
    out.push('\n');
}

/// The JSON of the response: a variable when it is used more than once.
fn json_of(planned: &PlannedStep<'_>) -> String {
    if planned.json_uses() > 1 {
        "body".into()
    } else {
        format!("{}.json()", planned.answer)
    }
}

fn expectations(out: &mut String, planned: &PlannedStep<'_>, expected: &ExpectedResponse) {
    let answer = &planned.answer;
    let _ = writeln!(
        out,
        "    assert {answer}.status_code == {}",
        expected.status
    );
    if let Some(media_type) = &expected.content_type {
        let _ = writeln!(
            out,
            "    assert media_type({answer}) == {}",
            literal(&media_type.to_ascii_lowercase())
        );
    }
    for header in &expected.headers {
        let name = literal(&header.name);
        match &header.value {
            Some(value) => assertion(
                out,
                format!("{answer}.headers[{name}]"),
                "==",
                &literal(value),
            ),
            None => {
                let _ = writeln!(out, "    assert {name} in {answer}.headers");
            }
        }
    }
    if planned.json_uses() > 1 {
        let _ = writeln!(out, "    body = {answer}.json()");
    }
    let body = json_of(planned);
    for (name, capture) in &planned.captures {
        let found = found(answer, &body, &capture.from);
        let _ = writeln!(out, "    {name} = {found}");
    }
    for check in &expected.body {
        self::check(out, planned, &body, check);
    }
}

fn check(out: &mut String, planned: &PlannedStep<'_>, body: &str, check: &BodyCheck) {
    let answer = &planned.answer;
    match check {
        BodyCheck::Equals {
            at: place,
            value,
            placeholders,
        } => {
            let found = at(body, place);
            let placeholder = |place: &JsonPath| planned.after.filled(placeholders, place, string);
            match value {
                Value::Null | Value::Bool(_) => assertion(out, found, "is", &NOTATION.flat(value)),
                Value::Object(_) | Value::Array(_) => {
                    out.push_str("    ");
                    NOTATION
                        .layout(&format!("assert {found} == "), value, &placeholder)
                        .render(out, 4, WIDTH, 0);
                    out.push('\n');
                }
                Value::Number(_) | Value::String(_) => {
                    assertion(out, found, "==", &NOTATION.flat(value));
                }
            }
        }
        BodyCheck::Same {
            at: place,
            variable,
        } => {
            assertion(out, at(body, place), "==", &planned.after.name(variable));
        }
        BodyCheck::Type { at: place, is } => {
            let found = at(body, place);
            let _ = match is {
                JsonType::Null => writeln!(out, "    assert {found} is None"),
                JsonType::Boolean => writeln!(out, "    assert isinstance({found}, bool)"),
                JsonType::Integer => writeln!(out, "    assert type({found}) is int"),
                JsonType::Number => writeln!(out, "    assert type({found}) in (int, float)"),
                JsonType::String => writeln!(out, "    assert isinstance({found}, str)"),
                JsonType::Array => writeln!(out, "    assert isinstance({found}, list)"),
                JsonType::Object => writeln!(out, "    assert isinstance({found}, dict)"),
            };
        }
        BodyCheck::Length { at: place, items } => {
            let _ = writeln!(out, "    assert len({}) == {items}", at(body, place));
        }
        BodyCheck::Includes { at: place, value } => {
            out.push_str("    ");
            let found = at(body, place);
            let flat = format!("assert {} in {found}", NOTATION.flat(value));
            out.push_str(&flat);
            out.push('\n');
        }
        BodyCheck::Present { at: place } => presence(out, body, place, true),
        BodyCheck::Absent { at: place } => presence(out, body, place, false),
        BodyCheck::Contains { text } => {
            let _ = writeln!(out, "    assert {} in {answer}.text", literal(text));
        }
        BodyCheck::TextEquals { text } => {
            assertion(out, format!("{answer}.text"), "==", &literal(text));
        }
        BodyCheck::Empty => {
            let _ = writeln!(out, "    assert not {answer}.content");
        }
    }
}

fn presence(out: &mut String, body: &str, place: &JsonPath, there: bool) {
    let _ = match place.split() {
        None => Ok(()),
        Some((parent, JsonKey::Name(name))) => {
            let word = if there { "in" } else { "not in" };
            writeln!(
                out,
                "    assert {} {word} {}",
                literal(name),
                at(body, &parent)
            )
        }
        Some((parent, JsonKey::Index(index))) => {
            let sign = if there { ">" } else { "<=" };
            writeln!(out, "    assert len({}) {sign} {index}", at(body, &parent))
        }
    };
}

/// `assert left op right`, in parentheses where that makes it fit.
fn assertion(out: &mut String, left: String, op: &str, right: &str) {
    let flat = format!("    assert {left} {op} {right}");
    let inner = format!("        {left} {op} {right}");
    let length = |text: &str| text.chars().count();
    if length(&flat) > WIDTH && length(&inner) <= WIDTH && !right.contains('\n') {
        let _ = write!(out, "    assert (\n{inner}\n    )\n");
    } else {
        out.push_str(&flat);
        out.push('\n');
    }
}

/// `api.post("/boats", user="ada", json={…})`
fn call(prefix: &str, request: &Request, known: &Variables) -> Layout {
    call_on(&format!("{prefix}api"), request, known)
}

fn call_on(object: &str, request: &Request, known: &Variables) -> Layout {
    let mut arguments = Vec::new();
    let open = if is_usual(&request.method) {
        format!("{object}.{}(", request.method.to_ascii_lowercase())
    } else {
        arguments.push(Layout::Atom(literal(&request.method)));
        format!("{object}.call(")
    };
    arguments.push(Layout::Atom(path(&request.path, known)));
    if let Some(user) = &request.user {
        arguments.push(Layout::Atom(format!("user={}", literal(user))));
    }
    if !request.query.is_empty() {
        arguments.push(pairs("params=", &request.query, known, false));
    }
    let mut headers: Vec<(String, Text)> = request.headers.clone();
    let body = request
        .body
        .as_ref()
        .map(|body| self::body(body, known, &mut headers));
    if !headers.is_empty() {
        arguments.push(pairs("headers=", &headers, known, true));
    }
    if !request.cookies.is_empty() {
        arguments.push(pairs("cookies=", &request.cookies, known, true));
    }
    arguments.extend(body);
    Layout::list(open, arguments, ")")
}

/// Pairs as a dict, or as a list of tuples where a name comes twice.
fn pairs(prefix: &str, pairs: &[(String, Text)], known: &Variables, only_strings: bool) -> Layout {
    let value = |text: &Text| {
        if only_strings {
            string(text, known)
        } else {
            known.expression(text, string)
        }
    };
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < pairs.len() && !only_strings {
        let items = pairs
            .iter()
            .map(|(name, text)| Layout::Atom(format!("({}, {})", literal(name), value(text))));
        return Layout::list(format!("{prefix}["), items, "]");
    }
    let items = pairs
        .iter()
        .map(|(name, text)| Layout::Atom(format!("{}: {}", literal(name), value(text))));
    Layout::list(format!("{prefix}{{"), items, "}")
}

/// The argument that carries the body; `headers` gets the media type where requests would not
/// set it.
fn body(body: &Body, known: &Variables, headers: &mut Vec<(String, Text)>) -> Layout {
    let mut typed = |content_type: &str| plan::name_type(headers, content_type);
    match body {
        Body::Json {
            value,
            placeholders,
            content_type,
        } => {
            let placeholder = |place: &JsonPath| known.filled(placeholders, place, string);
            if value.is_null() || content_type != "application/json" {
                typed(content_type);
                let document = NOTATION.layout("", value, &placeholder);
                return Layout::list("data=json.dumps(", [document], ")");
            }
            NOTATION.layout("json=", value, &placeholder)
        }
        Body::Form(fields) if fields.is_empty() => {
            typed("application/x-www-form-urlencoded");
            Layout::Atom("data=\"\"".into())
        }
        Body::Form(fields) => pairs("data=", fields, known, false),
        Body::Multipart(parts) => {
            let parts = parts.iter().map(|part| self::part(part, known));
            Layout::list("files=[", parts, "]")
        }
        Body::Text { content_type, text } => {
            typed(content_type);
            let mut code = string(text, known);
            if !text.literal().is_some_and(|text| text.is_ascii()) {
                // Outside of ASCII, requests and its parts have disagreed on the encoding.
                code.push_str(".encode()");
            }
            Layout::Atom(format!("data={code}"))
        }
        Body::Binary {
            content_type,
            base64,
        } => {
            typed(content_type);
            Layout::Atom(format!("data=base64.b64decode({})", literal(base64)))
        }
    }
}

fn part(part: &MultipartPart, known: &Variables) -> Layout {
    let file_name = part.file_name.as_deref().map_or("None".into(), literal);
    let content = match &part.content {
        PartContent::Text(text) => string(text, known),
        PartContent::Base64(base64) => format!("base64.b64decode({})", literal(base64)),
    };
    let mut items = vec![Layout::Atom(file_name), Layout::Atom(content)];
    items.extend(
        part.content_type
            .as_deref()
            .map(|media_type| Layout::Atom(literal(media_type))),
    );
    Layout::list(
        "(",
        [
            Layout::Atom(literal(&part.name)),
            Layout::list("(", items, ")"),
        ],
        ")",
    )
}

fn path(path: &Text, known: &Variables) -> String {
    if !plan::is_reference(path) {
        return formatted(path, known, true);
    }
    let reference = match path.as_captured() {
        Some(variable) => known.name(variable),
        None => formatted(path, known, false),
    };
    format!("urljoin(BASE_URL, {reference})")
}

/// An expression of type `str`.
fn string(text: &Text, known: &Variables) -> String {
    match text.0.as_slice() {
        [TextPiece::Secret(secret)] => constant(&secret.variable),
        [TextPiece::Captured(variable)] => format!("str({})", known.name(variable)),
        _ => formatted(text, known, false),
    }
}

fn formatted(text: &Text, known: &Variables, in_path: bool) -> String {
    if let Some(text) = text.literal() {
        return literal(&text);
    }
    // The quotes of the whole must suit all pieces, so they are escaped together.
    let mut whole = String::new();
    let mut fills = Vec::new();
    for piece in &text.0 {
        match piece {
            TextPiece::Literal(text) => {
                whole.push_str(&text.replace('{', "{{").replace('}', "}}"));
            }
            TextPiece::Captured(variable) => {
                let name = known.name(variable);
                let plain = known.is_plain(variable);
                fills.push(if in_path && !plain {
                    format!("{{quote(str({name}), safe='')}}")
                } else {
                    format!("{{{name}}}")
                });
                whole.push('\u{f8ff}');
            }
            TextPiece::Secret(secret) => {
                fills.push(format!("{{{}}}", constant(&secret.variable)));
                whole.push('\u{f8ff}');
            }
        }
    }
    let quoted = literal(&whole);
    let quoted = if quoted.starts_with('\'') {
        // The fills use single quotes.
        format!(
            "\"{}\"",
            quoted[1..quoted.len() - 1]
                .replace('"', "\\\"")
                .replace("\\'", "'")
        )
    } else {
        quoted
    };
    let mut parts = quoted.split('\u{f8ff}');
    let mut out = String::from("f");
    out.push_str(parts.next().unwrap_or_default());
    for (part, fill) in parts.zip(fills) {
        out.push_str(&fill);
        out.push_str(part);
    }
    out
}

/// `body["tags"][0]`
fn at(body: &str, place: &JsonPath) -> String {
    let mut out = String::from(body);
    for key in &place.0 {
        let _ = match key {
            JsonKey::Index(index) => write!(out, "[{index}]"),
            JsonKey::Name(name) => write!(out, "[{}]", literal(name)),
        };
    }
    out
}
