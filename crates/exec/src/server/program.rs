//! Where the programs of a server are installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Where installers put servers outside of PATH; a `*` stands for a version.
const DIRECTORIES: [&str; 13] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/opt/homebrew/opt/mariadb@*/bin",
    "/usr/local/opt/mariadb@*/bin",
    "/opt/homebrew/bin",
    "/usr/local/mysql/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/libexec",
];

/// Finds a directory that holds all of `names`, so that they are of one version.
pub(super) fn directory_with(names: &[&str]) -> Option<PathBuf> {
    candidates()
        .into_iter()
        .find(|directory| names.iter().all(|name| is_program(&directory.join(name))))
}

/// Finds the first of `names` that is installed anywhere: in PATH, or where servers are put outside of it.
#[must_use]
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let directories = candidates();
    names.iter().find_map(|name| {
        directories
            .iter()
            .map(|directory| directory.join(name))
            .find(|path| is_program(path))
    })
}

/// PATH, then the usual places.
fn candidates() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut all: Vec<PathBuf> = env::split_paths(&path).collect();
    for pattern in DIRECTORIES {
        all.extend(expand(pattern));
    }
    all
}

/// The directories that a pattern stands for, newest version first.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else {
        return vec![PathBuf::from(pattern)];
    };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let mut versions: Vec<(u32, String)> = fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.split('.').next()?.parse().ok()?;
            Some((version, name))
        })
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions
        .into_iter()
        .map(|(_, name)| PathBuf::from(format!("{parent}/{name}{after}")))
        .collect()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_newest_version_comes_first() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9.6", "15", "readme", "16"] {
            fs::create_dir_all(root.path().join(version).join("bin")).unwrap();
        }
        let pattern = format!("{}/*/bin", root.path().display());
        let found: Vec<_> = expand(&pattern)
            .iter()
            .map(|path| {
                path.strip_prefix(root.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect();
        assert_eq!(found, ["16/bin", "15/bin", "9.6/bin"]);
    }

    #[test]
    fn only_executable_files_are_programs() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("initdb");
        fs::write(&path, "").unwrap();
        assert!(!is_program(&path));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(is_program(&path));
        assert!(!is_program(root.path()));
    }
}
