//! Bytes, written as Base64 text or sent as they are.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use fastrand::Rng;

use crate::config::GeneConfig;

/// Bytes of an allowed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinaryDomain {
    min: u32,
    max: Option<u32>,
    is_text: bool,
}

impl BinaryDomain {
    /// At least `min` and at most `max` bytes; `None` if `max < min`.
    #[must_use]
    pub fn new(min: u32, max: Option<u32>) -> Option<Self> {
        (max.is_none_or(|max| min <= max)).then_some(Self {
            min,
            max,
            is_text: false,
        })
    }

    /// The same bytes, which are meant as Base64 text wherever they are sent.
    #[must_use]
    pub fn as_text(self) -> Self {
        Self {
            is_text: true,
            ..self
        }
    }

    /// Whether the Base64 text is meant, and not the bytes.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.is_text
    }

    /// The least number of bytes.
    #[must_use]
    pub fn min(&self) -> u32 {
        self.min
    }

    /// The greatest number of bytes, if any.
    #[must_use]
    pub fn max(&self) -> Option<u32> {
        self.max
    }

    pub(crate) fn sample(&self, rng: &mut Rng, config: &GeneConfig) -> Arc<[u8]> {
        let usual = config.max_text.max(self.min);
        let high = self.max.map_or(usual, |max| max.min(usual));
        let n = if rng.f64() < config.boundary {
            self.min
        } else {
            rng.u32(self.min.max(1).min(high)..=high)
        };
        // Mostly text, because many services only look at the first bytes.
        let binary = rng.u8(0..4) == 0;
        (0..n)
            .map(|_| {
                if binary {
                    rng.u8(..)
                } else {
                    rng.u8(b' '..=b'~')
                }
            })
            .collect()
    }

    pub(crate) fn mutate(
        &self,
        rng: &mut Rng,
        config: &GeneConfig,
        bytes: &[u8],
        large: bool,
    ) -> Option<Arc<[u8]>> {
        if self.max == Some(0) {
            return None;
        }
        for _ in 0..8 {
            let next = if large {
                self.sample(rng, config)
            } else {
                self.edit(rng, bytes)
            };
            if *next != *bytes {
                return Some(next);
            }
        }
        Some(self.edit(rng, bytes))
    }

    fn edit(&self, rng: &mut Rng, bytes: &[u8]) -> Arc<[u8]> {
        let mut bytes = bytes.to_vec();
        let n = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if bytes.is_empty() {
            bytes.push(rng.u8(..));
        } else if n > self.min && rng.u8(0..3) == 0 {
            bytes.pop();
        } else if self.max.is_none_or(|max| n < max) && rng.bool() {
            bytes.push(rng.u8(..));
        } else {
            let changed = rng.choice(&mut bytes);
            let bit = 1 << rng.u8(0..8);
            changed.into_iter().for_each(|byte| *byte ^= bit);
        }
        bytes.into()
    }
}

/// The bytes as Base64 text.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads Base64, with or without padding, of either alphabet.
#[must_use]
pub fn decode(text: &str) -> Option<Arc<[u8]>> {
    let text = text.trim_end_matches('=');
    STANDARD_NO_PAD
        .decode(text)
        .or_else(|_| URL_SAFE_NO_PAD.decode(text))
        .ok()
        .map(Into::into)
}
