//! Rust: `tests/<name>.rs` over reqwest, as rustfmt would format it, and the `Cargo.toml` that
//! runs it.

use std::fmt::Write;

use serde_json::{Number, Value};

use super::value::Notation;
use super::{HttpWriter, Lines, Run, RunResults, WrittenSuite, WrittenTest};
use crate::http::external;
use crate::http::plan::{self, Casing, PlannedStep, PlannedTest, SuiteFile, Variables};
use crate::http::rows::{self, RowNotation};
use crate::http::suite::{
    AGENT_PORT, Auth, ExpectedOutcome, HttpSuite, Login, PORT, ResetHook, TokenPlacement,
    ValueSource,
};
use crate::http::{
    Body, BodyCheck, ExpectedResponse, JsonKey, JsonPath, JsonType, PartContent, Request, TextPiece,
};
use crate::http::{SuiteError, Text, UniqueValue, User, check::bytes};
use crate::writer::File;
use crate::writer::name::{Names, slug};
use crate::writer::rust::{KEYWORDS, literal};
use crate::writer::text::{is_unprintable, one_line, sentence};

/// Rustfmt keeps a call's arguments, and a chain, on one line up to this length.
const SHORT: usize = 60;
/// Rustfmt's line length.
const WIDTH: usize = 100;
const INDENT: &str = "        ";

const NOTATION: Notation = Notation {
    null: "null",
    yes: "true",
    no: "false",
    string,
    number,
    key: string,
    braces: ("{", "}"),
};

/// Names that the file uses itself.
const TAKEN: &[&str] = &[
    "api",
    "body",
    "json",
    "error",
    "expected",
    "text",
    "encoded",
    "call",
    "answer_of",
    "last_segment",
    "unique",
    "value",
    "vec",
    "format",
    "string",
    "u16",
    "none",
    "some",
    "ok",
    "err",
    "super",
    "mock_response",
];

/// Writes a Rust integration test over reqwest.
#[derive(Debug)]
pub(crate) struct Rust;

impl HttpWriter for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn write(&self, suite: &HttpSuite) -> Result<WrittenSuite, SuiteError> {
        suite.check()?;
        let mut files = Vec::new();
        let mut tests = Vec::new();
        let users: Vec<String> = suite.users.iter().map(|user| slug(&user.name)).collect();
        let mut reserved: Vec<&str> = KEYWORDS.iter().chain(TAKEN).copied().collect();
        reserved.extend(users.iter().map(String::as_str));
        for chapter in plan::chapters(suite, Casing::Snake, &reserved, &reserved) {
            let path = format!("tests/{}.rs", plan::stem(suite, &chapter));
            let text = file(suite, &chapter, &path, &mut tests);
            files.push(File { path, text });
        }
        let tls = if suite.service.base_url.starts_with("https:") {
            ", \"rustls-tls\""
        } else {
            ""
        };
        let manifest = include_str!("rust/Cargo.toml.txt")
            .replace("@name@", &format!("{}_rest", slug(&suite.name)))
            .replace("@tls@", tls);
        files.push(File {
            path: "Cargo.toml".into(),
            text: manifest,
        });
        files.push(File {
            path: "src/lib.rs".into(),
            text: "//! Only a place to stand for the tests.\n".into(),
        });
        let command = ["cargo", "test", "--no-fail-fast", "--test", "*"];
        Ok(WrittenSuite {
            files,
            tests,
            excluded: Vec::new(),
            run: Run {
                command: command.map(String::from).into(),
                results: RunResults::Libtest,
            },
        })
    }
}

