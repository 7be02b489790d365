//! Output files of a run: the suite in each requested language, and the report.

use std::path::{Path, PathBuf};

use isobath_emit::{RunReport, Suite, report, writer};
use isobath_exec::files::{self, WriteError};

use crate::log;

/// Why nothing could be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// The file cannot be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The suite cannot be written in a language.
    #[error("cannot {0}")]
    Format(#[from] writer::WriteError),
}

/// Writes the suite and the report into a folder of the schema's name, and returns that folder.
///
/// # Errors
///
/// When a file cannot be written, or a language cannot express the suite.
pub(crate) fn write(
    out: &Path,
    suite: &Suite,
    report: &RunReport,
    formats: &[String],
) -> Result<PathBuf, OutputError> {
    let folder = out.join(file_name(&suite.schema));
    languages(&folder, suite, formats)?;
    put(&folder.join("report.md"), &report::markdown(report))?;
    put(&folder.join("report.html"), &report::html(report))?;
    put(&folder.join("report.json"), &report.to_json())?;
    Ok(folder)
}

/// Writes the suite in every language, and returns the first file of each.
///
/// # Errors
///
/// When a file cannot be written, or a language cannot express the suite.
pub(crate) fn languages(
    folder: &Path,
    suite: &Suite,
    formats: &[String],
) -> Result<Vec<PathBuf>, OutputError> {
    let mut first = Vec::new();
    for format in formats {
        let writer = writer::by_name(format)?;
        for (index, file) in writer.write(suite)?.into_iter().enumerate() {
            // Languages with a project of their own (a pom.xml, a Cargo.toml) get a folder each.
            let path = folder.join(writer.name()).join(&file.path);
            put(&path, &file.text)?;
            if index == 0 {
                first.push(path);
            }
        }
    }
    Ok(first)
}

/// Writes one file, and the folders above it.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), OutputError> {
    Ok(files::write(path, &log::redacted(text))?)
}

/// A schema's name as a file name.
pub(crate) fn file_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '_'
            }
        })
        .collect();
    if safe.trim_matches('.').is_empty() {
        "schema".to_owned()
    } else {
        safe
    }
}
