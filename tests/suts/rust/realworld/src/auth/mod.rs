//! Who makes a request, and how that is proven.

pub(crate) mod password;
pub(crate) mod token;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::{HeaderMap, header, request::Parts};
use sqlx::FromRow;

use crate::app::App;
use crate::auth::token::{Claims, TokenError};
use crate::error::{Error, Result};

/// The user who is logged in.
#[derive(Clone, Debug)]
pub(crate) struct CurrentUser {
    pub(crate) id: i64,
    pub(crate) moderator: bool,
    pub(crate) claims: Claims,
}

#[derive(FromRow)]
struct Known {
    moderator: bool,
    revoked: bool,
}

impl CurrentUser {
    /// Refuses everybody but the owner and moderators.
    pub(crate) fn may_change(&self, owner: i64, why_not: &'static str) -> Result<()> {
        if self.id == owner || self.moderator {
            Ok(())
        } else {
            Err(Error::Forbidden(why_not))
        }
    }

    pub(crate) fn must_moderate(&self) -> Result<()> {
        if !self.moderator {
            return Err(Error::Forbidden("only moderators may do this"));
        }
        Ok(())
    }

    async fn from_token(token: &str, app: &App) -> Result<Self> {
        let claims = app.signer.verify(token, app.now())?;
        let mut db = app.store.connection().await?;
        let known: Option<Known> = sqlx::query_as(
            "SELECT moderator, EXISTS (SELECT * FROM revoked_tokens WHERE id = ?2) AS revoked
             FROM users WHERE id = ?1",
        )
        .bind(claims.user)
        .bind(claims.id.to_string())
        .fetch_optional(&mut *db)
        .await?;
        match known {
            None => Err(TokenError::Unknown.into()),
            Some(known) if known.revoked => Err(TokenError::Revoked.into()),
            Some(known) => Ok(Self {
                id: claims.user,
                moderator: known.moderator,
                claims,
            }),
        }
    }
}

/// The token of an `Authorization` header; both common schemes will do.
fn token(headers: &HeaderMap) -> Result<Option<&str>> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let value = value.to_str().map_err(|_| TokenError::Malformed)?;
    let Some((scheme, token)) = value.split_once(' ') else {
        return Err(TokenError::Malformed.into());
    };
    if scheme.eq_ignore_ascii_case("token") || scheme.eq_ignore_ascii_case("bearer") {
        Ok(Some(token.trim()))
    } else {
        Err(TokenError::Scheme.into())
    }
}

impl FromRequestParts<App> for CurrentUser {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let token = token(&parts.headers)?.ok_or(Error::Unauthenticated)?;
        Self::from_token(token, app).await
    }
}

impl OptionalFromRequestParts<App> for CurrentUser {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>> {
        match token(&parts.headers)? {
            Some(token) => Self::from_token(token, app).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The identifier of somebody who may not be logged in; 0 is nobody's.
pub(crate) fn viewer(user: Option<&CurrentUser>) -> i64 {
    user.map_or(0, |user| user.id)
}
