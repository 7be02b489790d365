//! Ctrl-C: the first ends the search and writes results, the second skips verification, the third
//! exits at once.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::exit::Exit;

/// How long handing over may take after an interruption.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// State of Ctrl-C handling.
#[derive(Clone, Debug, Default)]
pub(super) struct Interruption {
    /// Raised by the first signal.
    pub(super) interrupt: Arc<AtomicBool>,
    /// Raised by the second, or a moment after the first.
    pub(super) stop: Arc<AtomicBool>,
    has_begun: Arc<AtomicBool>,
    /// Done before an exit at once.
    last_acts: Arc<Mutex<Vec<LastAct>>>,
}

/// Something that must not be left undone, by whatever signal the run ends.
#[derive(Clone)]
struct LastAct(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for LastAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastAct")
    }
}

impl Interruption {
    /// Listens to signals from now on.
    pub(super) fn listen() -> Result<Self, ctrlc::Error> {
        let interruption = Self::default();
        let hearing = interruption.clone();
        let signals = AtomicUsize::new(0);
        ctrlc::set_handler(move || hearing.on_signal(signals.fetch_add(1, Ordering::Relaxed)))?;
        Ok(interruption)
    }

    /// From now on there are results to write.
    pub(super) fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Does something before a signal ends the program at once; what ends by itself does not come here.
    pub(super) fn before_exit(&self, act: impl Fn() + Send + Sync + 'static) {
        let mut acts = self
            .last_acts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        acts.push(LastAct(Arc::new(act)));
    }

    fn on_signal(&self, earlier: usize) {
        // A service that we started ends with us, however we end.
        if earlier >= 2 || !self.has_begun.load(Ordering::Relaxed) {
            let acts = self
                .last_acts
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            acts.iter().for_each(|act| act.0());
            std::process::exit(Exit::Interrupted.code());
        }
        self.interrupt.store(true, Ordering::Relaxed);
        if earlier == 1 {
            self.stop.store(true, Ordering::Relaxed);
            return;
        }
        let stop = Arc::clone(&self.stop);
        thread::spawn(move || {
            thread::sleep(INTERRUPT_GRACE);
            stop.store(true, Ordering::Relaxed);
        });
    }
}
