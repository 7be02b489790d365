//! A driver shared by the search (coverage) and the test database (rows).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Driver, DriverError, Listener};

/// The driver of a service, also after the service was started again.
#[derive(Clone, Debug)]
pub struct SharedDriver {
    current: Arc<Mutex<CurrentDriver>>,
}

/// The driver that is connected now, and where the next one will be.
#[derive(Debug)]
pub struct CurrentDriver {
    listener: Listener,
    /// Nothing while the service is unreachable.
    pub driver: Option<Driver>,
    /// Other living processes that answer requests of the service; their drivers were let go.
    others: BTreeSet<u32>,
}

impl SharedDriver {
    /// Takes up the driver of a service that was started with the variables of the listener.
    ///
    /// # Errors
    ///
    /// When no driver connects in time, or one that cannot be used.
    pub fn accept(listener: Listener, timeout: Duration) -> Result<Self, DriverError> {
        let driver = listener.accept(timeout)?;
        let current = CurrentDriver {
            listener,
            driver: Some(driver),
            others: BTreeSet::new(),
        };
        Ok(Self {
            current: Arc::new(Mutex::new(current)),
        })
    }

    /// What is connected, for one at a time.
    pub fn lock(&self) -> MutexGuard<'_, CurrentDriver> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CurrentDriver {
    /// Takes up the driver of a service that was started again, if it was.
    ///
    /// One that connects while the one before still lives is in another process of the same service. It is let go.
    pub fn reconnect(&mut self) {
        while let Ok(driver) = self.listener.accept(Duration::ZERO) {
            let lives =
                |known: &mut Driver| known.process() != driver.process() && known.is_alive();
            if self.driver.as_mut().is_some_and(lives) {
                self.others.insert(driver.process());
            } else {
                self.driver = Some(driver);
            }
        }
    }

    /// How many other processes answered requests beside the one that is listened to.
    #[must_use]
    pub fn other_processes(&self) -> usize {
        self.others.len()
    }
}
