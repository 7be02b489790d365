//! `--exchange`: candidates that other runs on the same service found, which a worker brings into a folder.
//!
//! One large search is several runs ("islands") with different seeds. Each reads what the others covered first from files of
//! candidates in the folder, one file for each of the others; what it covers itself is in its own journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use isobath_rest::caller::Service;
use isobath_rest::candidate::Candidate;
use isobath_rest::job::{Config, JobPart, PreviousRun};
use isobath_rest::journal::restore;

/// How often the folder is looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// The folder of an exchange.
struct Exchange {
    folder: PathBuf,
    service: Arc<Service>,
    /// Bytes of each file that were read.
    read: BTreeMap<PathBuf, usize>,
    looked: Option<Instant>,
}

/// Makes a run a part of a search on several machines; `is_merge` for the one that makes tests of what all found.
pub(super) fn join(config: &mut Config, folder: &Path, is_merge: bool, service: &Arc<Service>) {
    let mut exchange = Exchange {
        folder: folder.to_owned(),
        service: Arc::clone(service),
        read: BTreeMap::new(),
        looked: None,
    };
    if is_merge {
        config.part = JobPart::Merge;
        let previous = config.previous.get_or_insert_with(PreviousRun::default);
        previous.candidates.extend(exchange.fresh());
        previous.searched = true;
        return;
    }
    config.part = JobPart::Search;
    let exchange = Mutex::new(exchange);
    config.imports = Some(Arc::new(move || {
        let mut exchange = exchange.lock().unwrap_or_else(PoisonError::into_inner);
        if exchange
            .looked
            .is_some_and(|looked| looked.elapsed() < INTERVAL)
        {
            return Vec::new();
        }
        exchange.looked = Some(Instant::now());
        exchange.fresh()
    }));
}

impl Exchange {
    /// The candidates that came since the last time; a line that is not whole yet is left for later.
    fn fresh(&mut self) -> Vec<Candidate> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut fresh = Vec::new();
        for path in paths {
            let Ok(bytes) = std::fs::read(&path) else {
                continue;
            };
            let read = self.read.entry(path).or_default();
            let rest = bytes.get(*read..).unwrap_or_default();
            let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else {
                continue;
            };
            *read += end + 1;
            let text = String::from_utf8_lossy(&rest[..end]);
            fresh.extend(
                text.lines()
                    .filter_map(|line| candidate(&self.service, line)),
            );
        }
        fresh
    }
}

/// The candidate of a line; nothing when it does not fit the service.
fn candidate(service: &Service, line: &str) -> Option<Candidate> {
    let json = serde_json::from_str(line).ok()?;
    let schema = service.with_database(|data| Arc::clone(data.schema()));
    restore(
        &service.api,
        schema.as_deref(),
        service.sessions.len(),
        &json,
    )
}
