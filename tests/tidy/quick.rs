//! The quick tier: `scripts/test` lists every test target as part of it or as left out.

use std::collections::BTreeSet;

use crate::{assert_none, metadata, read};

/// Names in an array of a shell script.
fn array(script: &str, name: &str) -> BTreeSet<String> {
    let start = format!("\n{name}=(\n");
    let listed = script
        .split_once(&start)
        .and_then(|(_, rest)| rest.split_once("\n)"));
    let lines = listed.map_or("", |(listed, _)| listed).lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with('#'));
    lines
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

/// Targets that are in neither list or in both, and names that are no targets.
fn wrongly_listed(targets: &BTreeSet<String>, script: &str) -> Vec<String> {
    let quick = array(script, "quick_targets");
    let left_out = array(script, "left_out_targets");
    let listed: BTreeSet<String> = quick.union(&left_out).cloned().collect();
    let unlisted = targets.difference(&listed);
    let unlisted = unlisted.map(|name| format!("test target {name} is in no list of scripts/test"));
    let unknown = listed.difference(targets);
    let unknown = unknown.map(|name| format!("scripts/test lists {name}, which is no test target"));
    let twice = quick.intersection(&left_out);
    let twice = twice.map(|name| format!("scripts/test lists {name} as quick and as left out"));
    unlisted.chain(unknown).chain(twice).collect()
}

#[test]
fn the_quick_tier_lists_every_test_target() {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("a list").iter();
    let targets = packages.flat_map(|package| package["targets"].as_array().expect("a list"));
    let targets = targets.filter(|target| target["kind"][0] == "test");
    let names = targets.filter_map(|target| target["name"].as_str());
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    assert!(names.contains("tidy"), "{names:?}");
    assert_none(&wrongly_listed(&names, &read("scripts/test")));
}

#[test]
fn a_planted_target_is_found() {
    let script =
        "\nquick_targets=(\n    # a comment\n    a b\n)\nleft_out_targets=(\n    b\n    gone\n)\n";
    let targets = ["a", "b", "new"].map(str::to_owned).into();
    assert_eq!(wrongly_listed(&targets, script).len(), 3);
}
