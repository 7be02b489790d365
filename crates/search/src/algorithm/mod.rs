//! Search algorithms and their settings.
//!
//! The defaults are those of the papers that introduced the algorithms.

mod linkage;
mod mio;
mod mosa;
mod random;
mod ranking;
mod wts;

use std::fmt;
use std::str::FromStr;

use crate::archive::{Archive, ArchiveUpdate, ArchivedCandidate};
use crate::evaluation::{Evaluation, Score};
use crate::event::Phase;
use crate::problem::{Problem, Rng};
use crate::target::TargetId;

pub use mio::{Mio, MioConfig};
pub use mosa::{Mosa, MosaConfig};
pub use random::Random;
pub use wts::{Wts, WtsConfig};

/// Decides what is tried next.
///
/// Invariant: decisions depend on the context and on what was absorbed, and on nothing else.
pub trait Algorithm<P: Problem> {
    /// The next candidate.
    fn propose(&mut self, context: &mut Context<'_, P>) -> Proposal<P::Candidate>;

    /// Takes in the outcome of a proposal, after the archive did.
    fn on_evaluated(
        &mut self,
        context: &mut Context<'_, P>,
        evaluated: &Evaluated<'_, P::Candidate>,
    );

    /// Takes in that a proposal will never be answered.
    fn on_lost(&mut self, _tag: u64) {}

    /// How many candidates the archive may keep for a target that is not covered.
    fn population(&self, _progress: f64) -> usize {
        1
    }

    /// The phase that the search is in.
    fn phase(&self, _progress: f64) -> Phase {
        Phase::Explore
    }
}

/// What an algorithm works with.
#[derive(Debug)]
pub struct Context<'a, P: Problem> {
    /// Makes candidates.
    pub problem: &'a mut P,
    /// The archive.
    pub archive: &'a mut Archive<P::Candidate>,
    /// The only source of randomness.
    pub rng: &'a mut Rng,
    /// How much of the budget is used, from 0 to 1.
    pub progress: f64,
}

/// The proposal of an algorithm.
#[derive(Debug)]
pub enum Proposal<C> {
    /// To evaluate a candidate.
    Try {
        /// The candidate.
        candidate: C,
        /// What it was made from by mutation.
        parent: Option<Parent<C>>,
        /// Given back with the answer.
        tag: u64,
    },
    /// Wait for all pending evaluations; never when none is pending.
    Wait,
}

/// What a candidate was made from.
#[derive(Debug)]
pub struct Parent<C> {
    /// The candidate that was mutated.
    pub kept: ArchivedCandidate<C>,
    /// The target aimed at, with the parent's score for it.
    pub target: Option<(TargetId, Score)>,
}

impl<C> Clone for Parent<C> {
    fn clone(&self) -> Self {
        Self {
            kept: self.kept.clone(),
            target: self.target,
        }
    }
}

/// The outcome of a proposal.
#[derive(Debug)]
pub struct Evaluated<'a, C> {
    /// The candidate.
    pub kept: &'a ArchivedCandidate<C>,
    /// What it was made from.
    pub parent: Option<&'a Parent<C>>,
    /// What running it taught us.
    pub evaluation: &'a Evaluation,
    /// What it added to the archive.
    pub gain: &'a ArchiveUpdate,
    /// The tag of the proposal.
    pub tag: u64,
}

/// Which algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlgorithmKind {
    /// Many Independent Objectives.
    #[default]
    Mio,
    /// Whole Test Suite genetic algorithm with archive.
    Wts,
    /// Many-Objective Sorting Algorithm.
    Mosa,
    /// MOSA with targets that wait for their guards.
    Dynamosa,
    /// DynaMOSA with a crossover of parts that belong together.
    LtMosa,
    /// Fresh candidates only.
    Random,
}

impl AlgorithmKind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 6] = [
        Self::Mio,
        Self::Wts,
        Self::Mosa,
        Self::Dynamosa,
        Self::LtMosa,
        Self::Random,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mio => "mio",
            Self::Wts => "wts",
            Self::Mosa => "mosa",
            Self::Dynamosa => "dynamosa",
            Self::LtMosa => "lt-mosa",
            Self::Random => "random",
        }
    }
}

impl fmt::Display for AlgorithmKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is of no algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = AlgorithmKind::ALL.map(AlgorithmKind::name).join(", ");
        write!(
            f,
            "unknown algorithm `{}` (expected one of: {names})",
            self.0
        )
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl FromStr for AlgorithmKind {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownAlgorithm(text.to_owned()))
    }
}

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchConfig {
    /// The random seed.
    pub seed: u64,
    /// Which algorithm.
    pub algorithm: AlgorithmKind,
    /// How many candidates are handed out at most before the first of them is answered.
    pub in_flight: usize,
    /// Settings of MIO.
    pub mio: MioConfig,
    /// Settings of the whole test suite approach.
    pub wts: WtsConfig,
    /// Settings of MOSA, DynaMOSA and LT-MOSA.
    pub mosa: MosaConfig,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            algorithm: AlgorithmKind::default(),
            in_flight: 1,
            mio: MioConfig::default(),
            wts: WtsConfig::default(),
            mosa: MosaConfig::default(),
        }
    }
}

impl SearchConfig {
    /// The algorithm that is configured.
    pub fn build<P: Problem + 'static>(&self) -> Box<dyn Algorithm<P>> {
        match self.algorithm {
            AlgorithmKind::Mio => Box::new(Mio::new(self.mio.clone())),
            AlgorithmKind::Wts => Box::new(Wts::new(self.wts.clone())),
            AlgorithmKind::Mosa => Box::new(Mosa::new(self.mosa.clone())),
            AlgorithmKind::Dynamosa => Box::new(Mosa::new(self.mosa.with_guards())),
            AlgorithmKind::LtMosa => Box::new(Mosa::new(self.mosa.with_linkage())),
            AlgorithmKind::Random => Box::new(Random),
        }
    }
}

/// A candidate with its scores, for algorithms that compare whole evaluations.
#[derive(Debug)]
pub(crate) struct ScoredCandidate<C> {
    pub(crate) kept: ArchivedCandidate<C>,
    /// Ordered by target; only targets that were reached.
    pub(crate) scores: Box<[Score]>,
}

impl<C> ScoredCandidate<C> {
    pub(crate) fn new(evaluated: &Evaluated<'_, C>) -> Self {
        let reached = |score: &&Score| score.value() > 0.0;
        Self {
            kept: evaluated.kept.clone(),
            scores: evaluated
                .evaluation
                .scores()
                .iter()
                .filter(reached)
                .copied()
                .collect(),
        }
    }
}

/// Draws a fresh candidate.
fn sampled<P: Problem>(context: &mut Context<'_, P>, tag: u64) -> Proposal<P::Candidate> {
    Proposal::Try {
        candidate: context.problem.sample(context.rng),
        parent: None,
        tag,
    }
}
