//! How refusals look: a code for programs, a sentence for people.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::address::AddressError;
use crate::mailer::MailError;
use crate::schedule::ScheduleError;
use crate::template::TemplateError;

/// Why a request is not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("log in first")]
    Unauthenticated,
    #[error("only the postmaster may do this")]
    Forbidden,
    #[error("there is no such {0}")]
    Absent(&'static str),
    #[error("{0}")]
    Gone(&'static str),
    #[error("{0}")]
    Conflict(String),
    #[error("`{field}` {why}")]
    Invalid { field: &'static str, why: String },
    #[error("`email` {0}")]
    Address(#[from] AddressError),
    #[error("`body` {0}")]
    Template(#[from] TemplateError),
    #[error("`at` {0}")]
    Schedule(#[from] ScheduleError),
    #[error("{1}")]
    Malformed(StatusCode, String),
    #[error("the letter cannot be sent: {0}")]
    Mail(#[from] MailError),
    #[error("the database failed")]
    Database(#[source] sqlx::Error),
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn invalid(field: &'static str, why: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            why: why.into(),
        }
    }

    /// The status and a word for programs.
    const fn kind(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            Self::Absent(_) => (StatusCode::NOT_FOUND, "absent"),
            Self::Gone(_) => (StatusCode::GONE, "gone"),
            Self::Conflict(_) => (StatusCode::CONFLICT, "conflict"),
            Self::Invalid { .. } | Self::Address(_) | Self::Template(_) | Self::Schedule(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid")
            }
            Self::Malformed(status, _) => (*status, "malformed"),
            Self::Mail(_) => (StatusCode::BAD_GATEWAY, "mail"),
            Self::Database(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, code) = self.kind();
        if let Self::Database(source) = &self {
            eprintln!("newsletter: {source}");
        }
        let body = json!({ "code": code, "message": self.to_string() });
        let mut response = (status, Json(body)).into_response();
        if matches!(self, Self::Unauthenticated) {
            let challenge = HeaderValue::from_static("Basic realm=\"newsletter\"");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let Some(refused) = error.as_database_error() else {
            return Self::Database(error);
        };
        if refused.is_unique_violation() {
            Self::Conflict("something of this name is there".to_owned())
        } else if refused.is_foreign_key_violation() {
            Self::Conflict("something else still needs it".to_owned())
        } else {
            Self::Database(error)
        }
    }
}

macro_rules! malformed {
    ($($rejection:ident),+) => {
        $(impl From<$rejection> for Error {
            fn from(rejection: $rejection) -> Self {
                Self::Malformed(rejection.status(), rejection.body_text())
            }
        })+
    };
}

malformed!(JsonRejection, PathRejection, QueryRejection);
