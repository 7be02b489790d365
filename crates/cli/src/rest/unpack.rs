//! Keeps files of this program in the cache folder of the user: drivers for services in other languages.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::run::SetupError;

/// The folder for what is kept between runs.
pub(super) fn cache() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
    folder.unwrap_or_else(std::env::temp_dir).join("isobath")
}

/// The refusal of a run that cannot write to the cache.
pub(super) fn unwritable(cache: &Path, what: &str, error: &io::Error) -> SetupError {
    let folder = cache.display();
    SetupError::usage(format!(
        "cannot write {what} to {folder}: {error}; XDG_CACHE_HOME names another folder"
    ))
}

/// Writes a file that only its owner may read, with the folders above it.
pub(super) fn put(file: &Path, bytes: &[u8]) -> io::Result<()> {
    private_folder(file.parent().unwrap_or(file))?;
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    options.open(file)?.write_all(bytes)
}

/// Makes a folder that only its owner may read.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A folder of the cache with these files, named after their content; written the first time.
pub(super) fn folder_of(
    cache: &Path,
    name: &str,
    files: &[(&str, &str)],
) -> Result<PathBuf, SetupError> {
    let texts = files.iter().flat_map(|(name, text)| [name, text]);
    let print = fingerprint(texts.map(|text| text.as_bytes()));
    let folder = cache.join(format!("{name}-{print:016x}"));
    let is_kept = |(name, text): &(&str, &str)| {
        std::fs::read(folder.join(name)).is_ok_and(|bytes| bytes == text.as_bytes())
    };
    // Whoever could change them would run code in the service.
    if files.iter().all(is_kept) {
        return Ok(folder);
    }
    let work = cache.join(format!("unpacking-{name}-{}", std::process::id()));
    let written = files
        .iter()
        .try_for_each(|(name, text)| put(&work.join(name), text.as_bytes()));
    let moved = written.and_then(|()| {
        // Beside its place, so that another run sees all of it or nothing.
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::rename(&work, &folder)
    });
    let _ = std::fs::remove_dir_all(&work);
    match moved {
        // Another run was faster.
        Err(_) if files.iter().all(is_kept) => Ok(folder),
        Err(error) => Err(unwritable(cache, "the driver", &error)),
        Ok(()) => Ok(folder),
    }
}

/// FNV-1a.
pub(super) fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let bytes = parts.into_iter().flatten();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn files_are_kept_for_their_owner_and_restored_when_somebody_changed_them() {
        let cache = tempfile::tempdir().expect("a folder");
        let files = [("a.py", "x = 1\n"), ("b/c.py", "y = 2\n")];
        let unpack =
            || folder_of(cache.path(), "python", &files).map_err(|error| error.why().to_owned());
        let folder = unpack().expect("it is written");
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("b/c.py")), 0o600);
        std::fs::write(folder.join("a.py"), "evil()").expect("writable");
        assert_eq!(unpack(), Ok(folder.clone()));
        let text = std::fs::read_to_string(folder.join("a.py"));
        assert_eq!(text.expect("there"), "x = 1\n");
    }
}
