//! Events that wait for the core to ask.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use isobath_protocol::{Event, channel};

use crate::link;
use crate::socket::send_now;

/// More events between two questions are left out.
const MOST: u32 = 5_000;
/// More bytes than these are not kept for a core that does not read.
const MOST_BYTES: usize = 4 << 20;
/// The longest pause between two attempts to send an answer.
const PAUSE: Duration = Duration::from_millis(20);

static QUEUE: Mutex<Option<Queue>> = Mutex::new(None);

/// Events, and the socket that they leave by. Nothing here waits for the core: a service that
/// panics, or asks for a lock, must continue when nobody reads.
struct Queue {
    stream: UnixStream,
    /// On their way; the first bytes may be the rest of a message.
    sending: Vec<u8>,
    /// Whole messages that wait for the core to ask.
    frames: Vec<u8>,
    events: u32,
    dropped: u32,
    /// Events of this candidate that were said already.
    said: HashSet<u64>,
    candidate: u64,
}

/// Events have somewhere to go from now on.
pub(crate) fn open(stream: UnixStream) {
    *lock() = Some(Queue::new(stream));
}

/// The core is gone.
pub(crate) fn close() {
    *lock() = None;
}

/// Keeps an event until the core asks; the same event is kept once per candidate.
pub(crate) fn push(event: &Event) {
    let candidate = link::map().map_or(0, isobath_protocol::CoverageMap::candidate);
    let mut frame = Vec::new();
    if channel::push(&mut frame, event).is_err() {
        return;
    }
    let once = matches!(event, Event::Tracked { .. } | Event::Parameter { .. });
    if let Some(queue) = lock().as_mut() {
        queue.push(candidate, &frame, once);
    }
}

/// Sends what waits, as far as the system takes it now; for the threads of the service.
pub(crate) fn flush() {
    if let Some(queue) = lock().as_mut() {
        // The rest goes with the next answer.
        let _ = queue.send();
    }
}

/// Sends what waits, and this. The core asked, so it will read; only the thread that listens to
/// it waits for that, and without the lock.
pub(crate) fn answer(event: &Event) {
    let mut pause = Duration::from_micros(100);
    let mut said = false;
    loop {
        {
            let mut queue = lock();
            let Some(queue) = queue.as_mut() else { return };
            if !said {
                queue.stage();
                if channel::push(&mut queue.sending, event).is_err() {
                    return;
                }
                said = true;
            }
            match queue.send() {
                Ok(true) => return,
                Ok(false) => {}
                // A core that is gone is noticed by whoever listens to it.
                Err(_) => return,
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
}

impl Queue {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            sending: Vec::new(),
            frames: Vec::new(),
            events: 0,
            dropped: 0,
            said: HashSet::new(),
            candidate: 0,
        }
    }

    /// Keeps a message, or counts it as dropped; with `once`, if it is new in this candidate.
    fn push(&mut self, candidate: u64, frame: &[u8], once: bool) {
        if self.candidate != candidate {
            self.candidate = candidate;
            self.said.clear();
        }
        if once {
            let mut hasher = DefaultHasher::new();
            frame.hash(&mut hasher);
            if !self.said.insert(hasher.finish()) {
                return;
            }
        }
        let bytes = self.sending.len() + self.frames.len() + frame.len();
        if self.events < MOST && bytes <= MOST_BYTES {
            self.events += 1;
            self.frames.extend_from_slice(frame);
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Puts what waits behind what is on its way, and says how much was left out.
    fn stage(&mut self) {
        if self.dropped > 0 {
            let dropped = Event::Dropped {
                events: self.dropped,
            };
            // A message of nine bytes is never too long.
            let _ = channel::push(&mut self.sending, &dropped);
            self.dropped = 0;
        }
        self.sending.append(&mut self.frames);
        self.events = 0;
    }

    /// Sends what the system takes without waiting; true when that is everything.
    fn send(&mut self) -> io::Result<bool> {
        // While the core does not read there is no use in a longer line, only in a count.
        if self.sending.is_empty() || self.dropped == 0 {
            self.stage();
        }
        let mut sent = 0;
        let all = loop {
            if sent == self.sending.len() {
                break Ok(true);
            }
            match send_now(&self.stream, &self.sending[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Ok(false),
                Err(error) => break Err(error),
            }
        };
        self.sending.drain(..sent);
        all
    }
}

fn lock() -> MutexGuard<'static, Option<Queue>> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panicked(message: &str) -> Vec<u8> {
        let mut frame = Vec::new();
        let event = Event::Panicked {
            action: 0,
            target: None,
            file: "src/main.rs".into(),
            line: 1,
            column: 1,
            message: message.into(),
            backtrace: String::new(),
        };
        channel::push(&mut frame, &event).expect("it is short");
        frame
    }

    #[test]
    fn a_core_that_does_not_read_holds_up_nobody_and_learns_what_it_missed() {
        let (ours, mut core) = UnixStream::pair().expect("a pair of sockets");
        let mut queue = Queue::new(ours);
        // Far more than a socket and the queue together take.
        let frame = panicked(&"x".repeat(10_000));
        let count = 2_000;
        for _ in 0..count {
            queue.push(0, &frame, false);
            queue.send().expect("the core is there");
        }
        assert!(queue.sending.len() + queue.frames.len() <= MOST_BYTES);
        core.set_read_timeout(Some(Duration::from_millis(50)))
            .expect("a time");
        let (mut read, mut dropped) = (0, 0);
        loop {
            let done = queue.send().expect("the core is there");
            match channel::receive(&mut core) {
                Ok(Event::Dropped { events }) => dropped += events,
                Ok(Event::Panicked { .. }) => read += 1,
                Ok(other) => panic!("{other:?}"),
                Err(_) if done => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(dropped > 0 && read > 0);
        assert_eq!(read + dropped, count);
    }

    #[test]
    fn a_core_that_is_gone_is_an_error_and_no_signal() {
        let (ours, core) = UnixStream::pair().expect("a pair of sockets");
        drop(core);
        let mut queue = Queue::new(ours);
        queue.push(0, &panicked("x"), false);
        assert!(queue.send().is_err());
    }

    #[test]
    fn what_was_said_is_said_again_for_the_next_candidate() {
        let (ours, _core) = UnixStream::pair().expect("a pair of sockets");
        let mut queue = Queue::new(ours);
        for candidate in [1, 1, 2] {
            queue.push(candidate, &panicked("x"), true);
        }
        assert_eq!(queue.events, 2);
    }
}
