//! Text formats that a pattern describes well enough to make texts that programs accept.

use std::sync::{Arc, OnceLock};

use crate::pattern::Pattern;

/// Formats and their patterns. They are narrower than the formats: each text is valid, not each
/// valid text is made.
const PATTERNS: [(&str, &str); 16] = [
    (
        "uuid",
        "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    ),
    (
        "email",
        r"^[a-z][a-z0-9]{0,9}([._+-][a-z0-9]{1,6})?@[a-z][a-z0-9]{1,9}\.(com|org|net|io|example)$",
    ),
    (
        "hostname",
        r"^[a-z][a-z0-9]{0,9}(-[a-z0-9]{1,5})?\.(com|org|net|example)$",
    ),
    (
        "ipv4",
        r"^(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}$",
    ),
    ("ipv6", "^[1-9a-f][0-9a-f]{0,3}(:[1-9a-f][0-9a-f]{0,3}){7}$"),
    (
        "uri",
        r"^https?://[a-z][a-z0-9]{0,9}\.(com|org|example)(/[a-z0-9]{1,8}){0,3}(\?[a-z]{1,5}=[a-z0-9]{1,5})?$",
    ),
    (
        "uri-reference",
        r"^(https?://[a-z][a-z0-9]{0,9}\.(com|org|example))?(/[a-z0-9]{1,8}){1,3}$",
    ),
    ("uri-template", r"^/[a-z]{1,8}/\{[a-z]{1,8}\}$"),
    (
        "duration",
        r"^P([1-9][0-9]?D|[1-9]Y[1-9]M|T[1-9][0-9]?H([1-9][0-9]?M)?)$",
    ),
    ("json-pointer", "^(/[a-z0-9]{1,8}){0,3}$"),
    ("relative-json-pointer", "^[0-9](/[a-z0-9]{1,8}){0,2}$"),
    ("regex", r"^\^[a-z]{1,6}(\[[a-z]\])?[+*]?\$$"),
    ("mac", "^[0-9a-f]{2}(:[0-9a-f]{2}){5}$"),
    ("phone", r"^\+[1-9][0-9]{7,11}$"),
    ("color", "^#[0-9a-f]{6}$"),
    ("char", "^[a-zA-Z0-9]$"),
];

fn canonical(name: &str) -> &str {
    match name {
        "guid" | "UUID" => "uuid",
        "idn-email" => "email",
        "idn-hostname" | "host-name" => "hostname",
        "ip" | "ip-address" | "ipv4-address" => "ipv4",
        "url" | "URL" | "iri" | "URI" => "uri",
        "iri-reference" => "uri-reference",
        "tel" => "phone",
        name => name,
    }
}

/// What a text of a format looks like to a lenient reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Uuid,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    /// Nothing more than its pattern.
    AsMade,
}

impl Shape {
    fn of(name: &str) -> Self {
        match name {
            "uuid" => Self::Uuid,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            "uri-reference" => Self::UriReference,
            _ => Self::AsMade,
        }
    }

    /// Whether the text has the shape; `None` if only the pattern can tell.
    pub(crate) fn accepts(self, text: &str) -> Option<bool> {
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
        Some(match self {
            Self::Uuid => {
                text.len() == 36
                    && text.bytes().enumerate().all(|(i, b)| match i {
                        8 | 13 | 18 | 23 => b == b'-',
                        _ => b.is_ascii_hexdigit(),
                    })
            }
            Self::Email => text
                .rsplit_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && is_hostname(host)),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.parse::<std::net::Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<std::net::Ipv6Addr>().is_ok(),
            Self::Uri => {
                text.chars().all(is_plain)
                    && text.split_once(':').is_some_and(|(scheme, _)| {
                        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                            && scheme
                                .chars()
                                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                    })
            }
            Self::UriReference => text.chars().all(is_plain),
            Self::AsMade => return None,
        })
    }
}

fn is_hostname(text: &str) -> bool {
    !text.is_empty()
        && text.split('.').all(|label| {
            !label.is_empty()
                && !label.starts_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        })
}

/// The pattern of a format of JSON Schema or OpenAPI; `None` if it has none.
pub(crate) fn pattern(name: &str) -> Option<(Shape, Arc<Pattern>)> {
    static MADE: [OnceLock<Arc<Pattern>>; PATTERNS.len()] =
        [const { OnceLock::new() }; PATTERNS.len()];
    let name = canonical(name);
    let mut patterns = PATTERNS.iter().zip(&MADE);
    let ((_, text), made) = patterns.find(|((known, _), _)| *known == name)?;
    let pattern = made
        .get_or_init(|| Arc::new(Pattern::new(text).expect("each pattern of the table is tested")));
    Some((Shape::of(name), pattern.clone()))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::pattern::PatternDomain;

    #[test]
    fn every_format_makes_texts() {
        for (name, _) in PATTERNS {
            let domain = PatternDomain::format(name, 0, None).expect("it has texts");
            let mut rng = Rng::with_seed(1);
            for _ in 0..20 {
                let text = domain.sample(&mut rng);
                assert!(domain.check(&text).is_ok(), "{name}: {text}");
            }
        }
    }

    #[test]
    fn addresses_are_accepted_by_the_standard_library() {
        let mut rng = Rng::with_seed(2);
        let mut texts = |name: &str| -> Vec<Arc<str>> {
            let domain = PatternDomain::format(name, 0, None).expect("it has texts");
            (0..50).map(|_| domain.sample(&mut rng)).collect()
        };
        for text in texts("ipv4") {
            assert!(text.parse::<std::net::Ipv4Addr>().is_ok(), "{text}");
        }
        for text in texts("ipv6") {
            assert!(text.parse::<std::net::Ipv6Addr>().is_ok(), "{text}");
        }
    }
}
