//! JavaScript for `node:test` and TypeScript for vitest, with `fetch` and nothing else, as Prettier would format them.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Number, Value};

use super::language::{self, Chapter, Language, Notation, Patterns, by_pattern, constant, hole};
use super::runtime::When::{Always, If, Unless, Used};
use super::value::{JsonNotation, every_scalar, spliced};
use super::{Run, run_on};
use crate::http::lower::LogIn;
use crate::http::plan::{self, Casing, PlannedTest};
use crate::http::statement::{Call, CallBody, Expr, FormPart, Pairs, Piece, Statement};
use crate::http::{HttpSuite, HttpTest, JsonKey, JsonPath, Secret, User, external};
use crate::writer::File;
use crate::writer::layout::Layout;
use crate::writer::name::{Names, slug};
use crate::writer::text::{is_unprintable, one_line};

/// Prettier's line length.
const WIDTH: usize = 80;

const JSON: JsonNotation = JsonNotation {
    null: "null",
    yes: "true",
    no: "false",
    string: literal,
    number: Number::to_string,
    key,
    brackets: ("[", "]"),
    braces: ("{ ", " }"),
};

const NODE: Notation = Notation {
    name: "js",
    flags: &["js"],
    casing: Casing::Camel,
    reserved: &[
        "arguments await break case catch class const continue debugger default delete do else enum eval export \
         extends false finally for function if implements import in instanceof interface let new null package private \
         protected public return static super switch this throw true try typeof undefined var void while with yield \
         assert call cookie expect last_segment unique describe test reset users proofs url json object array number \
         buffer process fetch stop name run_sql insert_into row_in row_of mock_response stubs path_matches reply listen \
         free_port net once",
    ],
    reserved_groups: &[],
    reserves_tests: false,
    has_user_variables: false,
    literal,
    borrow: "",
    json_variable: None,
    blank_after_head: false,
    indents: (4, 6, 2),
    header: ("// ", "//   "),
    in_header: str::to_owned,
    separators: ("\n", ""),
    ends: ("  });\n", "});\n"),
    imports: include_str!("node/imports.mjs"),
    layout: (WIDTH, 2, ";"),
    patterns: Patterns {
        status: "$1.status",
        media_type: "$1.mediaType",
        header: "$1.headers.get($2)",
        cookie: "cookie($1, $2)",
        text: "$1.text",
        trimmed_text: "$1.text.trim()",
        json: "$1.json",
        resolved: "new URL($1, BASE_URL).href",
        comment: "// $1",
        variable: "const $1 = $2",
        run: "execSync(<<$1||{ stdio: \"inherit\" }>>)",
        succeeded: "assert.ok($1.status < 400, $1.text)",
        equal: "assert.equal(<<$1||$2>>)",
        types: [
            "assert.equal(<<$1||null>>)",
            "assert.equal(<<typeof $1||\"boolean\">>)",
            "assert.ok(<<Number.isInteger($1)>>)",
            "assert.equal(<<typeof $1||\"number\">>)",
            "assert.equal(<<typeof $1||\"string\">>)",
            "assert.ok(<<Array.isArray($1)>>)",
            "assert.equal(<<Object.prototype.toString.call($1)||\"[object Object]\">>)",
        ],
        // It must be an array before its length counts.
        length: "assert.ok(<<Array.isArray($1)>>)\nassert.equal(<<$1.length||$2>>)",
        includes: "",
        has: [
            "assert.ok(<<Object.hasOwn($1, $2)>>)",
            "assert.ok(<<$1.length > $2>>)",
        ],
        lacks: [
            "assert.ok(<<!Object.hasOwn($1, $2)>>)",
            "assert.ok(<<$1.length <= $2>>)",
        ],
        has_header: "assert.ok(<<$1.headers.has($2)>>)",
        contains: "assert.ok(<<$1.text.includes($2)>>)",
        empty: "assert.equal(<<$1.text||\"\">>)",
    },
    before: &[
        (Always, include_str!("node/head.mjs")),
        (If("free_ports"), include_str!("node/free_port.mjs")),
        (Always, include_str!("node/settings.mjs")),
        (If("external"), include_str!("node/external.mjs")),
        (If("started"), include_str!("node/started.mjs")),
        (Unless("started"), include_str!("node/running.mjs")),
        (If("prepared"), include_str!("node/before_each.mjs")),
    ],
    after: &[
        (Always, include_str!("node/call.mjs")),
        (If("database"), include_str!("node/database.mjs")),
        (Used("cookie"), include_str!("node/cookie.mjs")),
        (Used("lastSegment"), include_str!("node/last_segment.mjs")),
        (Used("unique"), include_str!("node/unique.mjs")),
        (If("users"), include_str!("node/users.mjs")),
    ],
};

