//! Front pages (`lib.rs`, `mod.rs`): modules are declared in the order that the section "Reading order" mentions them.

use regex::Regex;

use crate::{assert_none, tracked};

/// `Truth`, `mod@truth` and `truth()` all mean the module `truth`.
fn module_name(link: &str) -> String {
    let link = link.trim_start_matches("mod@").trim_end_matches("()");
    let mut name = String::new();
    for c in link.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Modules that the section "Reading order" mentions and that are declared out of order.
fn out_of_order(path: &str, text: &str) -> Vec<String> {
    let header = text.lines().filter_map(|line| line.strip_prefix("//!"));
    let header: Vec<&str> = header.map(str::trim_start).collect();
    let mut sections = header.split(|line| line.starts_with("# "));
    let names = header.iter().filter(|line| line.starts_with("# "));
    let Some(index) = names.clone().position(|name| *name == "# Reading order") else {
        return Vec::new();
    };
    let section = sections.nth(index + 1).unwrap_or_default().join("\n");
    let declaration =
        Regex::new(r"(?m)^(?:pub(?:\(\w+\))? )?mod (\w+);").expect("a constant pattern");
    let declared: Vec<String> = declaration
        .captures_iter(text)
        .map(|found| found[1].to_owned())
        .collect();
    let mut said: Vec<String> = Vec::new();
    for name in section.split('`').skip(1).step_by(2).map(module_name) {
        if declared.contains(&name) && !said.contains(&name) {
            said.push(name);
        }
    }
    let found: Vec<String> = declared
        .into_iter()
        .filter(|name| said.contains(name))
        .collect();
    if found == said {
        return Vec::new();
    }
    vec![format!(
        "{path}: modules are {}, the reading order is {}",
        found.join(", "),
        said.join(", ")
    )]
}

#[test]
fn modules_are_declared_in_reading_order() {
    let mut checked = 0;
    let mut found = Vec::new();
    for (path, text) in tracked() {
        let is_front_page = path.ends_with("/lib.rs") || path.ends_with("/mod.rs");
        if is_front_page && text.contains("# Reading order") {
            checked += 1;
            found.extend(out_of_order(&path, &text));
        }
    }
    assert_none(&found);
    assert!(checked > 8, "{checked} front pages");
}

#[test]
fn a_planted_module_is_found() {
    let header = "//! A crate.\n//!\n//! # Reading order\n//!\n//! [`Truth`], then [`number`]\n//! and `text`.\n//!\n\
                  //! # Example\n//!\n//! `other`\n\n";
    let good = format!("{header}mod truth;\npub mod number;\nmod other;\npub(crate) mod text;\n");
    assert_none(&out_of_order("lib.rs", &good));
    let bad = format!("{header}mod truth;\npub mod text;\npub mod number;\n");
    assert_eq!(
        out_of_order("lib.rs", &bad),
        ["lib.rs: modules are truth, text, number, the reading order is truth, number, text"]
    );
}
