//! How far a string is from matching a wildcard pattern.
//!
//! A pattern is a list of [`PatternPiece`]s. The distance is the cheapest edit that
//! makes the string match: replacing a character costs as in [`text`](crate::text),
//! adding or removing one costs one, and [`PatternPiece::Many`] takes any characters for free.

use crate::text::substitution;
use crate::truth::{STEP, Truth};

/// One piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternPiece {
    /// This character.
    Char(char),
    /// Any one character (`_` or `?`).
    One,
    /// Any characters, also none (`%` or `*`).
    Many,
    /// One character in (or, negated, outside) these inclusive ranges.
    Set {
        /// The ranges.
        ranges: Vec<(char, char)>,
        /// Outside instead of in.
        negated: bool,
    },
}

impl PatternPiece {
    /// What it costs to make `c` fit, below one; zero when it fits. `Many` fits all.
    fn cost(&self, c: char) -> f64 {
        match self {
            Self::Char(wanted) => substitution(*wanted, c),
            Self::One | Self::Many => 0.0,
            Self::Set { ranges, negated } => {
                let inside = ranges.iter().any(|&(low, high)| (low..=high).contains(&c));
                if inside != *negated {
                    0.0
                } else if *negated {
                    0.5
                } else {
                    ranges
                        .iter()
                        .map(|&(low, high)| substitution(c, low).min(substitution(c, high)))
                        .fold(1.0, f64::min)
                }
            }
        }
    }
}

/// Whether and how nearly `text` matches `pattern`.
pub fn matches(text: &str, pattern: &[PatternPiece]) -> Truth {
    let distance = distance(text, pattern);
    if distance == 0.0 {
        Truth::holds(STEP)
    } else {
        Truth::fails(distance)
    }
}

/// The cheapest edit that makes `text` match; zero exactly when it does.
pub fn distance(text: &str, pattern: &[PatternPiece]) -> f64 {
    // The cost of matching the text read so far with no piece, and with all pieces up to each.
    let mut without = 0.0;
    let skipped = |sum: &mut f64, piece: &PatternPiece| {
        if *piece != PatternPiece::Many {
            *sum += 1.0;
        }
        Some(*sum)
    };
    let mut costs: Vec<f64> = pattern.iter().scan(0.0, skipped).collect();
    for c in text.chars() {
        let mut diagonal = without;
        without += 1.0;
        let mut left = without;
        for (cost, piece) in costs.iter_mut().zip(pattern) {
            let above = *cost;
            *cost = if *piece == PatternPiece::Many {
                above.min(left)
            } else {
                (diagonal + piece.cost(c)).min(above + 1.0).min(left + 1.0)
            };
            (diagonal, left) = (above, *cost);
        }
    }
    costs.last().copied().unwrap_or(without)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(text: &str, pattern: &str) -> f64 {
        let pieces: Vec<PatternPiece> = pattern
            .chars()
            .map(|c| match c {
                '%' => PatternPiece::Many,
                '_' => PatternPiece::One,
                c => PatternPiece::Char(c),
            })
            .collect();
        distance(text, &pieces)
    }

    #[test]
    fn wildcards_are_free() {
        assert_eq!(like("hello", "h%o"), 0.0);
        assert_eq!(like("", "%"), 0.0);
        assert_eq!(like("abc", "_b_"), 0.0);
    }

    #[test]
    fn a_missing_character_costs_one() {
        assert_eq!(like("ab", "abc"), 1.0);
        assert_eq!(like("abcd", "abc"), 1.0);
        assert!(like("abd", "abc") < 1.0);
    }

    #[test]
    fn sets_measure_to_the_nearest_member() {
        let digit = PatternPiece::Set {
            ranges: vec![('0', '9')],
            negated: false,
        };
        assert_eq!(distance("5", std::slice::from_ref(&digit)), 0.0);
        assert_eq!(distance(":", &[digit]), 0.5);
    }
}
