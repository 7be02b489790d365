//! Java and Kotlin: JUnit 5 over REST Assured, a nested class per operation, and the `pom.xml` that runs it.

use std::fmt::Write;

use serde_json::Value;

use super::language::{
    Chapter, Language, Notation, Patterns, by_pattern, constant, expression, hole, is_usual,
};
use super::runtime::When::{Always, If, Unless, Used};
use super::value::spliced;
use super::{Run, RunResults};
use crate::http::lower::LogIn;
use crate::http::plan::{self, Casing, PlannedTest};
use crate::http::statement::{Call, CallBody, Expr, FormPart, Piece, Statement};
use crate::http::{HttpSuite, JsonPath, Secret, User, external};
use crate::writer::File;
use crate::writer::junit::{KEYWORDS, comment, escaped};
use crate::writer::name::{Names, pascal, slug};
use crate::writer::text::one_line;

/// Google's Java line length.
const WIDTH: usize = 100;

const JAVA: Notation = Notation {
    name: "junit",
    flags: &[],
    casing: Casing::Camel,
    reserved: &[
        KEYWORDS,
        "at mediatype api call json text dropped proof users string object list map record var response reset url base_url \
         timeout proofs equals hashcode tostring getclass notifyall login start stop mock_response standin listen reply \
         path_matches stubs port agent_port freeport command",
    ],
    reserved_groups: &[
        "Test Nested DisplayName Tag Response String Object List Map Request System URI Thread Process Files Proof Base64 \
         Stub HttpServer HttpExchange InetSocketAddress InetAddress ServerSocket UncheckedIOException",
    ],
    reserves_tests: true,
    has_user_variables: false,
    literal: java_literal,
    borrow: "",
    json_variable: None,
    blank_after_head: false,
    indents: (6, 8, 4),
    header: ("// ", "//   "),
    in_header: in_comment,
    separators: ("\n", ""),
    ends: ("    }\n", "  }\n"),
    imports: include_str!("junit/imports.java"),
    layout: (usize::MAX, 2, ";"),
    patterns: Patterns {
        status: "$1.statusCode()",
        media_type: "mediaType($1)",
        header: "$1.header($2)",
        cookie: "$1.cookie($2)",
        text: "$1.asString()",
        trimmed_text: "$1.asString().trim()",
        json: "$1",
        resolved: "URI.create(BASE_URL).resolve($1).toString()",
        comment: "",
        variable: "Object $1 = $2",
        run: "Process process = new ProcessBuilder(\"sh\", \"-c\", $1).inheritIO().start()\n\
              assertEquals(0, process.waitFor())",
        succeeded: "assertTrue($1.statusCode() < 400, $1.asString())",
        equal: "assertEquals($2, $1)",
        types: [
            "assertNull($1)",
            "assertInstanceOf(Boolean.class, $1)",
            "assertTrue(isInteger($1))",
            "assertInstanceOf(Number.class, $1)",
            "assertInstanceOf(String.class, $1)",
            "assertInstanceOf(List.class, $1)",
            "assertInstanceOf(Map.class, $1)",
        ],
        length: "assertEquals($2, ((List<?>) $1).size())",
        includes: "assertTrue(((List<?>) $1).contains($2))",
        has: [
            "assertTrue(((Map<?, ?>) $1).containsKey($2))",
            "assertTrue(((List<?>) $1).size() > $2)",
        ],
        lacks: [
            "assertFalse(((Map<?, ?>) $1).containsKey($2))",
            "assertFalse(((List<?>) $1).size() > $2)",
        ],
        has_header: "assertTrue($1.headers().hasHeaderWithName($2))",
        contains: "assertTrue($1.asString().contains($2), $1.asString())",
        empty: "assertEquals(\"\", $1.asString())",
    },
    before: &[
        (Always, include_str!("junit/head.java")),
        (If("started"), include_str!("junit/started.java")),
        (Unless("started"), include_str!("junit/running.java")),
        (If("free_ports"), include_str!("junit/free_port.java")),
        (Always, include_str!("junit/reset.java")),
    ],
    after: &[
        (Always, include_str!("junit/helpers.java")),
        (If("database"), include_str!("junit/database.java")),
        (If("external"), include_str!("junit/external.java")),
        (Used("lastSegment"), include_str!("junit/last_segment.java")),
        (Used("unique"), include_str!("junit/unique.java")),
        (Always, "}"),
    ],
};

