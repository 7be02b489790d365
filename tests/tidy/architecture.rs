//! ARCHITECTURE.md: its crate table equals the dependencies in Cargo, and the paths that it and the manual name exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use crate::{assert_none, metadata, read, root, tracked};

/// Folders of crates with the short names of the crates they use.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// The short name of a crate: the last part of its folder.
fn short(folder: &str) -> String {
    folder.rsplit('/').next().unwrap_or(folder).to_owned()
}

/// Names in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The crate table: the first column names a folder, the third what it uses.
fn table(page: &str) -> Edges {
    let section = page
        .split("\n## ")
        .find(|part| part.starts_with("Crates\n"));
    let rows = section.unwrap_or_default().lines();
    let rows = rows.filter(|row| row.starts_with("| `"));
    rows.filter_map(|row| {
        let mut cells = row.trim_matches('|').split('|');
        let folder = quoted(cells.next()?).next()?;
        Some((folder, quoted(cells.nth(1)?).collect()))
    })
    .collect()
}

/// Normal dependencies between members of the workspace.
fn cargo_edges() -> Edges {
    let metadata = metadata(&["--no-deps"]);
    let workspace = metadata["workspace_root"].as_str().expect("a path");
    let packages = metadata["packages"].as_array().expect("a list");
    let relative = |path: &str| {
        let path = Path::new(path).strip_prefix(workspace).ok()?;
        Some(path.to_string_lossy().into_owned())
    };
    packages
        .iter()
        .map(|package| {
            let manifest = package["manifest_path"].as_str().and_then(relative);
            let folder = manifest.expect("a member").replace("/Cargo.toml", "");
            let uses = package["dependencies"].as_array().expect("a list").iter();
            let uses = uses
                .filter(|dependency| dependency["kind"].is_null())
                .filter_map(|dependency| dependency["path"].as_str().and_then(relative))
                .map(|folder| short(&folder));
            (folder, uses.collect())
        })
        .collect()
}

/// Where the table and Cargo differ.
fn differences(table: &Edges, cargo: &Edges) -> Vec<String> {
    let missing = cargo.keys().filter(|folder| !table.contains_key(*folder));
    let missing = missing.map(|folder| format!("{folder} is not in the crate table"));
    let surplus = table.keys().filter(|folder| !cargo.contains_key(*folder));
    let surplus = surplus.map(|folder| format!("{folder} is no member of the workspace"));
    let different = table.iter().filter_map(|(folder, said)| {
        let uses = cargo.get(folder).filter(|uses| *uses != said)?;
        Some(format!(
            "{folder}: the table says {said:?}, Cargo says {uses:?}"
        ))
    });
    missing.chain(surplus).chain(different).collect()
}

/// Paths in backticks that do not exist. Only paths below the known folders count, up to the first space.
fn missing_paths(page: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let path =
        Regex::new(r"`((?:crates|drivers|tests|docs|examples|scripts|bench|fuzz)/[^`\s]+)[^`\n]*`")
            .expect("a constant pattern");
    path.captures_iter(text)
        .map(|path| path[1].to_owned())
        // Paths of generated suites, such as tests/NAME.rs.
        .filter(|path| !path.contains("NAME") && !exists(path))
        .map(|path| format!("{page} names {path}, which does not exist"))
        .collect()
}

#[test]
fn the_crate_table_equals_the_dependencies_in_cargo() {
    let mut table = table(&read("ARCHITECTURE.md"));
    // Not built by cargo.
    for driver in ["drivers/jvm", "drivers/python"] {
        assert_eq!(table.remove(driver), Some(BTreeSet::new()));
    }
    assert_none(&differences(&table, &cargo_edges()));
}

#[test]
fn paths_named_in_pages_exist() {
    let exists = |path: &str| root().join(path).exists();
    let mut found = Vec::new();
    for (page, text) in tracked() {
        let is_manual = page.starts_with("docs/") || !page.contains('/');
        if is_manual && page.ends_with(".md") && page != "CHANGELOG.md" {
            found.extend(missing_paths(&page, &text, exists));
        }
    }
    assert_none(&found);
}

#[test]
fn the_architecture_has_less_than_300_lines() {
    assert!(read("ARCHITECTURE.md").lines().count() < 300);
}

#[test]
fn planted_edges_and_paths_are_found() {
    let page = "# A\n\n## Crates\n\n| Crate | Purpose | Uses |\n|---|---|---|\n| `crates/a` | x | `b` |\n\
                | `crates/b` | y | – |\n\n## Next\n\n| `crates/c` | no crate | – |\n";
    let edges = |of_a: &[&str]| {
        let uses = of_a.iter().map(|name| (*name).to_owned()).collect();
        Edges::from([
            ("crates/a".into(), uses),
            ("crates/b".into(), BTreeSet::new()),
        ])
    };
    let table = table(page);
    assert_eq!(table, edges(&["b"]));
    assert_none(&differences(&table, &edges(&["b"])));
    assert_eq!(differences(&table, &edges(&[])).len(), 1);
    assert_eq!(differences(&table, &edges(&["b", "c"])).len(), 1);
    assert_eq!(differences(&table, &Edges::new()).len(), 2);
    assert_eq!(differences(&Edges::new(), &table).len(), 2);

    let text = "`crates/a/src/lib.rs`, `scripts/test --quick`, `docs/gone.md`, `tests/NAME.rs`, crates/unquoted";
    let exists = |path: &str| ["crates/a/src/lib.rs", "scripts/test"].contains(&path);
    let missing = missing_paths("page.md", text, exists);
    assert_eq!(
        missing,
        ["page.md names docs/gone.md, which does not exist"]
    );
}
