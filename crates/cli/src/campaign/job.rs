//! What a worker gets, and what it says about a job.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use isobath_emit::findings::RunEvent;
use serde::{Deserialize, Serialize};

use super::exchange::Island;
use crate::config::JobSettings;

/// Bytes of a log, or of the events of a run, that are read.
const TAIL: u64 = 64 << 10;
/// Lines of a log that a report shows.
const LINES: usize = 20;

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct JobText {
    /// The settings of the job.
    pub(super) settings: JobSettings,
    /// The working directory: absolute, or below the root.
    pub(super) directory: PathBuf,
    /// How long it may take.
    pub(super) timeout: Duration,
    /// Its part in a search that several jobs make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) island: Option<Island>,
}

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct JobProgress {
    /// The worker.
    pub(super) worker: String,
    /// How many times it was delivered.
    pub(super) attempt: u32,
    /// Whether it has ended, and how.
    pub(super) ended: Option<String>,
    /// HTTP calls so far.
    pub(super) calls: u64,
    /// Targets covered so far.
    pub(super) covered: u64,
    /// Faults so far.
    pub(super) faults: u64,
}

impl JobProgress {
    /// What the events of a run in a folder say last.
    pub(super) fn read(folder: &Path, worker: &str, attempt: u32) -> Self {
        let mut progress = Self {
            worker: worker.to_owned(),
            attempt,
            ..Self::default()
        };
        let events = tail(&folder.join("events.ndjson"));
        let last =
            events
                .lines()
                .rev()
                .find_map(|line| match serde_json::from_str::<RunEvent>(line) {
                    Ok(RunEvent::Progress(last)) => Some((last.calls, last.covered, last.faults)),
                    Ok(RunEvent::Ended {
                        calls,
                        covered,
                        faults,
                        ..
                    }) => Some((calls, covered, faults)),
                    _ => None,
                });
        if let Some(last) = last {
            (progress.calls, progress.covered, progress.faults) = last;
        }
        progress
    }

    /// The progress as a line.
    pub(super) fn line(&self) -> String {
        let mut line = match &self.ended {
            Some(how) => how.clone(),
            None => format!("running on {}", self.worker),
        };
        if self.attempt > 1 {
            line.push_str(&format!(", attempt {}", self.attempt));
        }
        if self.calls > 0 {
            let Self {
                calls,
                covered,
                faults,
                ..
            } = self;
            line.push_str(&format!(
                ", {calls} calls, {covered} covered, {faults} faults"
            ));
        }
        line
    }
}

/// What a worker says about a job that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct JobOutcome {
    /// The exit code of the program; nothing when it never came to its end.
    pub(super) exit: Option<i32>,
    /// The worker.
    pub(super) worker: String,
    /// How long the last attempt took.
    pub(super) seconds: f64,
    /// Why there are no results, with the end of the log.
    pub(super) error: Option<String>,
}

/// The last lines of the log of a job.
pub(super) fn last_lines(log: &Path) -> String {
    let text = tail(log);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

fn tail(path: &Path) -> String {
    let read = || {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_what_a_run_said_last() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(
            JobProgress::read(folder.path(), "w", 1).line(),
            "running on w"
        );
        let events = "{\"event\":\"progress\",\"calls\":4,\"seconds\":1.0,\"covered\":2,\"faults\":0}\n\
                      {\"event\":\"progress\",\"calls\":9,\"seconds\":2.0,\"covered\":3,\"faults\":1}\n{\"event\":\"stage\",\"stage\":\"probe\"}\n{\"eve";
        std::fs::write(folder.path().join("events.ndjson"), events).expect("a file");
        let progress = JobProgress::read(folder.path(), "w", 2);
        assert_eq!(
            progress.line(),
            "running on w, attempt 2, 9 calls, 3 covered, 1 faults"
        );
    }
}
