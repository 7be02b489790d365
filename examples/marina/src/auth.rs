//! Users, their log-in and the token that proves it.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::{StatusCode, header, request::Parts};
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

use crate::input::Body;
use crate::problem::Problem;
use crate::service::Marina;

/// Who makes the request.
pub(crate) struct User {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) harbor_master: bool,
}

impl FromRequestParts<Marina> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, marina: &Marina) -> Result<Self, Problem> {
        let token = parts
            .headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or_else(Problem::unauthenticated)?;
        let id = marina.session(token).ok_or_else(Problem::unauthenticated)?;
        let (name, role) =
            marina
                .db()
                .query_row("SELECT name, role FROM users WHERE id = ?1", [id], |row| {
                    Ok((row.get(0)?, row.get::<_, String>(1)?))
                })?;
        Ok(Self {
            id,
            name,
            harbor_master: role == "master",
        })
    }
}

impl User {
    pub(crate) fn must_be_harbor_master(&self) -> Result<(), Problem> {
        if self.harbor_master {
            Ok(())
        } else {
            Err(Problem::forbidden())
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Login {
    user: String,
    password: String,
}

#[derive(Serialize)]
pub(crate) struct Session {
    token: String,
}

/// `POST /login`
pub(crate) async fn login(
    State(marina): State<Marina>,
    Body(login): Body<Login>,
) -> Result<Json<Session>, Problem> {
    let id: Option<i64> = marina
        .db()
        .query_row(
            "SELECT id FROM users WHERE name = ?1 AND password = ?2",
            [&login.user, &login.password],
            |row| row.get(0),
        )
        .optional()?;
    let id = id.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "wrong user or password"))?;
    Ok(Json(Session {
        token: marina.open_session(id),
    }))
}

#[derive(Serialize)]
pub(crate) struct Me {
    name: String,
    #[serde(rename = "harborMaster")]
    harbor_master: bool,
}

/// `GET /me`
pub(crate) async fn me(user: User) -> Json<Me> {
    Json(Me {
        name: user.name,
        harbor_master: user.harbor_master,
    })
}
