//! Brings the jobs of a campaign to workers, and exactly one result of each job back.
//!
//! Stands between the command that runs a campaign and the workers that run its jobs. A job is a name, the labels that
//! a worker must have, and a text that only the worker understands. There are two queues: [`LocalQueue`] for workers in
//! this process, and NATS JetStream ([`connect`]) for workers on other machines.
//!
//! A job whose worker died is delivered again, with the files that it left. This crate does not know what a job does, and
//! starts no process. JetStream is behind the feature `nats`, which fences a large dependency; without it, [`connect`]
//! returns [`QueueError::NotBuiltIn`].
//!
//! # Reading order
//!
//! [`WorkQueue`] and [`CampaignQueue`] first, then [`LocalQueue`], which fits on a page.
//!
//! # Example
//!
//! ```
//! use std::collections::BTreeSet;
//! use std::time::Duration;
//!
//! use isobath_queue::{CampaignQueue, Job, LocalQueue, WorkQueue};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let queue = LocalQueue::open(folder.path(), &folder.path().join("out"))?;
//! let job = Job { name: "shop".into(), labels: BTreeSet::new(), text: "what to do".into() };
//! queue.submit(&[job], &[])?;
//!
//! let delivery = queue.take(Duration::ZERO)?.ok_or("a job is waiting")?;
//! assert_eq!((delivery.job.name.as_str(), delivery.attempt), ("shop", 1));
//! let folders = queue.restore(&delivery)?;
//! assert!(queue.finish(&delivery, "done", &folders)?);
//!
//! assert_eq!(queue.results()?["shop"].text, "done");
//! # Ok(())
//! # }
//! ```

mod job;
mod local;
#[cfg(feature = "nats")]
mod nats;
mod server;

pub use job::{CampaignQueue, Delivery, Job, JobFolders, JobResult, QueueError, WorkQueue};
pub use local::LocalQueue;
pub use server::{NatsServer, Server, WatchProgress, connect};