const VITEST: Notation = Notation {
    name: "ts",
    flags: &["ts"],
    imports: include_str!("node/imports.ts"),
    patterns: Patterns {
        equal: "expect($1).toBe(<<$2>>)",
        types: [
            "expect($1).toBeNull()",
            "expect($1).toBeTypeOf(\"boolean\")",
            "expect(Number.isInteger($1)).toBe(true)",
            "expect($1).toBeTypeOf(\"number\")",
            "expect($1).toBeTypeOf(\"string\")",
            "expect(Array.isArray($1)).toBe(true)",
            "expect(Object.prototype.toString.call($1)).toBe(\"[object Object]\")",
        ],
        length: "expect(Array.isArray($1)).toBe(true)\nexpect($1).toHaveLength($2)",
        has: [
            "expect(Object.hasOwn($1, $2)).toBe(true)",
            "expect($1.length).toBeGreaterThan($2)",
        ],
        lacks: [
            "expect(Object.hasOwn($1, $2)).toBe(false)",
            "expect($1.length).toBeLessThanOrEqual($2)",
        ],
        has_header: "expect($1.headers.has($2)).toBe(true)",
        contains: "expect($1.text).toContain(<<$2>>)",
        empty: "expect($1.text).toBe(\"\")",
        ..NODE.patterns
    },
    ..NODE
};

/// Writes modules of one of the two.
#[derive(Debug, PartialEq)]
pub(crate) enum JavaScript {
    /// For Node's own test runner.
    Node,
    /// TypeScript for vitest.
    Vitest,
}

