//! WTS: a genetic algorithm over whole test suites, with an archive.
//!
//! After Fraser and Arcuri, "Whole Test Suite Generation" (TSE 2013), with the
//! archive of Rojas et al. (EMSE 2017): covered targets no longer count for the
//! fitness of a suite, which is the sum over open targets of the best score that
//! any of its tests has. Sizes and probabilities are those of Arcuri, "RESTful
//! API Automated Test Case Generation" (QRS 2017).

use std::sync::Arc;

use super::{Algorithm, Context, Evaluated, Parent, Proposal, ScoredCandidate};
use crate::archive::Archive;
use crate::problem::{MutationContext, Problem, Rng};

/// Settings of the whole test suite approach.
#[derive(Clone, Debug, PartialEq)]
pub struct WtsConfig {
    /// How many suites.
    pub population: usize,
    /// The chance that two parents are mixed.
    pub crossover: f64,
    /// How many tests a suite has at most.
    pub suite: usize,
    /// How many suites take part in a tournament.
    pub tournament: usize,
    /// How many of the best suites live on as they are.
    pub elite: usize,
    /// The chance that a test is added to a suite or removed from it.
    pub resize: f64,
}

impl Default for WtsConfig {
    fn default() -> Self {
        Self {
            population: 30,
            crossover: 0.7,
            suite: 30,
            tournament: 10,
            elite: 1,
            resize: 0.1,
        }
    }
}

/// A test of a suite; nothing while its evaluation is pending, or when there is none.
type Test<C> = Option<Arc<ScoredCandidate<C>>>;

/// A suite, as individual of the genetic algorithm.
type Suite<C> = Vec<Test<C>>;

/// A test that must be evaluated.
#[derive(Debug)]
struct PendingTest<C> {
    candidate: C,
    parent: Option<Parent<C>>,
    suite: usize,
    test: usize,
}

/// Whole Test Suite genetic algorithm with archive.
#[derive(Debug)]
pub struct Wts<C> {
    config: WtsConfig,
    suites: Vec<Suite<C>>,
    /// Last first, so that taking the next is cheap.
    fresh: Vec<PendingTest<C>>,
    missing: usize,
    started: bool,
}

impl<C> Wts<C> {
    /// With custom settings.
    pub fn new(config: WtsConfig) -> Self {
        Self {
            config,
            suites: Vec::new(),
            fresh: Vec::new(),
            missing: 0,
            started: false,
        }
    }

    fn start<P: Problem<Candidate = C>>(&mut self, context: &mut Context<'_, P>) {
        self.started = true;
        self.suites.clear();
        for suite in 0..self.config.population.max(1) {
            let n_tests = context.rng.usize(1..=self.config.suite.max(1));
            self.suites.push(vec![None; n_tests]);
            for test in 0..n_tests {
                self.fresh.push(PendingTest {
                    candidate: context.problem.sample(context.rng),
                    parent: None,
                    suite,
                    test,
                });
            }
        }
        self.fresh.reverse();
    }

