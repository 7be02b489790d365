//! The folder in which drivers and the core share memory, and what killed runs left of theirs.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Shared memory is fastest where no disk is behind it.
const MEMORY: &str = "/dev/shm";
/// How the names of the folders begin.
const PREFIX: &str = "isobath-";
/// The file that its owner keeps locked; the system unlocks it however the owner ends.
const LOCK: &str = "lock";
/// A younger folder may not be locked yet.
const AGE: Duration = Duration::from_secs(60);

/// A folder that only this user can enter; gone when dropped.
#[derive(Debug)]
pub(super) struct SharedFolder {
    folder: tempfile::TempDir,
    _lock: File,
}

impl SharedFolder {
    /// Makes one, and removes those of this user that killed runs left.
    pub(super) fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let builder = builder
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700));
        let folder = builder.tempdir_in(MEMORY).or_else(|_| builder.tempdir())?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        lock.lock()?;
        if let Some(beside) = folder.path().parent() {
            let owner = fs::metadata(folder.path())?.uid();
            for left in abandoned(beside, owner) {
                // Somebody else may have been faster.
                let _ = fs::remove_dir_all(left);
            }
        }
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Folders of a user whose owner has ended without removing them.
fn abandoned(beside: &Path, owner: u32) -> Vec<PathBuf> {
    let is_abandoned = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        // A link is not followed.
        let Ok(data) = path.symlink_metadata() else {
            return false;
        };
        let age = data.modified().ok().and_then(|made| made.elapsed().ok());
        name.is_some_and(|name| name.starts_with(PREFIX))
            && data.is_dir()
            && data.uid() == owner
            && age.is_some_and(|age| age > AGE)
            && File::open(path.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
    };
    let entries = fs::read_dir(beside).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(is_abandoned).collect()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_old_folders_that_nobody_holds_are_abandoned() {
        let beside = tempfile::tempdir().unwrap();
        let folder = |name: &str, is_old: bool| {
            let path = beside.path().join(name);
            fs::create_dir(&path).unwrap();
            let lock = File::create_new(path.join(LOCK)).unwrap();
            if is_old {
                let made = SystemTime::now() - 2 * AGE;
                File::open(&path).unwrap().set_modified(made).unwrap();
            }
            lock
        };
        let held = folder("isobath-held", true);
        held.lock().unwrap();
        drop(folder("isobath-left", true));
        drop(folder("isobath-young", false));
        drop(folder("other", true));
        fs::create_dir(beside.path().join("isobath-strange")).unwrap();
        let owner = fs::metadata(beside.path()).unwrap().uid();
        let left = beside.path().join("isobath-left");
        assert_eq!(abandoned(beside.path(), owner), [left]);
        assert!(abandoned(beside.path(), owner + 1).is_empty());
    }

    #[test]
    fn a_folder_is_locked_as_long_as_it_is_there() {
        let folder = SharedFolder::new().unwrap();
        let path = folder.path().to_owned();
        let lock = File::open(path.join(LOCK)).unwrap();
        assert!(lock.try_lock().is_err());
        drop(folder);
        assert!(!path.exists());
    }
}
