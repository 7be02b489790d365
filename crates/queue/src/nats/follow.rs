//! Follows the last message of each subject of a stream.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use futures_util::StreamExt;

use super::client::{Client, chain};

/// How long to wait before a stream that failed is followed again.
const PAUSE: Duration = Duration::from_millis(300);

/// The last messages, kept current beside.
#[derive(Clone)]
pub(super) struct Following {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    last: BTreeMap<String, String>,
    changed: Vec<String>,
    /// Ends the task.
    is_dropped: bool,
}

impl Following {
    /// Begins to follow; names of subjects are given without `prefix`.
    pub(super) fn start(client: &Client, stream: &str, prefix: &str, filter: &str) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let task = Follower {
            context: client.context.clone(),
            stream: stream.to_owned(),
            prefix: prefix.to_owned(),
            filter: filter.to_owned(),
            state: Arc::clone(&state),
        };
        client.spawn(task.run());
        Self { state }
    }

    /// The last message of each subject.
    pub(super) fn last(&self) -> BTreeMap<String, String> {
        lock(&self.state).last.clone()
    }

    /// What came since this was asked the last time.
    pub(super) fn changes(&self) -> Vec<(String, String)> {
        let mut state = lock(&self.state);
        let changed = std::mem::take(&mut state.changed);
        let with_text = |name: String| state.last.get(&name).cloned().map(|text| (name, text));
        changed.into_iter().filter_map(with_text).collect()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        lock(&self.state).is_dropped = true;
    }
}

struct Follower {
    context: Context,
    stream: String,
    prefix: String,
    filter: String,
    state: Arc<Mutex<State>>,
}

impl Follower {
    /// Follows until nobody is interested; a server that goes away is waited for.
    async fn run(self) {
        while !lock(&self.state).is_dropped {
            let _ = self.follow().await;
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn follow(&self) -> Result<(), String> {
        let stream = self.context.get_stream_no_info(&self.stream).await;
        let stream = stream.map_err(|error| chain(&error))?;
        let config = OrderedConfig {
            filter_subject: self.filter.clone(),
            deliver_policy: DeliverPolicy::LastPerSubject,
            ..OrderedConfig::default()
        };
        let consumer = stream.create_consumer(config).await;
        let consumer = consumer.map_err(|error| chain(&error))?;
        let messages = consumer.messages().await;
        let mut messages = messages.map_err(|error| chain(&error))?;
        while let Some(message) = messages.next().await {
            let message = message.map_err(|error| chain(&error))?;
            let mut state = lock(&self.state);
            if state.is_dropped {
                break;
            }
            let subject = message.subject.as_str();
            let name = subject.strip_prefix(&self.prefix).unwrap_or(subject);
            let text = String::from_utf8_lossy(&message.payload).into_owned();
            // A deleted key is an empty message.
            if text.is_empty() {
                state.last.remove(name);
                continue;
            }
            if state.last.insert(name.to_owned(), text.clone()) != Some(text) {
                state.changed.push(name.to_owned());
            }
        }
        Ok(())
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
