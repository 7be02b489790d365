//! Changing and removing pastes, with their edit key.

use actix_web::http::header;
use actix_web::web::{Data, Json, Path};
use actix_web::{HttpRequest, HttpResponse, delete, post, put};
use diesel::prelude::*;
use serde::Deserialize;
use time::{Duration, OffsetDateTime};

use crate::access::Access;
use crate::expiry::expires_at;
use crate::language::by_name;
use crate::models::Paste;
use crate::pastes::{check_content, check_line, id, insert_version};
use crate::problem::{Problem, Result};
use crate::schema::pastes;
use crate::service::Shared;
use crate::store::{live_paste, on_database, version};

/// How many versions are kept of a paste.
const MOST_VERSIONS: i32 = 50;

/// A change: what is absent stays.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    content: Option<String>,
    title: Option<String>,
    syntax: Option<String>,
    #[serde(default)]
    note: String,
}

impl Change {
    fn check(&self, longest: usize) -> Result<()> {
        if let Self {
            content: None,
            title: None,
            syntax: None,
            ..
        } = self
        {
            return Err(Problem::invalid("body", "changes nothing"));
        }
        if let Some(content) = &self.content {
            check_content(content, longest)?;
        }
        if let Some(title) = &self.title {
            check_line("title", title, 100)?;
            if title.trim().is_empty() {
                return Err(Problem::invalid("title", "is empty"));
            }
        }
        check_line("note", &self.note, 200)
    }
}

/// The version that the caller thinks there is.
fn expected_version(request: &HttpRequest) -> Result<Option<i32>> {
    let Some(value) = request.headers().get(header::IF_MATCH) else {
        return Ok(None);
    };
    let malformed = || Problem::Malformed("the header if-match is not a version".to_owned());
    let text = value.to_str().map_err(|_| malformed())?.trim();
    if text == "*" {
        return Ok(None);
    }
    let text = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    // Our own tags hold the digest after the number.
    let number = text.split_once('-').map_or(text, |(number, _)| number);
    number.parse().map(Some).map_err(|_| malformed())
}

/// `PUT /pastes/{id}`
#[put("/pastes/{id}")]
pub(crate) async fn change(
    shared: Data<Shared>,
    request: HttpRequest,
    path: Path<String>,
    access: Access,
    change: Json<Change>,
) -> Result<HttpResponse> {
    let id = id(&path)?;
    let change = change.into_inner();
    change.check(shared.config.longest)?;
    let syntax = match change.syntax.as_deref().map(by_name) {
        Some(Some(syntax)) => Some(syntax.name),
        Some(None) => return Err(Problem::invalid("syntax", "is unknown; see /syntaxes")),
        None => None,
    };
    let expected = expected_version(&request)?;
    let view = on_database(&shared, move |connection, now| {
        let mut paste = live_paste(connection, id, now)?;
        access.change(&paste)?;
        if let Some(expected) = expected
            && expected != paste.version
        {
            return Err(Problem::Stale {
                expected,
                actual: paste.version,
            });
        }
        let last = version(connection, &paste, paste.version)?;
        paste.title = change.title.unwrap_or(paste.title);
        paste.syntax = syntax.map_or(paste.syntax, str::to_owned);
        let content = change.content.filter(|content| *content != last.content);
        let current = match content {
            Some(_) if paste.version >= MOST_VERSIONS => {
                return Err(Problem::Conflict("there are too many versions; fork it"));
            }
            Some(content) => {
                paste.version += 1;
                insert_version(connection, &paste, content, &change.note, now)?
            }
            None => last,
        };
        paste.updated_at = now.unix_timestamp();
        save(connection, &paste)?;
        paste.view_with(current)
    })
    .await?;
    Ok(HttpResponse::Ok().json(view))
}

fn save(connection: &mut SqliteConnection, paste: &Paste) -> Result<()> {
    diesel::update(pastes::table.find(&paste.id))
        .set(paste)
        .execute(connection)?;
    Ok(())
}

/// A new date of expiry.
#[derive(Deserialize)]
pub(crate) struct Prolonging {
    expires: String,
}

/// `POST /pastes/{id}/expiry`
#[post("/pastes/{id}/expiry")]
pub(crate) async fn prolong(
    shared: Data<Shared>,
    path: Path<String>,
    access: Access,
    wanted: Json<Prolonging>,
) -> Result<HttpResponse> {
    let id = id(&path)?;
    let expires = expires_at(&wanted.expires, shared.now())?;
    let view = on_database(&shared, move |connection, now| {
        let mut paste = live_paste(connection, id, now)?;
        access.change(&paste)?;
        paste.expires_at = later(&paste, expires, now)?.map(OffsetDateTime::unix_timestamp);
        save(connection, &paste)?;
        paste.view()
    })
    .await?;
    Ok(HttpResponse::Ok().json(view))
}

/// A paste that is seldom read lives at most a year longer.
fn later(
    paste: &Paste,
    expires: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<Option<OffsetDateTime>> {
    let year = now + Duration::days(365);
    match expires {
        Some(expires) if expires > year && paste.views < 10 => Err(Problem::Conflict(
            "a paste that is seldom read lives a year at most",
        )),
        None if paste.visibility == "private" => {
            Err(Problem::Conflict("a private paste must expire"))
        }
        expires => Ok(expires),
    }
}

/// `DELETE /pastes/{id}`
#[delete("/pastes/{id}")]
pub(crate) async fn remove(
    shared: Data<Shared>,
    path: Path<String>,
    access: Access,
) -> Result<HttpResponse> {
    let id = id(&path)?;
    on_database(&shared, move |connection, now| {
        let paste = live_paste(connection, id, now)?;
        access.change(&paste)?;
        diesel::delete(pastes::table.find(&paste.id)).execute(connection)?;
        Ok(())
    })
    .await?;
    Ok(HttpResponse::NoContent().finish())
}
