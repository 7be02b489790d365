//! What people ask about a tool before they may use it: what it depends on, and whether its manual is whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use spdx::{Expression, LicenseReq, ParseMode};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn licences_of_all_dependencies_are_among_those_that_we_allow() {
    let deny: toml::Table = read(&root().join("deny.toml")).parse().expect("TOML");
    let allowed: BTreeSet<String> = deny["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|name| name.as_str().expect("a name").to_owned())
        .collect();
    let is_allowed = |requirement: &LicenseReq| allowed.contains(&requirement.to_string());
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        metadata.status.success(),
        "{}",
        String::from_utf8_lossy(&metadata.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100, "{} packages", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let name = package["name"].as_str().unwrap_or_default();
            let licence = package["license"].as_str().unwrap_or_default();
            let terms = Expression::parse_mode(licence, ParseMode::LAX);
            let fits = terms.is_ok_and(|terms| terms.evaluate(is_allowed));
            (!fits).then(|| format!("{name}: {licence}"))
        })
        .collect();
    assert_eq!(refused, Vec::<String>::new());
}

/// The pages of the manual, by their paths below `docs`.
fn pages(folder: &Path, below: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            found.extend(pages(&path, &format!("{below}{name}/")));
        } else if name.ends_with(".md") {
            found.push(format!("{below}{name}"));
        }
    }
    found.sort();
    found
}

#[test]
fn the_manual_lists_all_its_pages_and_links_lead_somewhere() {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    let link = regex::Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").expect("a constant pattern");
    for page in pages(&docs, "") {
        let listed = page == "SUMMARY.md" || summary.contains(&format!("({page})"));
        assert!(listed, "{page} is not in docs/SUMMARY.md");
        let path = docs.join(&page);
        let folder = path.parent().unwrap_or(&docs);
        for target in link.captures_iter(&read(&path)) {
            let target = &target[1];
            let found = target.contains("://") || folder.join(target).exists();
            assert!(found, "{page} links to {target}, which is not there");
        }
    }
}
