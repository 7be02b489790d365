//! Queries from files: statements of .sql files, lines of .jsonl files, strings of .rs files.

#![deny(clippy::indexing_slicing)]

mod records;
mod rust;
mod statements;

use std::path::{Path, PathBuf};

use isobath_rows::query::cover::{GivenTargets, QueryText};
use isobath_sql::DialectName;
use isobath_sql::ddl::Source;

use super::error::QueryRunError;
use crate::input::{self, InputError};

/// The queries of one text.
#[derive(Debug)]
pub(crate) struct Queries {
    /// The text.
    pub source: Source,
    /// Its queries, in order.
    pub given: Vec<QueryText>,
}

/// Reads the queries of all paths; names are made unique.
///
/// # Errors
///
/// When a path cannot be read or has no query.
pub(crate) fn read<'p>(
    paths: impl Iterator<Item = &'p PathBuf>,
    dialect: DialectName,
) -> Result<Vec<Queries>, QueryRunError> {
    let mut all = Vec::new();
    for path in paths {
        let before = all.len();
        for source in sources(path)? {
            let given = queries(&source, dialect);
            all.push(Queries { source, given });
        }
        let mut of_path = all.iter().skip(before);
        if of_path.all(|queries: &Queries| queries.given.is_empty()) {
            return Err(QueryRunError::Flag(format!(
                "{} holds no query: neither an SQL statement, nor a line of JSON with `query`, nor a call of sqlx",
                path.display()
            )));
        }
    }
    let mut taken = std::collections::BTreeSet::new();
    for given in all.iter_mut().flat_map(|queries| &mut queries.given) {
        let mut id = given.id.clone();
        let mut number = 2;
        while !taken.insert(id.clone()) {
            id = format!("{}_{number}", given.id);
            number += 1;
        }
        given.id = id;
    }
    Ok(all)
}

/// A name for the whole of the queries: the first path's.
pub(crate) fn name(path: Option<&PathBuf>) -> String {
    let Some(path) = path else {
        return "queries".to_owned();
    };
    if path.as_os_str() == "-" {
        return "stdin".to_owned();
    }
    let full = path.canonicalize().unwrap_or_else(|_| path.clone());
    full.file_stem().map_or_else(
        || "queries".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// The texts of a path; a folder is walked in the order of its names.
fn sources(path: &Path) -> Result<Vec<Source>, InputError> {
    if !path.is_dir() {
        return Ok(input::read(path)?.sources);
    }
    let mut files = Vec::new();
    collect(path, &mut files).map_err(|cause| InputError::Unreadable {
        path: path.to_owned(),
        cause,
    })?;
    if files.is_empty() {
        return Err(InputError::EmptyFolder {
            path: path.to_owned(),
            wanted: ".sql, .jsonl or .rs",
        });
    }
    let mut sources = Vec::new();
    for file in files {
        sources.extend(input::read(&file)?.sources);
    }
    Ok(sources)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files)?;
        } else if ["sql", "jsonl", "rs"].iter().any(|kind| has(&path, kind)) {
            files.push(path);
        }
    }
    Ok(())
}

fn has(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// The queries of a text, by the kind of its file.
fn queries(source: &Source, dialect: DialectName) -> Vec<QueryText> {
    let path = Path::new(&source.name);
    if has(path, "jsonl") || source.text.trim_start().starts_with('{') {
        return records::read(&source.text);
    }
    if has(path, "rs") {
        return rust::read(&source.text, &stem(&source.name));
    }
    statements::read(&source.text, &stem(&source.name), dialect)
}

/// Targets of a file, for one query or for all of them.
///
/// # Errors
///
/// When the path cannot be read.
pub(crate) fn targets(path: &Path, dialect: DialectName) -> Result<GivenTargets, InputError> {
    let mut found = GivenTargets::default();
    for source in sources(path)? {
        if source.text.trim_start().starts_with('{') {
            found.ansi = true;
            found.lines.extend(records::targets(&source.text));
        } else {
            let statements = statements::read(&source.text, "", dialect);
            found.lines.extend(
                statements
                    .into_iter()
                    .map(|given| (None, given.sql.trim().to_owned())),
            );
        }
    }
    Ok(found)
}

fn stem(name: &str) -> String {
    if name == "standard input" {
        return "stdin".to_owned();
    }
    Path::new(name).file_stem().map_or_else(
        || name.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}
