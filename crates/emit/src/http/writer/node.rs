//! JavaScript: `node:test` with `fetch` and nothing else, as Prettier would format it.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Number, Value};

use super::value::{Notation, every_scalar, spliced};
use super::{HttpWriter, Lines, UnsupportedTest, WrittenSuite, WrittenTest, run_on};
use crate::http::external;
use crate::http::plan::{self, Casing, PlannedStep, PlannedTest, SuiteFile, Variables};
use crate::http::rows::{self, RowNotation};
use crate::http::suite::{
    AGENT_PORT, Auth, ExpectedOutcome, HttpSuite, HttpTest, Login, PORT, ResetHook, TokenPlacement,
    ValueSource,
};
use crate::http::{
    Body, BodyCheck, ExpectedResponse, JsonKey, JsonPath, JsonType, MultipartPart, PartContent,
    Request, TextPiece,
};
use crate::http::{MockedResponse, SuiteError, Text, UniqueValue, User};
use crate::writer::File;
use crate::writer::layout::Layout;
use crate::writer::name::slug;
use crate::writer::text::{is_unprintable, one_line};

/// Prettier's line length.
const WIDTH: usize = 80;
const INDENT: usize = 4;

const NOTATION: Notation = Notation {
    null: "null",
    yes: "true",
    no: "false",
    string: literal,
    number: Number::to_string,
    key,
    braces: ("{ ", " }"),
};

/// Names that a test must not use for its variables.
const RESERVED: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "assert",
    "call",
    "cookie",
    "last_segment",
    "unique",
    "describe",
    "test",
    "reset",
    "users",
    "proofs",
    "url",
    "json",
    "object",
    "array",
    "number",
    "buffer",
    "process",
    "fetch",
    "stop",
    "name",
    "run_sql",
    "insert_into",
    "row_in",
    "row_of",
    "mock_response",
    "stubs",
    "path_matches",
    "reply",
    "listen",
    "free_port",
    "net",
    "once",
];

const SPELLING: RowNotation = RowNotation {
    into: "insertInto",
    looked_for: ("rowIn", "isThere", "isGone"),
    literal,
    borrow: "",
};

/// Writes a module for Node's own test runner.
#[derive(Debug)]
pub(crate) struct Node;

impl HttpWriter for Node {
    fn name(&self) -> &'static str {
        "js"
    }

    fn write(&self, suite: &HttpSuite) -> Result<WrittenSuite, SuiteError> {
        suite.check()?;
        let (suite, excluded) = super::without(suite, refused_by_fetch);
        let mut files = Vec::new();
        let mut tests = Vec::new();
        let mut names = BTreeSet::new();
        for chapter in plan::chapters(&suite, Casing::Camel, RESERVED, &[]) {
            let path = format!("{}.test.mjs", plan::stem(&suite, &chapter));
            let text = module(&suite, &chapter, &path, &mut names, &mut tests);
            files.push(File { path, text });
        }
        let program = [
            "node",
            "--test",
            // Files would run at once, and share the service.
            "--test-concurrency=1",
            "--test-reporter=junit",
            "--test-reporter-destination=results.xml",
        ];
        let run = run_on(&program, &files);
        Ok(WrittenSuite {
            files,
            tests,
            excluded,
            run,
        })
    }
}

/// What the Fetch standard does not let a program send.
fn refused_by_fetch(test: &HttpTest) -> Option<UnsupportedTest> {
    let steps = test.steps.iter().map(|step| &step.request);
    let reason = steps.into_iter().find_map(|request| {
        let method = request.method.to_ascii_uppercase();
        match method.as_str() {
            "GET" | "HEAD" if request.body.is_some() => {
                Some(format!("fetch sends no body with {method}"))
            }
            "CONNECT" | "TRACE" | "TRACK" => Some(format!("fetch does not send {method}")),
            _ => None,
        }
    })?;
    Some(UnsupportedTest {
        id: test.id.clone(),
        reason,
    })
}

