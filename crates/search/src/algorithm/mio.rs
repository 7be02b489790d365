//! MIO (Many Independent Objectives): one population per target, with a focused phase at the end.
//!
//! After Arcuri, "Many Independent Objective (MIO) Algorithm for Test Suite
//! Generation" (SSBSE 2017). Either a fresh candidate is sampled, or one is
//! taken from the population of the target whose turn it is and mutated, again
//! and again. The chance of the former, the size of populations and the number
//! of mutations move linearly from exploring to focused values, which hold from
//! the point where the focused phase begins.

use std::collections::VecDeque;

use super::{Algorithm, Context, Evaluated, Parent, Proposal, sampled};
use crate::archive::{ArchivedCandidate, Member};
use crate::evaluation::Score;
use crate::event::Phase;
use crate::problem::{MutationContext, Problem};
use crate::target::TargetId;

/// Settings of MIO; pairs go from the start of the search to its focused phase.
#[derive(Clone, Debug, PartialEq)]
pub struct MioConfig {
    /// The chance that a fresh candidate is sampled.
    pub random: (f64, f64),
    /// How many candidates are kept for a target that is not covered.
    pub population: (usize, usize),
    /// How often a candidate is mutated before another one is taken.
    pub mutations: (u32, u32),
    /// The share of the budget after which the focused phase begins.
    pub focus: f64,
}

impl Default for MioConfig {
    fn default() -> Self {
        Self {
            random: (0.5, 0.0),
            population: (10, 1),
            mutations: (1, 10),
            focus: 0.5,
        }
    }
}

impl MioConfig {
    /// How far the way from exploring to focusing is gone, from 0 to 1.
    fn way(&self, progress: f64) -> f64 {
        if progress >= self.focus {
            1.0
        } else {
            progress / self.focus
        }
    }

    fn random_at(&self, progress: f64) -> f64 {
        between(self.random.0, self.random.1, self.way(progress))
    }

    fn population_at(&self, progress: f64) -> usize {
        let (start, end) = (self.population.0 as f64, self.population.1 as f64);
        between(start, end, self.way(progress)).round().max(1.0) as usize
    }

    fn mutations_at(&self, progress: f64) -> u64 {
        let (start, end) = (f64::from(self.mutations.0), f64::from(self.mutations.1));
        between(start, end, self.way(progress)).round().max(1.0) as u64
    }
}

fn between(start: f64, end: f64, way: f64) -> f64 {
    start + (end - start) * way
}

/// Many Independent Objectives.
#[derive(Debug)]
pub struct Mio<C> {
    config: MioConfig,
    /// Candidates that have mutations left; more than one only with several workers.
    ready: VecDeque<Chain<C>>,
}

/// A candidate that is mutated on the way to a target.
#[derive(Debug)]
struct Chain<C> {
    target: TargetId,
    kept: ArchivedCandidate<C>,
    score: Score,
    /// This mutation included.
    mutations: u64,
}

impl<C> Mio<C> {
    /// With custom settings.
    pub fn new(config: MioConfig) -> Self {
        Self {
            config,
            ready: VecDeque::new(),
        }
    }

    fn focused(&self, progress: f64) -> bool {
        progress >= self.config.focus
    }

    fn step<P: Problem<Candidate = C>>(
        &self,
        context: &mut Context<'_, P>,
        chain: Chain<C>,
    ) -> Proposal<C> {
        let aim = MutationContext {
            target: Some(chain.target),
            score: Some(chain.score.value()),
            progress: context.progress,
            focused: self.focused(context.progress),
        };
        Proposal::Try {
            candidate: context
                .problem
                .mutate(context.rng, &chain.kept.candidate, &aim),
            parent: Some(Parent {
                kept: chain.kept,
                target: Some((chain.target, chain.score)),
            }),
            tag: chain.mutations,
        }
    }
}

/// The most draws before a costly candidate is taken after all.
const MAX_DRAWS: usize = 8;

/// Draws from the archive; the costlier a candidate is, the rarer it is taken.
fn draw_by_cost<P: Problem>(
    context: &mut Context<'_, P>,
    population: usize,
) -> Option<(TargetId, Member<P::Candidate>)> {
    let mut drawn = None;
    for _ in 0..MAX_DRAWS {
        let (target, member) = context.archive.draw(context.rng, population)?;
        let cost = context.problem.relative_cost(&member.kept.candidate);
        let is_taken = cost <= 1.0 || context.rng.f64() < 1.0 / cost;
        drawn = Some((target, member));
        if is_taken {
            break;
        }
    }
    drawn
}

impl<P: Problem> Algorithm<P> for Mio<P::Candidate> {
    fn propose(&mut self, context: &mut Context<'_, P>) -> Proposal<P::Candidate> {
        while let Some(chain) = self.ready.pop_front() {
            if !context.archive.is_covered(chain.target) {
                return self.step(context, chain);
            }
        }
        let progress = context.progress;
        if context.problem.wants_samples() || context.rng.f64() < self.config.random_at(progress) {
            return sampled(context, 0);
        }
        let population = self.config.population_at(progress);
        let Some((target, member)) = draw_by_cost(context, population) else {
            return sampled(context, 0);
        };
        // Around a covered target there is nothing to climb.
        let mutations = if context.archive.is_covered(target) {
            1
        } else {
            self.config.mutations_at(progress)
        };
        let chain = Chain {
            target,
            kept: member.kept,
            score: member.score,
            mutations,
        };
        self.step(context, chain)
    }

    fn on_evaluated(
        &mut self,
        context: &mut Context<'_, P>,
        evaluated: &Evaluated<'_, P::Candidate>,
    ) {
        let Some(Parent {
            kept,
            target: Some((target, score)),
        }) = evaluated.parent
        else {
            return;
        };
        if evaluated.tag <= 1 || context.archive.is_covered(*target) {
            return;
        }
        let child = evaluated.evaluation.score(*target);
        let (kept, score) = match child {
            Some(child) if child.cmp_quality(score).is_ge() => (evaluated.kept, child),
            _ => (kept, score),
        };
        self.ready.push_back(Chain {
            target: *target,
            kept: kept.clone(),
            score: *score,
            mutations: evaluated.tag - 1,
        });
    }

    fn population(&self, progress: f64) -> usize {
        self.config.population_at(progress)
    }

    fn phase(&self, progress: f64) -> Phase {
        if self.focused(progress) {
            Phase::Focus
        } else {
            Phase::Explore
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_move_linearly_until_the_focused_phase() {
        let config = MioConfig::default();
        let at = |progress| {
            format!(
                "{progress:.2} | {:.2} | {:2} | {:2}\n",
                config.random_at(progress),
                config.population_at(progress),
                config.mutations_at(progress)
            )
        };
        // progress | chance of a fresh candidate | population | mutations
        insta::assert_snapshot!([0.0, 0.25, 0.4, 0.5, 0.9].map(at).concat(), @"
        0.00 | 0.50 | 10 |  1
        0.25 | 0.25 |  6 |  6
        0.40 | 0.10 |  3 |  8
        0.50 | 0.00 |  1 | 10
        0.90 | 0.00 |  1 | 10
        ");
    }

    #[test]
    fn a_search_may_be_focused_from_its_first_moment() {
        let config = MioConfig {
            focus: 0.0,
            ..MioConfig::default()
        };
        assert_eq!(config.population_at(0.0), 1);
        assert_eq!(config.random_at(0.0), 0.0);
    }
}
