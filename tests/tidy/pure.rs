//! The pure crates have the lints on that keep clocks, ambient randomness and hash-ordered iteration out.

use crate::{assert_none, read};

const PURE: [&str; 8] = [
    "distance", "walk", "sql", "genes", "search", "rows", "rest", "emit",
];

const LINTS: &str = "#![warn(clippy::disallowed_methods, clippy::disallowed_types)]";

/// What `clippy.toml` must list.
const LISTED: [&str; 7] = [
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "fastrand::Rng::new",
    "std::collections::HashMap",
    "std::collections::HashSet",
];

fn without_lints(path: &str, text: &str) -> Vec<String> {
    let has = text.lines().any(|line| line == LINTS);
    let missing = (!has).then(|| format!("{path} lacks {LINTS}"));
    missing.into_iter().collect()
}

fn unlisted(clippy: &str) -> Vec<String> {
    let is_listed = |path: &str| clippy.contains(&format!("path = \"{path}\""));
    let missing = LISTED.iter().filter(|path| !is_listed(path));
    missing
        .map(|path| format!("clippy.toml does not list {path}"))
        .collect()
}

#[test]
fn pure_crates_allow_no_clocks_and_no_ambient_randomness() {
    for name in PURE {
        let path = format!("crates/{name}/src/lib.rs");
        assert_none(&without_lints(&path, &read(&path)));
    }
    assert_none(&unlisted(&read("clippy.toml")));
}

#[test]
fn a_planted_crate_without_the_lints_is_found() {
    assert_eq!(without_lints("lib.rs", "//! A crate.\n\nmod a;\n").len(), 1);
    assert_none(&without_lints(
        "lib.rs",
        &format!("//! A crate.\n\n{LINTS}\n\nmod a;\n"),
    ));
    let shorter = read("clippy.toml").replace("jiff::Zoned::now", "");
    assert_eq!(
        unlisted(&shorter),
        ["clippy.toml does not list jiff::Zoned::now"]
    );
}
