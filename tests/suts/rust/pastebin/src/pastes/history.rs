//! Older versions of pastes, and what changed between them.

use actix_web::web::{Data, Json, Path, Query};
use actix_web::{Responder, get};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::diff::{Diff, diff};
use crate::models::{Version, VersionView};
use crate::pastes::id;
use crate::problem::{Problem, Result};
use crate::schema::versions;
use crate::service::Shared;
use crate::store::{live_paste, on_database, version};

/// `GET /pastes/{id}/versions`
#[get("/pastes/{id}/versions")]
pub(crate) async fn all_versions(
    shared: Data<Shared>,
    path: Path<String>,
    access: Access,
) -> Result<impl Responder> {
    let id = id(&path)?;
    let views = on_database(&shared, move |connection, now| {
        let paste = live_paste(connection, id, now)?;
        access.read(&paste)?;
        let all: Vec<Version> = versions::table
            .filter(versions::paste_id.eq(&paste.id))
            .order(versions::number.desc())
            .select(Version::as_select())
            .load(connection)?;
        all.into_iter()
            .map(|version| version.view(false))
            .collect::<Result<Vec<VersionView>>>()
    })
    .await?;
    Ok(Json(views))
}

/// `GET /pastes/{id}/versions/{number}`
#[get("/pastes/{id}/versions/{number}")]
pub(crate) async fn one_version(
    shared: Data<Shared>,
    path: Path<(String, i32)>,
    access: Access,
) -> Result<impl Responder> {
    let (text, number) = path.into_inner();
    let id = id(&text)?;
    let view = on_database(&shared, move |connection, now| {
        let paste = live_paste(connection, id, now)?;
        access.read(&paste)?;
        version(connection, &paste, number)?.view(true)
    })
    .await?;
    Ok(Json(view))
}

/// Which versions to compare; without numbers, the last two.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    from: Option<i32>,
    to: Option<i32>,
}

/// What changed from one version to another.
#[derive(Serialize)]
pub(crate) struct Differences {
    from: i32,
    to: i32,
    #[serde(flatten)]
    diff: Diff,
}

/// `GET /pastes/{id}/diff`
#[get("/pastes/{id}/diff")]
pub(crate) async fn differences(
    shared: Data<Shared>,
    path: Path<String>,
    wanted: Query<Wanted>,
    access: Access,
) -> Result<impl Responder> {
    let id = id(&path)?;
    let answer = on_database(&shared, move |connection, now| {
        let paste = live_paste(connection, id, now)?;
        access.read(&paste)?;
        let to = wanted.to.unwrap_or(paste.version);
        let from = match wanted.from {
            Some(from) => from,
            None if to > 1 => to - 1,
            None => return Err(Problem::Conflict("there is only one version")),
        };
        if from == to {
            return Err(Problem::invalid("from", "is the version to compare with"));
        }
        let old = version(connection, &paste, from)?;
        let new = version(connection, &paste, to)?;
        let diff = diff(&old.content, &new.content);
        Ok(Differences { from, to, diff })
    })
    .await?;
    Ok(Json(answer))
}
