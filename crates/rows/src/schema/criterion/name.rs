//! The criteria by name, alone and joined by `+`.

use std::fmt;
use std::str::FromStr;

/// One way to turn rules into requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CriterionName {
    /// Acceptance predicate coverage: per table, all rules hold; some rule fails.
    Apc,
    /// Integrity constraint coverage: each rule holds; each rule fails; nothing about the others.
    Icc,
    /// Active integrity constraint coverage: the same while all other rules hold.
    Aicc,
    /// AICC with NULL told apart.
    CondAicc,
    /// AICC per column of a key and per clause of a CHECK.
    ClauseAicc,
    /// Each column NULL and not NULL.
    Ncc,
    /// The same while all other rules hold.
    Ancc,
    /// Each column equal to, and different from, the row that is there.
    Ucc,
    /// The same while all other rules hold.
    Aucc,
}

/// One or more criteria whose requirements are put together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Criterion {
    names: Vec<CriterionName>,
}

/// An unknown criterion name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown criterion `{given}`{} (expected one or more of {}, joined by `+`)",
    hint(.meant),
    CriterionName::ALL.map(CriterionName::as_str).join(", ")
)]
pub struct UnknownCriterion {
    /// What was given.
    pub given: String,
    /// The criterion that was probably meant.
    pub meant: Option<CriterionName>,
}

fn hint(meant: &Option<CriterionName>) -> String {
    meant.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

impl CriterionName {
    /// All of them, weakest of each family first.
    pub const ALL: [Self; 9] = [
        Self::Apc,
        Self::Icc,
        Self::Aicc,
        Self::CondAicc,
        Self::ClauseAicc,
        Self::Ncc,
        Self::Ancc,
        Self::Ucc,
        Self::Aucc,
    ];

    /// As the paper and the flags spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apc => "APC",
            Self::Icc => "ICC",
            Self::Aicc => "AICC",
            Self::CondAicc => "CondAICC",
            Self::ClauseAicc => "ClauseAICC",
            Self::Ncc => "NCC",
            Self::Ancc => "ANCC",
            Self::Ucc => "UCC",
            Self::Aucc => "AUCC",
        }
    }
}

impl Criterion {
    /// The criteria put together, in the order given, each once.
    pub fn names(&self) -> &[CriterionName] {
        &self.names
    }
}

impl Default for Criterion {
    /// The paper's strongest combination, `ClauseAICC+AUCC+ANCC`.
    fn default() -> Self {
        Self {
            names: vec![
                CriterionName::ClauseAicc,
                CriterionName::Aucc,
                CriterionName::Ancc,
            ],
        }
    }
}

impl From<CriterionName> for Criterion {
    fn from(name: CriterionName) -> Self {
        Self { names: vec![name] }
    }
}

impl fmt::Display for CriterionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.names.iter().enumerate() {
            if index > 0 {
                f.write_str("+")?;
            }
            f.write_str(name.as_str())?;
        }
        Ok(())
    }
}

impl FromStr for CriterionName {
    type Err = UnknownCriterion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        Self::ALL
            .into_iter()
            .find(|name| name.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownCriterion {
                given: text.to_owned(),
                meant: nearest(text),
            })
    }
}

impl FromStr for Criterion {
    type Err = UnknownCriterion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut names = Vec::new();
        for part in text.split('+') {
            let name = part.parse()?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(Self { names })
    }
}

/// The criterion whose name takes the fewest edits, when they are few.
fn nearest(text: &str) -> Option<CriterionName> {
    let text = text.to_ascii_lowercase();
    CriterionName::ALL
        .into_iter()
        .map(|name| (edits(&text, &name.as_str().to_ascii_lowercase()), name))
        .min_by_key(|(edits, _)| *edits)
        .filter(|(edits, name)| *edits <= name.as_str().len() / 2)
        .map(|(_, name)| name)
}

/// Levenshtein's distance.
pub(crate) fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let cost = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_joined_by_plus() {
        let criterion: Criterion = "clauseaicc+AUCC + ancc".parse().unwrap();
        assert_eq!(criterion, Criterion::default());
        assert_eq!(criterion.to_string(), "ClauseAICC+AUCC+ANCC");
    }

    #[test]
    fn a_name_given_twice_counts_once() {
        let criterion: Criterion = "APC+apc".parse().unwrap();
        assert_eq!(criterion.names(), [CriterionName::Apc]);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_guesses() {
        let error = "ClauseAIC".parse::<Criterion>().unwrap_err();
        insta::assert_snapshot!(error, @"unknown criterion `ClauseAIC`; did you mean `ClauseAICC`? (expected one or more of APC, ICC, AICC, CondAICC, ClauseAICC, NCC, ANCC, UCC, AUCC, joined by `+`)");
    }

    #[test]
    fn a_name_far_from_all_is_not_guessed() {
        let error = "branches".parse::<Criterion>().unwrap_err();
        assert_eq!(error.meant, None);
    }
}
