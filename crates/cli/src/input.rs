//! Reads inputs: files, folders of migrations, standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use isobath_sql::ddl::{SkippedMigration, Source, migration_order};

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    /// The file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: std::io::Error,
    },
    /// A file full of bytes that are no text.
    #[error("{} is not SQL text: it contains NUL bytes", path.display())]
    Binary {
        /// The path as given.
        path: PathBuf,
    },
    /// A folder without any SQL.
    #[error("{} contains no {wanted} file", path.display())]
    EmptyFolder {
        /// The path as given.
        path: PathBuf,
        /// What was looked for.
        wanted: &'static str,
    },
}

/// The sources of one schema.
#[derive(Debug)]
pub(crate) struct Input {
    /// A name for reports: the file's stem or the folder's name.
    pub name: String,
    /// The texts, in the order in which they apply.
    pub sources: Vec<Source>,
    /// Files of a folder that are not applied, such as those that undo a migration.
    pub skipped: Vec<SkippedMigration>,
}

/// Reads one path: a file, a folder of migrations, or `-` for standard input.
///
/// # Errors
///
/// When it cannot be read or is no text.
pub(crate) fn read(path: &Path) -> Result<Input, InputError> {
    let unreadable = |path: &Path, cause| InputError::Unreadable {
        path: path.to_owned(),
        cause,
    };
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|cause| unreadable(path, cause))?;
        let sources = vec![source(path, "standard input", bytes)?];
        return Ok(Input {
            name: "stdin".to_owned(),
            sources,
            skipped: Vec::new(),
        });
    }
    if !path.is_dir() {
        let bytes = std::fs::read(path).map_err(|cause| unreadable(path, cause))?;
        let name = path
            .file_stem()
            .map_or_else(|| "schema".into(), |stem| stem.to_string_lossy());
        return Ok(Input {
            name: name.into_owned(),
            sources: vec![source(path, &path.display().to_string(), bytes)?],
            skipped: Vec::new(),
        });
    }
    let mut files = Vec::new();
    collect(path, &mut files).map_err(|cause| unreadable(path, cause))?;
    if files.is_empty() {
        return Err(InputError::EmptyFolder {
            path: path.to_owned(),
            wanted: ".sql",
        });
    }
    let mut names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let skipped = migration_order(&mut names);
    let mut sources = Vec::new();
    for name in names {
        let file = Path::new(&name);
        let bytes = std::fs::read(file).map_err(|cause| unreadable(file, cause))?;
        sources.push(source(file, &name, bytes)?);
    }
    let folder = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = folder
        .file_name()
        .map_or_else(|| "schema".into(), |name| name.to_string_lossy());
    Ok(Input {
        name: name.into_owned(),
        sources,
        skipped,
    })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("sql"))
        {
            files.push(path);
        }
    }
    Ok(())
}

fn source(path: &Path, name: &str, bytes: Vec<u8>) -> Result<Source, InputError> {
    if bytes.contains(&0) {
        return Err(InputError::Binary {
            path: path.to_owned(),
        });
    }
    // A stray byte in a comment must not cost the file; where it matters, the statement fails to parse.
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    // The mark that some editors put before the first letter.
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}
