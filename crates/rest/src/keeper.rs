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
const SILENCE: u32 = 10;
/// How often a service is brought back before it is given up.
const LIVES: u64 = 500;

/// Brings a dead service back: ends what is left of it, starts it again, and logs its users in.
///
/// An error says why that is not possible.
pub type Revive = dyn FnMut() -> Result<Revived, String> + Send;

/// A service that is back.
#[derive(Clone, Debug, Default)]
pub struct Revived {
    /// Its users, logged in anew.
    pub sessions: Vec<Session>,
    /// How it had ended: the exit code and its last words, as far as known.
    pub obituary: String,
}

/// A death of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// The operation that was called last before, where one caller alone saw it.
    pub operation: Option<usize>,
    /// How it ended.
    pub obituary: String,
    /// Whether the exchanges of a candidate show it.
    pub is_shown: bool,
    /// Whether it is back.
    pub is_back: bool,
}

/// Watches over the life of a service.
#[derive(Default)]
pub struct Keeper {
    state: Mutex<State>,
    lives: AtomicU64,
    silent: AtomicU32,
    is_gone: AtomicBool,
    output: Option<Output>,
}

#[derive(Default)]
struct State {
    revive: Option<Box<Revive>>,
    sessions: Arc<[Session]>,
    deaths: Vec<Death>,
    why_gone: String,
}

/// What became of a service that was found dead.
pub(crate) enum Fate {
    /// It is back; this is how it had ended, where it is this caller who met its death.
    Back(Option<String>),
    /// It is gone for good, for this reason.
    Gone(String),
}

impl Keeper {
    /// A keeper of a service that nobody can bring back.
    #[must_use]
    pub fn new(sessions: Vec<Session>) -> Self {
        let state = State {
            sessions: sessions.into(),
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            ..Self::default()
        }
    }

    /// The same keeper, who can bring the service back.
    #[must_use]
    pub fn reviving(self, revive: Box<Revive>) -> Self {
        self.state().revive = Some(revive);
        self
    }

    /// The same keeper, who listens to what the service says.
    #[must_use]
    pub fn hearing(mut self, output: Output) -> Self {
        self.output = Some(output);
        self
    }

    /// The end of what the service said so far, where somebody listens.
    pub(crate) fn mark(&self) -> Option<OutputPosition> {
        self.output.as_ref().map(Output::position)
    }

    /// What the service said since a mark.
    pub(crate) fn said(&self, since: Option<OutputPosition>) -> String {
        match (&self.output, since) {
            (Some(output), Some(mark)) => output.since(mark),
            _ => String::new(),
        }
    }

    /// The deaths so far, from number `from` on.
    #[must_use]
    pub fn deaths(&self, from: usize) -> Vec<Death> {
        self.state().deaths.get(from..).unwrap_or_default().to_vec()
    }

    /// Which life of the service this is, from 0.
    #[must_use]
    pub fn life(&self) -> u64 {
        self.lives.load(Ordering::Acquire)
    }

    /// Which life it is, once nobody is about to bring it back.
    pub(crate) fn settled_life(&self) -> u64 {
        let _settled = self.state();
        self.life()
    }

    /// Whether it died and nobody can bring it back, and why.
    pub(crate) fn gone(&self) -> Option<String> {
        let is_gone = self.is_gone.load(Ordering::Acquire);
        is_gone.then(|| self.state().why_gone.clone())
    }

    /// The users of this life.
    pub(crate) fn sessions(&self) -> Arc<[Session]> {
        Arc::clone(&self.state().sessions)
    }

    /// Notes whether a call was answered in time; says whether it is time to ask whether anything is.
    pub(crate) fn heard(&self, in_time: bool) -> bool {
        if in_time {
            if self.silent.load(Ordering::Relaxed) > 0 {
                self.silent.store(0, Ordering::Relaxed);
            }
            return false;
        }
        self.silent.fetch_add(1, Ordering::Relaxed) + 1 >= SILENCE
    }

    /// Takes note that the service was found dead in its life number `life`, and brings it back.
    ///
    /// `operation` was called last, and `is_shown` says whether exchanges will show it.
    pub(crate) fn found_dead(
        &self,
        life: u64,
        operation: Option<usize>,
        is_shown: bool,
        why: &str,
    ) -> Fate {
        let mut state = self.state();
        if self.life() > life {
            // Somebody else met the death and brought it back meanwhile.
            return Fate::Back(None);
        }
        if self.is_gone.load(Ordering::Acquire) {
            return Fate::Gone(state.why_gone.clone());
        }
        let revived = match &mut state.revive {
            None => Err(None),
            Some(_) if life >= LIVES => Err(Some(format!("it died {LIVES} times"))),
            Some(revive) => revive().map_err(Some),
        };
        self.silent.store(0, Ordering::Relaxed);
        let death = |obituary: &str, is_back| Death {
            operation,
            obituary: obituary.to_owned(),
            is_shown,
            is_back,
        };
        match revived {
            Ok(Revived { sessions, obituary }) => {
                state.deaths.push(death(&obituary, true));
                state.sessions = sessions.into();
                self.lives.fetch_add(1, Ordering::Release);
                Fate::Back(Some(obituary))
            }
            Err(reason) => {
                let why = match reason {
                    Some(reason) => format!("{why}; it could not be brought back: {reason}"),
                    None => why.to_owned(),
                };
                state.deaths.push(death(&why, false));
                state.why_gone.clone_from(&why);
                self.is_gone.store(true, Ordering::Release);
                Fate::Gone(why)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper")
            .field("life", &self.life())
            .field("is_gone", &self.is_gone)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_late_finds_it_alive_again() {
        let keeper = Keeper::new(Vec::new()).reviving(Box::new(|| Ok(Revived::default())));
        assert!(matches!(
            keeper.found_dead(0, Some(3), true, "refused"),
            Fate::Back(Some(_))
        ));
        assert!(matches!(
            keeper.found_dead(0, Some(4), true, "refused"),
            Fate::Back(None)
        ));
        assert_eq!((keeper.life(), keeper.deaths(0).len()), (1, 1));
    }

    #[test]
    fn what_cannot_be_brought_back_stays_gone() {
        let keeper = Keeper::new(Vec::new());
        for _ in 0..2 {
            assert!(matches!(
                keeper.found_dead(0, None, false, "refused"),
                Fate::Gone(why) if why == "refused"
            ));
        }
        assert_eq!(keeper.gone().as_deref(), Some("refused"));
        assert_eq!(keeper.deaths(0).len(), 1);
    }

    #[test]
    fn a_failed_return_says_why() {
        let keeper = Keeper::new(Vec::new()).reviving(Box::new(|| Err("no disk".into())));
        let Fate::Gone(why) = keeper.found_dead(0, None, false, "refused") else {
            panic!("it cannot be back");
        };
        assert_eq!(why, "refused; it could not be brought back: no disk");
    }

    #[test]
    fn only_silence_in_a_row_is_suspicious() {
        let keeper = Keeper::new(Vec::new());
        for _ in 0..SILENCE - 1 {
            assert!(!keeper.heard(false));
        }
        keeper.heard(true);
        assert!(!keeper.heard(false));
    }
}
