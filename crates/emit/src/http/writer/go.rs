//! Go: the `testing` package over `net/http` and nothing else, as gofmt would format it, and the `go.mod` that runs it.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Number, Value};

use super::chain::{ChainNotation, link};
use super::language::{self, Chapter, Language, Notation, Patterns, by_pattern, constant, hole};
use super::runtime::When::{Always, If, Used};
use super::value::JsonNotation;
use super::{Run, RunResults};
use crate::http::lower::LogIn;
use crate::http::plan::{self, Casing, PlannedTest};
use crate::http::statement::{Call, CallBody, Expr, Piece, Statement};
use crate::http::{HttpSuite, JsonPath, Secret, User, external};
use crate::writer::File;
use crate::writer::layout::Layout;
use crate::writer::name::{Names, pascal, slug};
use crate::writer::text::{is_unprintable, one_line};

/// A chain of calls is broken beyond this length; gofmt has none of its own.
const WIDTH: usize = 100;

const JSON: JsonNotation = JsonNotation {
    null: "nil",
    yes: "true",
    no: "false",
    string: literal,
    number,
    key: literal,
    brackets: ("[]any{", "}"),
    braces: ("map[string]any{", "}"),
};

const NOTATION: Notation = Notation {
    name: "go",
    flags: &[],
    casing: Casing::Camel,
    reserved: &[
        "break case chan const continue default defer else fallthrough for func go goto if import interface map package \
         range return select struct switch type var any bool byte error false float64 int iota len nil rune string true t \
         api base64 big bytes call client command contains decoded dropped encoded encode equal exec fmt fields \
         free_port has header has_header hex http includes insert_into io is_type json lacks last_segment length listen log \
         log_in math mime mock_response mock_server multipart net new os parse path_matches port proof rand ready reflect \
         request resolved row row_in run run_sql same secret start stop strings stub stubs succeeded sync syscall testing \
         text textproto time timeout unique url up",
    ],
    reserved_groups: &[],
    reserves_tests: false,
    has_user_variables: false,
    literal,
    borrow: "",
    json_variable: None,
    blank_after_head: true,
    indents: (1, 1, 1),
    header: ("// ", "//   "),
    in_header: str::to_owned,
    separators: ("", "\n"),
    ends: ("}\n", ""),
    imports: include_str!("go/imports.go.txt"),
    layout: (usize::MAX, 1, ""),
    patterns: Patterns {
        status: "$1.status",
        media_type: "$1.mediaType()",
        header: "$1.header.Get($2)",
        cookie: "$1.cookie($2)",
        text: "$1.text",
        trimmed_text: "strings.TrimSpace($1.text)",
        json: "$1",
        resolved: "resolved($1)",
        comment: "// $1",
        variable: "$1 := $2",
        run: "run($1)",
        succeeded: "$1.succeeded()",
        equal: "equal(t, $1, $2)",
        types: [
            "isType(t, $1, \"null\")",
            "isType(t, $1, \"boolean\")",
            "isType(t, $1, \"integer\")",
            "isType(t, $1, \"number\")",
            "isType(t, $1, \"string\")",
            "isType(t, $1, \"array\")",
            "isType(t, $1, \"object\")",
        ],
        length: "length(t, $1, $2)",
        includes: "includes(t, $1, $2)",
        has: ["has(t, $1, $2)"; 2],
        lacks: ["lacks(t, $1, $2)"; 2],
        has_header: "hasHeader(t, $1, $2)",
        contains: "contains(t, $1.text, $2)",
        empty: "equal(t, $1.text, \"\")",
    },
    before: &[(Always, include_str!("go/head.go.txt"))],
    after: &[
        (Always, include_str!("go/service.go.txt")),
        (If("database"), include_str!("go/database.go.txt")),
        (If("external"), include_str!("go/external.go.txt")),
        (Used("resolved"), include_str!("go/resolved.go.txt")),
        (Used("lastSegment"), include_str!("go/last_segment.go.txt")),
        (Always, include_str!("go/unique.go.txt")),
        (Used("decoded"), include_str!("go/decoded.go.txt")),
    ],
};

/// Writes a Go test package over `net/http`.
#[derive(Debug)]
pub(crate) struct Go;