const KOTLIN: Notation = Notation {
    name: "kotlin",
    literal: kotlin_literal,
    reserved: &[
        KEYWORDS,
        "as fun in is object typealias val var when by it field at media_type anonymous json to_json proof proofs log_in \
         environment last_segment unique run_sql insert_into row_in row mock_response stubs stub listen reply path_matches \
         free_port equals hash_code to_string base_url timeout port agent_port string any list map response is_integer \
         assert_dropped assert_timed_out service reset",
    ],
    indents: (12, 12, 8),
    ends: ("        }\n", "    }\n"),
    imports: include_str!("kotlin/imports.kt"),
    layout: (usize::MAX, 4, ""),
    patterns: Patterns {
        variable: "val $1 = $2",
        run: "assertEquals(0, ProcessBuilder(\"sh\", \"-c\", $1).inheritIO().start().waitFor())",
        types: [
            "assertNull($1)",
            "assertTrue($1 is Boolean)",
            "assertTrue(isInteger($1))",
            "assertTrue($1 is Number)",
            "assertTrue($1 is String)",
            "assertTrue($1 is List<*>)",
            "assertTrue($1 is Map<*, *>)",
        ],
        length: "assertEquals($2, ($1 as List<*>).size)",
        includes: "assertTrue(($1 as List<*>).contains($2))",
        has: [
            "assertTrue(($1 as Map<*, *>).containsKey($2))",
            "assertTrue(($1 as List<*>).size > $2)",
        ],
        lacks: [
            "assertFalse(($1 as Map<*, *>).containsKey($2))",
            "assertFalse(($1 as List<*>).size > $2)",
        ],
        ..JAVA.patterns
    },
    before: &[(Always, include_str!("kotlin/head.kt"))],
    after: &[
        (Always, include_str!("kotlin/helpers.kt")),
        (If("database"), include_str!("kotlin/database.kt")),
        (If("external"), include_str!("kotlin/external.kt")),
        (Used("lastSegment"), include_str!("kotlin/last_segment.kt")),
        (Used("unique"), include_str!("kotlin/unique.kt")),
    ],
    ..JAVA
};

/// Writes JUnit 5 classes over REST Assured.
#[derive(Debug, PartialEq)]
pub(crate) enum Jvm {
    /// In Java.
    Java,
    /// In Kotlin.
    Kotlin,
}

