//! Passwords, edit keys and digests of texts.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Rounds of the digest of a password; few, because this is a service for tests.
const ROUNDS: usize = 24;

/// What is stored of a password.
pub(crate) fn seal(password: &str) -> String {
    let salt = Uuid::new_v4().simple().to_string();
    let sealed = stretch(password, &salt);
    format!("{salt}:{sealed}")
}

/// Whether it is the password that was sealed.
pub(crate) fn opens(password: &str, sealed: &str) -> bool {
    match sealed.split_once(':') {
        Some((salt, expected)) => stretch(password, salt) == expected,
        None => false,
    }
}

fn stretch(password: &str, salt: &str) -> String {
    (0..ROUNDS).fold(password.to_owned(), |state, _| {
        let digest = Sha256::new().chain_update(salt).chain_update(state);
        format!("{:x}", digest.finalize())
    })
}

/// A key with which a paste can be changed.
pub(crate) fn new_key() -> String {
    Uuid::new_v4().to_string()
}

/// The digest of a text, by which equal ones are known.
pub(crate) fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

/// How hard a password is to guess, as far as it can be said cheaply.
pub(crate) fn is_weak(password: &str) -> bool {
    const COMMON: &[&str] = &["password", "12345678", "qwertyui", "letmein!", "iloveyou"];
    let letters: Vec<char> = password.chars().collect();
    let same = letters.windows(2).all(|pair| pair[0] == pair[1]);
    let counts_up = letters
        .windows(2)
        .all(|pair| pair[1] as u32 == pair[0] as u32 + 1);
    same || counts_up
        || COMMON
            .iter()
            .any(|word| word.eq_ignore_ascii_case(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_opens_only_what_it_sealed() {
        let sealed = seal("open sesame");
        assert!(opens("open sesame", &sealed));
        assert!(!opens("open sesamE", &sealed));
        assert_ne!(sealed, seal("open sesame"));
    }

    #[test]
    fn simple_passwords_are_known() {
        for weak in ["aaaaaaaa", "abcdefgh", "PassWord"] {
            assert!(is_weak(weak), "{weak}");
        }
        assert!(!is_weak("a better one"));
    }
}
