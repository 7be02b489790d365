//! The side of the command that runs a campaign.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::consumer::AckPolicy;
use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt;
use tokio::io::AsyncReadExt;

use super::client::Client;
use super::follow::Following;
use super::work::Envelope;
use super::{BUCKET_STREAM, JOBS, PROGRESS, archive, label_set};
use crate::job::{CampaignQueue, Job, JobResult, QueueError};

/// Jobs that are published before the server has confirmed the first of them.
const IN_FLIGHT: usize = 256;

/// How long the files of a job may take.
const TRANSFER: Duration = Duration::from_secs(300);

/// One campaign on a server.
pub(super) struct Campaign {
    client: Client,
    id: String,
    root: PathBuf,
    redeliver_after: Duration,
    results: Following,
    progress: Following,
}

impl Campaign {
    pub(super) fn new(client: Client, id: &str, root: &Path, redeliver_after: Duration) -> Self {
        let prefix = format!("$KV.isobath.result.{id}.");
        let results = Following::start(&client, BUCKET_STREAM, &prefix, &format!("{prefix}*"));
        let prefix = format!("isobath.progress.{id}.");
        let progress = Following::start(&client, PROGRESS, &prefix, &format!("{prefix}*"));
        Self {
            client,
            id: id.to_owned(),
            root: root.to_owned(),
            redeliver_after,
            results,
            progress,
        }
    }

    fn object(&self, name: &str) -> String {
        format!("{}/{name}", self.id)
    }

    /// A queue for each set of labels.
    fn create_consumers(&self, jobs: &[Job]) -> Result<(), QueueError> {
        let sets: BTreeSet<String> = jobs.iter().map(|job| label_set(&job.labels)).collect();
        for set in sets {
            let config = pull::Config {
                durable_name: Some(set.clone()),
                ack_policy: AckPolicy::Explicit,
                ack_wait: self.redeliver_after,
                filter_subject: format!("isobath.job.{set}.>"),
                // As many workers as there may be.
                max_ack_pending: -1,
                ..pull::Config::default()
            };
            let context = &self.client.context;
            let made = context.create_consumer_on_stream(config, JOBS);
            self.client.wait("create a queue", made)?;
        }
        Ok(())
    }
}

impl CampaignQueue for Campaign {
    fn submit(&self, jobs: &[Job], inputs: &[PathBuf]) -> Result<(), QueueError> {
        let bytes = archive::pack(&self.root, inputs).map_err(QueueError::file(&self.root))?;
        self.client.upload(&self.object("inputs"), &bytes)?;
        self.create_consumers(jobs)?;
        for some in jobs.chunks(IN_FLIGHT) {
            let mut confirmations = Vec::new();
            for job in some {
                let key = format!("result.{}.{}", self.id, job.name);
                let ended = self
                    .client
                    .wait("read a result", self.client.bucket.get(key))?;
                if ended.is_some() {
                    continue;
                }
                let envelope = Envelope {
                    campaign: self.id.clone(),
                    job: job.clone(),
                };
                let json = serde_json::to_vec(&envelope).expect("a record of texts");
                let set = label_set(&job.labels);
                let subject = format!("isobath.job.{set}.{}.{}", self.id, job.name);
                // A job that waits or runs has a message, and is not added again.
                let message = PublishMessage::build()
                    .payload(json.into())
                    .expected_last_subject_sequence(0);
                let sent = self.client.context.send_publish(subject, message);
                confirmations.push(self.client.wait("send a job", sent)?);
            }
            for confirmation in confirmations {
                let stored = async {
                    match confirmation.await {
                        Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(()),
                        other => other.map(|_| ()),
                    }
                };
                self.client.wait("store a job", stored)?;
            }
        }
        Ok(())
    }

    fn results(&self) -> Result<BTreeMap<String, JobResult>, QueueError> {
        let last = self.results.last();
        let parsed = last.into_iter().filter_map(|(name, text)| {
            let result: JobResult = serde_json::from_str(&text).ok()?;
            Some((name, result))
        });
        Ok(parsed.collect())
    }

    fn progress(&self) -> Result<BTreeMap<String, String>, QueueError> {
        Ok(self.progress.last())
    }

    fn collect(&self, _job: &str, result: &JobResult, folder: &Path) -> Result<(), QueueError> {
        let Some(object) = &result.object else {
            return Ok(());
        };
        let bytes = self.client.download(object)?.unwrap_or_default();
        archive::unpack(&bytes, folder).map_err(QueueError::file(folder))
    }

    fn clear(&self) -> Result<(), QueueError> {
        let client = &self.client;
        let prefix = self.object("");
        let names = async {
            let mut names = Vec::new();
            let mut list = client.objects.list().await.map_err(std::io::Error::other)?;
            while let Some(info) = list.next().await {
                let name = info.map_err(std::io::Error::other)?.name;
                if name.starts_with(&prefix) {
                    names.push(name);
                }
            }
            Ok::<_, std::io::Error>(names)
        };
        for name in client.wait("list the files of the campaign", names)? {
            client.wait("remove a file", client.objects.delete(&name))?;
        }
        for kind in ["result", "delivery", "shared"] {
            let stream = async {
                let stream = client.context.get_stream_no_info(BUCKET_STREAM).await;
                let stream = stream.map_err(std::io::Error::other)?;
                let filter = format!("$KV.isobath.{kind}.{}.>", self.id);
                let purged = stream.purge().filter(filter).await;
                purged.map_err(std::io::Error::other)
            };
            client.wait("remove the results of the campaign", stream)?;
        }
        Ok(())
    }
}

impl Client {
    /// The bytes of an object; nothing when there is none.
    pub(super) fn download(&self, name: &str) -> Result<Option<Vec<u8>>, QueueError> {
        use async_nats::jetstream::object_store::GetErrorKind;
        let read = async {
            let mut object = match self.objects.get(name).await {
                Ok(object) => object,
                Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(std::io::Error::other(error)),
            };
            let mut bytes = Vec::new();
            object.read_to_end(&mut bytes).await?;
            Ok(Some(bytes))
        };
        self.wait_for(&format!("read `{name}`"), TRANSFER, read)
    }

    /// Stores an object.
    pub(super) fn upload(&self, name: &str, bytes: &[u8]) -> Result<(), QueueError> {
        let put = async { self.objects.put(name, &mut &bytes[..]).await };
        let action = format!("store `{name}`");
        self.wait_for(&action, TRANSFER, put).map(|_| ())
    }
}
