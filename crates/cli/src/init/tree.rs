//! The files of a repository that `isobath init` looks at.

use std::path::{Path, PathBuf};

/// Folders of tools, dependencies and tests, which say nothing about the service.
const SKIPPED: [&str; 16] = [
    "target",
    "node_modules",
    "build",
    "dist",
    "out",
    "vendor",
    "venv",
    "env",
    "__pycache__",
    "test",
    "tests",
    "fixtures",
    "testdata",
    "examples",
    "benches",
    "isobath-out",
];
/// Levels of folders below the root.
const MAX_DEPTH: usize = 8;
/// Files beyond which the rest is not looked at.
const MAX_FILES: usize = 20_000;
/// Bytes beyond which a file is not read.
const MAX_BYTES: u64 = 4 << 20;

/// The files of a repository, those near the root first.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    /// Paths relative to the root, with `/`.
    files: Vec<String>,
}

impl Tree {
    /// Lists the files below a folder.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub(super) fn read(root: &Path) -> std::io::Result<Self> {
        std::fs::read_dir(root)?;
        let mut tree = Self {
            root: root.to_owned(),
            files: Vec::new(),
        };
        let mut level = vec![String::new()];
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for folder in &level {
                tree.list(folder, &mut next);
            }
            next.sort();
            level = next;
        }
        Ok(tree)
    }

    /// Adds the files of one folder, and its folders to `next`.
    fn list(&mut self, folder: &str, next: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else {
            return;
        };
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            // Symbolic links are neither, so that a circle of them ends.
            match entry.file_type() {
                Ok(kind) if kind.is_file() => files.push(path),
                Ok(kind) if kind.is_dir() => {
                    let is_hidden = name.starts_with('.') && name != ".github";
                    if !is_hidden && !SKIPPED.contains(&name.as_str()) {
                        next.push(path);
                    }
                }
                _ => {}
            }
        }
        files.sort();
        let left = MAX_FILES.saturating_sub(self.files.len());
        self.files.extend(files.into_iter().take(left));
    }

    /// The paths of all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// The files of a name, those near the root first.
    pub(super) fn named<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t str> {
        self.files().filter(move |path| file_name(path) == name)
    }

    /// The files below a folder with one of these extensions.
    pub(super) fn sources<'t>(
        &'t self,
        folder: &'t str,
        extensions: &'t [&str],
    ) -> impl Iterator<Item = &'t str> {
        self.files()
            .filter(move |path| is_below(path, folder) && extensions.contains(&extension(path)))
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.iter().any(|file| file == path)
    }

    /// The text of a file; nothing when it is too large or not text.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        let size = std::fs::metadata(&path).ok()?.len();
        (size <= MAX_BYTES).then_some(())?;
        std::fs::read_to_string(path).ok()
    }

    /// The first group of a pattern in the sources below a folder, and the file it is in.
    pub(super) fn search(
        &self,
        folder: &str,
        extensions: &[&str],
        pattern: &str,
    ) -> Option<(String, String)> {
        let pattern = regex::Regex::new(pattern).ok()?;
        self.sources(folder, extensions).find_map(|path| {
            let text = self.text(path)?;
            let found = pattern.captures(&text)?.get(1)?.as_str().to_owned();
            Some((found, path.to_owned()))
        })
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a path; nothing at the root.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A folder as a value in the file.
pub(super) fn shown(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}

/// A path below a folder.
pub(super) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    }
}

/// Whether a path is in a folder or below it.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

fn extension(path: &str) -> &str {
    file_name(path)
        .rsplit_once('.')
        .map_or("", |(_, extension)| extension)
}
