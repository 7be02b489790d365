//! Collations: when two strings are the same and which comes first.

use std::cmp::Ordering;

use isobath_distance::{Relation, Truth, text};

use crate::dialect::DialectName;

/// How strings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collation {
    /// By code points.
    Binary,
    /// By code points, equality being certain but not the order (a locale of PostgreSQL).
    Locale,
    /// SQLite's NOCASE: ASCII letters in either case are the same.
    NoCase,
    /// SQLite's RTRIM: trailing blanks do not count.
    Rtrim,
    /// MariaDB's `*_general_ci`: case and accents do not count, blanks pad the shorter.
    General,
    /// Another case-insensitive collation of MariaDB: like `General` for letters and digits only.
    OtherInsensitive,
    /// MariaDB's `*_bin`: code points, blanks pad the shorter.
    BinaryPadded,
    /// A collation that we do not know.
    Unknown,
}

impl Collation {
    /// The collation that a column's declaration names, or the dialect's default.
    pub(crate) fn of(name: Option<&str>, dialect: DialectName) -> Self {
        let Some(name) = name else {
            return match dialect {
                DialectName::MySql => Self::General,
                _ => Self::Binary,
            };
        };
        let ends = |suffix: &str| {
            let start = name.len().checked_sub(suffix.len());
            let end = start.and_then(|start| name.get(start..));
            end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
        };
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        match dialect {
            DialectName::Sqlite if is("binary") => Self::Binary,
            DialectName::Sqlite if is("nocase") => Self::NoCase,
            DialectName::Sqlite if is("rtrim") => Self::Rtrim,
            DialectName::Sqlite => Self::Unknown,
            DialectName::MySql if is("binary") => Self::Binary,
            DialectName::MySql if ends("_nopad_bin") => Self::Binary,
            DialectName::MySql if ends("_bin") => Self::BinaryPadded,
            DialectName::MySql if ends("_nopad_ci") => Self::Unknown,
            DialectName::MySql if ends("_general_ci") => Self::General,
            DialectName::MySql if ends("_ci") && !ends("_0900_ai_ci") => Self::OtherInsensitive,
            DialectName::MySql => Self::Unknown,
            DialectName::Ansi | DialectName::Postgres => {
                if ["c", "posix", "default", "ucs_basic", "c.utf8", "c.utf-8"]
                    .iter()
                    .any(|known| is(known))
                    || ends("\"C\"")
                {
                    Self::Binary
                } else {
                    Self::Locale
                }
            }
        }
    }

    /// Whether letters in either case are the same.
    pub(crate) fn ignores_case(self) -> bool {
        matches!(self, Self::NoCase | Self::General | Self::OtherInsensitive)
    }

    /// The character as it counts, for distances and for ASCII comparisons.
    fn fold(self, c: char) -> char {
        match self {
            Self::NoCase => c.to_ascii_lowercase(),
            Self::General | Self::OtherInsensitive => c.to_ascii_uppercase(),
            _ => c,
        }
    }

    fn pads(self) -> bool {
        matches!(
            self,
            Self::General | Self::OtherInsensitive | Self::BinaryPadded | Self::Rtrim
        )
    }

    /// The order of two strings, `None` where we are not certain.
    ///
    /// With `for_equality`, an answer that is not `Equal` may be the wrong way round.
    pub(crate) fn order(self, a: &str, b: &str, for_equality: bool) -> Option<Ordering> {
        match self {
            Self::Binary => Some(a.cmp(b)),
            Self::Locale if a == b || for_equality => Some(a.cmp(b)),
            Self::Locale => None,
            Self::Unknown => (a == b).then_some(Ordering::Equal),
            Self::NoCase => Some(
                a.bytes()
                    .map(|x| x.to_ascii_lowercase())
                    .cmp(b.bytes().map(|x| x.to_ascii_lowercase())),
            ),
            Self::Rtrim => Some(a.trim_end_matches(' ').cmp(b.trim_end_matches(' '))),
            Self::General | Self::OtherInsensitive | Self::BinaryPadded => {
                self.padded(a, b, for_equality)
            }
        }
    }

    fn padded(self, a: &str, b: &str, for_equality: bool) -> Option<Ordering> {
        let (mut x, mut y) = (a.chars(), b.chars());
        let mut doubtful = false;
        loop {
            let (p, q) = match (x.next(), y.next()) {
                (None, None) => return (!doubtful).then_some(Ordering::Equal),
                (p, q) => (p.unwrap_or(' '), q.unwrap_or(' ')),
            };
            if p == q {
                continue;
            }
            let certain = self == Self::BinaryPadded
                || (p.is_ascii()
                    && q.is_ascii()
                    && (self == Self::General || (is_plain(p) && is_plain(q))));
            if !certain {
                if !for_equality {
                    return None;
                }
                doubtful = true;
            } else if self.fold(p) != self.fold(q) {
                return Some(self.fold(p).cmp(&self.fold(q)));
            }
        }
    }

    /// The outcome of a relation, `None` where we are not certain.
    ///
    /// Without grades the distances are mere steps, which saves walking both texts.
    pub(crate) fn judge(
        self,
        relation: Relation,
        a: &str,
        b: &str,
        with_distances: bool,
    ) -> Option<Truth> {
        let for_equality = matches!(relation, Relation::Equal | Relation::NotEqual);
        let ordering = self.order(a, b, for_equality)?;
        if !with_distances {
            return Some(relation.judge(ordering, 1.0));
        }
        if self.pads() {
            let (a, b) = (a.trim_end_matches(' '), b.trim_end_matches(' '));
            return Some(text::judge(
                relation,
                ordering,
                a.chars().map(|c| self.fold(c)),
                b.chars().map(|c| self.fold(c)),
            ));
        }
        Some(text::judge(
            relation,
            ordering,
            a.chars().map(|c| self.fold(c)),
            b.chars().map(|c| self.fold(c)),
        ))
    }
}

/// Characters that every collation orders alike: digits before letters, blanks before both.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == ' '
}
