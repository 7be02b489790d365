//! Passwords, salted and stretched. Few rounds, because this is a service for tests.

use sha2::{Digest, Sha256};

const ROUNDS: u32 = 32;

/// What is stored: rounds, salt and digest.
pub(crate) fn hash(password: &str, salt: &str) -> String {
    format!("{ROUNDS}${salt}${}", digest(password, salt, ROUNDS))
}

/// Whether the password is the one that was stored.
pub(crate) fn verify(password: &str, stored: &str) -> bool {
    let mut parts = stored.splitn(3, '$');
    let (Some(rounds), Some(salt), Some(expected)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Ok(rounds) = rounds.parse::<u32>() else {
        return false;
    };
    same(
        digest(password, salt, rounds).as_bytes(),
        expected.as_bytes(),
    )
}

fn digest(password: &str, salt: &str, rounds: u32) -> String {
    let mut state = Sha256::new()
        .chain_update(salt)
        .chain_update([0])
        .chain_update(password)
        .finalize();
    for round in 1..rounds {
        state = Sha256::new()
            .chain_update(state)
            .chain_update(round.to_le_bytes())
            .finalize();
    }
    format!("{state:x}")
}

/// Compares without telling by time how much was equal.
pub(crate) fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .fold(0, |difference, (l, r)| difference | (l ^ r))
            == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_password_is_accepted() {
        let stored = hash("open sesame", "salt");
        assert!(verify("open sesame", &stored));
        assert!(!verify("open sesame ", &stored));
        assert!(!verify("open sesame", "no rounds at all"));
    }
}
