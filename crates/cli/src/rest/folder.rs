//! The output directory of a run: locked while it runs; the results of the previous run are moved
//! aside.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use isobath_emit::http::writer;
use isobath_emit::shell::quote_if_needed;
use serde_json::json;

use super::args::RestArgs;
use super::resume::REDACTED;
use super::run::SetupError;
use super::snapshot;
use crate::output::put;

/// The files of a run; besides them there is a folder for each language.
const FILES: [&str; 13] = [
    "plan.json",
    "events.ndjson",
    "candidates.ndjson",
    snapshot::NAME,
    "isobath.log",
    "queries.jsonl",
    "suite.json",
    "report.json",
    "report.md",
    "junit.xml",
    "report.sarif",
    "wfc-report.json",
    "report.html",
];
/// Where the run before is kept.
const PREVIOUS: &str = "previous";
/// Where it is on its way there.
const MOVING: &str = "previous.part";
/// Held while a run lasts; the system lets go of it however that ends.
const LOCK: &str = ".lock";

/// A folder that this run writes to.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes a folder for this run, and moves aside what the run before it left there.
    pub(super) fn take(path: &Path) -> Result<Self, SetupError> {
        let folder = Self::lock(path)?;
        folder.keep_previous().map_err(|error| {
            SetupError::usage(format!("cannot write to {}: {error}", path.display()))
        })?;
        Ok(folder)
    }

    /// Takes the folder of a run that was stopped, to continue with it.
    pub(super) fn take_over(path: &Path) -> Result<Self, SetupError> {
        Self::lock(path)
    }

    fn lock(path: &Path) -> Result<Self, SetupError> {
        let unwritable = |error: io::Error| {
            SetupError::usage(format!("cannot write to {}: {error}", path.display()))
        };
        std::fs::create_dir_all(path).map_err(unwritable)?;
        // Nothing is written to it: should it be a link, what it leads to stays as it is.
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join(LOCK))
            .map_err(unwritable)?;
        // A file system without locks keeps nobody from working.
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(SetupError::usage(format!(
                "another run is writing to {}; choose another directory with --out",
                path.display()
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Only what a run writes is moved: the folder may hold more. Whoever is killed meanwhile has lost nothing: the
    /// next one continues where this was.
    fn keep_previous(&self) -> io::Result<()> {
        let names = FILES.into_iter().chain(writer::names());
        // A link is moved like a file, also one that has no target: nothing is written through it.
        let is_left = |name: &&str| self.path.join(name).symlink_metadata().is_ok();
        let left: Vec<&str> = names.filter(is_left).collect();
        let (previous, moving) = (self.path.join(PREVIOUS), self.path.join(MOVING));
        if moving.is_symlink() {
            std::fs::remove_file(&moving)?;
        }
        if left.is_empty() && !moving.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(&moving)?;
        for name in left {
            std::fs::rename(self.path.join(name), moving.join(name))?;
        }
        match std::fs::remove_dir_all(&previous) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::rename(moving, previous)
    }

    /// Writes down what the run is about to do.
    pub(super) fn plan(&self, args: &RestArgs, url: &str) -> io::Result<()> {
        let plan = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "command": command_line(std::env::args()),
            // What `isobath resume` goes by.
            "words": redact_likely_secrets(std::env::args()).collect::<Vec<_>>(),
            "directory": std::env::current_dir().ok(),
            "spec": args.spec,
            "url": url,
            "seed": args.seed,
            "algorithm": args.algorithm.to_string(),
            "budget": args.budget.to_string(),
        });
        put(&self.path.join("plan.json"), &format!("{plan:#}\n")).map_err(io::Error::other)
    }
}

/// The words of the command line as a shell takes them, without secrets.
pub(crate) fn command_line(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = redact_likely_secrets(words)
        .map(|word| quote_if_needed(&word))
        .collect();
    words.join(" ")
}

/// The words with secrets masked.
fn redact_likely_secrets(words: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut secret = None;
    words.map(move |word| match (secret.take(), word.split_once('=')) {
        (Some(flag), _) => redact(flag, &word),
        (None, Some((flag @ ("--header" | "--db"), value))) => {
            format!("{flag}={}", redact(flag, value))
        }
        (None, _) => {
            secret = ["--header", "--db"].into_iter().find(|flag| *flag == word);
            word
        }
    })
}