fn file(
    suite: &HttpSuite,
    chapter: &SuiteFile<'_>,
    path: &str,
    tests: &mut Vec<WrittenTest>,
) -> String {
    let mut out = String::new();
    for line in plan::header(suite, chapter.faults) {
        let _ = writeln!(out, "{}", format!("//! {line}").trim_end());
    }
    out.push_str("//!\n//! Run with: cargo test. Environment:\n//!\n");
    for line in plan::environment(suite) {
        let _ = writeln!(out, "//! - {}", line.trim_start());
    }
    out.push_str("#![recursion_limit = \"1024\"]\n");
    let mut modules = Names::default();
    modules.unique("service".into());
    for keyword in KEYWORDS {
        modules.unique((*keyword).into());
    }
    let mut lines = Lines::default();
    for group in &chapter.groups {
        let module = modules.unique(slug(group.title));
        let _ = write!(
            out,
            "\n/// {}\nmod {module} {{\n    use super::service::*;\n",
            sentence(group.title)
        );
        for test in &group.tests {
            out.push('\n');
            let start_line = lines.at(&out);
            function(&mut out, test);
            tests.push(lines.written(&out, test, test.name.clone(), path, start_line));
        }
        out.push_str("}\n");
    }
    service(&mut out, suite, chapter);
    out
}

fn service(out: &mut String, suite: &HttpSuite, chapter: &SuiteFile<'_>) {
    let service = &suite.service;
    out.push_str(
        "\n/// How the service is reached.\n#[allow(dead_code, unused_imports)]\nmod service {\n",
    );
    let mut code = include_str!("rust/service.rs.txt")
        .replace("@VARIABLE@", &literal(&service.base_url_variable))
        .replace("@BASE_URL@", &base_url(suite))
        .replace("@TIMEOUT@", &service.timeout_millis.to_string());
    let mut ports = String::new();
    if suite.chooses_ports() {
        code.push_str(include_str!("rust/free_port.rs.txt"));
    }
    if suite.free_url().is_some() {
        code.push_str(include_str!("rust/port.rs.txt"));
        let _ = writeln!(
            ports,
            "    let command = command.replace({}, port());",
            literal(PORT)
        );
    }
    if suite.free_agent_port().is_some() {
        code.push_str(include_str!("rust/free_agent_port.rs.txt"));
        let _ = writeln!(
            ports,
            "    let command = command.replace({}, agent_port());",
            literal(AGENT_PORT)
        );
    }
    code = code.replace("    @PORTS@\n", &ports);
    let start = service
        .start_on_free_ports
        .as_deref()
        .or(service.start.as_deref());
    code = code.replace(
        "@START@",
        &start.map_or("None".into(), |start| format!("Some({})", literal(start))),
    );
    let mut reset = String::new();
    match &service.reset {
        None => {}
        Some(ResetHook::Command(command)) => {
            let _ = writeln!(reset, "        run({});", literal(command));
        }
        Some(ResetHook::Call(request)) => {
            let chain = call("api", request, &Variables::new(), &mut reset);
            statement(&mut reset, "let reset = ", &chain, &[".send()", ".await"]);
            reset.push_str("        assert!(reset.status < 400, \"{}\", reset.text);\n");
        }
    }
    if let Some(database) = &suite.database
        && !database.setup.is_empty()
    {
        reset.push_str("        #[rustfmt::skip]\n        run_sql(&[\n");
        for statement in &database.setup {
            let _ = writeln!(reset, "            {},", literal(statement));
        }
        reset.push_str("        ]);\n");
    }
    code = code.replace("        @RESET@\n", &reset);
    let mut users = String::new();
    for user in plan::users(suite, chapter) {
        log_in(&mut users, user);
    }
    code = code.replace("    @USERS@\n", &users);
    if let Some(database) = &suite.database {
        let mut helper = include_str!("rust/database.rs.txt").to_owned();
        if let Some(free) = suite.free_agent_port() {
            helper = helper.replace(
                "@AGENT_URL@",
                &format!("&{}", at_port(free, "agent_port()")),
            );
        }
        code.push_str(&rows::helpers(&helper, suite, database, literal));
        code.insert_str(
            code.find("use std::process").unwrap_or(0),
            "use std::io::Write;\n",
        );
    }
    if !suite.external_services.is_empty() {
        code.push_str(include_str!("rust/external.rs.txt"));
        let endpoints = suite.external_services.iter();
        let endpoints: Vec<String> = endpoints
            .map(|one| format!("({}, {})", literal(&one.name), one.port))
            .collect();
        let _ = write!(
            code,
            "\nconst EXTERNAL_SERVICES: &[(&str, u16)] = &[{}];\n",
            endpoints.join(", ")
        );
        code = code.replace(
            "        api.up().await;\n",
            "        start_mock_servers();\n        api.up().await;\n",
        );
        let uses = if suite.database.is_some() {
            "use std::io::Read;\n"
        } else {
            "use std::io::{Read, Write};\n"
        };
        let uses = format!("{uses}use std::net::{{TcpListener, TcpStream}};\n");
        code.insert_str(code.find("use std::process").unwrap_or(0), &uses);
    }
    for line in code.lines() {
        if !line.is_empty() {
            out.push_str("    ");
            out.push_str(line);
        }
        out.push('\n');
    }
    out.push_str("}\n");
}

