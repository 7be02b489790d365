//! Extractors that answer with our own refusals, and checks of single fields.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::{Error, Result};

/// A JSON body, in either direction.
#[derive(FromRequest)]
#[from_request(via(Json), rejection(Error))]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Body<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

/// The parameters in the path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Error))]
pub(crate) struct Path<T>(pub(crate) T);

/// The parameters after the question mark.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Error))]
pub(crate) struct Query<T>(pub(crate) T);

/// One line of text with a bounded length; returns it without blanks around it.
pub(crate) fn line<'t>(
    field: &'static str,
    text: &'t str,
    least: usize,
    most: usize,
) -> Result<&'t str> {
    let text = text.trim();
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(field, "holds control characters"));
    }
    match text.chars().count() {
        0 if least > 0 => Err(Error::invalid(field, "is empty")),
        n if n < least => Err(Error::invalid(field, format!("is shorter than {least}"))),
        n if n > most => Err(Error::invalid(field, format!("is longer than {most}"))),
        _ => Ok(text),
    }
}

/// A name in addresses: lower case letters, digits and single hyphens.
pub(crate) fn slug<'t>(field: &'static str, text: &'t str) -> Result<&'t str> {
    let text = line(field, text, 2, 40)?;
    let well_formed = text
        .bytes()
        .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    if !well_formed || text.starts_with('-') || text.ends_with('-') || text.contains("--") {
        return Err(Error::invalid(
            field,
            "is not made of lower case words with hyphens",
        ));
    }
    Ok(text)
}