fn redact(flag: &str, value: &str) -> String {
    let shown = match flag {
        "--header" => value
            .split_once(':')
            .map(|(name, _)| format!("{name}: {REDACTED}")),
        _ => isobath_exec::database::Address::parse(value)
            .ok()
            .map(|address| address.to_string()),
    };
    shown.unwrap_or_else(|| REDACTED.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(result: Result<Folder, SetupError>) -> String {
        match result {
            Ok(_) => String::new(),
            Err(refusal) => refusal.why().to_owned(),
        }
    }

    #[test]
    fn what_the_run_before_left_is_kept_and_nothing_else_is_touched() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let has = |name: &str| std::fs::read_to_string(root.path().join(name)).ok();
        put("report.json", "first");
        put("pytest/test_x.py", "first");
        put("notes.txt", "mine");
        drop(Folder::take(root.path()).unwrap_or_else(|_| panic!("it is free")));
        assert_eq!(has("report.json"), None);
        assert_eq!(has("previous/report.json").as_deref(), Some("first"));
        assert_eq!(has("previous/pytest/test_x.py").as_deref(), Some("first"));
        assert_eq!(has("notes.txt").as_deref(), Some("mine"));
        put("report.json", "second");
        drop(Folder::take(root.path()));
        assert_eq!(has("previous/report.json").as_deref(), Some("second"));
        assert_eq!(has("previous/pytest/test_x.py"), None, "one run is kept");
        drop(Folder::take(root.path()));
        assert_eq!(has("previous/report.json").as_deref(), Some("second"));
    }

    #[test]
    fn whoever_is_killed_while_it_moves_files_has_lost_none() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let has = |name: &str| std::fs::read_to_string(root.path().join(name)).ok();
        // Killed between two moves.
        put("previous/report.json", "first");
        put("previous.part/report.json", "second");
        put("events.ndjson", "second");
        drop(Folder::take(root.path()));
        assert_eq!(has("previous/report.json").as_deref(), Some("second"));
        assert_eq!(has("previous/events.ndjson").as_deref(), Some("second"));
        // Killed before the last move.
        std::fs::rename(
            root.path().join("previous"),
            root.path().join("previous.part"),
        )
        .unwrap();
        drop(Folder::take(root.path()));
        assert_eq!(has("previous/report.json").as_deref(), Some("second"));
        assert!(!root.path().join("previous.part").exists());
    }

    #[test]
    fn two_runs_do_not_write_to_one_folder() {
        let root = tempfile::tempdir().unwrap();
        let first = Folder::take(root.path());
        assert!(refusal(Folder::take(root.path())).contains("another run is writing"));
        drop(first);
        assert_eq!(refusal(Folder::take(root.path())), "");
    }

    #[test]
    fn links_lead_nothing_out_of_the_folder() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = elsewhere.path().join("file");
        std::fs::write(&file, "mine").unwrap();
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, root.path().join(name)).unwrap();
        };
        link(&file, LOCK);
        link(&file, "report.json");
        link(&file, "notes.part");
        link(&elsewhere.path().join("none"), "isobath.log");
        link(elsewhere.path(), MOVING);
        link(elsewhere.path(), "pytest");
        drop(Folder::take(root.path()).unwrap_or_else(|_| panic!("it is free")));
        put(&root.path().join("notes.txt"), "ours").unwrap();
        std::fs::write(root.path().join("isobath.log"), "ours").unwrap();
        put(&root.path().join("pytest/test_x.py"), "ours").unwrap();
        let left = std::fs::read_dir(elsewhere.path()).unwrap().count();
        assert_eq!(left, 1, "only what was there");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }

    #[test]
    fn the_command_line_is_told_without_secrets() {
        let told = |words: &[&str]| command_line(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(
            told(&[
                "isobath",
                "rest",
                "a b.yaml",
                "--header",
                "Key: planted",
                "--seed",
                "1"
            ]),
            "isobath rest 'a b.yaml' --header 'Key: …' --seed 1"
        );
        let database = told(&["isobath", "--db=postgres://me:planted@localhost/shop_test"]);
        assert!(
            !database.contains("planted") && database.contains("shop_test"),
            "{database}"
        );
        assert_eq!(told(&["--header", "planted"]), "--header '…'");
    }
}
