//! Identifiers of pastes: seven letters that are not easily confused, and one that checks them.

use std::fmt;
use std::str::FromStr;

/// No `0`, `O`, `1`, `l` or `I`.
const LETTERS: &[u8; 56] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz";

const LENGTH: usize = 8;

/// An identifier that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id([u8; LENGTH]);

/// What is wrong with a text that should be an identifier.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum IdError {
    #[error("it must have {LENGTH} characters")]
    Length,
    #[error("`{0}` is not used in identifiers")]
    Letter(char),
    #[error("it is mistyped")]
    Check,
}

impl Id {
    /// An identifier made of a random number.
    pub(crate) fn from_number(mut number: u64) -> Self {
        let mut letters = [0; LENGTH];
        let base = LETTERS.len() as u64;
        for letter in &mut letters[..LENGTH - 1] {
            *letter = LETTERS[(number % base) as usize];
            number /= base;
        }
        letters[LENGTH - 1] = check(&letters[..LENGTH - 1]);
        Self(letters)
    }

    pub(crate) fn random() -> Self {
        Self::from_number(uuid::Uuid::new_v4().as_u64_pair().0)
    }
}

/// The letter that checks the others: each counts by its place, so that two swapped ones show.
fn check(letters: &[u8]) -> u8 {
    let sum: usize = letters
        .iter()
        .enumerate()
        .map(|(place, letter)| (place + 1) * value(*letter).unwrap_or(0))
        .sum();
    LETTERS[sum % LETTERS.len()]
}

fn value(letter: u8) -> Option<usize> {
    LETTERS.iter().position(|known| *known == letter)
}

impl FromStr for Id {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let bad = text
            .chars()
            .find(|c| u8::try_from(*c).ok().and_then(value).is_none());
        if let Some(letter) = bad {
            return Err(IdError::Letter(letter));
        }
        let letters: [u8; LENGTH] = text.as_bytes().try_into().map_err(|_| IdError::Length)?;
        if check(&letters[..LENGTH - 1]) != letters[LENGTH - 1] {
            return Err(IdError::Check);
        }
        Ok(Self(letters))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_reads_back() {
        for number in [0, 1, 55, 56, u64::MAX] {
            let id = Id::from_number(number);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn what_is_mistyped_shows() {
        let id = Id::from_number(123_456_789).to_string();
        let mut swapped: Vec<char> = id.chars().collect();
        swapped.swap(0, 1);
        let swapped: String = swapped.into_iter().collect();
        assert_eq!(swapped.parse::<Id>(), Err(IdError::Check));
        assert_eq!("0".parse::<Id>(), Err(IdError::Letter('0')));
        assert_eq!("abc".parse::<Id>(), Err(IdError::Length));
        assert_eq!("ábc".parse::<Id>(), Err(IdError::Letter('á')));
    }
}