fn module(
    suite: &HttpSuite,
    chapter: &SuiteFile<'_>,
    path: &str,
    names: &mut BTreeSet<String>,
    tests: &mut Vec<WrittenTest>,
) -> String {
    let mut out = String::new();
    let mut comment = |line: &str| {
        let _ = writeln!(out, "{}", format!("// {line}").trim_end());
    };
    for line in plan::header(suite, chapter.faults) {
        comment(&line);
    }
    comment("");
    comment("Needs Node 20 or later. Environment:");
    comment("");
    for line in plan::environment(suite) {
        comment(&format!("  {line}"));
    }
    prelude(&mut out, suite, chapter);
    let mut lines = Lines::default();
    for group in &chapter.groups {
        let _ = writeln!(
            out,
            "\ndescribe({}, () => {{",
            literal(&one_line(group.title))
        );
        let mut scenario = "";
        for (idx, test) in group.tests.iter().enumerate() {
            if idx > 0 {
                out.push('\n');
            }
            if test.test.scenario != scenario {
                scenario = &test.test.scenario;
                let _ = writeln!(out, "  // Scenario: {}\n", one_line(scenario));
            }
            let start_line = lines.at(&out);
            let sentence = one_line(&test.test.name);
            let name = if names.insert(sentence.clone()) {
                sentence
            } else {
                format!("{sentence} ({})", test.name)
            };
            self::test(&mut out, test, &name);
            tests.push(lines.written(&out, test, name, path, start_line));
        }
        out.push_str("});\n");
    }
    helpers(&mut out, suite, chapter);
    out
}

fn prelude(out: &mut String, suite: &HttpSuite, chapter: &SuiteFile<'_>) {
    let uses = plan::uses(suite, chapter);
    let service = &suite.service;
    let users = plan::users(suite, chapter);
    out.push('\n');
    out.push_str("import assert from \"node:assert/strict\";\n");
    let reset_by_command = matches!(service.reset, Some(ResetHook::Command(_)));
    let children: Vec<&str> = [
        (reset_by_command, "execSync"),
        (service.start.is_some(), "spawn"),
        (suite.database.is_some(), "spawnSync"),
    ]
    .into_iter()
    .filter_map(|(used, name)| used.then_some(name))
    .collect();
    if !children.is_empty() {
        let names = children.join(", ");
        let _ = writeln!(out, "import {{ {names} }} from \"node:child_process\";");
    }
    if suite.free_agent_port().is_some() {
        out.push_str("import { randomUUID } from \"node:crypto\";\n");
    }
    if suite.chooses_ports() {
        out.push_str("import { once } from \"node:events\";\n");
    }
    if !suite.external_services.is_empty() {
        out.push_str("import { createServer } from \"node:http\";\n");
    }
    if suite.chooses_ports() {
        out.push_str("import net from \"node:net\";\n");
    }
    let mut names = Vec::new();
    if service.start.is_some() {
        names.push("after");
    }
    let before = service.reset.is_some()
        || !users.is_empty()
        || suite.database.is_some()
        || !suite.external_services.is_empty();
    if before {
        names.push("beforeEach");
    }
    names.extend(["describe", "test"]);
    let _ = writeln!(out, "import {{ {} }} from \"node:test\";", names.join(", "));
    if service.start.is_some() {
        out.push_str("import { setTimeout as sleep } from \"node:timers/promises\";\n");
    }
    if uses.includes {
        out.push_str("import { isDeepStrictEqual } from \"node:util\";\n");
    }
    out.push('\n');
    let given = environment(&service.base_url_variable);
    let mut base_url = literal(&service.base_url);
    if suite.chooses_ports() {
        out.push_str(include_str!("node/free_port.mjs"));
        out.push('\n');
    }
    if let Some(free) = suite.free_url() {
        out.push_str("const PORT = await freePort();\n");
        base_url = at_port(free, "PORT");
    }
    if suite.free_agent_port().is_some() {
        out.push_str("const AGENT_PORT = `${await freePort()}/${randomUUID()}`;\n");
    }
    let _ = writeln!(
        out,
        "const BASE_URL = (\n  {given} ?? {base_url}\n).replace(/\\/+$/, \"\");",
    );
    let _ = writeln!(out, "const TIMEOUT = {};", service.timeout_millis);
    for secret in plan::secrets_of(suite, chapter) {
        let given = environment(&secret.variable);
        let name = constant(&secret.variable);
        let _ = match &secret.value {
            Some(value) => writeln!(out, "const {name} = {given} ?? {};", literal(value)),
            None => writeln!(
                out,
                "const {name} = {given};\nassert.ok({name}, {});",
                literal(&format!("set {}", secret.variable))
            ),
        };
    }
    if !suite.external_services.is_empty() {
        let endpoints = suite
            .external_services
            .iter()
            .map(|one| Layout::Atom(format!("[{}, {}]", literal(&one.name), one.port)));
        Layout::list("const EXTERNAL_SERVICES = [", endpoints, "]").render_by(2, out, 0, WIDTH, 1);
        out.push_str(";\n");
        out.push_str(include_str!("node/external.mjs"));
        out.push_str("\nawait Promise.all(EXTERNAL_SERVICES.map(listen));\n");
    }
    match &service.start {
        None => out.push_str(
            "\n// Fails here when the service is not up.\nawait fetch(BASE_URL, { redirect: \"manual\" });\n",
        ),
        Some(start) => {
            let code = include_str!("node/started.mjs")
                .replace("@GIVEN@", &given)
                .replace("@START@", &started(suite, start));
            out.push_str(&code);
        }
    }
    if before {
        before_each(out, suite, !users.is_empty());
    }
}

