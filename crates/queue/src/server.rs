//! A NATS server as the user names it, and what there is on it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::job::{CampaignQueue, QueueError, WorkQueue};

/// A NATS server, and how to sign in to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NatsServer {
    /// Its URL, such as `nats://localhost:4222` or `tls://nats.example.org`; several are separated by commas.
    pub url: String,
    /// A credentials file (JWT and seed) of the account.
    pub creds: Option<PathBuf>,
    /// Certificates of authorities to trust besides those of the system.
    pub ca: Option<PathBuf>,
    /// A client certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// A server that we are connected to.
pub trait Server: Send + Sync {
    /// The queue of a campaign whose inputs are below `root`. A job that no worker spoke of for `redeliver_after` is
    /// delivered again.
    fn campaign(&self, id: &str, root: &Path, redeliver_after: Duration) -> Box<dyn CampaignQueue>;

    /// The jobs of all campaigns that a worker with these labels can take; it works below `scratch`.
    fn work(&self, labels: BTreeSet<String>, scratch: &Path) -> Box<dyn WorkQueue>;

    /// Follows the progress of all campaigns, each time with the campaign, the job and what its worker said, until
    /// `on` returns false; `on` is also called without progress several times a second.
    ///
    /// # Errors
    ///
    /// When the server has no progress to follow.
    fn watch(&self, on: &mut WatchProgress<'_>) -> Result<(), QueueError>;
}

/// Is told a campaign, a job and its progress; says whether to continue.
pub type WatchProgress<'a> = dyn FnMut(Option<(&str, &str, &str)>) -> bool + 'a;

/// Connects to a server.
///
/// # Errors
///
/// When it cannot be reached, refuses us, or has no JetStream; or when the program was built without NATS.
pub fn connect(server: &NatsServer) -> Result<Box<dyn Server>, QueueError> {
    #[cfg(feature = "nats")]
    return Ok(Box::new(crate::nats::Client::connect(server)?));
    #[cfg(not(feature = "nats"))]
    {
        let _ = server;
        Err(QueueError::NotBuiltIn)
    }
}

#[cfg(all(test, not(feature = "nats")))]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_nats_says_how_to_get_one() {
        let error = connect(&NatsServer::default()).err().expect("a refusal");
        assert!(error.to_string().contains("--features nats"), "{error}");
    }
}
