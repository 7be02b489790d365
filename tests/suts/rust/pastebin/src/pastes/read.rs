//! Reading pastes, as JSON or as what they are.

use actix_web::http::header::{self, Accept, ETag, EntityTag, Header, IfNoneMatch};
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse, get};
use diesel::prelude::*;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::access::Access;
use crate::id::Id;
use crate::language::by_name;
use crate::lines::Lines;
use crate::models::{Paste, Version};
use crate::pastes::id;
use crate::problem::{Problem, Result};
use crate::schema::pastes;
use crate::service::Shared;
use crate::store::{live_paste, on_database, version};

/// The forms that a paste can be answered in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Json,
    Text,
}

impl Form {
    /// The first form that the caller accepts.
    fn accepted(request: &HttpRequest) -> Result<Self> {
        let Some(given) = request.headers().get(header::ACCEPT) else {
            return Ok(Self::Json);
        };
        let accept = Accept::parse(request)
            .map_err(|_| Problem::Malformed("the header accept is malformed".to_owned()))?;
        for range in accept.ranked() {
            match (range.type_().as_str(), range.subtype().as_str()) {
                ("*", _) | ("application", "json" | "*") => return Ok(Self::Json),
                ("text", "plain" | "*") => return Ok(Self::Text),
                _ => {}
            }
        }
        let given = given.to_str().unwrap_or("what is asked for");
        Err(Problem::NotAcceptable(given.to_owned()))
    }
}

/// Reads a paste and counts that.
fn read(
    connection: &mut SqliteConnection,
    id: Id,
    access: &Access,
    now: OffsetDateTime,
) -> Result<(Paste, Version)> {
    let mut paste = live_paste(connection, id, now)?;
    access.read(&paste)?;
    if !access.owns(&paste) {
        paste.views += 1;
        diesel::update(pastes::table.find(&paste.id))
            .set(pastes::views.eq(paste.views))
            .execute(connection)?;
    }
    let version = version(connection, &paste, paste.version)?;
    Ok((paste, version))
}

fn is_known(request: &HttpRequest, tag: &EntityTag) -> bool {
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|known| known.weak_eq(tag)),
        Err(_) => false,
    }
}

/// `GET /pastes/{id}`
#[get("/pastes/{id}")]
pub(crate) async fn fetch(
    shared: Data<Shared>,
    request: HttpRequest,
    path: Path<String>,
    access: Access,
) -> Result<HttpResponse> {
    let id = id(&path)?;
    let form = Form::accepted(&request)?;
    let (paste, version) = on_database(&shared, move |connection, now| {
        read(connection, id, &access, now)
    })
    .await?;
    let tag = EntityTag::new_strong(format!("{}-{}", paste.version, &version.digest[..12]));
    if request.headers().contains_key(header::IF_NONE_MATCH) && is_known(&request, &tag) {
        return Ok(HttpResponse::NotModified()
            .insert_header(ETag(tag))
            .finish());
    }
    let mut response = HttpResponse::Ok();
    response.insert_header(ETag(tag));
    Ok(match form {
        Form::Json => response.json(paste.view_with(version)?),
        Form::Text => response
            .content_type("text/plain; charset=utf-8")
            .body(version.content),
    })
}

/// What of the text is wanted.
#[derive(Deserialize)]
pub(crate) struct Part {
    lines: Option<String>,
    #[serde(default)]
    download: bool,
}

/// `GET /pastes/{id}/raw`
#[get("/pastes/{id}/raw")]
pub(crate) async fn raw(
    shared: Data<Shared>,
    path: Path<String>,
    part: Query<Part>,
    access: Access,
) -> Result<HttpResponse> {
    let id = id(&path)?;
    let lines: Option<Lines> = part.lines.as_deref().map(str::parse).transpose()?;
    let (paste, version) = on_database(&shared, move |connection, now| {
        read(connection, id, &access, now)
    })
    .await?;
    let content = match lines {
        Some(lines) => lines.of(&version.content),
        None => version.content,
    };
    let syntax = by_name(&paste.syntax);
    let mut response = HttpResponse::Ok();
    if part.download {
        let extension = syntax
            .and_then(|syntax| syntax.extensions.first())
            .unwrap_or(&"txt");
        let disposition = format!("attachment; filename=\"{}.{extension}\"", paste.id);
        response.insert_header((header::CONTENT_DISPOSITION, disposition));
    }
    let mime = syntax.map_or("text/plain", |syntax| syntax.mime);
    // Never as a page that the browser would run.
    let mime = match mime {
        "text/html" | "text/javascript" => "text/plain",
        other => other,
    };
    Ok(response
        .content_type(format!("{mime}; charset=utf-8"))
        .body(content))
}