/// The command that starts the service: at ports that are free, where it takes any.
fn started(suite: &HttpSuite, fixed: &str) -> String {
    let Some(start) = &suite.service.start_on_free_ports else {
        return literal(fixed);
    };
    let mut code = literal(start);
    if suite.free_url().is_some() {
        let _ = write!(code, ".replaceAll({}, PORT)", literal(PORT));
    }
    if suite.free_agent_port().is_some() {
        let _ = write!(code, ".replaceAll({}, AGENT_PORT)", literal(AGENT_PORT));
    }
    code
}

/// A URL whose port is that of a variable.
fn at_port((before, after): (&str, &str), variable: &str) -> String {
    format!(
        "`{}${{{variable}}}{}`",
        in_template(before),
        in_template(after)
    )
}

fn before_each(out: &mut String, suite: &HttpSuite, users: bool) {
    if users {
        out.push_str("\nlet proofs;\n");
    }
    out.push_str("\nbeforeEach(async () => {\n");
    if users {
        out.push_str("  proofs = {};\n");
    }
    if !suite.external_services.is_empty() {
        out.push_str("  stubs = [];\n");
    }
    match &suite.service.reset {
        None => {}
        Some(ResetHook::Command(command)) => {
            out.push_str("  ");
            let options = Layout::Atom("{ stdio: \"inherit\" }".into());
            Layout::list("execSync(", [Layout::Atom(literal(command)), options], ")")
                .render_by(2, out, 2, WIDTH, 1);
            out.push_str(";\n");
        }
        Some(ResetHook::Call(request)) => {
            out.push_str("  ");
            call("const reset = await ", request, &Variables::new()).render_by(2, out, 2, WIDTH, 1);
            out.push_str(";\n  assert.ok(reset.status < 400, reset.text);\n");
        }
    }
    if let Some(database) = &suite.database
        && !database.setup.is_empty()
    {
        let statements = database.setup.iter();
        let statements = statements.map(|statement| Layout::Atom(literal(statement)));
        out.push_str("  ");
        Layout::list("runSql(", statements, ")").render_by(2, out, 2, WIDTH, 1);
        out.push_str(";\n");
    }
    out.push_str("});\n");
}

fn environment(variable: &str) -> String {
    if is_identifier(variable) {
        format!("process.env.{variable}")
    } else {
        format!("process.env[{}]", literal(variable))
    }
}

fn constant(variable: &str) -> String {
    slug(variable).to_ascii_uppercase()
}

