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
        covered.filter(|fate| matches!(fate, Fate::Covered(_))).count()
    }

    /// How many targets are proven infeasible.
    pub fn infeasible(&self) -> usize {
        let proven = self.fates.iter();
        proven.filter(|fate| matches!(fate, Fate::Infeasible { .. })).count()
    }

    /// How many rows all fixtures have.
    pub fn rows(&self) -> usize {
        self.fixtures.iter().map(Candidate::row_count).sum()
    }
}

/// Covers the targets of a query.
pub fn run(targets: &[Target], setting: Setting<'_>) -> Outcome {
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
        outcome.evaluations += 1;
        if covers(query, &outcome.fixtures[index], setting) {
            return Fate::Covered(index);
        }
    }
    let mut evaluations = 0;
    let found = construct(query, setting, &mut |candidate| {
        evaluations += 1;
        covers(query, candidate, setting)
    });
    outcome.evaluations += evaluations;
    match found {
        Construction::Candidate(candidate) => {
            outcome.fixtures.push(candidate);
            Fate::Covered(outcome.fixtures.len() - 1)
        }
        Construction::Infeasible { proof } => Fate::Infeasible { proof },
        Construction::Unknown => Fate::Uncovered { why: String::new() },
    }
}

/// Whether a query returns a row over a candidate.
pub fn covers(query: &Query, candidate: &Candidate, setting: Setting<'_>) -> bool {
    evaluate(query, candidate, &candidate.parameters, setting.dialect)
        .is_ok_and(|evaluated| !evaluated.rows.is_empty())
}
