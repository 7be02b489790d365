//! Bytes cut into packets: three bytes of length, a number, a body. A body of the greatest length goes
//! on in the next packet.

use crate::tap::reader::fill;

/// Cuts one direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Packets {
    head: [u8; 4],
    /// How much of the head is there.
    have: usize,
    /// How much of the body is still to come.
    left: usize,
    body: Vec<u8>,
    /// How long the body was in earlier packets.
    before: usize,
    /// The number of the first packet of the body.
    number: u8,
}

/// One packet, or several that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// Its number; 0 begins a command.
    pub(super) number: u8,
    /// Its body, or the beginning of a long one.
    pub(super) body: &'a [u8],
    /// The length of the whole body.
    pub(super) length: usize,
}

impl Packet<'_> {
    /// Whether the body is longer than what there is of it.
    pub(super) fn is_cut(&self) -> bool {
        self.body.len() < self.length
    }
}

/// The length of a packet that continues.
const FULL: usize = 0xff_ffff;

impl Packets {
    /// Cuts more bytes; of each body, so much is kept.
    pub(super) fn feed(&mut self, mut bytes: &[u8], keep: usize, mut on: impl FnMut(Packet<'_>)) {
        loop {
            if self.have < self.head.len() {
                bytes = fill(&mut self.head, &mut self.have, bytes);
                if self.have < self.head.len() {
                    return;
                }
                let [a, b, c, number] = self.head;
                self.left = u32::from_le_bytes([a, b, c, 0]) as usize;
                if self.before == 0 {
                    self.number = number;
                }
            }
            let n = bytes.len().min(self.left);
            let (here, rest) = bytes.split_at(n);
            bytes = rest;
            self.left -= n;
            let [a, b, c, _] = self.head;
            let whole = u32::from_le_bytes([a, b, c, 0]) as usize;
            let ends = self.left == 0 && whole < FULL;
            let length = self.before + whole;
            if ends && n == length {
                // Most packets come in one piece, and need not be copied.
                let body = here.get(..keep).unwrap_or(here);
                on(Packet {
                    number: self.number,
                    body,
                    length,
                });
            } else {
                let room = keep.saturating_sub(self.body.len());
                self.body
                    .extend_from_slice(here.get(..room).unwrap_or(here));
                if self.left > 0 {
                    return;
                }
                if ends {
                    on(Packet {
                        number: self.number,
                        body: &self.body,
                        length,
                    });
                    self.body.clear();
                    self.body.shrink_to(1 << 16);
                }
            }
            self.have = 0;
            self.before = if ends { 0 } else { length };
        }
    }
}
