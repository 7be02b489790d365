//! Islands: brings what one of several runs on a service covered to the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use isobath_queue::{Delivery, QueueError, WorkQueue};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

/// How often candidates are exchanged.
const INTERVAL: Duration = Duration::from_secs(1);
/// The most bytes of candidates that are shared as one text; servers allow a megabyte.
const LARGEST: usize = 256 << 10;
/// The candidates of a run, in its output folder.
const JOURNAL: &str = "candidates.ndjson";

/// The part of a job in a search that several jobs make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Island {
    /// The jobs that search.
    pub(super) members: Vec<String>,
    /// Whether it is the job that makes tests of what they found.
    pub(super) is_merge: bool,
}

/// The exchange of one job that runs.
pub(super) struct Exchange<'a> {
    queue: &'a dyn WorkQueue,
    delivery: &'a Delivery,
    is_merge: bool,
    folder: TempDir,
    /// How many texts of each other job were brought here.
    others: BTreeMap<String, usize>,
    /// Lines that were shared by us or came from others.
    known: BTreeSet<String>,
    n_shared: usize,
    synced: Option<Instant>,
}

impl<'a> Exchange<'a> {
    /// Opens the exchange of a job; an earlier delivery of it may have shared something.
    ///
    /// # Errors
    ///
    /// When there is no place for files, or the queue does not answer.
    pub(super) fn open(
        queue: &'a dyn WorkQueue,
        delivery: &'a Delivery,
        island: &Island,
    ) -> Result<Self, QueueError> {
        let folder = tempfile::Builder::new().prefix("isobath-worker-").tempdir();
        let no_folder = |cause| QueueError::File {
            path: std::env::temp_dir(),
            cause,
        };
        let own = &delivery.job.name;
        let others = island.members.iter().filter(|member| *member != own);
        let mut exchange = Self {
            queue,
            delivery,
            is_merge: island.is_merge,
            folder: folder.map_err(no_folder)?,
            others: others.map(|member| (member.clone(), 0)).collect(),
            known: BTreeSet::new(),
            n_shared: 0,
            synced: None,
        };
        while let Some(text) = queue.shared(delivery, own, exchange.n_shared)? {
            exchange.known.extend(text.lines().map(str::to_owned));
            exchange.n_shared += 1;
        }
        // What the others have found by now is there from the start.
        exchange.import()?;
        Ok(exchange)
    }

    /// The flags of the run.
    pub(super) fn flags(&self) -> Vec<String> {
        let mut flags = vec![format!("--exchange={}", self.folder.path().display())];
        if self.is_merge {
            flags.push("--merge".to_owned());
        }
        flags
    }

    /// Exchanges, if it is time to; `out` is the output folder of the run. What does not come about is tried again the
    /// next time.
    ///
    /// # Errors
    ///
    /// When a file cannot be written. That a queue does not answer is none.
    pub(super) fn sync(&mut self, out: &Path) -> Result<(), QueueError> {
        if self
            .synced
            .is_some_and(|synced| synced.elapsed() < INTERVAL)
        {
            return Ok(());
        }
        self.synced = Some(Instant::now());
        match self.export(out).and_then(|()| self.import()) {
            Err(QueueError::Server { .. }) => Ok(()),
            other => other,
        }
    }

    /// Shares what the run covered since the last time.
    ///
    /// # Errors
    ///
    /// When the queue does not answer.
    pub(super) fn export(&mut self, out: &Path) -> Result<(), QueueError> {
        if self.is_merge {
            return Ok(());
        }
        let journal = fs::read_to_string(out.join(JOURNAL)).unwrap_or_default();
        // The last line may not be whole yet.
        let end = journal.rfind('\n').map_or(0, |end| end + 1);
        let lines = journal[..end].lines();
        let fresh: Vec<&str> = lines.filter(|line| !self.known.contains(*line)).collect();
        let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
        for line in fresh {
            match parts.last_mut() {
                Some((text, lines)) if text.len() + line.len() < LARGEST => {
                    text.push_str(line);
                    text.push('\n');
                    lines.push(line);
                }
                _ => parts.push((format!("{line}\n"), vec![line])),
            }
        }
        for (text, lines) in parts {
            self.queue.share(self.delivery, self.n_shared, &text)?;
            self.n_shared += 1;
            self.known.extend(lines.into_iter().map(str::to_owned));
        }
        Ok(())
    }

    /// Brings here what the others shared since the last time.
    fn import(&mut self) -> Result<(), QueueError> {
        for (member, n_known) in &mut self.others {
            while let Some(text) = self.queue.shared(self.delivery, member, *n_known)? {
                let path = self.folder.path().join(format!("{member}.ndjson"));
                let file = File::options().append(true).create(true).open(&path);
                // Two islands may find the same.
                let fresh = text.lines().filter(|line| !self.known.contains(*line));
                let fresh: Vec<&str> = fresh.collect();
                let lines: String = fresh.iter().map(|line| format!("{line}\n")).collect();
                let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
                written.map_err(|cause| QueueError::File { path, cause })?;
                self.known.extend(fresh.into_iter().map(str::to_owned));
                *n_known += 1;
            }
        }
        Ok(())
    }
}
