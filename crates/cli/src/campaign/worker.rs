//! Runs jobs: this program again, as a child that ends with us.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use isobath_exec::process::background::{Background, BackgroundCommand};
use isobath_queue::{Delivery, JobFolders, QueueError, WorkQueue};
use isobath_rest::redact::redact_likely_secrets;

use super::exchange::Exchange;
use super::job::{JobOutcome, JobProgress, JobText, last_lines};
use crate::output;

/// Deliveries of a job before it ends without results.
const MAX_DELIVERIES: u32 = 3;
/// How often a child is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a queue is waited for, between looks at whether to stop.
const WAIT: Duration = Duration::from_millis(500);
/// How long to rest when a queue does not answer.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the child of a worker that was killed may hold the output folder.
const LOCK_GRACE: Duration = Duration::from_secs(10);
/// The settings of a job, in its output folder.
pub(super) const SETTINGS: &str = "job.toml";
/// The output of a job, in its output folder.
pub(super) const LOG: &str = "job.log";

/// One that takes jobs from a queue and runs them, one after the other.
pub(super) struct Worker<'a> {
    pub(super) queue: &'a dyn WorkQueue,
    /// Its name, for reports.
    pub(super) name: String,
    /// Raised when it is to stop.
    pub(super) interrupt: &'a AtomicBool,
    /// Is told what happens.
    pub(super) tell: &'a (dyn Fn(&str) + Sync),
}

/// How an attempt ended.
enum Attempt {
    /// With a result.
    Ended(JobOutcome),
    /// Without; another one may do better.
    Failed(JobOutcome),
    /// It was interrupted.
    Interrupted,
}