fn helpers(out: &mut String, suite: &HttpSuite, chapter: &SuiteFile<'_>) {
    let uses = plan::uses(suite, chapter);
    let users = plan::users(suite, chapter);
    out.push('\n');
    let call = include_str!("node/call.mjs");
    let call = if users.is_empty() {
        call.replace("@PROOF@\n", "").replace("@USER@", "")
    } else {
        call.replace("@PROOF@\n", include_str!("node/proof.mjs"))
            .replace("@USER@", "user, ")
    };
    out.push_str(&call);
    if let Some(database) = &suite.database {
        let mut code =
            include_str!("node/database.mjs").replace("@GIVEN@", &environment(&database.variable));
        if let Some(free) = suite.free_agent_port() {
            code = code.replace("@AGENT_URL@", &at_port(free, "AGENT_PORT"));
        }
        out.push_str(&rows::helpers(&code, suite, database, literal));
    }
    if uses.captured_cookies {
        out.push_str(include_str!("node/cookie.mjs"));
    }
    if uses.last_segment {
        out.push_str(include_str!("node/last_segment.mjs"));
    }
    if uses.unique_values {
        out.push_str(include_str!("node/unique.mjs"));
    }
    if users.is_empty() {
        return;
    }
    out.push_str("\n// What proves each user's calls.\nfunction proofOf(user) {\n  return {\n");
    for user in users {
        log_in(out, user);
    }
    out.push_str("  }[user]();\n}\n");
}

fn log_in(out: &mut String, user: &User) {
    let (known, unique_values) = plan::unique_values(user, Casing::Camel, RESERVED);
    let name = key(&user.name);
    if let (Auth::Headers(headers), None) = (&user.auth, &user.create) {
        let _ = write!(out, "    {name}: async () => (");
        let headers = pairs("headers: ", headers, &known, true);
        Layout::list("{ ", [headers], " }").render_by(2, out, 4, WIDTH, 2);
        out.push_str("),\n");
        return;
    }
    let _ = writeln!(out, "    {name}: async () => {{");
    for (name, unique) in unique_values {
        make_unique(out, "      ", &name, unique);
    }
    if let Some(create) = &user.create {
        out.push_str("      ");
        call("const created = await ", create, &known).render_by(2, out, 6, WIDTH, 1);
        out.push_str(";\n      assert.ok(created.status < 400, created.text);\n");
    }
    match &user.auth {
        Auth::Headers(headers) => {
            out.push_str("      return ");
            let headers = pairs("headers: ", headers, &known, true);
            Layout::list("{ ", [headers], " }").render_by(2, out, 6, WIDTH, 1);
            out.push_str(";\n");
        }
        Auth::Login(login) => log_in_by_call(out, login, &known),
    }
    out.push_str("    },\n");
}

fn log_in_by_call(out: &mut String, login: &Login, known: &Variables) {
    out.push_str("      ");
    call("const answer = await ", &login.request, known).render_by(2, out, 6, WIDTH, 1);
    out.push_str(";\n      assert.ok(answer.status < 400, answer.text);\n");
    let mut entries = Vec::new();
    if let Some(token) = &login.token {
        let _ = writeln!(out, "      const token = {};", found("answer", &token.from));
        let value = token.template.split("{token}").map(in_template);
        let value = match token.template.as_str() {
            "{token}" => "token".into(),
            _ => format!("`{}`", value.collect::<Vec<_>>().join("${token}")),
        };
        entries.push(match &token.send {
            TokenPlacement::Header(name) => {
                let header = Layout::Atom(format!("{}: {value}", key(name)));
                Layout::list("headers: { ", [header], " }")
            }
            TokenPlacement::Query(name) => {
                let pair = Layout::Atom(format!("{}: {value}", key(name)));
                Layout::list("query: { ", [pair], " }")
            }
        });
    }
    if login.cookies {
        entries.push(Layout::Atom("cookies: answer.cookies".into()));
    }
    out.push_str("      return ");
    let all = if entries.is_empty() {
        Layout::Atom("{}".into())
    } else {
        Layout::list("{ ", entries, " }")
    };
    all.render_by(2, out, 6, WIDTH, 1);
    out.push_str(";\n");
}

