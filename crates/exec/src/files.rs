//! Files of a run: each is written whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct WriteError {
    /// The path.
    pub path: PathBuf,
    /// The cause.
    #[source]
    pub cause: io::Error,
}

/// Writes one file, and the folders above it.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    let unwritable = |cause| WriteError {
        path: path.to_owned(),
        cause,
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(unwritable)?;
    }
    // Through a neighbor, so that a file is there whole or not at all; a new one, so that no link is followed.
    let unfinished = path.with_extension("part");
    if unfinished.symlink_metadata().is_ok() {
        std::fs::remove_file(&unfinished).map_err(unwritable)?;
    }
    File::create_new(&unfinished)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(unwritable)?;
    std::fs::rename(&unfinished, path).map_err(unwritable)
}

/// Removes a file.
///
/// # Errors
///
/// If it is not there, or cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// Reports that a test runner leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlReports {
    /// Their folder.
    pub folder: PathBuf,
    /// How their names begin.
    pub prefix: String,
}

impl XmlReports {
    /// Their texts, in the order of their names.
    pub fn read(&self) -> Vec<String> {
        let paths = self.paths().into_iter();
        paths
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect()
    }

    /// Removes them.
    ///
    /// # Errors
    ///
    /// The first that cannot be removed, and why.
    pub fn remove(&self) -> Result<(), String> {
        self.paths().iter().try_for_each(|path| {
            std::fs::remove_file(path)
                .map_err(|error| format!("cannot remove {}: {error}", path.display()))
        })
    }

    fn paths(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(self.prefix.as_str()) && name.ends_with(".xml")
            })
            .collect();
        paths.sort();
        paths
    }
}
