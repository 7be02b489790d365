//! Runs a suite as its user would.

use std::collections::BTreeMap;
use std::process::Command;

use isobath_emit::http::writer::{self, RunResults};
use isobath_emit::http::{HttpSuite, WrittenTest};

/// The tests of a suite in one language, with whether each passes while the service is up.
pub(crate) fn results(
    language: &str,
    suite: &HttpSuite,
    address: &str,
) -> BTreeMap<String, (bool, String)> {
    let folder = tempfile::tempdir().expect("room for a suite");
    let writer = writer::by_name(language).expect("a language");
    let written = writer.write(suite).expect("a sound suite");
    for file in &written.files {
        let path = folder.path().join(&file.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, &file.text).expect("a file");
    }
    let output = Command::new(&written.run.command[0])
        .args(&written.run.command[1..])
        .current_dir(folder.path())
        .env("ISOBATH_DATABASE", address)
        .env(
            "CARGO_TARGET_DIR",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/emitted-rest"),
        )
        .output()
        .expect("a program");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut texts = Vec::new();
    match &written.run.results {
        RunResults::Libtest => texts.push(said.clone()),
        RunResults::JunitXml { folder: inner, .. } => {
            for entry in std::fs::read_dir(folder.path().join(inner)).expect("a folder") {
                let path = entry.expect("a file").path();
                if path.extension().is_some_and(|extension| extension == "xml")
                    && path.file_name().is_some_and(|name| name != "pom.xml")
                {
                    texts.push(std::fs::read_to_string(path).expect("a text"));
                }
            }
        }
    }
    let read = |text: &String| written.run.results.read(text).unwrap_or_default();
    let found: Vec<_> = texts.iter().flat_map(read).collect();
    let result = |test: &WrittenTest| {
        let result = found.iter().find(|result| result.name == test.name);
        let result = result.map(|result| (result.passed, result.message.clone()));
        (test.id.clone(), result.unwrap_or((false, said.clone())))
    };
    written.tests.iter().map(result).collect()
}