fn found(answer: &str, source: &ValueSource) -> String {
    match source {
        ValueSource::Body(place) => at(&format!("{answer}.json"), place),
        ValueSource::Header(name) => format!("{answer}.headers.get({})", literal(name)),
        ValueSource::Text => format!("{answer}.text.trim()"),
        ValueSource::LastSegment(source) => format!("lastSegment({})", found(answer, source)),
        ValueSource::Cookie(name) => format!("cookie({answer}, {})", literal(name)),
    }
}

/// Assigns a text that is made up anew.
fn make_unique(out: &mut String, indent: &str, name: &str, unique: &UniqueValue) {
    let (prefix, suffix) = (literal(&unique.prefix), literal(&unique.suffix));
    let _ = writeln!(
        out,
        "{indent}const {name} = unique({prefix}, {}, {suffix});",
        unique.digits
    );
}

fn test(out: &mut String, test: &PlannedTest<'_>, name: &str) {
    let _ = writeln!(out, "  test({}, async () => {{", literal(name));
    for remark in plan::test_comments(test.test) {
        let _ = writeln!(out, "    // {remark}");
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
            .map_or(String::new(), |key| format!("const {key} = "));
        chain(out, &start, &rows::links(row, &test.known, SPELLING));
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
        chain(out, "", &rows::state_links(row, &test.all_known, SPELLING));
    }
    out.push_str("  });\n");
}

/// A chain of calls, a line each where it is too long for one.
fn chain(out: &mut String, start: &str, links: &[String]) {
    let flat = format!("    {start}{};", links.concat());
    if flat.chars().count() <= WIDTH {
        out.push_str(&flat);
    } else {
        let _ = write!(out, "    {start}{};", links.join("\n      "));
    }
    out.push('\n');
}

/// `mockResponse("rates", "GET", "/latest", 200, {…});`
fn mock_response(out: &mut String, answer: &MockedResponse) {
    let (first, value, last) = external::value_arguments(answer, literal);
    let mut arguments: Vec<Layout> = first.into_iter().map(Layout::Atom).collect();
    arguments.extend(value.map(|value| NOTATION.layout("", value, &|_| None)));
    arguments.extend(last.map(Layout::Atom));
    line(out, Layout::list("mockResponse(", arguments, ")"));
}

fn step(out: &mut String, planned: &PlannedStep<'_>) {
    let PlannedStep {
        step,
        answer,
        known,
        ..
    } = planned;
    if let Some(comment) = &step.comment {
        let _ = writeln!(out, "    // {}", one_line(comment));
    }
    let error = match &step.expect {
        ExpectedOutcome::Response(expected) => {
            line(
                out,
                call(&format!("const {answer} = await "), &step.request, known),
            );
            expectations(out, planned, expected);
            return;
        }
        // A connection that ends is "fetch failed", or "terminated" amid the body.
        ExpectedOutcome::Dropped => "{ name: \"TypeError\" }",
        ExpectedOutcome::TimedOut => "{ name: \"TimeoutError\" }",
    };
    let rejected = [call("", &step.request, known), Layout::Atom(error.into())];
    line(out, Layout::list("await assert.rejects(", rejected, ")"));
}

fn line(out: &mut String, statement: Layout) {
    out.push_str("    ");
    statement.render_by(2, out, INDENT, WIDTH, 1);
    out.push_str(";\n");
}

fn assertion(out: &mut String, method: &str, arguments: Vec<Layout>) {
    line(
        out,
        Layout::list(format!("assert.{method}("), arguments, ")"),
    );
}

fn equal(out: &mut String, actual: String, expected: String) {
    assertion(
        out,
        "equal",
        vec![Layout::Atom(actual), Layout::Atom(expected)],
    );
}

fn ok(out: &mut String, condition: String) {
    assertion(out, "ok", vec![Layout::Atom(condition)]);
}

