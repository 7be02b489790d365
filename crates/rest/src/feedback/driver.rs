//! Feedback from a driver inside the service, by the driver protocol.

use std::time::Duration;

use isobath_exec::driver::{Driver, DriverError, Event, Listener, Target};

use super::{Feedback, Seen};

/// A service with a driver in it.
///
/// A service that was started again has a new driver, which is taken up when the next candidate begins.
#[derive(Debug)]
pub struct DriverFeedback {
    listener: Listener,
    targets: Vec<Target>,
    at_start: Vec<u32>,
    unwatched: Vec<String>,
    /// Nothing while the service is gone.
    driver: Option<Driver>,
    lost_events: u64,
}

impl DriverFeedback {
    /// Takes up the driver of a service that was started with the variables of the listener.
    ///
    /// # Errors
    ///
    /// When no driver connects in time, or one that cannot be used.
    pub fn new(listener: Listener, patience: Duration) -> Result<Self, DriverError> {
        let driver = listener.accept(patience)?;
        let mut reached = Vec::new();
        driver.read(&mut reached);
        let covered = reached.iter().filter(|reached| reached.score >= 1.0);
        Ok(Self {
            at_start: covered.map(|reached| reached.target).collect(),
            targets: driver.table().targets().to_vec(),
            unwatched: Vec::new(),
            listener,
            driver: Some(driver),
            lost_events: 0,
        })
    }
}

impl Feedback for DriverFeedback {
    fn targets(&self) -> &[Target] {
        &self.targets
    }

    fn at_start(&self) -> &[u32] {
        &self.at_start
    }

    fn lost_events(&self) -> u64 {
        self.lost_events
    }

    fn unwatched(&self) -> &[String] {
        &self.unwatched
    }

    fn begin(&mut self, inputs: Vec<String>) {
        while let Ok(driver) = self.listener.accept(Duration::ZERO) {
            self.driver = Some(driver);
        }
        if let Some(driver) = &mut self.driver {
            // A driver that is gone is noticed when the candidate ends.
            let _ = driver.track(inputs);
            driver.begin_candidate();
        }
    }

    fn call(&mut self, number: u16) {
        if let Some(driver) = &self.driver {
            driver.begin_action(number);
        }
    }

    fn end(&mut self) -> Seen {
        let mut seen = Seen::default();
        if let Some(mut driver) = self.driver.take() {
            match driver.events() {
                Ok(events) => {
                    seen.events = events;
                    driver.read(&mut seen.reached);
                    if driver.unwatched().len() > self.unwatched.len() {
                        self.unwatched = driver.unwatched().to_vec();
                    }
                    self.driver = Some(driver);
                }
                Err(_) => {
                    // What the service did up to its end is still in the map, and panics were sent at once.
                    driver.read(&mut seen.reached);
                    seen.events = driver.last_events();
                }
            }
        }
        for event in &seen.events {
            if let Event::Dropped { events } = event {
                self.lost_events += u64::from(*events);
            }
        }
        seen
    }
}
