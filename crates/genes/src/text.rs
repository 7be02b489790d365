//! Strings with length bounds, counted in characters.

use std::sync::Arc;

use fastrand::Rng;

use crate::config::GeneConfig;
use crate::rule::Rule;

/// Any text of an allowed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextDomain {
    min: u32,
    max: Option<u32>,
}

/// Edge-case strings; used now and then where the length allows.
const EDGE_CASES: [&str; 12] = [
    " ", "'", "\"", "\\", "%", "é", "日本", "😀", "null", "0", "<b>", "a b",
];
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";

impl TextDomain {
    /// Text of at least `min` and at most `max` characters; `None` if `max < min`.
    #[must_use]
    pub fn new(min: u32, max: Option<u32>) -> Option<Self> {
        (max.is_none_or(|max| min <= max)).then_some(Self { min, max })
    }

    /// Text of any length.
    #[must_use]
    pub fn any() -> Self {
        Self { min: 0, max: None }
    }

    /// The least number of characters.
    #[must_use]
    pub fn min(&self) -> u32 {
        self.min
    }

    /// The greatest number of characters, if any.
    #[must_use]
    pub fn max(&self) -> Option<u32> {
        self.max
    }

    pub(crate) fn check(&self, text: &str) -> Result<(), Rule> {
        check_length(length(text), self.min, self.max)
    }

    pub(crate) fn sample(&self, rng: &mut Rng, config: &GeneConfig) -> Arc<str> {
        let usual = config.max_text.max(self.min);
        let high = self.max.map_or(usual, |max| max.min(usual));
        let n = if rng.f64() < config.boundary {
            match (rng.bool(), self.max) {
                // Texts of many thousand characters are worth a try, not one in twenty.
                (true, Some(max)) if max <= 1000 || (max <= 100_000 && rng.u8(0..20) == 0) => max,
                _ => self.min,
            }
        } else {
            rng.u32(self.min.max(1).min(high)..=high)
        };
        let mut text = String::with_capacity(n as usize);
        if n > 0 && rng.u8(0..16) == 0 {
            let awkward = rng.choice(EDGE_CASES).unwrap_or_default();
            if length(awkward) <= n {
                text.push_str(awkward);
            }
        }
        let mut len = length(&text);
        while len < n {
            text.push(letter(rng));
            len += 1;
        }
        text.into()
    }

    /// A different text, one edit away or anywhere; `None` when only one text is allowed.
    pub(crate) fn mutate(
        &self,
        rng: &mut Rng,
        config: &GeneConfig,
        text: &str,
        large: bool,
    ) -> Option<Arc<str>> {
        if self.max == Some(0) {
            return None;
        }
        for _ in 0..8 {
            let next = if large {
                self.sample(rng, config)
            } else {
                self.edit(rng, text)
            };
            if &*next != text {
                return Some(next);
            }
        }
        Some(self.edit(rng, text))
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "the position is below the number of characters where there is one"
    )]
    fn edit(&self, rng: &mut Rng, text: &str) -> Arc<str> {
        let n = length(text);
        let may_grow = self.max.is_none_or(|max| n < max);
        let may_shrink = n > self.min;
        let at = if n == 0 { 0 } else { rng.u32(0..n) } as usize;
        let mut chars: Vec<char> = text.chars().collect();
        match rng.u8(0..6) {
            0 | 1 if may_grow => {
                chars.insert(if rng.bool() { chars.len() } else { at }, letter(rng))
            }
            2 if may_shrink => {
                chars.remove(at);
            }
            3 if n > 0 => chars[at] = neighbour(rng, chars[at]),
            _ if n > 0 => {
                let old = chars[at];
                while chars[at] == old {
                    chars[at] = letter(rng);
                }
            }
            _ => chars.push(letter(rng)),
        }
        chars.into_iter().collect::<String>().into()
    }
}

fn letter(rng: &mut Rng) -> char {
    let letter = rng.choice(LETTERS).copied();
    char::from(letter.expect("there are letters"))
}

/// The next or previous character; branch distances on text shrink one code point at a time.
fn neighbour(rng: &mut Rng, c: char) -> char {
    let step = |by: i64| {
        u32::try_from(i64::from(u32::from(c)) + by)
            .ok()
            .and_then(char::from_u32)
            .filter(|c| !c.is_control())
    };
    let by = if rng.bool() { 1 } else { -1 };
    step(by).or_else(|| step(-by)).unwrap_or('a')
}

pub(crate) fn length(text: &str) -> u32 {
    if text.is_ascii() {
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    } else {
        u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
    }
}

pub(crate) fn check_length(len: u32, min: u32, max: Option<u32>) -> Result<(), Rule> {
    if len < min {
        Err(Rule::MinLength)
    } else if max.is_some_and(|max| len > max) {
        Err(Rule::MaxLength)
    } else {
        Ok(())
    }
}
