//! Running the binary and looking at what it left.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;

/// What a run printed and how it ended.
pub(crate) struct Run {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "exit {}\n--- out\n{}\n--- err\n{}",
            self.code, self.out, self.err
        )
    }
}

/// Runs `isobath` in a folder of its own.
pub(crate) fn isobath(args: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let done = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(args)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts");
    Run {
        code: done.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        err: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

/// Writes a file and returns its path.
pub(crate) fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("the folder is ours");
    path.to_str().expect("a plain path").to_owned()
}

/// The lines of a text.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
}

/// All files below a folder, by path relative to it.
pub(crate) fn files(folder: &str) -> BTreeMap<String, Vec<u8>> {
    fn visit(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                visit(root, &path, found);
            } else {
                let name = path
                    .strip_prefix(root)
                    .expect("below the root")
                    .display()
                    .to_string();
                found.insert(name, std::fs::read(&path).expect("a file"));
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(Path::new(folder), Path::new(folder), &mut found);
    found
}
