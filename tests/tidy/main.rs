//! Rules of the repository that no compiler checks. Needs no servers.
//!
//! A rule is a function from inputs to violations. Each has two tests: the repository has none, and a planted violation
//! is found. Generated pages are checked where they are generated: `crates/cli/src/manual.rs`.

mod architecture;
mod dependencies;
mod front_page;
mod licenses;
mod machine;
mod manual;
mod pure;
mod quick;
mod retired;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The tracked text files that still exist, by path.
fn tracked() -> Vec<(String, String)> {
    let listed = output(
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    );
    let paths = listed.split('\0').filter(|path| !path.is_empty());
    paths
        .filter_map(|path| {
            let text = std::fs::read_to_string(root().join(path)).ok()?;
            Some((path.to_owned(), text))
        })
        .collect()
}

/// Standard output of a program that is run in the root.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn metadata(arguments: &[&str]) -> serde_json::Value {
    let mut all = vec!["metadata", "--format-version", "1", "--locked"];
    all.extend(arguments);
    serde_json::from_str(&output(env!("CARGO"), &all)).expect("JSON")
}

/// Fails with a line for each violation.
fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}
