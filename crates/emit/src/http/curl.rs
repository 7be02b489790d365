//! A test as a shell script of cURL calls, to be copied from a report. Secrets are not in it: it
//! reads them from the environment.

use std::fmt::Write;

use serde_json::Value;

use super::plan::{self, Casing, PlannedStep, Variables};
use super::request::{Body, MultipartPart, PartContent, Request, Text, TextPiece};
use super::suite::{
    Auth, ExpectedOutcome, HttpSuite, HttpTest, Token, TokenPlacement, ValueSource,
};
use super::{JsonKey, JsonPath, UniqueValue, User};
use crate::shell::quote;
use crate::writer::name::slug;
use crate::writer::text::one_line;

/// Shell variables that the script uses itself.
const RESERVED: &[&str] = &["answer", "base_url", "body", "path", "home", "ifs"];

/// The calls of `test` as a POSIX shell script. Chains need `jq`.
pub fn curl(suite: &HttpSuite, test: &HttpTest) -> String {
    let planned = plan::planned(test, String::new(), Casing::Snake, RESERVED);
    let service = &suite.service;
    let mut out = format!(
        "BASE_URL=\"${{{}:-{}}}\"\n",
        slug_variable(&service.base_url_variable),
        in_double_quotes(service.base_url.trim_end_matches('/'))
    );
    for statement in test.row_statements() {
        let _ = writeln!(out, "# first in the database: {};", one_line(&statement));
    }
    for key in test.rows.iter().filter_map(|row| row.key.as_ref()) {
        if let (Some(variable), Some(sample)) = (planned.known.get(&key.variable), &key.sample) {
            let _ = writeln!(
                out,
                "{}={sample} # its {}",
                variable.name,
                one_line(&key.column)
            );
        }
    }
    for (name, unique) in &planned.unique_values {
        make_unique(&mut out, name, unique);
    }
    let mut logged_in: Vec<&str> = Vec::new();
    let last = planned.steps.len().saturating_sub(1);
    for (idx, step) in planned.steps.iter().enumerate() {
        if let Some(user) = step
            .step
            .request
            .user
            .as_deref()
            .and_then(|name| suite.user(name))
            && !logged_in.contains(&user.name.as_str())
        {
            logged_in.push(&user.name);
            log_in(&mut out, suite, user);
        }
        self::step(&mut out, suite, step, idx == last);
    }
    out
}

/// Secrets are named by variables that a shell must be able to have.
fn slug_variable(name: &str) -> String {
    let good = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if good {
        name.into()
    } else {
        slug(name).to_ascii_uppercase()
    }
}

/// Assigns a text that is made up anew.
fn make_unique(out: &mut String, name: &str, unique: &UniqueValue) {
    let _ = writeln!(
        out,
        "{name}={}$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n' | cut -c1-{}){}",
        quote(&unique.prefix),
        unique.digits,
        quote(&unique.suffix)
    );
}

fn log_in(out: &mut String, suite: &HttpSuite, user: &User) {
    let (known, unique_values) = plan::unique_values(user, Casing::Snake, RESERVED);
    for (name, unique) in unique_values {
        make_unique(out, &name, unique);
    }
    if let Some(create) = &user.create {
        let _ = writeln!(out, "# {} is created", one_line(&user.name));
        let call = call(suite, create, &known, &["-sS"]);
        let _ = writeln!(out, "{call} > /dev/null");
    }
    let Auth::Login(login) = &user.auth else {
        return;
    };
    let _ = writeln!(out, "# {} logs in", one_line(&user.name));
    let call = call(suite, &login.request, &known, &["-sS", "-i"]);
    let _ = writeln!(out, "answer=$({call})");
    let id = slug(&user.name);
    if let Some(Token { from, .. }) = &login.token {
        let _ = writeln!(out, "token_{id}=$({})", extraction(from));
    }
    if login.cookies {
        let _ = writeln!(
            out,
            "cookies_{id}=$(printf '%s\\n' \"$answer\" | tr -d '\\r' | \
             sed -n 's/^[Ss]et-[Cc]ookie: *\\([^;]*\\).*/\\1/p' | paste -sd ';' -)"
        );
    }
}

