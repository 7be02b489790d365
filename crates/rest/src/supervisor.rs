//! Detects that the service crashed, and restarts it.
//!
//! All callers of a run share one supervisor: the first to notice a crash restarts the service, the
//! others continue.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isobath_exec::process::{Output, OutputPosition};

use crate::session::Session;

/// Calls in a row without a response in time after which we ask whether the service still answers anything.
const MAX_TIMEOUTS: u32 = 10;
/// Maximum number of restarts.
const MAX_RESTARTS: u64 = 500;

/// Restarts a crashed service: stops what is left of it, starts it, and logs its users in.
///
/// An error says why that is not possible.
pub type Restart = dyn FnMut() -> Result<Restarted, String> + Send;

/// A restarted service.
#[derive(Clone, Debug, Default)]
pub struct Restarted {
    /// Its users, logged in again.
    pub sessions: Vec<Session>,
    /// Exit code and last output, as far as known.
    pub exit_reason: String,
}

/// A crash of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The last operation called before, if only one caller was active.
    pub operation: Option<usize>,
    /// Exit reason.
    pub exit_reason: String,
    /// Whether the exchanges of a candidate show it.
    pub is_shown: bool,
    /// Whether it was restarted.
    pub is_restarted: bool,
}

/// Watches a service and restarts it after a crash.
#[derive(Default)]
pub struct Supervisor {
    state: Mutex<SupervisorState>,
    restarts: AtomicU64,
    silent: AtomicU32,
    is_lost: AtomicBool,
    output: Option<Output>,
}

#[derive(Default)]
struct SupervisorState {
    restart: Option<Box<Restart>>,
    sessions: Arc<[Session]>,
    crashes: Vec<Crash>,
    lost_reason: String,
}

/// Outcome of handling a crash.
pub(crate) enum CrashOutcome {
    /// Restarted; with the exit reason if this caller noticed the crash first.
    Restarted(Option<String>),
    /// Not restarted, for this reason.
    Lost(String),
}

impl Supervisor {
    /// A supervisor that cannot restart the service.
    #[must_use]
    pub fn new(sessions: Vec<Session>) -> Self {
        let state = SupervisorState {
            sessions: sessions.into(),
            ..SupervisorState::default()
        };
        Self {
            state: Mutex::new(state),
            ..Self::default()
        }
    }

    /// Adds a way to restart the service.
    #[must_use]
    pub fn with_restart(self, restart: Box<Restart>) -> Self {
        self.state().restart = Some(restart);
        self
    }

    /// Adds the output of the service.
    #[must_use]
    pub fn with_output(mut self, output: Output) -> Self {
        self.output = Some(output);
        self
    }

    /// The end of the output so far, if it is captured.
    pub(crate) fn mark(&self) -> Option<OutputPosition> {
        self.output.as_ref().map(Output::position)
    }

    /// The output since a mark.
    pub(crate) fn output_since(&self, since: Option<OutputPosition>) -> String {
        match (&self.output, since) {
            (Some(output), Some(mark)) => output.since(mark),
            _ => String::new(),
        }
    }

    /// The crashes so far, starting with number `from`.
    #[must_use]
    pub fn crashes(&self, from: usize) -> Vec<Crash> {
        self.state()
            .crashes
            .get(from..)
            .unwrap_or_default()
            .to_vec()
    }

