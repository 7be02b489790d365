//! pytest over requests: one file with its fixtures, one function per test, as black would format
//! it.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::language::{
    self, Chapter, Language, Notation, Patterns, by_pattern, constant, hole, is_usual,
};
use super::runtime::When::{Always, If, Unless, Used};
use super::value::JsonNotation;
use super::{Run, run_on};
use crate::http::lower::LogIn;
use crate::http::plan::{self, Casing, PlannedTest};
use crate::http::statement::{Call, CallBody, Expr, FormPart, Pairs, Piece, Statement};
use crate::http::{JsonPath, Secret, User, external};
use crate::writer::File;
use crate::writer::layout::Layout;
use crate::writer::name::{Names, slug};
use crate::writer::pytest::{in_docstring, literal};
use crate::writer::text::{one_line, sentence};

/// Black's line length.
const WIDTH: usize = 88;

const JSON: JsonNotation = JsonNotation {
    null: "None",
    yes: "True",
    no: "False",
    string: literal,
    number: ToString::to_string,
    key: literal,
    brackets: ("[", "]"),
    braces: ("{", "}"),
};

const NOTATION: Notation = Notation {
    name: "pytest",
    flags: &[],
    casing: Casing::Snake,
    reserved: &[
        "and as assert async await break class continue def del elif else except finally for from global if import \
         in is lambda none nonlocal not or pass raise return true false try while with yield api body requests pytest os \
         json str int float list dict type len bool isinstance quote unquote urljoin urlsplit uuid4 base64 media_type \
         last_segment unique dropped base_url timeout insert_into row_in row run_sql mock_servers mock_response \
         path_matches free_port",
    ],
    reserved_groups: &[],
    reserves_tests: false,
    has_user_variables: false,
    literal,
    borrow: "",
    json_variable: Some("body"),
    blank_after_head: false,
    indents: (4, 4, 4),
    header: ("", "  "),
    in_header: in_docstring,
    separators: ("", "\n\n"),
    ends: ("", ""),
    imports: include_str!("pytest/imports.py"),
    layout: (WIDTH, 4, ""),
    patterns: Patterns {
        status: "$1.status_code",
        media_type: "media_type($1)",
        header: "$1.headers[$2]",
        cookie: "$1.cookies[$2]",
        text: "$1.text",
        trimmed_text: "$1.text.strip()",
        json: "$1.json()",
        resolved: "urljoin(BASE_URL, $1)",
        comment: "# $1",
        variable: "$1 = $2",
        run: "subprocess.run(<<$1||shell=True||check=True>>)",
        succeeded: "assert $1.ok, $1.text",
        equal: "",
        types: [
            "assert $1 is None",
            "assert isinstance($1, bool)",
            "assert type($1) is int",
            "assert type($1) in (int, float)",
            "assert isinstance($1, str)",
            "assert isinstance($1, list)",
            "assert isinstance($1, dict)",
        ],
        length: "assert len($1) == $2",
        includes: "assert $2 in $1",
        has: ["assert $2 in $1", "assert len($1) > $2"],
        lacks: ["assert $2 not in $1", "assert len($1) <= $2"],
        has_header: "assert $2 in $1.headers",
        contains: "assert $2 in $1.text",
        empty: "assert not $1.content",
    },
    before: &[
        (Always, include_str!("pytest/head.py")),
        (If("free_ports"), include_str!("pytest/free_port.py")),
        (Always, include_str!("pytest/settings.py")),
        (Used("DROPPED"), include_str!("pytest/dropped.py")),
        (Always, "@SECRETS@"),
        (If("external"), include_str!("pytest/external.py")),
        (If("started"), include_str!("pytest/started.py")),
        (Unless("started"), include_str!("pytest/running.py")),
        (Always, include_str!("pytest/fixture.py")),
        (If("database"), include_str!("pytest/database.py")),
        (Always, include_str!("pytest/api.py")),
        (Used("media_type"), include_str!("pytest/media_type.py")),
        (Used("last_segment"), include_str!("pytest/last_segment.py")),
        (Used("unique"), include_str!("pytest/unique.py")),
        (If("users"), "@USERS@\n@USERS_BY_NAME@"),
    ],
    after: &[],
};

/// Writes a pytest module over requests.
#[derive(Debug)]
pub(crate) struct Pytest;