fn step(out: &mut String, suite: &HttpSuite, planned: &PlannedStep<'_>, last: bool) {
    let step = planned.step;
    if let Some(comment) = &step.comment {
        let _ = writeln!(out, "# {}", one_line(comment));
    }
    let seconds = suite.service.timeout_millis.div_ceil(1000).to_string();
    let mut flags = vec!["-sS", "-i"];
    if matches!(step.expect, ExpectedOutcome::TimedOut) {
        flags.extend(["--max-time", &seconds]);
    }
    let call = call(suite, &step.request, &planned.known, &flags);
    let expected = match &step.expect {
        ExpectedOutcome::Response(answer) => answer.status.to_string(),
        ExpectedOutcome::Dropped => "no response: the connection is dropped".into(),
        ExpectedOutcome::TimedOut => format!("no response within {seconds} s"),
    };
    if planned.captures.is_empty() {
        let _ = writeln!(out, "{call}  # {expected}");
        if !last {
            out.push_str("echo\n");
        }
        return;
    }
    let _ = writeln!(out, "answer=$({call})  # {expected}");
    for (name, capture) in &planned.captures {
        let _ = writeln!(out, "{name}=$({})", extraction(&capture.from));
    }
}

/// A pipeline that reads from `$answer`.
fn extraction(source: &ValueSource) -> String {
    let whole = "printf '%s\\n' \"$answer\" | tr -d '\\r'";
    match source {
        ValueSource::Body(place) => {
            format!("{whole} | sed '1,/^$/d' | jq -r {}", quote(&jq(place)))
        }
        ValueSource::Header(name) => {
            let pattern = format!("s/^{}: *//p", any_case(name));
            format!("{whole} | sed -n {} | head -n 1", quote(&pattern))
        }
        ValueSource::Text => format!("{whole} | sed '1,/^$/d'"),
        ValueSource::LastSegment(source) => {
            let text = extraction(source);
            format!("{text} | sed 's,[?#].*,,; s,/*$,,; s,.*/,,'")
        }
        ValueSource::Cookie(name) => {
            let pattern = format!(
                "s/^[Ss]et-[Cc]ookie: *{}=\\([^;]*\\).*/\\1/p",
                escaped_in_sed(name)
            );
            format!("{whole} | sed -n {} | head -n 1", quote(&pattern))
        }
    }
}

/// A pattern for a header, whatever its case: not every `sed` has a flag for that.
fn any_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_alphabetic() {
            let _ = write!(
                out,
                "[{}{}]",
                c.to_ascii_uppercase(),
                c.to_ascii_lowercase()
            );
        } else {
            out.push_str(&escaped_in_sed(&c.to_string()));
        }
    }
    out
}

fn escaped_in_sed(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "/.*[]^$\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn jq(place: &JsonPath) -> String {
    let mut out = String::from(".");
    for key in &place.0 {
        match key {
            JsonKey::Index(index) => {
                let _ = write!(out, "[{index}]");
            }
            JsonKey::Name(name) => {
                let _ = write!(out, "[{}]", Value::from(name.as_str()));
            }
        }
    }
    out
}

/// The words of one call, on as many lines as read well.
fn call(suite: &HttpSuite, request: &Request, known: &Variables, flags: &[&str]) -> String {
    let mut words: Vec<String> = vec![format!(
        "curl {} -X {} {}",
        flags.join(" "),
        word_of_method(&request.method),
        url(suite, request, known)
    )];
    let mut header = |name: &str, value: &[ShellPiece]| {
        let mut parts = vec![ShellPiece::Text(format!("{name}: "))];
        parts.extend(value.iter().cloned());
        words.push(format!("-H {}", joined(&parts)));
    };
    let mut cookies: Vec<ShellPiece> = Vec::new();
    if let Some(user) = request.user.as_deref().and_then(|name| suite.user(name)) {
        let id = slug(&user.name);
        match &user.auth {
            Auth::Headers(headers) => {
                for (name, value) in headers {
                    header(name, &parts(value, known));
                }
            }
            Auth::Login(login) => {
                if let Some(Token {
                    send: TokenPlacement::Header(name),
                    template,
                    ..
                }) = &login.token
                {
                    header(name, &with_token(template, &id));
                }
                if login.cookies {
                    cookies.push(ShellPiece::Variable(format!("cookies_{id}")));
                }
            }
        }
    }
    for (name, value) in &request.headers {
        header(name, &parts(value, known));
    }
    for (name, value) in &request.cookies {
        let between = if cookies.is_empty() { "" } else { "; " };
        cookies.push(ShellPiece::Text(format!("{between}{name}=")));
        cookies.extend(parts(value, known));
    }
    if !cookies.is_empty() {
        header("Cookie", &cookies);
    }
    let mut before = String::new();
    if let Some(body) = &request.body {
        let typed = request
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        before = self::body(&mut words, body, known, typed);
    }
    before + &words.join(" \\\n  ")
}

