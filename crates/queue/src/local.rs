//! The queue in this process. What must survive it is in files below the output folder.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::job::{CampaignQueue, Delivery, Job, JobFolders, JobResult, QueueError, WorkQueue};

/// The folder below the output folder that holds the state of the queue.
const STATE: &str = ".campaign";

/// How often progress is shown.
const KEEP_EVERY: Duration = Duration::from_secs(1);

/// A queue for workers that are threads of this process.
///
/// It survives the process: results and the number of deliveries are files, and the output of a job stays where the job
/// wrote it. Labels are not looked at; this machine runs everything.
#[derive(Debug)]
pub struct LocalQueue {
    root: PathBuf,
    out: PathBuf,
    waiting: Mutex<Waiting>,
    added: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    progress: BTreeMap<String, String>,
}

impl LocalQueue {
    /// A queue whose jobs have paths relative to `root` and write below `out`.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written.
    pub fn open(root: &Path, out: &Path) -> Result<Self, QueueError> {
        for folder in ["results", "deliveries", "shared"] {
            let folder = out.join(STATE).join(folder);
            fs::create_dir_all(&folder).map_err(QueueError::file(&folder))?;
        }
        Ok(Self {
            root: root.to_owned(),
            out: out.to_owned(),
            waiting: Mutex::default(),
            added: Condvar::new(),
        })
    }

    fn result_path(&self, job: &str) -> PathBuf {
        self.out
            .join(STATE)
            .join("results")
            .join(format!("{job}.json"))
    }

    fn shared_path(&self, job: &str, number: usize) -> PathBuf {
        let name = format!("{job}.{number}.txt");
        self.out.join(STATE).join("shared").join(name)
    }

    fn deliveries_path(&self, job: &str) -> PathBuf {
        self.out.join(STATE).join("deliveries").join(job)
    }

