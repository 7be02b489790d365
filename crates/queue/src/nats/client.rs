//! The connection, and what must be on the server.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::stream::RetentionPolicy;
use async_nats::jetstream::{self, Context, kv, object_store, stream};
use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use super::campaign::Campaign;
use super::follow::Following;
use super::work::Work;
use super::{BUCKET, JOBS, PROGRESS};
use crate::job::{CampaignQueue, QueueError, WorkQueue};
use crate::server::{NatsServer, Server, WatchProgress};

/// The oldest version of a server that does.
const OLDEST: (u32, u32) = (2, 10);
/// How long to wait for a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request may take; a server that was restarted needs a moment.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the server keeps what nobody collected.
const MAX_AGE: Duration = Duration::from_secs(14 * 24 * 3600);
/// How long it keeps the last progress of a job.
const PROGRESS_AGE: Duration = Duration::from_secs(24 * 3600);
/// How often a watcher looks up.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A connection; clones are the same one.
#[derive(Clone)]
pub(crate) struct Client {
    pub(super) context: Context,
    pub(super) bucket: kv::Store,
    pub(super) objects: object_store::ObjectStore,
    runtime: Arc<Runtime>,
}

/// A thread that drives the connection until the last client is dropped.
struct Runtime {
    handle: Handle,
    /// Dropped with the runtime, which ends the thread.
    _end: oneshot::Sender<()>,
}

impl Runtime {
    fn start() -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        std::thread::Builder::new()
            .name("nats".to_owned())
            .spawn(move || {
                let _ = runtime.block_on(ended);
            })?;
        Ok(Self { handle, _end: end })
    }
}

impl Client {
    /// Connects, and creates what is not there yet.
    pub(crate) fn connect(server: &NatsServer) -> Result<Self, QueueError> {
        let failed = |cause: String| QueueError::Connect {
            url: without_secrets(&server.url),
            cause,
        };
        let runtime = Runtime::start().map_err(|error| failed(error.to_string()))?;
        let handle = runtime.handle.clone();
        let (context, bucket, objects) = handle.block_on(async {
            let (options, addresses) = options(server).await.map_err(failed)?;
            let client = options.connect(addresses).await;
            let client = client.map_err(|error| failed(chain(&error)))?;
            check_version(&client.server_info().version).map_err(failed)?;
            let mut context = jetstream::new(client);
            context.set_timeout(REQUEST_TIMEOUT);
            prepare(context).await.map_err(failed)
        })?;
        Ok(Self {
            context,
            bucket,
            objects,
            runtime: Arc::new(runtime),
        })
    }

    /// Waits for what the server says.
    pub(super) fn wait<T, E: std::error::Error>(
        &self,
        action: &str,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, QueueError> {
        // Not every request has a limit of its own.
        self.wait_for(action, 2 * REQUEST_TIMEOUT, future)
    }

    /// Waits so long for what the server says.
    pub(super) fn wait_for<T, E: std::error::Error>(
        &self,
        action: &str,
        limit: Duration,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, QueueError> {
        let limited = async { tokio::time::timeout(limit, future).await };
        let done = self.runtime.handle.block_on(limited);
        let failed = |cause: String| QueueError::Server {
            action: action.to_owned(),
            cause,
        };
        match done {
            Ok(result) => result.map_err(|error| failed(chain(&error))),
            Err(_) => Err(failed("the server did not answer".to_owned())),
        }
    }

    /// Runs something beside.
    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.runtime.handle.spawn(future);
    }
}

impl Server for Client {
    fn campaign(&self, id: &str, root: &Path, redeliver_after: Duration) -> Box<dyn CampaignQueue> {
        Box::new(Campaign::new(self.clone(), id, root, redeliver_after))
    }

    fn work(&self, labels: BTreeSet<String>, scratch: &Path) -> Box<dyn WorkQueue> {
        Box::new(Work::new(self.clone(), labels, scratch))
    }

