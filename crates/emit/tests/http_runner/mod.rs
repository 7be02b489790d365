//! Writes HTTP suites to temporary folders and runs them with the tools they are made for.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "only tests use it, and what is left out should be seen"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use isobath_emit::http::writer::{self, RunResults, TestResult};
use isobath_emit::http::{HttpSuite, WrittenSuite};

/// Writes a suite into a folder of its own and runs it there: the results by test.
pub(crate) fn run(language: &str, suite: &HttpSuite) -> BTreeMap<String, TestResult> {
    let folder = tempfile::tempdir().unwrap();
    let written = writer::by_name(language).unwrap().write(suite).unwrap();
    for file in &written.files {
        let path = folder.path().join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &file.text).unwrap();
    }
    if let Some(keep) = std::env::var_os("ISOBATH_KEEP_SUITES") {
        for file in &written.files {
            let path = Path::new(&keep).join(language).join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
    }
    if language == "ts"
        && let Some(modules) = vitest()
    {
        std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).unwrap();
    }
    let mut command = Command::new(&written.run.command[0]);
    command
        .args(&written.run.command[1..])
        .current_dir(folder.path());
    if language == "rust" {
        // One place for all builds, also those of `isobath rest` in the end-to-end tests, so that what the suites
        // need is compiled once.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isobath-rest-target");
        command.env("CARGO_TARGET_DIR", target);
    }
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    results(&written, folder.path(), &stdout)
}

/// Where vitest is installed for all suites; nothing, and a word about it, where it cannot be.
pub(crate) fn vitest() -> Option<PathBuf> {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isobath-vitest");
    let is_installed = *INSTALLED.get_or_init(|| {
        let suite = writer::by_name("ts")
            .unwrap()
            .write(&HttpSuite::new("x", "http://x"));
        let files = suite.unwrap().files;
        let manifest = files
            .iter()
            .find(|file| file.path == "package.json")
            .unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("package.json"), &manifest.text).unwrap();
        let install = ["install", "--no-audit", "--no-fund", "--prefer-offline"];
        let output = Command::new("npm")
            .args(install)
            .current_dir(&folder)
            .output();
        output.is_ok_and(|output| output.status.success())
    });
    if !is_installed {
        eprintln!("left out: npm cannot install vitest");
    }
    is_installed.then(|| folder.join("node_modules"))
}

fn results(written: &WrittenSuite, folder: &Path, stdout: &str) -> BTreeMap<String, TestResult> {
    let mut found = Vec::new();
    match &written.run.results {
        RunResults::JunitXml {
            folder: inner,
            prefix,
        } => {
            for entry in std::fs::read_dir(folder.join(inner)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if name.starts_with(prefix.as_str()) && name.ends_with(".xml") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    found.extend(written.run.results.read(&text).unwrap());
                }
            }
        }
        RunResults::Libtest => found = written.run.results.read(stdout).unwrap(),
    }
    let mut results = BTreeMap::new();
    for test in &written.tests {
        let result = found.iter().find(|result| result.name == test.name);
        let result = result.unwrap_or_else(|| panic!("no result of {}: {found:?}", test.name));
        results.insert(test.id.clone(), result.clone());
    }
    results
}
