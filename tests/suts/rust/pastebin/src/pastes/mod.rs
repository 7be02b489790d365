//! Pastes: made, read, changed, forked, listed.

pub(crate) mod create;
pub(crate) mod edit;
pub(crate) mod fork;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod read;

use diesel::prelude::*;
use time::OffsetDateTime;

use crate::id::Id;
use crate::models::{Paste, Version};
use crate::problem::{Problem, Result};
use crate::schema::{pastes, versions};
use crate::secret;

/// The identifier in a path.
fn id(text: &str) -> Result<Id> {
    text.parse()
        .map_err(|error| Problem::Id(text.to_owned(), error))
}

/// Puts a paste with its first version into the database.
fn insert(connection: &mut SqliteConnection, paste: &Paste, content: String) -> Result<Version> {
    diesel::insert_into(pastes::table)
        .values(paste)
        .execute(connection)?;
    let at =
        OffsetDateTime::from_unix_timestamp(paste.created_at).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    insert_version(connection, paste, content, "first version", at)
}

fn insert_version(
    connection: &mut SqliteConnection,
    paste: &Paste,
    content: String,
    note: &str,
    now: OffsetDateTime,
) -> Result<Version> {
    let version = Version {
        paste_id: paste.id.clone(),
        number: paste.version,
        digest: secret::digest(&content),
        content,
        note: note.to_owned(),
        created_at: now.unix_timestamp(),
    };
    diesel::insert_into(versions::table)
        .values(&version)
        .execute(connection)?;
    Ok(version)
}

/// Checks the length of a text field and that it is one line.
fn check_line(field: &'static str, text: &str, most: usize) -> Result<()> {
    let length = text.chars().count();
    if length > most {
        return Err(Problem::invalid(field, format!("is longer than {most}")));
    }
    if text.contains(|c: char| c.is_control()) {
        return Err(Problem::invalid(field, "holds control characters"));
    }
    Ok(())
}

/// Checks a text.
fn check_content(content: &str, most: usize) -> Result<()> {
    if content.trim().is_empty() {
        return Err(Problem::invalid("content", "is empty"));
    }
    if content.len() > most {
        return Err(Problem::TooLong {
            got: content.len(),
            most,
        });
    }
    if content.contains('\0') {
        return Err(Problem::invalid("content", "is not text"));
    }
    Ok(())
}