fn base_url(suite: &HttpSuite) -> String {
    match suite.free_url() {
        Some(free) => at_port(free, "port()"),
        None => format!("{}.into()", literal(&suite.service.base_url)),
    }
}

/// A URL whose port is that of a function.
fn at_port((before, after): (&str, &str), port: &str) -> String {
    let mut parts = vec![literal(before), port.to_owned()];
    if !after.is_empty() {
        parts.push(literal(after));
    }
    format!("[{}].concat()", parts.join(", "))
}

fn log_in(out: &mut String, user: &User) {
    let _ = write!(
        out,
        "\n    /// Calls by {}.\n    pub async fn {}(&self) -> Caller {{\n        let api = self.anonymous();\n",
        one_line(&user.name),
        slug(&user.name)
    );
    let (known, unique_values) = plan::unique_values(user, Casing::Snake, KEYWORDS);
    for (name, unique) in unique_values {
        make_unique(out, "        ", &name, unique);
    }
    if let Some(create) = &user.create {
        let chain = call("api", create, &known, out);
        statement(out, "let created = ", &chain, &[".send()", ".await"]);
        out.push_str("        assert!(created.status < 400, \"{}\", created.text);\n");
    }
    match &user.auth {
        Auth::Headers(headers) => {
            out.push_str("        let mut caller = api.clone();\n");
            for (name, value) in headers {
                let value = owned(value, &known);
                if value.chars().count() > SHORT {
                    out.push_str("        #[rustfmt::skip]\n");
                }
                let _ = writeln!(out, "        let value = {value};");
                let name = literal(name);
                let _ = writeln!(out, "        caller.headers.push(({name}.into(), value));");
            }
        }
        Auth::Login(login) => log_in_by_call(out, login, &known),
    }
    out.push_str("        caller\n    }\n");
}

fn log_in_by_call(out: &mut String, login: &Login, known: &Variables) {
    let chain = call("api", &login.request, known, out);
    statement(out, "let answer = ", &chain, &[".send()", ".await"]);
    out.push_str("        assert!(answer.status < 400, \"{}\", answer.text);\n");
    out.push_str("        let mut caller = api.clone();\n");
    if let Some(token) = &login.token {
        let _ = writeln!(
            out,
            "        let token = {};",
            found("answer", &token.from, true)
        );
        let value = format!(
            "{}.replace(\"{{token}}\", &token)",
            literal(&token.template)
        );
        let (list, name) = match &token.send {
            TokenPlacement::Header(name) => ("headers", name),
            TokenPlacement::Query(name) => ("query", name),
        };
        let _ = writeln!(out, "        let value = {value};");
        let _ = writeln!(
            out,
            "        caller.{list}.push(({}.into(), value));",
            literal(name)
        );
    }
    if login.cookies {
        out.push_str("        caller.cookies.extend(answer.cookies());\n");
    }
}

