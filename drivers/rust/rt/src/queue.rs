//! Events that wait for the core to ask.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

use isobath_protocol::{Event, channel};

use crate::link;

/// More events between two questions are left out.
const MOST: u32 = 5_000;

static QUEUE: Mutex<Option<Queue>> = Mutex::new(None);

struct Queue {
    stream: UnixStream,
    frames: Vec<u8>,
    events: u32,
    dropped: u32,
    /// Events of this candidate that were said already.
    said: HashSet<u64>,
    candidate: u64,
}

/// Events have somewhere to go from now on.
pub(crate) fn open(stream: UnixStream) {
    *lock() = Some(Queue {
        stream,
        frames: Vec::new(),
        events: 0,
        dropped: 0,
        said: HashSet::new(),
        candidate: 0,
    });
}

/// The core is gone.
pub(crate) fn close() {
    *lock() = None;
}

/// Keeps an event until the core asks; the same event is kept once per candidate.
pub(crate) fn push(event: &Event) {
    let candidate = link::map().map_or(0, isobath_protocol::Map::candidate);
    let mut frame = Vec::new();
    if channel::push(&mut frame, event).is_err() {
        return;
    }
    let mut hasher = DefaultHasher::new();
    frame.hash(&mut hasher);
    let mut queue = lock();
    let Some(queue) = queue.as_mut() else { return };
    if queue.candidate != candidate {
        queue.candidate = candidate;
        queue.said.clear();
    }
    let repeats = matches!(event, Event::Tracked { .. } | Event::Parameter { .. })
        && !queue.said.insert(hasher.finish());
    if repeats {
        return;
    }
    if queue.events < MOST {
        queue.events += 1;
        queue.frames.extend_from_slice(&frame);
    } else {
        queue.dropped = queue.dropped.saturating_add(1);
    }
}

/// Sends what waits.
pub(crate) fn flush() {
    if let Some(queue) = lock().as_mut() {
        queue.send();
    }
}

/// Sends what waits, and this.
pub(crate) fn answer(event: &Event) {
    if let Some(queue) = lock().as_mut() {
        if channel::push(&mut queue.frames, event).is_err() {
            return;
        }
        queue.send();
    }
}

impl Queue {
    fn send(&mut self) {
        if self.dropped > 0 {
            let dropped = Event::Dropped {
                events: self.dropped,
            };
            // In front, so that an answer stays last.
            let mut frames = Vec::new();
            if channel::push(&mut frames, &dropped).is_ok() {
                frames.append(&mut self.frames);
                self.frames = frames;
            }
        }
        // A core that is gone is noticed by the thread that listens to it.
        let _ = self.stream.write_all(&self.frames);
        self.frames.clear();
        self.events = 0;
        self.dropped = 0;
    }
}

fn lock() -> MutexGuard<'static, Option<Queue>> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}
