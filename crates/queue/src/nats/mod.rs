//! The queue on NATS JetStream.
//!
//! | What | Where | Kept |
//! |---|---|---|
//! | jobs | stream `ISOBATH_JOBS`, subject `isobath.job.LABELS.CAMPAIGN.JOB`, a durable consumer for each set of labels | until they end |
//! | results, numbers of deliveries | key-value bucket `isobath`, keys `result.CAMPAIGN.JOB` and `delivery.CAMPAIGN.JOB` | until collected |
//! | inputs, checkpoints, outputs | object store `isobath`, objects `CAMPAIGN/…` | until collected |
//! | progress | stream `ISOBATH_PROGRESS`, subject `isobath.progress.CAMPAIGN.JOB`, the last message of each | a day |
//!
//! A job ends exactly once because its result is created, never replaced, and because a message is acknowledged only
//! after that. The server delivers without limit; a worker that receives a job too often ends it, so that such a job
//! has a result too, whether or not the command of its campaign runs at the moment.

mod archive;
mod campaign;
mod client;
mod follow;
mod work;

pub(crate) use client::Client;
pub(crate) use work::NatsTicket;

/// The stream of jobs.
const JOBS: &str = "ISOBATH_JOBS";
/// The stream of progress.
const PROGRESS: &str = "ISOBATH_PROGRESS";
/// The key-value bucket and the object store.
const BUCKET: &str = "isobath";
/// The stream behind the key-value bucket.
const BUCKET_STREAM: &str = "KV_isobath";

/// The name of a set of labels, as a token of a subject and as the name of a consumer.
fn label_set<'l>(labels: impl IntoIterator<Item = &'l String>) -> String {
    let labels: Vec<&str> = labels.into_iter().map(String::as_str).collect();
    if labels.is_empty() {
        return "any".to_owned();
    }
    labels.join("+")
}

/// The labels of a set.
fn labels_of(set: &str) -> impl Iterator<Item = &str> {
    set.split('+').filter(|label| *label != "any")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn label_sets_have_one_name_each() {
        let set = |labels: &[&str]| {
            let labels: BTreeSet<String> = labels.iter().map(|one| (*one).to_owned()).collect();
            label_set(&labels)
        };
        assert_eq!(set(&["postgres", "jvm-17"]), "jvm-17+postgres");
        assert_eq!(set(&[]), "any");
        assert_eq!(labels_of("any").count(), 0);
        assert_eq!(labels_of("a+b").collect::<Vec<_>>(), ["a", "b"]);
    }
}
