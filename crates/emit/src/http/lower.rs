//! Lowers planned tests to statements over expressions, which every test language prints.

use super::json_path::JsonPath;
use super::plan::{self, PlannedStep, PlannedTest, Variables};
use super::request::{Body, PartContent, Placeholder, Request, Text, TextPiece};
use super::response::{BodyCheck, ExpectedResponse};
use super::rows;
use super::statement::{Call, CallBody, Expr, FormPart, Pairs, Part, Piece, Statement};
use super::suite::{
    Auth, ExpectedOutcome, HttpSuite, ResetHook, TokenPlacement, User, ValueSource,
};
use super::writer::language::{Notation, words};

/// What a test does.
pub(crate) fn test<'a>(test: &'a PlannedTest<'a>, notation: &Notation) -> Vec<Statement<'a>> {
    let mut out = Vec::new();
    if test.has_preparation() && notation.blank_after_head {
        out.push(Statement::Blank);
    }
    out.extend(test.test.mocks.iter().map(Statement::Mock));
    for (name, unique) in &test.unique_values {
        out.push(Statement::Let(name.clone(), Expr::Unique(unique)));
    }
    for (row, key) in &test.rows {
        let links = rows::links(row, &test.known, notation);
        out.push(Statement::Row(key.clone(), links));
    }
    for (idx, step) in test.steps.iter().enumerate() {
        if idx > 0 || test.has_preparation() || notation.blank_after_head {
            out.push(Statement::Blank);
        }
        self::step(&mut out, step, notation);
    }
    if !test.test.expected_rows.is_empty() {
        out.push(Statement::Blank);
    }
    for row in &test.test.expected_rows {
        let links = rows::state_links(row, &test.all_known, notation);
        out.push(Statement::Row(None, links));
    }
    out
}

fn step<'a>(out: &mut Vec<Statement<'a>>, planned: &'a PlannedStep<'a>, notation: &Notation) {
    let step = planned.step;
    out.extend(step.comment.as_deref().map(Statement::Comment));
    let call = call(&step.request, &planned.known);
    match &step.expect {
        ExpectedOutcome::Response(expected) => {
            out.push(Statement::Send(planned.answer.clone(), call));
            expectations(out, planned, expected, notation);
        }
        ExpectedOutcome::Dropped => out.push(Statement::NoResponse {
            call,
            timed_out: false,
        }),
        ExpectedOutcome::TimedOut => out.push(Statement::NoResponse {
            call,
            timed_out: true,
        }),
    }
}

fn expectations<'a>(
    out: &mut Vec<Statement<'a>>,
    planned: &'a PlannedStep<'a>,
    expected: &'a ExpectedResponse,
    notation: &Notation,
) {
    let answer = &planned.answer;
    let of = |part| Expr::Of(answer.clone(), part);
    let equal = |part, expected| Statement::Equal {
        actual: of(part),
        expected,
    };
    out.push(equal(Part::Status, Expr::Number(expected.status.into())));
    if let Some(media_type) = &expected.content_type {
        let media_type = Expr::Literal(media_type.to_ascii_lowercase());
        out.push(equal(Part::MediaType, media_type));
    }
    for header in &expected.headers {
        out.push(match &header.value {
            Some(value) => equal(Part::Header(&header.name), Expr::Literal(value.clone())),
            None => Statement::HasHeader(answer.clone(), &header.name),
        });
    }
    let mut json = of(Part::Json);
    if let Some(variable) = notation.json_variable
        && planned.json_uses() > 1
    {
        out.push(Statement::Let(variable.into(), json));
        json = Expr::Variable(variable.into());
    }
    for (name, capture) in &planned.captures {
        let found = found(answer, &json, &capture.from);
        out.push(Statement::Let(name.clone(), found));
    }
    let checks = expected.body.iter();
    out.extend(checks.filter_map(|check| self::check(planned, &json, check)));
}