    /// Number of restarts so far.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Acquire)
    }

    /// Number of restarts, after a restart in progress has finished.
    pub(crate) fn settled_restarts(&self) -> u64 {
        let _settled = self.state();
        self.restarts()
    }

    /// Why the service is lost, if it is.
    pub(crate) fn lost_reason(&self) -> Option<String> {
        let is_lost = self.is_lost.load(Ordering::Acquire);
        is_lost.then(|| self.state().lost_reason.clone())
    }

    /// The users, logged in after the last restart.
    pub(crate) fn sessions(&self) -> Arc<[Session]> {
        Arc::clone(&self.state().sessions)
    }

    /// Records whether a call was answered in time; returns whether to check that the service still responds.
    pub(crate) fn record_response(&self, in_time: bool) -> bool {
        if in_time {
            if self.silent.load(Ordering::Relaxed) > 0 {
                self.silent.store(0, Ordering::Relaxed);
            }
            return false;
        }
        self.silent.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_TIMEOUTS
    }

    /// Records a crash after the given number of restarts, and restarts the service.
    ///
    /// `operation` was called last; `is_shown` tells whether exchanges show the crash.
    pub(crate) fn handle_crash(
        &self,
        restarts: u64,
        operation: Option<usize>,
        is_shown: bool,
        why: &str,
    ) -> CrashOutcome {
        let mut state = self.state();
        if self.restarts() > restarts {
            // Somebody else met the death and brought it back meanwhile.
            return CrashOutcome::Restarted(None);
        }
        if self.is_lost.load(Ordering::Acquire) {
            return CrashOutcome::Lost(state.lost_reason.clone());
        }
        let restarted = match &mut state.restart {
            None => Err(None),
            Some(_) if restarts >= MAX_RESTARTS => {
                Err(Some(format!("it crashed {MAX_RESTARTS} times")))
            }
            Some(restart) => restart().map_err(Some),
        };
        self.silent.store(0, Ordering::Relaxed);
        let crash = |exit_reason: &str, is_restarted| Crash {
            operation,
            exit_reason: exit_reason.to_owned(),
            is_shown,
            is_restarted,
        };
        match restarted {
            Ok(Restarted {
                sessions,
                exit_reason,
            }) => {
                state.crashes.push(crash(&exit_reason, true));
                state.sessions = sessions.into();
                self.restarts.fetch_add(1, Ordering::Release);
                CrashOutcome::Restarted(Some(exit_reason))
            }
            Err(reason) => {
                let why = match reason {
                    Some(reason) => format!("{why}; restart failed: {reason}"),
                    None => why.to_owned(),
                };
                state.crashes.push(crash(&why, false));
                state.lost_reason.clone_from(&why);
                self.is_lost.store(true, Ordering::Release);
                CrashOutcome::Lost(why)
            }
        }
    }

    /// Restarts a service that is up, so that what follows meets a fresh one; does nothing where it was not started here.
    ///
    /// # Errors
    ///
    /// When it does not come up again.
    pub fn restart_fresh(&self) -> Result<(), String> {
        let mut state = self.state();
        let Some(restart) = &mut state.restart else {
            return Ok(());
        };
        let restarted = restart()?;
        state.sessions = restarted.sessions.into();
        self.restarts.fetch_add(1, Ordering::Release);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, SupervisorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("restarts", &self.restarts())
            .field("is_lost", &self.is_lost)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_caller_finds_it_restarted() {
        let supervisor =
            Supervisor::new(Vec::new()).with_restart(Box::new(|| Ok(Restarted::default())));
        assert!(matches!(
            supervisor.handle_crash(0, Some(3), true, "refused"),
            CrashOutcome::Restarted(Some(_))
        ));
        assert!(matches!(
            supervisor.handle_crash(0, Some(4), true, "refused"),
            CrashOutcome::Restarted(None)
        ));
        assert_eq!((supervisor.restarts(), supervisor.crashes(0).len()), (1, 1));
    }

    #[test]
    fn what_cannot_be_restarted_stays_lost() {
        let supervisor = Supervisor::new(Vec::new());
        for _ in 0..2 {
            assert!(matches!(
                supervisor.handle_crash(0, None, false, "refused"),
                CrashOutcome::Lost(why) if why == "refused"
            ));
        }
        assert_eq!(supervisor.lost_reason().as_deref(), Some("refused"));
        assert_eq!(supervisor.crashes(0).len(), 1);
    }

    #[test]
    fn a_failed_restart_says_why() {
        let supervisor =
            Supervisor::new(Vec::new()).with_restart(Box::new(|| Err("no disk".into())));
        let CrashOutcome::Lost(why) = supervisor.handle_crash(0, None, false, "refused") else {
            panic!("it cannot be back");
        };
        assert_eq!(why, "refused; restart failed: no disk");
    }

    #[test]
    fn only_timeouts_in_a_row_are_suspicious() {
        let supervisor = Supervisor::new(Vec::new());
        for _ in 0..MAX_TIMEOUTS - 1 {
            assert!(!supervisor.record_response(false));
        }
        supervisor.record_response(true);
        assert!(!supervisor.record_response(false));
    }
}
