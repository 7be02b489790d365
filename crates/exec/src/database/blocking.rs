//! Runs asynchronous connections to completion, with timeouts.

use std::time::Duration;

use tokio::runtime::Runtime;

use super::DatabaseError;
use super::error::shorten;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may take over one message; a deadlock or a frozen host takes longer.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs one connection's asynchronous work to its end.
#[derive(Debug)]
pub(super) struct BlockingRuntime {
    runtime: Runtime,
    answer: Duration,
}

impl BlockingRuntime {
    /// A runtime on the calling thread.
    pub(super) fn new() -> Result<Self, DatabaseError> {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map(|runtime| Self {
                runtime,
                answer: RESPONSE_TIMEOUT,
            })
            .map_err(DatabaseError::System)
    }

    /// Waits for a connection.
    pub(super) fn wait_for_connection<T>(
        &self,
        place: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, DatabaseError> {
        self.runtime
            .block_on(async { tokio::time::timeout(CONNECT_TIMEOUT, work).await })
            .map_err(|_| DatabaseError::Unreachable {
                place: place.to_owned(),
                why: format!("no answer within {} s", CONNECT_TIMEOUT.as_secs()),
            })
    }

    /// Waits for the answer to a statement.
    pub(super) fn wait_for_response<T>(
        &self,
        place: &str,
        sql: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, DatabaseError> {
        self.runtime
            .block_on(async { tokio::time::timeout(self.answer, work).await })
            .map_err(|_| DatabaseError::Silent {
                place: place.to_owned(),
                statement: shorten(sql),
                seconds: self.answer.as_secs(),
            })
    }

    /// Lets work continue whenever something is waited for.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_answers_does_not_hold_us_for_ever() {
        let mut blocking = BlockingRuntime::new().unwrap();
        blocking.answer = Duration::from_millis(1);
        let error = blocking
            .wait_for_response("the place", "SELECT  1", std::future::pending::<()>())
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the place did not finish `SELECT 1` within 0 s; check the server for load and locks"
        );
    }
}
