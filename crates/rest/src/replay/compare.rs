//! Checks responses against the expectations of a stored test.

use isobath_emit::http::{BodyCheck, ExpectedResponse, JsonPath, JsonType};
use isobath_exec::http::Response;
use serde_json::Value;

use super::Captured;
use super::fill::Filler;

/// Checks a response against its expectation.
pub(super) fn compare(
    expected: &ExpectedResponse,
    answer: &Response,
    captured: &Captured,
) -> Result<(), String> {
    if answer.status != expected.status {
        return Err(format!(
            "returned {}, expected {}",
            answer.status, expected.status
        ));
    }
    if let Some(wanted) = &expected.content_type
        && answer.media_type().as_ref() != Some(&wanted.to_ascii_lowercase())
    {
        let found = answer.media_type().unwrap_or_else(|| "none".into());
        return Err(format!("content type is {found}, expected {wanted}"));
    }
    for header in &expected.headers {
        match (answer.header(&header.name), &header.value) {
            (None, _) => return Err(format!("header {} is missing", header.name)),
            (Some(found), Some(wanted)) if found != wanted => {
                let name = &header.name;
                return Err(format!("header {name} is `{found}`, expected `{wanted}`"));
            }
            _ => {}
        }
    }
    let json = || {
        serde_json::from_slice::<Value>(&answer.body).map_err(|_| "the body is not JSON".to_owned())
    };
    for check in &expected.body {
        let holds = if check.reads_json() {
            of_json(check, &json()?, captured)?
        } else {
            of_text(check, &answer.text())
        };
        if !holds {
            return Err(describe_check(check));
        }
    }
    Ok(())
}

fn of_text(check: &BodyCheck, text: &str) -> bool {
    match check {
        BodyCheck::Contains { text: part } => text.contains(part),
        BodyCheck::TextEquals { text: whole } => text == whole,
        _ => text.is_empty(),
    }
}

fn of_json(check: &BodyCheck, body: &Value, captured: &Captured) -> Result<bool, String> {
    Ok(match check {
        BodyCheck::Equals {
            at,
            value,
            placeholders,
        } => {
            let wanted = Filler::new("", captured).json(value, placeholders)?;
            at.find(body).is_some_and(|found| same(found, &wanted))
        }
        BodyCheck::Same { at, variable } => {
            let wanted = captured.get(variable);
            at.find(body)
                .zip(wanted)
                .is_some_and(|(found, wanted)| same(found, wanted))
        }
        BodyCheck::Type { at, is } => at.find(body).is_some_and(|found| {
            let of = JsonType::of(found);
            of == *is || (*is == JsonType::Number && of == JsonType::Integer)
        }),
        BodyCheck::Length { at, items } => at
            .find(body)
            .and_then(Value::as_array)
            .is_some_and(|found| found.len() == *items),
        BodyCheck::Includes { at, value } => at
            .find(body)
            .and_then(Value::as_array)
            .is_some_and(|found| found.iter().any(|item| same(item, value))),
        BodyCheck::Present { at } => at.find(body).is_some(),
        BodyCheck::Absent { at } => {
            let parent = at.split().and_then(|(parent, _)| parent.find(body));
            parent.is_some() && at.find(body).is_none()
        }
        BodyCheck::Contains { .. } | BodyCheck::TextEquals { .. } | BodyCheck::Empty => true,
    })
}

/// Whether two values are one, whichever way a number is written.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64() && (one.is_f64() || other.is_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let all = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|found| same(value, found))
            };
            one.len() == other.len() && one.iter().all(all)
        }
        _ => one == other,
    }
}

/// A check that does not hold, in words.
fn describe_check(check: &BodyCheck) -> String {
    let place = |at: &JsonPath| {
        if at.is_root() {
            "the body".to_owned()
        } else {
            format!("`{at}`")
        }
    };
    match check {
        BodyCheck::Equals { at, value, .. } => format!("{} is not {value}", place(at)),
        BodyCheck::Same { at, variable } => format!("{} is not {variable}", place(at)),
        BodyCheck::Type { at, is } => format!("{} is not of type {is:?}", place(at)),
        BodyCheck::Length { at, items } => format!("{} does not have {items} items", place(at)),
        BodyCheck::Includes { at, value } => format!("{value} is not in {}", place(at)),
        BodyCheck::Present { at } => format!("{} is missing", place(at)),
        BodyCheck::Absent { at } => format!("{} is present", place(at)),
        BodyCheck::Contains { text } => format!("the body does not contain `{text}`"),
        BodyCheck::TextEquals { text } => format!("the body is not `{text}`"),
        BodyCheck::Empty => "the body is not empty".to_owned(),
    }
}
