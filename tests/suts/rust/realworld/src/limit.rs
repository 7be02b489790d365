//! How often somebody may try: failed log-ins are counted per account.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Duration, Utc};

use crate::error::{Error, Result};

/// How long failures are remembered.
const MEMORY: Duration = Duration::minutes(10);

/// Counts failures by key, and refuses when there are too many.
#[derive(Debug)]
pub(crate) struct Attempts {
    most: u32,
    failed: Mutex<HashMap<String, Failures>>,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: DateTime<Utc>,
}

impl Attempts {
    pub(crate) fn new(most: u32) -> Self {
        Self {
            most,
            failed: Mutex::default(),
        }
    }

    /// Refuses if there were too many failures lately.
    pub(crate) fn admit(&self, key: &str, now: DateTime<Utc>) -> Result<()> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, failures| now - failures.last < MEMORY);
        match failed.get(key) {
            Some(failures) if failures.count >= self.most => {
                let wait = MEMORY - (now - failures.last);
                Err(Error::TooMany(wait.num_seconds().max(1).unsigned_abs()))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn failed(&self, key: &str, now: DateTime<Utc>) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = failed.entry(key.to_owned()).or_insert(Failures {
            count: 0,
            last: now,
        });
        failures.count += 1;
        failures.last = now;
    }

    pub(crate) fn succeeded(&self, key: &str) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.remove(key);
    }

    pub(crate) fn clear(&self) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.clear();
    }
}
