//! E-mail addresses, checked letter by letter.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// An address that could exist, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(crate) struct Address(String);

/// What is wrong with an address.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("has no @")]
    NoAt,
    #[error("is longer than {LONGEST}")]
    TooLong,
    #[error("has a bad part before the @")]
    Local,
    #[error("has a bad domain: {0}")]
    Domain(&'static str),
    #[error("is at a domain that is thrown away after use")]
    Disposable,
}

const LONGEST: usize = 120;

/// Domains that nobody reads for long.
const DISPOSABLE: [&str; 4] = [
    "throwaway.example",
    "tenminutes.example",
    "trash.example.net",
    "nomail.invalid",
];

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(AddressError::TooLong);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(AddressError::NoAt)?;
        if !is_local(local) {
            return Err(AddressError::Local);
        }
        check_domain(domain).map_err(AddressError::Domain)?;
        let domain = domain.to_ascii_lowercase();
        if DISPOSABLE.contains(&domain.as_str()) {
            return Err(AddressError::Disposable);
        }
        Ok(Self(format!("{}@{domain}", local.to_ascii_lowercase())))
    }
}

fn is_local(local: &str) -> bool {
    if local.is_empty() || local.len() > 64 {
        return false;
    }
    local.split('.').all(|atom| {
        !atom.is_empty()
            && atom
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b))
    })
}

fn check_domain(domain: &str) -> Result<(), &'static str> {
    let labels: Vec<&str> = domain.split('.').collect();
    let [.., _, top] = labels.as_slice() else {
        return Err("it has no dot");
    };
    if top.len() < 2 || !top.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Err("its end is not made of letters");
    }
    for label in &labels {
        match label.as_bytes() {
            [] => return Err("it has two dots in a row"),
            [b'-', ..] | [.., b'-'] => return Err("it has a hyphen at a dot"),
            bytes if bytes.len() > 63 => return Err("it has a part that is too long"),
            bytes => {
                if !bytes
                    .iter()
                    .all(|b| b.is_ascii_alphanumeric() || *b == b'-')
                {
                    return Err("it has a letter that domains do not have");
                }
            }
        }
    }
    Ok(())
}

impl Address {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The part after the @.
    pub(crate) fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_kept_in_lower_case() {
        let address: Address = " Ada.L+news@Example.ORG ".parse().expect("it is fine");
        assert_eq!(address.as_str(), "ada.l+news@example.org");
        assert_eq!(address.domain(), "example.org");
    }

    #[test]
    fn bad_addresses_are_told_apart() {
        use AddressError::{Disposable, Domain, Local, NoAt, TooLong};
        for (text, expected) in [
            ("nobody", NoAt),
            ("@example.org", Local),
            ("a..b@example.org", Local),
            ("a@localhost", Domain("it has no dot")),
            ("a@x.1", Domain("its end is not made of letters")),
            ("a@-x.org", Domain("it has a hyphen at a dot")),
            ("a@x..org", Domain("it has two dots in a row")),
            (
                "a@x_y.org",
                Domain("it has a letter that domains do not have"),
            ),
            ("a@ThrowAway.example", Disposable),
        ] {
            assert_eq!(text.parse::<Address>(), Err(expected), "{text}");
        }
        let long = format!("{}@example.org", "a".repeat(200));
        assert_eq!(long.parse::<Address>(), Err(TooLong));
    }
}
