//! Copies of pastes that go their own way.

use actix_web::web::{Data, Json, Path};
use actix_web::{HttpResponse, Responder, get, post};
use diesel::prelude::*;
use serde::Deserialize;

use crate::access::Access;
use crate::id::Id;
use crate::models::{Paste, PasteView, Visibility};
use crate::pastes::{check_line, id, insert};
use crate::problem::{Problem, Result};
use crate::schema::pastes;
use crate::secret;
use crate::service::Shared;
use crate::store::{live_paste, on_database, version};

/// How many generations of copies there may be.
const DEEPEST: usize = 5;

/// What shall be different in the copy.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct NewFork {
    title: Option<String>,
    author: Option<String>,
    version: Option<i32>,
}

/// How many pastes this one descends from.
fn generation(connection: &mut SqliteConnection, paste: &Paste) -> Result<usize> {
    let mut generation = 0;
    let mut parent = paste.parent.clone();
    while let Some(id) = parent.take() {
        generation += 1;
        let found: Option<Option<String>> = pastes::table
            .find(&id)
            .select(pastes::parent)
            .first(connection)
            .optional()?;
        let Some(next) = found else { break };
        parent = next;
    }
    Ok(generation)
}

/// `POST /pastes/{id}/forks`
#[post("/pastes/{id}/forks")]
pub(crate) async fn fork(
    shared: Data<Shared>,
    path: Path<String>,
    access: Access,
    wanted: Json<NewFork>,
) -> Result<HttpResponse> {
    let id = id(&path)?;
    let wanted = wanted.into_inner();
    if let Some(title) = &wanted.title {
        check_line("title", title, 100)?;
    }
    if let Some(author) = &wanted.author {
        check_line("author", author, 40)?;
    }
    let view = on_database(&shared, move |connection, now| {
        let original = live_paste(connection, id, now)?;
        access.read(&original)?;
        if original.most_views.is_some() {
            return Err(Problem::Conflict("what shall be read seldom is not copied"));
        }
        if generation(connection, &original)? >= DEEPEST {
            return Err(Problem::Conflict("this is a copy of too many copies"));
        }
        let number = wanted.version.unwrap_or(original.version);
        let content = version(connection, &original, number)?.content;
        let key = secret::new_key();
        let title = wanted.title.filter(|title| !title.trim().is_empty());
        let copy = Paste {
            id: Id::random().to_string(),
            title: title.unwrap_or_else(|| copied_title(&original.title)),
            author: wanted.author,
            parent: Some(original.id.clone()),
            edit_key: secret::digest(&key),
            version: 1,
            views: 0,
            created_at: now.unix_timestamp(),
            updated_at: now.unix_timestamp(),
            ..original
        };
        let version = insert(connection, &copy, content)?;
        Ok(PasteView {
            edit_key: Some(key),
            ..copy.view_with(version)?
        })
    })
    .await?;
    Ok(HttpResponse::Created().json(view))
}

/// "Copy of x", then "Copy 2 of x" and so on.
fn copied_title(title: &str) -> String {
    let next = match title.strip_prefix("Copy ") {
        Some(rest) if rest.starts_with("of ") => Some((2, &rest[3..])),
        Some(rest) => rest
            .split_once(" of ")
            .and_then(|(number, name)| Some((number.parse::<u32>().ok()?.checked_add(1)?, name))),
        None => None,
    };
    match next {
        Some((number, name)) => format!("Copy {number} of {name}"),
        None => format!("Copy of {title}"),
    }
}

/// `GET /pastes/{id}/forks`
#[get("/pastes/{id}/forks")]
pub(crate) async fn forks(
    shared: Data<Shared>,
    path: Path<String>,
    access: Access,
) -> Result<impl Responder> {
    let id = id(&path)?;
    let views = on_database(&shared, move |connection, now| {
        let original = live_paste(connection, id, now)?;
        access.read(&original)?;
        let copies: Vec<Paste> = pastes::table
            .filter(pastes::parent.eq(&original.id))
            .filter(pastes::visibility.eq(Visibility::Public.word()))
            .order((pastes::created_at, pastes::id))
            .select(Paste::as_select())
            .load(connection)?;
        copies
            .into_iter()
            .filter(|copy| !copy.is_over(now))
            .map(Paste::view)
            .collect::<Result<Vec<_>>>()
    })
    .await?;
    Ok(Json(views))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_counted_in_their_title() {
        assert_eq!(copied_title("x"), "Copy of x");
        assert_eq!(copied_title("Copy of x"), "Copy 2 of x");
        assert_eq!(copied_title("Copy 2 of x"), "Copy 3 of x");
        assert_eq!(copied_title("Copy that"), "Copy of Copy that");
    }
}