impl Language for Go {
    fn notation(&self) -> &'static Notation {
        &NOTATION
    }

    /// A package each, because both have a runtime of their own.
    fn path(&self, stem: &str) -> String {
        format!("{stem}/{stem}_test.go")
    }

    fn run(&self, _files: &[File]) -> Run {
        // Packages would run at once, and share the service.
        let command = "go test -count=1 -p 1 -v ./...".split(' ');
        Run {
            command: command.map(str::to_owned).collect(),
            results: RunResults::Libtest,
        }
    }

    fn project(&self, suite: &HttpSuite) -> Vec<File> {
        vec![File {
            path: "go.mod".into(),
            text: format!("module {}_rest\n\ngo 1.22\n", slug(&suite.name)),
        }]
    }

    fn values(&self, chapter: &Chapter<'_>) -> Vec<(&'static str, String)> {
        let services = chapter.suite.external_services.iter();
        let services =
            services.map(|one| format!("\tlisten({}, {})\n", literal(&one.name), one.port));
        vec![
            ("PACKAGE", format!("{}_test", chapter.stem)),
            ("EXTERNAL_SERVICES", services.collect()),
        ]
    }

    fn joined(&self, before: &str, variable: &str, after: &str) -> String {
        let after = match after {
            "" => String::new(),
            after => format!("+{}", literal(after)),
        };
        format!("{}+{}{after}", literal(before), go_name(variable))
    }

    fn secret(&self, secret: &Secret) -> String {
        let (name, variable) = (secret_name(secret), literal(&secret.variable));
        let otherwise = literal(secret.value.as_deref().unwrap_or_default());
        format!("var {name} = environment({variable}, {otherwise})\n")
    }

    fn log_in(&self, user: &User, log_in: &LogIn<'_>, statements: &str) -> String {
        let mut out = format!("\tcase {}:\n", literal(&user.name));
        for line in statements.lines() {
            let _ = writeln!(out, "\t{line}");
        }
        for (list, pairs) in [("headers", &log_in.headers), ("query", &log_in.query)] {
            for (name, value) in pairs {
                let (name, value) = (literal(name), expression(value));
                let _ = writeln!(out, "\t\tproof.{list}[{name}] = {value}");
            }
        }
        if log_in.cookies {
            out.push_str("\t\tproof.cookies = answer.cookies\n");
        }
        out
    }

    fn group(&self, title: &str, _names: &mut Names) -> String {
        format!("\n// {}\n", one_line(title))
    }

    fn scenario(&self, scenario: &str) -> String {
        format!("\n// Scenario: {}\n", one_line(scenario))
    }

    fn test_name(&self, test: &PlannedTest<'_>, seen: &mut BTreeSet<String>) -> String {
        let name = format!("Test{}", pascal(&test.name));
        // `TestMain` is no test.
        if name != "TestMain" && seen.insert(name.clone()) {
            name
        } else {
            format!("{name}_{}", seen.len())
        }
    }

    fn test(&self, test: &PlannedTest<'_>, name: &str) -> String {
        let mut out = format!("// {name}: {}\n", one_line(&test.test.name));
        for comment in plan::test_comments(test.test) {
            let _ = writeln!(out, "// {comment}");
        }
        let api = if test.steps.is_empty() { "" } else { "api := " };
        let _ = writeln!(out, "func {name}(t *testing.T) {{\n\t{api}ready(t)");
        out
    }

    fn statement(&self, out: &mut String, indent: usize, statement: &Statement<'_>) {
        let code = match statement {
            Statement::Mock(mocked) => external::text_call("mockResponse", mocked, literal),
            Statement::RunSql(statements) => {
                let statements = statements.iter();
                let statements = statements.map(|sql| format!("\t\t{},\n", literal(sql)));
                format!("runSql(\n{}\t)", statements.collect::<String>())
            }
            Statement::Row(key, links) => {
                let start = key.as_ref().map(|key| format!("{key} := "));
                chain(&start.unwrap_or_default(), links)
            }
            Statement::Send(answer, sent) => chain(&format!("{answer} := "), &call(sent, "send")),
            Statement::NoResponse {
                call: sent,
                timed_out,
            } => {
                let end = if *timed_out { "timesOut" } else { "isDropped" };
                chain("", &call(sent, end))
            }
            other => return by_pattern(self, out, indent, other),
        };
        language::line(&NOTATION, out, indent, &Layout::Atom(code), "");
    }

    /// A document, always on one line: gofmt would align its values otherwise.
    fn json(&self, value: &Value, holes: &[(&JsonPath, Expr<'_>)]) -> String {
        let mut out = String::new();
        JSON.layout("", value, &|place| hole(holes, place, expression))
            .render(&mut out, 0, usize::MAX, 0);
        out
    }

    fn text(&self, pieces: &[Piece<'_>]) -> String {
        pieces.iter().map(piece).collect::<Vec<_>>().join(" + ")
    }

    fn at(&self, json: &str, place: &JsonPath) -> String {
        let keys: Vec<String> = place.0.iter().map(|key| self.key(key)).collect();
        format!("{json}.at({})", keys.join(", "))
    }

    /// A variable that nothing reads is an error in Go; its value must be found all the same.
    fn finish_test(&self, code: String) -> String {
        let mut out = String::with_capacity(code.len());
        let names = names(&code);
        for line in code.lines() {
            let name = line.trim().split_once(" := ").map_or("", |(name, _)| name);
            if !name.is_empty() && names.iter().filter(|known| *known == name).count() == 1 {
                out.push_str(&line.replacen(&format!("{name} := "), "_ = ", 1));
            } else {
                out.push_str(line);
            }
            out.push('\n');
        }
        out
    }
}

fn expression(value: &Expr<'_>) -> String {
    language::expression(&Go, value)
}

/// An expression as an argument, where gofmt leaves no blanks around operators.
fn argument(value: &Expr<'_>) -> String {
    match value {
        Expr::Text(pieces) => pieces.iter().map(piece).collect::<Vec<_>>().join("+"),
        Expr::Resolved(reference) => format!("resolved({})", argument(reference)),
        other => expression(other),
    }
}

fn piece(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Literal(text) => literal(text),
        Piece::Variable { name, encode: true } => format!("encoded({name})"),
        Piece::Variable { name, .. } => format!("text({name})"),
        Piece::Secret(secret) => secret_name(secret),
    }
}

fn chain(start: &str, links: &[String]) -> String {
    let flat = format!("{start}{}", links.concat());
    if flat.chars().count() <= WIDTH {
        return flat;
    }
    let links: Vec<&str> = links
        .iter()
        .map(|link| link.trim_start_matches('.'))
        .collect();
    format!("{start}{}", links.join(".\n\t\t"))
}

const CHAIN: ChainNotation = ChainNotation {
    literal,
    text: argument,
    bytes: |base64| format!("decoded({})", literal(base64)),
};

/// `api.call("POST", "/boats").by("ada").json(…).send()`
fn call(call: &Call<'_>, end: &str) -> Vec<String> {
    let (method, path) = (literal(call.method), argument(&call.path));
    let mut links = vec![format!("api.call({method}, {path})")];
    if let Some(user) = call.user {
        link(&mut links, "by", &[literal(user)]);
    }
    CHAIN.pairs(&mut links, call);
    match &call.body {
        None => {}
        Some(CallBody::Json {
            document,
            content_type,
        }) => {
            link(&mut links, "json", &[expression(document)]);
            if *content_type != "application/json" {
                link(&mut links, "typed", &[literal(content_type)]);
            }
        }
        Some(body) => CHAIN.body(&mut links, body),
    }
    link(&mut links, end, &[]);
    links
}

/// The names in code, without those of members and those inside of strings.
fn names(code: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut quote = None;
    let mut before = ' ';
    for c in code.chars() {
        match quote {
            Some(end) => {
                if c == end && (before != '\\' || end == '`') {
                    quote = None;
                }
                // An escaped backslash escapes nothing.
                before = if before == '\\' { ' ' } else { c };
                continue;
            }
            None if c == '"' || c == '`' => quote = Some(c),
            None if c.is_ascii_alphanumeric() || c == '_' => {
                if let Some(name) = names.last_mut() {
                    name.push(c);
                }
            }
            None => names.push(if c == '.' { ".".into() } else { String::new() }),
        }
        before = c;
    }
    names
}

/// The variable of a secret.
fn secret_name(secret: &Secret) -> String {
    format!("secret{}", pascal(&constant(secret).to_ascii_lowercase()))
}

/// `AGENT_PORT` as `agentPort`.
fn go_name(constant: &str) -> String {
    Casing::Camel.spell(&constant.to_ascii_lowercase())
}

/// A number, by its text where Go would print it in another way.
fn number(number: &Number) -> String {
    let is_plain = number.is_i64() || number.as_f64().is_some_and(|n| n.fract() != 0.0);
    if is_plain {
        number.to_string()
    } else {
        format!("json.Number(\"{number}\")")
    }
}

/// `text` as a string: raw where that saves escapes.
fn literal(text: &str) -> String {
    let is_plain = !text.contains('`') && !text.contains(is_unprintable);
    if is_plain && text.contains(['"', '\\']) {
        return format!("`{text}`");
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unprintable(c) => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