fn expectations(out: &mut String, planned: &PlannedStep<'_>, expected: &ExpectedResponse) {
    let answer = &planned.answer;
    equal(out, format!("{answer}.status"), expected.status.to_string());
    if let Some(media_type) = &expected.content_type {
        let media_type = literal(&media_type.to_ascii_lowercase());
        equal(out, format!("{answer}.mediaType"), media_type);
    }
    for header in &expected.headers {
        let name = literal(&header.name);
        match &header.value {
            Some(value) => equal(out, format!("{answer}.headers.get({name})"), literal(value)),
            None => ok(out, format!("{answer}.headers.has({name})")),
        }
    }
    for (name, capture) in &planned.captures {
        let _ = writeln!(out, "    const {name} = {};", found(answer, &capture.from));
    }
    for check in &expected.body {
        self::check(out, planned, check);
    }
}

fn check(out: &mut String, planned: &PlannedStep<'_>, check: &BodyCheck) {
    let body = format!("{}.json", planned.answer);
    match check {
        BodyCheck::Equals {
            at: place,
            value,
            placeholders,
        } => {
            let actual = Layout::Atom(at(&body, place));
            let placeholder = |place: &JsonPath| planned.after.filled(placeholders, place, string);
            let expected = NOTATION.layout("", value, &placeholder);
            let deep = value.is_array() || value.is_object();
            let method = if deep { "deepEqual" } else { "equal" };
            assertion(out, method, vec![actual, expected]);
        }
        BodyCheck::Same {
            at: place,
            variable,
        } => assertion(
            out,
            "deepEqual",
            vec![
                Layout::Atom(at(&body, place)),
                Layout::Atom(planned.after.name(variable)),
            ],
        ),
        BodyCheck::Type { at: place, is } => {
            let value = at(&body, place);
            let kind = |name: &str| (format!("typeof {value}"), format!("\"{name}\""));
            match is {
                JsonType::Null => equal(out, value, "null".into()),
                JsonType::Integer => ok(out, format!("Number.isInteger({value})")),
                JsonType::Array => ok(out, format!("Array.isArray({value})")),
                JsonType::Boolean | JsonType::Number | JsonType::String => {
                    let (actual, expected) = kind(match is {
                        JsonType::Boolean => "boolean",
                        JsonType::Number => "number",
                        _ => "string",
                    });
                    equal(out, actual, expected);
                }
                JsonType::Object => equal(
                    out,
                    format!("Object.prototype.toString.call({value})"),
                    "\"[object Object]\"".into(),
                ),
            }
        }
        BodyCheck::Length { at: place, items } => {
            ok(out, format!("Array.isArray({})", at(&body, place)));
            equal(
                out,
                format!("{}.length", at(&body, place)),
                items.to_string(),
            );
        }
        BodyCheck::Includes { at: place, value } => {
            let list = at(&body, place);
            let wanted = NOTATION.layout("", value, &|_| None);
            let test = [Layout::Atom("item".into()), wanted];
            let same = Layout::list("(item) => isDeepStrictEqual(", test, ")");
            let some = Layout::hugging(format!("{list}.some("), vec![same], ")");
            assertion(out, "ok", vec![some]);
        }
        BodyCheck::Present { at: place } => presence(out, &body, place, true),
        BodyCheck::Absent { at: place } => presence(out, &body, place, false),
        BodyCheck::Contains { text } => {
            ok(
                out,
                format!("{}.text.includes({})", planned.answer, literal(text)),
            );
        }
        BodyCheck::TextEquals { text } => {
            equal(out, format!("{}.text", planned.answer), literal(text));
        }
        BodyCheck::Empty => equal(out, format!("{}.text", planned.answer), "\"\"".into()),
    }
}

fn presence(out: &mut String, body: &str, place: &JsonPath, there: bool) {
    match place.split() {
        None => {}
        Some((parent, JsonKey::Name(name))) => {
            let not = if there { "" } else { "!" };
            let parent = at(body, &parent);
            ok(
                out,
                format!("{not}Object.hasOwn({parent}, {})", literal(name)),
            );
        }
        Some((parent, JsonKey::Index(index))) => {
            let sign = if there { ">" } else { "<=" };
            ok(out, format!("{}.length {sign} {index}", at(body, &parent)));
        }
    }
}

