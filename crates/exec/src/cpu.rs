//! CPU time, from the system's own account: what other programs do meanwhile does not count.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What this thread has spent so far.
pub fn spent() -> Duration {
    let at = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(at.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(at.tv_nsec).unwrap_or_default())
}
