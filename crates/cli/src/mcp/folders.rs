//! Which paths a client may name.

use std::path::{Component, Path, PathBuf};

/// The working directory, and other directories that the user allowed.
///
/// Invariant: all are absolute and free of symbolic links.
#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    allowed: Vec<PathBuf>,
}

impl Folders {
    /// Directories as named on the command line.
    ///
    /// # Errors
    ///
    /// When one is not a directory.
    pub(super) fn new(root: &Path, allowed: &[PathBuf]) -> Result<Self, String> {
        let real = |folder: &Path| match folder.canonicalize() {
            Ok(real) if real.is_dir() => Ok(real),
            Ok(_) => Err(format!("{} is not a directory", folder.display())),
            Err(error) => Err(format!("cannot open {}: {error}", folder.display())),
        };
        let root = real(root)?;
        let allowed: Result<Vec<_>, _> = allowed.iter().map(|folder| real(folder)).collect();
        Ok(Self {
            root,
            allowed: allowed?,
        })
    }

    /// The working directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The real path that a client means, whether or not it exists.
    ///
    /// # Errors
    ///
    /// When it lies, or leads by a symbolic link, outside of what is allowed.
    pub(super) fn resolve(&self, given: &str) -> Result<PathBuf, String> {
        let refused = || {
            format!(
                "`{given}` is outside of {}; the user can allow another directory: isobath mcp --allow DIR",
                self.root.display()
            )
        };
        let wanted = self.root.join(given);
        // What exists is resolved by the system, with its links; the rest must be plain names.
        let existing = wanted.ancestors().find_map(|ancestor| {
            let rest = wanted.strip_prefix(ancestor).ok()?;
            Some((ancestor.canonicalize().ok()?, rest))
        });
        let (existing, rest) = existing.ok_or_else(refused)?;
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if given.contains('\0') || !rest.components().all(is_plain) {
            return Err(refused());
        }
        // A dangling link would be followed by whoever creates its target.
        let first = rest.components().next();
        let next = first.map(|part| existing.join(part));
        if next.is_some_and(|path| path.symlink_metadata().is_ok()) {
            return Err(refused());
        }
        let mut folders = std::iter::once(&self.root).chain(&self.allowed);
        if !folders.any(|folder| existing.starts_with(folder)) {
            return Err(refused());
        }
        Ok(match rest.as_os_str().is_empty() {
            true => existing,
            false => existing.join(rest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_what_is_allowed() {
        let outer = tempfile::tempdir().expect("a folder");
        let outer = outer.path().canonicalize().expect("a real path");
        for name in ["work/sub", "other", "secret"] {
            std::fs::create_dir_all(outer.join(name)).expect("a folder");
        }
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(outer.join(to), outer.join("work").join(name))
                .expect("a link");
        };
        link("secret", "way-out");
        link("nowhere", "dangling");
        let folders =
            Folders::new(&outer.join("work"), &[outer.join("other")]).expect("they exist");
        let resolve = |given: &str| folders.resolve(given);
        assert_eq!(resolve("sub"), Ok(outer.join("work/sub")));
        assert_eq!(
            resolve("sub/../new/report"),
            Ok(outer.join("work/new/report"))
        );
        assert_eq!(resolve(""), Ok(outer.join("work")));
        assert_eq!(resolve("../other/x"), Ok(outer.join("other/x")));
        let absolute = outer.join("secret/key");
        for outside in [
            "..",
            "../secret/key",
            "way-out/key",
            "dangling",
            "dangling/file",
            "new/../../secret/key",
            "/etc/passwd",
            "sub\0name",
            &absolute.display().to_string(),
        ] {
            let refused = resolve(outside).expect_err(outside);
            assert!(refused.contains("--allow"), "{refused}");
        }
        assert!(Folders::new(&outer.join("missing"), &[]).is_err());
    }
}
