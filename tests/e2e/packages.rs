//! Packages of the program: built, installed into empty folders, and run.

use std::path::Path;
use std::process::Command;

/// The quick ones. `scripts/packages BINARY --try` also tries Maven, Gradle and the container.
const WAYS: [&str; 4] = ["npm", "wheel", "debian", "action"];

#[test]
fn packages_install_into_empty_folders_and_run() {
    if std::env::var_os("ISOBATH_TRY_PACKAGES").is_none() {
        eprintln!("left out: packages take half a minute; scripts/test tries them");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run = Command::new(root.join("scripts/packages"))
        .args([env!("CARGO_BIN_EXE_isobath"), "--try"])
        .args(WAYS)
        .output()
        .expect("the script runs");
    let said = String::from_utf8_lossy(&run.stdout);
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}\n{complaints}");
    for way in WAYS {
        let mut lines = said.lines();
        let is_tried = |line: &str| line.split_whitespace().nth(1) == Some(way);
        let line = lines.find(|line| is_tried(line)).expect(way);
        assert!(
            line.starts_with("ok ") || line.starts_with("skipped "),
            "{line}"
        );
        eprintln!("{line}");
    }
    // Without --publish, a release is only checked and printed.
    let run = Command::new(root.join("scripts/release"))
        .output()
        .expect("the script runs");
    let commands = String::from_utf8_lossy(&run.stdout);
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(
        !complaints.contains("not as they were made"),
        "{complaints}"
    );
    for (package, command) in [
        (".tgz", "npm publish"),
        (".whl", "twine upload"),
        (".deb", "gh release create"),
    ] {
        let is_made = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(package))
        };
        let made = root.join("target/packages").read_dir().expect("a folder");
        let is_told = commands.contains(command);
        assert!(is_told || !made.into_iter().any(is_made), "{commands}");
    }
}
