//! Extractors that refuse with a [`Problem`], and the checks that handlers share.

use std::ops::RangeInclusive;

use axum::extract::{FromRequest, FromRequestParts};
use jiff::civil::Date;

use crate::problem::Problem;

/// A JSON body.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(Problem))]
pub(crate) struct Body<T>(pub(crate) T);

/// A path parameter.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(crate) struct Path<T>(pub(crate) T);

/// The query parameters.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub(crate) struct Query<T>(pub(crate) T);

/// Refuses a text whose number of characters is out of bounds.
pub(crate) fn length(name: &str, text: &str, bounds: RangeInclusive<usize>) -> Result<(), Problem> {
    if bounds.contains(&text.chars().count()) {
        return Ok(());
    }
    Err(Problem::invalid(format!(
        "{name} must have {} to {} characters",
        bounds.start(),
        bounds.end()
    )))
}

/// Refuses a number that is out of bounds.
pub(crate) fn range(name: &str, number: i64, bounds: RangeInclusive<i64>) -> Result<(), Problem> {
    if bounds.contains(&number) {
        return Ok(());
    }
    Err(Problem::invalid(format!(
        "{name} must be between {} and {}",
        bounds.start(),
        bounds.end()
    )))
}

/// Reads a date written as in RFC 3339.
pub(crate) fn date(name: &str, text: &str) -> Result<Date, Problem> {
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| {
            if at == 4 || at == 7 {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        });
    shape
        .then(|| text.parse().ok())
        .flatten()
        .ok_or_else(|| Problem::invalid(format!("{name} must be a date such as 2026-07-14")))
}
