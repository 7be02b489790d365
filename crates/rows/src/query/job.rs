//! All targets of one query.

use isobath_sql::query::{Query, evaluate};

use super::candidate::Candidate;
use super::construct::{Construction, Setting, construct};
use super::target::Target;

/// What became of one target.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The fixture of this number covers it.
    Covered(usize),
    /// No rows can.
    Infeasible {
        /// Why, as a sentence.
        proof: String,
    },
    /// We found neither rows nor a proof.
    Uncovered {
        /// What stands in the way, where we know.
        why: String,
    },
}

/// What became of a query's targets.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The candidates that cover targets.
    pub fixtures: Vec<Candidate>,
    /// One per target.
    pub fates: Vec<Fate>,
    /// How often a query was run over a candidate.
    pub evaluations: u64,
}

impl Outcome {
    /// How many targets are covered.
    pub fn covered(&self) -> usize {
        let covered = self.fates.iter();
        covered
            .filter(|fate| matches!(fate, Fate::Covered(_)))
            .count()
    }

    /// How many targets are proven infeasible.
    pub fn infeasible(&self) -> usize {
        let proven = self.fates.iter();
        proven
            .filter(|fate| matches!(fate, Fate::Infeasible { .. }))
            .count()
    }

    /// How many rows all fixtures have.
    pub fn rows(&self) -> usize {
        self.fixtures.iter().map(Candidate::row_count).sum()
    }
}

/// How candidates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Built from the conditions, then searched for; proofs.
    #[default]
    Default,
}

impl std::str::FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "default" => Ok(Self::Default),
            _ => Err(UnknownAlgorithm(text.to_owned())),
        }
    }
}

/// A name that is no algorithm.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no algorithm; known are default, ga, biased, random")]
pub struct UnknownAlgorithm(String);

/// What the job needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How candidates are found.
    pub algorithm: Algorithm,
    /// Where chance begins.
    pub seed: u64,
    /// How many evaluations one target may cost.
    pub budget: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Default,
            seed: 1,
            budget: 10_000,
        }
    }
}

/// Covers the targets of a query.
pub fn run(targets: &[Target], setting: Setting<'_>, config: &Config) -> Outcome {
    let _ = config;
    let mut outcome = Outcome::default();
    for target in targets {
        let fate = match &target.query {
            Ok(query) => one(query, setting, &mut outcome),
            Err(error) => Fate::Uncovered {
                why: error.to_string(),
            },
        };
        outcome.fates.push(fate);
    }
    outcome
}

fn one(query: &Query, setting: Setting<'_>, outcome: &mut Outcome) -> Fate {
    for index in 0..outcome.fixtures.len() {
        // Parameters are numbered by each target for itself.
        if !outcome.fixtures[index].parameters.is_empty() {
            continue;
        }
        outcome.evaluations += 1;
        if covers(query, &outcome.fixtures[index], setting) {
            return Fate::Covered(index);
        }
    }
    let mut evaluations = 0;
    let mut unable = String::new();
    let found = construct(query, setting, &mut |candidate| {
        evaluations += 1;
        match evaluate(query, candidate, &candidate.parameters, setting.dialect) {
            Ok(evaluated) => !evaluated.rows.is_empty(),
            Err(stop) => {
                unable = stop.to_string();
                false
            }
        }
    });
    outcome.evaluations += evaluations;
    match found {
        Construction::Candidate(candidate) => {
            outcome.fixtures.push(candidate);
            Fate::Covered(outcome.fixtures.len() - 1)
        }
        Construction::Infeasible { proof } => Fate::Infeasible { proof },
        Construction::Unknown => Fate::Uncovered { why: unable },
    }
}

/// Whether a query returns a row over a candidate.
pub fn covers(query: &Query, candidate: &Candidate, setting: Setting<'_>) -> bool {
    evaluate(query, candidate, &candidate.parameters, setting.dialect)
        .is_ok_and(|evaluated| !evaluated.rows.is_empty())
}