fn check<'a>(
    planned: &PlannedStep<'_>,
    json: &Expr<'a>,
    check: &'a BodyCheck,
) -> Option<Statement<'a>> {
    let at = |place: &JsonPath| Expr::At(Box::new(json.clone()), place.clone());
    let has = |place: &'a JsonPath, there| {
        let (parent, key) = place.split()?;
        Some(Statement::Has(at(&parent), key, there))
    };
    let answer = planned.answer.clone();
    Some(match check {
        BodyCheck::Equals {
            at: place,
            value,
            placeholders,
        } => {
            let holes = holes(placeholders, &planned.after);
            let whole = holes.iter().find(|(at, _)| at.is_root());
            let whole = whole.map(|(_, expected)| expected.clone());
            Statement::Equal {
                actual: at(place),
                expected: whole.unwrap_or(Expr::Json(value, holes)),
            }
        }
        BodyCheck::Same {
            at: place,
            variable,
        } => Statement::Equal {
            actual: at(place),
            expected: Expr::Variable(planned.after.name(variable)),
        },
        BodyCheck::Type { at: place, is } => Statement::Type(at(place), *is),
        BodyCheck::Length { at: place, items } => Statement::Length(at(place), *items),
        BodyCheck::Includes { at: place, value } => Statement::Includes(at(place), value),
        BodyCheck::Present { at: place } => return has(place, true),
        BodyCheck::Absent { at: place } => return has(place, false),
        BodyCheck::Contains { text } => Statement::Contains(answer, text),
        BodyCheck::TextEquals { text } => Statement::Equal {
            actual: Expr::Of(answer, Part::Text),
            expected: Expr::Literal(text.clone()),
        },
        BodyCheck::Empty => Statement::Empty(answer),
    })
}

/// A value of a response, given its JSON.
fn found<'a>(answer: &str, json: &Expr<'a>, source: &'a ValueSource) -> Expr<'a> {
    let of = |part| Expr::Of(answer.to_owned(), part);
    match source {
        ValueSource::Body(place) => Expr::At(Box::new(json.clone()), place.clone()),
        ValueSource::Header(name) => of(Part::Header(name)),
        ValueSource::Text => of(Part::TrimmedText),
        ValueSource::LastSegment(source) => {
            Expr::LastSegment(Box::new(found(answer, json, source)))
        }
        ValueSource::Cookie(name) => of(Part::Cookie(name)),
    }
}

/// A request with the variables that it can use.
pub(crate) fn call<'a>(request: &'a Request, known: &Variables) -> Call<'a> {
    let path = if plan::is_reference(&request.path) {
        Expr::Resolved(Box::new(text(&request.path, known, false)))
    } else {
        text(&request.path, known, true)
    };
    let body = request.body.as_ref().map(|body| match body {
        Body::Json {
            value,
            placeholders,
            content_type,
        } => CallBody::Json {
            document: Expr::Json(value, holes(placeholders, known)),
            content_type,
        },
        Body::Form(fields) => CallBody::Form(values(fields, known)),
        Body::Multipart(parts) => {
            let parts = parts.iter().map(|part| FormPart {
                name: &part.name,
                file_name: part.file_name.as_deref(),
                content_type: part.content_type.as_deref(),
                content: match &part.content {
                    PartContent::Text(content) => Ok(text(content, known, false)),
                    PartContent::Base64(base64) => Err(base64.as_str()),
                },
            });
            CallBody::Multipart(parts.collect())
        }
        Body::Text {
            content_type,
            text: content,
        } => CallBody::Text {
            text: text(content, known, false),
            content_type,
        },
        Body::Binary {
            content_type,
            base64,
        } => CallBody::Binary {
            base64,
            content_type,
        },
    });
    Call {
        user: request.user.as_deref(),
        method: &request.method,
        path,
        query: values(&request.query, known),
        headers: texts(&request.headers, known),
        cookies: texts(&request.cookies, known),
        body,
    }
}

fn values<'a>(pairs: &'a [(String, Text)], known: &Variables) -> Pairs<'a> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, text)| (name.as_str(), value(text, known)))
        .collect()
}

fn texts<'a>(pairs: &'a [(String, Text)], known: &Variables) -> Pairs<'a> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, content)| (name.as_str(), text(content, known, false)))
        .collect()
}

