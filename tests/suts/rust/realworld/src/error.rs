//! How refusals look: a status, and an object of messages by field.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::auth::token::TokenError;
use crate::validate::Violations;

/// Why a request is not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("log in first")]
    Unauthenticated,
    #[error("wrong e-mail address or password")]
    WrongPassword,
    #[error("the token is not accepted: {0}")]
    Token(#[from] TokenError),
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("no such {0}")]
    Absent(&'static str),
    #[error("{field} {why}")]
    Conflict {
        field: &'static str,
        why: &'static str,
    },
    #[error("cannot go from {from} to {to}")]
    Transition {
        from: &'static str,
        to: &'static str,
    },
    #[error("the request is not valid")]
    Invalid(#[from] Violations),
    #[error("{1}")]
    Malformed(StatusCode, String),
    #[error("too many attempts; wait {0} seconds")]
    TooMany(u64),
    #[error("the database failed")]
    Database(#[source] sqlx::Error),
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unauthenticated | Self::WrongPassword | Self::Token(_) => {
                StatusCode::UNAUTHORIZED
            }
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Absent(_) => StatusCode::NOT_FOUND,
            Self::Conflict { .. } | Self::Transition { .. } => StatusCode::CONFLICT,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Malformed(status, _) => *status,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn errors(&self) -> Map<String, Value> {
        let mut errors = Map::new();
        match self {
            Self::Invalid(violations) => {
                for (field, messages) in violations.iter() {
                    errors.insert(field.to_owned(), json!(messages));
                }
            }
            Self::Conflict { field, why } => {
                errors.insert((*field).to_owned(), json!([why]));
            }
            other => {
                errors.insert("request".to_owned(), json!([other.to_string()]));
            }
        }
        errors
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        if let Self::Database(source) = &self {
            eprintln!("realworld: {source}");
        }
        let body = Json(json!({ "errors": self.errors() }));
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        match self {
            Self::Unauthenticated | Self::Token(_) => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Token"));
            }
            Self::TooMany(seconds) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            _ => {}
        }
        response
    }
}

/// What a broken UNIQUE constraint means to the caller, by the column that SQLite names.
const UNIQUE: &[(&str, &str, &str)] = &[
    ("users.username", "username", "is taken"),
    ("users.email", "email", "is taken"),
    ("articles.slug", "title", "was used for another article"),
    ("reports.reporter_id", "subject", "was reported before"),
];

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        if let Some(refused) = error.as_database_error()
            && refused.is_unique_violation()
        {
            let message = refused.message();
            let known = UNIQUE.iter().find(|(column, ..)| message.contains(column));
            if let Some(&(_, field, why)) = known {
                return Self::Conflict { field, why };
            }
        }
        Self::Database(error)
    }
}

macro_rules! from_rejection {
    ($($rejection:ty),*) => {
        $(impl From<$rejection> for Error {
            fn from(rejection: $rejection) -> Self {
                Self::Malformed(rejection.status(), rejection.body_text())
            }
        })*
    };
}

from_rejection!(JsonRejection, PathRejection, QueryRejection);