fn word_of_method(method: &str) -> String {
    if method.chars().all(|c| c.is_ascii_alphanumeric()) {
        method.into()
    } else {
        quote(method)
    }
}

fn url(suite: &HttpSuite, request: &Request, known: &Variables) -> String {
    let mut all = Vec::new();
    let elsewhere = matches!(request.path.0.first(), Some(TextPiece::Literal(text)) if text.starts_with("http"));
    if plan::is_reference(&request.path) {
        // An absolute reference stays as it is; a path goes to the host of the base URL.
        let name = request.path.variables().next().unwrap_or_default();
        let name = known
            .get(name)
            .map_or_else(|| slug(name), |variable| variable.name.clone());
        let host = format!(
            "case ${name} in http*) ;; *) printf %s \"$BASE_URL\" | sed 's,\\(://[^/]*\\).*,\\1,' ;; esac"
        );
        all.push(ShellPiece::Command(host));
    } else if !elsewhere {
        all.push(ShellPiece::Variable("BASE_URL".into()));
    }
    all.extend(parts(&request.path, known));
    let mut sign = "?";
    let mut query: Vec<(&str, Vec<ShellPiece>)> = request
        .query
        .iter()
        .map(|(name, value)| (name.as_str(), parts(value, known)))
        .collect();
    if let Some(user) = request.user.as_deref().and_then(|name| suite.user(name))
        && let Auth::Login(login) = &user.auth
        && let Some(Token {
            send: TokenPlacement::Query(name),
            template,
            ..
        }) = &login.token
    {
        query.push((name, with_token(template, &slug(&user.name))));
    }
    for (name, value) in query {
        all.push(ShellPiece::Text(format!(
            "{sign}{}=",
            percent_encoded(name)
        )));
        sign = "&";
        all.extend(value.into_iter().map(|part| match part {
            ShellPiece::Text(text) => ShellPiece::Text(percent_encoded(&text)),
            other => other,
        }));
    }
    joined(&all)
}

fn with_token(template: &str, id: &str) -> Vec<ShellPiece> {
    let mut all = Vec::new();
    for (idx, text) in template.split("{token}").enumerate() {
        if idx > 0 {
            all.push(ShellPiece::Variable(format!("token_{id}")));
        }
        all.push(ShellPiece::Text(text.into()));
    }
    all
}

/// Adds the words of a body; what has to be piped into the call is returned.
fn body(words: &mut Vec<String>, body: &Body, known: &Variables, typed: bool) -> String {
    let mut content_type = |media_type: &str| {
        if !typed {
            words.push(format!(
                "-H {}",
                quote(&format!("Content-Type: {media_type}"))
            ));
        }
    };
    match body {
        Body::Json {
            value,
            placeholders,
            content_type: media_type,
        } => {
            content_type(media_type);
            let mut all = Vec::new();
            json(&mut all, value, &mut JsonPath::root(), &|place, sample| {
                let placeholder = placeholders
                    .iter()
                    .find(|placeholder| placeholder.at == *place)?;
                let mut inner = parts(&placeholder.value, known);
                if sample.is_string() || placeholder.value.as_captured().is_none() {
                    inner.insert(0, ShellPiece::Text("\"".into()));
                    inner.push(ShellPiece::Text("\"".into()));
                }
                Some(inner)
            });
            words.push(format!("--data-raw {}", joined(&all)));
            String::new()
        }
        Body::Form(fields) => {
            for (name, value) in fields {
                // A shell has no NUL; what is encoded already has none either.
                if let Some(text) = value.literal().filter(|text| text.contains('\0')) {
                    let pair = format!("{}={}", percent_encoded(name), percent_encoded(&text));
                    words.push(format!("--data-raw {}", quote(&pair)));
                    continue;
                }
                let mut all = vec![ShellPiece::Text(format!("{}=", percent_encoded(name)))];
                all.extend(parts(value, known));
                words.push(format!("--data-urlencode {}", joined(&all)));
            }
            if fields.is_empty() {
                words.push("--data ''".into());
            }
            String::new()
        }
        Body::Multipart(all) => multipart(words, all, known),
        Body::Text {
            content_type: media_type,
            text,
        } => {
            content_type(media_type);
            words.push(format!("--data-raw {}", joined(&parts(text, known))));
            String::new()
        }
        Body::Binary {
            content_type: media_type,
            base64,
        } => {
            content_type(media_type);
            words.push("--data-binary @-".into());
            format!("printf %s {} | base64 -d | ", quote(base64))
        }
    }
}

