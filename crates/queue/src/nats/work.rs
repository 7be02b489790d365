//! The side of a worker.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::kv::CreateErrorKind;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::{JOBS, archive, labels_of};
use crate::job::{Delivery, Job, JobFolders, JobResult, QueueError, WorkQueue};

/// How long the list of queues is used before it is asked for again.
const QUEUES_AGE: Duration = Duration::from_secs(2);
/// How long one queue is waited for when all are empty.
const MAX_WAIT: Duration = Duration::from_millis(500);
/// How long a job that failed rests before it is delivered again.
const PAUSE: Duration = Duration::from_millis(200);

/// What a message holds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Envelope {
    pub(super) campaign: String,
    pub(super) job: Job,
}

/// A message that must be acknowledged.
pub(crate) struct NatsTicket {
    acker: Acker,
}

impl std::fmt::Debug for NatsTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NatsTicket")
    }
}

/// The queues that a worker serves.
pub(super) struct Work {
    client: Client,
    labels: BTreeSet<String>,
    scratch: PathBuf,
    queues: Mutex<Queues>,
    next: AtomicUsize,
    saved: AtomicU64,
}

#[derive(Default)]
struct Queues {
    consumers: Vec<PullConsumer>,
    asked: Option<Instant>,
}

impl Work {
    pub(super) fn new(client: Client, labels: BTreeSet<String>, scratch: &Path) -> Self {
        Self {
            client,
            labels,
            scratch: scratch.to_owned(),
            queues: Mutex::default(),
            next: AtomicUsize::new(0),
            saved: AtomicU64::new(0),
        }
    }

    /// The queues whose labels we all have.
    fn consumers(&self) -> Result<Vec<PullConsumer>, QueueError> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = queues
            .asked
            .is_some_and(|asked| asked.elapsed() < QUEUES_AGE);
        if !is_current {
            let found = async {
                let stream = self.client.context.get_stream_no_info(JOBS).await;
                let stream = stream.map_err(std::io::Error::other)?;
                let mut names = stream.consumer_names();
                let mut found = Vec::new();
                while let Some(name) = names.next().await {
                    let name = name.map_err(std::io::Error::other)?;
                    if labels_of(&name).all(|label| self.labels.contains(label)) {
                        let consumer = stream.get_consumer(&name).await;
                        found.push(consumer.map_err(std::io::Error::other)?);
                    }
                }
                Ok::<_, std::io::Error>(found)
            };
            queues.consumers = self.client.wait("list the queues", found)?;
            queues.asked = Some(Instant::now());
        }
        Ok(queues.consumers.clone())
    }

    /// The next message of any queue.
    fn message(&self, wait: Duration) -> Result<Option<(Message, Duration)>, QueueError> {
        let mut consumers = self.consumers()?;
        if consumers.is_empty() {
            std::thread::sleep(wait.min(MAX_WAIT));
            return Ok(None);
        }
        // Each time another queue is the first.
        let first = self.next.fetch_add(1, Ordering::Relaxed) % consumers.len();
        consumers.rotate_left(first);
        for (index, consumer) in consumers.iter().enumerate() {
            let is_last = index + 1 == consumers.len();
            let taken = async {
                let builder = consumer.batch().max_messages(1);
                let mut batch = if is_last && !wait.is_zero() {
                    builder.expires(wait.min(MAX_WAIT)).messages().await
                } else {
                    consumer.fetch().max_messages(1).messages().await
                }
                .map_err(std::io::Error::other)?;
                batch
                    .next()
                    .await
                    .transpose()
                    .map_err(std::io::Error::other)
            };
            if let Some(message) = self.client.wait("take a job", taken)? {
                return Ok(Some((message, consumer.cached_info().config.ack_wait)));
            }
        }
        Ok(None)
    }

    fn key(kind: &str, campaign: &str, job: &str) -> String {
        format!("{kind}.{campaign}.{job}")
    }

    fn deliveries(&self, campaign: &str, job: &str) -> Result<u32, QueueError> {
        let key = Self::key("delivery", campaign, job);
        let count = self
            .client
            .wait("count deliveries", self.client.bucket.get(key))?;
        let count = count.and_then(|bytes| std::str::from_utf8(&bytes).ok()?.parse().ok());
        Ok(count.unwrap_or(0))
    }

    fn set_deliveries(&self, campaign: &str, job: &str, count: u32) -> Result<(), QueueError> {
        let key = Self::key("delivery", campaign, job);
        let put = self.client.bucket.put(key, count.to_string().into());
        self.client.wait("count deliveries", put).map(|_| ())
    }

    fn checkpoint(delivery: &Delivery) -> String {
        format!("{}/{}/checkpoint", delivery.campaign, delivery.job.name)
    }

    /// A name that no other result has.
    fn object(&self, delivery: &Delivery) -> String {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos());
        let number = self.saved.fetch_add(1, Ordering::Relaxed);
        let (campaign, job) = (&delivery.campaign, &delivery.job.name);
        let process = std::process::id();
        format!("{campaign}/{job}/{time}-{process}-{number}")
    }

    fn acknowledge(&self, acker: &Acker) {
        // When this fails the job is delivered again, and found to have ended.
        let acked = async { acker.double_ack().await.map_err(std::io::Error::other) };
        let _ = self.client.wait("acknowledge a job", acked);
    }
}

fn acker(delivery: &Delivery) -> Option<&Acker> {
    delivery.ticket.as_ref().map(|ticket| &ticket.acker)
}