impl Worker<'_> {
    /// Runs jobs until it is interrupted, or `is_done` when there is none.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written. A queue that does not answer is waited for.
    pub(super) fn serve(&self, is_done: impl Fn() -> bool) -> Result<(), QueueError> {
        let mut is_silent = false;
        while !self.is_interrupted() {
            match self.queue.take(WAIT) {
                Ok(Some(delivery)) => {
                    is_silent = false;
                    self.run(&delivery)?;
                }
                Ok(None) => {
                    is_silent = false;
                    if is_done() {
                        break;
                    }
                }
                Err(error @ QueueError::Server { .. }) => {
                    if !is_silent {
                        (self.tell)(&format!("waiting for the queue: {error}"));
                    }
                    is_silent = true;
                    thread::sleep(PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Runs one job, and tells the queue how it ended.
    fn run(&self, delivery: &Delivery) -> Result<(), QueueError> {
        let name = &delivery.job.name;
        let Some(folders) = self.insist(|| self.queue.restore(delivery))? else {
            return Ok(());
        };
        (self.tell)(&format!("{name}: attempt {}", delivery.attempt));
        let attempt = match delivery.attempt {
            1..=MAX_DELIVERIES => self.attempt(delivery, &folders),
            _ => Attempt::Failed(JobOutcome {
                error: Some("every worker that ran it ended before the job did".to_owned()),
                ..self.outcome(None, Duration::ZERO)
            }),
        };
        let (outcome, is_final) = match attempt {
            Attempt::Interrupted => {
                let progress = self.progress(delivery, &folders);
                // If this is not heard, the job is delivered again later.
                let _ = self.queue.keep(delivery, &progress, Some(&folders.out));
                let _ = self.queue.give_back(delivery, false);
                return Ok(());
            }
            Attempt::Ended(outcome) => (outcome, true),
            Attempt::Failed(outcome) => (outcome, delivery.attempt >= MAX_DELIVERIES),
        };
        let outcome = match outcome.error {
            Some(error) => JobOutcome {
                error: Some(with_log(&error, &folders.out)),
                ..outcome
            },
            None => outcome,
        };
        if !is_final {
            let why = outcome.error.as_deref().unwrap_or_default();
            let why = why.lines().next().unwrap_or_default();
            (self.tell)(&format!(
                "{name}: attempt {} failed: {why}",
                delivery.attempt
            ));
            let progress = self.progress(delivery, &folders);
            self.insist(|| self.queue.keep(delivery, &progress, Some(&folders.out)))?;
            self.insist(|| self.queue.give_back(delivery, true))?;
            return Ok(());
        }
        let ended = match outcome.exit {
            Some(code) => format!("ended with exit code {code}"),
            None => "ended without results".to_owned(),
        };
        let mut progress = JobProgress::read(&folders.out, &self.name, delivery.attempt);
        progress.ended = Some(ended.clone());
        let _ = self.queue.keep(delivery, &json(&progress), None);
        let text = json(&outcome);
        let finished = self.insist(|| self.queue.finish(delivery, &text, &folders))?;
        match finished {
            Some(true) => (self.tell)(&format!("{name}: {ended} after {:.1} s", outcome.seconds)),
            Some(false) => (self.tell)(&format!("{name}: another worker ended it first")),
            None => {}
        }
        Ok(())
    }

    /// Asks the queue until it answers; nothing when we are interrupted first.
    fn insist<T>(
        &self,
        mut ask: impl FnMut() -> Result<T, QueueError>,
    ) -> Result<Option<T>, QueueError> {
        loop {
            match ask() {
                Ok(answer) => return Ok(Some(answer)),
                Err(QueueError::Server { .. }) if !self.is_interrupted() => thread::sleep(PAUSE),
                Err(QueueError::Server { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn progress(&self, delivery: &Delivery, folders: &JobFolders) -> String {
        json(&JobProgress::read(
            &folders.out,
            &self.name,
            delivery.attempt,
        ))
    }

    fn outcome(&self, exit: Option<i32>, time: Duration) -> JobOutcome {
        JobOutcome {
            exit,
            worker: self.name.clone(),
            seconds: time.as_secs_f64(),
            error: None,
        }
    }

    /// Starts the job and waits for its end.
    fn attempt(&self, delivery: &Delivery, folders: &JobFolders) -> Attempt {
        let started = Instant::now();
        let failed = |error: String| {
            Attempt::Failed(JobOutcome {
                error: Some(error),
                ..self.outcome(None, started.elapsed())
            })
        };
        let job: JobText = match serde_json::from_str(&delivery.job.text) {
            Ok(job) => job,
            Err(error) => return failed(format!("the job is of another version: {error}")),
        };
        wait_until_free(&folders.out);
        let mut exchange = None;
        if let Some(island) = &job.island {
            match self.insist(|| Exchange::open(self.queue, delivery, island)) {
                Ok(Some(opened)) => exchange = Some(opened),
                Ok(None) => return Attempt::Interrupted,
                Err(error) => return failed(error.to_string()),
            }
        }
        let more = exchange.as_ref().map(Exchange::flags);
        let child = match start(&job, folders, more.unwrap_or_default()) {
            Ok(child) => child,
            Err(error) => return failed(error),
        };
        let mut kept: Option<Instant> = None;
        let mut saved = None;
        let mut is_told = false;
        loop {
            if let Some(exchange) = &mut exchange
                && let Err(error) = exchange.sync(&folders.out)
                && !std::mem::replace(&mut is_told, true)
            {
                let name = &delivery.job.name;
                (self.tell)(&format!("{name}: cannot exchange candidates: {error}"));
            }
            if let Some(code) = child.exit_code() {
                // What it found last is for the merge, which must not miss it.
                if let Some(exchange) = &mut exchange {
                    match self.insist(|| exchange.export(&folders.out)) {
                        Ok(Some(())) => {}
                        Ok(None) => return Attempt::Interrupted,
                        Err(error) => return failed(error.to_string()),
                    }
                }
                let outcome = self.outcome(Some(code), started.elapsed());
                return self.judge(outcome);
            }
            if self.is_interrupted() {
                return Attempt::Interrupted;
            }
            if started.elapsed() > job.timeout {
                return failed(format!("it did not end within {} s", job.timeout.as_secs()));
            }
            if kept.is_none_or(|kept| kept.elapsed() >= delivery.keep_every) {
                // What the job wrote is kept when it has written something.
                let written = last_written(&folders.out);
                let folder = (written != saved).then_some(folders.out.as_path());
                let progress = self.progress(delivery, folders);
                if self.queue.keep(delivery, &progress, folder).is_ok() {
                    saved = written;
                }
                kept = Some(Instant::now());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Whether an exit code is a result: that of a service that cannot be reached, of a signal or of a defect is not.
    fn judge(&self, outcome: JobOutcome) -> Attempt {
        let error = match outcome.exit {
            Some(0 | 1) => return Attempt::Ended(outcome),
            Some(2) => {
                return Attempt::Ended(JobOutcome {
                    error: Some("wrong usage, configuration or input".to_owned()),
                    ..outcome
                });
            }
            Some(3) => "the service or database is unreachable".to_owned(),
            Some(code) if code > 128 => format!("ended by signal {}", code - 128),
            _ => "internal error".to_owned(),
        };
        Attempt::Failed(JobOutcome {
            error: Some(error),
            ..outcome
        })
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("a record of texts and numbers")
}

fn with_log(error: &str, out: &Path) -> String {
    let log = redact_likely_secrets(&last_lines(&out.join(LOG)));
    format!("{error}\n{log}").trim_end().to_owned()
}

/// Starts this program with the settings of a job.
fn start(job: &JobText, folders: &JobFolders, more: Vec<String>) -> Result<Background, String> {
    let settings = folders.out.join(SETTINGS);
    output::put(&settings, &job.settings.to_toml(&folders.root))
        .map_err(|error| error.to_string())?;
    let own = std::env::current_exe().map_err(|error| format!("cannot find isobath: {error}"))?;
    let mut command = vec![own.display().to_string(), job.settings.job.clone()];
    command.push(format!("--config={}", settings.display()));
    command.push(format!("--out={}", folders.out.display()));
    if job.settings.job == "rest" {
        command.push("--resume-if-interrupted".to_owned());
    }
    command.extend(more);
    let directory = folders.root.join(&job.directory);
    if !directory.is_dir() {
        let shown = directory.display();
        return Err(format!(
            "{shown} is not a directory; check `directory`, or list it in `files`"
        ));
    }
    Background::start(&BackgroundCommand {
        command,
        directory,
        variables: vec![("NO_COLOR".to_owned(), "1".to_owned())],
        log: folders.out.join(LOG),
    })
    .map_err(|error| format!("cannot start isobath: {error}"))
}

/// When the newest file of a folder was written.
fn last_written(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let times = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok());
    times.max()
}

/// Waits until a run that lost its worker has let go of its folder.
fn wait_until_free(folder: &Path) {
    let Ok(lock) = File::options().write(true).open(folder.join(".lock")) else {
        return;
    };
    let started = Instant::now();
    while matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock))
        && started.elapsed() < LOCK_GRACE
    {
        thread::sleep(POLL_INTERVAL);
    }
}