    /// Makes the next generation out of this one, of which all answers are here.
    #[expect(
        clippy::indexing_slicing,
        reason = "indexes are places among the parents"
    )]
    fn breed<P: Problem<Candidate = C>>(&mut self, context: &mut Context<'_, P>) {
        let mut parents: Vec<Suite<C>> = std::mem::take(&mut self.suites);
        for suite in &mut parents {
            suite.retain(Option::is_some);
        }
        parents.retain(|suite| !suite.is_empty());
        if parents.is_empty() {
            self.start(context);
            return;
        }
        let mut adding = SuiteFitness::default();
        let fitness: Vec<f64> = parents
            .iter()
            .map(|suite| adding.fitness(suite, context.archive))
            .collect();
        let size = |suite: &Suite<C>| suite.iter().flatten().map(|test| test.kept.size).sum();
        let sizes: Vec<usize> = parents.iter().map(size).collect();
        let better = |a: &usize, b: &usize| {
            fitness[*b]
                .total_cmp(&fitness[*a])
                .then(sizes[*a].cmp(&sizes[*b]))
        };
        let mut order: Vec<usize> = (0..parents.len()).collect();
        order.sort_by(better);
        let n_suites = self.config.population.max(1);
        let n_rivals = self.config.tournament.max(1);
        // At least one place is for something new, or the search would stand still.
        let n_elite = self.config.elite.min(n_suites - 1);
        for &index in order.iter().take(n_elite) {
            self.suites.push(parents[index].clone());
        }
        let tournament = |rng: &mut Rng| {
            (0..n_rivals)
                .map(|_| rng.usize(..parents.len()))
                .min_by(better)
                .unwrap_or(0)
        };
        while self.suites.len() < n_suites {
            let mut a = parents[tournament(context.rng)].clone();
            let mut b = parents[tournament(context.rng)].clone();
            if context.rng.f64() < self.config.crossover {
                cross(context.rng, &mut a, &mut b);
            }
            for mut suite in [a, b] {
                if self.suites.len() < n_suites {
                    self.mutate(context, &mut suite);
                    self.suites.push(suite);
                }
            }
        }
        self.fresh.reverse();
    }

    /// Changes each test with a chance of one in their number, and at least one thing.
    fn mutate<P: Problem<Candidate = C>>(
        &mut self,
        context: &mut Context<'_, P>,
        suite: &mut Suite<C>,
    ) {
        let suite_idx = self.suites.len();
        suite.truncate(self.config.suite.max(1));
        let mut changed = false;
        if suite.len() > 1 && context.rng.f64() < self.config.resize {
            suite.remove(context.rng.usize(..suite.len()));
            changed = true;
        }
        let n_tests = suite.len();
        let mut chosen: Vec<usize> = (0..n_tests)
            .filter(|_| context.rng.usize(..n_tests) == 0)
            .collect();
        let add = n_tests < self.config.suite && context.rng.f64() < self.config.resize;
        if chosen.is_empty() && !changed && !add {
            chosen.push(context.rng.usize(..n_tests));
        }
        let aim = MutationContext {
            progress: context.progress,
            ..MutationContext::default()
        };
        for test in chosen {
            let Some(tested) = suite.get_mut(test).and_then(Option::take) else {
                continue;
            };
            self.fresh.push(PendingTest {
                candidate: context
                    .problem
                    .mutate(context.rng, &tested.kept.candidate, &aim),
                parent: Some(Parent {
                    kept: tested.kept.clone(),
                    target: None,
                }),
                suite: suite_idx,
                test,
            });
        }
        if add {
            self.fresh.push(PendingTest {
                candidate: context.problem.sample(context.rng),
                parent: None,
                suite: suite_idx,
                test: suite.len(),
            });
            suite.push(None);
        }
    }
}

/// Swaps the tails behind a point that lies as far in either suite, relative to its length.
fn cross<T>(rng: &mut Rng, a: &mut Vec<T>, b: &mut Vec<T>) {
    let share = rng.f64();
    let point = |suite: &Vec<T>| (suite.len() as f64 * share) as usize;
    let tail_a = a.split_off(point(a));
    let tail_b = b.split_off(point(b));
    // Neither can end up empty: the point is at or before the last test.
    a.extend(tail_b);
    b.extend(tail_a);
}

/// Adds up the fitness of suites, with one place per target that is used again and again.
#[derive(Debug, Default)]
struct SuiteFitness {
    best: Vec<f64>,
    touched: Vec<usize>,
}

