//! Search algorithms of the query job and their budget.

use std::fmt;
use std::str::FromStr;

/// How candidates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    /// Built from the conditions, then searched for from there; proofs for what cannot be covered.
    #[default]
    Default,
    /// The genetic algorithm of "Search-Based Test Data Generation for SQL Queries".
    Ga,
    /// That paper's random search with constants and join columns as seeds.
    Biased,
    /// That paper's random search.
    Random,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Default, Self::Ga, Self::Biased, Self::Random];

    /// As flags spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Ga => "ga",
            Self::Biased => "biased",
            Self::Random => "random",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.as_str() == text)
            .ok_or_else(|| UnknownAlgorithm(text.to_owned()))
    }
}

/// An unknown algorithm name.
#[derive(Debug, thiserror::Error)]
#[error("unknown algorithm `{0}` (expected one of: default, ga, biased, random)")]
pub struct UnknownAlgorithm(String);

/// What the job needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How candidates are found.
    pub algorithm: Algorithm,
    /// Random seed.
    pub seed: u64,
    /// How many evaluations a target may cost; what one leaves over, the others may use.
    pub budget: u64,
    /// Whether rows of several targets share a fixture where all of them stay covered; otherwise each
    /// candidate that was found is one.
    pub share_fixtures: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Default,
            seed: 1,
            budget: 2_000,
            share_fixtures: true,
        }
    }
}
