//! Extractors that answer with our own refusals.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Error;

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

const _: () = {
    // The derive needs these conversions; say so where somebody would look for it.
    fn assert<T: From<JsonRejection> + From<PathRejection> + From<QueryRejection>>() {}
    let _ = assert::<Error>;
};

/// Tells a field that is absent from one that is `null`: for changes of single fields.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
