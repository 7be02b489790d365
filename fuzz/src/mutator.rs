//! Spoils inputs: bytes, numbers and pieces are changed, left out, repeated and mixed.

use fastrand::Rng;

/// What readers stumble over.
const ODD: [&[u8]; 20] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    "\u{202e}".as_bytes(),
    "é".as_bytes(),
    b"'",
    b"\"",
    b"`",
    b"--",
    b"/*",
    b"(((((((((((((((((((((((((((((((((",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{",
    b"}",
    b"-9223372036854775809",
    b"1e999",
    b"NULL",
    b"$ref: '#'",
];

/// Longer inputs than this are cut: they are slow and show little.
const LONGEST: usize = 1 << 16;

/// Spoils inputs in ways that the seed decides.
#[derive(Debug)]
pub struct Mutator {
    rng: Rng,
}

impl Mutator {
    /// One that begins with a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::with_seed(seed),
        }
    }

    /// One of the inputs, spoiled in one place or in several.
    #[must_use]
    pub fn spoiled(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let Some(input) = self.rng.choice(inputs) else {
            return Vec::new();
        };
        let mut bytes = input.clone();
        let most = [1, 1, 2, 4, 16][self.rng.usize(..5)];
        for _ in 0..self.rng.usize(1..=most) {
            self.change(&mut bytes, inputs);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let rng = &mut self.rng;
        let at = rng.usize(..=bytes.len());
        let most = [2, 8, 64][rng.usize(..3)];
        let end = (at + rng.usize(..=most)).min(bytes.len());
        match rng.u8(..8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
            1 if at < bytes.len() => bytes[at] = rng.u8(..),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].repeat(rng.usize(1..4));
                bytes.splice(at..at, piece);
            }
            4 => bytes.truncate(at),
            5 => {
                let odd = ODD[rng.usize(..ODD.len())];
                bytes.splice(at..end, odd.iter().copied());
            }
            // A line, or half of the rest, of another input.
            6 => {
                if let Some(other) = rng.choice(inputs) {
                    let from = rng.usize(..=other.len());
                    let to = from + rng.usize(..=other.len() - from);
                    let piece = other[from..to.min(from + 200)].to_vec();
                    bytes.splice(at..end, piece);
                }
            }
            _ => swap_lines(rng, bytes),
        }
    }
}

/// Puts a line in the place of another one, which keeps more of the syntax than bytes do.
fn swap_lines(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.len() < 2 {
        return;
    }
    let (from, to) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    if rng.bool() {
        lines.swap(from, to);
    } else {
        lines[to] = lines[from];
    }
    *bytes = lines.concat();
}
