//! Rust: `tests/<name>.rs` over reqwest, as rustfmt would format it, and the `Cargo.toml` that
//! runs it.

use std::fmt::Write;

use serde_json::{Number, Value};

use super::chain::{ChainNotation, link};
use super::language::{self, Chapter, Language, Notation, Patterns, by_pattern, hole};
use super::runtime::When::{Always, If};
use super::value::JsonNotation;
use super::{Run, RunResults};
use crate::http::check::bytes;
use crate::http::lower::LogIn;
use crate::http::plan::{self, Casing, PlannedTest};
use crate::http::statement::{Call, CallBody, Expr, Part, Piece, Statement};
use crate::http::{HttpSuite, JsonPath, Secret, User, external};
use crate::writer::File;
use crate::writer::name::{Names, slug};
use crate::writer::rust::{KEYWORDS, literal};
use crate::writer::text::{is_unprintable, one_line, sentence};

/// Rustfmt keeps a call's arguments, and a chain, on one line up to this length.
const SHORT: usize = 60;
/// Rustfmt's line length.
const WIDTH: usize = 100;
const INDENT: &str = "        ";

const JSON: JsonNotation = JsonNotation {
    null: "null",
    yes: "true",
    no: "false",
    string,
    number,
    key: string,
    brackets: ("[", "]"),
    braces: ("{", "}"),
};

const NOTATION: Notation = Notation {
    name: "rust",
    flags: &[],
    casing: Casing::Snake,
    reserved: &[
        KEYWORDS,
        "api body json error expected text encoded call answer_of last_segment unique value vec format string u16 none \
         some ok err mock_response",
    ],
    reserved_groups: &[KEYWORDS, "service"],
    reserves_tests: true,
    has_user_variables: true,
    literal,
    borrow: "&",
    json_variable: Some("json"),
    blank_after_head: true,
    indents: (8, 8, 8),
    header: ("//! ", "//! - "),
    in_header: str::to_owned,
    separators: ("", "\n"),
    ends: ("    }\n", "}\n"),
    imports: "",
    layout: (usize::MAX, 4, ";"),
    patterns: Patterns {
        status: "$1.status",
        media_type: "$1.media_type()",
        header: "$1.header($2)",
        cookie: "$1.cookie($2)",
        text: "$1.text",
        trimmed_text: "$1.text.trim()",
        json: "$1.json()",
        resolved: "resolved(&$1)",
        comment: "// $1",
        variable: "",
        run: "run($1)",
        succeeded: "assert!($1.status < 400, \"{}\", $1.text)",
        equal: "",
        types: [
            "assert!($1.is_null())",
            "assert!($1.is_boolean())",
            "assert!($1.is_i64() || $1.is_u64())",
            "assert!($1.is_number())",
            "assert!($1.is_string())",
            "assert!($1.is_array())",
            "assert!($1.is_object())",
        ],
        length: "",
        includes: "",
        has: ["assert!(has(&$1, $2))", "assert!(items(&$1).len() > $2)"],
        lacks: ["assert!(!has(&$1, $2))", "assert!(items(&$1).len() <= $2)"],
        has_header: "assert!($1.headers.contains_key($2))",
        contains: "assert!($1.text.contains($2))",
        empty: "assert_eq!($1.text, \"\")",
    },
    before: &[(Always, include_str!("rust/head.rs.txt"))],
    after: &[
        (Always, include_str!("rust/service.rs.txt")),
        (If("free_ports"), include_str!("rust/free_port.rs.txt")),
        (If("free_url"), include_str!("rust/port.rs.txt")),
        (
            If("free_agent"),
            include_str!("rust/free_agent_port.rs.txt"),
        ),
        (If("database"), include_str!("rust/database.rs.txt")),
        (If("external"), include_str!("rust/external.rs.txt")),
    ],
};

/// Writes a Rust integration test over reqwest.
#[derive(Debug)]
pub(crate) struct Rust;

