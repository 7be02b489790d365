//! `--exchange`: candidates that other runs on the same service found, which a worker brings into a folder.
//!
//! One large search is several runs ("islands") with different seeds. Each reads what the others covered first from files of
//! candidates in the folder, one file for each of the others; what it covers itself is in its own journal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isobath_rest::caller::Service;
use isobath_rest::candidate::Candidate;
use isobath_rest::job::{Config, JobPart, PreviousRun};
use isobath_rest::journal::restore;
use serde_json::Value;

/// How often the folder is looked at.
const INTERVAL: Duration = Duration::from_secs(1);
/// The key of the targets that a candidate covered, in a line of a journal.
pub(super) const COVERS: &str = "covers";

/// A short name of a target, the same in all runs: its 64-bit FNV-1a hash.
pub(super) fn key(target: &str) -> String {
    format!("{:016x}", hash(target))
}

fn hash(target: &str) -> u64 {
    target
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The targets that this run has covered, by the hashes of their names.
#[derive(Clone, Debug, Default)]
pub(super) struct CoveredKeys(Arc<Mutex<BTreeSet<u64>>>);

impl CoveredKeys {
    /// Takes note of a target.
    pub(super) fn insert(&self, target: &str) {
        self.lock().insert(hash(target));
    }

    /// Whether a candidate of another run covered nothing else. It need not be run then.
    fn have_all(&self, json: &Value) -> bool {
        let covered = self.lock();
        let covers = json[COVERS].as_array();
        covers.is_some_and(|covers| {
            let mut covers = covers.iter().filter_map(Value::as_str);
            covers.all(|key| u64::from_str_radix(key, 16).is_ok_and(|key| covered.contains(&key)))
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of an exchange.
struct Exchange {
    folder: PathBuf,
    service: Arc<Service>,
    /// Bytes of each file that were read.
    read: BTreeMap<PathBuf, usize>,
    looked: Option<Instant>,
    /// What need not be covered again.
    covered: CoveredKeys,
}

/// Makes a run a part of a search on several machines; `is_merge` for the one that makes tests of what all found.
pub(super) fn join(
    config: &mut Config,
    folder: &Path,
    is_merge: bool,
    service: &Arc<Service>,
    covered: &CoveredKeys,
) {
    let mut exchange = Exchange {
        folder: folder.to_owned(),
        service: Arc::clone(service),
        read: BTreeMap::new(),
        looked: None,
        covered: covered.clone(),
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
        let is_recent = |looked: Instant| looked.elapsed() < INTERVAL;
        if exchange.looked.is_some_and(is_recent) {
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
            let text = String::from_utf8_lossy(&rest[..end]).into_owned();
            fresh.extend(text.lines().filter_map(|line| self.candidate(line)));
        }
        fresh
    }

    /// The candidate of a line; nothing when it does not fit the service, or covers nothing new.
    fn candidate(&self, line: &str) -> Option<Candidate> {
        let json: Value = serde_json::from_str(line).ok()?;
        if self.covered.have_all(&json) {
            return None;
        }
        let (api, n_users) = (&self.service.api, self.service.sessions.len());
        let schema = self.service.with_database(|data| Arc::clone(data.schema()));
        restore(api, schema.as_deref(), n_users, &json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_covered_here_need_not_be_run_again() {
        let covered = CoveredKeys::default();
        covered.insert("GET /a returns 200");
        let line = |targets: &[&str]| {
            let keys: Vec<String> = targets.iter().map(|target| key(target)).collect();
            json!({ COVERS: keys })
        };
        assert!(covered.have_all(&line(&["GET /a returns 200"])));
        assert!(!covered.have_all(&line(&["GET /a returns 200", "GET /a returns 404"])));
        assert!(
            !covered.have_all(&json!({})),
            "a journal that does not tell"
        );
    }
}