/// The first part that is no text is piped in; further ones are named, to be put there by hand.
fn multipart(words: &mut Vec<String>, all: &[MultipartPart], known: &Variables) -> String {
    let mut before = String::new();
    for part in all {
        let plain = part.file_name.is_none() && part.content_type.is_none();
        let file_name = part.file_name.as_deref().unwrap_or("file");
        // A part with a file name is a file; bytes that come from a file have a name anyway.
        let is_file = part.file_name.is_some() || matches!(part.content, PartContent::Base64(_));
        let mut details = match is_file {
            true => format!(";filename=\"{file_name}\""),
            false => String::new(),
        };
        if let Some(media_type) = &part.content_type {
            let _ = write!(details, ";type={media_type}");
        }
        let mut value = vec![ShellPiece::Text(format!("{}=", part.name))];
        match &part.content {
            PartContent::Text(text) if plain => {
                value.extend(parts(text, known));
                words.push(format!("--form-string {}", joined(&value)));
            }
            PartContent::Text(text) => {
                // In quotes, nothing but these has a meaning for curl.
                let escaped = |piece| match piece {
                    ShellPiece::Text(text) => {
                        ShellPiece::Text(text.replace('\\', "\\\\").replace('"', "\\\""))
                    }
                    other => other,
                };
                value.push(ShellPiece::Text("\"".into()));
                value.extend(parts(text, known).into_iter().map(escaped));
                value.push(ShellPiece::Text(format!("\"{details}")));
                words.push(format!("-F {}", joined(&value)));
            }
            PartContent::Base64(base64) => {
                let source = if before.is_empty() { "-" } else { file_name };
                if before.is_empty() {
                    before = format!("printf %s {} | base64 -d | ", quote(base64));
                }
                value.push(ShellPiece::Text(format!("@{source}{details}")));
                words.push(format!("-F {}", joined(&value)));
            }
        }
    }
    before
}

/// Appends the JSON text of `value`; where `placeholder` has parts for a place, they stand instead.
fn json(
    all: &mut Vec<ShellPiece>,
    value: &Value,
    place: &mut JsonPath,
    placeholder: &dyn Fn(&JsonPath, &Value) -> Option<Vec<ShellPiece>>,
) {
    if let Some(parts) = placeholder(place, value) {
        all.extend(parts);
        return;
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                all.push(ShellPiece::Text(if index == 0 { "[" } else { "," }.into()));
                place.0.push(JsonKey::Index(index));
                json(all, item, place, placeholder);
                place.0.pop();
            }
            all.push(ShellPiece::Text(
                if items.is_empty() { "[]" } else { "]" }.into(),
            ));
        }
        Value::Object(members) => {
            for (idx, (name, member)) in members.iter().enumerate() {
                let sign = if idx == 0 { "{" } else { "," };
                let name_text = Value::from(name.as_str());
                all.push(ShellPiece::Text(format!("{sign}{name_text}:")));
                place.0.push(JsonKey::Name(name.clone()));
                json(all, member, place, placeholder);
                place.0.pop();
            }
            all.push(ShellPiece::Text(
                if members.is_empty() { "{}" } else { "}" }.into(),
            ));
        }
        scalar => all.push(ShellPiece::Text(scalar.to_string())),
    }
}

