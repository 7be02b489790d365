//! Reads table definitions from `sqlite_schema`.

use std::path::Path;

use super::{Definitions, source, trigger};
use crate::database::{Database, DatabaseError};

pub(super) fn definitions(database: &mut dyn Database) -> Result<Definitions, DatabaseError> {
    let rows = database.query_required(
        "SELECT type, name, sql FROM sqlite_schema \
         WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
           AND (type IN ('table', 'trigger') OR (type = 'index' AND upper(sql) LIKE 'CREATE UNIQUE %')) \
         ORDER BY type = 'table' DESC, rowid",
    )?;
    let mut sources = Vec::new();
    let mut triggers = Vec::new();
    for ((kind, name), sql) in rows.texts(0).zip(rows.texts(1)).zip(rows.texts(2)) {
        if kind == "trigger" {
            triggers.push(trigger(database, format!("TRIGGER {name}")));
        } else {
            sources.push(source(database, kind, name, format!("{sql};\n")));
        }
    }
    Ok(Definitions {
        name: name(database.display_address()),
        sources,
        triggers,
        limitations: Vec::new(),
    })
}

/// The file's stem.
fn name(place: &str) -> String {
    let path = place.split_once(':').map_or(place, |(_, path)| path);
    match Path::new(path).file_stem() {
        Some(stem) if path != ":memory:" => stem.to_string_lossy().into_owned(),
        _ => "memory".to_owned(),
    }
}
