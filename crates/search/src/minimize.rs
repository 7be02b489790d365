//! Suite minimization: the fewest and shortest candidates that keep all coverage.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::archive::Archive;
use crate::evaluation::Evaluation;
use crate::problem::Problem;
use crate::target::TargetId;

/// A candidate of the final suite.
#[derive(Clone, Debug)]
pub struct MinimizedTest<C> {
    /// The candidate.
    pub candidate: Arc<C>,
    /// The targets it is kept for, of those that it covers.
    pub targets: Vec<TargetId>,
    /// The number of the candidate it was made from.
    pub trial: u64,
}

/// A minimized suite.
#[derive(Clone, Debug)]
pub struct MinimizedSuite<C> {
    /// The candidates, in the order in which their origins were found.
    pub suite: Vec<MinimizedTest<C>>,
    /// Targets that were covered during the search, and by nothing that was run again.
    pub unstable: Vec<TargetId>,
    /// Whether everything was tried; not so when the evaluations were used up before.
    pub complete: bool,
    /// How many evaluations it took.
    pub evaluations: u64,
}

/// Reduces what an archive covers to few candidates without needless parts.
///
/// Every candidate that the archive keeps is run again, which shows all that it
/// covers. The fewest are chosen greedily: the one that covers most of what is
/// left, and of equals the shorter. Then, for each, parts are removed, last
/// first, while all targets that it was chosen for stay covered.
///
/// Only targets that are `wanted` get a test.
///
/// `evaluate` returns `None` when there is no time left; what is not minimized
/// then is handed over as it is, and nothing that was covered is dropped. A
/// target that is not covered when its candidate is run again is listed as
/// unstable, and its candidate kept for it.
pub fn minimize<P: Problem>(
    problem: &mut P,
    archive: &Archive<P::Candidate>,
    wanted: &dyn Fn(TargetId) -> bool,
    mut evaluate: impl FnMut(&P::Candidate) -> Option<P::Answer>,
) -> MinimizedSuite<P::Candidate> {
    let mut evaluations = 0;
    let mut run = |problem: &mut P, candidate: &P::Candidate| -> Option<Evaluation> {
        let answer = evaluate(candidate)?;
        evaluations += 1;
        Some(problem.score(candidate, answer))
    };
    let mut complete = true;
    let mut choices = Vec::new();
    for (kept, mut targets) in archive.suite() {
        targets.retain(|target| wanted(*target));
        if targets.is_empty() {
            continue;
        }
        let seen = if complete {
            run(problem, &kept.candidate)
        } else {
            None
        };
        complete &= seen.is_some();
        choices.push(Choice::new(kept, targets, seen.as_ref(), archive, wanted));
    }
    let unstable = unstable(&choices);
    let mut suite = choose(choices);
    for test in &mut suite {
        complete = complete && shorten(problem, test, &mut run);
    }
    MinimizedSuite {
        suite,
        unstable,
        complete,
        evaluations,
    }
}

/// A candidate that may be chosen.
struct Choice<C> {
    candidate: Arc<C>,
    size: usize,
    trial: u64,
    /// What it covers, as seen again where it was run again; ordered.
    covers: Vec<TargetId>,
    /// What it is kept for, but did not cover when run again.
    lost: Vec<TargetId>,
}

impl<C> Choice<C> {
    fn new(
        kept: crate::archive::ArchivedCandidate<C>,
        targets: Vec<TargetId>,
        seen: Option<&Evaluation>,
        archive: &Archive<C>,
        wanted: &dyn Fn(TargetId) -> bool,
    ) -> Self {
        let (covers, lost) = match seen {
            None => (targets, Vec::new()),
            Some(evaluation) => {
                let covered = evaluation
                    .scores()
                    .iter()
                    .filter(|score| score.is_covered());
                // What nobody covered during the search has no test to compare with.
                let covers = covered
                    .map(|score| score.target())
                    .filter(|target| archive.is_covered(*target) && wanted(*target))
                    .collect();
                let is_lost = |target: &TargetId| !evaluation.covers(*target);
                (covers, targets.into_iter().filter(is_lost).collect())
            }
        };
        Self {
            candidate: kept.candidate,
            size: kept.size,
            trial: kept.trial,
            covers,
            lost,
        }
    }
}

fn unstable<C>(choices: &[Choice<C>]) -> Vec<TargetId> {
    let is_covered = |target: &TargetId| {
        choices
            .iter()
            .any(|choice| choice.covers.binary_search(target).is_ok())
    };
    let mut unstable: Vec<TargetId> = choices
        .iter()
        .flat_map(|choice| &choice.lost)
        .filter(|target| !is_covered(target))
        .copied()
        .collect();
    unstable.sort_unstable();
    unstable
}

/// Chooses greedily until everything that any choice covers is covered.
fn choose<C>(choices: Vec<Choice<C>>) -> Vec<MinimizedTest<C>> {
    let covers = choices.iter().flat_map(|choice| &choice.covers);
    let mut left: FxHashSet<TargetId> = covers.copied().collect();
    let mut suite: Vec<MinimizedTest<C>> = Vec::new();
    let mut open: Vec<Choice<C>> = Vec::new();
    let unstable = unstable(&choices);
    for choice in choices {
        let unstable: Vec<TargetId> = choice
            .lost
            .iter()
            .filter(|target| unstable.binary_search(target).is_ok())
            .copied()
            .collect();
        if unstable.is_empty() {
            open.push(choice);
        } else {
            // Nothing else shows these, so it is kept whatever it covers besides.
            suite.push(take(choice, unstable, &mut left));
        }
    }
    loop {
        let gain = |choice: &Choice<C>| {
            let covers = choice.covers.iter();
            covers.filter(|target| left.contains(target)).count()
        };
        let best = open
            .iter()
            .enumerate()
            .map(|(place, choice)| (place, choice, gain(choice)))
            .filter(|(_, _, gain)| *gain > 0)
            .max_by_key(|(_, choice, gain)| {
                (*gain, std::cmp::Reverse((choice.size, choice.trial)))
            });
        let Some((place, ..)) = best else { break };
        suite.push(take(open.swap_remove(place), Vec::new(), &mut left));
    }
    suite.sort_by_key(|test| test.trial);
    suite
}

fn take<C>(
    choice: Choice<C>,
    mut targets: Vec<TargetId>,
    left: &mut FxHashSet<TargetId>,
) -> MinimizedTest<C> {
    for target in choice.covers {
        if left.remove(&target) {
            targets.push(target);
        }
    }
    targets.sort_unstable();
    MinimizedTest {
        candidate: choice.candidate,
        targets,
        trial: choice.trial,
    }
}

/// Removes parts, last first, while all targets stay covered; `false` when there was no time.
fn shorten<P: Problem>(
    problem: &mut P,
    test: &mut MinimizedTest<P::Candidate>,
    run: &mut impl FnMut(&mut P, &P::Candidate) -> Option<Evaluation>,
) -> bool {
    let mut part = problem.size(&test.candidate);
    while part > 0 {
        part -= 1;
        let Some(shorter) = problem.without(&test.candidate, part) else {
            continue;
        };
        let Some(evaluation) = run(problem, &shorter) else {
            return false;
        };
        if test.targets.iter().all(|target| evaluation.covers(*target)) {
            test.candidate = Arc::new(shorter);
            // Parts that depended on this one may be gone as well.
            part = part.min(problem.size(&test.candidate));
        }
    }
    true
}
