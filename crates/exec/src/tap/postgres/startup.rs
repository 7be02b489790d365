//! The startup phase: TLS negotiation and the startup packet.

use crate::tap::Forwarded;

/// What was made of the first bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// More must come.
    Unfinished,
    /// Messages follow after the first so many bytes.
    Messages(usize),
    /// A request to cancel, or a protocol that is not ours: to be passed on as it is.
    Unseen {
        /// Whether the bytes are those of TLS.
        encrypted: bool,
        /// Whether something was not understood.
        strange: bool,
    },
}

/// Asks for TLS.
const SSL: u32 = 80_877_103;
/// Asks for encryption by GSSAPI.
const GSS: u32 = 80_877_104;
/// Asks to cancel what another connection does.
const CANCEL: u32 = 80_877_102;
/// The longest first packet that servers accept.
const LONGEST: usize = 10_000;

/// The beginning of a connection, kept until it is understood.
#[derive(Debug, Default)]
pub(super) struct Startup {
    held: Vec<u8>,
    /// Whether the client asked for encryption, and was told that there is none.
    pub(super) asked_for_tls: bool,
}

impl Startup {
    /// Takes more bytes. Requests for encryption are answered with no; everything else is passed on.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> (Start, Forwarded) {
        self.held.extend_from_slice(bytes);
        let mut back = Vec::new();
        let start = loop {
            match self.first() {
                First::Request => {
                    self.held.drain(..8);
                    self.asked_for_tls = true;
                    back.push(b'N');
                }
                First::Unfinished => break Start::Unfinished,
                First::Packet(length) => break Start::Messages(length),
                First::Cancel => {
                    break Start::Unseen {
                        encrypted: false,
                        strange: false,
                    };
                }
                First::Strange => {
                    break Start::Unseen {
                        // The record type and major version of a TLS greeting.
                        encrypted: self.held.starts_with(&[0x16, 0x03]),
                        strange: true,
                    };
                }
            }
        };
        let forward = match start {
            Start::Unfinished => Vec::new(),
            Start::Messages(_) | Start::Unseen { .. } => std::mem::take(&mut self.held),
        };
        let passed = Forwarded {
            forward: Some(forward),
            back,
        };
        (start, passed)
    }

    fn first(&self) -> First {
        let word = |at: usize| {
            let bytes: [u8; 4] = self.held.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_be_bytes(bytes))
        };
        match self.held.as_slice() {
            // One byte more says whether it is TLS.
            [0x16] => return First::Unfinished,
            [first, ..] if *first != 0 => return First::Strange,
            _ => {}
        }
        let Some(length) = word(0) else {
            return First::Unfinished;
        };
        let length = length as usize;
        if !(8..=LONGEST).contains(&length) {
            return First::Strange;
        }
        match word(4) {
            None => First::Unfinished,
            Some(SSL | GSS) if length == 8 => First::Request,
            Some(CANCEL) => First::Cancel,
            Some(version) if version >> 16 != 3 => First::Strange,
            Some(_) if self.held.len() < length => First::Unfinished,
            Some(_) => First::Packet(length),
        }
    }
}

enum First {
    Unfinished,
    Request,
    Cancel,
    Packet(usize),
    Strange,
}