impl Language for Pytest {
    fn notation(&self) -> &'static Notation {
        &NOTATION
    }

    fn path(&self, stem: &str) -> String {
        format!("test_{stem}.py")
    }

    fn run(&self, files: &[File]) -> Run {
        let program = "python3 -m pytest -q -p no:cacheprovider --junitxml=results.xml";
        run_on(program, files)
    }

    fn values(&self, chapter: &Chapter<'_>) -> Vec<(&'static str, String)> {
        let suite = chapter.suite;
        let header = plan::header(suite, chapter.file.faults);
        let header: Vec<String> = header.iter().map(|line| in_docstring(line)).collect();
        let mut header = header.iter();
        let title = header
            .next()
            .map(|title| sentence(title))
            .unwrap_or_default();
        let others: Vec<&str> = header.map(String::as_str).collect();
        let seconds = suite.service.timeout_millis as f64 / 1000.0;
        let requests = plan::requests(suite, chapter.file);
        let methods = requests.iter().map(|request| request.method.as_str());
        let methods: BTreeSet<&str> = methods.filter(|method| is_usual(method)).collect();
        let methods = methods.iter().map(|method| {
            let name = method.to_ascii_lowercase();
            format!("    {name} = partialmethod(call, \"{method}\")\n")
        });
        let users = chapter.users.iter();
        let users = users
            .map(|user| Layout::Atom(format!("{}: {}", literal(&user.name), log_in_name(user))));
        let services = suite.external_services.iter();
        let services =
            services.map(|one| Layout::Atom(format!("({}, {})", literal(&one.name), one.port)));
        let mut external = String::new();
        Layout::list("EXTERNAL_SERVICES = [", services, "]").render(&mut external, 0, WIDTH, 0);
        let mut users_by_name = String::from("\n\n");
        Layout::list("USERS = {", users, "}").render(&mut users_by_name, 0, WIDTH, 0);
        vec![
            ("HEADER", format!("\"\"\"{title}\n{}\n", others.join("\n"))),
            ("TIMEOUT", seconds.to_string()),
            ("METHODS", methods.collect()),
            ("EXTERNAL_SERVICES", external + "\n"),
            ("USERS_BY_NAME", users_by_name + "\n"),
        ]
    }

    fn joined(&self, before: &str, variable: &str, after: &str) -> String {
        let mut code = format!("{} + {variable}", literal(before));
        if !after.is_empty() {
            let _ = write!(code, " + {}", literal(after));
        }
        code
    }

    fn secret(&self, secret: &Secret) -> String {
        let (name, variable) = (constant(secret), literal(&secret.variable));
        match &secret.value {
            Some(value) => format!("{name} = os.environ.get({variable}, {})\n", literal(value)),
            None => format!("{name} = os.environ[{variable}]\n"),
        }
    }

    /// A function that returns what `requests.request` needs to act as the user.
    fn log_in(&self, user: &User, log_in: &LogIn<'_>, statements: &str) -> String {
        let mut out = format!(
            "\n\ndef {}():\n    \"\"\"What proves that {} calls.\"\"\"\n",
            log_in_name(user),
            in_docstring(&one_line(&user.name))
        );
        if statements.contains("api.") {
            out.push_str("    api = Api()\n");
        }
        out.push_str(statements);
        let mut entries = Vec::new();
        for (name, pairs) in [("headers", &log_in.headers), ("params", &log_in.query)] {
            if !pairs.is_empty() {
                entries.push(dict(&format!("\"{name}\": "), pairs));
            }
        }
        if log_in.cookies {
            let cookies = "\"cookies\": answer.cookies.get_dict()";
            entries.push(Layout::Atom(cookies.into()));
        }
        line(&mut out, 4, Layout::list("return {", entries, "}"));
        out
    }

    fn group(&self, title: &str, _names: &mut Names) -> String {
        format!("\n\n# {}\n", one_line(title))
    }

    fn scenario(&self, scenario: &str) -> String {
        format!("\n\n# Scenario: {}\n", one_line(scenario))
    }

    fn test_name(&self, test: &PlannedTest<'_>, _seen: &mut BTreeSet<String>) -> String {
        format!("test_{}", test.name)
    }

    fn test(&self, test: &PlannedTest<'_>, name: &str) -> String {
        let title = in_docstring(&sentence(&test.test.name));
        let mut out = format!("def {name}(api):\n    \"\"\"{title}");
        let comments = plan::test_comments(test.test);
        for (idx, comment) in comments.iter().enumerate() {
            let blank = if idx == 0 { "\n" } else { "" };
            let _ = write!(out, "{blank}\n    {}", in_docstring(comment));
        }
        out.push_str(if comments.is_empty() {
            "\"\"\"\n"
        } else {
            "\n    \"\"\"\n"
        });
        out
    }

    fn statement(&self, out: &mut String, indent: usize, statement: &Statement<'_>) {
        match statement {
            Statement::Mock(mocked) => {
                let arguments = external::value_arguments(mocked, &JSON);
                line(out, indent, Layout::list("mock_response(", arguments, ")"));
            }
            Statement::RunSql(statements) => {
                let statements = statements.iter().map(|sql| Layout::Atom(literal(sql)));
                line(out, indent, Layout::list("run_sql(", statements, ")"));
            }
            Statement::Row(key, links) => {
                let start = key.as_ref().map(|key| format!("{key} = "));
                chain(out, indent, &start.unwrap_or_default(), links);
            }
            Statement::Send(answer, sent) => line(out, indent, call(&format!("{answer} = "), sent)),
            Statement::NoResponse {
                call: sent,
                timed_out,
            } => {
                let error = if *timed_out {
                    "requests.Timeout"
                } else {
                    "DROPPED"
                };
                line(
                    out,
                    indent,
                    Layout::Atom(format!("with pytest.raises({error}):")),
                );
                line(out, indent + 4, call("", sent));
            }
            Statement::Equal { actual, expected } => {
                let actual = expression(actual);
                match expected {
                    Expr::Json(value @ (Value::Object(_) | Value::Array(_)), holes) => {
                        let start = format!("assert {actual} == ");
                        line(out, indent, document(&start, value, holes));
                    }
                    Expr::Json(Value::Null | Value::Bool(_), _) => {
                        assertion(
                            out,
                            indent,
                            &format!("{actual} is {}", expression(expected)),
                        );
                    }
                    _ => assertion(
                        out,
                        indent,
                        &format!("{actual} == {}", expression(expected)),
                    ),
                }
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
}

fn expression(value: &Expr<'_>) -> String {
    language::expression(&Pytest, value)
}

fn log_in_name(user: &User) -> String {
    format!("log_in_as_{}", slug(&user.name))
}

fn line(out: &mut String, indent: usize, code: Layout) {
    language::line(&NOTATION, out, indent, &code, "");
}

/// A chain of calls, in parentheses where it is too long for a line.
fn chain(out: &mut String, indent: usize, start: &str, links: &[String]) {
    let flat = format!("{start}{}", links.concat());
    let code = if indent + flat.chars().count() <= WIDTH {
        flat
    } else {
        let links = links.join("\n        ");
        format!("{start}(\n        {links}\n    )")
    };
    line(out, indent, Layout::Atom(code));
}

/// `assert condition`, in parentheses where that makes it fit.
fn assertion(out: &mut String, indent: usize, condition: &str) {
    let length = indent + condition.chars().count();
    let is_broken = length + 7 > WIDTH && length + 4 <= WIDTH && !condition.contains('\n');
    let code = if is_broken {
        format!("assert (\n        {condition}\n    )")
    } else {
        format!("assert {condition}")
    };
    line(out, indent, Layout::Atom(code));
}

/// `api.post("/boats", user="ada", json={…})`
fn call(prefix: &str, call: &Call<'_>) -> Layout {
    let mut arguments = Vec::new();
    let open = if is_usual(call.method) {
        format!("{prefix}api.{}(", call.method.to_ascii_lowercase())
    } else {
        arguments.push(Layout::Atom(literal(call.method)));
        format!("{prefix}api.call(")
    };
    arguments.push(Layout::Atom(expression(&call.path)));
    if let Some(user) = call.user {
        arguments.push(Layout::Atom(format!("user={}", literal(user))));
    }
    if !call.query.is_empty() {
        arguments.push(pairs("params=", &call.query));
    }
    // The media type stands in a header where requests would not set it.
    let (content_type, body) = match &call.body {
        Some(body) => self::body(body),
        None => (None, None),
    };
    let headers = call.typed_headers(content_type);
    for (prefix, pairs) in [("headers=", &headers), ("cookies=", &call.cookies)] {
        if !pairs.is_empty() {
            arguments.push(dict(prefix, pairs));
        }
    }
    arguments.extend(body);
    Layout::list(open, arguments, ")")
}

/// Pairs as a dict, or as a list of tuples where a name comes twice.
fn pairs(prefix: &str, pairs: &Pairs<'_>) -> Layout {
    let names: BTreeSet<&str> = pairs.iter().map(|(name, _)| *name).collect();
    if names.len() == pairs.len() {
        return dict(prefix, pairs);
    }
    let tuples = pairs
        .iter()
        .map(|(name, value)| Layout::Atom(format!("({}, {})", literal(name), expression(value))));
    Layout::list(format!("{prefix}["), tuples, "]")
}

fn dict(prefix: &str, pairs: &Pairs<'_>) -> Layout {
    let items = pairs
        .iter()
        .map(|(name, value)| Layout::Atom(format!("{}: {}", literal(name), expression(value))));
    Layout::list(format!("{prefix}{{"), items, "}")
}

/// The media type where requests would not set it, and the argument that carries the body.
fn body<'a>(body: &CallBody<'a>) -> (Option<&'a str>, Option<Layout>) {
    match body {
        CallBody::Json {
            document: Expr::Json(value, holes),
            content_type,
        } if value.is_null() || *content_type != "application/json" => {
            let document = document("", value, holes);
            let dumped = Layout::list("data=json.dumps(", [document], ")");
            (Some(content_type), Some(dumped))
        }
        CallBody::Json { document, .. } => (None, Some(layout("json=", document))),
        CallBody::Form(fields) if fields.is_empty() => (
            Some("application/x-www-form-urlencoded"),
            Some(Layout::Atom("data=\"\"".into())),
        ),
        CallBody::Form(fields) => (None, Some(pairs("data=", fields))),
        CallBody::Multipart(parts) => (
            None,
            Some(Layout::list("files=[", parts.iter().map(part), "]")),
        ),
        CallBody::Text { text, content_type } => {
            // Outside of ASCII, requests and its parts have disagreed on the encoding.
            let is_ascii = matches!(text, Expr::Literal(text) if text.is_ascii());
            let encoded = if is_ascii { "" } else { ".encode()" };
            let data = format!("data={}{encoded}", expression(text));
            (Some(content_type), Some(Layout::Atom(data)))
        }
        CallBody::Binary {
            base64,
            content_type,
        } => {
            let data = format!("data=base64.b64decode({})", literal(base64));
            (Some(content_type), Some(Layout::Atom(data)))
        }
    }
}

fn part(part: &FormPart<'_>) -> Layout {
    let content = match &part.content {
        Ok(text) => expression(text),
        Err(base64) => format!("base64.b64decode({})", literal(base64)),
    };
    let mut items = vec![part.file_name.map_or("None".into(), literal), content];
    items.extend(part.content_type.map(literal));
    let items = Layout::list("(", items.into_iter().map(Layout::Atom), ")");
    Layout::list("(", [Layout::Atom(literal(part.name)), items], ")")
}

fn document(prefix: &str, value: &Value, holes: &[(&JsonPath, Expr<'_>)]) -> Layout {
    JSON.layout(prefix, value, &|place| hole(holes, place, expression))
}

fn layout(prefix: &str, value: &Expr<'_>) -> Layout {
    match value {
        Expr::Json(value, holes) => document(prefix, value, holes),
        other => Layout::Atom(format!("{prefix}{}", expression(other))),
    }
}

/// An expression of type `str`: an f-string, unless it is one variable.
fn text(pieces: &[Piece<'_>]) -> String {
    match pieces {
        [Piece::Secret(secret)] => return constant(secret),
        [
            Piece::Variable {
                name,
                encode: false,
            },
        ] => return format!("str({name})"),
        _ => {}
    }
    // The quotes of the whole must suit all pieces, so they are escaped together.
    let mut whole = String::new();
    let mut fills = Vec::new();
    for piece in pieces {
        let fill = match piece {
            Piece::Literal(text) => {
                whole.push_str(&text.replace('{', "{{").replace('}', "}}"));
                continue;
            }
            Piece::Variable { name, encode: true } => format!("{{quote(str({name}), safe='')}}"),
            Piece::Variable { name, .. } => format!("{{{name}}}"),
            Piece::Secret(secret) => format!("{{{}}}", constant(secret)),
        };
        fills.push(fill);
        whole.push('\u{f8ff}');
    }
    let mut quoted = literal(&whole);
    let inner = quoted.strip_prefix('\'');
    if let Some(inner) = inner.and_then(|inner| inner.strip_suffix('\'')) {
        // The fills use single quotes.
        let inner = inner.replace('"', "\\\"");
        quoted = format!("\"{}\"", inner.replace("\\'", "'"));
    }
    let mut parts = quoted.split('\u{f8ff}');
    let mut out = format!("f{}", parts.next().unwrap_or_default());
    for (part, fill) in parts.zip(fills) {
        out.push_str(&fill);
        out.push_str(part);
    }
    out
}