/// A part of a shell word.
#[derive(Clone, Debug)]
enum ShellPiece {
    Text(String),
    Variable(String),
    Command(String),
}

fn parts(text: &Text, known: &Variables) -> Vec<ShellPiece> {
    text.0
        .iter()
        .map(|piece| match piece {
            TextPiece::Literal(text) => ShellPiece::Text(text.clone()),
            TextPiece::Captured(name) => ShellPiece::Variable(
                known
                    .get(name)
                    .map_or_else(|| slug(name), |variable| variable.name.clone()),
            ),
            // The shell says which variable is to be set, in place of sending nothing.
            TextPiece::Secret(secret) => {
                ShellPiece::Variable(format!("{}:?", slug_variable(&secret.variable)))
            }
        })
        .collect()
}

/// One shell word: literal text in single quotes, the rest in double quotes; all in double quotes
/// where nothing in the text minds.
fn joined(pieces: &[ShellPiece]) -> String {
    let mut all: Vec<ShellPiece> = Vec::new();
    for piece in pieces {
        match (all.last_mut(), piece) {
            (Some(ShellPiece::Text(before)), ShellPiece::Text(text)) => before.push_str(text),
            _ => all.push(piece.clone()),
        }
    }
    let literal = all.iter().all(|part| matches!(part, ShellPiece::Text(_)));
    if literal {
        let text: String = all
            .iter()
            .map(|part| match part {
                ShellPiece::Text(text) => text.as_str(),
                ShellPiece::Variable(_) | ShellPiece::Command(_) => "",
            })
            .collect();
        return quote(&text);
    }
    let minds = |text: &str| text.contains(['"', '$', '`', '\\', '!', '\n']);
    let in_one = !all
        .iter()
        .any(|part| matches!(part, ShellPiece::Text(text) if minds(text)));
    let mut out = String::new();
    if in_one {
        out.push('"');
    }
    for part in &all {
        let filled = match part {
            ShellPiece::Text(text) if in_one => {
                out.push_str(text);
                continue;
            }
            ShellPiece::Text(text) if text.is_empty() => continue,
            ShellPiece::Text(text) => {
                out.push_str(&quote(text));
                continue;
            }
            ShellPiece::Variable(name) => format!("${{{name}}}"),
            ShellPiece::Command(command) => format!("$({command})"),
        };
        if in_one {
            out.push_str(&filled);
        } else {
            let _ = write!(out, "\"{filled}\"");
        }
    }
    if in_one {
        out.push('"');
    }
    out
}

fn in_double_quotes(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '"' | '$' | '`' | '\\' | '}') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{ExpectedResponse, HttpStep, Text};

    #[test]
    fn a_nul_in_a_form_is_encoded() {
        let form = Body::Form(vec![("user name".into(), Text::from("a\0b"))]);
        let call = Request::new("POST", "/login").body(form);
        let suite = HttpSuite::new("x", "http://x");
        let test = HttpTest {
            steps: vec![HttpStep::new(call, ExpectedResponse::status(500))],
            ..HttpTest::default()
        };
        let script = curl(&suite, &test);
        assert!(script.contains("user%20name=a%00b"), "{script}");
    }

    #[test]
    fn parts_and_files_of_text_stand_in_the_command() {
        let part = |text: &str, file_name: Option<&str>| MultipartPart {
            name: "value".into(),
            file_name: file_name.map(str::to_owned),
            content_type: Some("application/json".into()),
            content: PartContent::Text(Text::from(text)),
        };
        let file = Some("file");
        let parts = [
            part(r#"{"a": "b\\c"}"#, file),
            part("@x; y", file),
            part("{}", None),
        ];
        let mut words = Vec::new();
        assert_eq!(multipart(&mut words, &parts, &Variables::default()), "");
        assert_eq!(
            words,
            [
                r#"-F 'value="{\"a\": \"b\\\\c\"}";filename="file";type=application/json'"#,
                r#"-F 'value="@x; y";filename="file";type=application/json'"#,
                r#"-F 'value="{}";type=application/json'"#
            ]
        );
    }
}
