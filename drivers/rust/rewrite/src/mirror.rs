//! A folder that looks like the project, with some files replaced.
//!
//! Folders are real only on the way to a replaced file; everything else is a
//! link to the original. So paths relative to the project mean the same there,
//! and whatever the sources include is found.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Makes the mirror of `original` at `mirror`, with these files (relative paths) replaced.
///
/// # Errors
///
/// When the folder cannot be made.
pub(crate) fn make(original: &Path, mirror: &Path, files: &[(PathBuf, String)]) -> io::Result<()> {
    if mirror.exists() {
        // Links are removed, never what they point to.
        std::fs::remove_dir_all(mirror)?;
    }
    let mut real: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, _) in files {
        let path = tidy(path);
        real.extend(path.ancestors().skip(1).map(Path::to_path_buf));
    }
    real.insert(PathBuf::new());
    let replaced: BTreeSet<PathBuf> = files.iter().map(|(path, _)| tidy(path)).collect();
    for folder in &real {
        std::fs::create_dir_all(mirror.join(folder))?;
        for entry in std::fs::read_dir(original.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if real.contains(&path) || replaced.contains(&path) {
                continue;
            }
            link(&original.join(&path), &mirror.join(&path))?;
        }
    }
    for (path, text) in files {
        std::fs::write(mirror.join(tidy(path)), text)?;
    }
    Ok(())
}

/// Whether a path stays inside the folder that it is relative to.
pub(crate) fn stays_inside(path: &Path) -> bool {
    let mut depth = 0i32;
    path.components().all(|component| {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            _ => return false,
        }
        depth >= 0
    })
}

/// A relative path without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                tidy.pop();
            }
            Component::Normal(name) => tidy.push(name),
            _ => {}
        }
    }
    tidy
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