impl WorkQueue for Work {
    fn take(&self, wait: Duration) -> Result<Option<Delivery>, QueueError> {
        let Some((message, redeliver_after)) = self.message(wait)? else {
            return Ok(None);
        };
        let (message, acker) = message.split();
        let Ok(Envelope { campaign, job }) = serde_json::from_slice(&message.payload) else {
            // Not ours; nobody could run it.
            let ended = async {
                acker
                    .ack_with(AckKind::Term)
                    .await
                    .map_err(std::io::Error::other)
            };
            self.client.wait("refuse a message that is no job", ended)?;
            return Ok(None);
        };
        let key = Self::key("result", &campaign, &job.name);
        if self
            .client
            .wait("read a result", self.client.bucket.get(key))?
            .is_some()
        {
            self.acknowledge(&acker);
            return Ok(None);
        }
        let attempt = self.deliveries(&campaign, &job.name)? + 1;
        self.set_deliveries(&campaign, &job.name, attempt)?;
        Ok(Some(Delivery {
            campaign,
            job,
            attempt,
            keep_every: redeliver_after / 3,
            ticket: Some(Box::new(NatsTicket { acker })),
        }))
    }

    fn restore(&self, delivery: &Delivery) -> Result<JobFolders, QueueError> {
        let folder = self
            .scratch
            .join(&delivery.campaign)
            .join(&delivery.job.name);
        let folders = JobFolders {
            root: folder.join("root"),
            out: folder.join("out"),
        };
        // What an earlier delivery left here is not newer than its checkpoint.
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(QueueError::file(&folder)(error));
            }
            _ => {}
        }
        let parts = [
            (format!("{}/inputs", delivery.campaign), &folders.root),
            (Self::checkpoint(delivery), &folders.out),
        ];
        for (object, folder) in parts {
            std::fs::create_dir_all(folder).map_err(QueueError::file(folder))?;
            if let Some(bytes) = self.client.download(&object)? {
                archive::unpack(&bytes, folder).map_err(QueueError::file(folder))?;
            }
        }
        Ok(folders)
    }

    fn keep(
        &self,
        delivery: &Delivery,
        progress: &str,
        folder: Option<&Path>,
    ) -> Result<(), QueueError> {
        if let Some(acker) = acker(delivery) {
            let told = async {
                acker
                    .ack_with(AckKind::Progress)
                    .await
                    .map_err(std::io::Error::other)
            };
            self.client.wait("say that a job runs", told)?;
        }
        let subject = format!(
            "isobath.progress.{}.{}",
            delivery.campaign, delivery.job.name
        );
        let sent = self
            .client
            .context
            .publish(subject, progress.to_owned().into());
        self.client.wait("publish progress", sent)?;
        if let Some(folder) = folder {
            let bytes = archive::pack_all(folder).map_err(QueueError::file(folder))?;
            self.client.upload(&Self::checkpoint(delivery), &bytes)?;
        }
        Ok(())
    }

    fn share(&self, delivery: &Delivery, number: usize, text: &str) -> Result<(), QueueError> {
        let key = Self::key("shared", &delivery.campaign, &delivery.job.name);
        let put = self
            .client
            .bucket
            .put(format!("{key}.{number}"), text.to_owned().into());
        self.client.wait("share candidates", put).map(|_| ())
    }

    fn shared(
        &self,
        delivery: &Delivery,
        job: &str,
        number: usize,
    ) -> Result<Option<String>, QueueError> {
        let key = Self::key("shared", &delivery.campaign, job);
        let get = self.client.bucket.get(format!("{key}.{number}"));
        let bytes = self.client.wait("read shared candidates", get)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn give_back(&self, delivery: &Delivery, counts: bool) -> Result<(), QueueError> {
        if !counts {
            let before = delivery.attempt.saturating_sub(1);
            self.set_deliveries(&delivery.campaign, &delivery.job.name, before)?;
        }
        if let Some(acker) = acker(delivery) {
            let pause = counts.then_some(PAUSE);
            let given = async {
                let kind = AckKind::Nak(pause);
                acker
                    .double_ack_with(kind)
                    .await
                    .map_err(std::io::Error::other)
            };
            self.client.wait("give a job back", given)?;
        }
        Ok(())
    }

    fn finish(
        &self,
        delivery: &Delivery,
        text: &str,
        folders: &JobFolders,
    ) -> Result<bool, QueueError> {
        let object = self.object(delivery);
        let bytes = archive::pack_all(&folders.out).map_err(QueueError::file(&folders.out))?;
        self.client.upload(&object, &bytes)?;
        let result = JobResult {
            attempt: delivery.attempt,
            text: text.to_owned(),
            object: Some(object.clone()),
        };
        let json = serde_json::to_vec(&result).expect("a record of texts and numbers");
        let key = Self::key("result", &delivery.campaign, &delivery.job.name);
        let created = async {
            match self.client.bucket.create(&key, json.into()).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(error),
            }
        };
        let is_ours = self.client.wait("store a result", created)?;
        if !is_ours {
            let _ = self
                .client
                .wait("remove a file", self.client.objects.delete(&object));
        }
        if let Some(acker) = acker(delivery) {
            self.acknowledge(acker);
        }
        if let Some(folder) = folders.out.parent() {
            let _ = std::fs::remove_dir_all(folder);
        }
        Ok(is_ours)
    }
}
