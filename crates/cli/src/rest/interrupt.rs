//! Ctrl-C: the first ends the search and writes results, the second skips verification, the third
//! exits at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

    fn on_signal(&self, earlier: usize) {
        // A service that we started ends with us, however we end.
        if earlier >= 2 || !self.has_begun.load(Ordering::Relaxed) {
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