    fn watch(&self, on: &mut WatchProgress<'_>) -> Result<(), QueueError> {
        let following = Following::start(self, PROGRESS, "isobath.progress.", "isobath.progress.>");
        loop {
            for (subject, text) in following.changes() {
                let (campaign, job) = subject.split_once('.').unwrap_or((&subject, ""));
                if !on(Some((campaign, job, &text))) {
                    return Ok(());
                }
            }
            if !on(None) {
                return Ok(());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

async fn options(server: &NatsServer) -> Result<(ConnectOptions, Vec<ServerAddr>), String> {
    let mut options = ConnectOptions::new()
        .name("isobath")
        .connection_timeout(CONNECT_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(Duration::from_secs(10))
        .reconnect_delay_callback(|attempts| Duration::from_millis(100 * attempts.min(20) as u64));
    let mut addresses = Vec::new();
    for url in server.url.split(',') {
        let address: ServerAddr = url.trim().parse().map_err(|error| format!("{error}"))?;
        // The client leaves the user of a URL to us: a name and a password, or a token alone.
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        match (address.username(), address.password()) {
            (Some(user), Some(password)) => {
                options = options.user_and_password(decoded(user), decoded(password));
            }
            (Some(token), None) => options = options.token(decoded(token)),
            _ => {}
        }
        addresses.push(address);
    }
    if let Some(creds) = &server.creds {
        let failed = |error| format!("cannot use {}: {error}", creds.display());
        options = options.credentials_file(creds).await.map_err(failed)?;
    }
    if let Some(ca) = &server.ca {
        options = options.add_root_certificates(ca.clone()).require_tls(true);
    }
    if let Some((certificate, key)) = &server.certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    Ok((options, addresses))
}

/// Older servers describe their streams in ways that the client does not read.
fn check_version(version: &str) -> Result<(), String> {
    let mut numbers = version
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if (major, minor) >= OLDEST {
        return Ok(());
    }
    let (major, minor) = OLDEST;
    Err(format!(
        "nats-server {version} is too old; use {major}.{minor} or later"
    ))
}

/// Creates the streams and buckets that are not there yet. Whoever comes second finds them.
async fn prepare(
    context: Context,
) -> Result<(Context, kv::Store, object_store::ObjectStore), String> {
    let jobs = stream::Config {
        name: JOBS.to_owned(),
        subjects: vec!["isobath.job.>".to_owned()],
        retention: RetentionPolicy::WorkQueue,
        max_age: MAX_AGE,
        ..stream::Config::default()
    };
    let progress = stream::Config {
        name: PROGRESS.to_owned(),
        subjects: vec!["isobath.progress.>".to_owned()],
        max_messages_per_subject: 1,
        max_age: PROGRESS_AGE,
        ..stream::Config::default()
    };
    for config in [jobs, progress] {
        let made = context.get_or_create_stream(config).await;
        made.map_err(|error| chain(&error))?;
    }
    let bucket = match context.get_key_value(BUCKET).await {
        Ok(bucket) => bucket,
        Err(_) => {
            let config = kv::Config {
                bucket: BUCKET.to_owned(),
                history: 1,
                max_age: MAX_AGE,
                ..kv::Config::default()
            };
            let made = context.create_key_value(config).await;
            made.map_err(|error| chain(&error))?
        }
    };
    let objects = match context.get_object_store(BUCKET).await {
        Ok(objects) => objects,
        Err(_) => {
            let config = object_store::Config {
                bucket: BUCKET.to_owned(),
                max_age: MAX_AGE,
                ..object_store::Config::default()
            };
            let made = context.create_object_store(config).await;
            made.map_err(|error| chain(&error))?
        }
    };
    Ok((context, bucket, objects))
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let more = source.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = source.source();
    }
    text
}

/// URLs without users and passwords.
fn without_secrets(urls: &str) -> String {
    let shown = urls
        .split(',')
        .map(|url| match url::Url::parse(url.trim()) {
            Ok(mut url) => {
                let _ = url.set_password(None);
                let _ = url.set_username("");
                url.to_string()
            }
            Err(_) => url.rsplit('@').next().unwrap_or_default().to_owned(),
        });
    shown.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused_with_what_to_do() {
        assert_eq!(check_version("2.10.29"), Ok(()));
        assert_eq!(check_version("3.0.0-beta.1"), Ok(()));
        let old = check_version("2.9.10").unwrap_err();
        assert_eq!(old, "nats-server 2.9.10 is too old; use 2.10 or later");
    }

    #[test]
    fn messages_hold_no_secrets_of_urls() {
        let shown = without_secrets("nats://me:planted@one:4222, planted@two");
        assert_eq!(shown, "nats://one:4222,two");
    }
}
