//! Jobs, their deliveries and results, and what a queue does with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One job of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name, unique in the campaign: letters, digits, `-` and `_`.
    pub name: String,
    /// Labels that a worker must have.
    pub labels: BTreeSet<String>,
    /// What the worker is to do; the queue does not read it.
    pub text: String,
}

/// A job that a worker has taken.
#[derive(Debug)]
pub struct Delivery {
    /// The campaign that the job is of.
    pub campaign: String,
    /// The job.
    pub job: Job,
    /// How many times it was delivered, this time included. A delivery that a worker gave back does not count.
    pub attempt: u32,
    /// How often the worker must say that the job still runs.
    pub keep_every: Duration,
    /// The message, on a NATS server.
    #[cfg(feature = "nats")]
    pub(crate) ticket: Option<Box<crate::nats::NatsTicket>>,
}

/// Where a job runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFolders {
    /// The folder that paths of the job are relative to.
    pub root: PathBuf,
    /// Where it writes its output.
    pub out: PathBuf,
}

/// The one result of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobResult {
    /// The attempt that ended it.
    pub attempt: u32,
    /// What the worker says about it; the queue does not read it.
    pub text: String,
    /// The object with its files, in a queue that keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// The queue as a worker sees it. Implementors: this process, and NATS JetStream.
pub trait WorkQueue: Send + Sync {
    /// Takes the next job; nothing when there is none within `wait`.
    ///
    /// # Errors
    ///
    /// When the queue cannot be asked.
    fn take(&self, wait: Duration) -> Result<Option<Delivery>, QueueError>;

    /// Gets the inputs of a job, and what earlier deliveries of it left.
    ///
    /// # Errors
    ///
    /// When they cannot be read or written.
    fn restore(&self, delivery: &Delivery) -> Result<JobFolders, QueueError>;

    /// Says that the job still runs, and how far it is; with `folder`, also keeps what it has written so far.
    ///
    /// # Errors
    ///
    /// When the queue cannot be told.
    fn keep(
        &self,
        delivery: &Delivery,
        progress: &str,
        folder: Option<&Path>,
    ) -> Result<(), QueueError>;

    /// Stores a text for other jobs of the campaign; texts of a job are numbered from 0.
    ///
    /// # Errors
    ///
    /// When the queue cannot be told; call it again.
    fn share(&self, delivery: &Delivery, number: usize, text: &str) -> Result<(), QueueError>;

    /// The text of this number that a job of the same campaign shared, if it did.
    ///
    /// # Errors
    ///
    /// When the queue cannot be asked.
    fn shared(
        &self,
        delivery: &Delivery,
        job: &str,
        number: usize,
    ) -> Result<Option<String>, QueueError>;

    /// Ends a delivery without a result: the job is delivered again. `counts` says whether this was an attempt.
    ///
    /// # Errors
    ///
    /// When the queue cannot be told; the job is then delivered again later.
    fn give_back(&self, delivery: &Delivery, counts: bool) -> Result<(), QueueError>;

    /// Ends a job. Returns whether this is its result: another delivery may have been faster.
    ///
    /// # Errors
    ///
    /// When the queue cannot be told; call it again.
    fn finish(
        &self,
        delivery: &Delivery,
        text: &str,
        folders: &JobFolders,
    ) -> Result<bool, QueueError>;
}

/// The queue as the command that runs a campaign sees it.
pub trait CampaignQueue: Send + Sync {
    /// Adds the jobs that are neither waiting, running nor ended; `inputs` are files and folders that they read, relative
    /// to the root of the campaign.
    ///
    /// # Errors
    ///
    /// When they cannot be added; call it again.
    fn submit(&self, jobs: &[Job], inputs: &[PathBuf]) -> Result<(), QueueError>;

    /// The results so far, by job.
    ///
    /// # Errors
    ///
    /// When the queue cannot be asked.
    fn results(&self) -> Result<BTreeMap<String, JobResult>, QueueError>;

    /// What workers last said about jobs.
    ///
    /// # Errors
    ///
    /// When the queue cannot be asked.
    fn progress(&self) -> Result<BTreeMap<String, String>, QueueError>;

    /// Brings the files of an ended job into a folder.
    ///
    /// # Errors
    ///
    /// When they cannot be read or written.
    fn collect(&self, job: &str, result: &JobResult, folder: &Path) -> Result<(), QueueError>;

    /// Removes what the queue keeps about the campaign, once everything was collected.
    ///
    /// # Errors
    ///
    /// When the queue cannot be told.
    fn clear(&self) -> Result<(), QueueError>;
}

/// Why a queue did not do something.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The program was built without NATS.
    #[error(
        "this build has no NATS client; install a release, or build with `cargo install --path crates/cli --features nats`"
    )]
    NotBuiltIn,
    /// The server cannot be used.
    #[error("failed to connect to {url}: {cause}")]
    Connect {
        /// The server, without secrets.
        url: String,
        /// What happened.
        cause: String,
    },
    /// The server did not do something; it may later.
    #[error("failed to {action}: {cause}")]
    Server {
        /// What it should have done.
        action: String,
        /// What happened.
        cause: String,
    },
    /// A file cannot be read or written.
    #[error("failed to access {}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
}

impl QueueError {
    pub(crate) fn file(path: &Path) -> impl Fn(std::io::Error) -> Self + '_ {
        move |cause| Self::File {
            path: path.to_owned(),
            cause,
        }
    }
}
