//! What the search knows about a problem. It never learns more than this.

use crate::archive::ArchiveUpdate;
use crate::evaluation::Evaluation;
use crate::target::TargetId;

/// The only source of randomness, seeded by the configuration.
pub type Rng = fastrand::Rng;

/// What the search knows about a problem. It never learns more than this.
///
/// A problem makes candidates and judges answers; it does not run candidates.
/// Running is left to whoever drives the [`Search`](crate::Search), so that
/// several can be run at once while everything in this trait happens in one
/// place and in one order.
pub trait Problem {
    /// One candidate solution.
    type Candidate: Clone;
    /// What running a candidate brought back, before it is judged.
    type Answer;

    /// Draws a fresh candidate, using no other randomness than `rng`.
    fn sample(&mut self, rng: &mut Rng) -> Self::Candidate;

    /// Whether fresh candidates should be sampled before any is mutated.
    ///
    /// True while a problem has something that no candidate has touched yet.
    fn wants_samples(&self) -> bool {
        false
    }

    /// Returns a copy of `parent` that differs in at least one place.
    fn mutate(
        &mut self,
        rng: &mut Rng,
        parent: &Self::Candidate,
        target: &MutationContext,
    ) -> Self::Candidate;

    /// Says how near `candidate` came to every target that it touched.
    ///
    /// Called in the order in which candidates were handed out, whatever the
    /// order of the answers; new targets may be numbered and values learned here.
    fn score(&mut self, candidate: &Self::Candidate, answer: Self::Answer) -> Evaluation;

    /// Mixes two parents; unless overridden, returns copies of them.
    fn crossover(
        &mut self,
        _rng: &mut Rng,
        a: &Self::Candidate,
        b: &Self::Candidate,
    ) -> (Self::Candidate, Self::Candidate) {
        (a.clone(), b.clone())
    }

    /// The kinds of the parts of a candidate, for learning which belong together; none unless overridden.
    fn part_kinds(&self, _candidate: &Self::Candidate) -> Vec<u64> {
        Vec::new()
    }

    /// Exchanges the parts of these kinds between two parents; unless overridden, as [`Problem::crossover`] does.
    fn crossover_linked(
        &mut self,
        rng: &mut Rng,
        a: &Self::Candidate,
        b: &Self::Candidate,
        _linked: &[u64],
    ) -> (Self::Candidate, Self::Candidate) {
        self.crossover(rng, a, b)
    }

    /// How many parts a candidate has; of two candidates as good as each other the smaller one is kept.
    fn size(&self, _candidate: &Self::Candidate) -> usize {
        1
    }

    /// How much of the budget a candidate is expected to use, relative to the usual one.
    ///
    /// Above 1, it is chosen for mutation that much more rarely, so that costly candidates do not use up what cheap ones
    /// need.
    fn relative_cost(&self, _candidate: &Self::Candidate) -> f64 {
        1.0
    }

    /// The candidate without one of its parts (`part < size`), or `None` where it cannot be removed.
    fn without(&self, _candidate: &Self::Candidate, _part: usize) -> Option<Self::Candidate> {
        None
    }

    /// The target that must be covered before this one can be, where that is known.
    ///
    /// DynaMOSA leaves such targets aside until then.
    fn prerequisite(&self, _target: TargetId) -> Option<TargetId> {
        None
    }

    /// Told after each evaluation of a mutated candidate, for mutations that adapt.
    fn learn(&mut self, _feedback: &MutationFeedback<'_, Self::Candidate>) {}
}

/// Context of a mutation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MutationContext {
    /// The target that the mutation should come nearer to, if it is about one.
    pub target: Option<TargetId>,
    /// The score of the parent for that target, where it is known.
    pub score: Option<f64>,
    /// How much of the budget is used, from 0 to 1.
    pub progress: f64,
    /// Whether the search is in its focused phase.
    pub focused: bool,
}

/// The outcome of a mutation.
#[derive(Debug)]
pub struct MutationFeedback<'a, C> {
    /// What was mutated.
    pub parent: &'a C,
    /// What it was mutated to.
    pub child: &'a C,
    /// The target that was aimed at, if any.
    pub target: Option<TargetId>,
    /// What it did to that target; with no target, whether the archive kept the child.
    pub effect: MutationEffect,
    /// What the archive gained.
    pub gain: &'a ArchiveUpdate,
}

/// What a mutation did to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutationEffect {
    /// The child is nearer to it.
    Improved,
    /// No difference.
    Unchanged,
    /// The child is farther from it.
    Worsened,
}