impl Language for Jvm {
    fn notation(&self) -> &'static Notation {
        match self {
            Jvm::Java => &JAVA,
            Jvm::Kotlin => &KOTLIN,
        }
    }

    fn path(&self, stem: &str) -> String {
        match self {
            Jvm::Java => format!("src/test/java/{}Test.java", pascal(stem)),
            Jvm::Kotlin => format!("src/test/kotlin/{}Test.kt", pascal(stem)),
        }
    }

    fn run(&self, _files: &[File]) -> Run {
        Run {
            command: ["mvn", "-q", "-B", "test"].map(String::from).into(),
            results: RunResults::JunitXml {
                folder: "target/surefire-reports".into(),
                prefix: "TEST-".into(),
            },
        }
    }

    fn project(&self, suite: &HttpSuite) -> Vec<File> {
        let pom = match self {
            Jvm::Java => include_str!("junit/pom.xml"),
            Jvm::Kotlin => include_str!("kotlin/pom.xml"),
        };
        vec![File {
            path: "pom.xml".into(),
            text: pom.replace("@artifact@", &slug(&suite.name)),
        }]
    }

    fn values(&self, chapter: &Chapter<'_>) -> Vec<(&'static str, String)> {
        let services = chapter.suite.external_services.iter();
        let services = services.map(|one| {
            let (name, end) = (self.literal(&one.name), self.end());
            format!("    listen({name}, {}){end}\n", one.port)
        });
        vec![
            ("CLASS", format!("{}Test", pascal(&chapter.stem))),
            ("PACKAGE", format!("{}_tests", chapter.stem)),
            ("TITLE", self.literal(&one_line(&chapter.suite.title))),
            ("EXTERNAL_SERVICES", services.collect()),
        ]
    }

    fn joined(&self, before: &str, variable: &str, after: &str) -> String {
        format!(
            "{} + {variable} + {}",
            self.literal(before),
            self.literal(after)
        )
    }

    fn secret(&self, secret: &Secret) -> String {
        let otherwise = secret.value.as_deref();
        let otherwise = otherwise.map_or("null".into(), |value| self.literal(value));
        let (name, variable) = (constant(secret), self.literal(&secret.variable));
        match self {
            Jvm::Java => format!(
                "  private static final String {name} = environment({variable}, {otherwise});\n"
            ),
            Jvm::Kotlin => format!("private val {name} = environment({variable}, {otherwise})\n"),
        }
    }

    fn log_in(&self, user: &User, log_in: &LogIn<'_>, statements: &str) -> String {
        let name = self.literal(&user.name);
        let (mut out, indent) = match self {
            Jvm::Java => (format!("      case {name} -> {{\n{statements}"), 8),
            Jvm::Kotlin => (format!("        {name} -> {{\n{statements}"), 12),
        };
        for (list, pairs) in [("headers", &log_in.headers), ("query", &log_in.query)] {
            for (name, value) in pairs {
                let (name, value) = (self.literal(name), expression(self, value));
                let _ = match self {
                    Jvm::Java => {
                        writeln!(out, "{:indent$}proof.{list}.put({name}, {value});", "")
                    }
                    Jvm::Kotlin => writeln!(out, "{:indent$}proof.{list}[{name}] = {value}", ""),
                };
            }
        }
        if log_in.cookies {
            let end = self.end();
            let _ = writeln!(
                out,
                "{:indent$}proof.cookies.putAll(answer.cookies()){end}",
                ""
            );
        }
        let _ = writeln!(
            out,
            "{:1$}}}",
            "",
            indent - if *self == Jvm::Java { 2 } else { 4 }
        );
        out
    }

    fn group(&self, title: &str, names: &mut Names) -> String {
        let name = names.unique(pascal(title));
        let title = self.literal(&one_line(title));
        match self {
            Jvm::Java => format!("\n  @Nested\n  @DisplayName({title})\n  class {name} {{\n"),
            Jvm::Kotlin => {
                format!("\n    @Nested\n    @DisplayName({title})\n    inner class {name} {{\n")
            }
        }
    }

    fn scenario(&self, scenario: &str) -> String {
        let indent = self.notation().ends.0.len() - 2;
        let scenario = comment(&format!("Scenario: {scenario}"));
        format!("{:indent$}{scenario}\n\n", "")
    }

    fn test(&self, test: &PlannedTest<'_>, name: &str) -> String {
        let mut lines: Vec<String> = plan::test_comments(test.test)
            .iter()
            .map(|line| comment(line))
            .collect();
        lines.push("@Test".into());
        if !test.test.faults.is_empty() {
            lines.push("@Tag(\"fault\")".into());
        }
        let title = self.literal(&one_line(&test.test.name));
        lines.push(format!("@DisplayName({title})"));
        lines.push(match self {
            Jvm::Java => format!("void {name}() throws Exception {{"),
            Jvm::Kotlin => format!("fun {name}() {{"),
        });
        let indent = self.notation().ends.0.len() - 2;
        let lines = lines.iter().map(|line| format!("{:indent$}{line}\n", ""));
        lines.collect()
    }

    fn statement(&self, out: &mut String, indent: usize, statement: &Statement<'_>) {
        let next = |by: usize| format!("\n{:1$}", "", indent + by);
        let code = match statement {
            Statement::Comment(text) => {
                let _ = writeln!(out, "{:indent$}{}", "", comment(text));
                return;
            }
            Statement::Mock(mocked) => {
                external::text_call("mockResponse", mocked, |text| self.literal(text))
            }
            Statement::RunSql(statements) => {
                let next = next(4);
                let statements = statements.iter().map(|sql| self.literal(sql));
                let statements: Vec<String> = statements.collect();
                format!("runSql({next}{})", statements.join(&format!(",{next}")))
            }
            Statement::Let(name, found @ Expr::Unique(_)) => {
                format!(
                    "{} {}",
                    self.declared("String", name),
                    expression(self, found)
                )
            }
            Statement::Row(Some(key), links) => {
                let (first, rest) = (next(4), next(8));
                format!(
                    "{}{first}{}",
                    self.declared("Object", key),
                    links.join(&rest)
                )
            }
            Statement::Row(None, links) => links.join(&next(4)),
            Statement::Send(answer, call) => {
                let call = self.call(call, indent + 4);
                format!("{}{}{call}", self.declared("Response", answer), next(4))
            }
            Statement::NoResponse { call, timed_out } => {
                let assertion = if *timed_out {
                    "assertTimedOut"
                } else {
                    "assertDropped"
                };
                if *self == Jvm::Java {
                    let call = self.call(call, indent + 8);
                    format!("{assertion}({}() ->{}{call})", next(4), next(8))
                } else {
                    let call = self.call(call, indent + 4);
                    format!("{assertion} {{{}{call}{}}}", next(4), next(0))
                }
            }
            // Only what is compared with JSON is ever too long for a line.
            Statement::Equal {
                actual: actual @ Expr::At(..),
                expected,
            } => {
                let (actual, expected) = (expression(self, actual), expression(self, expected));
                let flat = format!("assertEquals({expected}, {actual})");
                if indent + flat.chars().count() < WIDTH {
                    flat
                } else {
                    let next = next(4);
                    format!("assertEquals({next}{expected},{next}{actual})")
                }
            }
            other => return by_pattern(self, out, indent, other),
        };
        let _ = writeln!(out, "{:indent$}{code}{}", "", self.end());
    }

    fn json(&self, value: &Value, holes: &[(&JsonPath, Expr<'_>)]) -> String {
        match value {
            Value::Null => "null".into(),
            Value::Bool(flag) => flag.to_string(),
            Value::String(text) => self.literal(text),
            Value::Number(number) if number.is_i64() => match number.as_i64() {
                Some(n) if i32::try_from(n).is_err() => format!("{n}L"),
                _ => number.to_string(),
            },
            value => format!("json({})", self.json_text(value, holes)),
        }
    }

    fn at(&self, json: &str, place: &JsonPath) -> String {
        let keys = place.0.iter().map(|key| format!(", {}", self.key(key)));
        format!("at({json}{})", keys.collect::<String>())
    }

    /// An expression of type `String`.
    fn text(&self, pieces: &[Piece<'_>]) -> String {
        match pieces {
            [Piece::Secret(secret)] => return constant(secret),
            [Piece::Variable { name, .. }] => return format!("{name}.toString()"),
            _ => {}
        }
        let part = |piece: &Piece<'_>| match piece {
            Piece::Literal(text) => self.literal(text),
            Piece::Variable { name, .. } => name.clone(),
            Piece::Secret(secret) => constant(secret),
        };
        let mut parts: Vec<String> = pieces.iter().map(part).collect();
        if *self == Jvm::Kotlin {
            let parts = pieces.iter().zip(&parts).map(|(piece, part)| match piece {
                Piece::Literal(_) => {
                    let bare = part
                        .strip_prefix('"')
                        .and_then(|part| part.strip_suffix('"'));
                    bare.unwrap_or(part).to_owned()
                }
                _ => format!("${{{part}}}"),
            });
            return format!("\"{}\"", parts.collect::<String>());
        }
        if !parts.first().is_some_and(|first| first.starts_with('"')) {
            parts.insert(0, "\"\"".into());
        }
        parts.join(" + ")
    }
}

impl Jvm {
    fn end(&self) -> &'static str {
        self.notation().layout.2
    }

    fn literal(&self, text: &str) -> String {
        (self.notation().literal)(text)
    }

    /// A declaration, up to the line on which its value begins.
    fn declared(&self, class: &str, name: &str) -> String {
        match self {
            Jvm::Java => format!("{class} {name} ="),
            Jvm::Kotlin => format!("val {name} ="),
        }
    }

    /// `as("ada").queryParam("a", "b").get("/boats")`, a link per line where it is too long.
    fn call(&self, call: &Call<'_>, indent: usize) -> String {
        let mut links = Vec::new();
        for (name, value) in &call.query {
            let (name, value) = (self.literal(name), expression(self, value));
            links.push(format!(".queryParam({name}, {value})"));
        }
        let (content_type, body) = match &call.body {
            Some(body) => self.body(body),
            None => (None, Vec::new()),
        };
        for (name, value) in call.typed_headers(content_type) {
            let value = expression(self, &value);
            links.push(if name.eq_ignore_ascii_case("content-type") {
                format!(".contentType({value})")
            } else {
                format!(".header({}, {value})", self.literal(name))
            });
        }
        for (name, value) in &call.cookies {
            let (name, value) = (self.literal(name), expression(self, value));
            links.push(format!(".cookie({name}, {value})"));
        }
        links.extend(body);
        let path = match &call.path {
            Expr::Resolved(_) => {
                links.push(".urlEncodingEnabled(false)".into());
                expression(self, &call.path)
            }
            path => self.path_template(path),
        };
        links.push(if is_usual(call.method) {
            format!(".{}({path})", call.method.to_ascii_lowercase())
        } else {
            format!(".request({}, {path})", self.literal(call.method))
        });
        let start = match (self, call.user) {
            (_, None) => "anonymous()".into(),
            (Jvm::Java, Some(user)) => format!("as({})", self.literal(user)),
            (Jvm::Kotlin, Some(user)) => format!("by({})", self.literal(user)),
        };
        let flat = format!("{start}{}", links.concat());
        if indent + flat.chars().count() < WIDTH {
            return flat;
        }
        let next = format!("\n{:1$}", "", indent + 4);
        format!("{start}{next}{}", links.join(&next))
    }

    /// The media type where REST Assured would not set it, and the links that carry the body.
    fn body<'a>(&self, body: &CallBody<'a>) -> (Option<&'a str>, Vec<String>) {
        match body {
            CallBody::Json {
                document,
                content_type,
            } => {
                let text = match document {
                    Expr::Json(value, holes) => self.json_text(value, holes),
                    other => expression(self, other),
                };
                (
                    Some(content_type),
                    vec![format!(".body({})", self.bytes(&text))],
                )
            }
            CallBody::Form(fields) => {
                let fields = fields.iter().map(|(name, value)| {
                    let (name, value) = (self.literal(name), expression(self, value));
                    format!(".formParam({name}, {value})")
                });
                (Some("application/x-www-form-urlencoded"), fields.collect())
            }
            CallBody::Multipart(parts) => (None, parts.iter().map(|one| self.part(one)).collect()),
            CallBody::Text { text, content_type } => {
                let bytes = self.bytes(&expression(self, text));
                (Some(content_type), vec![format!(".body({bytes})")])
            }
            CallBody::Binary {
                base64,
                content_type,
            } => {
                let bytes = self.decoded(base64);
                (Some(content_type), vec![format!(".body({bytes})")])
            }
        }
    }

    fn decoded(&self, base64: &str) -> String {
        format!("Base64.getDecoder().decode({})", self.literal(base64))
    }

    /// The bytes of a text.
    fn bytes(&self, text: &str) -> String {
        let is_sum = *self == Jvm::Java && text.contains(" + ") && !text.contains(".formatted(");
        let text = if is_sum {
            format!("({text})")
        } else {
            text.into()
        };
        match self {
            Jvm::Java => format!("{text}.getBytes(UTF_8)"),
            Jvm::Kotlin => format!("{text}.toByteArray()"),
        }
    }

    fn part(&self, part: &FormPart<'_>) -> String {
        let name = self.literal(part.name);
        let bytes = match (&part.content, part.file_name) {
            (Ok(text), None) => {
                let media_type = self.literal(part.content_type.unwrap_or("text/plain"));
                return format!(
                    ".multiPart({name}, {}, {media_type})",
                    expression(self, text)
                );
            }
            (Ok(text), Some(_)) => self.bytes(&expression(self, text)),
            (Err(base64), _) => self.decoded(base64),
        };
        let file_name = self.literal(part.file_name.unwrap_or("file"));
        let media_type = part.content_type.unwrap_or("application/octet-stream");
        let media_type = self.literal(media_type);
        format!(".multiPart({name}, {file_name}, {bytes}, {media_type})")
    }

    /// The text of a JSON document, with its holes filled.
    fn json_text(&self, value: &Value, holes: &[(&JsonPath, Expr<'_>)]) -> String {
        let fills = std::cell::RefCell::new(Vec::new());
        let fill = |value: &Expr<'_>| {
            let fill = format!("toJson({})", expression(self, value));
            fills.borrow_mut().push(fill);
            "%s".to_owned()
        };
        let percent = if holes.is_empty() { "%" } else { "%%" };
        let text = spliced(value, &|place| hole(holes, place, fill), &|text| {
            text.replace('%', percent)
        });
        let (text, fills) = (self.literal(&text), fills.into_inner().join(", "));
        match self {
            _ if fills.is_empty() => text,
            Jvm::Java => format!("{text}.formatted({fills})"),
            Jvm::Kotlin => format!("{text}.format({fills})"),
        }
    }

    /// The path as a template of REST Assured, and what fills it.
    fn path_template(&self, path: &Expr<'_>) -> String {
        let whole;
        let pieces = match path {
            Expr::Text(pieces) => pieces.as_slice(),
            Expr::Literal(text) => {
                whole = [Piece::Literal(text)];
                &whole
            }
            other => return expression(self, other),
        };
        let mut template = String::new();
        let mut fills: Vec<String> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Literal(text) => {
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
                            fills.push(self.literal(&percent_decoded(segment)));
                        }
                    }
                }
                Piece::Variable { name, .. } => {
                    let _ = write!(template, "{{{name}}}");
                    fills.push(name.clone());
                }
                Piece::Secret(secret) => {
                    let _ = write!(template, "{{p{}}}", fills.len());
                    fills.push(constant(secret));
                }
            }
        }
        fills.insert(0, self.literal(&template));
        fills.join(", ")
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escape = after.split_at_checked(2).and_then(|(hex, after)| {
            let hex = std::str::from_utf8(hex).ok()?;
            Some((u8::from_str_radix(hex, 16).ok()?, after))
        });
        let (byte, after) = escape.filter(|_| *first == b'%').unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn in_comment(line: &str) -> String {
    comment(line).split_off(3)
}

fn java_literal(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Kotlin reads `$` in a string, and has no octal escapes.
fn kotlin_literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' | '$' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if crate::writer::text::is_unprintable(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