impl Language for JavaScript {
    fn notation(&self) -> &'static Notation {
        match self {
            JavaScript::Node => &NODE,
            JavaScript::Vitest => &VITEST,
        }
    }

    fn path(&self, stem: &str) -> String {
        match self {
            JavaScript::Node => format!("{stem}.test.mjs"),
            JavaScript::Vitest => format!("{stem}.test.ts"),
        }
    }

    fn run(&self, files: &[File]) -> Run {
        match self {
            JavaScript::Node => {
                // Files would run at once, and share the service.
                let program = "node --test --test-concurrency=1 --test-reporter=junit";
                run_on(
                    &format!("{program} --test-reporter-destination=results.xml"),
                    files,
                )
            }
            JavaScript::Vitest => {
                let install = "npm install --no-audit --no-fund --loglevel=error";
                let test = "npx vitest run --reporter=junit --outputFile=results.xml";
                let mut run = run_on("sh -c", &[]);
                run.command.push(format!("{install} && {test}"));
                run
            }
        }
    }

    fn project(&self, suite: &HttpSuite) -> Vec<File> {
        let file = |path: &str, text: &str| File {
            path: path.into(),
            text: text.replace("@name@", &slug(&suite.name)),
        };
        match self {
            JavaScript::Node => Vec::new(),
            JavaScript::Vitest => vec![
                file("package.json", include_str!("node/package.json")),
                file("tsconfig.json", include_str!("node/tsconfig.json")),
                file("vitest.config.ts", include_str!("node/vitest.config.ts")),
            ],
        }
    }

    /// What the Fetch standard does not let a program send.
    fn refusal(&self, test: &HttpTest) -> Option<String> {
        test.steps.iter().find_map(|step| {
            let method = step.request.method.to_ascii_uppercase();
            match method.as_str() {
                "GET" | "HEAD" if step.request.body.is_some() => {
                    Some(format!("fetch sends no body with {method}"))
                }
                "CONNECT" | "TRACE" | "TRACK" => Some(format!("fetch does not send {method}")),
                _ => None,
            }
        })
    }

    fn values(&self, chapter: &Chapter<'_>) -> Vec<(&'static str, String)> {
        let suite = chapter.suite;
        let services = suite.external_services.iter();
        let services =
            services.map(|one| Layout::Atom(format!("[{}, {}]", literal(&one.name), one.port)));
        let mut external = String::new();
        let open = match self {
            JavaScript::Node => "const EXTERNAL_SERVICES = [",
            JavaScript::Vitest => "const EXTERNAL_SERVICES: [string, number][] = [",
        };
        line(&mut external, 0, Layout::list(open, services, "]"));
        let database = suite.database.as_ref();
        let database = database.map(|one| environment(&one.variable));
        vec![
            ("GIVEN", environment(&suite.service.base_url_variable)),
            ("DATABASE", database.unwrap_or_default()),
            ("EXTERNAL_SERVICES", external),
            (
                "STRING",
                if *self == JavaScript::Vitest {
                    ": string"
                } else {
                    ""
                }
                .into(),
            ),
        ]
    }

    fn joined(&self, before: &str, variable: &str, after: &str) -> String {
        let (before, after) = (in_template(before), in_template(after));
        format!("`{before}${{{variable}}}{after}`")
    }

    fn secret(&self, secret: &Secret) -> String {
        let (name, given) = (constant(secret), environment(&secret.variable));
        match &secret.value {
            Some(value) => format!("const {name} = {given} ?? {};\n", literal(value)),
            None => {
                let unset = literal(&format!("set {}", secret.variable));
                format!("const {name} = {given};\nassert.ok({name}, {unset});\n")
            }
        }
    }

    fn log_in(&self, user: &User, log_in: &LogIn<'_>, statements: &str) -> String {
        let name = key(&user.name);
        let mut entries = Vec::new();
        for (name, pairs) in [("headers: ", &log_in.headers), ("query: ", &log_in.query)] {
            if !pairs.is_empty() {
                entries.push(object(name, pairs));
            }
        }
        if log_in.cookies {
            entries.push(Layout::Atom("cookies: answer.cookies".into()));
        }
        let proof = |open: &str| match entries.as_slice() {
            [] => Layout::Atom(format!("{open}{{}}")),
            entries => Layout::list(format!("{open}{{ "), entries.to_vec(), " }"),
        };
        let mut out = format!("    {name}: async () => ");
        if statements.is_empty() {
            out.push('(');
            proof("").render_by(2, &mut out, 4, WIDTH, 2);
            out.push_str("),\n");
        } else {
            let _ = write!(out, "{{\n{statements}");
            line(&mut out, 6, proof("return "));
            out.push_str("    },\n");
        }
        out
    }

    fn group(&self, title: &str, _names: &mut Names) -> String {
        // Results say it before the name of a test, with this between them.
        let title = one_line(title).replace(" > ", " - ");
        format!("\ndescribe({}, () => {{\n", literal(&title))
    }

    fn scenario(&self, scenario: &str) -> String {
        format!("  // Scenario: {}\n\n", one_line(scenario))
    }

    fn test_name(&self, test: &PlannedTest<'_>, seen: &mut BTreeSet<String>) -> String {
        let sentence = one_line(&test.test.name);
        if seen.insert(sentence.clone()) {
            sentence
        } else {
            format!("{sentence} ({})", test.name)
        }
    }

    fn test(&self, test: &PlannedTest<'_>, name: &str) -> String {
        let mut out = format!("  test({}, async () => {{\n", literal(name));
        for comment in plan::test_comments(test.test) {
            let _ = writeln!(out, "    // {comment}");
        }
        out
    }

    fn statement(&self, out: &mut String, indent: usize, statement: &Statement<'_>) {
        let is_node = *self == JavaScript::Node;
        let code = match statement {
            Statement::Row(key, links) => {
                let start = key.as_ref().map(|key| format!("const {key} = "));
                let start = start.unwrap_or_default();
                let flat = format!("{start}{}", links.concat());
                Layout::Atom(if indent + flat.chars().count() < WIDTH {
                    flat
                } else {
                    format!("{start}{}", links.join(&format!("\n{:1$}", "", indent + 2)))
                })
            }
            Statement::Mock(mocked) => {
                let arguments = external::value_arguments(mocked, &JSON);
                Layout::list("mockResponse(", arguments, ")")
            }
            Statement::RunSql(statements) => {
                let statements = statements.iter().map(|sql| Layout::Atom(literal(sql)));
                Layout::list("runSql(", statements, ")")
            }
            Statement::Send(answer, sent) => call(&format!("const {answer} = await "), sent),
            Statement::NoResponse {
                call: sent,
                timed_out,
            } => {
                // A connection that ends is "fetch failed", or "terminated" amid the body.
                let (error, rejects) = if *timed_out {
                    (
                        "{ name: \"TimeoutError\" }",
                        ").rejects.toMatchObject({ name: \"TimeoutError\" })",
                    )
                } else {
                    (
                        "{ name: \"TypeError\" }",
                        ").rejects.toMatchObject({ name: \"TypeError\" })",
                    )
                };
                let call = call("", sent);
                if is_node {
                    let rejected = [call, Layout::Atom(error.into())];
                    Layout::list("await assert.rejects(", rejected, ")")
                } else {
                    Layout::list("await expect(", [call], rejects)
                }
            }
            Statement::Equal { actual, expected } => {
                let actual = expression(actual);
                let expected = match expected {
                    Expr::Json(value @ (Value::Array(_) | Value::Object(_)), holes) => {
                        document("", value, holes)
                    }
                    Expr::Variable(name) => Layout::Atom(name.clone()),
                    _ => return by_pattern(self, out, indent, statement),
                };
                if is_node {
                    Layout::list("assert.deepEqual(", [Layout::Atom(actual), expected], ")")
                } else {
                    Layout::hugging(format!("expect({actual}).toEqual("), vec![expected], ")")
                }
            }
            Statement::Includes(list, item) => {
                let (list, item) = (expression(list), JSON.layout("", item, &|_| None));
                if is_node {
                    let same = [Layout::Atom("item".into()), item];
                    let same = Layout::list("(item) => isDeepStrictEqual(", same, ")");
                    let some = Layout::hugging(format!("{list}.some("), vec![same], ")");
                    Layout::list("assert.ok(", [some], ")")
                } else {
                    let open = format!("expect({list}).toContainEqual(");
                    Layout::hugging(open, vec![item], ")")
                }
            }
            other => return by_pattern(self, out, indent, other),
        };
        line(out, indent, code);
    }

    fn json(&self, value: &Value, _holes: &[(&JsonPath, Expr<'_>)]) -> String {
        JSON.flat(value)
    }

    fn text(&self, pieces: &[Piece<'_>]) -> String {
        let part = |piece: &Piece<'_>| match piece {
            Piece::Literal(text) => in_template(text),
            Piece::Secret(secret) => format!("${{{}}}", constant(secret)),
            Piece::Variable { name, encode: true } => format!("${{encodeURIComponent({name})}}"),
            Piece::Variable { name, .. } => format!("${{{name}}}"),
        };
        match pieces {
            [Piece::Secret(secret)] => constant(secret),
            [
                Piece::Variable {
                    name,
                    encode: false,
                },
            ] => name.clone(),
            pieces => format!("`{}`", pieces.iter().map(part).collect::<String>()),
        }
    }

    fn at(&self, json: &str, place: &JsonPath) -> String {
        let keys = place.0.iter().map(|key| match key {
            JsonKey::Name(name) if is_identifier(name) => format!(".{name}"),
            key => format!("[{}]", self.key(key)),
        });
        json.to_owned() + &keys.collect::<String>()
    }
}

fn expression(value: &Expr<'_>) -> String {
    language::expression(&JavaScript::Node, value)
}

/// `call("POST", "/boats", { user: "ada", json: { … } })`
fn call(prefix: &str, call: &Call<'_>) -> Layout {
    let mut options = Vec::new();
    if let Some(user) = call.user {
        options.push(Layout::Atom(format!("user: {}", literal(user))));
    }
    if !call.query.is_empty() {
        options.push(query(&call.query));
    }
    // The media type stands in a header where fetch would not set it.
    let (content_type, body) = match &call.body {
        Some(body) => self::body(body),
        None => (None, None),
    };
    let headers = call.typed_headers(content_type);
    for (prefix, pairs) in [("headers: ", &headers), ("cookies: ", &call.cookies)] {
        if !pairs.is_empty() {
            options.push(object(prefix, pairs));
        }
    }
    options.extend(body);
    let mut arguments = vec![
        Layout::Atom(literal(call.method)),
        Layout::Atom(expression(&call.path)),
    ];
    if !options.is_empty() {
        arguments.push(Layout::list("{ ", options, " }"));
    }
    Layout::hugging(format!("{prefix}call("), arguments, ")")
}

/// The media type where fetch would not set it, and the option that carries the body.
fn body<'a>(body: &CallBody<'a>) -> (Option<&'a str>, Option<Layout>) {
    match body {
        CallBody::Json {
            document: Expr::Json(value, holes),
            content_type,
        } if !every_scalar(value, &is_exact) => {
            // These numbers are beyond JavaScript's; they are sent as they are written.
            let fill = |value: &Expr<'_>| format!("${{JSON.stringify({})}}", expression(value));
            let text = spliced(value, &|place| hole(holes, place, fill), &in_template);
            (
                Some(content_type),
                Some(Layout::Atom(format!("body: `{text}`"))),
            )
        }
        CallBody::Json {
            document,
            content_type,
        } => {
            let content_type = Some(*content_type).filter(|one| *one != "application/json");
            let document = match document {
                Expr::Json(value, holes) => self::document("json: ", value, holes),
                other => Layout::Atom(format!("json: {}", expression(other))),
            };
            (content_type, Some(document))
        }
        CallBody::Form(fields) => {
            let fields = Layout::list("[", fields.iter().map(pair), "]");
            let fields = Layout::hugging("body: new URLSearchParams(", vec![fields], ")");
            (None, Some(fields))
        }
        CallBody::Multipart(parts) => (
            None,
            Some(Layout::list("parts: [", parts.iter().map(part), "]")),
        ),
        CallBody::Text { text, content_type } => {
            let body = format!("body: {}", expression(text));
            (Some(content_type), Some(Layout::Atom(body)))
        }
        CallBody::Binary {
            base64,
            content_type,
        } => {
            let body = format!("body: Buffer.from({}, \"base64\")", literal(base64));
            (Some(content_type), Some(Layout::Atom(body)))
        }
    }
}

