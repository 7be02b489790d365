//! Notices that the service died, and brings it back where somebody can.
//!
//! All callers of a run share one keeper: whoever meets the death first brings the service back,
//! the others see that it lives again and go on.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isobath_exec::process::{Output, OutputPosition};

use crate::session::Session;

/// Calls in a row without an answer in time after which we ask whether the service still answers anything.
const MAX_TIMEOUTS: u32 = 10;
/// How often a service is brought back before it is given up.
const MAX_RESTARTS: u64 = 500;

/// Brings a dead service back: ends what is left of it, starts it again, and logs its users in.
///
/// An error says why that is not possible.
pub type Restart = dyn FnMut() -> Result<Restarted, String> + Send;

/// A service that is back.
#[derive(Clone, Debug, Default)]
pub struct Restarted {
    /// Its users, logged in anew.
    pub sessions: Vec<Session>,
    /// How it had ended: the exit code and its last words, as far as known.
    pub exit_reason: String,
}

/// A death of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The operation that was called last before, where one caller alone saw it.
    pub operation: Option<usize>,
    /// How it ended.
    pub exit_reason: String,
    /// Whether the exchanges of a candidate show it.
    pub is_shown: bool,
    /// Whether it is back.
    pub is_restarted: bool,
}

/// Watches over the life of a service.
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

/// What became of a service that was found dead.
pub(crate) enum CrashOutcome {
    /// It is back; this is how it had ended, where it is this caller who met its death.
    Restarted(Option<String>),
    /// It is gone for good, for this reason.
    Lost(String),
}

impl Supervisor {
    /// A keeper of a service that nobody can bring back.
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

    /// The same keeper, who can bring the service back.
    #[must_use]
    pub fn with_restart(self, restart: Box<Restart>) -> Self {
        self.state().restart = Some(restart);
        self
    }

    /// The same keeper, who listens to what the service says.
    #[must_use]
    pub fn with_output(mut self, output: Output) -> Self {
        self.output = Some(output);
        self
    }

    /// The end of what the service said so far, where somebody listens.
    pub(crate) fn mark(&self) -> Option<OutputPosition> {
        self.output.as_ref().map(Output::position)
    }

    /// What the service said since a mark.
    pub(crate) fn output_since(&self, since: Option<OutputPosition>) -> String {
        match (&self.output, since) {
            (Some(output), Some(mark)) => output.since(mark),
            _ => String::new(),
        }
    }

    /// The deaths so far, from number `from` on.
    #[must_use]
    pub fn crashes(&self, from: usize) -> Vec<Crash> {
        self.state()
            .crashes
            .get(from..)
            .unwrap_or_default()
            .to_vec()
    }

    /// Which life of the service this is, from 0.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Acquire)
    }

    /// Which life it is, once nobody is about to bring it back.
    pub(crate) fn settled_restarts(&self) -> u64 {
        let _settled = self.state();
        self.restarts()
    }

    /// Whether it died and nobody can bring it back, and why.
    pub(crate) fn lost_reason(&self) -> Option<String> {
        let is_lost = self.is_lost.load(Ordering::Acquire);
        is_lost.then(|| self.state().lost_reason.clone())
    }

    /// The users of this life.
    pub(crate) fn sessions(&self) -> Arc<[Session]> {
        Arc::clone(&self.state().sessions)
    }

    /// Notes whether a call was answered in time; says whether it is time to ask whether anything is.
    pub(crate) fn record_response(&self, in_time: bool) -> bool {
        if in_time {
            if self.silent.load(Ordering::Relaxed) > 0 {
                self.silent.store(0, Ordering::Relaxed);
            }
            return false;
        }
        self.silent.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_TIMEOUTS
    }

    /// Takes note that the service was found dead in its life number `life`, and brings it back.
    ///
    /// `operation` was called last, and `is_shown` says whether exchanges will show it.
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
                Err(Some(format!("it died {MAX_RESTARTS} times")))
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
                    Some(reason) => format!("{why}; it could not be brought back: {reason}"),
                    None => why.to_owned(),
                };
                state.crashes.push(crash(&why, false));
                state.lost_reason.clone_from(&why);
                self.is_lost.store(true, Ordering::Release);
                CrashOutcome::Lost(why)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, SupervisorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper")
            .field("life", &self.restarts())
            .field("is_gone", &self.is_lost)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_late_finds_it_alive_again() {
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
    fn what_cannot_be_brought_back_stays_gone() {
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
    fn a_failed_return_says_why() {
        let supervisor =
            Supervisor::new(Vec::new()).with_restart(Box::new(|| Err("no disk".into())));
        let CrashOutcome::Lost(why) = supervisor.handle_crash(0, None, false, "refused") else {
            panic!("it cannot be back");
        };
        assert_eq!(why, "refused; it could not be brought back: no disk");
    }

    #[test]
    fn only_silence_in_a_row_is_suspicious() {
        let supervisor = Supervisor::new(Vec::new());
        for _ in 0..MAX_TIMEOUTS - 1 {
            assert!(!supervisor.record_response(false));
        }
        supervisor.record_response(true);
        assert!(!supervisor.record_response(false));
    }
}
