//! Which mutants a suite notices, and the score that follows.

use isobath_sql::{Dialect, Schema};

use super::ineffective::{self, FilterPipeline, Ineffective};
use super::mutant::Mutant;
use super::runner::MutantRunner;
use crate::schema::case::TestCase;

/// The outcome of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantStatus {
    /// A test tells it from the original.
    Killed {
        /// Index of the first such test.
        test: usize,
    },
    /// No test does.
    Alive,
    /// Nothing can.
    Equivalent {
        /// Why, as a sentence.
        proof: String,
    },
    /// The engine refuses its definition.
    StillBorn {
        /// Why.
        why: String,
    },
    /// The engine accepts its definition and then refuses every row.
    Impaired {
        /// Why.
        why: String,
    },
    /// It accepts exactly the rows of an earlier mutant.
    Redundant {
        /// Index of that mutant.
        same_as: usize,
    },
    /// No test that we can judge kills it, and some that we cannot judge might.
    Unsupported {
        /// What we cannot judge.
        what: String,
    },
}

/// The mutants of a schema and their outcome.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The mutants.
    pub mutants: Vec<Mutant>,
    /// The outcome of each.
    pub statuses: Vec<MutantStatus>,
}

/// Runs a suite against mutants, in memory.
pub fn analyze(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    mutants: Vec<Mutant>,
    pipeline: FilterPipeline,
    suite: &[TestCase],
) -> Analysis {
    let sifted = ineffective::find_ineffective(schema, dialect, &mutants, pipeline);
    let runner = MutantRunner::new(schema, dialect, suite);
    let statuses = mutants
        .iter()
        .zip(sifted)
        .map(|(mutant, ineffective)| match ineffective {
            Some(ineffective) => ineffective.into(),
            None => runner.status(mutant),
        })
        .collect();
    Analysis { mutants, statuses }
}

impl From<Ineffective> for MutantStatus {
    fn from(ineffective: Ineffective) -> Self {
        match ineffective {
            Ineffective::StillBorn { why } => Self::StillBorn { why },
            Ineffective::Impaired { why } => Self::Impaired { why },
            Ineffective::Equivalent { proof } => Self::Equivalent { proof },
            Ineffective::Redundant { same_as } => Self::Redundant { same_as },
        }
    }
}

impl MutantStatus {
    /// Whether a test could be expected to kill it.
    pub fn is_effective(&self) -> bool {
        matches!(
            self,
            Self::Killed { .. } | Self::Alive | Self::Unsupported { .. }
        )
    }
}

impl Analysis {
    /// How many mutants have a status.
    pub fn count(&self, is: impl Fn(&MutantStatus) -> bool) -> usize {
        self.statuses.iter().filter(|status| is(status)).count()
    }

    /// How many mutants tests killed.
    pub fn killed(&self) -> usize {
        self.count(|status| matches!(status, MutantStatus::Killed { .. }))
    }

    /// How many mutants a suite can be expected to kill.
    pub fn effective(&self) -> usize {
        self.count(MutantStatus::is_effective)
    }

    /// How many mutants are proven to accept exactly the rows of the original.
    pub fn equivalent(&self) -> usize {
        self.count(|status| matches!(status, MutantStatus::Equivalent { .. }))
    }

    /// Killed mutants as a share of the effective ones; 1 when there are none.
    pub fn score(&self) -> f64 {
        match self.effective() {
            0 => 1.0,
            effective => self.killed() as f64 / effective as f64,
        }
    }

    /// The mutants that are effective and not killed, with their indices.
    pub fn survivors(&self) -> impl Iterator<Item = (usize, &Mutant)> {
        self.statuses
            .iter()
            .zip(&self.mutants)
            .enumerate()
            .filter(|(_, (status, _))| {
                matches!(
                    status,
                    MutantStatus::Alive | MutantStatus::Unsupported { .. }
                )
            })
            .map(|(index, (_, mutant))| (index, mutant))
    }
}