    /// Deliveries of a job so far.
    fn deliveries(&self, job: &str) -> u32 {
        let text = fs::read_to_string(self.deliveries_path(job)).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    fn set_deliveries(&self, job: &str, count: u32) -> Result<(), QueueError> {
        let path = self.deliveries_path(job);
        fs::write(&path, count.to_string()).map_err(QueueError::file(&path))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkQueue for LocalQueue {
    fn take(&self, wait: Duration) -> Result<Option<Delivery>, QueueError> {
        let mut waiting = self.lock();
        if waiting.jobs.is_empty() {
            let woken = self.added.wait_timeout(waiting, wait);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let Some(job) = waiting.jobs.pop_front() else {
            return Ok(None);
        };
        drop(waiting);
        let attempt = self.deliveries(&job.name) + 1;
        self.set_deliveries(&job.name, attempt)?;
        Ok(Some(Delivery {
            campaign: String::new(),
            job,
            attempt,
            keep_every: KEEP_EVERY,
            #[cfg(feature = "nats")]
            ticket: None,
        }))
    }

    fn restore(&self, delivery: &Delivery) -> Result<JobFolders, QueueError> {
        let out = self.out.join(&delivery.job.name);
        fs::create_dir_all(&out).map_err(QueueError::file(&out))?;
        Ok(JobFolders {
            root: self.root.clone(),
            out,
        })
    }

    fn keep(
        &self,
        delivery: &Delivery,
        progress: &str,
        _folder: Option<&Path>,
    ) -> Result<(), QueueError> {
        let name = delivery.job.name.clone();
        self.lock().progress.insert(name, progress.to_owned());
        Ok(())
    }

    fn share(&self, delivery: &Delivery, number: usize, text: &str) -> Result<(), QueueError> {
        let path = self.shared_path(&delivery.job.name, number);
        // Others see it whole or not at all.
        let unfinished = path.with_extension("part");
        fs::write(&unfinished, text).map_err(QueueError::file(&unfinished))?;
        fs::rename(&unfinished, &path).map_err(QueueError::file(&path))
    }

    fn shared(
        &self,
        _delivery: &Delivery,
        job: &str,
        number: usize,
    ) -> Result<Option<String>, QueueError> {
        let path = self.shared_path(job, number);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(QueueError::file(&path)(error)),
        }
    }

    fn give_back(&self, delivery: &Delivery, counts: bool) -> Result<(), QueueError> {
        if !counts {
            let before = delivery.attempt.saturating_sub(1);
            self.set_deliveries(&delivery.job.name, before)?;
        }
        self.lock().jobs.push_back(delivery.job.clone());
        self.added.notify_one();
        Ok(())
    }

    fn finish(
        &self,
        delivery: &Delivery,
        text: &str,
        _folders: &JobFolders,
    ) -> Result<bool, QueueError> {
        let result = JobResult {
            attempt: delivery.attempt,
            text: text.to_owned(),
            object: None,
        };
        let path = self.result_path(&delivery.job.name);
        // A link appears whole or not at all, and never replaces what is there.
        let unfinished = path.with_extension("part");
        let json = serde_json::to_string(&result).expect("a record of texts and numbers");
        fs::write(&unfinished, json).map_err(QueueError::file(&unfinished))?;
        let linked = fs::hard_link(&unfinished, &path);
        fs::remove_file(&unfinished).map_err(QueueError::file(&unfinished))?;
        match linked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(QueueError::file(&path)(error)),
        }
    }
}

impl CampaignQueue for LocalQueue {
    fn submit(&self, jobs: &[Job], _inputs: &[PathBuf]) -> Result<(), QueueError> {
        let mut waiting = self.lock();
        for job in jobs {
            let is_new = !waiting.jobs.iter().any(|other| other.name == job.name);
            if is_new && !self.result_path(&job.name).exists() {
                waiting.jobs.push_back(job.clone());
            }
        }
        self.added.notify_all();
        Ok(())
    }

    fn results(&self) -> Result<BTreeMap<String, JobResult>, QueueError> {
        let folder = self.out.join(STATE).join("results");
        let entries = fs::read_dir(&folder).map_err(QueueError::file(&folder))?;
        let mut results = BTreeMap::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_stem().and_then(|name| name.to_str());
            let (Some(name), Some("json")) = (name, path.extension().and_then(|end| end.to_str()))
            else {
                continue;
            };
            let text = fs::read_to_string(&path).map_err(QueueError::file(&path))?;
            let result = serde_json::from_str(&text)
                .map_err(|error| QueueError::file(&path)(std::io::Error::other(error)))?;
            results.insert(name.to_owned(), result);
        }
        Ok(results)
    }

    fn progress(&self) -> Result<BTreeMap<String, String>, QueueError> {
        Ok(self.lock().progress.clone())
    }

    fn collect(&self, _job: &str, _result: &JobResult, _folder: &Path) -> Result<(), QueueError> {
        Ok(())
    }

    fn clear(&self) -> Result<(), QueueError> {
        let folder = self.out.join(STATE);
        fs::remove_dir_all(&folder).map_err(QueueError::file(&folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str) -> Job {
        Job {
            name: name.to_owned(),
            labels: ["jvm-17".to_owned()].into(),
            text: format!("run {name}"),
        }
    }

    fn next(queue: &LocalQueue) -> Option<Delivery> {
        queue.take(Duration::ZERO).unwrap()
    }

    #[test]
    fn a_job_has_one_result_however_often_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let queue = LocalQueue::open(folder.path(), folder.path()).unwrap();
        queue.submit(&[job("a"), job("b")], &[]).unwrap();
        queue.submit(&[job("a")], &[]).unwrap();
        let first = next(&queue).unwrap();
        let folders = queue.restore(&first).unwrap();
        assert_eq!(folders.out, folder.path().join("a"));
        assert!(queue.finish(&first, "one", &folders).unwrap());
        assert!(!queue.finish(&first, "two", &folders).unwrap());
        assert_eq!(next(&queue).unwrap().job.name, "b");
        assert!(
            next(&queue).is_none(),
            "it was submitted twice and runs once"
        );
        let results = queue.results().unwrap();
        assert_eq!(results.len(), 1);
        assert_eq!(results["a"].text, "one");
    }

    #[test]
    fn deliveries_are_counted_over_the_lives_of_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let open = || LocalQueue::open(folder.path(), folder.path()).unwrap();
        for attempt in 1..=2 {
            let queue = open();
            queue.submit(&[job("a")], &[]).unwrap();
            assert_eq!(next(&queue).unwrap().attempt, attempt, "it was lost");
        }
        let queue = open();
        queue.submit(&[job("a")], &[]).unwrap();
        let third = next(&queue).unwrap();
        assert_eq!(third.attempt, 3);
        queue.give_back(&third, false).unwrap();
        let again = next(&queue).unwrap();
        assert_eq!(again.attempt, 3, "what was given back does not count");
        queue.give_back(&again, true).unwrap();
        assert_eq!(next(&queue).unwrap().attempt, 4);
    }

    #[test]
    fn ended_jobs_are_not_run_again_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let queue = LocalQueue::open(folder.path(), folder.path()).unwrap();
        queue.submit(&[job("a"), job("b")], &[]).unwrap();
        let first = next(&queue).unwrap();
        let folders = queue.restore(&first).unwrap();
        queue.finish(&first, "one", &folders).unwrap();
        let queue = LocalQueue::open(folder.path(), folder.path()).unwrap();
        queue.submit(&[job("a"), job("b")], &[]).unwrap();
        assert_eq!(next(&queue).unwrap().job.name, "b");
        assert!(next(&queue).is_none());
        queue.clear().unwrap();
        let queue = LocalQueue::open(folder.path(), folder.path()).unwrap();
        assert!(queue.results().unwrap().is_empty());
    }
}
