//! The format of stored hashes: no text of another format is ever read back from such a column.

use std::sync::LazyLock;

use regex::Regex;

/// The shortest digest.
const MIN_DIGEST: usize = 20;

/// How a hash is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// With the name of its algorithm first, as in `$argon2id$…`, `{bcrypt}…` or `pbkdf2_sha256$…`.
    Hash(String),
    /// As hexadecimal digits, always as many.
    Digest(usize),
}

impl TextFormat {
    /// The format of a text; `None` if it is any text.
    pub(super) fn of(text: &str) -> Option<Self> {
        static ALGORITHM: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r"^(?:\{[A-Za-z0-9_-]+\}|\$[A-Za-z0-9_-]+\$|(?:pbkdf2|scrypt|bcrypt|argon2|sha|md5)[A-Za-z0-9_:-]*\$)",
            )
            .expect("a constant pattern")
        });
        if let Some(algorithm) = ALGORITHM.find(text) {
            return Some(Self::Hash(algorithm.as_str().to_owned()));
        }
        let is_hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (text.len() >= MIN_DIGEST && is_hexadecimal).then_some(Self::Digest(text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_known_by_their_algorithm_and_digests_by_their_length() {
        let hash = |prefix: &str| Some(TextFormat::Hash(prefix.to_owned()));
        assert_eq!(
            TextFormat::of("$argon2id$v=19$m=4096,t=3,p=1$c2FsdA$aGFzaA"),
            hash("$argon2id$")
        );
        assert_eq!(TextFormat::of("$2b$12$R9h/cIPz0gi"), hash("$2b$"));
        assert_eq!(
            TextFormat::of("pbkdf2_sha256$870000$salt$hash="),
            hash("pbkdf2_sha256$")
        );
        assert_eq!(TextFormat::of("{noop}secret"), hash("{noop}"));
        let digest = "d41d8cd98f00b204e9800998ecf8427e";
        assert_eq!(TextFormat::of(digest), Some(TextFormat::Digest(32)));
        for text in ["a", "Sea Gull", "$5 a day", "_isobath_13_input", "shanty"] {
            assert_eq!(TextFormat::of(text), None, "{text}");
        }
    }
}