impl Language for Rust {
    fn notation(&self) -> &'static Notation {
        &NOTATION
    }

    fn path(&self, stem: &str) -> String {
        format!("tests/{stem}.rs")
    }

    fn run(&self, _files: &[File]) -> Run {
        let command = ["cargo", "test", "--no-fail-fast", "--test", "*"];
        Run {
            command: command.map(String::from).into(),
            results: RunResults::Libtest,
        }
    }

    fn project(&self, suite: &HttpSuite) -> Vec<File> {
        let is_encrypted = suite.service.base_url.starts_with("https:");
        let tls = if is_encrypted { ", \"rustls-tls\"" } else { "" };
        let manifest = include_str!("rust/Cargo.toml.txt")
            .replace("@name@", &format!("{}_rest", slug(&suite.name)))
            .replace("@tls@", tls);
        let file = |path: &str, text: String| File {
            path: path.into(),
            text,
        };
        vec![
            file("Cargo.toml", manifest),
            file(
                "src/lib.rs",
                "//! Only a place to stand for the tests.\n".into(),
            ),
        ]
    }

    fn values(&self, chapter: &Chapter<'_>) -> Vec<(&'static str, String)> {
        let suite = chapter.suite;
        let services = suite.external_services.iter();
        let services: Vec<String> = services
            .map(|one| format!("({}, {})", literal(&one.name), one.port))
            .collect();
        let mut values = vec![("EXTERNAL_SERVICES", services.join(", "))];
        if suite.free_url().is_none() {
            let base_url = format!("{}.into()", literal(&suite.service.base_url));
            values.push(("BASE_URL", base_url));
        }
        if let Some((before, after)) = suite.free_agent_port() {
            let agent_url = self.joined(before, "AGENT_PORT", after);
            values.push(("AGENT_URL", format!("&{agent_url}")));
        }
        values
    }

    fn joined(&self, before: &str, variable: &str, after: &str) -> String {
        let mut parts = vec![
            literal(before),
            format!("{}()", variable.to_ascii_lowercase()),
        ];
        if !after.is_empty() {
            parts.push(literal(after));
        }
        format!("[{}].concat()", parts.join(", "))
    }

    fn secret(&self, _secret: &Secret) -> String {
        String::new()
    }

    fn log_in(&self, user: &User, log_in: &LogIn<'_>, statements: &str) -> String {
        let mut out = format!(
            "\n    /// Calls by {}.\n    pub async fn {}(&self) -> Caller {{\n{INDENT}let api = self.anonymous();\n{statements}",
            one_line(&user.name),
            slug(&user.name)
        );
        let _ = writeln!(out, "{INDENT}let mut caller = api.clone();");
        for (list, pairs) in [("headers", &log_in.headers), ("query", &log_in.query)] {
            for (name, value) in pairs {
                let value = owned(value);
                if value.chars().count() > SHORT {
                    let _ = writeln!(out, "{INDENT}#[rustfmt::skip]");
                }
                let _ = writeln!(out, "{INDENT}let value = {value};");
                let name = literal(name);
                let _ = writeln!(out, "{INDENT}caller.{list}.push(({name}.into(), value));");
            }
        }
        if log_in.cookies {
            let _ = writeln!(out, "{INDENT}caller.cookies.extend(answer.cookies());");
        }
        let _ = writeln!(out, "{INDENT}caller\n    }}");
        out
    }

    fn group(&self, title: &str, names: &mut Names) -> String {
        format!(
            "\n/// {}\nmod {} {{\n    use super::service::*;\n",
            sentence(title),
            names.unique(slug(title))
        )
    }

    fn scenario(&self, _scenario: &str) -> String {
        String::new()
    }

    fn test(&self, test: &PlannedTest<'_>, name: &str) -> String {
        let mut out = format!("    /// {}\n", sentence(&test.test.name));
        let mut comments = plan::test_comments(test.test);
        if !test.test.scenario.is_empty() {
            comments.insert(0, format!("Scenario: {}", sentence(&test.test.scenario)));
        }
        if !comments.is_empty() {
            let _ = writeln!(out, "    ///\n    /// {}", comments.join("\n    /// "));
        }
        let _ = write!(
            out,
            "    #[tokio::test]\n    async fn {name}() {{\n{INDENT}let api = Api::ready().await;\n"
        );
        let mut users: Vec<&str> = Vec::new();
        for step in &test.steps {
            if let Some(user) = step.step.request.user.as_deref()
                && !users.contains(&user)
            {
                users.push(user);
                let name = slug(user);
                let _ = writeln!(out, "{INDENT}let {name} = api.{name}().await;");
            }
        }
        out
    }

    fn statement(&self, out: &mut String, indent: usize, statement: &Statement<'_>) {
        match statement {
            Statement::Mock(mocked) => {
                let call = external::text_call("mock_response", mocked, literal);
                let _ = writeln!(out, "{INDENT}#[rustfmt::skip]\n{INDENT}{call};");
            }
            Statement::RunSql(statements) => {
                let _ = writeln!(out, "{INDENT}#[rustfmt::skip]\n{INDENT}run_sql(&[");
                for sql in *statements {
                    let _ = writeln!(out, "{INDENT}    {},", literal(sql));
                }
                let _ = writeln!(out, "{INDENT}]);");
            }
            Statement::Let(name, value) => {
                let _ = writeln!(out, "{INDENT}let {name} = {};", captured(value));
            }
            Statement::Row(key, links) => {
                let start = key.as_ref().map(|key| format!("let {key} = "));
                chain(out, &start.unwrap_or_default(), links, &[]);
            }
            Statement::Send(answer, sent) => {
                let links = call(out, sent);
                let start = format!("let {answer} = ");
                chain(out, &start, &links, &[".send()", ".await"]);
            }
            Statement::NoResponse {
                call: sent,
                timed_out,
            } => {
                let links = call(out, sent);
                chain(out, "let error = ", &links, &[".no_answer()", ".await"]);
                let not = if *timed_out { "" } else { "!" };
                let _ = writeln!(
                    out,
                    "{INDENT}assert!({not}error.is_timeout(), \"{{error}}\");"
                );
            }
            Statement::Equal { actual, expected } => equal(out, actual, expected),
            Statement::Length(list, items) => {
                let length = format!("items(&{}).len()", expression(list));
                assert_eq(out, &length, &items.to_string());
            }
            Statement::Includes(list, item) => {
                bound(out, "expected", item, &[]);
                let list = expression(list);
                let _ = writeln!(out, "{INDENT}assert!(items(&{list}).contains(&expected));");
            }
            other => by_pattern(self, out, indent, other),
        }
    }

    fn json(&self, value: &Value, _holes: &[(&JsonPath, Expr<'_>)]) -> String {
        JSON.flat(value)
    }

    fn text(&self, pieces: &[Piece<'_>]) -> String {
        text(pieces)
    }

    fn finish(&self, after: String) -> String {
        let mut out = String::from(
            "\n/// How the service is reached.\n#[allow(dead_code, unused_imports)]\nmod service {\n",
        );
        for line in after.lines() {
            let indent = if line.is_empty() { "" } else { "    " };
            let _ = writeln!(out, "{indent}{line}");
        }
        out + "}\n"
    }
}

/// `let x = caller.call(…).link.link;`, broken where rustfmt breaks it.
fn chain(out: &mut String, start: &str, links: &[String], ends: &[&str]) {
    let mut links: Vec<&str> = links.iter().map(String::as_str).collect();
    links.extend(ends);
    let flat = links.concat();
    let length = flat.chars().count();
    if !flat.contains('\n') && length <= SHORT && INDENT.len() + start.len() + length < WIDTH {
        let _ = writeln!(out, "{INDENT}{start}{flat};");
        return;
    }
    // Rustfmt breaks long arguments by rules of its own.
    let is_long = |link: &&str| link.contains('\n') || link.chars().count() > SHORT;
    if links.iter().any(is_long) {
        let _ = writeln!(out, "{INDENT}#[rustfmt::skip]");
    }
    let links = links.join(&format!("\n{INDENT}    "));
    let _ = writeln!(out, "{INDENT}{start}{links};");
}

fn equal(out: &mut String, actual: &Expr<'_>, expected: &Expr<'_>) {
    let left = expression(actual);
    match (actual, expected) {
        (Expr::At(json, place), Expr::Json(Value::Null, _)) => {
            let pointer = literal(&place.to_string());
            let found = format!("{}.pointer({pointer})", expression(json));
            assert_eq(out, &found, "Some(&Value::Null)");
        }
        (_, Expr::Json(value @ (Value::Array(_) | Value::Object(_)), holes)) => {
            bound(out, "expected", value, holes);
            assert_eq(out, &left, "expected");
        }
        (_, Expr::Variable(name)) => assert_eq(out, &left, name),
        (_, expected) => assert_eq(out, &left, &expression(expected)),
    }
}

fn assert_eq(out: &mut String, left: &str, right: &str) {
    let arguments = format!("{left}, {right}");
    let length = arguments.chars().count();
    let _ = if arguments.contains('\n') {
        writeln!(
            out,
            "{INDENT}#[rustfmt::skip]\n{INDENT}assert_eq!({arguments});"
        )
    } else if length <= SHORT && INDENT.len() + length + 13 <= WIDTH {
        writeln!(out, "{INDENT}assert_eq!({arguments});")
    } else {
        writeln!(
            out,
            "{INDENT}assert_eq!(\n{INDENT}    {left},\n{INDENT}    {right}\n{INDENT});"
        )
    };
}

/// `let name = json!(…);`
fn bound(out: &mut String, name: &str, value: &Value, holes: &[(&JsonPath, Expr<'_>)]) {
    let mut code = String::new();
    let start = format!("let {name} = json!(");
    JSON.layout(&start, value, &|place| hole(holes, place, owned))
        .render(&mut code, INDENT.len(), WIDTH, 2);
    // What rustfmt can read inside of a macro, it formats by rules of its own.
    let long = value.is_array() && code.chars().count() > SHORT;
    if long || code.contains('\n') {
        let _ = writeln!(out, "{INDENT}#[rustfmt::skip]");
    }
    let _ = writeln!(out, "{INDENT}{code});");
}

const CHAIN: ChainNotation = ChainNotation {
    literal,
    text: borrowed,
    bytes: |base64| byte_string(&bytes(base64)),
};

/// The links of a call; a body that takes room is bound before it.
fn call(out: &mut String, call: &Call<'_>) -> Vec<String> {
    let caller = call.user.map_or_else(|| "api".into(), slug);
    let method = literal(call.method);
    let mut links = vec![caller, format!(".call({method}, {})", borrowed(&call.path))];
    CHAIN.pairs(&mut links, call);
    match &call.body {
        None => {}
        Some(CallBody::Json {
            document,
            content_type,
        }) => {
            if let Expr::Json(value, holes) = document {
                bound(out, "body", value, holes);
            }
            let body = [literal(content_type), "body.to_string()".into()];
            link(&mut links, "body", &body);
        }
        Some(body) => CHAIN.body(&mut links, body),
    }
    links
}

fn byte_string(bytes: &[u8]) -> String {
    let mut out = String::from("b\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            0x20..0x7f => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}

/// A part of a response as an expression of type `Value`.
fn captured(value: &Expr<'_>) -> String {
    match value {
        Expr::At(..) => format!("{}.clone()", expression(value)),
        Expr::LastSegment(_) => format!("json!({})", expression(value)),
        Expr::Of(_, Part::Header(_) | Part::Cookie(_) | Part::Text | Part::TrimmedText) => {
            format!("json!({})", expression(value))
        }
        other => expression(other),
    }
}

/// An expression of type `&str`.
fn borrowed(value: &Expr<'_>) -> String {
    match value {
        Expr::Literal(text) => literal(text),
        Expr::Variable(name) => format!("&text(&{name})"),
        other => format!("&{}", expression(other)),
    }
}

/// An expression of type `String`, or of a `Value` that keeps its type inside of `json!`.
fn owned(value: &Expr<'_>) -> String {
    match value {
        Expr::Literal(text) => format!("{}.to_owned()", literal(text)),
        other => expression(other),
    }
}

fn expression(value: &Expr<'_>) -> String {
    match value {
        Expr::LastSegment(reference) => match &**reference {
            found @ Expr::At(..) => format!("last_segment(&text(&{}))", expression(found)),
            other => format!("last_segment(&{})", expression(other)),
        },
        other => language::expression(&Rust, other),
    }
}

/// An expression of type `String`.
fn text(pieces: &[Piece<'_>]) -> String {
    let mut template = String::new();
    let mut fills = Vec::new();
    for piece in pieces {
        fills.push(match piece {
            Piece::Literal(text) => {
                template.push_str(&text.replace('{', "{{").replace('}', "}}"));
                continue;
            }
            Piece::Variable { name, encode: true } => format!("encoded(&{name})"),
            Piece::Variable { name, .. } => format!("text(&{name})"),
            Piece::Secret(secret) => {
                let otherwise = secret.value.as_deref();
                let otherwise = otherwise.map(|text| format!("Some({})", literal(text)));
                let otherwise = otherwise.unwrap_or_else(|| "None".into());
                format!("secret({}, {otherwise})", literal(&secret.variable))
            }
        });
        template.push_str("{}");
    }
    match fills.as_slice() {
        [fill] if template == "{}" => fill.clone(),
        fills => format!("format!({}, {})", literal(&template), fills.join(", ")),
    }
}

/// A string inside of `json!`, always on one line.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' => out.extend(['\\', c]),
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
