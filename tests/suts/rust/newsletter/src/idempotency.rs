//! Requests that may be repeated: the same key and body get the same answer.

use axum::extract::FromRequestParts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sha2::{Digest, Sha256};
use sqlx::SqliteConnection;

use crate::app::App;
use crate::error::{Error, Result};

const KEY: &str = "idempotency-key";
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replay");

/// For how many seconds answers are kept.
const KEPT: i64 = 24 * 60 * 60;

/// The key of a request that may be repeated.
#[derive(Clone, Debug)]
pub(crate) struct Key(String);

/// The key, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct MaybeKey(pub(crate) Option<Key>);

fn key(headers: &HeaderMap) -> Result<Option<Key>> {
    let Some(value) = headers.get(KEY) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().trim();
    let fits = (8..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !fits {
        return Err(Error::invalid(
            KEY,
            "must have 8 to 64 letters, digits, hyphens or underscores",
        ));
    }
    Ok(Some(Key(text.to_owned())))
}

impl FromRequestParts<App> for MaybeKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        key(&parts.headers).map(Self)
    }
}

/// A request that was seen before is answered; otherwise what to remember its answer under.
pub(crate) enum Seen<'k> {
    Before(Response),
    Never(Option<(&'k Key, String)>),
}

impl MaybeKey {
    /// Looks for an earlier request with this key.
    pub(crate) async fn seen<T: Serialize>(
        &self,
        db: &mut SqliteConnection,
        operation: &str,
        body: &T,
        now: i64,
    ) -> Result<Seen<'_>> {
        let Some(key) = &self.0 else {
            return Ok(Seen::Never(None));
        };
        let text = serde_json::to_string(body).unwrap_or_default();
        let digest = format!("{:x}", Sha256::digest(text));
        sqlx::query("DELETE FROM idempotency WHERE created_at < ?1")
            .bind(now - KEPT)
            .execute(&mut *db)
            .await?;
        let earlier: Option<(String, u16, String)> = sqlx::query_as(
            "SELECT digest, status, body FROM idempotency WHERE operation = ?1 AND key = ?2",
        )
        .bind(operation)
        .bind(&key.0)
        .fetch_optional(db)
        .await?;
        match earlier {
            None => Ok(Seen::Never(Some((key, digest)))),
            Some((earlier, ..)) if earlier != digest => {
                Err(Error::invalid(KEY, "was used for another request"))
            }
            Some((_, status, body)) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
                let headers = [
                    (
                        header::CONTENT_TYPE,
                        HeaderValue::from_static("application/json"),
                    ),
                    (REPLAYED, HeaderValue::from_static("true")),
                ];
                Ok(Seen::Before((status, headers, body).into_response()))
            }
        }
    }
}

/// Remembers an answer, and gives it.
pub(crate) async fn answer<T: Serialize>(
    db: &mut SqliteConnection,
    operation: &str,
    key: Option<(&Key, String)>,
    status: StatusCode,
    body: &T,
    now: i64,
) -> Result<Response> {
    let text = serde_json::to_string(body).unwrap_or_default();
    if let Some((key, digest)) = key {
        sqlx::query(
            "INSERT INTO idempotency (operation, key, digest, status, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .bind(operation)
        .bind(&key.0)
        .bind(digest)
        .bind(status.as_u16())
        .bind(&text)
        .bind(now)
        .execute(db)
        .await?;
    }
    Ok((status, [(header::CONTENT_TYPE, "application/json")], text).into_response())
}