/// A value of a response, as JSON or as text.
fn found(answer: &str, source: &ValueSource, as_text: bool) -> String {
    match source {
        ValueSource::Body(place) => {
            let value = at(&format!("{answer}.json()"), place);
            if as_text {
                format!("text(&{value})")
            } else {
                format!("{value}.clone()")
            }
        }
        ValueSource::Header(name) if as_text => format!("{answer}.header({})", literal(name)),
        ValueSource::Header(name) => format!("json!({answer}.header({}))", literal(name)),
        ValueSource::Text if as_text => format!("{answer}.text.trim()"),
        ValueSource::Text => format!("json!({answer}.text.trim())"),
        ValueSource::LastSegment(source) => {
            let segment = format!("last_segment(&{})", found(answer, source, true));
            if as_text {
                segment
            } else {
                format!("json!({segment})")
            }
        }
        ValueSource::Cookie(name) if as_text => format!("{answer}.cookie({})", literal(name)),
        ValueSource::Cookie(name) => format!("json!({answer}.cookie({}))", literal(name)),
    }
}

/// Assigns a text that is made up anew.
fn make_unique(out: &mut String, indent: &str, name: &str, unique: &UniqueValue) {
    let (prefix, suffix) = (literal(&unique.prefix), literal(&unique.suffix));
    let _ = writeln!(
        out,
        "{indent}let {name} = unique({prefix}, {}, {suffix});",
        unique.digits
    );
}

fn function(out: &mut String, test: &PlannedTest<'_>) {
    let _ = writeln!(out, "    /// {}", sentence(&test.test.name));
    let mut test_comments = plan::test_comments(test.test);
    if !test.test.scenario.is_empty() {
        test_comments.insert(0, format!("Scenario: {}", sentence(&test.test.scenario)));
    }
    if !test_comments.is_empty() {
        out.push_str("    ///\n");
        for remark in test_comments {
            let _ = writeln!(out, "    /// {remark}");
        }
    }
    let _ = writeln!(out, "    #[tokio::test]\n    async fn {}() {{", test.name);
    out.push_str("        let api = Api::ready().await;\n");
    let mut users: Vec<&str> = Vec::new();
    for step in &test.steps {
        if let Some(user) = step.step.request.user.as_deref()
            && !users.contains(&user)
        {
            users.push(user);
            let name = slug(user);
            let _ = writeln!(out, "        let {name} = api.{name}().await;");
        }
    }
    if test.has_preparation() {
        out.push('\n');
    }
    for answer in &test.test.mocks {
        let call = external::text_call("mock_response", answer, literal);
        let _ = writeln!(out, "        #[rustfmt::skip]\n        {call};");
    }
    for (name, unique) in &test.unique_values {
        make_unique(out, "        ", name, unique);
    }
    for (row, key) in &test.rows {
        let links = rows::links(row, &test.known, SPELLING);
        let start = key
            .as_ref()
            .map_or(String::new(), |key| format!("let {key} = "));
        statement(out, &start, &links, &[]);
    }
    for step in &test.steps {
        out.push('\n');
        self::step(out, step);
    }
    if !test.test.expected_rows.is_empty() {
        out.push('\n');
    }
    for row in &test.test.expected_rows {
        let links = rows::state_links(row, &test.all_known, SPELLING);
        statement(out, "", &links, &[]);
    }
    out.push_str("    }\n");
}

const SPELLING: RowNotation = RowNotation {
    into: "insert_into",
    looked_for: ("row_in", "is_there", "is_gone"),
    literal,
    borrow: "&",
};

fn step(out: &mut String, planned: &PlannedStep<'_>) {
    let PlannedStep {
        step,
        answer,
        known,
        ..
    } = planned;
    if let Some(comment) = &step.comment {
        let _ = writeln!(out, "{INDENT}// {}", one_line(comment));
    }
    let caller = match &step.request.user {
        Some(user) => slug(user),
        None => "api".into(),
    };
    let chain = call(&caller, &step.request, known, out);
    let condition = match &step.expect {
        ExpectedOutcome::Response(expected) => {
            statement(
                out,
                &format!("let {answer} = "),
                &chain,
                &[".send()", ".await"],
            );
            expectations(out, planned, expected);
            return;
        }
        ExpectedOutcome::Dropped => "!error.is_timeout()",
        ExpectedOutcome::TimedOut => "error.is_timeout()",
    };
    statement(out, "let error = ", &chain, &[".no_answer()", ".await"]);
    let _ = writeln!(out, "{INDENT}assert!({condition}, \"{{error}}\");");
}