fn document(prefix: &str, value: &Value, holes: &[(&JsonPath, Expr<'_>)]) -> Layout {
    JSON.layout(prefix, value, &|place| hole(holes, place, expression))
}

fn line(out: &mut String, indent: usize, code: Layout) {
    language::line(&NODE, out, indent, &code, ";");
}

fn environment(variable: &str) -> String {
    if is_identifier(variable) {
        format!("process.env.{variable}")
    } else {
        format!("process.env[{}]", literal(variable))
    }
}

/// Pairs as an object, or as a list of pairs where a name comes twice.
fn query(pairs: &Pairs<'_>) -> Layout {
    let names: BTreeSet<&str> = pairs.iter().map(|(name, _)| *name).collect();
    // An object puts keys that look like numbers first, whatever their order was.
    let ordered = names.iter().any(|name| name.parse::<u32>().is_ok());
    if names.len() < pairs.len() || ordered {
        Layout::list("query: [", pairs.iter().map(pair), "]")
    } else {
        object("query: ", pairs)
    }
}

fn pair((name, value): &(&str, Expr<'_>)) -> Layout {
    Layout::list(
        "[",
        [literal(name), expression(value)].map(Layout::Atom),
        "]",
    )
}

fn object(prefix: &str, pairs: &Pairs<'_>) -> Layout {
    let properties = pairs.iter().map(|(name, value)| {
        let (name, value) = (key(name), expression(value));
        Layout::Atom(if name == value {
            name
        } else {
            format!("{name}: {value}")
        })
    });
    Layout::list(format!("{prefix}{{ "), properties, " }")
}

/// The arguments of `FormData.append`.
fn part(part: &FormPart<'_>) -> Layout {
    let content = match &part.content {
        Ok(text) => expression(text),
        Err(base64) => format!("Buffer.from({}, \"base64\")", literal(base64)),
    };
    let mut items = vec![literal(part.name)];
    if part.content.is_ok() && part.file_name.is_none() && part.content_type.is_none() {
        items.push(content);
    } else {
        let media_type = part.content_type;
        let media_type = media_type.map(|one| format!(", {{ type: {} }}", literal(one)));
        items.push(format!(
            "new Blob([{content}]{})",
            media_type.unwrap_or_default()
        ));
        items.extend(part.file_name.map(literal));
    }
    Layout::list("[", items.into_iter().map(Layout::Atom), "]")
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
fn literal(text: &str) -> String {
    let is_single = text.matches('"').count() > text.matches('\'').count();
    let quote = if is_single { '\'' } else { '"' };
    let text = escaped(text, |c| c == quote);
    format!("{quote}{text}{quote}")
}

fn in_template(text: &str) -> String {
    escaped(text, |c| c == '`' || c == '$')
}

fn escaped(text: &str, special: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if special(c) => out.extend(['\\', c]),
            c if is_unprintable(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
