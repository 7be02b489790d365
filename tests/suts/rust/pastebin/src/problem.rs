//! How refusals look: problem details as of RFC 9457.

use actix_web::error::{JsonPayloadError, PathError, QueryPayloadError};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use diesel::result::{DatabaseErrorKind, Error as DieselError};
use serde_json::json;

use crate::id::IdError;

/// Why a request is not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("{0}")]
    Malformed(String),
    #[error("`{field}` {why}")]
    Invalid { field: &'static str, why: String },
    #[error("{0} is not an identifier: {1}")]
    Id(String, IdError),
    #[error("there is no such {0}")]
    Absent(&'static str),
    #[error("the paste has expired or was burnt")]
    Gone,
    #[error("this needs the password of the paste")]
    NeedsPassword,
    #[error("the password is wrong")]
    WrongPassword,
    #[error("this needs the edit key of the paste")]
    NeedsKey,
    #[error("the edit key is wrong")]
    WrongKey,
    #[error("the paste has version {actual} by now, not {expected}")]
    Stale { expected: i32, actual: i32 },
    #[error("{0}")]
    Conflict(&'static str),
    #[error("the text has {got} bytes, more than {most}")]
    TooLong { got: usize, most: usize },
    #[error("cannot read {0}")]
    MediaType(String),
    #[error("cannot answer with any of {0}")]
    NotAcceptable(String),
    #[error("too many requests; wait {0} seconds")]
    TooMany(u64),
    #[error("the database failed")]
    Database(#[source] DieselError),
    #[error("the request was given up")]
    Cancelled,
}

pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

impl Problem {
    pub(crate) fn invalid(field: &'static str, why: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            why: why.into(),
        }
    }

    /// A word for programs.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Invalid { .. } => "invalid",
            Self::Id(..) => "bad-id",
            Self::Absent(_) => "absent",
            Self::Gone => "gone",
            Self::NeedsPassword | Self::WrongPassword => "password",
            Self::NeedsKey | Self::WrongKey => "edit-key",
            Self::Stale { .. } => "stale",
            Self::Conflict(_) => "conflict",
            Self::TooLong { .. } => "too-long",
            Self::MediaType(_) => "media-type",
            Self::NotAcceptable(_) => "not-acceptable",
            Self::TooMany(_) => "too-many",
            Self::Database(_) | Self::Cancelled => "internal",
        }
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Malformed(_) | Self::Id(..) => StatusCode::BAD_REQUEST,
            Self::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Absent(_) => StatusCode::NOT_FOUND,
            Self::Gone => StatusCode::GONE,
            Self::NeedsPassword | Self::NeedsKey => StatusCode::UNAUTHORIZED,
            Self::WrongPassword | Self::WrongKey => StatusCode::FORBIDDEN,
            Self::Stale { .. } => StatusCode::PRECONDITION_FAILED,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::NotAcceptable(_) => StatusCode::NOT_ACCEPTABLE,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Database(_) | Self::Cancelled => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let status = self.status_code();
        let mut body = json!({
            "type": format!("urn:pastebin:{}", self.kind()),
            "title": status.canonical_reason().unwrap_or("Problem"),
            "status": status.as_u16(),
            "detail": self.to_string(),
        });
        if let Self::Invalid { field, .. } = self {
            body["field"] = json!(field);
        }
        if let Self::Database(source) = self {
            eprintln!("pastebin: {source}");
        }
        let mut response = HttpResponse::build(status);
        match self {
            Self::TooMany(seconds) => {
                response.insert_header((header::RETRY_AFTER, seconds.to_string()));
            }
            Self::NeedsPassword => {
                let scheme = HeaderValue::from_static("Paste-Password");
                response.insert_header((header::WWW_AUTHENTICATE, scheme));
            }
            Self::NeedsKey => {
                let scheme = HeaderValue::from_static("Paste-Key");
                response.insert_header((header::WWW_AUTHENTICATE, scheme));
            }
            _ => {}
        }
        response
            .content_type("application/problem+json")
            .body(body.to_string())
    }
}

impl From<DieselError> for Problem {
    fn from(error: DieselError) -> Self {
        match error {
            DieselError::NotFound => Self::Absent("paste"),
            DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => {
                Self::Conflict("something of this name is there")
            }
            other => Self::Database(other),
        }
    }
}

impl From<JsonPayloadError> for Problem {
    fn from(error: JsonPayloadError) -> Self {
        match error {
            JsonPayloadError::Overflow { limit }
            | JsonPayloadError::OverflowKnownLength { limit, .. } => Self::TooLong {
                got: limit + 1,
                most: limit,
            },
            JsonPayloadError::ContentType => Self::MediaType("what is not JSON".to_owned()),
            JsonPayloadError::Deserialize(error) if error.is_data() => {
                Self::invalid("body", error.to_string())
            }
            other => Self::Malformed(other.to_string()),
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::from(JsonPayloadError::Deserialize(error))
    }
}

macro_rules! malformed {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::Malformed(error.to_string())
            }
        })*
    };
}

malformed!(PathError, QueryPayloadError);