/// `let x = caller.call(…).link.link;`, broken where rustfmt breaks it.
fn statement(out: &mut String, start: &str, chain: &[String], ends: &[&str]) {
    let mut links: Vec<&str> = chain.iter().map(String::as_str).collect();
    links.extend(ends);
    let flat = links.concat();
    let length = flat.chars().count();
    if !flat.contains('\n') && length <= SHORT && INDENT.len() + start.len() + length < WIDTH {
        let _ = writeln!(out, "{INDENT}{start}{flat};");
        return;
    }
    // Rustfmt breaks long arguments by rules of its own.
    if links
        .iter()
        .any(|link| link.contains('\n') || link.chars().count() > SHORT)
    {
        let _ = writeln!(out, "{INDENT}#[rustfmt::skip]");
    }
    let _ = write!(out, "{INDENT}{start}{}", links[0]);
    for link in &links[1..] {
        let _ = write!(out, "\n{INDENT}    {link}");
    }
    out.push_str(";\n");
}

fn expectations(out: &mut String, planned: &PlannedStep<'_>, expected: &ExpectedResponse) {
    let answer = &planned.answer;
    assert_eq(out, format!("{answer}.status"), expected.status.to_string());
    if let Some(media_type) = &expected.content_type {
        let media_type = literal(&media_type.to_ascii_lowercase());
        assert_eq(out, format!("{answer}.media_type()"), media_type);
    }
    for header in &expected.headers {
        let name = literal(&header.name);
        match &header.value {
            Some(value) => assert_eq(out, format!("{answer}.header({name})"), literal(value)),
            None => {
                let _ = writeln!(
                    out,
                    "{INDENT}assert!({answer}.headers.contains_key({name}));"
                );
            }
        }
    }
    for (name, capture) in &planned.captures {
        let _ = writeln!(
            out,
            "{INDENT}let {name} = {};",
            found(answer, &capture.from, false)
        );
    }
    let reads = expected
        .body
        .iter()
        .filter(|check| check.reads_json())
        .count();
    if reads > 0 {
        let _ = writeln!(out, "{INDENT}let json = {answer}.json();");
    }
    for check in &expected.body {
        self::check(out, planned, check);
    }
}

fn assert_eq(out: &mut String, left: String, right: String) {
    let arguments = format!("{left}, {right}");
    let length = arguments.chars().count();
    if arguments.contains('\n') {
        let _ = writeln!(
            out,
            "{INDENT}#[rustfmt::skip]\n{INDENT}assert_eq!({arguments});"
        );
    } else if length <= SHORT && INDENT.len() + length + 13 <= WIDTH {
        let _ = writeln!(out, "{INDENT}assert_eq!({arguments});");
    } else {
        let _ = writeln!(
            out,
            "{INDENT}assert_eq!(\n{INDENT}    {left},\n{INDENT}    {right}\n{INDENT});"
        );
    }
}

fn assert(out: &mut String, condition: &str) {
    let _ = writeln!(out, "{INDENT}assert!({condition});");
}

