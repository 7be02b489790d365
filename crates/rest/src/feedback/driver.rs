//! Feedback from a driver inside the service, by the driver protocol.

use std::time::Duration;

use isobath_exec::driver::{DriverError, Event, Listener, SharedDriver, Target as CodeTarget};

use super::{CandidateTrace, Feedback};

/// A service with a driver in it.
///
/// A service that was started again has a new driver, which is taken up when the next candidate begins.
#[derive(Debug)]
pub struct DriverFeedback {
    driver: SharedDriver,
    targets: Vec<CodeTarget>,
    covered_at_start: Vec<u32>,
    uninstrumented: Vec<String>,
    lost_events: u64,
}

impl DriverFeedback {
    /// Takes up the driver of a service that was started with the variables of the listener.
    ///
    /// # Errors
    ///
    /// When no driver connects in time, or one that cannot be used.
    pub fn new(listener: Listener, patience: Duration) -> Result<Self, DriverError> {
        let shared = SharedDriver::accept(listener, patience)?;
        let mut reached = Vec::new();
        let mut targets = Vec::new();
        if let Some(driver) = &shared.lock().driver {
            driver.read(&mut reached);
            targets.extend_from_slice(driver.table().targets());
        }
        let covered = reached.iter().filter(|reached| reached.score >= 1.0);
        Ok(Self {
            covered_at_start: covered.map(|reached| reached.target).collect(),
            targets,
            uninstrumented: Vec::new(),
            driver: shared,
            lost_events: 0,
        })
    }

    /// How many other processes of the service have answered requests, whose code is not seen.
    #[must_use]
    pub fn other_processes(&self) -> usize {
        let mut current = self.driver.lock();
        current.reconnect();
        current.other_processes()
    }

    /// The shared driver connection.
    #[must_use]
    pub fn driver(&self) -> SharedDriver {
        self.driver.clone()
    }
}

impl Feedback for DriverFeedback {
    fn targets(&self) -> &[CodeTarget] {
        &self.targets
    }

    fn covered_at_start(&self) -> &[u32] {
        &self.covered_at_start
    }

    fn lost_events(&self) -> u64 {
        self.lost_events
    }

    fn uninstrumented(&self) -> &[String] {
        &self.uninstrumented
    }

    fn begin(&mut self, inputs: Vec<String>) {
        let mut current = self.driver.lock();
        current.reconnect();
        if let Some(driver) = &mut current.driver {
            // A driver that is gone is noticed when the candidate ends.
            let _ = driver.track(inputs);
            driver.begin_candidate();
        }
    }

    fn call(&mut self, number: u16) {
        if let Some(driver) = &self.driver.lock().driver {
            driver.begin_action(number);
        }
    }

    fn end(&mut self) -> CandidateTrace {
        let mut seen = CandidateTrace::default();
        let mut current = self.driver.lock();
        if let Some(mut driver) = current.driver.take() {
            match driver.events() {
                Ok(events) => {
                    seen.events = events;
                    driver.read(&mut seen.reached);
                    if driver.unwatched().len() > self.uninstrumented.len() {
                        self.uninstrumented = driver.unwatched().to_vec();
                    }
                    current.driver = Some(driver);
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

    fn warnings(&mut self) -> Vec<String> {
        match self.other_processes() {
            0 => Vec::new(),
            others => vec![format!(
                "{} processes answered requests, and only one of them was observed; start the service with one worker",
                others + 1
            )],
        }
    }
}
