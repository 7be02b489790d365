//! Sending letters. The only mailer there is puts them into an outbox in the process.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::address::Address;

/// A letter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Letter {
    pub(crate) to: Address,
    pub(crate) subject: String,
    pub(crate) body: String,
}

/// Why a letter did not arrive.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum MailError {
    /// It never will.
    #[error("the mailbox does not exist")]
    Bounced,
    /// It may, later.
    #[error("the mailbox is busy")]
    Busy,
}

/// Sends letters.
pub(crate) trait Mailer: Send + Sync {
    /// Sends one.
    fn send(&self, letter: Letter) -> impl Future<Output = Result<(), MailError>> + Send;
}

/// The letters that are kept.
const KEPT: usize = 1_000;

/// An outbox. What is before the @ decides: `bounce…` bounces, `busy…` is busy every other time.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    letters: Mutex<VecDeque<Letter>>,
    tries: Mutex<u64>,
}

impl Outbox {
    /// The letters to an address, or all, the latest first.
    pub(crate) fn letters(&self, to: Option<&Address>) -> Vec<Letter> {
        let letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters
            .iter()
            .rev()
            .filter(|letter| to.is_none_or(|to| letter.to == *to))
            .cloned()
            .collect()
    }

    pub(crate) fn clear(&self) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters.clear();
        *self.tries.lock().unwrap_or_else(PoisonError::into_inner) = 0;
    }

    fn next_try(&self) -> u64 {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        *tries += 1;
        *tries
    }
}

impl Mailer for Outbox {
    async fn send(&self, letter: Letter) -> Result<(), MailError> {
        let address = letter.to.as_str();
        if address.starts_with("bounce") {
            return Err(MailError::Bounced);
        }
        if address.starts_with("busy") && self.next_try() % 2 == 1 {
            return Err(MailError::Busy);
        }
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        if letters.len() == KEPT {
            letters.pop_front();
        }
        letters.push_back(letter);
        Ok(())
    }
}
