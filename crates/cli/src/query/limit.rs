//! The CPU time that a query may take, and Ctrl-C: the first ends the search and writes what was found.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isobath_exec::cpu;
use isobath_rows::query::stop::StopReason;

use crate::exit::Exit;

/// When the query at hand has to end.
#[derive(Debug)]
pub(crate) struct QueryLimit {
    interrupted: Arc<AtomicBool>,
    per_query: Option<Duration>,
    started: Cell<Duration>,
}

impl QueryLimit {
    /// So many seconds for each query, none for no limit; listens to Ctrl-C from now on.
    pub(crate) fn listen(seconds: f64) -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&interrupted);
        // Where somebody else listens already, that is who ends the program.
        let _ = ctrlc::set_handler(move || {
            if raised.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted.code());
            }
        });
        let per_query = Duration::try_from_secs_f64(seconds).ok();
        Self {
            interrupted,
            per_query: per_query.filter(|limit| !limit.is_zero()),
            started: Cell::new(cpu::spent()),
        }
    }

    /// A query begins.
    pub(crate) fn begin(&self) {
        self.started.set(cpu::spent());
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Why the query at hand has to end, if it has to.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        if self.is_interrupted() {
            return Some(StopReason::Interrupted);
        }
        let spent = cpu::spent().saturating_sub(self.started.get());
        let is_over = self.per_query.is_some_and(|limit| spent >= limit);
        is_over.then_some(StopReason::TimeLimit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_without_cpu_time_left_has_to_end() {
        let limit = QueryLimit::listen(1e-9);
        assert_eq!(limit.reason(), Some(StopReason::TimeLimit));
        assert_eq!(QueryLimit::listen(0.0).reason(), None);
        limit.interrupted.store(true, Ordering::Relaxed);
        assert_eq!(limit.reason(), Some(StopReason::Interrupted));
    }
}
