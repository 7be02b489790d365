//! MOSA: one population with a preference for the best candidate of every open target.
//!
//! After Panichella, Kifetew and Tonella, "Reformulating Branch Coverage as a
//! Many-Objective Optimization Problem" (ICST 2015). DynaMOSA (TSE 2018) leaves
//! targets aside until the target that guards them is covered, where the problem
//! knows it. LT-MOSA (ASE 2021) does so too, and exchanges parts that occur
//! together in good candidates (see `linkage`).

use std::sync::Arc;

use super::linkage::clusters;
use super::ranking::{distinction, fronts};
use super::{Algorithm, Context, Evaluated, Parent, Proposal, ScoredCandidate};
use crate::problem::{MutationContext, Problem};
use crate::target::TargetId;

/// Settings of MOSA.
#[derive(Clone, Debug, PartialEq)]
pub struct MosaConfig {
    /// How many candidates.
    pub population: usize,
    /// The chance that two parents are mixed.
    pub crossover: f64,
    /// How many candidates take part in a tournament.
    pub tournament: usize,
    /// The chance that an offspring is sampled instead of bred, which keeps the population open.
    pub fresh: f64,
    /// Whether targets are left aside until their guards are covered (DynaMOSA).
    pub guards: bool,
    /// After how many generations linked parts are learned again (LT-MOSA); never if 0.
    pub linkage: u64,
}

impl MosaConfig {
    /// The same settings for DynaMOSA.
    pub(super) fn with_guards(&self) -> Self {
        Self {
            guards: true,
            ..self.clone()
        }
    }

    /// The same settings for LT-MOSA.
    pub(super) fn with_linkage(&self) -> Self {
        Self {
            linkage: self.linkage.max(10),
            ..self.with_guards()
        }
    }
}

impl Default for MosaConfig {
    fn default() -> Self {
        Self {
            population: 50,
            crossover: 0.75,
            tournament: 10,
            fresh: 0.1,
            guards: false,
            linkage: 0,
        }
    }
}

/// Many-Objective Sorting Algorithm.
#[derive(Debug)]
pub struct Mosa<C> {
    config: MosaConfig,
    /// Best front first, and within a front the most distinct first.
    parents: Vec<Arc<ScoredCandidate<C>>>,
    offspring: Vec<Arc<ScoredCandidate<C>>>,
    /// Last first, so that taking the next is cheap.
    fresh: Vec<(C, Option<Parent<C>>)>,
    missing: usize,
    generation: u64,
    /// Kinds of parts that belong together.
    clusters: Vec<Vec<u64>>,
}

impl<C> Mosa<C> {
    /// With custom settings.
    pub fn new(config: MosaConfig) -> Self {
        Self {
            config,
            parents: Vec::new(),
            offspring: Vec::new(),
            fresh: Vec::new(),
            missing: 0,
            generation: 0,
            clusters: Vec::new(),
        }
    }