fn check(out: &mut String, planned: &PlannedStep<'_>, check: &BodyCheck) {
    let answer = &planned.answer;
    match check {
        BodyCheck::Equals {
            at: place,
            value,
            placeholders,
        } => match value {
            Value::Null => {
                let pointer = literal(&place.to_string());
                assert_eq(
                    out,
                    format!("json.pointer({pointer})"),
                    "Some(&Value::Null)".into(),
                );
            }
            Value::Array(_) | Value::Object(_) => {
                bound(out, "expected", value, &|place| {
                    planned.after.filled(placeholders, place, owned)
                });
                assert_eq(out, at("json", place), "expected".into());
            }
            scalar => {
                let expected = NOTATION.flat(scalar);
                assert_eq(out, at("json", place), expected);
            }
        },
        BodyCheck::Same {
            at: place,
            variable,
        } => {
            let variable = planned.after.name(variable);
            assert_eq(out, at("json", place), variable);
        }
        BodyCheck::Type { at: place, is } => {
            let value = at("json", place);
            assert(
                out,
                &match is {
                    JsonType::Null => format!("{value}.is_null()"),
                    JsonType::Boolean => format!("{value}.is_boolean()"),
                    JsonType::Integer => format!("{value}.is_i64() || {value}.is_u64()"),
                    JsonType::Number => format!("{value}.is_number()"),
                    JsonType::String => format!("{value}.is_string()"),
                    JsonType::Array => format!("{value}.is_array()"),
                    JsonType::Object => format!("{value}.is_object()"),
                },
            );
        }
        BodyCheck::Length { at: place, items } => {
            assert_eq(
                out,
                format!("items(&{}).len()", at("json", place)),
                items.to_string(),
            );
        }
        BodyCheck::Includes { at: place, value } => {
            bound(out, "expected", value, &|_| None);
            assert(
                out,
                &format!("items(&{}).contains(&expected)", at("json", place)),
            );
        }
        BodyCheck::Present { at: place } => presence(out, place, ""),
        BodyCheck::Absent { at: place } => presence(out, place, "!"),
        BodyCheck::Contains { text } => {
            assert(out, &format!("{answer}.text.contains({})", literal(text)));
        }
        BodyCheck::TextEquals { text } => {
            assert_eq(out, format!("{answer}.text"), literal(text));
        }
        BodyCheck::Empty => assert_eq(out, format!("{answer}.text"), "\"\"".into()),
    }
}

fn presence(out: &mut String, place: &JsonPath, not: &str) {
    match place.split() {
        None => {}
        Some((parent, JsonKey::Name(name))) => {
            let parent = at("json", &parent);
            assert(out, &format!("{not}has(&{parent}, {})", literal(name)));
        }
        Some((parent, JsonKey::Index(index))) => {
            let parent = at("json", &parent);
            let sign = if not.is_empty() { ">" } else { "<=" };
            assert(out, &format!("items(&{parent}).len() {sign} {index}"));
        }
    }
}

/// `let name = json!(…);`
fn bound(
    out: &mut String,
    name: &str,
    value: &Value,
    placeholder: &dyn Fn(&JsonPath) -> Option<String>,
) {
    let mut code = String::new();
    let start = format!("let {name} = json!(");
    NOTATION
        .layout(&start, value, placeholder)
        .render(&mut code, INDENT.len(), WIDTH, 2);
    // What rustfmt can read inside of a macro, it formats by rules of its own.
    let long = value.is_array() && code.chars().count() > SHORT;
    if long || code.contains('\n') {
        let _ = writeln!(out, "{INDENT}#[rustfmt::skip]");
    }
    let _ = writeln!(out, "{INDENT}{code});");
}

/// The links of a call; bodies that take room are bound before it.
fn call(caller: &str, request: &Request, known: &Variables, out: &mut String) -> Vec<String> {
    let path = path(&request.path, known);
    let mut links = vec![
        caller.to_owned(),
        format!(".call({}, {path})", literal(&request.method)),
    ];
    for (name, value) in &request.query {
        links.push(format!(
            ".query({}, {})",
            literal(name),
            borrowed(value, known)
        ));
    }
    for (name, value) in &request.headers {
        links.push(format!(
            ".header({}, {})",
            literal(name),
            borrowed(value, known)
        ));
    }
    for (name, value) in &request.cookies {
        links.push(format!(
            ".cookie({}, {})",
            literal(name),
            borrowed(value, known)
        ));
    }
    match &request.body {
        None => {}
        Some(Body::Json {
            value,
            placeholders,
            content_type,
        }) => {
            bound(out, "body", value, &|place| {
                known.filled(placeholders, place, owned)
            });
            links.push(format!(
                ".body({}, body.to_string())",
                literal(content_type)
            ));
        }
        Some(Body::Form(fields)) => {
            links.push(".form()".into());
            for (name, value) in fields {
                links.push(format!(
                    ".field({}, {})",
                    literal(name),
                    borrowed(value, known)
                ));
            }
        }
        Some(Body::Multipart(parts)) => {
            links.push(".multipart()".into());
            for part in parts {
                let content = match &part.content {
                    PartContent::Text(text) => borrowed(text, known),
                    PartContent::Base64(base64) => byte_string(&bytes(base64)),
                };
                links.push(format!(
                    ".part({}, {}, {}, {content})",
                    literal(&part.name),
                    literal(part.file_name.as_deref().unwrap_or_default()),
                    literal(part.content_type.as_deref().unwrap_or_default())
                ));
            }
        }
        Some(Body::Text { content_type, text }) => {
            let text = borrowed(text, known);
            links.push(format!(".body({}, {text})", literal(content_type)));
        }
        Some(Body::Binary {
            content_type,
            base64,
        }) => {
            let content = byte_string(&bytes(base64));
            links.push(format!(".body({}, {content})", literal(content_type)));
        }
    }
    links
}

