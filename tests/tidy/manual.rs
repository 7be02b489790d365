//! Pages of the manual: all are listed, and links lead somewhere.

use std::path::Path;

use regex::Regex;

use crate::{assert_none, root, tracked};

/// Pages below `docs` that the summary does not list.
fn unlisted(pages: &[&str], summary: &str) -> Vec<String> {
    pages
        .iter()
        .filter(|page| **page != "SUMMARY.md" && !summary.contains(&format!("({page})")))
        .map(|page| format!("docs/{page} is not in docs/SUMMARY.md"))
        .collect()
}

/// Relative links of a page to files that do not exist.
fn dead_links(page: &str, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").expect("a constant pattern");
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    link.captures_iter(text)
        .map(|link| link[1].to_owned())
        .filter(|target| !target.contains("://") && !exists(&folder.join(target)))
        .map(|target| format!("{page} links to {target}, which does not exist"))
        .collect()
}

#[test]
fn the_manual_lists_all_its_pages() {
    let files = tracked();
    let pages = files
        .iter()
        .filter_map(|(path, _)| path.strip_prefix("docs/"));
    let pages: Vec<&str> = pages.filter(|path| path.ends_with(".md")).collect();
    assert!(pages.len() > 10, "{pages:?}");
    assert_none(&unlisted(&pages, &crate::read("docs/SUMMARY.md")));
}

#[test]
fn links_lead_to_files() {
    let exists = |path: &Path| root().join(path).exists();
    let mut found = Vec::new();
    for (path, text) in tracked() {
        let is_page = path.ends_with(".md") && !path.starts_with("tests/suts/");
        if is_page {
            found.extend(dead_links(&path, &text, exists));
        }
    }
    assert_none(&found);
}

#[test]
fn a_planted_page_and_a_planted_link_are_found() {
    assert_eq!(
        unlisted(&["new.md", "SUMMARY.md"], "- [Old](old.md)").len(),
        1
    );
    let text = "[a](old.md#part), [b](https://example.org/x), [c](gone.md)";
    let exists = |path: &Path| path == Path::new("docs/old.md");
    let dead = dead_links("docs/new.md", text, exists);
    assert_eq!(dead, ["docs/new.md links to gone.md, which does not exist"]);
}
