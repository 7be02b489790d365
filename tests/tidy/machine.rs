//! Nothing of the machine that somebody works on: no absolute paths of it, no package registry but the public ones.

use std::sync::LazyLock;

use regex::Regex;

use crate::{assert_none, tracked};

/// Folders that differ from machine to machine. Homebrew's is the same everywhere.
const PATH: &str = r#"(?:^|[\s"'`=(\[:,])/(work|root|home|opt|Users|mnt)/([\w.-]+)"#;

/// Hosts that serve packages, by their names.
const HOST: &str = r"(?i)https?://([\w.-]*(?:artifactory|nexus|jfrog|registry|mirror|pypi|npm|crates|maven|proxy)[\w.-]*)";

const PUBLIC_HOSTS: [&str; 5] = [
    "crates.io",
    "maven.apache.org",
    "repo1.maven.org",
    "pypi.org",
    "registry.npmjs.org",
];

/// Paths of a machine and private registries in a file.
fn of_a_machine(path: &str, text: &str) -> Vec<String> {
    static MACHINE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(PATH).expect("a constant pattern"));
    static REGISTRY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(HOST).expect("a constant pattern"));
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = index + 1;
        let folders = MACHINE.captures_iter(line);
        let folders = folders.filter(|folder| &folder[2] != "homebrew");
        found.extend(
            folders.map(|folder| format!("{path}:{at}: path /{}/{}", &folder[1], &folder[2])),
        );
        let hosts = REGISTRY.captures_iter(line);
        let hosts = hosts.filter(|host| !is_public(&host[1]));
        found.extend(hosts.map(|host| format!("{path}:{at}: registry {}", &host[1])));
        let is_foreign = path.ends_with("Cargo.lock")
            && line.starts_with("source = ")
            && line != "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
        if is_foreign {
            found.push(format!("{path}:{at}: {line}"));
        }
    }
    found
}

fn is_public(host: &str) -> bool {
    let is_below = |public: &str| host == public || host.ends_with(&format!(".{public}"));
    // Names of XML namespaces and addresses of this machine are no registries.
    PUBLIC_HOSTS.iter().any(|public| is_below(public)) || !host.contains('.')
}

#[test]
fn files_name_no_paths_and_registries_of_a_machine() {
    let files = tracked();
    let found = files
        .iter()
        .flat_map(|(path, text)| of_a_machine(path, text));
    assert_none(&found.collect::<Vec<_>>());
}

#[test]
fn planted_paths_and_registries_are_found() {
    let plant = |parts: &[&str]| of_a_machine("file.md", &parts.join("/"));
    assert_eq!(plant(&["see ", "work", "main"]).len(), 1);
    assert_eq!(plant(&["cd \"", "home", "me", "x\""]).len(), 1);
    assert_none(&plant(&["", "opt", "homebrew", "bin"]));
    assert_none(&plant(&["$scratch", "home", ".cargo"]));
    assert_none(&plant(&["https:", "", "crates.io", "crates", "x"]));
    assert_eq!(
        plant(&["https:", "", "registry.corp.example", "npm"]).len(),
        1
    );
    let lock = |source: &str| of_a_machine("Cargo.lock", &format!("source = \"{source}\"\n"));
    assert_none(&lock(
        "registry+https://github.com/rust-lang/crates.io-index",
    ));
    assert_eq!(lock("git+https://example.org/fork").len(), 1);
}