/// `call("POST", "/boats", { user: "ada", json: { … } })`
fn call(prefix: &str, request: &Request, known: &Variables) -> Layout {
    let mut options = Vec::new();
    if let Some(user) = &request.user {
        options.push(Layout::Atom(format!("user: {}", literal(user))));
    }
    if !request.query.is_empty() {
        options.push(pairs("query: ", &request.query, known, false));
    }
    let mut headers = request.headers.clone();
    let body = request
        .body
        .as_ref()
        .map(|body| self::body(body, known, &mut headers));
    if !headers.is_empty() {
        options.push(pairs("headers: ", &headers, known, true));
    }
    if !request.cookies.is_empty() {
        options.push(pairs("cookies: ", &request.cookies, known, true));
    }
    options.extend(body);
    let mut arguments = vec![
        Layout::Atom(literal(&request.method)),
        Layout::Atom(path(&request.path, known)),
    ];
    if !options.is_empty() {
        arguments.push(Layout::list("{ ", options, " }"));
    }
    Layout::hugging(format!("{prefix}call("), arguments, ")")
}

/// Pairs as an object, or as a list of pairs where a name comes twice.
fn pairs(prefix: &str, pairs: &[(String, Text)], known: &Variables, once: bool) -> Layout {
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    // An object puts keys that look like numbers first, whatever their order was.
    let ordered = names.iter().any(|name| name.parse::<u32>().is_ok());
    if (names.len() < pairs.len() || ordered) && !once {
        let items = pairs.iter().map(|(name, text)| {
            let pair = [name.clone().into(), text.clone()];
            let pair = pair.map(|text: Text| Layout::Atom(string(&text, known)));
            Layout::list("[", pair, "]")
        });
        return Layout::list(format!("{prefix}["), items, "]");
    }
    let items = pairs
        .iter()
        .map(|(name, text)| property(name, &string(text, known)));
    Layout::list(format!("{prefix}{{ "), items, " }")
}

fn property(name: &str, value: &str) -> Layout {
    let name = key(name);
    Layout::Atom(if name == value {
        name
    } else {
        format!("{name}: {value}")
    })
}

/// The option that carries the body; `headers` gets the media type where fetch would not set it.
fn body(body: &Body, known: &Variables, headers: &mut Vec<(String, Text)>) -> Layout {
    let mut typed = |content_type: &str| plan::name_type(headers, content_type);
    match body {
        Body::Json {
            value,
            placeholders,
            content_type,
        } => {
            let placeholder = |place: &JsonPath| known.filled(placeholders, place, string);
            if content_type != "application/json" {
                typed(content_type);
            }
            if !every_scalar(value, &is_exact) {
                // These numbers are beyond JavaScript's; they are sent as they are written.
                typed(content_type);
                let text = spliced(
                    value,
                    &|place| placeholder(place).map(|code| format!("${{JSON.stringify({code})}}")),
                    &in_template,
                );
                return Layout::Atom(format!("body: `{text}`"));
            }
            NOTATION.layout("json: ", value, &placeholder)
        }
        Body::Form(fields) => {
            let fields = fields.iter().map(|(name, text)| {
                Layout::list(
                    "[",
                    [
                        Layout::Atom(literal(name)),
                        Layout::Atom(string(text, known)),
                    ],
                    "]",
                )
            });
            let fields = Layout::list("[", fields, "]");
            Layout::hugging("body: new URLSearchParams(", vec![fields], ")")
        }
        Body::Multipart(parts) => {
            let parts = parts.iter().map(|part| self::part(part, known));
            Layout::list("parts: [", parts, "]")
        }
        Body::Text { content_type, text } => {
            typed(content_type);
            Layout::Atom(format!("body: {}", string(text, known)))
        }
        Body::Binary {
            content_type,
            base64,
        } => {
            typed(content_type);
            Layout::Atom(format!(
                "body: Buffer.from({}, \"base64\")",
                literal(base64)
            ))
        }
    }
}

