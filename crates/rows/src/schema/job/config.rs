//! What the schema job is asked, and its result.

use crate::schema::case::TestCase;
use crate::schema::criterion::{Criterion, RequirementCounts};
use crate::schema::generator::GeneratorName;
use crate::schema::requirement::Requirement;

/// Configuration of the schema job.
#[derive(Clone, Debug)]
pub struct Config {
    /// What must be covered.
    pub criterion: Criterion,
    /// Test data generator.
    pub generator: GeneratorName,
    /// Random seed.
    pub seed: u64,
    /// Evaluations that a search may spend on one requirement.
    pub budget: u64,
    /// Whether to add tests beyond the criterion: types, defaults, foreign-key actions, UPDATE, DELETE.
    pub extras: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            criterion: Criterion::default(),
            generator: GeneratorName::default(),
            seed: 0,
            budget: 100_000,
            extras: false,
        }
    }
}

/// Result of the schema job.
#[derive(Clone, Debug)]
pub struct SchemaOutcome {
    /// The requirements attempted, table by table.
    pub requirements: Vec<Requirement>,
    /// The outcome of each.
    pub statuses: Vec<RequirementStatus>,
    /// How many there were at each stage.
    pub counts: RequirementCounts,
    /// The suite.
    pub tests: Vec<TestCase>,
    /// Evaluations spent by search.
    pub evaluations: u64,
    /// What the schema's designer may want to know.
    pub findings: Vec<Finding>,
    /// What we did not understand, each once.
    pub limitations: Vec<String>,
}

/// The outcome of a requirement.
#[derive(Clone, Debug, PartialEq)]
pub enum RequirementStatus {
    /// Shown by this test.
    Covered(usize),
    /// No row can show it.
    Infeasible {
        /// Why not.
        proof: String,
    },
    /// No test was found.
    Uncovered {
        /// Why not.
        why: String,
    },
}

/// Something about the schema that its designer may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The table.
    pub table: usize,
    /// What, as a sentence.
    pub description: String,
}

impl SchemaOutcome {
    /// How many requirements are covered.
    pub fn covered(&self) -> usize {
        let covered = |status: &&RequirementStatus| matches!(status, RequirementStatus::Covered(_));
        self.statuses.iter().filter(covered).count()
    }

    /// How many requirements are proven infeasible.
    pub fn infeasible(&self) -> usize {
        let infeasible =
            |status: &&RequirementStatus| matches!(status, RequirementStatus::Infeasible { .. });
        self.statuses.iter().filter(infeasible).count()
    }

    /// How many rows the suite inserts.
    pub fn inserts(&self) -> usize {
        self.tests.iter().map(TestCase::inserts).sum()
    }
}
