//! Rules for what users send in, collected by field before anything is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

/// All that is wrong with a request, by field.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Violations(BTreeMap<&'static str, Vec<String>>);

impl Violations {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.0.iter().map(|(field, all)| (*field, all.as_slice()))
    }

    pub(crate) fn add(&mut self, field: &'static str, message: impl Into<String>) {
        self.0.entry(field).or_default().push(message.into());
    }

    /// One violation.
    pub(crate) fn of(field: &'static str, message: impl Into<String>) -> Self {
        let mut all = Self::default();
        all.add(field, message);
        all
    }

    pub(crate) fn into_result(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (field, messages)) in self.iter().enumerate() {
            let separator = if nth == 0 { "" } else { "; " };
            write!(f, "{separator}{field} {}", messages.join(", "))?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}

/// Checks one field after the other.
#[derive(Default)]
pub(crate) struct Check {
    violations: Violations,
}

/// One field that is looked at; methods can be chained.
pub(crate) struct Field<'c, 'v> {
    check: &'c mut Check,
    name: &'static str,
    value: &'v str,
}

impl Check {
    pub(crate) fn text<'c, 'v>(&'c mut self, name: &'static str, value: &'v str) -> Field<'c, 'v> {
        Field {
            check: self,
            name,
            value,
        }
    }

    /// Applies `rules` if there is a value.
    pub(crate) fn optional<'v>(
        &mut self,
        name: &'static str,
        value: Option<&'v str>,
        rules: impl FnOnce(Field<'_, 'v>),
    ) {
        if let Some(value) = value {
            rules(self.text(name, value));
        }
    }

    pub(crate) fn count(&mut self, name: &'static str, count: usize, most: usize) {
        if count > most {
            self.violations
                .add(name, format!("has {count} entries, more than {most}"));
        }
    }

    pub(crate) fn finish(self) -> Result<(), Violations> {
        self.violations.into_result()
    }
}

impl Field<'_, '_> {
    fn require(self, holds: bool, message: impl FnOnce() -> String) -> Self {
        if !holds {
            self.check.violations.add(self.name, message());
        }
        self
    }

    pub(crate) fn length(self, least: usize, most: usize) -> Self {
        let length = self.value.chars().count();
        match length {
            0 if least > 0 => self.require(false, || "is empty".to_owned()),
            n if n < least => self.require(false, || format!("is shorter than {least}")),
            n if n > most => self.require(false, || format!("is longer than {most}")),
            _ => self,
        }
    }

    pub(crate) fn not_blank(self) -> Self {
        let blank = !self.value.is_empty() && self.value.trim().is_empty();
        self.require(!blank, || "is blank".to_owned())
    }

    pub(crate) fn matches(self, pattern: &Regex, what: &str) -> Self {
        let holds = pattern.is_match(self.value);
        self.require(holds, || format!("is not {what}"))
    }

    pub(crate) fn not_among(self, words: &[&str]) -> Self {
        let found = words
            .iter()
            .any(|word| word.eq_ignore_ascii_case(self.value));
        self.require(!found, || "is reserved".to_owned())
    }

    pub(crate) fn no_control_characters(self) -> Self {
        let clean = !self
            .value
            .chars()
            .any(|c| c.is_control() && c != '\n' && c != '\t' && c != '\r');
        self.require(clean, || "holds control characters".to_owned())
    }
}

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub(crate) static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("the pattern is a constant"));)*
    };
}

patterns! {
    /// What users are called.
    USERNAME = r"^[A-Za-z][A-Za-z0-9_-]*$";
    /// Good enough for a first look; only a mail proves an address.
    EMAIL = r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$";
    /// Words of lower case letters and digits with single hyphens between them.
    TAG = r"^[a-z0-9]+(-[a-z0-9]+)*$";
    /// Where an image may be.
    IMAGE_URL = r"^https?://[^\s/]+(/[^\s]*)?$";
}

/// Names that would be mistaken for somebody else.
pub(crate) const RESERVED: &[&str] = &[
    "admin",
    "administrator",
    "moderator",
    "root",
    "support",
    "system",
];

/// How good a password is, from 0 to 4: one point per kind of character beyond the first, one for length.
pub(crate) fn password_strength(password: &str) -> u8 {
    const KINDS: [fn(char) -> bool; 4] = [
        |c| c.is_lowercase(),
        |c| c.is_uppercase(),
        |c| c.is_numeric(),
        |c| !c.is_alphanumeric(),
    ];
    let kinds = KINDS
        .iter()
        .filter(|kind| password.chars().any(kind))
        .count();
    let long = usize::from(password.chars().count() >= 16);
    u8::try_from((kinds + long).saturating_sub(1)).unwrap_or(u8::MAX)
}