/// The arguments of `FormData.append`.
fn part(part: &MultipartPart, known: &Variables) -> Layout {
    let content = match &part.content {
        PartContent::Text(text) => string(text, known),
        PartContent::Base64(base64) => format!("Buffer.from({}, \"base64\")", literal(base64)),
    };
    let is_text = matches!(part.content, PartContent::Text(_));
    let mut items = vec![Layout::Atom(literal(&part.name))];
    if is_text && part.file_name.is_none() && part.content_type.is_none() {
        items.push(Layout::Atom(content));
        return Layout::list("[", items, "]");
    }
    let media_type = match &part.content_type {
        Some(media_type) => format!(", {{ type: {} }}", literal(media_type)),
        None => String::new(),
    };
    items.push(Layout::Atom(format!("new Blob([{content}]{media_type})")));
    items.extend(
        part.file_name
            .as_deref()
            .map(|name| Layout::Atom(literal(name))),
    );
    Layout::list("[", items, "]")
}

/// Whether JavaScript prints the number as it was written.
fn is_exact(value: &Value) -> bool {
    const MAX_SAFE: u64 = (1 << 53) - 1;
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(n), _) => n.unsigned_abs() <= MAX_SAFE,
            (None, Some(_)) => false,
            // JavaScript would print 1.0 as 1.
            (None, None) => number.as_f64().is_some_and(|n| n.fract() != 0.0),
        },
        _ => true,
    }
}

fn path(path: &Text, known: &Variables) -> String {
    if !plan::is_reference(path) {
        return template(path, known, true);
    }
    let reference = match path.as_captured() {
        Some(variable) => known.name(variable),
        None => template(path, known, false),
    };
    format!("new URL({reference}, BASE_URL).href")
}

fn string(text: &Text, known: &Variables) -> String {
    match text.0.as_slice() {
        [TextPiece::Secret(secret)] => constant(&secret.variable),
        [TextPiece::Captured(variable)] => known.name(variable),
        _ => template(text, known, false),
    }
}

fn template(text: &Text, known: &Variables, in_path: bool) -> String {
    if let Some(text) = text.literal() {
        return literal(&text);
    }
    let pieces = text.0.iter().map(|piece| match piece {
        TextPiece::Literal(text) => in_template(text),
        TextPiece::Secret(secret) => format!("${{{}}}", constant(&secret.variable)),
        TextPiece::Captured(variable) => {
            let name = known.name(variable);
            let plain = known.is_plain(variable);
            if in_path && !plain {
                format!("${{encodeURIComponent({name})}}")
            } else {
                format!("${{{name}}}")
            }
        }
    });
    format!("`{}`", pieces.collect::<String>())
}

/// `fetched.json.tags[0]`
fn at(body: &str, place: &JsonPath) -> String {
    let mut out = String::from(body);
    for key in &place.0 {
        let _ = match key {
            JsonKey::Index(index) => write!(out, "[{index}]"),
            JsonKey::Name(name) if is_identifier(name) => write!(out, ".{name}"),
            JsonKey::Name(name) => write!(out, "[{}]", literal(name)),
        };
    }
    out
}

fn is_identifier(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit())
}

fn key(name: &str) -> String {
    if name == "__proto__" {
        // As a plain key it would set the prototype.
        "[\"__proto__\"]".into()
    } else if is_identifier(name) {
        name.into()
    } else {
        literal(name)
    }
}

/// `text` as a string. Prettier prefers double quotes unless they cost more escapes.
pub(crate) fn literal(text: &str) -> String {
    let quote = if text.matches('"').count() > text.matches('\'').count() {
        '\''
    } else {
        '"'
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        escaped(&mut out, c, |c| c == quote);
    }
    out.push(quote);
    out
}

fn in_template(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        escaped(&mut out, c, |c| c == '`' || c == '$');
    }
    out
}

fn escaped(out: &mut String, c: char, special: impl Fn(char) -> bool) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if special(c) => {
            out.push('\\');
            out.push(c);
        }
        c if is_unprintable(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}
