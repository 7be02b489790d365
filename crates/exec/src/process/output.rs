//! The standard output and error of a running service.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// At most so many bytes of what was said are read.
const BYTES: u64 = 16 * 1024;
/// At most so many lines are kept, the last ones.
const LINES: usize = 12;
/// At most so many characters of a line.
const WIDTH: usize = 300;

/// The output of a service; it continues with the next life of the service. Clones are the same output.
#[derive(Clone, Debug, Default)]
pub struct Output {
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    file: Option<File>,
    life: u64,
}

/// A place in the output of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPosition {
    life: u64,
    at: u64,
}

impl Output {
    /// The end of what was said so far.
    #[must_use]
    pub fn position(&self) -> OutputPosition {
        let log = self.lock();
        OutputPosition {
            life: log.life,
            at: log.length(),
        }
    }

    /// The last lines that were said since a mark; nothing when that was in another life of the service.
    #[must_use]
    pub fn since(&self, mark: OutputPosition) -> String {
        let log = self.lock();
        let end = log.length();
        let Some(file) = log
            .file
            .as_ref()
            .filter(|_| log.life == mark.life && end > mark.at)
        else {
            return String::new();
        };
        let from = mark.at.max(end.saturating_sub(BYTES));
        let mut bytes = vec![0; (end - from) as usize];
        let length = file.read_at(&mut bytes, from).unwrap_or(0);
        bytes.truncate(length);
        last_lines(&bytes)
    }

    /// The service begins a new life, with this log.
    pub(super) fn follow(&self, file: Option<File>) {
        let mut log = self.lock();
        log.file = file;
        log.life += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn length(&self) -> u64 {
        let file = self.file.as_ref().and_then(|file| file.metadata().ok());
        file.map_or(0, |data| data.len())
    }
}

fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let short = |line: &&str| -> String {
        let cut = line.char_indices().nth(WIDTH);
        match cut.and_then(|(at, _)| line.split_at_checked(at)) {
            Some((beginning, _)) => format!("{beginning}…"),
            None => (*line).to_owned(),
        }
    };
    let from = lines.len().saturating_sub(LINES);
    lines
        .iter()
        .skip(from)
        .map(short)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_said_between_two_moments_is_heard_and_bounded() {
        let mut log = tempfile::NamedTempFile::new().expect("a file");
        let output = Output::default();
        assert_eq!(output.since(output.position()), "");
        output.follow(log.reopen().ok());
        writeln!(log, "before").expect("there is room");
        let mark = output.position();
        assert_eq!(output.since(mark), "");
        writeln!(log, "one\n\ntwo").expect("there is room");
        assert_eq!(output.since(mark), "one\ntwo");
        for n in 0..5_000 {
            writeln!(log, "line {n} {}", "x".repeat(400)).expect("there is room");
        }
        let said = output.since(mark);
        assert_eq!(said.lines().count(), LINES);
        assert!(said.lines().all(|line| line.chars().count() <= WIDTH + 1));
        assert!(said.contains("line 4999"), "{said}");
        output.follow(None);
        assert_eq!(output.since(mark), "", "that was another life");
    }
}