fn holes<'a>(placeholders: &'a [Placeholder], known: &Variables) -> Vec<(&'a JsonPath, Expr<'a>)> {
    let placeholders = placeholders.iter();
    placeholders
        .map(|placeholder| (&placeholder.at, value(&placeholder.value, known)))
        .collect()
}

/// A captured value with its type; anything else is a text.
fn value<'a>(content: &'a Text, known: &Variables) -> Expr<'a> {
    match content.as_captured() {
        Some(variable) => Expr::Variable(known.name(variable)),
        None => text(content, known, false),
    }
}

fn text<'a>(text: &'a Text, known: &Variables, in_path: bool) -> Expr<'a> {
    if let Some(text) = text.literal() {
        return Expr::Literal(text);
    }
    let pieces = text.0.iter().map(|piece| match piece {
        TextPiece::Literal(text) => Piece::Literal(text),
        TextPiece::Captured(variable) => Piece::Variable {
            name: known.name(variable),
            encode: in_path && !known.is_plain(variable),
        },
        TextPiece::Secret(secret) => Piece::Secret(secret),
    });
    Expr::Text(pieces.collect())
}

/// How a user logs in, and what proves its calls then.
pub(crate) struct LogIn<'a> {
    /// What is done to create the user and to log in.
    pub(crate) statements: Vec<Statement<'a>>,
    /// The headers of every call.
    pub(crate) headers: Pairs<'a>,
    /// The query parameters of every call.
    pub(crate) query: Pairs<'a>,
    /// Whether the cookies of `answer` are sent with every call.
    pub(crate) cookies: bool,
}

/// How a user logs in.
pub(crate) fn log_in<'a>(user: &'a User, notation: &Notation) -> LogIn<'a> {
    let reserved = words(notation.reserved);
    let (known, unique_values) = plan::unique_values(user, notation.casing, &reserved);
    let mut statements = Vec::new();
    for (name, unique) in unique_values {
        statements.push(Statement::Let(name, Expr::Unique(unique)));
    }
    let mut send = |name: &'static str, request| {
        statements.push(Statement::Send(name.into(), call(request, &known)));
        statements.push(Statement::Succeeded(name));
    };
    if let Some(create) = &user.create {
        send("created", create);
    }
    let (mut headers, mut query, mut cookies) = (Vec::new(), Vec::new(), false);
    match &user.auth {
        Auth::Headers(fixed) => headers = texts(fixed, &known),
        Auth::Login(login) => {
            send("answer", &login.request);
            cookies = login.cookies;
            if let Some(token) = &login.token {
                let json = Expr::Of("answer".into(), Part::Json);
                let found = found("answer", &json, &token.from);
                statements.push(Statement::Let("token".into(), found));
                let value = template(&token.template);
                match &token.send {
                    TokenPlacement::Header(name) => headers.push((name.as_str(), value)),
                    TokenPlacement::Query(name) => query.push((name.as_str(), value)),
                }
            }
        }
    }
    LogIn {
        statements,
        headers,
        query,
        cookies,
    }
}

/// What is sent of a token: `Bearer {token}`.
fn template(template: &str) -> Expr<'_> {
    if !template.contains("{token}") {
        return Expr::Literal(template.into());
    }
    let mut pieces = Vec::new();
    for (idx, text) in template.split("{token}").enumerate() {
        if idx > 0 {
            pieces.push(Piece::Variable {
                name: "token".into(),
                encode: false,
            });
        }
        if !text.is_empty() {
            pieces.push(Piece::Literal(text));
        }
    }
    Expr::Text(pieces)
}

/// What is done before every test.
pub(crate) fn reset(suite: &HttpSuite) -> Vec<Statement<'_>> {
    let mut out = match &suite.service.reset {
        None => Vec::new(),
        Some(ResetHook::Command(command)) => vec![Statement::Run(command)],
        Some(ResetHook::Call(request)) => vec![
            Statement::Send("reset".into(), call(request, &Variables::new())),
            Statement::Succeeded("reset"),
        ],
    };
    if let Some(database) = &suite.database
        && !database.setup.is_empty()
    {
        out.push(Statement::RunSql(&database.setup));
    }
    out
}