impl SuiteFitness {
    fn fitness<C>(&mut self, suite: &Suite<C>, archive: &Archive<C>) -> f64 {
        for score in suite.iter().flatten().flat_map(|test| &*test.scores) {
            if archive.is_covered(score.target()) {
                continue;
            }
            let index = score.target().index();
            if self.best.len() <= index {
                self.best.resize(index + 1, 0.0);
            }
            let Some(best) = self.best.get_mut(index) else {
                continue;
            };
            if *best == 0.0 {
                self.touched.push(index);
            }
            *best = best.max(score.value());
        }
        // In the order of targets, because the sum of floats depends on it.
        self.touched.sort_unstable();
        let touched = self.touched.drain(..);
        let bests = touched.filter_map(|index| self.best.get_mut(index).map(std::mem::take));
        bests.sum()
    }
}

impl<P: Problem> Algorithm<P> for Wts<P::Candidate> {
    fn propose(&mut self, context: &mut Context<'_, P>) -> Proposal<P::Candidate> {
        // A generation of which nothing has to be evaluated is possible: only tests were removed.
        while self.fresh.is_empty() {
            if self.missing > 0 {
                return Proposal::Wait;
            }
            if self.started {
                self.breed(context);
            } else {
                self.start(context);
            }
        }
        let fresh = self.fresh.pop().expect("the loop above found something");
        self.missing += 1;
        Proposal::Try {
            candidate: fresh.candidate,
            parent: fresh.parent,
            tag: ((fresh.suite as u64) << 32) | fresh.test as u64,
        }
    }

    fn on_evaluated(
        &mut self,
        _context: &mut Context<'_, P>,
        evaluated: &Evaluated<'_, P::Candidate>,
    ) {
        self.missing -= 1;
        let (suite, test) = (
            (evaluated.tag >> 32) as usize,
            (evaluated.tag & 0xffff_ffff) as usize,
        );
        let suite = self.suites.get_mut(suite);
        if let Some(place) = suite.and_then(|suite| suite.get_mut(test)) {
            *place = Some(Arc::new(ScoredCandidate::new(evaluated)));
        }
    }

    fn on_lost(&mut self, _tag: u64) {
        self.missing -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{ArchiveUpdate, ArchivedCandidate};
    use crate::evaluation::{Evaluation, Score};
    use crate::target::TargetId;

    fn target(index: usize) -> TargetId {
        TargetId::from_index(index)
    }

    fn test(scores: &[(usize, f64)]) -> Test<()> {
        let scores = scores
            .iter()
            .map(|(index, value)| Score::new(target(*index), *value))
            .collect();
        let kept = ArchivedCandidate {
            candidate: Arc::new(()),
            size: 1,
            trial: 0,
        };
        Some(Arc::new(ScoredCandidate { kept, scores }))
    }

    #[test]
    fn a_suite_is_as_near_to_a_target_as_the_nearest_of_its_tests() {
        let suite = vec![test(&[(0, 0.25), (1, 0.5)]), test(&[(0, 0.75)]), None];
        let mut adding = SuiteFitness::default();
        let mut archive = Archive::default();
        assert_eq!(adding.fitness(&suite, &archive), 1.25);
        let kept = &suite[0].as_ref().unwrap().kept;
        let covered = Evaluation::new(vec![Score::covered(target(1))], 1);
        archive.record(kept, &covered, 1, &mut ArchiveUpdate::default());
        assert_eq!(adding.fitness(&suite, &archive), 0.75);
    }

    #[test]
    fn crossing_keeps_all_tests_and_leaves_no_suite_empty() {
        let mut rng = Rng::with_seed(3);
        for (n_a, n_b) in [(1, 1), (1, 30), (7, 3)] {
            for _ in 0..100 {
                let mut a: Vec<usize> = (0..n_a).collect();
                let mut b: Vec<usize> = (n_a..n_a + n_b).collect();
                cross(&mut rng, &mut a, &mut b);
                assert!(!a.is_empty() && !b.is_empty());
                a.extend(&b);
                a.sort_unstable();
                assert_eq!(a, (0..n_a + n_b).collect::<Vec<_>>());
            }
        }
    }
}
