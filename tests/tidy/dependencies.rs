//! Dependencies that deny.toml forbids, and versions that are told outside of Cargo.toml.

use std::collections::BTreeSet;

use crate::{assert_none, metadata, read};

/// Packages that are forbidden by name.
fn forbidden(packages: &[String], denied: &BTreeSet<String>) -> Vec<String> {
    packages
        .iter()
        .filter(|name| denied.contains(*name))
        .map(|name| format!("{name}: deny.toml forbids this dependency and says what to do"))
        .collect()
}

fn denied() -> BTreeSet<String> {
    let deny: toml::Table = read("deny.toml").parse().expect("TOML");
    let names = deny["bans"]["deny"].as_array().expect("a list");
    let names = names.iter().map(|name| name.as_str().expect("a name"));
    names.map(str::to_owned).collect()
}

#[test]
fn no_dependency_is_forbidden() {
    let metadata = metadata(&[]);
    let packages = metadata["packages"].as_array().expect("a list");
    let name =
        |package: &serde_json::Value| package["name"].as_str().unwrap_or_default().to_owned();
    let packages: Vec<String> = packages.iter().map(name).collect();
    assert!(packages.contains(&"idna_adapter".to_owned()));
    assert_none(&forbidden(&packages, &denied()));
}

#[test]
fn a_planted_dependency_is_found() {
    let packages = ["serde", "icu_provider"].map(str::to_owned);
    assert_eq!(forbidden(&packages, &denied()).len(), 1);
}

/// Versions between two texts that are not those of the workspace.
fn other_versions(file: &str, text: &str, before: &str, after: &str, version: &str) -> Vec<String> {
    let found = text.split(before).skip(1);
    let found = found.filter_map(|rest| Some(rest.split_once(after)?.0));
    found
        .filter(|found| *found != version)
        .map(|found| format!("{file}: version {found}, but Cargo.toml has {version}"))
        .collect()
}

/// The version of the workspace.
fn version() -> String {
    let workspace: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let version = &workspace["workspace"]["package"]["version"];
    version.as_str().expect("a version").to_owned()
}

#[test]
fn versions_are_those_of_the_workspace() {
    let version = version();
    let manual = read("docs/install.md");
    let before = "<artifactId>isobath-maven-plugin</artifactId>\n  <version>";
    assert!(manual.contains(before), "the manual shows the plugin");
    assert_none(&other_versions(
        "docs/install.md",
        &manual,
        before,
        "<",
        &version,
    ));
    let agent = read("drivers/jvm/pom.xml");
    let before = "<artifactId>isobath-agent</artifactId>\n  <version>";
    assert!(agent.contains(before), "the agent has a version");
    assert_none(&other_versions(
        "drivers/jvm/pom.xml",
        &agent,
        before,
        "<",
        &version,
    ));
    // A release is described where its version is.
    let changelog = read("CHANGELOG.md");
    let is_described = changelog.contains(&format!("\n## {version}"));
    assert!(is_described, "CHANGELOG.md has no section for {version}");
}

#[test]
fn a_planted_version_is_found() {
    let text = "<version>9.9.9</version>";
    let found = other_versions("planted", text, "<version>", "<", &version());
    assert_eq!(found.len(), 1);
}
