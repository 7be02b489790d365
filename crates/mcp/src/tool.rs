//! Tools that a client can call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value as Json;

/// Arguments of a call, by name.
pub type Arguments = serde_json::Map<String, Json>;

/// A tool, as clients see it.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub arguments: Json,
    /// Whether it changes nothing but its own scratch files.
    pub is_read_only: bool,
}

/// What a server offers.
pub trait Tools: Send + Sync + 'static {
    /// All tools.
    fn list(&self) -> Vec<Tool>;

    /// Calls a tool and waits for its answer.
    ///
    /// # Errors
    ///
    /// What the client should be told when there is no such tool, its arguments are wrong, or it fails.
    fn call(
        &self,
        name: &str,
        arguments: Arguments,
        cancellation: &Cancellation,
    ) -> Result<String, String>;
}

/// Whether the client still wants the answer of a call.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Tells the call to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// A flag that is raised when the call should end.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