fn byte_string(bytes: &[u8]) -> String {
    let mut out = String::from("b\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            0x20..0x7f => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}

fn path(path: &Text, known: &Variables) -> String {
    if !plan::is_reference(path) {
        return match path.literal() {
            Some(path) => literal(&path),
            None => format!("&{}", formatted(path, known, true)),
        };
    }
    format!("&resolved(&{})", formatted(path, known, false))
}

/// An expression of type `&str`.
fn borrowed(text: &Text, known: &Variables) -> String {
    match text.literal() {
        Some(text) => literal(&text),
        None => format!("&{}", formatted(text, known, false)),
    }
}

/// An expression of type `String`.
fn owned(text: &Text, known: &Variables) -> String {
    match text.literal() {
        Some(text) => format!("{}.to_owned()", literal(&text)),
        None => formatted(text, known, false),
    }
}

fn fill(piece: &TextPiece, known: &Variables, in_path: bool) -> Option<String> {
    match piece {
        TextPiece::Literal(_) => None,
        TextPiece::Captured(variable) => {
            let name = known.name(variable);
            let plain = known.is_plain(variable);
            Some(if in_path && !plain {
                format!("encoded(&{name})")
            } else {
                format!("text(&{name})")
            })
        }
        TextPiece::Secret(secret) => {
            let otherwise = secret.value.as_deref();
            let otherwise =
                otherwise.map_or("None".into(), |text| format!("Some({})", literal(text)));
            Some(format!(
                "secret({}, {otherwise})",
                literal(&secret.variable)
            ))
        }
    }
}

fn formatted(text: &Text, known: &Variables, in_path: bool) -> String {
    if let [piece] = text.0.as_slice()
        && let Some(fill) = fill(piece, known, in_path)
    {
        return fill;
    }
    let mut template = String::new();
    let mut fills = Vec::new();
    for piece in &text.0 {
        match (piece, fill(piece, known, in_path)) {
            (TextPiece::Literal(text), _) => {
                template.push_str(&text.replace('{', "{{").replace('}', "}}"));
            }
            (_, Some(fill)) => {
                template.push_str("{}");
                fills.push(fill);
            }
            (_, None) => {}
        }
    }
    format!("format!({}, {})", literal(&template), fills.join(", "))
}

/// `json["tags"][0]`
fn at(json: &str, place: &JsonPath) -> String {
    let mut out = String::from(json);
    for key in &place.0 {
        let _ = match key {
            JsonKey::Index(index) => write!(out, "[{index}]"),
            JsonKey::Name(name) => write!(out, "[{}]", literal(name)),
        };
    }
    out
}

/// A string inside of `json!`, always on one line.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unprintable(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A number with the type that holds it.
fn number(number: &Number) -> String {
    match (number.as_i64(), number.as_u64()) {
        (Some(n), _) if i32::try_from(n).is_ok() => n.to_string(),
        (Some(n), _) => format!("{n}_i64"),
        (None, Some(n)) => format!("{n}_u64"),
        (None, None) => number.to_string(),
    }
}
