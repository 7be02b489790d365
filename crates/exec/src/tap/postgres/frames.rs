//! Bytes cut into messages: a letter, a length that counts itself, a body.

use crate::tap::LONGEST;
use crate::tap::reader::fill;

/// Cuts one direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Frames {
    head: [u8; 5],
    /// How much of the head is there.
    have: usize,
    /// How much of the body is still to come.
    left: usize,
    body: Vec<u8>,
}

/// One message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    /// Its letter.
    pub(super) kind: u8,
    /// Its body, or the beginning of a long one; empty if it was not wanted.
    pub(super) body: &'a [u8],
    /// Whether the body is longer.
    pub(super) is_cut: bool,
}

/// The bytes are not of this protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct InvalidMessage;

/// The longest message that a server takes or sends.
const MOST: usize = 0x4000_0000;

impl Frames {
    /// Cuts more bytes; bodies that are not wanted are not kept.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        wanted: impl Fn(u8) -> bool,
        mut on: impl FnMut(Message<'_>),
    ) -> Result<(), InvalidMessage> {
        loop {
            if self.have < self.head.len() {
                bytes = fill(&mut self.head, &mut self.have, bytes);
                if self.have < self.head.len() {
                    return Ok(());
                }
                let [kind, a, b, c, d] = self.head;
                let length = u32::from_be_bytes([a, b, c, d]) as usize;
                if !(4..=MOST).contains(&length) || !kind.is_ascii_alphanumeric() {
                    return Err(InvalidMessage);
                }
                self.left = length - 4;
            }
            let kind = self.head[0];
            let is_wanted = wanted(kind);
            let n = bytes.len().min(self.left);
            let (here, rest) = bytes.split_at(n);
            bytes = rest;
            self.left -= n;
            let is_whole = self.left == 0;
            if is_whole && self.body.is_empty() {
                // Most messages come in one piece, and need not be copied.
                let kept = if is_wanted {
                    here.get(..LONGEST).unwrap_or(here)
                } else {
                    &[]
                };
                let is_cut = is_wanted && n > LONGEST;
                on(Message {
                    kind,
                    body: kept,
                    is_cut,
                });
                self.have = 0;
                continue;
            }
            if is_wanted {
                let room = LONGEST.saturating_sub(self.body.len());
                self.body
                    .extend_from_slice(here.get(..room).unwrap_or(here));
            }
            if !is_whole {
                return Ok(());
            }
            let [_, a, b, c, d] = self.head;
            let length = u32::from_be_bytes([a, b, c, d]) as usize - 4;
            let is_cut = is_wanted && self.body.len() < length;
            on(Message {
                kind,
                body: &self.body,
                is_cut,
            });
            self.body.clear();
            self.body.shrink_to(LONGEST / 16);
            self.have = 0;
        }
    }
}
