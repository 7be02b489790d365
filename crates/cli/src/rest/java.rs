//! The Java that builds: it may be another one than that which runs the service.

use std::path::{Path, PathBuf};

/// The oldest Java that compiles JUnit suites.
const SUITES: u32 = 17;

/// Variables for Maven. A `JAVA_HOME` that cannot compile a suite, such as that of an old service or of a runtime without
/// a compiler, is left to the service: Maven then takes the `java` of the path.
pub(super) fn for_maven() -> Vec<(String, String)> {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    match home {
        Some(home) if !compiles(Path::new(&home)) => vec![("JAVA_HOME".to_owned(), String::new())],
        _ => Vec::new(),
    }
}

/// The `java` that builds: that of a `JAVA_HOME` with a compiler, or that of the path.
pub(super) fn for_builds() -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    home.filter(|home| compiles(home))
        .map_or_else(|| PathBuf::from("java"), |home| home.join("bin/java"))
}

/// Whether a Java installation has a compiler that is new enough.
fn compiles(home: &Path) -> bool {
    let release = std::fs::read_to_string(home.join("release"));
    let version = release.ok().and_then(|text| version(&text));
    home.join("bin/javac").is_file() && version.is_none_or(|version| version >= SUITES)
}

/// The version of Java that the file `release` of an installation names: 8 for `1.8.0`.
fn version(release: &str) -> Option<u32> {
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    let version = line.trim().trim_matches('"');
    let version = version.strip_prefix("1.").unwrap_or(version);
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_old_and_new_releases_write_them() {
        let of = |text: &str| version(&format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{text}\"\n"));
        assert_eq!(of("1.8.0_392"), Some(8));
        assert_eq!(of("11.0.13"), Some(11));
        assert_eq!(of("25"), Some(25));
        assert_eq!(version("nothing"), None);
    }

    #[test]
    fn a_runtime_without_a_compiler_and_an_old_release_do_not_build() {
        let home = tempfile::tempdir().unwrap();
        let at = home.path();
        assert!(!compiles(at));
        std::fs::create_dir(at.join("bin")).unwrap();
        std::fs::write(at.join("bin/javac"), "").unwrap();
        assert!(compiles(at));
        std::fs::write(at.join("release"), "JAVA_VERSION=\"11.0.13\"\n").unwrap();
        assert!(!compiles(at));
        std::fs::write(at.join("release"), "JAVA_VERSION=\"21.0.1\"\n").unwrap();
        assert!(compiles(at));
    }
}