    /// Lets the best of parents and offspring live on.
    #[expect(
        clippy::indexing_slicing,
        reason = "fronts and survivors hold places among the candidates that were ranked"
    )]
    fn select<P: Problem<Candidate = C>>(&mut self, context: &Context<'_, P>) {
        let mut all = std::mem::take(&mut self.parents);
        all.append(&mut self.offspring);
        let views: Vec<&ScoredCandidate<C>> = all.iter().map(|tested| &**tested).collect();
        let is_open = |target: TargetId| {
            let guard = || context.problem.prerequisite(target);
            let is_reachable = || guard().is_none_or(|guard| context.archive.is_covered(guard));
            !context.archive.is_covered(target) && (!self.config.guards || is_reachable())
        };
        let n = self.config.population.max(1);
        let mut survivors = Vec::with_capacity(n);
        let fronts = fronts(&views, is_open, n);
        let n_champions = fronts.first().map_or(0, Vec::len);
        for front in fronts {
            let distinction = distinction(&front, &views, is_open);
            let mut order: Vec<usize> = (0..front.len()).collect();
            order.sort_by(|a, b| distinction[*b].total_cmp(&distinction[*a]));
            survivors.extend(order.into_iter().map(|place| front[place]));
        }
        // The first front is never cut: it holds the champion of each target.
        survivors.truncate(n.max(n_champions));
        self.parents = survivors
            .into_iter()
            .map(|index| Arc::clone(&all[index]))
            .collect();
        if self.config.linkage > 0 && self.generation.is_multiple_of(self.config.linkage) {
            let champions = self.parents.iter().take(n_champions);
            let kinds = champions.map(|one| context.problem.part_kinds(&one.kept.candidate));
            self.clusters = clusters(&kinds.collect::<Vec<_>>());
        }
        self.generation += 1;
    }

    fn breed<P: Problem<Candidate = C>>(&mut self, context: &mut Context<'_, P>)
    where
        C: Clone,
    {
        // With more champions than places a generation grows, so that ranking costs the same per candidate.
        let n = self.config.population.max(self.parents.len() / 2).max(1);
        let aim = MutationContext {
            progress: context.progress,
            ..MutationContext::default()
        };
        while self.fresh.len() < n {
            if self.parents.is_empty() || context.rng.f64() < self.config.fresh {
                let candidate = context.problem.sample(context.rng);
                self.fresh.push((candidate, None));
                continue;
            }
            // Survivors are ordered, so the lowest place drawn wins the tournament.
            let mut draw = || {
                let place = (0..self.config.tournament.max(1))
                    .map(|_| context.rng.usize(..self.parents.len()))
                    .min();
                place.unwrap_or(0)
            };
            let (a, b) = (draw(), draw());
            let (Some(a), Some(b)) = (self.parents.get(a), self.parents.get(b)) else {
                continue;
            };
            let (a, b) = (&a.kept, &b.kept);
            let bred = if context.rng.f64() < self.config.crossover {
                let (rng, problem) = (&mut *context.rng, &mut *context.problem);
                let (a, b) = (&a.candidate, &b.candidate);
                let linked = match self.clusters.len() {
                    0 => None,
                    n => self.clusters.get(rng.usize(..n)),
                };
                let (x, y) = match linked {
                    None => problem.crossover(rng, a, b),
                    Some(linked) => problem.crossover_linked(rng, a, b, linked),
                };
                [
                    (context.problem.mutate(context.rng, &x, &aim), None),
                    (context.problem.mutate(context.rng, &y, &aim), None),
                ]
            } else {
                [a, b].map(|kept| {
                    let child = context.problem.mutate(context.rng, &kept.candidate, &aim);
                    let parent = Parent {
                        kept: kept.clone(),
                        target: None,
                    };
                    (child, Some(parent))
                })
            };
            self.fresh.extend(bred);
        }
        self.fresh.truncate(n);
        self.fresh.reverse();
    }
}

impl<P: Problem> Algorithm<P> for Mosa<P::Candidate> {
    fn propose(&mut self, context: &mut Context<'_, P>) -> Proposal<P::Candidate> {
        if self.fresh.is_empty() {
            if self.missing > 0 {
                return Proposal::Wait;
            }
            self.select(context);
            self.breed(context);
        }
        let (candidate, parent) = self
            .fresh
            .pop()
            .expect("a generation has at least one candidate");
        self.missing += 1;
        Proposal::Try {
            candidate,
            parent,
            tag: 0,
        }
    }

    fn on_evaluated(
        &mut self,
        _context: &mut Context<'_, P>,
        evaluated: &Evaluated<'_, P::Candidate>,
    ) {
        self.missing -= 1;
        self.offspring
            .push(Arc::new(ScoredCandidate::new(evaluated)));
    }

    fn on_lost(&mut self, _tag: u64) {
        self.missing -= 1;
    }
}
