//! `isobath.log`: all terminal output, also with --quiet, with timestamps and without secrets.
//!
//! The output directory is not known at the start; earlier lines are buffered.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use isobath_rest::redact;

/// Lines that wait at most: a run that never gets its folder has nowhere to write them.
const MOST_WAITING: usize = 2_000;
/// Shorter values are not taken for secrets: they would be found in every other word.
const SHORTEST: usize = 3;
/// Shorter ones are not looked for in files, which would not say any more what they should.
const LONG: usize = 8;

static LOG: Mutex<Option<Log>> = Mutex::new(None);

struct Log {
    started: Instant,
    file: Option<File>,
    waiting: Vec<String>,
    secrets: Vec<String>,
    is_allowed_in_files: bool,
    /// Whether it was told that a line could not be written.
    is_failure_told: bool,
}

fn log() -> MutexGuard<'static, Option<Log>> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on lines are kept.
pub(crate) fn begin() {
    *log() = Some(Log {
        started: Instant::now(),
        file: None,
        waiting: Vec::new(),
        secrets: Vec::new(),
        is_allowed_in_files: false,
        is_failure_told: false,
    });
}

/// Writes what waits, and from now on everything, to a file; to the end of one that is there.
///
/// # Errors
///
/// When the file cannot be opened.
pub(crate) fn open(path: &Path) -> std::io::Result<()> {
    let mut log = log();
    let Some(log) = log.as_mut() else {
        return Ok(());
    };
    log.file = Some(File::options().create(true).append(true).open(path)?);
    for line in std::mem::take(&mut log.waiting) {
        log.put(&line);
    }
    Ok(())
}

/// These values are not to be seen in any output, however they are spelled.
pub(crate) fn hide<'s>(secrets: impl IntoIterator<Item = &'s str>) {
    let mut log = log();
    let Some(log) = log.as_mut() else {
        return;
    };
    let secrets = secrets.into_iter().filter(|value| value.len() >= SHORTEST);
    log.secrets.extend(secrets.flat_map(redact::spellings));
    // The longest first: one may be a part of another.
    log.secrets
        .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    log.secrets.dedup();
}

/// Allows secrets in output files (--inline-secrets).
pub(crate) fn allow_in_files() {
    if let Some(log) = log().as_mut() {
        log.is_allowed_in_files = true;
    }
}

/// A text for a file of the run or for the terminal. Whatever way a secret took to get here, it does not get further.
pub(crate) fn redacted(text: &str) -> Cow<'_, str> {
    let log = log();
    let mut text = Cow::Borrowed(text);
    if let Some(log) = log.as_ref().filter(|log| !log.is_allowed_in_files) {
        let long = log.secrets.iter().filter(|one| one.len() >= LONG);
        for secret in long {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret, "***"));
            }
        }
    }
    text
}

/// Appends a line to the log, if there is one.
pub(crate) fn line(text: &str) {
    let mut log = log();
    let Some(log) = log.as_mut() else {
        return;
    };
    let seconds = log.started.elapsed().as_secs_f64();
    let line = format!("{seconds:9.3}  {text}\n");
    if log.file.is_some() {
        log.put(&line);
    } else if log.waiting.len() < MOST_WAITING {
        log.waiting.push(line);
    }
}

impl Log {
    /// Writes a line. The run does not depend on whether the disk has room for it; that it has none is told once.
    fn put(&mut self, line: &str) {
        let mut line = line.to_owned();
        for secret in &self.secrets {
            line = line.replace(secret, "***");
        }
        let Some(file) = &mut self.file else { return };
        let written = file.write_all(redact::redact_likely_secrets(&line).as_bytes());
        if let Err(error) = written
            && !std::mem::replace(&mut self.is_failure_told, true)
        {
            let warning = format!("warning: cannot write isobath.log: {error}; it lacks lines");
            // Where nobody reads what is printed, there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{warning}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_no_secret_that_is_long_enough_to_be_told_from_words() {
        begin();
        hide(["planted-token-0815", "abc"]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("queries.jsonl");
        let text = r#"{"query":"SELECT abc FROM t WHERE token = 'planted-token-0815'"}"#;
        crate::output::put(&path, text).expect("room");
        let stored = std::fs::read_to_string(&path).expect("a file");
        assert_eq!(
            stored,
            r#"{"query":"SELECT abc FROM t WHERE token = '***'"}"#
        );
    }
}
